//! Values from text, by Java's parsers.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BooleanArray, Decimal128Array, PrimitiveArray, StringArray,
};
use arrow::datatypes::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
};
use chrono::{Datelike, NaiveDate};

use super::moment::from_instants;
use super::number::Digits;
use super::{BytesFit, Cast, TextFit, zone};
use crate::error::{Error, Result};
use crate::types::DataType;

/// The cast of text to a type.
pub(super) fn find(to: &DataType) -> Option<Cast> {
    let to = to.clone();
    Some(match &to {
        DataType::Char(_) | DataType::VarChar(_) => {
            let fit = TextFit::new(&to)?;
            Box::new(move |array| {
                if fit.is_whole() {
                    return Ok(Arc::clone(array));
                }
                let texts = array.as_string::<i32>();
                Ok(Arc::new(texts.iter().map(|t| t.map(|t| fit.apply(t))).collect::<StringArray>()))
            })
        }
        DataType::Binary(_) | DataType::VarBinary(_) => {
            let fit = BytesFit::new(&to)?;
            Box::new(move |array| {
                let bytes: BinaryArray = array.as_string::<i32>().iter().map(|t| t.map(str::as_bytes)).collect();
                Ok(fit.apply(&bytes))
            })
        }
        DataType::Boolean(_) => Box::new(|array| {
            let parsed = each(array, |t| boolean(t).ok_or_else(|| refuse(t, "BOOLEAN")));
            Ok(Arc::new(parsed.collect::<Result<BooleanArray>>()?))
        }),
        DataType::TinyInt(_) => Box::new(|array| integers::<Int8Type>(array, "TINYINT")),
        DataType::SmallInt(_) => Box::new(|array| integers::<Int16Type>(array, "SMALLINT")),
        DataType::Int(_) => Box::new(|array| integers::<Int32Type>(array, "INT")),
        DataType::BigInt(_) => Box::new(|array| integers::<Int64Type>(array, "BIGINT")),
        DataType::Float(_) => Box::new(|array| floats::<Float32Type>(array, "FLOAT")),
        DataType::Double(_) => Box::new(|array| floats::<Float64Type>(array, "DOUBLE")),
        DataType::Decimal(t) => {
            let (precision, scale) = (t.precision(), t.scale());
            Box::new(move |array| {
                let parsed = each(array, |t| Digits::parse(t).ok_or_else(|| refuse(t, "DECIMAL")))
                    .map(|digits| Ok(digits?.and_then(|d| d.to_decimal(precision, scale))));
                let scale = i8::try_from(scale).map_err(|_| Error::internal("the scale is above 38"))?;
                let values = parsed.collect::<Result<Decimal128Array>>()?;
                Ok(Arc::new(values.with_precision_and_scale(precision, scale)?))
            })
        }
        DataType::Date(_) => Box::new(|array| primitives::<Date32Type>(array, date, "DATE")),
        DataType::Time(_) => Box::new(|array| primitives::<Time32MillisecondType>(array, time, "TIME")),
        DataType::Timestamp(t) => {
            let precision = t.precision();
            let name = format!("TIMESTAMP({precision})");
            Box::new(move |array| {
                let parsed = each(array, |t| timestamp(t, precision)?.ok_or_else(|| refuse(t, &name)));
                from_instants(parsed.collect::<Result<_>>()?, &to)
            })
        }
        DataType::LocalZonedTimestamp(t) => {
            let name = format!("TIMESTAMP({}) WITH LOCAL TIME ZONE", t.precision());
            Box::new(move |array| {
                let parsed = each(array, |t| zone::instant(wall_clock(t).ok_or_else(|| refuse(t, &name))?));
                from_instants(parsed.collect::<Result<_>>()?, &to)
            })
        }
        _ => return None,
    })
}

fn refuse(text: &str, what: &str) -> Error {
    Error::invalid_input(format!("Cannot parse '{text}' as {what}."))
}

fn each<'a, T: 'a>(
    array: &'a ArrayRef,
    parse: impl Fn(&str) -> Result<T> + 'a,
) -> impl Iterator<Item = Result<Option<T>>> + 'a {
    array.as_string::<i32>().iter().map(move |t| t.map(&parse).transpose())
}

