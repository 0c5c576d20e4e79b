//! Literals at their exact value where the engine would go through another type.
//!
//! `price = 12345678.13` compares a DECIMAL with a DOUBLE in the engine, and misses the row; `CAST(1.005 AS DECIMAL(10, 2))`
//! gives 1.00; a TIME column and `TIME '10:00:00'` have no common type. Here the literal becomes a DECIMAL by its text, and
//! the time one of the column's unit. A wall clock that is compared with an instant is one of the session's zone.
//! Invariants: nothing else changes, and names of columns stay. Source: SQL sheet SQL-048, SQL-134, section 3.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ExprSchema, ScalarValue};
use datafusion::error::Result;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::planner::{ExprPlanner, PlannerResult, RawBinaryExpr};
use datafusion::logical_expr::{Between, BinaryExpr, Cast, Expr, ExprSchemable, Operator, TryCast};
use datafusion::sql::sqlparser::ast::BinaryOperator;

use super::number::kept_number;

/// Digits of a DECIMAL.
const MAX_DIGITS: usize = 38;

/// Rewrites literals that are compared or cast.
#[derive(Debug)]
pub(crate) struct ExactLiterals;

impl FunctionRewrite for ExactLiterals {
    fn name(&self) -> &str {
        "paimon_exact_literals"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, config: &ConfigOptions) -> Result<Transformed<Expr>> {
        let zone = config.execution.time_zone.as_deref();
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if compares(op) => {
                let (new_left, new_right) = (fitted(&left, &right, schema, zone), fitted(&right, &left, schema, zone));
                let changed = new_left.is_some() || new_right.is_some();
                let (left, right) = (new_left.unwrap_or(*left), new_right.unwrap_or(*right));
                let expr = Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)));
                Ok(Transformed::new_transformed(expr, changed))
            }
            // Each bound is compared in a unit of its own.
            Expr::Between(Between { expr, negated, low, high }) if is_far(&low) || is_far(&high) => {
                let within = expr.clone().gt_eq(*low).and(expr.lt_eq(*high));
                let bounds = if negated { !within } else { within };
                bounds.transform_up(|e| self.rewrite(e, schema, config)).map(|t| Transformed::yes(t.data))
            }
            Expr::Between(Between { expr, negated, low, high }) => {
                let (new_low, new_high) = (fitted(&low, &expr, schema, zone), fitted(&high, &expr, schema, zone));
                let changed = new_low.is_some() || new_high.is_some();
                let (low, high) = (new_low.unwrap_or(*low), new_high.unwrap_or(*high));
                let between = Between::new(expr, negated, Box::new(low), Box::new(high));
                Ok(Transformed::new_transformed(Expr::Between(between), changed))
            }
            Expr::InList(InList { expr, list, negated }) => {
                let mut changed = false;
                let list = list.into_iter().map(|item| match fitted(&item, &expr, schema, zone) {
                    Some(fitted) => {
                        changed = true;
                        fitted
                    }
                    None => item,
                });
                let list = list.collect();
                Ok(Transformed::new_transformed(Expr::InList(InList::new(expr, list, negated)), changed))
            }
            Expr::Cast(Cast { expr, field }) => Ok(match exact_decimal(&expr, field.data_type()) {
                Some(literal) => Transformed::yes(Expr::Cast(Cast { expr: Box::new(literal), field })),
                None => Transformed::no(Expr::Cast(Cast { expr, field })),
            }),
            Expr::TryCast(TryCast { expr, field }) => Ok(match exact_decimal(&expr, field.data_type()) {
                Some(literal) => Transformed::yes(Expr::TryCast(TryCast { expr: Box::new(literal), field })),
                None => Transformed::no(Expr::TryCast(TryCast { expr, field })),
            }),
            other => Ok(Transformed::no(other)),
        }
    }
}

/// Plans comparisons of times, whose types the engine does not bring together.
#[derive(Debug)]
pub(crate) struct TimeComparisons;

