//! Expiry keeps a table small and what is needed readable; rollback goes back.

use std::collections::BTreeMap;
use std::path::Path;

use paimon_core::maintain::rollback_to;
use paimon_core::{Result, Table};

use crate::common::{read, rows, warehouse, write};

fn files(directory: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    entries.map(|e| e.unwrap().path()).map(|p| if p.is_dir() { files(&p) } else { 1 }).sum()
}

async fn at(table: &Table, key: &str, value: &str) -> Result<Vec<(i32, String)>> {
    let options = BTreeMap::from([(key.to_owned(), Some(value.to_owned()))]);
    read(&table.with_dynamic_options(&options).await?).await
}

#[tokio::test]
async fn a_table_that_is_written_often_stays_small() -> Result<()> {
    let w = warehouse().await?;
    let options =
        [("snapshot.num-retained.min", "3"), ("snapshot.num-retained.max", "5"), ("snapshot.time-retained", "1 ms")];
    let table = w.table("t", true, &options).await?;
    write(&table, &[(0, "tagged")]).await?;
    table.tags().create("first", &table.snapshots().get(1).await?, None, table.clock().now_ms(), false).await?;
    for i in 1..=100 {
        write(&table, &[(i % 7, &format!("v{i}"))]).await?;
        if i % 10 == 0 {
            table.new_compact_builder().execute().await?;
        }
    }
    let expected = [(0, "v98"), (1, "v99"), (2, "v100"), (3, "v94"), (4, "v95"), (5, "v96"), (6, "v97")];
    assert_eq!(read(&table).await?, rows(&expected));
    assert!(table.snapshots().list().await?.len() <= 5);
    assert_eq!(at(&table, "scan.tag-name", "first").await?, rows(&[(0, "tagged")]));
    assert!(files(Path::new(table.location())) < 80, "{} files", files(Path::new(table.location())));
    let first = table.snapshots().earliest_id().await?.unwrap();
    assert_eq!(at(&table, "scan.snapshot-id", &first.to_string()).await?.len(), 7);
    Ok(())
}

#[tokio::test]
async fn rollback_forgets_later_snapshots() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    for v in ["a", "b", "c"] {
        write(&table, &[(1, v)]).await?;
    }
    table.tags().create("late", &table.snapshots().get(3).await?, None, table.clock().now_ms(), false).await?;
    rollback_to(&table, &table.snapshots().get(1).await?).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a")]));
    assert_eq!(table.snapshots().latest_id().await?, Some(1));
    assert!(table.tags().list().await?.is_empty());
    write(&table, &[(2, "d")]).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a"), (2, "d")]));
    Ok(())
}
