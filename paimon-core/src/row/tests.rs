//! Vectors of the binary-row sheet, and properties.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, StringViewArray, TimestampMicrosecondArray};
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::types::testing::*;
use crate::types::{ArrayType, DataType, Datum, Timestamp, array_from_datums};

fn at(millis: i64, nanos: u32) -> Datum {
    Datum::Timestamp(Timestamp { millis, nanos })
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|b| *b != b' ').collect();
    digits.chunks(2).map(|p| u8::from_str_radix(std::str::from_utf8(p).unwrap(), 16).unwrap()).collect()
}

type Vector = (&'static str, Vec<DataType>, Vec<Option<Datum>>, &'static str, i32);

/// Rows of the plain layout: section 4 of the sheet.
#[rustfmt::skip]
fn vectors() -> Vec<Vector> {
    vec![
        ("V02", vec![int()], vec![Some(Datum::Int(1))], "0000000000000000 0100000000000000", 1465514398),
        ("V03", vec![int()], vec![Some(Datum::Int(-1))], "0000000000000000 ffffffff00000000", 1133687267),
        ("V04", vec![int()], vec![None], "0001000000000000 0000000000000000", -1748325344),
        ("V05", vec![big_int()], vec![Some(Datum::BigInt(1_234_567_890_123))], "0000000000000000 cb04fb711f010000", -1873221036),
        ("V06", vec![boolean(), tiny_int(), small_int()], vec![Some(Datum::Boolean(true)), Some(Datum::TinyInt(-2)), Some(Datum::SmallInt(300))], "0000000000000000 0100000000000000 fe00000000000000 2c01000000000000", 1690093483),
        ("V07", vec![float(), double()], vec![Some(Datum::Float(1.5)), Some(Datum::Double(-2.25))], "0000000000000000 0000c03f00000000 00000000000002c0", -1321928621),
        ("V08", vec![string()], vec![Some(text("abcdefg"))], "0000000000000000 6162636465666787", -1431907323),
        ("V09", vec![string()], vec![Some(text("abcdefgh"))], "0000000000000000 0800000010000000 6162636465666768", -843760178),
        ("V10", vec![string()], vec![Some(text(""))], "0000000000000000 0000000000000080", 302122119),
        ("V11", vec![string()], vec![Some(text("中文字"))], "0000000000000000 0900000010000000 e4b8ade69687e5ad 9700000000000000", 131107836),
        ("V12", vec![string(), string()], vec![Some(text("ab")), Some(text("hello world"))], "0000000000000000 6162000000000082 0b00000018000000 68656c6c6f20776f 726c640000000000", 45160376),
        ("V13", vec![bytes()], vec![Some(Datum::Bytes(vec![1, 2, 3]))], "0000000000000000 0102030000000083", 1066645297),
        ("V14", vec![bytes()], vec![Some(Datum::Bytes((0..10).collect()))], "0000000000000000 0a00000010000000 0001020304050607 0809000000000000", 1822312655),
        ("V15", vec![decimal(10, 2)], vec![Some(Datum::Decimal(12_345, 2))], "0000000000000000 3930000000000000", 767607022),
        ("V16", vec![decimal(20, 3)], vec![Some(Datum::Decimal(12_345_678_901_234_567_891, 3))], "0000000000000000 0900000010000000 00ab54a98ceb1f0a d300000000000000", -116158751),
        ("V17", vec![decimal(20, 3)], vec![None], "0001000000000000 0000000000000000", -1748325344),
        ("V18", vec![decimal(38, 10)], vec![Some(Datum::Decimal(-10_000_000_001, 10))], "0000000000000000 0500000010000000 fdabf41bff000000 0000000000000000", 166888848),
        ("V19", vec![timestamp(3)], vec![Some(at(1_700_000_000_123, 0))], "0000000000000000 7b68e5cf8b010000", -1285420957),
        ("V20", vec![timestamp(6)], vec![Some(at(1_700_000_000_123, 456_000))], "0000000000000000 40f5060010000000 7b68e5cf8b010000", 1196670069),
        ("V21", vec![timestamp(9)], vec![Some(at(-1, 999_999))], "0000000000000000 3f420f0010000000 ffffffffffffffff", 61627685),
        ("V23", vec![date(), time(3)], vec![Some(Datum::Date(19_675)), Some(Datum::Time(45_296_789))], "0000000000000000 db4c000000000000 952cb30200000000", 2088850675),
        ("V29", vec![string(), int()], vec![Some(text("2024-01-01")), Some(Datum::Int(8))], "0000000000000000 0a00000018000000 0800000000000000 323032342d30312d 3031000000000000", -1966879914),
        ("V33", vec![char_of(4)], vec![Some(text("ab"))], "0000000000000000 6162000000000082", -425866811),
        ("V34", vec![decimal(18, 0)], vec![Some(Datum::Decimal(-1, 0))], "0000000000000000 ffffffffffffffff", -821098432),
        ("V22", vec![zoned(6)], vec![Some(Datum::LocalZonedTimestamp(Timestamp { millis: 1_700_000_000_123, nanos: 456_000 }))], "0000000000000000 40f5060010000000 7b68e5cf8b010000", 1196670069),
    ]
}

