//! Whole numbers that Python hands in.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt};

use crate::errors::raise;

/// The whole number `name`, which is at least `least` if that is said and fits its type; also one of NumPy.
///
/// # Errors
/// `TypeError` for other types and booleans; `PaimonValueError` naming what was expected.
pub(crate) fn whole<T: TryFrom<i128>>(name: &str, value: &Bound<'_, PyAny>, least: Option<i128>) -> PyResult<T> {
    let wrong = || PyTypeError::new_err(format!("{name} is an int, found {}", value.get_type()));
    if value.is_instance_of::<PyBool>() {
        return Err(wrong());
    }
    let number = match value.cast::<PyInt>() {
        Ok(number) => number.clone().into_any(),
        Err(_) => value.call_method0("__index__").map_err(|_| wrong())?,
    };
    let fitting = number.extract::<i128>().ok().filter(|number| least.is_none_or(|least| *number >= least));
    fitting.and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
        let (least, bits) =
            (least.map_or_else(String::new, |least| format!("be {least} or more and ")), 8 * size_of::<T>());
        raise(value.py(), "PaimonValueError", &format!("{name} must {least}fit {bits} bits, but is {value}"))
    })
}

/// A number or boolean of NumPy as one of Python; anything else as it is.
pub(crate) fn without_numpy<'py>(value: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
    let item = || -> PyResult<Bound<'py, PyAny>> {
        let kind: String = value.getattr("dtype")?.getattr("kind")?.extract()?;
        let is_scalar = value.getattr("shape")?.len()? == 0;
        if is_scalar && ["b", "i", "u", "f"].contains(&kind.as_str()) {
            value.call_method0("item")
        } else {
            Ok(value.clone())
        }
    };
    item().unwrap_or_else(|_| value.clone())
}
