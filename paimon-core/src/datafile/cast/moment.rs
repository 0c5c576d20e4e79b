//! Casts between dates, times, timestamps and seconds.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Date32Array, Int64Array, PrimitiveArray, Time32MillisecondArray};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{
    ArrowTimestampType, DataType as ArrowType, Date32Type, Int32Type, Int64Type, Time32MillisecondType, TimeUnit,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};

use super::{Cast, zone};
use crate::error::{Error, Result};
use crate::types::{DataType, arrow_type};

const NANOS_PER_MILLI: i128 = 1_000_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;

/// Instants in nanoseconds since the epoch, which no unit of Arrow can hold for all years.
pub(super) type Instants = Vec<Option<i128>>;

pub(super) fn find(from: &DataType, to: &DataType) -> Option<Cast> {
    use DataType::{BigInt, Date, Int, LocalZonedTimestamp, Time, Timestamp};
    let to = to.clone();
    Some(match (from, &to) {
        (Timestamp(_), Timestamp(_)) | (LocalZonedTimestamp(_), LocalZonedTimestamp(_)) => {
            Box::new(move |array| from_instants(instants(array)?, &to))
        }
        (Timestamp(_), LocalZonedTimestamp(_)) => {
            Box::new(move |array| from_instants(shifted(instants(array)?, zone::instant)?, &to))
        }
        (LocalZonedTimestamp(_), Timestamp(_)) => {
            Box::new(move |array| from_instants(shifted(instants(array)?, zone::wall_clock)?, &to))
        }
        (Timestamp(_), Date(_)) => Box::new(|array| Ok(days(instants(array)?))),
        (LocalZonedTimestamp(_), Date(_)) => Box::new(|array| Ok(days(shifted(instants(array)?, zone::wall_clock)?))),
        (Timestamp(_), Time(_)) => Box::new(|array| Ok(times(instants(array)?))),
        (LocalZonedTimestamp(_), Time(_)) => Box::new(|array| Ok(times(shifted(instants(array)?, zone::wall_clock)?))),
        (Timestamp(_) | LocalZonedTimestamp(_), Int(_) | BigInt(_)) => Box::new(move |array| {
            // Java divides the milliseconds, which were rounded down, toward zero.
            let seconds = |v: i128| (v.div_euclid(NANOS_PER_MILLI) / 1_000) as i64;
            let seconds: Int64Array = instants(array)?.into_iter().map(|v| v.map(seconds)).collect();
            Ok(match to {
                Int(_) => Arc::new(seconds.unary::<_, Int32Type>(|v| v as i32)),
                _ => Arc::new(seconds),
            })
        }),
        (Int(_) | BigInt(_), Timestamp(_)) => Box::new(move |array| from_instants(seconds(array)?, &to)),
        // Java takes the wall clock of the instant for the instant.
        (Int(_) | BigInt(_), LocalZonedTimestamp(_)) => {
            Box::new(move |array| from_instants(shifted(seconds(array)?, zone::wall_clock)?, &to))
        }
        (Date(_), Timestamp(_)) => Box::new(move |array| from_instants(midnights(array), &to)),
        (Date(_), LocalZonedTimestamp(_)) => {
            Box::new(move |array| from_instants(shifted(midnights(array), zone::instant)?, &to))
        }
        (Time(_), Timestamp(_) | LocalZonedTimestamp(_)) => Box::new(move |array| {
            let millis = array.as_primitive::<Time32MillisecondType>();
            from_instants(millis.iter().map(|v| v.map(|v| i128::from(v) * NANOS_PER_MILLI)).collect(), &to)
        }),
        _ => return None,
    })
}

/// Java cuts the days of milliseconds toward the epoch.
fn days(instants: Instants) -> ArrayRef {
    let day = |v: i128| (v.div_euclid(NANOS_PER_MILLI) / (NANOS_PER_DAY / NANOS_PER_MILLI)) as i32;
    Arc::new(instants.into_iter().map(|v| v.map(day)).collect::<Date32Array>())
}

