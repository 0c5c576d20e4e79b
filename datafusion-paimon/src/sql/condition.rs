//! Conditions over the columns of a table that are given as text.
//!
//! Invariants: the text is one expression and nothing behind it. Source: SQL sheet SQL-254.

use datafusion::common::DFSchema;
use datafusion::error::Result;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::DFParserBuilder;

use super::dialect::PaimonDialect;
use super::literals::keep_literals;
use crate::error::invalid_input;

/// The condition in this text, with the types of the columns and its constants evaluated.
///
/// # Errors
/// Those of the engine for what is no expression, or one over other columns.
pub(crate) fn condition(text: &str, columns: &DFSchema) -> Result<Expr> {
    let state = SessionContext::new().state();
    let mut parsed = DFParserBuilder::new(text).with_dialect(&PaimonDialect).build()?.parse_into_expr()?;
    if let Some(alias) = &parsed.alias {
        return invalid_input(format!("expected a condition, found '{alias}' behind it"));
    }
    keep_literals(&mut parsed.expr);
    let expr = state.create_logical_expr_from_sql_expr(parsed, columns)?;
    let simplifier = ExprSimplifier::new(SimplifyContext::builder().with_schema(columns.clone().into()).build());
    simplifier.simplify(simplifier.coerce(expr, columns)?)
}
