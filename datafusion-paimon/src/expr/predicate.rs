//! Filters of the engine as predicates of the core.
//!
//! Invariants: every row that passes the filter passes the predicate; where both always agree the translation is exact.
//! Floats differ: the engine takes -0.0 and 0.0 for equal and orders NaN by its sign, the format does not, so their
//! predicates are widened and never exact. A row passes only if the filter is true, so null and false are one here.
//! Source: read-path sheet section 9; semantics facts 17 to 21.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{BinaryExpr, InList, Like, ScalarFunction};
use datafusion::logical_expr::{Between, Expr, Operator};
use paimon_core::predicate::{Function, Leaf, Predicate};
use paimon_core::spec::TableSchema;
use paimon_core::types::{DataField, DataType, Datum, arrow_type};

use super::literal::to_datum;

/// A filter as a predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translated {
    /// Every row that passes the filter passes this.
    pub predicate: Predicate,
    /// Whether the reverse holds too.
    pub exact: bool,
}

/// The predicate that a filter over the columns of a table implies; `None` if there is none to speak of.
pub fn to_predicate(filter: &Expr, schema: &TableSchema) -> Option<Translated> {
    Translator { schema }.translate(filter, false)
}

struct Translator<'a> {
    schema: &'a TableSchema,
}

fn exact(predicate: Predicate) -> Translated {
    Translated { predicate, exact: true }
}

fn constant(value: bool) -> Translated {
    exact(if value { Predicate::AlwaysTrue } else { Predicate::AlwaysFalse })
}

fn leaf(field: &DataField, function: Function, literals: Vec<Datum>) -> Predicate {
    Predicate::Leaf(Leaf {
        field_id: field.id,
        name: field.name.clone(),
        data_type: field.data_type.clone(),
        function,
        literals,
    })
}

impl<'a> Translator<'a> {
    /// The translation of the filter, or of its negation.
    fn translate(&self, filter: &Expr, negated: bool) -> Option<Translated> {
        match filter {
            Expr::Alias(alias) => self.translate(&alias.expr, negated),
            Expr::Not(inner) => self.translate(inner, !negated),
            Expr::Literal(ScalarValue::Boolean(value), _) => Some(constant(value.is_some_and(|v| v != negated))),
            Expr::Column(_) => self.comparison(Function::Equal, filter, &true_literal(), negated),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => self.binary(left, *op, right, negated),
            Expr::IsNull(inner) => self.null_test(inner, !negated),
            Expr::IsNotNull(inner) => self.null_test(inner, negated),
            Expr::IsTrue(inner) if !negated => self.translate(inner, false),
            Expr::IsFalse(inner) if !negated => self.translate(inner, true),
            Expr::Between(between) => self.between(between, negated),
            Expr::InList(list) => self.in_list(list, negated),
            Expr::Like(like) if !negated && !like.negated => self.like(like),
            Expr::ScalarFunction(call) if !negated => self.call(call),
            _ => None,
        }
    }

    fn binary(&self, left: &Expr, op: Operator, right: &Expr, negated: bool) -> Option<Translated> {
        let function = match op {
            Operator::And if negated => return self.or(left, right, true),
            Operator::And => return self.and(left, right, false),
            Operator::Or if negated => return self.and(left, right, true),
            Operator::Or => return self.or(left, right, false),
            Operator::Eq => Function::Equal,
            Operator::NotEq => Function::NotEqual,
            Operator::Lt => Function::LessThan,
            Operator::LtEq => Function::LessOrEqual,
            Operator::Gt => Function::GreaterThan,
            Operator::GtEq => Function::GreaterOrEqual,
            Operator::IsNotDistinctFrom if !negated => return self.not_distinct(left, right),
            _ => return None,
        };
        if self.column(left).is_some() {
            self.comparison(function, left, right, negated)
        } else {
            self.comparison(swapped(function), right, left, negated)
        }
    }

    fn and(&self, left: &Expr, right: &Expr, negated: bool) -> Option<Translated> {
        match (self.translate(left, negated), self.translate(right, negated)) {
            (Some(a), Some(b)) => Some(Translated {
                predicate: Predicate::And(vec![a.predicate, b.predicate]),
                exact: a.exact && b.exact,
            }),
            (Some(one), None) | (None, Some(one)) => Some(Translated { exact: false, ..one }),
            (None, None) => None,
        }
    }

