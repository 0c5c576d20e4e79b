//! The plan of an INSERT: writes all rows of its input and commits once.
//!
//! Invariants: nothing happens before the plan is executed, and a failed or dropped execution leaves nothing. Rows of one
//! key are written in the order in which they come, so one writer takes the whole input, but for tables where order
//! cannot matter: there each input partition has its own.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::internal_err;
use datafusion::common::runtime::JoinSet;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{Distribution, EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::execution_plan::{
    Boundedness, ChildrenPropertiesMode, EmissionType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, InputDistributionRequirements, Partitioning,
    PlanProperties,
};
use futures::StreamExt;
use paimon_core::commit::Overwrite;
use paimon_core::runtime::Resources;
use paimon_core::spec::{CommitMessage, DYNAMIC_PARTITION_OVERWRITE};
use paimon_core::table::WriteBuilder;
use paimon_core::types::Datum;
use paimon_core::{Error, Table};
use tokio::sync::mpsc;

use super::conform::Conform;
use super::uncommitted::{Uncommitted, Writer};
use crate::error::{to_core, to_datafusion};
use crate::runtime::PoolBudget;

/// What an INSERT does with rows that are there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteMode {
    /// They stay; in a primary-key table a new row replaces the one with its key.
    Append,
    /// Those in partitions that get new rows go.
    OverwriteDynamic,
    /// Those whose partition columns have these values go; all for no values.
    OverwriteStatic(BTreeMap<String, Option<Datum>>),
}

impl WriteMode {
    /// What INSERT OVERWRITE without PARTITION does: dynamic for partitioned tables unless
    /// `dynamic-partition-overwrite` is false, else everything goes.
    ///
    /// # Errors
    /// `InvalidConfig` if the option is no boolean.
    pub fn overwrite(table: &Table) -> Result<Self> {
        let dynamic = !table.schema().partition_keys.is_empty()
            && table.options().value(&DYNAMIC_PARTITION_OVERWRITE).map_err(to_datafusion)?;
        Ok(if dynamic { Self::OverwriteDynamic } else { Self::OverwriteStatic(BTreeMap::new()) })
    }

    fn to_overwrite(&self) -> Option<Overwrite> {
        match self {
            Self::Append => None,
            Self::OverwriteDynamic => Some(Overwrite::Dynamic),
            Self::OverwriteStatic(values) => Some(Overwrite::Static(values.clone())),
        }
    }
}

impl fmt::Display for WriteMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Append => f.write_str("append"),
            Self::OverwriteDynamic => f.write_str("overwrite-dynamic"),
            Self::OverwriteStatic(values) if values.is_empty() => f.write_str("overwrite"),
            Self::OverwriteStatic(values) => {
                write!(f, "overwrite-static[{}]", values.keys().cloned().collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// As an extension of the session's configuration: the input of an INSERT is polled on the thread that polls the INSERT. What
/// another library planned starts tasks, and finds the runtime that they belong to on its own threads only.
#[derive(Debug, Clone, Copy)]
pub struct InputOnCaller;

/// A plan that writes the rows of `input`, whose columns are those of the table in order, commits when all are written,
/// and gives one row `count`. Nothing happens before it is executed; a failed or dropped execution leaves nothing.
///
/// # Errors
/// `SchemaMismatch` if the columns are not those of the table; `Unsupported` if the table cannot be written yet;
/// `InvalidInput` if the handle is pinned to a snapshot.
pub fn insert_plan(table: Table, input: Arc<dyn ExecutionPlan>, mode: WriteMode) -> Result<Arc<dyn ExecutionPlan>> {
    let conform = Conform::try_new(&input.schema(), &table.schema().row_type())
        .map_err(|e| to_datafusion(e.with_context("table", table.identifier())))?;
    let builder = table.new_batch_write_builder().with_overwrite(mode.to_overwrite());
    // Refuses before anything is read.
    builder.new_write().map_err(to_datafusion)?;
    let parallel = !table.schema().has_primary_key() && table.bucket_option().map_err(to_datafusion)? == -1;
    let input = if !parallel && input.output_partitioning().partition_count() > 1 {
        // Hosts behind a C interface do not honour the distribution that a plan requires.
        Arc::new(CoalescePartitionsExec::new(input)) as Arc<dyn ExecutionPlan>
    } else {
        input
    };
    Ok(Arc::new(PaimonInsertExec::new(Target { table, conform, mode, parallel }, input)))
}

#[derive(Debug, Clone)]
struct Target {
    table: Table,
    conform: Conform,
    mode: WriteMode,
    /// Whether each input partition has its own writer.
    parallel: bool,
}

#[derive(Debug)]
struct PaimonInsertExec {
    target: Target,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

fn count_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("count", DataType::UInt64, false)]))
}

