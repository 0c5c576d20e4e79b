//! Points in time that users write as text, in the zone of the process.
//!
//! Source: time-travel sheet section 1 (`scan.timestamp`); `utils/DateTimeUtils.java`.

use chrono::{DateTime, Days, MappedLocalTime, NaiveDate, NaiveDateTime, NaiveTime, Offset, TimeZone};

use crate::error::{Error, Result};

/// Milliseconds since the epoch of `yyyy-M-d`, `yyyy-M-d H:m:s[.f]` or `yyyy-M-dTH:m[:s[.f]]` in the local zone; up to 9
/// digits of a fraction, cut to milliseconds. An hour that the clocks skip or repeat takes the earlier offset.
///
/// # Errors
/// `InvalidConfig` naming the text.
pub fn parse(text: &str) -> Result<i64> {
    parse_in(text, &chrono::Local)
}

/// Milliseconds since the epoch of a wall clock that was stored as if it were UTC.
pub fn from_wall_clock(local_ms: i64) -> i64 {
    let shown = DateTime::from_timestamp_millis(local_ms);
    shown.and_then(|shown| instant_in(shown.naive_utc(), &chrono::Local)).unwrap_or(local_ms)
}

/// The wall clock of the process at this moment, in milliseconds as if it were UTC.
pub fn to_wall_clock(instant_ms: i64) -> i64 {
    let offset = chrono::Local.timestamp_millis_opt(instant_ms).earliest();
    let seconds = offset.map_or(0, |time| time.offset().fix().local_minus_utc());
    instant_ms.saturating_add(i64::from(seconds) * 1_000)
}

fn parse_in<Z: TimeZone>(text: &str, zone: &Z) -> Result<i64> {
    let wrong = || {
        Error::invalid_config(format!(
            "expected a time as 2026-12-31, 2026-12-31 23:59:59.999 or 2026-12-31T23:59, found '{text}'"
        ))
    };
    wall_clock(text).and_then(|local| instant_in(local, zone)).ok_or_else(wrong)
}

/// An hour that the clocks skip or repeat takes the earlier offset; `None` for a time that no calendar shows.
fn instant_in<Z: TimeZone>(local: NaiveDateTime, zone: &Z) -> Option<i64> {
    match zone.from_local_datetime(&local) {
        MappedLocalTime::Single(time) | MappedLocalTime::Ambiguous(time, _) => Some(time.timestamp_millis()),
        MappedLocalTime::None => {
            let before = local.checked_sub_days(Days::new(1))?;
            let known = zone.from_local_datetime(&before).earliest()?;
            Some(known.timestamp_millis() + (local - before).num_milliseconds())
        }
    }
}

fn wall_clock(text: &str) -> Option<NaiveDateTime> {
    let (day, time) = match text.split_once([' ', 'T']) {
        None => (text, None),
        Some((day, time)) => (day, Some((time, text.as_bytes().get(day.len()) == Some(&b'T')))),
    };
    let [year, month, day] = day.split('-').collect::<Vec<_>>().try_into().ok()?;
    let year = i32::try_from(number(year, 4, 4)?).ok()?;
    let date = NaiveDate::from_ymd_opt(year, number(month, 1, 2)?, number(day, 1, 2)?)?;
    let time = match time {
        None => NaiveTime::MIN,
        Some((time, is_iso)) => clock(time, is_iso)?,
    };
    Some(date.and_time(time))
}

fn clock(text: &str, is_iso: bool) -> Option<NaiveTime> {
    let parts: Vec<&str> = text.split(':').collect();
    let (hour, minute, second) = match parts[..] {
        [hour, minute] if is_iso => (hour, minute, "0"),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let (second, fraction) = match second.split_once('.') {
        None => (second, 0),
        Some((second, fraction)) => {
            number(fraction, 1, 9)?;
            let millis = format!("{fraction:0<3}");
            (second, millis.get(..3)?.parse().ok()?)
        }
    };
    NaiveTime::from_hms_milli_opt(number(hour, 1, 2)?, number(minute, 1, 2)?, number(second, 1, 2)?, fraction)
}

fn number(text: &str, least: usize, most: usize) -> Option<u32> {
    let digits = (least..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use chrono::{FixedOffset, Utc};

    use super::*;

    #[test]
    fn forms() {
        let noon = 1_767_225_600_000 + 12 * 3_600_000;
        let cases = [
            ("2026-01-01", Some(1_767_225_600_000)),
            ("2026-1-1", Some(1_767_225_600_000)),
            ("2026-01-01 12:00:00", Some(noon)),
            ("2026-01-01T12:00", Some(noon)),
            ("2026-01-01T12:00:00", Some(noon)),
            ("2026-01-01 12:0:0.5", Some(noon + 500)),
            ("2026-01-01 12:00:00.123999999", Some(noon + 123)),
            ("2099-01-01 12:00", None),
            ("2026-01-01 12:00:00Z", None),
            ("2026-01-01T12:00:00.1234567890", None),
            ("2026-13-01", None),
            ("2026-02-30", None),
            ("2026-01-01 24:00:00", None),
            ("2026-01-01 12:00:00.", None),
            ("26-01-01", None),
            ("", None),
            ("now", None),
            ("+026-01-01", None),
            ("2026-01-01 é", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_in(text, &Utc).ok(), expected, "{text}");
        }
    }

    #[test]
    fn the_zone_counts() {
        let east = FixedOffset::east_opt(8 * 3600).unwrap();
        assert_eq!(parse_in("2026-01-01 08:00:00", &east).unwrap(), 1_767_225_600_000);
    }

    #[test]
    fn errors_name_the_text() {
        assert!(parse("2099-01-01 12:00").unwrap_err().to_string().contains("'2099-01-01 12:00'"));
    }
}
