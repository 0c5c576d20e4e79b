//! Projection, filters and limit to the core's plan, and that to a plan of the engine.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::execution_props::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::utils::conjunction;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{PhysicalExpr, create_physical_expr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::union::UnionExec;
use paimon_core::Table;
use paimon_core::predicate::Predicate;
use paimon_core::scan::{Plan, ScanTrace, Split, TableScan};
use paimon_core::table::ReadBuilder;
use paimon_core::types::DataType;
use tokio::runtime::Handle;

use super::balance::balance;
use super::explain::ScanInfo;
use super::native::{FileSchemas, NativeRequest, NativeScan, is_native};
use super::rows::RowChoice;
use super::source::is_safe;
use super::splits_exec::{PaimonSplitsExec, RowShape};
use crate::blocking;
use crate::error::{to_datafusion, unsupported};
use crate::expr::to_predicate;

/// What a scan of a table is asked for.
#[derive(Debug)]
pub(crate) struct ScanRequest<'a> {
    /// The table, pinned to the snapshot that is read.
    pub(crate) table: &'a Table,
    pub(crate) handle: &'a Handle,
    pub(crate) schema: &'a SchemaRef,
    pub(crate) projection: Option<&'a Vec<usize>>,
    pub(crate) filters: &'a [Expr],
    pub(crate) limit: Option<usize>,
}

impl ScanRequest<'_> {
    fn positions(&self) -> Vec<usize> {
        self.projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect())
    }

    fn projected_schema(&self) -> Result<SchemaRef> {
        Ok(match self.projection {
            Some(positions) => Arc::new(self.schema.project(positions)?),
            None => Arc::clone(self.schema),
        })
    }

    /// Positions of the columns that the plan reads: those that it gives and those of its filters.
    fn needed(&self) -> Vec<usize> {
        let mut needed = self.positions();
        for column in self.filters.iter().flat_map(Expr::column_refs) {
            needed.extend(self.schema.index_of(&column.name).ok());
        }
        needed.sort_unstable();
        needed.dedup();
        needed
    }

    /// What the filters say, as far as the core understands it.
    fn filter(&self) -> Option<Predicate> {
        let mut parts: Vec<Predicate> = self
            .filters
            .iter()
            .filter_map(|f| to_predicate(f, self.table.schema()))
            .map(|translated| translated.predicate)
            .collect();
        match parts.len() {
            0 | 1 => parts.pop(),
            _ => Some(Predicate::And(parts)),
        }
    }

    fn read_builder(&self) -> paimon_core::Result<ReadBuilder> {
        let builder = self.table.new_read_builder().with_projected_positions(self.positions())?;
        let builder = match self.filter() {
            Some(filter) => builder.with_filter(filter),
            None => builder,
        };
        Ok(match self.limit {
            Some(limit) => builder.with_limit(limit),
            None => builder,
        })
    }
}