/// Rows of the reserved layout: the bucket vectors of section 4.
#[rustfmt::skip]
fn bucket_vectors() -> Vec<Vector> {
    vec![
        ("B1", vec![int()], vec![Some(Datum::Int(42))], "0000000000000000 2a00000000000000", 907821237),
        ("B2", vec![decimal(20, 3)], vec![None], "0001000000000000 0000000010000000 0000000000000000 0000000000000000", -1380280760),
        ("B3", vec![timestamp(6)], vec![None], "0001000000000000 0000000010000000 0000000000000000", -340882661),
        ("B4", vec![string(), int()], vec![Some(text("x")), Some(Datum::Int(42))], "0000000000000000 7800000000000081 2a00000000000000", -1408424467),
        ("B5", vec![int()], vec![None], "0001000000000000 0000000000000000", -1748325344),
        ("B6", vec![string()], vec![None], "0001000000000000 0000000000000000", -1748325344),
        ("B7", vec![timestamp(6), decimal(20, 3)], vec![Some(at(1_700_000_000_123, 456_000)), Some(Datum::Decimal(1_500, 3))], "0000000000000000 40f5060018000000 0200000020000000 7b68e5cf8b010000 05dc000000000000 0000000000000000", -1096279164),
    ]
}

/// Rows with nested values: only their bytes and hashes.
#[rustfmt::skip]
const NESTED: [(&str, &str, i32); 7] = [
        ("V24", "0000000000000000 1800000010000000 0300000002000000 0100000000000000 0300000000000000", 1830759751),
        ("V25", "0000000000000000 3000000010000000 0300000004000000 6100000000000081 0d00000020000000 0000000000000000 6c6f6e6765722d74 68616e2d37000000", 865699004),
        ("V26", "0000000000000000 2c00000010000000 1800000002000000 000000006b310000 000000826b320000 0000008202000000 020000000a000000 0000000000000000", -1359791478),
        ("V27", "0000000000000000 1800000010000000 0000000000000000 0700000000000000 6e65737465640086", 1196097576),
        ("V30", "0000000000000000 2000000010000000 0300000004000000 0000000000000000 0200000000000000 0000000000000000", -2052483772),
        ("V31", "0000000000000000 1000000010000000 0300000000000000 0102030000000000", 549937053),
        ("V32", "0000000000000000 1000000010000000 0300000004000000 0100000000000000", -1053506233),
];

#[test]
fn rows_of_the_sheet_encode_decode_and_hash() {
    let plain = vectors().into_iter().map(|v| (v, NullLayout::Plain));
    let reserved = bucket_vectors().into_iter().map(|v| (v, NullLayout::Reserved));
    for ((id, types, values, bytes, expected_hash), nulls) in plain.chain(reserved) {
        let row = BinaryRow::encode(&values, &types, nulls).unwrap();
        assert_eq!(row.as_bytes(), from_hex(bytes), "{id}");
        assert_eq!(hash(&row), expected_hash, "{id}");
        assert_eq!(row.decode(&types).unwrap(), values, "{id}");
        assert_eq!(BinaryRow::from_serialized(row.to_serialized()).unwrap(), row, "{id}");

        let columns: Vec<ArrayRef> = values
            .iter()
            .zip(&types)
            .map(|(v, t)| array_from_datums(&[v.clone(), None, v.clone()], t).unwrap())
            .collect();
        let rows = encode_columns(&columns, &types, nulls).unwrap();
        assert_eq!(rows[0], row, "{id}");
        assert_eq!(rows[2], row, "{id}");
        assert_eq!(rows[1], BinaryRow::encode(&vec![None; types.len()], &types, nulls).unwrap(), "{id}");
        if nulls == NullLayout::Reserved {
            assert_eq!(hash_columns(&columns, &types).unwrap()[2], expected_hash, "{id}");
        }
    }
}

