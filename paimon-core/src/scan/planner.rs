//! From the entries of manifests to splits, without I/O.
//!
//! Source: read-path sheet section 1, stages 5 to 10; `table/source/snapshot/SnapshotReaderImpl.java`.

use std::sync::Arc;

use super::deletion_files::DeletionFiles;
use super::entries::LiveFiles;
use super::limit::{limit_files, limit_splits};
use super::plan::{Plan, ScanTrace};
use super::prune::{Pruner, ReadMode, SchemasById};
use super::scope::{Scope, Source};
use super::split::Split;
use super::split_generator::{Group, SplitGenerator, group};
use crate::error::Result;
use crate::predicate::Predicate;
use crate::spec::{IndexManifestEntry, ManifestEntry, Snapshot, check_file_readable};
use crate::table::Table;
use crate::types::DataType;

/// The steps after all metadata is read.
pub(super) struct Planner {
    pub(super) table: Table,
    pub(super) mode: ReadMode,
    pub(super) scope: Scope,
    pub(super) filter: Predicate,
    pub(super) limit: Option<i64>,
    /// Whether the filter speaks of columns other than the partition's.
    pub(super) tests_values: bool,
}

impl Planner {
    pub(super) fn plan(
        &self,
        snapshot: Snapshot,
        manifests: &[Arc<Vec<ManifestEntry>>],
        vectors: &[IndexManifestEntry],
        schemas: &SchemasById,
        mut trace: ScanTrace,
    ) -> Result<Plan> {
        let partition_type = self.table.schema().partition_type();
        let LiveFiles { files, mut partitions } = match self.scope.source {
            Source::Live => LiveFiles::net(manifests, partition_type)?,
            Source::Delta | Source::Changelog => LiveFiles::added(manifests, partition_type, self.scope.only_added)?,
        };
        let deletion_files = match self.scope.source {
            Source::Live => DeletionFiles::try_new(vectors, &mut partitions, &self.table)?,
            // Events are what was written, whatever was deleted since.
            Source::Delta | Source::Changelog => DeletionFiles::default(),
        };
        let residuals = partitions.residuals(&self.filter)?;
        let pruner = Pruner::new(&self.table, self.mode, self.scope, &residuals, schemas);
        let mut files = pruner.prune(&files, &mut trace)?;
        let limit = self.limit.filter(|_| !self.scope.is_events() && self.partition_filter_is_exact());
        if let Some(limit) = limit {
            files = limit_files(files, &self.mode, !deletion_files.is_empty(), limit);
        }
        files.iter().try_for_each(|f| check_file_readable(&f.entry.file))?;
        let mut groups = group(&files);
        if self.table.options().get("scan.plan-sort-partition").is_some_and(|v| v.trim() == "true") {
            groups.sort_by(|a, b| partitions.values(a.partition).cmp(partitions.values(b.partition)));
        }
        let generator =
            SplitGenerator::try_new(&self.table, self.mode, self.scope, snapshot.id, &partitions, &deletion_files)?;
        let mut splits = self.splits(&generator, &groups)?;
        if let Some(limit) = limit {
            splits = limit_splits(splits, limit);
        }
        Ok(Plan::new(Some(snapshot), splits, trace))
    }

    fn splits(&self, generator: &SplitGenerator<'_>, groups: &[Group<'_>]) -> Result<Vec<Split>> {
        let mut splits = Vec::with_capacity(groups.len());
        for group in groups {
            splits.extend(generator.splits(group)?);
        }
        Ok(splits)
    }

    /// Whether every row of a partition that is left passes the filter.
    fn partition_filter_is_exact(&self) -> bool {
        let mut exact = !self.tests_values;
        // Partitions are kept for both zeros.
        self.filter.visit_leaves(&mut |leaf| {
            exact &= !matches!(leaf.data_type, DataType::Float(_) | DataType::Double(_));
        });
        exact
    }
}
