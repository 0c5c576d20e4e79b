//! Casts against values measured with Java.

use arrow::array::Array;

use super::*;
use crate::types::testing::*;
use crate::types::{BinaryType, CharType, Datum, Timestamp, VarBinaryType, VarCharType, array_from_datums, datum_at};

fn outcome(from: &DataType, to: &DataType, value: Datum) -> Result<Option<Datum>> {
    let cast = cast("c", from, to)?;
    let array = array_from_datums(&[Some(value), None], from)?;
    let result = cast(&array)?;
    assert_eq!((result.len(), result.data_type()), (2, &crate::types::arrow_type(to)), "{to:?}");
    assert!(result.is_null(1));
    datum_at(&result, 0, to)
}

fn check(from: &DataType, to: &DataType, cases: Vec<(Datum, Option<Datum>)>) {
    for (value, expected) in cases {
        let found = outcome(from, to, value.clone()).unwrap();
        assert_eq!(found, expected, "{value:?} from {from:?} to {to:?}");
    }
}

fn check_text(from: &DataType, to: &DataType, cases: Vec<(Datum, &str)>) {
    check(from, to, cases.into_iter().map(|(v, t)| (v, Some(text(t)))).collect());
}

fn varchar(length: u32) -> DataType {
    DataType::VarChar(VarCharType::new(length).unwrap())
}

fn some<T>(value: T, make: impl Fn(T) -> Datum) -> Option<Datum> {
    Some(make(value))
}

#[test]
fn integers_wrap() {
    check(
        &int(),
        &tiny_int(),
        vec![(Datum::Int(383), some(127, Datum::TinyInt)), (Datum::Int(128), some(-128, Datum::TinyInt))],
    );
    check(&int(), &small_int(), vec![(Datum::Int(65_536), some(0, Datum::SmallInt))]);
    check(&big_int(), &int(), vec![(Datum::BigInt(2_147_483_648), some(i32::MIN, Datum::Int))]);
    check(&tiny_int(), &big_int(), vec![(Datum::TinyInt(-1), some(-1, Datum::BigInt))]);
    check(&int(), &boolean(), vec![(Datum::Int(-1), some(true, Datum::Boolean))]);
    check(&boolean(), &decimal(5, 2), vec![(Datum::Boolean(true), Some(Datum::Decimal(100, 2)))]);
    check(
        &int(),
        &decimal(5, 2),
        vec![(Datum::Int(1_000), None), (Datum::Int(-999), Some(Datum::Decimal(-99_900, 2)))],
    );
}

#[test]
fn floats_saturate() {
    let double_to = |to: &DataType, cases| check(&double(), to, cases);
    double_to(
        &int(),
        vec![
            (Datum::Double(1.9), some(1, Datum::Int)),
            (Datum::Double(-1.9), some(-1, Datum::Int)),
            (Datum::Double(3e9), some(i32::MAX, Datum::Int)),
            (Datum::Double(f64::NAN), some(0, Datum::Int)),
        ],
    );
    double_to(&big_int(), vec![(Datum::Double(1e30), some(i64::MAX, Datum::BigInt))]);
    double_to(
        &tiny_int(),
        vec![(Datum::Double(300.7), some(44, Datum::TinyInt)), (Datum::Double(3e9), some(-1, Datum::TinyInt))],
    );
    double_to(&small_int(), vec![(Datum::Double(70_000.5), some(4_464, Datum::SmallInt))]);
    double_to(
        &float(),
        vec![
            (Datum::Double(1e300), some(f32::INFINITY, Datum::Float)),
            (Datum::Double(1e-50), some(0.0, Datum::Float)),
        ],
    );
    check(&int(), &float(), vec![(Datum::Int(16_777_217), some(1.677_721_6E7, Datum::Float))]);
    check(&float(), &double(), vec![(Datum::Float(0.1), some(0.100_000_001_490_116_12, Datum::Double))]);
}

#[test]
fn decimals_round_half_up_and_overflow_to_null() {
    let d = |v, s| Some(Datum::Decimal(v, s));
    check(
        &decimal(10, 2),
        &decimal(5, 2),
        vec![(Datum::Decimal(12_346, 2), d(12_346, 2)), (Datum::Decimal(123_450, 2), None)],
    );
    check(
        &decimal(10, 2),
        &decimal(3, 0),
        vec![(Datum::Decimal(250, 2), d(3, 0)), (Datum::Decimal(-150, 2), d(-2, 0)), (Datum::Decimal(99_950, 2), None)],
    );
    check(&double(), &decimal(5, 2), vec![(Datum::Double(1.005), d(101, 2)), (Datum::Double(-0.004), d(0, 2))]);
    check(&float(), &decimal(5, 2), vec![(Datum::Float(1.005), d(100, 2))]);
    check(&float(), &decimal(20, 15), vec![(Datum::Float(0.1), d(100_000_001_490_116, 15))]);
    check(&decimal(10, 2), &tiny_int(), vec![(Datum::Decimal(30_099, 2), some(44, Datum::TinyInt))]);
    check(
        &decimal(20, 0),
        &big_int(),
        vec![(Datum::Decimal(99_999_999_999_999_999_999, 0), some(7_766_279_631_452_241_919, Datum::BigInt))],
    );
    check(&decimal(10, 2), &double(), vec![(Datum::Decimal(10, 2), some(0.1, Datum::Double))]);
    assert!(outcome(&double(), &decimal(5, 2), Datum::Double(f64::NAN)).is_err());
}

