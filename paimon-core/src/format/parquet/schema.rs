//! The Parquet schema of a file, as Java writes it.
//!
//! Invariants: the root is `paimon_schema`; every column and nested field has its id; repetition follows nullability, so
//! that it fits the Arrow fields of the same columns. Source: data-file sheet sections 2 and 3;
//! `format/parquet/ParquetSchemaConverter.java`.

use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, TimeUnit, Type as PhysicalType};
use ::parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::error::{Error, Result};
use crate::types::{DataField, DataType};

/// Name of the root.
const ROOT: &str = "paimon_schema";
/// Ids of elements and values count up from here, those of map keys down.
const NESTED_ID_BASE: i32 = 536_870_911;
/// Room for depths between the ids of two columns.
const NESTED_ID_STEP: i32 = 1_024;

/// The schema of a file of these columns.
pub(super) fn parquet_schema(columns: &[DataField]) -> Result<SchemaDescriptor> {
    let fields = columns.iter().map(column_type).collect::<Result<Vec<_>>>()?;
    let root = Type::group_type_builder(ROOT).with_fields(fields).build().map_err(internal)?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

fn internal(error: ::parquet::errors::ParquetError) -> Error {
    Error::internal("the Parquet schema is refused").with_source(error)
}

/// Where a type stands: the column for messages, the id that nested ids derive from, and how deep below it.
#[derive(Clone, Copy)]
struct Place<'a> {
    column: &'a str,
    owner: i32,
    depth: i32,
}

impl Place<'_> {
    fn below(self) -> Self {
        Self { depth: self.depth + 1, ..self }
    }

    fn element_id(self) -> i32 {
        NESTED_ID_BASE.wrapping_add(NESTED_ID_STEP.wrapping_mul(self.owner)).wrapping_add(self.depth)
    }

    fn key_id(self) -> i32 {
        NESTED_ID_BASE.wrapping_sub(NESTED_ID_STEP.wrapping_mul(self.owner)).wrapping_sub(self.depth)
    }
}

fn column_type(field: &DataField) -> Result<TypePtr> {
    let place = Place { column: &field.name, owner: field.id, depth: 0 };
    node(&field.name, field.id, &field.data_type, field.data_type.is_nullable(), place)
}

fn node(name: &str, id: i32, data_type: &DataType, nullable: bool, place: Place<'_>) -> Result<TypePtr> {
    let repetition = if nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let group = |logical: Option<LogicalType>, fields: Vec<TypePtr>| {
        Type::group_type_builder(name)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .with_fields(fields)
            .with_id(Some(id))
            .build()
    };
    let below = place.below();
    let built = match data_type {
        DataType::Array(list) => {
            let element = list.element_type();
            let element = node("element", below.element_id(), element, element.is_nullable(), below)?;
            let repeated = repeated("list", vec![element])?;
            group(Some(LogicalType::List), vec![repeated])
        }
        DataType::Map(map) => {
            let value = map.value_type();
            let key = node("key", below.key_id(), map.key_type(), false, below)?;
            let value = node("value", below.element_id(), value, value.is_nullable(), below)?;
            group(Some(LogicalType::Map), vec![repeated("key_value", vec![key, value])?])
        }
        DataType::Multiset(set) => {
            let key = node("key", below.key_id(), set.element_type(), false, below)?;
            let count = DataType::Int(crate::types::IntType::with_nullable(false));
            let value = node("value", below.element_id(), &count, false, below)?;
            group(Some(LogicalType::Map), vec![repeated("key_value", vec![key, value])?])
        }
        DataType::Row(row) => {
            let fields = row.fields().iter().map(|f| {
                let place = Place { column: place.column, owner: f.id, depth: 0 };
                node(&f.name, f.id, &f.data_type, f.data_type.is_nullable(), place)
            });
            group(None, fields.collect::<Result<Vec<_>>>()?)
        }
        DataType::Variant(_) => {
            let part = |name, id| {
                Type::primitive_type_builder(name, PhysicalType::BYTE_ARRAY)
                    .with_repetition(Repetition::REQUIRED)
                    .with_id(Some(id))
                    .build()
                    .map(Arc::new)
                    .map_err(internal)
            };
            group(None, vec![part("value", 0)?, part("metadata", 1)?])
        }
        DataType::Timestamp(t) if t.precision() > 6 && is_nested(place) => return refuse_nested(place.column),
        DataType::LocalZonedTimestamp(t) if t.precision() > 6 && is_nested(place) => {
            return refuse_nested(place.column);
        }
        _ => return primitive(name, id, data_type, repetition, place.column),
    };
    built.map(Arc::new).map_err(internal)
}