impl ExprPlanner for TimeComparisons {
    fn plan_binary_op(&self, raw: RawBinaryExpr, schema: &DFSchema) -> Result<PlannerResult<RawBinaryExpr>> {
        use BinaryOperator as Op;
        let op = match raw.op {
            Op::Eq => Operator::Eq,
            Op::NotEq => Operator::NotEq,
            Op::Lt => Operator::Lt,
            Op::LtEq => Operator::LtEq,
            Op::Gt => Operator::Gt,
            Op::GtEq => Operator::GtEq,
            _ => return Ok(PlannerResult::Original(raw)),
        };
        let (left, right) = (time(&raw.left, &raw.right, schema), time(&raw.right, &raw.left, schema));
        if left.is_none() && right.is_none() {
            return Ok(PlannerResult::Original(raw));
        }
        let (left, right) = (left.unwrap_or(raw.left), right.unwrap_or(raw.right));
        Ok(PlannerResult::Planned(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))))
    }
}

fn compares(op: Operator) -> bool {
    matches!(
        op,
        Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
            | Operator::IsDistinctFrom
            | Operator::IsNotDistinctFrom
    )
}

/// A number that was kept, perhaps with a sign, as a DECIMAL.
pub(crate) fn kept_decimal(expr: &Expr) -> Option<ScalarValue> {
    match expr {
        Expr::Negative(inner) => decimal_of_text(&format!("-{}", kept_number(inner)?)),
        other => decimal_of_text(kept_number(other)?),
    }
}

/// An expression that is compared with `other`: a literal at its exact value, a wall clock as the instant that it is in the
/// zone of the session; `None` if it stays.
fn fitted(literal: &Expr, other: &Expr, schema: &dyn ExprSchema, zone: Option<&str>) -> Option<Expr> {
    if decimal_text(literal).is_some() {
        let other = other.get_type(schema).ok()?;
        return exact_decimal(literal, &other);
    }
    time(literal, other, schema)
        .or_else(|| beside_far(literal, other, schema))
        .or_else(|| instant(literal, other, schema, zone?))
}

/// Nanoseconds that are compared with a time that they cannot hold, as microseconds; `None` for anything else.
fn beside_far(nanos: &Expr, far: &Expr, schema: &dyn ExprSchema) -> Option<Expr> {
    let DataType::Timestamp(TimeUnit::Nanosecond, zone) = nanos.get_type(schema).ok()? else { return None };
    if !is_far(far) {
        return None;
    }
    nanos.clone().cast_to(&DataType::Timestamp(TimeUnit::Microsecond, zone), schema).ok()
}

/// Whether the expression is a time that nanoseconds cannot hold.
fn is_far(expr: &Expr) -> bool {
    let Expr::Cast(Cast { expr, field }) = expr else { return false };
    let (Expr::Literal(value, _), DataType::Timestamp(_, zone)) = (expr.as_ref(), field.data_type()) else {
        return false;
    };
    let nanos = DataType::Timestamp(TimeUnit::Nanosecond, zone.clone());
    value.cast_to(field.data_type()).is_ok_and(|time| !time.is_null() && time.cast_to(&nanos).is_err())
}

/// A wall clock, or text for one, that is compared with an instant; `None` for anything else.
fn instant(clock: &Expr, other: &Expr, schema: &dyn ExprSchema, zone: &str) -> Option<Expr> {
    let DataType::Timestamp(unit, Some(shown)) = other.get_type(schema).ok()? else { return None };
    let unit = match clock.get_type(schema).ok()? {
        DataType::Timestamp(unit, None) => unit,
        DataType::Date32 | DataType::Date64 | DataType::Utf8 | DataType::Utf8View | DataType::LargeUtf8 => unit,
        _ => return None,
    };
    let in_zone = |zone: Arc<str>| DataType::Timestamp(unit, Some(zone));
    clock.clone().cast_to(&in_zone(zone.into()), schema).ok()?.cast_to(&in_zone(shown), schema).ok()
}

