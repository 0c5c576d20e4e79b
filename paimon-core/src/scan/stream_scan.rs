//! A continuous scan: the state of a table, then its changes, snapshot by snapshot.
//!
//! Invariants: a plan that fails or is dropped leaves the progress where it was; one follow-up plan covers one snapshot;
//! planning never waits. Progress belongs to the caller: nothing is stored until
//! [`StreamScan::notify_checkpoint_complete`]. Source: time-travel sheet section 6; `table/source/DataTableStreamScan.java`.

use super::changes::{has_changes, source_by_producer};
use super::metadata::PlanRequest;
use super::plan::Plan;
use super::prune::ReadMode;
use super::scope::{Scope, Source};
use super::stream_start::{self, StreamStart};
use crate::error::{Error, Result};
use crate::meta::{Changelogs, check_consumer_id};
use crate::predicate::Predicate;
use crate::spec::{
    CHANGELOG_PRODUCER, CONSUMER_ID, CONSUMER_IGNORE_PROGRESS, ChangelogProducer, CommitKind, SCAN_BOUNDED_WATERMARK,
    STREAMING_READ_APPEND_OVERWRITE, STREAMING_READ_OVERWRITE, STREAMING_READ_SNAPSHOT_DELAY, Snapshot,
};
use crate::table::Table;

/// Every so many polls for a snapshot that does not exist, the range of snapshots is looked at.
const POLLS_PER_CHECK: u32 = 16;

/// Plans a table continuously.
#[derive(Debug, Clone)]
pub struct StreamScan {
    request: PlanRequest,
    consumer: Option<String>,
    progress: Progress,
    /// Where [`StreamScan::restore`] said to start instead of the options.
    restored: Option<Restored>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Restored {
    At(i64),
    Full(i64),
}

#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    next: Option<i64>,
    watermark: Option<i64>,
    polls: u32,
    finished: bool,
}

impl StreamScan {
    /// A stream of the table with this filter, over the columns of the table. Options say where it starts; nothing is
    /// looked up before the first plan.
    ///
    /// # Errors
    /// `InvalidConfig` for a start-up mode or selector that only batch reads have; `InvalidInput` for a bad consumer id.
    pub fn try_new(table: Table, filter: Option<Predicate>) -> Result<Self> {
        stream_start::check(&table)?;
        let consumer = table.options().find(&CONSUMER_ID)?;
        consumer.as_deref().map(check_consumer_id).transpose()?;
        check_overwrite(&table)?;
        let request = PlanRequest { table, filter, limit: None };
        Ok(Self { request, consumer, progress: Progress::default(), restored: None })
    }

    /// Keeps progress under this name, instead of the one in the option `consumer-id`.
    ///
    /// # Errors
    /// `InvalidInput` for a name that cannot be part of a file's name.
    pub fn with_consumer_id(mut self, id: &str) -> Result<Self> {
        check_consumer_id(id)?;
        self.consumer = Some(id.to_owned());
        Ok(self)
    }

    /// The next plan; `None` if there is nothing new now, or the stream is at its end: see [`StreamScan::is_finished`].
    /// A first plan of a whole snapshot has splits that are merged, others have events. A start with changes gives them at
    /// once if they are there.
    ///
    /// # Errors
    /// `OutOfRange` as `InvalidInput` if the next snapshot expired, or lies beyond the next commit; as
    /// [`Table::check_alive`] if the table is gone; as [`TableScan::plan`](super::TableScan::plan) otherwise. The progress
    /// stays.
    pub async fn plan(&mut self) -> Result<Option<Plan>> {
        let mut progress = self.progress;
        if progress.finished {
            return Ok(None);
        }
        let next = async {
            match progress.next {
                None => self.first(&mut progress).await,
                Some(next) => self.follow(next, &mut progress).await,
            }
        };
        let planned = self.table().while_alive(next).await;
        if planned.is_ok() {
            self.progress = progress;
        } else {
            // The next check of the range comes after as many polls again.
            self.progress.polls = progress.polls % POLLS_PER_CHECK;
        }
        planned
    }

    /// The snapshot that is planned next; `None` before the first plan that found a start.
    pub fn checkpoint(&self) -> Option<i64> {
        self.progress.next
    }

    /// The watermark of the snapshot that was planned last.
    pub fn watermark(&self) -> Option<i64> {
        self.progress.watermark
    }

