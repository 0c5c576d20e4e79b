//! From errors of the crates below to Python exceptions: one match.

use std::ffi::CString;

use datafusion::common::SchemaError;
use datafusion::error::DataFusionError;
use paimon_core::error::{Entity, ErrorKind, FILE_LEFT};
use pyo3::exceptions::{PyException, PyRuntimeError, PyRuntimeWarning};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// An error of any layer below.
#[derive(Debug)]
pub(crate) enum AnyError {
    /// Of the table format.
    Core(paimon_core::Error),
    /// Of the engine.
    Engine(DataFusionError),
    /// An exception that is passed on.
    Python(PyErr),
}

impl From<paimon_core::Error> for AnyError {
    fn from(error: paimon_core::Error) -> Self {
        Self::Core(error)
    }
}

impl From<DataFusionError> for AnyError {
    fn from(error: DataFusionError) -> Self {
        Self::Engine(error)
    }
}

impl From<PyErr> for AnyError {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

/// The exception for an error.
pub(crate) fn to_py(py: Python<'_>, error: AnyError) -> PyErr {
    match error {
        AnyError::Core(error) => core_to_py(py, &error),
        AnyError::Engine(error) => engine_to_py(py, &error),
        AnyError::Python(error) => error,
    }
}

/// Turns the error of a result into an exception.
pub(crate) trait OrRaise<T> {
    /// The value, or the exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T, E: Into<AnyError>> OrRaise<T> for Result<T, E> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|e| to_py(py, e.into()))
    }
}

/// An exception for a bug of ours.
pub(crate) fn internal(message: impl Into<String>) -> PyErr {
    PyRuntimeError::new_err(message.into())
}

/// An exception of a class of `pypaimon_rust._errors`.
pub(crate) fn raise(py: Python<'_>, class: &str, message: &str) -> PyErr {
    instance(py, class, message).unwrap_or_else(|e| e)
}

fn instance(py: Python<'_>, class: &str, message: &str) -> PyResult<PyErr> {
    let class = py.import("pypaimon_rust._errors")?.getattr(class)?;
    Ok(PyErr::from_value(class.call1((PyString::new(py, message),))?))
}

/// An `OSError` carries its number and, if known, its file.
fn os_instance(py: Python<'_>, class: &str, number: i32, message: &str, file: Option<&str>) -> PyErr {
    let make = || -> PyResult<PyErr> {
        let class = py.import("pypaimon_rust._errors")?.getattr(class)?;
        let made = match file {
            Some(file) => class.call1((number, message, file))?,
            None => class.call1((number, message))?,
        };
        Ok(PyErr::from_value(made))
    };
    make().unwrap_or_else(|e| e)
}

const ENOENT: i32 = 2;
const EIO: i32 = 5;
const EACCES: i32 = 13;
const ENOSPC: i32 = 28;

/// What the operating system said.
fn os_number(error: &paimon_core::Error) -> Option<i32> {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(io) = error.downcast_ref::<std::io::Error>() {
            return io.raw_os_error();
        }
        cause = error.source();
    }
    None
}

/// Warns of files that nothing names and that could not be deleted. Filters that turn warnings into errors do not hide
/// the error itself.
fn warn_of_files_left(py: Python<'_>, error: &paimon_core::Error) {
    let category = py.get_type::<PyRuntimeWarning>();
    for path in error.context_values(FILE_LEFT) {
        let Ok(message) = CString::new(format!("the file {path} could not be deleted and is left behind")) else {
            continue;
        };
        drop(PyErr::warn(py, &category, &message, 1));
    }
}

