//! Worked examples of the read-path and Python sheets, and the property that pruning loses no row.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow::datatypes::Schema;
use proptest::prelude::*;

use super::*;
use crate::error::{Entity, ErrorKind};
use crate::types::testing::*;
use crate::types::{ArrayType, DataType, Datum, RowType, Timestamp, array_from_datums, datum_at, to_arrow_field};

fn columns() -> RowType {
    row_type(&[
        ("i", int()),
        ("d", double()),
        ("s", string()),
        ("f", float()),
        ("t", timestamp(3)),
        ("dec", decimal(5, 2)),
        ("tiny", tiny_int()),
        ("list", DataType::Array(ArrayType::new(int()))),
        ("b", bytes()),
    ])
}

fn builder() -> PredicateBuilder {
    PredicateBuilder::new(&columns(), true)
}

/// A batch of one column of `columns`.
fn batch(name: &str, values: &[Option<Datum>]) -> RecordBatch {
    let row = columns();
    let field = row.field(name).unwrap();
    let array = array_from_datums(values, &field.data_type).unwrap();
    RecordBatch::try_new(Arc::new(Schema::new(vec![to_arrow_field(field)])), vec![array]).unwrap()
}

fn doubles(values: &[Option<f64>]) -> Vec<Option<Datum>> {
    values.iter().map(|v| v.map(Datum::Double)).collect()
}

fn texts(values: &[Option<&str>]) -> Vec<Option<Datum>> {
    values.iter().map(|v| v.map(text)).collect()
}

/// Positions of the rows that pass.
#[track_caller]
fn passing(predicate: &Predicate, name: &str, values: &[Option<Datum>]) -> Vec<usize> {
    let result = evaluate(predicate, &batch(name, values)).unwrap();
    assert!(result.nulls().is_none());
    result.values().set_indices().collect()
}

#[test]
fn floats_pass_in_total_order() {
    let rows = doubles(&[Some(f64::NAN), Some(-0.0), Some(0.0), None, Some(1.5)]);
    let b = builder();
    let d = Datum::Double;
    let cases = [
        (b.equal("d", d(f64::NAN)), vec![0]),
        (b.equal("d", d(-f64::NAN)), vec![0]),
        (b.equal("d", d(0.0)), vec![2]),
        (b.greater_than("d", d(1.0)), vec![0, 4]),
        (b.less_than("d", d(0.0)), vec![1]),
        (b.not_equal("d", d(f64::NAN)), vec![1, 2, 4]),
        (b.between("d", d(0.0), d(2.0)), vec![2, 4]),
        (b.is_in("d", vec![d(0.0), d(f64::NAN)]), vec![0, 2]),
    ];
    for (predicate, expected) in cases {
        let predicate = predicate.unwrap();
        assert_eq!(passing(&predicate, "d", &rows), expected, "{predicate}");
    }
}

#[test]
fn zeros_may_be_made_equal() {
    let rows = doubles(&[Some(-0.0), Some(0.0), None, Some(-1.0), Some(1.0)]);
    let b = builder();
    let d = Datum::Double;
    for zero in [0.0, -0.0] {
        let cases = [
            (b.equal("d", d(zero)), vec![0, 1]),
            (b.not_equal("d", d(zero)), vec![3, 4]),
            (b.less_than("d", d(zero)), vec![3]),
            (b.less_or_equal("d", d(zero)), vec![0, 1, 3]),
            (b.greater_than("d", d(zero)), vec![4]),
            (b.greater_or_equal("d", d(zero)), vec![0, 1, 4]),
            (b.between("d", d(zero), d(zero)), vec![0, 1]),
            (b.not_between("d", d(zero), d(zero)), vec![3, 4]),
            (b.is_in("d", vec![d(zero), d(1.0)]), vec![0, 1, 4]),
            (b.is_not_in("d", vec![d(zero), d(1.0)]), vec![3]),
        ];
        for (predicate, expected) in cases {
            let predicate = predicate.unwrap().with_equal_zeros();
            assert_eq!(passing(&predicate, "d", &rows), expected, "{predicate}");
        }
    }
}