/// Plans a scan. A table without snapshot gives no rows.
///
/// # Errors
/// Those of the core's planning.
pub(crate) async fn plan(state: &dyn Session, request: ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>> {
    let builder = request.read_builder().map_err(to_datafusion)?;
    let (table, scan) = (request.table.clone(), builder.new_scan());
    let work = async move { read_metadata(&table, &scan).await };
    let (plan, schemas) = blocking::on(request.handle, work).await?.map_err(to_datafusion)?;
    let info = Arc::new(ScanInfo::new(request.table, &plan));
    let (mut plans, rest) = native(state, &request, &plan, &schemas, &info)?;
    if plans.is_empty() || !rest.is_empty() {
        plans.push(through_core(state, &request, builder, rest, info)?);
    }
    match (plans.pop(), plans.is_empty()) {
        (Some(only), true) => Ok(only),
        (last, _) => {
            plans.extend(last);
            UnionExec::try_new(plans)
        }
    }
}

/// Plans a scan of rows with their kinds, deletes included, in this shape and schema.
///
/// # Errors
/// Those of the core's planning; `Unsupported` for pairs in the difference between two snapshots.
pub(crate) async fn plan_log(
    state: &dyn Session,
    request: ScanRequest<'_>,
    shape: RowShape,
    schema: SchemaRef,
) -> Result<Arc<dyn ExecutionPlan>> {
    let builder = request.read_builder().map_err(to_datafusion)?.with_row_kind(true).with_keep_deletes(true);
    let (table, scan) = (request.table.clone(), builder.new_scan());
    let work = async move { read_metadata(&table, &scan).await };
    let (plan, _) = blocking::on(request.handle, work).await?.map_err(to_datafusion)?;
    // Java cannot show it either.
    if shape == RowShape::Pairs && plan.splits().iter().any(|split| split.before.is_some()) {
        return unsupported("the binlog does not show the difference between two snapshots: read the audit log");
    }
    let info = Arc::new(ScanInfo::new(request.table, &plan));
    builder.new_read().map_err(to_datafusion)?;
    let groups = groups(state, plan.splits().to_vec());
    Ok(Arc::new(PaimonSplitsExec::new(builder, schema, groups, info).with_shape(shape)))
}

/// Splits in as many groups as the engine has partitions.
fn groups(state: &dyn Session, splits: Vec<Split>) -> Vec<Vec<Split>> {
    let size = |split: &Split| u64::try_from(split.size_bytes()).unwrap_or(0);
    balance(splits, state.config().target_partitions(), size)
}

type Plans = Vec<Arc<dyn ExecutionPlan>>;

/// What planning reads of the store: the plan and the schemas of its files.
async fn read_metadata(table: &Table, scan: &TableScan) -> paimon_core::Result<(Plan, FileSchemas)> {
    match plan_and_schemas(table, scan).await {
        Ok(found) => Ok(found),
        Err(error) => Err(table.explain_failure(error).await),
    }
}

async fn plan_and_schemas(table: &Table, scan: &TableScan) -> paimon_core::Result<(Plan, FileSchemas)> {
    let mut schemas = FileSchemas::new();
    // A table that was empty stays empty for the statement, but partitions of a fallback branch are no part of it.
    if table.pinned().is_none() && !table.options().contains("scan.fallback-branch") {
        return Ok((Plan::new(None, Vec::new(), ScanTrace::default()), schemas));
    }
    let plan = scan.plan().await?;
    schemas.insert(table.schema().id, Arc::clone(table.schema()));
    for file in plan.splits().iter().filter(|split| !split.fallback).flat_map(|split| &split.files) {
        if let Entry::Vacant(entry) = schemas.entry(file.schema_id) {
            entry.insert(table.schemas().get(file.schema_id).await?);
        }
    }
    Ok((plan, schemas))
}

/// Scans of the splits that the engine can read itself, and the splits that are left.
fn native(
    state: &dyn Session,
    request: &ScanRequest<'_>,
    plan: &Plan,
    schemas: &FileSchemas,
    info: &Arc<ScanInfo>,
) -> Result<(Plans, Vec<Split>)> {
    let (positions, needed) = (request.positions(), request.needed());
    let has_primary_key = request.table.schema().has_primary_key();
    let mut rest = Vec::new();
    let filter = request.filter();
    let rows = RowChoice::new(request.table, filter, request.handle.clone());
    let mut scan = NativeScan::new(request.table, schemas, &positions, &rows);
    for split in plan.splits() {
        let taken = is_native(split, has_primary_key) && scan.add(split, &needed).map_err(to_datafusion)?;
        if !taken {
            rest.push(split.clone());
        }
    }
    let partitions = state.config().target_partitions();
    let native = NativeRequest {
        partitions,
        limit: request.limit,
        rows: rows.clone(),
        predicate: foreign_predicate(state, request),
    };
    Ok((scan.build(state, &native, info)?, rest))
}

/// The filters for a session that is not the engine's own: behind a C interface it pushes nothing down later.
///
/// It is compiled here: an expression that the session compiles cannot be looked into, so it prunes nothing and cannot be
/// told that a column is at another place in a file; and what the session cannot decode ends the process.
fn foreign_predicate(
    state: &dyn Session,
    request: &ScanRequest<'_>,
) -> Option<Box<super::native::PredicateOver<'static>>> {
    if state.as_any().is::<SessionState>() {
        return None;
    }
    let safe = |filter: &&Expr| is_safe(filter.column_refs().iter().map(|column| column.name.as_str()), request.schema);
    let filter = conjunction(request.filters.iter().filter(safe).cloned())?;
    Some(Box::new(move |schema: &SchemaRef| {
        let schema = DFSchema::try_from(Schema::clone(schema))?;
        create_physical_expr(&filter, &schema, &ExecutionProps::new(), &PhysicalPlanningContext::default())
    }))
}

fn through_core(
    state: &dyn Session,
    request: &ScanRequest<'_>,
    builder: ReadBuilder,
    splits: Vec<Split>,
    info: Arc<ScanInfo>,
) -> Result<Arc<dyn ExecutionPlan>> {
    // Refuses before anything is read.
    builder.new_read().map_err(to_datafusion)?;
    let groups = groups(state, splits);
    let schema = request.projected_schema()?;
    let keys = bucket_keys(request, &schema);
    let scan = PaimonSplitsExec::new(builder, schema, groups, info);
    Ok(Arc::new(scan.with_bucket_keys(keys)))
}

/// The columns of a scan that assign buckets; `None` if one is missing, or of a type with values that are equal to the
/// engine and may be in two buckets all the same.
fn bucket_keys(request: &ScanRequest<'_>, schema: &SchemaRef) -> Option<Vec<Arc<dyn PhysicalExpr>>> {
    let table = request.table.schema();
    let positions = table.bucket_key_positions();
    if positions.is_empty() {
        return None;
    }
    let column = |position: usize| {
        let field = &table.fields[position];
        let unequal_bytes = matches!(field.data_type, DataType::Float(_) | DataType::Double(_));
        if unequal_bytes || field.data_type.is_nested() {
            return None;
        }
        let index = schema.index_of(&field.name).ok()?;
        Some(Arc::new(Column::new(&field.name, index)) as Arc<dyn PhysicalExpr>)
    };
    positions.into_iter().map(column).collect()
}
