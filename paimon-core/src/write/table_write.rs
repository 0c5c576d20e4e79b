//! Writes batches into the buckets of a table.
//!
//! Invariants: works once: after [`TableWrite::prepare_commit`], or after a failure that lost rows, every call is refused.
//! Memory of all buckets stays within `write-buffer-size` and what the host's budget gives, the largest bucket gives way
//! first. Source: write-path sheet sections 1 to 7; `table/sink/TableWriteImpl.java`,
//! `operation/AbstractFileStoreWrite.java`.

use std::collections::HashMap;

use arrow::array::Int8Array;
use arrow::record_batch::RecordBatch;
use futures::future::{BoxFuture, FutureExt};
use futures::stream::{self, StreamExt};

use super::bucket_writer::{BucketWriter, Layout};
use super::kinds::{Kinds, check_append_kinds};
use super::normalize::Normalizer;
use super::restore::Restored;
use super::route::{BucketKey, Routed, Router};
use super::supported::{BucketMode, check};
use crate::datafile::{FileLayout, WriterConfig};
use crate::error::{Error, ErrorKind, Result};
use crate::runtime::{Reservation, Resources};
use crate::spec::{
    BUCKET_APPEND_ORDERED, CommitMessage, CompactIncrement, DataIncrement, FileSource, WRITE_BUFFER_SIZE, WRITE_ONLY,
};
use crate::table::Table;

/// Writes batches; nothing is visible before the messages are committed.
///
/// # Cancellation
/// Dropping it leaves files that no message names; [`TableWrite::abort`] removes them. A call that is dropped halfway ends
/// the write.
#[derive(Debug)]
pub struct TableWrite {
    table: Table,
    ignore_previous: bool,
    parallelism: usize,
    mode: BucketMode,
    layout: Layout,
    normalizer: Normalizer,
    kinds: Kinds,
    router: Router,
    restored: Restored,
    restores_sequences: bool,
    writers: HashMap<BucketKey, BucketWriter>,
    memory: Reservation,
    memory_limit: usize,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// A call is under way, or was dropped.
    Busy,
    Failed,
    Prepared,
    Aborted,
}

impl TableWrite {
    /// A writer for `table`. With `ignore_previous`, as for an overwrite, sequence numbers start anew.
    ///
    /// # Errors
    /// `Unsupported` naming the option if the table cannot be written yet; `InvalidInput` if it is pinned to a snapshot;
    /// `InvalidConfig` naming an option or default with a bad value.
    pub fn new(table: Table, ignore_previous: bool, resources: Resources) -> Result<Self> {
        let (mode, rule) = check(&table)?;
        let (schema, options) = (table.schema(), table.options());
        let ordered = options.value(&BUCKET_APPEND_ORDERED)? || !options.value(&WRITE_ONLY)?;
        let restores_sequences = !ignore_previous && mode != BucketMode::Unaware && (rule.is_some() || ordered);
        let limit = options.value(&WRITE_BUFFER_SIZE)?;
        let write = Self {
            ignore_previous,
            parallelism: resources.parallelism.max(1),
            mode,
            layout: Layout::new(&schema.fields, rule),
            normalizer: Normalizer::try_new(schema)?,
            kinds: Kinds::try_new(schema, options)?,
            router: Router::try_new(schema, options, mode)?,
            restored: Restored::default(),
            restores_sequences,
            writers: HashMap::new(),
            memory: Reservation::new(resources.memory),
            memory_limit: usize::try_from(limit).unwrap_or(usize::MAX),
            state: State::Open,
            table,
        };
        // What cannot be written is said now, not with the first row.
        drop(BucketWriter::try_new(write.config(String::new()), &write.layout, 0)?);
        Ok(write)
    }

