//! Expressions over columns of the table as expressions over columns of a file, for the engine's Parquet source.
//!
//! Invariants: a column is found under the name that the file's schema gives its id, never by its present name. Applied
//! to projection and predicates, so that pruning works on renamed columns.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, SchemaRef};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{ScalarValue, internal_err};
use datafusion::error::Result;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{CastExpr, Column, Literal};
use datafusion::physical_expr_adapter::{PhysicalExprAdapter, PhysicalExprAdapterFactory};
use paimon_core::types::DataField;

use super::columns::FileColumn;
use super::living::ROW;

/// Adapts expressions to files of one schema.
#[derive(Debug, Clone)]
pub(crate) struct ColumnsById {
    columns: Arc<HashMap<String, FileColumn>>,
}

impl ColumnsById {
    /// From the columns of the table and where they are.
    pub(crate) fn new(fields: &[DataField], columns: &[FileColumn]) -> Self {
        let columns = fields.iter().map(|f| f.name.clone()).zip(columns.iter().cloned()).collect();
        Self { columns: Arc::new(columns) }
    }
}

impl PhysicalExprAdapterFactory for ColumnsById {
    fn create(&self, logical: SchemaRef, physical: SchemaRef) -> Result<Arc<dyn PhysicalExprAdapter>> {
        Ok(Arc::new(Adapter { columns: Arc::clone(&self.columns), logical, physical }))
    }
}

#[derive(Debug)]
struct Adapter {
    columns: Arc<HashMap<String, FileColumn>>,
    logical: SchemaRef,
    physical: SchemaRef,
}

impl PhysicalExprAdapter for Adapter {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        expr.transform_up(|expr| match expr.downcast_ref::<Column>() {
            Some(column) => self.column(column).map(Transformed::yes),
            None => Ok(Transformed::no(expr)),
        })
        .data()
    }
}

impl Adapter {
    fn column(&self, column: &Column) -> Result<Arc<dyn PhysicalExpr>> {
        if column.name() == ROW && !self.columns.contains_key(ROW) {
            // The source makes it.
            return Ok(Arc::new(Column::new(ROW, self.physical.index_of(ROW)?)));
        }
        let logical = self.logical.field_with_name(column.name())?;
        let name = match self.columns.get(column.name()) {
            Some(FileColumn::Same(name) | FileColumn::Widened(name)) => name,
            Some(FileColumn::Missing) => return null_of(logical),
            Some(FileColumn::Core) | None => {
                return internal_err!("column {} cannot be read by the Parquet source", column.name());
            }
        };
        // A file may lack a column that its schema has, if the writer left out columns without values.
        let Some((index, physical)) = self.physical.fields().find(name) else { return null_of(logical) };
        let found: Arc<dyn PhysicalExpr> = Arc::new(Column::new(name, index));
        if physical.data_type() == logical.data_type() {
            return Ok(found);
        }
        Ok(Arc::new(CastExpr::new_with_target_field(found, Arc::new(logical.clone()), None)))
    }
}

fn null_of(field: &Field) -> Result<Arc<dyn PhysicalExpr>> {
    Ok(Arc::new(Literal::new(ScalarValue::try_from(field.data_type())?)))
}
