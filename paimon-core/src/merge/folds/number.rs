//! `sum` and `product` of integers and floats: typed loops over the values of the batches.
//!
//! Invariants: integers wrap around at their own width, as in Java up to release 1.4; division by zero is an error for
//! integers. Source: merge-engine sheet sections 5.1 and 5.3; `FieldSumAgg.java`, `FieldProductAgg.java`.

use std::sync::Arc;

use arrow::array::{ArrayRef, ArrowPrimitiveType, PrimitiveBuilder};
use arrow::datatypes::{DataType as ArrowType, *};

use super::choice::{Work, primitives};
use super::decimal::fold_decimals;
use crate::error::{Error, Result};
use crate::merge::fold::{Column, Fold, RowRef, fold};

/// What is done with numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Sum,
    Product,
}

/// A number with Java's operators.
pub(super) trait Number: Copy {
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Result<Self>;
    fn negated(self) -> Self;
}

macro_rules! integers {
    ($($t:ty),*) => {
        $(impl Number for $t {
            fn plus(self, other: Self) -> Self { self.wrapping_add(other) }
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
            fn times(self, other: Self) -> Self { self.wrapping_mul(other) }
            fn over(self, other: Self) -> Result<Self> {
                if other == 0 {
                    return Err(Error::invalid_input("a product cannot be divided by zero to take a row back"));
                }
                Ok(self.wrapping_div(other))
            }
            fn negated(self) -> Self { self.wrapping_neg() }
        })*
    };
}
macro_rules! floats {
    ($($t:ty),*) => {
        $(impl Number for $t {
            fn plus(self, other: Self) -> Self { self + other }
            fn minus(self, other: Self) -> Self { self - other }
            fn times(self, other: Self) -> Self { self * other }
            fn over(self, other: Self) -> Result<Self> { Ok(self / other) }
            fn negated(self) -> Self { -self }
        })*
    };
}
integers!(i8, i16, i32, i64);
floats!(f32, f64);

struct Numbers<'a, T, const SUM: bool> {
    column: &'a Column<'a>,
    values: Vec<&'a [T]>,
}

impl<T: Number, const SUM: bool> Fold for Numbers<'_, T, SUM> {
    type State = Option<T>;

    fn fresh(&self) -> Option<T> {
        None
    }

    fn fill(&self, state: &mut Option<T>, row: RowRef) -> Result<()> {
        *state = self.value(row);
        Ok(())
    }

    fn add(&self, state: &mut Option<T>, row: RowRef) -> Result<()> {
        *state = match (*state, self.value(row)) {
            (Some(a), Some(b)) => Some(if SUM { a.plus(b) } else { a.times(b) }),
            (a, b) => a.or(b),
        };
        Ok(())
    }

    fn retract(&self, state: &mut Option<T>, row: RowRef, _: bool) -> Result<()> {
        *state = match (*state, self.value(row)) {
            (Some(a), Some(b)) if SUM => Some(a.minus(b)),
            (Some(a), Some(b)) => Some(a.over(b)?),
            (None, Some(b)) if SUM => Some(b.negated()),
            (a, _) => a,
        };
        Ok(())
    }
}

impl<T: Number, const SUM: bool> Numbers<'_, T, SUM> {
    fn value(&self, row: RowRef) -> Option<T> {
        (!self.column.is_null(row)).then(|| self.values[row.batch()][row.row()])
    }
}

fn fold_numbers<T: ArrowPrimitiveType<Native: Number>>(
    work: Work<'_>,
    column: &Column<'_>,
    what: Arithmetic,
) -> Result<ArrayRef> {
    let values = primitives::<T>(column)?;
    let mut result = PrimitiveBuilder::<T>::with_capacity(work.groups.len());
    let done = |value| {
        result.append_option(value);
        Ok(())
    };
    match what {
        Arithmetic::Sum => {
            fold(work.groups, work.steps, work.ignore_retract, &Numbers::<_, true> { column, values }, done)
        }
        Arithmetic::Product => {
            fold(work.groups, work.steps, work.ignore_retract, &Numbers::<_, false> { column, values }, done)
        }
    }?;
    Ok(Arc::new(result.finish()))
}

/// The sums or products of the groups.
///
/// # Errors
/// `InvalidInput` for values that cannot be taken back; `Internal` for a type that is no number.
pub(super) fn fold_arithmetic(
    work: Work<'_>,
    column: &Column<'_>,
    data_type: &ArrowType,
    what: Arithmetic,
) -> Result<ArrayRef> {
    match data_type {
        ArrowType::Int8 => fold_numbers::<Int8Type>(work, column, what),
        ArrowType::Int16 => fold_numbers::<Int16Type>(work, column, what),
        ArrowType::Int32 => fold_numbers::<Int32Type>(work, column, what),
        ArrowType::Int64 => fold_numbers::<Int64Type>(work, column, what),
        ArrowType::Float32 => fold_numbers::<Float32Type>(work, column, what),
        ArrowType::Float64 => fold_numbers::<Float64Type>(work, column, what),
        ArrowType::Decimal128(precision, scale) => fold_decimals(work, column, *precision, *scale, what),
        other => Err(Error::internal(format!("arithmetic with values of type {other}"))),
    }
}
