//! Groups of rows of one key, and how the rows of a group become one value.
//!
//! Invariants: the rows of a group stand in merge order; a [`Fold`] keeps no state between groups; folds are resolved at
//! compile time, a row costs no dynamic call. Source: merge-engine sheet sections 4 and 5.

use std::ops::Range;

use arrow::array::Array;
use arrow::buffer::NullBuffer;

use crate::error::{Error, Result};

/// A row of a batch, or [`RowRef::NONE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RowRef {
    pub(super) batch: u32,
    pub(super) row: u32,
}

impl RowRef {
    /// No row: null.
    pub(super) const NONE: Self = Self { batch: u32::MAX, row: 0 };

    /// A row.
    pub(super) fn new(batch: usize, row: usize) -> Self {
        Self { batch: batch as u32, row: row as u32 }
    }

    /// Whether there is a row.
    pub(super) fn is_some(self) -> bool {
        self.batch != u32::MAX
    }

    /// The number of the batch.
    pub(super) fn batch(self) -> usize {
        self.batch as usize
    }

    /// The position in the batch.
    pub(super) fn row(self) -> usize {
        self.row as usize
    }
}

/// What a row does to the value of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing.
    Skip,
    /// It is added.
    Add,
    /// It is added before what is there, because it is older.
    AddOlder,
    /// It is taken back.
    Retract,
    /// It is taken back, but is older than what is there.
    RetractOlder,
    /// Its value becomes the state as it is.
    Fill,
    /// As `Fill`, then as `Retract`.
    FillRetract,
}

/// Groups of rows.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// The rows of all groups, one group after another.
    pub(super) rows: Vec<RowRef>,
    /// Where each group ends in `rows`.
    pub(super) ends: Vec<u32>,
}

impl Groups {
    /// The number of groups.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The places of the rows of each group.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let range = start..end as usize;
            start = end as usize;
            range
        })
    }
}

/// How the values of a group become one. Null states are up to the fold.
pub(super) trait Fold {
    /// What is known after some rows.
    type State;

    /// The state before the first row.
    fn fresh(&self) -> Self::State;

    /// The value of the row as it is.
    ///
    /// # Errors
    /// Those of values that cannot be taken.
    fn fill(&self, state: &mut Self::State, row: RowRef) -> Result<()>;

    /// Adds a row.
    ///
    /// # Errors
    /// Those of values that cannot be combined.
    fn add(&self, state: &mut Self::State, row: RowRef) -> Result<()>;

    /// Adds a row that is older than what is there.
    ///
    /// # Errors
    /// As [`Fold::add`].
    fn add_older(&self, state: &mut Self::State, row: RowRef) -> Result<()> {
        self.add(state, row)
    }

    /// Takes a row back; `older` if what is there is newer.
    ///
    /// # Errors
    /// `Unsupported` if the function cannot do it.
    fn retract(&self, state: &mut Self::State, row: RowRef, older: bool) -> Result<()>;
}

/// Folds every group and hands its state to `done`. Without `steps` all rows are added.
///
/// # Errors
/// Those of the fold.
pub(super) fn fold<F: Fold>(
    groups: &Groups,
    steps: Option<&[Step]>,
    ignore_retract: bool,
    fold: &F,
    mut done: impl FnMut(F::State) -> Result<()>,
) -> Result<()> {
    for range in groups.ranges() {
        let mut state = fold.fresh();
        match steps {
            None => {
                for &row in &groups.rows[range] {
                    fold.add(&mut state, row)?;
                }
            }
            Some(steps) => {
                for (&row, &step) in groups.rows[range.clone()].iter().zip(&steps[range]) {
                    apply(fold, &mut state, row, step, ignore_retract)?;
                }
            }
        }
        done(state)?;
    }
    Ok(())
}

fn apply<F: Fold>(fold: &F, state: &mut F::State, row: RowRef, step: Step, ignore_retract: bool) -> Result<()> {
    if matches!(step, Step::Fill | Step::FillRetract) {
        fold.fill(state, row)?;
    }
    match step {
        Step::Skip | Step::Fill => Ok(()),
        Step::Add => fold.add(state, row),
        Step::AddOlder => fold.add_older(state, row),
        _ if ignore_retract => Ok(()),
        Step::Retract | Step::FillRetract => fold.retract(state, row, false),
        Step::RetractOlder => fold.retract(state, row, true),
    }
}

/// The error of a function that cannot take rows back.
pub(super) fn no_retraction(name: &str) -> Error {
    Error::unsupported(format!(
        "Aggregate function '{name}' does not support retraction, If you allow this function to ignore retraction \
         messages, you can configure 'fields.${{field_name}}.ignore-retract'='true'."
    ))
}

/// A column of all open batches.
#[derive(Debug)]
pub(super) struct Column<'a> {
    /// By number of the batch.
    pub(super) arrays: Vec<&'a dyn Array>,
    nulls: Vec<Option<&'a NullBuffer>>,
}

impl<'a> Column<'a> {
    /// The column of these arrays.
    pub(super) fn new(arrays: Vec<&'a dyn Array>) -> Self {
        let nulls = arrays.iter().map(|a| a.nulls().filter(|n| n.null_count() > 0)).collect();
        Self { arrays, nulls }
    }

    /// Whether no value is null.
    pub(super) fn is_free_of_nulls(&self) -> bool {
        self.nulls.iter().all(Option::is_none)
    }

    /// Whether the value of a row is null.
    pub(super) fn is_null(&self, row: RowRef) -> bool {
        self.nulls[row.batch()].is_some_and(|nulls| nulls.is_null(row.row()))
    }

    /// The row, or [`RowRef::NONE`] if its value is null.
    pub(super) fn unless_null(&self, row: RowRef) -> RowRef {
        if self.is_null(row) { RowRef::NONE } else { row }
    }
}
