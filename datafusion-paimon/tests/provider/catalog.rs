//! Names, and what is refused.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::prelude::SessionContext;
use datafusion_paimon::PaimonCatalogProvider;
use paimon_core::{Identifier, Schema};
use tokio::runtime::Runtime;

use crate::support::{World, int, lines, open, session, string};

fn one_column() -> Schema {
    Schema::builder().column("id", int()).column("v", string()).build().unwrap()
}

#[tokio::test]
async fn names_are_fresh_at_each_call() {
    let world = World::new().await;
    let other = open(world.path()).await;
    assert!(world.refused("SELECT * FROM paimon.e.t").await.contains("not found"));
    other.create_database("e", false, HashMap::new()).await.unwrap();
    other.create_table(&Identifier::new("e", "t"), one_column(), false).await.unwrap();
    assert_eq!(world.rows("SELECT * FROM paimon.e.t").await, Vec::<String>::new());
    let listed = "SELECT table_schema, table_name, table_type FROM information_schema.tables WHERE table_catalog = 'paimon' AND table_schema <> 'information_schema'";
    assert_eq!(world.rows(listed).await, ["e t BASE TABLE"]);
    let columns = "SELECT column_name, data_type FROM information_schema.columns WHERE table_schema = 'e'";
    assert_eq!(world.rows(columns).await, ["id Int32", "v Utf8"]);
    other.drop_table(&Identifier::new("e", "t"), false).await.unwrap();
    assert!(world.refused("SELECT * FROM paimon.e.t").await.contains("not found"));
    assert_eq!(world.rows(listed).await, Vec::<String>::new());
}

/// SQL-324.
#[tokio::test]
async fn schemas_are_databases() {
    let world = World::new().await;
    world.ok("CREATE SCHEMA paimon.e").await;
    assert!(world.catalog.database_exists("e").await.unwrap());
    world.catalog.create_table(&Identifier::new("e", "t"), one_column(), false).await.unwrap();
    assert!(world.refused("DROP SCHEMA paimon.e").await.contains("not empty"));
    world.ok("DROP SCHEMA paimon.e CASCADE").await;
    assert!(!world.catalog.database_exists("e").await.unwrap());
}

/// SQL-321, SQL-322, SQL-323.
#[tokio::test]
async fn the_engine_neither_creates_nor_drops_tables() {
    let world = World::new().await;
    world.create("t", one_column()).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1, 'a')").await;
    let create =
        "CREATE TABLE through a DataFusion session cannot carry primary key, partitions and options; use SQLContext";
    for sql in [
        "CREATE TABLE paimon.d.u (id INT)",
        "CREATE TABLE paimon.d.u AS SELECT 1",
        "CREATE VIEW paimon.d.u AS SELECT 1",
    ] {
        let error = world.refused(sql).await;
        assert!(error.contains(create), "{sql}: {error}");
    }
    let replace = world.refused("CREATE OR REPLACE TABLE paimon.d.t AS SELECT 1").await;
    assert!(replace.contains("DROP TABLE through a DataFusion session is refused; use SQLContext"), "{replace}");
    // The engine replaces the sentence of the refusal by its own, and with IF EXISTS takes it for success.
    assert!(world.refused("DROP TABLE paimon.d.t").await.contains("paimon.d.t"));
    world.ok("DROP TABLE IF EXISTS paimon.d.t").await;
    assert_eq!(world.rows("SELECT * FROM paimon.d.t").await, ["1 a"]);
    let provider = world.session.catalog("paimon").unwrap().schema("d").unwrap();
    assert!(provider.deregister_table("t").is_err());
    assert_eq!(provider.table_names(), ["t"]);
}

