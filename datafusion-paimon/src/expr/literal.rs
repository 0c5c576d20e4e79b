//! Scalars of the engine as values of the core.

use datafusion::arrow::datatypes::{DataType as ArrowType, TimeUnit};
use datafusion::common::ScalarValue;
use paimon_core::types::{DataType, Datum, Timestamp};
use paimon_core::{Error, Result};

/// The value of a scalar for a column of this type: `Ok(None)` for null; `Err` gives the scalar back if it has another
/// type, so that the caller casts or refuses.
///
/// # Errors
/// The scalar, if it is not of the column's Arrow type (text and bytes in any encoding).
pub fn to_datum<'a>(scalar: &'a ScalarValue, data_type: &DataType) -> Result<Option<Datum>, &'a ScalarValue> {
    if scalar.is_null() {
        return Ok(None);
    }
    let datum = match (data_type, scalar) {
        (_, ScalarValue::Dictionary(_, value)) => return to_datum(value, data_type),
        (DataType::Boolean(_), ScalarValue::Boolean(Some(v))) => Datum::Boolean(*v),
        (DataType::TinyInt(_), ScalarValue::Int8(Some(v))) => Datum::TinyInt(*v),
        (DataType::SmallInt(_), ScalarValue::Int16(Some(v))) => Datum::SmallInt(*v),
        (DataType::Int(_), ScalarValue::Int32(Some(v))) => Datum::Int(*v),
        (DataType::BigInt(_), ScalarValue::Int64(Some(v))) => Datum::BigInt(*v),
        (DataType::Float(_), ScalarValue::Float32(Some(v))) => Datum::Float(*v),
        (DataType::Double(_), ScalarValue::Float64(Some(v))) => Datum::Double(*v),
        (DataType::Decimal(t), ScalarValue::Decimal128(Some(v), _, scale)) if *scale == t.scale() as i8 => {
            Datum::Decimal(*v, t.scale())
        }
        (
            DataType::Char(_) | DataType::VarChar(_),
            ScalarValue::Utf8(Some(v)) | ScalarValue::LargeUtf8(Some(v)) | ScalarValue::Utf8View(Some(v)),
        ) => Datum::String(v.clone()),
        (
            DataType::Binary(_) | DataType::VarBinary(_),
            ScalarValue::Binary(Some(v))
            | ScalarValue::LargeBinary(Some(v))
            | ScalarValue::BinaryView(Some(v))
            | ScalarValue::FixedSizeBinary(_, Some(v)),
        ) => Datum::Bytes(v.clone()),
        (DataType::Date(_), ScalarValue::Date32(Some(v))) => Datum::Date(*v),
        (DataType::Time(_), ScalarValue::Time32Millisecond(Some(v))) => Datum::Time(*v),
        (DataType::Timestamp(_), _) => Datum::Timestamp(timestamp(scalar, false).ok_or(scalar)?),
        (DataType::LocalZonedTimestamp(_), _) => Datum::LocalZonedTimestamp(timestamp(scalar, true).ok_or(scalar)?),
        _ => return Err(scalar),
    };
    Ok(Some(datum))
}

fn timestamp(scalar: &ScalarValue, zoned: bool) -> Option<Timestamp> {
    let (value, zone) = match scalar {
        ScalarValue::TimestampSecond(Some(v), zone) => (Timestamp::from_millis(v.checked_mul(1_000)?), zone),
        ScalarValue::TimestampMillisecond(Some(v), zone) => (Timestamp::from_millis(*v), zone),
        ScalarValue::TimestampMicrosecond(Some(v), zone) => (Timestamp::from_micros(*v), zone),
        ScalarValue::TimestampNanosecond(Some(v), zone) => (Timestamp::from_nanos(*v), zone),
        _ => return None,
    };
    (zone.is_some() == zoned).then_some(value)
}

