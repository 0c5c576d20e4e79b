//! Values as text, in Java's form.

use std::fmt::Write;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{
    ArrowPrimitiveType, DataType as ArrowType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int64Type,
    Time32MillisecondType,
};
use chrono::{DateTime, NaiveDate};

use super::moment::{instants, shifted};
use super::{Cast, TextFit, zone};
use crate::error::{Error, Result};
use crate::types::DataType;

/// The cast of a type to text.
pub(super) fn find(from: &DataType, to: &DataType) -> Option<Cast> {
    let fit = TextFit::new(to)?;
    // Java lets only STRING be the target of these, and does not cut bytes.
    let only_whole = matches!(
        from,
        DataType::Date(_) | DataType::Time(_) | DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_)
    );
    if only_whole && !fit.is_whole() {
        return None;
    }
    let texts = texts(from)?;
    let as_is = fit.is_whole() || matches!(from, DataType::Binary(_) | DataType::VarBinary(_));
    Some(Box::new(move |array| {
        let texts = texts(array)?;
        Ok(if as_is {
            Arc::new(texts)
        } else {
            Arc::new(texts.iter().map(|t| t.map(|t| fit.apply(t))).collect::<StringArray>())
        })
    }))
}

type Texts = Box<dyn Fn(&ArrayRef) -> Result<StringArray> + Send + Sync>;

fn texts(from: &DataType) -> Option<Texts> {
    Some(match from {
        DataType::Boolean(_) => Box::new(|array| {
            Ok(array.as_boolean().iter().map(|v| v.map(|v| if v { "true" } else { "false" })).collect())
        }),
        DataType::TinyInt(_) | DataType::SmallInt(_) | DataType::Int(_) | DataType::BigInt(_) => Box::new(|array| {
            let array = arrow_cast(array, &ArrowType::Int64)?;
            Ok(of_primitive::<Int64Type>(&array, |v| v.to_string()))
        }),
        DataType::Float(_) => Box::new(|array| {
            let text = |v: f32| java_float(&format!("{v:e}"), v.is_finite(), f64::from(v.abs()));
            Ok(of_primitive::<Float32Type>(array, text))
        }),
        DataType::Double(_) => Box::new(|array| {
            Ok(of_primitive::<Float64Type>(array, |v| java_float(&format!("{v:e}"), v.is_finite(), v.abs())))
        }),
        DataType::Decimal(t) => {
            let scale = usize::from(t.scale());
            Box::new(move |array| Ok(of_primitive::<Decimal128Type>(array, |v| decimal_text(v, scale))))
        }
        DataType::Char(_) | DataType::VarChar(_) => Box::new(|array| Ok(array.as_string::<i32>().clone())),
        DataType::Binary(_) | DataType::VarBinary(_) => Box::new(|array| {
            let lossy = |v: &[u8]| String::from_utf8_lossy(v).into_owned();
            Ok(array.as_binary::<i32>().iter().map(|v| v.map(lossy)).collect())
        }),
        DataType::Date(_) => Box::new(|array| fallible(array.as_primitive::<Date32Type>().iter(), date_text)),
        DataType::Time(t) => {
            let digits = usize::try_from(t.precision()).ok()?;
            Box::new(move |array| {
                Ok(of_primitive::<Time32MillisecondType>(array, |v| time_text(v.rem_euclid(86_400_000), digits)))
            })
        }
        DataType::Timestamp(t) => {
            let digits = usize::try_from(t.precision()).ok()?;
            Box::new(move |array| fallible(instants(array)?.into_iter(), |v| timestamp_text(v, digits)))
        }
        DataType::LocalZonedTimestamp(t) => {
            let digits = usize::try_from(t.precision()).ok()?;
            Box::new(move |array| {
                let local = shifted(instants(array)?, zone::wall_clock)?;
                fallible(local.into_iter(), |v| timestamp_text(v, digits))
            })
        }
        DataType::Array(t) => {
            let elements = texts(t.element_type())?;
            Box::new(move |array| {
                let array = array.as_list::<i32>();
                let elements = elements(array.values())?;
                Ok(joined(array, array.value_offsets(), ('[', ']'), |i, out| push(out, &elements, i)))
            })
        }
        DataType::Map(t) => {
            let (keys, values) = (texts(t.key_type())?, texts(t.value_type())?);
            Box::new(move |array| {
                let array = array.as_map();
                let (keys, values) = (keys(array.keys())?, values(array.values())?);
                Ok(joined(array, array.value_offsets(), ('{', '}'), |i, out| {
                    push(out, &keys, i);
                    out.push_str(" -> ");
                    push(out, &values, i);
                }))
            })
        }
        DataType::Row(t) => {
            let parts = t.fields().iter().map(|f| texts(&f.data_type)).collect::<Option<Vec<_>>>()?;
            Box::new(move |array| {
                let array = array.as_struct();
                let parts = parts.iter().zip(array.columns()).map(|(text, part)| text(part));
                let parts = parts.collect::<Result<Vec<_>>>()?;
                let text = |row| {
                    array.is_valid(row).then(|| {
                        let mut out = String::from("{");
                        for (i, part) in parts.iter().enumerate() {
                            out.push_str(if i > 0 { ", " } else { "" });
                            push(&mut out, part, row);
                        }
                        out.push('}');
                        out
                    })
                };
                Ok((0..array.len()).map(text).collect())
            })
        }
        _ => return None,
    })
}

