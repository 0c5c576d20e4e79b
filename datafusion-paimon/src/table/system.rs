//! System tables (`t$snapshots`) as tables of the engine.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use paimon_core::Table;
use paimon_core::table::SystemTable;
use tokio::runtime::Handle;

use super::batch_exec::{BatchSource, PaimonBatchExec};
use crate::error::unsupported;

/// A system table of a table; read only.
#[derive(Debug, Clone)]
pub struct PaimonSystemTableProvider {
    table: Table,
    system: SystemTable,
    handle: Handle,
}

impl PaimonSystemTableProvider {
    /// The system table `system` of `table`.
    pub fn new(table: Table, system: SystemTable, handle: Handle) -> Self {
        Self { table, system, handle }
    }
}

impl fmt::Display for PaimonSystemTableProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table={}${}", self.table.identifier(), self.system.name())?;
        match self.table.pinned() {
            Some(snapshot) if self.system.travels() => write!(f, ", snapshot={}", snapshot.id),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl BatchSource for PaimonSystemTableProvider {
    fn schema(&self) -> SchemaRef {
        self.system.schema()
    }

    async fn batch(&self) -> paimon_core::Result<RecordBatch> {
        self.system.read(&self.table).await
    }
}

#[async_trait]
impl TableProvider for PaimonSystemTableProvider {
    fn schema(&self) -> SchemaRef {
        self.system.schema()
    }

    // DROP TABLE of the engine takes base tables only.
    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        _: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(Arc::new(PaimonBatchExec::try_new(Arc::new(self.clone()), projection, self.handle.clone())?))
    }

    async fn insert_into(
        &self,
        _: &dyn Session,
        _: Arc<dyn ExecutionPlan>,
        _: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        unsupported(format!("writing the system table {}${}", self.table.identifier(), self.system.name()))
    }
}
