//! The last steps for every batch: the exact filter, dropping deletes, the projection, the row kind.
//!
//! Invariants: batches without rows are left out; a result without columns still counts its rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, StringArray};
use arrow::compute::{and, filter_record_batch};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};

use super::columns::Columns;
use crate::error::{Error, Result};
use crate::merge::{adds, row_kinds};
use crate::predicate::evaluate;
use crate::types::RowKind;

/// What a batch to be finished holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Finish {
    /// Whether rows of kind `-U` and `-D` are dropped.
    pub(super) drop_deletes: bool,
    /// Whether batches have the column `_VALUE_KIND`; without it all rows are `+I`.
    pub(super) has_kinds: bool,
}

impl Finish {
    /// The rows of the result; `None` if no row is left.
    ///
    /// # Errors
    /// `Internal` if a column is missing; `Corrupt` for an unknown row kind.
    pub(super) fn apply(self, columns: &Columns, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
        let mut mask = columns.filter.as_ref().map(|filter| evaluate(filter, batch)).transpose()?;
        if self.drop_deletes && self.has_kinds {
            let adds = adds(batch)?;
            mask = Some(match mask {
                Some(mask) => and(&mask, &adds)?,
                None => adds,
            });
        }
        let rows = mask.as_ref().map_or(batch.num_rows(), BooleanArray::true_count);
        if rows == 0 {
            return Ok(None);
        }
        let result = self.project(columns, batch)?;
        match mask {
            Some(mask) if rows < batch.num_rows() => Ok(Some(filter_record_batch(&result, &mask)?)),
            _ => Ok(Some(result)),
        }
    }

    fn project(self, columns: &Columns, batch: &RecordBatch) -> Result<RecordBatch> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(columns.output.len() + 1);
        if columns.row_kind {
            arrays.push(if self.has_kinds { kinds(batch)? } else { inserts(batch.num_rows()) });
        }
        for field in &columns.output {
            arrays.push(Arc::clone(column(batch, &field.name)?));
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&columns.schema), arrays, &options)?)
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(|| Error::internal(format!("a batch that was read lacks column {name}")))
}

fn kinds(batch: &RecordBatch) -> Result<ArrayRef> {
    let names = row_kinds(batch)?.iter().map(|&kind| RowKind::from_byte(kind).map(RowKind::short_string));
    Ok(Arc::new(StringArray::from(names.collect::<Result<Vec<_>>>()?)))
}

fn inserts(rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(RowKind::Insert.short_string(), rows)))
}
