//! Reads the metadata that a plan needs, and plans.
//!
//! Source: read-path sheet section 1; `table/source/snapshot/SnapshotReaderImpl.java`.

use std::collections::HashSet;
use std::sync::Arc;

use super::difference::{Difference, Side};
use super::entries::{ManifestScope, project_to, read_manifests};
use super::old_python::find_old_directories;
use super::plan::{Plan, ScanTrace};
use super::planner::Planner;
use super::prune::{ReadMode, SchemasById};
use super::scope::{Scope, Source};
use crate::error::Result;
use crate::predicate::Predicate;
use crate::spec::{
    EntryKind, IndexManifestEntry, ManifestEntry, ManifestFileMeta, Snapshot, TableSchema, check_readable,
};
use crate::table::Table;
use crate::types::RowType;

/// What plans have in common, whatever they are made of.
#[derive(Debug, Clone)]
pub(super) struct PlanRequest {
    pub(super) table: Table,
    pub(super) filter: Option<Predicate>,
    pub(super) limit: Option<usize>,
}

impl PlanRequest {
    /// How the table is read.
    ///
    /// # Errors
    /// `Unsupported` if it cannot be read; `InvalidConfig` for a bad option.
    pub(super) fn mode(&self) -> Result<ReadMode> {
        check_readable(self.table.schema(), self.table.options())?;
        ReadMode::of(&self.table)
    }

    /// The live files of a snapshot.
    ///
    /// # Errors
    /// `Corrupt`, `NotFound` or `Storage` naming the file; `Unsupported` naming a file that cannot be read.
    pub(super) async fn live(&self, snapshot: Snapshot, mode: ReadMode, scope: Scope) -> Result<Plan> {
        if self.limit == Some(0) {
            return Ok(Plan::new(Some(snapshot), Vec::new(), ScanTrace::default()));
        }
        self.check_not_replaced([snapshot.schema_id]).await?;
        let manifests = self.table.manifests().of_snapshot(&snapshot).await?;
        let index = match &snapshot.index_manifest {
            Some(name) => self.table.manifests().read_index(name).await?,
            None => Vec::new(),
        };
        self.plan(snapshot, manifests, index, mode, scope).await
    }

    /// What these snapshots changed; the last one gives the plan its snapshot.
    ///
    /// # Errors
    /// As [`PlanRequest::live`].
    pub(super) async fn events(
        &self,
        changed: &[Snapshot],
        last: Snapshot,
        mode: ReadMode,
        scope: Scope,
    ) -> Result<Plan> {
        if self.limit == Some(0) {
            return Ok(Plan::new(Some(last), Vec::new(), ScanTrace::default()));
        }
        self.check_not_replaced(changed.iter().map(|s| s.schema_id)).await?;
        let mut manifests = Vec::new();
        for snapshot in changed {
            let list = match scope.source {
                Source::Changelog => snapshot.changelog_manifest_list.as_ref(),
                Source::Live | Source::Delta => Some(&snapshot.delta_manifest_list),
            };
            if let Some(list) = list {
                manifests.extend(self.table.manifests().read_list(list).await?);
            }
        }
        self.plan(last, manifests, Vec::new(), mode, scope).await
    }

    /// The difference between two snapshots.
    ///
    /// # Errors
    /// As [`PlanRequest::live`]; `InvalidInput` if a partition has other buckets in both.
    pub(super) async fn difference(&self, before: &Snapshot, after: Snapshot, mode: ReadMode) -> Result<Plan> {
        self.check_not_replaced([before.schema_id, after.schema_id]).await?;
        let scope = Scope { prunes_values_by_file: !mode.has_primary_key, ..Scope::live(&mode) };
        let sides = [self.side(before, &mode).await?, self.side(&after, &mode).await?];
        self.differing(sides, after, mode, scope, false).await
    }

    /// What an overwrite replaced, and by what.
    ///
    /// # Errors
    /// As [`PlanRequest::live`].
    pub(super) async fn replaced(&self, snapshot: Snapshot, mode: ReadMode, scope: Scope) -> Result<Plan> {
        let list = self.table.manifests().read_list(&snapshot.delta_manifest_list).await?;
        let manifests = read_manifests(&self.table, self.wanted(&mode).select(list, &self.partition())).await?;
        // What was replaced may be the table as a whole.
        self.check_not_replaced(manifests.iter().flat_map(|m| m.iter()).map(|entry| entry.file.schema_id)).await?;
        let side = |kind| Side { manifests: manifests.clone(), index: Vec::new(), only: Some(kind) };
        let sides = [side(EntryKind::Delete), side(EntryKind::Add)];
        self.differing(sides, snapshot, mode, scope, true).await
    }

