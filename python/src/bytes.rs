//! Bytes that Python gives.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};

/// The bytes of `bytes` or a `bytearray`; `what` they are is said otherwise.
pub(crate) fn bytes_from_py(data: &Bound<'_, PyAny>, what: &str) -> PyResult<Vec<u8>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.as_bytes().to_vec());
    }
    match data.cast::<PyByteArray>() {
        Ok(bytes) => Ok(bytes.to_vec()),
        Err(_) => Err(PyTypeError::new_err(format!("{what} is bytes, found {}", data.get_type().name()?))),
    }
}
