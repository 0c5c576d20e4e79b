//! The tables of the database `sys` as tables of the engine.

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
use paimon_core::Catalog;
use paimon_core::catalog::CatalogTable;
use tokio::runtime::Handle;

use super::batch_exec::{BatchSource, PaimonBatchExec};
use crate::error::unsupported;

/// A table of the database `sys` of a catalog; read only.
#[derive(Debug, Clone)]
pub struct PaimonCatalogTableProvider {
    catalog: Arc<dyn Catalog>,
    table: CatalogTable,
    handle: Handle,
}

impl PaimonCatalogTableProvider {
    /// The table `table` of `catalog`.
    pub fn new(catalog: Arc<dyn Catalog>, table: CatalogTable, handle: Handle) -> Self {
        Self { catalog, table, handle }
    }
}

impl fmt::Display for PaimonCatalogTableProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table={}.{}", CatalogTable::DATABASE, self.table.name())
    }
}

#[async_trait]
impl BatchSource for PaimonCatalogTableProvider {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
    }

    async fn batch(&self) -> paimon_core::Result<RecordBatch> {
        self.table.read(self.catalog.as_ref()).await
    }
}

#[async_trait]
impl TableProvider for PaimonCatalogTableProvider {
    fn schema(&self) -> SchemaRef {
        self.table.schema()
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
        unsupported(format!("writing the system table {}.{}", CatalogTable::DATABASE, self.table.name()))
    }
}
