"""Apache Paimon tables: catalogs, SQL, reads, writes, compaction, and the bridge to the `datafusion` package."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, final

import pyarrow
from typing_extensions import Self

from pypaimon_rust._errors import AccessDeniedError as AccessDeniedError
from pypaimon_rust._errors import AlreadyExistsError as AlreadyExistsError
from pypaimon_rust._errors import CommitConflictError as CommitConflictError
from pypaimon_rust._errors import CommitUnknownError as CommitUnknownError
from pypaimon_rust._errors import CorruptError as CorruptError
from pypaimon_rust._errors import DiskFullError as DiskFullError
from pypaimon_rust._errors import ForkSafetyError as ForkSafetyError
from pypaimon_rust._errors import IncompatibleDataFusionError as IncompatibleDataFusionError
from pypaimon_rust._errors import InternalError as InternalError
from pypaimon_rust._errors import MemoryExhaustedError as MemoryExhaustedError
from pypaimon_rust._errors import MissingFileError as MissingFileError
from pypaimon_rust._errors import NotFoundError as NotFoundError
from pypaimon_rust._errors import PaimonError as PaimonError
from pypaimon_rust._errors import PaimonValueError as PaimonValueError
from pypaimon_rust._errors import ResourcesExhaustedError as ResourcesExhaustedError
from pypaimon_rust._errors import SchemaMismatchError as SchemaMismatchError
from pypaimon_rust._errors import StateError as StateError
from pypaimon_rust._errors import StorageError as StorageError
from pypaimon_rust._errors import UnsupportedError as UnsupportedError

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowSchema(Protocol):
    def __arrow_c_schema__(self) -> object: ...

_Data: TypeAlias = pyarrow.RecordBatch | _ArrowArray | _ArrowStream
_Identifier: TypeAlias = str | tuple[str, str]
_Type: TypeAlias = pyarrow.DataType | pyarrow.Field | str
_Volatility: TypeAlias = Literal["immutable", "stable", "volatile"] | str

class _Leaf(TypedDict, total=False):
    method: str
    field: str
    literals: Sequence[Any]

class _Compound(TypedDict):
    method: Literal["and", "or"]
    children: Sequence[_Leaf | _Compound]

_Predicate: TypeAlias = _Leaf | _Compound | dict[str, Any]

@final
class BatchTableCommit:
    """Commits messages; once per committer.

    >>> builder.new_commit().commit(writer.prepare_commit())
    """

    def commit(self, messages: Iterable[CommitMessage]) -> None:
        """Makes what the messages say visible in one step. No messages make no snapshot, unless an overwrite empties something."""

    def abort(self, messages: Iterable[CommitMessage]) -> None:
        """Deletes the files of messages that were not committed."""

    def truncate_table(self) -> None:
        """Deletes all rows."""

    def truncate_partitions(self, partitions: Sequence[dict[str, Any]]) -> None:
        """Deletes the partitions that match one of these specifications, each full or partial."""

    def close(self) -> None:
        """Ends the committer; may be called again."""

@final
class BatchTableWrite:
    """Writes batches; nothing is visible before its messages are committed.

    >>> with builder.new_write() as writer:
    ...     writer.write_arrow(batch)
    ...     builder.new_commit().commit(writer.prepare_commit())
    """

    def write_arrow(self, batch: _Data, bucket: int | None = None) -> None:
        """Writes a batch whose columns are those of the table, by order, name and type; `bucket` names the bucket of a
        fixed-bucket table."""

    def prepare_commit(self) -> list[CommitMessage]:
        """Ends the files and gives the messages to commit; once per writer."""

    def close(self) -> None:
        """Drops what was not prepared and deletes its files; may be called again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class BatchWriteBuilder:
    """Settings of a batch write. Writer and committer of one builder share a commit user.

    >>> builder = table.new_batch_write_builder().with_overwrite()
    """

    def with_overwrite(self, static_partition: dict[str, Any] | None = ...) -> Self:
        """Overwrites instead of appending: without argument or with `{}` what the table's options say; `None` appends again.

        A partitioned table replaces exactly the partitions that get rows, whatever the values given, unless its option
        `dynamic-partition-overwrite` is false: then everything that matches the values.
        """

    def new_write(self) -> BatchTableWrite:
        """A writer."""

    def new_commit(self) -> BatchTableCommit:
        """A committer."""

