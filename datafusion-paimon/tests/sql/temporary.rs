//! Temporary tables and views.

use super::{Env, rows};

#[tokio::test(flavor = "multi_thread")]
async fn temporary_tables_live_in_memory() {
    let env = Env::new().await;
    env.ok("CREATE TEMPORARY TABLE db.m (id INT, s STRING)").await;
    assert_eq!(env.rows("INSERT INTO db.m VALUES (1, 'a'), (2, 'b')").await, ["2"]);
    assert_eq!(env.rows("SELECT * FROM paimon.db.m ORDER BY id").await, ["1 a", "2 b"]);
    env.ok("CREATE TEMP TABLE nodb.n AS SELECT id + 1 AS x FROM db.m").await;
    assert_eq!(env.rows("SELECT sum(x) FROM nodb.n").await, ["5"]);
    assert_eq!(env.rows("SHOW TABLES IN db").await, ["paimon db m LOCAL TEMPORARY"]);
    assert!(rows(&env.second().await, "SELECT * FROM paimon.db.m").await.is_err());
    env.fails("CREATE TEMPORARY TABLE db.m (a INT)", "already exists").await;
    env.ok("CREATE TEMPORARY TABLE IF NOT EXISTS db.m (a INT)").await;
    env.fails("CREATE TEMPORARY TABLE db.k (a INT PRIMARY KEY)", "PRIMARY KEY").await;
    env.ok("DROP TEMPORARY TABLE db.m").await;
    env.fails("DROP TEMPORARY TABLE db.m", "does not exist").await;
    env.ok("DROP TEMPORARY TABLE IF EXISTS db.m").await;
    assert!(env.rows("SHOW TABLES IN db").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_temporary_object_hides_the_table_but_never_its_place() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT)").await;
    env.ok("CREATE TEMPORARY TABLE db.t AS SELECT 7 AS a").await;
    assert_eq!(env.rows("SELECT * FROM db.t").await, ["7"]);
    for sql in ["DROP TABLE db.t", "TRUNCATE TABLE db.t", "ALTER TABLE db.t ADD COLUMN b INT"] {
        env.fails(sql, "temporary").await;
    }
    env.fails("SELECT * FROM db.t VERSION AS OF 1", "temporary").await;
    env.ok("DROP TEMPORARY TABLE db.t").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.t").await, ["0"]);
    // The word TEMPORARY never drops the real table.
    env.fails("DROP TEMPORARY TABLE db.t", "does not exist").await;
    assert_eq!(env.rows("DESCRIBE db.t").await, ["a INT YES"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn temporary_views_show_the_data_of_now() {
    let env = Env::new().await;
    env.ok("CREATE TEMPORARY TABLE db.m (id INT)").await;
    env.ok("USE db").await;
    env.ok("CREATE TEMPORARY VIEW v (x) AS WITH q AS (SELECT id FROM m) SELECT id * 10 FROM q").await;
    env.ok("USE default").await;
    assert!(env.rows("SELECT x FROM db.v").await.is_empty());
    env.rows("INSERT INTO db.m VALUES (4)").await;
    assert_eq!(env.rows("SELECT x FROM db.v").await, ["40"]);
    assert_eq!(env.rows("SHOW VIEWS IN db").await, ["paimon db v VIEW"]);
    env.fails("CREATE TEMPORARY VIEW db.v AS SELECT 1", "already exists").await;
    env.fails("CREATE TEMPORARY VIEW db.w AS SELECT * FROM db.nope", "nope").await;
    env.fails("CREATE TEMPORARY VIEW db.w (a, b) AS SELECT 1", "2 columns").await;
    env.fails("CREATE OR REPLACE TEMPORARY VIEW db.v AS SELECT x FROM db.v", "read itself").await;
    env.ok("CREATE TEMPORARY VIEW db.w AS SELECT x FROM db.v").await;
    env.fails("CREATE OR REPLACE TEMPORARY VIEW db.v AS SELECT x FROM db.w", "read itself").await;
    env.ok("CREATE OR REPLACE TEMPORARY VIEW db.v AS SELECT 5 AS x").await;
    assert_eq!(env.rows("SELECT x FROM db.w").await, ["5"]);
    env.fails("DROP TEMPORARY TABLE db.v", "does not exist").await;
    env.ok("DROP TEMPORARY VIEW db.v").await;
    env.fails("CREATE VIEW db.v AS SELECT 1", "CREATE TEMPORARY VIEW").await;
}
