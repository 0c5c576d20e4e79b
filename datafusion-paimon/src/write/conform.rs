//! Batches of the engine as batches of the table: columns by position, cast to the table's types.
//!
//! Invariants: a value that does not fit is an error, never null; nulls in NOT NULL columns are left to the writer, which
//! knows defaults and names the column.

use std::sync::Arc;

use datafusion::arrow::compute::{CastOptions, can_cast_types, cast_with_options};
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::{RecordBatch, RecordBatchOptions};
use paimon_core::{Error, Result};

/// Casts batches by position.
#[derive(Debug, Clone)]
pub(crate) struct Conform {
    schema: SchemaRef,
}

impl Conform {
    /// From batches of `input` to batches of `table`.
    ///
    /// # Errors
    /// `SchemaMismatch` for another number of columns, or naming a column whose type cannot be cast.
    pub(crate) fn try_new(input: &Schema, table: &Schema) -> Result<Self> {
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
        Ok(Self { schema: Arc::new(Schema::new(table.fields().iter().map(nullable).collect::<Vec<_>>())) })
    }

    /// The batch with the table's columns, all of them nullable.
    ///
    /// # Errors
    /// `SchemaMismatch` naming the column and a value that does not fit.
    pub(crate) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let strict = CastOptions { safe: false, ..CastOptions::default() };
        let columns = (batch.columns().iter().zip(self.schema.fields()))
            .map(|(column, field)| {
                cast_with_options(column, field.data_type(), &strict)
                    .map_err(|e| Error::schema_mismatch(format!("column {}: {e}", field.name())))
            })
            .collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{AsArray, Int64Array, StringViewArray};
    use datafusion::arrow::datatypes::{DataType, Int32Type};

    use super::*;

    fn table() -> Schema {
        Schema::new(vec![Field::new("id", DataType::Int32, false), Field::new("name", DataType::Utf8, true)])
    }

    fn input() -> Schema {
        Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8View, true)])
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
        let one = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
        assert!(Conform::try_new(&one, &table()).is_err());
    }
}
