//! A plan node whose rows are one batch that is made when it is executed: system tables and procedures.
//!
//! Invariants: planning, EXPLAIN and views make nothing; each execution makes the batch once, on our runtime.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::internal_err;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::execution_plan::{
    Boundedness, ChildrenPropertiesMode, EmissionType, EvaluationType, ReplaceChildrenOptions,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet, RecordOutput};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use tokio::runtime::Handle;

use crate::blocking;
use crate::error::to_datafusion;

/// What makes the batch.
#[async_trait]
pub(crate) trait BatchSource: fmt::Debug + fmt::Display + Send + Sync {
    /// The columns.
    fn schema(&self) -> SchemaRef;

    /// Makes the batch.
    async fn batch(&self) -> paimon_core::Result<RecordBatch>;
}

/// Makes a batch and gives some of its columns.
#[derive(Debug)]
pub(crate) struct PaimonBatchExec {
    source: Arc<dyn BatchSource>,
    projection: Option<Vec<usize>>,
    handle: Handle,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl PaimonBatchExec {
    pub(crate) fn try_new(
        source: Arc<dyn BatchSource>,
        projection: Option<&Vec<usize>>,
        handle: Handle,
    ) -> Result<Self> {
        let schema = match projection {
            Some(positions) => Arc::new(source.schema().project(positions)?),
            None => source.schema(),
        };
        let properties = PlanProperties::new(
            EquivalenceProperties::new(schema),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        )
        .with_evaluation_type(EvaluationType::Lazy);
        let metrics = ExecutionPlanMetricsSet::new();
        Ok(Self { source, projection: projection.cloned(), handle, properties: Arc::new(properties), metrics })
    }
}

impl DisplayAs for PaimonBatchExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::TreeRender => write!(f, "{}", self.source),
            _ => write!(f, "PaimonBatchExec: {}", self.source),
        }
    }
}

impl ExecutionPlan for PaimonBatchExec {
    fn name(&self) -> &'static str {
        "PaimonBatchExec"
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
        if children.is_empty() { Ok(self) } else { internal_err!("PaimonBatchExec has no children") }
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        self.replace_children(children, ReplaceChildrenOptions::new(ChildrenPropertiesMode::Keep))
    }

    fn execute(&self, partition: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("PaimonBatchExec has one partition");
        }
        let (source, handle, projection) = (Arc::clone(&self.source), self.handle.clone(), self.projection.clone());
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let stream = futures::stream::once(async move {
            let batch = blocking::on(&handle, async move { source.batch().await }).await?.map_err(to_datafusion)?;
            let batch = match projection {
                Some(positions) => batch.project(&positions)?,
                None => batch,
            };
            Ok(batch.record_output(&baseline))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), stream)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}
