"""Apache Paimon tables: catalogs, SQL, reads, writes, compaction, and the bridge to the `datafusion` package."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NoReturn, Protocol, TypeAlias, TypedDict, final

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

_Method: TypeAlias = Literal[
    "equal", "notEqual", "lessThan", "lessOrEqual", "greaterThan", "greaterOrEqual", "isNull", "isNotNull", "in", "notIn",
    "startsWith", "endsWith", "contains", "like", "between", "notBetween",
]

class _LeafNames(TypedDict):
    method: _Method
    field: str

class _Leaf(_LeafNames, total=False):
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
        """Makes what the messages say visible in one step. No messages make no snapshot, unless an overwrite empties something.

        Raises `StateError` for a committer that committed or is closed and for messages that are committed or aborted,
        `PaimonValueError` for messages of another builder, `CommitConflictError` if another writer won (nothing is visible),
        and `CommitUnknownError` if storage failed while it was published (nothing is deleted).
        """

    def abort(self, messages: Iterable[CommitMessage]) -> None:
        """Deletes the files of messages that were not committed; `StateError` if they are, or may be."""

    def truncate_table(self) -> None:
        """Deletes all rows; once per committer."""

    def truncate_partitions(self, partitions: Sequence[dict[str, Any]]) -> None:
        """Deletes the partitions that match one of these specifications, each full or partial; once per committer. One that
        matches nothing is no error; no specification, or a column that is no partition column, is a `PaimonValueError`."""

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
        fixed-bucket table, to which all rows must belong.

        Raises `SchemaMismatchError` for other columns, nulls that are not allowed and values that are too long,
        `PaimonValueError` for a wrong bucket, `TypeError` for what is not Arrow data, and `StateError` after `prepare_commit`
        or `close`. A batch that is refused writes nothing.
        """

    def prepare_commit(self) -> list[CommitMessage]:
        """Ends the files and gives the messages to commit, none if nothing was written; once per writer, else `StateError`."""

    def close(self) -> None:
        """Drops what was not prepared and deletes its files; may be called again."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class BatchWriteBuilder:
    """Settings of a batch write. Writer and committer of one builder share a commit user.

    Features that are not written raise `UnsupportedError` when the writer is made.

    >>> builder = table.new_batch_write_builder().with_overwrite()
    """

    def with_overwrite(self, static_partition: dict[str, Any] | None = ...) -> Self:
        """Overwrites instead of appending: without argument or with `{}` what the table's options say; `None` appends again.

        A partitioned table replaces exactly the partitions that get rows, whatever the values given, unless its option
        `dynamic-partition-overwrite` is false: then everything that matches the values. Keys are partition columns, values are
        literals of their types, and `None` means the null partition; anything else is a `PaimonValueError`.
        """

    def new_write(self) -> BatchTableWrite:
        """A writer."""

    def new_commit(self) -> BatchTableCommit:
        """A committer."""

@final
class CommitMessage:
    """What one bucket's writer produced; may be pickled.

    >>> messages = [CommitMessage.deserialize(data) for data in collected]
    """

    def serialize(self) -> bytes:
        """The message in Java's serialised form, version 14."""

    @staticmethod
    def deserialize(data: bytes | bytearray, *, version: int | None = None) -> CommitMessage:
        """The message of bytes that `serialize` or Java wrote in this version, 13 or 14, by default 14. Any committer of the
        table commits it.

        `PaimonValueError` for other bytes, `UnsupportedError` for another version, index files, or a snapshot from which
        conflicts are to be looked for.
        """

@final
class CompactBuilder:
    """Settings of a compaction; each setter returns the builder itself.

    >>> table.new_compact_builder().execute()
    """

    def with_partition_filter(self, predicate: _Predicate) -> Self:
        """Only partitions that match a predicate over partition columns; repeated calls combine with AND. Other columns are a
        `PaimonValueError`."""

    def with_commit_user(self, user: str) -> Self:
        """The commit user becomes `<user>-compact-<fresh suffix>`; `PaimonValueError` if it is blank."""

    def execute(self) -> dict[str, int]:
        """Plans, runs and commits; one COMPACT snapshot for all tasks, none if there is nothing to do.

        Gives `tasks`, `files_removed`, `files_added`, `rows_written`, `bytes_written`, `changelog_files_added`,
        `changelog_rows_written` and `changelog_bytes_written`. If there are tasks, tables with deletion vectors, with merge
        engine `first-row`, with changelog producer `lookup` or `full-compaction`, with row tracking or with postponed buckets
        raise `UnsupportedError` before a file is written. A task that fails leaves no file.
        """

