//! Literals of callers to values of a column's type.
//!
//! Invariants: nothing is rounded. A literal that lies between two neighbouring values of the column's type is kept as
//! those neighbours, so that the comparison stays exact. Source: Python API sheet section 10, read-path sheet section 9.

use arrow::datatypes::{DataType as ArrowType, TimeUnit};

use super::display::text;
use crate::error::{Error, Result};
use crate::types::{DataField, DataType, Datum, DecimalType, Timestamp, arrow_type};

/// A literal in the type of a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Literal {
    /// A value of the type.
    Exact(Datum),
    /// Greater than `below` and less than `above`, between which the type has no value; `None` beyond its range.
    Between {
        /// The greatest smaller value of the type.
        below: Option<Datum>,
        /// The least greater value of the type.
        above: Option<Datum>,
    },
}

/// The literal in the type of the column.
pub(super) fn coerce(field: &DataField, literal: Datum) -> Result<Literal> {
    let refuse = |expected: &str| {
        let (name, found) = (&field.name, text(&literal));
        Error::invalid_input(format!("column {name} takes {expected} as literal, found {found}"))
    };
    let exact = |datum| Ok(Literal::Exact(datum));
    match &field.data_type {
        DataType::Boolean(_) => match literal {
            Datum::Boolean(_) => exact(literal),
            _ => Err(refuse("a boolean")),
        },
        DataType::TinyInt(_) | DataType::SmallInt(_) | DataType::Int(_) | DataType::BigInt(_) => {
            let Some(value) = integer(&literal) else { return Err(refuse("an integer")) };
            let (datum, range) = match &field.data_type {
                DataType::TinyInt(_) => (i8::try_from(value).ok().map(Datum::TinyInt), "-128 to 127"),
                DataType::SmallInt(_) => (i16::try_from(value).ok().map(Datum::SmallInt), "-32768 to 32767"),
                DataType::Int(_) => (i32::try_from(value).ok().map(Datum::Int), "-2147483648 to 2147483647"),
                _ => return exact(Datum::BigInt(value)),
            };
            match datum {
                Some(datum) => exact(datum),
                None => Err(refuse(&format!("an integer from {range}"))),
            }
        }
        DataType::Float(_) => float(&literal).ok_or_else(|| refuse("a number")),
        DataType::Double(_) => double(&literal).ok_or_else(|| refuse("a number")),
        DataType::Decimal(t) => match &literal {
            Datum::Decimal(unscaled, scale) => decimal(*unscaled, *scale, t),
            other => integer(other).and_then(|v| decimal(i128::from(v), 0, t)),
        }
        .map(Literal::Exact)
        .ok_or_else(|| refuse(&format!("a DECIMAL({}, {})", t.precision(), t.scale()))),
        DataType::Char(_) | DataType::VarChar(_) => match literal {
            Datum::String(_) => exact(literal),
            _ => Err(refuse("text")),
        },
        DataType::Binary(_) | DataType::VarBinary(_) => match literal {
            Datum::Bytes(_) => exact(literal),
            _ => Err(refuse("bytes")),
        },
        DataType::Date(_) => match literal {
            Datum::Date(_) => exact(literal),
            _ => Err(refuse("a date")),
        },
        DataType::Time(_) => match literal {
            Datum::Time(_) => exact(literal),
            _ => Err(refuse("a time")),
        },
        DataType::Timestamp(_) => match literal {
            Datum::Timestamp(t) => Ok(timestamp(t, &field.data_type, Datum::Timestamp)),
            _ => Err(refuse("a timestamp without time zone")),
        },
        DataType::LocalZonedTimestamp(_) => match literal {
            Datum::LocalZonedTimestamp(t) => Ok(timestamp(t, &field.data_type, Datum::LocalZonedTimestamp)),
            _ => Err(refuse("a timestamp with time zone")),
        },
        DataType::Array(_)
        | DataType::Multiset(_)
        | DataType::Map(_)
        | DataType::Row(_)
        | DataType::Variant(_)
        | DataType::Blob(_)
        | DataType::Vector(_) => {
            let name = &field.name;
            Err(Error::unsupported(format!("literals for column {name}: only isNull and isNotNull work on its type")))
        }
    }
}

