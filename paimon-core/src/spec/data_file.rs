//! What metadata says about one data file.

use super::stats::SimpleStats;
use crate::row::BinaryRow;

/// How a file came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSource {
    /// Written by a writer.
    Append,
    /// Written by a compaction.
    Compact,
}

/// The `_FILE` record of a manifest entry. Source: `io/DataFileMeta.java`; manifest sheet section 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataFileMeta {
    /// Name within the bucket directory.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Rows, retracts included.
    pub row_count: i64,
    /// Trimmed primary key of the first row; arity 0 for append tables.
    pub min_key: BinaryRow,
    /// Trimmed primary key of the last row; arity 0 for append tables.
    pub max_key: BinaryRow,
    /// Statistics of the trimmed key columns.
    pub key_stats: SimpleStats,
    /// Statistics of the value columns that `value_stats_cols` names.
    pub value_stats: SimpleStats,
    /// Least sequence number.
    pub min_sequence_number: i64,
    /// Greatest sequence number.
    pub max_sequence_number: i64,
    /// Schema that the file was written with.
    pub schema_id: i64,
    /// Level; 0 for append tables.
    pub level: i32,
    /// Files beside this one that live and die with it.
    pub extra_files: Vec<String>,
    /// Wall clock of the writer in milliseconds, its zone taken for UTC.
    pub creation_time_ms: Option<i64>,
    /// Rows of kind `-U` and `-D`; unknown in old files.
    pub delete_row_count: Option<i64>,
    /// A whole file-index container.
    pub embedded_index: Option<Vec<u8>>,
    /// How the file came to be.
    pub file_source: Option<FileSource>,
    /// Columns of `value_stats`: `None` all columns of the file, empty none.
    pub value_stats_cols: Option<Vec<String>>,
    /// Full path if the file is not in the bucket directory.
    pub external_path: Option<String>,
    /// First row id of tables with row tracking.
    pub first_row_id: Option<i64>,
    /// Columns physically in the file, for data evolution.
    pub write_cols: Option<Vec<String>>,
    /// Greatest sequence number per column of `write_cols`.
    pub write_cols_sequences: Option<Vec<i64>>,
}

impl DataFileMeta {
    /// Whether the file holds no retracts, as far as planning may assume.
    pub fn is_free_of_deletes(&self) -> bool {
        self.delete_row_count.unwrap_or(0) == 0
    }

    /// The same file at another level.
    #[must_use]
    pub fn upgraded(&self, level: i32) -> Self {
        Self { level, ..self.clone() }
    }

    /// The format identifier from the file's name, such as `parquet`.
    pub fn format(&self) -> &str {
        const CODECS: [&str; 8] = ["gz", "gzip", "bz2", "zst", "zstd", "lz4", "snappy", "deflate"];
        let mut parts = self.file_name.rsplit('.');
        match (parts.next(), parts.next()) {
            (Some(last), Some(previous)) if CODECS.contains(&last) => previous,
            (Some(last), Some(_)) => last,
            _ => "",
        }
    }
}
