//! Files of one bucket, one after another, as one stream.
//!
//! Invariants: one file is open at a time.

use std::sync::Arc;

use arrow::array::Int32Array;
use arrow::datatypes::{DataType as ArrowType, Field, Schema};
use arrow::record_batch::RecordBatch;
use futures::StreamExt;

use crate::datafile::{DataFileReader, FileRequest};
use crate::error::Result;
use crate::format::BatchStream;
use crate::merge::LEVEL;
use crate::meta::TablePaths;
use crate::predicate::Predicate;
use crate::row::BinaryRow;
use crate::spec::DataFileMeta;
use crate::types::DataField;

/// Where files of one bucket are found.
#[derive(Debug, Clone)]
pub(crate) struct RunSource {
    /// Reads them.
    pub(crate) reader: DataFileReader,
    /// Their partition.
    pub(crate) partition: BinaryRow,
    /// The directory of the bucket.
    pub(crate) bucket_dir: String,
    /// Rows of a batch.
    pub(crate) batch_rows: usize,
    /// Whether batches get the column [`LEVEL`].
    pub(crate) levels: bool,
}

/// The rows of files, one file after another.
pub(crate) fn run_stream(
    source: RunSource,
    files: Vec<Arc<DataFileMeta>>,
    fields: Vec<DataField>,
    filter: Option<Predicate>,
) -> BatchStream {
    async_stream::try_stream! {
        for file in files {
            let level = source.levels.then_some(file.level);
            let request = FileRequest {
                path: TablePaths::data_file(&source.bucket_dir, &file),
                file,
                partition: source.partition.clone(),
                fields: fields.clone(),
                filter: filter.clone(),
                batch_rows: source.batch_rows,
            };
            let mut batches = source.reader.read(request).await?;
            while let Some(batch) = batches.next().await {
                match level {
                    Some(level) => yield with_level(&batch?, level)?,
                    None => yield batch?,
                }
            }
        }
    }
    .boxed()
}

fn with_level(batch: &RecordBatch, level: i32) -> Result<RecordBatch> {
    let field = Arc::new(Field::new(LEVEL, ArrowType::Int32, false));
    let fields: Vec<_> = batch.schema().fields().iter().cloned().chain([field]).collect();
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(Int32Array::from_value(level, batch.num_rows())));
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}
