//! Text that rows are grouped by, read as views.
//!
//! The engine groups by views faster than by offsets, and its Parquet source decodes them faster, but a table shows text as
//! `Utf8`. So where an aggregation groups by text columns of our Parquet scans, the scans give views, and a projection
//! above the aggregation casts the few values that are left.
//!
//! Invariants: the plan keeps its schema; nothing between scan and aggregation but the keys reads a column that is changed;
//! nothing above relies on how the rows of the aggregation are partitioned, for the two types need not hash alike. Source:
//! engine sheet section 5.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::config::ConfigOptions;
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode, AggregateOutputMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode, Partitioning};

use super::source::PaimonParquetSource;

/// The rule before which this one runs: it puts nodes above scans.
const BEFORE: &str = "EnsureCooperative";

type Plan = Arc<dyn ExecutionPlan>;

/// Reads text that is grouped by as views.
#[derive(Debug)]
struct TextKeys;

impl PhysicalOptimizerRule for TextKeys {
    fn optimize(&self, plan: Plan, _: &ConfigOptions) -> Result<Plan> {
        let changed = visit(&plan, true)?;
        Ok(changed.unwrap_or(plan))
    }

    fn name(&self) -> &'static str {
        "PaimonTextKeys"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Adds the rule to those of a session.
pub(super) fn add_to(optimizer: &mut PhysicalOptimizer) {
    let at = optimizer.rules.iter().position(|rule| rule.name() == BEFORE).unwrap_or(optimizer.rules.len());
    optimizer.rules.insert(at, Arc::new(TextKeys));
}

/// The plan with its aggregations over views; `None` if nothing changes. `free` says that no node above relies on how the
/// rows of `plan` are partitioned.
fn visit(plan: &Plan, free: bool) -> Result<Option<Plan>> {
    if free && let Some(changed) = aggregation(plan)? {
        return Ok(Some(changed));
    }
    let free = is::<RepartitionExec>(plan)
        || is::<CoalescePartitionsExec>(plan)
        || is::<SortPreservingMergeExec>(plan)
        || free && passes_on(plan);
    let children: Vec<Option<Plan>> =
        plan.children().into_iter().map(|child| visit(child, free)).collect::<Result<_>>()?;
    if children.iter().all(Option::is_none) {
        return Ok(None);
    }
    let old = plan.children().into_iter().map(Arc::clone);
    let children = children.into_iter().zip(old).map(|(new, old)| new.unwrap_or(old)).collect();
    with_children(plan, children).map(Some)
}

fn is<T: ExecutionPlan>(plan: &Plan) -> bool {
    plan.downcast_ref::<T>().is_some()
}

/// Whether a node asks nothing of the partitioning of its input.
fn passes_on(plan: &Plan) -> bool {
    is::<SortExec>(plan)
        || is::<ProjectionExec>(plan)
        || is::<FilterExec>(plan)
        || is::<GlobalLimitExec>(plan)
        || is::<LocalLimitExec>(plan)
        || plan.downcast_ref::<AggregateExec>().is_some_and(|a| a.mode().output_mode() == AggregateOutputMode::Partial)
}

fn with_children(plan: &Plan, children: Vec<Plan>) -> Result<Plan> {
    Arc::clone(plan).replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
}

/// An aggregation whose text keys are views inside; `None` if there are none or they cannot be.
fn aggregation(plan: &Plan) -> Result<Option<Plan>> {
    let Some(last) = plan.downcast_ref::<AggregateExec>() else { return Ok(None) };
    if last.mode().output_mode() != AggregateOutputMode::Final {
        return Ok(None);
    }
    // The nodes from the last stage to the first, which reads the rows.
    let mut stages = vec![Arc::clone(plan)];
    let mut current = plan;
    while !is_first_stage(current) {
        let children = current.children();
        let [child] = children.as_slice() else { return Ok(None) };
        if !is::<RepartitionExec>(child) && !is::<CoalescePartitionsExec>(child) && !is::<AggregateExec>(child) {
            return Ok(None);
        }
        current = child;
        stages.push(Arc::clone(current));
    }
    if !stages.iter().filter_map(|stage| stage.downcast_ref::<AggregateExec>()).all(is_plain) {
        return Ok(None);
    }
    let Some(first) = current.downcast_ref::<AggregateExec>() else { return Ok(None) };
    let mut keys = Vec::new();
    for key in text_keys(first) {
        // Values of a partition are no text of files, for example.
        if as_views(first.input(), &[key])?.is_some() {
            keys.push(key);
        }
    }
    if keys.is_empty() {
        return Ok(None);
    }
    let Some(input) = as_views(first.input(), &keys)? else { return Ok(None) };
    let rows = input.schema();
    let mut changed = input;
    for stage in stages.iter().rev() {
        changed = match stage.downcast_ref::<AggregateExec>() {
            Some(stage) => aggregate_over(stage, changed, &rows)?,
            None => with_children(stage, vec![changed])?,
        };
    }
    let changed = cast_back(changed, &plan.schema())?;
    Ok(changed.filter(|changed| changed.schema() == plan.schema()))
}

fn is_first_stage(plan: &Plan) -> bool {
    plan.downcast_ref::<AggregateExec>().is_some_and(|a| a.mode().input_mode() == AggregateInputMode::Raw)
}

/// Whether an aggregation hashes its keys and does nothing else that depends on their type.
fn is_plain(stage: &AggregateExec) -> bool {
    stage.group_expr().is_single()
        && *stage.input_order_mode() == InputOrderMode::Linear
        && stage.limit_options().is_none()
}

/// The columns of the input that are text and only grouped by.
fn text_keys(stage: &AggregateExec) -> Vec<usize> {
    let schema = stage.input().schema();
    let aggregates = stage.aggr_expr().iter().map(|aggregate| aggregate.all_expressions());
    let mut others: Vec<Arc<dyn PhysicalExpr>> =
        aggregates.flat_map(|e| e.args.into_iter().chain(e.order_by_exprs)).collect();
    others.extend(stage.filter_expr().iter().flatten().cloned());
    let mut keys = Vec::new();
    for (key, _) in stage.group_expr().expr() {
        match key.downcast_ref::<Column>() {
            Some(column) if *schema.field(column.index()).data_type() == DataType::Utf8 => keys.push(column.index()),
            Some(_) => {}
            None => others.push(Arc::clone(key)),
        }
    }
    keys.retain(|key| !others.iter().any(|other| reads(other, *key)));
    keys
}

fn reads(expr: &Arc<dyn PhysicalExpr>, index: usize) -> bool {
    collect_columns(expr).iter().any(|column| column.index() == index)
}

/// The same stage over other types of the same columns. `rows` is what the first stage reads.
fn aggregate_over(stage: &AggregateExec, input: Plan, rows: &SchemaRef) -> Result<Plan> {
    let (aggregates, filters) = (stage.aggr_expr().to_vec(), stage.filter_expr().to_vec());
    let keys = stage.group_expr().clone();
    let changed = AggregateExec::try_new(*stage.mode(), keys, aggregates, filters, input, Arc::clone(rows))?;
    Ok(Arc::new(changed))
}

/// The columns of a plan cast to the types of a schema; `None` if they are not its columns.
fn cast_back(plan: Plan, schema: &SchemaRef) -> Result<Option<Plan>> {
    if plan.schema().fields().len() != schema.fields().len() {
        return Ok(None);
    }
    let found = plan.schema();
    let expressions = schema.fields().iter().zip(found.fields()).enumerate().map(|(i, (wanted, found))| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(found.name(), i));
        let expr = match wanted.data_type() == found.data_type() {
            true => column,
            false => Arc::new(CastExpr::new_with_target_field(column, Arc::clone(wanted), None)),
        };
        ProjectionExpr { expr, alias: wanted.name().clone() }
    });
    Ok(Some(Arc::new(ProjectionExec::try_new(expressions, plan)?)))
}

