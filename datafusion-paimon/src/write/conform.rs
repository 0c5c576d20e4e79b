//! Batches of the engine as batches of the table: columns by position, stored with the table's types.
//!
//! Invariants: a value that does not fit is an error, never null; nulls in NOT NULL columns are left to the writer, which
//! knows defaults and names the column. Blanks beyond the length of a text column are cut, anything else there is left to
//! the writer to refuse. Source: SQL sheet SQL-134, SQL-135.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
use datafusion::arrow::compute::can_cast_types;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use paimon_core::types::{DataType, MAX_LENGTH, RowType, to_arrow_schema};
use paimon_core::{Error, Result};

use super::store::store;

/// Casts batches by position.
#[derive(Debug, Clone)]
pub(crate) struct Conform {
    schema: SchemaRef,
    /// How many characters each text column takes.
    lengths: Vec<Option<usize>>,
}

impl Conform {
    /// From batches of `input` to batches of `table`.
    ///
    /// # Errors
    /// `SchemaMismatch` for another number of columns, or naming a column whose type cannot be cast.
    pub(crate) fn try_new(input: &Schema, row: &RowType) -> Result<Self> {
        let table = to_arrow_schema(row);
        if input.fields().len() != table.fields().len() {
            return Err(Error::schema_mismatch(format!(
                "expected {} columns, found {}",
                table.fields().len(),
                input.fields().len()
            )));
        }
        for (given, expected) in input.fields().iter().zip(table.fields()) {
            if given.data_type() != expected.data_type() && !can_cast_types(given.data_type(), expected.data_type()) {
                return Err(Error::schema_mismatch(format!(
                    "column {} has type {}, which cannot be cast to {}",
                    expected.name(),
                    given.data_type(),
                    expected.data_type()
                )));
            }
        }
        let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
        let schema = Arc::new(Schema::new(table.fields().iter().map(nullable).collect::<Vec<_>>()));
        Ok(Self { schema, lengths: row.fields().iter().map(|f| text_length(&f.data_type)).collect() })
    }

    /// The batch with the table's columns, all of them nullable.
    ///
    /// # Errors
    /// `SchemaMismatch` naming the column and a value that does not fit.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = (batch.columns().iter().zip(self.schema.fields()).zip(&self.lengths))
            .map(|((column, field), length)| {
                let stored = store(column, field.name(), field.data_type())?;
                Ok(length.map_or(Arc::clone(&stored), |limit| without_blanks(&stored, limit)))
            })
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

fn text_length(data_type: &DataType) -> Option<usize> {
    let length = match data_type {
        DataType::Char(t) => t.length(),
        DataType::VarChar(t) => t.length(),
        _ => return None,
    };
    (length != MAX_LENGTH).then_some(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Texts without the blanks behind their first `limit` characters, if there is nothing else behind them.
fn without_blanks(array: &ArrayRef, limit: usize) -> ArrayRef {
    let texts = array.as_string::<i32>();
    // A text of so few bytes cannot have more characters.
    if !texts.iter().flatten().any(|text| text.len() > limit && text.ends_with(' ')) {
        return Arc::clone(array);
    }
    let cut = |text: &'_ str| {
        let end = text.char_indices().nth(limit).map_or(text.len(), |(i, _)| i);
        let (kept, rest) = text.split_at(end);
        if rest.bytes().all(|b| b == b' ') { kept.to_owned() } else { text.to_owned() }
    };
    Arc::new(texts.iter().map(|text| text.map(cut)).collect::<StringArray>())
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int64Array, StringViewArray};
    use datafusion::arrow::datatypes::{DataType as ArrowType, Int32Type};
    use paimon_core::types::{DataField, IntType, VarCharType};

    use super::*;

    fn table() -> RowType {
        let id = DataField::new(0, "id".to_owned(), DataType::Int(IntType::with_nullable(false)));
        RowType::new(vec![id, DataField::new(1, "name".to_owned(), DataType::VarChar(VarCharType::string_type()))])
    }

    fn input() -> Schema {
        Schema::new(vec![Field::new("a", ArrowType::Int64, true), Field::new("b", ArrowType::Utf8View, true)])
    }

    fn batch(id: i64) -> RecordBatch {
        let columns = [Arc::new(Int64Array::from(vec![id])) as _, Arc::new(StringViewArray::from(vec!["x"])) as _];
        RecordBatch::try_new(Arc::new(input()), columns.to_vec()).unwrap()
    }

    #[test]
    fn columns_are_renamed_and_cast() {
        let conform = Conform::try_new(&input(), &table()).unwrap();
        let batch = conform.batch(&batch(7)).unwrap();
        assert_eq!(batch.schema().field(0).name(), "id");
        assert_eq!(batch.column(0).as_primitive::<Int32Type>().value(0), 7);
        assert_eq!(batch.column(1).as_string::<i32>().value(0), "x");
    }

    #[test]
    fn a_value_that_does_not_fit_is_an_error_naming_the_column() {
        let conform = Conform::try_new(&input(), &table()).unwrap();
        let error = conform.batch(&batch(1 << 40)).unwrap_err();
        assert!(error.to_string().contains("column id"), "{error}");
    }

    #[test]
    fn another_number_of_columns_is_refused() {
        let one = Schema::new(vec![Field::new("a", ArrowType::Int64, true)]);
        assert!(Conform::try_new(&one, &table()).is_err());
    }

    #[test]
    fn blanks_beyond_the_length_are_cut() {
        let texts =
            Arc::new(StringArray::from(vec![Some("ab  "), None, Some("é   "), Some("abcd"), Some("a ")])) as ArrayRef;
        let cut = without_blanks(&texts, 3);
        assert_eq!(
            cut.as_string::<i32>(),
            &StringArray::from(vec![Some("ab "), None, Some("é  "), Some("abcd"), Some("a ")])
        );
    }
}
