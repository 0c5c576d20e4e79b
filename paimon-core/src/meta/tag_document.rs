//! The tag document: a snapshot with two keys more.
//!
//! Source: metadata sheet section 3; `tag/Tag.java`.

use std::time::Duration;

use chrono::{DateTime, Datelike, Local, NaiveDate, NaiveDateTime, Timelike};
use serde_json::Value;

use super::tags::Tag;
use crate::error::{Error, Result};
use crate::spec::Snapshot;

const CREATE_TIME: &str = "tagCreateTime";
const TIME_RETAINED: &str = "tagTimeRetained";

/// The document of a tag made now.
///
/// # Errors
/// `InvalidInput` for a time that no calendar shows.
pub(super) fn encode(snapshot: &Snapshot, time_retained: Option<Duration>, now_ms: i64) -> Result<String> {
    let document = snapshot.to_json();
    let Some(retained) = time_retained else { return Ok(document) };
    let now = DateTime::from_timestamp_millis(now_ms)
        .ok_or_else(|| Error::invalid_input(format!("no calendar shows {now_ms} ms")))?
        .with_timezone(&Local)
        .naive_local();
    let time = clock_array(now);
    let open = document.trim_end().strip_suffix('}').map(str::trim_end).unwrap_or_default();
    let (seconds, nanos) = (retained.as_secs(), retained.subsec_nanos());
    Ok(format!("{open},\n  \"{CREATE_TIME}\" : {time},\n  \"{TIME_RETAINED}\" : {seconds}.{nanos:09}\n}}"))
}

/// Year, month, day, hour, minute, then second and nanosecond if they are not zero.
fn clock_array(time: NaiveDateTime) -> String {
    let mut parts = vec![time.year().to_string()];
    parts.extend([time.month(), time.day(), time.hour(), time.minute()].map(|n| n.to_string()));
    if time.second() > 0 || time.nanosecond() > 0 {
        parts.push(time.second().to_string());
    }
    if time.nanosecond() > 0 {
        parts.push(time.nanosecond().to_string());
    }
    format!("[ {} ]", parts.join(", "))
}

/// Reads the document of the tag `name`.
///
/// # Errors
/// `Corrupt` naming the key that is wrong.
pub(crate) fn decode(name: &str, document: &[u8]) -> Result<Tag> {
    let snapshot = Snapshot::from_json(document)?;
    let value: Value =
        serde_json::from_slice(document).map_err(|e| Error::corrupt("the tag is no JSON document").with_source(e))?;
    let read = |key: &str| value.get(key).filter(|v| !v.is_null());
    let wrong = |key: &str, v: &Value| Error::corrupt(format!("the key '{key}' of the tag holds {v}"));
    let create_time_ms = match read(CREATE_TIME) {
        Some(v) => Some(wall_clock(v).ok_or_else(|| wrong(CREATE_TIME, v))?.and_utc().timestamp_millis()),
        None => None,
    };
    let time_retained = match read(TIME_RETAINED) {
        Some(v) => Some(duration(v).ok_or_else(|| wrong(TIME_RETAINED, v))?),
        None => None,
    };
    Ok(Tag { name: name.to_owned(), snapshot, create_time_ms, time_retained })
}

fn wall_clock(value: &Value) -> Option<NaiveDateTime> {
    if let Some(text) = value.as_str() {
        let forms = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M"];
        return forms.iter().find_map(|form| NaiveDateTime::parse_from_str(text, form).ok());
    }
    let parts: Vec<u32> = value.as_array()?.iter().map(|v| v.as_u64()?.try_into().ok()).collect::<Option<_>>()?;
    let (&[year, month, day, hour, minute], rest) = parts.split_first_chunk()?;
    let [second, nano] = match *rest {
        [] => [0, 0],
        [second] => [second, 0],
        [second, nano] => [second, nano],
        _ => return None,
    };
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    date.and_hms_nano_opt(hour, minute, second, nano)
}

fn duration(value: &Value) -> Option<Duration> {
    match value {
        Value::Number(seconds) => Duration::try_from_secs_f64(seconds.as_f64()?).ok(),
        Value::String(text) => match text.parse() {
            Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            Err(_) => iso_duration(text),
        },
        _ => None,
    }
}

/// `PnDTnHnMn.nS`, with at least one part.
fn iso_duration(text: &str) -> Option<Duration> {
    let mut rest = text.strip_prefix(['P', 'p'])?;
    let (mut total, mut any, mut in_time) = (Duration::ZERO, false, false);
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix(['T', 't']) {
            in_time = true;
            rest = after;
            continue;
        }
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = rest.split_at(end);
        let seconds = match (unit.chars().next()?.to_ascii_uppercase(), in_time) {
            ('D', false) => 86_400.0,
            ('H', true) => 3_600.0,
            ('M', true) => 60.0,
            ('S', true) => 1.0,
            _ => return None,
        };
        total = total.checked_add(Duration::try_from_secs_f64(number.parse::<f64>().ok()? * seconds).ok()?)?;
        any = true;
        rest = &unit[1..];
    }
    any.then_some(total)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wall_clocks() {
        let shown = |v: Value| wall_clock(&v).map(|t| t.to_string());
        let cases = [
            (json!([2026, 12, 1, 5, 41, 40, 801_758_044]), Some("2026-12-01 05:41:40.801758044")),
            (json!([2026, 12, 1, 5, 41]), Some("2026-12-01 05:41:00")),
            (json!([2026, 12, 1, 5, 41, 7]), Some("2026-12-01 05:41:07")),
            (json!("2026-12-01T05:41:40.8"), Some("2026-12-01 05:41:40.800")),
            (json!("2026-12-01T05:41"), Some("2026-12-01 05:41:00")),
            (json!([2026, 13, 1, 5, 41]), None),
            (json!([2026, 12]), None),
            (json!(7), None),
        ];
        for (value, expected) in cases {
            assert_eq!(shown(value.clone()).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn arrays_leave_out_zeros_at_the_end() {
        let time = |text| NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").unwrap();
        assert_eq!(clock_array(time("2026-12-01T05:41:40.5")), "[ 2026, 12, 1, 5, 41, 40, 500000000 ]");
        assert_eq!(clock_array(time("2026-12-01T05:41:40")), "[ 2026, 12, 1, 5, 41, 40 ]");
        assert_eq!(clock_array(time("2026-12-01T05:00:00")), "[ 2026, 12, 1, 5, 0 ]");
        assert_eq!(clock_array(time("2026-12-01T05:00:00.001")), "[ 2026, 12, 1, 5, 0, 0, 1000000 ]");
    }

    #[test]
    fn durations() {
        let cases = [
            (json!(86400.0), Some(86_400_000)),
            (json!(1), Some(1_000)),
            (json!("PT24H"), Some(86_400_000)),
            (json!("P1DT1M0.5S"), Some(86_460_500)),
            (json!("86400.000000000"), Some(86_400_000)),
            (json!("P"), None),
            (json!("PT1D"), None),
            (json!(-1), None),
            (json!("soon"), None),
        ];
        for (value, expected) in cases {
            assert_eq!(duration(&value), expected.map(Duration::from_millis), "{value}");
        }
    }
}
