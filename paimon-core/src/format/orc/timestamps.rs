//! Timestamps: seconds since 2015 in the zone of the writer, and nanoseconds.
//!
//! Invariants: a TIMESTAMP is the wall clock that the writer saw, whatever the zone of the reader. Zoned timestamps are
//! instants, which writers store shifted by default. As Java reads: a fraction in the last second before 1970 reads one
//! second later, for the file cannot tell. Source: data-file sheet section 3, "ORC timestamps".

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    ArrowTimestampType, DataType as ArrowType, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Offset, TimeZone};
use chrono_tz::{OffsetComponents, Tz};

use super::decoder::{Settings, spread};
use super::footer::Kind;
use super::integers::Integers;
use super::node::Node;
use super::stripe::{StreamKind, Stripe};
use crate::error::{Error, Result};
use crate::types::arrow_type;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
/// The first second of 1900. Java knows no older offsets: before, it takes the standard offset of today.
const FIRST_OFFSETS: i64 = -2_208_988_800;
/// A winter that every zone has its present rules in.
const TODAY: i64 = 1_704_067_200;

/// A column of timestamps.
#[derive(Debug)]
pub(super) struct Timestamps {
    seconds: Integers,
    nanos: Integers,
    /// Seconds of the epoch of ORC since 1970.
    base: i64,
    /// The zone whose wall clock is read; `None` for instants.
    wall_clock: Option<Tz>,
    unit: TimeUnit,
    zone: Option<Arc<str>>,
}

impl Timestamps {
    pub(super) fn new(node: &Node, stripe: &Stripe, settings: Settings) -> Result<Self> {
        let ArrowType::Timestamp(unit, zone) = arrow_type(&node.data_type) else {
            return Err(Error::internal(format!("{:?} is no timestamp", node.data_type)));
        };
        let is_instant = node.kind == Kind::TimestampInstant;
        let writer = stripe.zone()?;
        let wall_clock = match is_instant && !settings.legacy_zoned {
            true => None,
            false => Some(writer).filter(|zone| *zone != Tz::UTC),
        };
        Ok(Self {
            seconds: stripe.integers(node.position, StreamKind::Data, true)?,
            nanos: stripe.integers(node.position, StreamKind::Secondary, false)?,
            base: epoch(if is_instant { Tz::UTC } else { writer })?,
            wall_clock,
            unit,
            zone,
        })
    }

    pub(super) fn read(
        &mut self,
        column: &str,
        count: usize,
        rows: usize,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef> {
        let (seconds, nanos) = (self.seconds.read(count)?, self.nanos.read(count)?);
        let per_second = match self.unit {
            TimeUnit::Second => 1,
            TimeUnit::Millisecond => 1_000,
            TimeUnit::Microsecond => 1_000_000,
            TimeUnit::Nanosecond => NANOS_PER_SECOND,
        };
        let ticks = seconds.into_iter().zip(nanos).map(|(seconds, nanos)| {
            let (seconds, nanos) = self.moment(column, seconds, nanos)?;
            let ticks = i128::from(seconds) * per_second + i128::from(nanos) * per_second / NANOS_PER_SECOND;
            i64::try_from(ticks).map_err(|_| {
                Error::unsupported(format!("column {column} holds a timestamp that Arrow cannot hold in its unit"))
            })
        });
        let dense = ticks.collect::<Result<Vec<i64>>>()?;
        let ticks = Int64Array::new(spread(dense, rows, nulls.as_ref()), nulls);
        let zone = self.zone.clone();
        Ok(match self.unit {
            TimeUnit::Second => Arc::new(zoned::<TimestampSecondType>(&ticks, zone)),
            TimeUnit::Millisecond => Arc::new(zoned::<TimestampMillisecondType>(&ticks, zone)),
            TimeUnit::Microsecond => Arc::new(zoned::<TimestampMicrosecondType>(&ticks, zone)),
            TimeUnit::Nanosecond => Arc::new(zoned::<TimestampNanosecondType>(&ticks, zone)),
        })
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        self.seconds.skip(count)?;
        self.nanos.skip(count)
    }

    /// Seconds and nanoseconds since 1970 of the clock that is read.
    fn moment(&self, column: &str, seconds: i64, nanos: i64) -> Result<(i64, i64)> {
        let damaged = || Error::corrupt(format!("a timestamp of column {column} is out of range"));
        let nanos = fraction(nanos).ok_or_else(damaged)?;
        let mut seconds = seconds.checked_add(self.base).ok_or_else(damaged)?;
        // Writers cut the seconds toward zero.
        if seconds < 0 && nanos > 999_999 {
            seconds = seconds.checked_sub(1).ok_or_else(damaged)?;
        }
        if let Some(zone) = self.wall_clock {
            let offset = java_offset(zone, seconds).ok_or_else(damaged)?;
            seconds = seconds.checked_add(offset).ok_or_else(damaged)?;
        }
        Ok((seconds, nanos))
    }
}

/// How far the wall clock of a zone is ahead at an instant, as Java has it.
fn java_offset(zone: Tz, seconds: i64) -> Option<i64> {
    let at = |seconds| {
        let instant = DateTime::from_timestamp(seconds, 0)?;
        Some(zone.offset_from_utc_datetime(&instant.naive_utc()))
    };
    match seconds < FIRST_OFFSETS {
        true => Some(at(TODAY)?.base_utc_offset().num_seconds()),
        false => Some(i64::from(at(seconds)?.fix().local_minus_utc())),
    }
}

/// Nanoseconds, of which the lowest three bits say how many zeros were cut off.
fn fraction(encoded: i64) -> Option<i64> {
    let (digits, zeros) = (encoded >> 3, encoded & 7);
    let nanos = if zeros == 0 { digits } else { digits.checked_mul(10i64.pow(u32::try_from(zeros + 1).ok()?))? };
    (0..1_000_000_000).contains(&nanos).then_some(nanos)
}

/// The first moment of 2015 in a zone.
fn epoch(zone: Tz) -> Result<i64> {
    let local = NaiveDate::from_ymd_opt(2015, 1, 1).map(NaiveDateTime::from);
    let moment = local.and_then(|local| zone.from_local_datetime(&local).earliest());
    moment.map(|m| m.timestamp()).ok_or_else(|| Error::internal(format!("2015 does not begin in {zone}")))
}

fn zoned<T: ArrowTimestampType>(ticks: &Int64Array, zone: Option<Arc<str>>) -> PrimitiveArray<T> {
    ticks.reinterpret_cast::<T>().with_timezone_opt(zone)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_have_zeros_cut_off() {
        assert_eq!([fraction(0), fraction(1000 << 3), fraction(0x0a)], [Some(0), Some(1000), Some(1000)]);
        assert_eq!([fraction(123_456_789 << 3), fraction(1 << 33), fraction(-8)], [Some(123_456_789), None, None]);
    }

    #[test]
    fn the_epoch_is_in_the_zone_of_the_writer() {
        assert_eq!(epoch(Tz::UTC).unwrap(), 1_420_070_400);
        assert_eq!(epoch(Tz::Asia__Shanghai).unwrap(), 1_420_070_400 - 8 * 3_600);
    }
}
