//! Buckets that Java chose, and the formulas of the sheet.

use super::*;
use crate::error::ErrorKind;
use crate::types::testing::*;
use crate::types::{Timestamp, array_from_datums};

fn at(millis: i64, nanos: u32) -> Datum {
    Datum::Timestamp(Timestamp { millis, nanos })
}

type Case = (&'static str, BucketFunction, i32, Vec<DataType>, Vec<(Vec<Option<Datum>>, i32)>);

/// Rows of the Java fixtures `bucket_types` and `bucket_function_mod`, and the directory that each went to.
#[rustfmt::skip]
fn java_rows() -> Vec<Case> {
    vec![
        ("b_boolean", BucketFunction::Default, 5, vec![boolean()], vec![
            (vec![Some(Datum::Boolean(true))], 3),
            (vec![Some(Datum::Boolean(false))], 4),
            (vec![None], 4),
        ]),
        ("b_tinyint", BucketFunction::Default, 5, vec![tiny_int()], vec![
            (vec![Some(Datum::TinyInt(5))], 1),
            (vec![Some(Datum::TinyInt(100))], 3),
            (vec![Some(Datum::TinyInt(-1))], 4),
            (vec![Some(Datum::TinyInt(0))], 4),
        ]),
        ("b_smallint", BucketFunction::Default, 5, vec![small_int()], vec![
            (vec![Some(Datum::SmallInt(30000))], 0),
            (vec![Some(Datum::SmallInt(5))], 1),
            (vec![Some(Datum::SmallInt(-1))], 2),
            (vec![Some(Datum::SmallInt(0))], 4),
        ]),
        ("b_int", BucketFunction::Default, 5, vec![int()], vec![
            (vec![Some(Datum::Int(5))], 1),
            (vec![Some(Datum::Int(2147483647))], 1),
            (vec![Some(Datum::Int(-1))], 2),
            (vec![Some(Datum::Int(0))], 4),
            (vec![None], 4),
        ]),
        ("b_bigint", BucketFunction::Default, 5, vec![big_int()], vec![
            (vec![Some(Datum::BigInt(9223372036854775807))], 0),
            (vec![Some(Datum::BigInt(5))], 1),
            (vec![Some(Datum::BigInt(123456789012))], 1),
            (vec![Some(Datum::BigInt(-1))], 2),
            (vec![Some(Datum::BigInt(0))], 4),
        ]),
        ("b_float", BucketFunction::Default, 5, vec![float()], vec![
            (vec![Some(Datum::Float(0.0))], 4),
            (vec![Some(Datum::Float(-0.0))], 4),
            (vec![Some(Datum::Float(1.5))], 4),
            (vec![Some(Datum::Float(f32::NAN))], 4),
        ]),
        ("b_double", BucketFunction::Default, 5, vec![double()], vec![
            (vec![Some(Datum::Double(f64::NAN))], 2),
            (vec![Some(Datum::Double(1.5))], 3),
            (vec![Some(Datum::Double(0.0))], 4),
            (vec![Some(Datum::Double(-0.0))], 4),
        ]),
        ("b_decimal_9_2", BucketFunction::Default, 5, vec![decimal(9, 2)], vec![
            (vec![Some(Datum::Decimal(-100, 2))], 1),
            (vec![Some(Datum::Decimal(1234567, 2))], 1),
            (vec![Some(Datum::Decimal(100, 2))], 3),
            (vec![None], 4),
        ]),
        ("b_decimal_30_4", BucketFunction::Default, 5, vec![decimal(30, 4)], vec![
            (vec![None], 0),
            (vec![Some(Datum::Decimal(123456789012345678901234, 4))], 1),
            (vec![Some(Datum::Decimal(10000, 4))], 3),
            (vec![Some(Datum::Decimal(-10000, 4))], 3),
        ]),
        ("b_string", BucketFunction::Default, 5, vec![string()], vec![
            (vec![Some(text("a"))], 1),
            (vec![Some(text("12345678"))], 1),
            (vec![Some(text("1234567"))], 2),
            (vec![Some(text("ü"))], 2),
            (vec![Some(text(""))], 4),
            (vec![Some(text("a text of more than eight bytes"))], 4),
            (vec![None], 4),
        ]),
        ("b_char_4", BucketFunction::Default, 5, vec![char_of(4)], vec![
            (vec![Some(text("abcd"))], 0),
            (vec![Some(text("ab"))], 1),
        ]),
        ("b_bytes", BucketFunction::Default, 5, vec![bytes()], vec![
            (vec![Some(Datum::Bytes(vec![1, 2, 3, 4, 5, 6, 7, 8]))], 2),
            (vec![Some(Datum::Bytes(vec![0]))], 3),
            (vec![Some(Datum::Bytes(vec![]))], 4),
            (vec![None], 4),
        ]),
        ("b_date", BucketFunction::Default, 5, vec![date()], vec![
            (vec![Some(Datum::Date(19782))], 0),
            (vec![Some(Datum::Date(-1))], 2),
            (vec![Some(Datum::Date(0))], 4),
        ]),
        ("b_time_3", BucketFunction::Default, 5, vec![time(3)], vec![
            (vec![Some(Datum::Time(45296789))], 2),
            (vec![Some(Datum::Time(0))], 4),
        ]),
        ("b_timestamp_3", BucketFunction::Default, 5, vec![timestamp(3)], vec![
            (vec![Some(at(1709210096789, 0))], 1),
            (vec![Some(at(0, 0))], 4),
        ]),
        ("b_timestamp_6", BucketFunction::Default, 5, vec![timestamp(6)], vec![
            (vec![Some(at(1709210096789, 123000))], 0),
            (vec![Some(at(0, 0))], 4),
        ]),
        ("b_timestamp_9", BucketFunction::Default, 5, vec![timestamp(9)], vec![
            (vec![Some(at(-1, 999999))], 0),
            (vec![Some(at(1709210096789, 123456))], 1),
        ]),
        ("three", BucketFunction::Default, 7, vec![int(), string(), big_int()], vec![
            (vec![Some(Datum::Int(0)), Some(text("key 14")), Some(Datum::BigInt(14000000098))], 0),
            (vec![Some(Datum::Int(1)), Some(text("key 19")), Some(Datum::BigInt(19000000133))], 0),
            (vec![Some(Datum::Int(-2)), None, Some(Datum::BigInt(0))], 1),
            (vec![Some(Datum::Int(-1)), Some(text("key 21")), Some(Datum::BigInt(21000000147))], 1),
            (vec![Some(Datum::Int(0)), Some(text("key 26")), Some(Datum::BigInt(26000000182))], 1),
            (vec![Some(Datum::Int(0)), Some(text("key 10")), Some(Datum::BigInt(10000000070))], 2),
            (vec![Some(Datum::Int(1)), Some(text("key 11")), Some(Datum::BigInt(11000000077))], 2),
            (vec![Some(Datum::Int(0)), Some(text("key 2")), Some(Datum::BigInt(2000000014))], 2),
            (vec![Some(Datum::Int(1)), Some(text("key 23")), Some(Datum::BigInt(23000000161))], 2),
            (vec![Some(Datum::Int(-1)), Some(text("key 25")), Some(Datum::BigInt(25000000175))], 2),
            (vec![Some(Datum::Int(1)), Some(text("key 7")), Some(Datum::BigInt(7000000049))], 2),
            (vec![Some(Datum::Int(-2)), Some(text("key 16")), Some(Datum::BigInt(16000000112))], 3),
        ]),
        ("int", BucketFunction::Mod, 4, vec![int()], vec![
            (vec![Some(Datum::Int(-12))], 0),
            (vec![Some(Datum::Int(-24))], 0),
            (vec![Some(Datum::Int(0))], 0),
            (vec![Some(Datum::Int(12))], 0),
            (vec![Some(Datum::Int(24))], 0),
            (vec![Some(Datum::Int(-15))], 1),
            (vec![Some(Datum::Int(-27))], 1),
            (vec![Some(Datum::Int(-3))], 1),
            (vec![Some(Datum::Int(21))], 1),
            (vec![Some(Datum::Int(9))], 1),
            (vec![Some(Datum::Int(-18))], 2),
            (vec![Some(Datum::Int(-6))], 2),
        ]),
        ("bigint", BucketFunction::Mod, 4, vec![big_int()], vec![
            (vec![Some(Datum::BigInt(-12000000004))], 0),
            (vec![Some(Datum::BigInt(-24000000008))], 0),
            (vec![Some(Datum::BigInt(0))], 0),
            (vec![Some(Datum::BigInt(12000000004))], 0),
            (vec![Some(Datum::BigInt(24000000008))], 0),
            (vec![Some(Datum::BigInt(-21000000007))], 1),
            (vec![Some(Datum::BigInt(-9000000003))], 1),
            (vec![Some(Datum::BigInt(15000000005))], 1),
            (vec![Some(Datum::BigInt(27000000009))], 1),
            (vec![Some(Datum::BigInt(3000000001))], 1),
            (vec![Some(Datum::BigInt(-18000000006))], 2),
            (vec![Some(Datum::BigInt(-6000000002))], 2),
        ]),
    ]
}

#[track_caller]
fn check_rows(
    name: &str,
    function: BucketFunction,
    buckets: i32,
    types: &[DataType],
    rows: &[(Vec<Option<Datum>>, i32)],
) {
    let columns: Vec<ArrayRef> = types
        .iter()
        .enumerate()
        .map(|(i, t)| array_from_datums(&rows.iter().map(|(r, _)| r[i].clone()).collect::<Vec<_>>(), t).unwrap())
        .collect();
    let expected: Vec<i32> = rows.iter().map(|(_, b)| *b).collect();
    assert_eq!(assign_buckets(&columns, types, function, buckets).unwrap(), expected, "{name}");
    for (row, bucket) in rows {
        assert_eq!(bucket_of(row, types, function, buckets).unwrap(), *bucket, "{name} {row:?}");
    }
}

#[test]
fn rows_go_where_java_put_them() {
    for (name, function, buckets, types, rows) in java_rows() {
        check_rows(name, function, buckets, &types, &rows);
    }
}

#[test]
fn hive_buckets_follow_the_sheet() {
    let hive = |types: &[DataType], row: &[Option<Datum>], bucket| {
        check_rows("hive", BucketFunction::Hive, 10, types, &[(row.to_vec(), bucket)]);
    };
    hive(&[int()], &[Some(Datum::Int(42))], 2);
    hive(&[int()], &[Some(Datum::Int(-1))], 7);
    hive(&[string()], &[Some(text("hello"))], 2);
    hive(&[big_int()], &[Some(Datum::BigInt(1_234_567_890_123))], 6);
    hive(&[int(), string()], &[Some(Datum::Int(1)), Some(text("a"))], 8);
    hive(&[boolean(), string()], &[Some(Datum::Boolean(true)), None], 1);
    // By formula: 31 * 15 + 1, and the negative of the magnitude's hash.
    hive(&[decimal(5, 2)], &[Some(Datum::Decimal(150, 2))], 6);
    hive(&[decimal(5, 2)], &[Some(Datum::Decimal(-100, 2))], (-31 & i32::MAX) % 10);
    hive(&[double()], &[Some(Datum::Double(-0.0))], 0);
    let error = bucket_of(&[Some(at(0, 0))], &[timestamp(3)], BucketFunction::Hive, 4).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
}

#[test]
fn the_vectors_of_the_sheet_for_four_and_seven_buckets() {
    let default = |types: &[DataType], row: &[Option<Datum>], four, seven| {
        check_rows("4", BucketFunction::Default, 4, types, &[(row.to_vec(), four)]);
        check_rows("7", BucketFunction::Default, 7, types, &[(row.to_vec(), seven)]);
    };
    default(&[int()], &[Some(Datum::Int(42))], 1, 1);
    default(&[decimal(20, 3)], &[None], 0, 5);
    default(&[timestamp(6)], &[None], 1, 0);
    default(&[string(), int()], &[Some(text("x")), Some(Datum::Int(42))], 3, 2);
    default(&[int()], &[None], 0, 3);
    default(
        &[timestamp(6), decimal(20, 3)],
        &[Some(at(1_700_000_000_123, 456_000)), Some(Datum::Decimal(1_500, 3))],
        0,
        1,
    );
}

#[test]
fn wrong_settings_are_refused() {
    let one = [Some(Datum::Int(1))];
    assert_eq!(bucket_of(&one, &[int()], BucketFunction::Default, 0).unwrap_err().kind(), ErrorKind::InvalidInput);
    let error = bucket_of(&[Some(text("a"))], &[string()], BucketFunction::Mod, 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    assert_eq!(default_bucket(-7, 4), 3);
    assert_eq!(bucket_of(&[None], &[int()], BucketFunction::Mod, 4).unwrap(), 0);
}
