//! Deleting tags, with the files that only they held.
//!
//! Source: time-travel sheet, tags; `operation/TagDeletion.java`, `tag/TagTimeExpire.java`.

use super::delete::{delete_data, delete_metadata};
use super::kept::{Holders, Kept};
use crate::error::{Entity, ErrorKind, Result};
use crate::meta::Tags;
use crate::meta::local_time::to_wall_clock;
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

/// Deletes the tags whose retention has ended, and those that were made before `older_than`, a time in milliseconds since
/// the epoch. A tag without retention says nothing of its age: its file does. Gives the names, sorted.
///
/// # Errors
/// `Storage` or `Corrupt`; then some tags may be gone.
pub async fn expire_tags(table: &Table, older_than: Option<i64>) -> Result<Vec<String>> {
    let now = to_wall_clock(table.clock().now_ms());
    let older_than = older_than.map(to_wall_clock);
    let mut expired = Vec::new();
    for tag in table.tags().list().await? {
        let created = match (tag.create_time_ms, older_than) {
            (Some(created), _) => Some(created),
            (None, None) => None,
            (None, Some(_)) => {
                let file = table.io().status(&table.paths().tag(&tag.name)).await?;
                file.and_then(|file| file.modified_ms).map(to_wall_clock)
            }
        };
        let Some(created) = created else { continue };
        let retained = tag.time_retained.map(|time| i64::try_from(time.as_millis()).unwrap_or(i64::MAX));
        let has_ended = retained.is_some_and(|retained| created.saturating_add(retained) < now);
        if has_ended || older_than.is_some_and(|limit| created < limit) {
            match delete_tag(table, &tag.name).await {
                // Somebody else deleted it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound(Entity::Tag) => {}
                result => {
                    result?;
                    expired.push(tag.name);
                }
            }
        }
    }
    Ok(expired)
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