@final
class CommitMessage:
    """What one bucket's writer produced."""

@final
class CompactBuilder:
    """Settings of a compaction; each setter returns the builder itself.

    >>> table.new_compact_builder().execute()
    """

    def with_partition_filter(self, predicate: _Predicate) -> Self:
        """Only partitions that match a predicate over partition columns; repeated calls combine with AND."""

    def with_commit_user(self, user: str) -> Self:
        """The commit user becomes `<user>-compact-<fresh suffix>`."""

    def execute(self) -> dict[str, int]:
        """Plans, runs and commits; one COMPACT snapshot for all tasks, none if there is nothing to do."""

@final
class DataField:
    """A column of a table."""

    def id(self) -> int:
        """Id that stays through renames."""

    def name(self) -> str:
        """Name."""

    def field_type(self) -> str:
        """Type in Paimon's text, without nullability."""

    def is_nullable(self) -> bool:
        """Whether values may be null."""

    def description(self) -> str | None:
        """Comment."""

    def default_value(self) -> str | None:
        """Text of the value that replaces null on write."""

@final
class PaimonCatalog:
    """A catalog of Paimon tables.

    >>> catalog = PaimonCatalog({"warehouse": "/data/warehouse"})
    >>> catalog.list_databases()
    """

    def __init__(self, catalog_options: dict[str, str]) -> None: ...
    def list_databases(self) -> list[str]:
        """Names of all databases, sorted."""

    def list_tables(self, database_name: str) -> list[str]:
        """Names of all tables of a database, sorted."""

    def get_table(self, identifier: _Identifier) -> Table:
        """A handle of a table: `"db.table"` or `("db", "table")`; the table part may carry `$branch_<name>`."""

    def create_database(
        self, name: str, ignore_if_exists: bool = False, properties: dict[str, str] | None = None
    ) -> None:
        """Creates a database."""

    def drop_database(self, name: str, ignore_if_not_exists: bool = False, cascade: bool = False) -> None:
        """Drops a database; with `cascade` its tables too."""

    def create_table(
        self,
        identifier: _Identifier,
        schema: pyarrow.Schema | _ArrowSchema,
        ignore_if_exists: bool = False,
        *,
        partition_keys: Sequence[str] | None = None,
        primary_keys: Sequence[str] | None = None,
        options: dict[str, str] | None = None,
        comment: str | None = None,
    ) -> None:
        """Creates a table with the columns of a `pyarrow.Schema`."""

    def drop_table(self, identifier: _Identifier, ignore_if_not_exists: bool = False) -> None:
        """Drops a table with all its files."""

    def rename_table(self, source: _Identifier, target: _Identifier, ignore_if_not_exists: bool = False) -> None:
        """Renames a table."""

    def database_exists(self, name: str) -> bool:
        """Whether a database exists."""

    def table_exists(self, identifier: _Identifier) -> bool:
        """Whether a table exists."""

    def options(self) -> dict[str, str]:
        """The options, with secrets hidden."""

    def __datafusion_catalog_provider__(self, session: object) -> object: ...

@final
class PartitionStat:
    """Counts of the live files of a partition."""

    def partition(self) -> dict[str, str]:
        """Partition columns and their text."""

    def record_count(self) -> int:
        """Physical rows."""

    def file_count(self) -> int:
        """Files."""

    def total_size_bytes(self) -> int:
        """Bytes."""

@final
class Plan:
    """The splits of one snapshot."""

    def __len__(self) -> int: ...
    def splits(self) -> list[Split]:
        """The splits; together they give each row once."""

    def snapshot_id(self) -> int | None:
        """The snapshot that was planned; `None` if the table has none."""