impl PaimonInsertExec {
    fn new(target: Target, input: Arc<dyn ExecutionPlan>) -> Self {
        let properties = PlanProperties::new(
            EquivalenceProperties::new(count_schema()),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        );
        Self { target, input, properties: Arc::new(properties), metrics: ExecutionPlanMetricsSet::new() }
    }
}

impl DisplayAs for PaimonInsertExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (table, mode) = (self.target.table.identifier(), &self.target.mode);
        match format {
            DisplayFormatType::TreeRender => write!(f, "table={table}\nmode={mode}"),
            _ => write!(f, "PaimonInsertExec: table={table}, mode={mode}"),
        }
    }
}

impl ExecutionPlan for PaimonInsertExec {
    fn name(&self) -> &'static str {
        "PaimonInsertExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        InputDistributionRequirements::new(vec![if self.target.parallel {
            Distribution::UnspecifiedDistribution
        } else {
            Distribution::SinglePartition
        }])
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    // The order of rows of one key decides which one wins.
    fn maintains_input_order(&self) -> Vec<bool> {
        vec![true]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match (children.pop(), children.pop()) {
            (Some(input), None) => Ok(Arc::new(Self::new(self.target.clone(), input))),
            _ => internal_err!("PaimonInsertExec has one child"),
        }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute))
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("PaimonInsertExec has one partition");
        }
        let run =
            Run { target: self.target.clone(), input: Arc::clone(&self.input), context, metrics: self.metrics.clone() };
        let stream = futures::stream::once(async move { run.run().await.map_err(to_datafusion) });
        Ok(Box::pin(RecordBatchStreamAdapter::new(count_schema(), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// One execution.
struct Run {
    target: Target,
    input: Arc<dyn ExecutionPlan>,
    context: Arc<TaskContext>,
    metrics: ExecutionPlanMetricsSet,
}

impl Run {
    async fn run(self) -> paimon_core::Result<RecordBatch> {
        let table = &self.target.table;
        let overwrite = self.target.mode.to_overwrite();
        let partitions = self.input.output_partitioning().partition_count();
        let writers = if self.target.parallel { partitions.max(1) } else { 1 };
        let parallelism = self.context.session_config().target_partitions().div_ceil(writers);
        let memory =
            Arc::new(PoolBudget::new(self.context.memory_pool(), format!("insert into {}", table.identifier())));
        let builder = table.new_batch_write_builder().with_overwrite(overwrite.clone()).with_resources(Resources {
            memory,
            parallelism,
            ..Resources::default()
        });
        let mut uncommitted = Uncommitted::new(builder.new_commit(), Vec::new());
        let mut tasks = JoinSet::new();
        let mut rows = 0;
        if self.context.session_config().get_extension::<InputOnCaller>().is_some() {
            let streams = self.parts(partitions)?.into_iter().flatten().collect();
            let (written, part) = write_on_caller(builder, self.target.conform.clone(), streams).await?;
            rows += written;
            uncommitted.add(part);
        } else {
            for part in self.parts(partitions)? {
                let (builder, conform) = (builder.clone(), self.target.conform.clone());
                tasks.spawn(write_all(builder, conform, part));
            }
        }
        while let Some(done) = tasks.join_next().await {
            let (written, part) =
                done.map_err(|e| Error::internal("a writer panicked").with_source(e)).and_then(|r| r)?;
            rows += written;
            uncommitted.add(part);
        }
        self.report(rows, uncommitted.messages());
        let timer = MetricBuilder::new(&self.metrics).subset_time("commit_time", 0);
        let guard = timer.timer();
        uncommitted.commit(overwrite).await?;
        guard.done();
        let count: ArrayRef = Arc::new(UInt64Array::from(vec![rows]));
        Ok(RecordBatch::try_new(count_schema(), vec![count])?)
    }

    /// The streams of the input, by writer.
    fn parts(&self, partitions: usize) -> paimon_core::Result<Vec<Vec<SendableRecordBatchStream>>> {
        let streams = (0..partitions)
            .map(|p| self.input.execute(p, Arc::clone(&self.context)).map_err(to_core))
            .collect::<paimon_core::Result<Vec<_>>>()?;
        Ok(if self.target.parallel { streams.into_iter().map(|s| vec![s]).collect() } else { vec![streams] })
    }

    fn report(&self, rows: u64, messages: &[CommitMessage]) {
        let count = |name: &'static str, value: u64| {
            MetricBuilder::new(&self.metrics).global_counter(name).add(usize::try_from(value).unwrap_or(usize::MAX));
        };
        let files = || messages.iter().flat_map(|m| m.append.new_files.iter().chain(&m.compact.compact_after));
        count("rows_written", rows);
        count("files_written", files().count() as u64);
        count("bytes_written", files().map(|f| u64::try_from(f.file_size).unwrap_or(0)).sum());
    }
}

/// Writes the rows of all streams as they come, without handing the streams to another task.
async fn write_on_caller(
    builder: WriteBuilder,
    conform: Conform,
    streams: Vec<SendableRecordBatchStream>,
) -> paimon_core::Result<(u64, Uncommitted)> {
    let mut writer = Writer::try_new(&builder)?;
    let write = async {
        let (mut input, mut rows) = (futures::stream::select_all(streams), 0);
        while let Some(batch) = input.next().await {
            let batch = conform.batch(&batch.map_err(to_core)?)?;
            if batch.num_rows() > 0 {
                writer.write(&batch).await?;
                rows += batch.num_rows() as u64;
            }
        }
        Ok(rows)
    };
    let written = write.await;
    finished(&builder, writer, written).await
}

/// Writes the rows of some streams, one stream after another. What was written is deleted if one fails.
async fn write_all(
    builder: WriteBuilder,
    conform: Conform,
    streams: Vec<SendableRecordBatchStream>,
) -> paimon_core::Result<(u64, Uncommitted)> {
    let mut writer = Writer::try_new(&builder)?;
    let written = write_streams(&mut writer, &conform, streams).await;
    finished(&builder, writer, written).await
}

/// How many rows were written and what of them is to be committed; what was written is deleted if that failed.
async fn finished(
    builder: &WriteBuilder,
    writer: Writer,
    written: paimon_core::Result<u64>,
) -> paimon_core::Result<(u64, Uncommitted)> {
    match written {
        // Owned at once: a task that has ended may never be asked for what it gives.
        Ok(rows) => Ok((rows, Uncommitted::new(builder.new_commit(), writer.finish().await?))),
        Err(error) => {
            writer.abort().await;
            Err(error)
        }
    }
}

async fn write_streams(
    writer: &mut Writer,
    conform: &Conform,
    streams: Vec<SendableRecordBatchStream>,
) -> paimon_core::Result<u64> {
    let mut rows = 0;
    for mut stream in streams {
        // The input computes the next batch while this one is written.
        let (sender, mut receiver) = mpsc::channel(2);
        let mut producer = JoinSet::new();
        producer.spawn(async move {
            while let Some(batch) = stream.next().await {
                let failed = batch.is_err();
                if sender.send(batch).await.is_err() || failed {
                    break;
                }
            }
        });
        while let Some(batch) = receiver.recv().await {
            let batch = conform.batch(&batch.map_err(to_core)?)?;
            if batch.num_rows() > 0 {
                writer.write(&batch).await?;
                rows += batch.num_rows() as u64;
            }
        }
        // A producer that panicked would look like the end of its rows.
        while let Some(ended) = producer.join_next().await {
            ended.map_err(|e| Error::internal("the input of an INSERT panicked").with_source(e))?;
        }
    }
    Ok(rows)
}
