//! From errors and panics of the Parquet library to ours.
//!
//! Invariants: an error of ours that travelled through the library comes back as it was.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ::parquet::errors::ParquetError;
use futures::FutureExt;

use crate::error::{Error, Result};

/// What the library says about bytes that it reads.
pub(super) fn from_reading(error: ParquetError) -> Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<Error>() {
            Ok(own) => *own,
            Err(other) => Error::corrupt("the Parquet file cannot be read").with_source(other),
        },
        ParquetError::NYI(what) => Error::unsupported(what),
        other => Error::corrupt("the Parquet file cannot be read").with_source(other),
    }
}

/// Runs code of the library on bytes that may be damaged: a panic becomes `Corrupt`.
pub(super) fn guarded<T>(work: impl FnOnce() -> ::parquet::errors::Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(damaged())).map_err(from_reading)
}

/// As [`guarded`] for code that waits.
pub(super) async fn guarded_async<T>(work: impl Future<Output = ::parquet::errors::Result<T>>) -> Result<T> {
    AssertUnwindSafe(work).catch_unwind().await.unwrap_or_else(|_| Err(damaged())).map_err(from_reading)
}

fn damaged() -> ParquetError {
    ParquetError::General("its values break the format".to_owned())
}
