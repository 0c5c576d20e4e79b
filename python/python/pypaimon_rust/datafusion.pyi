"""Apache Paimon tables: catalogs, SQL, reads, writes, compaction, and the bridge to the `datafusion` package."""

from typing import Any

import pypaimon_rust._errors as _errors

class AccessDeniedError(PaimonError, PermissionError): ...

class AlreadyExistsError(PaimonValueError): ...

class CommitConflictError(PaimonError, RuntimeError): ...

class CommitUnknownError(PaimonError, RuntimeError): ...

class CorruptError(PaimonValueError): ...

class DiskFullError(ResourcesExhaustedError, OSError): ...

class ForkSafetyError(PaimonError, RuntimeError): ...

class IncompatibleDataFusionError(PaimonError, RuntimeError): ...

class InternalError(PaimonError, RuntimeError): ...

class MemoryExhaustedError(ResourcesExhaustedError, MemoryError): ...

class MissingFileError(PaimonError, FileNotFoundError): ...

class NotFoundError(PaimonValueError, LookupError): ...

class PaimonError(Exception): ...

class PaimonValueError(PaimonError, ValueError): ...

class ResourcesExhaustedError(PaimonError): ...

class SchemaMismatchError(PaimonValueError): ...

class StateError(PaimonError, RuntimeError): ...

class StorageError(PaimonError, OSError): ...

class UnsupportedError(PaimonError, NotImplementedError): ...

class BatchTableCommit:
    """Commits messages; once per committer."""

    def commit(self, messages: Any) -> Any:
        """Makes what the messages say visible in one step. No messages make no snapshot, unless an overwrite empties something."""

    def abort(self, messages: Any) -> Any:
        """Deletes the files of messages that were not committed."""

    def truncate_table(self) -> Any:
        """Deletes all rows."""

    def truncate_partitions(self, partitions: Any) -> Any:
        """Deletes the partitions that match one of these specifications, each full or partial."""

    def close(self) -> Any:
        """Ends the committer; may be called again."""

class BatchTableWrite:
    """Writes batches; nothing is visible before its messages are committed."""

    def write_arrow(self, batch: Any, bucket: Any = None) -> Any:
        """Writes a batch whose columns are those of the table, by order, name and type; `bucket` names the bucket of a"""

    def prepare_commit(self) -> Any:
        """Ends the files and gives the messages to commit; once per writer."""

    def close(self) -> Any:
        """Drops what was not prepared and deletes its files; may be called again."""

    def __enter__(self) -> Any:
        ...

    def __exit__(self, *_exception) -> Any:
        ...

class BatchWriteBuilder:
    """Settings of a batch write. Writer and committer of one builder share a commit user."""

    def with_overwrite(self, static_partition: Any = ...) -> Any:
        """Overwrites instead of appending: without argument or with `{}` what the table's options say; `None` appends again."""

    def new_write(self) -> Any:
        """A writer."""

    def new_commit(self) -> Any:
        """A committer."""

class CommitMessage:
    """What one bucket's writer produced."""

class CompactBuilder:
    """Settings of a compaction; each setter returns the builder itself."""

    def with_partition_filter(self, predicate: Any) -> Any:
        """Only partitions that match a predicate over partition columns; repeated calls combine with AND."""

    def with_commit_user(self, user: Any) -> Any:
        """The commit user becomes `<user>-compact-<fresh suffix>`."""

    def execute(self) -> Any:
        """Plans, runs and commits; one COMPACT snapshot for all tasks, none if there is nothing to do."""

class DataField:
    """A column of a table."""

    def id(self) -> Any:
        """Id that stays through renames."""

    def name(self) -> Any:
        """Name."""

    def field_type(self) -> Any:
        """Type in Paimon's text, without nullability."""

    def is_nullable(self) -> Any:
        """Whether values may be null."""

    def description(self) -> Any:
        """Comment."""

    def default_value(self) -> Any:
        """Text of the value that replaces null on write."""

