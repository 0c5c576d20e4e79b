//! Writers beside those who drop and rename their table.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use tokio::task::JoinSet;

use super::{rows, write};
use crate::catalog::{Catalog, FileSystemCatalog, Identifier};
use crate::error::{Entity, Error, ErrorKind};
use crate::spec::Schema;
use crate::types::testing::{int, string};

fn schema() -> Schema {
    Schema::builder().column("p", string()).column("k", int()).column("v", string()).build().unwrap()
}

fn named(table: impl Into<String>) -> Identifier {
    Identifier::new("d", table)
}

/// Commits rows until it is told to stop; counts its commits, and gives the errors that do not say that the table is gone.
async fn write_on(catalog: Arc<FileSystemCatalog>, stop: Arc<AtomicBool>, committed: Arc<AtomicUsize>) -> Vec<Error> {
    let mut strange = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let outcome = match catalog.get_table(&named("t")).await {
            Ok(table) => write(&table, &[("a", 1, "x")], None).await,
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => drop(committed.fetch_add(1, Ordering::Relaxed)),
            Err(error) => match error.kind() {
                ErrorKind::NotFound(Entity::Table) | ErrorKind::InvalidState => {}
                // A commit may go to another name with its table.
                ErrorKind::CommitUnknown => {}
                _ => strange.push(error),
            },
        }
    }
    strange
}

/// Drops and renames beside writers; afterwards every table has its files, and nothing else is left.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn tables_that_are_dropped_and_renamed_beside_writers_stay_whole() {
    let directory = tempfile::tempdir().unwrap();
    let warehouse = directory.path().to_str().unwrap();
    let catalog = Arc::new(FileSystemCatalog::new([("warehouse", warehouse)].into_iter().collect()).unwrap());
    catalog.create_database("d", false, HashMap::new()).await.unwrap();
    catalog.create_table(&named("t"), schema(), false).await.unwrap();
    let (stop, committed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let mut writers = JoinSet::new();
    for _ in 0..3 {
        writers.spawn(write_on(catalog.clone(), stop.clone(), committed.clone()));
    }
    for round in 0..60 {
        // Now and then a table lives until it has rows.
        let before = committed.load(Ordering::Relaxed);
        loop {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            if round % 5 != 0 || committed.load(Ordering::Relaxed) > before {
                break;
            }
        }
        match round % 3 {
            0 => catalog.rename_table(&named("t"), &named(format!("r{round}")), false).await.unwrap(),
            _ => catalog.drop_table(&named("t"), false).await.unwrap(),
        }
        catalog.create_table(&named("t"), schema(), false).await.unwrap();
    }
    stop.store(true, Ordering::Relaxed);
    for strange in writers.join_all().await {
        assert!(strange.is_empty(), "{strange:#?}");
    }
    let tables = catalog.list_tables("d").await.unwrap();
    assert_eq!(tables.len(), 21);
    for table in tables {
        let table = catalog.get_table(&named(table)).await.unwrap();
        let before = rows(&table).await.unwrap().len();
        write(&table, &[("b", 2, "y")], None).await.unwrap();
        assert_eq!(rows(&table).await.unwrap().len(), before + 1);
    }
    let names = std::fs::read_dir(directory.path().join("d.db")).unwrap().map(|e| e.unwrap().file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().starts_with('.')).count(), 0);
}