fn times(instants: Instants) -> ArrayRef {
    let millis = |v: i128| (v.rem_euclid(NANOS_PER_DAY) / NANOS_PER_MILLI) as i32;
    Arc::new(instants.into_iter().map(|v| v.map(millis)).collect::<Time32MillisecondArray>())
}

fn seconds(array: &ArrayRef) -> Result<Instants> {
    let seconds = arrow_cast(array, &ArrowType::Int64)?;
    let seconds = seconds.as_primitive::<Int64Type>();
    Ok(seconds.iter().map(|v| v.map(|v| i128::from(v) * NANOS_PER_SECOND)).collect())
}

fn midnights(array: &ArrayRef) -> Instants {
    array.as_primitive::<Date32Type>().iter().map(|v| v.map(|v| i128::from(v) * NANOS_PER_DAY)).collect()
}

/// Each instant moved by a zone.
pub(super) fn shifted(instants: Instants, shift: impl Fn(i128) -> Result<i128>) -> Result<Instants> {
    instants.into_iter().map(|v| v.map(&shift).transpose()).collect()
}

/// The instants of a timestamp column.
pub(super) fn instants(array: &ArrayRef) -> Result<Instants> {
    fn scaled<T: ArrowTimestampType>(array: &ArrayRef, factor: i128) -> Instants {
        array.as_primitive::<T>().iter().map(|v| v.map(|v| i128::from(v) * factor)).collect()
    }
    Ok(match array.data_type() {
        ArrowType::Timestamp(TimeUnit::Second, _) => scaled::<TimestampSecondType>(array, NANOS_PER_SECOND),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => scaled::<TimestampMillisecondType>(array, NANOS_PER_MILLI),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => scaled::<TimestampMicrosecondType>(array, 1_000),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => scaled::<TimestampNanosecondType>(array, 1),
        other => return Err(Error::internal(format!("expected a timestamp column, found {other}"))),
    })
}

/// A timestamp column of a type.
pub(super) fn from_instants(instants: Instants, to: &DataType) -> Result<ArrayRef> {
    let (precision, target) = match to {
        DataType::Timestamp(t) => (t.precision(), arrow_type(to)),
        DataType::LocalZonedTimestamp(t) => (t.precision(), arrow_type(to)),
        other => return Err(Error::internal(format!("{other:?} is no timestamp"))),
    };
    let ArrowType::Timestamp(unit, zone) = target else { return Err(Error::internal("expected a timestamp type")) };
    let cut = instants.into_iter().map(|v| v.map(|v| cut_to(v, precision)));
    Ok(match unit {
        TimeUnit::Second => Arc::new(ticks::<TimestampSecondType>(cut, NANOS_PER_SECOND)?.with_timezone_opt(zone)),
        TimeUnit::Millisecond => {
            Arc::new(ticks::<TimestampMillisecondType>(cut, NANOS_PER_MILLI)?.with_timezone_opt(zone))
        }
        TimeUnit::Microsecond => Arc::new(ticks::<TimestampMicrosecondType>(cut, 1_000)?.with_timezone_opt(zone)),
        TimeUnit::Nanosecond => Arc::new(ticks::<TimestampNanosecondType>(cut, 1)?.with_timezone_opt(zone)),
    })
}

fn ticks<T: ArrowTimestampType>(
    instants: impl Iterator<Item = Option<i128>>,
    nanos: i128,
) -> Result<PrimitiveArray<T>> {
    let range = |_| Error::invalid_input("a timestamp is out of the range of its Arrow unit");
    instants.map(|v| v.map(|v| i64::try_from(v.div_euclid(nanos)).map_err(range)).transpose()).collect()
}

/// Fractions of a millisecond are cut toward the past, tenths of a second and less toward the epoch, as Java does.
fn cut_to(nanos: i128, precision: u32) -> i128 {
    if precision >= 9 {
        return nanos;
    }
    if precision >= 3 {
        let unit = 10i128.pow(9 - precision);
        return nanos.div_euclid(unit) * unit;
    }
    let unit = 10i128.pow(3 - precision);
    nanos.div_euclid(NANOS_PER_MILLI) / unit * unit * NANOS_PER_MILLI
}
