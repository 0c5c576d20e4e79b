//! Writes files of one bucket, one after another.
//!
//! Invariants: an empty file is never written; a file that could not be finished, and all that were finished before it, are
//! deleted. Source: write-path sheet sections 3 to 6, layout sheet section 5; `io/RollingFileWriterImpl.java`,
//! `io/KeyValueDataFileWriter.java`, `io/RowDataFileWriter.java`, `io/DataFilePathFactory.java`.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;

use super::file_meta::{FileColumns, FileFacts};
use super::level_options::of_level;
use crate::clock::Clock;
use crate::error::{Error, Result};
use crate::format::{FileFormat, FileWriter, OutputFile, file_format};
use crate::options::Options;
use crate::spec::{
    DATA_FILE_PREFIX, DataFileMeta, FILE_COMPRESSION, FILE_FORMAT, FILE_SUFFIX_INCLUDE_COMPRESSION, FileSource,
    TARGET_FILE_ROWS, TARGET_FILE_SIZE, TableSchema,
};
use crate::storage::FileIO;

/// Sizes of full files unless options say otherwise.
const KEY_VALUE_FILE_SIZE: u64 = 128 << 20;
const APPEND_FILE_SIZE: u64 = 256 << 20;
/// A file has at least this many rows before its size ends it.
const LEAST_ROWS: u64 = 1_000;
/// Flushes of one file: Parquet numbers row groups with 15 bits.
const MOST_FLUSHES: u32 = 10_000;
/// Rows after which the size of a file is looked at.
const SLICE_ROWS: usize = 16_384;

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
    format: Arc<dyn FileFormat>,
    columns: FileColumns,
    names: Names,
    limits: Limits,
    open: Option<OpenFile>,
    next_sequence: i64,
    done: Vec<DataFileMeta>,
    failed: bool,
}

#[derive(Debug)]
struct OpenFile {
    name: String,
    writer: Box<dyn FileWriter>,
    facts: FileFacts,
    flushes: u32,
}

#[derive(Debug, Clone, Copy)]
struct Limits {
    bytes: u64,
    rows: u64,
}

impl Limits {
    fn new(options: &Options, layout: FileLayout, source: FileSource) -> Result<Self> {
        let default = match layout {
            FileLayout::Append { .. } => APPEND_FILE_SIZE,
            FileLayout::KeyValue => KEY_VALUE_FILE_SIZE,
        };
        let rows = match source {
            FileSource::Append => options.value(&TARGET_FILE_ROWS)?.max(1),
            FileSource::Compact => u64::MAX,
        };
        Ok(Self { bytes: options.find(&TARGET_FILE_SIZE)?.unwrap_or(default), rows })
    }

    /// Rows that may be added before the file is looked at again.
    fn room(self, rows: u64) -> usize {
        usize::try_from(self.rows.saturating_sub(rows)).unwrap_or(usize::MAX).clamp(1, SLICE_ROWS)
    }

    fn is_full(self, rows: u64, bytes: u64) -> bool {
        rows >= self.rows || rows >= LEAST_ROWS && bytes >= self.bytes
    }
}

/// Names of files: one id per writer, counted from 0.
#[derive(Debug)]
struct Names {
    stem: String,
    suffix: String,
    next: u64,
}

impl Names {
    fn new(options: &Options, clock: &dyn Clock, format: &str) -> Result<Self> {
        let suffix = if options.value(&FILE_SUFFIX_INCLUDE_COMPRESSION)? {
            format!("{}.{format}", options.value(&FILE_COMPRESSION)?.to_ascii_lowercase())
        } else {
            format.to_owned()
        };
        Ok(Self { stem: format!("{}{}", options.value(&DATA_FILE_PREFIX)?, clock.fresh_id()), suffix, next: 0 })
    }

    fn next(&mut self) -> String {
        let name = format!("{}-{}.{}", self.stem, self.next, self.suffix);
        self.next += 1;
        name
    }
}

impl RollingWriter {
    /// A writer.
    ///
    /// # Errors
    /// `Unsupported` naming the format, codec or column type that cannot be written, `InvalidConfig` naming an option.
    pub fn try_new(mut config: WriterConfig) -> Result<Self> {
        config.options = of_level(&config.options, config.level)?;
        let format = file_format(&config.options.value(&FILE_FORMAT)?)?;
        let columns = FileColumns::new(&config.schema, &config.options, config.layout, config.level)?;
        let names = Names::new(&config.options, config.clock.as_ref(), format.identifier())?;
        let limits = Limits::new(&config.options, config.layout, config.source)?;
        let next_sequence = match config.layout {
            FileLayout::Append { first_sequence } => first_sequence,
            FileLayout::KeyValue => 0,
        };
        let writer =
            Self { config, format, columns, names, limits, open: None, next_sequence, done: Vec::new(), failed: false };
        // What cannot be written is said now, not with the first row.
        writer.format.write(writer.output(""), writer.columns.fields(), &writer.config.options)?;
        Ok(writer)
    }

