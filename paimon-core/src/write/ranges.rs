//! Checks that numbers and times are within the range of their type, which Arrow's arrays do not enforce.
//!
//! Source: SQL sheet SQL-134: what a column cannot hold is an error, never cut or wrapped.

use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray};
use arrow::datatypes::{ArrowPrimitiveType, DataType, Decimal128Type, Time32MillisecondType, TimeUnit};

use crate::error::{Error, Result};

const MILLIS_OF_A_DAY: i32 = 86_400_000;

/// Checks a column in the form of the table, and what it holds at any depth.
///
/// # Errors
/// `SchemaMismatch` naming the column, the row of the array and the value.
pub(super) fn check_ranges(array: &ArrayRef, column: &str) -> Result<()> {
    let slice = |values: &ArrayRef, offsets: &[i32]| {
        let (first, last) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        let at = |offset: i32| usize::try_from(offset).unwrap_or_default();
        values.slice(at(first), at(last.saturating_sub(first)))
    };
    match array.data_type() {
        DataType::Decimal128(precision, _) => {
            let limit = 10_i128.checked_pow(u32::from(*precision)).unwrap_or(i128::MAX);
            let decimals = array.as_primitive::<Decimal128Type>();
            check(decimals, |v| v.unsigned_abs() < limit.unsigned_abs(), column, &format!("DECIMAL({precision}, ..)"))
        }
        DataType::Time32(TimeUnit::Millisecond) => {
            let times = array.as_primitive::<Time32MillisecondType>();
            check(times, |v| (0..MILLIS_OF_A_DAY).contains(&v), column, "TIME")
        }
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            check_ranges(&slice(list.values(), list.value_offsets()), column)
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let parts = [map.keys(), map.values()];
            parts.into_iter().try_for_each(|part| check_ranges(&slice(part, map.value_offsets()), column))
        }
        DataType::Struct(_) => array.as_struct().columns().iter().try_for_each(|part| check_ranges(part, column)),
        _ => Ok(()),
    }
}

fn check<T: ArrowPrimitiveType>(
    array: &PrimitiveArray<T>,
    fits: impl Fn(T::Native) -> bool,
    column: &str,
    name: &str,
) -> Result<()> {
    // Nearly always all values fit, those below nulls included.
    if array.values().iter().all(|value| fits(*value)) {
        return Ok(());
    }
    match (0..array.len()).find(|row| array.is_valid(*row) && !fits(array.value(*row))) {
        None => Ok(()),
        Some(row) => Err(Error::schema_mismatch(format!(
            "the value of column {column} in row {row} is {:?}, which is not in the range of {name}",
            array.value(row)
        ))
        .with_context("column", column)),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Decimal128Array, ListArray, StructArray, Time32MillisecondArray};
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::Field;

    use super::*;

    #[test]
    fn values_beyond_their_type_are_found_at_any_depth() {
        let decimals = |values: Vec<Option<i128>>| -> ArrayRef {
            Arc::new(Decimal128Array::from(values).with_precision_and_scale(3, 1).unwrap())
        };
        let times = |values: Vec<i32>| -> ArrayRef { Arc::new(Time32MillisecondArray::from(values)) };
        let list = |values: ArrayRef| -> ArrayRef {
            let field = Arc::new(Field::new("element", values.data_type().clone(), true));
            let offsets = OffsetBuffer::from_lengths([1, values.len() - 1]);
            Arc::new(ListArray::new(field, offsets, values, None).slice(1, 1))
        };
        let row = |values: ArrayRef| -> ArrayRef {
            let field = Arc::new(Field::new("x", values.data_type().clone(), true));
            Arc::new(StructArray::new(vec![field].into(), vec![values], None))
        };
        let fine = [
            decimals(vec![Some(999), None, Some(-999)]),
            times(vec![0, 86_399_999]),
            // Only the first list holds it, and the array begins behind it.
            list(decimals(vec![Some(1000), Some(1)])),
        ];
        for array in fine {
            check_ranges(&array, "c").unwrap();
        }
        let wrong = [
            (decimals(vec![Some(1), Some(1000)]), "row 1 is 1000, which is not in the range of DECIMAL(3, ..)"),
            (decimals(vec![Some(i128::MIN)]), "DECIMAL"),
            (times(vec![-5]), "row 0 is -5, which is not in the range of TIME"),
            (times(vec![86_400_000]), "TIME"),
            (list(decimals(vec![Some(1), Some(-1000)])), "DECIMAL"),
            (row(list(times(vec![1, 90_000_000]))), "column c"),
        ];
        for (array, expected) in wrong {
            let error = check_ranges(&array, "c").unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