#[test]
fn the_row_without_fields_is_eight_zero_bytes() {
    assert_eq!(hash(&BinaryRow::empty()), -1670924195);
    assert_eq!(BinaryRow::empty().to_serialized(), [0; 12]);
    assert_eq!(BinaryRow::from_serialized(vec![0; 12]).unwrap(), BinaryRow::empty());
    assert_eq!(BinaryRow::from_serialized(vec![]).unwrap(), BinaryRow::empty());
}

#[test]
fn fifty_seven_fields_need_two_null_words() {
    let types = vec![int(); 57];
    let values: Vec<_> = (0..57).map(|i| (i != 0 && i != 56).then_some(Datum::Int(i))).collect();
    let row = BinaryRow::encode(&values, &types, NullLayout::Plain).unwrap();
    assert_eq!(row.as_bytes().len(), 472);
    assert_eq!(row.as_bytes()[..16], from_hex("0001000000000000 0100000000000000"));
    assert_eq!(hash(&row), 1350956185);
    assert_eq!(row.to_serialized()[..4], [0, 0, 0, 0x39]);
    assert_eq!(row.decode(&types).unwrap(), values);
}

#[test]
fn nested_values_hash_but_do_not_decode() {
    let array = DataType::Array(ArrayType::new(int()));
    for (id, bytes, expected) in NESTED {
        let row = BinaryRow::from_bytes(1, from_hex(bytes)).unwrap();
        assert_eq!(hash(&row), expected, "{id}");
        assert_eq!(row.decode(std::slice::from_ref(&array)).unwrap_err().kind(), ErrorKind::Unsupported, "{id}");
    }
    let null = BinaryRow::encode(&[None], std::slice::from_ref(&array), NullLayout::Plain).unwrap();
    assert_eq!(null.decode(&[array]).unwrap(), [None]);
}

#[test]
fn rows_that_break_the_layout_are_corrupt() {
    let kind = |r: crate::Result<Vec<Option<Datum>>>| r.unwrap_err().kind();
    for serialized in ["00", "00000001 0000000000000000", "ffffffff 0000000000000000", "00000039 0000000000000000"] {
        assert_eq!(BinaryRow::from_serialized(from_hex(serialized)).unwrap_err().kind(), ErrorKind::Corrupt);
    }
    let one = |slot: &str| BinaryRow::from_bytes(1, from_hex(&format!("0000000000000000 {slot}"))).unwrap();
    assert_eq!(kind(one("0000000000000000").decode(&[])), ErrorKind::Corrupt);
    // Offset behind the end, an inline length of 8, text that is no UTF-8.
    assert_eq!(kind(one("0800000010000000").decode(&[string()])), ErrorKind::Corrupt);
    assert_eq!(kind(one("ffffffffffffff7f").decode(&[bytes()])), ErrorKind::Corrupt);
    assert_eq!(kind(one("6162636465666788").decode(&[bytes()])), ErrorKind::Corrupt);
    assert_eq!(kind(one("ff00000000000081").decode(&[string()])), ErrorKind::Corrupt);
    // A decimal of no or too many bytes; a timestamp of a whole millisecond of nanoseconds.
    assert_eq!(kind(one("0000000008000000").decode(&[decimal(20, 3)])), ErrorKind::Corrupt);
    assert_eq!(kind(one("1100000000000000").decode(&[decimal(20, 3)])), ErrorKind::Corrupt);
    assert_eq!(kind(one("40420f0008000000").decode(&[timestamp(6)])), ErrorKind::Corrupt);
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let kind = |v: Datum, t: DataType| BinaryRow::encode(&[Some(v)], &[t], NullLayout::Plain).unwrap_err().kind();
    assert_eq!(kind(Datum::BigInt(1), int()), ErrorKind::InvalidInput);
    assert_eq!(kind(at(0, 1), timestamp(3)), ErrorKind::InvalidInput);
    assert_eq!(kind(Datum::Decimal(1, 3), decimal(10, 2)), ErrorKind::InvalidInput);
    assert!(BinaryRow::encode(&[], &[int()], NullLayout::Plain).is_err());
}

