//! Single values as Arrow arrays, both ways.
//!
//! Invariants: arrays have the Arrow type of the data type; a value that the array cannot hold exactly is refused. For
//! literals, partition values and bounds: data columns never pass through here value by value.

use std::sync::Arc;

use arrow::array::types::*;
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, LargeBinaryArray, PrimitiveArray,
    StringArray, UInt32Array, new_null_array,
};
use arrow::datatypes::{DataType as ArrowType, TimeUnit};

use super::{DataType, Datum, Timestamp, arrow_type};
use crate::error::{Error, Result};

/// The value of one row; `None` for null.
///
/// # Errors
/// `InvalidInput` if the row is out of range or the array does not have the Arrow type of `data_type` (text and bytes in
/// any encoding, timestamps in any unit); `Unsupported` for nested values.
pub fn datum_at(array: &dyn Array, row: usize, data_type: &DataType) -> Result<Option<Datum>> {
    if row >= array.len() {
        return Err(Error::invalid_input(format!("row {row} is beyond the {} rows of the array", array.len())));
    }
    if array.is_null(row) {
        return Ok(None);
    }
    let mismatch = || {
        let (found, expected) = (array.data_type(), arrow_type(data_type));
        Error::invalid_input(format!("expected an array of Arrow type {expected}, found {found}"))
    };
    fn value<T: ArrowPrimitiveType>(array: &dyn Array, row: usize) -> Option<T::Native> {
        array.as_primitive_opt::<T>().map(|a| a.value(row))
    }
    let datum = match data_type {
        DataType::Boolean(_) => array.as_boolean_opt().map(|a| Datum::Boolean(a.value(row))),
        DataType::TinyInt(_) => value::<Int8Type>(array, row).map(Datum::TinyInt),
        DataType::SmallInt(_) => value::<Int16Type>(array, row).map(Datum::SmallInt),
        DataType::Int(_) => value::<Int32Type>(array, row).map(Datum::Int),
        DataType::BigInt(_) => value::<Int64Type>(array, row).map(Datum::BigInt),
        DataType::Float(_) => value::<Float32Type>(array, row).map(Datum::Float),
        DataType::Double(_) => value::<Float64Type>(array, row).map(Datum::Double),
        DataType::Date(_) => value::<Date32Type>(array, row).map(Datum::Date),
        DataType::Time(_) => value::<Time32MillisecondType>(array, row).map(Datum::Time),
        DataType::Decimal(_) => match array.data_type() {
            ArrowType::Decimal128(_, scale) if *scale >= 0 => {
                value::<Decimal128Type>(array, row).map(|v| Datum::Decimal(v, scale.unsigned_abs()))
            }
            _ => None,
        },
        DataType::Char(_) | DataType::VarChar(_) => text_at(array, row).map(|v| Datum::String(v.to_owned())),
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => {
            bytes_at(array, row).map(|v| Datum::Bytes(v.to_vec()))
        }
        DataType::Timestamp(_) => timestamp_at(array, row).map(Datum::Timestamp),
        DataType::LocalZonedTimestamp(_) => timestamp_at(array, row).map(Datum::LocalZonedTimestamp),
        DataType::Array(_)
        | DataType::Multiset(_)
        | DataType::Map(_)
        | DataType::Row(_)
        | DataType::Variant(_)
        | DataType::Vector(_) => return Err(Error::unsupported(format!("single values of type {data_type:?}"))),
    };
    datum.map(Some).ok_or_else(mismatch)
}

fn text_at(array: &dyn Array, row: usize) -> Option<&str> {
    match array.data_type() {
        ArrowType::Utf8 => array.as_string_opt::<i32>().map(|a| a.value(row)),
        ArrowType::LargeUtf8 => array.as_string_opt::<i64>().map(|a| a.value(row)),
        ArrowType::Utf8View => array.as_string_view_opt().map(|a| a.value(row)),
        _ => None,
    }
}

fn bytes_at(array: &dyn Array, row: usize) -> Option<&[u8]> {
    match array.data_type() {
        ArrowType::Binary => array.as_binary_opt::<i32>().map(|a| a.value(row)),
        ArrowType::LargeBinary => array.as_binary_opt::<i64>().map(|a| a.value(row)),
        ArrowType::BinaryView => array.as_binary_view_opt().map(|a| a.value(row)),
        ArrowType::FixedSizeBinary(_) => array.as_fixed_size_binary_opt().map(|a| a.value(row)),
        _ => None,
    }
}

