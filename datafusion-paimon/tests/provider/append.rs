//! Append tables through a plain session.

use paimon_core::Schema;

use crate::support::{World, bigint, date, double, int, string};

fn events() -> Schema {
    let schema = Schema::builder().column("id", int()).column("name", string()).column("score", double());
    schema.column("day", date()).column("total", bigint()).build().unwrap()
}

#[tokio::test]
async fn rows_that_were_inserted_are_read() {
    let world = World::new().await;
    world.create("t", events()).await;
    assert_eq!(world.rows("SELECT * FROM paimon.d.t").await, Vec::<String>::new());
    let count = world
        .rows("INSERT INTO paimon.d.t VALUES (1, 'a', 1.5, DATE '2024-02-29', 10), (2, NULL, NULL, NULL, 20)")
        .await;
    assert_eq!(count, ["2"]);
    assert_eq!(world.rows("INSERT INTO paimon.d.t (total, id) VALUES (30, 3)").await, ["1"]);
    let all = world.rows("SELECT * FROM paimon.d.t").await;
    assert_eq!(all, ["1 a 1.5 2024-02-29 10", "2 _ _ _ 20", "3 _ _ _ 30"]);
    assert_eq!(world.rows("SELECT total, id FROM paimon.d.t WHERE id > 1").await, ["20 2", "30 3"]);
    assert_eq!(
        world.rows("SELECT count(*), count(name), min(id), max(day) FROM paimon.d.t").await,
        ["3 1 1 2024-02-29"]
    );
    assert_eq!(world.rows("SELECT name FROM paimon.d.t LIMIT 1").await.len(), 1);
}

#[tokio::test]
async fn counts_and_bounds_are_answered_without_data_files() {
    let world = World::new().await;
    world.create("t", events()).await;
    world.ok("INSERT INTO paimon.d.t VALUES (1, 'a', 1.5, DATE '2024-02-29', 10), (2, NULL, NULL, NULL, NULL)").await;
    world.ok("INSERT INTO paimon.d.t VALUES (-7, 'b', 2.5, DATE '1969-01-01', 1)").await;
    for file in world.data_files() {
        std::fs::remove_file(file).unwrap();
    }
    let sql = "SELECT count(*), count(name), min(id), max(id), min(day), max(total) FROM paimon.d.t";
    assert_eq!(world.rows(sql).await, ["3 2 -7 2 1969-01-01 10"]);
    // Bounds of text may be cut, those of floats order differently: they are read.
    for column in ["name", "score"] {
        let error = world.refused(&format!("SELECT max({column}) FROM paimon.d.t")).await;
        assert!(error.contains("data-"), "{error}");
    }
}

#[tokio::test]
async fn overwrite_replaces_everything() {
    let world = World::new().await;
    world.create("t", events()).await;
    world.ok("INSERT INTO paimon.d.t (id) VALUES (1), (2)").await;
    assert_eq!(world.rows("INSERT OVERWRITE paimon.d.t (id) VALUES (3)").await, ["1"]);
    assert_eq!(world.rows("SELECT id FROM paimon.d.t").await, ["3"]);
    assert_eq!(world.rows("INSERT OVERWRITE paimon.d.t SELECT * FROM paimon.d.t WHERE id < 0").await, ["0"]);
    assert_eq!(world.rows("SELECT id FROM paimon.d.t").await, Vec::<String>::new());
}

fn partitioned() -> Schema {
    let schema = Schema::builder().column("id", int()).column("dt", string()).column("hour", int());
    schema.partition_keys(["dt", "hour"]).build().unwrap()
}

#[tokio::test]
async fn partitions_prune_exactly_and_overwrite_dynamically() {
    let world = World::new().await;
    world.create("p", partitioned()).await;
    world
        .ok("INSERT INTO paimon.d.p VALUES (1, 'a', 1), (2, 'b', 1), (3, NULL, 2), (4, 'x y/%41=é', 3), (5, '', 4)")
        .await;
    let all = world.rows("SELECT * FROM paimon.d.p").await;
    assert_eq!(all, ["1 a 1", "2 b 1", "3 _ 2", "4 x y/%41=é 3", "5  4"]);
    assert_eq!(world.rows("SELECT id FROM paimon.d.p WHERE dt = 'a'").await, ["1"]);
    assert_eq!(world.rows("SELECT id FROM paimon.d.p WHERE dt IS NULL").await, ["3"]);
    assert_eq!(world.rows("SELECT id FROM paimon.d.p WHERE dt <> 'a'").await, ["2", "4", "5"]);
    assert_eq!(world.rows("SELECT id FROM paimon.d.p WHERE dt IN ('a', 'b') AND dt > 'a'").await, ["2"]);
    let plan = world.plan("SELECT id FROM paimon.d.p WHERE dt = 'a'").await;
    assert!(!plan.contains("FilterExec") && plan.contains("files=1"), "{plan}");
    // Nulls of a partition are counted from its value.
    assert_eq!(world.rows("SELECT count(*), count(dt), min(hour), max(hour) FROM paimon.d.p").await, ["5 4 1 4"]);
    world.ok("INSERT OVERWRITE paimon.d.p VALUES (20, 'b', 1)").await;
    assert_eq!(world.rows("SELECT id FROM paimon.d.p").await, ["1", "20", "3", "4", "5"]);
}

