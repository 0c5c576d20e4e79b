//! The directory name of a partition value, and its escaping.
//!
//! Invariants: names are only ever made, never read back: the partition of a file is the row in its manifest entry. No
//! name is empty, `.` or `..`, or holds a slash. Source: layout sheet section 3; `utils/PartitionPathUtils.java`,
//! `utils/InternalRowPartitionComputer.java`, `casting/`.

use std::fmt::Write;

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveDateTime, TimeZone, Timelike};

use crate::error::{Error, Result};
use crate::types::{DataType, Datum, Timestamp};

/// How values become names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameForm {
    /// Java's text of the internal value; the default.
    Legacy,
    /// The cast to STRING.
    Cast,
    /// What Python wrote before 2.1 in place of the legacy form.
    OldPython,
}

/// The name of a value, not escaped; `default` for null and blank.
///
/// # Errors
/// `Unsupported` for values without a name in this form; `InvalidConfig` for a default that is no directory name.
pub(super) fn value_name(value: Option<&Datum>, data_type: &DataType, form: NameForm, default: &str) -> Result<String> {
    let name = match value {
        Some(value) => text(value, data_type, form, &chrono::Local)?,
        None => String::new(),
    };
    if !name.chars().all(is_java_whitespace) {
        return Ok(name);
    }
    if default.is_empty() {
        return Err(Error::invalid_config("the option 'partition.default-name' must not be empty"));
    }
    Ok(default.to_owned())
}

/// Java's text of a value: its cast to STRING, or else that of the value as it is stored (a DATE as days).
///
/// # Errors
/// `Unsupported` for values without a text in this form.
pub fn value_text(value: &Datum, data_type: &DataType, cast: bool) -> Result<String> {
    match value {
        Datum::Bytes(bytes) if !cast => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => text(value, data_type, if cast { NameForm::Cast } else { NameForm::Legacy }, &chrono::Local),
    }
}

/// The value of this name in the legacy form: a BOOLEAN, a whole number, a DATE in days, a TIME in milliseconds. `None` for
/// other types and for texts that may be a date, as `20261201`. Not for the partition of a file: see the invariants.
pub fn named_value(name: &str, data_type: &DataType) -> Option<Datum> {
    let digits = name.strip_prefix('-').unwrap_or(name);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    match data_type {
        DataType::Boolean(_) => name.parse().ok().map(Datum::Boolean),
        _ if !is_number => None,
        DataType::TinyInt(_) => name.parse().ok().map(Datum::TinyInt),
        DataType::SmallInt(_) => name.parse().ok().map(Datum::SmallInt),
        DataType::Int(_) => name.parse().ok().map(Datum::Int),
        DataType::BigInt(_) => name.parse().ok().map(Datum::BigInt),
        DataType::Date(_) if digits.len() <= 7 => name.parse().ok().map(Datum::Date),
        DataType::Time(_) => name.parse().ok().filter(|millis| (0..86_400_000).contains(millis)).map(Datum::Time),
        _ => None,
    }
}

/// Appends `name`, escaped, to `path`.
pub(super) fn escape(name: &str, path: &mut String) {
    for c in name.chars() {
        if needs_escape(c) {
            // Writing to a String cannot fail.
            let _ = write!(path, "%{:02X}", u32::from(c));
        } else {
            path.push(c);
        }
    }
}

fn needs_escape(c: char) -> bool {
    c <= '\u{1f}'
        || matches!(
            c,
            '\u{7f}' | '"' | '#' | '%' | '\'' | '*' | '/' | ':' | '=' | '?' | '\\' | '{' | '}' | '[' | ']' | '^'
        )
}

/// Java's idea of white space: the information separators are, no-break blanks are not.
fn is_java_whitespace(c: char) -> bool {
    match c {
        '\u{1c}'..='\u{1f}' => true,
        '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}' => false,
        other => other.is_whitespace(),
    }
}