#[test]
fn other_encodings_of_a_column_give_the_same_rows() {
    let words = [Some("ab"), None, Some("hello world")];
    let view: ArrayRef = Arc::new(StringViewArray::from(words.to_vec()));
    let plain = array_from_datums(&words.map(|w| w.map(text)), &string()).unwrap();
    assert_eq!(hash_columns(&[view], &[string()]).unwrap(), hash_columns(&[plain], &[string()]).unwrap());
    let micros: ArrayRef = Arc::new(TimestampMicrosecondArray::from(vec![Some(-1_000), None]));
    let rows = encode_columns(std::slice::from_ref(&micros), &[timestamp(3)], NullLayout::Plain).unwrap();
    assert_eq!(rows[0].decode(&[timestamp(3)]).unwrap(), [Some(at(-1, 0))]);
    assert_eq!(hash_columns(&[micros], &[timestamp(3)]).unwrap(), rows.iter().map(hash).collect::<Vec<_>>());
    assert!(encode_columns(&[array_from_datums(&[], &int()).unwrap()], &[string()], NullLayout::Plain).is_err());
}

fn any_datum() -> impl Strategy<Value = (DataType, Option<Datum>)> {
    let i128s = -10i128.pow(37)..10i128.pow(37);
    prop_oneof![
        any::<Option<bool>>().prop_map(|v| (boolean(), v.map(Datum::Boolean))),
        any::<Option<i8>>().prop_map(|v| (tiny_int(), v.map(Datum::TinyInt))),
        any::<Option<i16>>().prop_map(|v| (small_int(), v.map(Datum::SmallInt))),
        any::<Option<i32>>().prop_map(|v| (int(), v.map(Datum::Int))),
        any::<Option<i64>>().prop_map(|v| (big_int(), v.map(Datum::BigInt))),
        any::<Option<f32>>().prop_map(|v| (float(), v.map(Datum::Float))),
        any::<Option<f64>>().prop_map(|v| (double(), v.map(Datum::Double))),
        any::<Option<i32>>().prop_map(|v| (date(), v.map(Datum::Date))),
        any::<Option<i32>>().prop_map(|v| (time(3), v.map(Datum::Time))),
        any::<Option<i32>>().prop_map(|v| (decimal(18, 2), v.map(|v| Datum::Decimal(v.into(), 2)))),
        proptest::option::of(i128s).prop_map(|v| (decimal(38, 4), v.map(|v| Datum::Decimal(v, 4)))),
        proptest::option::of("\\PC{0,20}").prop_map(|v| (string(), v.map(Datum::String))),
        any::<Option<Vec<u8>>>().prop_map(|v| (bytes(), v.map(Datum::Bytes))),
        any::<Option<i64>>().prop_map(|v| (timestamp(9), v.map(|v| Datum::Timestamp(Timestamp::from_nanos(v))))),
        any::<Option<i32>>()
            .prop_map(|v| (zoned(3), v.map(|v| Datum::LocalZonedTimestamp(Timestamp::from_millis(v.into()))))),
    ]
}

proptest! {
    #[test]
    fn rows_round_trip(fields in proptest::collection::vec(any_datum(), 1..70)) {
        let (types, values): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
        for nulls in [NullLayout::Plain, NullLayout::Reserved] {
            let row = BinaryRow::encode(&values, &types, nulls).unwrap();
            prop_assert_eq!(row.decode(&types).unwrap(), values.clone());
            let columns: Vec<ArrayRef> = values
                .iter()
                .zip(&types)
                .map(|(v, t)| array_from_datums(std::slice::from_ref(v), t).unwrap())
                .collect();
            prop_assert_eq!(&encode_columns(&columns, &types, nulls).unwrap()[0], &row);
            if nulls == NullLayout::Reserved {
                prop_assert_eq!(hash_columns(&columns, &types).unwrap()[0], hash(&row));
            }
        }
    }

    #[test]
    fn garbage_never_panics(arity in 0u32..4, garbage in any::<Vec<u8>>(), field in any_datum()) {
        if let Ok(row) = BinaryRow::from_bytes(arity, garbage.clone()) {
            let _ = row.decode(&vec![field.0; arity as usize]);
        }
        let _ = BinaryRow::from_serialized(garbage);
    }

    #[test]
    fn one_column_hashes_as_its_rows(field in any_datum(), more in any_datum()) {
        let values = [field.1, None, (more.0 == field.0).then_some(more.1).flatten()];
        let column = array_from_datums(&values, &field.0).unwrap();
        let slice = column.slice(1, 2);
        let hashes = hash_columns(&[slice], std::slice::from_ref(&field.0)).unwrap();
        for (value, hashed) in values[1..].iter().zip(hashes) {
            let row = BinaryRow::encode(std::slice::from_ref(value), std::slice::from_ref(&field.0), NullLayout::Reserved);
            prop_assert_eq!(hash(&row.unwrap()), hashed);
        }
    }
}
