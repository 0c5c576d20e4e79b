//! Going back to an earlier snapshot.
//!
//! Source: time-travel sheet; `table/RollbackHelper.java`.

use super::delete::{delete_changelog, delete_data, delete_metadata};
use super::kept::{Holders, Kept, entries_of};
use crate::error::Result;
use crate::spec::{EntryKind, ManifestEntry, Snapshot};
use crate::table::Table;

/// Makes `snapshot` the latest one: later snapshots and the tags on them are deleted, and the files that only they needed.
///
/// The later snapshots disappear from the newest down, so that a reader finds a whole table at every moment. A snapshot that
/// has expired and lives on in a tag is written again. Commits that run meanwhile may be lost.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub async fn rollback_to(table: &Table, snapshot: &Snapshot) -> Result<()> {
    let snapshots = table.snapshots();
    let (mut later, mut earlier) = (Vec::new(), Vec::new());
    let mut exists = false;
    for found in snapshots.list().await? {
        match found.id.cmp(&snapshot.id) {
            std::cmp::Ordering::Less => earlier.push(found),
            std::cmp::Ordering::Equal => exists = true,
            std::cmp::Ordering::Greater => later.push(found),
        }
    }
    later.reverse();
    for tag in table.tags().list().await? {
        if tag.snapshot.id > snapshot.id {
            table.tags().delete(&tag.name).await?;
        }
    }
    let kept = kept(table, snapshot, &earlier).await?;
    if exists {
        snapshots.set_latest_hint(snapshot.id).await?;
    } else {
        // All snapshots that exist are later ones: the oldest of them gives way to this one.
        snapshots.publish(snapshot).await?;
        snapshots.set_earliest_hint(snapshot.id).await?;
    }
    for gone in &later {
        table.io().delete(&table.paths().snapshot(gone.id)).await?;
    }
    for gone in &later {
        let added = entries_of(table, &gone.delta_manifest_list).await?.into_iter();
        let dead: Vec<ManifestEntry> =
            added.filter(|e| e.kind == EntryKind::Add && !kept.data.contains(&e.file.file_name)).collect();
        delete_data(table, &dead).await?;
        delete_changelog(table, gone, &kept).await?;
        delete_metadata(table, gone, &kept).await?;
    }
    Ok(())
}

/// What stays, the files of `snapshot` and `earlier` ones included.
async fn kept(table: &Table, snapshot: &Snapshot, earlier: &[Snapshot]) -> Result<Kept> {
    let mut kept = Kept::default();
    for earlier in earlier {
        kept.keep_metadata(table, earlier).await?;
    }
    kept.keep_metadata(table, snapshot).await?;
    kept.keep_data_of_all(table, earlier).await?;
    kept.keep_data(table, snapshot).await?;
    let holders = Holders::read(table).await?;
    holders.keep(table, holders.tags_between(0, snapshot.id), true, &mut kept).await?;
    Ok(kept)
}
