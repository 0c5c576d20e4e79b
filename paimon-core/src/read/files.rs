//! Files of one bucket, one after another, as one stream.
//!
//! Invariants: one file is open at a time.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::Int32Array;
use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::StreamExt;

use super::file_rows::FileRows;
use crate::datafile::{DataFileReader, FileRequest};
use crate::error::Result;
use crate::format::BatchStream;
use crate::merge::LEVEL;
use crate::meta::TablePaths;
use crate::predicate::Predicate;
use crate::row::BinaryRow;
use crate::row_selection::RowSelection;
use crate::scan::{DeletionFile, Split};
use crate::spec::DataFileMeta;
use crate::table::Table;
use crate::types::{DataField, RowType, to_arrow_schema};

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
    /// Chooses their rows.
    pub(crate) rows: FileRows,
    /// Their deletion vectors, by name of the file.
    pub(crate) deletions: Arc<HashMap<String, DeletionFile>>,
}

impl RunSource {
    /// The source of the files of a split.
    pub(super) fn of_split(table: &Table, split: &Split, bucket_dir: String, batch_rows: usize) -> Self {
        let vectors = split.files.iter().zip(split.deletion_files.iter().flatten());
        let deletions = vectors.filter_map(|(file, vector)| Some((file.file_name.clone(), vector.clone()?)));
        Self {
            reader: DataFileReader::for_table(table),
            partition: split.partition.clone(),
            bucket_dir,
            batch_rows,
            levels: false,
            rows: FileRows::new(table),
            deletions: Arc::new(deletions.collect()),
        }
    }

    /// The schema of the batches that [`run_stream`] gives for these columns.
    pub(crate) fn schema(&self, fields: &[DataField]) -> SchemaRef {
        let columns = to_arrow_schema(&RowType::new(fields.to_vec()));
        if !self.levels {
            return columns;
        }
        Arc::new(Schema::new(columns.fields().iter().cloned().chain([level_field()]).collect::<Vec<_>>()))
    }
}

fn level_field() -> FieldRef {
    Arc::new(Field::new(LEVEL, ArrowType::Int32, false))
}

/// The rows of files, one file after another.
pub(crate) fn run_stream(
    source: RunSource,
    files: Vec<Arc<DataFileMeta>>,
    fields: Vec<DataField>,
    filter: Option<Predicate>,
) -> BatchStream {
    chosen_stream(source, files.into_iter().map(|file| (file, None)).collect(), fields, filter)
}

/// Those rows of files that are chosen, of all if `None`, one file after another.
pub(super) fn chosen_stream(
    source: RunSource,
    files: Vec<(Arc<DataFileMeta>, Option<RowSelection>)>,
    fields: Vec<DataField>,
    filter: Option<Predicate>,
) -> BatchStream {
    async_stream::try_stream! {
        for (file, chosen) in files {
            let level = source.levels.then_some(file.level);
            let deletion = source.deletions.get(&file.file_name);
            let rows = source.rows.of(&source.bucket_dir, &file, deletion, filter.as_ref()).await?;
            let rows = match (chosen, rows) {
                (Some(chosen), Some(rows)) => Some(chosen.and(&rows)?),
                (one, other) => one.or(other),
            };
            if rows.as_ref().is_some_and(RowSelection::is_empty) {
                continue;
            }
            let request = FileRequest {
                path: TablePaths::data_file(&source.bucket_dir, &file),
                file,
                partition: source.partition.clone(),
                fields: fields.clone(),
                filter: filter.clone(),
                batch_rows: source.batch_rows,
            };
            let mut batches = source.reader.read_rows(request, rows.map(RowSelection::into_mask)).await?;
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
    let fields: Vec<_> = batch.schema().fields().iter().cloned().chain([level_field()]).collect();
    let mut columns = batch.columns().to_vec();
    columns.push(Arc::new(Int32Array::from_value(level, batch.num_rows())));
    Ok(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
}
