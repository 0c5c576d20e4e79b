//! `sum` and `product` of decimals.
//!
//! Invariants: sums of up to 18 digits are not checked against the precision, longer ones become null when they leave it;
//! products are rounded half up to the scale and become null when they leave the precision. Source: merge-engine sheet
//! section 5.3; `utils/DecimalUtils.java`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Decimal128Builder};
use arrow::datatypes::{Decimal128Type, i256};

use super::choice::{Work, primitives};
use super::number::Arithmetic;
use crate::error::{Error, Result};
use crate::merge::fold::{Column, Fold, RowRef, fold};

/// Digits that Java keeps in a `long` and does not check.
const COMPACT_DIGITS: u8 = 18;

struct Decimals<'a> {
    column: &'a Column<'a>,
    values: Vec<&'a [i128]>,
    precision: u8,
    /// Ten to the power of the scale.
    unit: i128,
    what: Arithmetic,
}

impl Fold for Decimals<'_> {
    type State = Option<i128>;

    fn fresh(&self) -> Option<i128> {
        None
    }

    fn fill(&self, state: &mut Option<i128>, row: RowRef) -> Result<()> {
        *state = self.value(row);
        Ok(())
    }

    fn add(&self, state: &mut Option<i128>, row: RowRef) -> Result<()> {
        *state = match (*state, self.value(row)) {
            (Some(a), Some(b)) => match self.what {
                Arithmetic::Sum => self.checked_sum(a.checked_add(b)),
                Arithmetic::Product => {
                    let product = i256::from_i128(a).wrapping_mul(i256::from_i128(b));
                    self.rounded(product, i256::from_i128(self.unit))
                }
            },
            (a, b) => a.or(b),
        };
        Ok(())
    }

    fn retract(&self, state: &mut Option<i128>, row: RowRef, _: bool) -> Result<()> {
        *state = match (*state, self.value(row), self.what) {
            (Some(a), Some(b), Arithmetic::Sum) => self.checked_sum(a.checked_sub(b)),
            (Some(a), Some(b), Arithmetic::Product) => self.quotient(a, b)?,
            (None, Some(b), Arithmetic::Sum) => b.checked_neg(),
            (a, ..) => a,
        };
        Ok(())
    }
}

impl Decimals<'_> {
    fn value(&self, row: RowRef) -> Option<i128> {
        (!self.column.is_null(row)).then(|| self.values[row.batch()][row.row()])
    }

    fn checked_sum(&self, sum: Option<i128>) -> Option<i128> {
        sum.filter(|&v| self.precision <= COMPACT_DIGITS || self.fits(v))
    }

    fn fits(&self, value: i128) -> bool {
        value.unsigned_abs() < 10u128.pow(u32::from(self.precision))
    }

    /// `value / divisor`, rounded half up; null if it does not fit.
    fn rounded(&self, value: i256, divisor: i256) -> Option<i128> {
        let (quotient, rest) = (value.checked_div(divisor)?, value.checked_rem(divisor)?);
        let abs = |v: i256| v.wrapping_abs();
        // A half or more of the divisor moves away from zero.
        let up = abs(rest) >= abs(divisor).wrapping_sub(abs(rest));
        let negative = (value < i256::ZERO) != (divisor < i256::ZERO);
        let one = if negative { i256::MINUS_ONE } else { i256::ONE };
        let rounded = if up && rest != i256::ZERO { quotient.checked_add(one)? } else { quotient };
        rounded.to_i128().filter(|&v| self.fits(v))
    }

    fn quotient(&self, a: i128, b: i128) -> Result<Option<i128>> {
        if b == 0 {
            return Err(Error::invalid_input("a product cannot be divided by zero to take a row back"));
        }
        let mut rest = b.unsigned_abs() / gcd(a.unsigned_abs(), b.unsigned_abs());
        for factor in [2, 5] {
            while rest.is_multiple_of(factor) {
                rest /= factor;
            }
        }
        if rest != 1 {
            return Err(Error::invalid_input(
                "Non-terminating decimal expansion; no exact representable decimal result.",
            ));
        }
        let value = i256::from_i128(a).wrapping_mul(i256::from_i128(self.unit));
        Ok(self.rounded(value, i256::from_i128(b)))
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// The sums or products of the groups.
///
/// # Errors
/// `InvalidInput` for values that cannot be taken back.
pub(super) fn fold_decimals(
    work: Work<'_>,
    column: &Column<'_>,
    precision: u8,
    scale: i8,
    what: Arithmetic,
) -> Result<ArrayRef> {
    let values = primitives::<Decimal128Type>(column)?;
    let unit = 10i128.pow(u32::from(scale.unsigned_abs()));
    let decimals = Decimals { column, values, precision, unit, what };
    let mut result = Decimal128Builder::with_capacity(work.groups.len()).with_precision_and_scale(precision, scale)?;
    fold(work.groups, work.steps, work.ignore_retract, &decimals, |value| {
        result.append_option(value);
        Ok(())
    })?;
    Ok(Arc::new(result.finish()))
}
