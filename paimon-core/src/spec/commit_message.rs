//! What the writer of one bucket produced, as a value that travels to the committer.

use super::data_file::DataFileMeta;
use super::index_manifest::IndexManifestEntry;
use crate::row::BinaryRow;

/// Files of the append part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DataIncrement {
    /// Files to add.
    pub new_files: Vec<DataFileMeta>,
    /// Files to delete.
    pub deleted_files: Vec<DataFileMeta>,
    /// Changelog files.
    pub changelog_files: Vec<DataFileMeta>,
    /// Index files to add.
    pub new_index_files: Vec<IndexManifestEntry>,
    /// Index files to delete.
    pub deleted_index_files: Vec<IndexManifestEntry>,
}

/// Files of the compaction part of a message.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompactIncrement {
    /// Files that were read, to be deleted.
    pub compact_before: Vec<DataFileMeta>,
    /// Files that were written or upgraded, to be added.
    pub compact_after: Vec<DataFileMeta>,
    /// Changelog files.
    pub changelog_files: Vec<DataFileMeta>,
    /// Index files to add.
    pub new_index_files: Vec<IndexManifestEntry>,
    /// Index files to delete.
    pub deleted_index_files: Vec<IndexManifestEntry>,
}

/// What the writer of one bucket produced. Source: `table/sink/CommitMessageImpl.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitMessage {
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Bucket count of the partition; the table's option if absent.
    pub total_buckets: Option<i32>,
    /// Append part.
    pub append: DataIncrement,
    /// Compaction part.
    pub compact: CompactIncrement,
}

impl DataIncrement {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

impl CompactIncrement {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }
}

impl CommitMessage {
    /// Whether nothing is to be done.
    pub fn is_empty(&self) -> bool {
        self.append.is_empty() && self.compact.is_empty()
    }
}
