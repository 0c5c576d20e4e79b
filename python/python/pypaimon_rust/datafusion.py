"""Apache Paimon tables: catalogs, SQL, reads, writes, compaction, and the bridge to the `datafusion` package.

>>> from pypaimon_rust.datafusion import PaimonCatalog, SQLContext
>>> ctx = SQLContext()
>>> ctx.register_catalog("paimon", {"warehouse": "/data/warehouse"})
>>> ctx.sql("SELECT * FROM paimon.db.t")
"""

from pypaimon_rust._errors import (
    AccessDeniedError,
    AlreadyExistsError,
    CommitConflictError,
    CommitUnknownError,
    CorruptError,
    DiskFullError,
    ForkSafetyError,
    IncompatibleDataFusionError,
    InternalError,
    MemoryExhaustedError,
    MissingFileError,
    NotFoundError,
    PaimonError,
    PaimonValueError,
    ResourcesExhaustedError,
    SchemaMismatchError,
    StateError,
    StorageError,
    UnsupportedError,
)
from pypaimon_rust._native import (
    BatchTableCommit,
    BatchTableWrite,
    BatchWriteBuilder,
    CommitMessage,
    CompactBuilder,
    DataField,
    PaimonCatalog,
    PartitionStat,
    Plan,
    ProcedureFunction,
    PythonScalarUDF,
    ReadBuilder,
    RecordBatchReader,
    Snapshot,
    Split,
    SQLContext,
    StreamTableScan,
    Table,
    TableRead,
    TableScan,
    TableSchema,
    Tag,
    check_datafusion,
    udf,
)
from pypaimon_rust._native import procedures as _procedures

__all__ = [
    "AccessDeniedError",
    "AlreadyExistsError",
    "BatchTableCommit",
    "BatchTableWrite",
    "BatchWriteBuilder",
    "CommitConflictError",
    "CommitMessage",
    "CommitUnknownError",
    "CompactBuilder",
    "CorruptError",
    "DataField",
    "DiskFullError",
    "ForkSafetyError",
    "IncompatibleDataFusionError",
    "InternalError",
    "MemoryExhaustedError",
    "MissingFileError",
    "NotFoundError",
    "PaimonCatalog",
    "PaimonError",
    "PaimonValueError",
    "PartitionStat",
    "Plan",
    "ProcedureFunction",
    "PythonScalarUDF",
    "ReadBuilder",
    "RecordBatchReader",
    "ResourcesExhaustedError",
    "SQLContext",
    "SchemaMismatchError",
    "Snapshot",
    "Split",
    "StateError",
    "StorageError",
    "StreamTableScan",
    "Table",
    "TableRead",
    "TableScan",
    "TableSchema",
    "Tag",
    "UnsupportedError",
    "install",
    "procedures",
    "register_procedures",
    "udf",
]


def procedures(catalog):
    """The procedures of a catalog as table functions, by the name that a stock session finds them under.

    A stock session drops the first part of a qualified name, so compaction is there as `compact` and as `sys`, and every
    procedure as `sys_<name>`.
    """
    return {function.name: function for function in _procedures(catalog)}


def register_procedures(ctx, catalog):
    """Registers the procedures of a catalog in a `datafusion.SessionContext`."""
    check_datafusion()
    import datafusion

    for name, function in procedures(catalog).items():
        ctx.register_udtf(datafusion.udtf(function, name))


def install(ctx, name, options):
    """Registers a catalog of these options and its procedures in a `datafusion.SessionContext`; gives the catalog.

    >>> import datafusion
    >>> ctx = datafusion.SessionContext()
    >>> install(ctx, "paimon", {"warehouse": "/data/warehouse"})
    >>> ctx.sql("SELECT * FROM sys.compact('db.t')")
    """
    check_datafusion()
    catalog = PaimonCatalog(options)
    ctx.register_catalog_provider(name, catalog)
    register_procedures(ctx, catalog)
    return catalog
