//! From the files of a bucket to splits.
//!
//! Invariants: files that may share a key stay in one split; the raw flag belongs to one split and is computed for each;
//! nothing depends on the order of hashes. Source: read-path sheet section 5; `table/source/MergeTreeSplitGenerator.java`,
//! `table/source/AppendOnlySplitGenerator.java`.

use std::collections::HashMap;
use std::sync::Arc;

use super::deletion_files::DeletionFiles;
use super::entries::LiveFile;
use super::packing::pack;
use super::partitions::Partitions;
use super::prune::ReadMode;
use super::scope::Scope;
use super::sections::sections;
use super::split::Split;
use crate::error::Result;
use crate::spec::{BUCKET, DataFileMeta, MergeEngine, SPLIT_OPEN_COST, SPLIT_TARGET_SIZE, saturating_sum};
use crate::table::Table;
use crate::types::DataType;

/// The files of one bucket.
pub(super) struct Group<'a> {
    pub(super) partition: usize,
    pub(super) files: Vec<LiveFile<'a>>,
}

/// Files by partition, then bucket, both in order of first appearance.
pub(super) fn group<'a>(files: &[LiveFile<'a>]) -> Vec<Group<'a>> {
    let mut partition_ranks: HashMap<usize, usize> = HashMap::new();
    let mut positions: HashMap<(usize, i32), usize> = HashMap::new();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for file in files {
        let rank = partition_ranks.len();
        partition_ranks.entry(file.partition).or_insert(rank);
        let position = *positions.entry((file.partition, file.entry.bucket)).or_insert_with(|| {
            groups.push(Group { partition: file.partition, files: Vec::new() });
            groups.len() - 1
        });
        groups[position].files.push(*file);
    }
    groups.sort_by_key(|g| partition_ranks.get(&g.partition).copied());
    groups
}

/// Files of one split, and whether they need no merge.
type Bin = (Vec<Arc<DataFileMeta>>, bool);

/// Makes splits.
pub(super) struct SplitGenerator<'a> {
    pub(super) table: &'a Table,
    pub(super) mode: ReadMode,
    pub(super) scope: Scope,
    pub(super) snapshot_id: i64,
    pub(super) partitions: &'a Partitions,
    pub(super) deletion_files: &'a DeletionFiles,
    target: u64,
    open_cost: u64,
    key_types: Vec<DataType>,
    fixed_buckets: bool,
}

impl<'a> SplitGenerator<'a> {
    /// # Errors
    /// `InvalidConfig` for a bad option.
    pub(super) fn try_new(
        table: &'a Table,
        mode: ReadMode,
        scope: Scope,
        snapshot_id: i64,
        partitions: &'a Partitions,
        deletion_files: &'a DeletionFiles,
    ) -> Result<Self> {
        let target = table.options().value(&SPLIT_TARGET_SIZE)?;
        let open_cost = table.options().value(&SPLIT_OPEN_COST)?;
        let key_types = table.schema().key_type().types();
        let fixed_buckets = table.options().value(&BUCKET)? > 0;
        Ok(Self {
            table,
            mode,
            scope,
            snapshot_id,
            partitions,
            deletion_files,
            target,
            open_cost,
            key_types,
            fixed_buckets,
        })
    }

