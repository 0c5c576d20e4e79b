//! Which live files a batch scan must read.
//!
//! Invariants: never performs I/O; a file is given up only if no row that the scan must return is lost: in a bucket that is
//! merged, value tests may drop only the whole bucket, since the newer version of a key must hide the older ones.
//! Source: read-path sheet sections 3 to 5; `operation/KeyValueFileStoreScan.java`, `operation/AppendOnlyFileStoreScan.java`.

use std::collections::HashMap;
use std::sync::Arc;

use super::bucket_filter::BucketFilter;
use super::entries::LiveFile;
use super::file_stats::{keys_may_match, values_may_match};
use super::partitions::Residuals;
use super::plan::ScanTrace;
use super::scope::Scope;
use crate::error::{Error, Result};
use crate::index;
use crate::options::Options;
use crate::predicate::Predicate;
use crate::spec::{
    BUCKET, DELETION_VECTORS, MERGE_ENGINE, MergeEngine, NUM_LEVELS, NUM_SORTED_RUNS_TRIGGER, SCAN_BUCKET, TableSchema,
};
use crate::table::Table;

/// The option `bucket` of tables that assign buckets later, and the bucket of files that wait for it.
pub(super) const POSTPONE_BUCKET: i32 = -2;

/// How the table is read, from its schema and options.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadMode {
    pub(super) has_primary_key: bool,
    pub(super) deletion_vectors: bool,
    pub(super) engine: MergeEngine,
    /// Whether rows of level 0 are not visible yet.
    pub(super) skip_level_0: bool,
    /// The only level whose rows are visible.
    pub(super) only_level: Option<i32>,
    /// Whether only buckets from 0 on are visible.
    pub(super) real_buckets_only: bool,
    /// The only bucket that is read.
    pub(super) only_bucket: Option<i32>,
}

impl ReadMode {
    /// # Errors
    /// `InvalidConfig` for a bad option.
    pub(super) fn of(table: &Table) -> Result<Self> {
        let options = table.options();
        let has_primary_key = table.schema().has_primary_key();
        let deletion_vectors = options.value(&DELETION_VECTORS)?;
        let engine = options.value(&MERGE_ENGINE)?;
        let merge_on_read = options.get("deletion-vectors.merge-on-read").is_some_and(|v| v.trim() == "true");
        let first_row = engine == MergeEngine::FirstRow;
        Ok(Self {
            has_primary_key,
            deletion_vectors,
            engine,
            skip_level_0: has_primary_key && (deletion_vectors && !merge_on_read || first_row),
            only_level: if has_primary_key && table.is_read_optimized() { Some(top_level(options)?) } else { None },
            real_buckets_only: has_primary_key && options.value(&BUCKET)? == POSTPONE_BUCKET,
            only_bucket: options.find(&SCAN_BUCKET)?,
        })
    }

    /// Whether files hold what readers see, version by version: no merge changes a value.
    fn merge_keeps_values(&self) -> bool {
        self.deletion_vectors || matches!(self.engine, MergeEngine::Deduplicate | MergeEngine::FirstRow)
    }
}

/// The level of full compactions.
fn top_level(options: &Options) -> Result<i32> {
    let levels = match options.find(&NUM_LEVELS)? {
        Some(levels) => levels,
        None => options.value(&NUM_SORTED_RUNS_TRIGGER)?.saturating_add(1),
    };
    Ok(i32::try_from(levels).unwrap_or(i32::MAX).saturating_sub(1))
}

/// Schemas by id.
pub(super) type SchemasById = HashMap<i64, Arc<TableSchema>>;

/// Prunes live files.
pub(super) struct Pruner<'a> {
    table: &'a Table,
    mode: ReadMode,
    scope: Scope,
    residuals: &'a Residuals,
    schemas: &'a SchemasById,
    /// Whether indexes in entries are looked at.
    use_index: bool,
}

impl<'a> Pruner<'a> {
    /// `schemas` are those of all live files, or none if nothing is tested but partitions.
    pub(super) fn new(
        table: &'a Table,
        mode: ReadMode,
        scope: Scope,
        residuals: &'a Residuals,
        schemas: &'a SchemasById,
    ) -> Self {
        Self { table, mode, scope, residuals, schemas, use_index: index::is_enabled(table.options()) }
    }

