//! Keeps panics of decoders inside.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result};

/// How the message ends of the error that a panic becomes.
pub(crate) const BREAKS_THE_FORMAT: &str = "its values break the format";

/// Runs code on bytes that may be damaged: a panic becomes `Corrupt`.
pub(super) fn guarded<T>(format: &'static str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::corrupt(format!("the {format} file cannot be read: {BREAKS_THE_FORMAT}"))))
}
