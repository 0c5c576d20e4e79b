//! Decimals: a number without bound and a scale each.
//!
//! Source: ORC specification, "Decimal Columns".

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Array};
use arrow::buffer::NullBuffer;

use super::codec::ByteStream;
use super::decoder::spread;
use super::integers::Integers;
use super::stripe::{StreamKind, Stripe};
use crate::error::{Error, Result};
use crate::types::DataType;

/// A column of decimals.
#[derive(Debug)]
pub(super) struct Decimals {
    column: String,
    precision: u8,
    scale: i8,
    numbers: ByteStream,
    scales: Integers,
}

impl Decimals {
    pub(super) fn new(column: &str, data_type: &DataType, id: usize, stripe: &Stripe) -> Result<Self> {
        let DataType::Decimal(decimal) = data_type else {
            return Err(Error::internal(format!("column {column} is no decimal")));
        };
        Ok(Self {
            column: column.to_owned(),
            precision: decimal.precision(),
            scale: i8::try_from(decimal.scale()).unwrap_or(i8::MAX),
            numbers: stripe.stream(id, StreamKind::Data),
            scales: stripe.integers(id, StreamKind::Secondary, true)?,
        })
    }

    pub(super) fn read(&mut self, count: usize, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let target = i64::from(self.scale);
        let mut dense = Vec::with_capacity(count.min(1 << 16));
        for scale in self.scales.read(count)? {
            let number = self.number()?;
            dense.push(if scale == target { number } else { self.rescaled(number, scale)? });
        }
        let array = Decimal128Array::new(spread(dense, rows, nulls.as_ref()), nulls);
        Ok(Arc::new(array.with_precision_and_scale(self.precision, self.scale)?))
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        self.scales.skip(count)?;
        for _ in 0..count {
            self.number()?;
        }
        Ok(())
    }

    /// A zigzag number of seven bits per byte, the lowest first.
    fn number(&mut self) -> Result<i128> {
        let mut raw = 0u128;
        for shift in (0..128).step_by(7) {
            let byte = self.numbers.byte()?;
            raw |= u128::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok((raw >> 1) as i128 ^ -((raw & 1) as i128));
            }
        }
        Err(self.damaged())
    }

    /// Writers may cut zeros off the end of each value.
    fn rescaled(&self, number: i128, scale: i64) -> Result<i128> {
        let power = |digits: i64| u32::try_from(digits).ok().and_then(|d| 10i128.checked_pow(d));
        let target = i64::from(self.scale);
        let rescaled = if scale < target {
            power(target.saturating_sub(scale)).and_then(|factor| number.checked_mul(factor))
        } else {
            power(scale.saturating_sub(target)).filter(|factor| number % factor == 0).map(|factor| number / factor)
        };
        rescaled.ok_or_else(|| self.damaged())
    }

    fn damaged(&self) -> Error {
        let Self { column, precision, scale, .. } = self;
        Error::corrupt(format!("a value of column {column} does not fit DECIMAL({precision}, {scale})"))
    }
}