    /// The files that must be read, in their order.
    pub(super) fn prune(&self, live: &[LiveFile<'a>], trace: &mut ScanTrace) -> Result<Vec<LiveFile<'a>>> {
        trace.files = live.len();
        let visible = |f: &&LiveFile<'_>| {
            let bucket = f.entry.bucket;
            self.scope.holds(&f.entry.file)
                && (!self.mode.real_buckets_only || bucket >= 0)
                && self.mode.only_bucket.is_none_or(|only| bucket == only)
        };
        let mut kept: Vec<LiveFile<'a>> =
            live.iter().filter(|f| self.residuals.keeps(f.partition)).filter(visible).copied().collect();
        trace.files_after_partition = kept.len();
        if self.schemas.is_empty() {
            (trace.files_after_bucket, trace.files_after_stats) = (kept.len(), kept.len());
            return Ok(kept);
        }
        if let Some(mut buckets) = BucketFilter::try_new(self.table, self.residuals)? {
            let mut selected = Vec::with_capacity(kept.len());
            for file in kept {
                let entry = file.entry;
                if buckets.keeps(file.partition, entry.bucket, entry.total_buckets, self.schema_of(&file)?)? {
                    selected.push(file);
                }
            }
            kept = selected;
        }
        trace.files_after_bucket = kept.len();
        let kept = if self.mode.has_primary_key { self.prune_keyed(kept)? } else { self.prune_each(kept)? };
        trace.files_after_stats = kept.len();
        Ok(kept)
    }

    fn schema_of(&self, file: &LiveFile<'_>) -> Result<&'a TableSchema> {
        let id = file.entry.file.schema_id;
        match self.schemas.get(&id) {
            Some(schema) => Ok(schema.as_ref()),
            None => Err(Error::internal(format!("schema {id} was not fetched"))),
        }
    }

    /// Whether a row of the file may pass, by its value statistics and the index in its entry.
    fn may_match(&self, predicate: &Predicate, file: &LiveFile<'_>) -> Result<bool> {
        let (meta, schema) = (&file.entry.file, self.schema_of(file)?);
        let by_stats = values_may_match(predicate, meta, schema);
        Ok(by_stats && (!self.use_index || index::may_match(predicate, meta, schema)))
    }

    /// Each file by its values.
    fn prune_each(&self, files: Vec<LiveFile<'a>>) -> Result<Vec<LiveFile<'a>>> {
        let mut kept = Vec::with_capacity(files.len());
        for file in files {
            if self.may_match(self.residuals.of(file.partition), &file)? {
                kept.push(file);
            }
        }
        Ok(kept)
    }

    /// Each file by its key statistics; then by value statistics, file by file or bucket by bucket.
    fn prune_keyed(&self, files: Vec<LiveFile<'a>>) -> Result<Vec<LiveFile<'a>>> {
        let schema = self.table.schema();
        let key_ids: Vec<i32> = schema.key_positions().into_iter().map(|i| schema.fields[i].id).collect();
        let is_key = |id: i32| key_ids.contains(&id);
        let mut filters: HashMap<usize, (Predicate, Predicate)> = HashMap::new();
        let mut kept = Vec::with_capacity(files.len());
        for file in files {
            let (keys, _) = filters.entry(self.residuals.index(file.partition)).or_insert_with(|| {
                let residual = self.residuals.of(file.partition);
                (residual.project(&is_key), residual.split(&is_key).1)
            });
            if keys_may_match(keys, &file.entry.file, self.schema_of(&file)?) {
                kept.push(file);
            }
        }
        let has_values = |f: &LiveFile<'_>| {
            filters.get(&self.residuals.index(f.partition)).is_some_and(|(_, v)| *v != Predicate::AlwaysTrue)
        };
        if !kept.iter().any(has_values) {
            return Ok(kept);
        }
        if self.scope.prunes_values_by_file {
            return self.prune_each(kept);
        }
        if self.scope.is_events() {
            return Ok(kept);
        }
        let mut matches = Vec::with_capacity(kept.len());
        for file in &kept {
            let values = filters.get(&self.residuals.index(file.partition)).map(|(_, v)| v);
            matches.push(match values {
                Some(values) => self.may_match(values, file)?,
                None => true,
            });
        }
        let mut buckets: HashMap<(usize, i32), Bucket> = HashMap::new();
        for (file, matches) in kept.iter().zip(&matches) {
            buckets.entry((file.partition, file.entry.bucket)).or_default().add(file, *matches);
        }
        let keeps = |file: &LiveFile<'_>, matches: bool| {
            let Some(bucket) = buckets.get(&(file.partition, file.entry.bucket)) else { return true };
            match bucket.is_merged() {
                false => matches,
                true => !self.mode.merge_keeps_values() || bucket.any_match,
            }
        };
        Ok(kept.into_iter().zip(matches).filter(|(f, m)| keeps(f, *m)).map(|(f, _)| f).collect())
    }
}

/// What is known of the files of one bucket.
#[derive(Default)]
struct Bucket {
    files: usize,
    level: i32,
    several_levels: bool,
    any_match: bool,
}

impl Bucket {
    fn add(&mut self, file: &LiveFile<'_>, matches: bool) {
        let level = file.entry.file.level;
        self.several_levels |= self.files > 0 && level != self.level;
        self.level = level;
        self.files += 1;
        self.any_match |= matches;
    }

    /// Whether files may hold several versions of a key: not if there is one, or if all are on one level from 1 on.
    fn is_merged(&self) -> bool {
        self.files > 1 && (self.several_levels || self.level == 0)
    }
}