#[test]
fn values_become_javas_text() {
    check_text(&boolean(), &varchar(2), vec![(Datum::Boolean(true), "tr")]);
    check_text(&int(), &varchar(2), vec![(Datum::Int(123), "12")]);
    check_text(&int(), &DataType::Char(CharType::new(5).unwrap()), vec![(Datum::Int(12), "12   ")]);
    check_text(
        &double(),
        &string(),
        vec![
            (Datum::Double(100.0), "100.0"),
            (Datum::Double(1.0e7), "1.0E7"),
            (Datum::Double(9_999_999.5), "9999999.5"),
            (Datum::Double(1.0e-5), "1.0E-5"),
            (Datum::Double(0.001), "0.001"),
            (Datum::Double(-0.0), "-0.0"),
            (Datum::Double(-1.25e-10), "-1.25E-10"),
            (Datum::Double(f64::NAN), "NaN"),
            (Datum::Double(f64::NEG_INFINITY), "-Infinity"),
        ],
    );
    check_text(&float(), &string(), vec![(Datum::Float(16_777_216.0), "1.6777216E7"), (Datum::Float(0.1), "0.1")]);
    check_text(&decimal(20, 18), &string(), vec![(Datum::Decimal(1_000_000_000, 18), "0.000000001000000000")]);
    check_text(&decimal(3, 2), &string(), vec![(Datum::Decimal(-150, 2), "-1.50"), (Datum::Decimal(-5, 2), "-0.05")]);
    check_text(&date(), &string(), vec![(Datum::Date(0), "1970-01-01"), (Datum::Date(-719_162), "0001-01-01")]);
    check_text(
        &time(3),
        &string(),
        vec![(Datum::Time(36_672_123), "10:11:12.123"), (Datum::Time(36_672_000), "10:11:12.0")],
    );
    check_text(&time(0), &string(), vec![(Datum::Time(36_672_123), "10:11:12")]);
    let at = |millis, nanos| Datum::Timestamp(Timestamp { millis, nanos });
    check_text(
        &timestamp(3),
        &string(),
        vec![
            (at(1_700_000_000_000, 0), "2023-11-14 22:13:20.000"),
            (at(1_700_000_000_120, 0), "2023-11-14 22:13:20.120"),
        ],
    );
    check_text(&timestamp(6), &string(), vec![(at(1_700_000_000_100, 0), "2023-11-14 22:13:20.100000")]);
    check_text(&bytes(), &varchar(2), vec![(Datum::Bytes(b"abc".to_vec()), "abc")]);
    check_text(&varchar(9), &varchar(2), vec![(text("h\u{e9}\u{e9}"), "h\u{e9}")]);
    check_text(&char_of(4), &string(), vec![(text("ab  "), "ab  ")]);
}

#[test]
fn text_becomes_numbers() {
    check(
        &string(),
        &int(),
        vec![
            (text("12.9"), some(12, Datum::Int)),
            (text(".5"), some(0, Datum::Int)),
            (text("+5"), some(5, Datum::Int)),
            (text("-2147483648"), some(i32::MIN, Datum::Int)),
        ],
    );
    for bad in ["1e3", " 12", "", "2147483648", "1.a", "-", "."] {
        assert!(outcome(&string(), &int(), text(bad)).is_err(), "{bad}");
    }
    check(
        &string(),
        &double(),
        vec![
            (text(" 1e3 "), some(1_000.0, Datum::Double)),
            (text("NaN"), some(f64::NAN, Datum::Double)),
            (text("-Infinity"), some(f64::NEG_INFINITY, Datum::Double)),
            (text("1d"), some(1.0, Datum::Double)),
        ],
    );
    for bad in ["nan", "inf", "", "x"] {
        assert!(outcome(&string(), &double(), text(bad)).is_err(), "{bad}");
    }
    check(
        &string(),
        &decimal(5, 2),
        vec![
            (text("1.005"), Some(Datum::Decimal(101, 2))),
            (text("1000"), None),
            (text("1.2E2"), Some(Datum::Decimal(12_000, 2))),
            (text("-0.005"), Some(Datum::Decimal(-1, 2))),
            (text("1e-400"), Some(Datum::Decimal(0, 2))),
        ],
    );
    assert!(outcome(&string(), &decimal(5, 2), text(" 1")).is_err());
    check(
        &string(),
        &boolean(),
        vec![(text("Yes"), some(true, Datum::Boolean)), (text("0"), some(false, Datum::Boolean))],
    );
    let error = outcome(&string(), &boolean(), text("on")).unwrap_err();
    assert_eq!(error.message(), "Cannot parse 'on' as BOOLEAN.");
}