#[test]
fn nulls_fail_every_test_but_is_null() {
    let rows = [Some(Datum::Int(1)), None, Some(Datum::Int(2))];
    let b = builder();
    let one = || Datum::Int(1);
    let many = |n: i32| (1..n).map(Datum::Int).collect::<Vec<_>>();
    let cases = [
        (b.not_equal("i", one()).unwrap(), vec![2]),
        (b.equal("i", one()).unwrap().negate().unwrap(), vec![2]),
        (b.is_not_in("i", vec![one()]).unwrap(), vec![2]),
        (b.is_not_in("i", many(2)).unwrap(), vec![2]),
        (b.is_not_in("i", many(30)).unwrap(), vec![]),
        (b.is_in("i", many(30)).unwrap(), vec![0, 2]),
        (b.is_in("i", vec![]).unwrap(), vec![]),
        (b.is_null("i").unwrap(), vec![1]),
        (b.is_not_null("i").unwrap(), vec![0, 2]),
        (b.not_between("i", Datum::Int(2), Datum::Int(3)).unwrap(), vec![0]),
        (Predicate::or([b.is_null("i").unwrap(), b.equal("i", one()).unwrap()]), vec![0, 1]),
    ];
    for (predicate, expected) in cases {
        assert_eq!(passing(&predicate, "i", &rows), expected, "{predicate}");
    }
}

#[test]
fn like_becomes_the_simplest_test() {
    let b = builder();
    let function = |pattern: &str| match b.like("s", text(pattern)).unwrap() {
        Predicate::Leaf(leaf) => (leaf.function, leaf.literals[0].clone()),
        other => panic!("{other}"),
    };
    assert_eq!(function("abc"), (Function::Equal, text("abc")));
    assert_eq!(function("abc%"), (Function::StartsWith, text("abc")));
    assert_eq!(function("%abc"), (Function::EndsWith, text("abc")));
    assert_eq!(function("%abc%"), (Function::Contains, text("abc")));
    for kept in ["%", "a%c", "a_", "a\\%", "%%", ""] {
        assert_eq!(function(kept).0, Function::Like, "{kept}");
    }
    for wrong in ["a\\", "a\\b", "\\\\\\"] {
        let error = b.like("s", text(wrong)).unwrap_err();
        assert!(error.to_string().contains("Invalid escape sequence"), "{wrong}: {error}");
    }
}

#[test]
fn text_functions_work_on_bytes_of_text() {
    let rows = texts(&[Some("a%b"), Some("axb"), Some("a\nb"), None, Some(""), Some("😀"), Some("～")]);
    let b = builder();
    let cases = [
        (b.like("s", text("a_b")).unwrap(), vec![0, 1, 2]),
        (b.like("s", text("a\\%b")).unwrap(), vec![0]),
        (b.like("s", text("_")).unwrap(), vec![5, 6]),
        (b.like("s", text("%")).unwrap(), vec![0, 1, 2, 4, 5, 6]),
        (b.like("s", text("")).unwrap(), vec![4]),
        (b.starts_with("s", text("")).unwrap(), vec![0, 1, 2, 4, 5, 6]),
        (b.ends_with("s", text("b")).unwrap(), vec![0, 1, 2]),
        (b.contains("s", text("%")).unwrap(), vec![0]),
        // Bytes, not UTF-16 units: U+1F600 is greater than U+FF5E.
        (b.greater_than("s", text("～")).unwrap(), vec![5]),
    ];
    for (predicate, expected) in cases {
        assert_eq!(passing(&predicate, "s", &rows), expected, "{predicate}");
    }
}

