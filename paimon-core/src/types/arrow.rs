//! Rows and types as Arrow schemas, both ways.
//!
//! Invariants: nullability of nested fields is kept; the field id stands in the field metadata under
//! `PARQUET:field_id` for top-level columns. Text is `Utf8`, bytes are `Binary`: never view types.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, FieldRef, Fields, Schema, SchemaRef, TimeUnit};
use parquet::arrow::PARQUET_FIELD_ID_META_KEY;

use super::data_type::*;
use super::field::{DataField, RowType};
use crate::error::{Error, Result};

/// The Arrow schema of a row, with field ids in the metadata of its fields.
pub fn to_arrow_schema(row: &RowType) -> SchemaRef {
    Arc::new(Schema::new(row.fields().iter().map(to_arrow_field).collect::<Vec<_>>()))
}

/// The Arrow field of a column, with its id in the metadata.
pub fn to_arrow_field(field: &DataField) -> FieldRef {
    let metadata = HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), field.id.to_string())]);
    Arc::new(
        Field::new(&field.name, arrow_type(&field.data_type), field.data_type.is_nullable()).with_metadata(metadata),
    )
}

fn unit(precision: u32) -> TimeUnit {
    match precision {
        0 => TimeUnit::Second,
        1..=3 => TimeUnit::Millisecond,
        4..=6 => TimeUnit::Microsecond,
        _ => TimeUnit::Nanosecond,
    }
}

fn entries(key: &DataType, value: ArrowType, value_nullable: bool) -> ArrowType {
    let key = Field::new("key", arrow_type(key), false);
    let value = Field::new("value", value, value_nullable);
    ArrowType::Map(Arc::new(Field::new("entries", ArrowType::Struct(Fields::from(vec![key, value])), false)), false)
}

/// The Arrow type of a column as it is read, and as it is expected on write.
pub fn arrow_type(data_type: &DataType) -> ArrowType {
    match data_type {
        DataType::Boolean(_) => ArrowType::Boolean,
        DataType::TinyInt(_) => ArrowType::Int8,
        DataType::SmallInt(_) => ArrowType::Int16,
        DataType::Int(_) => ArrowType::Int32,
        DataType::BigInt(_) => ArrowType::Int64,
        DataType::Float(_) => ArrowType::Float32,
        DataType::Double(_) => ArrowType::Float64,
        DataType::Decimal(t) => ArrowType::Decimal128(t.precision(), t.scale() as i8),
        DataType::Char(_) | DataType::VarChar(_) => ArrowType::Utf8,
        DataType::Binary(_) | DataType::VarBinary(_) => ArrowType::Binary,
        DataType::Date(_) => ArrowType::Date32,
        DataType::Time(_) => ArrowType::Time32(TimeUnit::Millisecond),
        DataType::Timestamp(t) => ArrowType::Timestamp(unit(t.precision()), None),
        DataType::LocalZonedTimestamp(t) => ArrowType::Timestamp(unit(t.precision()), Some("UTC".into())),
        DataType::Array(t) => {
            let element = t.element_type();
            ArrowType::List(Arc::new(Field::new("element", arrow_type(element), element.is_nullable())))
        }
        DataType::Multiset(t) => entries(t.element_type(), ArrowType::Int32, false),
        DataType::Map(t) => entries(t.key_type(), arrow_type(t.value_type()), t.value_type().is_nullable()),
        DataType::Row(t) => ArrowType::Struct(t.fields().iter().map(to_arrow_field).collect()),
        DataType::Variant(_) => ArrowType::Struct(Fields::from(vec![
            Field::new("value", ArrowType::Binary, false),
            Field::new("metadata", ArrowType::Binary, false),
        ])),
        DataType::Blob(_) => ArrowType::LargeBinary,
        DataType::Vector(t) => {
            let element = t.element_type();
            let field = Field::new("element", arrow_type(element), element.is_nullable());
            ArrowType::FixedSizeList(Arc::new(field), i32::try_from(t.length()).unwrap_or(i32::MAX))
        }
    }
}

/// The row that stores batches of an Arrow schema; ids are numbered from 0 in the order of the specification.
///
/// # Errors
/// `InvalidInput` naming the column for types that cannot be stored.
pub fn row_type_from_arrow(schema: &Schema) -> Result<RowType> {
    let mut next_id = 0;
    let fields = schema.fields().iter().map(|f| field_from_arrow(f, &mut next_id)).collect::<Result<Vec<_>>>()?;
    Ok(RowType::new(fields))
}

