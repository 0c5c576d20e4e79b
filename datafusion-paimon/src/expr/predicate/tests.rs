//! Translations as rows of a table.

use std::collections::BTreeMap;

use datafusion::arrow::datatypes::DataType as ArrowType;
use datafusion::functions::string::expr_fn::starts_with;
use datafusion::prelude::{cast, col, lit};
use paimon_core::types::{BooleanType, DoubleType, IntType, VarCharType};

use super::*;

fn schema() -> TableSchema {
    let types = [
        ("i", DataType::Int(IntType::new())),
        ("s", DataType::VarChar(VarCharType::string_type())),
        ("f", DataType::Double(DoubleType::new())),
        ("b", DataType::Boolean(BooleanType::new())),
    ];
    let fields = types.into_iter().zip(0..).map(|((name, t), id)| DataField::new(id, name, t)).collect();
    TableSchema {
        version: 3,
        id: 0,
        fields,
        highest_field_id: 3,
        partition_keys: Vec::new(),
        primary_keys: Vec::new(),
        options: BTreeMap::new(),
        comment: None,
        time_millis: 0,
    }
}

fn text(predicate: &Predicate) -> String {
    let all = |parts: &[Predicate]| parts.iter().map(text).collect::<Vec<_>>().join(", ");
    match predicate {
        Predicate::AlwaysTrue => "true".to_owned(),
        Predicate::AlwaysFalse => "false".to_owned(),
        Predicate::Leaf(leaf) => format!("{} {:?} {:?}", leaf.name, leaf.function, leaf.literals),
        Predicate::And(parts) => format!("and({})", all(parts)),
        Predicate::Or(parts) => format!("or({})", all(parts)),
    }
}

fn check(filter: Expr, expected: &str, exact: bool) {
    let translated = to_predicate(&filter, &schema()).unwrap_or_else(|| panic!("{filter} has no predicate"));
    assert_eq!((text(&translated.predicate).as_str(), translated.exact), (expected, exact), "{filter}");
}

fn no_int() -> Expr {
    lit(ScalarValue::Int32(None))
}

#[test]
fn comparisons() {
    check(col("i").eq(lit(1)), "i Equal [Int(1)]", true);
    check(lit(1).lt(col("i")), "i GreaterThan [Int(1)]", true);
    check(lit(1).gt_eq(col("i")), "i LessOrEqual [Int(1)]", true);
    check(col("i").eq(lit(5i64)), "i Equal [Int(5)]", true);
    check(col("i").not_eq(no_int()), "false", true);
    check(col("s").eq(lit(ScalarValue::Utf8View(Some("x".into())))), "s Equal [String(\"x\")]", true);
    check(col("b"), "b Equal [Boolean(true)]", true);
    check(!col("b"), "b NotEqual [Boolean(true)]", true);
}

#[test]
fn negations_are_pushed_to_the_leaves() {
    check(!col("i").eq(lit(1)), "i NotEqual [Int(1)]", true);
    let either = col("i").lt(lit(1)).or(col("s").is_null());
    check(!either, "and(i GreaterOrEqual [Int(1)], s IsNotNull [])", true);
    let both = col("i").gt(lit(1)).and(col("i").lt_eq(lit(9)));
    check(!both, "or(i LessOrEqual [Int(1)], i GreaterThan [Int(9)])", true);
    check(!col("i").in_list(vec![lit(1)], true), "i In [Int(1)]", true);
}

#[test]
fn lists_and_ranges() {
    check(col("i").in_list(vec![lit(1), no_int()], false), "i In [Int(1)]", true);
    check(col("i").in_list(vec![lit(1), no_int()], true), "false", true);
    check(col("i").in_list(vec![lit(1), lit(2)], true), "i NotIn [Int(1), Int(2)]", true);
    check(col("i").between(lit(1), lit(2)), "and(i GreaterOrEqual [Int(1)], i LessOrEqual [Int(2)])", true);
    check(col("i").not_between(lit(1), lit(2)), "or(i LessThan [Int(1)], i GreaterThan [Int(2)])", true);
    check(!col("i").between(lit(1), lit(2)), "or(i LessThan [Int(1)], i GreaterThan [Int(2)])", true);
}

#[test]
fn text_patterns() {
    check(col("s").like(lit("ab%")), "s StartsWith [String(\"ab\")]", true);
    check(col("s").like(lit("%ab")), "s EndsWith [String(\"ab\")]", true);
    check(col("s").like(lit("%ab%")), "s Contains [String(\"ab\")]", true);
    check(col("s").like(lit("ab")), "s Equal [String(\"ab\")]", true);
    check(col("s").like(lit("ab_c%")), "s StartsWith [String(\"ab\")]", false);
    check(starts_with(col("s"), lit("ab")), "s StartsWith [String(\"ab\")]", true);
}

#[test]
fn floats_are_widened_and_never_exact() {
    check(col("f").eq(lit(1.5)), "f Equal [Double(1.5)]", false);
    check(col("f").eq(lit(0.0)), "f Between [Double(-0.0), Double(0.0)]", false);
    check(col("f").not_eq(lit(-0.0)), "f NotBetween [Double(-0.0), Double(0.0)]", false);
    check(col("f").lt(lit(0.0)), "or(f LessThan [Double(-0.0)], f Equal [Double(NaN)])", false);
    check(col("f").gt_eq(lit(0.0)), "f GreaterOrEqual [Double(-0.0)]", false);
    check(col("f").eq(lit(f64::NAN)), "f Equal [Double(NaN)]", false);
}

#[test]
fn parts_without_predicate_leave_a_wider_one() {
    let volatile = cast(col("s"), ArrowType::Int32).gt(lit(1));
    check(col("i").eq(lit(1)).and(volatile.clone()), "i Equal [Int(1)]", false);
    let none = [
        col("i").eq(lit(1)).or(volatile.clone()),
        volatile,
        col("i").gt(lit(i64::MAX)),
        col("i").gt(lit(1.5)),
        col("f").lt(lit(f64::NAN)),
        col("f").not_eq(lit(f64::NAN)),
        col("s").not_like(lit("a%")),
        col("s").like(lit("%")),
        col("s").like(lit("_a")),
        col("i").eq(col("i")),
    ];
    for filter in none {
        assert_eq!(to_predicate(&filter, &schema()), None, "{filter}");
    }
}
