//! One entry of a manifest: a data file was added to or deleted from a bucket.

use super::data_file::DataFileMeta;
use crate::row::BinaryRow;

/// What an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// The file is added.
    Add,
    /// The file is deleted.
    Delete,
}

/// An entry of a manifest file. Source: `manifest/ManifestEntry.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestEntry {
    /// Added or deleted.
    pub kind: EntryKind,
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Bucket count of the partition when the file was written; -1 or -2 if it has none.
    pub total_buckets: i32,
    /// The file.
    pub file: DataFileMeta,
}

/// What makes two entries speak of one file. The level belongs to it: an upgrade is a delete and an add.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    partition: BinaryRow,
    bucket: i32,
    level: i32,
    file_name: String,
    extra_files: Vec<String>,
    embedded_index: Option<Vec<u8>>,
    external_path: Option<String>,
}

impl ManifestEntry {
    /// The identity of the file. Source: `manifest/FileEntry.java`.
    pub fn identity(&self) -> FileIdentity {
        FileIdentity {
            partition: self.partition.clone(),
            bucket: self.bucket,
            level: self.file.level,
            file_name: self.file.file_name.clone(),
            extra_files: self.file.extra_files.clone(),
            embedded_index: self.file.embedded_index.clone(),
            external_path: self.file.external_path.clone(),
        }
    }
}
