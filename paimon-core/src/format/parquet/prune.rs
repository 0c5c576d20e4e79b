//! Row groups and pages that cannot hold a row that a predicate lets pass.
//!
//! Invariants: unknown keeps; NaN is the greatest value and is in no bounds; both zeros are treated as equal, since engines
//! differ about them. Source: schema-evolution sheet section 2, semantics sheet facts 20, 21 and 24.

use std::ops::Range;

use ::parquet::arrow::arrow_reader::RowSelection;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::file::page_index::column_index::ColumnIndexMetaData;

use super::bounds::{Bounds, BoundsReader};
use super::projection::flat_leaf;
use crate::predicate::{Function, Leaf, Predicate};
use crate::types::Datum;

/// The row groups to read, in order.
pub(super) fn row_groups(footer: &ParquetMetaData, predicate: &Predicate) -> Vec<usize> {
    (0..footer.num_row_groups())
        .filter(|&i| {
            let group = footer.row_group(i);
            let rows = u64::try_from(group.num_rows()).unwrap_or(u64::MAX);
            may_match(predicate, &|leaf| {
                let position = flat_leaf(footer.file_metadata().schema_descr(), &leaf.name)?;
                let reader = BoundsReader::new(footer, position, &leaf.data_type);
                Some(reader.row_group(group.columns().get(position)?, rows))
            })
        })
        .collect()
}

fn may_match(predicate: &Predicate, bounds: &impl Fn(&Leaf) -> Option<Bounds>) -> bool {
    match predicate {
        Predicate::AlwaysTrue => true,
        Predicate::AlwaysFalse => false,
        Predicate::Leaf(leaf) => bounds(leaf).is_none_or(|bounds| leaf_may_match(leaf, &bounds)),
        Predicate::And(parts) => parts.iter().all(|p| may_match(p, bounds)),
        Predicate::Or(parts) => parts.iter().any(|p| may_match(p, bounds)),
    }
}

/// The rows of a row group that the page index cannot rule out; `None` if that is all of them.
pub(super) fn pages(footer: &ParquetMetaData, group: usize, predicate: &Predicate) -> Option<RowSelection> {
    match predicate {
        Predicate::AlwaysTrue | Predicate::AlwaysFalse => None,
        Predicate::Leaf(leaf) => leaf_pages(footer, group, leaf),
        Predicate::And(parts) => parts.iter().filter_map(|p| pages(footer, group, p)).reduce(|a, b| a.intersection(&b)),
        Predicate::Or(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(|p| pages(footer, group, p)).collect();
            parts?.into_iter().reduce(|a, b| a.union(&b))
        }
    }
}

fn leaf_pages(footer: &ParquetMetaData, group: usize, leaf: &Leaf) -> Option<RowSelection> {
    let position = flat_leaf(footer.file_metadata().schema_descr(), &leaf.name)?;
    let index = footer.column_index()?.get(group)?.get(position)?;
    // Writers leave out the index of a column whose pages hold NaN, and asking such an index for its pages panics.
    if matches!(index, ColumnIndexMetaData::NONE) {
        return None;
    }
    let locations = footer.offset_index()?.get(group)?.get(position)?.page_locations();
    let total = usize::try_from(footer.row_group(group).num_rows()).ok()?;
    if u64::try_from(locations.len()) != Ok(index.num_pages()) {
        return None;
    }
    let reader = BoundsReader::new(footer, position, &leaf.data_type);
    let mut kept: Vec<Range<usize>> = Vec::new();
    for (page, location) in locations.iter().enumerate() {
        let start = usize::try_from(location.first_row_index).ok()?;
        let end = match locations.get(page + 1) {
            Some(next) => usize::try_from(next.first_row_index).ok()?,
            None => total,
        };
        if start > end || end > total {
            return None;
        }
        let rows = u64::try_from(end - start).ok()?;
        if leaf_may_match(leaf, &reader.page(index, page, rows)) {
            kept.push(start..end);
        }
    }
    if kept.len() == locations.len() {
        return None;
    }
    Some(RowSelection::from_consecutive_ranges(kept.into_iter(), total))
}

fn leaf_may_match(leaf: &Leaf, bounds: &Bounds) -> bool {
    let all_null = bounds.nulls.is_some_and(|n| n >= bounds.rows);
    match leaf.function {
        Function::IsNull => return bounds.nulls != Some(0),
        Function::IsNotNull => return !all_null,
        _ if all_null => return false,
        _ => {}
    }
    let literals: Vec<Datum> = leaf.literals.iter().map(comparable).collect();
    if literals.iter().any(is_nan) {
        return true;
    }
    let (Some(min), Some(max)) = (&bounds.min, &bounds.max) else { return true };
    let within = |l: &Datum| min <= l && l <= max;
    let only_value = (bounds.exact && min == max && !bounds.may_hold_nan).then_some(min);
    match (leaf.function, literals.as_slice()) {
        (Function::Equal, [l]) => within(l) || zeros(l).iter().any(within),
        (Function::In, list) => list.iter().any(|l| within(l) || zeros(l).iter().any(within)),
        (Function::NotEqual, [l]) => only_value != Some(l),
        (Function::NotIn, list) => !only_value.is_some_and(|v| list.contains(v)),
        (Function::LessThan, [l]) => min < l,
        (Function::LessOrEqual, [l]) => min <= l || zeros(l).iter().any(|z| min <= z),
        (Function::GreaterThan, [l]) => bounds.may_hold_nan || max > l,
        (Function::GreaterOrEqual, [l]) => bounds.may_hold_nan || max >= l,
        (Function::Between, [low, high]) => {
            let reaches = max >= low || zeros(low).iter().any(|z| max >= z);
            reaches && (min <= high || zeros(high).iter().any(|z| min <= z))
        }
        (Function::StartsWith, [Datum::Bytes(prefix)]) => starts_within(prefix, min, max),
        _ => true,
    }
}

