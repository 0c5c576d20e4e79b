//! Splits that stand for what differs between two sets of files.
//!
//! Invariants: files in both sets are in neither side of a split; all files of a bucket are in one split, so that the
//! versions of a key meet. Source: time-travel sheet section 4; `table/source/snapshot/SnapshotReaderImpl.java`
//! (`toIncrementalPlan`), `table/source/IncrementalSplit.java`.

use std::collections::HashMap;
use std::sync::Arc;

use super::deletion_files::DeletionFiles;
use super::entries::LiveFiles;
use super::packing::pack;
use super::plan::ScanTrace;
use super::prune::{Pruner, ReadMode, SchemasById};
use super::scope::Scope;
use super::split::{BeforeFiles, DeletionFile, Split};
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::row::BinaryRow;
use crate::spec::{
    BUCKET, DataFileMeta, EntryKind, IndexManifestEntry, ManifestEntry, SPLIT_OPEN_COST, SPLIT_TARGET_SIZE,
    check_file_readable,
};
use crate::table::Table;
use crate::types::Datum;

type Manifests = Vec<Arc<Vec<ManifestEntry>>>;

/// One side of a difference.
pub(super) struct Side {
    /// Its manifests.
    pub(super) manifests: Manifests,
    /// The index manifest of its snapshot.
    pub(super) index: Vec<IndexManifestEntry>,
    /// The entries of this kind are its files, without netting; `None` for the live files of all entries.
    pub(super) only: Option<EntryKind>,
}

/// What both sides share.
pub(super) struct Difference {
    pub(super) table: Table,
    pub(super) mode: ReadMode,
    pub(super) scope: Scope,
    pub(super) filter: Predicate,
    pub(super) schemas: SchemasById,
    pub(super) snapshot_id: i64,
    /// Whether the splits are events: the rows that were replaced, then those that replaced them.
    pub(super) streaming: bool,
}

/// A file with its deletion vector.
type File = (Arc<DataFileMeta>, Option<DeletionFile>);

/// The files of a bucket on one side.
#[derive(Default)]
struct Files {
    files: Vec<File>,
    total_buckets: Option<i32>,
}

/// The files of a bucket on both sides.
struct Bucket {
    partition: BinaryRow,
    bucket: i32,
    before: Files,
    after: Files,
}

impl Difference {
    /// The splits of the difference, in the order in which buckets appear.
    ///
    /// # Errors
    /// `InvalidInput` if a partition has other buckets on both sides; `Corrupt` for damaged metadata.
    pub(super) fn splits(&self, before: &Side, after: &Side) -> Result<Vec<Split>> {
        let mut buckets: Vec<Bucket> = Vec::new();
        let mut positions: HashMap<(Vec<Option<Datum>>, i32), usize> = HashMap::new();
        for (side, is_after) in [(after, true), (before, false)] {
            self.collect(side, |values, partition, bucket, total_buckets, file| {
                let position = *positions.entry((values, bucket)).or_insert_with(|| {
                    let (before, after) = (Files::default(), Files::default());
                    buckets.push(Bucket { partition: partition.clone(), bucket, before, after });
                    buckets.len() - 1
                });
                let Some(bucket) = buckets.get_mut(position) else { return };
                let files = if is_after { &mut bucket.after } else { &mut bucket.before };
                files.total_buckets.get_or_insert(total_buckets);
                files.files.push(file);
            })?;
        }
        let mut splits = Vec::new();
        for bucket in buckets {
            self.split(bucket, &mut splits)?;
        }
        Ok(splits)
    }

    fn collect(&self, side: &Side, mut take: impl FnMut(Vec<Option<Datum>>, &BinaryRow, i32, i32, File)) -> Result<()> {
        let row = self.table.schema().partition_type();
        let LiveFiles { files, mut partitions } = match side.only {
            None => LiveFiles::net(&side.manifests, row)?,
            Some(kind) => LiveFiles::of_kind(&side.manifests, row, kind)?,
        };
        let vectors = DeletionFiles::try_new(&side.index, &mut partitions, &self.table)?;
        let residuals = partitions.residuals(&self.filter)?;
        let schemas = &self.schemas;
        let pruner = Pruner::new(&self.table, self.mode, self.scope, &residuals, schemas);
        for file in pruner.prune(&files, &mut ScanTrace::default())? {
            let (entry, partition) = (file.entry, file.partition);
            check_file_readable(&entry.file)?;
            let vector = vectors.get(partition, entry.bucket, &entry.file.file_name).cloned();
            let values = partitions.values(partition).to_vec();
            let file = (Arc::new(entry.file.clone()), vector);
            take(values, partitions.row(partition), entry.bucket, entry.total_buckets, file);
        }
        Ok(())
    }

    fn split(&self, mut bucket: Bucket, splits: &mut Vec<Split>) -> Result<()> {
        self.check_bucket_counts(&bucket)?;
        bucket.before.files.retain(|old| {
            let common = bucket.after.files.iter().position(|new| new.0 == old.0);
            common.map(|position| bucket.after.files.remove(position)).is_none()
        });
        let (before, after) = (bucket.before.files, bucket.after.files);
        if after.is_empty() && (before.is_empty() || !self.mode.has_primary_key) {
            return Ok(());
        }
        let (table, partition) = (&self.table, bucket.partition);
        let bucket_path = table.paths().bucket_dir(table.schema(), table.options(), &partition, bucket.bucket)?;
        let total_buckets = bucket.after.total_buckets.or(bucket.before.total_buckets);
        let split = |files: Vec<File>, before: Option<BeforeFiles>| {
            let (files, deletion_files) = parts(files);
            Split {
                snapshot_id: self.snapshot_id,
                partition: partition.clone(),
                bucket: bucket.bucket,
                bucket_path: bucket_path.clone(),
                total_buckets,
                files,
                deletion_files,
                streaming: self.streaming,
                raw_convertible: !self.mode.has_primary_key,
                rows: None,
                before,
                fallback: false,
            }
        };
        if self.mode.has_primary_key {
            let (files, deletion_files) = parts(before);
            splits.push(split(after, Some(BeforeFiles { files, deletion_files })));
            return Ok(());
        }
        // Rows of append tables have no versions: what is new are the files that are new.
        let (target, cost) = (table.options().value(&SPLIT_TARGET_SIZE)?, table.options().value(&SPLIT_OPEN_COST)?);
        let weight = |file: &File| u64::try_from(file.0.file_size).unwrap_or(0).max(cost);
        splits.extend(pack(after, weight, target).into_iter().map(|files| split(files, None)));
        Ok(())
    }

    fn check_bucket_counts(&self, bucket: &Bucket) -> Result<()> {
        match (bucket.before.total_buckets, bucket.after.total_buckets) {
            (Some(before), Some(after)) if before != after && self.table.options().value(&BUCKET)? != -1 => {
                Err(Error::invalid_input(format!(
                    "The bucket number of two snapshots are different ({before}, {after}), which is not supported in \
                     incremental diff query."
                )))
            }
            _ => Ok(()),
        }
    }
}

fn parts(files: Vec<File>) -> (Vec<Arc<DataFileMeta>>, Option<Vec<Option<DeletionFile>>>) {
    let (files, vectors): (Vec<_>, Vec<_>) = files.into_iter().unzip();
    let has_vectors = vectors.iter().any(Option::is_some);
    (files, has_vectors.then_some(vectors))
}
