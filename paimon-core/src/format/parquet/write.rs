//! Writes a Parquet file: row group by row group into a stream.
//!
//! Invariants: what is in memory is the open row group and the waiting batches; the file is created when its first row group
//! ends. Source: data-file sheet sections 3 and 4.

use std::fmt;
use std::io::Write;
use std::sync::Arc;

use ::parquet::arrow::arrow_writer::ArrowRowGroupWriterFactory;
use ::parquet::file::writer::SerializedFileWriter;
use arrow::array::ArrayRef;
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use bytes::Bytes;

use super::encode::{RowGroup, append, from_writing, physical_schema};
use super::properties::Settings;
use super::schema::parquet_schema;
use crate::error::{Error, ErrorKind, Result, ResultExt};
use crate::format::{FileWriter, OutputFile};
use crate::options::Options;
use crate::runtime;
use crate::storage::NewFile;
use crate::types::{DataField, RowType, to_arrow_schema};

/// Rows that are handed to the encoders at once.
const SLICE_ROWS: usize = 16_384;

/// What the library has written and nobody has sent on yet.
#[derive(Default)]
struct Sink(Vec<u8>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A Parquet file that is being written.
pub(super) struct ParquetWriter {
    file: NewFile,
    settings: Settings,
    schema: SchemaRef,
    physical: SchemaRef,
    factory: ArrowRowGroupWriterFactory,
    /// `None` after a failure.
    writer: Option<SerializedFileWriter<Sink>>,
    group: Option<RowGroup>,
    groups: usize,
}

impl fmt::Debug for ParquetWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParquetWriter").field("file", &self.file).field("groups", &self.groups).finish_non_exhaustive()
    }
}

impl ParquetWriter {
    pub(super) fn try_new(file: OutputFile, columns: &[DataField], options: &Options) -> Result<Self> {
        let settings = Settings::new(options)?;
        let parquet = parquet_schema(columns)?;
        let schema = to_arrow_schema(&RowType::new(columns.to_vec()));
        let physical = physical_schema(&schema);
        let properties = Arc::new(settings.properties.clone());
        let writer = SerializedFileWriter::new(Sink::default(), parquet.root_schema_ptr(), properties);
        let writer = writer.map_err(from_writing)?;
        let factory = ArrowRowGroupWriterFactory::new(&writer, Arc::clone(&physical));
        Ok(Self {
            file: NewFile::new(file.io, file.path),
            settings,
            schema,
            physical,
            factory,
            writer: Some(writer),
            group: None,
            groups: 0,
        })
    }

    async fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        if batch.schema_ref().fields().len() != self.schema.fields().len() {
            return Err(Error::internal("a batch has other columns than its file"));
        }
        let mut start = 0;
        while start < batch.num_rows() {
            if self.group.is_none() {
                self.group = Some(RowGroup::new(&self.factory, &self.physical, self.groups)?);
            }
            let Some(group) = &mut self.group else { return Err(Error::internal("there is no open row group")) };
            let room = self.settings.row_group_rows.saturating_sub(group.rows()).max(1);
            let rows = (batch.num_rows() - start).min(SLICE_ROWS).min(room);
            let arrays = self.physical_arrays(&batch.slice(start, rows))?;
            let Some(group) = &mut self.group else { return Err(Error::internal("there is no open row group")) };
            group.write(arrays, rows).await?;
            start += rows;
            if group.rows() >= self.settings.row_group_rows || group.encoded_bytes() >= self.settings.row_group_bytes {
                self.end_group().await?;
            }
        }
        Ok(())
    }

    fn physical_arrays(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let columns = batch.columns().iter().zip(self.schema.fields()).zip(self.physical.fields());
        columns
            .map(|((array, field), physical)| {
                if array.data_type() == physical.data_type() {
                    return Ok(Arc::clone(array));
                }
                if array.data_type() != field.data_type() {
                    let (name, found, expected) = (field.name(), array.data_type(), field.data_type());
                    let message = format!("column {name} of a batch is {found}, but its file has {expected}");
                    return Err(Error::internal(message));
                }
                cast_with_options(array, physical.data_type(), &strict).map_err(|e| {
                    let message = format!("a timestamp of column {} is out of range", field.name());
                    Error::new(ErrorKind::SchemaMismatch, message).with_source(e)
                })
            })
            .collect()
    }

    async fn end_group(&mut self) -> Result<()> {
        let Some(group) = self.group.take() else { return Ok(()) };
        let mut writer = self.writer.take().ok_or_else(failed)?;
        let chunks = group.close().await?;
        let work = move || {
            let mut group = writer.next_row_group().map_err(from_writing)?;
            append(chunks, &mut group)?;
            group.close().map_err(from_writing)?;
            Ok(writer)
        };
        self.writer = Some(runtime::cpu(work).await?);
        self.groups += 1;
        self.send().await
    }

    /// Sends on what the library has written.
    async fn send(&mut self) -> Result<()> {
        let writer = self.writer.as_mut().ok_or_else(failed)?;
        writer.flush().map_err(|e| Error::internal("writing to memory failed").with_source(e))?;
        let bytes = std::mem::take(&mut writer.inner_mut().0);
        self.file.write(Bytes::from(bytes)).await
    }

    async fn end(&mut self) -> Result<u64> {
        self.end_group().await?;
        let writer = self.writer.take().ok_or_else(failed)?;
        // Ends the file with its footer.
        let bytes = runtime::cpu(move || Ok(writer.into_inner().map_err(from_writing)?.0)).await?;
        self.file.write(Bytes::from(bytes)).await?;
        self.file.close().await?;
        Ok(self.file.bytes())
    }
}

fn failed() -> Error {
    Error::internal("an earlier write of the file failed")
}

#[async_trait]
impl FileWriter for ParquetWriter {
    async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.add(batch).await.context("file", self.file.location())
    }

    fn estimated_size(&self) -> u64 {
        self.file.bytes() + self.group.as_ref().map_or(0, |g| g.encoded_bytes() as u64)
    }

    fn buffered_bytes(&self) -> usize {
        self.group.as_ref().map_or(0, RowGroup::memory_bytes)
    }

    async fn flush(&mut self) -> Result<()> {
        self.end_group().await.context("file", self.file.location())
    }

    async fn finish(&mut self) -> Result<u64> {
        let ended = self.end().await;
        ended.context("file", self.file.location())
    }

    async fn abort(&mut self) {
        drop(self.group.take());
        self.file.abort().await;
    }
}