/// Literals in the form that bounds have.
fn comparable(literal: &Datum) -> Datum {
    match literal {
        Datum::String(text) => Datum::Bytes(text.as_bytes().to_vec()),
        other => other.clone(),
    }
}

fn is_nan(literal: &Datum) -> bool {
    match literal {
        Datum::Float(v) => v.is_nan(),
        Datum::Double(v) => v.is_nan(),
        _ => false,
    }
}

/// Both zeros if the literal is one of them.
fn zeros(literal: &Datum) -> Vec<Datum> {
    match literal {
        Datum::Float(v) if *v == 0.0 => vec![Datum::Float(-0.0), Datum::Float(0.0)],
        Datum::Double(v) if *v == 0.0 => vec![Datum::Double(-0.0), Datum::Double(0.0)],
        _ => Vec::new(),
    }
}

fn starts_within(prefix: &[u8], min: &Datum, max: &Datum) -> bool {
    let (Datum::Bytes(min), Datum::Bytes(max)) = (min, max) else { return true };
    let head = |bytes: &Vec<u8>| bytes.get(..prefix.len()).map_or_else(|| bytes.clone(), <[u8]>::to_vec);
    head(min).as_slice() <= prefix && prefix <= head(max).as_slice()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{DataType, DoubleType, IntType, VarCharType};

    fn leaf(data_type: DataType, function: Function, literals: Vec<Datum>) -> Leaf {
        Leaf { field_id: 0, name: "c".to_owned(), data_type, function, literals }
    }

    fn bounds(min: Datum, max: Datum, may_hold_nan: bool) -> Bounds {
        Bounds { min: Some(min), max: Some(max), exact: true, nulls: Some(0), rows: 10, may_hold_nan }
    }

    #[test]
    fn integers() {
        use Function::*;
        let int = |i: i32| Datum::Int(i);
        let cases = [
            (Equal, vec![int(5)], true),
            (Equal, vec![int(10)], false),
            (NotEqual, vec![int(5)], true),
            (In, vec![int(-1), int(9)], true),
            (In, vec![int(-1), int(10)], false),
            (In, vec![], false),
            (LessThan, vec![int(0)], false),
            (LessOrEqual, vec![int(0)], true),
            (GreaterThan, vec![int(9)], false),
            (GreaterOrEqual, vec![int(9)], true),
            (Between, vec![int(10), int(20)], false),
            (Between, vec![int(9), int(20)], true),
            (NotBetween, vec![int(0), int(9)], true),
            (IsNull, vec![], false),
            (IsNotNull, vec![], true),
        ];
        for (function, literals, expected) in cases {
            let leaf = leaf(DataType::Int(IntType::new()), function, literals);
            assert_eq!(leaf_may_match(&leaf, &bounds(int(0), int(9), false)), expected, "{leaf:?}");
        }
        let same = leaf(DataType::Int(IntType::new()), NotEqual, vec![int(3)]);
        assert!(!leaf_may_match(&same, &bounds(int(3), int(3), false)));
    }

    #[test]
    fn nan_is_above_all_bounds() {
        use Function::*;
        let double = |v: f64| Datum::Double(v);
        let between = bounds(double(-0.0), double(1.5), true);
        let cases = [
            (GreaterThan, vec![double(2.0)], true),
            (GreaterOrEqual, vec![double(2.0)], true),
            (Equal, vec![double(f64::NAN)], true),
            (Equal, vec![double(2.0)], false),
            (LessThan, vec![double(-1.0)], false),
            (NotEqual, vec![double(1.0)], true),
        ];
        for (function, literals, expected) in cases {
            let leaf = leaf(DataType::Double(DoubleType::new()), function, literals);
            assert_eq!(leaf_may_match(&leaf, &between), expected, "{leaf:?}");
        }
        let only = bounds(double(1.0), double(1.0), true);
        assert!(leaf_may_match(&leaf(DataType::Double(DoubleType::new()), NotEqual, vec![double(1.0)]), &only));
    }

    #[test]
    fn both_zeros_are_kept() {
        use Function::*;
        let double = |v: f64| Datum::Double(v);
        // A page of nothing but -0.0, whose writer did not widen the bounds.
        let negative = bounds(double(-0.0), double(-0.0), true);
        for (function, literal) in [(Equal, 0.0), (In, 0.0), (GreaterOrEqual, 0.0), (LessOrEqual, 0.0)] {
            let leaf = leaf(DataType::Double(DoubleType::new()), function, vec![double(literal)]);
            assert!(leaf_may_match(&leaf, &negative), "{leaf:?}");
        }
    }

    #[test]
    fn text_prefixes() {
        let text = |s: &str| Datum::Bytes(s.as_bytes().to_vec());
        let string = DataType::VarChar(VarCharType::string_type());
        for (prefix, expected) in [("b", true), ("bar", true), ("bz", true), ("c", true), ("d", false), ("a", false)] {
            let leaf = leaf(string.clone(), Function::StartsWith, vec![Datum::String(prefix.to_owned())]);
            assert_eq!(leaf_may_match(&leaf, &bounds(text("bar"), text("cat"), false)), expected, "{prefix}");
        }
    }
}
