//! Writes the rows of one bucket.
//!
//! Invariants: rows of an append table stream into one open file; rows of a primary-key table are buffered with their
//! sequence numbers, and every flush sorts and merges them into files of level 0 that hold each key once.
//! Source: write-path sheet sections 3 and 4; `mergetree/MergeTreeWriter.java`, `append/AppendOnlyWriter.java`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int8Array, Int64Array};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use crate::datafile::{FileLayout, RollingWriter, WriterConfig, key_value_fields};
use crate::error::{Error, Result};
use crate::merge::{MergeRule, sort_merge};
use crate::runtime;
use crate::spec::DataFileMeta;
use crate::types::{RowType, to_arrow_schema};

/// Rows of a batch that is handed to the file writer.
const BATCH_ROWS: usize = 8_192;

/// What all buckets of a write share.
#[derive(Debug)]
pub(super) enum Layout {
    /// Rows stream.
    Append,
    /// Rows are merged by this rule, in batches of this schema.
    KeyValue { rule: Arc<MergeRule>, schema: SchemaRef },
}

impl Layout {
    /// The layout of a table's rows.
    pub(super) fn new(columns: &[crate::types::DataField], rule: Option<MergeRule>) -> Self {
        match rule {
            None => Self::Append,
            Some(rule) => {
                let schema = to_arrow_schema(&RowType::new(key_value_fields(columns)));
                Self::KeyValue { rule: Arc::new(rule), schema }
            }
        }
    }
}

/// Writes the rows of one bucket.
#[derive(Debug)]
pub(super) enum BucketWriter {
    Append(Box<RollingWriter>),
    KeyValue(Box<KeyValueWriter>),
}

impl BucketWriter {
    /// A writer whose first row has this sequence number.
    pub(super) fn try_new(mut config: WriterConfig, layout: &Layout, next_sequence: i64) -> Result<Self> {
        Ok(match layout {
            Layout::Append => {
                config.layout = FileLayout::Append { first_sequence: next_sequence };
                Self::Append(Box::new(RollingWriter::try_new(config)?))
            }
            Layout::KeyValue { rule, schema } => {
                config.layout = FileLayout::KeyValue;
                // What cannot be written is said now, not with the first flush.
                drop(RollingWriter::try_new(config.clone())?);
                Self::KeyValue(Box::new(KeyValueWriter {
                    config,
                    rule: Arc::clone(rule),
                    schema: Arc::clone(schema),
                    next_sequence,
                    buffer: Vec::new(),
                    bytes: 0,
                    open: None,
                    files: Vec::new(),
                }))
            }
        })
    }

    /// Adds rows.
    pub(super) async fn write(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<()> {
        match self {
            Self::Append(writer) => writer.write(batch).await,
            Self::KeyValue(writer) => writer.add(batch, kinds),
        }
    }

    /// Bytes in memory.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Append(writer) => writer.buffered_bytes(),
            Self::KeyValue(writer) => writer.bytes,
        }
    }

    /// Makes the memory free.
    pub(super) async fn flush(&mut self) -> Result<()> {
        match self {
            Self::Append(writer) => writer.flush().await,
            Self::KeyValue(writer) => writer.flush().await,
        }
    }

    /// Ends the files. They still are this writer's: [`BucketWriter::abort`] deletes them.
    pub(super) async fn end(&mut self) -> Result<()> {
        match self {
            Self::Append(writer) => writer.end().await,
            Self::KeyValue(writer) => writer.flush().await,
        }
    }

    /// Gives away the files that were ended.
    pub(super) fn take_files(&mut self) -> Vec<DataFileMeta> {
        match self {
            Self::Append(writer) => writer.take_files(),
            Self::KeyValue(writer) => std::mem::take(&mut writer.files),
        }
    }

    /// Deletes what was written, best effort.
    pub(super) async fn abort(self) {
        match self {
            Self::Append(writer) => writer.abort().await,
            Self::KeyValue(writer) => writer.abort().await,
        }
    }
}

/// Buffers and merges the rows of one bucket.
#[derive(Debug)]
pub(super) struct KeyValueWriter {
    config: WriterConfig,
    rule: Arc<MergeRule>,
    schema: SchemaRef,
    next_sequence: i64,
    buffer: Vec<RecordBatch>,
    bytes: usize,
    /// The writer of a flush that has not ended.
    open: Option<RollingWriter>,
    files: Vec<DataFileMeta>,
}

impl KeyValueWriter {
    fn add(&mut self, batch: &RecordBatch, kinds: Option<&Int8Array>) -> Result<()> {
        let rows = i64::try_from(batch.num_rows()).unwrap_or(i64::MAX);
        let end = self.next_sequence.checked_add(rows);
        let end = end.ok_or_else(|| Error::invalid_state("the sequence numbers of the bucket are used up"))?;
        let sequences: ArrayRef = Arc::new(Int64Array::from_iter_values(self.next_sequence..end));
        let kinds: ArrayRef = match kinds {
            Some(kinds) => Arc::new(kinds.clone()),
            None => Arc::new(Int8Array::from(vec![0; batch.num_rows()])),
        };
        let columns = [sequences, kinds].into_iter().chain(batch.columns().iter().cloned()).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)?;
        self.next_sequence = end;
        self.bytes += batch.columns().iter().map(slice_bytes).sum::<usize>();
        self.buffer.push(batch);
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        let buffer = std::mem::take(&mut self.buffer);
        self.bytes = 0;
        let rule = Arc::clone(&self.rule);
        let merged = runtime::cpu(move || sort_merge(&buffer, &rule, BATCH_ROWS)).await?;
        // Owned here while it writes, so that what a caller stops waiting for can still be deleted.
        let writer = self.open.insert(RollingWriter::try_new(self.config.clone())?);
        for batch in merged {
            writer.write(&batch).await?;
        }
        writer.end().await?;
        self.files.extend(writer.take_files());
        self.open = None;
        Ok(())
    }

    async fn abort(self) {
        if let Some(writer) = self.open {
            writer.abort().await;
        }
        for file in self.files {
            // A file that cannot be deleted stays as one that no metadata names.
            let _ = self.config.io.delete(&format!("{}/{}", self.config.bucket_dir, file.file_name)).await;
        }
    }
}

/// What a column would take by itself: batches may share buffers with a larger one.
fn slice_bytes(array: &ArrayRef) -> usize {
    array.to_data().get_slice_memory_size().unwrap_or_else(|_| array.get_array_memory_size())
}
