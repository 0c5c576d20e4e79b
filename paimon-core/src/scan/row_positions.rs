//! Rows by their positions in a plan: slices, and shards of equal size.
//!
//! Invariants: positions run through the splits and files of the whole plan in order; a file without a selected row is
//! dropped, so no reader opens it. Source: Python API sheet section 9.

use std::sync::Arc;

use super::plan::Plan;
use super::split::{RowRange, Split};
use crate::error::{Error, Result};
use crate::table::Table;

/// A selection of rows by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowPositions {
    /// Rows from `start` up to, but without, `end`.
    Slice {
        /// First position.
        start: u64,
        /// Position behind the last one.
        end: u64,
    },
    /// One of `count` parts whose sizes differ by one row at most; earlier parts are the larger ones.
    Shard {
        /// Which part, from 0.
        index: u64,
        /// How many parts.
        count: u64,
    },
}

impl RowPositions {
    /// Rows from `start` up to, but without, `end`.
    ///
    /// # Errors
    /// `InvalidInput` unless `start` is below `end`.
    pub fn slice(start: u64, end: u64) -> Result<Self> {
        if start < end {
            return Ok(Self::Slice { start, end });
        }
        Err(Error::invalid_input(format!("a slice of rows must start before it ends, but is [{start}, {end})")))
    }

    /// Part `index` of `count` parts of equal size.
    ///
    /// # Errors
    /// `InvalidInput` unless `index` is below `count`.
    pub fn shard(index: u64, count: u64) -> Result<Self> {
        if index < count {
            return Ok(Self::Shard { index, count });
        }
        Err(Error::invalid_input(format!(
            "the index of a shard must be below the count of shards, but is {index} of {count}"
        )))
    }

    /// Checks that rows of the table have positions, and that no selection of the other kind is set.
    pub(super) fn check(self, table: &Table, other: Option<Self>) -> Result<()> {
        if table.schema().has_primary_key() {
            return Err(Error::unsupported(format!(
                "selecting rows by position is not supported for tables with primary key, such as {}",
                table.identifier()
            )));
        }
        match (self, other) {
            (Self::Slice { .. }, Some(Self::Shard { .. })) | (Self::Shard { .. }, Some(Self::Slice { .. })) => {
                Err(Error::invalid_input("a slice and a shard of rows exclude each other"))
            }
            _ => Ok(()),
        }
    }

    /// The selected range of so many rows, its end excluded.
    fn range(self, rows: u64) -> (u64, u64) {
        match self {
            Self::Slice { start, end } => (start.min(rows), end.min(rows)),
            Self::Shard { index, count } => {
                let (size, larger) = (rows / count, rows % count);
                let start = index * size + index.min(larger);
                (start, start + size + u64::from(index < larger))
            }
        }
    }

    /// The selected rows of a plan.
    ///
    /// # Errors
    /// `Corrupt` for a negative count of rows.
    pub(super) fn select(self, plan: Plan) -> Result<Plan> {
        let mut rows = 0u64;
        for split in plan.splits() {
            for file in &split.files {
                rows += physical_rows(file.row_count, &file.file_name)?;
            }
        }
        let (start, end) = self.range(rows);
        let mut position = 0u64;
        let mut selected = Vec::new();
        for split in plan.splits() {
            let mut files = Vec::new();
            let mut vectors = Vec::new();
            let mut ranges: Vec<RowRange> = Vec::new();
            let mut local = 0i64;
            for (at, file) in split.files.iter().enumerate() {
                let count = physical_rows(file.row_count, &file.file_name)?;
                let (from, to) = (start.max(position), end.min(position + count));
                if from < to {
                    add_range(&mut ranges, local + signed(from - position), local + signed(to - 1 - position));
                    files.push(Arc::clone(file));
                    vectors.push(split.deletion_files.as_ref().and_then(|v| v.get(at).cloned().flatten()));
                    local += file.row_count;
                }
                position += count;
            }
            if !files.is_empty() {
                let deletion_files = vectors.iter().any(Option::is_some).then_some(vectors);
                selected.push(Split { files, deletion_files, rows: Some(ranges), ..split.clone() });
            }
        }
        Ok(Plan::new(plan.snapshot().cloned(), selected, plan.trace().clone()))
    }
}

fn physical_rows(count: i64, file: &str) -> Result<u64> {
    u64::try_from(count)
        .map_err(|_| Error::corrupt(format!("a file cannot have {count} rows")).with_context("file", file))
}

fn signed(position: u64) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

fn add_range(ranges: &mut Vec<RowRange>, from: i64, to: i64) {
    match ranges.last_mut() {
        Some(last) if last.to + 1 == from => last.to = to,
        _ => ranges.push(RowRange { from, to }),
    }
}
