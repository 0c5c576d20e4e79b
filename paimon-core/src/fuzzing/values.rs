//! Types, values of them, and predicates over both.

use std::sync::OnceLock;

use crate::predicate::{Function, Leaf, Predicate};
use crate::types::{DataField, DataType, Datum, Timestamp};

const TYPES: [&str; 20] = [
    "BOOLEAN",
    "TINYINT",
    "SMALLINT",
    "INT",
    "BIGINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL(9, 2)",
    "DATE",
    "TIME(3)",
    "TIMESTAMP(3)",
    "TIMESTAMP(9)",
    "TIMESTAMP(6) WITH LOCAL TIME ZONE",
    "CHAR(3)",
    "BINARY(3)",
    "BYTES",
    "DECIMAL(38, 10)",
    "STRING",
    "ROW<x INT>",
    "ARRAY<INT>",
];

/// Types of every family; the last ones do not stand in rows or indexes.
pub(crate) fn types() -> &'static [DataType] {
    static PARSED: OnceLock<Vec<DataType>> = OnceLock::new();
    PARSED.get_or_init(|| TYPES.iter().filter_map(|text| text.parse().ok()).collect())
}

/// The type that a byte stands for.
pub(crate) fn type_of(byte: u8) -> &'static DataType {
    let types = types();
    &types[usize::from(byte) % types.len()]
}

/// The byte that stands for a type.
pub(super) fn byte_of(data_type: &DataType) -> u8 {
    let nullable = data_type.clone().with_nullable(true);
    types().iter().position(|t| *t == nullable).and_then(|at| u8::try_from(at).ok()).unwrap_or_default()
}

/// Values in ascending order; none of nested types.
fn literals(data_type: &DataType) -> Vec<Datum> {
    let bytes = |text: &str| text.as_bytes().to_vec();
    let numbers = [-1i8, 0, 7];
    let all = |value: &dyn Fn(i8) -> Datum| numbers.iter().map(|n| value(*n)).collect();
    let moment = |n: i8| Timestamp { millis: i64::from(n), nanos: 0 };
    match data_type {
        DataType::Boolean(_) => vec![Datum::Boolean(false), Datum::Boolean(true)],
        DataType::TinyInt(_) => all(&Datum::TinyInt),
        DataType::SmallInt(_) => all(&|n| Datum::SmallInt(i16::from(n))),
        DataType::Int(_) => all(&|n| Datum::Int(i32::from(n))),
        DataType::BigInt(_) => all(&|n| Datum::BigInt(i64::from(n))),
        DataType::Float(_) => all(&|n| Datum::Float(f32::from(n))),
        DataType::Double(_) => all(&|n| Datum::Double(f64::from(n))),
        DataType::Decimal(t) => all(&|n| Datum::Decimal(i128::from(n), t.scale())),
        DataType::Date(_) => all(&|n| Datum::Date(i32::from(n))),
        DataType::Time(_) => all(&|n| Datum::Time(i32::from(n))),
        DataType::Timestamp(_) => all(&|n| Datum::Timestamp(moment(n))),
        DataType::LocalZonedTimestamp(_) => all(&|n| Datum::LocalZonedTimestamp(moment(n))),
        DataType::Char(_) | DataType::VarChar(_) => {
            ["", "a", "k5"].iter().map(|t| Datum::String((*t).to_owned())).collect()
        }
        DataType::Binary(_) | DataType::VarBinary(_) => {
            ["", "a", "k5"].iter().map(|t| Datum::Bytes(bytes(t))).collect()
        }
        _ => Vec::new(),
    }
}

/// Every test of a column; none for nested types.
pub(crate) fn tests(field: &DataField) -> Vec<Predicate> {
    let literals = literals(&field.data_type);
    let leaf = |function, literals: &[Datum]| {
        let (field_id, name, data_type) = (field.id, field.name.clone(), field.data_type.clone());
        Predicate::Leaf(Leaf { field_id, name, data_type, function, literals: literals.to_vec() })
    };
    let (Some(low), Some(high)) = (literals.first(), literals.last()) else { return Vec::new() };
    let both = [low.clone(), high.clone()];
    let one = std::slice::from_ref(high);
    let mut tests = vec![
        leaf(Function::IsNull, &[]),
        leaf(Function::IsNotNull, &[]),
        leaf(Function::In, &literals),
        leaf(Function::NotIn, &literals),
        leaf(Function::Between, &both),
        leaf(Function::NotBetween, &both),
    ];
    let single = [
        Function::Equal,
        Function::NotEqual,
        Function::LessThan,
        Function::LessOrEqual,
        Function::GreaterThan,
        Function::GreaterOrEqual,
    ];
    tests.extend(single.map(|function| leaf(function, one)));
    if matches!(high, Datum::String(_)) {
        tests.extend([Function::StartsWith, Function::Like].map(|function| leaf(function, one)));
    }
    tests
}
