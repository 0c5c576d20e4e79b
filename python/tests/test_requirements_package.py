"""One test per requirement on the package, catalogs, compaction, and what is refused by name; see `test_requirements_api.py`."""

import datetime
import decimal
import glob
import importlib.util
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import threading
import time
import warnings
import zipfile

import pyarrow as pa
import pytest
from conftest import to_rows, write

import pypaimon_rust
from pypaimon_rust import datafusion as module

I32 = pa.int32()
ROOT = pathlib.Path(__file__).parents[2]
README = pathlib.Path(__file__).parents[1] / "README.md"


def child(code, *arguments):
    """Runs code in a process of its own; the last line that it prints, as JSON."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


# 1. Package


def test_py_002_one_module_for_python_3_10_and_later():
    project = (ROOT / "python" / "pyproject.toml").read_text(encoding="utf-8")
    assert 'requires-python = ">=3.10"' in project
    cargo = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    assert re.search(r'pyo3 = .*"abi3-py310"', cargo)
    from pypaimon_rust import _native

    assert _native.__file__.endswith("_native.abi3.so")


def test_py_002_free_threaded_builds_are_refused_at_import(monkeypatch):
    source = pathlib.Path(pypaimon_rust.__file__).read_text(encoding="utf-8")
    real = sysconfig.get_config_var
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: 1 if name == "Py_GIL_DISABLED" else real(name))
    with pytest.raises(ImportError, match="free-threaded"):
        exec(compile(source, "pypaimon_rust", "exec"), {"__name__": "pypaimon_rust"})


def made_wheel(path, library=b"\0.shstrtab\0", name="pypaimon_rust-1-cp310-abi3-linux_x86_64.whl"):
    with zipfile.ZipFile(path / name, "w") as archive:
        archive.writestr("pypaimon_rust/_native.abi3.so", library)
        archive.writestr("pypaimon_rust/_native.pyi", "")
    return path / name


def test_py_008_make_wheel_checks_sizes_and_symbols(tmp_path, monkeypatch):
    spec = importlib.util.spec_from_file_location("check_wheel", ROOT / "python" / "check_wheel.py")
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    assert (check.WHEEL_LIMIT, check.LIBRARY_LIMIT) == (45_000_000, 130_000_000)
    assert "holds no wheel" in check.main(tmp_path)
    assert check.faults(made_wheel(tmp_path)) == [] and check.main(tmp_path) is None
    assert "stripped" in check.main(made_wheel(tmp_path, b"\0.symtab\0").parent)
    assert "no abi3 wheel" in check.faults(made_wheel(tmp_path, name="pypaimon_rust-1-cp311-cp311-linux_x86_64.whl"))[0]
    monkeypatch.setattr(check, "LIBRARY_LIMIT", 99)
    monkeypatch.setattr(check, "WHEEL_LIMIT", 99)
    assert ["more than 99" in fault for fault in check.faults(made_wheel(tmp_path, b"x" * 100))] == [True, True]
    assert "check_wheel.py" in (ROOT / "Makefile").read_text(encoding="utf-8")


# 2. Errors

ODD = [
    None, True, 0, -1, 1 << 63, -(1 << 70), 1.5, float("nan"), "", "\0", "a\0b", "x" * 5000, "../..", "$", "db.t$branch_main", "db.t$files", b"x", [], {}, (),
    ("a", "b"), {"a": 1}, {"a": "b"}, {"\0": "\0"}, [1], ["id"], ["\0"], object(), lambda *a: 1 / 0, datetime.date.min, datetime.datetime.max,
    decimal.Decimal("1e400"), {"method": "equal", "field": "id", "literals": [[]]}, {"method": "and", "children": [{}]}, {"method": "or", "children": [None]},
    {"scan.timestamp": "9999-12-31"}, {"scan.timestamp-millis": "9223372036854775807"}, {"scan.version": "watermark-9223372036854775807"},
    {"read.batch-size": "99999999999999999999"}, pa.schema([]), pa.table({}), pa.array([1]),
]


def test_py_023_no_argument_makes_a_panic(env):
    """A panic would be a `BaseException`."""
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    table = env.table("t")
    makers = [
        lambda: table, lambda: module.PaimonCatalog({"warehouse": env.warehouse}), table.new_read_builder, lambda: table.new_read_builder().new_scan(),
        lambda: table.new_read_builder().new_incremental_scan(0, 1), table.new_stream_scan, lambda: table.new_read_builder().new_read(),
        table.new_batch_write_builder, lambda: table.new_batch_write_builder().new_write(), lambda: table.new_batch_write_builder().new_commit(),
        table.new_compact_builder, env.fresh, lambda: module.Split,
    ]
    calls = 0
    for make in makers:
        for name in [n for n in dir(make()) if not n.startswith("_") and not n.startswith(("drop", "truncate", "rename"))]:
            if not callable(getattr(make(), name)):
                continue
            signature = inspect.signature(getattr(make(), name))
            needed = [p for p in signature.parameters.values() if p.default is p.empty and p.kind is not p.KEYWORD_ONLY and p.name != "self"]
            for odd in ODD:
                try:
                    result = getattr(make(), name)(*[odd] * max(len(needed), 1))
                    for then in ("plan", "new_scan", "new_read"):
                        getattr(result, then, lambda: None)()
                except Exception:  # noqa: BLE001
                    pass
                calls += 1
    assert calls > 2000
    assert env.rows("SELECT * FROM paimon.db.t") == [(1,)]


# 3. PaimonCatalog


def test_py_038_constructing_does_not_contact_storage(tmp_path):
    file = tmp_path / "file"
    file.write_text("not a warehouse")
    secret = {"fs.oss.accessKeySecret": "hidden-secret"}
    catalog = module.PaimonCatalog({"warehouse": str(file), **secret})
    with pytest.raises(ValueError, match=re.escape(str(file))) as caught:
        catalog.list_databases()
    assert "hidden-secret" not in str(caught.value)
    # What is there only later is found.
    late = module.PaimonCatalog({"warehouse": str(tmp_path / "late"), **secret})
    assert not (tmp_path / "late").exists()
    (tmp_path / "late" / "d.db").mkdir(parents=True)
    assert late.list_databases() == ["d"]


# 4. SQLContext


def test_py_056_what_the_limit_covers():
    resource = pytest.importorskip("resource")
    assert resource
    code = (
        "import json, resource, tempfile\n"
        "from pypaimon_rust.datafusion import SQLContext\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if __import__('sys').platform == 'darwin' else 1024)\n"
        "with tempfile.TemporaryDirectory() as folder:\n"
        "    ctx, before = SQLContext(memory_pool_type='fair', memory_pool_bytes=32 << 20, temp_directory=folder), peak()\n"
        "    rows = \"SELECT value, repeat('x', 92) AS pad FROM generate_series(1, 400000) ORDER BY value DESC\"\n"
        "    ctx.sql(f\"COPY ({rows}) TO '{folder}/rows.parquet'\")\n"
        "    print(json.dumps(peak() - before))\n"
    )
    said = re.search(r"sorted in a pool of 32 MB\D+(\d+) MB", " ".join(README.read_text(encoding="utf-8").split()))
    assert said, "the documentation gives the figure"
    assert child(code) < int(said[1]) << 20


# 5. Inspection


def test_py_096_snapshots_that_expire_meanwhile_are_left_out(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    for i in range(5):
        env.sql(f"INSERT INTO paimon.db.t VALUES ({i})")
    table, folder = env.table("t"), env.path("t", "snapshot")
    # Listed, but gone when it is opened.
    os.remove(os.path.join(folder, "snapshot-2"))
    os.symlink(os.path.join(folder, "gone"), os.path.join(folder, "snapshot-2"))
    assert [s.id() for s in table.list_snapshots()] == [5, 4, 3, 1]


def test_py_096_listing_while_snapshots_expire(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    table, seen, stop = env.table("t"), [], threading.Event()
    for i in range(40):
        write(table, pa.record_batch([pa.array([i], I32)], names=["id"]))

    def work():
        while not stop.is_set():
            seen.append([s.id() for s in table.list_snapshots()])

    thread = threading.Thread(target=work)
    thread.start()
    for keep in range(39, 0, -1):
        env.sql(f"CALL sys.expire_snapshots(table => 'db.t', retain_max => {keep}, retain_min => 1, older_than => '2099-01-01 00:00:00')")
    stop.set()
    thread.join()
    assert seen and [s.id() for s in table.list_snapshots()] == [40]
    assert all(ids == sorted(ids, reverse=True) and ids[0] == 40 for ids in seen)


# 12. Stream writes


def test_py_217_218_219_stream_writes_are_refused(env):
    """PY-218 and PY-219 need the builder of PY-217."""
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    with pytest.raises(module.UnsupportedError, match="stream writes"):
        env.table("t").new_stream_write_builder()


# 13. Compaction


def files(root):
    return sorted(path for path in glob.glob(os.path.join(root, "**"), recursive=True) if os.path.isfile(path))


def test_a_failing_compaction_leaves_no_file(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, p INT, PRIMARY KEY (p, id)) PARTITIONED BY (p) WITH ('bucket' = '1')")
    for _ in range(3):
        env.sql("INSERT INTO paimon.db.t VALUES (1, 1), (1, 2), (1, 3), (1, 4)")
    damaged = sorted(glob.glob(env.path("t", "p=4", "bucket-0", "data-*")))[0]
    with open(damaged, "r+b") as file:
        file.truncate(40)
    before = files(env.path("t"))
    with pytest.raises(module.CorruptError, match=os.path.basename(damaged)):
        env.table("t").new_compact_builder().execute()
    assert files(env.path("t")) == before and env.table("t").latest_snapshot().id() == 3


def test_py_235_a_file_that_cannot_be_deleted_is_named_in_a_warning(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING, p INT, PRIMARY KEY (p, id)) PARTITIONED BY (p) WITH ('bucket' = '1')")
    for run in range(3):
        env.sql(f"INSERT INTO paimon.db.t SELECT value, 'v' || value || {run}, 2 FROM generate_series(1, 200000) AS g(value)")
        env.sql(f"INSERT INTO paimon.db.t VALUES (1, '{run}', 1)")
    small, large = env.path("t", "p=1", "bucket-0"), env.path("t", "p=2", "bucket-0")
    # The task of the large bucket fails near its end, when the other one has written its file.
    with open(sorted(glob.glob(os.path.join(large, "data-*")), key=os.path.getmtime)[-1], "r+b") as file:
        file.seek(-40_000, os.SEEK_END)
        middle = file.tell()
        file.seek(middle)
        file.write(b"\xff" * 8_000)
    before = set(os.listdir(small))
    made = []

    def swap():
        """Puts a directory with a file in it where the small task wrote its file: it cannot be deleted."""
        for _ in range(6_000):
            new = [name for name in set(os.listdir(small)) - before if name.endswith(".parquet")]
            if new:
                time.sleep(0.05)
                path = os.path.join(small, new[0])
                os.remove(path)
                os.makedirs(os.path.join(path, "held"))
                made.append(path)
                return
            time.sleep(0.01)

    watcher = threading.Thread(target=swap)
    watcher.start()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError):
            env.table("t").new_compact_builder().execute()
    watcher.join()
    messages = [str(w.message) for w in caught if issubclass(w.category, RuntimeWarning)]
    assert len(messages) == 1 and made[0] in messages[0] and "left behind" in messages[0]
    assert env.table("t").latest_snapshot().id() == 6


def test_py_238_compaction_takes_memory_from_the_pool_of_its_session(env, tmp_path):
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    for run in range(3):
        env.sql(f"INSERT INTO paimon.db.t SELECT value, repeat('v{run}', 20) FROM generate_series(1, 100000) AS g(value)")
    session = lambda size: module.SQLContext(memory_pool_type="greedy", memory_pool_bytes=size, temp_directory=str(tmp_path / "spill"))  # noqa: E731
    for size, fits in ((100_000, False), (16 << 20, True)):
        ctx = session(size)
        ctx.register_catalog("paimon", {"warehouse": env.warehouse})
        before = files(env.path("t"))
        if fits:
            assert to_rows(ctx.sql("CALL sys.compact(table => 'paimon.db.t')"))[0][0] == 1
        else:
            with pytest.raises(MemoryError):
                ctx.sql("CALL sys.compact(table => 'paimon.db.t')")
            assert files(env.path("t")) == before
    assert env.rows("SELECT count(*), min(v), max(v) FROM paimon.db.t") == [(100_000, "v2" * 20, "v2" * 20)]


@pytest.mark.parametrize("name, snapshot, option", [
    ("changelog_lookup", 5, "changelog-producer"), ("first_row", 3, "first-row"), ("dv_pk_level0", 4, "deletion-vectors.enabled"),
])
@pytest.mark.parametrize("cache", [{}, {"local-cache.enabled": "true", "local-cache.dir": "cache"}])
def test_py_236_237_compactions_that_look_up_are_refused(java, tmp_path, name, snapshot, option, cache):
    tables = java(name)
    cache = {key: value.replace("cache", str(tmp_path / "cache")) if key.endswith("dir") else value for key, value in cache.items()}
    tables.sql(f"CALL sys.rollback_to('ora.t', '{snapshot}')")
    before = files(tables.warehouse)
    with pytest.raises(module.UnsupportedError, match=f"compacting.*{option}"):
        tables.table(**cache).new_compact_builder().execute()
    assert files(tables.warehouse) == before


@pytest.mark.parametrize("options", ["'changelog-producer' = 'lookup'", "'merge-engine' = 'first-row'", "'deletion-vectors.enabled' = 'true'"])
def test_py_236_without_a_task_there_is_nothing_to_refuse(env, options):
    env.sql(f"CREATE TABLE paimon.db.t (id INT, PRIMARY KEY (id)) WITH ('bucket' = '1', {options})")
    assert set(env.table("t").new_compact_builder().execute().values()) == {0}


@pytest.mark.parametrize("name, snapshot, option", [
    ("postpone", 3, "bucket"), ("changelog_full_compaction", 5, "full-compaction"), ("row_tracking", None, "row-tracking.enabled"),
])
def test_py_237_modes_that_are_not_compacted(java, name, snapshot, option):
    tables = java(name)
    if snapshot is not None:
        tables.sql(f"CALL sys.rollback_to('ora.t', '{snapshot}')")
    before = files(tables.warehouse)
    for call in (lambda: tables.table().new_compact_builder().execute(), lambda: tables.sql("CALL sys.compact(table => 'ora.t')")):
        with pytest.raises(module.UnsupportedError, match=f"compacting.*{option}"):
            call()
    assert files(tables.warehouse) == before


# 15. Remote storage, REST


@pytest.mark.parametrize("warehouse", [
    "s3://b/w", "s3a://b/w", "oss://b/w", "cosn://b/w", "abfs://f@a.dfs.core.windows.net/w", "obs://b/w", "gs://b/w", "hdfs://h/w",
])
def test_py_250_remote_storage_is_refused(warehouse):
    scheme = warehouse.split(":")[0]
    with pytest.raises(module.UnsupportedError, match=f"'{scheme}'.*file and memory"):
        module.PaimonCatalog({"warehouse": warehouse})
    with pytest.raises(module.UnsupportedError, match=f"'{scheme}'"):
        module.SQLContext().register_catalog("c", {"warehouse": warehouse})


def test_py_252_rest_catalogs_are_refused():
    for options in ({}, {"uri": "http://localhost:1", "warehouse": "w", "token.provider": "bear", "token": "hidden"}):
        with pytest.raises(module.UnsupportedError, match="metastore = rest") as caught:
            module.PaimonCatalog({"metastore": "rest", **options})
        assert "hidden" not in str(caught.value)


# 17. Expectations of users

# The names by which the guides call.
KEYWORDS = {
    "PaimonCatalog": ["catalog_options"],
    "PaimonCatalog.list_tables": ["database_name"],
    "PaimonCatalog.get_table": ["identifier"],
    "PaimonCatalog.create_database": ["name", "ignore_if_exists", "properties"],
    "PaimonCatalog.drop_database": ["name", "ignore_if_not_exists", "cascade"],
    "SQLContext": ["memory_pool_type", "memory_pool_bytes", "temp_directory", "max_temp_directory_size_bytes"],
    "SQLContext.register_catalog": ["catalog_name", "catalog_options", "default_database"],
    "SQLContext.sql": ["sql"],
    "SQLContext.register_batch": ["name", "batch"],
    "SQLContext.register_udf": ["udf"],
    "PythonScalarUDF": ["name", "func", "input_fields", "return_field", "volatility"],
    "udf": ["func", "input_fields", "return_field", "volatility", "name"],
    "Table.new_read_builder": ["options"],
    "ReadBuilder.with_projection": ["columns"],
    "ReadBuilder.with_filter": ["predicate"],
    "ReadBuilder.with_limit": ["limit"],
    "ReadBuilder.with_case_sensitive": ["flag"],
    "ReadBuilder.with_include_row_kind": ["flag"],
    "ReadBuilder.with_row_ranges": ["ranges"],
    "ReadBuilder.new_incremental_scan": ["start_snapshot_id", "end_snapshot_id", "mode"],
    "TableScan.with_row_position_slice": ["start", "end"],
    "TableScan.with_row_position_shard": ["index", "count"],
    "StreamTableScan.restore": ["next_snapshot_id"],
    "StreamTableScan.notify_checkpoint_complete": ["next_snapshot_id"],
    "TableRead.read": ["splits"],
    "TableRead.read_arrow": ["splits"],
    "BatchWriteBuilder.with_overwrite": ["static_partition"],
    "BatchTableWrite.write_arrow": ["batch", "bucket"],
    "BatchTableCommit.commit": ["messages"],
    "BatchTableCommit.abort": ["messages"],
    "BatchTableCommit.truncate_partitions": ["partitions"],
    "CompactBuilder.with_partition_filter": ["predicate"],
    "CompactBuilder.with_commit_user": ["user"],
}


@pytest.mark.parametrize("name", sorted(KEYWORDS))
def test_py_280_keyword_names_are_stable(name):
    item = module
    for part in name.split("."):
        item = getattr(item, part)
    assert [p for p in inspect.signature(item).parameters if p != "self"] == KEYWORDS[name]


def made(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, s STRING, d DOUBLE)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'a', 1.5), (2, NULL, NULL)")
    builder = env.table("t").new_read_builder()
    return builder.new_read().read_arrow(builder.new_scan().plan().splits())


def test_py_282_nothing_is_imported_unless_asked_for(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    code = (
        "import json, sys\n"
        "from pypaimon_rust.datafusion import PaimonCatalog, SQLContext\n"
        "table = PaimonCatalog({'warehouse': sys.argv[1]}).get_table('db.t')\n"
        "assert table.schema().fields()\n"
        "first = [name for name in ('pandas', 'polars', 'duckdb', 'numpy', 'pyarrow', 'datafusion') if name in sys.modules]\n"
        "builder = table.new_read_builder()\n"
        "assert builder.new_read().read(builder.new_scan().plan().splits())[0].num_rows == 1\n"
        "print(json.dumps([first, [name for name in ('pandas', 'polars', 'duckdb', 'datafusion') if name in sys.modules]]))\n"
    )
    assert child(code, env.warehouse) == [[], []]


def test_py_282_numpy(env):
    numpy = pytest.importorskip("numpy", minversion="2")
    env.sql("CREATE TABLE paimon.db.n (id INT)")
    write(env.table("n"), pa.record_batch([pa.array(numpy.arange(3, dtype=numpy.int32))], names=["id"]))
    [batch] = env.sql("SELECT id FROM paimon.db.n")
    assert batch.column(0).to_numpy().tolist() == [0, 1, 2]


def test_py_282_pandas(env):
    pandas = pytest.importorskip("pandas", minversion="2")
    reader = made(env)
    frame = pa.RecordBatchReader.from_stream(reader).read_pandas()
    assert frame["id"].tolist() == [1, 2] and frame["s"].tolist()[0] == "a" and pandas.isna(frame["d"][1])
    env.ctx.register_batch("frame", pa.RecordBatch.from_pandas(frame))
    assert env.rows("SELECT s FROM frame WHERE id = 1") == [("a",)]


def test_py_282_polars(env):
    polars = pytest.importorskip("polars", minversion="1")
    frame = polars.from_arrow(pa.table(made(env)))
    assert frame.rows() == [(1, "a", 1.5), (2, None, None)]
    assert polars.DataFrame(made_again(env)).rows() == frame.rows()
    env.ctx.register_batch("frame", frame)
    assert env.rows("SELECT s FROM frame WHERE id = 1") == [("a",)]
    write(env.table("t"), frame)
    assert to_rows(env.sql("SELECT count(*) FROM paimon.db.t")) == [(4,)]


def made_again(env):
    builder = env.table("t").new_read_builder()
    return builder.new_read().read_arrow(builder.new_scan().plan().splits())


def test_py_282_duckdb(env):
    duckdb = pytest.importorskip("duckdb", minversion="1")
    rows = pa.RecordBatchReader.from_stream(made(env))
    assert rows.schema.names == ["id", "s", "d"]
    assert duckdb.sql("SELECT id, s FROM rows ORDER BY id").fetchall() == [(1, "a"), (2, None)]
    env.ctx.register_batch("relation", duckdb.sql("SELECT 7 AS seven"))
    assert env.rows("SELECT seven FROM relation") == [(7,)]