@final
class ProcedureFunction:
    """A procedure as a table function of the `datafusion` package."""

    @property
    def name(self) -> str:
        """The name under which it is registered."""

    def __datafusion_table_function__(self, session: object) -> object: ...

@final
class PythonScalarUDF:
    """A Python function that SQL can call. It gets one `pyarrow.Array` per parameter and returns one.

    >>> PythonScalarUDF("plus_ten", lambda x: pc.add(x, 10), [pa.int64()], pa.int64(), "immutable")
    """

    def __init__(
        self,
        name: str,
        func: Callable[..., pyarrow.Array],
        input_fields: _Type | Sequence[_Type],
        return_field: _Type,
        volatility: _Volatility,
    ) -> None: ...
    @staticmethod
    def udf(
        func: Callable[..., pyarrow.Array],
        input_fields: _Type | Sequence[_Type],
        return_field: _Type,
        volatility: _Volatility,
        name: str | None = None,
    ) -> PythonScalarUDF:
        """As `pypaimon_rust.datafusion.udf`."""

    @property
    def name(self) -> str:
        """The name that SQL finds it under."""

@final
class ReadBuilder:
    """Settings of a read; each setter changes the builder and returns it. Scans and reads keep the settings they were made with.

    >>> builder = table.new_read_builder().with_projection(["id"]).with_limit(10)
    >>> builder.new_read().read(builder.new_scan().plan().splits())
    """

    def with_projection(self, columns: Sequence[str]) -> Self:
        """Columns of the result, in this order."""

    def with_filter(self, predicate: _Predicate) -> Self:
        """Rows of the result satisfy this predicate in dictionary form; replaces an earlier one."""

    def with_limit(self, limit: int) -> Self:
        """A hint: planning may stop once so many rows are certain."""

    def with_case_sensitive(self, flag: bool) -> Self:
        """Whether column names match exactly; `False` folds ASCII letters. Set it before the filter."""

    def with_include_row_kind(self, flag: bool) -> Self:
        """Adds a first column `rowkind`."""

    def with_row_ranges(self, ranges: Sequence[tuple[int, int]]) -> Self:
        """Rows with these row ids; tables with row ids cannot be read yet."""

    def new_scan(self) -> TableScan:
        """A scan with these settings."""

    def new_incremental_scan(self, start_snapshot_id: int, end_snapshot_id: int, mode: str = "delta") -> TableScan:
        """A scan of the changes in the snapshots after `start_snapshot_id` up to `end_snapshot_id`: every row that they
        append (`delta`), their changelog (`changelog`), or what the table's changelog producer makes of it (`auto`)."""

    def new_stream_scan(self) -> StreamTableScan:
        """A continuous scan: `plan()` gives the state of the table and then its changes, snapshot by snapshot."""

    def new_read(self) -> TableRead:
        """A read with these settings; needs no scan."""

@final
class RecordBatchReader:
    """Batches as they are read; one is held at a time.

    >>> for batch in read.read_arrow(splits): ...
    """

    def __iter__(self) -> Iterator[pyarrow.RecordBatch]: ...
    def __next__(self) -> pyarrow.RecordBatch: ...
    def read_next_batch(self) -> pyarrow.RecordBatch | None:
        """The next batch; `None` at the end."""

    def close(self) -> None:
        """Stops the work; may be called again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rest as a stream of the Arrow C data interface."""

    @property
    def schema(self) -> pyarrow.Schema:
        """The schema of the batches."""

