//! SHOW and DESCRIBE.

use super::Env;

#[tokio::test(flavor = "multi_thread")]
async fn listings() {
    let env = Env::new().await;
    for name in ["orders", "order_items", "people"] {
        env.ok(&format!("CREATE TABLE db.{name} (a INT)")).await;
    }
    assert_eq!(
        env.rows("SHOW TABLES FROM paimon.db LIKE 'order%'").await,
        ["paimon db order_items BASE TABLE", "paimon db orders BASE TABLE"]
    );
    assert!(env.rows("SHOW TABLES").await.is_empty());
    env.fails("SHOW TABLES IN nope", "Database nope does not exist.").await;
    env.fails("SHOW DATABASES IN nope", "nope").await;
    let procedures = env.rows("SHOW PROCEDURES").await;
    assert!(procedures.iter().any(|line| line.starts_with("compact table, [partitions]")), "{procedures:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_table() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT NOT NULL, b TIMESTAMP(3), c ARRAY<STRING>) COMMENT 'x' WITH ('k' = 'v', 's3.secret-key' = 'hidden')").await;
    assert_eq!(env.rows("DESC TABLE db.t").await, ["a INT NO", "b TIMESTAMP(3) YES", "c ARRAY<STRING> YES"]);
    assert_eq!(env.rows("DESCRIBE db.t b").await, ["b TIMESTAMP(3) YES"]);
    env.fails("DESCRIBE db.t nope", "Column nope does not exist").await;
    assert_eq!(env.rows("SHOW COLUMNS IN db.t").await[0], "paimon db t a INT NO");
    assert_eq!(env.rows("SHOW TBLPROPERTIES db.t").await, ["k v", "s3.secret-key ******"]);
    assert_eq!(env.rows("SHOW TBLPROPERTIES db.t ('k')").await, ["k v"]);
    env.fails("SHOW TBLPROPERTIES db.t ('nope')", "option 'nope' of db.t is not set").await;
    let extended = env.rows("DESCRIBE EXTENDED db.t").await;
    for part in ["a INT NULL", "# Detailed Table Information", "Comment x", "Schema id 0", "Option k v"] {
        assert!(extended.iter().any(|line| line.starts_with(part)), "{part} in {extended:?}");
    }
    assert!(!extended.iter().any(|line| line.contains("hidden")));
    env.fails("SHOW PARTITIONS db.t", "not partitioned").await;
    assert!(env.rows("SHOW TAGS db.t").await.is_empty());
    env.ok("REFRESH TABLE db.t").await;
    env.fails("REFRESH TABLE db.nope", "does not exist").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_runs_nothing() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    assert_eq!(env.rows("EXPLAIN DROP TABLE db.t").await, ["statement DROP TABLE db.t"]);
    assert_eq!(env.rows("DESCRIBE db.t").await, ["a INT YES"]);
    env.fails("EXPLAIN ANALYZE DROP TABLE db.t", "would run it").await;
    env.fails("EXPLAIN CALL sys.compact(tabel => 'db.t')", "table").await;
    let plan = env.rows("EXPLAIN INSERT INTO db.t VALUES (1)").await;
    assert!(plan.iter().any(|line| line.contains("paimon.db.t")), "{plan:?}");
}
