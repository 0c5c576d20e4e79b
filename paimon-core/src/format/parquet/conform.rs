//! Gives what the library decodes the Arrow type of the column.
//!
//! Invariants: buffers are shared wherever the physical form is right; only the physical form changes here (units, widths,
//! names), never the logical type: a file whose column is of another family is refused.
//! Source: data-file sheet sections 3 and 5.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Fields, Int64Type, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};

use crate::error::{Error, Result};
use crate::types::{DataType, RowType, arrow_type, to_arrow_field};

/// The array with exactly the Arrow type of `data_type`.
pub(super) fn conform(column: &str, array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let target = arrow_type(data_type);
    if *array.data_type() == target {
        return Ok(Arc::clone(array));
    }
    match (data_type, array.data_type(), &target) {
        (DataType::Row(row), ArrowType::Struct(_), _) => conform_row(column, array.as_struct(), row),
        (DataType::Variant(_), ArrowType::Struct(_), ArrowType::Struct(fields)) => {
            conform_variant(column, array.as_struct(), fields)
        }
        (DataType::Array(list), ArrowType::List(_), ArrowType::List(field)) => {
            let array = array.as_list::<i32>();
            let values = conform(column, array.values(), list.element_type())?;
            let built = ListArray::try_new(Arc::clone(field), array.offsets().clone(), values, array.nulls().cloned());
            Ok(Arc::new(built.map_err(|e| null_in_not_null(column, e))?))
        }
        (DataType::Map(map), ArrowType::Map(..), _) => {
            conform_map(column, array.as_map(), (map.key_type(), Some(map.value_type())), &target)
        }
        (DataType::Multiset(set), ArrowType::Map(..), _) => {
            conform_map(column, array.as_map(), (set.element_type(), None), &target)
        }
        (DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_), source, ArrowType::Timestamp(unit, zone)) => {
            let Some((ticks, per_second)) = ticks(array, source, data_type) else {
                return Err(refuse(column, source, data_type));
            };
            convert_ticks(column, &ticks, per_second, *unit, zone.clone())
        }
        (DataType::Decimal(_), ArrowType::Decimal128(..), ArrowType::Decimal128(precision, scale)) => {
            let array = array.as_primitive::<Decimal128Type>();
            if array.scale() != *scale {
                return Err(refuse(column, array.data_type(), data_type));
            }
            Ok(Arc::new(array.clone().with_precision_and_scale(*precision, *scale)?))
        }
        (_, source, target) if same_family(source, target) => {
            let strict = CastOptions { safe: false, ..CastOptions::default() };
            cast_with_options(array, target, &strict)
                .map_err(|e| Error::corrupt(format!("values of column {column} do not fit {target}")).with_source(e))
        }
        (_, source, _) => Err(refuse(column, source, data_type)),
    }
}

fn same_family(source: &ArrowType, target: &ArrowType) -> bool {
    match target {
        ArrowType::Int8 | ArrowType::Int16 | ArrowType::Int32 | ArrowType::Int64 => source.is_integer(),
        ArrowType::Utf8 | ArrowType::Binary => {
            matches!(source, ArrowType::Utf8 | ArrowType::Binary | ArrowType::FixedSizeBinary(_))
        }
        ArrowType::Date32 => *source == ArrowType::Int32,
        ArrowType::Time32(_) => {
            matches!(source, ArrowType::Int32 | ArrowType::Time32(_) | ArrowType::Time64(_))
        }
        ArrowType::Decimal128(_, 0) => matches!(source, ArrowType::Int32 | ArrowType::Int64),
        ArrowType::Float64 => *source == ArrowType::Float32,
        _ => false,
    }
}

fn refuse(column: &str, source: &ArrowType, data_type: &DataType) -> Error {
    Error::corrupt(format!("column {column} of the Parquet file is {source}, expected {}", arrow_type(data_type)))
}

fn null_in_not_null(column: &str, error: arrow::error::ArrowError) -> Error {
    Error::corrupt(format!("column {column} does not fit its type: a part that is NOT NULL holds nulls"))
        .with_source(error)
}

fn conform_row(column: &str, array: &StructArray, row: &RowType) -> Result<ArrayRef> {
    let fields: Fields = row.fields().iter().map(to_arrow_field).collect();
    let children = row.fields().iter().zip(&fields).map(|(field, arrow)| match array.column_by_name(&field.name) {
        Some(child) => conform(column, child, &field.data_type),
        None => Ok(new_null_array(arrow.data_type(), array.len())),
    });
    let children = children.collect::<Result<Vec<_>>>()?;
    if fields.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(array.len(), array.nulls().cloned())));
    }
    let built = StructArray::try_new(fields, children, array.nulls().cloned());
    Ok(Arc::new(built.map_err(|e| null_in_not_null(column, e))?))
}

