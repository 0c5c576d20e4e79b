//! `SQLContext`.
use pyo3::prelude::*;
#[pyclass(module = "pypaimon_rust.datafusion", name = "SQLContext", frozen)]
pub(crate) struct PySqlContext {}
