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
    forget_snapshot(table, &tag.snapshot).await
}

/// Deletes the files that only a snapshot needs which a tag held; nothing if it exists or something else holds it.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub async fn forget_snapshot(table: &Table, snapshot: &Snapshot) -> Result<()> {
    if table.snapshots().exists(snapshot.id).await? {
        return Ok(());
    }
    // A file that is live in this snapshot and not in the oldest one that exists is live in none of them.
    let mut kept = Kept::default();
    if let Some(earliest) = table.snapshots().earliest().await? {
        kept.keep_metadata(table, &earliest).await?;
        kept.keep_data(table, &earliest).await?;
    }
    let holders = Holders::read(table).await?;
    holders.keep(table, holders.tags_between(0, i64::MAX), true, &mut kept).await?;
    let live = live_entries(table, snapshot, None).await?;
    let dead: Vec<ManifestEntry> = live.into_iter().filter(|e| !kept.data.contains(&e.file.file_name)).collect();
    delete_data(table, &dead).await?;
    delete_metadata(table, snapshot, &kept).await
}