    /// Whether the stream has passed its bounded watermark: no plan follows.
    pub fn is_finished(&self) -> bool {
        self.progress.finished
    }

    /// Continues with this snapshot; `None` starts anew, as the options say.
    ///
    /// # Errors
    /// `InvalidInput` for a number that is no snapshot id.
    pub fn restore(&mut self, next: Option<i64>) -> Result<()> {
        check_id(next)?;
        self.restored = next.map(Restored::At);
        self.progress = Progress { next, ..Progress::default() };
        Ok(())
    }

    /// Starts anew with the whole of this snapshot.
    ///
    /// # Errors
    /// `InvalidInput` for a number that is no snapshot id.
    pub fn restore_full(&mut self, snapshot: i64) -> Result<()> {
        check_id(Some(snapshot))?;
        self.restored = Some(Restored::Full(snapshot));
        self.progress = Progress::default();
        Ok(())
    }

    /// Stores a checkpoint as the progress of the consumer; nothing without a consumer or for `None`.
    ///
    /// # Errors
    /// `InvalidInput` for a number that is no snapshot id; as [`Table::check_alive`] if the table is gone; `DiskFull`,
    /// `PermissionDenied` or `Storage`.
    pub async fn notify_checkpoint_complete(&self, next: Option<i64>) -> Result<()> {
        check_id(next)?;
        match (&self.consumer, next) {
            (Some(consumer), Some(next)) => {
                // Another table of this name has consumers of its own.
                self.table().check_alive().await?;
                self.table().consumers().record(consumer, next).await
            }
            _ => Ok(()),
        }
    }

    fn table(&self) -> &Table {
        &self.request.table
    }

    fn mode(&self) -> Result<ReadMode> {
        let mut mode = self.request.mode()?;
        // Streams without a producer are how files that wait for a bucket are read.
        if self.table().options().value(&CHANGELOG_PRODUCER)? == ChangelogProducer::None {
            mode.real_buckets_only = false;
        }
        Ok(mode)
    }

    async fn first(&self, progress: &mut Progress) -> Result<Option<Plan>> {
        let start = match self.restored {
            Some(Restored::Full(id)) => StreamStart::Full(Box::new(self.table().snapshots().get(id).await?)),
            Some(Restored::At(id)) => StreamStart::From(id),
            None => stream_start::find(self.table(), self.consumed().await?).await?,
        };
        let (snapshot, created_since) = match start {
            StreamStart::NotYet => return Ok(None),
            StreamStart::From(next) => return self.follow(next, progress).await,
            StreamStart::Full(snapshot) => (snapshot, None),
            StreamStart::FilesSince(time, snapshot) => (snapshot, Some(time)),
        };
        let mode = self.request.mode()?;
        let scope = Scope { created_since, ..Scope::stream_start(self.table())? };
        let plan = self.request.live(*snapshot, mode, scope).await?;
        let snapshot = plan.snapshot().ok_or_else(|| Error::internal("a full plan has no snapshot"))?;
        progress.next = Some(snapshot.id + 1);
        progress.watermark = snapshot.watermark;
        progress.finished = self.is_behind_the_end(snapshot)?;
        Ok(Some(plan))
    }

    /// What the consumer reads next.
    async fn consumed(&self) -> Result<Option<i64>> {
        match &self.consumer {
            Some(id) if !self.table().options().value(&CONSUMER_IGNORE_PROGRESS)? => {
                self.table().consumers().next_snapshot(id).await
            }
            _ => Ok(None),
        }
    }

    fn is_behind_the_end(&self, snapshot: &Snapshot) -> Result<bool> {
        let end = self.table().options().find(&SCAN_BOUNDED_WATERMARK)?;
        Ok(end.is_some_and(|end| snapshot.watermark.is_some_and(|watermark| watermark > end)))
    }

    async fn follow(&self, mut next: i64, progress: &mut Progress) -> Result<Option<Plan>> {
        let mode = self.mode()?;
        loop {
            progress.next = Some(next);
            let Some(snapshot) = self.find(next).await? else {
                progress.polls += 1;
                if progress.polls.is_multiple_of(POLLS_PER_CHECK) {
                    self.check_range(next).await?;
                }
                return Ok(None);
            };
            progress.polls = 0;
            if self.is_behind_the_end(&snapshot)? {
                progress.finished = true;
                return Ok(None);
            }
            if self.is_too_young(&snapshot)? {
                return Ok(None);
            }
            next += 1;
            let (id, watermark) = (snapshot.id, snapshot.watermark);
            let plan = self.changes(snapshot, mode).await?;
            progress.watermark = watermark.or(progress.watermark);
            progress.next = Some(next);
            if let Some(plan) = plan.filter(|plan| !plan.splits().is_empty()) {
                debug_assert_eq!(plan.snapshot_id(), Some(id));
                return Ok(Some(plan));
            }
        }
    }

