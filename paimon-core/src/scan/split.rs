//! A piece of work for a reader.

use std::sync::Arc;

use crate::row::BinaryRow;
use crate::spec::DataFileMeta;

/// Where the deletion vector of a data file stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionFile {
    /// Full path of the index file.
    pub path: String,
    /// Offset of the length word.
    pub offset: i64,
    /// Length as the layout defines it.
    pub length: i64,
    /// Deleted rows, if known.
    pub cardinality: Option<i64>,
}

/// Files of one bucket that are read together; plain data that crosses processes. Source: `table/source/DataSplit.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Snapshot that was planned.
    pub snapshot_id: i64,
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Directory of the bucket.
    pub bucket_path: String,
    /// Bucket count of the first file.
    pub total_buckets: Option<i32>,
    /// Files, in the order in which they are read.
    pub files: Vec<Arc<DataFileMeta>>,
    /// One item per file, if there are deletion vectors.
    pub deletion_files: Option<Vec<Option<DeletionFile>>>,
    /// Whether the files are events: read as they are, never merged.
    pub streaming: bool,
    /// Whether the files need no merge.
    pub raw_convertible: bool,
}

impl Split {
    /// Physical rows of the files: all versions of a key.
    pub fn row_count(&self) -> i64 {
        self.files.iter().map(|f| f.row_count).sum()
    }

    /// Rows that reading gives, if that is known without reading.
    pub fn merged_row_count(&self) -> Option<i64> {
        if !self.raw_convertible
            || self.streaming
            || self.files.iter().any(|f| f.delete_row_count.is_some_and(|d| d > 0))
        {
            return None;
        }
        let deleted = match &self.deletion_files {
            None => Some(0),
            Some(files) => files.iter().map(|f| f.as_ref().map_or(Some(0), |f| f.cardinality)).sum::<Option<i64>>(),
        };
        deleted.map(|d| self.row_count() - d)
    }

    /// Bytes of the files.
    pub fn size_bytes(&self) -> i64 {
        self.files.iter().map(|f| f.file_size).sum()
    }
}
