//! Text to values, as Java casts STRING.
//!
//! Invariants: a text that is no value is an error, never null, but for decimals that overflow; zones are given by the
//! caller. Source: schema sheet sections 3.1 and 6; `casting/StringTo*CastRule.java`, `utils/DefaultValueUtils.java`.

use chrono::{Datelike, MappedLocalTime, NaiveDate, NaiveTime, TimeZone, Timelike};

use super::data_type::DataType;
use super::datum::{Datum, Timestamp};
use crate::error::{Error, Result};

const DAY_MILLIS: i64 = 86_400_000;

impl Datum {
    /// The value of a column's default: one pair of single quotes around it is left out. `None` for a decimal that
    /// overflows. Local times are in the zone of the process.
    ///
    /// # Errors
    /// `InvalidInput` if the text is no value of the type; `Unsupported` for nested types.
    pub fn from_default(text: &str, data_type: &DataType) -> Result<Option<Self>> {
        let inner = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
        Self::from_text(inner.unwrap_or(text), data_type, &chrono::Local)
    }

    /// The value of a text. `None` for a decimal that overflows. `zone` is that of texts for
    /// TIMESTAMP WITH LOCAL TIME ZONE.
    ///
    /// # Errors
    /// `InvalidInput` if the text is no value of the type; `Unsupported` for nested types.
    pub fn from_text<Z: TimeZone>(text: &str, data_type: &DataType, zone: &Z) -> Result<Option<Self>> {
        let wrong = || Error::invalid_input(format!("Cannot parse '{text}' as {}.", data_type.sql_text()));
        let value = match data_type {
            DataType::Boolean(_) => boolean(text).map(Self::Boolean),
            DataType::TinyInt(_) => integer(text).and_then(|v| v.try_into().ok()).map(Self::TinyInt),
            DataType::SmallInt(_) => integer(text).and_then(|v| v.try_into().ok()).map(Self::SmallInt),
            DataType::Int(_) => integer(text).and_then(|v| v.try_into().ok()).map(Self::Int),
            DataType::BigInt(_) => integer(text).map(Self::BigInt),
            DataType::Float(_) => float::<f32>(text).map(Self::Float),
            DataType::Double(_) => float::<f64>(text).map(Self::Double),
            DataType::Decimal(t) => {
                let scale = t.scale();
                let unscaled = decimal(text, t.precision(), scale).ok_or_else(wrong)?;
                return Ok(unscaled.map(|v| Self::Decimal(v, scale)));
            }
            DataType::Char(t) => Some(Self::String(padded(text, t.length() as usize))),
            DataType::VarChar(t) => Some(Self::String(text.chars().take(t.length() as usize).collect())),
            DataType::Binary(t) => Some(Self::Bytes(sized(text, t.length() as usize, true))),
            DataType::VarBinary(t) => Some(Self::Bytes(sized(text, t.length() as usize, false))),
            DataType::Date(_) => date(text).map(Self::Date),
            DataType::Time(_) => time(text).map(Self::Time),
            DataType::Timestamp(t) => timestamp(text, t.precision()).map(Self::Timestamp),
            DataType::LocalZonedTimestamp(t) => {
                wall_clock(text, t.precision()).and_then(|v| in_zone(v, zone)).map(Self::LocalZonedTimestamp)
            }
            nested => return Err(Error::unsupported(format!("text as {} is not supported", nested.sql_text()))),
        };
        value.map(Some).ok_or_else(wrong)
    }
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// Optional sign, digits, optional point and digits, which are cut.
fn integer(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let sign = if text.starts_with('-') { "-" } else { "" };
    format!("{sign}{}", if whole.is_empty() { "0" } else { whole }).parse().ok()
}

/// Java's text of floats: blanks around, a suffix for the type, `NaN` and `Infinity` in this spelling.
fn float<T: std::str::FromStr>(text: &str) -> Option<T> {
    let text = text.trim();
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned == "NaN" || unsigned == "Infinity" {
        return text.parse().ok();
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    // Words that Rust knows and Java does not.
    if number.bytes().any(|b| b.is_ascii_alphabetic() && !b.eq_ignore_ascii_case(&b'e')) {
        return None;
    }
    number.parse().ok()
}

/// The unscaled value, rounded half up; an inner `None` on overflow.
fn decimal(text: &str, precision: u8, scale: u8) -> Option<Option<i128>> {
    let (number, exponent) = match text.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let digits: String = [whole, fraction].concat();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(Some(0));
    }
    // The value is digits * 10^shift in units of the last place.
    let shift = i64::from(exponent) - fraction.len() as i64 + i64::from(scale);
    let length = digits.len() as i64;
    if length + shift > 39 {
        return Some(None);
    }
    let magnitude = if shift >= 0 {
        let zeros = "0".repeat(usize::try_from(shift).ok()?);
        format!("{digits}{zeros}").parse().ok()
    } else if length + shift < 0 {
        Some(0)
    } else {
        let kept = usize::try_from(length + shift).ok()?;
        let base = if kept == 0 { Some(0) } else { digits[..kept].parse::<u128>().ok() };
        base.and_then(|v| v.checked_add(u128::from(digits.as_bytes()[kept] >= b'5')))
    };
    let limit = 10u128.pow(u32::from(precision));
    let fits = magnitude.filter(|v| *v < limit).and_then(|v| i128::try_from(v).ok());
    Some(fits.map(|v| if number.starts_with('-') { -v } else { v }))
}

fn padded(text: &str, length: usize) -> String {
    let cut: String = text.chars().take(length).collect();
    let missing = length - cut.chars().count();
    cut + &" ".repeat(missing)
}

fn sized(text: &str, length: usize, pad: bool) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.truncate(length);
    if pad {
        bytes.resize(length, 0);
    }
    bytes
}

