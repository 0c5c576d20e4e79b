//! A piece of work for a reader.

use std::sync::Arc;

use crate::row::BinaryRow;
use crate::spec::{DataFileMeta, saturating_sum};

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

/// Positions of rows, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RowRange {
    /// First position.
    pub from: i64,
    /// Last position.
    pub to: i64,
}

impl RowRange {
    /// How many positions it holds.
    pub fn count(&self) -> i64 {
        self.to.saturating_sub(self.from).saturating_add(1)
    }
}

/// What the files of a split replaced.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BeforeFiles {
    /// Files, as in a split.
    pub files: Vec<Arc<DataFileMeta>>,
    /// One item per file, if there are deletion vectors.
    pub deletion_files: Option<Vec<Option<DeletionFile>>>,
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
    /// Positions of the rows that are read, ascending and disjoint, counted through the files; `None` for all.
    pub rows: Option<Vec<RowRange>>,
    /// What was there before, if the split stands for the difference. Source: `table/source/IncrementalSplit.java`.
    pub before: Option<BeforeFiles>,
    /// Whether the files are those of the fallback branch.
    pub fallback: bool,
}

impl Split {
    /// Rows that are selected; without a selection the physical rows of the files: all versions of a key.
    pub fn row_count(&self) -> i64 {
        match &self.rows {
            Some(ranges) => saturating_sum(ranges.iter().map(RowRange::count)),
            None => saturating_sum(self.files.iter().map(|f| f.row_count)),
        }
    }

    /// Rows that reading gives, if that is known without reading.
    pub fn merged_row_count(&self) -> Option<i64> {
        if self.rows.is_some() {
            return self.deletion_files.is_none().then(|| self.row_count());
        }
        if !self.raw_convertible
            || self.streaming
            || self.before.is_some()
            || self.files.iter().any(|f| f.delete_row_count.is_some_and(|d| d > 0))
        {
            return None;
        }
        let deleted = match &self.deletion_files {
            None => Some(0),
            Some(files) => {
                let of_file = |f: &Option<DeletionFile>| f.as_ref().map_or(Some(0), |f| f.cardinality);
                files.iter().map(of_file).collect::<Option<Vec<i64>>>().map(saturating_sum)
            }
        };
        deleted.map(|d| self.row_count().saturating_sub(d))
    }

    /// Bytes of the files.
    pub fn size_bytes(&self) -> i64 {
        saturating_sum(self.files.iter().map(|f| f.file_size))
    }
}
