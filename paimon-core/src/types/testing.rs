//! Short names of types and values for tests.

use super::*;

macro_rules! types {
    ($($name:ident => $variant:ident($value:expr);)*) => { $(pub(crate) fn $name() -> DataType { DataType::$variant($value) })* };
}

types! {
    boolean => Boolean(BooleanType::new());
    tiny_int => TinyInt(TinyIntType::new());
    small_int => SmallInt(SmallIntType::new());
    int => Int(IntType::new());
    big_int => BigInt(BigIntType::new());
    float => Float(FloatType::new());
    double => Double(DoubleType::new());
    date => Date(DateType::new());
    string => VarChar(VarCharType::string_type());
    bytes => VarBinary(VarBinaryType::bytes_type());
}

pub(crate) fn char_of(length: u32) -> DataType {
    DataType::Char(CharType::new(length).unwrap())
}

pub(crate) fn decimal(precision: u8, scale: u8) -> DataType {
    DataType::Decimal(DecimalType::new(precision, scale).unwrap())
}

pub(crate) fn time(precision: u32) -> DataType {
    DataType::Time(TimeType::new(precision).unwrap())
}

pub(crate) fn timestamp(precision: u32) -> DataType {
    DataType::Timestamp(TimestampType::new(precision).unwrap())
}

pub(crate) fn zoned(precision: u32) -> DataType {
    DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(precision).unwrap())
}

pub(crate) fn text(value: &str) -> Datum {
    Datum::String(value.to_owned())
}

/// Columns with ids from 0.
pub(crate) fn row_type(columns: &[(&str, DataType)]) -> RowType {
    RowType::new(
        columns.iter().enumerate().map(|(id, (name, t))| DataField::new(id as i32, *name, t.clone())).collect(),
    )
}
