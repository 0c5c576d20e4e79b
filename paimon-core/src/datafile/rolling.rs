//! Writes files of one bucket, one after another.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;

use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{DataFileMeta, FileSource, TableSchema};
use crate::storage::FileIO;

/// What stands in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLayout {
    /// Rows of an append table: batches hold the columns of the table. The first row has this sequence number.
    Append {
        /// Sequence number of the first row.
        first_sequence: i64,
    },
    /// Rows of a primary-key table: key-value batches with all columns, sorted by key, each key once.
    KeyValue,
}

/// How to write files.
#[derive(Debug, Clone)]
pub struct WriterConfig {
    /// Access to files.
    pub io: FileIO,
    /// Directory of the bucket.
    pub bucket_dir: String,
    /// Schema of the rows.
    pub schema: Arc<TableSchema>,
    /// Options of the table.
    pub options: Options,
    /// What stands in the files.
    pub layout: FileLayout,
    /// Level of the files.
    pub level: i32,
    /// How the files come to be.
    pub source: FileSource,
    /// Where times and names come from.
    pub clock: Arc<dyn Clock>,
}

/// Writes batches into files of about `target-file-size`; an empty file is never written.
///
/// # Cancellation
/// Dropping it leaves files; [`RollingWriter::abort`] deletes them.
#[derive(Debug)]
pub struct RollingWriter {
    config: WriterConfig,
}

impl RollingWriter {
    /// A writer.
    ///
    /// # Errors
    /// `Unsupported` naming the format, codec or column type that cannot be written.
    pub fn try_new(config: WriterConfig) -> Result<Self> {
        Ok(Self { config })
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// `Storage` or `DiskFull` naming the file; what was written is deleted.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let _ = (&self.config, batch);
        Err(Error::unsupported("writing data files"))
    }

    /// Bytes that are buffered in memory.
    pub fn buffered_bytes(&self) -> usize {
        0
    }

    /// Ends the last file and gives the metadata of all.
    ///
    /// # Errors
    /// As [`RollingWriter::write`].
    pub async fn close(self) -> Result<Vec<DataFileMeta>> {
        Err(Error::unsupported("writing data files"))
    }

    /// Deletes everything that was written, best effort.
    pub async fn abort(self) {}
}
