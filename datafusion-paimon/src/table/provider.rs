//! A table of the format as a table of the engine.
//!
//! Invariants: one provider sees one snapshot, chosen when it is made, so that planning and execution agree and every
//! use of a table in one statement sees the same rows.

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::DFSchemaRef;
use datafusion::error::Result;
use datafusion::logical_expr::dml::{InsertOp, MergeIntoClause};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use paimon_core::Table;
use paimon_core::spec::Snapshot;
use paimon_core::types::to_arrow_schema;
use tokio::runtime::Handle;

use super::batch_exec::PaimonBatchExec;
use super::truncate::Truncate;
use crate::blocking;
use crate::error::{to_datafusion, unsupported};
use crate::expr::to_predicate;
use crate::scan::{self, ScanRequest};
use crate::sql::table_definition;
use crate::write::{WriteMode, insert_plan};

/// A table, pinned to a snapshot.
#[derive(Debug, Clone)]
pub struct PaimonTableProvider {
    /// The table as it was looked up: what is written.
    table: Table,
    /// The table pinned to the snapshot that is read; not pinned if it had none.
    pinned: Table,
    schema: SchemaRef,
    handle: Handle,
    /// The catalog that SHOW CREATE TABLE names.
    catalog: String,
    definition: OnceLock<Option<String>>,
}

impl PaimonTableProvider {
    /// The provider of a table, pinned to the snapshot that its handle is pinned to, else to the latest one.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn try_new(table: Table, handle: Handle) -> paimon_core::Result<Self> {
        blocking::note(&handle);
        // Options that are stored in the table may select a snapshot too.
        let reading = table.for_reading().await?;
        let pinned = match reading.current_snapshot().await? {
            Some(snapshot) => reading.pinned_to(snapshot),
            None => reading,
        };
        let schema = to_arrow_schema(&pinned.schema().row_type());
        Ok(Self { table, pinned, schema, handle, catalog: "paimon".to_owned(), definition: OnceLock::new() })
    }

    /// The catalog that SHOW CREATE TABLE names.
    #[must_use]
    pub fn with_catalog_name(mut self, name: impl Into<String>) -> Self {
        self.catalog = name.into();
        self
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The snapshot that is read; `None` if the table had none.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        self.pinned.pinned()
    }

    /// The table pinned to the snapshot that is read.
    pub(super) fn pinned(&self) -> &Table {
        &self.pinned
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
        self.definition.get_or_init(|| table_definition(&self.catalog, &self.table).ok()).as_deref()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (table, handle, schema) = (&self.pinned, &self.handle, &self.schema);
        scan::plan(state, ScanRequest { table, handle, schema, projection, filters, limit }).await
    }

    /// Filters over partition columns alone are carried out while planning; others only prune.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let schema = self.pinned.schema();
        let is_partition = |filter: &Expr| filter.column_refs().iter().all(|c| schema.partition_keys.contains(&c.name));
        let support = |filter: &&Expr| match to_predicate(filter, schema) {
            Some(translated) if translated.exact && is_partition(filter) => TableProviderFilterPushDown::Exact,
            Some(_) => TableProviderFilterPushDown::Inexact,
            None => TableProviderFilterPushDown::Unsupported,
        };
        Ok(filters.iter().map(support).collect())
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

    // The filters that reach the next two hooks come from the optimised plan: none may mean no WHERE, or a WHERE that was
    // optimised away. A hook cannot tell, so it never changes rows.
    async fn delete_from(&self, _: &dyn Session, _: Vec<Expr>) -> Result<Arc<dyn ExecutionPlan>> {
        unsupported("install the Paimon extension to run DELETE")
    }

    async fn update(&self, _: &dyn Session, _: Vec<(String, Expr)>, _: Vec<Expr>) -> Result<Arc<dyn ExecutionPlan>> {
        unsupported("install the Paimon extension to run UPDATE")
    }

    async fn truncate(&self, _: &dyn Session) -> Result<Arc<dyn ExecutionPlan>> {
        // Refuses a handle that is pinned to a snapshot, and tables that cannot be written.
        self.table.new_batch_write_builder().new_write().map_err(to_datafusion)?;
        let source = Arc::new(Truncate(self.table.clone()));
        Ok(Arc::new(PaimonBatchExec::try_new(source, None, self.handle.clone())?))
    }

    async fn merge_into(
        &self,
        _: &dyn Session,
        _: Arc<dyn ExecutionPlan>,
        _: DFSchemaRef,
        _: Expr,
        _: Vec<MergeIntoClause>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        unsupported("MERGE INTO a Paimon table")
    }
}