    /// The splits of one bucket.
    ///
    /// # Errors
    /// `Corrupt` naming a file whose keys do not decode.
    pub(super) fn splits(&self, group: &Group<'_>) -> Result<Vec<Split>> {
        let files: Vec<Arc<DataFileMeta>> = group.files.iter().map(|f| Arc::new(f.entry.file.clone())).collect();
        let bins = match (self.scope.stream_packing, self.mode.has_primary_key) {
            (true, true) => vec![(files, true)],
            (true, false) if self.fixed_buckets => vec![(self.in_order_of_writing(files), true)],
            (false, true) if self.scope.is_events() => {
                self.in_order_of_commits(self.keyed_bins(files.clone())?, &files)
            }
            (false, true) => self.keyed_bins(files)?,
            (_, false) => self.append_bins(files),
        };
        let Some(first) = group.files.first() else { return Ok(Vec::new()) };
        let (schema, options) = (self.table.schema(), self.table.options());
        let (partition, bucket) = (self.partitions.row(group.partition), first.entry.bucket);
        let bucket_path = self.table.paths().bucket_dir(schema, options, partition, bucket)?;
        let split = |(files, raw_convertible): Bin| Split {
            snapshot_id: self.snapshot_id,
            partition: partition.clone(),
            bucket,
            bucket_path: bucket_path.clone(),
            total_buckets: Some(first.entry.total_buckets),
            deletion_files: self.deletion_files_of(group.partition, bucket, &files),
            files,
            streaming: self.scope.is_events(),
            raw_convertible,
            rows: None,
            before: None,
            fallback: false,
        };
        Ok(bins.into_iter().map(split).collect())
    }

    fn deletion_files_of(
        &self,
        partition: usize,
        bucket: i32,
        files: &[Arc<DataFileMeta>],
    ) -> Option<Vec<Option<super::DeletionFile>>> {
        let vectors = files.iter().map(|f| self.deletion_files.get(partition, bucket, &f.file_name).cloned());
        let vectors: Vec<_> = vectors.collect();
        vectors.iter().any(Option::is_some).then_some(vectors)
    }

    fn weight(&self, size: i64) -> u64 {
        u64::try_from(size).unwrap_or(0).max(self.open_cost)
    }

    fn in_order_of_writing(&self, mut files: Vec<Arc<DataFileMeta>>) -> Vec<Arc<DataFileMeta>> {
        files.sort_by_key(|f| f.min_sequence_number);
        files
    }

    /// Events of one key come in the order in which they were committed, although bins are packed by key.
    fn in_order_of_commits(&self, mut bins: Vec<Bin>, files: &[Arc<DataFileMeta>]) -> Vec<Bin> {
        let ranks: HashMap<*const DataFileMeta, usize> =
            files.iter().enumerate().map(|(rank, file)| (Arc::as_ptr(file), rank)).collect();
        for (files, _) in &mut bins {
            files.sort_by_key(|file| ranks.get(&Arc::as_ptr(file)).copied());
        }
        bins
    }

    fn append_bins(&self, files: Vec<Arc<DataFileMeta>>) -> Vec<Bin> {
        let bins = pack(self.in_order_of_writing(files), |f| self.weight(f.file_size), self.target);
        bins.into_iter().map(|bin| (bin, true)).collect()
    }

    fn keyed_bins(&self, files: Vec<Arc<DataFileMeta>>) -> Result<Vec<Bin>> {
        if self.is_merged_already(&files) {
            let bins = pack(files, |f| self.weight(f.file_size), self.target);
            return Ok(bins.into_iter().map(|bin| (bin, true)).collect());
        }
        let sections = sections(files, &self.key_types)?;
        let flat = sections.into_iter().map(|runs| runs.into_iter().flat_map(|r| r.files).collect::<Vec<_>>());
        let bins = pack(flat, |section| self.weight(saturating_sum(section.iter().map(|f| f.file_size))), self.target);
        Ok(bins
            .into_iter()
            .map(|sections| {
                let files: Vec<_> = sections.into_iter().flatten().collect();
                // A writer never leaves two versions of a key in one file, whatever its level.
                let raw = matches!(files.as_slice(), [file] if file.is_free_of_deletes());
                (files, raw)
            })
            .collect())
    }

    /// Whether no two files hold a visible row of the same key, and no file a retract.
    fn is_merged_already(&self, files: &[Arc<DataFileMeta>]) -> bool {
        let compacted = files.iter().all(|f| f.level > 0 && f.is_free_of_deletes());
        let one_level = || files.windows(2).all(|w| w[0].level == w[1].level);
        compacted && (self.mode.deletion_vectors || self.mode.engine == MergeEngine::FirstRow || one_level())
    }
}
