//! Going back to an earlier snapshot.
//!
//! Source: time-travel sheet; `table/RollbackHelper.java`.

use std::time::{Duration, Instant};

use super::delete::{delete_changelog, delete_data, delete_metadata};
use super::kept::{Holders, Kept, entries_of};
use super::tags::forget_snapshots;
use crate::error::{ConflictKind, Entity, Error, Result};
use crate::meta::rollback_mark;
use crate::scan::live_entries;
use crate::spec::{EntryKind, ManifestEntry, Snapshot};
use crate::table::Table;

/// How long to wait for another rollback, or after a commit was faster.
const WAIT: Duration = Duration::from_millis(10);

/// Makes `snapshot` the latest one: later snapshots and the tags on them are deleted, and the files that only they needed.
///
/// While it runs a snapshot with the content of the target is the latest one, and writers wait: a reader finds a whole table
/// at every moment, and no commit builds on what disappears. What was committed until then is taken back; what is committed
/// later stays. A snapshot that has expired and lives on in a tag is written again.
///
/// # Errors
/// `Conflict` if another rollback does not end; `NotFound(Snapshot)` if the target has expired; `InvalidState` if it is of a
/// table that this one has replaced; `Storage` or `Corrupt`.
pub async fn rollback_to(table: &Table, snapshot: &Snapshot) -> Result<()> {
    table.check_not_replaced(snapshot.schema_id).await?;
    let exists = table.snapshots().exists(snapshot.id).await?;
    let stand_in = begin(table, snapshot, exists).await?;
    let outcome = take_away(table, snapshot, &stand_in, exists).await;
    let ended = end(table, snapshot, &stand_in).await;
    let (later, tagged) = outcome?;
    ended?;
    // All is read before anything is deleted: snapshots share manifests.
    let kept = kept_of(table, snapshot).await?;
    let dead = only_in(table, snapshot, &later, &kept).await?;
    forget_snapshots(table, &tagged).await?;
    delete_data(table, &dead).await?;
    for gone in &later {
        delete_changelog(table, gone, &kept).await?;
        delete_metadata(table, gone, &kept).await?;
    }
    Ok(())
}

/// Publishes the snapshot that stands in for the target, which `exists` or lives on in a tag.
async fn begin(table: &Table, target: &Snapshot, exists: bool) -> Result<Snapshot> {
    let snapshots = table.snapshots();
    let started = Instant::now();
    loop {
        let latest = snapshots.latest().await?;
        if let Some(latest) = &latest {
            table.check_not_replaced(latest.schema_id).await?;
        }
        let now = table.clock().now_ms();
        let busy = latest.as_ref().is_some_and(|latest| rollback_mark::is_running(latest, now));
        if !busy {
            if exists && !snapshots.exists(target.id).await? {
                return Err(gone(target));
            }
            let last = latest.as_ref().map_or(target.id, |latest| latest.id.max(target.id));
            let stand_in = rollback_mark::stand_in(target, last, table.clock().fresh_id(), now);
            if table.publisher().publish(table, &stand_in, latest.as_ref()).await? {
                // Another rollback may have come and gone between the look and this.
                let (Some(latest), true) = (&latest, exists) else { return Ok(stand_in) };
                if snapshots.holds(latest).await? && snapshots.exists(target.id).await? {
                    return Ok(stand_in);
                }
                table.io().delete(&table.paths().snapshot(stand_in.id)).await?;
            }
        }
        if started.elapsed() > 2 * rollback_mark::YOUNG {
            let message = "another rollback does not end, or commits come too fast";
            return Err(
                Error::conflict(ConflictKind::RetriesExhausted, message).with_context("table", table.identifier())
            );
        }
        tokio::time::sleep(WAIT).await;
    }
}

/// Deletes later snapshots, from the oldest up: the latest one that is found by its hint is the one that stands in. Gives
/// them, and those which only tags held that are deleted.
async fn take_away(
    table: &Table,
    target: &Snapshot,
    stand_in: &Snapshot,
    exists: bool,
) -> Result<(Vec<Snapshot>, Vec<Snapshot>)> {
    let snapshots = table.snapshots();
    let mut tagged = Vec::new();
    for tag in table.tags().list().await? {
        if tag.snapshot.id > target.id {
            table.tags().delete(&tag.name).await?;
            tagged.push(tag.snapshot);
        }
    }
    let all = snapshots.list().await?;
    if !exists {
        // All snapshots that exist are later ones: the oldest of them gives way to this one.
        snapshots.publish(target).await?;
        snapshots.set_earliest_hint(target.id).await?;
    }
    let later: Vec<Snapshot> = all.into_iter().filter(|s| s.id > target.id && s.id < stand_in.id).collect();
    for gone in &later {
        table.io().delete(&table.paths().snapshot(gone.id)).await?;
    }
    tagged.retain(|tagged| later.iter().all(|gone| gone.id != tagged.id));
    Ok((later, tagged))
}

/// Takes back the snapshot that stands in, unless it is the only one or another program has built on it.
async fn end(table: &Table, target: &Snapshot, stand_in: &Snapshot) -> Result<()> {
    let snapshots = table.snapshots();
    if !snapshots.exists(target.id).await? {
        return Err(gone(target));
    }
    if snapshots.exists(stand_in.id + 1).await? {
        return Ok(());
    }
    snapshots.set_latest_hint(target.id).await?;
    table.io().delete(&table.paths().snapshot(stand_in.id)).await
}

fn gone(target: &Snapshot) -> Error {
    Error::not_found(Entity::Snapshot, format!("snapshot {} disappeared while it was gone back to", target.id))
}

/// The data files that only snapshots need which are gone.
async fn only_in(table: &Table, target: &Snapshot, later: &[Snapshot], kept: &Kept) -> Result<Vec<ManifestEntry>> {
    let mut added = Vec::new();
    for (i, gone) in later.iter().enumerate() {
        if i == 0 && gone.id > target.id + 1 {
            // The snapshots before it have expired, with what they added.
            added.extend(live_entries(table, gone, None).await?);
        }
        added.extend(entries_of(table, &gone.delta_manifest_list).await?);
    }
    added.retain(|entry| entry.kind == EntryKind::Add && !kept.data.contains(&entry.file.file_name));
    Ok(added)
}

/// What stays once `target` is the latest snapshot.
async fn kept_of(table: &Table, target: &Snapshot) -> Result<Kept> {
    let earlier: Vec<Snapshot> = table.snapshots().list().await?.into_iter().filter(|s| s.id < target.id).collect();
    kept(table, target, &earlier).await
}

/// What stays, the files of `snapshot` and `others` included.
async fn kept(table: &Table, snapshot: &Snapshot, others: &[Snapshot]) -> Result<Kept> {
    let mut kept = Kept::default();
    for other in others {
        kept.keep_metadata(table, other).await?;
    }
    kept.keep_metadata(table, snapshot).await?;
    kept.keep_data_of_all(table, others).await?;
    kept.keep_data(table, snapshot).await?;
    let holders = Holders::read(table).await?;
    holders.keep(table, holders.tags_between(0, snapshot.id), true, &mut kept).await?;
    Ok(kept)
}