fn integer(literal: &Datum) -> Option<i64> {
    match literal {
        Datum::TinyInt(v) => Some(i64::from(*v)),
        Datum::SmallInt(v) => Some(i64::from(*v)),
        Datum::Int(v) => Some(i64::from(*v)),
        Datum::BigInt(v) => Some(*v),
        _ => None,
    }
}

fn float(literal: &Datum) -> Option<Literal> {
    let (rounded, order) = match literal {
        Datum::Float(v) => return Some(Literal::Exact(Datum::Float(*v))),
        Datum::Double(v) if v.is_nan() => return Some(Literal::Exact(Datum::Float(f32::NAN))),
        Datum::Double(v) => (*v as f32, f64::from(*v as f32).total_cmp(v)),
        other => {
            let v = integer(other)?;
            (v as f32, (v as f32 as i128).cmp(&i128::from(v)))
        }
    };
    let (below, above) = match order {
        std::cmp::Ordering::Equal => return Some(Literal::Exact(Datum::Float(rounded))),
        std::cmp::Ordering::Less => (rounded, rounded.next_up()),
        std::cmp::Ordering::Greater => (rounded.next_down(), rounded),
    };
    Some(Literal::Between { below: Some(Datum::Float(below)), above: Some(Datum::Float(above)) })
}

fn double(literal: &Datum) -> Option<Literal> {
    let value = match literal {
        Datum::Double(v) => return Some(Literal::Exact(Datum::Double(*v))),
        Datum::Float(v) => return Some(Literal::Exact(Datum::Double(f64::from(*v)))),
        other => integer(other)?,
    };
    let rounded = value as f64;
    let (below, above) = match (rounded as i128).cmp(&i128::from(value)) {
        std::cmp::Ordering::Equal => return Some(Literal::Exact(Datum::Double(rounded))),
        std::cmp::Ordering::Less => (rounded, rounded.next_up()),
        std::cmp::Ordering::Greater => (rounded.next_down(), rounded),
    };
    Some(Literal::Between { below: Some(Datum::Double(below)), above: Some(Datum::Double(above)) })
}

fn decimal(unscaled: i128, scale: u8, target: &DecimalType) -> Option<Datum> {
    let value = if target.scale() >= scale {
        unscaled.checked_mul(10i128.checked_pow(u32::from(target.scale() - scale))?)?
    } else {
        let factor = 10i128.checked_pow(u32::from(scale - target.scale()))?;
        (unscaled % factor == 0).then_some(unscaled / factor)?
    };
    let bound = 10u128.checked_pow(u32::from(target.precision()))?;
    (value.unsigned_abs() < bound).then_some(Datum::Decimal(value, target.scale()))
}

fn timestamp(value: Timestamp, data_type: &DataType, datum: fn(Timestamp) -> Datum) -> Literal {
    let ArrowType::Timestamp(unit, _) = arrow_type(data_type) else { return Literal::Exact(datum(value)) };
    if value.to_unit(unit).is_some() {
        return Literal::Exact(datum(value));
    }
    let floor = match unit {
        TimeUnit::Second => value.millis.div_euclid(1_000).checked_mul(1_000).map(Timestamp::from_millis),
        TimeUnit::Millisecond => Some(Timestamp::from_millis(value.millis)),
        TimeUnit::Microsecond => Some(Timestamp { millis: value.millis, nanos: value.nanos / 1_000 * 1_000 }),
        TimeUnit::Nanosecond => Some(value),
    };
    match floor.and_then(|f| f.to_unit(unit)) {
        Some(units) => Literal::Between {
            below: Timestamp::from_unit(units, unit).map(datum),
            above: units.checked_add(1).and_then(|u| Timestamp::from_unit(u, unit)).map(datum),
        },
        // Beyond what the unit can count.
        None if value.millis > 0 => {
            Literal::Between { below: Timestamp::from_unit(i64::MAX, unit).map(datum), above: None }
        }
        None => Literal::Between { below: None, above: Timestamp::from_unit(i64::MIN, unit).map(datum) },
    }
}
