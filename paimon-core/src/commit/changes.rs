//! Messages as the entries that a snapshot adds, deletes and logs.
//!
//! Invariants: entries stand in the order of the messages, deletes of a message before its adds.

use std::collections::{BTreeMap, HashSet};

use crate::row::BinaryRow;
use crate::spec::{
    CommitKind, CommitMessage, DataFileMeta, EntryKind, IndexManifestEntry, ManifestEntry, saturating_sum,
};

/// The kind of index files with deletion vectors.
const DELETION_VECTORS: &str = "DELETION_VECTORS";
/// The kind of index files with the hashes of a dynamic bucket.
const HASH: &str = "HASH";

/// What one snapshot changes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Changes {
    /// Data files added and deleted.
    pub(crate) delta: Vec<ManifestEntry>,
    /// Changelog files added.
    pub(crate) changelog: Vec<ManifestEntry>,
    /// Index files added.
    pub(crate) new_index: Vec<IndexManifestEntry>,
    /// Index files deleted.
    pub(crate) deleted_index: Vec<IndexManifestEntry>,
}

impl Changes {
    /// The append parts of messages.
    pub(crate) fn append(messages: &[CommitMessage], default_buckets: i32) -> Self {
        let mut out = Self::default();
        for message in messages {
            let part = &message.append;
            out.add(message, default_buckets, EntryKind::Delete, &part.deleted_files);
            out.add(message, default_buckets, EntryKind::Add, &part.new_files);
            out.log(message, default_buckets, &part.changelog_files);
            out.new_index.extend_from_slice(&part.new_index_files);
            out.deleted_index.extend_from_slice(&part.deleted_index_files);
        }
        out
    }

    /// The compaction parts of messages.
    pub(crate) fn compact(messages: &[CommitMessage], default_buckets: i32) -> Self {
        let mut out = Self::default();
        for message in messages {
            let part = &message.compact;
            out.add(message, default_buckets, EntryKind::Delete, &part.compact_before);
            out.add(message, default_buckets, EntryKind::Add, &part.compact_after);
            out.log(message, default_buckets, &part.changelog_files);
            out.new_index.extend_from_slice(&part.new_index_files);
            out.deleted_index.extend_from_slice(&part.deleted_index_files);
        }
        out
    }

    fn add(&mut self, message: &CommitMessage, default_buckets: i32, kind: EntryKind, files: &[DataFileMeta]) {
        self.delta.extend(files.iter().map(|f| entry(message, default_buckets, kind, f)));
    }

    fn log(&mut self, message: &CommitMessage, default_buckets: i32, files: &[DataFileMeta]) {
        self.changelog.extend(files.iter().map(|f| entry(message, default_buckets, EntryKind::Add, f)));
    }

    /// Whether nothing changes.
    pub(crate) fn is_empty(&self) -> bool {
        self.delta.is_empty() && self.changelog.is_empty() && !self.changes_index()
    }

    /// Whether index files change.
    pub(crate) fn changes_index(&self) -> bool {
        !self.new_index.is_empty() || !self.deleted_index.is_empty()
    }

    /// Whether deletion vectors change.
    pub(crate) fn changes_deletion_vectors(&self) -> bool {
        self.new_index.iter().chain(&self.deleted_index).any(|e| e.index_type == DELETION_VECTORS)
    }

    /// The kind of a snapshot of append parts: deletes and deletion vectors replace.
    pub(crate) fn append_kind(&self) -> CommitKind {
        let deletes = self.delta.iter().any(|e| e.kind == EntryKind::Delete);
        if deletes || self.changes_deletion_vectors() { CommitKind::Overwrite } else { CommitKind::Append }
    }

    /// Physical rows added less those deleted.
    pub(crate) fn delta_rows(&self) -> i64 {
        let signed = |e: &ManifestEntry| if e.kind == EntryKind::Add { e.file.row_count } else { -e.file.row_count };
        saturating_sum(self.delta.iter().map(signed))
    }

    /// Rows of changelog files; `None` if there are no such files.
    pub(crate) fn changelog_rows(&self) -> Option<i64> {
        (!self.changelog.is_empty()).then(|| saturating_sum(self.changelog.iter().map(|e| e.file.row_count)))
    }

    /// The partitions that data files are added to or deleted from, each once, in the order of their first entry.
    pub(crate) fn partitions(&self) -> Vec<BinaryRow> {
        let mut seen = HashSet::new();
        self.delta.iter().map(|e| &e.partition).filter(|p| seen.insert(*p)).cloned().collect()
    }
}

fn entry(message: &CommitMessage, default_buckets: i32, kind: EntryKind, file: &DataFileMeta) -> ManifestEntry {
    ManifestEntry {
        kind,
        partition: message.partition.clone(),
        bucket: message.bucket,
        total_buckets: message.total_buckets.unwrap_or(default_buckets),
        file: file.clone(),
    }
}

/// The index manifest that follows: deletes first, then adds. Per bucket there is one file of each kind but for deletion
/// vectors of tables without buckets, which are many and go by name.
pub(crate) fn combine_index(
    previous: Vec<IndexManifestEntry>,
    changes: &Changes,
    by_name: bool,
) -> Vec<IndexManifestEntry> {
    let named = |e: &IndexManifestEntry| e.index_type != HASH && (by_name || e.index_type != DELETION_VECTORS);
    let mut kept: BTreeMap<(Vec<u8>, i32, String, String), IndexManifestEntry> = BTreeMap::new();
    let key = |e: &IndexManifestEntry| {
        let name = if named(e) { e.file_name.clone() } else { String::new() };
        (e.partition.to_serialized(), e.bucket, e.index_type.clone(), name)
    };
    for entry in previous {
        kept.insert(key(&entry), entry);
    }
    for entry in &changes.deleted_index {
        kept.remove(&key(entry));
    }
    for entry in &changes.new_index {
        kept.insert(key(entry), entry.clone());
    }
    kept.into_values().collect()
}
