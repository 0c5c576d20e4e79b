"""SQL-320: what works in a session of the stock engine, cell by cell of the table of contexts; see `test_requirements_sql.py`."""

import subprocess
import sys

import pytest

from pypaimon_rust import datafusion as module

datafusion = pytest.importorskip("datafusion")
CREATE = "CREATE TABLE through a DataFusion session cannot carry primary key, partitions and options; use SQLContext"
DROP = "DROP TABLE through a DataFusion session is refused; use SQLContext"


@pytest.fixture
def stock(env):
    """A session of the stock engine; table `t` has 3 snapshots of one row each."""
    env.sql("CREATE TABLE paimon.db.t (id INT, p STRING) PARTITIONED BY (p)")
    for i in (1, 2, 3):
        env.sql(f"INSERT INTO paimon.db.t VALUES ({i}, 'a')")
    env.sql("CREATE TABLE paimon.db.d (id INT, v INT DEFAULT 5, n STRING NOT NULL)")
    return Stock(env)


class Stock:
    def __init__(self, env, dialect="generic"):
        self.env = env
        config = datafusion.SessionConfig().with_information_schema(True).set("datafusion.sql_parser.dialect", dialect)
        self.session = datafusion.SessionContext(config)
        module.install(self.session, "paimon", {"warehouse": env.warehouse})

    def rows(self, sql):
        return sorted(tuple(r) for b in self.session.sql(sql).collect() for r in zip(*[c.to_pylist() for c in b.columns]))

    def fails(self, sql):
        with pytest.raises(Exception) as caught:
            self.session.sql(sql).collect()
        return str(caught.value)


@pytest.mark.parametrize("sql, rows", [
    ("SELECT a.id FROM paimon.db.t a JOIN paimon.db.t b ON a.id = b.id WHERE a.id > 1", [(2,), (3,)]),
    ("SELECT count(*) FROM (SELECT DISTINCT p FROM paimon.db.t)", [(1,)]),
    ("SELECT table_name FROM information_schema.tables WHERE table_schema = 'db'", [("d",), ("t",)]),
    ("SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 't'", [("id", "Int32"), ("p", "Utf8")]),
    ("SELECT count(*) FROM paimon.db.t$files", [(3,)]), ('SELECT count(*) FROM paimon.db."t$files"', [(3,)]),
    ("SELECT count(*) FROM paimon.db.t$branch_main", [(3,)]), ('SELECT count(*) FROM paimon.db."t$branch_main"', [(3,)]),
    ("SELECT id FROM paimon_scan('db.t', 'scan.snapshot-id', '1')", [(1,)]), ("SELECT id FROM paimon_scan('paimon.db.t') WHERE id = 2", [(2,)]),
    ("SELECT id FROM paimon_incremental_query('db.t', 1, 3)", [(2,), (3,)]),
    # A hint is a comment.
    ("SELECT count(*) FROM paimon.db.t /*+ OPTIONS('scan.snapshot-id' = '1') */", [(3,)]),
    ("DESCRIBE paimon.db.t", [("id", "Int32", "YES"), ("p", "Utf8", "YES")]),
    ("SHOW CREATE TABLE paimon.db.t", [("paimon", "db", "t", None)]),
])
def test_stock_reads(stock, sql, rows):
    assert stock.rows(sql) == rows


