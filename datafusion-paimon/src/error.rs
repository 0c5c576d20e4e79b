//! Errors of the table format as errors of the engine, and back.
//!
//! Invariants: the core error travels whole, so that its kind can be read at the other end; nothing is renamed.

use std::error::Error as StdError;

use datafusion::common::DataFusionError;
use datafusion::error::Result;
use paimon_core::{Error, ErrorKind};

/// The engine's error that carries a core error; [`core_error`] finds it again.
pub fn to_datafusion(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The core error inside an error of the engine, through any wrapping; `None` if the engine itself failed.
pub fn core_error(error: &DataFusionError) -> Option<&Error> {
    let mut current: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = current {
        if let Some(core) = error.downcast_ref::<Error>() {
            return Some(core);
        }
        current = error.source();
    }
    None
}

/// The core error for an error of the engine: the one inside, else one that says what the engine says.
pub fn to_core(error: DataFusionError) -> Error {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(core) => *core,
            Err(other) => Error::internal("the query engine failed").with_source(other),
        },
        DataFusionError::ResourcesExhausted(message) => Error::new(ErrorKind::MemoryExhausted, message),
        DataFusionError::NotImplemented(message) => Error::unsupported(message),
        DataFusionError::Plan(message) => Error::invalid_input(message),
        other => match core_error(&other) {
            Some(core) => Error::new(core.kind(), core.to_string()),
            None => Error::invalid_input("the query failed").with_source(other),
        },
    }
}

/// The error for a host behind a C interface, which sees nothing but its text: without the engine's words for an error of
/// another library.
pub fn to_host(error: DataFusionError) -> DataFusionError {
    let Some(core) = core_error(&error) else { return error };
    let text = core.to_string();
    match core.kind() {
        ErrorKind::Unsupported => DataFusionError::NotImplemented(text),
        ErrorKind::MemoryExhausted => DataFusionError::ResourcesExhausted(text),
        ErrorKind::InvalidInput
        | ErrorKind::InvalidConfig
        | ErrorKind::NotFound(_)
        | ErrorKind::AlreadyExists(_)
        | ErrorKind::NotEmpty(_) => DataFusionError::Plan(text),
        _ => DataFusionError::Execution(text),
    }
}

/// `Unsupported` as an error of the engine.
pub(crate) fn unsupported<T>(message: impl Into<String>) -> Result<T> {
    Err(to_datafusion(Error::unsupported(message.into())))
}

/// `InvalidInput` as an error of the engine.
pub(crate) fn invalid_input<T>(message: impl Into<String>) -> Result<T> {
    Err(to_datafusion(Error::invalid_input(message.into())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use datafusion::arrow::error::ArrowError;

    use super::*;

    #[test]
    fn a_core_error_survives_wrapping() {
        let wrapped = DataFusionError::Context(
            "while planning".into(),
            Box::new(DataFusionError::Shared(Arc::new(to_datafusion(Error::corrupt("bad magic"))))),
        );
        assert_eq!(core_error(&wrapped).map(Error::kind), Some(ErrorKind::Corrupt));
        assert_eq!(to_core(wrapped).kind(), ErrorKind::Corrupt);
        let arrow = DataFusionError::from(ArrowError::from(Error::unsupported("blob")));
        assert_eq!(core_error(&arrow).map(Error::kind), Some(ErrorKind::Unsupported));
    }

    #[test]
    fn a_host_sees_the_message() {
        let error = to_host(to_datafusion(Error::unsupported("blob"))).to_string();
        assert!(error.ends_with("blob") && !error.contains("External"), "{error}");
        assert!(to_host(to_datafusion(Error::corrupt("bad magic"))).to_string().ends_with("bad magic"));
    }

    #[test]
    fn an_error_of_the_engine_has_no_core_error() {
        let error = DataFusionError::ResourcesExhausted("pool is empty".into());
        assert!(core_error(&error).is_none());
        assert_eq!(to_core(error).kind(), ErrorKind::MemoryExhausted);
    }
}
