//! Splits that the core reads: those that need a merge, and those the engine's own sources cannot read.
//!
//! Invariants: a partition is a group of whole splits, so no key is in two partitions; rows pass the filter of the scan.
//! Partitioning by bucket is declared by `bucket_partitioning` alone. Memory comes from the pool of the task.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::stats::Precision;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{ColumnStatistics, DataFusionError, Statistics, internal_err};
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::execution_plan::{
    Boundedness, ChildrenPropertiesMode, EmissionType, ReplaceChildrenOptions, SchedulingType,
};
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet, RecordOutput,
};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, StatisticsArgs,
};
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use paimon_core::read::TableRead;
use paimon_core::runtime::Resources;
use paimon_core::scan::Split;
use paimon_core::table::ReadBuilder;

use super::balance::balance;
use super::explain::ScanInfo;
use super::merge_metric::MergeMetric;
use super::pairs::pack;
use crate::error::to_datafusion;
use crate::runtime::PoolBudget;

/// Rows of an execution.
type Rows = BoxStream<'static, Result<RecordBatch>>;

/// Reads groups of splits through the core; one partition each.
#[derive(Debug, Clone)]
pub(crate) struct PaimonSplitsExec {
    /// Projection and filter of the scan.
    builder: ReadBuilder,
    groups: Arc<Vec<Vec<Split>>>,
    /// The columns of the result that assign buckets; `None` if rows that the engine takes as equal may be in two.
    bucket_keys: Option<Vec<Arc<dyn PhysicalExpr>>>,
    info: Arc<ScanInfo>,
    shape: RowShape,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

/// How the rows of splits are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowShape {
    /// As they are read.
    Plain,
    /// With their kinds.
    Kinds,
    /// With their kinds, as arrays: in events, a row before an update together with the one behind it.
    Pairs,
}

impl PaimonSplitsExec {
    /// A node whose batches have this schema; no groups give no rows.
    pub(crate) fn new(builder: ReadBuilder, schema: SchemaRef, groups: Vec<Vec<Split>>, info: Arc<ScanInfo>) -> Self {
        let partitioning = Partitioning::UnknownPartitioning(groups.len().max(1));
        let properties = Arc::new(properties(schema, partitioning));
        let metrics = ExecutionPlanMetricsSet::new();
        info.report(&metrics);
        Self { builder, groups: Arc::new(groups), bucket_keys: None, info, shape: RowShape::Plain, properties, metrics }
    }

    /// The columns of the result by which [`PaimonSplitsExec::by_bucket`] may declare a partitioning.
    #[must_use]
    pub(crate) fn with_bucket_keys(mut self, keys: Option<Vec<Arc<dyn PhysicalExpr>>>) -> Self {
        self.bucket_keys = keys;
        self
    }

    /// Another shape of the rows; the builder must give their kinds and the schema must fit.
    #[must_use]
    pub(crate) fn with_shape(mut self, shape: RowShape) -> Self {
        self.shape = shape;
        self
    }

    /// The rows of splits in their shape.
    fn rows(&self, read: TableRead, splits: &[Split], schema: &SchemaRef) -> paimon_core::Result<Rows> {
        let schema = Arc::clone(schema);
        Ok(match self.shape {
            RowShape::Plain => read.to_arrow(splits)?.map_err(to_datafusion).boxed(),
            RowShape::Kinds => {
                let named = move |batch: RecordBatch| Ok(batch.with_schema(Arc::clone(&schema))?);
                read.to_arrow(splits)?.map_err(to_datafusion).map(move |batch| batch.and_then(&named)).boxed()
            }
            // One after another: rows of different splits must not stand between those of a pair.
            RowShape::Pairs => {
                let packed = move |split: Split| {
                    let rows = read.read_split(&split).map_err(to_datafusion)?.map_err(to_datafusion);
                    Ok::<_, DataFusionError>(pack(rows, Arc::clone(&schema), split.streaming))
                };
                stream::iter(splits.to_vec()).map(packed).try_flatten().boxed()
            }
        })
    }