class PaimonCatalog:
    """A catalog of Paimon tables."""

    def __init__(self, catalog_options: Any) -> None: ...
    def list_databases(self) -> Any:
        """Names of all databases, sorted."""

    def list_tables(self, database_name: Any) -> Any:
        """Names of all tables of a database, sorted."""

    def get_table(self, identifier: Any) -> Any:
        """A handle of a table: `"db.table"` or `("db", "table")`; the table part may carry `$branch_<name>`."""

    def create_database(self, name: Any, ignore_if_exists: Any = False, properties: Any = None) -> Any:
        """Creates a database."""

    def drop_database(self, name: Any, ignore_if_not_exists: Any = False, cascade: Any = False) -> Any:
        """Drops a database; with `cascade` its tables too."""

    def create_table(self, identifier: Any, schema: Any, ignore_if_exists: Any = False, *, partition_keys: Any = None, primary_keys: Any = None, options: Any = None, comment: Any = None) -> Any:
        """Creates a table with the columns of a `pyarrow.Schema`."""

    def drop_table(self, identifier: Any, ignore_if_not_exists: Any = False) -> Any:
        """Drops a table with all its files."""

    def rename_table(self, source: Any, target: Any, ignore_if_not_exists: Any = False) -> Any:
        """Renames a table."""

    def database_exists(self, name: Any) -> Any:
        """Whether a database exists."""

    def options(self) -> Any:
        """The options, with secrets hidden."""

class PartitionStat:
    """Counts of the live files of a partition."""

    def partition(self) -> Any:
        """Partition columns and their text."""

    def record_count(self) -> Any:
        """Physical rows."""

    def file_count(self) -> Any:
        """Files."""

    def total_size_bytes(self) -> Any:
        """Bytes."""

class Plan:
    """The splits of one snapshot."""

    def __len__(self, /) -> Any:
        """Return len(self)."""

    def splits(self) -> Any:
        """The splits; together they give each row once."""

    def snapshot_id(self) -> Any:
        """The snapshot that was planned; `None` if the table has none."""

class ProcedureFunction:
    """A procedure as a table function of the `datafusion` package."""

    @property
    def name(self) -> Any:
        """The name under which it is registered."""

class PythonScalarUDF:
    """A Python function that SQL can call. It gets one `pyarrow.Array` per parameter and returns one."""

    def __init__(self, name: Any, func: Any, input_fields: Any, return_field: Any, volatility: Any) -> None: ...
    @staticmethod
    def udf(func: Any, input_fields: Any, return_field: Any, volatility: Any, name: Any = None) -> Any:
        """As `pypaimon_rust.datafusion.udf`."""

    @property
    def name(self) -> Any:
        """The name that SQL finds it under."""

class ReadBuilder:
    """Settings of a read; each setter changes the builder and returns it. Scans and reads keep the settings they were made with."""

    def with_projection(self, columns: Any) -> Any:
        """Columns of the result, in this order."""

    def with_filter(self, predicate: Any) -> Any:
        """Rows of the result satisfy this predicate in dictionary form; replaces an earlier one."""

    def with_limit(self, limit: Any) -> Any:
        """A hint: planning may stop once so many rows are certain."""

    def with_case_sensitive(self, flag: Any) -> Any:
        """Whether column names match exactly; `False` folds ASCII letters. Set it before the filter."""

    def with_include_row_kind(self, flag: Any) -> Any:
        """Adds a first column `rowkind`."""

    def with_row_ranges(self, ranges: Any) -> Any:
        """Rows with these row ids; tables with row ids cannot be read yet."""

    def new_scan(self) -> Any:
        """A scan with these settings."""

    def new_incremental_scan(self, start_snapshot_id: Any, end_snapshot_id: Any, mode: Any = "delta") -> Any:
        """A scan of the changes in the snapshots after `start_snapshot_id` up to `end_snapshot_id`: every row that they append (`delta`), their changelog (`changelog`), or what the table's changelog producer makes of it (`auto`)."""

    def new_stream_scan(self) -> Any:
        """A continuous scan: `plan()` gives the state of the table and then its changes, snapshot by snapshot."""

    def new_read(self) -> Any:
        """A read with these settings; needs no scan."""