#[test]
fn literals_between_two_values_compare_exactly() {
    let b = builder();
    let floats: Vec<_> = [0.1f32, 0.25, 0.0].iter().map(|v| Some(Datum::Float(*v))).collect();
    let tenth = || Datum::Double(0.1);
    // 0.1 as FLOAT is greater than 0.1 as DOUBLE.
    assert_eq!(passing(&b.equal("f", tenth()).unwrap(), "f", &floats), Vec::<usize>::new());
    assert_eq!(passing(&b.not_equal("f", tenth()).unwrap(), "f", &floats), [0, 1, 2]);
    assert_eq!(passing(&b.greater_than("f", tenth()).unwrap(), "f", &floats), [0, 1]);
    assert_eq!(passing(&b.less_or_equal("f", tenth()).unwrap(), "f", &floats), [2]);
    assert_eq!(passing(&b.between("f", tenth(), Datum::Double(0.25)).unwrap(), "f", &floats), [0, 1]);
    assert_eq!(passing(&b.not_between("f", Datum::Double(0.0), tenth()).unwrap(), "f", &floats), [0, 1]);
    assert_eq!(passing(&b.equal("f", Datum::Double(0.25)).unwrap(), "f", &floats), [1]);
    assert_eq!(passing(&b.is_in("f", vec![tenth(), Datum::Int(0)]).unwrap(), "f", &floats), [2]);

    let at = |millis, nanos| Datum::Timestamp(Timestamp { millis, nanos });
    let times = [Some(at(0, 0)), Some(at(1, 0)), None];
    assert_eq!(b.equal("t", at(0, 1_000)).unwrap(), Predicate::AlwaysFalse);
    assert_eq!(passing(&b.greater_than("t", at(0, 1_000)).unwrap(), "t", &times), [1]);
    assert_eq!(passing(&b.less_or_equal("t", at(0, 1_000)).unwrap(), "t", &times), [0]);
}