#[tokio::test]
async fn an_insert_from_many_partitions_writes_all_of_them() {
    let world = World::new().await;
    world.create("t", events()).await;
    let series =
        "SELECT CAST(v AS INT), 'x', 0.0, NULL, v AS total FROM (SELECT value AS v FROM generate_series(1, 20000))";
    assert_eq!(world.rows(&format!("INSERT INTO paimon.d.t {series}")).await, ["20000"]);
    let grouped = "SELECT id % 50, max(name), 0.5, NULL, count(*) FROM paimon.d.t GROUP BY id % 50";
    assert_eq!(world.rows(&format!("INSERT INTO paimon.d.t {grouped}")).await, ["50"]);
    let sql = "SELECT count(*), count(DISTINCT id), sum(total) FROM paimon.d.t";
    assert_eq!(world.rows(sql).await, [format!("20050 20001 {}", 20_000 * 20_001 / 2 + 20_000)]);
}

#[tokio::test]
async fn a_failed_insert_leaves_nothing() {
    let world = World::new().await;
    world.create("t", events()).await;
    let sql = "INSERT INTO paimon.d.t SELECT CAST(value AS INT), 'x', 0.0, NULL, 1 / (value - 15000) \
               FROM generate_series(1, 20000)";
    let error = world.refused(sql).await;
    assert!(error.to_lowercase().contains("divide by zero"), "{error}");
    assert_eq!(world.data_files(), Vec::<std::path::PathBuf>::new());
    assert_eq!(world.rows("SELECT count(*) FROM paimon.d.t").await, ["0"]);
}

#[tokio::test]
async fn one_provider_sees_one_snapshot() {
    let world = World::new().await;
    world.create("t", events()).await;
    world.ok("INSERT INTO paimon.d.t (id) VALUES (1)").await;
    let before = world.session.sql("SELECT count(*) FROM paimon.d.t a JOIN paimon.d.t b ON a.id = b.id").await.unwrap();
    world.ok("INSERT INTO paimon.d.t (id) VALUES (2)").await;
    assert_eq!(crate::support::lines(&before.collect().await.unwrap()), ["1"]);
    assert_eq!(world.rows("SELECT count(*) FROM paimon.d.t").await, ["2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_inserts_lose_nothing() {
    let world = std::sync::Arc::new(World::new().await);
    world.create("t", events()).await;
    let mut tasks = tokio::task::JoinSet::new();
    for writer in 0..4 {
        let world = std::sync::Arc::clone(&world);
        tasks.spawn(async move {
            for n in 0..5 {
                world.ok(&format!("INSERT INTO paimon.d.t (id) VALUES ({})", writer * 10 + n)).await;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    assert_eq!(world.rows("SELECT count(*), count(DISTINCT id) FROM paimon.d.t").await, ["20 20"]);
    assert_eq!(world.rows("SELECT max(snapshot_id) FROM paimon.d.t$snapshots").await, ["20"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_insert_that_is_dropped_removes_its_files() {
    let world = World::new().await;
    let schema = Schema::builder().column("id", bigint()).option("target-file-size", "64 kb").build().unwrap();
    world.create("t", schema).await;
    let endless = "INSERT INTO paimon.d.t SELECT value * 7919 % 1000003 FROM generate_series(1, 1000000000)";
    let frame = world.session.sql(endless).await.unwrap();
    let insert = tokio::task::JoinSet::from_iter([frame.collect()]);
    while world.data_files().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    drop(insert);
    for _ in 0..200 {
        if world.data_files().is_empty() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(world.data_files(), Vec::<std::path::PathBuf>::new());
    assert_eq!(world.rows("SELECT count(*) FROM paimon.d.t").await, ["0"]);
}

#[tokio::test]
async fn explain_shows_what_was_pruned() {
    let world = World::new().await;
    world.create("p", partitioned()).await;
    world.ok("INSERT INTO paimon.d.p VALUES (1, 'a', 1), (2, 'b', 1)").await;
    world.ok("INSERT INTO paimon.d.p VALUES (30, 'a', 1), (40, 'b', 2)").await;
    let plan = world.plan("SELECT id FROM paimon.d.p WHERE dt = 'a' AND id > 20").await;
    assert!(plan.contains("table=d.p, snapshot=2, splits=1, files=1"), "{plan}");
    assert!(plan.contains("partition 2->bucket 2->statistics 1"), "{plan}");
    let analyzed = lines_of(&world.ok("EXPLAIN ANALYZE SELECT id FROM paimon.d.p WHERE dt = 'a' AND id > 20").await);
    assert!(analyzed.contains("files_pruned_by_statistics=1"), "{analyzed}");
    let nothing = world.plan("SELECT id FROM paimon.d.p WHERE dt = 'zzz'").await;
    assert!(nothing.contains("snapshot=2, splits=0, files=0"), "{nothing}");
}

fn lines_of(batches: &[arrow::record_batch::RecordBatch]) -> String {
    crate::support::lines(batches).join("\n")
}
