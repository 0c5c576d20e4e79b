//! One entry of an index manifest: an index file of a bucket.

use crate::row::BinaryRow;

/// Where one deletion vector stands in an index file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeletionVectorRange {
    /// Name of the data file.
    pub data_file_name: String,
    /// Offset of the length word.
    pub offset: i32,
    /// Length as the layout defines it.
    pub length: i32,
    /// Deleted rows; unknown in old files.
    pub cardinality: Option<i64>,
}

/// What a global index covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobalIndexMeta {
    /// First row id.
    pub row_range_start: i64,
    /// Last row id, inclusive.
    pub row_range_end: i64,
    /// Indexed column.
    pub index_field_id: i32,
    /// Further columns.
    pub extra_field_ids: Option<Vec<i32>>,
    /// Data of the index kind.
    pub index_meta: Option<Vec<u8>>,
    /// Data about the source.
    pub source_meta: Option<Vec<u8>>,
}

/// An entry of an index manifest. Source: `manifest/IndexManifestEntry.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexManifestEntry {
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// `HASH`, `DELETION_VECTORS` or the name of a global index kind.
    pub index_type: String,
    /// Name of the index file.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Hashes, or number of deletion vectors.
    pub row_count: i64,
    /// Deletion vectors of the file.
    pub dv_ranges: Option<Vec<DeletionVectorRange>>,
    /// Full path if the file is not in the `index` directory.
    pub external_path: Option<String>,
    /// What a global index covers.
    pub global_index: Option<GlobalIndexMeta>,
}
