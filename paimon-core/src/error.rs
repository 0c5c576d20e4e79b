//! The one error of this crate: a kind that callers branch on, a message, and context.
//!
//! Invariants: one word wide; a kind exists only if some caller branches on it; secrets never
//! reach a message. Context is added once per layer by the layer that knows the name.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;

/// Result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What an error of kind [`ErrorKind::NotFound`], [`ErrorKind::AlreadyExists`] or
/// [`ErrorKind::NotEmpty`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entity {
    /// A database of a catalog.
    Database,
    /// A table of a database.
    Table,
    /// A column or nested field.
    Column,
    /// A snapshot of a table.
    Snapshot,
    /// A tag of a table.
    Tag,
    /// A branch of a table.
    Branch,
    /// A schema version of a table.
    Schema,
    /// A file that metadata or the caller names.
    File,
    /// A view of a catalog.
    View,
    /// A function of a catalog.
    Function,
}

/// Why a commit was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConflictKind {
    /// A file to delete is not live, or a file to add is live already.
    Files,
    /// Files of one level would overlap.
    KeyRange,
    /// The bucket count of a partition changed without overwrite.
    BucketCount,
    /// The schema was changed while the table was replaced.
    Schema,
    /// Too many lost races for a snapshot id.
    RetriesExhausted,
}

/// What a caller can act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value given by the caller is wrong.
    InvalidInput,
    /// An option has a wrong value.
    InvalidConfig,
    /// A batch does not fit the table's schema, or a value breaks a column's constraint.
    SchemaMismatch,
    /// Use after close, or a second use of something that works once.
    InvalidState,
    /// A feature that is not built.
    Unsupported,
    /// Something named does not exist.
    NotFound(Entity),
    /// Something named exists already.
    AlreadyExists(Entity),
    /// Something to be dropped is not empty.
    NotEmpty(Entity),
    /// A commit lost against another writer; none of it is visible.
    Conflict(ConflictKind),
    /// A commit may or may not be visible; nothing was deleted.
    CommitUnknown,
    /// Bytes break the specification.
    Corrupt,
    /// Storage failed.
    Storage {
        /// Whether the same call may succeed later.
        retryable: bool,
    },
    /// Storage refused access.
    PermissionDenied,
    /// The memory budget is used up.
    MemoryExhausted,
    /// No room on a disk: a store, or the directory for temporary files.
    DiskFull,
    /// The work was cancelled.
    Cancelled,
    /// A bug of this crate.
    Internal,
}

/// Context of an error: a file that its work wrote, could not delete, and nothing names.
pub const FILE_LEFT: &str = "file left behind";

/// The error of this crate.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    context: Vec<(&'static str, String)>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $kind:expr;)*) => {
        $($(#[$doc])* pub fn $name(message: impl Into<Cow<'static, str>>) -> Self { Self::new($kind, message) })*
    };
}

impl Error {
    /// An error of `kind` that says `message`.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), context: Vec::new(), source: None }))
    }

    constructors! {
        /// See [`ErrorKind::InvalidInput`].
        invalid_input => ErrorKind::InvalidInput;
        /// See [`ErrorKind::InvalidConfig`].
        invalid_config => ErrorKind::InvalidConfig;
        /// See [`ErrorKind::SchemaMismatch`].
        schema_mismatch => ErrorKind::SchemaMismatch;
        /// See [`ErrorKind::InvalidState`].
        invalid_state => ErrorKind::InvalidState;
        /// See [`ErrorKind::Unsupported`].
        unsupported => ErrorKind::Unsupported;
        /// See [`ErrorKind::Corrupt`].
        corrupt => ErrorKind::Corrupt;
        /// See [`ErrorKind::Internal`].
        internal => ErrorKind::Internal;
    }

    /// See [`ErrorKind::NotFound`].
    pub fn not_found(entity: Entity, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::NotFound(entity), message)
    }

    /// See [`ErrorKind::AlreadyExists`].
    pub fn already_exists(entity: Entity, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::AlreadyExists(entity), message)
    }

    /// See [`ErrorKind::Conflict`].
    pub fn conflict(kind: ConflictKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Conflict(kind), message)
    }

    /// What the caller can act on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without context and source.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The value of a context key, the innermost if there are several.
    pub fn context_value(&self, key: &str) -> Option<&str> {
        self.0.context.iter().find(|(k, _)| *k == key).map(|(_, v)| v.as_str())
    }

    /// All values of a context key, innermost first.
    pub fn context_values(&self, key: &str) -> impl Iterator<Item = &str> {
        self.0.context.iter().filter(move |(k, _)| *k == key).map(|(_, v)| v.as_str())
    }

    /// Adds where this happened: a file, a table, a field. Outermost last.
    #[must_use]
    pub fn with_context(mut self, key: &'static str, value: impl fmt::Display) -> Self {
        let value = value.to_string();
        if !self.0.context.iter().any(|(k, v)| *k == key && *v == value) {
            self.0.context.push((key, value));
        }
        self
    }

    /// Keeps the error that caused this one.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        if !self.0.context.is_empty() {
            f.write_str(" (")?;
            for (i, (key, value)) in self.0.context.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write!(f, "{key}: {value}")?;
            }
            f.write_str(")")?;
        }
        if let Some(source) = &self.0.source {
            write!(f, ": {source}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|s| s.as_ref() as &(dyn StdError + 'static))
    }
}

impl From<arrow::error::ArrowError> for Error {
    fn from(error: arrow::error::ArrowError) -> Self {
        use arrow::error::ArrowError;
        match error {
            ArrowError::ExternalError(inner) => match inner.downcast::<Error>() {
                Ok(own) => *own,
                Err(other) => Self::internal("arrow failed").with_source(other),
            },
            ArrowError::NotYetImplemented(what) => Self::unsupported(what),
            ArrowError::MemoryError(what) => Self::new(ErrorKind::MemoryExhausted, what),
            other => Self::new(ErrorKind::InvalidInput, "arrow failed").with_source(other),
        }
    }
}

impl From<Error> for arrow::error::ArrowError {
    fn from(error: Error) -> Self {
        Self::ExternalError(Box::new(error))
    }
}

/// Adds context to the error of a result.
pub trait ResultExt<T> {
    /// See [`Error::with_context`].
    fn context(self, key: &'static str, value: impl fmt::Display) -> Result<T>;
}

impl<T, E: Into<Error>> ResultExt<T> for std::result::Result<T, E> {
    fn context(self, key: &'static str, value: impl fmt::Display) -> Result<T> {
        self.map_err(|e| e.into().with_context(key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_shows_message_context_and_source() {
        let error = Error::corrupt("snapshot id is missing")
            .with_context("file", "snapshot-1")
            .with_context("table", "db.t")
            .with_source("eof");
        assert_eq!(error.to_string(), "snapshot id is missing (file: snapshot-1, table: db.t): eof");
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }

    #[test]
    fn own_errors_survive_a_trip_through_arrow() {
        let arrow: arrow::error::ArrowError = Error::unsupported("blob").into();
        assert_eq!(Error::from(arrow).kind(), ErrorKind::Unsupported);
    }
}
