//! Statements that are given up before they end.

use std::path::Path;
use std::time::Duration;

use paimon_core::runtime::background_finished;

use super::Env;

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().map(|e| e.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path.display().to_string()] }).collect()
}

/// Waits until what a dropped call started has noticed it, and is cleaned up.
async fn given_up() {
    // The engine ends its tasks a moment after the call that waited for them is gone.
    tokio::time::sleep(Duration::from_millis(100)).await;
    background_finished().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_create_table_as_leaves_no_table() {
    let env = Env::new().await;
    let sql = "CREATE TABLE db.t AS SELECT a.value AS a FROM generate_series(1, 3000) a CROSS JOIN generate_series(1, 3000) b";
    let mut created = 0;
    for millis in [1, 5, 10, 20, 40, 80, 160, 320] {
        let context = env.second().await;
        let done = tokio::time::timeout(Duration::from_millis(millis), context.sql(sql)).await;
        created += usize::from(env.warehouse.path().join("db.db/t").exists());
        drop(context);
        given_up().await;
        if let Ok(done) = done {
            done.unwrap();
            env.ok("DROP TABLE db.t").await;
        }
        assert_eq!(env.rows("SHOW TABLES IN db").await, Vec::<String>::new(), "{millis} ms");
    }
    assert!(created > 0, "the statement was never far enough");
    assert_eq!(files(&env.warehouse.path().join("db.db")), Vec::<String>::new());
    env.rows("CREATE TABLE db.t AS SELECT 1 AS a").await;
    assert_eq!(env.rows("SELECT * FROM db.t").await, ["1"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_compaction_leaves_no_file() {
    let env = Env::new().await;
    env.ok("CREATE TABLE db.t (id BIGINT NOT NULL, v BIGINT, PRIMARY KEY (id)) WITH ('bucket' = '2')").await;
    for i in 0..3 {
        env.rows(&format!("INSERT INTO db.t SELECT value, {i} FROM generate_series(1, 20000) AS g(value)")).await;
    }
    let before = files(&env.warehouse.path().join("db.db"));
    for millis in [2, 8, 30] {
        let context = env.second().await;
        let done =
            tokio::time::timeout(Duration::from_millis(millis), context.sql("CALL sys.compact(table => 'db.t')"));
        let done = done.await.is_ok();
        given_up().await;
        if done || env.rows("SELECT count(*) FROM db.\"t$snapshots\"").await == ["4"] {
            break;
        }
        assert_eq!(files(&env.warehouse.path().join("db.db")), before, "{millis} ms");
    }
    assert_eq!(env.rows("SELECT count(*), min(v) FROM db.t").await, ["20000 2"]);
}
