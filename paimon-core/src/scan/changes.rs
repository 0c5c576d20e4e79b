//! Incremental reads: from a range of the history to a plan of its changes.
//!
//! Invariants: the start is excluded; a range that reaches beyond the snapshots that exist is an error, never a part of
//! the changes. Source: time-travel sheet section 3; `table/source/snapshot/IncrementalDeltaStartingScanner.java`,
//! `IncrementalDiffStartingScanner.java`, `table/source/AbstractDataTableScan.java`.

use futures::{StreamExt, TryStreamExt, stream};

use super::metadata::PlanRequest;
use super::plan::Plan;
use super::prune::ReadMode;
use super::scope::{Scope, Source};
use super::table_scan::nothing;
use crate::error::{Error, Result};
use crate::meta::{AutoTagNames, Bounds, ChangesRange};
use crate::spec::{CHANGELOG_PRODUCER, ChangelogProducer, ChangesMode, CommitKind, Snapshot};
use crate::table::Table;

/// Snapshots that are read at once.
const PARALLEL_READS: usize = 16;

/// The changes that a range stands for.
#[derive(Debug)]
pub(super) enum Changes {
    /// None, in a history that ends here.
    Nothing(Option<Box<Snapshot>>),
    /// Those of the snapshots after `start` up to `end`.
    Range { start: i64, end: Box<Snapshot>, source: Source },
    /// What differs between two snapshots.
    Diff { before: Box<Snapshot>, after: Box<Snapshot> },
    /// A whole snapshot: everything that it holds is new.
    Whole(Box<Snapshot>),
}

impl Changes {
    /// What the range of an option stands for. A table without snapshots has no changes.
    ///
    /// # Errors
    /// `InvalidInput` for ends that do not exist, stand in the wrong order, or are no automatic tag.
    pub(super) async fn resolve(range: &ChangesRange, table: &Table) -> Result<Self> {
        match &range.bounds {
            Bounds::ToAutoTag(tag) => {
                let names = AutoTagNames::from_options(table.options())?;
                Ok(match names.pair(tag, &table.tags()).await? {
                    Some((before, after)) => {
                        Self::Diff { before: Box::new(before.snapshot), after: Box::new(after.snapshot) }
                    }
                    None => Self::Nothing(table.snapshots().latest().await?.map(Box::new)),
                })
            }
            Bounds::Timestamps(start, end) => Self::between_times(*start, *end, range, table).await,
            Bounds::Between(start, end) => {
                let tags = table.tags();
                if let (Some(before), Some(after)) = (tags.get(start).await?, tags.get(end).await?) {
                    let (before, after) = (before.snapshot, after.snapshot);
                    if after.id < before.id {
                        return Err(Error::invalid_input(format!(
                            "Tag end {end} with snapshot id {} should be >= tag start {start} with snapshot id {}",
                            after.id, before.id
                        )));
                    }
                    return match range.tags_are_snapshots {
                        true => Self::between_ids(before.id, after.id, range.mode, table).await,
                        false => Ok(Self::Diff { before: Box::new(before), after: Box::new(after) }),
                    };
                }
                let (Ok(first), Ok(last)) = (start.parse(), end.parse()) else {
                    return Err(Error::invalid_input(format!(
                        "Didn't find two tags for start '{start}' and end '{end}', and they are not two snapshot Ids. \
                         Please set two tags or two snapshot Ids."
                    )));
                };
                if table.snapshots().latest_id().await?.is_none() {
                    return Ok(Self::Nothing(None));
                }
                Self::between_ids(first, last, range.mode, table).await
            }
        }
    }

    /// What an explicit range of snapshots stands for.
    ///
    /// # Errors
    /// `InvalidInput` if not all of its snapshots exist.
    pub(super) async fn of_existing(range: &ChangesRange, table: &Table) -> Result<Self> {
        if let Bounds::Between(start, end) = &range.bounds
            && table.snapshots().latest_id().await?.is_none()
        {
            return Err(Error::invalid_input(format!(
                "the table has no snapshot, so the range ({start}, {end}] of changes does not exist"
            )));
        }
        Self::resolve(range, table).await
    }

