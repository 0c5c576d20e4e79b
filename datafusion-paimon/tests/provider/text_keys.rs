//! Text that rows are grouped by: read as views where the extension is installed, with the rows and types of a session
//! without it.

use arrow::record_batch::RecordBatch;
use paimon_core::catalog::SchemaChange;
use paimon_core::{Identifier, Schema};

use crate::support::{World, int, lines, session, string};

/// Files of two schemas: `c` was added later, `k` was renamed.
async fn world() -> World {
    let world = World::new().await.with_extension();
    let schema = Schema::builder()
        .column("p", string())
        .column("name", string())
        .column("v", int())
        .column("s", string())
        .partition_keys(["p"])
        .build()
        .unwrap();
    world.create("t", schema).await;
    let rows = "('a', 'x', 1, 'one'), ('a', 'a key of more than twelve bytes', 2, 'two'), ('b', NULL, 3, NULL), ('b', '', 4, 'four')";
    world.ok(&format!("INSERT INTO paimon.d.t VALUES {rows}")).await;
    let rename = SchemaChange::RenameColumn { path: vec!["name".to_owned()], new_name: "k".to_owned() };
    let add =
        SchemaChange::AddColumn { path: vec!["c".to_owned()], data_type: string(), comment: None, position: None };
    world.catalog.alter_table(&Identifier::new("d", "t"), vec![rename, add], false).await.unwrap();
    world.ok("INSERT INTO paimon.d.t SELECT p, k, v + 4, s, 'new' FROM paimon.d.t").await;
    world
}

fn sorted(batches: &[RecordBatch]) -> Vec<String> {
    let mut rows = lines(batches);
    rows.sort();
    rows
}

/// Whether keys are views in the plan of a query, whose rows and types are those of a session without the extension.
async fn has_views(world: &World, query: &str) -> bool {
    let bare = session(&world.catalog).sql(query).await.unwrap();
    let (types, expected) = (bare.schema().as_arrow().clone(), bare.collect().await.unwrap());
    let found = world.ok(query).await;
    assert_eq!(sorted(&found), sorted(&expected), "{query}");
    for batch in &found {
        assert_eq!(batch.schema().fields(), types.fields(), "{query}");
    }
    world.plan(query).await.contains("AS Utf8)")
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_only_grouped_by_are_views() {
    let world = world().await;
    for query in [
        "SELECT k, count(*), sum(v) FROM paimon.d.t GROUP BY k",
        "SELECT k, s, min(v) FROM paimon.d.t GROUP BY k, s",
        "SELECT s, k, max(v) FROM paimon.d.t WHERE v > 2 GROUP BY k, s ORDER BY s, k LIMIT 3",
        "SELECT c, count(*) FROM paimon.d.t GROUP BY c",
        "SELECT DISTINCT k FROM paimon.d.t",
        "SELECT count(DISTINCT k) FROM paimon.d.t",
        "SELECT k FROM paimon.d.t GROUP BY k HAVING count(*) > 1",
        "SELECT k || '!' AS e, n FROM (SELECT k, count(*) n FROM paimon.d.t GROUP BY k) WHERE n = 2",
        "SELECT p, k, count(*) FROM paimon.d.t WHERE p = 'a' GROUP BY p, k",
    ] {
        assert!(has_views(&world, query).await, "{query}: {}", world.plan(query).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_are_used_otherwise_stay() {
    let world = world().await;
    for query in [
        "SELECT k, max(k) FROM paimon.d.t GROUP BY k",
        "SELECT k, count(*) FROM paimon.d.t WHERE k > 'a' GROUP BY k",
        "SELECT k, count(*) FILTER (WHERE k = 'x') FROM paimon.d.t GROUP BY k",
        "SELECT upper(k), count(*) FROM paimon.d.t GROUP BY upper(k)",
        "SELECT k, count(*) FROM paimon.d.t GROUP BY ROLLUP (k)",
        "SELECT p, count(*) FROM paimon.d.t GROUP BY p",
        "SELECT v, count(*) FROM paimon.d.t GROUP BY v",
    ] {
        assert!(!has_views(&world, query).await, "{query}: {}", world.plan(query).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_and_unions_of_aggregations_keep_their_rows() {
    let world = world().await;
    let counts = "SELECT k, count(*) AS n FROM paimon.d.t GROUP BY k";
    for query in [
        format!("SELECT a.k, a.n, b.n FROM ({counts}) a JOIN ({counts}) b ON a.k = b.k"),
        format!("SELECT t.k, t.v, a.n FROM paimon.d.t JOIN ({counts}) a ON t.k = a.k"),
        format!("SELECT k, n FROM ({counts}) UNION ALL SELECT k, n FROM ({counts})"),
        format!("SELECT k, sum(n) FROM ({counts} UNION ALL {counts}) GROUP BY k"),
        format!("SELECT k, n, rank() OVER (PARTITION BY k ORDER BY n) FROM ({counts})"),
        format!("SELECT k FROM paimon.d.t WHERE k IN (SELECT k FROM ({counts}) WHERE n > 1)"),
        format!("SELECT k, max(n) FROM ({counts}) GROUP BY k"),
    ] {
        has_views(&world, &query).await;
    }
}
