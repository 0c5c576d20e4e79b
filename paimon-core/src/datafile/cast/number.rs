//! Casts between booleans, integers, floats and decimals.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Decimal128Array, Float64Array, Int64Array, PrimitiveArray,
};
use arrow::compute::cast as arrow_cast;
use arrow::datatypes::{
    DataType as ArrowType, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use super::Cast;
use crate::error::{Error, Result};
use crate::types::{DataType, DecimalType};

/// What a number is cast to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Target {
    Boolean,
    TinyInt,
    SmallInt,
    Int,
    BigInt,
    Float,
    Double,
    Decimal(u8, u8),
}

impl Target {
    pub(super) fn of(to: &DataType) -> Option<Self> {
        Some(match to {
            DataType::Boolean(_) => Self::Boolean,
            DataType::TinyInt(_) => Self::TinyInt,
            DataType::SmallInt(_) => Self::SmallInt,
            DataType::Int(_) => Self::Int,
            DataType::BigInt(_) => Self::BigInt,
            DataType::Float(_) => Self::Float,
            DataType::Double(_) => Self::Double,
            DataType::Decimal(t) => Self::Decimal(t.precision(), t.scale()),
            _ => return None,
        })
    }
}

pub(super) fn find(from: &DataType, to: &DataType) -> Option<Cast> {
    let target = Target::of(to)?;
    match from {
        DataType::Boolean(_) if !matches!(target, Target::Boolean) => {
            Some(Box::new(move |array| from_integers(&arrow_cast(array, &ArrowType::Int64)?, target)))
        }
        DataType::TinyInt(_) | DataType::SmallInt(_) | DataType::Int(_) | DataType::BigInt(_) => {
            Some(Box::new(move |array| from_integers(&arrow_cast(array, &ArrowType::Int64)?, target)))
        }
        DataType::Float(_) | DataType::Double(_) if !matches!(target, Target::Boolean) => {
            Some(Box::new(move |array| from_floats(&arrow_cast(array, &ArrowType::Float64)?, target)))
        }
        DataType::Decimal(decimal) if !matches!(target, Target::Boolean) => {
            let decimal = *decimal;
            Some(Box::new(move |array| from_decimals(array.as_primitive::<Decimal128Type>(), decimal, target)))
        }
        _ => None,
    }
}

fn from_integers(array: &ArrayRef, target: Target) -> Result<ArrayRef> {
    let array: &Int64Array = array.as_primitive::<Int64Type>();
    Ok(match target {
        Target::Boolean => Arc::new(BooleanArray::from_unary(array, |v| v != 0)),
        Target::TinyInt => Arc::new(array.unary::<_, Int8Type>(|v| v as i8)),
        Target::SmallInt => Arc::new(array.unary::<_, Int16Type>(|v| v as i16)),
        Target::Int => Arc::new(array.unary::<_, Int32Type>(|v| v as i32)),
        Target::BigInt => Arc::new(array.clone()),
        Target::Float => Arc::new(array.unary::<_, Float32Type>(|v| v as f32)),
        Target::Double => Arc::new(array.unary::<_, Float64Type>(|v| v as f64)),
        Target::Decimal(precision, scale) => {
            let values = array.unary_opt::<_, Decimal128Type>(|v| rescale(i128::from(v), 0, precision, scale));
            decimals(values, precision, scale)?
        }
    })
}

/// Java casts to the small integers by way of INT.
fn from_floats(array: &ArrayRef, target: Target) -> Result<ArrayRef> {
    let array: &Float64Array = array.as_primitive::<Float64Type>();
    Ok(match target {
        Target::Boolean => return Err(Error::internal("floats are not cast to booleans")),
        Target::TinyInt => Arc::new(array.unary::<_, Int8Type>(|v| v as i32 as i8)),
        Target::SmallInt => Arc::new(array.unary::<_, Int16Type>(|v| v as i32 as i16)),
        Target::Int => Arc::new(array.unary::<_, Int32Type>(|v| v as i32)),
        Target::BigInt => Arc::new(array.unary::<_, Int64Type>(|v| v as i64)),
        Target::Float => Arc::new(array.unary::<_, Float32Type>(|v| v as f32)),
        Target::Double => Arc::new(array.clone()),
        Target::Decimal(precision, scale) => {
            let values = array.iter().map(|value| match value {
                Some(value) if !value.is_finite() => {
                    Err(Error::invalid_input(format!("{value} cannot be cast to DECIMAL({precision}, {scale})")))
                }
                Some(value) => Ok(Digits::parse(&format!("{value:e}")).and_then(|d| d.to_decimal(precision, scale))),
                None => Ok(None),
            });
            decimals(values.collect::<Result<Decimal128Array>>()?, precision, scale)?
        }
    })
}