class RecordBatchReader:
    """Batches as they are read; one is held at a time."""

    def __iter__(self, /) -> Any:
        """Implement iter(self)."""

    def __next__(self, /) -> Any:
        """Implement next(self)."""

    def read_next_batch(self) -> Any:
        """The next batch; `None` at the end."""

    def close(self) -> Any:
        """Stops the work; may be called again."""

    def __enter__(self) -> Any:
        ...

    def __exit__(self, *_exception) -> Any:
        ...

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rest as a stream of the Arrow C data interface."""

    @property
    def schema(self) -> Any:
        """The schema of the batches."""

class SQLContext:
    """SQL over Paimon catalogs and everything that DataFusion has."""

    def __init__(self, *, memory_pool_type: Any = None, memory_pool_bytes: Any = None, temp_directory: Any = None, max_temp_directory_size_bytes: Any = None) -> None: ...
    def register_catalog(self, catalog_name: Any, catalog_options: Any, default_database: Any = None) -> Any:
        """Registers a catalog; one of the same name is replaced. The default database is created when missing; `""` means none."""

    def set_current_catalog(self, name: Any) -> Any:
        """Makes a catalog the current one."""

    def set_current_database(self, name: Any) -> Any:
        """Makes a database of the current catalog the current one."""

    def sql(self, sql: Any) -> Any:
        """Runs one statement to its end and gives its batches."""

    def register_batch(self, name: Any, batch: Any) -> Any:
        """A table of this session in memory: `name`, `db.name` or `catalog.db.name`."""

    def register_udf(self, udf: Any) -> Any:
        """Makes a function available to SQL; one of the same name is replaced."""

class Snapshot:
    """A snapshot of a table."""

    def id(self) -> Any:
        """Id."""

    def schema_id(self) -> Any:
        """Id of the schema at commit time."""

    def commit_time_ms(self) -> Any:
        """Commit time in milliseconds since the epoch."""

    def commit_kind(self) -> Any:
        """`APPEND`, `COMPACT`, `OVERWRITE` or `ANALYZE`."""

    def commit_user(self) -> Any:
        """Who committed."""

    def commit_identifier(self) -> Any:
        """Identifier of the commit within its user."""

    def total_record_count(self) -> Any:
        """Physical rows of all live files; `None` if the document lacks it."""

    def delta_record_count(self) -> Any:
        """Physical rows added less those deleted; `None` if the document lacks it."""

    def changelog_record_count(self) -> Any:
        """Rows of changelog files."""

    def watermark(self) -> Any:
        """Watermark."""

class Split:
    """Files that are read together."""

    def row_count(self) -> Any:
        """Physical rows of the files: all versions of a key."""

    def is_streaming(self) -> Any:
        """Whether the rows are events that are not merged."""

    def serialize(self, *, frame: Any = True) -> Any:
        """The split in Java's serialised form; without frame it is what Java before 2.0 reads."""

    @staticmethod
    def deserialize(data: Any) -> Any:
        """The split of bytes that `serialize` or Java wrote."""

    def bucket(self) -> Any:
        """Bucket."""

    def files(self) -> Any:
        """Names of the files."""

    def size_bytes(self) -> Any:
        """Bytes of the files."""

