//! Rows of files at some positions.
//!
//! Invariants: positions are physical and run through the files in order, before any filter; a file without a selected
//! row is never opened. Source: read-path sheet section 8 (IndexedSplit), Python API sheet section 9.

use std::sync::Arc;

use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::row_selection::RowSelection;
use crate::scan::RowRange;
use crate::spec::{DataFileMeta, saturating_sum};

/// Which rows of each file are read; `None` for a file of which none is.
///
/// # Errors
/// `InvalidInput` for ranges that are not ascending and disjoint, or that reach beyond the files; as
/// [`RowSelection::row_count`].
pub(super) fn selections(files: &[Arc<DataFileMeta>], ranges: &[RowRange]) -> Result<Vec<Option<RowSelection>>> {
    check(files, ranges)?;
    let mut start = 0i64;
    let mut selections = Vec::with_capacity(files.len());
    for file in files {
        let end = start + file.row_count;
        let overlapping = ranges.iter().filter(|range| range.from < end && range.to >= start);
        let within: Vec<_> = overlapping.map(|r| (r.from.max(start) - start, r.to.min(end - 1) - start)).collect();
        selections.push((!within.is_empty()).then(|| selection(file.row_count, &within)).transpose()?);
        start = end;
    }
    Ok(selections)
}

fn check(files: &[Arc<DataFileMeta>], ranges: &[RowRange]) -> Result<()> {
    let rows: i64 = saturating_sum(files.iter().map(|f| f.row_count));
    let mut next = 0;
    for range in ranges {
        if range.from < next || range.to < range.from || range.to >= rows {
            return Err(Error::invalid_input(format!(
                "the range of rows {} to {} of a split must start at {next} or later and end before {rows}",
                range.from, range.to
            )));
        }
        next = range.to + 1;
    }
    Ok(())
}

fn selection(rows: i64, ranges: &[(i64, i64)]) -> Result<RowSelection> {
    let rows = RowSelection::row_count(rows)?;
    let mut positions = RoaringBitmap::new();
    for &(from, to) in ranges {
        // Both are rows of the file.
        positions.insert_range(from as u32..=to as u32);
    }
    Ok(RowSelection::only(rows, &positions))
}
