//! Literals of a statement that the engine would read as another value or refuse.
//!
//! Numbers beyond a DOUBLE are kept (`number.rs`). A time before 1677 or after 2262 does not fit the nanoseconds that the
//! engine reads every `TIMESTAMP '...'` in: it becomes one of microseconds. Invariants: any other literal stays.
//! Source: SQL sheet SQL-044, SQL-134.

use std::ops::ControlFlow;

use datafusion::arrow::datatypes::{DataType as ArrowType, TimeUnit};
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::ast::{
    DataType, Expr, TimezoneInfo, TypedString, Value, ValueWithSpan, VisitMut, VisitorMut,
};

use super::number::keep_number;

/// Makes the literals of a statement such that the engine reads their values.
pub(crate) fn keep_literals(statement: &mut impl VisitMut) {
    let ControlFlow::Continue(()) = statement.visit(&mut Keeper);
}

struct Keeper;

impl VisitorMut for Keeper {
    type Break = std::convert::Infallible;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Self::Break> {
        match expr {
            Expr::TypedString(TypedString { data_type, value, .. }) => widen(data_type, &value.value),
            Expr::Cast { data_type, expr, .. } => {
                if let Expr::Value(ValueWithSpan { value, .. }) = expr.as_ref() {
                    widen(data_type, value);
                }
            }
            other => keep_number(other),
        }
        ControlFlow::Continue(())
    }
}

/// Gives the type of a time that nanoseconds cannot hold the precision of microseconds.
fn widen(data_type: &mut DataType, value: &Value) {
    let (DataType::Timestamp(precision @ (None | Some(9)), zone), Value::SingleQuotedString(text)) = (data_type, value)
    else {
        return;
    };
    let arrow_zone = matches!(zone, TimezoneInfo::WithTimeZone | TimezoneInfo::Tz).then(|| "+00:00".into());
    let fits = |unit| {
        let wanted = ArrowType::Timestamp(unit, arrow_zone.clone());
        ScalarValue::Utf8(Some(text.clone())).cast_to(&wanted).is_ok_and(|value| !value.is_null())
    };
    if !fits(TimeUnit::Nanosecond) && fits(TimeUnit::Microsecond) {
        *precision = Some(6);
    }
}

#[cfg(test)]
mod tests {
    use datafusion::sql::sqlparser::parser::Parser;

    use super::*;
    use crate::sql::dialect::PaimonDialect;

    fn check(cases: &[(&str, &str)]) {
        for (sql, expected) in cases {
            let mut expr = Parser::new(&PaimonDialect).try_with_sql(sql).unwrap().parse_expr().unwrap();
            keep_literals(&mut expr);
            assert_eq!(expr.to_string(), *expected);
        }
    }

    #[test]
    fn only_numbers_beyond_a_double_are_kept() {
        check(&[
            ("1.5", "1.5"),
            ("0.00000000000000000001", "0.00000000000000000001"),
            ("1234567890.123456789", "__paimon_number('1234567890.123456789')"),
            ("18446744073709551615", "18446744073709551615"),
            ("- 9223372036854775808", "-9223372036854775808"),
            ("12345678901234567890123", "__paimon_number('12345678901234567890123')"),
            ("1e300", "1e300"),
            ("a + 3.14159265358979323846", "a + __paimon_number('3.14159265358979323846')"),
        ]);
    }

    #[test]
    fn only_times_beyond_nanoseconds_are_widened() {
        check(&[
            ("TIMESTAMP '2024-01-01 00:00:00'", "TIMESTAMP '2024-01-01 00:00:00'"),
            ("TIMESTAMP '1600-01-01 00:00:00'", "TIMESTAMP(6) '1600-01-01 00:00:00'"),
            ("a < TIMESTAMP '9999-12-31 23:59:59.999999'", "a < TIMESTAMP(6) '9999-12-31 23:59:59.999999'"),
            ("CAST('2263-01-01' AS TIMESTAMP)", "CAST('2263-01-01' AS TIMESTAMP(6))"),
            ("'1500-01-01T00:00:00Z'::TIMESTAMP WITH TIME ZONE", "'1500-01-01T00:00:00Z'::TIMESTAMP(6) WITH TIME ZONE"),
            ("CAST('1600-01-01' AS TIMESTAMP(3))", "CAST('1600-01-01' AS TIMESTAMP(3))"),
            ("TIMESTAMP 'soon'", "TIMESTAMP 'soon'"),
            ("DATE '1600-01-01'", "DATE '1600-01-01'"),
        ]);
    }
}
