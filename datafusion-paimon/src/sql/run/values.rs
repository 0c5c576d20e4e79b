//! VALUES of an INSERT: each value is stored into its column from its own literal.
//!
//! The engine brings the values of a column to one type, so that `(1.005)` beside `(1)` is a DOUBLE before it is anything
//! else. Here a literal is read for its column, and any other expression is stored as a query's column is.
//! Source: SQL sheet SQL-130, SQL-134.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::datatypes::{Field, Schema};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{
    Expr as Ast, ExprWithAlias, Query, SetExpr, UnaryOperator, Value, ValueWithSpan, Visit, Visitor,
};
use paimon_core::Error;
use paimon_core::types::{DataField, DataType, arrow_type};

use crate::error::to_datafusion;
use crate::sql::assign::assign;
use crate::sql::constant::cast;
use crate::sql::exact::{decimal_of_text, kept_decimal};
use crate::sql::session::Session;
use crate::sql::tokens::Fragment;

impl Session<'_> {
    /// The rows of VALUES under the names and with the types of `fields`; `None` if there is more than constants in them.
    ///
    /// # Errors
    /// `SchemaMismatch` naming column and value of a literal that does not fit; `InvalidInput` for a row of another length.
    pub(super) fn plan_values(&self, fields: &[&DataField], source: &Fragment) -> Result<Option<LogicalPlan>> {
        let query = self.parse_query(source)?;
        let Query { with: None, body, order_by: None, limit_clause: None, fetch: None, pipe_operators, .. } = *query
        else {
            return Ok(None);
        };
        if !pipe_operators.is_empty() {
            return Ok(None);
        }
        let SetExpr::Values(values) = *body else { return Ok(None) };
        if values.rows.visit(&mut FindQuery).is_break() {
            return Ok(None);
        }
        let mut rows = Vec::with_capacity(values.rows.len());
        for (i, row) in values.rows.into_iter().enumerate() {
            let row = row.content;
            if row.len() != fields.len() {
                return Err(to_datafusion(Error::invalid_input(format!(
                    "{} columns are to be filled, but row {} of VALUES has {} values",
                    fields.len(),
                    i + 1,
                    row.len()
                ))));
            }
            rows.push(
                row.into_iter().zip(fields).map(|(value, field)| self.cell(value, field)).collect::<Result<_>>()?,
            );
        }
        let columns = fields.iter().map(|f| Field::new(&f.name, arrow_type(&f.data_type), true));
        let schema = DFSchema::try_from(Schema::new(columns.collect::<Vec<_>>()))?;
        Ok(Some(LogicalPlanBuilder::values_with_schema(rows, &Arc::new(schema))?.build()?))
    }

    /// One value for a column.
    fn cell(&self, value: Ast, field: &DataField) -> Result<Expr> {
        if let Some(literal) = literal(&value, &field.data_type) {
            return Ok(Expr::Literal(cast(&literal, &field.name, &field.data_type, self.zone())?, None));
        }
        let expr = self
            .state
            .create_logical_expr_from_sql_expr(ExprWithAlias { expr: value, alias: None }, &DFSchema::empty())?;
        if let (DataType::Decimal(_), Some(exact)) = (&field.data_type, kept_decimal(&expr)) {
            return Ok(Expr::Literal(cast(&exact, &field.name, &field.data_type, None)?, None));
        }
        assign(expr, &field.name, &arrow_type(&field.data_type), &DFSchema::empty(), self.zone())
    }
}

/// The value of a literal for a column of this type; `None` for any other expression.
fn literal(expr: &Ast, data_type: &DataType) -> Option<ScalarValue> {
    let (sign, value) = match expr {
        Ast::UnaryOp { op: UnaryOperator::Minus, expr } => match expr.as_ref() {
            Ast::Value(ValueWithSpan { value: value @ Value::Number(..), .. }) => ("-", value),
            _ => return None,
        },
        Ast::Value(ValueWithSpan { value, .. }) => ("", value),
        _ => return None,
    };
    match value {
        Value::Null => Some(ScalarValue::Null),
        Value::Boolean(value) => Some(ScalarValue::Boolean(Some(*value))),
        Value::SingleQuotedString(text) => Some(ScalarValue::Utf8(Some(text.clone()))),
        Value::Number(text, false) => number(&format!("{sign}{text}"), data_type),
        _ => None,
    }
}

fn number(text: &str, data_type: &DataType) -> Option<ScalarValue> {
    if let (DataType::Decimal(_), Some(exact)) = (data_type, decimal_of_text(text)) {
        return Some(exact);
    }
    if let Ok(value) = text.parse() {
        return Some(ScalarValue::Int64(Some(value)));
    }
    if let Ok(value) = text.parse() {
        return Some(ScalarValue::UInt64(Some(value)));
    }
    text.parse().ok().map(|value| ScalarValue::Float64(Some(value)))
}

/// Ends at the first query within.
struct FindQuery;

impl Visitor for FindQuery {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        ControlFlow::Break(())
    }
}