fn is_nested(place: Place<'_>) -> bool {
    place.depth > 0
}

fn refuse_nested(column: &str) -> Result<TypePtr> {
    Err(Error::unsupported(format!(
        "column {column} holds timestamps of more than 6 digits within another type, which cannot be written to Parquet"
    )))
}

fn repeated(name: &str, fields: Vec<TypePtr>) -> Result<TypePtr> {
    Type::group_type_builder(name)
        .with_repetition(Repetition::REPEATED)
        .with_fields(fields)
        .build()
        .map(Arc::new)
        .map_err(internal)
}

fn primitive(name: &str, id: i32, data_type: &DataType, repetition: Repetition, column: &str) -> Result<TypePtr> {
    let (physical, logical) = physical_type(data_type, column)?;
    let mut builder = Type::primitive_type_builder(name, physical)
        .with_repetition(repetition)
        .with_logical_type(logical)
        .with_id(Some(id));
    if let DataType::Decimal(decimal) = data_type {
        builder = builder.with_precision(i32::from(decimal.precision())).with_scale(i32::from(decimal.scale()));
        if physical == PhysicalType::FIXED_LEN_BYTE_ARRAY {
            builder = builder.with_length(decimal_bytes(decimal.precision()));
        }
    }
    builder.build().map(Arc::new).map_err(internal)
}

fn physical_type(data_type: &DataType, column: &str) -> Result<(PhysicalType, Option<LogicalType>)> {
    use PhysicalType::{BOOLEAN, BYTE_ARRAY, DOUBLE, FIXED_LEN_BYTE_ARRAY, FLOAT, INT32, INT64};
    let timestamp = |precision: u32, adjusted: bool| match precision {
        0..=3 => (INT64, Some(LogicalType::timestamp(adjusted, TimeUnit::MILLIS))),
        4..=6 => (INT64, Some(LogicalType::timestamp(adjusted, TimeUnit::MICROS))),
        _ => (PhysicalType::INT96, None),
    };
    Ok(match data_type {
        DataType::Boolean(_) => (BOOLEAN, None),
        DataType::TinyInt(_) => (INT32, Some(LogicalType::integer(8, true))),
        DataType::SmallInt(_) => (INT32, Some(LogicalType::integer(16, true))),
        DataType::Int(_) => (INT32, None),
        DataType::BigInt(_) => (INT64, None),
        DataType::Float(_) => (FLOAT, None),
        DataType::Double(_) => (DOUBLE, None),
        DataType::Char(_) | DataType::VarChar(_) => (BYTE_ARRAY, Some(LogicalType::String)),
        DataType::Binary(_) | DataType::VarBinary(_) => (BYTE_ARRAY, None),
        DataType::Decimal(t) => {
            let logical = LogicalType::decimal(i32::from(t.scale()), i32::from(t.precision()));
            let physical = match t.precision() {
                0..=9 => INT32,
                10..=18 => INT64,
                _ => FIXED_LEN_BYTE_ARRAY,
            };
            (physical, Some(logical))
        }
        DataType::Date(_) => (INT32, Some(LogicalType::Date)),
        DataType::Time(_) => (INT32, Some(LogicalType::time(true, TimeUnit::MILLIS))),
        DataType::Timestamp(t) => timestamp(t.precision(), false),
        DataType::LocalZonedTimestamp(t) => timestamp(t.precision(), true),
        DataType::Blob(_) | DataType::Vector(_) => {
            return Err(Error::unsupported(format!(
                "column {column} is of a type that cannot be written to Parquet: {data_type:?}"
            )));
        }
        DataType::Array(_) | DataType::Multiset(_) | DataType::Map(_) | DataType::Row(_) | DataType::Variant(_) => {
            return Err(Error::internal("a nested type is no primitive of Parquet"));
        }
    })
}

