//! Whether a file may hold a row that passes, from the statistics of its columns.
//!
//! Invariants: a file is given up only if its statistics prove that no row passes, under either order of floats (-0.0 below
//! or equal to 0.0); what is unknown keeps the file. Bounds may be wider than the values (truncated text), never narrower.
//! Source: read-path sheet section 9; `predicate/LeafPredicate.java`, `predicate/LeafBinaryFunction.java`.

use super::{Function, Leaf, Predicate};
use crate::types::{DataType, Datum};

/// What is known of one column of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnStats {
    /// No value is less; `None` unknown, or all values are null.
    pub min: Option<Datum>,
    /// No value is greater; `None` unknown, or all values are null.
    pub max: Option<Datum>,
    /// Nulls; `None` unknown.
    pub null_count: Option<i64>,
}

/// Whether some row of a file of `row_count` rows may pass. `stats` gives what is known of the column of a leaf; `None`
/// keeps the file.
pub fn may_match(predicate: &Predicate, row_count: i64, stats: &dyn Fn(&Leaf) -> Option<ColumnStats>) -> bool {
    match predicate {
        Predicate::AlwaysTrue => true,
        Predicate::AlwaysFalse => false,
        Predicate::Leaf(leaf) => stats(leaf).is_none_or(|s| leaf_may_match(leaf, row_count, s)),
        Predicate::And(children) => children.iter().all(|c| may_match(c, row_count, stats)),
        Predicate::Or(children) => children.iter().any(|c| may_match(c, row_count, stats)),
    }
}

fn leaf_may_match(leaf: &Leaf, row_count: i64, stats: ColumnStats) -> bool {
    if stats.null_count == Some(row_count) {
        return leaf.function == Function::IsNull;
    }
    let bounds = (safe_min(stats.min), safe_max(stats.max));
    match leaf.function {
        // Without bounds the counts of some writers are not to be trusted either.
        Function::IsNull => stats.null_count != Some(0) || bounds.0.is_none() || bounds.1.is_none(),
        Function::IsNotNull => true,
        _ => match bounds {
            (Some(min), Some(max)) if is_ordered(&leaf.data_type) => value_may_match(leaf, &min, &max),
            _ => true,
        },
    }
}

/// Whether the bounds of writers follow the order of this crate. Some compare bytes as signed.
fn is_ordered(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_))
}

/// A NaN is no lower bound: a writer that follows IEEE keeps the first value that it saw. A zero may stand for the other.
fn safe_min(min: Option<Datum>) -> Option<Datum> {
    match min? {
        Datum::Float(v) if v.is_nan() => Some(Datum::Float(f32::NEG_INFINITY)),
        Datum::Double(v) if v.is_nan() => Some(Datum::Double(f64::NEG_INFINITY)),
        Datum::Float(0.0) => Some(Datum::Float(-0.0)),
        Datum::Double(0.0) => Some(Datum::Double(-0.0)),
        other => Some(other),
    }
}

/// Writers leave NaN, which is above every number, out of their bounds: no number is an upper bound.
fn safe_max(max: Option<Datum>) -> Option<Datum> {
    match max? {
        Datum::Float(_) => Some(Datum::Float(f32::NAN)),
        Datum::Double(_) => Some(Datum::Double(f64::NAN)),
        other => Some(other),
    }
}

/// Whether a literal may stand for another value in the order of the caller, or for one that writers leave out of bounds.
fn widened(literal: &Datum) -> (Datum, Datum) {
    match literal {
        Datum::Float(v) if *v == 0.0 => (Datum::Float(-0.0), Datum::Float(0.0)),
        Datum::Double(v) if *v == 0.0 => (Datum::Double(-0.0), Datum::Double(0.0)),
        other => (other.clone(), other.clone()),
    }
}

fn is_nan(literal: &Datum) -> bool {
    match literal {
        Datum::Float(v) => v.is_nan(),
        Datum::Double(v) => v.is_nan(),
        _ => false,
    }
}

fn value_may_match(leaf: &Leaf, min: &Datum, max: &Datum) -> bool {
    // Some writers leave NaN out of their bounds.
    if leaf.literals.iter().any(is_nan) {
        return true;
    }
    let equal = |l: &Datum| {
        let (low, high) = widened(l);
        *min <= high && low <= *max
    };
    let only = |l: &Datum| min == l && max == l;
    match (leaf.function, leaf.literals.as_slice()) {
        (Function::Equal, [l]) => equal(l),
        (Function::NotEqual, [l]) => !only(l),
        (Function::LessThan, [l]) => *min < widened(l).1,
        (Function::LessOrEqual, [l]) => *min <= widened(l).1,
        (Function::GreaterThan, [l]) => *max > widened(l).0,
        (Function::GreaterOrEqual, [l]) => *max >= widened(l).0,
        (Function::In, literals) => literals.iter().any(equal),
        (Function::NotIn, literals) => !literals.iter().any(only),
        (Function::Between, [low, high]) => widened(low).0 <= *max && *min <= widened(high).1,
        (Function::NotBetween, [low, high]) => *min < widened(low).1 || *max > widened(high).0,
        (Function::StartsWith, [Datum::String(prefix)]) => prefix_may_match(prefix, min, max),
        (Function::Like, [Datum::String(pattern)]) => {
            let prefix = pattern.split(['%', '_', '\\']).next().unwrap_or_default();
            prefix_may_match(prefix, min, max)
        }
        _ => true,
    }
}

fn prefix_may_match(prefix: &str, min: &Datum, max: &Datum) -> bool {
    let (Datum::String(min), Datum::String(max)) = (min, max) else { return true };
    let (prefix, min, max) = (prefix.as_bytes(), min.as_bytes(), max.as_bytes());
    (min.starts_with(prefix) || min <= prefix) && (max.starts_with(prefix) || max >= prefix)
}