@final
class DataField:
    """A column of a table.

    >>> field = table.schema().fields()[0]
    >>> field.name(), field.field_type()
    """

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
    """A catalog of Paimon tables. Storage is contacted by the first call, not when it is made.

    Its options need `warehouse`: a path, relative ones to the working directory, or `file:` or `memory:` with one. A warehouse
    that does not exist is an empty catalog. `PaimonValueError` for a bad option, `UnsupportedError` for other storage and for
    `metastore = rest`, `TypeError` for what is no dictionary of strings.

    >>> catalog = PaimonCatalog({"warehouse": "/data/warehouse"})
    >>> catalog.list_databases()
    """

    def __init__(self, catalog_options: dict[str, str]) -> None: ...
    def list_databases(self) -> list[str]:
        """Names of all databases, sorted."""

    def list_tables(self, database_name: str) -> list[str]:
        """Names of all tables of a database, sorted; `NotFoundError` for a database that does not exist."""

    def get_table(self, identifier: _Identifier) -> Table:
        """A handle of a table: `"db.table"`, split at the first dot, or `("db", "table")`; the table part may carry
        `$branch_<name>`.

        Raises `NotFoundError` naming what does not exist, and `PaimonValueError` for names of other forms and for system tables,
        which SQL reads.
        """

    def create_database(
        self, name: str, ignore_if_exists: bool = False, properties: dict[str, str] | None = None
    ) -> None:
        """Creates a database; `AlreadyExistsError` if it is there, `UnsupportedError` for properties, which a file system does
        not keep."""

    def drop_database(self, name: str, ignore_if_not_exists: bool = False, cascade: bool = False) -> None:
        """Drops a database; with `cascade` its tables too. `PaimonValueError` if it has tables, `NotFoundError` without it."""

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
        """Creates a table with the columns of a `pyarrow.Schema`; `AlreadyExistsError` if it is there, `PaimonValueError` for
        keys, partitions and options that do not fit."""

    def drop_table(self, identifier: _Identifier, ignore_if_not_exists: bool = False) -> None:
        """Drops a table with all its files; `NotFoundError` if it is not there."""

    def rename_table(self, source: _Identifier, target: _Identifier, ignore_if_not_exists: bool = False) -> None:
        """Renames a table; `NotFoundError` without it, `AlreadyExistsError` if there is one of the new name."""

    def database_exists(self, name: str) -> bool:
        """Whether a database exists."""

    def table_exists(self, identifier: _Identifier) -> bool:
        """Whether a table exists."""

    def options(self) -> dict[str, str]:
        """The options, with secrets hidden."""

    def __datafusion_catalog_provider__(self, session: object) -> object: ...

@final
class PartitionStat:
    """Counts of the live files of a partition.

    >>> [(s.partition(), s.record_count()) for s in table.partition_stats()]
    """

    def partition(self) -> dict[str, str]:
        """Partition columns and their text."""

    def record_count(self) -> int:
        """Physical rows: all versions of a key, deleted rows too."""

    def file_count(self) -> int:
        """Files."""

    def total_size_bytes(self) -> int:
        """Bytes."""

@final
class Plan:
    """The splits of one snapshot.

    >>> plan = table.new_read_builder().new_scan().plan()
    >>> plan.snapshot_id(), len(plan)
    """

    def __len__(self) -> int: ...
    def splits(self) -> list[Split]:
        """The splits; together they give each row once."""

    def snapshot_id(self) -> int | None:
        """The snapshot that was planned; `None` if the table has none."""