    fn or(&self, left: &Expr, right: &Expr, negated: bool) -> Option<Translated> {
        let (a, b) = (self.translate(left, negated)?, self.translate(right, negated)?);
        Some(Translated { predicate: Predicate::Or(vec![a.predicate, b.predicate]), exact: a.exact && b.exact })
    }

    fn comparison(&self, function: Function, column: &Expr, value: &Expr, negated: bool) -> Option<Translated> {
        let field = self.column(column)?;
        let function = if negated { opposite(function) } else { function };
        Some(match literal(value, &field.data_type)? {
            Some(datum) if is_float(&field.data_type) => {
                Translated { predicate: float(field, function, &datum)?, exact: false }
            }
            Some(datum) => exact(leaf(field, function, vec![datum])),
            None => constant(false),
        })
    }

    fn not_distinct(&self, left: &Expr, right: &Expr) -> Option<Translated> {
        let (column, value) = if self.column(left).is_some() { (left, right) } else { (right, left) };
        match literal(value, &self.column(column)?.data_type)? {
            Some(_) => self.comparison(Function::Equal, column, value, false),
            None => self.null_test(column, true),
        }
    }

    fn null_test(&self, inner: &Expr, is_null: bool) -> Option<Translated> {
        let function = if is_null { Function::IsNull } else { Function::IsNotNull };
        Some(exact(leaf(self.column(inner)?, function, Vec::new())))
    }

    fn between(&self, between: &Between, negated: bool) -> Option<Translated> {
        let Between { expr, low, high, negated: inverted } = between;
        let side = |function, bound: &Expr, negated| self.comparison(function, expr, bound, negated);
        let (low, high) = if *inverted == negated {
            (side(Function::GreaterOrEqual, low, false)?, side(Function::LessOrEqual, high, false)?)
        } else {
            (side(Function::GreaterOrEqual, low, true)?, side(Function::LessOrEqual, high, true)?)
        };
        let parts = vec![low.predicate, high.predicate];
        let predicate = if *inverted == negated { Predicate::And(parts) } else { Predicate::Or(parts) };
        Some(Translated { predicate, exact: low.exact && high.exact })
    }

    fn in_list(&self, list: &InList, negated: bool) -> Option<Translated> {
        let field = self.column(&list.expr)?;
        let values = list.list.iter().map(|v| literal(v, &field.data_type)).collect::<Option<Vec<_>>>()?;
        let excludes = list.negated != negated;
        if excludes && values.contains(&None) {
            return Some(constant(false));
        }
        let values: Vec<Datum> = values.into_iter().flatten().collect();
        if is_float(&field.data_type) {
            let function = if excludes { Function::NotEqual } else { Function::Equal };
            let parts = values.iter().map(|v| float(field, function, v)).collect::<Option<Vec<_>>>()?;
            let predicate = if excludes { Predicate::And(parts) } else { Predicate::Or(parts) };
            return Some(Translated { predicate, exact: false });
        }
        Some(match (values.is_empty(), excludes) {
            (true, false) => constant(false),
            (true, true) => exact(leaf(field, Function::IsNotNull, Vec::new())),
            (false, false) => exact(leaf(field, Function::In, values)),
            (false, true) => exact(leaf(field, Function::NotIn, values)),
        })
    }

    /// Patterns without inner wildcards are tests of their own. Of others only the text before the first wildcard is
    /// used: the two sides disagree on line ends and escapes.
    fn like(&self, like: &Like) -> Option<Translated> {
        if like.case_insensitive || like.escape_char.is_some_and(|c| c != '\\') {
            return None;
        }
        let field = self.column(&like.expr)?;
        let pattern = match literal(&like.pattern, &field.data_type)? {
            Some(Datum::String(pattern)) => pattern,
            Some(_) => return None,
            None => return Some(constant(false)),
        };
        let text = |function, text: &str| leaf(field, function, vec![Datum::String(text.to_owned())]);
        let is_plain = |text: &str| !text.contains(['%', '_', '\\']);
        let (starts_open, ends_open) = (pattern.starts_with('%'), pattern.ends_with('%'));
        let inner = pattern.trim_matches('%');
        if is_plain(inner) && !inner.is_empty() {
            return Some(exact(match (starts_open, ends_open) {
                (false, false) => text(Function::Equal, inner),
                (false, true) => text(Function::StartsWith, inner),
                (true, false) => text(Function::EndsWith, inner),
                (true, true) => text(Function::Contains, inner),
            }));
        }
        let prefix = pattern.split(['%', '_', '\\']).next().filter(|p| !p.is_empty())?;
        Some(Translated { predicate: text(Function::StartsWith, prefix), exact: false })
    }