fn of_primitive<T: ArrowPrimitiveType>(array: &ArrayRef, text: impl Fn(T::Native) -> String) -> StringArray {
    array.as_primitive::<T>().iter().map(|v| v.map(&text)).collect()
}

fn fallible<V>(values: impl Iterator<Item = Option<V>>, text: impl Fn(V) -> Option<String>) -> Result<StringArray> {
    let range = || Error::invalid_input("a date is out of the range of years that have a text form");
    values.map(|v| v.map(|v| text(v).ok_or_else(range)).transpose()).collect()
}

fn joined(
    array: &dyn Array,
    offsets: &[i32],
    (open, close): (char, char),
    item: impl Fn(usize, &mut String),
) -> StringArray {
    let texts = offsets.windows(2).enumerate().map(|(row, ends)| {
        array.is_valid(row).then(|| {
            let mut out = String::from(open);
            for i in ends[0]..ends[1] {
                out.push_str(if i > ends[0] { ", " } else { "" });
                item(usize::try_from(i).unwrap_or_default(), &mut out);
            }
            out.push(close);
            out
        })
    });
    texts.collect()
}

fn push(out: &mut String, texts: &StringArray, i: usize) {
    out.push_str(if texts.is_valid(i) { texts.value(i) } else { "null" });
}

/// Java's `toString` from the shortest digits that read back, given as `d.ddde±x`.
fn java_float(shortest: &str, finite: bool, magnitude: f64) -> String {
    if !finite {
        return match shortest {
            "inf" => "Infinity".to_owned(),
            "-inf" => "-Infinity".to_owned(),
            _ => "NaN".to_owned(),
        };
    }
    let (mantissa, exponent) = shortest.split_once('e').unwrap_or((shortest, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if magnitude != 0.0 && !(1e-3..1e7).contains(&magnitude) {
        let fraction = if mantissa.contains('.') { "" } else { ".0" };
        return format!("{mantissa}{fraction}E{exponent}");
    }
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |m| ("-", m));
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let (whole, fraction) = match usize::try_from(exponent) {
        Ok(exponent) => {
            let digits = format!("{digits:0<width$}", width = exponent + 1);
            let (whole, fraction) = digits.split_at(exponent + 1);
            (whole.to_owned(), fraction.to_owned())
        }
        Err(_) => {
            let zeros = usize::try_from(-exponent - 1).unwrap_or_default();
            ("0".to_owned(), format!("{}{digits}", "0".repeat(zeros)))
        }
    };
    format!("{sign}{whole}.{}", if fraction.is_empty() { "0" } else { &fraction })
}

fn decimal_text(value: i128, scale: usize) -> String {
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    let sign = if value < 0 { "-" } else { "" };
    if scale == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

fn date_text(days: i32) -> Option<String> {
    NaiveDate::from_epoch_days(days).map(|date| date.format("%Y-%m-%d").to_string())
}

fn time_text(millis: i32, digits: usize) -> String {
    let seconds = millis / 1_000;
    let mut out = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if digits > 0 {
        let fraction = format!("{:03}", millis % 1_000);
        let kept = fraction.get(..digits.min(3)).unwrap_or(&fraction).trim_end_matches('0');
        // Writing to a string does not fail.
        let _ = write!(out, ".{}", if kept.is_empty() { "0" } else { kept });
    }
    out
}

fn timestamp_text(nanos: i128, digits: usize) -> Option<String> {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).ok()?;
    let fraction = u32::try_from(nanos.rem_euclid(1_000_000_000)).ok()?;
    let mut out = DateTime::from_timestamp(seconds, 0)?.format("%Y-%m-%d %H:%M:%S").to_string();
    let fraction = format!("{fraction:09}");
    let kept = fraction.trim_end_matches('0').len().max(digits.min(9));
    if kept > 0 {
        out.push('.');
        out.push_str(fraction.get(..kept)?);
    }
    Some(out)
}