@final
class ProcedureFunction:
    """A procedure as a table function of the `datafusion` package.

    >>> ctx.register_udtf(datafusion.udtf(procedures(catalog)["compact"], "compact"))
    """

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
        """Columns of the result, in this order; none gives rows without columns. What the filter and the merge need is read
        besides. An unknown column is a `NotFoundError` and a repeated one a `PaimonValueError` of `new_scan` or `new_read`."""

    def with_filter(self, predicate: _Predicate) -> Self:
        """Rows of the result satisfy this predicate in dictionary form; replaces an earlier one.

        `{"method": .., "field": .., "literals": [..]}`, or `{"method": "and" or "or", "children": [..]}`. Methods of no literal:
        `isNull`, `isNotNull`; of one: `equal`, `notEqual`, `lessThan`, `lessOrEqual`, `greaterThan`, `greaterOrEqual`,
        `startsWith`, `endsWith`, `contains`, `like`; of two: `between`, `notBetween`; of any: `in`, `notIn`. Null satisfies
        `isNull` only; NaN equals NaN and is above all numbers, and -0.0 is below 0.0. Mistakes surface here: `PaimonValueError`
        for wrong keys, columns, numbers or types of literals, `UnsupportedError` for other methods, nested fields and literals
        of nested types.
        """

    def with_limit(self, limit: int) -> Self:
        """A hint: planning may stop once so many rows are certain. The result may have more rows, and never has fewer if there
        are more; 0 plans no split. `PaimonValueError` for a negative number."""

    def with_case_sensitive(self, flag: bool) -> Self:
        """Whether column names match exactly, as they do by default; `False` folds ASCII letters, and two columns that fold
        alike are a `PaimonValueError`. Set it before the filter."""

    def with_include_row_kind(self, flag: bool) -> Self:
        """Adds a first column `rowkind`: `+I`, `-U`, `+U` or `-D`."""

    def with_row_ranges(self, ranges: Sequence[tuple[int, int]]) -> NoReturn:
        """Rows with these row ids. Not supported yet: raises `UnsupportedError`."""

    def new_scan(self) -> TableScan:
        """A scan with these settings; `PaimonValueError` if a selector among the options selects nothing."""

    def new_incremental_scan(self, start_snapshot_id: int, end_snapshot_id: int, mode: str = "delta") -> TableScan:
        """A scan of the changes in the snapshots after `start_snapshot_id` up to `end_snapshot_id`: every row that they
        append (`delta`), their changelog (`changelog`), or what the table's changelog producer makes of it (`auto`).

        The rows are events: nothing is merged and no deletion vector applies. `PaimonValueError` for another mode, among them
        `diff`, which SQL answers, and, when it plans, for snapshots that do not exist.
        """

    def new_stream_scan(self) -> StreamTableScan:
        """A continuous scan: `plan()` gives the state of the table and then its changes, snapshot by snapshot; where it starts
        is said by `scan.mode` and by selectors among the options, those of batches being a `PaimonValueError`."""

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
        """The next batch, never an empty one; `None` at the end and after it."""

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

    `memory_pool_bytes` limits what sorts, aggregations, joins and the merges of reads reserve, shared evenly (`fair`) or first
    come, first served (`greedy`, the default); what they do not reserve, and the buffers of writers and compactions, comes on
    top. When the pool is short, operators that can spill write to `temp_directory`, up to `max_temp_directory_size_bytes`; else
    the query raises `MemoryExhaustedError` or `DiskFullError`. `PaimonValueError` and `TypeError` for bad arguments.

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
        """Registers a catalog; one of the same name is replaced, and the first becomes the current one.

        Without a default database `"default"` is it; it is created when missing, and `""` means none. Errors as for
        `PaimonCatalog`; `PaimonValueError` for a name that is empty or has quotes.
        """

    def set_current_catalog(self, name: str) -> None:
        """Makes a catalog the current one; `NotFoundError` for an unknown one."""

    def set_current_database(self, name: str) -> None:
        """Makes a database of the current catalog the current one; `NotFoundError` for an unknown one."""

    @property
    def current_catalog(self) -> str:
        """The catalog of names without one."""

    @property
    def current_database(self) -> str:
        """The database of names without one."""

    def catalogs(self) -> list[str]:
        """Names of the Paimon catalogs, sorted."""

    def sql(self, sql: str) -> list[pyarrow.RecordBatch]:
        """Runs one statement to its end and gives its batches: no batch for a query without rows, one row `result` = `OK` for
        most other statements, and one row `count` for INSERT. Errors have the class of their cause; `PaimonValueError` for a
        syntax error and for no or several statements."""

    def register_batch(self, name: str, batch: _Data) -> None:
        """A table of this session in memory: `name`, `db.name` or `catalog.db.name`. It hides a table of that name.

        Raises `AlreadyExistsError` if the session has one, `NotFoundError` for an unknown catalog, `PaimonValueError` for a bad
        name, and `TypeError` for what is not Arrow data.
        """

    def deregister(self, name: str) -> None:
        """Drops a table or view of this session; `NotFoundError` if there is none."""

    def register_udf(self, udf: PythonScalarUDF) -> None:
        """Makes a function available to SQL; one of the same name is replaced."""