@final
class SQLContext:
    """SQL over Paimon catalogs and everything that DataFusion has.

    >>> ctx = SQLContext()
    >>> ctx.register_catalog("paimon", {"warehouse": "/data/warehouse"})
    >>> ctx.sql("SELECT 1 AS one")
    """

    def __init__(
        self,
        *,
        memory_pool_type: Literal["fair", "greedy"] | None = None,
        memory_pool_bytes: int | None = None,
        temp_directory: str | os.PathLike[str] | None = None,
        max_temp_directory_size_bytes: int | None = None,
    ) -> None: ...
    def register_catalog(
        self, catalog_name: str, catalog_options: dict[str, str], default_database: str | None = None
    ) -> None:
        """Registers a catalog; one of the same name is replaced. The default database is created when missing; `""` means none."""

    def set_current_catalog(self, name: str) -> None:
        """Makes a catalog the current one."""

    def set_current_database(self, name: str) -> None:
        """Makes a database of the current catalog the current one."""

    @property
    def current_catalog(self) -> str:
        """The catalog of names without one."""

    @property
    def current_database(self) -> str:
        """The database of names without one."""

    def catalogs(self) -> list[str]:
        """Names of the Paimon catalogs, sorted."""

    def sql(self, sql: str) -> list[pyarrow.RecordBatch]:
        """Runs one statement to its end and gives its batches."""

    def register_batch(self, name: str, batch: _Data) -> None:
        """A table of this session in memory: `name`, `db.name` or `catalog.db.name`."""

    def deregister(self, name: str) -> None:
        """Drops a table or view of this session."""

    def register_udf(self, udf: PythonScalarUDF) -> None:
        """Makes a function available to SQL; one of the same name is replaced."""

@final
class Snapshot:
    """A snapshot of a table."""

    def id(self) -> int:
        """Id."""

    def schema_id(self) -> int:
        """Id of the schema at commit time."""

    def commit_time_ms(self) -> int:
        """Commit time in milliseconds since the epoch."""

    def commit_kind(self) -> str:
        """`APPEND`, `COMPACT`, `OVERWRITE` or `ANALYZE`."""

    def commit_user(self) -> str:
        """Who committed."""

    def commit_identifier(self) -> int:
        """Identifier of the commit within its user."""

    def total_record_count(self) -> int | None:
        """Physical rows of all live files; `None` if the document lacks it."""

    def delta_record_count(self) -> int | None:
        """Physical rows added less those deleted; `None` if the document lacks it."""

    def changelog_record_count(self) -> int | None:
        """Rows of changelog files."""

    def watermark(self) -> int | None:
        """Watermark."""

@final
class Split:
    """Files that are read together."""

    def row_count(self) -> int:
        """Physical rows of the files: all versions of a key."""

    def is_streaming(self) -> bool:
        """Whether the rows are events that are not merged."""

    def bucket(self) -> int:
        """Bucket."""

    def files(self) -> list[str]:
        """Names of the files."""

    def size_bytes(self) -> int:
        """Bytes of the files."""

    def serialize(self, *, frame: bool = True) -> bytes:
        """The split in Java's serialised form; without frame it is what Java before 2.0 reads."""

    @staticmethod
    def deserialize(data: bytes) -> Split:
        """The split of bytes that `serialize` or Java wrote."""

@final
class StreamTableScan:
    """Plans a table continuously: its state first, then its changes, snapshot by snapshot.

    >>> while (plan := scan.plan()) is not None: ...
    """

    def plan(self) -> Plan | None:
        """The next plan; `None` if there is nothing new now: call again later."""

    def checkpoint(self) -> int | None:
        """The id of the snapshot that is planned next; `None` before the first plan."""

    def watermark(self) -> int | None:
        """The watermark of the snapshot that was planned last."""

    def is_finished(self) -> bool:
        """Whether the stream has passed `scan.bounded.watermark`: no plan follows."""

    def restore(self, next_snapshot_id: int | None) -> None:
        """Continues with this snapshot; `None` starts over."""

    def notify_checkpoint_complete(self, next_snapshot_id: int | None) -> None:
        """Stores a checkpoint as the progress of the consumer; nothing without a consumer id or for `None`."""

    def with_consumer_id(self, consumer_id: str) -> Self:
        """Keeps progress under this name."""