    /// A snapshot, or the changelog that outlived it.
    async fn find(&self, id: i64) -> Result<Option<Snapshot>> {
        match self.table().snapshots().find(id).await? {
            None if Changelogs::outlive_snapshots(self.table().options())? => self.table().changelogs().find(id).await,
            found => Ok(found),
        }
    }

    fn is_too_young(&self, snapshot: &Snapshot) -> Result<bool> {
        let Some(delay) = self.table().options().find(&STREAMING_READ_SNAPSHOT_DELAY)? else { return Ok(false) };
        let delay = i64::try_from(delay.as_millis()).unwrap_or(i64::MAX);
        Ok(snapshot.time_millis.saturating_add(delay) > self.table().clock().now_ms())
    }

    async fn check_range(&self, next: i64) -> Result<()> {
        let earliest = stream_start::earliest_change(self.table()).await?;
        let latest = self.table().snapshots().latest_id().await?;
        let range = || {
            let (earliest, latest) = (earliest.unwrap_or_default(), latest.unwrap_or_default());
            format!("the snapshots are {earliest} to {latest}")
        };
        if earliest.is_some_and(|earliest| next < earliest) {
            return Err(Error::invalid_input(format!(
                "The wanted read snapshot with id {next} has expired: {}. Read fast enough, keep snapshots longer, or use \
                 a consumer-id",
                range()
            )));
        }
        if latest.is_some_and(|latest| next > latest + 1) {
            return Err(Error::invalid_input(format!(
                "The next expected snapshot is too big: it is {next}, but {}. The table may have been created anew",
                range()
            )));
        }
        Ok(())
    }

    /// The plan of what one snapshot changed; `None` if streams do not see it.
    async fn changes(&self, snapshot: Snapshot, mode: ReadMode) -> Result<Option<Plan>> {
        let (table, options) = (self.table(), self.table().options());
        let source = source_by_producer(table)?;
        if snapshot.commit_kind == CommitKind::Overwrite {
            if mode.has_primary_key && options.value(&STREAMING_READ_OVERWRITE)? {
                let scope = Scope::stream_changes(table, &mode, Source::Delta)?;
                return self.request.replaced(snapshot, mode, scope).await.map(Some);
            }
            if mode.has_primary_key || !options.value(&STREAMING_READ_APPEND_OVERWRITE)? {
                return Ok(None);
            }
            let scope = Scope { only_added: true, ..Scope::stream_changes(table, &mode, Source::Delta)? };
            return self.request.events(std::slice::from_ref(&snapshot), snapshot.clone(), mode, scope).await.map(Some);
        }
        if !has_changes(&snapshot, source) {
            return Ok(None);
        }
        let scope = Scope::stream_changes(table, &mode, source)?;
        self.request.events(std::slice::from_ref(&snapshot), snapshot.clone(), mode, scope).await.map(Some)
    }
}

fn check_id(id: Option<i64>) -> Result<()> {
    match id {
        Some(id) if id < 1 => Err(Error::invalid_input(format!("a snapshot id is 1 or more, but is {id}"))),
        _ => Ok(()),
    }
}

/// Overwrites are seen where their rows can be told from those of a changelog.
fn check_overwrite(table: &Table) -> Result<()> {
    if !table.options().value(&STREAMING_READ_OVERWRITE)? {
        return Ok(());
    }
    let key = STREAMING_READ_OVERWRITE.key;
    if !table.schema().has_primary_key() {
        return Err(Error::invalid_config(format!("the option '{key}' is for tables with primary key")));
    }
    match table.options().value(&CHANGELOG_PRODUCER)? {
        ChangelogProducer::None | ChangelogProducer::Input => Ok(()),
        producer @ (ChangelogProducer::Lookup | ChangelogProducer::FullCompaction) => Err(Error::invalid_config(
            format!("the option '{key}' does not go with changelog-producer = {}", producer.as_str()),
        )),
    }
}