    /// The same scan with all splits of a bucket in one of at most so many partitions, which it declares. `None` if
    /// there are no buckets to go by, or too few or uneven ones for the partitions that there are.
    pub(crate) fn by_bucket(&self, partitions: usize) -> Option<Self> {
        let keys = self.bucket_keys.clone()?;
        let mut buckets: BTreeMap<i32, Vec<Split>> = BTreeMap::new();
        let count = self.splits(None).next()?.total_buckets.filter(|count| *count > 1)?;
        for split in self.splits(None) {
            if split.total_buckets != Some(count) {
                return None;
            }
            buckets.entry(split.bucket).or_default().push(split.clone());
        }
        let groups = balance(buckets.into_values().collect(), partitions, |bucket| bytes(bucket));
        let groups: Vec<Vec<Split>> = groups.into_iter().map(|group| group.into_iter().flatten().collect()).collect();
        let largest = |groups: &[Vec<Split>]| groups.iter().map(|group| bytes(group)).max().unwrap_or(0);
        if groups.len() < self.groups.len() || largest(&groups) > largest(&self.groups).saturating_mul(3) / 2 {
            return None;
        }
        let partitioning = Partitioning::Hash(keys, groups.len());
        let properties = Arc::new(properties(self.schema(), partitioning));
        Some(Self { groups: Arc::new(groups), properties, ..self.clone() })
    }

    fn splits(&self, partition: Option<usize>) -> impl Iterator<Item = &Split> {
        let groups = match partition {
            Some(partition) => self.groups.get(partition..=partition).unwrap_or_default(),
            None => &self.groups[..],
        };
        groups.iter().flatten()
    }

    /// Splits that are merged from several sorted runs, and those read as they are.
    fn merged_and_raw(&self) -> (usize, usize) {
        let merged = self.splits(None).filter(|s| !s.raw_convertible).count();
        (merged, self.splits(None).count() - merged)
    }
}

fn properties(schema: SchemaRef, partitioning: Partitioning) -> PlanProperties {
    let equivalence = EquivalenceProperties::new(schema);
    PlanProperties::new(equivalence, partitioning, EmissionType::Incremental, Boundedness::Bounded)
        .with_scheduling_type(SchedulingType::Cooperative)
}

fn bytes(splits: &[Split]) -> u64 {
    splits.iter().map(|split| u64::try_from(split.size_bytes()).unwrap_or(0)).sum()
}

impl DisplayAs for PaimonSplitsExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (merged, raw) = self.merged_and_raw();
        match format {
            DisplayFormatType::TreeRender => write!(f, "{}\nmerged={merged}\nraw={raw}", self.info),
            _ => {
                write!(f, "PaimonSplitsExec: {}, merged={merged}, raw={raw}", self.info)?;
                match self.properties.output_partitioning() {
                    hash @ Partitioning::Hash(..) => write!(f, ", partitioning={hash}"),
                    _ => Ok(()),
                }
            }
        }
    }
}

impl ExecutionPlan for PaimonSplitsExec {
    fn name(&self) -> &'static str {
        "PaimonSplitsExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        Vec::new()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() { Ok(self) } else { internal_err!("PaimonSplitsExec has no children") }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep))
    }

    fn statistics_from_inputs(&self, _: &[Arc<Statistics>], args: &StatisticsArgs) -> Result<Arc<Statistics>> {
        let columns = self.schema().fields().len();
        let rows = self.splits(args.partition()).map(Split::row_count).sum::<i64>();
        let bytes = self.splits(args.partition()).map(Split::size_bytes).sum::<i64>();
        let (rows, bytes) = (usize::try_from(rows).unwrap_or(0), usize::try_from(bytes).unwrap_or(0));
        // Old versions of keys and deletes are among the rows.
        let estimate = if self.groups.is_empty() { Precision::Exact } else { Precision::Inexact };
        let column = match self.groups.is_empty() {
            true => ColumnStatistics { null_count: Precision::Exact(0), ..ColumnStatistics::new_unknown() },
            false => ColumnStatistics::new_unknown(),
        };
        Ok(Arc::new(Statistics {
            num_rows: estimate(rows),
            total_byte_size: Precision::Inexact(bytes),
            column_statistics: vec![column; columns],
        }))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let schema = self.schema();
        let Some(splits) = self.groups.get(partition) else {
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream::empty())));
        };
        let name = format!("PaimonSplitsExec[{partition}]");
        let parallelism = context.session_config().target_partitions().div_ceil(self.groups.len());
        let memory = Arc::new(PoolBudget::of_task(&context, name));
        let mut merging = MergeMetric::new(&self.metrics, partition);
        let resources = Resources { memory, parallelism, merge_time: merging.reported() };
        let read = self.builder.clone().with_resources(resources).new_read();
        let stream = read.and_then(|read| self.rows(read, splits, &schema)).map_err(to_datafusion)?;
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        MetricBuilder::new(&self.metrics).counter("splits_read", partition).add(splits.len());
        let stream = stream.map(move |batch| {
            merging.update();
            batch.record_output(&baseline)
        });
        Ok(Box::pin(cooperative(RecordBatchStreamAdapter::new(schema, stream))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
