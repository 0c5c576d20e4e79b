//! Where reads start that name neither a snapshot nor the latest one.
//!
//! Source: time-travel sheet section 2; `table/source/snapshot/CompactedStartingScanner.java`,
//! `FullCompactedStartingScanner.java`, `FileCreationTimeStartingScanner.java`.

use crate::error::Result;
use crate::meta::Snapshots;
use crate::spec::{CHANGELOG_PRODUCER, ChangelogProducer, CommitKind, FULL_COMPACTION_DELTA_COMMITS, Snapshot};
use crate::table::Table;

/// The snapshot that the handle is pinned to, else the latest one.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub(super) async fn latest(table: &Table) -> Result<Option<Snapshot>> {
    match table.pinned() {
        Some(snapshot) => Ok(Some(snapshot.as_ref().clone())),
        None => table.snapshots().latest().await,
    }
}

/// The newest snapshot that was compacted, else the latest one. Where full compactions come every so many commits, only
/// theirs count.
///
/// # Errors
/// `InvalidConfig` for a bad option; `Storage` or `Corrupt`.
pub(super) async fn compacted(table: &Table) -> Result<Option<Snapshot>> {
    let options = table.options();
    let every = match options.find(&FULL_COMPACTION_DELTA_COMMITS)? {
        Some(every) => i64::try_from(every).unwrap_or(i64::MAX),
        None => 1,
    };
    let full_only = options.contains(FULL_COMPACTION_DELTA_COMMITS.key)
        || options.value(&CHANGELOG_PRODUCER)? == ChangelogProducer::FullCompaction;
    let is_wanted = |snapshot: &Snapshot| {
        let identifier = snapshot.commit_identifier;
        let full = identifier == i64::MAX || identifier % every.max(1) == 0;
        snapshot.commit_kind == CommitKind::Compact && (!full_only || full)
    };
    let Some(latest) = latest(table).await? else { return Ok(None) };
    let (snapshots, mut id) = (table.snapshots(), latest.id);
    while id > 0 {
        match snapshots.find(id).await? {
            Some(snapshot) if is_wanted(&snapshot) => return Ok(Some(snapshot)),
            Some(_) => id -= 1,
            // Everything before expired.
            None => break,
        }
    }
    Ok(Some(latest))
}

/// The first snapshot from this time on, if the history reaches back that far.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub(super) async fn created_since(time: i64, snapshots: &Snapshots) -> Result<Option<Snapshot>> {
    match snapshots.earliest().await? {
        Some(earliest) if time > earliest.time_millis => first_since(time, snapshots).await,
        _ => Ok(None),
    }
}

/// The first snapshot committed at or after this time.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub(super) async fn first_since(time: i64, snapshots: &Snapshots) -> Result<Option<Snapshot>> {
    let next = match snapshots.at_or_before(time.saturating_sub(1)).await? {
        Some(before) => before.id + 1,
        None => match snapshots.earliest_id().await? {
            Some(earliest) => earliest,
            None => return Ok(None),
        },
    };
    snapshots.find(next).await
}
