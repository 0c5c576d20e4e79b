//! The snapshot document.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// What a snapshot did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitKind {
    /// Only added.
    Append,
    /// Rewrote files without changing visible rows.
    Compact,
    /// Replaced or deleted.
    Overwrite,
    /// Only set statistics.
    Analyze,
}

impl CommitKind {
    /// The word in the document.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "APPEND",
            Self::Compact => "COMPACT",
            Self::Overwrite => "OVERWRITE",
            Self::Analyze => "ANALYZE",
        }
    }
}

/// A snapshot. Source: specification chapter "Snapshot"; `Snapshot.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Version of the document; 3 for new ones.
    pub version: Option<i32>,
    /// Random per snapshot.
    pub uuid: Option<String>,
    /// Id, from 1.
    pub id: i64,
    /// Latest schema at commit time.
    pub schema_id: i64,
    /// Name of the base manifest list.
    pub base_manifest_list: String,
    /// Its bytes.
    pub base_manifest_list_size: Option<i64>,
    /// Name of the delta manifest list.
    pub delta_manifest_list: String,
    /// Its bytes.
    pub delta_manifest_list_size: Option<i64>,
    /// Name of the changelog manifest list.
    pub changelog_manifest_list: Option<String>,
    /// Its bytes.
    pub changelog_manifest_list_size: Option<i64>,
    /// Name of the index manifest.
    pub index_manifest: Option<String>,
    /// Who committed.
    pub commit_user: String,
    /// Version of the software that committed.
    pub writer_version: Option<String>,
    /// Grows within one user; batch commits use the greatest number.
    pub commit_identifier: i64,
    /// What the snapshot did.
    pub commit_kind: CommitKind,
    /// Commit time in milliseconds.
    pub time_millis: i64,
    /// Physical rows of all live files.
    pub total_record_count: Option<i64>,
    /// Physical rows added less those deleted.
    pub delta_record_count: Option<i64>,
    /// Rows of changelog files.
    pub changelog_record_count: Option<i64>,
    /// Watermark.
    pub watermark: Option<i64>,
    /// Name of the statistics file.
    pub statistics: Option<String>,
    /// Free properties.
    pub properties: Option<BTreeMap<String, String>>,
    /// Next free row id.
    pub next_row_id: Option<i64>,
    /// The operation behind the commit.
    pub operation: Option<String>,
}

impl Snapshot {
    /// The JSON document with Java's keys in Java's order.
    pub fn to_json(&self) -> String {
        String::new()
    }

    /// Reads a document of any version; unknown keys are ignored.
    ///
    /// # Errors
    /// `Corrupt` naming the key that is missing or has a wrong type.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let _ = text;
        Err(Error::unsupported("reading snapshots"))
    }
}