@final
class Table:
    """A table of a catalog. Keeps the schema it was loaded with; sees commits of others on the next call that plans.

    >>> table = catalog.get_table("db.t")
    """

    def identifier(self) -> str:
        """`db.table`, with `$branch_<name>` for a branch."""

    def location(self) -> str:
        """The directory of the table."""

    def branch(self) -> str:
        """The branch; `main` for an ordinary table."""

    def schema(self) -> TableSchema:
        """The schema."""

    def refresh(self) -> Table:
        """The same table with the newest schema."""

    def latest_snapshot(self) -> Snapshot | None:
        """The latest snapshot; `None` if there is none."""

    def list_snapshots(self) -> list[Snapshot]:
        """All snapshots, newest first."""

    def list_tags(self) -> list[Tag]:
        """All tags by name."""

    def list_partitions(self) -> list[dict[str, str]]:
        """The partitions that have files, as in their paths."""

    def partition_stats(self) -> list[PartitionStat]:
        """Counts of the live files of each partition."""

    def new_read_builder(self, options: dict[str, str] | None = None) -> ReadBuilder:
        """Starts a read; options are laid over the table's, and a selector among them travels in time."""

    def new_stream_scan(self) -> StreamTableScan:
        """A continuous scan of all columns and rows."""

    def new_batch_write_builder(self) -> BatchWriteBuilder:
        """Starts a batch write."""

    def new_stream_write_builder(self) -> BatchWriteBuilder:
        """Not supported yet: raises `UnsupportedError`."""

    def new_compact_builder(self) -> CompactBuilder:
        """Starts a compaction."""

    def __datafusion_table_provider__(self, session: object) -> object: ...

@final
class TableRead:
    """Reads splits."""

    def read(self, splits: Iterable[Split]) -> list[pyarrow.RecordBatch]:
        """All batches of the splits, as a list."""

    def read_arrow(self, splits: Iterable[Split]) -> RecordBatchReader:
        """The batches of the splits one after another, without holding the result."""

@final
class TableScan:
    """Plans reads."""

    def plan(self) -> Plan:
        """Plans anew on the snapshot that is latest now, unless a selector pins one."""

    def with_row_position_slice(self, start: int, end: int) -> Self:
        """Only the rows from position `start` up to, but without, `end`; positions run through the files of the plan."""

    def with_row_position_shard(self, index: int, count: int) -> Self:
        """Only part `index` of `count` parts of the rows, whose sizes differ by one at most."""

@final
class TableSchema:
    """The schema of a table."""

    def id(self) -> int:
        """Id of the version."""

    def fields(self) -> list[DataField]:
        """Columns in order."""

    def partition_keys(self) -> list[str]:
        """Partition columns."""

    def primary_keys(self) -> list[str]:
        """Primary-key columns."""

    def options(self) -> dict[str, str]:
        """Options."""

    def comment(self) -> str | None:
        """Comment."""

    def to_arrow(self) -> pyarrow.Schema:
        """The columns as a `pyarrow.Schema`."""

    def __arrow_c_schema__(self) -> object: ...

@final
class Tag:
    """A tag of a table."""

    def name(self) -> str:
        """Name."""

    def snapshot_id(self) -> int:
        """Id of the snapshot that it keeps."""

def install(ctx: Any, name: str, options: dict[str, str]) -> PaimonCatalog:
    """Registers a catalog of these options and its procedures in a `datafusion.SessionContext`; gives the catalog.

    >>> import datafusion
    >>> ctx = datafusion.SessionContext()
    >>> install(ctx, "paimon", {"warehouse": "/data/warehouse"})
    """

def procedures(catalog: PaimonCatalog) -> dict[str, ProcedureFunction]:
    """The procedures of a catalog as table functions, by the name that a stock session finds them under."""

def register_procedures(ctx: Any, catalog: PaimonCatalog) -> None:
    """Registers the procedures of a catalog in a `datafusion.SessionContext`."""

def udf(
    func: Callable[..., pyarrow.Array],
    input_fields: _Type | Sequence[_Type],
    return_field: _Type,
    volatility: _Volatility,
    name: str | None = None,
) -> PythonScalarUDF:
    """A scalar function of SQL made of a Python function; without name the function's own, in lower case.

    >>> ctx.register_udf(udf(lambda x: pc.add(x, 10), [pa.int64()], pa.int64(), "immutable", "plus_ten"))
    """
