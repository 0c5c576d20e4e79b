"""The package as a whole: names, errors, memory options, functions, threads, forks, event loops, the stock engine."""

import asyncio
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as parquet
import pytest
from conftest import batch, to_rows, write

import pypaimon_rust
from pypaimon_rust import datafusion as module

I32, S = pa.int32(), pa.string()


def test_names():
    assert pypaimon_rust.__version__
    for name in module.__all__:
        item = getattr(module, name)
        if isinstance(item, type) and not issubclass(item, BaseException):
            assert item.__module__ == "pypaimon_rust.datafusion", name


@pytest.mark.parametrize("arguments, error", [
    ({"memory_pool_type": "fair"}, ValueError),
    ({"memory_pool_type": "Fair", "memory_pool_bytes": 1}, ValueError),
    ({"memory_pool_bytes": 0}, ValueError),
    ({"memory_pool_bytes": -1}, ValueError),
    ({"memory_pool_bytes": 1 << 70}, ValueError),
    ({"memory_pool_bytes": True}, TypeError),
    ({"memory_pool_bytes": "1"}, TypeError),
    ({"temp_directory": ""}, ValueError),
    ({"temp_directory": b"x"}, TypeError),
    ({"max_temp_directory_size_bytes": -1}, ValueError),
])
def test_bad_memory_options(arguments, error):
    with pytest.raises(error):
        module.SQLContext(**arguments)


def test_a_small_pool_spills(tmp_path):
    ctx = module.SQLContext(
        memory_pool_type="fair", memory_pool_bytes=48 << 20, temp_directory=tmp_path / "a" / "b",
        max_temp_directory_size_bytes=1 << 30,
    )
    batches = ctx.sql("SELECT value, repeat('x', 36) AS pad FROM generate_series(1, 200000) ORDER BY value DESC")
    values = [v for b in batches for v in b.column(0).to_pylist()]
    assert values == list(range(200000, 0, -1))


def test_errors_have_their_classes(env):
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL)")
    catalog = module.PaimonCatalog({"warehouse": env.warehouse})
    with pytest.raises(module.NotFoundError, match="zz"):
        catalog.list_tables("zz")
    with pytest.raises(module.NotFoundError, match="db.nope"):
        catalog.get_table("db.nope")
    with pytest.raises(module.NotFoundError):
        env.sql("SELECT * FROM paimon.db.nope")
    with pytest.raises(module.AlreadyExistsError):
        env.sql("CREATE TABLE paimon.db.t (id INT)")
    with pytest.raises(module.UnsupportedError):
        env.sql("DELETE FROM paimon.db.t")
    with pytest.raises(module.UnsupportedError, match=r"paimon\.db\.t\$files"):
        env.sql("DELETE FROM paimon.db.t$files")
    with pytest.raises(ValueError, match="scan.snapshot-id.*scan.timestamp"):
        env.table("t").new_read_builder({"scan.snapshot-id": "1", "scan.timestamp": "2099-01-01"}).new_scan()
    with pytest.raises(module.SchemaMismatchError, match="id"):
        write(env.table("t"), batch(id=(I32, [None])))
    with pytest.raises(ValueError, match="warehouse"):
        module.PaimonCatalog({})
    with pytest.raises(TypeError, match="warehouse"):
        module.PaimonCatalog({"warehouse": 1})
    with pytest.raises(NotImplementedError, match="s3"):
        module.PaimonCatalog({"warehouse": "s3://bucket/w"})
    with pytest.raises(module.NotFoundError, match="nope"):
        env.sql("SELECT nope FROM paimon.db.t")
    with pytest.raises(ValueError, match="1e400"):
        env.sql("SELECT 1e400")
    with pytest.raises(ValueError):
        env.sql("SELECT " + "(" * 20000)


NESTED = pa.struct([("a", I32), ("b", pa.struct([("c", pa.list_(pa.struct([("d", pa.struct([("e", S)]))])))]))])


