//! The live entries of a snapshot: manifests that may matter, read in parallel, deletes netted.
//!
//! Invariants: results do not depend on which read ends first; a file is live if it is added and its identity, level
//! included, is never deleted; an identity that is added twice is corrupt. Source: read-path sheet sections 1 and 2,
//! manifest sheet section 2; `operation/ManifestsReader.java`, `operation/AbstractFileStoreScan.java`.

use std::collections::HashSet;
use std::sync::Arc;

use futures::stream::{self, StreamExt, TryStreamExt};

use super::partitions::Partitions;
use crate::error::{Error, Result, ResultExt};
use crate::predicate::{ColumnStats, Predicate, may_match};
use crate::spec::{EntryKind, ManifestEntry, ManifestFileMeta, SCAN_MANIFEST_PARALLELISM, Snapshot};
use crate::table::Table;
use crate::types::RowType;

/// The live files of a snapshot in the order of its manifests, as ADD entries. With a filter, partitions of which no row
/// can pass are left out; its tests of other columns count only as far as they decide on a partition.
///
/// # Errors
/// `NotFound(File)`, `Storage` or `Corrupt`, naming the file.
pub async fn live_entries(
    table: &Table,
    snapshot: &Snapshot,
    partition_filter: Option<&Predicate>,
) -> Result<Vec<ManifestEntry>> {
    let row = table.schema().partition_type();
    let filter = partition_filter.cloned().unwrap_or(Predicate::AlwaysTrue);
    let manifests = table.manifests().of_snapshot(snapshot).await?;
    let scope = ManifestScope { partition: project_to(&row, &filter), real_buckets_only: false };
    let read = read_manifests(table, scope.select(manifests, &row)).await?;
    crate::runtime::cpu(move || {
        let live = LiveFiles::net(&read, row)?;
        let residuals = live.partitions.residuals(&filter)?;
        let kept = live.files.iter().filter(|f| residuals.keeps(f.partition));
        Ok(kept.map(|f| f.entry.clone()).collect())
    })
    .await
}

/// The part of the predicate that speaks only of the columns of `row`.
pub(super) fn project_to(row: &RowType, predicate: &Predicate) -> Predicate {
    predicate.project(&|id| row.index_of_id(id).is_some())
}

/// What manifests are read for.
#[derive(Debug)]
pub(super) struct ManifestScope {
    /// Over partition columns only.
    pub(super) partition: Predicate,
    /// Whether negative buckets are left out.
    pub(super) real_buckets_only: bool,
}

impl ManifestScope {
    /// The manifests that may hold an entry in scope. Unknown bounds keep a manifest.
    pub(super) fn select(&self, manifests: Vec<ManifestFileMeta>, partition: &RowType) -> Vec<ManifestFileMeta> {
        manifests.into_iter().filter(|m| self.may_hold(m, partition)).collect()
    }

    fn may_hold(&self, manifest: &ManifestFileMeta, partition: &RowType) -> bool {
        if self.real_buckets_only && manifest.max_bucket.is_some_and(|b| b < 0) {
            return false;
        }
        let stats = &manifest.partition_stats;
        let columns = partition.fields().len();
        let complete = stats.min_values.arity() == columns
            && stats.max_values.arity() == columns
            && stats.null_counts.len() == columns;
        if !complete {
            return true;
        }
        let rows = manifest.num_added_files.saturating_add(manifest.num_deleted_files);
        may_match(&self.partition, rows, &|leaf| {
            let position = partition.index_of_id(leaf.field_id)?;
            Some(ColumnStats {
                min: stats.min_values.field(position, &leaf.data_type).ok()?,
                max: stats.max_values.field(position, &leaf.data_type).ok()?,
                null_count: stats.null_counts.get(position).copied().flatten(),
            })
        })
    }
}

/// The entries of the manifests, in their order.
pub(super) async fn read_manifests(
    table: &Table,
    selected: Vec<ManifestFileMeta>,
) -> Result<Vec<Arc<Vec<ManifestEntry>>>> {
    let parallelism = table.options().value(&SCAN_MANIFEST_PARALLELISM)?;
    let manifests = table.manifests();
    stream::iter(selected)
        .map(|meta| {
            let manifests = manifests.clone();
            async move { manifests.read(&meta).await.context("file", &meta.file_name) }
        })
        .buffered(parallelism)
        .try_collect()
        .await
}

