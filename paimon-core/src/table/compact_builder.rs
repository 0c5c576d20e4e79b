//! Compacts a table: plans tasks from one snapshot, runs them, commits once.
//!
//! Invariants: nothing is written before everything that is not supported was refused; one COMPACT snapshot holds the
//! results of all tasks, or nothing does and what was written is deleted; a commit whose outcome is unknown deletes
//! nothing. Source: compaction sheet sections 13 and 14.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::task::JoinSet;

use super::Table;
use crate::commit::TableCommit;
use crate::compact::{CompactResult, CompactStrategy, CompactTask, Moment, Rewriter, plan_tasks};
use crate::error::{Error, ErrorKind, FILE_LEFT, Result};
use crate::meta::local_time::to_wall_clock;
use crate::predicate::Predicate;
use crate::row::BinaryRow;
use crate::runtime::{Resources, supervised};
use crate::scan::live_entries;
use crate::spec::{BUCKET, COMMIT_USER_PREFIX, CommitMessage, ManifestEntry, check_compactable};

/// What a compaction did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactMetrics {
    /// Buckets that were compacted, or groups of files of an append table.
    pub tasks: i64,
    /// Files that are no longer live; upgrades do not count.
    pub files_removed: i64,
    /// Files that were written.
    pub files_added: i64,
    /// Rows that were written.
    pub rows_written: i64,
    /// Bytes that were written.
    pub bytes_written: i64,
    /// Changelog files.
    pub changelog_files_added: i64,
    /// Their rows.
    pub changelog_rows_written: i64,
    /// Their bytes.
    pub changelog_bytes_written: i64,
}

/// How often a compaction is planned anew because another one was faster.
const REPLANS: usize = 3;

/// Settings of a compaction.
#[derive(Debug, Clone)]
pub struct CompactBuilder {
    table: Table,
    partition_filter: Option<Predicate>,
    idle: Option<Duration>,
    buckets: Option<BTreeSet<i32>>,
    user: Option<String>,
    minor: bool,
    resources: Resources,
    cancelled: Arc<AtomicBool>,
}