fn all_digits(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let plain = !unsigned.is_empty() && unsigned.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

fn number(text: &str, most: usize) -> Option<u32> {
    let plain = !text.is_empty() && text.len() <= most && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|_| plain)
}

/// Days since the epoch: as digits, or year, month and day with parts missing from the right.
fn date(text: &str) -> Option<i32> {
    if let Some(days) = all_digits(text) {
        return days.try_into().ok();
    }
    let day = text.trim().split(' ').next()?;
    let mut parts = day.split('-');
    let year = number(parts.next()?, 4)?;
    let month = parts.next().map_or(Some(1), |p| number(p, 2))?;
    let of_month = parts.next().map_or(Some(1), |p| number(p, 2))?;
    if parts.next().is_some() {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, of_month)?;
    i32::try_from(days_since_epoch(date)).ok()
}

fn days_since_epoch(date: NaiveDate) -> i64 {
    i64::from(date.num_days_from_ce()) - i64::from(NaiveDate::default().num_days_from_ce())
}

/// Milliseconds of the day: as digits, or hour, minute and optional second with a fraction. Hours are not checked.
fn time(text: &str) -> Option<i32> {
    if let Some(millis) = all_digits(text) {
        return millis.try_into().ok();
    }
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let hour = number(parts.next()?, 2)?;
    let minute = number(parts.next()?, 2).filter(|m| *m < 60)?;
    let second = parts.next().map_or(Some(0), |p| number(p, 2)).filter(|s| *s < 60)?;
    if parts.next().is_some() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let millis: u32 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    i32::try_from(((hour * 60 + minute) * 60 + second) * 1000 + millis).ok()
}

fn timestamp(text: &str, precision: u32) -> Option<Timestamp> {
    let Some(number) = all_digits(text) else { return wall_clock(text, precision) };
    match precision {
        0 => Some(Timestamp::from_millis(number.checked_mul(1000)?)),
        3 => Some(Timestamp::from_millis(number)),
        6 => Some(Timestamp::from_micros(number)),
        9 => Some(Timestamp::from_nanos(number)),
        _ => None,
    }
}

/// A date, or a date and `HH:mm:ss` with up to 9 digits of a fraction, which is cut to the precision.
fn wall_clock(text: &str, precision: u32) -> Option<Timestamp> {
    let text = text.trim();
    let (day, clock) = match text.split_once([' ', 'T']) {
        Some((day, clock)) => (day, clock),
        None => (text, "00:00:00"),
    };
    if day.split('-').count() != 3 {
        return None;
    }
    let days = i64::from(date(day)?);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let [hour, minute, second] = clock.split(':').collect::<Vec<_>>().try_into().ok()?;
    let time = NaiveTime::from_hms_opt(number(hour, 2)?, number(minute, 2)?, number(second, 2)?)?;
    let digits = format!("{:0<9}", fraction);
    let nanos = number(fraction, 9).and_then(|_| digits.parse::<u32>().ok())?;
    let unit = 10u32.pow(9 - precision.min(9));
    let nanos = nanos / unit * unit;
    let millis = days * DAY_MILLIS + i64::from(time.num_seconds_from_midnight()) * 1000 + i64::from(nanos / 1_000_000);
    Some(Timestamp { millis, nanos: nanos % 1_000_000 })
}

