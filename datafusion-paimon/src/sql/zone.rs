//! Points in time that a statement gives without zone.
//!
//! Invariants: the zone is `datafusion.execution.time_zone` if it is set, else that of the process; `now()` is the present
//! instant in every zone. Source: SQL sheet SQL-203.

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use paimon_core::meta::local_time;

/// Milliseconds since the epoch of a time: an instant, a date, a wall clock, or text for one. `None` for anything else.
pub(crate) fn epoch_millis(value: &ScalarValue, zone: Option<&str>) -> Option<i64> {
    if value.is_null() {
        return None;
    }
    if let Some(text) = value.try_as_str().flatten() {
        return match zone {
            None => local_time::parse(text).ok(),
            Some(zone) => zoned(value, zone),
        };
    }
    match value.data_type() {
        DataType::Timestamp(_, Some(_)) => instant(value),
        DataType::Timestamp(_, None) | DataType::Date32 | DataType::Date64 => match zone {
            Some(zone) => zoned(value, zone),
            None => match value.cast_to(&DataType::Utf8).ok()? {
                ScalarValue::Utf8(Some(text)) => local_time::parse(&text.replace('T', " ")).ok(),
                _ => None,
            },
        },
        _ => None,
    }
}

/// A wall clock in a zone.
fn zoned(value: &ScalarValue, zone: &str) -> Option<i64> {
    instant(&value.cast_to(&DataType::Timestamp(TimeUnit::Millisecond, Some(zone.into()))).ok()?)
}

fn instant(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::TimestampSecond(Some(v), _) => v.checked_mul(1_000),
        ScalarValue::TimestampMillisecond(Some(v), _) => Some(*v),
        ScalarValue::TimestampMicrosecond(Some(v), _) => Some(v.div_euclid(1_000)),
        ScalarValue::TimestampNanosecond(Some(v), _) => Some(v.div_euclid(1_000_000)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_clocks_are_read_in_the_zone_of_the_session() {
        let text = |text: &str| ScalarValue::Utf8(Some(text.to_owned()));
        let second = ScalarValue::TimestampSecond(Some(86_400), None);
        let cases = [
            (text("1970-01-02 00:00:00"), "UTC", Some(86_400_000)),
            (text("1970-01-02 00:00:00.5"), "+08:00", Some(57_600_500)),
            (second, "+01:00", Some(82_800_000)),
            (ScalarValue::TimestampNanosecond(Some(-1), Some("UTC".into())), "+01:00", Some(-1)),
            (ScalarValue::Date32(Some(1)), "-01:00", Some(90_000_000)),
            (text("soon"), "UTC", None),
            (ScalarValue::Boolean(Some(true)), "UTC", None),
            (ScalarValue::Utf8(None), "UTC", None),
        ];
        for (value, zone, expected) in cases {
            assert_eq!(epoch_millis(&value, Some(zone)), expected, "{value} in {zone}");
        }
        assert_eq!(epoch_millis(&text("2024-02-30"), None), None);
    }
}
