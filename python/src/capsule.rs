//! Data and engine structures in and out of Python capsules: the only file with unsafe code.
//!
//! Every capsule is checked for its name before it is read, and is read as the structure that its protocol prescribes
//! for that name.
#![expect(unsafe_code, reason = "structures of the C interfaces stand behind raw pointers")]

use std::ffi::CStr;
use std::ptr::NonNull;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayData, ArrayRef, RecordBatch, RecordBatchOptions, RecordBatchReader, StructArray, make_array,
};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::error::ArrowError;
use arrow::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi, from_ffi_and_data_type, to_ffi};
use arrow::ffi_stream::FFI_ArrowArrayStream;
use datafusion_ffi::proto::logical_extension_codec::FFI_LogicalExtensionCodec;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";
const LOGICAL_CODEC: &CStr = c"datafusion_logical_extension_codec";

fn pointer<T>(capsule: &Bound<'_, PyCapsule>, name: &'static CStr) -> PyResult<NonNull<T>> {
    if !capsule.is_valid_checked(Some(name)) {
        return Err(PyTypeError::new_err(format!("expected a capsule named {}", name.to_string_lossy())));
    }
    Ok(capsule.pointer_checked(Some(name))?.cast())
}

fn arrow_error(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Imports a batch from the pair of capsules of `__arrow_c_array__`.
pub(crate) fn import_batch(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<RecordBatch> {
    let mut schema = pointer::<FFI_ArrowSchema>(schema, SCHEMA)?;
    let mut array = pointer::<FFI_ArrowArray>(array, ARRAY)?;
    // SAFETY: the Arrow PyCapsule protocol puts a live structure of this type behind a capsule of this name; moving it out
    // and leaving a released one behind is how a consumer takes it.
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(schema.as_mut()), FFI_ArrowArray::from_raw(array.as_mut())) };
    // SAFETY: array and schema come from one producer and describe each other, by the same protocol.
    let data = unsafe { from_ffi(array, &schema) }.map_err(arrow_error)?;
    let arrow_schema = Schema::try_from(&schema).map_err(arrow_error)?;
    if !matches!(data.data_type(), DataType::Struct(_)) || data.null_count() > 0 {
        return Err(PyTypeError::new_err("expected a record batch, found a plain array"));
    }
    let parts = StructArray::from(without_offsets(data).map_err(arrow_error)?);
    let options = RecordBatchOptions::new().with_row_count(Some(parts.len()));
    RecordBatch::try_new_with_options(arrow_schema.into(), parts.columns().to_vec(), &options).map_err(arrow_error)
}

/// Imports an array with its field from the pair of capsules of `__arrow_c_array__`.
pub(crate) fn import_array(schema: &Bound<'_, PyCapsule>, array: &Bound<'_, PyCapsule>) -> PyResult<ArrayRef> {
    let mut schema = pointer::<FFI_ArrowSchema>(schema, SCHEMA)?;
    let mut array = pointer::<FFI_ArrowArray>(array, ARRAY)?;
    // SAFETY: as in `import_batch`.
    let (schema, array) =
        unsafe { (FFI_ArrowSchema::from_raw(schema.as_mut()), FFI_ArrowArray::from_raw(array.as_mut())) };
    // SAFETY: as in `import_batch`.
    let data = unsafe { from_ffi(array, &schema) }.map_err(arrow_error)?;
    Ok(make_array(without_offsets(data).map_err(arrow_error)?))
}

/// The same array with the offsets of structs and fixed-size lists moved to their parts. Slices come in with them, and Arrow
/// cuts the parts of a struct within a struct twice.
fn without_offsets(data: ArrayData) -> Result<ArrayData, ArrowError> {
    if data.child_data().is_empty() {
        return Ok(data);
    }
    let (offset, len) = (data.offset(), data.len());
    let window = match data.data_type() {
        DataType::Struct(_) => Some((offset, len)),
        DataType::FixedSizeList(_, size) => {
            let size = usize::try_from(*size).unwrap_or(0);
            Some((offset * size, len * size))
        }
        _ => None,
    };
    let part = |child: &ArrayData| without_offsets(window.map_or_else(|| Ok(child.clone()), |w| cut(child, w))?);
    let parts = data.child_data().iter().map(part).collect::<Result<_, _>>()?;
    let offset = if window.is_some() { 0 } else { offset };
    data.into_builder().offset(offset).child_data(parts).build()
}

/// A slice whose parts are as they were.
fn cut(data: &ArrayData, (offset, len): (usize, usize)) -> Result<ArrayData, ArrowError> {
    if offset.checked_add(len).is_none_or(|end| end > data.len()) {
        return Err(ArrowError::CDataInterface("a part of an array is shorter than the array".to_owned()));
    }
    let nulls = data.nulls().map(|nulls| nulls.slice(offset, len));
    // SAFETY: the window was just checked against what was there.
    let cut =
        unsafe { data.clone().into_builder().offset(data.offset() + offset).len(len).nulls(nulls).build_unchecked() };
    Ok(cut)
}

/// The pair of capsules of `__arrow_c_array__` for one array.
pub(crate) fn export_array<'py>(
    py: Python<'py>,
    array: &dyn Array,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let (array, schema) = to_ffi(&array.to_data()).map_err(arrow_error)?;
    Ok((PyCapsule::new_with_value(py, schema, SCHEMA)?, PyCapsule::new_with_value(py, array, ARRAY)?))
}

