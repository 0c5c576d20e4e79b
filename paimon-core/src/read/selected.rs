//! Files of which only rows at some positions are read.
//!
//! Invariants: positions are physical and run through the files in order, before any filter; a file without a selected
//! row is never opened. Source: read-path sheet section 8 (IndexedSplit), Python API sheet section 9.

use std::sync::Arc;

use arrow::buffer::{BooleanBuffer, MutableBuffer};
use arrow::util::bit_util::set_bit;
use futures::StreamExt;

use super::files::RunSource;
use crate::datafile::FileRequest;
use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::meta::TablePaths;
use crate::predicate::Predicate;
use crate::scan::RowRange;
use crate::spec::DataFileMeta;
use crate::types::DataField;

/// Which rows of each file are read; `None` for a file of which none is.
///
/// # Errors
/// `InvalidInput` for ranges that are not ascending and disjoint, or that reach beyond the files.
pub(super) fn selections(files: &[Arc<DataFileMeta>], ranges: &[RowRange]) -> Result<Vec<Option<BooleanBuffer>>> {
    check(files, ranges)?;
    let mut start = 0i64;
    let mut selections = Vec::with_capacity(files.len());
    for file in files {
        let end = start + file.row_count;
        let overlapping = ranges.iter().filter(|range| range.from < end && range.to >= start);
        let within: Vec<_> = overlapping.map(|r| (r.from.max(start) - start, r.to.min(end - 1) - start)).collect();
        selections.push((!within.is_empty()).then(|| buffer(file.row_count, &within)));
        start = end;
    }
    Ok(selections)
}

fn check(files: &[Arc<DataFileMeta>], ranges: &[RowRange]) -> Result<()> {
    let rows: i64 = files.iter().map(|f| f.row_count).sum();
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

fn buffer(rows: i64, ranges: &[(i64, i64)]) -> BooleanBuffer {
    let rows = usize::try_from(rows).unwrap_or(0);
    let mut bits = MutableBuffer::from_len_zeroed(rows.div_ceil(8));
    for &(from, to) in ranges {
        for row in from..=to {
            set_bit(&mut bits, usize::try_from(row).unwrap_or(0));
        }
    }
    BooleanBuffer::new(bits.into(), 0, rows)
}

/// The selected rows of files, one file after another.
pub(super) fn selected_stream(
    source: RunSource,
    files: Vec<(Arc<DataFileMeta>, BooleanBuffer)>,
    fields: Vec<DataField>,
    filter: Option<Predicate>,
) -> BatchStream {
    async_stream::try_stream! {
        for (file, rows) in files {
            let request = FileRequest {
                path: TablePaths::data_file(&source.bucket_dir, &file),
                file,
                partition: source.partition.clone(),
                fields: fields.clone(),
                filter: filter.clone(),
                batch_rows: source.batch_rows,
            };
            let mut batches = source.reader.read_rows(request, Some(rows)).await?;
            while let Some(batch) = batches.next().await {
                yield batch?;
            }
        }
    }
    .boxed()
}