#[test]
fn literals_that_do_not_fit_are_refused() {
    let b = builder();
    let refused = [
        b.equal("tiny", Datum::Int(128)),
        b.equal("i", Datum::Boolean(true)),
        b.equal("i", Datum::Double(1.0)),
        b.equal("s", Datum::Int(1)),
        b.equal("dec", Datum::Decimal(123_455, 3)),
        b.equal("dec", Datum::Int(1_000)),
        b.equal("t", Datum::LocalZonedTimestamp(Timestamp::from_millis(0))),
        b.starts_with("i", text("1")),
        b.leaf("i", Function::Equal, vec![]),
        b.leaf("i", Function::IsNull, vec![Datum::Int(1)]),
    ];
    for result in refused {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    assert!(b.equal("tiny", Datum::Int(128)).unwrap_err().to_string().contains("-128 to 127"));
    assert_eq!(b.equal("dec", Datum::Int(999)).unwrap(), b.equal("dec", Datum::Decimal(99_900, 2)).unwrap());
    assert_eq!(b.equal("list", Datum::Int(1)).unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(b.is_null("list").is_ok());
}

#[test]
fn names_are_never_guessed() {
    let row = row_type(&[("Id", int()), ("id", int()), ("Name", string())]);
    let exact = PredicateBuilder::new(&row, true);
    assert_eq!(exact.column("name").unwrap_err().kind(), ErrorKind::NotFound(Entity::Column));
    let any_case = PredicateBuilder::new(&row, false);
    assert_eq!(any_case.column("name").unwrap().id, 2);
    assert_eq!(any_case.column("id").unwrap().id, 1);
    assert_eq!(any_case.column("ID").unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn trees_are_flat_and_without_constants() {
    let b = builder();
    let one = b.equal("i", Datum::Int(1)).unwrap();
    let two = b.equal("s", text("x")).unwrap();
    let both = Predicate::and([one.clone(), Predicate::AlwaysTrue, Predicate::and([two.clone(), one.clone()])]);
    assert_eq!(both.conjuncts(), [&one, &two, &one]);
    assert_eq!(Predicate::and([one.clone(), Predicate::AlwaysFalse]), Predicate::AlwaysFalse);
    assert_eq!(Predicate::or([one.clone(), Predicate::AlwaysTrue]), Predicate::AlwaysTrue);
    assert_eq!(Predicate::or([]), Predicate::AlwaysFalse);
    assert_eq!(both.field_ids().into_iter().collect::<Vec<_>>(), [0, 2]);
    assert_eq!(Predicate::or([both, two]).to_string(), "(i = 1 AND s = 'x' AND i = 1) OR s = 'x'");
    let like = b.like("s", text("a_")).unwrap();
    assert_eq!(Predicate::and([one, like]).negate(), None);
}

#[test]
fn projection_follows_the_sheet() {
    let row = row_type(&[("dt", string()), ("id", int())]);
    let b = PredicateBuilder::new(&row, true);
    let dt = |v: &str| b.equal("dt", text(v)).unwrap();
    let id = || b.equal("id", Datum::Int(2)).unwrap();
    let is_partition = |field: i32| field == 0;
    // dt='x' OR id=2 prunes nothing.
    assert_eq!(Predicate::or([dt("x"), id()]).project(&is_partition), Predicate::AlwaysTrue);
    // (dt='x' AND id=2) OR dt='y' prunes to x and y.
    let mixed = Predicate::or([Predicate::and([dt("x"), id()]), dt("y")]);
    assert_eq!(mixed.project(&is_partition), Predicate::or([dt("x"), dt("y")]));
    assert_eq!(mixed.split(&is_partition), (Predicate::AlwaysTrue, mixed));
    let both = Predicate::and([dt("x"), id()]);
    assert_eq!(both.split(&is_partition), (dt("x"), id()));
}

fn stats(min: Option<Datum>, max: Option<Datum>, null_count: Option<i64>) -> ColumnStats {
    ColumnStats { min, max, null_count }
}

#[track_caller]
fn keeps(predicate: crate::Result<Predicate>, stats: ColumnStats, expected: bool) {
    let predicate = predicate.unwrap();
    assert_eq!(may_match(&predicate, 10, &|_| Some(stats.clone())), expected, "{predicate} on {stats:?}");
}

#[test]
fn statistics_prune_as_the_sheet_says() {
    let b = builder();
    let i = Datum::Int;
    let known = || stats(Some(i(5)), Some(i(8)), Some(1));
    keeps(b.equal("i", i(5)), known(), true);
    keeps(b.equal("i", i(9)), known(), false);
    keeps(b.not_equal("i", i(5)), known(), true);
    keeps(b.not_equal("i", i(5)), stats(Some(i(5)), Some(i(5)), Some(1)), false);
    keeps(b.less_than("i", i(5)), known(), false);
    keeps(b.less_or_equal("i", i(5)), known(), true);
    keeps(b.greater_than("i", i(8)), known(), false);
    keeps(b.greater_or_equal("i", i(8)), known(), true);
    keeps(b.is_in("i", vec![i(1), i(6)]), known(), true);
    keeps(b.is_in("i", vec![i(1), i(9)]), known(), false);
    keeps(b.is_not_in("i", vec![i(5), i(8)]), known(), true);
    keeps(b.between("i", i(9), i(10)), known(), false);
    keeps(b.between("i", i(8), i(10)), known(), true);
    keeps(b.not_between("i", i(5), i(8)), known(), false);
    keeps(b.not_between("i", i(5), i(7)), known(), true);
    keeps(b.is_null("i"), known(), true);
    keeps(b.is_null("i"), stats(Some(i(5)), Some(i(8)), Some(0)), false);
    keeps(b.is_not_null("i"), known(), true);
    let t = |v: &str| Some(text(v));
    keeps(b.starts_with("s", text("ab")), stats(t("aa"), t("abz"), Some(0)), true);
    keeps(b.starts_with("s", text("ab")), stats(t("abc"), t("abd"), Some(0)), true);
    keeps(b.starts_with("s", text("ab")), stats(t("ac"), t("ad"), Some(0)), false);
    keeps(b.like("s", text("ab_d")), stats(t("ac"), t("ad"), Some(0)), false);
    keeps(b.like("s", text("_b")), stats(t("ac"), t("ad"), Some(0)), true);
    keeps(b.ends_with("s", text("ab")), stats(t("ac"), t("ad"), Some(0)), true);
}

#[test]
fn three_kinds_of_unknown_keep_the_file() {
    let b = builder();
    let i = Datum::Int;
    // Bounds unknown with some values; count unknown; nothing known at all.
    for unknown in [stats(None, None, Some(3)), stats(None, None, None), stats(Some(i(1)), None, None)] {
        keeps(b.equal("i", i(77)), unknown.clone(), true);
        keeps(b.is_null("i"), unknown.clone(), true);
        keeps(b.is_not_null("i"), unknown, true);
    }
    keeps(b.is_null("i"), stats(None, None, Some(0)), true);
    keeps(b.is_null("i"), stats(Some(i(1)), Some(i(2)), None), true);
    keeps(b.equal("i", i(77)), stats(Some(i(1)), Some(i(2)), None), false);
    assert!(may_match(&b.equal("i", i(77)).unwrap(), 10, &|_| None));
    // All null is known.
    for all_null in [b.equal("i", i(1)), b.not_equal("i", i(1)), b.is_not_null("i"), b.is_not_in("i", vec![i(1), i(2)])]
    {
        keeps(all_null, stats(None, None, Some(10)), false);
    }
    keeps(b.ends_with("s", text("x")), stats(None, None, Some(10)), false);
    keeps(b.is_null("i"), stats(None, None, Some(10)), true);
    // Bytes: some writers order them as signed.
    keeps(
        b.less_than("b", Datum::Bytes(vec![1])),
        stats(Some(Datum::Bytes(vec![9])), Some(Datum::Bytes(vec![9])), Some(0)),
        true,
    );
}

#[test]
fn nan_and_zero_bounds_are_safe() {
    let b = builder();
    let d = Datum::Double;
    let range = |min: f64, max: f64| stats(Some(d(min)), Some(d(max)), Some(0));
    keeps(b.greater_than("d", d(1.0)), range(1.0, f64::NAN), true);
    keeps(b.equal("d", d(0.0)), range(1.0, f64::NAN), false);
    keeps(b.equal("d", d(0.5)), range(f64::NAN, f64::NAN), true);
    keeps(b.equal("d", d(f64::NAN)), range(0.0, 1.0), true);
    // SQL holds both zeros for equal, the format does not: neither may be lost.
    for (zero, other) in [(0.0, -0.0), (-0.0, 0.0)] {
        keeps(b.equal("d", d(zero)), range(other, other), true);
        keeps(b.less_or_equal("d", d(zero)), range(other, 1.0), true);
        keeps(b.greater_or_equal("d", d(zero)), range(-1.0, other), true);
        keeps(b.between("d", d(zero), d(zero)), range(other, other), true);
        keeps(b.is_in("d", vec![d(zero), d(7.0)]), range(other, other), true);
        keeps(b.not_equal("d", d(zero)), range(other, other), true);
    }
    keeps(b.less_than("d", d(0.0)), range(1.0, 2.0), false);
    // NaN is above every number, and ORC leaves it out of bounds.
    keeps(b.greater_than("d", d(2.0)), range(1.0, 1.5), true);
    keeps(b.greater_or_equal("d", d(f64::INFINITY)), range(1.0, 1.5), true);
    keeps(b.between("d", d(2.0), d(f64::NAN)), range(1.0, 1.5), true);
    keeps(b.not_between("d", d(0.0), d(2.0)), range(1.0, 1.5), true);
    keeps(b.not_equal("d", d(1.5)), range(1.5, 1.5), true);
    keeps(b.between("d", d(-2.0), d(0.5)), range(1.0, 1.5), false);
}

fn any_value(name: &'static str) -> BoxedStrategy<Datum> {
    match name {
        "i" => (-4i32..5).prop_map(Datum::Int).boxed(),
        "d" => prop_oneof![
            Just(f64::NAN),
            Just(-0.0),
            Just(0.0),
            Just(f64::INFINITY),
            (-3i32..3).prop_map(|v| f64::from(v) / 2.0)
        ]
        .prop_map(Datum::Double)
        .boxed(),
        _ => "[ab%_]{0,4}".prop_map(Datum::String).boxed(),
    }
}

fn any_leaf(name: &'static str) -> BoxedStrategy<Predicate> {
    let value = any_value(name);
    let one = prop_oneof![
        Just(Function::Equal),
        Just(Function::NotEqual),
        Just(Function::LessThan),
        Just(Function::LessOrEqual),
        Just(Function::GreaterThan),
        Just(Function::GreaterOrEqual),
    ];
    let make = move |f, l: Vec<Datum>| builder().leaf(name, f, l).unwrap();
    let mut cases = vec![
        (one, value.clone()).prop_map(move |(f, v)| make(f, vec![v])).boxed(),
        (any::<bool>(), value.clone(), value.clone())
            .prop_map(move |(not, a, b)| make(if not { Function::NotBetween } else { Function::Between }, vec![a, b]))
            .boxed(),
        (any::<bool>(), proptest::collection::vec(value.clone(), 0..15))
            .prop_map(move |(not, l)| make(if not { Function::NotIn } else { Function::In }, l))
            .boxed(),
        any::<bool>().prop_map(move |n| make(if n { Function::IsNull } else { Function::IsNotNull }, vec![])).boxed(),
    ];
    if name == "s" {
        let text = prop_oneof![
            Just(Function::StartsWith),
            Just(Function::EndsWith),
            Just(Function::Contains),
            Just(Function::Like)
        ];
        cases.push((text, value).prop_map(move |(f, v)| make(f, vec![v])).boxed());
    }
    proptest::strategy::Union::new(cases).boxed()
}

fn any_predicate(name: &'static str) -> BoxedStrategy<Predicate> {
    any_leaf(name)
        .prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 1..3).prop_map(Predicate::and),
                proptest::collection::vec(inner, 1..3).prop_map(Predicate::or),
            ]
        })
        .boxed()
}