/// The plan with views in these columns; `None` if one of them is used on the way or comes from elsewhere.
fn as_views(plan: &Plan, columns: &[usize]) -> Result<Option<Plan>> {
    if let Some(scan) = plan.downcast_ref::<DataSourceExec>() {
        return scan_of_views(scan, columns);
    }
    if let Some(union) = plan.downcast_ref::<UnionExec>() {
        let inputs = union.inputs().iter().map(|input| as_views(input, columns)).collect::<Result<Option<Vec<_>>>>()?;
        return inputs.map(UnionExec::try_new).transpose();
    }
    if let Some(filter) = plan.downcast_ref::<FilterExec>() {
        let columns: Vec<usize> = match filter.projection() {
            Some(projection) => columns.iter().map(|column| projection[*column]).collect(),
            None => columns.to_vec(),
        };
        if columns.iter().any(|column| reads(filter.predicate(), *column)) {
            return Ok(None);
        }
        let Some(input) = as_views(filter.input(), &columns)? else { return Ok(None) };
        return Ok(Some(Arc::new(FilterExecBuilder::from(filter).with_input(input).build()?)));
    }
    if let Some(repartition) = plan.downcast_ref::<RepartitionExec>()
        && matches!(repartition.partitioning(), Partitioning::RoundRobinBatch(_))
    {
        let Some(input) = as_views(repartition.input(), columns)? else { return Ok(None) };
        return with_children(plan, vec![input]).map(Some);
    }
    Ok(None)
}

fn scan_of_views(scan: &DataSourceExec, columns: &[usize]) -> Result<Option<Plan>> {
    let Some(config) = scan.data_source().downcast_ref::<FileScanConfig>() else { return Ok(None) };
    let Some(source) = config.file_source().downcast_ref::<PaimonParquetSource>() else { return Ok(None) };
    let Some(source) = source.with_views(columns)? else { return Ok(None) };
    let config = FileScanConfigBuilder::from(config.clone()).with_source(Arc::new(source)).build();
    Ok(Some(DataSourceExec::from_data_source(config)))
}
