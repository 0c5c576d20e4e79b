//! System tables of rows: `t$ro`, `t$audit_log`, `t$binlog`.
//!
//! Invariants: as with the table itself, one provider sees one snapshot; filters only prune, the engine applies them again.
//! Source: system-tables sheet section 4; `table/system/ReadOptimizedTable.java`, `AuditLogTable.java`, `BinlogTable.java`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;
use paimon_core::{Error, Table};
use tokio::runtime::Handle;

use super::PaimonTableProvider;
use crate::error::unsupported;
use crate::scan::{self, RowShape, ScanRequest};

/// The first column of both logs.
const ROW_KIND: &str = "rowkind";
/// The option that adds a column of sequence numbers to both logs.
const SEQUENCE_NUMBERS: &str = "table-read.sequence-number.enabled";

/// A way to see the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowView {
    /// `$ro`: what is fully compacted.
    ReadOptimized,
    /// `$audit_log`: rows with their kinds, deletes included.
    AuditLog,
    /// `$binlog`: as the audit log, with an update in one row.
    Binlog,
}

impl RowView {
    /// The view of this name, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::ReadOptimized, Self::AuditLog, Self::Binlog].into_iter().find(|v| v.name().eq_ignore_ascii_case(name))
    }

    /// The name behind the `$`.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOptimized => "ro",
            Self::AuditLog => "audit_log",
            Self::Binlog => "binlog",
        }
    }
}

/// A view of the rows of a table; read only.
#[derive(Debug)]
pub struct PaimonRowViewProvider {
    base: PaimonTableProvider,
    view: RowView,
    schema: SchemaRef,
}

impl PaimonRowViewProvider {
    /// The view `view` of `table`, pinned as [`PaimonTableProvider::try_new`] does.
    ///
    /// # Errors
    /// As [`PaimonTableProvider::try_new`]; `Unsupported` if the logs are to show sequence numbers.
    pub async fn try_new(table: Table, view: RowView, handle: Handle) -> paimon_core::Result<Self> {
        let table = match view {
            RowView::ReadOptimized => table.read_optimized(),
            RowView::AuditLog | RowView::Binlog => {
                if table.options().get(SEQUENCE_NUMBERS).is_some_and(|v| v.trim().eq_ignore_ascii_case("true")) {
                    return Err(Error::unsupported(format!(
                        "sequence numbers in {}${} ('{SEQUENCE_NUMBERS}' = 'true') are not supported yet",
                        table.identifier(),
                        view.name()
                    )));
                }
                table
            }
        };
        let base = PaimonTableProvider::try_new(table, handle).await?;
        let columns = base.schema();
        let schema = match view {
            RowView::ReadOptimized => columns,
            RowView::AuditLog => log_schema(&columns, |field| Arc::new(field.clone())),
            RowView::Binlog => log_schema(&columns, |field| {
                let item = Arc::new(Field::new("element", field.data_type().clone(), true));
                Arc::new(Field::new(field.name(), DataType::List(item), true))
            }),
        };
        Ok(Self { base, view, schema })
    }

    /// Rows with their kinds, which stand first.
    async fn scan_log(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let wanted = projection.cloned().unwrap_or_else(|| (0..self.schema.fields().len()).collect());
        let columns: Vec<usize> = wanted.iter().filter_map(|i| i.checked_sub(1)).collect();
        let shape = match self.view {
            RowView::Binlog => RowShape::Pairs,
            RowView::ReadOptimized | RowView::AuditLog => RowShape::Kinds,
        };
        let order: Vec<usize> = std::iter::once(0).chain(columns.iter().map(|i| i + 1)).collect();
        let schema = Arc::new(self.schema.project(&order)?);
        let base = self.base.schema();
        let request = ScanRequest {
            table: self.base.pinned(),
            handle: self.base.handle(),
            schema: &base,
            projection: Some(&columns),
            filters,
            limit: None,
        };
        let plan = scan::plan_log(state, request, shape, Arc::clone(&schema)).await?;
        if order == wanted {
            return Ok(plan);
        }
        let mut next = 0;
        let exprs = wanted.iter().map(|&i| {
            let name = self.schema.field(i).name();
            let position = if i == 0 {
                0
            } else {
                next += 1;
                next
            };
            (Arc::new(Column::new(name, position)) as Arc<dyn datafusion::physical_expr::PhysicalExpr>, name.clone())
        });
        Ok(Arc::new(ProjectionExec::try_new(exprs.collect::<Vec<_>>(), plan)?))
    }
}

fn log_schema(columns: &SchemaRef, column: impl Fn(&Field) -> Arc<Field>) -> SchemaRef {
    let kind = Arc::new(Field::new(ROW_KIND, DataType::Utf8, true));
    let fields = std::iter::once(kind).chain(columns.fields().iter().map(|f| column(f)));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

#[async_trait]
impl TableProvider for PaimonRowViewProvider {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    // DROP TABLE of the engine takes base tables only.
    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match self.view {
            RowView::ReadOptimized => self.base.scan(state, projection, filters, limit).await,
            RowView::AuditLog | RowView::Binlog => self.scan_log(state, projection, filters).await,
        }
    }

    /// Filters over the columns of the table prune.
    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        let of_table = |filter: &&Expr| match filter.column_refs().iter().all(|c| c.name != ROW_KIND) {
            true => TableProviderFilterPushDown::Inexact,
            false => TableProviderFilterPushDown::Unsupported,
        };
        match self.view {
            RowView::ReadOptimized => self.base.supports_filters_pushdown(filters),
            RowView::AuditLog => Ok(filters.iter().map(of_table).collect()),
            RowView::Binlog => Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()]),
        }
    }

    async fn insert_into(
        &self,
        _: &dyn Session,
        _: Arc<dyn ExecutionPlan>,
        _: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        unsupported(format!("writing the system table {}${}", self.base.table().identifier(), self.view.name()))
    }
}
