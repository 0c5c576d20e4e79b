//! Folds whose result is the value of one of the rows, or null.
//!
//! Invariants: a state holds only rows whose value is not null. Source: merge-engine sheet sections 4.2, 5.1 and 5.3;
//! `FieldLastValueAgg.java`, `FieldFirstNonNullValueAgg.java`, `FieldMaxAgg.java` and their neighbours.

use std::cmp::Ordering;

use arrow::array::{ArrowPrimitiveType, AsArray};
use arrow::datatypes::{DataType as ArrowType, TimeUnit, *};

use crate::error::{Error, Result};
use crate::merge::fold::{Column, Fold, Groups, RowRef, Step, fold, no_retraction};

/// The rows that a fold chooses.
///
/// # Errors
/// Those of the fold.
pub(super) fn choose<F: Fold<State = RowRef>>(
    groups: &Groups,
    steps: Option<&[Step]>,
    ignore_retract: bool,
    choice: &F,
) -> Result<Vec<RowRef>> {
    let mut chosen = Vec::with_capacity(groups.len());
    fold(groups, steps, ignore_retract, choice, |row| {
        chosen.push(row);
        Ok(())
    })?;
    Ok(chosen)
}

/// The newest row whose value is not null: looked for from the newest on.
pub(super) fn newest_non_null(groups: &Groups, column: &Column<'_>) -> Vec<RowRef> {
    let choose = |range: std::ops::Range<usize>| {
        let found = groups.rows[range].iter().rev().find(|&&row| !column.is_null(row));
        found.copied().unwrap_or(RowRef::NONE)
    };
    groups.ranges().map(choose).collect()
}

/// The columns of a partial update.
#[derive(Debug)]
pub(super) enum Update {
    /// Values that are not null replace.
    NonNull,
    /// All values replace; retracts of the newest row set null.
    Replaced,
    /// All values replace, those of retracts too.
    Ordering,
}

/// A fold of [`Update`].
#[derive(Debug)]
pub(super) struct Updated<'a> {
    pub(super) column: &'a Column<'a>,
    pub(super) update: Update,
}

impl Fold for Updated<'_> {
    type State = RowRef;

    fn fresh(&self) -> RowRef {
        RowRef::NONE
    }

    fn fill(&self, state: &mut RowRef, row: RowRef) -> Result<()> {
        *state = self.column.unless_null(row);
        Ok(())
    }

    fn add(&self, state: &mut RowRef, row: RowRef) -> Result<()> {
        let row = self.column.unless_null(row);
        if row.is_some() || !matches!(self.update, Update::NonNull) {
            *state = row;
        }
        Ok(())
    }

    fn add_older(&self, _: &mut RowRef, _: RowRef) -> Result<()> {
        Ok(())
    }

    fn retract(&self, state: &mut RowRef, row: RowRef, older: bool) -> Result<()> {
        if !older {
            match self.update {
                Update::NonNull => {}
                Update::Replaced => *state = RowRef::NONE,
                Update::Ordering => *state = self.column.unless_null(row),
            }
        }
        Ok(())
    }
}

/// `last_value` and `last_non_null_value`.
#[derive(Debug)]
pub(super) struct Last<'a> {
    pub(super) column: &'a Column<'a>,
    pub(super) non_null: bool,
}

impl Fold for Last<'_> {
    type State = RowRef;

    fn fresh(&self) -> RowRef {
        RowRef::NONE
    }

    fn fill(&self, state: &mut RowRef, row: RowRef) -> Result<()> {
        *state = self.column.unless_null(row);
        Ok(())
    }

    fn add(&self, state: &mut RowRef, row: RowRef) -> Result<()> {
        let row = self.column.unless_null(row);
        if row.is_some() || !self.non_null {
            *state = row;
        }
        Ok(())
    }

    fn add_older(&self, state: &mut RowRef, row: RowRef) -> Result<()> {
        if self.non_null && !state.is_some() {
            *state = self.column.unless_null(row);
        }
        Ok(())
    }

    fn retract(&self, state: &mut RowRef, row: RowRef, _: bool) -> Result<()> {
        if !self.non_null || !self.column.is_null(row) {
            *state = RowRef::NONE;
        }
        Ok(())
    }
}

/// A value, and whether a first value was seen.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstState {
    pub(super) row: RowRef,
    seen: bool,
}

/// `first_value` and `first_non_null_value`.
#[derive(Debug)]
pub(super) struct First<'a> {
    pub(super) column: &'a Column<'a>,
    pub(super) non_null: bool,
}

impl Fold for First<'_> {
    type State = FirstState;

    fn fresh(&self) -> FirstState {
        FirstState { row: RowRef::NONE, seen: false }
    }

    fn fill(&self, state: &mut FirstState, row: RowRef) -> Result<()> {
        state.row = self.column.unless_null(row);
        Ok(())
    }

    fn add(&self, state: &mut FirstState, row: RowRef) -> Result<()> {
        let row = self.column.unless_null(row);
        if !state.seen && (row.is_some() || !self.non_null) {
            *state = FirstState { row, seen: true };
        }
        Ok(())
    }

    /// The roles are swapped, and what is there counts as the input: so nulls can come in once a first value was seen.
    fn add_older(&self, state: &mut FirstState, row: RowRef) -> Result<()> {
        if self.non_null && !state.seen && state.row.is_some() {
            state.seen = true;
        } else {
            state.row = self.column.unless_null(row);
        }
        Ok(())
    }

    fn retract(&self, _: &mut FirstState, _: RowRef, _: bool) -> Result<()> {
        Err(no_retraction(if self.non_null { "first_non_null_value" } else { "first_value" }))
    }
}