fn primitives<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    parse: impl Fn(&str) -> Option<T::Native>,
    what: &str,
) -> Result<ArrayRef> {
    let parsed = each(array, |t| parse(t).ok_or_else(|| refuse(t, what)));
    Ok(Arc::new(parsed.collect::<Result<PrimitiveArray<T>>>()?))
}

fn integers<T: ArrowPrimitiveType>(array: &ArrayRef, what: &str) -> Result<ArrayRef>
where
    T::Native: TryFrom<i64>,
{
    primitives::<T>(array, |t| integer(t).and_then(|v| T::Native::try_from(v).ok()), what)
}

fn floats<T: ArrowPrimitiveType>(array: &ArrayRef, what: &str) -> Result<ArrayRef>
where
    T::Native: std::str::FromStr,
{
    primitives::<T>(array, float, what)
}

fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "t" | "true" | "y" | "yes" | "1" => Some(true),
        "f" | "false" | "n" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// A sign, digits, and a fraction that is dropped.
fn integer(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    match whole {
        "" | "+" | "-" if !fraction.is_empty() => Some(0),
        _ => whole.parse().ok(),
    }
}

/// Java's `parseDouble`, but for hexadecimal floats.
fn float<T: std::str::FromStr>(text: &str) -> Option<T> {
    let text = text.trim();
    let plain = text.strip_prefix(['-', '+']).unwrap_or(text);
    match plain {
        "NaN" => return "NaN".parse().ok(),
        "Infinity" => return text.replace("Infinity", "inf").parse().ok(),
        _ => {}
    }
    let number = text.strip_suffix(['d', 'D', 'f', 'F']).unwrap_or(text);
    let allowed = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-');
    if number.bytes().all(allowed) { number.parse().ok() } else { None }
}

fn epoch_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Epoch days, or year, month and day of one or two digits; what follows a blank is ignored.
fn date(text: &str) -> Option<i32> {
    if let Some(days) = epoch_number(text) {
        return i32::try_from(days).ok();
    }
    days(text.trim().split([' ', 'T']).next()?)
}

fn days(text: &str) -> Option<i32> {
    let mut parts = text.split('-');
    let year = number(parts.next()?, 1..=9)?;
    let month = parts.next().map_or(Some(1), |p| number(p, 1..=2))?;
    let day = parts.next().map_or(Some(1), |p| number(p, 1..=2))?;
    if parts.next().is_some() {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    Some(date.num_days_from_ce() - 719_163)
}

fn number(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<u32> {
    (digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

/// Milliseconds, or hours, minutes and seconds with a fraction of which three digits count. Hours are not checked.
fn time(text: &str) -> Option<i32> {
    if let Some(millis) = epoch_number(text) {
        return i32::try_from(millis).ok();
    }
    let (clock, fraction) = text.trim().split_once('.').unwrap_or((text.trim(), ""));
    let mut parts = clock.split(':').map(|p| number(p, 1..=9));
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    if parts.next().is_some() || minutes > 59 || seconds > 59 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let millis: u32 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let total = (u64::from(hours) * 3_600 + u64::from(minutes) * 60 + u64::from(seconds)) * 1_000 + u64::from(millis);
    i32::try_from(total).ok()
}

/// Nanoseconds since the epoch; a number counts in the unit of the precision.
fn timestamp(text: &str, precision: u32) -> Result<Option<i128>> {
    if let Some(number) = epoch_number(text) {
        return match precision {
            0 | 3 | 6 | 9 => Ok(Some(i128::from(number) * 10i128.pow(9 - precision))),
            _ => Err(Error::invalid_input(format!("Unsupported precision: {precision}"))),
        };
    }
    Ok(wall_clock(text))
}

fn wall_clock(text: &str) -> Option<i128> {
    let (day, clock) = match text.split_once([' ', 'T']) {
        Some((day, clock)) => (day, Some(clock)),
        None => (text, None),
    };
    let seconds = i128::from(days(day)?) * 86_400;
    let Some(clock) = clock else { return Some(seconds * 1_000_000_000) };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut parts = clock.split(':').map(|p| number(p, 1..=2));
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    let well_formed = parts.next().is_none() && hour < 24 && minute < 60 && second < 60;
    if !well_formed || fraction.len() > 9 || !fraction.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let nanos: i128 = format!("{fraction:0<9}").parse().ok()?;
    let in_day = i128::from(hour * 3_600 + minute * 60 + second);
    Some((seconds + in_day) * 1_000_000_000 + nanos)
}
