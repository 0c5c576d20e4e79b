//! Expiry of snapshots by count and age.
//!
//! Invariants: the latest snapshot stays; files that a kept snapshot, tag or branch needs stay; a tag that cannot be read
//! stops the deletion. Source: layout sheet section 10; `table/ExpireSnapshotsImpl.java`, `operation/SnapshotDeletion.java`.

use std::collections::HashSet;
use std::time::Duration;

use super::delete::{delete_changelog, delete_data, delete_metadata, entries_of};
use super::kept::{Kept, held_elsewhere};
use crate::error::{ErrorKind, Result, ResultExt};
use crate::options::Options;
use crate::spec::{
    CommitKind, EntryKind, SNAPSHOT_EXPIRE_LIMIT, SNAPSHOT_RETAINED_MAX, SNAPSHOT_RETAINED_MIN, SNAPSHOT_TIME_RETAINED,
    Snapshot,
};
use crate::table::Table;

/// Which snapshots stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpireConfig {
    /// So many newest ones always stay.
    pub retain_min: u64,
    /// At most so many stay.
    pub retain_max: u64,
    /// Younger ones stay.
    pub time_retained: Duration,
    /// At most so many go in one run.
    pub max_deletes: u64,
}

impl ExpireConfig {
    /// As the table's options say.
    ///
    /// # Errors
    /// `InvalidConfig`.
    pub fn from_options(options: &Options) -> Result<Self> {
        Ok(Self {
            retain_min: options.value(&SNAPSHOT_RETAINED_MIN)?,
            retain_max: options.value(&SNAPSHOT_RETAINED_MAX)?,
            time_retained: options.value(&SNAPSHOT_TIME_RETAINED)?,
            max_deletes: options.value(&SNAPSHOT_EXPIRE_LIMIT)?,
        })
    }
}

/// Expires snapshots. Gives how many snapshots went.
///
/// # Errors
/// `Storage` or `Corrupt`; what was not deleted can be deleted by the next run.
pub async fn expire_snapshots(table: &Table, config: &ExpireConfig) -> Result<usize> {
    let snapshots = table.snapshots();
    let Some(latest) = snapshots.latest_id().await? else { return Ok(0) };
    let retain_min = i64::try_from(config.retain_min.max(1)).unwrap_or(i64::MAX);
    // Ids start at 1: with few snapshots nothing can go, and nothing needs to be looked up.
    if latest <= retain_min {
        return Ok(0);
    }
    let Some(earliest) = snapshots.earliest_id().await? else { return Ok(0) };
    let expired = expired(table, config, earliest, latest).await?;
    let Some(end) = expired.last().map(|s| s.id + 1) else {
        // Without the hint every look at the earliest snapshot lists the directory.
        if table.io().status(&format!("{}/EARLIEST", table.paths().snapshot_dir())).await?.is_none() {
            snapshots.set_earliest_hint(earliest).await?;
        }
        return Ok(0);
    };
    let first_kept = snapshots.get(end).await?;
    let kept = kept(table, &first_kept).await?;
    delete_dead_files(table, &expired, &first_kept, latest, &kept).await?;
    for snapshot in &expired {
        delete_changelog(table, snapshot).await?;
        delete_metadata(table, snapshot, &kept).await?;
        table.io().delete(&table.paths().snapshot(snapshot.id)).await?;
    }
    snapshots.set_earliest_hint(end).await?;
    Ok(expired.len())
}

/// The oldest snapshots that may go, in order and without gaps.
async fn expired(table: &Table, config: &ExpireConfig, earliest: i64, latest: i64) -> Result<Vec<Snapshot>> {
    let signed = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    let always_kept_from = latest.saturating_sub(signed(config.retain_min.max(1))).saturating_add(1);
    let too_many_before = latest.saturating_sub(signed(config.retain_max.max(1))).saturating_add(1);
    let retained_ms = i64::try_from(config.time_retained.as_millis()).unwrap_or(i64::MAX);
    let old_before = table.clock().now_ms().saturating_sub(retained_ms);
    let limit = earliest.saturating_add(signed(config.max_deletes));
    let mut end = always_kept_from.min(limit);
    if end > earliest
        && let Some(held) = consumed_from(table).await?
    {
        end = end.min(held);
    }
    let mut out = Vec::new();
    for id in earliest..end {
        let snapshot = match table.snapshots().get(id).await {
            Ok(snapshot) => snapshot,
            // Another run is faster.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) && out.is_empty() => continue,
            Err(error) => return Err(error),
        };
        if id >= too_many_before && snapshot.time_millis > old_before {
            break;
        }
        out.push(snapshot);
    }
    Ok(out)
}

/// The least snapshot that a consumer has still to read.
async fn consumed_from(table: &Table) -> Result<Option<i64>> {
    let directory = format!("{}/consumer", table.location());
    let mut least = None;
    for entry in table.io().list(&directory).await? {
        if !entry.name.starts_with("consumer-") {
            continue;
        }
        let content = table.io().read(&entry.path).await?;
        let document: serde_json::Value = serde_json::from_slice(&content)
            .map_err(|e| crate::error::Error::corrupt("a consumer is no JSON document").with_source(e))
            .context("file", &entry.path)?;
        let next = document.get("nextSnapshot").and_then(serde_json::Value::as_i64);
        least = match (least, next) {
            (Some(a), Some(b)) => Some(std::cmp::min::<i64>(a, b)),
            (a, b) => a.or(b),
        };
    }
    Ok(least)
}

async fn kept(table: &Table, first_kept: &Snapshot) -> Result<Kept> {
    let mut kept = Kept::default();
    kept.keep_metadata(table, first_kept).await?;
    for snapshot in held_elsewhere(table).await? {
        kept.keep_all(table, &snapshot).await?;
    }
    Ok(kept)
}

/// Deletes the data files that were live in an expired snapshot and are not in the first that is kept: each was deleted by the
/// delta of a snapshot in between.
async fn delete_dead_files(
    table: &Table,
    expired: &[Snapshot],
    first_kept: &Snapshot,
    latest: i64,
    kept: &Kept,
) -> Result<()> {
    let mut entries = Vec::new();
    for snapshot in expired.iter().skip(1).chain([first_kept]) {
        entries.extend(entries_of(table, &snapshot.delta_manifest_list).await?);
    }
    if !entries.iter().any(|e| e.kind == EntryKind::Delete) {
        return Ok(());
    }
    // An upgrade deletes and adds one name; a rollback that was committed as a new snapshot adds old names again.
    let mut added: HashSet<String> = HashSet::new();
    let mut note = |entries: &[crate::spec::ManifestEntry]| {
        let adds = entries.iter().filter(|e| e.kind == EntryKind::Add);
        added.extend(adds.map(|e| e.file.file_name.clone()));
    };
    note(&entries);
    for id in first_kept.id + 1..=latest {
        let snapshot = table.snapshots().get(id).await?;
        if snapshot.commit_kind == CommitKind::Overwrite {
            note(&entries_of(table, &snapshot.delta_manifest_list).await?);
        }
    }
    delete_data(table, &entries, &added, kept).await
}