fn conform_variant(column: &str, array: &StructArray, fields: &Fields) -> Result<ArrayRef> {
    if array.column_by_name("typed_value").is_some() {
        return Err(Error::unsupported(format!("shredded VARIANT in column {column} is not supported")));
    }
    let child = |name: &str| {
        array
            .column_by_name(name)
            .filter(|c| *c.data_type() == ArrowType::Binary)
            .cloned()
            .ok_or_else(|| Error::corrupt(format!("VARIANT column {column} lacks its binary part '{name}'")))
    };
    let children = fields.iter().map(|f| child(f.name())).collect::<Result<Vec<_>>>()?;
    let built = StructArray::try_new(fields.clone(), children, array.nulls().cloned());
    Ok(Arc::new(built.map_err(|e| null_in_not_null(column, e))?))
}

fn conform_map(
    column: &str,
    array: &MapArray,
    (key, value): (&DataType, Option<&DataType>),
    target: &ArrowType,
) -> Result<ArrayRef> {
    let ArrowType::Map(entries_field, ordered) = target else {
        return Err(refuse_map(column));
    };
    let ArrowType::Struct(parts) = entries_field.data_type() else {
        return Err(refuse_map(column));
    };
    let keys = conform(column, array.keys(), key)?;
    let values = match value {
        Some(value) => conform(column, array.values(), value)?,
        None if *array.values().data_type() == ArrowType::Int32 => Arc::clone(array.values()),
        None => return Err(refuse_map(column)),
    };
    let entries = StructArray::try_new(parts.clone(), vec![keys, values], None);
    let entries = entries.map_err(|e| null_in_not_null(column, e))?;
    let built = MapArray::try_new(
        Arc::clone(entries_field),
        array.offsets().clone(),
        entries,
        array.nulls().cloned(),
        *ordered,
    );
    Ok(Arc::new(built.map_err(|e| null_in_not_null(column, e))?))
}

fn refuse_map(column: &str) -> Error {
    Error::corrupt(format!("column {column} of the Parquet file has no map of its keys and values"))
}

type Ticks = arrow::array::PrimitiveArray<Int64Type>;

/// The raw numbers of a timestamp column and how many make a second. Files before 0.7 hold plain numbers, whose unit
/// follows from the precision of the column.
fn ticks(array: &ArrayRef, source: &ArrowType, data_type: &DataType) -> Option<(Ticks, i64)> {
    Some(match source {
        ArrowType::Timestamp(TimeUnit::Second, _) => {
            (array.as_primitive::<TimestampSecondType>().reinterpret_cast(), 1)
        }
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            (array.as_primitive::<TimestampMillisecondType>().reinterpret_cast(), 1_000)
        }
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => {
            (array.as_primitive::<TimestampMicrosecondType>().reinterpret_cast(), 1_000_000)
        }
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => {
            (array.as_primitive::<TimestampNanosecondType>().reinterpret_cast(), 1_000_000_000)
        }
        ArrowType::Int64 => match data_type {
            DataType::Timestamp(t) if t.precision() <= 3 => (array.as_primitive::<Int64Type>().clone(), 1_000),
            DataType::LocalZonedTimestamp(t) if t.precision() <= 3 => {
                (array.as_primitive::<Int64Type>().clone(), 1_000)
            }
            _ => (array.as_primitive::<Int64Type>().clone(), 1_000_000),
        },
        _ => return None,
    })
}

fn convert_ticks(
    column: &str,
    ticks: &Ticks,
    per_second: i64,
    unit: TimeUnit,
    zone: Option<Arc<str>>,
) -> Result<ArrayRef> {
    let target: i64 = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let converted: Ticks = if target >= per_second {
        let factor = target / per_second;
        if factor == 1 {
            ticks.clone()
        } else {
            ticks.try_unary(|v| {
                v.checked_mul(factor).ok_or_else(|| {
                    Error::corrupt(format!("a timestamp of column {column} is out of the range of its Arrow unit"))
                })
            })?
        }
    } else {
        let factor = per_second / target;
        ticks.unary(|v| v.div_euclid(factor))
    };
    Ok(match unit {
        TimeUnit::Second => Arc::new(zoned::<TimestampSecondType>(&converted, zone)),
        TimeUnit::Millisecond => Arc::new(zoned::<TimestampMillisecondType>(&converted, zone)),
        TimeUnit::Microsecond => Arc::new(zoned::<TimestampMicrosecondType>(&converted, zone)),
        TimeUnit::Nanosecond => Arc::new(zoned::<TimestampNanosecondType>(&converted, zone)),
    })
}

fn zoned<T: arrow::datatypes::ArrowTimestampType>(
    ticks: &Ticks,
    zone: Option<Arc<str>>,
) -> arrow::array::PrimitiveArray<T> {
    ticks.reinterpret_cast::<T>().with_timezone_opt(zone)
}