    /// Refuses what has schemas of another table: one that this one replaced, or that replaced it.
    async fn check_not_replaced(&self, schemas: impl IntoIterator<Item = i64>) -> Result<()> {
        for id in schemas.into_iter().collect::<HashSet<_>>() {
            self.table.check_not_replaced(id).await?;
        }
        Ok(())
    }

    async fn side(&self, snapshot: &Snapshot, mode: &ReadMode) -> Result<Side> {
        let manifests = self.table.manifests().of_snapshot(snapshot).await?;
        let manifests = read_manifests(&self.table, self.wanted(mode).select(manifests, &self.partition())).await?;
        let index = match &snapshot.index_manifest {
            Some(name) => self.table.manifests().read_index(name).await?,
            None => Vec::new(),
        };
        Ok(Side { manifests, index, only: None })
    }

    async fn differing(
        &self,
        [before, after]: [Side; 2],
        snapshot: Snapshot,
        mode: ReadMode,
        scope: Scope,
        streaming: bool,
    ) -> Result<Plan> {
        if self.limit == Some(0) {
            return Ok(Plan::new(Some(snapshot), Vec::new(), ScanTrace::default()));
        }
        // A value that differs on one side must meet the other: only keys and partitions may give up files.
        let filter = match (&self.filter, mode.has_primary_key) {
            (Some(filter), true) => project_to_columns(self.table.schema(), filter),
            (Some(filter), false) => filter.clone(),
            (None, _) => Predicate::AlwaysTrue,
        };
        let partition = self.partition();
        let tests_values = filter.field_ids().into_iter().any(|id| partition.index_of_id(id).is_none());
        let all: Vec<_> = before.manifests.iter().chain(&after.manifests).cloned().collect();
        let schemas = if tests_values { schemas_of(&self.table, &all).await? } else { SchemasById::default() };
        let snapshot_id = snapshot.id;
        let table = self.table.clone();
        let difference = Difference { table, mode, scope, filter, schemas, snapshot_id, streaming };
        let splits = crate::runtime::cpu(move || difference.splits(&before, &after)).await?;
        find_old_directories(&self.table, Plan::new(Some(snapshot), splits, ScanTrace::default())).await
    }

    fn partition(&self) -> RowType {
        self.table.schema().partition_type()
    }

    fn wanted(&self, mode: &ReadMode) -> ManifestScope {
        let filter = self.filter.as_ref().unwrap_or(&Predicate::AlwaysTrue);
        ManifestScope { partition: project_to(&self.partition(), filter), real_buckets_only: mode.real_buckets_only }
    }

    async fn plan(
        &self,
        snapshot: Snapshot,
        manifests: Vec<ManifestFileMeta>,
        index: Vec<IndexManifestEntry>,
        mode: ReadMode,
        scope: Scope,
    ) -> Result<Plan> {
        let partition = self.partition();
        let filter = self.filter.clone().unwrap_or(Predicate::AlwaysTrue);
        let all = manifests.len();
        let selected = self.wanted(&mode).select(manifests, &partition);
        let trace = ScanTrace { manifests: all, manifests_read: selected.len(), ..ScanTrace::default() };
        let manifests = read_manifests(&self.table, selected).await?;
        let is_partition = |id: i32| partition.index_of_id(id).is_some();
        let tests_values = filter.field_ids().into_iter().any(|id| !is_partition(id));
        let schemas = if tests_values { schemas_of(&self.table, &manifests).await? } else { SchemasById::default() };
        let limit = self.limit.map(|l| i64::try_from(l).unwrap_or(i64::MAX));
        let planner = Planner { table: self.table.clone(), mode, scope, filter, limit, tests_values };
        let plan = crate::runtime::cpu(move || planner.plan(snapshot, &manifests, &index, &schemas, trace)).await?;
        find_old_directories(&self.table, plan).await
    }
}

/// The part of the filter that speaks of partition and key columns.
fn project_to_columns(schema: &TableSchema, filter: &Predicate) -> Predicate {
    let names = schema.primary_keys.iter().chain(&schema.partition_keys);
    let ids: HashSet<i32> =
        names.filter_map(|name| schema.fields.iter().find(|f| f.name == *name)).map(|f| f.id).collect();
    filter.project(&|id| ids.contains(&id))
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