/// SQL-162.
#[tokio::test]
async fn row_level_changes_are_refused_and_change_nothing() {
    let world = World::new().await;
    world.create("t", one_column()).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1, 'a')").await;
    for (sql, part) in [
        ("DELETE FROM paimon.d.t WHERE false", "install the Paimon extension to run DELETE"),
        ("DELETE FROM paimon.d.t", "install the Paimon extension to run DELETE"),
        ("UPDATE paimon.d.t SET v = 'b'", "install the Paimon extension to run UPDATE"),
        ("MERGE INTO paimon.d.t USING paimon.d.t AS s ON t.id = s.id WHEN MATCHED THEN DELETE", "MERGE INTO"),
    ] {
        let error = world.refused(sql).await;
        assert!(error.contains(part), "{sql}: {error}");
    }
    assert!(world.refused("REPLACE INTO paimon.d.t VALUES (1, 'c')").await.contains("REPLACE"));
    assert_eq!(world.rows("SELECT * FROM paimon.d.t").await, ["1 a"]);
}

/// SQL-163.
#[tokio::test]
async fn truncate_deletes_when_it_is_executed() {
    let world = World::new().await;
    world.create("t", one_column()).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1, 'a'), (2, 'b')").await;
    world.ok("EXPLAIN TRUNCATE TABLE paimon.d.t").await;
    assert_eq!(world.rows("SELECT count(*) FROM paimon.d.t").await, ["2"]);
    assert_eq!(world.rows("TRUNCATE TABLE paimon.d.t").await, ["2"]);
    assert_eq!(world.rows("SELECT count(*) FROM paimon.d.t").await, ["0"]);
}

#[tokio::test]
async fn system_tables_answer_by_quoted_and_unquoted_names() {
    let world = World::new().await;
    world.create("t", one_column()).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1, 'a')").await;
    let snapshots = world.rows("SELECT snapshot_id, commit_kind, total_record_count FROM paimon.d.t$snapshots").await;
    assert_eq!(snapshots, ["1 APPEND 1"]);
    let files = "SELECT partition, bucket, level, record_count, file_format, min_value_stats FROM paimon.d.\"t$files\"";
    assert_eq!(world.rows(files).await, ["{} 0 0 1 parquet {id=1, v=a}"]);
    assert_eq!(world.rows("SELECT schema_id, partition_keys FROM paimon.d.t$schemas").await, ["0 []"]);
    assert_eq!(world.rows("SELECT count(*) FROM paimon.d.t$options WHERE key = 'bucket'").await.len(), 1);
    assert!(world.refused("SELECT * FROM paimon.d.t$bogus").await.contains("not found"));
    assert!(world.refused("INSERT INTO paimon.d.t$options VALUES ('a', 'b')").await.contains("system table"));
}

/// SQL-327.
#[tokio::test]
async fn external_tables_are_names_for_tables_that_exist() {
    let world = World::new().await;
    world.create("t", one_column()).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1, 'a')").await;
    let extension = datafusion_paimon::Extension::new(tokio::runtime::Handle::current());
    let builder = datafusion::execution::SessionStateBuilder::new().with_default_features();
    let state = datafusion_paimon::install(builder, &extension).unwrap().build();
    let session = SessionContext::new_with_state(state);
    let location = world.path().join("d.db/t");
    let create = format!("CREATE EXTERNAL TABLE x STORED AS PAIMON LOCATION '{}'", location.display());
    session.sql(&create).await.unwrap();
    session.sql("INSERT INTO x VALUES (2, 'b')").await.unwrap().collect().await.unwrap();
    assert_eq!(world.rows("SELECT * FROM paimon.d.t").await, ["1 a", "2 b"]);
    let columns = create.replace("TABLE x", "TABLE y (id INT)");
    let error = session.sql(&columns).await.unwrap_err().to_string();
    assert!(error.contains("columns in CREATE EXTERNAL TABLE"), "{error}");
    let missing = create.replace("d.db/t", "d.db/missing").replace("TABLE x", "TABLE z");
    assert!(session.sql(&missing).await.unwrap_err().to_string().contains("no Paimon table"));
}

