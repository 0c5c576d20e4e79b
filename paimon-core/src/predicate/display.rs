//! Predicates as text, close to SQL, for plans and messages.

use std::fmt;

use super::{Function, Leaf, Predicate};
use crate::types::Datum;

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, children: &[Self], word: &str| {
            for (i, child) in children.iter().enumerate() {
                if i > 0 {
                    write!(f, " {word} ")?;
                }
                match child {
                    Self::And(_) | Self::Or(_) => write!(f, "({child})")?,
                    _ => write!(f, "{child}")?,
                }
            }
            Ok(())
        };
        match self {
            Self::AlwaysTrue => f.write_str("true"),
            Self::AlwaysFalse => f.write_str("false"),
            Self::Leaf(leaf) => write!(f, "{leaf}"),
            Self::And(children) => list(f, children, "AND"),
            Self::Or(children) => list(f, children, "OR"),
        }
    }
}

impl fmt::Display for Leaf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let literals: Vec<String> = self.literals.iter().map(text).collect();
        let (name, first) = (&self.name, literals.first().map_or("", String::as_str));
        let second = literals.get(1).map_or("", String::as_str);
        match self.function {
            Function::Equal => write!(f, "{name} = {first}"),
            Function::NotEqual => write!(f, "{name} <> {first}"),
            Function::LessThan => write!(f, "{name} < {first}"),
            Function::LessOrEqual => write!(f, "{name} <= {first}"),
            Function::GreaterThan => write!(f, "{name} > {first}"),
            Function::GreaterOrEqual => write!(f, "{name} >= {first}"),
            Function::IsNull => write!(f, "{name} IS NULL"),
            Function::IsNotNull => write!(f, "{name} IS NOT NULL"),
            Function::In => write!(f, "{name} IN ({})", literals.join(", ")),
            Function::NotIn => write!(f, "{name} NOT IN ({})", literals.join(", ")),
            Function::Between => write!(f, "{name} BETWEEN {first} AND {second}"),
            Function::NotBetween => write!(f, "{name} NOT BETWEEN {first} AND {second}"),
            Function::StartsWith => write!(f, "starts_with({name}, {first})"),
            Function::EndsWith => write!(f, "ends_with({name}, {first})"),
            Function::Contains => write!(f, "contains({name}, {first})"),
            Function::Like => write!(f, "{name} LIKE {first}"),
        }
    }
}

/// A literal as text.
pub(super) fn text(value: &Datum) -> String {
    match value {
        Datum::Boolean(v) => v.to_string(),
        Datum::TinyInt(v) => v.to_string(),
        Datum::SmallInt(v) => v.to_string(),
        Datum::Int(v) => v.to_string(),
        Datum::BigInt(v) => v.to_string(),
        Datum::Float(v) => format!("{v:?}"),
        Datum::Double(v) => format!("{v:?}"),
        Datum::Decimal(v, scale) => decimal(*v, *scale),
        Datum::String(v) => format!("'{}'", v.replace('\'', "''")),
        Datum::Bytes(v) => format!("X'{}'", v.iter().map(|b| format!("{b:02X}")).collect::<String>()),
        Datum::Date(days) => match chrono::NaiveDate::from_epoch_days(*days) {
            Some(date) => format!("DATE '{date}'"),
            None => format!("DATE {days}"),
        },
        Datum::Time(millis) => format!("TIME {millis}"),
        Datum::Timestamp(t) => format!("TIMESTAMP {}", instant(t.millis, t.nanos)),
        Datum::LocalZonedTimestamp(t) => format!("TIMESTAMP {} UTC", instant(t.millis, t.nanos)),
    }
}

fn instant(millis: i64, nanos: u32) -> String {
    let seconds = millis.div_euclid(1_000);
    let nanos = u32::try_from(millis.rem_euclid(1_000)).unwrap_or_default() * 1_000_000 + nanos;
    match chrono::DateTime::from_timestamp(seconds, nanos) {
        Some(time) => format!("'{}'", time.naive_utc()),
        None => format!("{millis} ms {nanos} ns"),
    }
}

fn decimal(unscaled: i128, scale: u8) -> String {
    let sign = if unscaled < 0 { "-" } else { "" };
    let scale = usize::from(scale);
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}
