//! Brings batches of a caller into the form of the table.
//!
//! Invariants: columns match by position, name and type; only encodings of the same values are accepted; NOT NULL is checked
//! before defaults replace nulls. A batch that is already in the form of the table is not copied.
//! Source: write-path sheet section 1; `table/sink/TableWriteImpl.java`, `casting/DefaultValueRow.java`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Scalar, StringArray};
use arrow::compute::kernels::zip::zip;
use arrow::compute::{CastOptions, cast_with_options, is_null};
use arrow::datatypes::{DataType as ArrowType, FieldRef, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};

use super::lengths::check_lengths;
use super::ranges::check_ranges;
use crate::datafile::cast::cast;
use crate::error::{Error, Result};
use crate::spec::TableSchema;
use crate::types::{DataField, DataType, VarCharType, to_arrow_schema};

/// Brings batches into the form of one table.
pub(super) struct Normalizer {
    fields: Vec<DataField>,
    arrow: SchemaRef,
    /// One value per column that has a default.
    defaults: Vec<Option<ArrayRef>>,
}

impl std::fmt::Debug for Normalizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Normalizer").field("fields", &self.fields).finish_non_exhaustive()
    }
}

impl Normalizer {
    /// For the columns of a table.
    ///
    /// # Errors
    /// `Unsupported` or `InvalidConfig` naming the column whose default does not become its type.
    pub(super) fn try_new(schema: &TableSchema) -> Result<Self> {
        let row = schema.row_type();
        let defaults = schema.fields.iter().map(default_value).collect::<Result<_>>()?;
        Ok(Self { arrow: to_arrow_schema(&row), fields: schema.fields.clone(), defaults })
    }

    /// The batch in the form of the table.
    ///
    /// # Errors
    /// `SchemaMismatch` naming the first column that differs, holds a null that it may not, a value that is too long or one
    /// out of the range of its type.
    pub(super) fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        self.check_schema(batch)?;
        let columns = batch.columns().iter().zip(self.arrow.fields());
        let columns = columns.map(|(array, field)| convert(array, field)).collect::<Result<Vec<_>>>()?;
        for (array, field) in columns.iter().zip(&self.fields) {
            if !field.data_type.is_nullable() && array.null_count() > 0 {
                let message = format!("Cannot write null to non-null column({})", field.name);
                return Err(Error::schema_mismatch(message).with_context("column", &field.name));
            }
            check_lengths(array, field)?;
            check_ranges(array, &field.name)?;
        }
        let columns = columns.into_iter().zip(&self.defaults).map(|(array, default)| match default {
            Some(default) if array.null_count() > 0 => {
                Ok(zip(&is_null(&array)?, &Scalar::new(Arc::clone(default)), &array)?)
            }
            _ => Ok(array),
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(&self.arrow), columns, &options)
            .map_err(|e| Error::schema_mismatch("the batch does not fit the table").with_source(e))
    }

    fn check_schema(&self, batch: &RecordBatch) -> Result<()> {
        let schema = batch.schema_ref();
        let (found, expected) = (schema.fields(), self.arrow.fields());
        for (position, (found, expected)) in found.iter().zip(expected).enumerate() {
            if found.name() != expected.name() || !accepts(found.data_type(), expected.data_type()) {
                return Err(Error::schema_mismatch(format!(
                    "column {position} of the batch is {} {}, but the table expects {} {}",
                    found.name(),
                    found.data_type(),
                    expected.name(),
                    expected.data_type()
                ))
                .with_context("column", expected.name()));
            }
        }
        if found.len() != expected.len() {
            let column = expected.get(found.len()).or_else(|| found.get(expected.len()));
            let name = column.map(|f| f.name().clone()).unwrap_or_default();
            return Err(Error::schema_mismatch(format!(
                "the batch has {} columns, but the table has {}",
                found.len(),
                expected.len()
            ))
            .with_context("column", name));
        }
        Ok(())
    }
}

fn convert(array: &ArrayRef, field: &FieldRef) -> Result<ArrayRef> {
    if array.data_type() == field.data_type() {
        return Ok(Arc::clone(array));
    }
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, field.data_type(), &strict).map_err(|e| {
        let message = format!("column {} does not fit {}", field.name(), field.data_type());
        Error::schema_mismatch(message).with_context("column", field.name()).with_source(e)
    })
}

