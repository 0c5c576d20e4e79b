//! From the errors of stores to ours.
//!
//! Invariants: every error of this room names the location in the context `file`; nothing of an option or credential is
//! in it. Source: storage sheet section 3, result mapping.

use std::io;

use crate::error::{Entity, Error, ErrorKind, Result};

/// The error of an operating system call on `location`.
pub(super) fn from_io(error: io::Error, location: &str) -> Error {
    from_io_kind(error.kind()).with_context("file", location).with_source(error)
}

/// The value, or that of nothing if the file is gone: someone else was faster to delete it.
pub(crate) fn unless_gone<T: Default>(result: Result<T>) -> Result<T> {
    match result {
        Err(error) if error.kind() == ErrorKind::NotFound(Entity::File) => Ok(T::default()),
        other => other,
    }
}

/// The error of an operator on `location`.
pub(crate) fn from_operator(error: opendal::Error, location: &str) -> Error {
    let own = match error.kind() {
        opendal::ErrorKind::NotFound => from_io_kind(io::ErrorKind::NotFound),
        opendal::ErrorKind::PermissionDenied => from_io_kind(io::ErrorKind::PermissionDenied),
        opendal::ErrorKind::IsADirectory => from_io_kind(io::ErrorKind::IsADirectory),
        opendal::ErrorKind::NotADirectory => from_io_kind(io::ErrorKind::NotADirectory),
        opendal::ErrorKind::Unsupported => Error::unsupported("the store does not support this operation"),
        _ => match io_cause(&error) {
            Some(kind) => from_io_kind(kind),
            None => Error::new(ErrorKind::Storage { retryable: error.is_temporary() }, "storage failed"),
        },
    };
    own.with_context("file", location).with_source(error)
}

fn from_io_kind(kind: io::ErrorKind) -> Error {
    use io::ErrorKind as Io;
    match kind {
        Io::NotFound => Error::not_found(Entity::File, "the file does not exist"),
        Io::NotADirectory => {
            Error::not_found(Entity::File, "the file does not exist: part of its path is no directory")
        }
        Io::PermissionDenied | Io::ReadOnlyFilesystem => Error::new(ErrorKind::PermissionDenied, "access was refused"),
        Io::StorageFull | Io::QuotaExceeded | Io::FileTooLarge => {
            Error::new(ErrorKind::DiskFull, "there is no room on the disk")
        }
        Io::IsADirectory => Error::new(ErrorKind::Storage { retryable: false }, "expected a file, found a directory"),
        Io::UnexpectedEof => Error::corrupt("the file is shorter than expected"),
        Io::Unsupported => Error::unsupported("the file system does not support this operation"),
        Io::InvalidFilename => Error::invalid_input("the file system does not take this name"),
        Io::Interrupted | Io::TimedOut | Io::WouldBlock | Io::ResourceBusy | Io::StaleNetworkFileHandle => {
            Error::new(ErrorKind::Storage { retryable: true }, "storage failed for now")
        }
        _ => Error::new(ErrorKind::Storage { retryable: false }, "storage failed"),
    }
}

fn io_cause(error: &opendal::Error) -> Option<io::ErrorKind> {
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return Some(io.kind());
        }
        cause = inner.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_seen_through_the_operator() {
        let full = opendal::Error::new(opendal::ErrorKind::Unexpected, "write")
            .set_source(io::Error::from(io::ErrorKind::StorageFull));
        let error = from_operator(full, "/w/f");
        assert_eq!(error.kind(), ErrorKind::DiskFull);
        assert_eq!(error.context_value("file"), Some("/w/f"));
    }

    #[test]
    fn kinds() {
        let cases = [
            (io::ErrorKind::NotFound, ErrorKind::NotFound(Entity::File)),
            (io::ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied),
            (io::ErrorKind::TimedOut, ErrorKind::Storage { retryable: true }),
            (io::ErrorKind::Other, ErrorKind::Storage { retryable: false }),
        ];
        for (io, own) in cases {
            assert_eq!(from_io_kind(io).kind(), own);
        }
    }
}