fn any_case() -> impl Strategy<Value = (&'static str, Predicate, Vec<Option<Datum>>)> {
    prop_oneof![Just("i"), Just("d"), Just("s")].prop_flat_map(|name| {
        let rows = proptest::collection::vec(proptest::option::weighted(0.8, any_value(name)), 1..6);
        (Just(name), any_predicate(name), rows)
    })
}

/// Bounds as a writer that cuts text to one character leaves them.
fn written_stats(rows: &[Option<Datum>]) -> ColumnStats {
    let mut values: Vec<&Datum> = rows.iter().flatten().collect();
    values.sort();
    let cut = |d: &Datum, raise: bool| match d {
        Datum::String(s) if s.len() > 1 => {
            let mut byte = s.as_bytes()[0];
            byte += u8::from(raise);
            text(std::str::from_utf8(&[byte]).unwrap())
        }
        other => other.clone(),
    };
    stats(
        values.first().map(|v| cut(v, false)),
        values.last().map(|v| cut(v, true)),
        Some(rows.iter().filter(|r| r.is_none()).count() as i64),
    )
}

/// The meaning of a leaf on one value, written independently of the kernels.
fn naive(predicate: &Predicate, value: &Option<Datum>) -> bool {
    fn wildcard(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('%', rest)) => (0..=text.len()).any(|i| wildcard(rest, &text[i..])),
            Some(('_', rest)) => !text.is_empty() && wildcard(rest, &text[1..]),
            Some((c, rest)) => text.first() == Some(c) && wildcard(rest, &text[1..]),
        }
    }
    match predicate {
        Predicate::AlwaysTrue => true,
        Predicate::AlwaysFalse => false,
        Predicate::And(children) => children.iter().all(|c| naive(c, value)),
        Predicate::Or(children) => children.iter().any(|c| naive(c, value)),
        Predicate::Leaf(leaf) => {
            let Some(v) = value else { return leaf.function == Function::IsNull };
            let l = &leaf.literals;
            let texts = |f: &dyn Fn(&str, &str) -> bool| match (v, &l[0]) {
                (Datum::String(v), Datum::String(l)) => f(v, l),
                _ => false,
            };
            match leaf.function {
                Function::Equal => *v == l[0],
                Function::NotEqual => *v != l[0],
                Function::LessThan => *v < l[0],
                Function::LessOrEqual => *v <= l[0],
                Function::GreaterThan => *v > l[0],
                Function::GreaterOrEqual => *v >= l[0],
                Function::IsNull => false,
                Function::IsNotNull => true,
                Function::In => l.contains(v),
                Function::NotIn => !l.contains(v),
                Function::Between => *v >= l[0] && *v <= l[1],
                Function::NotBetween => *v < l[0] || *v > l[1],
                Function::StartsWith => texts(&|v, l| v.starts_with(l)),
                Function::EndsWith => texts(&|v, l| v.ends_with(l)),
                Function::Contains => texts(&|v, l| v.contains(l)),
                Function::Like => {
                    texts(&|v, l| wildcard(&l.chars().collect::<Vec<_>>(), &v.chars().collect::<Vec<_>>()))
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn kernels_agree_with_the_row_model((name, predicate, rows) in any_case()) {
        let result = evaluate(&predicate, &batch(name, &rows)).unwrap();
        let expected: Vec<bool> = rows.iter().map(|r| naive(&predicate, r)).collect();
        prop_assert_eq!(result, BooleanArray::from(expected), "{}", predicate);
    }

    #[test]
    fn pruning_loses_no_row((name, predicate, rows) in any_case()) {
        let matches = evaluate(&predicate, &batch(name, &rows)).unwrap().true_count() > 0
            || evaluate(&predicate.with_equal_zeros(), &batch(name, &rows)).unwrap().true_count() > 0;
        let file = written_stats(&rows);
        let kept = may_match(&predicate, rows.len() as i64, &|_| Some(file.clone()))
            || may_match(&predicate.with_equal_zeros(), rows.len() as i64, &|_| Some(file.clone()));
        prop_assert!(kept || !matches, "{} on {:?}", predicate, file);
        // Each order of zeros on its own, too.
        let alone = may_match(&predicate, rows.len() as i64, &|_| Some(file.clone()));
        prop_assert!(alone || !matches, "{} on {:?}", predicate, file);
    }

    #[test]
    fn negation_is_the_complement_on_values((name, predicate, rows) in any_case()) {
        if let Some(negated) = predicate.negate() {
            let column: Vec<_> = rows.into_iter().filter(Option::is_some).collect();
            let both = |p: &Predicate| evaluate(p, &batch(name, &column)).unwrap();
            let (yes, no) = (both(&predicate), both(&negated));
            prop_assert_eq!(arrow::compute::not(&yes).unwrap(), no);
        }
    }
}

#[test]
fn views_and_dictionaries_are_tested_by_value() {
    let values = array_from_datums(&texts(&[Some("a"), None, Some("b")]), &string()).unwrap();
    let b = builder();
    let predicate = b.greater_than("s", text("a")).unwrap();
    let types = [
        arrow::datatypes::DataType::Utf8View,
        arrow::datatypes::DataType::LargeUtf8,
        arrow::datatypes::DataType::Dictionary(
            Box::new(arrow::datatypes::DataType::Int32),
            Box::new(arrow::datatypes::DataType::Utf8),
        ),
    ];
    for encoding in types {
        let column: ArrayRef = arrow::compute::cast(&values, &encoding).unwrap();
        let batch = RecordBatch::try_from_iter_with_nullable([("s", column, true)]).unwrap();
        let result = evaluate(&predicate, &batch).unwrap();
        assert_eq!(result.values().set_indices().collect::<Vec<_>>(), [2], "{encoding}");
        assert_eq!(datum_at(&values, 2, &string()).unwrap(), Some(text("b")));
    }
}
