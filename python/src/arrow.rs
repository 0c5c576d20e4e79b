//! Batches, schemas and streams between Python and Arrow, over the Arrow PyCapsule interface.
//!
//! Invariants: what Python gives is checked as a whole before anything else sees it, for Arrow's kernels trust offsets and
//! text; nothing is copied; results are objects of `pyarrow`, which is imported only when one is made.

use ::arrow::array::{Array, RecordBatch, RecordBatchReader, new_empty_array};
use ::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use ::arrow::error::ArrowError;
use pyo3::exceptions::{PyImportError, PyStopIteration, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::capsule;

/// The metadata of a field that holds its id in the format.
const FIELD_ID: &str = "PARQUET:field_id";

fn pyarrow(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import("pyarrow").map_err(|cause| {
        let error = PyImportError::new_err("this call needs pyarrow: pip install pyarrow");
        error.set_cause(py, Some(cause));
        error
    })
}

/// The array, if its offsets and texts are what its type says.
fn sound<A: AsRef<dyn Array>>(array: A, name: &str) -> PyResult<A> {
    match array.as_ref().to_data().validate_full() {
        Ok(()) => Ok(array),
        Err(error) => Err(PyValueError::new_err(format!("{name} is no valid Arrow array: {error}"))),
    }
}

fn sound_batch(batch: RecordBatch) -> PyResult<RecordBatch> {
    if batch.num_rows() == 0 {
        // Of a slice without rows the offsets may point beyond what came along.
        return Ok(RecordBatch::new_empty(batch.schema()));
    }
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        sound(column, &format!("column {}", field.name()))?;
    }
    Ok(batch)
}

fn next_batch(batch: Result<RecordBatch, ArrowError>) -> PyResult<RecordBatch> {
    sound_batch(batch.map_err(|e| PyValueError::new_err(e.to_string()))?)
}

/// Schema and array of an object with `__arrow_c_array__`.
fn array_capsules<'py>(object: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let pair = object.call_method0("__arrow_c_array__")?.cast_into::<PyTuple>()?;
    Ok((pair.get_item(0)?.cast_into()?, pair.get_item(1)?.cast_into()?))
}

/// A batch from an object with `__arrow_c_array__`.
pub(crate) fn batch_from_py(object: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    if !object.hasattr("__arrow_c_array__")? {
        let found = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a pyarrow.RecordBatch, found {found}")));
    }
    let (schema, array) = array_capsules(object)?;
    sound_batch(capsule::import_batch(&schema, &array)?)
}

/// The batches of an object with `__arrow_c_array__` or `__arrow_c_stream__`, each as it is asked for.
pub(crate) fn for_each_batch(
    object: &Bound<'_, PyAny>,
    mut consume: impl FnMut(RecordBatch) -> PyResult<()>,
) -> PyResult<()> {
    if object.hasattr("__arrow_c_array__")? {
        return consume(batch_from_py(object)?);
    }
    if !object.hasattr("__arrow_c_stream__")? {
        let found = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "expected a pyarrow.RecordBatch or an object with __arrow_c_stream__, found {found}"
        )));
    }
    if object.hasattr("read_next_batch")? {
        // By its own method, for what it raises: a stream in C keeps nothing but the text.
        return loop {
            match object.call_method0("read_next_batch") {
                Ok(batch) => consume(batch_from_py(&batch)?)?,
                Err(end) if end.is_instance_of::<PyStopIteration>(object.py()) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
    }
    let stream = object.call_method0("__arrow_c_stream__")?;
    for batch in capsule::import_stream(stream.cast::<PyCapsule>()?)? {
        consume(next_batch(batch)?)?;
    }
    Ok(())
}

/// All batches of an object with `__arrow_c_array__` or `__arrow_c_stream__`, and their schema.
pub(crate) fn batches_from_py(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    if object.hasattr("__arrow_c_array__")? || !object.hasattr("__arrow_c_stream__")? {
        let batch = batch_from_py(object)?;
        return Ok((batch.schema(), vec![batch]));
    }
    let stream = object.call_method0("__arrow_c_stream__")?;
    let reader = capsule::import_stream(stream.cast::<PyCapsule>()?)?;
    let schema = reader.schema().clone();
    Ok((schema, reader.map(next_batch).collect::<PyResult<_>>()?))
}

/// A schema from an object with `__arrow_c_schema__`.
pub(crate) fn schema_from_py(object: &Bound<'_, PyAny>) -> PyResult<Schema> {
    if !object.hasattr("__arrow_c_schema__")? {
        let found = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a pyarrow.Schema, found {found}")));
    }
    capsule::import_schema(object.call_method0("__arrow_c_schema__")?.cast::<PyCapsule>()?)
}

/// A type with its nullability from a `pyarrow.DataType`, a `pyarrow.Field` or the name of a type.
pub(crate) fn field_from_py(object: &Bound<'_, PyAny>) -> PyResult<Field> {
    let object = match object.extract::<String>() {
        Ok(name) => {
            let name = match name.to_ascii_lowercase().as_str() {
                "bigint" => "int64".to_owned(),
                "int" | "integer" => "int32".to_owned(),
                "smallint" => "int16".to_owned(),
                "tinyint" => "int8".to_owned(),
                "double" => "float64".to_owned(),
                "float" => "float32".to_owned(),
                "boolean" => "bool".to_owned(),
                other => other.to_owned(),
            };
            let found = pyarrow(object.py())?.call_method1("type_for_alias", (name.as_str(),));
            found.map_err(|_| PyTypeError::new_err(format!("unknown type name '{name}'")))?
        }
        Err(_) => object.clone(),
    };
    if !object.hasattr("__arrow_c_schema__")? {
        let found = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!(
            "expected a pyarrow type, a field or the name of a type, found {found}"
        )));
    }
    capsule::import_field(object.call_method0("__arrow_c_schema__")?.cast::<PyCapsule>()?)
}