    fn output(&self, name: &str) -> OutputFile {
        OutputFile { io: self.config.io.clone(), path: format!("{}/{name}", self.config.bucket_dir) }
    }

    /// Writes a batch.
    ///
    /// # Errors
    /// `Storage` or `DiskFull` naming the file; what was written is deleted.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check_usable()?;
        let written = self.add(batch).await;
        self.or_clean_up(written).await
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed { Err(Error::invalid_state("an earlier write of the files failed")) } else { Ok(()) }
    }

    async fn or_clean_up<T>(&mut self, result: Result<T>) -> Result<T> {
        if result.is_err() {
            self.failed = true;
            self.clean_up().await;
        }
        result
    }

    async fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut start = 0;
        while start < batch.num_rows() {
            let file = match &mut self.open {
                Some(file) => file,
                None => {
                    let name = self.names.next();
                    let output = self.output(&name);
                    let writer = self.format.write(output, self.columns.fields(), &self.config.options)?;
                    let facts = self.columns.facts(self.next_sequence);
                    self.open.insert(OpenFile { name, writer, facts, flushes: 0 })
                }
            };
            let rows = self.limits.room(file.facts.rows()).min(batch.num_rows() - start);
            let rows_of_file = self.columns.file_batch(&batch.slice(start, rows))?;
            file.facts.update(&rows_of_file)?;
            file.writer.write(&rows_of_file).await?;
            start += rows;
            self.next_sequence += i64::try_from(rows).unwrap_or(i64::MAX);
            if self.limits.is_full(file.facts.rows(), file.writer.estimated_size()) {
                self.end_file().await?;
            }
        }
        Ok(())
    }

    async fn end_file(&mut self) -> Result<()> {
        let Some(file) = &mut self.open else { return Ok(()) };
        // It stays the open file until it has ended: a caller that stops waiting leaves it to the clean-up.
        let size = file.writer.finish().await?;
        let Some(mut file) = self.open.take() else { return Ok(()) };
        match file.facts.meta(&file.name, size, &self.config) {
            Ok(meta) => {
                self.done.push(meta);
                Ok(())
            }
            Err(error) => {
                file.writer.abort().await;
                Err(error)
            }
        }
    }

    /// Bytes that are buffered in memory.
    pub fn buffered_bytes(&self) -> usize {
        self.open.as_ref().map_or(0, |file| file.writer.buffered_bytes())
    }

    /// Writes out what is buffered, so that the memory is free; the file stays open unless it was flushed too often.
    ///
    /// # Errors
    /// As [`RollingWriter::write`].
    pub async fn flush(&mut self) -> Result<()> {
        self.check_usable()?;
        let flushed = match &mut self.open {
            Some(file) if file.flushes < MOST_FLUSHES => {
                file.flushes += 1;
                file.writer.flush().await
            }
            Some(_) => self.end_file().await,
            None => Ok(()),
        };
        self.or_clean_up(flushed).await
    }

    /// Ends the last file and gives the metadata of all.
    ///
    /// # Errors
    /// As [`RollingWriter::write`].
    pub async fn close(mut self) -> Result<Vec<DataFileMeta>> {
        self.end().await?;
        Ok(self.take_files())
    }

    /// Ends the last file. The files still are this writer's: [`RollingWriter::abort`] deletes them.
    ///
    /// # Errors
    /// As [`RollingWriter::write`].
    pub async fn end(&mut self) -> Result<()> {
        self.check_usable()?;
        let ended = self.end_file().await;
        self.or_clean_up(ended).await
    }

    /// Gives away the files that were ended.
    pub fn take_files(&mut self) -> Vec<DataFileMeta> {
        std::mem::take(&mut self.done)
    }

    /// Deletes everything that was written, best effort.
    pub async fn abort(mut self) {
        self.clean_up().await;
    }

    async fn clean_up(&mut self) {
        if let Some(mut file) = self.open.take() {
            file.writer.abort().await;
        }
        for meta in self.done.drain(..) {
            // A file that cannot be deleted stays as one that no metadata names.
            let _ = self.config.io.delete(&format!("{}/{}", self.config.bucket_dir, meta.file_name)).await;
        }
    }
}
