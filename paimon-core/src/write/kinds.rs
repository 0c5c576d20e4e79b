//! The kinds of rows that are written.
//!
//! Source: write-path sheet section 1 steps 3, 4 and 7; `table/sink/RowKindGenerator.java`, `utils/RowKindFilter.java`.

use arrow::array::{Array, AsArray, BooleanArray, Int8Array};
use arrow::compute::{filter, filter_record_batch};
use arrow::datatypes::Int8Type;
use arrow::record_batch::RecordBatch;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{IGNORE_DELETE, IGNORE_UPDATE_BEFORE, ROWKIND_FIELD, TableSchema};
use crate::types::RowKind;

/// Decides on the kinds of rows of a primary-key table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kinds {
    column: Option<usize>,
    ignore_delete: bool,
    ignore_update_before: bool,
}

impl Kinds {
    /// As the options of a table say.
    ///
    /// # Errors
    /// `InvalidConfig` if the row kind column does not exist or an option has a bad value.
    pub(super) fn try_new(schema: &TableSchema, options: &Options) -> Result<Self> {
        let column = match options.find(&ROWKIND_FIELD)? {
            None => None,
            Some(name) => {
                let row = schema.row_type();
                let position = row.index_of(&name);
                Some(position.ok_or_else(|| {
                    Error::invalid_config(format!("Rowkind field: '{name}' can not be found in table schema."))
                })?)
            }
        };
        Ok(Self {
            column,
            ignore_delete: options.value(&IGNORE_DELETE)?,
            ignore_update_before: options.value(&IGNORE_UPDATE_BEFORE)?,
        })
    }

    /// The rows that are kept, with their kinds; rows without a kind are inserts.
    ///
    /// # Errors
    /// `InvalidInput` for a row kind that is null or unknown.
    pub(super) fn apply(&self, batch: RecordBatch, given: Option<&Int8Array>) -> Result<(RecordBatch, Int8Array)> {
        let kinds = match (self.column, given) {
            (Some(column), _) => read_kinds(&batch, column)?,
            (None, Some(given)) => check_kinds(&batch, given)?,
            (None, None) => {
                return Ok((batch.clone(), Int8Array::from(vec![RowKind::Insert as i8; batch.num_rows()])));
            }
        };
        if !self.ignore_delete && !self.ignore_update_before {
            return Ok((batch, kinds));
        }
        let dropped =
            |kind: i8| kind == RowKind::UpdateBefore as i8 || self.ignore_delete && kind == RowKind::Delete as i8;
        let kept = BooleanArray::from_unary(&kinds, |kind| !dropped(kind));
        let kinds = filter(&kinds, &kept)?.as_primitive::<Int8Type>().clone();
        Ok((filter_record_batch(&batch, &kept)?, kinds))
    }
}

fn read_kinds(batch: &RecordBatch, column: usize) -> Result<Int8Array> {
    let texts = batch
        .columns()
        .get(column)
        .and_then(|c| c.as_string_opt::<i32>())
        .ok_or_else(|| Error::invalid_config(format!("the column of option '{}' is no text", ROWKIND_FIELD.key)))?;
    let kind = |text: Option<&str>| match text {
        Some(text) => RowKind::from_short_string(text).map(|kind| kind as i8),
        None => Err(Error::invalid_input("Row kind cannot be null.")),
    };
    texts.iter().map(|text| kind(text).map(Some)).collect()
}

fn check_kinds(batch: &RecordBatch, kinds: &Int8Array) -> Result<Int8Array> {
    if kinds.len() != batch.num_rows() || kinds.null_count() > 0 {
        return Err(Error::invalid_input(format!("expected {} row kinds that are not null", batch.num_rows())));
    }
    kinds.values().iter().try_for_each(|kind| RowKind::from_byte(*kind).map(|_| ()))?;
    Ok(kinds.clone())
}

/// Checks the kinds of rows of an append table.
///
/// # Errors
/// `InvalidInput` for `-U` and `-D`.
pub(super) fn check_append_kinds(batch: &RecordBatch, kinds: &Int8Array) -> Result<()> {
    for kind in check_kinds(batch, kinds)?.values() {
        let kind = RowKind::from_byte(*kind)?;
        if kind.is_retract() {
            let kind = kind.short_string();
            return Err(Error::invalid_input(format!("Append only writer can not accept row with RowKind {kind}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, StringArray};

    use super::*;

    fn rows() -> RecordBatch {
        let texts: ArrayRef = Arc::new(StringArray::from(vec!["+I", "-U", "+U", "-D"]));
        RecordBatch::try_from_iter([("kind", texts)]).unwrap()
    }

    #[test]
    fn kinds_come_from_their_column_and_are_filtered() {
        for (ignore_delete, ignore_update_before, expected) in
            [(false, false, vec![0, 1, 2, 3]), (true, false, vec![0, 2]), (false, true, vec![0, 2, 3])]
        {
            let rule = Kinds { column: Some(0), ignore_delete, ignore_update_before };
            let (batch, kinds) = rule.apply(rows(), None).unwrap();
            assert_eq!((batch.num_rows(), kinds.values().to_vec()), (expected.len(), expected));
        }
    }

    #[test]
    fn append_tables_take_no_retracts() {
        assert!(check_append_kinds(&rows(), &Int8Array::from(vec![0, 2, 2, 0])).is_ok());
        let error = check_append_kinds(&rows(), &Int8Array::from(vec![0, 2, 2, 3])).unwrap_err();
        assert_eq!(error.message(), "Append only writer can not accept row with RowKind -D");
        assert!(check_append_kinds(&rows(), &Int8Array::from(vec![0])).is_err());
    }
}
