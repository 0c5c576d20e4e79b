//! Primary-key tables through a plain session.

use paimon_core::Schema;

use crate::support::{World, int, key, string};

fn upserts() -> Schema {
    let schema = Schema::builder().column("id", key()).column("v", string()).column("n", int());
    schema.primary_key(["id"]).option("bucket", "2").build().unwrap()
}

#[tokio::test]
async fn the_last_row_of_a_key_wins() {
    let world = World::new().await;
    world.create("k", upserts()).await;
    world.ok("INSERT INTO paimon.d.k VALUES (1, 'a', 1), (2, 'b', 2), (1, 'c', 3)").await;
    assert_eq!(world.rows("SELECT * FROM paimon.d.k").await, ["1 c 3", "2 b 2"]);
    world.ok("INSERT INTO paimon.d.k VALUES (2, 'd', 4), (3, 'e', 5)").await;
    assert_eq!(world.rows("SELECT * FROM paimon.d.k").await, ["1 c 3", "2 d 4", "3 e 5"]);
    assert_eq!(world.rows("SELECT v FROM paimon.d.k WHERE id = 2").await, ["d"]);
    // A value filter must not bring an old version back.
    assert_eq!(world.rows("SELECT * FROM paimon.d.k WHERE v = 'b'").await, Vec::<String>::new());
    assert_eq!(world.rows("SELECT count(*), max(n), min(v) FROM paimon.d.k").await, ["3 5 c"]);
    assert_eq!(world.rows("SELECT count(*) FROM paimon.d.k WHERE n > 3").await, ["2"]);
    assert_eq!(world.rows("SELECT v FROM paimon.d.k LIMIT 2").await.len(), 2);
}

#[tokio::test]
async fn raw_and_merged_splits_are_one_scan() {
    let world = World::new().await;
    world.create("k", upserts()).await;
    world.ok("INSERT INTO paimon.d.k SELECT CAST(value AS INT), 'x', 0 FROM generate_series(1, 100)").await;
    let raw = world.plan("SELECT * FROM paimon.d.k").await;
    assert!(raw.contains("DataSourceExec") && !raw.contains("PaimonSplitsExec"), "{raw}");
    assert_eq!(world.rows("SELECT count(*), min(id), max(id) FROM paimon.d.k").await, ["100 1 100"]);
    world.ok("INSERT INTO paimon.d.k VALUES (5, 'y', 1)").await;
    let mixed = world.plan("SELECT * FROM paimon.d.k").await;
    assert!(mixed.contains("DataSourceExec") && mixed.contains("PaimonSplitsExec"), "{mixed}");
    assert!(mixed.contains("snapshot=2") && mixed.contains("merged=1"), "{mixed}");
    assert_eq!(world.rows("SELECT count(*), sum(n) FROM paimon.d.k").await, ["100 1"]);
    assert_eq!(world.rows("SELECT v, count(*) FROM paimon.d.k GROUP BY v").await, ["x 99", "y 1"]);
}

#[tokio::test]
async fn compaction_runs_when_its_function_is_executed() {
    let world = World::new().await;
    world.create("k", upserts()).await;
    for n in 0..4 {
        world.ok(&format!("INSERT INTO paimon.d.k VALUES (1, 'v', {n}), (2, 'w', {n})")).await;
    }
    let catalog = datafusion_paimon::PaimonCatalogProvider::new(
        std::sync::Arc::clone(&world.catalog),
        tokio::runtime::Handle::current(),
    );
    for (name, function) in datafusion_paimon::udtf::functions(&catalog) {
        world.session.register_udtf(&name, function);
    }
    let snapshots = "SELECT max(snapshot_id) FROM paimon.d.k$snapshots";
    world.ok("EXPLAIN SELECT * FROM compact('d.k')").await;
    assert_eq!(world.rows(snapshots).await, ["4"]);
    let metrics = world.rows("SELECT tasks, rows_written, changelog_files_added FROM compact('d.k')").await;
    // Both keys are in one bucket.
    assert_eq!(metrics, ["1 2 0"]);
    assert_eq!(world.rows(snapshots).await, ["5"]);
    // Nothing is left to do. The stock engine looks up the first word only.
    assert_eq!(world.rows("SELECT procedure, tasks FROM sys.compact('d.k')").await, ["compact 0"]);
    assert_eq!(world.rows(snapshots).await, ["5"]);
    assert_eq!(world.rows("SELECT * FROM paimon.d.k").await, ["1 v 3", "2 w 3"]);
    let error = world.refused("SELECT * FROM sys.create_tag('d.k', 'x')").await;
    assert!(error.contains("sys_<procedure>"), "{error}");
    assert_eq!(world.rows("SELECT * FROM sys_create_tag('d.k', 'x')").await, ["OK"]);
    let travel = "SELECT n FROM paimon_scan('d.k', 'scan.tag-name', 'x')";
    world.ok("INSERT INTO paimon.d.k VALUES (1, 'v', 99)").await;
    assert_eq!(world.rows(travel).await, ["3", "3"]);
}

#[tokio::test]
async fn keys_of_buckets_are_grouped_without_a_shuffle_but_never_joined_so() {
    let world = World::new().await;
    for (name, buckets) in [("a", "4"), ("b", "8")] {
        let schema = Schema::builder().column("id", key()).column("v", string()).column("n", int());
        world.create(name, schema.primary_key(["id"]).option("bucket", buckets).build().unwrap()).await;
        for round in 0..2 {
            let values = format!("SELECT CAST(value AS INT), 'x', {round} FROM generate_series(1, 500)");
            world.ok(&format!("INSERT INTO paimon.d.{name} {values}")).await;
        }
    }
    let world = world.with_extension();
    let grouped = "SELECT id, sum(n) FROM paimon.d.a GROUP BY id";
    let plan = world.plan(grouped).await;
    assert!(plan.contains("partitioning=Hash([id@0], 4)") && !plan.contains("RepartitionExec"), "{plan}");
    assert_eq!(world.rows(&format!("SELECT count(*), sum(s) FROM ({grouped}) t(id, s)")).await, ["500 500"]);
    // Grouping by another column needs its shuffle.
    let plan = world.plan("SELECT n, count(*) FROM paimon.d.a GROUP BY n").await;
    assert!(plan.contains("RepartitionExec: partitioning=Hash([n@0], 4)"), "{plan}");
    // The buckets of two tables are no common partitioning, whatever their counts.
    world.ok("SET datafusion.optimizer.hash_join_single_partition_threshold = 0").await;
    world.ok("SET datafusion.optimizer.hash_join_single_partition_threshold_rows = 0").await;
    let joined = "SELECT count(*), sum(l.n) FROM (SELECT id, sum(n) n FROM paimon.d.a GROUP BY id) l \
                  JOIN paimon.d.b r ON l.id = r.id";
    assert!(!world.plan(joined).await.contains("PaimonSplitsExec: table=d.a, partitioning"));
    assert_eq!(world.rows(joined).await, ["500 500"]);
}
