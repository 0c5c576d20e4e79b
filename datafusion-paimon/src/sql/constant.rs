//! Constant expressions, evaluated while a statement is planned, and their values for columns of tables.
//!
//! Invariants: a cast that would lose a value is an error; a column or a query in an expression is refused.
//! Source: SQL sheet SQL-075, SQL-143, SQL-252.

use std::sync::Arc;

use datafusion::arrow::compute::CastOptions;
use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::parser::DFParserBuilder;
use paimon_core::Error;
use paimon_core::types::{DataType, Datum, arrow_type};

use super::dialect::PaimonDialect;
use super::printer::type_text;
use super::tokens::{Fragment, at};
use crate::error::{to_core, to_datafusion};
use crate::expr::to_datum;

/// The value of an expression of tokens.
///
/// # Errors
/// `InvalidInput` naming the expression and its position if it is no constant.
pub(crate) fn evaluate(state: &SessionState, fragment: &Fragment) -> Result<ScalarValue> {
    let value = || -> Result<ScalarValue> {
        let limit = state.config().options().sql_parser.recursion_limit.get();
        let parsed = DFParserBuilder::new(fragment.0.clone())
            .with_dialect(&PaimonDialect)
            .with_recursion_limit(limit)
            .build()?
            .parse_into_expr()?;
        let expr = state.create_logical_expr_from_sql_expr(parsed, &DFSchema::empty())?;
        simplify(expr, state)
    };
    value().map_err(|e| {
        let position = at(fragment.start());
        let error = to_core(e);
        to_datafusion(Error::new(error.kind(), format!("in the expression {fragment}{position}: {error}")))
    })
}

/// The value of an expression of the engine.
///
/// # Errors
/// `InvalidInput` if it is no constant.
fn simplify(expr: Expr, state: &SessionState) -> Result<ScalarValue> {
    let context = SimplifyContext::builder()
        .with_config_options(Arc::clone(state.config().options()))
        .with_query_execution_start_time(state.execution_props().query_execution_start_time)
        .build();
    simplify_with(expr, context)
}

/// The value of an expression of the engine.
///
/// # Errors
/// `InvalidInput` if it is no constant.
pub(crate) fn simplify_with(expr: Expr, context: SimplifyContext) -> Result<ScalarValue> {
    let simplifier = ExprSimplifier::new(context);
    let coerced = simplifier.coerce(expr, &DFSchema::empty())?;
    match simplifier.simplify(coerced)?.unalias() {
        Expr::Literal(value, _) => Ok(value),
        other => Err(to_datafusion(Error::invalid_input(format!("expected a constant, found {other}")))),
    }
}

/// A value as one of a column's type.
///
/// # Errors
/// `SchemaMismatch` naming the column, the value and the type.
pub(crate) fn cast(value: &ScalarValue, column: &str, data_type: &DataType) -> Result<ScalarValue> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    value.cast_to_with_options(&arrow_type(data_type), &strict).map_err(|e| {
        to_datafusion(Error::schema_mismatch(format!(
            "column {column}: {value} is no value of type {}: {}",
            type_text(&data_type.with_nullable(true)),
            e.strip_backtrace()
        )))
    })
}

/// A value as a value of the core; `None` for null.
///
/// # Errors
/// As [`cast`]; `Unsupported` for types with parts.
pub(crate) fn datum(value: &ScalarValue, column: &str, data_type: &DataType) -> Result<Option<Datum>> {
    let cast = cast(value, column, data_type)?;
    to_datum(&cast, data_type).map_err(|value| {
        to_datafusion(Error::unsupported(format!("a value of type {} for column {column}", value.data_type())))
    })
}

/// The text that is stored as the default of a column; `None` for null.
///
/// # Errors
/// As [`cast`]; `Unsupported` for types with parts.
pub(crate) fn default_text(value: &ScalarValue, column: &str, data_type: &DataType) -> Result<Option<String>> {
    if data_type.is_nested() || matches!(data_type, DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_)) {
        if value.is_null() {
            return Ok(None);
        }
        return Err(to_datafusion(Error::unsupported(format!(
            "a default of type {} for column {column} is not supported",
            type_text(&data_type.with_nullable(true))
        ))));
    }
    let cast = cast(value, column, data_type)?;
    if cast.is_null() {
        return Ok(None);
    }
    let text = match cast.cast_to(&ArrowType::Utf8)? {
        ScalarValue::Utf8(Some(text)) => text,
        other => other.to_string(),
    };
    Ok(Some(match data_type {
        // The text form has a blank where Arrow writes a T, and no zone.
        DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => text.replace('T', " ").replace('Z', ""),
        _ => text,
    }))
}
