//! Files of earlier schemas through the engine's Parquet source.

use paimon_core::Identifier;
use paimon_core::Schema;
use paimon_core::catalog::{ColumnMove, SchemaChange};

use crate::support::{World, bigint, int, string};

async fn alter(world: &World, table: &str, changes: Vec<SchemaChange>) {
    world.catalog.alter_table(&Identifier::new("d", table), changes, false).await.unwrap();
}

fn path(name: &str) -> Vec<String> {
    vec![name.to_owned()]
}

fn add(name: &str, data_type: paimon_core::types::DataType) -> SchemaChange {
    SchemaChange::AddColumn { path: path(name), data_type, comment: None, position: None }
}

fn rename(from: &str, to: &str) -> SchemaChange {
    SchemaChange::RenameColumn { path: path(from), new_name: to.to_owned() }
}

fn retype(name: &str, data_type: paimon_core::types::DataType) -> SchemaChange {
    SchemaChange::UpdateColumnType { path: path(name), data_type, keep_nullability: false }
}

#[tokio::test]
async fn columns_are_mapped_by_id() {
    let world = World::new().await;
    let schema = Schema::builder().column("a", int()).column("b", string()).column("c", int()).build().unwrap();
    world.create("t", schema).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1, 'x', 10), (2, 'y', 20)").await;
    // b takes the name of a, a becomes wider, c goes and comes back as another column.
    let drop = SchemaChange::DropColumn { path: path("c") };
    alter(&world, "t", vec![rename("a", "old"), rename("b", "a"), retype("old", bigint()), drop]).await;
    let first = SchemaChange::UpdateColumnPosition { column: "a".to_owned(), position: ColumnMove::First };
    alter(&world, "t", vec![add("c", int()), first]).await;
    world.ok("INSERT INTO paimon.d.t VALUES ('z', 5000000000, 30)").await;
    let all = world.rows("SELECT * FROM paimon.d.t").await;
    assert_eq!(all, ["x 1 _", "y 2 _", "z 5000000000 30"]);
    let plan = world.plan("SELECT * FROM paimon.d.t").await;
    assert!(plan.contains("UnionExec") && !plan.contains("PaimonSplitsExec"), "{plan}");
    assert_eq!(world.rows("SELECT a FROM paimon.d.t WHERE old = 2").await, ["y"]);
    assert_eq!(world.rows("SELECT old FROM paimon.d.t WHERE a = 'x'").await, ["1"]);
    assert_eq!(world.rows("SELECT a FROM paimon.d.t WHERE c IS NULL").await, ["x", "y"]);
    assert_eq!(world.rows("SELECT a FROM paimon.d.t WHERE c = 30 OR old = 1").await, ["x", "z"]);
    assert_eq!(world.rows("SELECT count(*), count(c), min(old), max(old) FROM paimon.d.t").await, ["3 1 1 5000000000"]);
    let top = world.rows("SELECT a, old FROM paimon.d.t ORDER BY old DESC LIMIT 1").await;
    assert_eq!(top, ["z 5000000000"]);
    assert_eq!(world.rows("SELECT t.a FROM paimon.d.t JOIN paimon.d.t u ON t.old = u.old + 1").await, ["y"]);
    // The files as they were: the schema of the snapshot.
    let session = &world.session;
    let catalog = datafusion_paimon::PaimonCatalogProvider::new(
        std::sync::Arc::clone(&world.catalog),
        tokio::runtime::Handle::current(),
    );
    for (name, function) in datafusion_paimon::udtf::functions(&catalog) {
        session.register_udtf(&name, function);
    }
    let before = world.rows("SELECT a, b, c FROM paimon_scan('d.t', 'scan.snapshot-id', '1')").await;
    assert_eq!(before, ["1 x 10", "2 y 20"]);
}

#[tokio::test]
async fn schemas_that_differ_in_options_share_a_scan() {
    let world = World::new().await;
    world.create("t", Schema::builder().column("a", int()).build().unwrap()).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1)").await;
    let option = SchemaChange::SetOption { key: "snapshot.num-retained.max".to_owned(), value: "20".to_owned() };
    alter(&world, "t", vec![option]).await;
    world.ok("INSERT INTO paimon.d.t VALUES (2)").await;
    assert_eq!(world.rows("SELECT a FROM paimon.d.t").await, ["1", "2"]);
    let plan = world.plan("SELECT a FROM paimon.d.t").await;
    assert!(!plan.contains("UnionExec"), "{plan}");
}

#[tokio::test]
async fn casts_of_other_types_are_the_cores() {
    let world = World::new().await;
    let schema = Schema::builder().column("a", int()).column("n", int()).build().unwrap();
    world.create("t", schema).await;
    world.ok("INSERT INTO paimon.d.t VALUES (383, 1), (-7, 2)").await;
    alter(&world, "t", vec![retype("a", string())]).await;
    world.ok("INSERT INTO paimon.d.t VALUES ('x', 3)").await;
    assert_eq!(world.rows("SELECT a FROM paimon.d.t").await, ["-7", "383", "x"]);
    let plan = world.plan("SELECT a FROM paimon.d.t").await;
    assert!(plan.contains("PaimonSplitsExec"), "{plan}");
    assert_eq!(world.rows("SELECT n FROM paimon.d.t WHERE a = '383'").await, ["1"]);
    // The column that was not changed is read by the engine.
    let plan = world.plan("SELECT n FROM paimon.d.t").await;
    assert!(!plan.contains("PaimonSplitsExec"), "{plan}");
    assert_eq!(world.rows("SELECT sum(n), max(n) FROM paimon.d.t").await, ["6 3"]);
}
