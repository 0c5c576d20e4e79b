//! Expiry of snapshots by count and age.
//!
//! Invariants: the latest snapshot stays; files that a kept snapshot, tag or branch needs stay; a tag that cannot be read
//! stops the deletion. Data files go first and the snapshot document last, so that a run that was cut short is repeated by
//! the next one. Runs of several processes at once do no harm: each passes over what is gone.
//! Source: layout sheet section 10; `table/ExpireSnapshotsImpl.java`, `operation/SnapshotDeletion.java`.
//!
//! # Cost
//! While nothing expires: the two hints and one snapshot document. A run reads the deltas of the snapshots that go, and the
//! live files of a tag only if a data file may go that it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::stream::{self, StreamExt, TryStreamExt};

use super::consumers::consumers;
use super::delete::{delete_changelog, delete_data, delete_metadata};
use super::kept::{Holders, Kept, entries_of};
use crate::error::{Error, Result};
use crate::meta::rollback_mark;
use crate::options::{Options, parse_duration, parse_number};
use crate::spec::{
    CommitKind, EntryKind, ManifestEntry, SNAPSHOT_EXPIRE_LIMIT, SNAPSHOT_RETAINED_MAX, SNAPSHOT_RETAINED_MIN,
    SNAPSHOT_TIME_RETAINED, Snapshot,
};
use crate::table::Table;

/// Snapshot documents that are read at once.
const PARALLEL_READS: usize = 16;

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
    /// `InvalidConfig` naming the option.
    pub fn from_options(options: &Options) -> Result<Self> {
        Ok(Self {
            retain_min: options.value(&SNAPSHOT_RETAINED_MIN)?,
            retain_max: options.value(&SNAPSHOT_RETAINED_MAX)?,
            time_retained: options.value(&SNAPSHOT_TIME_RETAINED)?,
            max_deletes: options.value(&SNAPSHOT_EXPIRE_LIMIT)?,
        })
    }

    /// Refuses tables whose changelogs outlive their snapshots: those would be lost.
    fn check_changelogs(&self, options: &Options) -> Result<()> {
        let number = |key: &str| options.get(key).map(parse_number::<u64>).transpose();
        let outlives = [
            ("changelog.num-retained.min", number("changelog.num-retained.min")?.is_some_and(|n| n > self.retain_min)),
            ("changelog.num-retained.max", number("changelog.num-retained.max")?.is_some_and(|n| n > self.retain_max)),
            (
                "changelog.time-retained",
                options
                    .get("changelog.time-retained")
                    .map(parse_duration)
                    .transpose()?
                    .is_some_and(|t| t > self.time_retained),
            ),
        ];
        match outlives.into_iter().find(|(_, outlives)| *outlives) {
            Some((key, _)) => Err(Error::unsupported(format!(
                "expiring snapshots of tables with changelogs that are kept longer ('{key}') is not supported"
            ))),
            None => Ok(()),
        }
    }
}

/// Expires the oldest snapshots. Gives how many went.
///
/// A snapshot goes if it is not among the newest `retain_min`, and is older than `time_retained` or not among the newest
/// `retain_max`; all snapshots that a consumer has still to read stay. The age is that of the snapshot itself.
///
/// # Errors
/// `Unsupported` for tables whose changelogs outlive their snapshots. `Storage` or `Corrupt`, naming the file; what was not
/// deleted is deleted by the next run.
pub async fn expire_snapshots(table: &Table, config: &ExpireConfig) -> Result<usize> {
    let snapshots = table.snapshots();
    let Some(latest) = snapshots.latest_id().await? else { return Ok(0) };
    // Ids start at 1: with few snapshots nothing can go, and nothing needs to be looked up.
    if latest <= signed(config.retain_min.max(1)) {
        return Ok(0);
    }
    let Some(earliest) = snapshots.earliest_id().await? else { return Ok(0) };
    let expired = expired(table, config, earliest, latest).await?;
    let Some(last) = expired.last() else {
        // Without the hint every look at the earliest snapshot lists the directory.
        if !snapshots.has_earliest_hint().await? {
            snapshots.set_earliest_hint(earliest).await?;
        }
        return Ok(0);
    };
    config.check_changelogs(table.options())?;
    // The target of a rollback must not expire while a snapshot stands in for it.
    if snapshots.latest().await?.is_some_and(|latest| rollback_mark::is_running(&latest, table.clock().now_ms())) {
        return Ok(0);
    }
    // Another run is faster if it is gone.
    let Some(first_kept) = snapshots.find(last.id + 1).await? else { return Ok(0) };
    if !(Run { table, expired: &expired, first_kept: &first_kept, latest }).delete().await? {
        return Ok(0);
    }
    snapshots.set_earliest_hint(first_kept.id).await?;
    Ok(expired.len())
}

fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The oldest snapshots that may go, in order and without gaps.
async fn expired(table: &Table, config: &ExpireConfig, earliest: i64, latest: i64) -> Result<Vec<Snapshot>> {
    let newest = |count: u64| latest.saturating_sub(signed(count.max(1))).saturating_add(1);
    let end = newest(config.retain_min).min(earliest.saturating_add(signed(config.max_deletes)));
    let too_many_before = newest(config.retain_max);
    let retained_ms = i64::try_from(config.time_retained.as_millis()).unwrap_or(i64::MAX);
    let old_until = table.clock().now_ms().saturating_sub(retained_ms);
    let mut out: Vec<Snapshot> = Vec::new();
    for id in earliest..end {
        match table.snapshots().find(id).await? {
            Some(snapshot) if id < too_many_before || snapshot.time_millis <= old_until => out.push(snapshot),
            Some(_) => break,
            // Another run is faster.
            None if out.is_empty() => {}
            None => break,
        }
    }
    if !out.is_empty()
        && let Some(next) = consumers(table).await?.into_iter().map(|c| c.next_snapshot).min()
    {
        out.retain(|s| s.id < next);
    }
    Ok(out)
}

/// One run.
struct Run<'a> {
    table: &'a Table,
    expired: &'a [Snapshot],
    first_kept: &'a Snapshot,
    latest: i64,
}

impl Run<'_> {
    /// Deletes; `false` if another run was faster, and nothing was deleted.
    async fn delete(&self) -> Result<bool> {
        let table = self.table;
        let mut dead = self.dropped().await?;
        let mut kept = Kept::default();
        kept.keep_metadata(table, self.first_kept).await?;
        if !self.keep_what_later_ones_name(&mut kept, &mut dead).await? {
            return Ok(false);
        }
        let first = self.expired.first().map_or(0, |s| s.id);
        let holders = Holders::read(table).await?;
        let tags = holders.tags_between(first, self.first_kept.id);
        holders.keep(table, tags, !dead.is_empty(), &mut kept).await?;
        dead.retain(|name, _| !kept.data.contains(name));
        let dead: Vec<ManifestEntry> = dead.into_values().collect();
        delete_data(table, &dead).await?;
        for snapshot in self.expired {
            delete_changelog(table, snapshot, &kept).await?;
            delete_metadata(table, snapshot, &kept).await?;
            table.io().delete(&table.paths().snapshot(snapshot.id)).await?;
        }
        Ok(true)
    }

    /// The data files that were live in an expired snapshot and are not in the first one that is kept, by name: a snapshot in
    /// between has deleted each, and none has added it again, as an upgrade does.
    async fn dropped(&self) -> Result<BTreeMap<String, ManifestEntry>> {
        let mut dead = BTreeMap::new();
        let later: Vec<&Snapshot> = self.expired.iter().skip(1).chain([self.first_kept]).collect();
        for snapshot in later {
            let entries = entries_of(self.table, &snapshot.delta_manifest_list).await?;
            for entry in entries.iter().filter(|e| e.kind == EntryKind::Delete) {
                dead.insert(entry.file.file_name.clone(), entry.clone());
            }
            for entry in entries.iter().filter(|e| e.kind == EntryKind::Add) {
                dead.remove(&entry.file.file_name);
            }
        }
        Ok(dead)
    }

    /// A rollback that is committed as a new snapshot takes up again what snapshots before it had dropped: data files, the
    /// index manifest, the statistics. `false` if one of them is gone.
    async fn keep_what_later_ones_name(
        &self,
        kept: &mut Kept,
        dead: &mut BTreeMap<String, ManifestEntry>,
    ) -> Result<bool> {
        let names_of = |s: &Snapshot| [s.index_manifest.clone(), s.statistics.clone()];
        let named: BTreeSet<String> = self.expired.iter().flat_map(names_of).flatten().collect();
        let at_risk = named.iter().any(|n| !kept.metadata.contains(n) && !kept.statistics.contains(n));
        if dead.is_empty() && !at_risk {
            return Ok(true);
        }
        let snapshots = self.table.snapshots();
        let later = stream::iter(self.first_kept.id + 1..=self.latest).map(|id| snapshots.find(id));
        let mut later = std::pin::pin!(later.buffered(PARALLEL_READS));
        while let Some(snapshot) = later.try_next().await? {
            // Another run is faster. What the snapshot took up again is not known any more, so nothing is deleted.
            let Some(snapshot) = snapshot else { return Ok(false) };
            if names_of(&snapshot).into_iter().flatten().any(|name| named.contains(&name)) {
                kept.keep_named(self.table, &snapshot).await?;
            }
            if snapshot.commit_kind == CommitKind::Overwrite && !dead.is_empty() {
                for entry in entries_of(self.table, &snapshot.delta_manifest_list).await? {
                    if entry.kind == EntryKind::Add {
                        dead.remove(&entry.file.file_name);
                    }
                }
            }
        }
        Ok(true)
    }
}