@pytest.mark.parametrize("form", ["batch", "table", "reader"])
def test_slices_of_rows_in_rows(env, form):
    env.sql("CREATE TABLE paimon.db.t (id INT, x ROW<a INT, b ROW<c ARRAY<ROW<d ROW<e STRING>>>>>)")
    inner = lambda *texts: [None if text is None else {"d": {"e": text}} for text in texts]
    values = [
        {"a": 1, "b": {"c": inner("x", None, "y")}}, None, {"a": None, "b": None}, {"a": 2, "b": {"c": None}},
        {"a": 3, "b": {"c": []}}, {"a": 4, "b": {"c": inner("z")}},
    ]
    whole = pa.record_batch([pa.array(range(6), I32), pa.array(values, NESTED)], names=["id", "x"])
    for start in range(7):
        for length in range(7 - start):
            part = whole.slice(start, length)
            # A part of a column is a slice within a batch that is none.
            parts = pa.record_batch([part.column(0), part.column(1)], names=["id", "x"])
            for given in (part, parts):
                if form == "table":
                    given = pa.Table.from_batches([given])
                if form == "reader":
                    given = pa.RecordBatchReader.from_batches(whole.schema, [given])
                write(env.table("t"), given, overwrite={})
                assert env.read(env.table("t")) == list(zip(range(start, start + length), values[start:start + length]))


def test_py_139_ids_of_fields_are_not_shown_by_sql(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, x ROW<a ARRAY<ROW<b INT>>>, m MAP<STRING, INT>)")
    env.sql("INSERT INTO paimon.db.t SELECT 1, NULL, NULL")
    [found] = env.sql("SELECT * FROM paimon.db.t")
    [read] = env.table("t").new_read_builder().new_read().read(env.table("t").new_read_builder().new_scan().plan().splits())
    assert all(b"PARQUET:field_id" in field.metadata for field in read.schema)
    assert [field.metadata for field in found.schema] == [None] * 3
    assert found.schema.equals(read.schema)


