//! Catalogs, current names, options of the session, and texts that are no statement.

use datafusion_paimon::{SqlContext, core_error};
use paimon_core::ErrorKind;
use paimon_core::options::Options;

use super::{Env, rows};

fn options(warehouse: &tempfile::TempDir) -> Options {
    [("warehouse", warehouse.path().to_str().unwrap())].into_iter().collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_catalog_becomes_current() {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let context = SqlContext::new().unwrap();
    assert_eq!(rows(&context, "SELECT 1 AS a").await.unwrap(), ["1"]);
    let error = rows(&context, "CALL sys.compact('d.t')").await.unwrap_err();
    assert!(error.to_string().contains("No Paimon catalog registered"), "{error}");
    context.register_catalog("one", options(&first), Some("d")).await.unwrap();
    context.register_catalog("two", options(&second), Some("")).await.unwrap();
    assert_eq!((context.current_catalog().as_str(), context.current_database().as_str()), ("one", "d"));
    assert!(first.path().join("d.db").is_dir() && std::fs::read_dir(second.path()).unwrap().count() == 0);
    for name in ["", " ", "a\"b", "a'b"] {
        assert!(context.register_catalog(name, options(&first), None).await.is_err(), "{name}");
    }
    let unknown = context.set_current_catalog("three").unwrap_err();
    assert!(matches!(core_error(&unknown).unwrap().kind(), ErrorKind::NotFound(_)));
    assert!(context.set_current_database("nope").is_err());
    assert_eq!(context.current_catalog(), "one");
    rows(&context, "CREATE TABLE t (a INT)").await.unwrap();
    assert_eq!(rows(&context, "SHOW TABLES").await.unwrap(), ["one d t BASE TABLE"]);
    assert_eq!(rows(&context, "SHOW CATALOGS").await.unwrap(), ["datafusion", "one", "two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn use_changes_what_short_names_mean() {
    let env = Env::new().await;
    env.ok("USE paimon.db").await;
    env.ok("CREATE TABLE t (a INT)").await;
    assert_eq!(env.rows("SELECT count(*) FROM t").await, ["0"]);
    env.ok("USE DATABASE default").await;
    env.fails("SELECT * FROM t", "Table default.t does not exist.").await;
    env.fails("USE nope", "Database nope does not exist.").await;
    env.fails("USE datafusion", "USE CATALOG datafusion").await;
    env.ok("USE CATALOG datafusion").await;
    assert_eq!(env.rows("SHOW CURRENT DATABASE").await, ["datafusion public"]);
    env.ok("USE CATALOG paimon").await;
    assert_eq!(env.rows("SHOW CURRENT CATALOG").await, ["paimon"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_one_statement_runs() {
    let env = Env::new().await;
    env.fails("", "No SQL statement").await;
    env.fails("-- only a comment", "No SQL statement").await;
    env.fails("SELECT 1; SELECT 2", "second one at line 1, column 11").await;
    env.fails("SELEC 1", "Line: 1, Column: 1").await;
    assert_eq!(env.rows("SELECT /* a /* b */ */ 1; -- end").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn deep_statements_are_refused_quickly() {
    let env = Env::new().await;
    let sum = |n: usize| format!("SELECT 1{}", " + 1".repeat(n));
    env.fails(&sum(20_000), "too deep").await;
    assert_eq!(env.rows(&sum(200)).await, ["201"]);
    let condition = format!("SELECT a FROM (SELECT 1 AS a) t WHERE {}true", "a = 2 OR ".repeat(990));
    assert_eq!(env.rows(&condition).await, ["1"]);
    env.fails(&format!("SELECT {}1{}", "(".repeat(20_000), ")".repeat(20_000)), "too deep").await;
    env.fails(&format!("SELECT {}1{}", "(".repeat(900), ")".repeat(900)), "too deep").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_are_set_and_reset() {
    let env = Env::new().await;
    env.ok("SET 'paimon.read.batch-size' = '4096'").await;
    env.ok("SET paimon.*.db.t.read.batch-size = 1").await;
    assert_eq!(env.rows("SHOW 'paimon.read.batch-size'").await, ["paimon.read.batch-size 4096"]);
    env.ok("RESET paimon.read.batch-size").await;
    env.fails("SHOW paimon.read.batch-size", "not set").await;
    env.ok("RESET 'paimon.never.set'").await;
    env.fails("SET paimon.no.such = 1", "unknown option").await;
    env.fails("SET paimon.bucket = 1", "fixed").await;
    env.fails("SET 'paimon.read.batch-size' = 'many'", "read.batch-size").await;
    env.ok("SET datafusion.execution.batch_size = 77").await;
    env.ok("SET TIME ZONE '+08:00'").await;
    assert_eq!(env.rows("SHOW datafusion.execution.time_zone").await, ["datafusion.execution.time_zone +08:00"]);
    let all = env.rows("SHOW ALL").await;
    assert!(all.contains(&"datafusion.execution.batch_size 77".to_owned()));
    assert!(all.contains(&"paimon.*.db.t.read.batch-size 1".to_owned()));
    env.ok("RESET ALL").await;
    let all = env.rows("SET").await;
    assert!(all.contains(&"datafusion.execution.batch_size 8192".to_owned()));
    assert!(!all.iter().any(|line| line.starts_with("paimon.")));
    assert_eq!(env.rows("SHOW CURRENT CATALOG").await, ["paimon"]);
    env.fails("SET datafusion.sql_parser.dialect = 'hive'", "generic").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn expressions_know_the_types_of_tables() {
    let env = Env::new().await;
    let cases = [
        ("arrow_typeof(CAST(X'00' AS BYTES))", "Binary"),
        ("arrow_typeof(CAST(X'00' AS BINARY(3)))", "Binary"),
        ("arrow_typeof(CAST('12:00:00' AS TIME(3)))", "Time32(ms)"),
        ("arrow_typeof(CAST('2024-01-01 00:00:00' AS TIMESTAMP_LTZ(3)))", "Timestamp(ms, \"UTC\")"),
        ("arrow_typeof(CAST('2024-01-01 00:00:00' AS TIMESTAMP_NTZ))", "Timestamp(µs)"),
        ("arrow_typeof(CAST(1 AS DEC(5, 1)))", "Decimal128(5, 1)"),
        ("arrow_typeof(CAST(1 AS STRING))", "Utf8"),
    ];
    for (expression, expected) in cases {
        assert_eq!(env.rows(&format!("SELECT {expression}")).await, [expected], "{expression}");
    }
    env.fails("SELECT CAST(1 AS NO_SUCH_TYPE)", "NO_SUCH_TYPE").await;
}

/// SQL-007, SQL-328.
#[tokio::test(flavor = "multi_thread")]
async fn any_installed_session_runs_the_grammar() {
    use datafusion::execution::SessionStateBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};
    use datafusion_paimon::{Extension, install, sql};
    use paimon_core::CatalogFactory;

    let warehouse = tempfile::tempdir().unwrap();
    let extension = Extension::new(tokio::runtime::Handle::current());
    extension.add_catalog("p", CatalogFactory::create(options(&warehouse)).await.unwrap());
    let config = SessionConfig::new().with_information_schema(true);
    let builder = SessionStateBuilder::new().with_default_features().with_config(config);
    let context = SessionContext::new_with_state(install(builder, &extension).unwrap().build());
    for statement in [
        "CREATE DATABASE p.d",
        "USE p.d",
        "CREATE TABLE t (id INT PRIMARY KEY, v INT) WITH ('bucket' = '1')",
        "INSERT INTO t VALUES (1, 1)",
        "INSERT INTO t VALUES (1, 2)",
        "CREATE TEMPORARY TABLE m AS SELECT 7 AS x",
    ] {
        sql(&context, statement).await.unwrap_or_else(|e| panic!("{statement}: {e}"));
    }
    let count = |text: &'static str| {
        let context = context.clone();
        async move {
            sql(&context, text).await.unwrap().collect().await.unwrap().iter().map(|b| b.num_rows()).sum::<usize>()
        }
    };
    assert_eq!(count("SELECT * FROM t VERSION AS OF 1 WHERE v = 1").await, 1);
    assert_eq!(count("SELECT * FROM m WHERE x = 7").await, 1);
    assert_eq!(count("SELECT * FROM information_schema.tables WHERE table_schema = 'd'").await, 2);
    // The engine's own grammar reads the same tables.
    let rows = context.sql("SELECT v FROM p.d.t").await.unwrap().collect().await.unwrap();
    assert_eq!(rows.iter().map(|b| b.num_rows()).sum::<usize>(), 1);
}
