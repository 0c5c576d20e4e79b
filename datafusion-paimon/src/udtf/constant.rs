//! Constant arguments.

use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;

use crate::error::invalid_input;
use crate::sql::simplify_with;

/// The value of a constant expression.
///
/// # Errors
/// `InvalidInput` if it is not constant.
pub(crate) fn constant(expr: &Expr) -> Result<ScalarValue> {
    if let Expr::Literal(value, _) = expr {
        return Ok(value.clone());
    }
    simplify_with(expr.clone(), SimplifyContext::builder().with_current_time().build())
}

/// The text of a constant expression.
///
/// # Errors
/// `InvalidInput` if it is no constant text.
pub(crate) fn constant_text(expr: &Expr) -> Result<String> {
    match constant(expr)?.try_as_str() {
        Some(Some(text)) => Ok(text.to_owned()),
        _ => invalid_input(format!("expected text as argument of a table function, found {expr}")),
    }
}

/// The text of a constant expression that is text or a whole number.
///
/// # Errors
/// `InvalidInput` if it is neither.
pub(crate) fn constant_word(expr: &Expr) -> Result<String> {
    let value = constant(expr)?;
    if value.data_type().is_integer() && !value.is_null() {
        return Ok(value.to_string());
    }
    constant_text(expr)
}
