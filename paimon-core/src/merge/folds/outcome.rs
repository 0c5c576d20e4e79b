//! From the role of a column to its values, one per group.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType as ArrowType;

use super::bitmap::fold_bitmaps;
use super::choice::{First, Last, Update, Updated, Work, choose, choose_extreme, choose_first, newest_non_null};
use super::list::fold_lists;
use super::map::fold_maps;
use super::nested::{NestedOptions, fold_nested, fold_nested_partial};
use super::number::{Arithmetic, fold_arithmetic};
use super::text::fold_texts;
use crate::error::{Error, Result};
use crate::merge::fold::{Column, Groups, RowRef, Step};
use crate::merge::function::{ColumnFunction, Function};
use crate::merge::roles::How;

/// The values of a column, one per group.
#[derive(Debug)]
pub(in crate::merge) enum Outcome {
    /// Those of the rows that count for the group.
    Newest,
    /// Those of these rows.
    Rows(Vec<RowRef>),
    /// New ones.
    Values(ArrayRef),
}

/// The values of a column.
///
/// # Errors
/// `Unsupported` for functions and retracts that are not; `InvalidInput` for values that cannot be combined.
pub(in crate::merge) fn evaluate(
    how: &How,
    groups: &Groups,
    steps: Option<&[Step]>,
    column: &Column<'_>,
    data_type: &ArrowType,
) -> Result<Outcome> {
    let update = |update| Ok(Outcome::Rows(choose(groups, steps, false, &Updated { column, update })?));
    match how {
        How::Newest => Ok(Outcome::Newest),
        How::NonNull | How::Replaced | How::Ordering if steps.is_none() && column.is_free_of_nulls() => {
            Ok(Outcome::Newest)
        }
        How::NonNull if steps.is_none() => Ok(Outcome::Rows(newest_non_null(groups, column))),
        How::Replaced | How::Ordering if steps.is_none() => Ok(Outcome::Newest),
        How::NonNull => update(Update::NonNull),
        How::Replaced => update(Update::Replaced),
        How::Ordering => update(Update::Ordering),
        How::Function(function) => call(function, groups, steps, column, data_type),
    }
}

fn call(
    ColumnFunction { name, function, ignore_retract }: &ColumnFunction,
    groups: &Groups,
    steps: Option<&[Step]>,
    column: &Column<'_>,
    data_type: &ArrowType,
) -> Result<Outcome> {
    let work = Work { groups, steps, ignore_retract: *ignore_retract };
    let last = |non_null| {
        let last = Last { column, non_null };
        Ok(Outcome::Rows(choose(groups, steps, work.ignore_retract, &last)?))
    };
    let first = |non_null| {
        let first = First { column, non_null };
        Ok(Outcome::Rows(choose_first(groups, steps, work.ignore_retract, &first)?))
    };
    match function {
        Function::Key => Ok(Outcome::Newest),
        Function::LastValue if steps.is_none() => Ok(Outcome::Newest),
        Function::LastValue => last(false),
        Function::LastNonNull if steps.is_none() && column.is_free_of_nulls() => Ok(Outcome::Newest),
        Function::LastNonNull if steps.is_none() => Ok(Outcome::Rows(newest_non_null(groups, column))),
        Function::LastNonNull => last(true),
        Function::FirstValue => first(false),
        Function::FirstNonNull => first(true),
        Function::Max => Ok(Outcome::Rows(choose_extreme(work, column, name, true)?)),
        Function::Min => Ok(Outcome::Rows(choose_extreme(work, column, name, false)?)),
        Function::Sum => Ok(Outcome::Values(fold_arithmetic(work, column, data_type, Arithmetic::Sum)?)),
        Function::Product => Ok(Outcome::Values(fold_arithmetic(work, column, data_type, Arithmetic::Product)?)),
        Function::ListAgg { delimiter, distinct } => {
            Ok(Outcome::Values(fold_texts(work, column, delimiter, *distinct)?))
        }
        Function::Collect { distinct } => Ok(Outcome::Values(fold_lists(work, column, data_type, *distinct)?)),
        Function::MergeMap => Ok(Outcome::Values(fold_maps(work, column, data_type, None)?)),
        Function::MergeMapWithKeyTime { time } => Ok(Outcome::Values(fold_maps(work, column, data_type, Some(*time))?)),
        Function::NestedUpdate { keys, nulls, sequence, limit } => {
            let options = NestedOptions { keys, nulls: *nulls, sequence, limit: *limit };
            Ok(Outcome::Values(fold_nested(work, column, data_type, options)?))
        }
        Function::NestedPartialUpdate { keys, nulls } => {
            Ok(Outcome::Values(fold_nested_partial(work, column, data_type, keys, *nulls)?))
        }
        Function::Bitmap32 => Ok(Outcome::Values(fold_bitmaps(work, column)?)),
        Function::NotBuilt => Err(Error::unsupported(format!("aggregate function '{name}' is not supported"))),
    }
}