fn core_to_py(py: Python<'_>, error: &paimon_core::Error) -> PyErr {
    warn_of_files_left(py, error);
    let text = error.to_string();
    let class = match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::InvalidConfig | ErrorKind::NotEmpty(_) => "PaimonValueError",
        ErrorKind::SchemaMismatch => "SchemaMismatchError",
        ErrorKind::InvalidState => "StateError",
        ErrorKind::Unsupported => "UnsupportedError",
        ErrorKind::NotFound(Entity::File) => {
            return os_instance(py, "MissingFileError", ENOENT, &text, error.context_value("file"));
        }
        ErrorKind::NotFound(_) => "NotFoundError",
        ErrorKind::AlreadyExists(_) => "AlreadyExistsError",
        ErrorKind::Conflict(_) => "CommitConflictError",
        ErrorKind::CommitUnknown => "CommitUnknownError",
        ErrorKind::Corrupt => "CorruptError",
        ErrorKind::Storage { .. } => {
            let number = os_number(error).unwrap_or(EIO);
            return os_instance(py, "StorageError", number, &text, error.context_value("file"));
        }
        ErrorKind::PermissionDenied => {
            let number = os_number(error).unwrap_or(EACCES);
            return os_instance(py, "AccessDeniedError", number, &text, error.context_value("file"));
        }
        ErrorKind::MemoryExhausted => "MemoryExhaustedError",
        ErrorKind::DiskFull => return os_instance(py, "DiskFullError", ENOSPC, &text, error.context_value("file")),
        _ => "InternalError",
    };
    raise(py, class, &text)
}

/// The error of the table format within an error of the engine.
fn find_core<'a>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a paimon_core::Error> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(core) = error.downcast_ref::<paimon_core::Error>() {
            return Some(core);
        }
        let within = match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::External(inner)) => Some(inner.as_ref() as &(dyn std::error::Error + 'static)),
            Some(DataFusionError::Context(_, inner)) => Some(inner.as_ref() as &(dyn std::error::Error + 'static)),
            Some(DataFusionError::Shared(inner)) => Some(inner.as_ref() as &(dyn std::error::Error + 'static)),
            Some(DataFusionError::Diagnostic(_, inner)) => Some(inner.as_ref() as &(dyn std::error::Error + 'static)),
            _ => None,
        };
        current = within.or_else(|| error.source());
    }
    None
}

/// A Python exception within an error of the engine, as raised by a user's function.
fn find_python(py: Python<'_>, error: &(dyn std::error::Error + 'static)) -> Option<PyErr> {
    let mut current = Some(error);
    while let Some(error) = current {
        if let Some(python) = error.downcast_ref::<PyErr>() {
            return Some(python.clone_ref(py));
        }
        current = match error.downcast_ref::<DataFusionError>() {
            Some(DataFusionError::External(inner)) => Some(inner.as_ref()),
            _ => error.source(),
        };
    }
    None
}

fn engine_to_py(py: Python<'_>, error: &DataFusionError) -> PyErr {
    let python = find_python(py, error);
    if let Some(exit) = python.as_ref().filter(|e| !e.is_instance_of::<PyException>(py)) {
        // KeyboardInterrupt and SystemExit are for the whole program.
        return exit.clone_ref(py);
    }
    if let Some(core) = find_core(error) {
        let raised = core_to_py(py, core);
        if let Some(cause) = python {
            raised.set_cause(py, Some(cause));
        }
        return raised;
    }
    let text = error.strip_backtrace();
    let root = error.find_root();
    let class = match root {
        DataFusionError::SchemaError(what, _) if matches!(**what, SchemaError::FieldNotFound { .. }) => "NotFoundError",
        DataFusionError::ResourcesExhausted(what) if what.contains("disk") || what.contains("directory") => {
            return os_instance(py, "DiskFullError", ENOSPC, &text, None);
        }
        // The engine wraps the limit of its temporary files in an error of reading and writing.
        DataFusionError::ArrowError(..) | DataFusionError::IoError(_) if text.contains("used disk space") => {
            return os_instance(py, "DiskFullError", ENOSPC, &text, None);
        }
        DataFusionError::ResourcesExhausted(_) => "MemoryExhaustedError",
        DataFusionError::NotImplemented(_) => "UnsupportedError",
        DataFusionError::Internal(_) | DataFusionError::ExecutionJoin(_) => "InternalError",
        DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => {
            return os_instance(py, "StorageError", EIO, &text, None);
        }
        _ => "PaimonValueError",
    };
    let raised = raise(py, class, &text);
    if let Some(cause) = python {
        raised.set_cause(py, Some(cause));
    }
    raised
}