fn text<Z: TimeZone>(value: &Datum, data_type: &DataType, form: NameForm, zone: &Z) -> Result<String> {
    let legacy = form == NameForm::Legacy;
    Ok(match value {
        Datum::Boolean(v) => v.to_string(),
        Datum::TinyInt(v) => v.to_string(),
        Datum::SmallInt(v) => v.to_string(),
        Datum::Int(v) => v.to_string(),
        Datum::BigInt(v) => v.to_string(),
        Datum::Float(v) => java_float(f64::from(*v), &format!("{v:e}")),
        Datum::Double(v) => java_float(*v, &format!("{v:e}")),
        Datum::Decimal(unscaled, scale) => decimal(*unscaled, *scale),
        Datum::String(v) => v.clone(),
        Datum::Bytes(_) if legacy => {
            return Err(Error::unsupported(
                "BINARY partition columns have no directory name with partition.legacy-name = true; \
                 set partition.legacy-name = false",
            ));
        }
        Datum::Bytes(v) => String::from_utf8_lossy(v).into_owned(),
        Datum::Date(days) if legacy => days.to_string(),
        Datum::Date(days) => date(*days)?.to_string(),
        Datum::Time(millis) if legacy => millis.to_string(),
        Datum::Time(millis) => time(*millis, precision(data_type)),
        Datum::Timestamp(v) => timestamp_text(*v, local(*v)?, data_type, form),
        Datum::LocalZonedTimestamp(v) if legacy => timestamp_text(*v, local(*v)?, data_type, form),
        Datum::LocalZonedTimestamp(v) => {
            let instant = DateTime::from_timestamp_millis(v.millis).ok_or_else(|| out_of_range(*v))?;
            timestamp_text(*v, instant.with_timezone(zone).naive_local(), data_type, form)
        }
    })
}

fn precision(data_type: &DataType) -> usize {
    let precision = match data_type {
        DataType::Time(t) => t.precision(),
        DataType::Timestamp(t) => t.precision(),
        DataType::LocalZonedTimestamp(t) => t.precision(),
        _ => 0,
    };
    precision as usize
}

/// Java's text of a float: plain from 0.001 to 10,000,000, else one digit, point, digits and exponent. `scientific` holds
/// the shortest digits that give the value back.
fn java_float(value: f64, scientific: &str) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let magnitude = value.abs();
    if magnitude.is_infinite() {
        return format!("{sign}Infinity");
    }
    if magnitude == 0.0 {
        return format!("{sign}0.0");
    }
    let (mantissa, exponent) = scientific.trim_start_matches('-').split_once('e').unwrap_or((scientific, "0"));
    let digits = mantissa.replace('.', "");
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if !(-3..7).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        return format!("{sign}{first}.{}E{exponent}", if rest.is_empty() { "0" } else { rest });
    }
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent.unsigned_abs() as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits}{}.0", "0".repeat(whole - digits.len()));
    }
    let (whole, fraction) = digits.split_at(whole);
    format!("{sign}{whole}.{fraction}")
}

