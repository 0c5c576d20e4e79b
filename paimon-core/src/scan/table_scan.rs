//! The steps of planning, in order.
//!
//! Invariants: a plan is of one snapshot; plans of the same snapshot with the same settings are equal. Source: read-path
//! sheet section 1; `table/source/AbstractDataTableScan.java`, `table/source/snapshot/SnapshotReaderImpl.java`.

use std::collections::HashSet;
use std::sync::Arc;

use super::deletion_files::DeletionFiles;
use super::entries::{LiveFiles, ManifestScope, project_to, read_manifests};
use super::limit::{limit_files, limit_splits};
use super::plan::{Plan, ScanTrace};
use super::prune::{Pruner, ReadMode, SchemasById};
use super::split::Split;
use super::split_generator::{Group, SplitGenerator, group};
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::predicate::Predicate;
use crate::spec::{IndexManifestEntry, ManifestEntry, Snapshot, check_file_readable, check_readable};
use crate::table::Table;
use crate::types::DataType;

/// How often a plan of the latest snapshot starts anew because the snapshot expired meanwhile.
const MAX_REPLANS: usize = 5;

/// Plans reads of a table. The table handle says which snapshot: the latest when [`TableScan::plan`] is called, or the
/// one that it is pinned to.
#[derive(Debug, Clone)]
pub struct TableScan {
    table: Table,
    filter: Option<Predicate>,
    limit: Option<usize>,
}

impl TableScan {
    /// A scan with this filter, over the columns of the table, and limit.
    pub fn new(table: Table, filter: Option<Predicate>, limit: Option<usize>) -> Self {
        Self { table, filter, limit }
    }

    /// Plans anew.
    ///
    /// # Errors
    /// `Unsupported` naming feature and option before any data file is read; `Corrupt`, `NotFound` or `Storage` naming the
    /// file.
    pub async fn plan(&self) -> Result<Plan> {
        let mut replans = 0;
        loop {
            match self.try_plan().await {
                Err(error) if self.may_have_expired(&error) && replans < MAX_REPLANS => replans += 1,
                result => return result,
            }
        }
    }

    /// Whether a file is missing because another process expired the snapshot: then the latest one is planned instead.
    fn may_have_expired(&self, error: &Error) -> bool {
        let missing = matches!(error.kind(), ErrorKind::NotFound(Entity::File | Entity::Snapshot));
        missing && self.table.pinned().is_none()
    }

    async fn try_plan(&self) -> Result<Plan> {
        check_readable(self.table.schema(), self.table.options())?;
        let mode = ReadMode::of(&self.table)?;
        let Some(snapshot) = self.table.current_snapshot().await? else {
            return Ok(Plan::new(None, Vec::new(), ScanTrace::default()));
        };
        if self.limit == Some(0) {
            return Ok(Plan::new(Some(snapshot), Vec::new(), ScanTrace::default()));
        }
        let partition = self.table.schema().partition_type();
        let filter = self.filter.clone().unwrap_or(Predicate::AlwaysTrue);
        let scope =
            ManifestScope { partition: project_to(&partition, &filter), real_buckets_only: mode.real_buckets_only };
        let manifests = self.table.manifests().of_snapshot(&snapshot).await?;
        let all = manifests.len();
        let selected = scope.select(manifests, &partition);
        let trace = ScanTrace { manifests: all, manifests_read: selected.len(), ..ScanTrace::default() };
        let manifests = read_manifests(&self.table, selected).await?;
        let index = match &snapshot.index_manifest {
            Some(name) => self.table.manifests().read_index(name).await?,
            None => Vec::new(),
        };
        let is_partition = |id: i32| partition.index_of_id(id).is_some();
        let tests_values = filter.field_ids().into_iter().any(|id| !is_partition(id));
        let schemas = if tests_values { schemas_of(&self.table, &manifests).await? } else { SchemasById::default() };
        let limit = self.limit.map(|l| i64::try_from(l).unwrap_or(i64::MAX));
        let planner = Planner { table: self.table.clone(), mode, filter, limit, tests_values };
        crate::runtime::cpu(move || planner.plan(snapshot, &manifests, &index, &schemas, trace)).await
    }
}

/// The schemas that the entries name.
async fn schemas_of(table: &Table, manifests: &[Arc<Vec<ManifestEntry>>]) -> Result<SchemasById> {
    let ids: HashSet<i64> = manifests.iter().flat_map(|m| m.iter()).map(|e| e.file.schema_id).collect();
    let mut schemas = SchemasById::with_capacity(ids.len());
    schemas.insert(table.schema().id, table.schema().clone());
    for id in ids {
        if id != table.schema().id {
            schemas.insert(id, table.schemas().get(id).await?);
        }
    }
    Ok(schemas)
}

/// The steps after all metadata is read.
pub(super) struct Planner {
    pub(super) table: Table,
    pub(super) mode: ReadMode,
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
        index: &[IndexManifestEntry],
        schemas: &SchemasById,
        mut trace: ScanTrace,
    ) -> Result<Plan> {
        let LiveFiles { files, mut partitions } = LiveFiles::net(manifests, self.table.schema().partition_type())?;
        let deletion_files = DeletionFiles::try_new(index, &mut partitions, &self.table)?;
        let residuals = partitions.residuals(&self.filter)?;
        let pruner = Pruner { table: &self.table, mode: self.mode, residuals: &residuals, schemas };
        let mut files = pruner.prune(&files, &mut trace)?;
        let limit = self.limit.filter(|_| self.partition_filter_is_exact());
        if let Some(limit) = limit {
            files = limit_files(files, &self.mode, !deletion_files.is_empty(), limit);
        }
        files.iter().try_for_each(|f| check_file_readable(&f.entry.file))?;
        let mut groups = group(&files);
        if self.table.options().get("scan.plan-sort-partition").is_some_and(|v| v.trim() == "true") {
            groups.sort_by(|a, b| partitions.values(a.partition).cmp(partitions.values(b.partition)));
        }
        let generator = SplitGenerator::try_new(&self.table, self.mode, snapshot.id, &partitions, &deletion_files)?;
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