/// The instant at which clocks of the zone show this time. An hour that they skip or repeat takes the earlier offset.
fn in_zone<Z: TimeZone>(local: Timestamp, zone: &Z) -> Option<Timestamp> {
    let shown = chrono::DateTime::from_timestamp_millis(local.millis)?.naive_utc();
    let millis = match zone.from_local_datetime(&shown) {
        MappedLocalTime::Single(time) | MappedLocalTime::Ambiguous(time, _) => time.timestamp_millis(),
        MappedLocalTime::None => {
            let before = shown.checked_sub_days(chrono::Days::new(1))?;
            zone.from_local_datetime(&before).earliest()?.timestamp_millis() + DAY_MILLIS
        }
    };
    Some(Timestamp { millis, nanos: local.nanos })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, data_type: &str) -> Option<Option<Datum>> {
        let zone = chrono::FixedOffset::east_opt(8 * 3600).unwrap();
        Datum::from_text(text, &data_type.parse().unwrap(), &zone).ok()
    }

    #[test]
    fn values_are_those_of_java() {
        let decimal = |v: i128, s: u8| Datum::Decimal(v, s);
        let stamp = |millis: i64, nanos: u32| Datum::Timestamp(Timestamp { millis, nanos });
        let cases = [
            ("YES", "BOOLEAN", Datum::Boolean(true)),
            ("12.9", "INT", Datum::Int(12)),
            (".5", "INT", Datum::Int(0)),
            ("+5", "TINYINT", Datum::TinyInt(5)),
            ("-9223372036854775808", "BIGINT", Datum::BigInt(i64::MIN)),
            (" 1e3d", "DOUBLE", Datum::Double(1000.0)),
            ("-Infinity", "FLOAT", Datum::Float(f32::NEG_INFINITY)),
            ("1.005", "DECIMAL(5, 2)", decimal(101, 2)),
            ("-1.005", "DECIMAL(5, 2)", decimal(-101, 2)),
            ("1e2", "DECIMAL(5, 2)", decimal(10_000, 2)),
            ("0.004", "DECIMAL(5, 2)", decimal(0, 2)),
            ("0.005", "DECIMAL(5, 2)", decimal(1, 2)),
            ("0.0005", "DECIMAL(5, 2)", decimal(0, 2)),
            ("12", "CHAR(5)", Datum::String("12   ".into())),
            ("héé", "VARCHAR(2)", Datum::String("hé".into())),
            ("ab", "BINARY(3)", Datum::Bytes(vec![0x61, 0x62, 0])),
            ("20240229", "DATE", Datum::Date(20_240_229)),
            ("2024-2-9", "DATE", Datum::Date(19_762)),
            ("2024-01", "DATE", Datum::Date(19_723)),
            ("1:2:3", "TIME(0)", Datum::Time(3_723_000)),
            ("25:00:00", "TIME(3)", Datum::Time(90_000_000)),
            ("10:11:12.1239", "TIME(3)", Datum::Time(36_672_123)),
            ("2024-01-02 03:04:05.9999", "TIMESTAMP(3)", stamp(1_704_164_645_999, 0)),
            ("2024-01-02T03:04:05.123456789", "TIMESTAMP(9)", stamp(1_704_164_645_123, 456_789)),
            ("1700000000", "TIMESTAMP(0)", stamp(1_700_000_000_000, 0)),
            ("-1", "TIMESTAMP(6)", stamp(-1, 999_000)),
            (
                "2023-11-14 22:13:20",
                "TIMESTAMP(3) WITH LOCAL TIME ZONE",
                Datum::LocalZonedTimestamp(Timestamp::from_millis(1_699_971_200_000)),
            ),
        ];
        for (text, data_type, expected) in cases {
            assert_eq!(parse(text, data_type), Some(Some(expected)), "{text} {data_type}");
        }
        assert_eq!(parse("1000", "DECIMAL(5, 2)"), Some(None));
        assert_eq!(parse("999.995", "DECIMAL(5, 2)"), Some(None));
        assert_eq!(parse("1e99999", "DECIMAL(5, 2)"), Some(None));
        assert_eq!(parse("1e-99999", "DECIMAL(5, 2)"), Some(Some(Datum::Decimal(0, 2))));
    }

    #[test]
    fn other_text_is_refused() {
        let cases = [
            ("on", "BOOLEAN"),
            ("1e3", "INT"),
            (" 12", "INT"),
            ("", "INT"),
            (".", "INT"),
            ("128", "TINYINT"),
            ("inf", "DOUBLE"),
            ("nan", "DOUBLE"),
            (" 1", "DECIMAL(5, 2)"),
            ("", "DECIMAL(5, 2)"),
            ("2024-02-30", "DATE"),
            ("10", "TIMESTAMP(4)"),
            ("2024-01-02T03:04:05Z", "TIMESTAMP(3)"),
            ("2024-01-02 03:04", "TIMESTAMP(3)"),
            ("1700000000", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
            ("10:60", "TIME(0)"),
            ("[1]", "ARRAY<INT>"),
        ];
        for (text, data_type) in cases {
            assert_eq!(parse(text, data_type), None, "{text} {data_type}");
        }
    }

    #[test]
    fn one_pair_of_quotes_around_a_default_is_left_out() {
        let string = DataType::VarChar(super::super::data_type::VarCharType::string_type());
        for (text, expected) in [("abc", "abc"), ("'abc'", "abc"), ("''a''", "'a'"), ("'", "'")] {
            assert_eq!(Datum::from_default(text, &string).unwrap(), Some(Datum::String(expected.into())), "{text}");
        }
    }
}