fn from_decimals(array: &Decimal128Array, from: DecimalType, target: Target) -> Result<ArrayRef> {
    let scale = from.scale();
    let divisor = 10i128.checked_pow(u32::from(scale)).ok_or_else(|| Error::internal("the scale is above 38"))?;
    // 64 bits wrap first, as `BigInteger.longValue` does.
    let whole = move |v: i128| (v / divisor) as i64;
    Ok(match target {
        Target::Boolean => return Err(Error::internal("decimals are not cast to booleans")),
        Target::TinyInt => Arc::new(array.unary::<_, Int8Type>(|v| whole(v) as i8)),
        Target::SmallInt => Arc::new(array.unary::<_, Int16Type>(|v| whole(v) as i16)),
        Target::Int => Arc::new(array.unary::<_, Int32Type>(|v| whole(v) as i32)),
        Target::BigInt => Arc::new(array.unary::<_, Int64Type>(whole)),
        Target::Float => Arc::new(parsed::<Float32Type>(array, scale)?),
        Target::Double => Arc::new(parsed::<Float64Type>(array, scale)?),
        Target::Decimal(precision, to_scale) => {
            let values = array.unary_opt::<_, Decimal128Type>(|v| rescale(v, scale, precision, to_scale));
            decimals(values, precision, to_scale)?
        }
    })
}

/// The nearest float of the decimal text: dividing would round twice.
fn parsed<T: ArrowPrimitiveType>(array: &Decimal128Array, scale: u8) -> Result<PrimitiveArray<T>>
where
    T::Native: std::str::FromStr,
{
    array.try_unary(|v| {
        format!("{v}e-{scale}").parse().map_err(|_| Error::internal(format!("{v}e-{scale} is no number")))
    })
}

fn decimals(values: Decimal128Array, precision: u8, scale: u8) -> Result<ArrayRef> {
    let scale = i8::try_from(scale).map_err(|_| Error::internal("the scale is above 38"))?;
    Ok(Arc::new(values.with_precision_and_scale(precision, scale)?))
}

/// The unscaled value at another scale, rounded half away from zero; `None` if it has too many digits.
pub(super) fn rescale(value: i128, from: u8, precision: u8, to: u8) -> Option<i128> {
    let rescaled = if to >= from {
        value.checked_mul(10i128.checked_pow(u32::from(to - from))?)?
    } else {
        let divisor = 10i128.checked_pow(u32::from(from - to))?;
        let (quotient, rest) = (value / divisor, value % divisor);
        quotient + if rest.unsigned_abs() >= divisor.unsigned_abs().div_ceil(2) { value.signum() } else { 0 }
    };
    (rescaled.unsigned_abs() < 10u128.checked_pow(u32::from(precision))?).then_some(rescaled)
}

/// A decimal number as text gives it: `0.digits` times ten to the `point`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Digits {
    negative: bool,
    digits: Vec<u8>,
    point: i64,
}

impl Digits {
    /// Reads `[+-]digits[.digits][e[+-]digits]`, with digits before or after the point.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let leading = digits.iter().take_while(|d| **d == b'0').count();
        let point = i64::try_from(whole.len()).ok()?.checked_sub(i64::try_from(leading).ok()?)?;
        let digits = digits.into_iter().skip(leading).map(|d| d - b'0').collect();
        Some(Self { negative, digits, point: point.checked_add(exponent)? })
    }

    /// The unscaled value, rounded half away from zero; `None` if it has too many digits.
    pub(super) fn to_decimal(&self, precision: u8, scale: u8) -> Option<i128> {
        let kept = self.point.checked_add(i64::from(scale))?;
        if kept < 0 || self.digits.is_empty() {
            return Some(0);
        }
        if kept > i64::from(precision) {
            return None;
        }
        let kept = usize::try_from(kept).ok()?;
        let mut value = (0..kept).try_fold(0i128, |value, i| {
            value.checked_mul(10)?.checked_add(i128::from(self.digits.get(i).copied().unwrap_or(0)))
        })?;
        if self.digits.get(kept).is_some_and(|d| *d >= 5) {
            value += 1;
        }
        let value = if self.negative { -value } else { value };
        (value.unsigned_abs() < 10u128.checked_pow(u32::from(precision))?).then_some(value)
    }
}