class StreamTableScan:
    """Plans a table continuously: its state first, then its changes, snapshot by snapshot."""

    def plan(self) -> Any:
        """The next plan; `None` if there is nothing new now: call again later."""

    def checkpoint(self) -> Any:
        """The id of the snapshot that is planned next; `None` before the first plan."""

    def watermark(self) -> Any:
        """The watermark of the snapshot that was planned last."""

    def is_finished(self) -> Any:
        """Whether the stream has passed `scan.bounded.watermark`: no plan follows."""

    def restore(self, next_snapshot_id: Any) -> Any:
        """Continues with this snapshot; `None` starts over."""

    def notify_checkpoint_complete(self, next_snapshot_id: Any) -> Any:
        """Stores a checkpoint as the progress of the consumer; nothing without a consumer id or for `None`."""

    def with_consumer_id(self, consumer_id: Any) -> Any:
        """Keeps progress under this name."""

class Table:
    """A table of a catalog. Keeps the schema it was loaded with; sees commits of others on the next call that plans."""

    def identifier(self) -> Any:
        """`db.table`, with `$branch_<name>` for a branch."""

    def location(self) -> Any:
        """The directory of the table."""

    def branch(self) -> Any:
        """The branch; `main` for an ordinary table."""

    def schema(self) -> Any:
        """The schema."""

    def refresh(self) -> Any:
        """The same table with the newest schema."""

    def latest_snapshot(self) -> Any:
        """The latest snapshot; `None` if there is none."""

    def list_snapshots(self) -> Any:
        """All snapshots, newest first."""

    def list_tags(self) -> Any:
        """All tags by name."""

    def list_partitions(self) -> Any:
        """The partitions that have files, as in their paths."""

    def partition_stats(self) -> Any:
        """Counts of the live files of each partition."""

    def new_read_builder(self, options: Any = None) -> Any:
        """Starts a read; options are laid over the table's, and a selector among them travels in time."""

    def new_stream_scan(self) -> Any:
        """A continuous scan of all columns and rows."""

    def new_batch_write_builder(self) -> Any:
        """Starts a batch write."""

    def new_stream_write_builder(self) -> Any:
        """Starts a stream write."""

    def new_compact_builder(self) -> Any:
        """Starts a compaction."""

class TableRead:
    """Reads splits."""

    def read(self, splits: Any) -> Any:
        """All batches of the splits, as a list."""

    def read_arrow(self, splits: Any) -> Any:
        """The batches of the splits one after another, without holding the result."""

class TableScan:
    """Plans reads."""

    def with_row_position_slice(self, start: Any, end: Any) -> Any:
        """Only the rows from position `start` up to, but without, `end`; positions run through the files of the plan."""

    def with_row_position_shard(self, index: Any, count: Any) -> Any:
        """Only part `index` of `count` parts of the rows, whose sizes differ by one at most."""

    def plan(self) -> Any:
        """Plans anew on the snapshot that is latest now, unless a selector pins one."""

class TableSchema:
    """The schema of a table."""

    def id(self) -> Any:
        """Id of the version."""

    def fields(self) -> Any:
        """Columns in order."""

    def partition_keys(self) -> Any:
        """Partition columns."""

    def primary_keys(self) -> Any:
        """Primary-key columns."""

    def options(self) -> Any:
        """Options."""

    def comment(self) -> Any:
        """Comment."""

    def to_arrow(self) -> Any:
        """The columns as a `pyarrow.Schema`."""

class Tag:
    """A tag of a table."""

    def name(self) -> Any:
        """Name."""

    def snapshot_id(self) -> Any:
        """Id of the snapshot that it keeps."""

def install(ctx: Any, name: Any, options: Any) -> Any:
    """Registers a catalog of these options and its procedures in a `datafusion.SessionContext`; gives the catalog."""

def procedures(catalog: Any) -> Any:
    """The procedures of a catalog as table functions, by the name that a stock session finds them under."""

def register_procedures(ctx: Any, catalog: Any) -> Any:
    """Registers the procedures of a catalog in a `datafusion.SessionContext`."""

def udf(func: Any, input_fields: Any, return_field: Any, volatility: Any, name: Any = None) -> Any:
    """A scalar function of SQL made of a Python function; without name the function's own, in lower case."""

