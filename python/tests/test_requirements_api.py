"""One test per requirement of the Python API, found by its number: `test_py_030` is for PY-030 of docs/REQUIREMENTS.md."""

import json
import os
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import batch, to_rows, write

import pypaimon_rust
from pypaimon_rust import datafusion as module

I32, I64, S = pa.int32(), pa.int64(), pa.string()


def child(code, *arguments):
    """Runs code in a process of its own; the last line that it prints, as JSON."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.strip().splitlines()[-1])


# 1. Package


def test_py_001_the_package():
    assert pypaimon_rust.__name__ == "pypaimon_rust" and module.__name__ == "pypaimon_rust.datafusion"


def test_py_003_pyarrow_is_asked_for_late(tmp_path):
    code = (
        "import json, sys\n"
        "sys.modules['pyarrow'] = None\n"
        "from pypaimon_rust.datafusion import SQLContext\n"
        "try:\n"
        "    SQLContext().sql('SELECT 1')\n"
        "except ImportError as e:\n"
        "    print(json.dumps(str(e)))\n"
    )
    assert "pip install pyarrow" in child(code)


def test_py_004_buffers_outlive_their_makers(env):
    env.sql("CREATE TABLE paimon.db.t (s STRING)")
    env.sql("INSERT INTO paimon.db.t VALUES ('long enough not to be inlined')")
    ctx = env.fresh()
    batches = ctx.sql("SELECT s FROM paimon.db.t")
    del ctx
    assert to_rows(batches) == [("long enough not to be inlined",)]


def test_py_005_names():
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        item = getattr(module, name)
        if isinstance(item, type) and not issubclass(item, BaseException):
            assert item.__module__ == "pypaimon_rust.datafusion", name
    assert pypaimon_rust.__version__


def test_py_007_import_starts_nothing():
    code = (
        "import json, threading, os\n"
        "import pypaimon_rust.datafusion\n"
        "print(json.dumps(len(os.listdir('/proc/self/task')) if os.path.isdir('/proc/self/task') else 1))\n"
    )
    assert child(code) == 1


def test_py_009_other_threads_run(env):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    env.sql("SELECT count(*) FROM generate_series(1, 10000000)")
    stop.set()
    thread.join()
    assert len(ticks) > 3


def test_py_010_objects_may_be_shared(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    table, seen = env.table("t"), []
    threads = [threading.Thread(target=lambda: seen.append(env.read(table) + env.rows("SELECT * FROM paimon.db.t"))) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert seen == [[(1,), (1,)]] * 8


# 2. Errors


def test_py_020_classes(env):
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL)")
    catalog = module.PaimonCatalog({"warehouse": env.warehouse})
    cases = [
        (lambda: env.sql(1), TypeError), (lambda: env.sql("SELEC"), module.PaimonValueError),
        (lambda: catalog.get_table("db.nope"), module.NotFoundError), (lambda: env.sql("SELECT * FROM paimon.db.nope"), module.NotFoundError),
        (lambda: env.sql("CREATE TABLE paimon.db.t (a INT)"), module.AlreadyExistsError),
        (lambda: write(env.table("t"), batch(id=(I32, [None]))), module.SchemaMismatchError),
        (lambda: env.sql("DELETE FROM paimon.db.t"), module.UnsupportedError),
        (lambda: module.PaimonCatalog({"warehouse": "s3://b/w"}), NotImplementedError),
    ]
    for call, error in cases:
        with pytest.raises(error):
            call()


def test_py_020_a_missing_file_is_named(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    [name] = os.listdir(env.path("t", "bucket-0"))
    os.remove(env.path("t", "bucket-0", name))
    with pytest.raises(FileNotFoundError) as caught:
        env.read(env.table("t"))
    assert name in str(caught.value)


def test_py_021_one_base():
    for name in module.__all__:
        item = getattr(module, name)
        if isinstance(item, type) and issubclass(item, BaseException):
            assert issubclass(item, module.PaimonError), name
    assert issubclass(module.NotFoundError, (ValueError, LookupError)) and issubclass(module.StateError, RuntimeError)
    assert issubclass(module.MemoryExhaustedError, MemoryError) and issubclass(module.DiskFullError, OSError)


def test_py_022_messages(env):
    with pytest.raises(ValueError) as caught:
        env.sql("CREATE TABLE paimon.db.t (id INT) WITH ('merge-engine' = 'zz')")
    text = str(caught.value)
    assert "merge-engine" in text and "zz" in text and "Some(" not in text and "External error" not in text


def test_py_023_depth(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    predicate = {"method": "equal", "field": "id", "literals": [1]}
    for _ in range(30000):
        predicate = {"method": "and", "children": [predicate]}
    with pytest.raises(ValueError):
        env.table("t").new_read_builder().with_filter(predicate)
    with pytest.raises(ValueError):
        env.sql("SELECT 1" + " + 1" * 20000)


def test_py_024_the_cause_of_an_error_in_a_function(env):
    def broken(x):
        raise KeyError("inner")

    env.ctx.register_udf(module.udf(broken, [I64], I64, "volatile", "broken"))
    with pytest.raises(ValueError) as caught:
        env.sql("SELECT broken(value) FROM generate_series(1, 2)")
    assert isinstance(caught.value.__cause__, KeyError)


# 3. PaimonCatalog


def test_py_030_options(env):
    module.PaimonCatalog(catalog_options={"warehouse": env.warehouse})
    for options in [1, None, [("warehouse", "x")], {"warehouse": 1}, {1: "x"}]:
        with pytest.raises(TypeError):
            module.PaimonCatalog(options)


def test_py_031_kinds(env):
    with pytest.raises(ValueError, match="filesystem, rest"):
        module.PaimonCatalog({"warehouse": env.warehouse, "metastore": "x"})
    with pytest.raises(ValueError, match="warehouse"):
        module.PaimonCatalog({})


def test_py_032_warehouses(env, tmp_path, monkeypatch):
    for form in [env.warehouse, f"file:{env.warehouse}", f"file://{env.warehouse}"]:
        assert module.PaimonCatalog({"warehouse": form}).list_databases() == ["db", "default"]
    monkeypatch.chdir(os.path.dirname(env.warehouse))
    relative = module.PaimonCatalog({"warehouse": "wh"})
    monkeypatch.chdir("/")
    assert relative.list_databases() == ["db", "default"]
    assert module.PaimonCatalog({"warehouse": "memory:/w"}).list_databases() == []
    with pytest.raises(NotImplementedError, match="zz"):
        module.PaimonCatalog({"warehouse": "zz://bucket/w"})


def test_py_033_a_warehouse_that_is_not_there(tmp_path):
    assert module.PaimonCatalog({"warehouse": str(tmp_path / "new")}).list_databases() == []
    assert not (tmp_path / "new").exists()


def test_py_034_list_databases(env):
    for name in ["zz", "aa"]:
        env.sql(f"CREATE DATABASE paimon.{name}")
    os.mkdir(os.path.join(env.warehouse, "no_database"))
    assert module.PaimonCatalog({"warehouse": env.warehouse}).list_databases() == ["aa", "db", "default", "zz"]


def test_py_035_list_tables(env):
    for name in ["z", "a"]:
        env.sql(f"CREATE TABLE paimon.db.{name} (x INT)")
    catalog = module.PaimonCatalog({"warehouse": env.warehouse})
    assert catalog.list_tables("db") == ["a", "z"]
    with pytest.raises(ValueError, match="Database zz does not exist"):
        catalog.list_tables("zz")


def test_py_036_get_table(env):
    env.sql("CREATE TABLE paimon.db.t (x INT)")
    env.sql('CREATE TABLE paimon.db."a.b" (x INT)')
    catalog = module.PaimonCatalog({"warehouse": env.warehouse})
    assert catalog.get_table("db.t").identifier() == catalog.get_table(("db", "t")).identifier() == "db.t"
    assert catalog.get_table("db.a.b").location() == catalog.get_table(("db", "a.b")).location()
    for wrong in ["t", ".t", "db.", ("db",), ("db", "t", "u"), ("", "t")]:
        with pytest.raises(ValueError):
            catalog.get_table(wrong)
    for wrong in [["db", "t"], 1, None]:
        with pytest.raises(TypeError):
            catalog.get_table(wrong)


def test_py_037_branches_and_system_tables(env):
    env.sql("CREATE TABLE paimon.db.t (x INT)")
    catalog = module.PaimonCatalog({"warehouse": env.warehouse})
    assert catalog.get_table("db.t$branch_main").branch() == "main"
    for name in ["db.t$branch_blue", "db.nope", "nope.t"]:
        with pytest.raises(module.NotFoundError):
            catalog.get_table(name)
    with pytest.raises(ValueError, match="(?i)sql"):
        catalog.get_table("db.t$snapshots")


def test_py_039_ddl(tmp_path):
    catalog = module.PaimonCatalog({"warehouse": str(tmp_path / "w")})
    catalog.create_database("d")
    catalog.create_database("d", ignore_if_exists=True)
    schema = pa.schema([pa.field("id", I64, nullable=False), pa.field("p", S, nullable=False), pa.field("v", pa.decimal128(10, 2))])
    catalog.create_table("d.t", schema, partition_keys=["p"], primary_keys=["p", "id"], options={"bucket": "1"}, comment="c")
    table = catalog.get_table("d.t").schema()
    assert [f.field_type() for f in table.fields()] == ["BIGINT", "STRING", "DECIMAL(10, 2)"]
    assert (table.partition_keys(), table.primary_keys(), table.comment()) == (["p"], ["p", "id"], "c")
    catalog.rename_table("d.t", "d.u")
    catalog.drop_table("d.u")
    catalog.drop_table("d.u", ignore_if_not_exists=True)
    catalog.drop_database("d", cascade=True)
    assert catalog.list_databases() == []


def test_py_040_small_questions(env):
    env.sql("CREATE TABLE paimon.db.t (x INT)")
    catalog = module.PaimonCatalog({"warehouse": env.warehouse, "fs.oss.accessKeySecret": "hidden"})
    assert catalog.table_exists("db.t") and not catalog.table_exists("db.u") and not catalog.table_exists("zz.t")
    assert catalog.database_exists("db") and not catalog.database_exists("zz")
    assert catalog.options()["fs.oss.accessKeySecret"] == "******" and "hidden" not in repr(catalog)
    assert repr(catalog) == f"PaimonCatalog(filesystem, warehouse='{env.warehouse}')"


def test_py_041_handles_see_commits(env):
    env.sql("CREATE TABLE paimon.db.t (x INT)")
    table = env.table("t")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    assert env.read(table) == [(1,)]
    env.sql("ALTER TABLE paimon.db.t ADD COLUMN y INT")
    assert len(table.schema().fields()) == 1 and len(table.refresh().schema().fields()) == 2


# 4. SQLContext


def test_py_050_keywords_only():
    module.SQLContext()
    with pytest.raises(TypeError):
        module.SQLContext("fair")


@pytest.mark.parametrize("arguments, error", [
    ({"memory_pool_type": "Fair", "memory_pool_bytes": 1 << 20}, ValueError), ({"memory_pool_type": "fair"}, ValueError),
    ({"memory_pool_type": "x", "memory_pool_bytes": 1 << 20}, ValueError),
])
def test_py_051_pools(arguments, error):
    with pytest.raises(error):
        module.SQLContext(**arguments)
    module.SQLContext(memory_pool_bytes=1 << 20)


@pytest.mark.parametrize("value, error", [(0, ValueError), (-1, ValueError), (1 << 70, ValueError), (True, TypeError), ("1", TypeError), (1.0, TypeError)])
def test_py_052_bytes(value, error):
    with pytest.raises(error):
        module.SQLContext(memory_pool_bytes=value)


def test_py_053_temp_directory(tmp_path):
    module.SQLContext(temp_directory=tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("x")
    for value, error in [("", ValueError), (b"x", TypeError), (1, TypeError), (str(tmp_path / "file"), (ValueError, OSError))]:
        with pytest.raises(error):
            module.SQLContext(temp_directory=value)


def test_py_054_temp_limit(tmp_path):
    with pytest.raises(ValueError):
        module.SQLContext(max_temp_directory_size_bytes=-1)
    ctx = module.SQLContext(memory_pool_bytes=20 << 20, temp_directory=tmp_path, max_temp_directory_size_bytes=1 << 10)
    with pytest.raises((OSError, MemoryError)):
        ctx.sql("SELECT value, repeat('x', 100) AS p FROM generate_series(1, 1000000) ORDER BY p, value DESC")


def test_py_055_spilled_files_go(tmp_path):
    ctx = module.SQLContext(memory_pool_type="fair", memory_pool_bytes=48 << 20, temp_directory=tmp_path / "spill")
    ctx.sql("SELECT value, repeat('x', 36) AS pad FROM generate_series(1, 400000) ORDER BY value DESC")
    assert not [f for _, _, files in os.walk(tmp_path / "spill") for f in files]


@pytest.mark.parametrize("pool", [48 << 20, 8 << 20])
def test_py_057_a_sort_spills(tmp_path, pool):
    ctx = module.SQLContext(memory_pool_type="fair", memory_pool_bytes=pool, temp_directory=tmp_path, max_temp_directory_size_bytes=1 << 30)
    batches = ctx.sql("SELECT value, repeat('x', 36) AS pad FROM generate_series(1, 200000) ORDER BY value DESC")
    assert [v for b in batches for v in b.column(0).to_pylist()] == list(range(200000, 0, -1))


def test_py_058_register_catalog(tmp_path):
    ctx = module.SQLContext()
    ctx.register_catalog("a", {"warehouse": str(tmp_path / "a")})
    ctx.register_catalog("b", {"warehouse": str(tmp_path / "b")}, "")
    ctx.register_catalog("c", {"warehouse": str(tmp_path / "c")}, "x")
    assert (ctx.current_catalog, ctx.current_database) == ("a", "default")
    assert sorted(os.listdir(tmp_path)) == ["a", "c"] and os.listdir(tmp_path / "c") == ["x.db"]


def test_py_059_names_of_catalogs(env, tmp_path):
    env.ctx.register_catalog("paimon", {"warehouse": str(tmp_path / "other")})
    assert env.rows("SHOW TABLES IN paimon.default") == []
    for name in ["", " ", 'a"b', "a'b"]:
        with pytest.raises(ValueError):
            env.ctx.register_catalog(name, {"warehouse": env.warehouse})


def test_py_060_current_names(env):
    for call in [lambda: env.ctx.set_current_catalog("zz"), lambda: env.ctx.set_current_database("zz")]:
        with pytest.raises(ValueError, match="zz"):
            call()
    env.ctx.set_current_database("db")
    assert env.ctx.current_database == "db"


def test_py_061_sql(env):
    assert env.rows("SELECT 1;") == [(1,)]
    for text in ["", "-- x", "SELECT 1; SELECT 2"]:
        with pytest.raises(ValueError):
            env.sql(text)
    with pytest.raises(TypeError):
        env.sql(b"SELECT 1")


def test_py_062_results(env):
    [ok] = env.sql("CREATE TABLE paimon.db.t (a INT)")
    assert ok.to_pylist() == [{"result": "OK"}]
    [count] = env.sql("INSERT INTO paimon.db.t VALUES (1)")
    assert count.to_pylist() == [{"count": 1}]
    assert env.sql("SELECT * FROM paimon.db.t WHERE a = 2") == []
    assert [b.num_rows for b in env.sql("SELECT value FROM generate_series(1, 100000) WHERE value % 50000 = 0") if b.num_rows == 0] == []


def test_py_063_no_view_types(env):
    env.sql("CREATE TABLE paimon.db.t (s STRING, b BYTES)")
    env.sql("INSERT INTO paimon.db.t VALUES ('a', X'00')")
    assert env.sql("SELECT s, b, upper(s) AS u FROM paimon.db.t")[0].schema.types == [S, pa.binary(), S]


def test_py_064_errors_say_where(env):
    with pytest.raises(ValueError, match="(?i)line.*column"):
        env.sql("SELECT 1 2 3")
    assert env.rows("SELECT 1") == [(1,)]
    # Rows were written before the one that fails.
    env.sql("CREATE TABLE paimon.db.t (a BIGINT)")
    with pytest.raises(ValueError, match="x90000"):
        env.sql("INSERT INTO paimon.db.t SELECT CASE WHEN value = 90000 THEN CAST('x' || value AS INT) ELSE value END FROM generate_series(1, 100000)")
    assert env.rows("SELECT count(*) FROM paimon.db.t") == [(0,)] and env.table("t").latest_snapshot() is None
    assert not os.path.exists(env.path("t", "bucket-0")) or os.listdir(env.path("t", "bucket-0")) == []


def test_py_065_without_a_catalog():
    ctx = module.SQLContext()
    assert to_rows(ctx.sql("SELECT 1 AS a")) == [(1,)]
    with pytest.raises(ValueError, match="(?i)no.* catalog registered"):
        ctx.sql("CREATE TABLE paimon.d.t (a INT)")


def test_py_068_small_questions(env):
    assert env.ctx.catalogs() == ["paimon"] and (env.ctx.current_catalog, env.ctx.current_database) == ("paimon", "default")


def numbers():
    return pa.record_batch({"n": pa.array([1, None, 3], I64)})


def test_py_070_register_batch(env):
    env.ctx.register_batch("my_temp", numbers())
    env.ctx.register_batch("db.other", numbers())
    env.ctx.register_batch("paimon.nowhere.third", numbers())
    for name in ["my_temp", "default.my_temp", "paimon.default.my_temp", "db.other", "paimon.nowhere.third"]:
        assert env.rows(f"SELECT count(n) FROM {name}") == [(2,)], name
    assert not os.path.exists(os.path.join(env.warehouse, "nowhere.db"))


def test_py_071_bad_names(env):
    env.ctx.register_batch("t", numbers())
    for name in ["t", "", "zz.db.t", "a.b.c.d", "a b"]:
        with pytest.raises(ValueError):
            env.ctx.register_batch(name, numbers())
    env.sql("CREATE TABLE paimon.db.real (n BIGINT)")
    env.ctx.register_batch("db.real", numbers())
    assert env.rows("SELECT count(*) FROM paimon.db.real") == [(3,)]
    env.sql("DROP TEMPORARY TABLE paimon.db.real")
    assert env.rows("SELECT count(*) FROM paimon.db.real") == [(0,)]


def test_py_072_other_data(env):
    table = pa.table({"n": [1, 2]})
    env.ctx.register_batch("a", table)
    env.ctx.register_batch("b", table.to_reader())
    assert env.rows("SELECT a.n FROM a JOIN b ON a.n = b.n") == [(1,), (2,)]
    env.ctx.deregister("a")
    with pytest.raises(ValueError):
        env.sql("SELECT * FROM a")
    with pytest.raises(TypeError):
        env.ctx.register_batch("c", [1])


def test_merges_and_compactions_share_the_pool(env, tmp_path):
    env.sql("""CREATE TABLE paimon.db.k (id INT, v STRING, PRIMARY KEY (id))
               WITH ('bucket' = '1', 'num-sorted-run.compaction-trigger' = '100')""")
    for letter in "abcd":
        env.sql(f"INSERT INTO paimon.db.k SELECT value, '{letter}' || repeat('x', 50) FROM generate_series(1, 50000)")

    def context(memory):
        ctx = module.SQLContext(memory_pool_bytes=memory, temp_directory=tmp_path / str(memory))
        ctx.register_catalog("paimon", {"warehouse": env.warehouse})
        return ctx

    for memory in [4 << 20, 8 << 20, 16 << 20]:
        [batch] = context(memory).sql("SELECT count(*), min(v) FROM paimon.db.k")
        assert batch.to_pylist() == [{"count(*)": 50000, "min(paimon.db.k.v)": "d" + "x" * 50}]
    with pytest.raises(MemoryError):
        context(16 << 10).sql("CALL sys.compact('db.k')")
    [metrics] = context(8 << 20).sql("CALL sys.compact('db.k')")
    assert metrics.column("rows_written").to_pylist() == [50000]
    assert env.rows("SELECT count(*), min(v) FROM paimon.db.k") == [(50000, "d" + "x" * 50)]


def test_a_function_that_runs_sql_itself(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    query = "SELECT sum(nested(v)) FROM (SELECT value AS v FROM generate_series(1, 20000) UNION ALL SELECT 1)"
    for ctx in (env.ctx, env.fresh()):

        def inner(values, ctx=ctx):
            rows = sum(b.num_rows for b in ctx.sql("SELECT * FROM paimon.db.t"))
            return pa.array([v.as_py() + rows for v in values], pa.int64())

        env.ctx.register_udf(module.udf(inner, [I64], I64, "volatile", "nested"))
        assert env.ctx.sql(query)[0].column(0).to_pylist() == [20000 * 20001 // 2 + 1]


def test_py_073_udf():
    made = [
        module.udf(lambda x: x, [I64], I64, "immutable", "plus_ten"),
        module.PythonScalarUDF.udf(lambda x: x, [I64], I64, "immutable", name="plus_ten"),
        module.PythonScalarUDF("plus_ten", lambda x: x, [I64], I64, "immutable"),
    ]
    for function in made:
        assert function.name == "plus_ten" and repr(function) == "PythonScalarUDF(plus_ten)"


def test_py_074_types():
    identity = lambda x: x  # noqa: E731
    for kind in [I64, pa.field("x", I64), "int64", "bigint", [I64], ["bigint"]]:
        module.udf(identity, kind, I64, "Stable")
    for arguments in [("nope", I64, "stable"), (I64, "nope", "stable"), (I64, I64, "sometimes"), (1, I64, "stable")]:
        with pytest.raises(TypeError):
            module.udf(identity, *arguments)
    with pytest.raises(TypeError):
        module.udf(1, I64, I64, "stable", "f")


def test_py_075_default_names(env):
    def PlusOne(x):
        return pc.add(x, 1)

    class Doubled:
        def __call__(self, x):
            return pc.multiply(x, 2)

    assert module.udf(lambda x: x, I64, I64, "immutable").name == "lambda"
    for function, name in [(PlusOne, "plusone"), (Doubled(), "doubled")]:
        made = module.udf(function, I64, I64, "immutable")
        assert made.name == name
        env.ctx.register_udf(made)
    assert env.rows("SELECT PlusOne(1), DOUBLED(4)") == [(2, 8)]


def test_py_076_arguments(env):
    seen = []

    def record(*arrays):
        seen.append([(type(a).__name__, len(a)) for a in arrays])
        return pa.array([1] * (len(arrays[0]) if arrays else 1), I64)

    env.ctx.register_udf(module.udf(record, [I64, S], I64, "volatile", "rec"))
    env.ctx.register_udf(module.udf(record, [], I64, "volatile", "none"))
    env.rows("SELECT rec(value, 'x') FROM generate_series(1, 3)")
    assert seen[-1] == [("Int64Array", 3), ("StringArray", 3)]
    # Only literals, and always the same result: computed once.
    env.ctx.register_udf(module.udf(record, [I64], I64, "immutable", "folded"))
    assert env.rows("SELECT folded(5) FROM generate_series(1, 3)") == [(1,)] * 3 and seen[-1] == [("Int64Array", 1)]
    assert env.rows("SELECT none() FROM generate_series(1, 2)") == [(1,), (1,)] and seen[-1] == []


@pytest.mark.parametrize("result", [[1, 2], None, pa.scalar(1), pa.chunked_array([[1, 2]]), pa.array(["a", "b"]), pa.array([1])])
def test_py_077_results(env, result):
    env.ctx.register_udf(module.udf(lambda x: result, [I64], I64, "volatile", "bad"))
    with pytest.raises(Exception, match="bad"):
        env.sql("SELECT bad(value) FROM generate_series(1, 2)")


def test_py_078_nulls(env):
    env.ctx.register_batch("t", numbers())
    env.ctx.register_udf(module.udf(lambda x: pc.add(x, 1), [I64], I64, "immutable", "inc"))
    env.ctx.register_udf(module.udf(lambda x: x, [I64], pa.field("r", I64, nullable=False), "immutable", "strict"))
    assert env.rows("SELECT inc(n) FROM t") == [(None,), (2,), (4,)]
    with pytest.raises(ValueError, match="strict"):
        env.sql("SELECT strict(n) FROM t")


def test_py_079_coercion(env):
    env.ctx.register_udf(module.udf(lambda x: pc.add(x, 1), [I64], I64, "immutable", "inc"))
    assert env.rows("SELECT inc(CAST(1 AS INT))") == [(2,)]
    with pytest.raises(ValueError, match="inc"):
        env.sql("SELECT inc('x')")


def test_py_080_register_udf(env):
    env.ctx.register_udf(module.udf(lambda x: pc.utf8_lower(x), [S], S, "immutable", "upper"))
    assert env.rows("SELECT upper('A')") == [("a",)]
    env.ctx.register_udf(module.udf(lambda x: pc.add(x, pa.scalar(1, I32)), [I32], I32, "immutable", "inc"))
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    env.sql("INSERT INTO paimon.db.t SELECT inc(CAST(1 AS INT))")
    env.sql("CREATE TEMPORARY VIEW v AS SELECT inc(a) AS b FROM paimon.db.t")
    assert env.rows("SELECT b FROM v WHERE inc(CAST(b AS INT)) = 4") == [(3,)]
    with pytest.raises(TypeError):
        env.ctx.register_udf(lambda x: x)


# 5. Table


def test_py_090_table(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    table = env.table("t")
    assert (table.identifier(), table.branch(), table.location()) == ("db.t", "main", env.path("t"))


def test_py_091_schema(env):
    env.sql("CREATE TABLE paimon.db.t (a INT, p STRING, PRIMARY KEY (p, a)) PARTITIONED BY (p) COMMENT 'c' WITH ('bucket' = '2')")
    schema = env.table("t").schema()
    assert [f.name() for f in schema.fields()] == ["a", "p"] and schema.partition_keys() == ["p"] and schema.primary_keys() == ["p", "a"]
    assert schema.options()["bucket"] == "2" and schema.comment() == "c" and schema.id() == 0
    assert schema.to_arrow().names == ["a", "p"] and pa.schema(schema) == schema.to_arrow()


def test_py_092_fields(env):
    env.sql("CREATE TABLE paimon.db.t (a INT NOT NULL COMMENT 'x', d DECIMAL(10, 2), s STRING, b BYTES, r ROW<x INT, y STRING>)")
    fields = env.table("t").schema().fields()
    assert [f.field_type() for f in fields] == ["INT", "DECIMAL(10, 2)", "STRING", "BYTES", "ROW<`x` INT, `y` STRING>"]
    assert (fields[0].id(), fields[0].is_nullable(), fields[0].description(), fields[1].description()) == (0, False, "x", None)


def test_py_093_inspection_of_an_empty_table(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    table = env.table("t")
    assert table.latest_snapshot() is None
    assert [table.list_snapshots(), table.list_tags(), table.list_partitions(), table.partition_stats()] == [[], [], [], []]


def test_py_094_snapshots(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    for i in (1, 2):
        env.sql(f"INSERT INTO paimon.db.t VALUES ({i})")
    env.sql("INSERT OVERWRITE paimon.db.t VALUES (3)")
    snapshots = env.table("t").list_snapshots()
    assert [(s.id(), s.commit_kind(), s.total_record_count()) for s in snapshots] == [(3, "OVERWRITE", 1), (2, "APPEND", 2), (1, "APPEND", 1)]
    assert snapshots[1].delta_record_count() == 1 and abs(snapshots[0].commit_time_ms() / 1000 - time.time()) < 600
    assert snapshots[0].schema_id() == 0 and snapshots[0].commit_user()


def test_py_095_tags(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    for name in ["z", "a"]:
        env.sql(f"CALL sys.create_tag('db.t', '{name}')")
    assert [(t.name(), t.snapshot_id()) for t in env.table("t").list_tags()] == [("a", 1), ("z", 1)]


def test_py_097_partitions(env):
    env.sql("CREATE TABLE paimon.db.t (a INT, dt DATE, b BOOLEAN) PARTITIONED BY (dt, b)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, DATE '1970-01-02', true), (2, NULL, NULL)")
    default = "__DEFAULT_PARTITION__"
    partitions = env.table("t").list_partitions()
    assert partitions == [{"dt": "1", "b": "true"}, {"dt": default, "b": default}]
    assert [list(p) for p in partitions] == [["dt", "b"]] * 2
    env.table("t").new_batch_write_builder().new_commit().truncate_partitions([partitions[0]])
    assert env.table("t").list_partitions() == partitions[1:]
    env.sql("CREATE TABLE paimon.db.u (a INT, p STRING) PARTITIONED BY (p)")
    env.sql("INSERT INTO paimon.db.u VALUES (1, ''), (2, ' '), (3, NULL), (4, 'z'), (5, 'a')")
    assert env.table("u").list_partitions() == [{"p": default}, {"p": "a"}, {"p": "z"}]


def test_py_098_partition_stats(env):
    env.sql("CREATE TABLE paimon.db.t (a INT, p STRING) PARTITIONED BY (p)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'b'), (2, 'a'), (3, 'a')")
    env.sql("INSERT INTO paimon.db.t VALUES (4, 'a')")
    stats = env.table("t").partition_stats()
    assert [(s.partition(), s.record_count(), s.file_count()) for s in stats] == [({"p": "a"}, 3, 2), ({"p": "b"}, 1, 1)]
    assert all(s.total_size_bytes() > 0 for s in stats)
    env.sql("CREATE TABLE paimon.db.u (a INT)")
    env.sql("INSERT INTO paimon.db.u VALUES (1)")
    assert [s.partition() for s in env.table("u").partition_stats()] == [{}]


# 14. Stock datafusion

STOCK = (
    "import datafusion, json, sys\n"
    "from pypaimon_rust.datafusion import PaimonCatalog, install\n"
    "ctx = datafusion.SessionContext()\n"
    "install(ctx, 'paimon', {'warehouse': sys.argv[1]})\n"
    "def q(s):\n"
    "    return [list(r) for b in ctx.sql(s).collect() for r in zip(*[c.to_pylist() for c in b.columns])]\n"
    "def e(s):\n"
    "    try:\n"
    "        ctx.sql(s).collect()\n"
    "        return 'accepted'\n"
    "    except Exception as error:\n"
    "        return str(error)\n"
)


def test_py_240_stock_reads_and_inserts(env):
    pytest.importorskip("datafusion")
    env.sql("CREATE TABLE paimon.db.t (id INT, p STRING) PARTITIONED BY (p)")
    got = child(STOCK + (
        "q(\"INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b')\")\n"
        "q(\"INSERT OVERWRITE paimon.db.t SELECT 3, 'a'\")\n"
        "rows = q('SELECT id FROM paimon.db.t ORDER BY id')\n"
        "kinds = q('SELECT commit_kind FROM paimon.db.\"t$snapshots\" ORDER BY snapshot_id')\n"
        "refused = [e('CREATE TABLE paimon.db.x (a INT)'), e('DROP TABLE paimon.db.t'), e('DELETE FROM paimon.db.t')]\n"
        "print(json.dumps([rows, kinds, refused, q('SELECT id FROM paimon.db.\"t$branch_main\" ORDER BY id')]))\n"
    ), env.warehouse)
    assert got[0] == got[3] == [[2], [3]] and got[1] == [["APPEND"], ["OVERWRITE"]]
    assert "accepted" not in got[2] and env.rows("SELECT count(*) FROM paimon.db.t") == [(2,)]


def test_py_241_other_major_versions(env, monkeypatch):
    import importlib.metadata

    catalog = module.PaimonCatalog({"warehouse": env.warehouse})
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "54.0.0")
    with pytest.raises(module.IncompatibleDataFusionError, match="55.*54.0.0"):
        catalog.__datafusion_catalog_provider__(None)


def test_py_242_tables(env):
    pytest.importorskip("datafusion")
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    assert child(STOCK + (
        "ctx.register_table('t', PaimonCatalog({'warehouse': sys.argv[1]}).get_table('db.t'))\n"
        "print(json.dumps(q('SELECT id FROM t')))\n"
    ), env.warehouse) == [[1]]


def test_py_243_procedures(env):
    pytest.importorskip("datafusion")
    env.sql("CREATE TABLE paimon.db.k (id INT PRIMARY KEY, v INT) WITH ('bucket' = '1')")
    for v in range(4):
        env.sql(f"INSERT INTO paimon.db.k VALUES (1, {v}), ({v + 10}, 0)")
    got = child(STOCK + (
        "q(\"EXPLAIN SELECT * FROM sys.compact('db.k')\")\n"
        "q(\"SELECT * FROM sys_create_tag('db.k', 'x')\")\n"
        "print(json.dumps([q(\"SELECT tasks FROM sys.compact('db.k')\"), q(\"SELECT tasks FROM compact('db.k')\")]))\n"
    ), env.warehouse)
    assert got == [[[1]], [[0]]] and [t.name() for t in env.table("k").list_tags()] == ["x"]


def test_py_245_errors_of_stock(env):
    pytest.importorskip("datafusion")
    env.sql("CREATE TABLE paimon.db.t (id INT, c CHAR(2))")
    errors = child(STOCK + (
        "print(json.dumps([e('CREATE TABLE paimon.db.x (a INT)'), e(\"INSERT INTO paimon.db.t VALUES (1, 'abc')\"),\n"
        "    e(\"SELECT * FROM sys.compact('db.zz')\"), e('DROP SCHEMA paimon.db')]))\n"
    ), env.warehouse)
    for text, part in zip(errors, ["SQLContext", "column c", "db.zz", "not empty"]):
        assert part in text and "External error" not in text, text


# 17. Expectations of users


def test_py_270_capsules(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    write(env.table("t"), pa.table({"id": pa.array([1], I32)}))
    builder = env.table("t").new_read_builder()
    reader = builder.new_read().read_arrow(builder.new_scan().plan().splits())
    assert pa.RecordBatchReader.from_stream(reader).read_all()["id"].to_pylist() == [1]


def test_py_271_context_managers(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    builder = env.table("t").new_batch_write_builder()
    with pytest.raises(KeyError), builder.new_write() as writer:
        writer.write_arrow(batch(id=(I32, [1])))
        raise KeyError
    assert not os.path.exists(env.path("t", "bucket-0")) or os.listdir(env.path("t", "bucket-0")) == []


def test_py_272_repr(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    table = env.table("t")
    builder = table.new_read_builder()
    plan = builder.new_scan().plan()
    for thing in [table, table.schema(), table.schema().fields()[0], table.latest_snapshot(), builder, plan, *plan.splits(), env.ctx,
                  table.new_batch_write_builder(), table.new_compact_builder()]:
        assert "\n" not in repr(thing) and type(thing).__name__ in repr(thing), repr(thing)


def test_py_274_fork(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    code = (
        "import json, os, sys\n"
        "from pypaimon_rust.datafusion import PaimonCatalog\n"
        "c = PaimonCatalog({'warehouse': sys.argv[1]})\n"
        "assert c.list_databases()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    os._exit(0 if c.list_tables('db') == ['t'] else 1)\n"
        "print(json.dumps(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))\n"
    )
    assert child(code, env.warehouse) == 0


def test_py_275_interrupts():
    code = (
        "import _thread, json, signal, threading, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pypaimon_rust.datafusion import SQLContext\n"
        "ctx = SQLContext()\n"
        "threading.Timer(0.5, _thread.interrupt_main).start()\n"
        "start = time.time()\n"
        "try:\n"
        "    ctx.sql('SELECT count(*) FROM generate_series(1, 3000000) a CROSS JOIN generate_series(1, 3000000) b')\n"
        "except KeyboardInterrupt:\n"
        "    print(json.dumps(time.time() - start))\n"
    )
    assert child(code) < 5


def test_py_276_event_loops(env):
    import asyncio

    async def query():
        return env.rows("SELECT 1"), to_rows(await asyncio.to_thread(env.sql, "SELECT 2"))

    assert asyncio.run(query()) == ([(1,)], [(2,)])


def test_py_279_equality(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    env.sql("CALL sys.create_tag('db.t', 'x')")
    a, b = env.table("t"), env.table("t")
    for x, y in [(a, b), (a.latest_snapshot(), b.latest_snapshot()), (a.list_tags()[0], b.list_tags()[0]), (a.schema().fields()[0], b.schema().fields()[0])]:
        assert x == y and hash(x) == hash(y)
    env.sql("CREATE TABLE paimon.db.u (id INT, v INT)")
    env.sql("INSERT INTO paimon.db.u VALUES (1, 1)")
    other = env.table("u")
    assert a != other and a.latest_snapshot() != other.latest_snapshot() and a.schema().fields()[0] != other.schema().fields()[1]