/// SQL-217.
#[tokio::test]
async fn installed_sessions_take_qualified_procedures_and_options() {
    let world = World::new().await;
    world.create("t", one_column()).await;
    for n in 1..=3 {
        world.ok(&format!("INSERT INTO paimon.d.t VALUES ({n}, 'a')")).await;
    }
    let extension = datafusion_paimon::Extension::new(tokio::runtime::Handle::current());
    extension.add_catalog("paimon", Arc::clone(&world.catalog));
    let builder = datafusion::execution::SessionStateBuilder::new().with_default_features();
    let state = datafusion_paimon::install(builder, &extension).unwrap();
    assert!(datafusion_paimon::install(state, &extension).is_err(), "a second installation is an error");
    let builder = datafusion::execution::SessionStateBuilder::new().with_default_features();
    let session = SessionContext::new_with_state(datafusion_paimon::install(builder, &extension).unwrap().build());
    let rows = async |sql: &str| {
        let frame = session.sql(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"));
        let mut rows = lines(&frame.collect().await.unwrap());
        rows.sort();
        rows
    };
    let tag = "SELECT * FROM paimon.sys.create_tag(table => 'd.t', tag => 'first', snapshot => 1)";
    assert_eq!(rows(tag).await, ["OK"]);
    assert_eq!(rows("SELECT tag_name, snapshot_id FROM paimon.d.t$tags").await, ["first 1"]);
    assert_eq!(rows("SELECT id FROM paimon_scan('paimon.d.t', 'scan.snapshot-id', '2')").await, ["1", "2"]);
    rows("SET paimon.\"scan.snapshot-id\" = '1'").await;
    assert_eq!(rows("SELECT id FROM paimon.d.t").await, ["1"]);
    let error = session.sql("INSERT INTO paimon.d.t VALUES (9, 'z')").await.unwrap().collect().await.unwrap_err();
    assert!(error.to_string().contains("snapshot"), "{error}");
    rows("SET paimon.\"scan.snapshot-id\" = ''").await;
    assert_eq!(rows("SELECT count(*) FROM paimon.d.t").await, ["3"]);
    assert_eq!(rows("SELECT c.files_removed FROM sys.compact('d.t') AS c").await.len(), 1);
    let unknown = session.sql("SELECT * FROM sys.bogus('d.t')").await.unwrap_err().to_string();
    assert!(unknown.contains("procedure bogus does not exist"), "{unknown}");
    rows("SET datafusion.catalog.information_schema = true").await;
    let definition = rows("SHOW CREATE TABLE paimon.d.t").await;
    assert!(definition[0].contains("CREATE TABLE paimon.d.t") && definition[0].contains("v STRING"), "{definition:?}");
}

/// SQL-325, PY-244.
#[test]
fn a_provider_works_from_any_thread() {
    let ours = Runtime::new().unwrap();
    let world = ours.block_on(World::new());
    ours.block_on(world.create("t", one_column()));
    let provider = Arc::new(PaimonCatalogProvider::new(Arc::clone(&world.catalog), ours.handle().clone()));
    // A thread without runtime.
    let catalog: Arc<dyn datafusion::catalog::CatalogProvider> = provider;
    assert_eq!(catalog.schema("d").unwrap().table_names(), ["t"]);
    // Another runtime, of one thread.
    let theirs = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    theirs.block_on(async {
        let session = SessionContext::new();
        session.register_catalog("paimon", Arc::clone(&catalog));
        let insert = session.sql("INSERT INTO paimon.d.t VALUES (1, 'a')").await.unwrap();
        insert.collect().await.unwrap();
        let frame = session.sql("SELECT * FROM paimon.d.t").await.unwrap();
        assert_eq!(lines(&frame.collect().await.unwrap()), ["1 a"]);
    });
    // The runtime of the provider itself, with one thread.
    let single = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    single.block_on(async {
        let session = session(&world.catalog);
        let frame = session.sql("SELECT * FROM paimon.d.t").await.unwrap();
        assert_eq!(lines(&frame.collect().await.unwrap()), ["1 a"]);
    });
}