@pytest.mark.parametrize("sql, part", [
    ("SELECT * FROM paimon.db.t VERSION AS OF 1", "ParserError"), ("SELECT * FROM paimon.db.t VERSION AS OF 'x'", "ParserError"),
    ("SELECT * FROM paimon.db.t FOR SYSTEM_TIME AS OF '2020-01-01'", "ParserError"),
    ("SET paimon.\"scan.snapshot-id\" = '1'", 'Could not find config namespace "paimon"'),
    ("INSERT OVERWRITE paimon.db.t PARTITION (p = 'a') SELECT 9", "Partitioned inserts not yet supported"),
    ("INSERT INTO paimon.db.t BY NAME SELECT 9 AS id, 'a' AS p", "ParserError"), ("INSERT INTO paimon.db.d VALUES (1, DEFAULT, 'a')", "default"),
    ("DELETE FROM paimon.db.t", "DELETE not supported"), ("DELETE FROM paimon.db.t WHERE false", "DELETE not supported"),
    ("DELETE FROM paimon.db.t WHERE id IN (SELECT id FROM paimon.db.d)", "DELETE not supported"), ("UPDATE paimon.db.t SET id = 9", "UPDATE not supported"),
    ("TRUNCATE TABLE paimon.db.t", "TRUNCATE not supported"), ("TRUNCATE TABLE paimon.db.t PARTITION (p = 'a')", "PARTITION is not supported"),
    ("TRUNCATE TABLE IF EXISTS paimon.db.t", "IF EXISTS is not supported"),
    ("MERGE INTO paimon.db.t USING paimon.db.d s ON t.id = s.id WHEN MATCHED THEN DELETE", "MERGE INTO not supported"),
    ("MERGE INTO paimon.db.t USING paimon.db.d s ON t.id = s.id WHEN MATCHED THEN UPDATE SET *", "ParserError"),
    ("CREATE TABLE paimon.db.x (a INT)", CREATE), ("CREATE TABLE paimon.db.x AS SELECT 1 AS a", CREATE), ("SELECT 1 AS a INTO paimon.db.x", CREATE),
    ("CREATE VIEW paimon.db.x AS SELECT 1 AS a", CREATE), ("CREATE OR REPLACE TABLE paimon.db.t AS SELECT 1 / 0 AS a", DROP),
    ("CREATE OR REPLACE VIEW paimon.db.t AS SELECT 1 AS a", DROP), ("DROP TABLE paimon.db.t", "paimon.db.t"), ("DROP TEMPORARY TABLE paimon.db.t", "paimon.db.t"),
    ("ALTER TABLE paimon.db.t ADD COLUMN x INT", "Unsupported SQL statement"), ("COMMENT ON TABLE paimon.db.t IS 'x'", "Unsupported SQL statement"),
    ("ANALYZE TABLE paimon.db.t COMPUTE STATISTICS", "Unsupported SQL statement"), ("USE paimon.db", "Unsupported SQL statement"),
    ("SHOW PARTITIONS paimon.db.t", "not a variable"), ("SHOW TAGS paimon.db.t", "not a variable"), ("CALL sys.compact('db.t')", "Unsupported SQL statement"),
])
def test_stock_refuses_and_changes_nothing(stock, sql, part):
    before = stock.env.table("t").latest_snapshot(), stock.env.table("t").schema().id()
    assert part in stock.fails(sql)
    assert (stock.env.table("t").latest_snapshot(), stock.env.table("t").schema().id()) == before
    assert stock.rows("SELECT id FROM paimon.db.t") == [(1,), (2,), (3,)]
    assert stock.env.rows("SHOW TABLES IN paimon.db") == [("paimon", "db", "d", "BASE TABLE"), ("paimon", "db", "t", "BASE TABLE")]


def test_stock_drops_nothing_from_the_session(stock):
    with pytest.raises(Exception, match="use SQLContext"):
        stock.session.deregister_table("paimon.db.t")
    assert stock.rows("DROP TABLE IF EXISTS paimon.db.t") == []
    assert stock.rows("SELECT count(*) FROM paimon.db.t") == [(3,)]


def test_stock_inserts(stock):
    assert stock.rows("INSERT INTO paimon.db.t VALUES (4, 'b')") == [(1,)]
    assert stock.rows("INSERT OVERWRITE paimon.db.t VALUES (5, 'b')") == [(1,)]
    assert stock.rows("SELECT id FROM paimon.db.t") == [(1,), (2,), (3,), (5,)]
    # The engine hands over NULL for a column that is left out; a default takes its place, and NOT NULL refuses it.
    assert stock.rows("INSERT INTO paimon.db.d (id, n) VALUES (1, 'x')") == [(1,)]
    assert stock.rows("SELECT * FROM paimon.db.d") == [(1, 5, "x")]
    assert "non-null column(n)" in stock.fails("INSERT INTO paimon.db.d (id) VALUES (2)")
    assert stock.rows("SELECT count(*) FROM paimon.db.d") == [(1,)]


