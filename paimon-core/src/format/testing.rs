//! Batches as text, to compare with.

use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};

/// One line per row; values are parted by bars, nulls are empty.
pub(super) fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::default();
    let of_batch = |batch: &RecordBatch| {
        let columns: Vec<_> =
            batch.columns().iter().map(|c| ArrayFormatter::try_new(c.as_ref(), &options).unwrap()).collect();
        let line = |row| columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join(" | ");
        (0..batch.num_rows()).map(line).collect::<Vec<_>>()
    };
    batches.iter().flat_map(of_batch).collect()
}
