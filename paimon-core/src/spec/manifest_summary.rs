//! What a manifest list says about the entries of a manifest, gathered while they are written.
//!
//! Invariants: partition bounds are exact and untruncated; a range is given only if every entry has the number.
//! Source: manifest sheet sections 1 and 5; `manifest/ManifestFile.java`.

use std::collections::HashMap;

use super::manifest_entry::{EntryKind, ManifestEntry};
use super::manifest_list::ManifestFileMeta;
use super::stats::SimpleStats;
use crate::error::Result;
use crate::row::{BinaryRow, NullLayout};
use crate::types::{DataType, Datum};

/// Gathers the summary of a manifest.
#[derive(Debug, Default)]
pub(crate) struct ManifestSummary {
    added: i64,
    deleted: i64,
    partitions: HashMap<BinaryRow, i64>,
    schema_id: Option<i64>,
    buckets: Option<(i32, i32)>,
    levels: Option<(i32, i32)>,
    rows: Option<(i64, i64)>,
    all_have_rows: Option<bool>,
    total_buckets: Option<Option<i32>>,
}

fn widen<T: Ord + Copy>(range: &mut Option<(T, T)>, low: T, high: T) {
    *range = Some(range.map_or((low, high), |(min, max)| (min.min(low), max.max(high))));
}

impl ManifestSummary {
    /// Takes an entry in.
    pub(crate) fn add(&mut self, entry: &ManifestEntry) {
        match entry.kind {
            EntryKind::Add => self.added += 1,
            EntryKind::Delete => self.deleted += 1,
        }
        match self.partitions.get_mut(&entry.partition) {
            Some(count) => *count += 1,
            None => drop(self.partitions.insert(entry.partition.clone(), 1)),
        }
        self.schema_id = self.schema_id.max(Some(entry.file.schema_id));
        widen(&mut self.buckets, entry.bucket, entry.bucket);
        widen(&mut self.levels, entry.file.level, entry.file.level);
        match entry.file.first_row_id {
            Some(first) => widen(&mut self.rows, first, first.saturating_add(entry.file.row_count).saturating_sub(1)),
            None => self.all_have_rows = Some(false),
        }
        let total = Some(entry.total_buckets).filter(|n| *n > 0);
        self.total_buckets = Some(self.total_buckets.map_or(total, |t| t.filter(|_| t == total)));
    }

    /// The entry of the manifest list. Without entries, `latest_schema` is the schema.
    ///
    /// # Errors
    /// `Corrupt` if a partition does not fit the types of the partition columns.
    pub(crate) fn finish(
        self,
        file_name: String,
        file_size: i64,
        partition_types: &[DataType],
        latest_schema: i64,
    ) -> Result<ManifestFileMeta> {
        let rows = self.rows.filter(|_| self.all_have_rows.unwrap_or(true));
        Ok(ManifestFileMeta {
            file_name,
            file_size,
            num_added_files: self.added,
            num_deleted_files: self.deleted,
            partition_stats: partition_stats(&self.partitions, partition_types)?,
            schema_id: self.schema_id.unwrap_or(latest_schema),
            min_bucket: self.buckets.map(|(min, _)| min),
            max_bucket: self.buckets.map(|(_, max)| max),
            min_level: self.levels.map(|(min, _)| min),
            max_level: self.levels.map(|(_, max)| max),
            min_row_id: rows.map(|(min, _)| min),
            max_row_id: rows.map(|(_, max)| max),
            total_buckets: self.total_buckets.flatten(),
            extra_files: None,
        })
    }
}

fn partition_stats(partitions: &HashMap<BinaryRow, i64>, types: &[DataType]) -> Result<SimpleStats> {
    let mut bounds: Vec<Option<(Datum, Datum)>> = vec![None; types.len()];
    let mut nulls = vec![0i64; types.len()];
    for (partition, count) in partitions {
        for (at, value) in partition.decode(types)?.into_iter().enumerate() {
            match (value, &mut bounds[at]) {
                (None, _) => nulls[at] += count,
                (Some(value), None) => bounds[at] = Some((value.clone(), value)),
                (Some(value), Some((min, max))) => {
                    if value < *min {
                        *min = value;
                    } else if value > *max {
                        *max = value;
                    }
                }
            }
        }
    }
    let (min, max): (Vec<_>, Vec<_>) = bounds.into_iter().map(Option::unzip).unzip();
    Ok(SimpleStats {
        min_values: BinaryRow::encode(&min, types, NullLayout::Plain)?,
        max_values: BinaryRow::encode(&max, types, NullLayout::Plain)?,
        null_counts: nulls.into_iter().map(Some).collect(),
    })
}
