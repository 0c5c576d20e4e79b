//! Deleting tags, with the files that only they held.
//!
//! Source: time-travel sheet, tags; `operation/TagDeletion.java`.

use super::delete::{delete_data, delete_metadata};
use super::kept::{Holders, Kept};
use crate::error::Result;
use crate::meta::Tags;
use crate::scan::live_entries;
use crate::spec::{ManifestEntry, Snapshot};
use crate::table::Table;

/// Deletes a tag. If its snapshot has expired, the files go too that no other snapshot, tag or branch needs.
///
/// # Errors
/// `NotFound(Tag)`; `Storage` or `Corrupt`, then the tag may be gone while files are left.
pub async fn delete_tag(table: &Table, name: &str) -> Result<()> {
    let tag = table.tags().get(name).await?.ok_or_else(|| Tags::not_found(name))?;
    table.tags().delete(name).await?;
    forget_snapshots(table, std::slice::from_ref(&tag.snapshot)).await
}

/// Deletes the files that only snapshots need which tags held; nothing of one that exists or that something else holds.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub async fn forget_snapshots(table: &Table, snapshots: &[Snapshot]) -> Result<()> {
    let mut gone = Vec::with_capacity(snapshots.len());
    for snapshot in snapshots {
        if !table.snapshots().exists(snapshot.id).await? {
            gone.push(snapshot);
        }
    }
    if gone.is_empty() {
        return Ok(());
    }
    // A file that is live in these snapshots and not in the oldest one that exists is live in none of them.
    let mut kept = Kept::default();
    if let Some(earliest) = table.snapshots().earliest().await? {
        kept.keep_metadata(table, &earliest).await?;
        kept.keep_data(table, &earliest).await?;
    }
    let holders = Holders::read(table).await?;
    holders.keep(table, holders.tags_between(0, i64::MAX), true, &mut kept).await?;
    let mut dead: Vec<ManifestEntry> = Vec::new();
    // All are read before anything is deleted: they share manifests.
    for snapshot in &gone {
        let live = live_entries(table, snapshot, None).await?;
        dead.extend(live.into_iter().filter(|e| !kept.data.contains(&e.file.file_name)));
    }
    delete_data(table, &dead).await?;
    for snapshot in gone {
        delete_metadata(table, snapshot, &kept).await?;
    }
    Ok(())
}