    async fn between_ids(start: i64, end: i64, mode: ChangesMode, table: &Table) -> Result<Self> {
        if end < start {
            return Err(Error::invalid_input(format!(
                "Ending snapshotId {end} should >= starting snapshotId {start}."
            )));
        }
        let snapshots = table.snapshots();
        let source = match source_of(mode, table)? {
            Some(source) => source,
            None if start == end => return Ok(Self::Nothing(snapshots.find(end).await?.map(Box::new))),
            None => {
                let missing = |id: i64| {
                    Error::invalid_input(format!(
                        "Snapshot {id} does not exist. It might have been expired by other jobs operating on this table."
                    ))
                };
                let before = snapshots.find(start).await?.ok_or_else(|| missing(start))?;
                let after = snapshots.find(end).await?.ok_or_else(|| missing(end))?;
                return Ok(Self::Diff { before: Box::new(before), after: Box::new(after) });
            }
        };
        let (earliest, latest) = (snapshots.earliest_id().await?, snapshots.latest_id().await?);
        let out_of_range = || {
            let (earliest, latest) = (earliest.unwrap_or_default(), latest.unwrap_or_default());
            Error::invalid_input(format!(
                "The specified scan snapshotId range [{start}, {end}] is out of available snapshotId range [{earliest}, \
                 {latest}]."
            ))
        };
        if earliest.is_none_or(|earliest| start < earliest - 1) {
            return Err(out_of_range());
        }
        match snapshots.find(end).await? {
            Some(end) if start < end.id => Ok(Self::Range { start, end: Box::new(end), source }),
            Some(end) => Ok(Self::Nothing(Some(Box::new(end)))),
            None => Err(out_of_range()),
        }
    }

    async fn between_times(start: i64, end: i64, range: &ChangesRange, table: &Table) -> Result<Self> {
        if end < start {
            return Err(Error::invalid_input(format!(
                "Ending timestamp {end} should be >= starting timestamp {start}."
            )));
        }
        let snapshots = table.snapshots();
        let (Some(earliest), Some(latest)) = (snapshots.earliest().await?, snapshots.latest().await?) else {
            return Ok(Self::Nothing(None));
        };
        if start == end || start > latest.time_millis || end < earliest.time_millis {
            return Ok(Self::Nothing(Some(Box::new(latest))));
        }
        let before = snapshots.at_or_before(start).await?;
        let after = snapshots.at_or_before(end).await?.unwrap_or(latest);
        match (source_of(range.mode, table)?, before) {
            (Some(_), before) => {
                let start = before.map_or(earliest.id - 1, |s| s.id);
                Self::between_ids(start, after.id, range.mode, table).await
            }
            (None, Some(before)) => Ok(Self::Diff { before: Box::new(before), after: Box::new(after) }),
            (None, None) if earliest.id == 1 => Ok(Self::Whole(Box::new(after))),
            (None, None) => Ok(Self::Diff { before: Box::new(earliest), after: Box::new(after) }),
        }
    }

    /// The plan of the changes.
    ///
    /// # Errors
    /// `Corrupt`, `NotFound` or `Storage` naming the file.
    pub(super) async fn plan(self, request: &PlanRequest, mode: ReadMode) -> Result<Plan> {
        match self {
            Self::Nothing(snapshot) => Ok(nothing(snapshot.map(|s| *s))),
            Self::Whole(snapshot) => request.live(*snapshot, mode, Scope::live(&mode)).await,
            Self::Diff { before, after } => request.difference(&before, *after, mode).await,
            Self::Range { start, end, source } => {
                let changed = changed_snapshots(&request.table, start, &end, source).await?;
                let scope = Scope::changes(&request.table, &mode, source)?;
                request.events(&changed, *end, mode, scope).await
            }
        }
    }
}

/// Where changes of this mode are; `None` for a difference.
fn source_of(mode: ChangesMode, table: &Table) -> Result<Option<Source>> {
    Ok(match mode {
        ChangesMode::Delta => Some(Source::Delta),
        ChangesMode::Changelog => Some(Source::Changelog),
        ChangesMode::Diff => None,
        ChangesMode::Auto => Some(source_by_producer(table)?),
    })
}

/// Where the changes of a table are.
///
/// # Errors
/// `InvalidConfig` for a bad option.
pub(super) fn source_by_producer(table: &Table) -> Result<Source> {
    Ok(match table.options().value(&CHANGELOG_PRODUCER)? {
        ChangelogProducer::None => Source::Delta,
        ChangelogProducer::Input | ChangelogProducer::Lookup | ChangelogProducer::FullCompaction => Source::Changelog,
    })
}

/// Whether a snapshot has changes of this kind.
pub(super) fn has_changes(snapshot: &Snapshot, source: Source) -> bool {
    match source {
        Source::Changelog => {
            snapshot.commit_kind != CommitKind::Overwrite && snapshot.changelog_manifest_list.is_some()
        }
        Source::Delta | Source::Live => snapshot.commit_kind == CommitKind::Append,
    }
}

async fn changed_snapshots(table: &Table, start: i64, end: &Snapshot, source: Source) -> Result<Vec<Snapshot>> {
    let snapshots = table.snapshots();
    let snapshots = &snapshots;
    let read = stream::iter(start + 1..end.id).map(|id| snapshots.get(id)).buffered(PARALLEL_READS);
    let mut changed: Vec<Snapshot> = read.try_collect().await?;
    changed.push(end.clone());
    changed.retain(|snapshot| has_changes(snapshot, source));
    Ok(changed)
}
