//! What a snapshot may not do to the live files that it finds.
//!
//! Invariants: the first failure is raised and is never retried as it is. Source: write-path sheet section 8;
//! `operation/commit/ConflictDetection.java`.

use std::collections::{HashMap, HashSet};

use crate::error::{ConflictKind, Error, Result};
use crate::row::BinaryRow;
use crate::spec::{CommitKind, EntryKind, FileIdentity, ManifestEntry};
use crate::table::Table;
use crate::types::{DataType, Datum};

/// Checks that nothing is added or deleted twice within the delta.
///
/// # Errors
/// `Conflict(Files)` naming the file.
pub(super) fn check_delta(delta: &[ManifestEntry]) -> Result<()> {
    let mut seen: HashSet<(EntryKind, FileIdentity)> = HashSet::with_capacity(delta.len());
    for entry in delta {
        if !seen.insert((entry.kind, entry.identity())) {
            let what = if entry.kind == EntryKind::Add { "added" } else { "deleted" };
            return Err(files_conflict(entry, &format!("it is {what} twice")));
        }
    }
    Ok(())
}

/// Checks a delta against the live files of the partitions that it touches.
///
/// # Errors
/// `Conflict` naming file or partition; `Corrupt` for a key that cannot be read.
pub(super) fn check(table: &Table, base: &[ManifestEntry], delta: &[ManifestEntry], kind: CommitKind) -> Result<()> {
    if kind != CommitKind::Overwrite {
        check_bucket_counts(table, base, delta)?;
    }
    check_delta(delta)?;
    let mut live: HashMap<FileIdentity, &ManifestEntry> = base.iter().map(|e| (e.identity(), e)).collect();
    for entry in delta.iter().filter(|e| e.kind == EntryKind::Delete) {
        if live.remove(&entry.identity()).is_none() {
            return Err(files_conflict(entry, "it is to be deleted but is not live; another commit has replaced it"));
        }
    }
    for entry in delta.iter().filter(|e| e.kind == EntryKind::Add) {
        if live.insert(entry.identity(), entry).is_some() {
            return Err(files_conflict(entry, "it is to be added but is live already"));
        }
    }
    let key_types = table.schema().key_type().types();
    if key_types.is_empty() {
        return Ok(());
    }
    let touched: HashSet<(&BinaryRow, i32)> = delta.iter().map(|e| (&e.partition, e.bucket)).collect();
    check_key_ranges(live.into_values().filter(|e| touched.contains(&(&e.partition, e.bucket))), &key_types)
}

fn files_conflict(entry: &ManifestEntry, why: &str) -> Error {
    Error::conflict(ConflictKind::Files, format!("File deletion conflicts detected! Give up committing: {why}"))
        .with_context("file", &entry.file.file_name)
        .with_context("bucket", entry.bucket)
}

/// Checks that all files of a partition were written with the same number of buckets.
///
/// # Errors
/// `Conflict(BucketCount)` naming the partition.
pub(super) fn check_bucket_counts(table: &Table, base: &[ManifestEntry], delta: &[ManifestEntry]) -> Result<()> {
    let touched: HashSet<&BinaryRow> = delta.iter().map(|e| &e.partition).collect();
    let mut counts: HashMap<&BinaryRow, i32> = HashMap::new();
    let all = base.iter().filter(|e| touched.contains(&e.partition)).chain(delta);
    for entry in all.filter(|e| e.total_buckets > 0) {
        let count = *counts.entry(&entry.partition).or_insert(entry.total_buckets);
        if count != entry.total_buckets {
            let path = table.paths().partition_path(table.schema(), table.options(), &entry.partition)?;
            return Err(Error::conflict(
                ConflictKind::BucketCount,
                format!(
                    "Total buckets of partition {{{path}}} changed from {count} to {} without overwrite. Give up \
                     committing.",
                    entry.total_buckets
                ),
            ));
        }
    }
    Ok(())
}

type Key = Vec<Option<Datum>>;
/// Files of one level of a bucket, with their key ranges.
type Level<'a> = Vec<(Key, Key, &'a ManifestEntry)>;

fn check_key_ranges<'a>(live: impl Iterator<Item = &'a ManifestEntry>, key_types: &[DataType]) -> Result<()> {
    let mut levels: HashMap<(&BinaryRow, i32, i32), Level<'_>> = HashMap::new();
    for entry in live.filter(|e| e.file.level > 0) {
        let range = (entry.file.min_key.decode(key_types)?, entry.file.max_key.decode(key_types)?, entry);
        levels.entry((&entry.partition, entry.bucket, entry.file.level)).or_default().push(range);
    }
    for files in levels.values_mut() {
        files.sort_by(|a, b| a.0.cmp(&b.0));
        for pair in files.windows(2) {
            if let [(_, max, first), (min, _, second)] = pair
                && max >= min
            {
                return Err(Error::conflict(
                    ConflictKind::KeyRange,
                    format!(
                        "LSM conflicts detected! Give up committing. Conflict files are: {} and {} of level {}",
                        first.file.file_name, second.file.file_name, first.file.level
                    ),
                ));
            }
        }
    }
    Ok(())
}