impl CompactBuilder {
    /// A full compaction of all partitions.
    pub fn new(table: Table) -> Self {
        Self {
            table,
            partition_filter: None,
            idle: None,
            buckets: None,
            user: None,
            minor: false,
            resources: Resources::default(),
            cancelled: Arc::default(),
        }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Only partitions that match; repeated calls combine with AND.
    ///
    /// # Errors
    /// `InvalidInput` naming a column that is no partition column.
    pub fn with_partition_filter(mut self, filter: Predicate) -> Result<Self> {
        let keys = &self.table.schema().partition_keys;
        if let Some(column) = filter.column_names().into_iter().find(|name| !keys.iter().any(|k| k == name)) {
            return Err(Error::invalid_input(format!("column {column} is not a partition column")));
        }
        self.partition_filter = Some(match self.partition_filter.take() {
            Some(earlier) => Predicate::and([earlier, filter]),
            None => filter,
        });
        Ok(self)
    }

    /// Only partitions to which no file was added in this time.
    #[must_use]
    pub fn with_partition_idle_time(mut self, idle: Duration) -> Self {
        self.idle = Some(idle);
        self
    }

    /// Only these buckets.
    ///
    /// # Errors
    /// `InvalidInput` for a table without a fixed number of buckets, or for a bucket that it does not have.
    pub fn with_buckets(mut self, buckets: BTreeSet<i32>) -> Result<Self> {
        let count = self.table.options().value(&BUCKET)?;
        if count < 1 {
            return Err(Error::invalid_input(format!(
                "Specifying buckets is only supported for fixed-bucket tables, but the table has bucket = {count}"
            )));
        }
        if let Some(bucket) = buckets.iter().find(|bucket| !(0..count).contains(*bucket)) {
            return Err(Error::invalid_input(format!("bucket {bucket} is out of range [0, {count})")));
        }
        self.buckets = Some(buckets);
        Ok(self)
    }

    /// The commit user becomes `<user>-compact-<fresh suffix>`.
    ///
    /// # Errors
    /// `InvalidInput` for a blank user.
    pub fn with_commit_user(mut self, user: impl Into<String>) -> Result<Self> {
        let user = user.into();
        if user.trim().is_empty() {
            return Err(Error::invalid_input("the commit user must not be blank"));
        }
        self.user = Some(user);
        Ok(self)
    }

    /// Only what the picking rules choose, instead of everything.
    #[must_use]
    pub fn with_minor(mut self, minor: bool) -> Self {
        self.minor = minor;
        self
    }

    /// Memory and parallelism that the compaction may use.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// Setting this flag makes [`CompactBuilder::execute`] delete what it wrote and end with `Cancelled`, unless the commit
    /// has begun. Dropping the call does the same in the background.
    #[must_use]
    pub fn with_cancel_flag(mut self, cancelled: Arc<AtomicBool>) -> Self {
        self.cancelled = cancelled;
        self
    }

    /// Plans, runs and commits one COMPACT snapshot for all tasks; none if there is nothing to do. Uses the newest schema
    /// of the table. Plans anew if another compaction took the same files meanwhile.
    ///
    /// # Errors
    /// `InvalidInput` if the table is pinned to a snapshot; `Unsupported` before any file is written; `Conflict` if other
    /// compactions were faster every time. Files that were written are deleted again, unless `CommitUnknown`; those that
    /// cannot be are context [`FILE_LEFT`] of the error.
    ///
    /// # Cancellation
    /// Once the future is dropped, what was written is deleted in the background, unless the commit has begun, which ends
    /// then: see [`crate::runtime::background_finished`].
    pub async fn execute(&self) -> Result<CompactMetrics> {
        if self.table.pinned().is_some() {
            return Err(Error::invalid_input("a table that is pinned to a snapshot cannot be compacted"));
        }
        let (builder, dropped) = (self.clone(), Arc::new(AtomicBool::new(false)));
        let stop = Stop { flags: [Arc::clone(&self.cancelled), Arc::clone(&dropped)] };
        supervised(dropped, async move { builder.replanned(&stop).await }).await
    }

    async fn replanned(&self, stop: &Stop) -> Result<CompactMetrics> {
        let mut attempt = 0;
        loop {
            match self.try_once(stop).await {
                Err(error) if matches!(error.kind(), ErrorKind::Conflict(_)) && attempt < REPLANS => attempt += 1,
                Err(error) => return Err(self.table.explain_failure(error).await),
                Ok(metrics) => return Ok(metrics),
            }
        }
    }

    async fn try_once(&self, stop: &Stop) -> Result<CompactMetrics> {
        stop.check()?;
        let table = self.newest().await?;
        let Some(snapshot) = table.snapshots().latest().await? else { return Ok(CompactMetrics::default()) };
        let now_ms = to_wall_clock(table.clock().now_ms());
        let mut entries = live_entries(&table, &snapshot, self.partition_filter.as_ref()).await?;
        if let Some(idle) = self.idle {
            keep_idle(&mut entries, now_ms.saturating_sub(i64::try_from(idle.as_millis()).unwrap_or(i64::MAX)));
        }
        entries.retain(|entry| self.buckets.as_ref().is_none_or(|buckets| buckets.contains(&entry.bucket)));
        let strategy = match self.minor {
            true => CompactStrategy::Minor(Moment { local_ms: now_ms }),
            false => CompactStrategy::Full,
        };
        let tasks = plan_tasks(entries, table.schema(), table.options(), strategy)?;
        if tasks.is_empty() {
            return Ok(CompactMetrics::default());
        }
        check_compactable(table.schema(), table.options())?;
        let [cancelled, dropped] = stop.flags.clone();
        let rewriter = Rewriter::try_new(table.clone(), self.resources.clone(), cancelled)?.stopped_by(dropped);
        let results = self.run(&rewriter, tasks).await?;
        if let Err(error) = stop.check() {
            return Err(delete_written(&rewriter, &results, error).await);
        }
        let metrics = metrics_of(&results);
        match TableCommit::new(table.clone(), self.commit_user(&table)).commit(messages_of(&results)).await {
            Ok(_) => Ok(metrics),
            Err(error) if error.kind() == ErrorKind::CommitUnknown => Err(error),
            Err(error) => Err(delete_written(&rewriter, &results, error).await),
        }
    }

    /// The table with its newest schema, and the dynamic options of the handle. An older schema would drop the columns that
    /// it does not know.
    async fn newest(&self) -> Result<Table> {
        let table = self.table.refresh().await?;
        let stored = &self.table.schema().options;
        let mut dynamic: BTreeMap<String, Option<String>> = BTreeMap::new();
        for (key, value) in self.table.options().iter() {
            if stored.get(key).map(String::as_str) != Some(value) {
                dynamic.insert(key.to_owned(), Some(value.to_owned()));
            }
        }
        for key in stored.keys().filter(|key| !self.table.options().contains(key)) {
            dynamic.insert(key.clone(), None);
        }
        if dynamic.is_empty() { Ok(table) } else { table.with_options(&dynamic).await }
    }

    fn commit_user(&self, table: &Table) -> String {
        let fresh = || table.clock().fresh_id();
        let user = match (&self.user, table.options().find(&COMMIT_USER_PREFIX)) {
            (Some(user), _) => user.clone(),
            (None, Ok(Some(prefix))) => format!("{prefix}_{}", fresh()),
            (None, _) => fresh(),
        };
        format!("{user}-compact-{}", fresh())
    }

    /// Runs the tasks, a bounded number at a time. If one fails the others end early, and all that was written is deleted.
    async fn run(&self, rewriter: &Rewriter, tasks: Vec<CompactTask>) -> Result<Vec<(CompactTask, CompactResult)>> {
        let failed = Arc::new(AtomicBool::new(false));
        let mut waiting = tasks.into_iter();
        let mut running = JoinSet::new();
        let mut results = Vec::new();
        let mut first_error = None;
        loop {
            while running.len() < self.resources.parallelism.max(1) && first_error.is_none() {
                let Some(task) = waiting.next() else { break };
                let rewriter = rewriter.clone().stopped_by(Arc::clone(&failed));
                running.spawn(async move { (rewriter.run(&task).await, task) });
            }
            match running.join_next().await {
                None => break,
                Some(Ok((Ok(result), task))) => results.push((task, result)),
                Some(Ok((Err(error), _))) => {
                    failed.store(true, Ordering::Relaxed);
                    first_error = Some(match first_error.take() {
                        None => error,
                        Some(first) => error
                            .context_values(FILE_LEFT)
                            .fold(first, |e: Error, path| e.with_context(FILE_LEFT, path)),
                    });
                }
                Some(Err(panic)) => {
                    failed.store(true, Ordering::Relaxed);
                    first_error.get_or_insert(Error::internal("a compaction task panicked").with_source(panic));
                }
            }
        }
        match first_error {
            None => Ok(results),
            Some(error) => Err(delete_written(rewriter, &results, error).await),
        }
    }
}

/// Takes out the partitions whose newest file is younger than `newest`, in local milliseconds.
fn keep_idle(entries: &mut Vec<ManifestEntry>, newest: i64) {
    let is_young = |entry: &ManifestEntry| entry.file.creation_time_ms.is_some_and(|created| created > newest);
    let young: HashSet<BinaryRow> =
        entries.iter().filter(|entry| is_young(entry)).map(|entry| entry.partition.clone()).collect();
    entries.retain(|entry| !young.contains(&entry.partition));
}

/// What ends a compaction early.
#[derive(Debug)]
struct Stop {
    flags: [Arc<AtomicBool>; 2],
}

impl Stop {
    fn check(&self) -> Result<()> {
        match self.flags.iter().any(|flag| flag.load(Ordering::Relaxed)) {
            true => Err(Error::new(ErrorKind::Cancelled, "the compaction was cancelled")),
            false => Ok(()),
        }
    }
}

async fn delete_written(rewriter: &Rewriter, results: &[(CompactTask, CompactResult)], mut error: Error) -> Error {
    for (task, result) in results {
        error = rewriter.delete_written(task, result, error).await;
    }
    error
}

fn metrics_of(results: &[(CompactTask, CompactResult)]) -> CompactMetrics {
    let count = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    let mut metrics = CompactMetrics { tasks: count(results.len()), ..CompactMetrics::default() };
    for (_, result) in results {
        metrics.files_removed += count(result.rewritten.len());
        metrics.files_added += count(result.written.len());
        metrics.rows_written += result.written.iter().map(|f| f.row_count).sum::<i64>();
        metrics.bytes_written += result.written.iter().map(|f| f.file_size).sum::<i64>();
    }
    metrics
}

/// One message per bucket.
fn messages_of(results: &[(CompactTask, CompactResult)]) -> Vec<CommitMessage> {
    let mut messages: Vec<CommitMessage> = Vec::new();
    let mut positions: HashMap<(BinaryRow, i32), usize> = HashMap::new();
    for (task, result) in results {
        let message = result.clone().into_message(task);
        match positions.get(&(task.partition.clone(), task.bucket)) {
            Some(&position) => {
                let compact = &mut messages[position].compact;
                compact.compact_before.extend(message.compact.compact_before);
                compact.compact_after.extend(message.compact.compact_after);
            }
            None => {
                positions.insert((task.partition.clone(), task.bucket), messages.len());
                messages.push(message);
            }
        }
    }
    messages
}