    /// Writes a batch whose columns are those of the table, in order, by name and type.
    ///
    /// # Errors
    /// `SchemaMismatch` naming the first column that differs or holds a null that it may not; nothing of the batch is
    /// written and the write goes on. `InvalidInput` if the partition has another bucket count. `NotFound(Table)` if the table
    /// is gone before the first row is written. `InvalidState` if it was made again, and after
    /// [`TableWrite::prepare_commit`]. Any other error ends the write, and its files are deleted.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.write_rows(batch, None, None).await
    }

    /// As [`TableWrite::write`] for rows that the caller knows to belong to this bucket.
    ///
    /// # Errors
    /// As [`TableWrite::write`]; `InvalidInput` if the bucket is out of range, is not that of a row, or the table has no
    /// fixed number of buckets.
    pub async fn write_with_bucket(&mut self, batch: &RecordBatch, bucket: i32) -> Result<()> {
        self.write_rows(batch, None, Some(bucket)).await
    }

    /// As [`TableWrite::write`] for rows with kinds, one byte each as in [`RowKind`](crate::types::RowKind). A column that
    /// option `rowkind.field` names goes before them.
    ///
    /// # Errors
    /// As [`TableWrite::write`]; `InvalidInput` for a kind that the table does not take.
    pub async fn write_changes(&mut self, batch: &RecordBatch, kinds: &Int8Array) -> Result<()> {
        self.write_rows(batch, Some(kinds), None).await
    }

    async fn write_rows(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>, bucket: Option<i32>) -> Result<()> {
        self.check_open()?;
        let routed = self.route(batch, kinds, bucket)?;
        if routed.is_empty() {
            return Ok(());
        }
        self.open_writers(&routed).await?;
        self.state = State::Busy;
        let mut written = self.write_routed(routed).await;
        if written.is_ok() {
            written = self.keep_within_memory().await;
        }
        self.settle(written).await
    }

    fn check_open(&self) -> Result<()> {
        let message = match self.state {
            State::Open => return Ok(()),
            State::Busy => "an earlier call of this write was dropped; its rows may be lost",
            State::Failed => "an earlier call of this write failed",
            State::Prepared => "BatchTableWrite only support one-time committing.",
            State::Aborted => "this write was aborted",
        };
        Err(Error::invalid_state(message))
    }

    async fn settle<T>(&mut self, result: Result<T>) -> Result<T> {
        match result {
            Ok(value) => {
                self.state = State::Open;
                Ok(value)
            }
            Err(error) => {
                self.state = State::Failed;
                self.delete_files().await;
                Err(self.table.explain_failure(error).await)
            }
        }
    }

    fn route(&self, batch: &RecordBatch, kinds: Option<&Int8Array>, bucket: Option<i32>) -> Result<Vec<Routed>> {
        let batch = self.normalizer.apply(batch)?;
        if matches!(self.layout, Layout::Append) {
            if let Some(kinds) = kinds {
                check_append_kinds(&batch, kinds)?;
            }
            return self.router.route(&batch, None, bucket);
        }
        let (batch, kinds) = self.kinds.apply(batch, kinds)?;
        self.router.route(&batch, Some(&kinds), bucket)
    }

    /// Makes a writer for each bucket that has none.
    async fn open_writers(&mut self, routed: &[Routed]) -> Result<()> {
        let new: Vec<&BucketKey> = routed.iter().map(|r| &r.key).filter(|k| !self.writers.contains_key(*k)).collect();
        if new.is_empty() {
            return Ok(());
        }
        if self.writers.is_empty() {
            // Before the first file appears.
            self.table.check_alive().await?;
        }
        let fixed = matches!(self.mode, BucketMode::Fixed(_));
        if fixed && !self.ignore_previous {
            let partitions: Vec<_> = new.iter().map(|key| &key.partition).collect();
            self.restored.load(&self.table, &partitions).await?;
        }
        for key in new {
            self.restored.check_bucket_count(&self.table, &key.partition, self.mode.total_buckets())?;
            let next_sequence = if self.restores_sequences { self.restored.next_sequence(key) } else { 0 };
            let table = &self.table;
            let (schema, options) = (table.schema(), table.options());
            let directory = table.paths().bucket_dir(schema, options, &key.partition, key.bucket)?;
            let writer = BucketWriter::try_new(self.config(directory), &self.layout, next_sequence)?;
            self.writers.insert(key.clone(), writer);
        }
        Ok(())
    }

    fn config(&self, bucket_dir: String) -> WriterConfig {
        WriterConfig {
            io: self.table.io().clone(),
            bucket_dir,
            schema: self.table.schema().clone(),
            options: self.table.options().clone(),
            layout: FileLayout::Append { first_sequence: 0 },
            level: 0,
            source: FileSource::Append,
            clock: self.table.clock().clone(),
        }
    }

    /// Hands the rows to their writers, several at a time.
    async fn write_routed(&mut self, routed: Vec<Routed>) -> Result<()> {
        let mut parts: HashMap<BucketKey, Routed> = routed.into_iter().map(|part| (part.key.clone(), part)).collect();
        // Writers stay in the map while they write: a caller that stops waiting leaves them to be aborted.
        let mut work: Vec<BoxFuture<'_, Result<()>>> = Vec::with_capacity(parts.len());
        for (key, writer) in &mut self.writers {
            if let Some(part) = parts.remove(key) {
                work.push(async move { writer.write(&part.batch, part.kinds.as_ref()).await }.boxed());
            }
        }
        if !parts.is_empty() {
            return Err(Error::internal("a bucket has no writer"));
        }
        all(work, self.parallelism).await
    }

    fn buffered_bytes(&self) -> usize {
        self.writers.values().map(BucketWriter::memory_bytes).sum()
    }

    /// Flushes the largest buckets until the memory is within its limits.
    async fn keep_within_memory(&mut self) -> Result<()> {
        loop {
            let bytes = self.buffered_bytes();
            let reserved = self.memory.try_resize(bytes);
            if reserved.is_ok() && bytes <= self.memory_limit {
                return Ok(());
            }
            let largest = self.writers.values_mut().max_by_key(|w| w.memory_bytes()).filter(|w| w.memory_bytes() > 0);
            match (largest, reserved) {
                (Some(writer), _) => writer.flush().await?,
                (None, Err(error)) if error.kind() != ErrorKind::MemoryExhausted => return Err(error),
                (None, reserved) => return reserved,
            }
        }
    }

    /// Ends the files and gives one message per bucket that was written. Works once.
    ///
    /// # Errors
    /// `InvalidState` the second time, or if the table was made again; `NotFound(Table)` if it is gone; `Storage` or `DiskFull`.
    /// The files are deleted again.
    pub async fn prepare_commit(&mut self) -> Result<Vec<CommitMessage>> {
        self.check_open()?;
        self.state = State::Prepared;
        if let Err(error) = self.end_writers().await {
            self.delete_files().await;
            return Err(self.table.explain_failure(error).await);
        }
        // From here on nothing waits: all files change their owner at once.
        let total_buckets = self.mode.total_buckets();
        let mut messages = Vec::with_capacity(self.writers.len());
        for (key, mut writer) in self.writers.drain() {
            let new_files = writer.take_files();
            if !new_files.is_empty() {
                messages.push(CommitMessage {
                    partition: key.partition,
                    bucket: key.bucket,
                    total_buckets: Some(total_buckets),
                    append: DataIncrement { new_files, ..DataIncrement::default() },
                    compact: CompactIncrement::default(),
                });
            }
        }
        self.memory.try_resize(0)?;
        messages.sort_by(|a, b| (a.partition.as_bytes(), a.bucket).cmp(&(b.partition.as_bytes(), b.bucket)));
        Ok(messages)
    }

    async fn end_writers(&mut self) -> Result<()> {
        if self.writers.is_empty() {
            return Ok(());
        }
        // Files would make the directory of a dropped table again.
        self.table.check_alive().await?;
        let work = self.writers.values_mut().map(|writer| writer.end().boxed()).collect();
        all(work, self.parallelism).await
    }

    /// Deletes everything that was written and belongs to no message. Later calls are refused.
    pub async fn abort(&mut self) {
        if self.state != State::Prepared {
            self.state = State::Aborted;
        }
        self.delete_files().await;
    }

    async fn delete_files(&mut self) {
        for (_, writer) in self.writers.drain() {
            writer.abort().await;
        }
        // Giving back never fails.
        let _ = self.memory.try_resize(0);
    }
}

/// Runs all pieces of work, several at a time, and gives the first error.
async fn all(work: Vec<BoxFuture<'_, Result<()>>>, parallelism: usize) -> Result<()> {
    let mut outcomes = stream::iter(work).buffer_unordered(parallelism);
    let mut result = Ok(());
    while let Some(outcome) = outcomes.next().await {
        result = result.and(outcome);
    }
    result
}
