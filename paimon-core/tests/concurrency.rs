//! Writers that race in threads and processes lose nothing, duplicate nothing and are not refused.

use std::collections::HashMap;
use std::process::Command;

use paimon_core::{Identifier, Result, Table};

use crate::common::{Warehouse, catalog_at, read, warehouse, write};

const WRITERS: i32 = 8;
const COMMITS: i32 = 50;
/// Tells a child process what to write: warehouse, table, writer.
const CHILD: &str = "PAIMON_TEST_WRITER";

async fn commits(table: &Table, writer: i32) -> Result<()> {
    for i in 0..COMMITS {
        write(table, &[(writer * COMMITS + i, &format!("w{writer}"))]).await?;
    }
    Ok(())
}

async fn check(table: &Table) -> Result<()> {
    let expected = (0..WRITERS * COMMITS).map(|id| (id, format!("w{}", id / COMMITS))).collect::<Vec<_>>();
    assert_eq!(read(table).await?, expected);
    let latest = table.snapshots().latest().await?.unwrap();
    assert_eq!(latest.id, i64::from(WRITERS * COMMITS));
    assert_eq!(latest.total_record_count, Some(i64::from(WRITERS * COMMITS)));
    Ok(())
}

async fn both(w: &Warehouse) -> Result<HashMap<&'static str, Table>> {
    let keep = [("snapshot.num-retained.min", "1000")];
    let append = w.table("append", false, &keep).await?;
    Ok(HashMap::from([("append", append), ("keyed", w.table("keyed", true, &keep).await?)]))
}

#[test]
fn threads_race() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let w = warehouse().await?;
        for table in both(&w).await?.into_values() {
            let mut tasks = tokio::task::JoinSet::new();
            for writer in 0..WRITERS {
                let table = table.clone();
                tasks.spawn(async move { commits(&table, writer).await });
            }
            while let Some(done) = tasks.join_next().await {
                done.unwrap()?;
            }
            check(&table).await?;
        }
        Ok(())
    })
}

/// What a child process does; nothing when the tests run.
#[tokio::test]
async fn child() -> Result<()> {
    let Ok(what) = std::env::var(CHILD) else { return Ok(()) };
    let parts: Vec<&str> = what.split('|').collect();
    let catalog = catalog_at(parts[0]).await?;
    let table = catalog.get_table(&Identifier::new("db", parts[1])).await?;
    commits(&table, parts[2].parse().unwrap()).await
}

#[tokio::test]
async fn processes_race() -> Result<()> {
    let w = warehouse().await?;
    let program = std::env::current_exe().unwrap();
    for (name, table) in both(&w).await? {
        let start = |writer: i32| {
            let what = format!("{}|{name}|{writer}", w.directory.path().display());
            let mut command = Command::new(&program);
            command.args(["--exact", "concurrency::child"]).env(CHILD, what).stdout(std::process::Stdio::null());
            command.spawn().unwrap()
        };
        let children: Vec<_> = (0..WRITERS).map(start).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        check(&table).await?;
    }
    Ok(())
}