@final
class Snapshot:
    """A snapshot of a table.

    >>> table.latest_snapshot().commit_kind()
    """

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
    """Files that are read together.

    >>> Split.deserialize(split.serialize()) == split
    """

    def row_count(self) -> int:
        """Rows that are selected by position; without a selection the physical rows of the files: all versions of a key."""

    def is_streaming(self) -> bool:
        """Whether the rows are events that are not merged."""

    def bucket(self) -> int:
        """Bucket."""

    def files(self) -> list[str]:
        """Names of the files."""

    def size_bytes(self) -> int:
        """Bytes of the files."""

    def serialize(self, *, frame: bool = True) -> bytes:
        """The split in Java's serialised form, with all that it selects; without frame it is what Java before 2.0 reads.

        `PaimonValueError` without frame for a split of a slice or shard, which has no such form.
        """

    @staticmethod
    def deserialize(data: bytes | bytearray) -> Split:
        """The split of bytes that `serialize` or Java wrote; `PaimonValueError` for other bytes."""

@final
class StreamTableScan:
    """Plans a table continuously: its state first, then its changes, snapshot by snapshot.

    >>> while (plan := scan.plan()) is not None: ...
    """

    def plan(self) -> Plan | None:
        """The next plan; `None` if there is nothing new now: call again later. It never waits.

        The first plan may be the whole state, and then each one has the changes of one snapshot; where the stream starts with
        changes that are there already, the first plan has them. `PaimonValueError`, at every 16th call that finds nothing, if
        the next snapshot has expired or is far ahead; the scan stays usable. `NotFoundError` if the table was dropped,
        `StateError` if it was made again.
        """

    def checkpoint(self) -> int | None:
        """The id of the snapshot that is planned next; `None` before the first plan."""

    def watermark(self) -> int | None:
        """The watermark of the snapshot that was planned last."""

    def is_finished(self) -> bool:
        """Whether the stream has passed `scan.bounded.watermark`: no plan follows."""

    def restore(self, next_snapshot_id: int | None) -> None:
        """Continues with this snapshot; `None` starts over; `PaimonValueError` for 0 and less."""

    def notify_checkpoint_complete(self, next_snapshot_id: int | None) -> None:
        """Stores a checkpoint as the progress of the consumer; nothing without a consumer id or for `None`."""

    def with_consumer_id(self, consumer_id: str) -> Self:
        """Keeps progress under this name; `PaimonValueError` if it is blank, `.`, `..` or has a slash."""

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
        """All snapshots, newest first; without those that expire meanwhile."""

    def list_tags(self) -> list[Tag]:
        """All tags by name."""

    def list_partitions(self) -> list[dict[str, str]]:
        """The partitions that have files, sorted: partition columns in their order and the texts of their paths."""

    def partition_stats(self) -> list[PartitionStat]:
        """Counts of the live files of each partition."""

    def new_read_builder(self, options: dict[str, str] | None = None) -> ReadBuilder:
        """Starts a read; options are laid over the table's, and a selector among them travels in time.

        Raises `PaimonValueError` for unknown options that begin with `scan.` or `incremental-`, `UnsupportedError` for known
        ones that are not built, and `TypeError` for values that are no strings. What a selector selects is looked up by
        `new_scan`.
        """

    def new_stream_scan(self) -> StreamTableScan:
        """A continuous scan of all columns and rows."""

    def new_batch_write_builder(self) -> BatchWriteBuilder:
        """Starts a batch write. `PaimonValueError` if an option of the table selects a snapshot."""

    def new_stream_write_builder(self) -> NoReturn:
        """Not supported yet: raises `UnsupportedError`."""

    def new_compact_builder(self) -> CompactBuilder:
        """Starts a compaction."""

    def __datafusion_table_provider__(self, session: object) -> object: ...