fn timestamp_at(array: &dyn Array, row: usize) -> Option<Timestamp> {
    let ArrowType::Timestamp(unit, _) = array.data_type() else { return None };
    let value = match unit {
        TimeUnit::Second => array.as_primitive_opt::<TimestampSecondType>()?.value(row),
        TimeUnit::Millisecond => array.as_primitive_opt::<TimestampMillisecondType>()?.value(row),
        TimeUnit::Microsecond => array.as_primitive_opt::<TimestampMicrosecondType>()?.value(row),
        TimeUnit::Nanosecond => array.as_primitive_opt::<TimestampNanosecondType>()?.value(row),
    };
    Timestamp::from_unit(value, *unit)
}

/// The array of these values.
///
/// # Errors
/// `InvalidInput` if a value does not fit the type; `Unsupported` for nested values that are not null.
pub fn array_from_datums(values: &[Option<Datum>], data_type: &DataType) -> Result<ArrayRef> {
    macro_rules! primitive {
        ($variant:ident, $arrow:ty) => {
            Arc::new(
                collect(values, data_type, |d| match d {
                    Datum::$variant(v) => Some(*v),
                    _ => None,
                })?
                .into_iter()
                .collect::<PrimitiveArray<$arrow>>(),
            )
        };
    }
    let text = |d: &'_ Datum| matches!(d, Datum::String(_));
    Ok(match data_type {
        DataType::Boolean(_) => {
            let flags = collect(values, data_type, |d| match d {
                Datum::Boolean(v) => Some(*v),
                _ => None,
            })?;
            Arc::new(BooleanArray::from(flags))
        }
        DataType::TinyInt(_) => primitive!(TinyInt, Int8Type),
        DataType::SmallInt(_) => primitive!(SmallInt, Int16Type),
        DataType::Int(_) => primitive!(Int, Int32Type),
        DataType::BigInt(_) => primitive!(BigInt, Int64Type),
        DataType::Float(_) => primitive!(Float, Float32Type),
        DataType::Double(_) => primitive!(Double, Float64Type),
        DataType::Date(_) => primitive!(Date, Date32Type),
        DataType::Time(_) => primitive!(Time, Time32MillisecondType),
        DataType::Decimal(t) => {
            let unscaled = collect(values, data_type, |d| match d {
                Datum::Decimal(v, scale) => rescale(*v, *scale, t.scale()),
                _ => None,
            })?;
            let array = unscaled.into_iter().collect::<PrimitiveArray<Decimal128Type>>();
            Arc::new(array.with_precision_and_scale(t.precision(), t.scale() as i8)?)
        }
        DataType::Char(_) | DataType::VarChar(_) => {
            check(values, data_type, text)?;
            Arc::new(StringArray::from_iter(values.iter().map(|v| match v {
                Some(Datum::String(text)) => Some(text.as_str()),
                _ => None,
            })))
        }
        DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => {
            check(values, data_type, |d| matches!(d, Datum::Bytes(_)))?;
            let bytes = values.iter().map(|v| match v {
                Some(Datum::Bytes(bytes)) => Some(bytes.as_slice()),
                _ => None,
            });
            match data_type {
                DataType::Blob(_) => Arc::new(LargeBinaryArray::from_iter(bytes)),
                _ => Arc::new(BinaryArray::from_iter(bytes)),
            }
        }
        DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => timestamps(values, data_type)?,
        DataType::Array(_)
        | DataType::Multiset(_)
        | DataType::Map(_)
        | DataType::Row(_)
        | DataType::Variant(_)
        | DataType::Vector(_) => {
            if values.iter().any(Option::is_some) {
                return Err(Error::unsupported(format!("single values of type {data_type:?}")));
            }
            new_null_array(&arrow_type(data_type), values.len())
        }
    })
}

fn timestamps(values: &[Option<Datum>], data_type: &DataType) -> Result<ArrayRef> {
    let ArrowType::Timestamp(unit, zone) = arrow_type(data_type) else {
        return Err(Error::internal(format!("type {data_type:?} is no timestamp")));
    };
    let with_zone = zone.is_some();
    let numbers = collect(values, data_type, |d| match d {
        Datum::Timestamp(t) if !with_zone => t.to_unit(unit),
        Datum::LocalZonedTimestamp(t) if with_zone => t.to_unit(unit),
        _ => None,
    })?;
    fn array<T: ArrowTimestampType>(numbers: Vec<Option<i64>>, zone: Option<Arc<str>>) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::from_iter(numbers).with_timezone_opt(zone))
    }
    Ok(match unit {
        TimeUnit::Second => array::<TimestampSecondType>(numbers, zone),
        TimeUnit::Millisecond => array::<TimestampMillisecondType>(numbers, zone),
        TimeUnit::Microsecond => array::<TimestampMicrosecondType>(numbers, zone),
        TimeUnit::Nanosecond => array::<TimestampNanosecondType>(numbers, zone),
    })
}