/// A floating point literal as a DECIMAL, if one is wanted.
fn exact_decimal(literal: &Expr, wanted: &DataType) -> Option<Expr> {
    if !wanted.is_decimal() {
        return None;
    }
    decimal_of_text(&decimal_text(literal)?).map(|value| Expr::Literal(value, None))
}

/// The text of a floating point literal.
fn decimal_text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Literal(ScalarValue::Float64(Some(value)), _) if value.is_finite() => Some(value.to_string()),
        Expr::Negative(inner) => decimal_text(inner).map(|text| format!("-{text}")),
        other => kept_number(other).map(str::to_owned),
    }
}

/// A number with its own digits as a DECIMAL; `None` if it has more than a DECIMAL holds.
pub(crate) fn decimal_of_text(text: &str) -> Option<ScalarValue> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest.strip_prefix('-').map_or(rest, |_| "")),
        None => (false, text),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_start_matches('0');
    let precision = significant.len().max(fraction.len()).max(1);
    if precision > MAX_DIGITS {
        return None;
    }
    let value: i128 = if significant.is_empty() { 0 } else { significant.parse().ok()? };
    let (precision, scale) = (u8::try_from(precision).ok()?, i8::try_from(fraction.len()).ok()?);
    Some(ScalarValue::Decimal128(Some(if negative { -value } else { value }), precision, scale))
}

/// One side of a comparison of times of different types, in a type that both have; `None` if it stays.
fn time(expr: &Expr, other: &Expr, schema: &dyn ExprSchema) -> Option<Expr> {
    let (own, wanted) = (expr.get_type(schema).ok()?, other.get_type(schema).ok()?);
    match (&own, &wanted) {
        // A literal takes the type of the column where it loses nothing.
        (DataType::Time64(_), DataType::Time32(unit)) => time_literal(expr, *unit),
        (DataType::Time32(unit), DataType::Time64(_)) if time_literal(other, *unit).is_none() => {
            Some(expr.clone().cast_to(&wanted, schema).ok()?)
        }
        _ => None,
    }
}

/// A time as a literal of this unit, if it is a constant of whole units.
fn time_literal(expr: &Expr, unit: TimeUnit) -> Option<Expr> {
    let nanos = match expr {
        Expr::Literal(value, _) => value.cast_to(&DataType::Time64(TimeUnit::Nanosecond)).ok()?,
        Expr::Cast(Cast { expr, field }) => match expr.as_ref() {
            Expr::Literal(value, _) => {
                value.cast_to(field.data_type()).ok()?.cast_to(&DataType::Time64(TimeUnit::Nanosecond)).ok()?
            }
            _ => return None,
        },
        _ => return None,
    };
    let ScalarValue::Time64Nanosecond(Some(nanos)) = nanos else { return None };
    let size = match unit {
        TimeUnit::Second => 1_000_000_000,
        _ => 1_000_000,
    };
    let value = i32::try_from(nanos / size).ok().filter(|_| nanos % size == 0)?;
    Some(Expr::Literal(
        match unit {
            TimeUnit::Second => ScalarValue::Time32Second(Some(value)),
            _ => ScalarValue::Time32Millisecond(Some(value)),
        },
        None,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_decimals_of_their_own_digits() {
        let cases = [
            ("1.5", Some((15, 2, 1))),
            ("-0.005", Some((-5, 3, 3))),
            ("100", Some((100, 3, 0))),
            ("0", Some((0, 1, 0))),
            (
                "12345678901234567890.123456789012345678",
                Some((12_345_678_901_234_567_890_123_456_789_012_345_678, 38, 18)),
            ),
            ("123456789012345678901234567890123456789", None),
            ("NaN", None),
        ];
        for (text, expected) in cases {
            let expected = expected.map(|(v, p, s)| ScalarValue::Decimal128(Some(v), p, s));
            assert_eq!(decimal_of_text(text), expected, "{text}");
        }
    }
}