/// The rows that `first_value` or `first_non_null_value` choose.
///
/// # Errors
/// `Unsupported` for retracts.
pub(super) fn choose_first(
    groups: &Groups,
    steps: Option<&[Step]>,
    ignore_retract: bool,
    first: &First<'_>,
) -> Result<Vec<RowRef>> {
    let mut chosen = Vec::with_capacity(groups.len());
    fold(groups, steps, ignore_retract, first, |state| {
        chosen.push(state.row);
        Ok(())
    })?;
    Ok(chosen)
}

/// `max`, or `min` if values are compared the other way round.
struct Extreme<'a, C> {
    column: &'a Column<'a>,
    name: &'a str,
    compare: C,
}

impl<C: Fn(RowRef, RowRef) -> Ordering> Fold for Extreme<'_, C> {
    type State = RowRef;

    fn fresh(&self) -> RowRef {
        RowRef::NONE
    }

    fn fill(&self, state: &mut RowRef, row: RowRef) -> Result<()> {
        *state = self.column.unless_null(row);
        Ok(())
    }

    fn add(&self, state: &mut RowRef, row: RowRef) -> Result<()> {
        if !self.column.is_null(row) && (!state.is_some() || (self.compare)(row, *state) == Ordering::Greater) {
            *state = row;
        }
        Ok(())
    }

    fn retract(&self, _: &mut RowRef, _: RowRef, _: bool) -> Result<()> {
        Err(no_retraction(self.name))
    }
}

/// Groups with what is done with their rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) groups: &'a Groups,
    pub(super) steps: Option<&'a [Step]>,
    pub(super) ignore_retract: bool,
}

/// The rows with the greatest value, or the least one.
///
/// # Errors
/// `Unsupported` for retracts; `Internal` for types without order.
pub(super) fn choose_extreme(work: Work<'_>, column: &Column<'_>, name: &str, greatest: bool) -> Result<Vec<RowRef>> {
    fn run<C: Fn(RowRef, RowRef) -> Ordering>(
        work: Work<'_>,
        column: &Column<'_>,
        name: &str,
        greatest: bool,
        compare: C,
    ) -> Result<Vec<RowRef>> {
        let Work { groups, steps, ignore_retract } = work;
        if greatest {
            choose(groups, steps, ignore_retract, &Extreme { column, name, compare })
        } else {
            let compare = |a, b| compare(b, a);
            choose(groups, steps, ignore_retract, &Extreme { column, name, compare })
        }
    }
    macro_rules! primitive {
        ($t:ty, $compare:expr) => {{
            let values = primitives::<$t>(column)?;
            let compare = $compare;
            run(work, column, name, greatest, |a, b| compare(values[a.batch()][a.row()], values[b.batch()][b.row()]))
        }};
        ($t:ty) => {
            primitive!($t, |a: <$t as ArrowPrimitiveType>::Native, b: <$t as ArrowPrimitiveType>::Native| a.cmp(&b))
        };
    }
    let Some(first) = column.arrays.first() else { return Ok(vec![RowRef::NONE; work.groups.len()]) };
    match first.data_type() {
        ArrowType::Boolean => {
            let values: Vec<_> = column.arrays.iter().map(|a| a.as_boolean().values()).collect();
            run(work, column, name, greatest, |a, b| {
                values[a.batch()].value(a.row()).cmp(&values[b.batch()].value(b.row()))
            })
        }
        ArrowType::Int8 => primitive!(Int8Type),
        ArrowType::Int16 => primitive!(Int16Type),
        ArrowType::Int32 => primitive!(Int32Type),
        ArrowType::Int64 => primitive!(Int64Type),
        ArrowType::Date32 => primitive!(Date32Type),
        ArrowType::Time32(TimeUnit::Second) => primitive!(Time32SecondType),
        ArrowType::Time32(_) => primitive!(Time32MillisecondType),
        ArrowType::Timestamp(TimeUnit::Second, _) => primitive!(TimestampSecondType),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => primitive!(TimestampMillisecondType),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => primitive!(TimestampMicrosecondType),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => primitive!(TimestampNanosecondType),
        ArrowType::Decimal128(..) => primitive!(Decimal128Type),
        ArrowType::Float32 => primitive!(Float32Type, |a: f32, b: f32| match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(&b),
            (a, b) => a.cmp(&b),
        }),
        ArrowType::Float64 => primitive!(Float64Type, |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
            (false, false) => a.total_cmp(&b),
            (a, b) => a.cmp(&b),
        }),
        ArrowType::Utf8 => {
            let values: Vec<_> = column.arrays.iter().map(|a| a.as_string::<i32>()).collect();
            run(work, column, name, greatest, |a, b| {
                let (a, b) = (values[a.batch()].value(a.row()), values[b.batch()].value(b.row()));
                a.as_bytes().cmp(b.as_bytes())
            })
        }
        ArrowType::Binary => {
            let values: Vec<_> = column.arrays.iter().map(|a| a.as_binary::<i32>()).collect();
            run(work, column, name, greatest, |a, b| {
                values[a.batch()].value(a.row()).cmp(values[b.batch()].value(b.row()))
            })
        }
        other => Err(Error::internal(format!("{name} of values of type {other}"))),
    }
}

/// The values of a column of primitives by batch.
///
/// # Errors
/// `Internal` for another type.
pub(super) fn primitives<'a, T: ArrowPrimitiveType>(column: &Column<'a>) -> Result<Vec<&'a [T::Native]>> {
    let values = column.arrays.iter().map(|a| a.as_primitive_opt::<T>().map(|a| a.values().as_ref()));
    let values: Option<Vec<&[T::Native]>> = values.collect();
    values.ok_or_else(|| Error::internal(format!("a column must be {}", T::DATA_TYPE)))
}