@final
class TableRead:
    """Reads splits.

    >>> table.new_read_builder().new_read().read(plan.splits())
    """

    def read(self, splits: Iterable[Split]) -> list[pyarrow.RecordBatch]:
        """All batches of the splits, as a list without empty ones; `MissingFileError` if a file is gone, `UnsupportedError` for
        what cannot be read, `TypeError` for what is no split."""

    def read_arrow(self, splits: Iterable[Split]) -> RecordBatchReader:
        """The batches of the splits one after another, without holding the result: in the order of files or of keys within a
        split, in any order between splits. Errors as for `read`, also while it is read."""

@final
class TableScan:
    """Plans reads.

    >>> table.new_read_builder().new_scan().with_row_position_shard(0, 4).plan()
    """

    def plan(self) -> Plan:
        """Plans anew on the snapshot that is latest now, unless a selector pins one."""

    def with_row_position_slice(self, start: int, end: int) -> Self:
        """Only the rows from position `start` up to, but without, `end`; positions run through the files of the plan.

        `PaimonValueError` unless 0 <= start < end, and with a shard; `UnsupportedError` for tables with primary key.
        """

    def with_row_position_shard(self, index: int, count: int) -> Self:
        """Only part `index` of `count` parts of the rows, whose sizes differ by one at most.

        `PaimonValueError` unless 0 <= index < count, and with a slice; `UnsupportedError` for tables with primary key.
        """

@final
class TableSchema:
    """The schema of a table.

    >>> table.schema().to_arrow()
    """

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
    """A tag of a table.

    >>> [(tag.name(), tag.snapshot_id()) for tag in table.list_tags()]
    """

    def name(self) -> str:
        """Name."""

    def snapshot_id(self) -> int:
        """Id of the snapshot that it keeps."""

def install(ctx: Any, name: str, options: dict[str, str]) -> PaimonCatalog:
    """Registers a catalog of these options and its procedures in a `datafusion.SessionContext`; gives the catalog.

    Raises an `IncompatibleDataFusionError`, which is an `ImportError` here, if the installed `datafusion` is not of version 55.

    >>> import datafusion
    >>> ctx = datafusion.SessionContext()
    >>> install(ctx, "paimon", {"warehouse": "/data/warehouse"})
    """

def procedures(catalog: PaimonCatalog) -> dict[str, ProcedureFunction]:
    """The procedures of a catalog as table functions, by the name that a stock session finds them under: `compact`, `sys` for
    `sys.compact`, `sys_<name>` for each, and `paimon_scan` and the incremental functions.

    >>> sorted(procedures(catalog))
    """

def register_procedures(ctx: Any, catalog: PaimonCatalog) -> None:
    """Registers the procedures of a catalog in a `datafusion.SessionContext`; errors as for `install`.

    >>> register_procedures(ctx, catalog)
    >>> ctx.sql("SELECT * FROM sys.compact('db.t')")
    """

def udf(
    func: Callable[..., pyarrow.Array],
    input_fields: _Type | Sequence[_Type],
    return_field: _Type,
    volatility: _Volatility,
    name: str | None = None,
) -> PythonScalarUDF:
    """A scalar function of SQL made of a Python function; without name the function's own, in lower case.

    `TypeError` for an unknown type or volatility and for what cannot be called.

    >>> ctx.register_udf(udf(lambda x: pc.add(x, 10), [pa.int64()], pa.int64(), "immutable", "plus_ten"))
    """