#[test]
fn text_becomes_moments() {
    check(
        &string(),
        &date(),
        vec![
            (text("20240229"), some(20_240_229, Datum::Date)),
            (text("2024"), some(2024, Datum::Date)),
            (text("2024-2-9"), some(19_762, Datum::Date)),
            (text("2024-01"), some(19_723, Datum::Date)),
            (text("2024-01-01 10:00:00"), some(19_723, Datum::Date)),
        ],
    );
    assert!(outcome(&string(), &date(), text("2024-02-30")).is_err());
    check(
        &string(),
        &time(3),
        vec![
            (text("1:2:3"), some(3_723_000, Datum::Time)),
            (text("10:11"), some(36_660_000, Datum::Time)),
            (text("25:00:00"), some(90_000_000, Datum::Time)),
            (text("10:11:12.1239"), some(36_672_123, Datum::Time)),
        ],
    );
    let at = |millis| Some(Datum::Timestamp(Timestamp { millis, nanos: 0 }));
    check(
        &string(),
        &timestamp(3),
        vec![
            (text("2024-01-02 03:04:05.9999"), at(1_704_164_645_999)),
            (text("2024-01-02T03:04:05"), at(1_704_164_645_000)),
            (text("2024-01-02"), at(1_704_153_600_000)),
            (text("-1"), at(-1)),
        ],
    );
    for bad in ["2024-01-02T03:04:05Z", "2024-01-02 03:04"] {
        assert!(outcome(&string(), &timestamp(3), text(bad)).is_err(), "{bad}");
    }
    let error = outcome(&string(), &timestamp(4), text("5")).unwrap_err();
    assert_eq!(error.message(), "Unsupported precision: 4");
}

#[test]
fn moments_are_cut_as_java_does() {
    let at = |millis, nanos| Datum::Timestamp(Timestamp { millis, nanos });
    check(&timestamp(3), &timestamp(0), vec![(at(-1, 0), Some(at(0, 0))), (at(-1_001, 0), Some(at(-1_000, 0)))]);
    check(&timestamp(6), &timestamp(3), vec![(at(123, 456_000), Some(at(123, 0))), (at(-1, 1_000), Some(at(-1, 0)))]);
    check(&timestamp(3), &timestamp(1), vec![(at(1_299, 0), Some(at(1_200, 0)))]);
    check(&timestamp(3), &date(), vec![(at(-1, 0), some(0, Datum::Date)), (at(-86_400_000, 0), some(-1, Datum::Date))]);
    check(&timestamp(3), &time(3), vec![(at(-1, 0), some(86_399_999, Datum::Time))]);
    check(
        &timestamp(3),
        &big_int(),
        vec![(at(1_700_000_000_999, 0), some(1_700_000_000, Datum::BigInt)), (at(-1, 0), some(0, Datum::BigInt))],
    );
    check(&int(), &timestamp(6), vec![(Datum::Int(-1), Some(at(-1_000, 0)))]);
    check(&date(), &timestamp(3), vec![(Datum::Date(-1), Some(at(-86_400_000, 0)))]);
    // The zone of the process is not known here, but going there and back is.
    let there = cast("c", &timestamp(3), &zoned(6)).unwrap();
    let back = cast("c", &zoned(6), &timestamp(3)).unwrap();
    let values = array_from_datums(&[Some(at(1_700_000_000_123, 0)), None], &timestamp(3)).unwrap();
    assert_eq!(&back(&there(&values).unwrap()).unwrap(), &values);
    let text = cast("c", &zoned(6), &string()).unwrap()(&there(&values).unwrap()).unwrap();
    assert_eq!(&cast("c", &string(), &timestamp(3)).unwrap()(&text).unwrap(), &values);
    let again = cast("c", &string(), &zoned(6)).unwrap()(&text).unwrap();
    assert_eq!(&again, &there(&values).unwrap());
}

#[test]
fn bytes_are_cut_and_filled() {
    let binary = |n| DataType::Binary(BinaryType::new(n).unwrap());
    let b = |bytes: &[u8]| Datum::Bytes(bytes.to_vec());
    check(&bytes(), &binary(2), vec![(b(b"a"), Some(b(&[0x61, 0]))), (b(b"abc"), Some(b(b"ab")))]);
    check(&bytes(), &DataType::VarBinary(VarBinaryType::new(2).unwrap()), vec![(b(b"a"), Some(b(b"a")))]);
    check(&string(), &binary(3), vec![(text("ab"), Some(b(&[0x61, 0x62, 0])))]);
}
