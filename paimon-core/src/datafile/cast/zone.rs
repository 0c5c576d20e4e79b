//! The wall clock of the process, which Java's casts between zoned and other types go through.
//!
//! Invariants: an hour that the clocks skip is moved by the gap, one that they repeat takes the earlier offset.
//! Source: schema-evolution sheet section 3.1; `utils/DateTimeUtils.java`.

use chrono::{DateTime, Local, MappedLocalTime, Offset, TimeDelta, TimeZone};

use crate::error::{Error, Result};

const NANOS_PER_SECOND: i128 = 1_000_000_000;

/// The wall clock at an instant, as nanoseconds since 1970-01-01 of the wall clock.
pub(super) fn wall_clock(nanos: i128) -> Result<i128> {
    wall_clock_in(nanos, &Local)
}

/// The instant at which the wall clock shows this.
pub(super) fn instant(nanos: i128) -> Result<i128> {
    instant_in(nanos, &Local)
}

fn wall_clock_in<Z: TimeZone>(nanos: i128, zone: &Z) -> Result<i128> {
    let time = date_time(nanos)?.with_timezone(zone);
    Ok(nanos + i128::from(time.offset().fix().local_minus_utc()) * NANOS_PER_SECOND)
}

fn instant_in<Z: TimeZone>(nanos: i128, zone: &Z) -> Result<i128> {
    let local = date_time(nanos)?.naive_utc();
    let offset = match zone.from_local_datetime(&local) {
        MappedLocalTime::Single(time) | MappedLocalTime::Ambiguous(time, _) => time.offset().fix(),
        MappedLocalTime::None => {
            let before = local.checked_sub_signed(TimeDelta::days(1)).ok_or_else(out_of_range)?;
            zone.from_local_datetime(&before).earliest().ok_or_else(out_of_range)?.offset().fix()
        }
    };
    Ok(nanos - i128::from(offset.local_minus_utc()) * NANOS_PER_SECOND)
}

fn date_time(nanos: i128) -> Result<DateTime<chrono::Utc>> {
    let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).map_err(|_| out_of_range())?;
    DateTime::from_timestamp(seconds, 0).ok_or_else(out_of_range)
}

fn out_of_range() -> Error {
    Error::invalid_input("a timestamp is out of the range of years that have a wall clock")
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;

    use super::*;

    #[test]
    fn shanghai_is_eight_hours_ahead() {
        let shanghai = FixedOffset::east_opt(8 * 3_600).unwrap();
        let nanos = 1_700_000_000_123_000_000;
        let ahead = nanos + 8 * 3_600 * NANOS_PER_SECOND;
        assert_eq!(wall_clock_in(nanos, &shanghai).unwrap(), ahead);
        assert_eq!(instant_in(ahead, &shanghai).unwrap(), nanos);
        assert!(wall_clock_in(i128::MAX, &shanghai).is_err());
    }
}