fn decimal(unscaled: i128, scale: u8) -> String {
    let scale = usize::from(scale);
    let digits = format!("{:0>width$}", unscaled.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if unscaled < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn date(days: i32) -> Result<NaiveDate> {
    let epoch = NaiveDate::default();
    let distance = Days::new(u64::from(days.unsigned_abs()));
    let date = if days < 0 { epoch.checked_sub_days(distance) } else { epoch.checked_add_days(distance) };
    date.ok_or_else(|| Error::unsupported(format!("the DATE of {days} days since 1970 is out of range")))
}

/// The fraction has at most `precision` digits, no zeros at its end, but at least one digit.
fn time(millis: i32, precision: usize) -> String {
    let seconds = millis.div_euclid(1000);
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if precision > 0 {
        let digits = format!("{:03}", millis.rem_euclid(1000));
        let kept = digits[..precision.min(3)].trim_end_matches('0');
        let _ = write!(text, ".{}", if kept.is_empty() { "0" } else { kept });
    }
    text
}

fn local(value: Timestamp) -> Result<NaiveDateTime> {
    DateTime::from_timestamp_millis(value.millis).map(|t| t.naive_utc()).ok_or_else(|| out_of_range(value))
}

fn out_of_range(value: Timestamp) -> Error {
    Error::unsupported(format!("the TIMESTAMP of {} milliseconds since 1970 is out of range", value.millis))
}

fn timestamp_text(value: Timestamp, at: NaiveDateTime, data_type: &DataType, form: NameForm) -> String {
    let nanos = u32::try_from(value.millis.rem_euclid(1000)).unwrap_or_default() * 1_000_000 + value.nanos;
    let day = if at.year() > 9999 { at.date().to_string() } else { at.date().format("%Y-%m-%d").to_string() };
    let minute = format!("{:02}:{:02}", at.hour(), at.minute());
    match form {
        NameForm::Legacy => {
            let seconds = match nanos {
                0 if at.second() == 0 => String::new(),
                0 => format!(":{:02}", at.second()),
                n if n % 1_000_000 == 0 => format!(":{:02}.{:03}", at.second(), n / 1_000_000),
                n if n % 1_000 == 0 => format!(":{:02}.{:06}", at.second(), n / 1_000),
                n => format!(":{:02}.{n:09}", at.second()),
            };
            format!("{day}T{minute}{seconds}")
        }
        NameForm::Cast => {
            let digits = format!("{nanos:09}");
            let needed = digits.trim_end_matches('0').len().max(precision(data_type).min(9));
            let point = if needed == 0 { "" } else { "." };
            format!("{day} {minute}:{:02}{point}{}", at.second(), &digits[..needed])
        }
        NameForm::OldPython => {
            let micros = nanos / 1_000;
            let fraction = if micros == 0 { String::new() } else { format!(".{micros:06}") };
            format!("{day} {minute}:{:02}{fraction}", at.second())
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::FixedOffset;
    use proptest::prelude::*;

    use super::*;
    use crate::types::{
        DateType, DecimalType, DoubleType, FloatType, LocalZonedTimestampType, TimeType, TimestampType, VarCharType,
    };

    const DEFAULT: &str = "__DEFAULT_PARTITION__";

    fn escaped(name: &str) -> String {
        let mut path = String::new();
        escape(name, &mut path);
        path
    }

    fn both(value: &Datum, data_type: &DataType) -> (String, String) {
        let zone = FixedOffset::east_opt(0).unwrap();
        let name = |form| escaped(&text(value, data_type, form, &zone).unwrap());
        (name(NameForm::Legacy), name(NameForm::Cast))
    }

    fn at(text: &str) -> Timestamp {
        let parsed = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").unwrap().and_utc();
        let nanos = parsed.timestamp_subsec_nanos() % 1_000_000;
        Timestamp { millis: parsed.timestamp_millis(), nanos }
    }

    /// Directories that Java 1.4.2 made, one table per type, in the zone UTC.
    #[test]
    fn names_of_java_directories() {
        let timestamp = |p| DataType::Timestamp(TimestampType::new(p).unwrap());
        let zoned = |p| DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(p).unwrap());
        let decimal = |p, s| DataType::Decimal(DecimalType::new(p, s).unwrap());
        let time = |p| DataType::Time(TimeType::new(p).unwrap());
        let day = DataType::Date(DateType::new());
        let (ts, ltz) = (|t| Datum::Timestamp(at(t)), |t| Datum::LocalZonedTimestamp(at(t)));
        let cases = [
            (Datum::Date(19782), day.clone(), "19782", "2024-02-29"),
            (Datum::Date(-1), day, "-1", "1969-12-31"),
            (Datum::Decimal(-1, 2), decimal(10, 2), "-0.01", "-0.01"),
            (Datum::Decimal(150, 2), decimal(10, 2), "1.50", "1.50"),
            (Datum::Decimal(0, 3), decimal(25, 3), "0.000", "0.000"),
            (Datum::Double(1e10), DataType::Double(DoubleType::new()), "1.0E10", "1.0E10"),
            (Datum::Double(-2.5), DataType::Double(DoubleType::new()), "-2.5", "-2.5"),
            (Datum::Float(-0.25), DataType::Float(FloatType::new()), "-0.25", "-0.25"),
            (Datum::Time(0), time(0), "0", "00%3A00%3A00"),
            (Datum::Time(45_296_000), time(0), "45296000", "12%3A34%3A56"),
            (ts("1969-12-31T23:00:00"), timestamp(0), "1969-12-31T23%3A00", "1969-12-31 23%3A00%3A00"),
            (ts("2024-02-29T12:34:56"), timestamp(0), "2024-02-29T12%3A34%3A56", "2024-02-29 12%3A34%3A56"),
            (ts("2024-02-29T12:34:56.12"), timestamp(3), "2024-02-29T12%3A34%3A56.120", "2024-02-29 12%3A34%3A56.120"),
            (ts("1970-01-01T00:00:00.001"), timestamp(3), "1970-01-01T00%3A00%3A00.001", "1970-01-01 00%3A00%3A00.001"),
            (ts("2024-02-29T00:00:00"), timestamp(6), "2024-02-29T00%3A00", "2024-02-29 00%3A00%3A00.000000"),
            (
                ts("2024-02-29T12:34:56.000001"),
                timestamp(6),
                "2024-02-29T12%3A34%3A56.000001",
                "2024-02-29 12%3A34%3A56.000001",
            ),
            (ltz("1970-01-01T00:00:00"), zoned(3), "1970-01-01T00%3A00", "1970-01-01 00%3A00%3A00.000"),
            (
                ltz("2024-02-29T12:34:56.789123"),
                zoned(6),
                "2024-02-29T12%3A34%3A56.789123",
                "2024-02-29 12%3A34%3A56.789123",
            ),
        ];
        for (value, data_type, legacy, cast) in cases {
            assert_eq!(both(&value, &data_type), (legacy.to_owned(), cast.to_owned()), "{value:?}");
        }
    }

    #[test]
    fn instants_are_cast_in_the_zone_and_times_keep_their_precision() {
        let zone = FixedOffset::east_opt(8 * 3600).unwrap();
        let value = Datum::LocalZonedTimestamp(at("2023-11-14T22:13:20"));
        let data_type = DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(0).unwrap());
        assert_eq!(text(&value, &data_type, NameForm::Cast, &zone).unwrap(), "2023-11-15 06:13:20");
        assert_eq!(text(&value, &data_type, NameForm::Legacy, &zone).unwrap(), "2023-11-14T22:13:20");
        assert_eq!(time(36_672_123, 3), "10:11:12.123");
        assert_eq!(time(36_672_000, 3), "10:11:12.0");
        assert_eq!(time(36_672_120, 9), "10:11:12.12");
        let value = Datum::Timestamp(at("2023-11-14T22:13:20.123"));
        let data_type = DataType::Timestamp(TimestampType::new(0).unwrap());
        assert_eq!(text(&value, &data_type, NameForm::Cast, &zone).unwrap(), "2023-11-14 22:13:20.123");
    }

    #[test]
    fn floats_as_java_prints_them() {
        let cases = [
            (100.0, "100.0"),
            (1.5, "1.5"),
            (0.001, "0.001"),
            (0.0001, "1.0E-4"),
            (9_999_999.0, "9999999.0"),
            (1e7, "1.0E7"),
            (1.234_567_89e8, "1.23456789E8"),
            (-0.0, "-0.0"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (1_234.567_8, "1234.5678"),
        ];
        for (value, expected) in cases {
            assert_eq!(java_float(value, &format!("{value:e}")), expected);
        }
        assert_eq!(java_float(f64::from(1.1f32), &format!("{:e}", 1.1f32)), "1.1");
    }

    #[test]
    fn null_and_blank_are_the_default() {
        let string = DataType::VarChar(VarCharType::string_type());
        for blank in ["", " ", "\t\n", "\u{1c}"] {
            let value = Datum::String(blank.to_owned());
            assert_eq!(value_name(Some(&value), &string, NameForm::Legacy, DEFAULT).unwrap(), DEFAULT);
        }
        let value = Datum::String("\u{a0}".to_owned());
        assert_eq!(value_name(Some(&value), &string, NameForm::Legacy, DEFAULT).unwrap(), "\u{a0}");
        assert_eq!(value_name(None, &string, NameForm::Legacy, "__NONE__").unwrap(), "__NONE__");
        assert!(value_name(None, &string, NameForm::Legacy, "").is_err());
        assert!(value_name(Some(&Datum::Bytes(vec![1])), &string, NameForm::Legacy, DEFAULT).is_err());
    }

    #[test]
    fn escaping_of_java_directories() {
        let cases = [
            ("a/b/c", "a%2Fb%2Fc"),
            ("a\u{1}b", "a%01b"),
            ("quo\"te", "quo%22te"),
            ("a'b", "a%27b"),
            ("*", "%2A"),
            ("100%25", "100%2525"),
            ("{x}", "%7Bx%7D"),
            ("[y]", "%5By%5D"),
            ("^", "%5E"),
            ("back\\slash", "back%5Cslash"),
            ("<>|&+~, ", "<>|&+~, "),
            ("ünïcödé 日本 😀", "ünïcödé 日本 😀"),
        ];
        for (name, expected) in cases {
            assert_eq!(escaped(name), expected);
        }
    }

    fn unescaped(path: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = path.as_bytes();
        while let Some((first, tail)) = rest.split_first() {
            let code =
                tail.get(..2).and_then(|h| std::str::from_utf8(h).ok()).and_then(|h| u8::from_str_radix(h, 16).ok());
            match code {
                Some(code) if *first == b'%' => {
                    bytes.push(code);
                    rest = &tail[2..];
                }
                _ => {
                    bytes.push(*first);
                    rest = tail;
                }
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    proptest! {
        #[test]
        fn escaping_can_be_undone(name in "\\PC{0,12}|[\\x00-\\x7f]{0,12}") {
            let path = escaped(&name);
            prop_assert!(!path.contains(['/', '\\', ':', '=']));
            prop_assert_eq!(unescaped(&path), name);
        }

        #[test]
        fn decimals_print_their_value(unscaled in any::<i64>(), scale in 0u8..38) {
            let text = decimal(i128::from(unscaled), scale);
            let digits: String = text.chars().filter(|c| *c != '.').collect();
            prop_assert_eq!(digits.parse::<i128>().unwrap(), i128::from(unscaled));
            let fraction = text.split_once('.').map_or(0, |(_, f)| f.len());
            prop_assert_eq!(fraction, usize::from(scale));
        }

        #[test]
        fn doubles_print_their_value(value in any::<f64>().prop_filter("finite", |v| v.is_finite())) {
            let text = java_float(value, &format!("{value:e}"));
            prop_assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
    }

    #[test]
    fn values_of_names() {
        use crate::types::{BooleanType, DateType, IntType, TimeType, VarCharType};
        let (int, date) = (DataType::Int(IntType::new()), DataType::Date(DateType::new()));
        let cases = [
            (DataType::Boolean(BooleanType::new()), "true", Some(Datum::Boolean(true))),
            (int.clone(), "-12", Some(Datum::Int(-12))),
            (int.clone(), "99999999999", None),
            (int, "x", None),
            (date.clone(), "20789", Some(Datum::Date(20_789))),
            (date.clone(), "-1", Some(Datum::Date(-1))),
            (date.clone(), "20261201", None),
            (date, "2026-12-01", None),
            (DataType::Time(TimeType::new(3).unwrap()), "86399999", Some(Datum::Time(86_399_999))),
            (DataType::Time(TimeType::new(3).unwrap()), "86400000", None),
            (DataType::VarChar(VarCharType::string_type()), "1", None),
        ];
        for (data_type, name, value) in cases {
            assert_eq!(named_value(name, &data_type), value, "{data_type} {name}");
        }
    }
}