/// The same batch with plain text and bytes instead of view types.
pub(crate) fn without_views(batch: RecordBatch) -> Result<RecordBatch, ::arrow::error::ArrowError> {
    let schema = batch.schema();
    let plain = |t: &DataType| match t {
        DataType::Utf8View => Some(DataType::Utf8),
        DataType::BinaryView => Some(DataType::Binary),
        _ => None,
    };
    if !schema.fields().iter().any(|f| plain(f.data_type()).is_some()) {
        return Ok(batch);
    }
    let mut fields = Vec::with_capacity(batch.num_columns());
    let mut columns = Vec::with_capacity(batch.num_columns());
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        match plain(field.data_type()) {
            Some(target) => {
                columns.push(::arrow::compute::cast(column, &target)?);
                fields.push(std::sync::Arc::new(field.as_ref().clone().with_data_type(target)));
            }
            None => {
                columns.push(std::sync::Arc::clone(column));
                fields.push(std::sync::Arc::clone(field));
            }
        }
    }
    RecordBatch::try_new(std::sync::Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone())), columns)
}

/// A `pyarrow.RecordBatch`.
pub(crate) fn batch_to_py<'py>(py: Python<'py>, batch: &RecordBatch) -> PyResult<Bound<'py, PyAny>> {
    batch_as(py, batch, &batch.schema())
}

/// As [`batch_to_py`], with a schema that differs in metadata only.
fn batch_as<'py>(py: Python<'py>, batch: &RecordBatch, schema: &Schema) -> PyResult<Bound<'py, PyAny>> {
    let (schema, array) = capsule::export_batch(py, batch, schema)?;
    pyarrow(py)?.getattr("RecordBatch")?.call_method1("_import_from_c_capsule", (schema, array))
}

/// Batches that have rows, as `pyarrow.RecordBatch` objects.
pub(crate) fn batches_to_py<'py>(py: Python<'py>, batches: &[RecordBatch]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    batches.iter().filter(|b| b.num_rows() > 0).map(|b| batch_to_py(py, b)).collect()
}

/// The field without its id in the format.
fn without_id(field: &Field) -> Field {
    let mut metadata = field.metadata().clone();
    metadata.remove(FIELD_ID);
    field.clone().with_metadata(metadata)
}

/// As [`batches_to_py`] for the result of a statement: the ids of fields are not shown.
pub(crate) fn results_to_py<'py>(py: Python<'py>, batches: &[RecordBatch]) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let with_rows = batches.iter().filter(|batch| batch.num_rows() > 0);
    let plain = |batch: &RecordBatch| {
        let schema = batch.schema();
        let fields: Vec<Field> = schema.fields().iter().map(|field| without_id(field)).collect();
        batch_as(py, batch, &Schema::new_with_metadata(fields, schema.metadata().clone()))
    };
    with_rows.map(plain).collect()
}

/// A `pyarrow.Schema`.
pub(crate) fn schema_to_py<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyAny>> {
    let capsule = capsule::export_schema(py, schema)?;
    pyarrow(py)?.getattr("Schema")?.call_method1("_import_from_c_capsule", (capsule,))
}

/// The capsule of `__arrow_c_stream__`.
pub(crate) fn stream_capsule<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    capsule::export_stream(py, reader)
}

/// A `pyarrow.Array`.
pub(crate) fn array_to_py<'py>(py: Python<'py>, array: &dyn Array) -> PyResult<Bound<'py, PyAny>> {
    let (schema, array) = capsule::export_array(py, array)?;
    pyarrow(py)?.getattr("Array")?.call_method1("_import_from_c_capsule", (schema, array))
}

/// An array from a `pyarrow.Array`, and from nothing else.
pub(crate) fn array_from_py(object: &Bound<'_, PyAny>) -> PyResult<::arrow::array::ArrayRef> {
    if !object.is_instance(&pyarrow(object.py())?.getattr("Array")?)? {
        let found = object.get_type().name()?;
        return Err(PyTypeError::new_err(format!("expected a pyarrow.Array, found {found}")));
    }
    let (schema, array) = array_capsules(object)?;
    let array = capsule::import_array(&schema, &array)?;
    if array.is_empty() {
        return Ok(new_empty_array(array.data_type()));
    }
    sound(array, "the result")
}