/// The scalar of a value, of this Arrow type; null for `None`.
///
/// # Errors
/// `InvalidInput` if the value has no place in the type.
pub fn to_scalar(datum: Option<&Datum>, arrow: &ArrowType) -> Result<ScalarValue> {
    let Some(datum) = datum else {
        return ScalarValue::try_from(arrow).map_err(|_| misfit(arrow));
    };
    let scalar = match (datum, arrow) {
        (Datum::Boolean(v), _) => ScalarValue::Boolean(Some(*v)),
        (Datum::TinyInt(v), _) => ScalarValue::Int8(Some(*v)),
        (Datum::SmallInt(v), _) => ScalarValue::Int16(Some(*v)),
        (Datum::Int(v), _) => ScalarValue::Int32(Some(*v)),
        (Datum::BigInt(v), _) => ScalarValue::Int64(Some(*v)),
        (Datum::Float(v), _) => ScalarValue::Float32(Some(*v)),
        (Datum::Double(v), _) => ScalarValue::Float64(Some(*v)),
        (Datum::Decimal(v, _), ArrowType::Decimal128(precision, scale)) => {
            ScalarValue::Decimal128(Some(*v), *precision, *scale)
        }
        (Datum::String(v), _) => ScalarValue::Utf8(Some(v.clone())),
        (Datum::Bytes(v), _) => ScalarValue::Binary(Some(v.clone())),
        (Datum::Date(v), _) => ScalarValue::Date32(Some(*v)),
        (Datum::Time(v), _) => ScalarValue::Time32Millisecond(Some(*v)),
        (Datum::Timestamp(v) | Datum::LocalZonedTimestamp(v), ArrowType::Timestamp(unit, zone)) => {
            let zone = zone.clone();
            match unit {
                TimeUnit::Second => ScalarValue::TimestampSecond(Some(v.millis.div_euclid(1_000)), zone),
                TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(Some(v.millis), zone),
                TimeUnit::Microsecond => {
                    ScalarValue::TimestampMicrosecond(Some(v.to_micros().ok_or_else(|| misfit(arrow))?), zone)
                }
                TimeUnit::Nanosecond => {
                    ScalarValue::TimestampNanosecond(Some(v.to_nanos().ok_or_else(|| misfit(arrow))?), zone)
                }
            }
        }
        _ => return Err(misfit(arrow)),
    };
    if scalar.data_type() == *arrow { Ok(scalar) } else { Err(misfit(arrow)) }
}

fn misfit(arrow: &ArrowType) -> Error {
    Error::invalid_input(format!("a value of metadata does not fit the type {arrow}"))
}

#[cfg(test)]
mod tests {
    use paimon_core::types::{DecimalType, IntType, LocalZonedTimestampType, TimestampType, VarCharType};

    use super::*;

    #[test]
    fn scalars_of_the_columns_type_are_values() {
        let string = DataType::VarChar(VarCharType::string_type());
        let decimal = DataType::Decimal(DecimalType::new(5, 2).unwrap());
        let timestamp = DataType::Timestamp(TimestampType::new(6).unwrap());
        let zoned = DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(6).unwrap());
        let utc = Some("UTC".into());
        let cases = [
            (ScalarValue::Utf8View(Some("a".into())), &string, Datum::String("a".into())),
            (ScalarValue::Decimal128(Some(150), 5, 2), &decimal, Datum::Decimal(150, 2)),
            (
                ScalarValue::TimestampMicrosecond(Some(-1), None),
                &timestamp,
                Datum::Timestamp(Timestamp { millis: -1, nanos: 999_000 }),
            ),
            (
                ScalarValue::TimestampSecond(Some(2), utc),
                &zoned,
                Datum::LocalZonedTimestamp(Timestamp::from_millis(2_000)),
            ),
        ];
        for (scalar, data_type, expected) in cases {
            let datum = to_datum(&scalar, data_type).unwrap();
            assert_eq!(datum, Some(expected), "{scalar}");
            let arrow = paimon_core::types::arrow_type(data_type);
            let back = to_scalar(datum.as_ref(), &arrow).unwrap();
            assert_eq!(to_datum(&back, data_type).unwrap(), datum, "{back}");
            assert_eq!(back.data_type(), arrow);
        }
    }

    #[test]
    fn scalars_of_another_type_are_given_back() {
        let int = DataType::Int(IntType::new());
        assert!(to_datum(&ScalarValue::Int64(Some(1)), &int).is_err());
        assert_eq!(to_datum(&ScalarValue::Int64(None), &int), Ok(None));
        let decimal = DataType::Decimal(DecimalType::new(5, 2).unwrap());
        assert!(to_datum(&ScalarValue::Decimal128(Some(15), 5, 1), &decimal).is_err());
        let plain = DataType::Timestamp(TimestampType::new(3).unwrap());
        assert!(to_datum(&ScalarValue::TimestampSecond(Some(2), Some("UTC".into())), &plain).is_err());
    }
}
