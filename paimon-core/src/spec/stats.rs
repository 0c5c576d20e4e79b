//! Minimum, maximum and null count of columns, as metadata stores them.

use crate::row::BinaryRow;

/// Statistics of some columns: two rows of bounds and a list of null counts, all in the same order.
///
/// A bound that is null while the null count is below the row count is unknown. Empty statistics have rows of arity 0
/// and no counts. Source: `stats/SimpleStats.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleStats {
    /// Lower bounds.
    pub min_values: BinaryRow,
    /// Upper bounds.
    pub max_values: BinaryRow,
    /// Null counts; an inner `None` is unknown.
    pub null_counts: Vec<Option<i64>>,
}

impl SimpleStats {
    /// Statistics of no column.
    pub fn empty() -> Self {
        Self { min_values: BinaryRow::empty(), max_values: BinaryRow::empty(), null_counts: Vec::new() }
    }
}
