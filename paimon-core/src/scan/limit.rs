//! Less work for a LIMIT.
//!
//! Invariants: what is left holds at least `limit` rows, or everything there is; only known counts are added up. Callers
//! see to it that every row of a file that is left passes the filter. Source: read-path sheet section 6;
//! `table/source/DataTableBatchScan.java`.

use std::collections::HashMap;

use super::entries::LiveFile;
use super::prune::ReadMode;
use super::split::Split;
use crate::spec::MergeEngine;

/// The files that are enough for `limit` rows. `has_vectors` tells whether the snapshot has deletion vectors.
pub(super) fn limit_files<'a>(
    files: Vec<LiveFile<'a>>,
    mode: &ReadMode,
    has_vectors: bool,
    limit: i64,
) -> Vec<LiveFile<'a>> {
    if has_vectors || mode.deletion_vectors {
        return files;
    }
    if !mode.has_primary_key {
        return take_rows(files, limit);
    }
    if matches!(mode.engine, MergeEngine::PartialUpdate | MergeEngine::Aggregation) {
        return files;
    }
    let mut buckets: HashMap<(usize, i32), Vec<LiveFile<'a>>> = HashMap::new();
    for file in &files {
        buckets.entry((file.partition, file.entry.bucket)).or_default().push(*file);
    }
    let mut left: HashMap<(usize, i32), usize> = HashMap::new();
    for (bucket, of_bucket) in buckets {
        let level = of_bucket.first().map_or(0, |f| f.entry.file.level);
        let overlap = of_bucket.len() > 1 && (level == 0 || of_bucket.iter().any(|f| f.entry.file.level != level));
        let has_deletes = of_bucket.iter().any(|f| !f.entry.file.is_free_of_deletes());
        let count = of_bucket.len();
        let kept = if overlap || has_deletes { count } else { take_rows(of_bucket, limit).len() };
        left.insert(bucket, kept);
    }
    files
        .into_iter()
        .filter(|f| match left.get_mut(&(f.partition, f.entry.bucket)) {
            Some(0) | None => false,
            Some(n) => {
                *n -= 1;
                true
            }
        })
        .collect()
}

fn take_rows(files: Vec<LiveFile<'_>>, limit: i64) -> Vec<LiveFile<'_>> {
    let mut rows = 0i64;
    let mut kept = Vec::new();
    for file in files {
        if rows >= limit {
            break;
        }
        rows = rows.saturating_add(file.entry.file.row_count);
        kept.push(file);
    }
    kept
}

/// The splits that are enough for `limit` rows; all of them if the known counts do not reach it.
pub(super) fn limit_splits(splits: Vec<Split>, limit: i64) -> Vec<Split> {
    let mut rows = 0i64;
    let mut enough = Vec::new();
    for (position, split) in splits.iter().enumerate() {
        let Some(count) = split.merged_row_count() else { continue };
        enough.push(position);
        rows = rows.saturating_add(count);
        if rows >= limit {
            let mut next = enough.into_iter().peekable();
            let kept = splits.into_iter().enumerate().filter(|(i, _)| next.next_if_eq(i).is_some());
            return kept.map(|(_, split)| split).collect();
        }
    }
    splits
}