    fn call(&self, call: &ScalarFunction) -> Option<Translated> {
        let function = match call.name() {
            "starts_with" => Function::StartsWith,
            "ends_with" => Function::EndsWith,
            "contains" => Function::Contains,
            _ => return None,
        };
        let [column, text] = &call.args[..] else { return None };
        let field = self.column(column)?;
        Some(match literal(text, &field.data_type)? {
            Some(datum @ Datum::String(_)) => exact(leaf(field, function, vec![datum])),
            Some(_) => return None,
            None => constant(false),
        })
    }

    fn column(&self, expr: &Expr) -> Option<&'a DataField> {
        let Expr::Column(column) = expr else { return None };
        self.schema.fields.iter().find(|f| f.name == column.name).filter(|f| !f.data_type.is_nested())
    }
}

fn true_literal() -> Expr {
    Expr::Literal(ScalarValue::Boolean(Some(true)), None)
}

/// The value of a literal for a column: `None` if it is no literal or has no exact value of that type.
fn literal(expr: &Expr, data_type: &DataType) -> Option<Option<Datum>> {
    let Expr::Literal(scalar, _) = expr else { return None };
    if let Ok(datum) = to_datum(scalar, data_type) {
        return Some(datum);
    }
    let cast = scalar.cast_to(&arrow_type(data_type)).ok()?;
    let back = cast.cast_to(&scalar.data_type()).ok()?;
    if back == *scalar { to_datum(&cast, data_type).ok() } else { None }
}

fn is_float(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Float(_) | DataType::Double(_))
}

fn swapped(function: Function) -> Function {
    match function {
        Function::LessThan => Function::GreaterThan,
        Function::LessOrEqual => Function::GreaterOrEqual,
        Function::GreaterThan => Function::LessThan,
        Function::GreaterOrEqual => Function::LessOrEqual,
        other => other,
    }
}

fn opposite(function: Function) -> Function {
    match function {
        Function::Equal => Function::NotEqual,
        Function::NotEqual => Function::Equal,
        Function::LessThan => Function::GreaterOrEqual,
        Function::LessOrEqual => Function::GreaterThan,
        Function::GreaterThan => Function::LessOrEqual,
        Function::GreaterOrEqual => Function::LessThan,
        other => other,
    }
}

/// A comparison of floats, wide enough for the engine's equality of zeros and for NaN of either sign.
fn float(field: &DataField, function: Function, value: &Datum) -> Option<Predicate> {
    let (zero, number, of): (bool, bool, fn(f64) -> Datum) = match value {
        Datum::Float(v) => (*v == 0.0, !v.is_nan(), |v| Datum::Float(v as f32)),
        Datum::Double(v) => (*v == 0.0, !v.is_nan(), Datum::Double),
        _ => return None,
    };
    if !number {
        // A NaN of the other sign differs for the engine only.
        return matches!(function, Function::Equal).then(|| leaf(field, function, vec![value.clone()]));
    }
    let bound = |negative: bool| match (zero, negative) {
        (true, true) => of(-0.0),
        (true, false) => of(0.0),
        (false, _) => value.clone(),
    };
    // For the engine a NaN with its sign set is below every number.
    let or_nan = |predicate| Predicate::Or(vec![predicate, leaf(field, Function::Equal, vec![of(f64::NAN)])]);
    Some(match function {
        Function::Equal if zero => leaf(field, Function::Between, vec![bound(true), bound(false)]),
        Function::Equal => leaf(field, Function::Equal, vec![value.clone()]),
        Function::NotEqual if zero => leaf(field, Function::NotBetween, vec![bound(true), bound(false)]),
        Function::NotEqual => leaf(field, Function::NotEqual, vec![value.clone()]),
        Function::LessThan => or_nan(leaf(field, function, vec![bound(true)])),
        Function::LessOrEqual => or_nan(leaf(field, function, vec![bound(false)])),
        Function::GreaterThan => leaf(field, function, vec![bound(false)]),
        Function::GreaterOrEqual => leaf(field, function, vec![bound(true)]),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
