//! Files of one bucket, one after another, as one stream.
//!
//! Invariants: one file is open at a time.

use std::sync::Arc;

use futures::StreamExt;

use crate::datafile::{DataFileReader, FileRequest};
use crate::format::BatchStream;
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
                yield batch?;
            }
        }
    }
    .boxed()
}
