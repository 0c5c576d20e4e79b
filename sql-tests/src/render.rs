//! Values as the suites show them.
//!
//! NULL is `NULL`, empty text `(empty)`, bytes are hexadecimal, decimals have no trailing zeros, times stand in ISO form.

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Decimal128Type, Float32Type, Float64Type, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow::error::ArrowError;
use arrow::temporal_conversions::timestamp_ns_to_datetime;
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// The rows of batches, one text per value.
///
/// # Errors
/// For types that cannot be shown.
pub fn render(batches: &[RecordBatch]) -> Result<Vec<Vec<String>>, ArrowError> {
    let mut rows = Vec::new();
    for batch in batches {
        for row in 0..batch.num_rows() {
            let cells = batch.columns().iter().map(|c| cell(c.as_ref(), row, false));
            rows.push(cells.collect::<Result<Vec<_>, _>>()?);
        }
    }
    Ok(rows)
}

fn cell(array: &dyn Array, row: usize, nested: bool) -> Result<String, ArrowError> {
    if array.is_null(row) {
        return Ok("NULL".to_owned());
    }
    Ok(match array.data_type() {
        DataType::Utf8 => text(array.as_string::<i32>().value(row), nested),
        DataType::LargeUtf8 => text(array.as_string::<i64>().value(row), nested),
        DataType::Utf8View => text(array.as_string_view().value(row), nested),
        DataType::Binary => hex(array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => hex(array.as_binary::<i64>().value(row)),
        DataType::BinaryView => hex(array.as_binary_view().value(row)),
        DataType::Float32 => {
            let value = array.as_primitive::<Float32Type>().value(row);
            // Through the shortest text, so that 0.1 stays 0.1.
            float(if value.is_finite() { value.to_string().parse().unwrap_or(f64::NAN) } else { f64::from(value) })
        }
        DataType::Float64 => float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(_, scale) => decimal(array.as_primitive::<Decimal128Type>().value(row), *scale),
        DataType::Timestamp(unit, zone) => {
            let nanos = match unit {
                TimeUnit::Second => array.as_primitive::<TimestampSecondType>().value(row).checked_mul(1_000_000_000),
                TimeUnit::Millisecond => {
                    array.as_primitive::<TimestampMillisecondType>().value(row).checked_mul(1_000_000)
                }
                TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().value(row).checked_mul(1_000),
                TimeUnit::Nanosecond => Some(array.as_primitive::<TimestampNanosecondType>().value(row)),
            };
            match nanos.and_then(timestamp_ns_to_datetime) {
                Some(time) => {
                    trimmed(&time.format("%Y-%m-%dT%H:%M:%S%.9f").to_string()) + zone.as_ref().map_or("", |_| "Z")
                }
                None => plain(array, row)?,
            }
        }
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            let cells = (0..items.len()).map(|i| cell(items.as_ref(), i, true)).collect::<Result<Vec<_>, _>>()?;
            format!("[{}]", cells.join(", "))
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let pair = |i| Ok(format!("{}: {}", cell(entries.column(0), i, true)?, cell(entries.column(1), i, true)?));
            let pairs = (0..entries.len()).map(pair).collect::<Result<Vec<_>, ArrowError>>()?;
            format!("{{{}}}", pairs.join(", "))
        }
        DataType::Struct(fields) => {
            let parts = array.as_struct();
            let part = |(i, name): (usize, &str)| Ok(format!("{name}: {}", cell(parts.column(i), row, true)?));
            let names = fields.iter().map(|f| f.name().as_str()).enumerate();
            format!("{{{}}}", names.map(part).collect::<Result<Vec<_>, ArrowError>>()?.join(", "))
        }
        _ => plain(array, row)?,
    })
}

fn plain(array: &dyn Array, row: usize) -> Result<String, ArrowError> {
    let options = FormatOptions::default();
    Ok(trimmed(&ArrayFormatter::try_new(array, &options)?.value(row).to_string()))
}

/// Without zeros at the end of the fraction of a second.
fn trimmed(time: &str) -> String {
    match time.rfind('.') {
        Some(_) => time.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => time.to_owned(),
    }
}

fn text(value: &str, nested: bool) -> String {
    if value.is_empty() && !nested { "(empty)".to_owned() } else { value.to_owned() }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn float(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if value == value.trunc() && value.abs() < 1e15 {
        format!("{:.0}", value + 0.0)
    } else {
        shortest(value)
    }
}

/// The shortest text that reads back as the value, with an exponent where one is customary.
fn shortest(value: f64) -> String {
    let magnitude = value.abs();
    if (1e-4..1e16).contains(&magnitude) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => {
            let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |e| ('-', e));
            format!("{digits}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

fn decimal(value: i128, scale: i8) -> String {
    let scale = usize::try_from(scale).unwrap_or(0);
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let fraction = fraction.trim_end_matches('0');
    let sign = if value < 0 { "-" } else { "" };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let floats = [
            (1.0, "1"),
            (-0.0, "0"),
            (0.5, "0.5"),
            (-10.0, "-10"),
            (1e300, "1e+300"),
            (1.5e-7, "1.5e-07"),
            (f64::NAN, "NaN"),
        ];
        for (value, expected) in floats {
            assert_eq!(float(value), expected);
        }
        assert_eq!(decimal(-1_230, 3), "-1.23");
        assert_eq!(decimal(5, 2), "0.05");
        assert_eq!(decimal(100, 2), "1");
    }
}
