//! Going back to an earlier snapshot.
//!
//! Source: time-travel sheet; `table/RollbackHelper.java`.

use super::delete::{data_paths, delete_changelog, delete_metadata, delete_paths, entries_of};
use super::kept::{Kept, held_elsewhere};
use crate::error::{ErrorKind, Result};
use crate::spec::{EntryKind, Snapshot};
use crate::table::Table;

/// Makes `snapshot` the latest one: later snapshots and the tags on them are deleted, and the files that only they needed.
///
/// The later snapshots disappear from the newest down, so that a reader finds a whole table at every moment. A snapshot that
/// has expired and lives on in a tag is written again.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub async fn rollback_to(table: &Table, snapshot: &Snapshot) -> Result<()> {
    let snapshots = table.snapshots();
    let mut later = Vec::new();
    if let Some(latest) = snapshots.latest_id().await? {
        for id in (snapshot.id + 1..=latest).rev() {
            match snapshots.get(id).await {
                Ok(found) => later.push(found),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    let expired = matches!(snapshots.get(snapshot.id).await, Err(e) if matches!(e.kind(), ErrorKind::NotFound(_)));
    for tag in table.tags().list().await? {
        if tag.snapshot.id > snapshot.id {
            table.tags().delete(&tag.name).await?;
        }
    }
    let mut kept = Kept::default();
    kept.keep_all(table, snapshot).await?;
    for held in held_elsewhere(table).await? {
        kept.keep_all(table, &held).await?;
    }
    if let Some(earliest) = snapshots.earliest_id().await? {
        for id in earliest..snapshot.id {
            match snapshots.get(id).await {
                Ok(earlier) => kept.keep_all(table, &earlier).await?,
                Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    snapshots.set_latest_hint(snapshot.id).await?;
    for gone in &later {
        table.io().delete(&table.paths().snapshot(gone.id)).await?;
    }
    if expired {
        snapshots.publish(snapshot).await?;
        snapshots.set_earliest_hint(snapshot.id).await?;
    }
    for gone in &later {
        let mut paths = Vec::new();
        for entry in entries_of(table, &gone.delta_manifest_list).await? {
            if entry.kind == EntryKind::Add && !kept.data.contains(&entry.file.file_name) {
                paths.extend(data_paths(table, &entry)?);
            }
        }
        delete_paths(table, paths).await?;
        delete_changelog(table, gone).await?;
        delete_metadata(table, gone, &kept).await?;
    }
    Ok(())
}