def test_what_a_reader_raises_is_passed_on(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")

    class OwnError(Exception):
        pass

    def batches():
        yield batch(id=(I32, [1]))
        raise OwnError("the source is gone")

    with pytest.raises(OwnError, match="the source is gone"):
        write(env.table("t"), pa.RecordBatchReader.from_batches(pa.schema([("id", I32)]), batches()))
    assert env.rows("SELECT * FROM paimon.db.t") == []


def test_a_row_without_fields_is_not_written(env):
    schema = pa.schema([("id", I32), ("x", pa.struct([]))])
    module.PaimonCatalog({"warehouse": env.warehouse}).create_table("db.t", schema)
    with pytest.raises(module.UnsupportedError, match="ROW<>"):
        write(env.table("t"), pa.record_batch([pa.array([1], I32), pa.array([None], pa.struct([]))], schema=schema))


def test_a_writer_of_a_dropped_table_writes_no_file(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    writer = env.table("t").new_batch_write_builder().new_write()
    env.sql("DROP TABLE paimon.db.t")
    with pytest.raises(module.NotFoundError, match="db.t"):
        writer.write_arrow(batch(id=(I32, [1])))
    assert not os.path.exists(env.path("t"))
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    with pytest.raises(module.StateError, match="made again"):
        writer.write_arrow(batch(id=(I32, [1])))
    assert os.listdir(env.path("t")) == ["schema"]


@pytest.mark.parametrize("name", ["../../../etc/passwd", "a/b", ".."])
def test_metadata_names_files_of_the_table_only(env, name):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    path = env.path("t", "snapshot", "snapshot-1")
    snapshot = json.loads(pathlib.Path(path).read_text())
    snapshot["baseManifestList"] = name
    pathlib.Path(path).write_text(json.dumps(snapshot))
    with pytest.raises(module.CorruptError, match="baseManifestList"):
        env.fresh().sql("SELECT * FROM paimon.db.t")


@pytest.mark.parametrize("folder, pattern", [("snapshot", "snapshot-1"), ("schema", "schema-0"), ("manifest", "manifest")])
def test_truncated_metadata_names_its_file(env, folder, pattern):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    names = [n for n in os.listdir(env.path("t", folder)) if n.startswith(pattern)]
    for name in names:
        path = env.path("t", folder, name)
        content = open(path, "rb").read()
        with open(path, "wb") as f:
            f.write(content[: len(content) // 2])
    # In another process: this one has the manifests that it wrote in memory.
    code = (
        "from pypaimon_rust.datafusion import CorruptError, SQLContext\n"
        "ctx = SQLContext()\n"
        "ctx.register_catalog('paimon', {'warehouse': %r})\n"
        "try:\n"
        "    ctx.sql('SELECT * FROM paimon.db.t')\n"
        "except CorruptError as e:\n"
        "    print(e)\n" % env.warehouse
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert pattern in done.stdout, done.stdout + done.stderr


def test_damaged_data_file_is_an_error(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t SELECT value FROM generate_series(1, 1000) AS g(value)")
    bucket = env.path("t", "bucket-0")
    path = os.path.join(bucket, os.listdir(bucket)[0])
    with open(path, "r+b") as f:
        f.truncate(os.path.getsize(path) // 2)
    with pytest.raises(module.PaimonError, match="data-"):
        env.read(env.table("t"))


def test_life_cycle(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    builder = env.table("t").new_batch_write_builder()
    writer = builder.new_write()
    writer.write_arrow(batch(id=(I32, [1])))
    messages = writer.prepare_commit()
    with pytest.raises(RuntimeError):
        writer.prepare_commit()
    with pytest.raises(RuntimeError):
        writer.write_arrow(batch(id=(I32, [2])))
    commit = builder.new_commit()
    commit.commit(messages)
    with pytest.raises(RuntimeError):
        commit.commit(messages)
    with pytest.raises(RuntimeError):
        builder.new_commit().commit(messages)
    assert env.rows("SELECT * FROM paimon.db.t") == [(1,)]
    with builder.new_write() as dropped:
        dropped.write_arrow(batch(id=(I32, [3])))
    files = [f for f in os.listdir(env.path("t", "bucket-0")) if f.endswith(".parquet")]
    assert len(files) == 1


def test_reader_streams(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t SELECT value FROM generate_series(1, 20000) AS g(value)")
    builder = env.table("t").new_read_builder()
    splits = builder.new_scan().plan().splits()
    reader = builder.new_read().read_arrow(splits)
    first = reader.read_next_batch()
    rest = pa.RecordBatchReader.from_stream(reader).read_all()
    assert first.num_rows + rest.num_rows == 20000
    assert reader.read_next_batch() is None
    reader.close()
    reader.close()
    assert list(reader) == []


def test_functions(env):
    add = module.udf(lambda x: pc.add(x, 10), pa.int64(), pa.int64(), "immutable", "plus_ten")
    env.ctx.register_udf(add)
    assert repr(add) == "PythonScalarUDF(plus_ten)"
    env.ctx.register_batch("numbers", pa.record_batch([pa.array([1, None], pa.int64())], names=["n"]))
    assert env.rows("SELECT plus_ten(n) FROM paimon.default.numbers") == [(None,), (11,)]
    bad = module.udf(lambda x: [1], pa.int64(), pa.int64(), "volatile", "bad")
    env.ctx.register_udf(bad)
    with pytest.raises(Exception, match="bad"):
        env.rows("SELECT bad(n) FROM paimon.default.numbers")
    with pytest.raises(ValueError):
        env.ctx.register_batch("paimon.default.numbers", pa.record_batch([pa.array([1])], names=["n"]))


@pytest.mark.parametrize("exit", [KeyboardInterrupt, SystemExit])
def test_functions_may_end_the_program(env, exit):
    def leave(_):
        raise exit

    env.ctx.register_udf(module.udf(leave, [pa.int64()], pa.int64(), "volatile", "leave"))
    with pytest.raises(exit):
        env.sql("SELECT leave(1)")
    env.sql("CREATE TABLE paimon.db.left (id BIGINT)")
    with pytest.raises(exit):
        env.sql("INSERT INTO paimon.db.left SELECT leave(value) FROM generate_series(1, 9)")
    assert env.table("left").latest_snapshot() is None


def test_other_threads_run_and_the_event_loop_may_call(env):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()

    async def query():
        return env.rows("SELECT count(*) FROM generate_series(1, 20000000)")

    assert asyncio.run(query()) == [(20000000,)]
    stop.set()
    thread.join()
    assert len(ticks) > 3


def test_after_a_fork(env):
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v INT, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 1)")
    code = (
        "import os, sys, threading\n"
        "import pyarrow as pa\n"
        "from pypaimon_rust.datafusion import PaimonCatalog, SQLContext, ForkSafetyError\n"
        "c = PaimonCatalog({'warehouse': %r})\n"
        "ctx = SQLContext()\n"
        "ctx.register_catalog('paimon', {'warehouse': %r})\n"
        "t = c.get_table('db.t')\n"
        "rb = t.new_read_builder()\n"
        "def reader(): return rb.new_read().read_arrow(rb.new_scan().plan().splits())\n"
        "rows = lambda: ctx.sql('SELECT count(*) AS n FROM paimon.db.t')[0].to_pylist()[0]['n']\n"
        "open_reader, writer = reader(), t.new_batch_write_builder().new_write()\n"
        "writer.write_arrow(pa.record_batch([pa.array([7], pa.int32()), pa.array([7], pa.int32())],\n"
        "    schema=pa.schema([pa.field('id', pa.int32(), False), ('v', pa.int32())])))\n"
        "threads = [threading.Thread(target=rows) for _ in range(4)]\n"
        "[x.start() for x in threads]\n"
        "[x.join() for x in threads]\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try:\n"
        "        assert sum(b.num_rows for b in reader()) == 1 and rows() == 1\n"
        "        for use in (lambda: next(open_reader), lambda: pa.RecordBatchReader.from_stream(open_reader), writer.prepare_commit):\n"
        "            try:\n"
        "                use()\n"
        "                os._exit(2)\n"
        "            except ForkSafetyError as e:\n"
        "                assert 'made before a fork' in str(e)\n"
        "        writer.close()\n"
        "        del writer\n"
        "        ctx.sql('INSERT INTO paimon.db.t VALUES (2, 2)')\n"
        "        t.new_compact_builder().execute()\n"
        "        assert rows() == 2\n"
        "        os._exit(0)\n"
        "    except BaseException as e:\n"
        "        print(repr(e), file=sys.stderr, flush=True)\n"
        "        os._exit(1)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0\n"
        # The parent's writer still has its file.
        "assert writer.prepare_commit() and rows() == 2\n" % (env.warehouse, env.warehouse)
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]


def test_interrupt_stops_a_query():
    code = (
        "import _thread, signal, threading, time\n"
        # A shell that starts the tests in the background has them ignore the signal.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pypaimon_rust.datafusion import SQLContext\n"
        "ctx = SQLContext()\n"
        "threading.Timer(0.5, _thread.interrupt_main).start()\n"
        "start = time.time()\n"
        "try:\n"
        "    ctx.sql('SELECT count(*) FROM generate_series(1, 3000000) a CROSS JOIN generate_series(1, 3000000) b')\n"
        "except KeyboardInterrupt:\n"
        "    print(time.time() - start)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and float(done.stdout) < 5, done.stderr


def stock(env, body):
    code = (
        "import datafusion, json\n"
        "from pypaimon_rust.datafusion import PaimonCatalog, install\n"
        "ctx = datafusion.SessionContext()\n"
        "install(ctx, 'paimon', {'warehouse': %r})\n"
        "def q(s):\n"
        "    return [list(r) for b in ctx.sql(s).collect() for r in zip(*[c.to_pylist() for c in b.columns])]\n" % env.warehouse
    ) + body
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


def test_stock_engine_compacts_once(env):
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    for v in "abc":
        env.sql(f"INSERT INTO paimon.db.t VALUES (1, '{v}')")
    body = (
        "q(\"EXPLAIN SELECT * FROM sys.compact('db.t')\")\n"
        "one = ctx.sql(\"SELECT tasks, files_removed FROM compact('db.t')\").collect()[0].to_pylist()\n"
        "two = ctx.sql(\"SELECT tasks FROM sys.compact('db.t')\").collect()[0].to_pylist()\n"
        "print(json.dumps([one, two, q('SELECT id, v FROM paimon.db.t')]))\n"
    )
    assert stock(env, body) == [[{"tasks": 1, "files_removed": 3}], [{"tasks": 0}], [[1, "c"]]]
    assert env.table("t").latest_snapshot().id() == 4


def test_stock_engine_inserts_every_partition_and_drops_nothing(env):
    env.sql("CREATE TABLE paimon.db.t (id BIGINT)")
    body = (
        "q('INSERT INTO paimon.db.t SELECT value FROM generate_series(1, 100000) AS g(value) GROUP BY value')\n"
        "for s in ('DROP TABLE paimon.db.t', 'CREATE TABLE paimon.db.x (id INT)'):\n"
        "    try:\n"
        "        ctx.sql(s).collect()\n"
        "        print('accepted', s)\n"
        "    except Exception as e:\n"
        "        pass\n"
        "print(json.dumps([q('SELECT count(*), sum(id) FROM paimon.db.t'), "
        "q('SELECT snapshot_id, commit_kind FROM paimon.db.\"t$snapshots\"')]))\n"
    )
    assert stock(env, body) == [[[100000, 5000050000]], [[1, "APPEND"]]]


def test_stock_engine_filters_files_of_older_columns(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, f DOUBLE, v STRING)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, -0.0, 'a'), (2, 'NaN', 'b'), (3, 0.0, NULL)")
    env.sql("ALTER TABLE paimon.db.t RENAME COLUMN v TO name")
    env.sql("ALTER TABLE paimon.db.t ADD COLUMN v BIGINT")
    env.sql("INSERT INTO paimon.db.t (id, name, v) VALUES (4, 'q', 7)")
    filters = {
        "name = 'a'": [1],
        "name IS NULL": [3],
        "v = 7": [4],
        "v IS NULL": [1, 2, 3],
        "v > 3 OR upper(name) = 'B'": [2, 4],
        "f = 0.0": [1, 3],
        "f > 1": [2],
    }
    queries = [f"SELECT id FROM paimon.db.t WHERE {f} ORDER BY id" for f in filters]
    body = f"print(json.dumps([[row[0] for row in q(text)] for text in {queries!r}]))\n"
    assert stock(env, body) == list(filters.values())
    assert [[row[0] for row in env.rows(text)] for text in queries] == list(filters.values())


@pytest.mark.parametrize("pushdown", ["true", "false"])
def test_stock_engine_filters_the_right_columns_of_files(env, pushdown):
    env.sql("CREATE TABLE paimon.db.pk (id INT NOT NULL, v BIGINT, ts TIMESTAMP(3), PRIMARY KEY (id)) WITH ('bucket' = '1')")
    env.sql("INSERT INTO paimon.db.pk VALUES (1, 100, TIMESTAMP '2020-01-01 00:00:00'), (2, 200, TIMESTAMP '2020-01-02 00:00:00'), (3, 300, NULL)")
    env.sql("CREATE TABLE paimon.db.part (p INT, a INT, b INT) PARTITIONED BY (p)")
    env.sql("INSERT INTO paimon.db.part VALUES (1, 10, 100), (1, 20, 5), (1, 30, 300)")
    env.sql("CREATE TABLE paimon.db.ev (x INT, a INT, b INT)")
    env.sql("INSERT INTO paimon.db.ev VALUES (1, 10, 100), (1, 20, 5)")
    env.sql("ALTER TABLE paimon.db.ev DROP COLUMN x")
    queries = {
        "SELECT id FROM paimon.db.pk WHERE v >= 200": [[2], [3]],
        "SELECT id FROM paimon.db.pk WHERE ts < TIMESTAMP '2020-01-02 00:00:00'": [[1]],
        "SELECT id FROM paimon.db.pk WHERE NOT (ts = TIMESTAMP '2020-01-01 00:00:00' OR ts IS NULL)": [[2]],
        "SELECT id FROM paimon.db.pk WHERE ts NOT IN (TIMESTAMP '2020-01-01 00:00:00', TIMESTAMP '2021-01-05 00:00:00')": [[2]],
        "SELECT id FROM paimon.db.pk WHERE CAST(ts AS STRING) <> '2020-01-01T00:00:00'": [[2]],
        "SELECT a FROM paimon.db.part WHERE a > 15": [[20], [30]],
        "SELECT a FROM paimon.db.part WHERE b > 50": [[10], [30]],
        "SELECT b FROM paimon.db.ev WHERE a = 10": [[100]],
        "SELECT count(*) FROM paimon.db.ev WHERE b < 50": [[1]],
    }
    body = (
        f"ctx = datafusion.SessionContext(datafusion.SessionConfig().set('datafusion.execution.parquet.pushdown_filters', '{pushdown}'))\n"
        f"install(ctx, 'paimon', {{'warehouse': {env.warehouse!r}}})\n"
        f"print(json.dumps([sorted(q(s)) for s in {list(queries)}]))\n"
    )
    assert stock(env, body) == list(queries.values())


def test_stock_engine_prunes_within_files(env):
    env.sql("CREATE TABLE paimon.db.t (a INT, b INT) WITH ('parquet.block.size' = '64 kb')")
    env.sql("INSERT INTO paimon.db.t SELECT value, value % 7 FROM generate_series(1, 200000) AS g(value)")
    body = "print(json.dumps(' '.join(r[1] for r in q('EXPLAIN ANALYZE SELECT * FROM paimon.db.t WHERE a = 5'))))\n"
    read = re.search(r"output_rows=([0-9.]+)( K)?, elapsed_compute=[^,]*, output_bytes=[^,]*, output_batches=\d+, files_ranges", stock(env, body))
    assert read and float(read[1]) * (1000 if read[2] else 1) < 50_000, read


def test_other_major_version_is_refused(env, monkeypatch):
    import importlib.metadata

    monkeypatch.setattr(importlib.metadata, "version", lambda name: "54.0.0")
    catalog = module.PaimonCatalog({"warehouse": env.warehouse})
    with pytest.raises(RuntimeError, match="55.*54.0.0"):
        catalog.__datafusion_catalog_provider__(None)
    with pytest.raises(ImportError, match="55.*54.0.0"):
        module.install(None, "paimon", {"warehouse": env.warehouse})


def test_inspection(env):
    env.sql("CREATE TABLE paimon.db.t (id INT COMMENT 'key', dt DATE, b BOOLEAN) PARTITIONED BY (dt, b) COMMENT 'x'")
    env.sql("INSERT INTO paimon.db.t VALUES (1, DATE '1970-01-02', true), (2, NULL, NULL), (3, NULL, NULL)")
    table = env.table("t")
    default = "__DEFAULT_PARTITION__"
    assert table.list_partitions() == [{"dt": "1", "b": "true"}, {"dt": default, "b": default}]
    assert [list(p) for p in table.list_partitions()] == [["dt", "b"]] * 2
    assert [(s.record_count(), s.file_count()) for s in table.partition_stats()] == [(1, 1), (2, 1)]
    schema = table.schema()
    assert [(f.name(), f.field_type(), f.description()) for f in schema.fields()][0] == ("id", "INT", "key")
    assert (schema.comment(), schema.partition_keys(), table.branch(), table.identifier()) == ("x", ["dt", "b"], "main", "db.t")
    env.sql("CALL sys.create_tag(table => 'db.t', tag => 'one')")
    assert [(t.name(), t.snapshot_id()) for t in table.list_tags()] == [("one", 1)]
    assert [s.commit_kind() for s in table.list_snapshots()] == ["APPEND"]


def test_overwrite(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, p STRING) PARTITIONED BY (p)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b')")
    write(env.table("t"), batch(id=(I32, [9]), p=(S, ["a"])), overwrite={})
    assert env.rows("SELECT * FROM paimon.db.t") == [(2, "b"), (9, "a")]
    commit = env.table("t").new_batch_write_builder().new_commit()
    commit.truncate_partitions([{"p": "b"}])
    assert env.rows("SELECT * FROM paimon.db.t") == [(9, "a")]
    env.table("t").new_batch_write_builder().new_commit().truncate_table()
    assert to_rows(env.sql("SELECT * FROM paimon.db.t")) == []


@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (a)"])
def test_handles_of_a_table_that_was_made_again(env, key):
    bucket = "1" if key else "-1"

    def create(columns):
        env.sql(f"CREATE TABLE paimon.db.t ({columns}{key}) WITH ('bucket' = '{bucket}')")

    def batch(schema):
        return pa.record_batch([pa.array([1], pa.int32()), pa.array([2], pa.int32())], schema=schema)

    create("a INT NOT NULL, b INT")
    table = env.table("t")
    builder = table.new_batch_write_builder()
    writer = builder.new_write()
    writer.write_arrow(batch(table.schema().to_arrow()))
    messages = writer.prepare_commit()
    env.sql("DROP TABLE paimon.db.t")
    with pytest.raises(module.NotFoundError, match="db.t"):
        table.new_read_builder().new_scan().plan()
    with pytest.raises(module.NotFoundError, match="db.t"):
        builder.new_commit().commit(messages)
    create("a INT NOT NULL, x STRING")
    env.sql("INSERT INTO paimon.db.t VALUES (5, 'x')")
    with pytest.raises(module.StateError, match="db.t was dropped and made again"):
        table.new_read_builder().new_scan().plan()
    again = table.new_batch_write_builder()
    writer = again.new_write()
    with pytest.raises(module.StateError, match="db.t was dropped and made again"):
        writer.write_arrow(batch(table.schema().to_arrow()))
        again.new_commit().commit(writer.prepare_commit())
    assert env.rows("SELECT a, x FROM paimon.db.t") == [(5, "x")]


@pytest.mark.parametrize("columns, error, message", [
    (None, module.NotFoundError, "db.t"),
    # The same columns, others, other partitions.
    ("(id INT, v STRING)", module.StateError, "db.t was dropped and made again"),
    ("(x STRING, y INT)", module.StateError, "db.t was dropped and made again"),
    ("(id INT, p DECIMAL(30, 2)) PARTITIONED BY (p)", module.StateError, "db.t was dropped and made again"),
])
def test_nothing_is_read_through_a_handle_whose_table_is_gone(env, columns, error, message):
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    for _ in range(2):
        env.sql("INSERT INTO paimon.db.t VALUES (1, 'a')")
    table = env.table("t")
    builder = table.new_read_builder({"consumer-id": "job"})
    begun, fresh = builder.new_stream_scan(), builder.new_stream_scan()
    assert begun.plan().snapshot_id() == 2
    env.sql("DROP TABLE paimon.db.t")
    if columns:
        env.sql(f"CREATE TABLE paimon.db.t {columns}")
        for _ in range(4):
            env.sql("INSERT INTO paimon.db.t VALUES ('1', 2)")
        env.table("t").new_compact_builder().execute()
    for look in (
        begun.plan,
        fresh.plan,
        lambda: begun.notify_checkpoint_complete(begun.checkpoint()),
        builder.new_scan().plan,
        table.latest_snapshot,
        table.list_snapshots,
        table.list_tags,
        table.list_partitions,
        table.partition_stats,
    ):
        with pytest.raises(error, match=message):
            look()
    assert os.path.exists(env.path("t")) == bool(columns)
    assert not os.path.exists(env.path("t", "consumer"))


def test_a_flipped_bit_in_a_page_of_java_is_an_error(java):
    """Java's writer stores a checksum with every page."""
    table = java("append_unaware")
    for path in pathlib.Path(table.path("t")).rglob("data-*.parquet"):
        column = parquet.ParquetFile(path).metadata.row_group(0).column(0)
        start = column.data_page_offset if column.dictionary_page_offset is None else column.dictionary_page_offset
        content = bytearray(path.read_bytes())
        content[start + column.total_compressed_size - 1] ^= 1
        path.write_bytes(content)
    builder = table.table().new_read_builder()
    for read in (
        lambda: table.sql("SELECT * FROM t"),
        lambda: list(builder.new_read().read(builder.new_scan().plan().splits())),
    ):
        with pytest.raises(module.CorruptError, match=r"data-.*\.parquet"):
            read()


@pytest.mark.parametrize("damage", ["gone", "cut", "pages"])
def test_damaged_files_in_sql(env, damage):
    """The error is that of the builders: it is of the class of the damage and names the file."""
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    env.sql("INSERT INTO paimon.db.t SELECT value, 'v' || value FROM generate_series(1, 20000) AS g(value)")
    folder = pathlib.Path(env.warehouse) / "db.db" / "t" / "bucket-0"
    for path in folder.glob("*.parquet"):
        content = path.read_bytes()
        footer = len(content) - 8000
        if damage == "gone":
            path.unlink()
        else:
            path.write_bytes(content[:footer] if damage == "cut" else bytes(footer) + content[footer:])
    expected = module.MissingFileError if damage == "gone" else module.CorruptError
    builder = env.table("t").new_read_builder()
    splits = builder.new_scan().plan().splits()
    for read in (
        lambda: env.sql("SELECT * FROM paimon.db.t"),
        lambda: env.sql("SELECT count(*) FROM paimon.db.t WHERE v LIKE '%7'"),
        lambda: list(builder.new_read().read(splits)),
    ):
        with pytest.raises(expected, match=re.escape(str(folder / "data-"))):
            read()


def test_a_lost_newest_schema_is_not_replaced(env):
    """A new schema of its number would change what old files hold."""
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    env.sql("ALTER TABLE paimon.db.t ADD COLUMN b INT")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 2)")
    path = pathlib.Path(env.path("t", "schema", "schema-1"))
    content = path.read_bytes()
    path.unlink()
    for sql in (
        "SELECT * FROM paimon.db.t",
        "INSERT INTO paimon.db.t (a) VALUES (3)",
        "ALTER TABLE paimon.db.t ADD COLUMN c STRING",
    ):
        with pytest.raises(module.PaimonError, match="schema-1"):
            env.sql(sql)
    path.write_bytes(content)
    assert env.rows("SELECT * FROM paimon.db.t") == [(1, 2)]


def test_create_table_as_if_not_exists_in_a_race(env):
    contexts = [env.fresh() for _ in range(6)]
    for turn in range(5):
        with concurrent.futures.ThreadPoolExecutor(len(contexts)) as pool:
            create = f"CREATE TABLE IF NOT EXISTS paimon.db.t{turn} AS SELECT"
            list(pool.map(lambda i: contexts[i].sql(f"{create} {i} AS id"), range(len(contexts))))
        assert len(env.rows(f"SELECT id FROM paimon.db.t{turn}")) == 1