/// A live file.
#[derive(Debug, Clone, Copy)]
pub(super) struct LiveFile<'a> {
    pub(super) entry: &'a ManifestEntry,
    /// Its number among the partitions.
    pub(super) partition: usize,
}

/// The live files of some manifests.
#[derive(Debug)]
pub(super) struct LiveFiles<'a> {
    pub(super) files: Vec<LiveFile<'a>>,
    pub(super) partitions: Partitions,
}

/// The identity of a file without copies; equal partitions have equal numbers even if their bytes differ.
/// Source: `manifest/FileEntry.java`.
#[derive(PartialEq, Eq, Hash)]
struct Identity<'a> {
    file_name: &'a str,
    partition: usize,
    bucket: i32,
    level: i32,
    extra_files: &'a [String],
    embedded_index: Option<&'a [u8]>,
    external_path: Option<&'a str>,
}

impl<'a> Identity<'a> {
    fn of(entry: &'a ManifestEntry, partition: usize) -> Self {
        let file = &entry.file;
        Self {
            file_name: &file.file_name,
            partition,
            bucket: entry.bucket,
            level: file.level,
            extra_files: &file.extra_files,
            embedded_index: file.embedded_index.as_deref(),
            external_path: file.external_path.as_deref(),
        }
    }
}

impl<'a> LiveFiles<'a> {
    /// Nets the entries. Deletes are collected first: the order of manifests means nothing.
    pub(super) fn net(manifests: &'a [Arc<Vec<ManifestEntry>>], partition: RowType) -> Result<Self> {
        let mut partitions = Partitions::new(partition);
        let entries = || manifests.iter().flat_map(|m| m.iter());
        let mut deleted = HashSet::new();
        for entry in entries().filter(|e| e.kind == EntryKind::Delete) {
            let partition = partitions.id(&entry.partition).context("file", &entry.file.file_name)?;
            deleted.insert(Identity::of(entry, partition));
        }
        let mut added = HashSet::new();
        let mut files = Vec::new();
        for entry in entries().filter(|e| e.kind == EntryKind::Add) {
            let partition = partitions.id(&entry.partition).context("file", &entry.file.file_name)?;
            let identity = Identity::of(entry, partition);
            if deleted.contains(&identity) {
                continue;
            }
            if !added.insert(identity) {
                let name = &entry.file.file_name;
                return Err(Error::corrupt(format!("manifests add file {name} twice")).with_context("file", name));
            }
            files.push(LiveFile { entry, partition });
        }
        Ok(Self { files, partitions })
    }

    /// The files that the entries add, in their order: nothing is netted, and deletes are an error unless they are passed
    /// over.
    pub(super) fn added(
        manifests: &'a [Arc<Vec<ManifestEntry>>],
        partition: RowType,
        passes_over_deletes: bool,
    ) -> Result<Self> {
        if !passes_over_deletes
            && let Some(entry) = manifests.iter().flat_map(|m| m.iter()).find(|e| e.kind == EntryKind::Delete)
        {
            return Err(Error::corrupt("Delta or changelog should only have ADD files.")
                .with_context("file", &entry.file.file_name));
        }
        Self::of_kind(manifests, partition, EntryKind::Add)
    }

    /// The files of the entries of one kind, in their order: nothing is netted.
    pub(super) fn of_kind(
        manifests: &'a [Arc<Vec<ManifestEntry>>],
        partition: RowType,
        kind: EntryKind,
    ) -> Result<Self> {
        let mut partitions = Partitions::new(partition);
        let mut files = Vec::new();
        for entry in manifests.iter().flat_map(|m| m.iter()).filter(|e| e.kind == kind) {
            files.push(LiveFile { entry, partition: partitions.id(&entry.partition)? });
        }
        Ok(Self { files, partitions })
    }
}