/// The column that stores an Arrow field; takes its id, then those of nested fields, from `next_id`.
///
/// # Errors
/// `InvalidInput` naming the column for types that cannot be stored.
pub fn field_from_arrow(field: &Field, next_id: &mut i32) -> Result<DataField> {
    let id = *next_id;
    *next_id += 1;
    let data_type = type_from_arrow(field.name(), field.data_type(), field.is_nullable(), next_id)?;
    Ok(DataField::new(id, field.name(), data_type))
}

/// The type that stores an Arrow type without loss; nested fields take ids from `next_id`.
///
/// # Errors
/// `InvalidInput` naming the column for types that cannot be stored.
pub fn type_from_arrow(column: &str, arrow: &ArrowType, nullable: bool, next_id: &mut i32) -> Result<DataType> {
    let refuse = || {
        Err(Error::invalid_input(format!(
            "column {column} has Arrow type {arrow}, which Paimon cannot store; add a CAST"
        )))
    };
    let precision = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 3,
        TimeUnit::Microsecond => 6,
        TimeUnit::Nanosecond => 9,
    };
    let mut element = |f: &FieldRef| type_from_arrow(column, f.data_type(), f.is_nullable(), next_id);
    Ok(match arrow {
        ArrowType::Boolean => DataType::Boolean(BooleanType::with_nullable(nullable)),
        ArrowType::Int8 => DataType::TinyInt(TinyIntType::with_nullable(nullable)),
        ArrowType::Int16 | ArrowType::UInt8 => DataType::SmallInt(SmallIntType::with_nullable(nullable)),
        ArrowType::Int32 | ArrowType::UInt16 => DataType::Int(IntType::with_nullable(nullable)),
        ArrowType::Int64 | ArrowType::UInt32 | ArrowType::UInt64 => {
            DataType::BigInt(BigIntType::with_nullable(nullable))
        }
        ArrowType::Float16 | ArrowType::Float32 => DataType::Float(FloatType::with_nullable(nullable)),
        ArrowType::Float64 => DataType::Double(DoubleType::with_nullable(nullable)),
        ArrowType::Decimal32(p, s)
        | ArrowType::Decimal64(p, s)
        | ArrowType::Decimal128(p, s)
        | ArrowType::Decimal256(p, s) => {
            let (precision, scale) =
                if *s < 0 { (p.saturating_add(s.unsigned_abs()), 0) } else { (*p, s.unsigned_abs()) };
            match DecimalType::with_nullable(nullable, precision, scale) {
                Ok(decimal) => DataType::Decimal(decimal),
                Err(_) => return refuse(),
            }
        }
        ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View => {
            DataType::VarChar(VarCharType::with_nullable(nullable, MAX_LENGTH)?)
        }
        ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView => {
            DataType::VarBinary(VarBinaryType::with_nullable(nullable, MAX_LENGTH)?)
        }
        ArrowType::FixedSizeBinary(n) => match u32::try_from(*n).map(|n| BinaryType::with_nullable(nullable, n)) {
            Ok(Ok(binary)) => DataType::Binary(binary),
            _ => return refuse(),
        },
        ArrowType::Date32 | ArrowType::Date64 => DataType::Date(DateType::with_nullable(nullable)),
        ArrowType::Time32(TimeUnit::Second) => DataType::Time(TimeType::with_nullable(nullable, 0)?),
        ArrowType::Time32(_) | ArrowType::Time64(_) => DataType::Time(TimeType::with_nullable(nullable, 3)?),
        ArrowType::Timestamp(unit, None) => {
            DataType::Timestamp(TimestampType::with_nullable(nullable, precision(unit))?)
        }
        ArrowType::Timestamp(unit, Some(_)) => {
            DataType::LocalZonedTimestamp(LocalZonedTimestampType::with_nullable(nullable, precision(unit))?)
        }
        ArrowType::List(f)
        | ArrowType::LargeList(f)
        | ArrowType::ListView(f)
        | ArrowType::LargeListView(f)
        | ArrowType::FixedSizeList(f, _) => DataType::Array(ArrayType::with_nullable(nullable, element(f)?)),
        ArrowType::Map(entries, _) => match entries.data_type() {
            ArrowType::Struct(parts) if parts.len() == 2 => {
                let (key, value) = (element(&parts[0])?, element(&parts[1])?);
                DataType::Map(MapType::with_nullable(nullable, key.with_nullable(false), value))
            }
            _ => return refuse(),
        },
        ArrowType::Struct(parts) => {
            let fields = parts.iter().map(|f| field_from_arrow(f, next_id)).collect::<Result<Vec<_>>>()?;
            DataType::Row(RowType::with_nullable(nullable, fields))
        }
        ArrowType::Dictionary(_, value) => type_from_arrow(column, value, nullable, next_id)?,
        ArrowType::RunEndEncoded(_, values) => type_from_arrow(column, values.data_type(), nullable, next_id)?,
        _ => return refuse(),
    })
}