/// Whether values of the type that was found are values of the type that is expected, in another encoding at most.
fn accepts(found: &ArrowType, expected: &ArrowType) -> bool {
    match (found, expected) {
        (ArrowType::Dictionary(_, value), _) => accepts(value, expected),
        (ArrowType::RunEndEncoded(_, values), _) => accepts(values.data_type(), expected),
        (_, ArrowType::Utf8) => matches!(found, ArrowType::Utf8 | ArrowType::LargeUtf8 | ArrowType::Utf8View),
        (_, ArrowType::Binary) => matches!(
            found,
            ArrowType::Binary | ArrowType::LargeBinary | ArrowType::BinaryView | ArrowType::FixedSizeBinary(_)
        ),
        (ArrowType::List(found) | ArrowType::LargeList(found), ArrowType::List(expected)) => {
            accepts(found.data_type(), expected.data_type())
        }
        (ArrowType::Map(found, _), ArrowType::Map(expected, _)) => match (found.data_type(), expected.data_type()) {
            (ArrowType::Struct(found), ArrowType::Struct(expected)) => {
                let mut pairs = found.iter().zip(expected);
                found.len() == expected.len() && pairs.all(|(f, e)| accepts(f.data_type(), e.data_type()))
            }
            _ => false,
        },
        (ArrowType::Struct(found), ArrowType::Struct(expected)) => {
            let same = |(f, e): (&FieldRef, &FieldRef)| f.name() == e.name() && accepts(f.data_type(), e.data_type());
            found.len() == expected.len() && found.iter().zip(expected).all(same)
        }
        _ => found == expected,
    }
}

/// The value that replaces null in a column.
fn default_value(field: &DataField) -> Result<Option<ArrayRef>> {
    let Some(text) = &field.default_value else { return Ok(None) };
    let plain = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')).unwrap_or(text);
    let from = DataType::VarChar(VarCharType::string_type());
    let array: ArrayRef = Arc::new(StringArray::from(vec![plain]));
    let value = cast(&field.name, &from, &field.data_type)?(&array);
    value.map(Some).map_err(|e| {
        let message = format!("Unsupported default value `{text}` for column {}", field.name);
        Error::invalid_config(message).with_source(e)
    })
}

#[cfg(test)]
mod tests {
    use arrow::array::{AsArray, DictionaryArray, Int32Array, LargeStringArray, StringViewArray};
    use arrow::datatypes::{Field, Int32Type, Schema};

    use super::*;
    use crate::error::ErrorKind;
    use crate::types::testing::*;

    fn normalizer() -> Normalizer {
        let mut fields = row_type(&[("id", int().with_nullable(false)), ("name", string()), ("n", int())]);
        let mut columns = fields.fields().to_vec();
        columns[1].default_value = Some("'none'".to_owned());
        fields = crate::types::RowType::new(columns);
        Normalizer::try_new(&TableSchema {
            version: 3,
            id: 0,
            fields: fields.fields().to_vec(),
            highest_field_id: 2,
            partition_keys: Vec::new(),
            primary_keys: Vec::new(),
            options: Default::default(),
            comment: None,
            time_millis: 0,
        })
        .unwrap()
    }

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        let fields: Vec<_> = columns.iter().map(|(n, a)| Field::new(*n, a.data_type().clone(), true)).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, a)| a).collect()).unwrap()
    }

    fn ids(values: Vec<Option<i32>>) -> ArrayRef {
        Arc::new(Int32Array::from(values))
    }

    #[test]
    fn encodings_of_text_are_accepted_and_nulls_get_defaults() {
        let texts: [ArrayRef; 4] = [
            Arc::new(StringArray::from(vec![Some("a"), None])),
            Arc::new(LargeStringArray::from(vec![Some("a"), None])),
            Arc::new(StringViewArray::from(vec![Some("a"), None])),
            Arc::new([Some("a"), None].into_iter().collect::<DictionaryArray<Int32Type>>()),
        ];
        for text in texts {
            let input = batch(vec![("id", ids(vec![Some(1), Some(2)])), ("name", text), ("n", ids(vec![None, None]))]);
            let found = normalizer().apply(&input).unwrap();
            assert_eq!(found.column(1).as_string::<i32>().iter().collect::<Vec<_>>(), [Some("a"), Some("none")]);
        }
    }

    #[test]
    fn what_differs_is_named() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let one = || ids(vec![Some(1)]);
        let cases = [
            (batch(vec![("id", one()), ("name", text.clone())]), "n"),
            (batch(vec![("id", one()), ("n", one()), ("name", text.clone())]), "name"),
            (batch(vec![("ID", one()), ("name", text.clone()), ("n", one())]), "id"),
            (batch(vec![("id", one()), ("name", one()), ("n", one())]), "name"),
            (batch(vec![("id", ids(vec![None])), ("name", text), ("n", one())]), "id"),
        ];
        for (input, column) in cases {
            let error = normalizer().apply(&input).unwrap_err();
            assert_eq!((error.kind(), error.context_value("column")), (ErrorKind::SchemaMismatch, Some(column)));
        }
    }

    #[test]
    fn a_fitting_batch_is_not_copied() {
        let text: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
        let input = batch(vec![("id", ids(vec![Some(1)])), ("name", text.clone()), ("n", ids(vec![None]))]);
        let found = normalizer().apply(&input).unwrap();
        assert!(Arc::ptr_eq(found.column(1), &text));
    }
}
