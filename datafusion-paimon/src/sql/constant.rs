//! Constant expressions, evaluated while a statement is planned, and their values for columns of tables.
//!
//! Invariants: a cast that would lose a value is an error; a column or a query in an expression is refused.
//! Source: SQL sheet SQL-075, SQL-143, SQL-252.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, Volatility};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::sql::parser::DFParserBuilder;
use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Error;
use paimon_core::types::{DataType, Datum, arrow_type};

use super::dialect::PaimonDialect;
use super::exact::kept_decimal;
use super::literals::keep_literals;
use super::printer::type_text;
use super::tokens::{Fragment, at};
use crate::error::{invalid_input, to_core, to_datafusion};
use crate::expr::to_datum;
use crate::write::store_in_zone;

/// The value of an expression of tokens.
///
/// # Errors
/// `InvalidInput` naming the expression and its position if it is no constant.
pub(crate) fn evaluate(state: &SessionState, fragment: &Fragment) -> Result<ScalarValue> {
    let value = || -> Result<ScalarValue> {
        let limit = state.config().options().sql_parser.recursion_limit.get();
        let mut parsed = DFParserBuilder::new(fragment.0.clone())
            .with_dialect(&PaimonDialect)
            .with_recursion_limit(limit)
            .build()?
            .parse_into_expr()?;
        keep_literals(&mut parsed.expr);
        let expr = state.create_logical_expr_from_sql_expr(parsed, &DFSchema::empty())?;
        match kept_decimal(&expr) {
            Some(exact) => Ok(exact),
            None => simplify(expr, state),
        }
    };
    value().map_err(|e| {
        let position = at(fragment.start());
        let error = to_core(e);
        to_datafusion(Error::new(error.kind(), format!("in the expression {fragment}{position}: {error}")))
    })
}

/// As [`evaluate`], of an expression that gives the same value for ever.
///
/// # Errors
/// As [`evaluate`]; `InvalidInput` for a function like `now()`.
pub(crate) fn evaluate_constant(state: &SessionState, fragment: &Fragment) -> Result<ScalarValue> {
    let changing = fragment.0.iter().enumerate().find_map(|(i, token)| {
        let Token::Word(word) = &token.token else { return None };
        let called = fragment.0.get(i + 1).is_some_and(|next| next.token == Token::LParen);
        let name = word.value.to_ascii_lowercase();
        let keyword = matches!(name.as_str(), "current_timestamp" | "current_date" | "current_time");
        let function = state.scalar_functions().get(&name).filter(|_| called || keyword)?;
        (function.signature().volatility != Volatility::Immutable).then_some(name)
    });
    match changing {
        Some(name) => invalid_input(format!(
            "in the expression {fragment}: a constant is needed, but {name} changes from call to call"
        )),
        None => evaluate(state, fragment),
    }
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

/// A value as one of a column's type; a wall clock is of this zone where it becomes an instant, of UTC if that is `None`.
///
/// # Errors
/// `SchemaMismatch` naming the column, the value and the type.
pub(crate) fn cast(value: &ScalarValue, column: &str, data_type: &DataType, zone: Option<&str>) -> Result<ScalarValue> {
    let target = arrow_type(data_type);
    if value.data_type() == target {
        return Ok(value.clone());
    }
    let array = value.to_array().map_err(to_core);
    let stored = array.and_then(|array| store_in_zone(&array, column, &target, zone)).map_err(|e| {
        let prefix = format!("column {column}: ");
        to_datafusion(Error::schema_mismatch(format!(
            "column {column}: {value} is no value of type {}: {}",
            type_text(&data_type.with_nullable(true)),
            e.message().strip_prefix(&prefix).unwrap_or(e.message())
        )))
    })?;
    ScalarValue::try_from_array(&stored, 0)
}

/// A value as a value of the core; `None` for null.
///
/// # Errors
/// As [`cast`]; `Unsupported` for types with parts.
pub(crate) fn datum(value: &ScalarValue, column: &str, data_type: &DataType) -> Result<Option<Datum>> {
    let cast = cast(value, column, data_type, None)?;
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
    let cast = cast(value, column, data_type, None)?;
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
