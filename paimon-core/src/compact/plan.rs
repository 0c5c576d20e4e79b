//! From live files of a table to tasks, one per bucket, or per group of files where order does not matter.
//!
//! Invariants: a bucket without anything to do gives no task; tasks come in the order in which their buckets first appear;
//! no file is in two tasks. Pure. Source: compaction sheet sections 5, 10 and 13.

use std::collections::HashMap;
use std::sync::Arc;

use super::append::AppendPlanner;
use super::levels::Levels;
use super::merge_plan::plan_merge;
use super::pick::{Moment, PickOptions, pick, pick_full};
use super::task::{CompactTask, CompactWork};
use crate::error::Result;
use crate::options::Options;
use crate::row::BinaryRow;
use crate::spec::{BUCKET, DataFileMeta, ManifestEntry, TableSchema};

/// How much is compacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactStrategy {
    /// Everything that is not fully compacted.
    Full,
    /// What the picking rules choose at this moment.
    Minor(Moment),
}

/// The tasks for live files of a table.
///
/// # Errors
/// `InvalidConfig` for an option that does not parse; `Corrupt` for keys or levels that may not be.
pub fn plan_tasks(
    entries: Vec<ManifestEntry>,
    schema: &TableSchema,
    options: &Options,
    strategy: CompactStrategy,
) -> Result<Vec<CompactTask>> {
    let mut tasks = Vec::new();
    for bucket in group(entries) {
        let works = match schema.has_primary_key() {
            true => merge_work(bucket.files, schema, options, strategy)?.into_iter().collect(),
            false => join_works(bucket.files, schema, options, strategy)?,
        };
        tasks.extend(works.into_iter().map(|work| CompactTask {
            partition: bucket.partition.clone(),
            bucket: bucket.bucket,
            total_buckets: bucket.total_buckets,
            work,
        }));
    }
    Ok(tasks)
}

struct Bucket {
    partition: BinaryRow,
    bucket: i32,
    total_buckets: i32,
    files: Vec<Arc<DataFileMeta>>,
}

fn group(entries: Vec<ManifestEntry>) -> Vec<Bucket> {
    let mut buckets: Vec<Bucket> = Vec::new();
    let mut positions: HashMap<(BinaryRow, i32), usize> = HashMap::new();
    for entry in entries {
        let ManifestEntry { partition, bucket, total_buckets, file, .. } = entry;
        let position = *positions.entry((partition.clone(), bucket)).or_insert_with(|| {
            buckets.push(Bucket { partition, bucket, total_buckets, files: Vec::new() });
            buckets.len() - 1
        });
        buckets[position].files.push(Arc::new(file));
    }
    buckets
}

fn merge_work(
    files: Vec<Arc<DataFileMeta>>,
    schema: &TableSchema,
    options: &Options,
    strategy: CompactStrategy,
) -> Result<Option<CompactWork>> {
    let places: HashMap<String, usize> =
        files.iter().enumerate().map(|(place, file)| (file.file_name.clone(), place)).collect();
    let levels = Levels::try_new(files, options)?;
    let pick_options = PickOptions::try_new(options)?;
    let unit = match strategy {
        CompactStrategy::Full => pick_full(&levels, &pick_options),
        CompactStrategy::Minor(moment) => pick(&levels, &pick_options, moment),
    };
    let Some(mut unit) = unit else { return Ok(None) };
    // Of rows that tie in everything the order of the files decides: it must be that of a read.
    unit.files.sort_by_key(|file| places.get(&file.file_name).copied());
    plan_merge(&unit, &levels, schema, options)
}

fn join_works(
    files: Vec<Arc<DataFileMeta>>,
    schema: &TableSchema,
    options: &Options,
    strategy: CompactStrategy,
) -> Result<Vec<CompactWork>> {
    let planner = AppendPlanner::try_new(schema, options)?;
    let full = strategy == CompactStrategy::Full;
    if options.value(&BUCKET)? > 0 {
        Ok(planner.plan_ordered(files, full).into_iter().collect())
    } else {
        Ok(planner.plan_unordered(files, full))
    }
}