/// Imports a schema from the capsule of `__arrow_c_schema__`.
pub(crate) fn import_schema(capsule: &Bound<'_, PyCapsule>) -> PyResult<Schema> {
    let mut schema = pointer::<FFI_ArrowSchema>(capsule, SCHEMA)?;
    // SAFETY: as in `import_batch`.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_mut()) };
    Schema::try_from(&schema).map_err(arrow_error)
}

/// Imports a type or field from the capsule of `__arrow_c_schema__`.
pub(crate) fn import_field(capsule: &Bound<'_, PyCapsule>) -> PyResult<arrow::datatypes::Field> {
    let mut schema = pointer::<FFI_ArrowSchema>(capsule, SCHEMA)?;
    // SAFETY: as in `import_batch`.
    let schema = unsafe { FFI_ArrowSchema::from_raw(schema.as_mut()) };
    arrow::datatypes::Field::try_from(&schema).map_err(arrow_error)
}

/// Imports a stream from the capsule of `__arrow_c_stream__`.
pub(crate) fn import_stream(capsule: &Bound<'_, PyCapsule>) -> PyResult<Stream> {
    let mut stream = pointer::<FFI_ArrowArrayStream>(capsule, STREAM)?;
    // SAFETY: the Arrow PyCapsule protocol puts a live stream behind a capsule of this name; it is moved out.
    let mut stream = unsafe { FFI_ArrowArrayStream::from_raw(stream.as_mut()) };
    let released = || PyTypeError::new_err("the Arrow stream was read already");
    let get_schema = stream.get_schema.ok_or_else(released)?;
    let mut schema = FFI_ArrowSchema::empty();
    // SAFETY: the function belongs to this live stream, and fills in the schema if it gives 0.
    if unsafe { get_schema(&raw mut stream, &raw mut schema) } != 0 {
        return Err(arrow_error(last_error(&mut stream)));
    }
    let schema = Arc::new(Schema::try_from(&schema).map_err(arrow_error)?);
    Ok(Stream { stream, schema })
}

/// The batches of another library's stream.
pub(crate) struct Stream {
    stream: FFI_ArrowArrayStream,
    schema: SchemaRef,
}

impl Stream {
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn batch(&self, array: FFI_ArrowArray) -> Result<RecordBatch, ArrowError> {
        // SAFETY: the producer says that its arrays are of the schema of the stream.
        let data = unsafe { from_ffi_and_data_type(array, DataType::Struct(self.schema.fields().clone())) }?;
        let parts = StructArray::from(without_offsets(data)?);
        let options = RecordBatchOptions::new().with_row_count(Some(parts.len()));
        RecordBatch::try_new_with_options(self.schema.clone(), parts.columns().to_vec(), &options)
    }
}

impl Iterator for Stream {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        let get_next = self.stream.get_next?;
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: the function belongs to this live stream, and fills in the array if it gives 0: a released one at the end.
        if unsafe { get_next(&raw mut self.stream, &raw mut array) } != 0 {
            return Some(Err(ArrowError::CDataInterface(last_error(&mut self.stream))));
        }
        (!array.is_released()).then(|| self.batch(array))
    }
}

fn last_error(stream: &mut FFI_ArrowArrayStream) -> String {
    let text = stream.get_last_error.map(|get| {
        // SAFETY: the function belongs to this live stream.
        unsafe { get(stream) }
    });
    match text {
        // SAFETY: text that ends in a zero byte and lives until the next call.
        Some(text) if !text.is_null() => unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned(),
        _ => "the Arrow stream failed".to_owned(),
    }
}

/// The pair of capsules of `__arrow_c_array__`, with a schema that differs from that of the batch in metadata only.
pub(crate) fn export_batch<'py>(
    py: Python<'py>,
    batch: &RecordBatch,
    schema: &Schema,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let schema = FFI_ArrowSchema::try_from(schema).map_err(arrow_error)?;
    let parts = if batch.num_columns() == 0 {
        StructArray::new_empty_fields(batch.num_rows(), None)
    } else {
        StructArray::from(batch.clone())
    };
    let (array, _) = to_ffi(&parts.to_data()).map_err(arrow_error)?;
    Ok((PyCapsule::new_with_value(py, schema, SCHEMA)?, PyCapsule::new_with_value(py, array, ARRAY)?))
}

/// The capsule of `__arrow_c_schema__`.
pub(crate) fn export_schema<'py>(py: Python<'py>, schema: &SchemaRef) -> PyResult<Bound<'py, PyCapsule>> {
    let schema = FFI_ArrowSchema::try_from(schema.as_ref()).map_err(arrow_error)?;
    PyCapsule::new_with_value(py, schema, SCHEMA)
}

/// The capsule of `__arrow_c_stream__`.
pub(crate) fn export_stream<'py>(
    py: Python<'py>,
    reader: Box<dyn RecordBatchReader + Send>,
) -> PyResult<Bound<'py, PyCapsule>> {
    PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), STREAM)
}

/// The codec of the host that a getter is called with: a capsule, or an object that has one.
pub(crate) fn host_codec(argument: &Bound<'_, PyAny>) -> PyResult<FFI_LogicalExtensionCodec> {
    const GETTER: &str = "__datafusion_logical_extension_codec__";
    let capsule = if argument.hasattr(GETTER)? { argument.call_method0(GETTER)? } else { argument.clone() };
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        PyTypeError::new_err("expected a datafusion session, or a capsule of its logical extension codec")
    })?;
    let codec = pointer::<FFI_LogicalExtensionCodec>(capsule, LOGICAL_CODEC)?;
    // SAFETY: the protocol of datafusion 55 puts a live codec behind a capsule of this name, and the major version of the
    // host was checked before; the structure is cloned by its own function and the capsule keeps the original.
    Ok(unsafe { codec.as_ref() }.clone())
}