/// An array of `len` rows that all hold this value.
///
/// # Errors
/// As [`array_from_datums`].
pub fn constant_array(value: Option<&Datum>, data_type: &DataType, len: usize) -> Result<ArrayRef> {
    if value.is_none() {
        return Ok(new_null_array(&arrow_type(data_type), len));
    }
    let single = array_from_datums(&[value.cloned()], data_type)?;
    Ok(arrow::compute::take(&single, &UInt32Array::from_value(0, len), None)?)
}

fn misfit(value: &Datum, data_type: &DataType) -> Error {
    Error::invalid_input(format!("value {value:?} does not fit type {data_type:?}"))
}

fn check(values: &[Option<Datum>], data_type: &DataType, fits: impl Fn(&Datum) -> bool) -> Result<()> {
    match values.iter().flatten().find(|v| !fits(v)) {
        Some(value) => Err(misfit(value, data_type)),
        None => Ok(()),
    }
}

fn collect<T>(
    values: &[Option<Datum>],
    data_type: &DataType,
    convert: impl Fn(&Datum) -> Option<T>,
) -> Result<Vec<Option<T>>> {
    let one = |value: &Option<Datum>| match value {
        Some(value) => convert(value).map(Some).ok_or_else(|| misfit(value, data_type)),
        None => Ok(None),
    };
    values.iter().map(one).collect()
}

/// The unscaled value at another scale; `None` if digits would be lost or overflow.
fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        return unscaled.checked_mul(10i128.checked_pow(u32::from(to - from))?);
    }
    let factor = 10i128.checked_pow(u32::from(from - to))?;
    (unscaled % factor == 0).then_some(unscaled / factor)
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::super::{BinaryType, BlobType, VariantType};
    use super::*;

    #[track_caller]
    fn round_trip(data_type: DataType, value: Option<Datum>) {
        let values = [value, None];
        let array = array_from_datums(&values, &data_type).unwrap();
        assert_eq!(array.data_type(), &arrow_type(&data_type));
        let back = (0..values.len()).map(|row| datum_at(&array, row, &data_type).unwrap()).collect::<Vec<_>>();
        assert_eq!(back, values, "{data_type:?}");
        let constant = constant_array(values[0].as_ref(), &data_type, 3).unwrap();
        assert_eq!(constant.len(), 3);
        assert_eq!(datum_at(&constant, 2, &data_type).unwrap(), values[0], "{data_type:?}");
    }

    #[test]
    fn every_atomic_type_round_trips() {
        round_trip(boolean(), Some(Datum::Boolean(true)));
        round_trip(tiny_int(), Some(Datum::TinyInt(-2)));
        round_trip(small_int(), Some(Datum::SmallInt(300)));
        round_trip(int(), Some(Datum::Int(-1)));
        round_trip(big_int(), Some(Datum::BigInt(i64::MIN)));
        round_trip(float(), Some(Datum::Float(f32::NAN)));
        round_trip(double(), Some(Datum::Double(-0.0)));
        round_trip(decimal(38, 10), Some(Datum::Decimal(-10_000_000_001, 10)));
        round_trip(string(), Some(text("中")));
        round_trip(DataType::Binary(BinaryType::new(4).unwrap()), Some(Datum::Bytes(vec![0, 255])));
        round_trip(DataType::Blob(BlobType::new()), Some(Datum::Bytes(vec![1])));
        round_trip(date(), Some(Datum::Date(-1)));
        round_trip(time(3), Some(Datum::Time(45_296_789)));
        for precision in [0, 3, 6, 9] {
            let value = Timestamp::from_millis(-1_700_000_000_000);
            round_trip(timestamp(precision), Some(Datum::Timestamp(value)));
            round_trip(zoned(precision), Some(Datum::LocalZonedTimestamp(value)));
        }
        round_trip(DataType::Variant(VariantType::new()), None);
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let micros = Datum::Timestamp(Timestamp::from_micros(1));
        assert!(array_from_datums(&[Some(micros)], &timestamp(3)).is_err());
        assert!(array_from_datums(&[Some(Datum::BigInt(1))], &int()).is_err());
        assert!(array_from_datums(&[Some(Datum::Decimal(1234, 3))], &decimal(5, 2)).is_err());
        let rescaled = array_from_datums(&[Some(Datum::Decimal(1230, 3))], &decimal(5, 2)).unwrap();
        assert_eq!(datum_at(&rescaled, 0, &decimal(5, 2)).unwrap(), Some(Datum::Decimal(123, 2)));
    }
}
