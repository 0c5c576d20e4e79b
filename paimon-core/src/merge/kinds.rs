//! Row kinds of key-value batches.

use arrow::array::{Array, AsArray, BooleanArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::Int8Type;
use arrow::record_batch::RecordBatch;

use crate::error::{Error, Result};
use crate::types::{RowKind, VALUE_KIND};

/// The bytes of the row kinds of a batch, all of them known kinds.
///
/// # Errors
/// `Internal` if there is no column `_VALUE_KIND`; `Corrupt` for nulls and unknown kinds.
pub(crate) fn row_kinds(batch: &RecordBatch) -> Result<&[i8]> {
    let column = batch.column_by_name(VALUE_KIND);
    let column = column.ok_or_else(|| Error::internal(format!("a key-value batch lacks {VALUE_KIND}")))?;
    let kinds = column.as_primitive_opt::<Int8Type>().filter(|c| c.null_count() == 0);
    let kinds = kinds.ok_or_else(|| Error::corrupt(format!("{VALUE_KIND} must be TINYINT without nulls")))?;
    if let Some(&kind) = kinds.values().iter().find(|k| !(0..=3).contains(*k)) {
        RowKind::from_byte(kind)?;
    }
    Ok(kinds.values())
}

/// Whether a row of this kind takes something away.
pub(crate) fn is_retract(kind: i8) -> bool {
    kind == RowKind::UpdateBefore as i8 || kind == RowKind::Delete as i8
}

/// Which rows are no retracts.
///
/// # Errors
/// As [`row_kinds`].
pub(crate) fn adds(batch: &RecordBatch) -> Result<BooleanArray> {
    let kinds = row_kinds(batch)?;
    Ok(BooleanArray::new(BooleanBuffer::collect_bool(kinds.len(), |i| !is_retract(kinds[i])), None))
}
