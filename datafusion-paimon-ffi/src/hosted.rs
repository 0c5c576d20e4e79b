//! Providers whose plans run in an environment of ours.
//!
//! Invariants: everything else is passed on unchanged; statistics, filters and errors are those of the provider within,
//! errors as the host can show them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{
    CatalogProvider, SchemaProvider, Session, TableFunctionArgs, TableFunctionImpl, TableProvider,
};
use datafusion::common::Statistics;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties};
use datafusion_paimon::to_host;
use datafusion_paimon::write::InputOnCaller;
use futures::TryStreamExt;

/// The environment of all plans that foreign hosts run: one per process, so that caches are shared.
fn environment() -> Arc<RuntimeEnv> {
    static ENVIRONMENT: OnceLock<Arc<RuntimeEnv>> = OnceLock::new();
    Arc::clone(ENVIRONMENT.get_or_init(|| Arc::new(RuntimeEnv::default())))
}

/// A catalog whose tables are [`HostedTable`]s.
#[derive(Debug)]
pub struct HostedCatalog(Arc<dyn CatalogProvider>);

impl HostedCatalog {
    /// Wraps a catalog.
    pub fn new(catalog: Arc<dyn CatalogProvider>) -> Self {
        Self(catalog)
    }
}

impl CatalogProvider for HostedCatalog {
    fn schema_names(&self) -> Vec<String> {
        self.0.schema_names()
    }

    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let schema = self.0.schema(name)?;
        Some(Arc::new(HostedSchema(schema)))
    }

    fn register_schema(&self, name: &str, schema: Arc<dyn SchemaProvider>) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.0.register_schema(name, schema).map_err(to_host)
    }

    fn deregister_schema(&self, name: &str, cascade: bool) -> Result<Option<Arc<dyn SchemaProvider>>> {
        self.0.deregister_schema(name, cascade).map_err(to_host)
    }
}

#[derive(Debug)]
struct HostedSchema(Arc<dyn SchemaProvider>);

#[async_trait]
impl SchemaProvider for HostedSchema {
    fn owner_name(&self) -> Option<&str> {
        self.0.owner_name()
    }

    fn table_names(&self) -> Vec<String> {
        self.0.table_names()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        let table = self.0.table(name).await.map_err(to_host)?;
        Ok(table.map(|table| Arc::new(HostedTable(table)) as Arc<dyn TableProvider>))
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        self.0.table_type(name).await.map_err(to_host)
    }

    fn register_table(&self, name: String, table: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        self.0.register_table(name, table).map_err(to_host)
    }

    fn deregister_table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        self.0.deregister_table(name).map_err(to_host)
    }

    fn table_exist(&self, name: &str) -> bool {
        self.0.table_exist(name)
    }
}

/// A table whose plans run in an environment of ours.
#[derive(Debug)]
pub struct HostedTable(Arc<dyn TableProvider>);

impl HostedTable {
    /// Wraps a table.
    pub fn new(table: Arc<dyn TableProvider>) -> Self {
        Self(table)
    }
}

#[async_trait]
impl TableProvider for HostedTable {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.0.scan(state, projection, filters, limit).await.map_err(to_host)?;
        Ok(Arc::new(HostedExec::scan(plan)))
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.0.supports_filters_pushdown(filters)
    }

    fn statistics(&self) -> Option<Statistics> {
        self.0.statistics()
    }

    async fn insert_into(
        &self,
        state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = self.0.insert_into(state, input, op).await.map_err(to_host)?;
        Ok(Arc::new(HostedExec::insert(plan)))
    }
}

/// A table function whose tables are [`HostedTable`]s.
#[derive(Debug)]
pub struct HostedFunction(Arc<dyn TableFunctionImpl>);

impl HostedFunction {
    /// Wraps a table function.
    pub fn new(function: Arc<dyn TableFunctionImpl>) -> Self {
        Self(function)
    }
}

impl TableFunctionImpl for HostedFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        Ok(Arc::new(HostedTable(self.0.call_with_args(args).map_err(to_host)?)))
    }
}

/// Runs a plan with the environment replaced.
///
/// A host does not see what a plan of another library requires of its input, nor what it gains from more partitions: between
/// nodes of ours it would put nodes of its own. So it sees only what it made itself: nothing below a scan, and the input of an
/// INSERT.
#[derive(Debug)]
struct HostedExec {
    plan: Arc<dyn ExecutionPlan>,
    /// Whether the children of `plan` are the host's.
    has_input: bool,
}

impl HostedExec {
    fn scan(plan: Arc<dyn ExecutionPlan>) -> Self {
        Self { plan, has_input: false }
    }

    fn insert(plan: Arc<dyn ExecutionPlan>) -> Self {
        Self { plan, has_input: true }
    }
}

/// The plan below a repartitioning that deals batches out in turn: the host adds it for speed, and rows of one key would lose
/// their order.
fn in_order(plan: &Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let deals_out = matches!(plan.properties().output_partitioning(), Partitioning::RoundRobinBatch(_));
    match plan.children().as_slice() {
        [child] if deals_out && plan.name().contains("RepartitionExec") => Arc::clone(child),
        _ => Arc::clone(plan),
    }
}

impl DisplayAs for HostedExec {
    fn fmt_as(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PaimonHostedExec: ")?;
        self.plan.fmt_as(format, f)
    }
}

impl ExecutionPlan for HostedExec {
    fn name(&self) -> &'static str {
        "PaimonHostedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.plan.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        if self.has_input { self.plan.children() } else { Vec::new() }
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.children().iter().map(|_| true).collect()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        self.children().iter().map(|_| false).collect()
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        if children.is_empty() && !self.has_input {
            return Ok(self);
        }
        let children = children.iter().map(in_order).collect();
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        Ok(Arc::new(Self { plan: Arc::clone(&self.plan).replace_children(children, options)?, has_input: true }))
    }

    fn apply_expressions(
        &self,
        _f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let context = TaskContext::new(
            context.task_id(),
            context.session_id(),
            context.session_config().clone().with_extension(Arc::new(InputOnCaller)),
            context.scalar_functions().clone(),
            context.higher_order_functions().clone(),
            context.aggregate_functions().clone(),
            context.window_functions().clone(),
            environment(),
        );
        let stream = self.plan.execute(partition, Arc::new(context)).map_err(to_host)?;
        let schema = stream.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, stream.map_err(to_host))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.plan.metrics()
    }

    fn partition_statistics(&self, partition: Option<usize>) -> Result<Arc<Statistics>> {
        #[expect(deprecated, reason = "what the engine's default still calls")]
        self.plan.partition_statistics(partition)
    }
}