def test_stock_schemas_are_databases(stock):
    stock.rows("CREATE SCHEMA paimon.s")
    assert ("s",) in stock.env.rows("SHOW DATABASES IN paimon")
    stock.env.sql("CREATE TABLE paimon.s.t (a INT)")
    assert "not empty" in stock.fails("DROP SCHEMA paimon.s")
    stock.rows("DROP SCHEMA paimon.s CASCADE")
    assert ("s",) not in stock.env.rows("SHOW DATABASES IN paimon")
    # A database of the engine is a catalog.
    stock.rows("CREATE DATABASE c")
    assert ("c",) not in stock.env.rows("SHOW DATABASES IN paimon")


@pytest.mark.parametrize("dialect", ["databricks", "bigquery", "snowflake", "mssql"])
def test_stock_dialects(stock, dialect):
    other = Stock(stock.env, dialect)
    # The engine reads the clause and forgets it: the latest rows come.
    assert other.rows("SELECT count(*) FROM paimon.db.t VERSION AS OF 1") == [(3,)]
    assert "ParserError" in other.fails("SELECT * FROM paimon.db.t VERSION AS OF 'x'")
    if dialect in ("snowflake", "mssql"):
        assert other.rows("SELECT count(*) FROM paimon.db.t$files") == [(3,)]
    else:
        assert "ParserError" in other.fails("SELECT count(*) FROM paimon.db.t$files")
        assert other.rows("SELECT count(*) FROM paimon.db.`t$files`") == [(3,)]


def test_py_245_interrupts_stop_foreign_scans(stock):
    stock.env.sql("CREATE TABLE paimon.db.big (id BIGINT)")
    stock.env.sql("INSERT INTO paimon.db.big SELECT value FROM generate_series(1, 200000)")
    code = (
        "import _thread, signal, sys, threading, time\n"
        "import datafusion, pyarrow\n"
        "from pypaimon_rust.datafusion import install\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "ctx = datafusion.SessionContext()\n"
        "install(ctx, 'paimon', {'warehouse': sys.argv[1]})\n"
        "at = []\n"
        "threading.Timer(0.5, lambda: (at.append(time.time()), _thread.interrupt_main())).start()\n"
        "try:\n"
        "    big = 'paimon.db.big'\n"
        "    ctx.sql(f'SELECT count(*) FROM {big} a CROSS JOIN {big} b CROSS JOIN {big} c WHERE a.id + b.id + c.id = 7').collect()\n"
        "except KeyboardInterrupt:\n"
        "    print(time.time() - at[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, stock.env.warehouse], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and done.stdout, done.stderr
    assert float(done.stdout) < 5


def names(frame):
    return frame.schema().names


def test_sql_326_procedures_of_a_stock_session(stock):
    functions = module.procedures(module.PaimonCatalog({"warehouse": stock.env.warehouse}))
    procedures = {row[0] for row in stock.env.rows("SHOW PROCEDURES")}
    assert {"compact", "sys"} | {f"sys_{name}" for name in procedures} <= set(functions)
    # `sys` says what it did, whatever stood behind the dot.
    assert names(stock.session.sql("SELECT * FROM sys.compact('db.t')"))[:2] == ["procedure", "tasks"]
    assert names(stock.session.sql("SELECT * FROM compact('db.t')"))[0] == names(stock.session.sql("SELECT * FROM sys_compact('db.t')"))[0] == "tasks"
    assert stock.rows("SELECT procedure, tasks FROM sys.purge_files('db.t')") == [("compact", 1)]
    assert stock.env.table("t").latest_snapshot().commit_kind() == "COMPACT"
    assert stock.rows("SELECT procedure, tasks FROM sys('db.t')") == [("compact", 0)]
    for call in ("sys.create_tag('db.t', 'x')", "sys()", "sys.compact('db.t', 'full')"):
        assert "write sys_<procedure>(" in stock.fails(f"SELECT * FROM {call}")
    assert stock.rows("SELECT * FROM sys_create_tag('db.t', 'x')") == [("OK",)]
    assert [tag.name() for tag in stock.env.table("t").list_tags()] == ["x"]
    # Planning runs nothing; each execution of a plan runs once.
    stock.rows("EXPLAIN SELECT * FROM sys_create_tag('db.t', 'never')")
    frame = stock.session.sql("SELECT * FROM sys_create_tag('db.t', 'y')")
    assert [tag.name() for tag in stock.env.table("t").list_tags()] == ["x"]
    frame.collect()
    assert [tag.name() for tag in stock.env.table("t").list_tags()] == ["x", "y"]
