//! SQL-320: what works in an installed session of the engine, cell by cell of the sheet's table; the cells of a stock session
//! are in the Python tests, those of `SqlContext` everywhere else.

use datafusion_paimon::sql;

use crate::support::{World, int, lines, string};
use paimon_core::Schema;

const CREATE: &str = "CREATE TABLE through a DataFusion session cannot carry primary key, partitions and options";
const DROP: &str = "DROP TABLE through a DataFusion session is refused; use SQLContext";

/// An installed session over a table `t` with a partition and three snapshots of one row each.
async fn installed() -> World {
    let world = World::new().await.with_extension();
    let schema = Schema::builder().column("id", int()).column("p", string()).partition_keys(["p"]).build().unwrap();
    world.create("t", schema).await;
    for id in 1..=3 {
        world.ok(&format!("INSERT INTO paimon.d.t VALUES ({id}, 'a')")).await;
    }
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_work() {
    let world = installed().await;
    world.ok("SET datafusion.catalog.information_schema = true").await;
    let target = world.path().join("out.csv");
    let copy = format!("COPY (SELECT id FROM paimon.d.t) TO '{}' STORED AS CSV", target.display());
    let cases: [(&str, &[&str]); 15] = [
        ("SELECT a.id FROM paimon.d.t a JOIN paimon.d.t b ON a.id = b.id WHERE a.id > 1", &["2", "3"]),
        ("SELECT table_name FROM information_schema.tables WHERE table_schema = 'd'", &["t"]),
        ("SELECT count(*) FROM paimon.d.t$files", &["3"]),
        ("SELECT count(*) FROM paimon.d.\"t$branch_main\"", &["3"]),
        ("SELECT id FROM paimon_scan('paimon.d.t', 'scan.snapshot-id', '1')", &["1"]),
        ("SELECT id FROM paimon_incremental_query('paimon.d.t', 1, 3)", &["2", "3"]),
        // A hint is a comment.
        ("SELECT count(*) FROM paimon.d.t /*+ OPTIONS('scan.snapshot-id' = '1') */", &["3"]),
        ("SELECT * FROM sys.create_tag(table => 'd.t', tag => 'first', snapshot => 1)", &["OK"]),
        ("SELECT tag_name FROM paimon.d.t$tags", &["first"]),
        ("EXPLAIN SELECT * FROM sys.delete_tag('d.t', 'first')", &[]),
        ("SELECT count(*) FROM paimon.d.t$tags", &["1"]),
        ("DESCRIBE paimon.d.t", &["id Int32 YES", "p Utf8 YES"]),
        ("INSERT INTO paimon.d.t VALUES (CAST('4' AS INT), 'b')", &["1"]),
        ("INSERT OVERWRITE paimon.d.t VALUES (5, 'b')", &["1"]),
        ("SELECT id FROM paimon.d.t", &["1", "2", "3", "5"]),
    ];
    for (statement, expected) in cases {
        let rows = world.rows(statement).await;
        if !expected.is_empty() {
            assert_eq!(rows, expected, "{statement}");
        }
    }
    assert_eq!(world.rows(&copy).await, ["4"]);
    assert_eq!(std::fs::read_to_string(target).unwrap().lines().count(), 5);
    let definition = world.rows("SHOW CREATE TABLE paimon.d.t").await;
    assert!(definition[0].contains("PARTITIONED BY (p)"), "{definition:?}");
    world.ok("CREATE SCHEMA paimon.e").await;
    world.ok("DROP SCHEMA paimon.e").await;
    assert_eq!(world.rows("TRUNCATE TABLE paimon.d.t").await, ["4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_that_are_refused_and_change_nothing() {
    let world = installed().await;
    let before = (world.table("t").await.snapshots().latest_id().await.unwrap(), world.data_files());
    for (statement, part) in [
        ("SELECT * FROM paimon.d.t VERSION AS OF 1", "ParserError"),
        ("SELECT * FROM paimon.d.t VERSION AS OF 'first'", "ParserError"),
        ("INSERT OVERWRITE paimon.d.t PARTITION (p = 'a') SELECT 9", "Partitioned inserts not yet supported"),
        ("INSERT INTO paimon.d.t BY NAME SELECT 9 AS id, 'a' AS p", "ParserError"),
        ("INSERT INTO paimon.d.t VALUES (1, DEFAULT)", "default"),
        ("DELETE FROM paimon.d.t WHERE id = 1", "DELETE"),
        ("UPDATE paimon.d.t SET id = 9", "UPDATE"),
        ("TRUNCATE TABLE paimon.d.t PARTITION (p = 'a')", "PARTITION"),
        ("MERGE INTO paimon.d.t USING paimon.d.t s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *", "ParserError"),
        ("CREATE TABLE paimon.d.x (a INT)", CREATE),
        ("CREATE TABLE paimon.d.x AS SELECT 1 AS a", CREATE),
        ("SELECT 1 AS a INTO paimon.d.x", CREATE),
        ("CREATE VIEW paimon.d.x AS SELECT 1 AS a", CREATE),
        ("CREATE OR REPLACE TABLE paimon.d.t AS SELECT 1 / 0 AS a", DROP),
        ("CREATE OR REPLACE VIEW paimon.d.t AS SELECT 1 AS a", DROP),
        ("DROP TABLE paimon.d.t", "paimon.d.t"),
        ("ALTER TABLE paimon.d.t ADD COLUMN x INT", "Unsupported SQL statement"),
        ("COMMENT ON TABLE paimon.d.t IS 'x'", "Unsupported SQL statement"),
        ("ANALYZE TABLE paimon.d.t COMPUTE STATISTICS", "Unsupported SQL statement"),
        ("USE paimon.d", "Unsupported SQL statement"),
        ("CALL sys.compact('d.t')", "Unsupported SQL statement"),
        ("DROP SCHEMA paimon.d", "not empty"),
    ] {
        let error = world.refused(statement).await;
        assert!(error.contains(part), "{statement}: {error}");
    }
    let after = (world.table("t").await.snapshots().latest_id().await.unwrap(), world.data_files());
    assert_eq!(after, before);
    // A database of the engine is a catalog.
    world.ok("CREATE DATABASE other").await;
    assert_eq!(world.catalog.list_databases().await.unwrap(), ["d"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_for_our_own_function() {
    let world = installed().await;
    let rows = async |statement: &str| {
        let frame = sql(&world.session, statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
        lines(&frame.collect().await.unwrap_or_else(|e| panic!("{statement}: {e}")))
    };
    rows("USE paimon.d").await;
    rows("INSERT OVERWRITE t PARTITION (p = 'b') SELECT 9").await;
    rows("INSERT INTO t BY NAME SELECT 'c' AS p, 10 AS id").await;
    rows("INSERT INTO t VALUES (11, DEFAULT)").await;
    assert_eq!(rows("SELECT count(*) FROM t WHERE p IN ('b', 'c') OR p IS NULL").await, ["3"]);
    assert_eq!(rows("SELECT count(*) FROM t VERSION AS OF 1").await, ["1"]);
    rows("CREATE TABLE u (a INT PRIMARY KEY) WITH ('bucket' = '1')").await;
    rows("ALTER TABLE u ADD COLUMN x INT").await;
    rows("COMMENT ON TABLE u IS 'x'").await;
    assert_eq!(rows("SHOW TABLES").await.len(), 2);
    rows("CALL sys.compact('t')").await;
    rows("DROP TABLE u").await;
    rows("TRUNCATE TABLE t PARTITION (p = 'a')").await;
    assert_eq!(rows("SELECT count(*) FROM t").await, ["3"]);
    rows("TRUNCATE TABLE IF EXISTS t").await;
    assert_eq!(rows("SELECT count(*) FROM t").await, ["0"]);
}
