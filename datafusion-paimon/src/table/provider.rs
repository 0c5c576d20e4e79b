//! A table of the format as a table of the engine.
//!
//! Invariants: one provider sees one snapshot, chosen when it is made, so that planning and execution agree and every
//! use of a table in one statement sees the same rows.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use paimon_core::Table;
use paimon_core::spec::Snapshot;
use paimon_core::types::to_arrow_schema;
use tokio::runtime::Handle;

use crate::error::unsupported;
use crate::write::{WriteMode, insert_plan};

/// A table, pinned to a snapshot.
#[derive(Debug, Clone)]
pub struct PaimonTableProvider {
    table: Table,
    /// The snapshot that is read; `None` if the table had none.
    snapshot: Option<Arc<Snapshot>>,
    schema: SchemaRef,
    handle: Handle,
    definition: Option<String>,
}

impl PaimonTableProvider {
    /// The provider of a table, pinned to the snapshot that its handle is pinned to, else to the latest one.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn try_new(table: Table, handle: Handle) -> paimon_core::Result<Self> {
        let snapshot = table.current_snapshot().await?.map(Arc::new);
        let schema = to_arrow_schema(&table.schema().row_type());
        Ok(Self { table, snapshot, schema, handle, definition: None })
    }

    /// What SHOW CREATE TABLE prints.
    #[must_use]
    pub fn with_definition(mut self, definition: impl Into<String>) -> Self {
        self.definition = Some(definition.into());
        self
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The snapshot that is read; `None` if the table had none.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// The runtime.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}

#[async_trait]
impl TableProvider for PaimonTableProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn get_table_definition(&self) -> Option<&str> {
        self.definition.as_deref()
    }

    async fn scan(
        &self,
        _state: &dyn Session,
        _projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        _limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        unsupported("scanning")
    }

    async fn insert_into(
        &self,
        _state: &dyn Session,
        input: Arc<dyn ExecutionPlan>,
        op: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let mode = match op {
            InsertOp::Append => WriteMode::Append,
            InsertOp::Overwrite => WriteMode::overwrite(&self.table)?,
            InsertOp::Replace => {
                return unsupported("REPLACE INTO a Paimon table; INSERT into a primary-key table upserts");
            }
        };
        insert_plan(self.table.clone(), input, mode)
    }
}
