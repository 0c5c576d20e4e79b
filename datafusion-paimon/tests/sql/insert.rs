//! INSERT INTO, INSERT OVERWRITE of whole tables, and CREATE TABLE AS.

use paimon_core::ErrorKind;
use paimon_core::error::Entity;

use super::Env;

#[tokio::test(flavor = "multi_thread")]
async fn rows_are_there_when_the_call_returns() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT, s STRING)").await;
    let frame = env.context.sql("INSERT INTO db.t VALUES (1, 'a'), (2, NULL)").await.unwrap();
    assert_eq!(env.rows("SELECT * FROM db.t ORDER BY id").await, ["1 a", "2 NULL"]);
    // Collecting the result, twice even, only shows it.
    for _ in 0..2 {
        let batches = frame.clone().collect().await.unwrap();
        assert_eq!(batches[0].schema().field(0).name(), "count");
        assert!(!batches[0].schema().field(0).is_nullable());
    }
    assert_eq!(env.rows("SELECT count(*) FROM db.t").await, ["2"]);
    assert_eq!(env.rows("INSERT INTO db.t SELECT id + 10, s FROM db.t").await, ["2"]);
    assert_eq!(env.rows("INSERT INTO db.t SELECT * FROM db.t WHERE false").await, ["0"]);
    assert_eq!(env.rows("SELECT count(*) FROM db.t$snapshots").await, ["2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_are_matched_by_list_or_by_name() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (a INT, b STRING, c INT DEFAULT 7)").await;
    env.rows("INSERT INTO db.t (C, a) VALUES (3, 1)").await;
    env.rows("INSERT INTO db.t (b, c, a) SELECT 'x', 30, 10").await;
    env.rows("INSERT INTO db.t BY NAME SELECT 'y' AS b, 20 AS a").await;
    env.rows("INSERT INTO db.t VALUES (21, DEFAULT, DEFAULT)").await;
    env.rows("INSERT INTO db.t (a) WITH q AS (SELECT 22 AS x) SELECT x FROM q").await;
    env.rows("WITH q AS (SELECT 23 AS x) INSERT INTO db.t (a) SELECT x FROM q").await;
    env.rows("INSERT INTO db.t DEFAULT VALUES").await;
    assert_eq!(
        env.rows("SELECT * FROM db.t ORDER BY a").await,
        ["1 NULL 3", "10 x 30", "20 y 7", "21 NULL 7", "22 NULL 7", "23 NULL 7", "NULL NULL 7"]
    );
    let (kind, message) = env.error("INSERT INTO db.t (nope) VALUES (1)").await;
    assert_eq!(kind, ErrorKind::NotFound(Entity::Column), "{message}");
    env.fails("INSERT INTO db.t (a, a) VALUES (1, 2)", "column a is given twice").await;
    env.fails("INSERT INTO db.t BY NAME SELECT 1 AS a, 2 AS d", "Column d does not exist").await;
    env.fails("INSERT INTO db.t SELECT 1, 'a'", "3 columns are to be filled (a, b, c), but the query has 2").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn values_that_do_not_fit_are_errors_that_name_the_column() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (t TINYINT, i INT, d DATE, n DECIMAL(4,2), b BOOLEAN)").await;
    for (values, part) in [
        ("(300, 0, NULL, NULL, NULL)", "column t"),
        ("(1, 'qq', NULL, NULL, NULL)", "column i"),
        ("(1, 3000000000, NULL, NULL, NULL)", "column i"),
        ("(1, 1, '2024-02-30', NULL, NULL)", "column d"),
        ("(1, 1, NULL, 123.4, NULL)", "column n"),
        ("(1, 1, NULL, NULL, 'maybe')", "column b"),
    ] {
        env.fails(&format!("INSERT INTO db.t VALUES {values}"), part).await;
        let query = format!("INSERT INTO db.t SELECT * FROM (VALUES {values}) v");
        env.fails(&query, part).await;
    }
    assert_eq!(env.rows("SELECT count(*) FROM db.t$snapshots").await, ["0"]);
    env.rows(
        "INSERT INTO db.t VALUES ('-128', '7', '2024-02-29', '12.345', 'true'), (127, 8, DATE '0001-01-01', 1, false)",
    )
    .await;
    assert_eq!(
        env.rows("SELECT * FROM db.t ORDER BY t").await,
        ["-128 7 2024-02-29 12.35 true", "127 8 0001-01-01 1.00 false"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn null_is_refused_where_it_is_not_allowed() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT NOT NULL, v INT NOT NULL, w INT NOT NULL DEFAULT 5)").await;
    env.rows("INSERT INTO db.t (id, v) VALUES (1, 1)").await;
    env.fails("INSERT INTO db.t VALUES (2, NULL, 1)", "v").await;
    env.fails("INSERT INTO db.t (id) VALUES (2)", "column v of db.t does not allow null").await;
    env.fails("INSERT INTO db.t VALUES (2, DEFAULT, 1)", "column v of db.t does not allow null").await;
    env.fails(
        "INSERT INTO db.t SELECT CAST(value AS INT), CASE WHEN value = 3 THEN NULL ELSE 1 END, 1 FROM generate_series(2, 3)",
        "v",
    )
    .await;
    assert_eq!(env.rows("SELECT * FROM db.t").await, ["1 1 5"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn overwriting_a_table_replaces_all_of_it() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT PRIMARY KEY, v INT) WITH ('bucket' = '2')").await;
    env.rows("INSERT INTO db.t VALUES (1, 1), (2, 2), (1, 3)").await;
    assert_eq!(env.rows("SELECT * FROM db.t ORDER BY id").await, ["1 3", "2 2"]);
    env.rows("INSERT OVERWRITE db.t SELECT id, v * 10 FROM db.t").await;
    assert_eq!(env.rows("SELECT * FROM db.t ORDER BY id").await, ["1 30", "2 20"]);
    env.rows("INSERT OVERWRITE TABLE db.t SELECT * FROM db.t WHERE false").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.t").await, ["0"]);
    env.rows("INSERT INTO db.t VALUES (5, 5)").await;
    env.ok("TRUNCATE TABLE db.t").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.t").await, ["0"]);
    env.ok("TRUNCATE TABLE IF EXISTS db.nope").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn explain_of_an_insert_commits_only_with_analyze() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id INT)").await;
    env.rows("EXPLAIN INSERT INTO db.t VALUES (1)").await;
    env.rows("EXPLAIN INSERT OVERWRITE db.t SELECT 1").await;
    env.ok("PREPARE p AS INSERT INTO db.t VALUES ($1)").await;
    assert_eq!(env.rows("SELECT count(*) FROM db.t$snapshots").await, ["0"]);
    env.rows("EXPLAIN ANALYZE INSERT INTO db.t VALUES (1)").await;
    assert_eq!(env.rows("SELECT * FROM db.t").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn create_table_as_stores_the_rows_of_a_query() {
    let env = Env::new().await;
    assert_eq!(
        env.rows(
            "CREATE TABLE db.t WITH ('primary-key' = 'id', 'bucket' = '1') AS \
             SELECT column1 AS id, column2 AS s, row_number() OVER (ORDER BY column1) AS n FROM (VALUES (1, 'a'), (2, 'b'))"
        )
        .await,
        ["2"]
    );
    assert_eq!(env.rows("SELECT * FROM db.t ORDER BY id").await, ["1 a 1", "2 b 2"]);
    assert_eq!(env.rows("DESCRIBE db.t").await, ["id BIGINT NO", "s STRING YES", "n BIGINT YES"]);
    assert_eq!(env.rows("CREATE TABLE db.u (x, y) AS SELECT id, s FROM db.t").await, ["2"]);
    assert_eq!(env.rows("CREATE TABLE db.w (x TINYINT, y DATE) AS SELECT 1, '2024-01-01'").await, ["1"]);
    assert_eq!(env.rows("SELECT * FROM db.w").await, ["1 2024-01-01"]);
    assert_eq!(env.rows("CREATE TABLE IF NOT EXISTS db.t AS SELECT 1 / 0").await, ["0"]);
    assert_eq!(env.rows("CREATE TABLE db.e AS SELECT * FROM db.t WHERE false").await, ["0"]);
    assert_eq!(env.rows("SELECT count(*) FROM db.e$snapshots").await, ["0"]);
    let (kind, _) = env.error("CREATE TABLE db.t AS SELECT 1 AS a").await;
    assert_eq!(kind, ErrorKind::AlreadyExists(Entity::Table));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_create_table_as_leaves_no_table() {
    let env = Env::new().await;
    env.ok("CREATE TEMPORARY TABLE db.m AS SELECT 0 AS z").await;
    for sql in [
        "CREATE TABLE db.t AS SELECT 1 / z AS a FROM db.m",
        "CREATE TABLE db.t (a TINYINT) AS SELECT 300 + z FROM db.m",
        "CREATE TABLE db.t (a INT, b INT) AS SELECT 1",
        "CREATE TABLE db.t AS SELECT * FROM db.nope",
        "CREATE TABLE db.t (a, a) AS SELECT 1, 2",
        "CREATE TABLE db.t AS SELECT INTERVAL '1' DAY AS i",
    ] {
        assert!(super::rows(&env.context, sql).await.is_err(), "{sql}");
        assert_eq!(env.rows("SHOW TABLES IN db").await, ["paimon db m LOCAL TEMPORARY"], "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_values_and_the_engines_own_tables() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.n (id INT, a ARRAY<INT>, r STRUCT<x INT, y STRING>, m MAP(STRING, INT))").await;
    env.rows("INSERT INTO db.n SELECT 1, make_array(1, NULL, 3), named_struct('x', 5, 'y', 'five'), map(['k'], [9])")
        .await;
    env.rows("INSERT INTO db.n (id, r) VALUES (2, named_struct('x', 6, 'y', NULL))").await;
    assert_eq!(
        env.rows("SELECT * FROM db.n ORDER BY id").await,
        ["1 [1, NULL, 3] {x: 5, y: five} {k: 9}", "2 NULL {x: 6, y: NULL} NULL"]
    );
    env.ok("CREATE TABLE datafusion.public.m (a INT)").await;
    assert_eq!(env.rows("INSERT INTO datafusion.public.m SELECT id FROM db.n").await, ["2"]);
    assert_eq!(env.rows("SELECT sum(a) FROM datafusion.public.m").await, ["3"]);
}