/// The least number of bytes that hold every number of so many digits.
fn decimal_bytes(precision: u8) -> i32 {
    let max = 10i128.checked_pow(u32::from(precision)).map_or(i128::MAX, |p| p - 1);
    let bits = 128 - max.leading_zeros() + 1;
    i32::try_from(bits.div_ceil(8)).unwrap_or(16)
}

#[cfg(test)]
mod tests {
    use ::parquet::schema::printer::print_schema;

    use super::*;
    use crate::types::*;

    #[test]
    fn decimals_take_the_fewest_bytes() {
        for (precision, bytes) in [(19, 9), (20, 9), (21, 9), (22, 10), (37, 16), (38, 16)] {
            assert_eq!(decimal_bytes(precision), bytes, "{precision}");
        }
    }

    #[test]
    fn nested_ids_are_those_of_java() {
        let int = || DataType::Int(IntType::new());
        let text = || DataType::VarChar(VarCharType::string_type());
        let inner = RowType::new(vec![DataField::new(9, "k", text()), DataField::new(10, "v", int())]);
        let columns = [
            DataField::new(0, "id", int().with_nullable(false)),
            DataField::new(1, "a", DataType::Array(ArrayType::new(int()))),
            DataField::new(3, "m", DataType::Map(MapType::new(text(), int()))),
            DataField::new(8, "ar", DataType::Array(ArrayType::new(DataType::Row(inner)))),
            DataField::new(18, "tm", DataType::Time(TimeType::new(6).unwrap())),
            DataField::new(19, "t0", DataType::Timestamp(TimestampType::new(0).unwrap())),
            DataField::new(20, "t9", DataType::Timestamp(TimestampType::new(9).unwrap())),
            DataField::new(21, "z6", DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(6).unwrap())),
            DataField::new(22, "d20", DataType::Decimal(DecimalType::new(20, 2).unwrap())),
        ];
        let mut printed = Vec::new();
        print_schema(&mut printed, parquet_schema(&columns).unwrap().root_schema());
        let expected = "\
message paimon_schema {
  REQUIRED INT32 id [0];
  OPTIONAL group a [1] (LIST) {
    REPEATED group list {
      OPTIONAL INT32 element [536871936];
    }
  }
  OPTIONAL group m [3] (MAP) {
    REPEATED group key_value {
      REQUIRED BYTE_ARRAY key [536867838] (STRING);
      OPTIONAL INT32 value [536873984];
    }
  }
  OPTIONAL group ar [8] (LIST) {
    REPEATED group list {
      OPTIONAL group element [536879104] {
        OPTIONAL BYTE_ARRAY k [9] (STRING);
        OPTIONAL INT32 v [10];
      }
    }
  }
  OPTIONAL INT32 tm [18] (TIME(MILLIS,true));
  OPTIONAL INT64 t0 [19] (TIMESTAMP(MILLIS,false));
  OPTIONAL INT96 t9 [20];
  OPTIONAL INT64 z6 [21] (TIMESTAMP(MICROS,true));
  OPTIONAL FIXED_LEN_BYTE_ARRAY (9) d20 [22] (DECIMAL(20,2));
}
";
        assert_eq!(String::from_utf8(printed).unwrap(), expected);
    }
}
