//! One entry of a manifest list: a manifest file and what it covers.

use super::stats::SimpleStats;

/// An entry of a manifest list. Source: `manifest/ManifestFileMeta.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestFileMeta {
    /// Name within the `manifest` directory.
    pub file_name: String,
    /// Bytes.
    pub file_size: i64,
    /// Entries that add.
    pub num_added_files: i64,
    /// Entries that delete.
    pub num_deleted_files: i64,
    /// Statistics over the partition rows, untruncated.
    pub partition_stats: SimpleStats,
    /// Greatest schema id of the entries.
    pub schema_id: i64,
    /// Least bucket; `None` unknown.
    pub min_bucket: Option<i32>,
    /// Greatest bucket; `None` unknown.
    pub max_bucket: Option<i32>,
    /// Least level; `None` unknown.
    pub min_level: Option<i32>,
    /// Greatest level; `None` unknown.
    pub max_level: Option<i32>,
    /// Least row id; `None` unknown.
    pub min_row_id: Option<i64>,
    /// Greatest row id, inclusive; `None` unknown.
    pub max_row_id: Option<i64>,
    /// The bucket count if all entries share it; `None` unknown.
    pub total_buckets: Option<i32>,
    /// Files that this manifest owns.
    pub extra_files: Option<Vec<String>>,
}
