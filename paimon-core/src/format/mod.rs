//! File formats: bytes of data files to batches and back.
//!
//! Invariants: knows nothing of tables and snapshots. Columns are named as in the file and typed by the schema that the
//! file was written with; batches have exactly the Arrow types of those columns. Source: data-file sheet sections 3 to 5;
//! `format/FileFormat.java`.

pub mod avro;
mod footer_cache;
mod guard;
pub mod orc;
pub mod parquet;
mod ranges;
mod readable;
#[cfg(test)]
mod testing;

use std::fmt::Debug;
use std::sync::Arc;

use arrow::buffer::BooleanBuffer;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use futures::stream::BoxStream;

pub use footer_cache::FooterCache;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use guard::BREAKS_THE_FORMAT;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::predicate::Predicate;
use crate::storage::FileIO;
use crate::types::DataField;

/// A stream of batches; ends at the first error.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// A file to be read.
#[derive(Debug, Clone)]
pub struct InputFile {
    /// Access to it.
    pub io: FileIO,
    /// Full path.
    pub path: String,
    /// Bytes, as metadata says.
    pub size: u64,
    /// Where its footer may be kept.
    pub footers: FooterCache,
}

/// What to read of a file.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// Columns by their names in the file, in the order of the result. Parts of a ROW may be left out; what the file lacks
    /// is null.
    pub columns: Vec<DataField>,
    /// Over columns of the file, by name; may be used to skip rows, rows that pass it are all returned.
    pub predicate: Option<Predicate>,
    /// One bit per physical row of the file; rows whose bit is not set are never returned.
    pub rows: Option<BooleanBuffer>,
    /// Rows of a batch at most.
    pub batch_rows: usize,
    /// Options of the table: what a file does not say of itself.
    pub options: Arc<Options>,
    /// Tasks that may decode columns of the file side by side, if its format can; with 1 the reader of the stream does.
    pub tasks: usize,
}

/// A file to be written.
#[derive(Debug, Clone)]
pub struct OutputFile {
    /// Access to it.
    pub io: FileIO,
    /// Full path.
    pub path: String,
}

/// One way to store batches in files.
#[async_trait]
pub trait FileFormat: Send + Sync + Debug {
    /// The name in options and file names.
    fn identifier(&self) -> &'static str;

    /// Whether [`ReadRequest::predicate`] may skip rows.
    fn uses_predicates(&self) -> bool {
        true
    }

    /// Reads a file.
    ///
    /// # Errors
    /// `Unsupported` naming codec or column type; `Corrupt`, `NotFound(File)` or `Storage` naming the file.
    async fn read(&self, file: InputFile, request: ReadRequest) -> Result<BatchStream>;

    /// Starts a file of these columns.
    ///
    /// # Errors
    /// `Unsupported` naming codec or column type, `InvalidConfig` naming the option, before anything is written.
    fn write(&self, file: OutputFile, columns: &[DataField], options: &Options) -> Result<Box<dyn FileWriter>>;
}

/// A file that is being written.
///
/// # Cancellation
/// Dropping it may leave a part of the file; [`FileWriter::abort`] removes it.
#[async_trait]
pub trait FileWriter: Send + Debug {
    /// Adds rows. Columns have the Arrow types of the columns of the file.
    ///
    /// # Errors
    /// `Storage` or `DiskFull` naming the file.
    async fn write(&mut self, batch: &RecordBatch) -> Result<()>;

    /// Bytes written and buffered: about the size of the file if it ended now.
    fn estimated_size(&self) -> u64;

    /// Bytes buffered in memory.
    fn buffered_bytes(&self) -> usize;

    /// Writes out what is buffered, as far as the format can without ending the file.
    ///
    /// # Errors
    /// As [`FileWriter::write`].
    async fn flush(&mut self) -> Result<()>;

    /// Ends the file and gives its bytes. Works once.
    ///
    /// # Errors
    /// As [`FileWriter::write`].
    async fn finish(&mut self) -> Result<u64>;

    /// Deletes what was written, best effort, also after [`FileWriter::finish`], and what a dropped call was about to write.
    async fn abort(&mut self);
}

/// The format with this name.
///
/// # Errors
/// `Unsupported` naming it.
pub fn file_format(identifier: &str) -> Result<Arc<dyn FileFormat>> {
    if identifier.eq_ignore_ascii_case(parquet::IDENTIFIER) {
        return Ok(Arc::new(parquet::ParquetFormat));
    }
    if identifier.eq_ignore_ascii_case(orc::IDENTIFIER) {
        return Ok(Arc::new(orc::OrcFormat));
    }
    if identifier.eq_ignore_ascii_case(avro::IDENTIFIER) {
        return Ok(Arc::new(avro::AvroFormat));
    }
    Err(Error::unsupported(format!(
        "data files of format '{identifier}' are not supported, only parquet, orc and avro"
    )))
}
