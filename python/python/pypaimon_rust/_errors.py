"""Exceptions of the package. Each is a `PaimonError` and the built-in exception that fits it."""


class PaimonError(Exception):
    """Base of all errors of the package."""


class PaimonValueError(PaimonError, ValueError):
    """A value, option, name, predicate or statement is wrong."""


class SchemaMismatchError(PaimonValueError):
    """A batch does not fit the table, or a value breaks a column's constraint."""


class NotFoundError(PaimonValueError, LookupError):
    """A database, table, column, snapshot, tag or branch does not exist."""


class AlreadyExistsError(PaimonValueError):
    """A database, table, column, tag or branch exists already."""


class CorruptError(PaimonValueError):
    """A file is damaged; the message names it."""


class UnsupportedError(PaimonError, NotImplementedError):
    """A feature is not supported (yet)."""


class StateError(PaimonError, RuntimeError):
    """Use after close, or a second use of something that works once."""


class CommitConflictError(PaimonError, RuntimeError):
    """A commit lost against another writer; none of it is visible."""


class CommitUnknownError(PaimonError, RuntimeError):
    """A commit may or may not be visible; nothing was deleted."""


class InternalError(PaimonError, RuntimeError):
    """A bug of the package."""


class MissingFileError(PaimonError, FileNotFoundError):
    """A file that metadata names is gone."""


class StorageError(PaimonError, OSError):
    """Storage failed."""


class AccessDeniedError(PaimonError, PermissionError):
    """Storage refused access."""


class ResourcesExhaustedError(PaimonError):
    """The memory pool or the directory for temporary files is used up."""


class MemoryExhaustedError(ResourcesExhaustedError, MemoryError):
    """The memory pool is used up."""


class DiskFullError(ResourcesExhaustedError, OSError):
    """No room on a disk, or in the directory for temporary files."""


class ForkSafetyError(PaimonError, RuntimeError):
    """An object was inherited over `fork` and cannot be used."""


class IncompatibleDataFusionError(PaimonError, RuntimeError):
    """The installed `datafusion` is of another major version than this package was built for."""


class IncompatibleDataFusionImportError(IncompatibleDataFusionError, ImportError):
    """The same, found while installing into a session."""
