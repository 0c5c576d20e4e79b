"""One test per requirement of SQL on reading, options, procedures, SHOW, views and functions; see `test_requirements_sql.py`."""

import datetime
import os
import re
import time

import pyarrow as pa
import pytest
from test_requirements_sql import OK, columns, db, fails, ordered, unsupported  # noqa: F401

from pypaimon_rust import datafusion as module


@pytest.fixture
def t(db):  # noqa: F811
    """A table with three snapshots, 1 row more in each, and the tag `first` on the first."""
    db.sql("CREATE TABLE t (id INT)")
    for i in (1, 2, 3):
        db.sql(f"INSERT INTO t VALUES ({i})")
    db.sql("CALL sys.create_tag('db.t', 'first', 1)")
    return db


# 7. Reading


def test_sql_200_versions_stand_before_the_alias(t):
    assert t.rows("SELECT x.id FROM t VERSION AS OF 1 AS x") == [(1,)]
    assert t.rows("SELECT x.id FROM t version   as of 1 x JOIN t y ON x.id = y.id") == [(1,)]
    assert t.rows("WITH q AS (SELECT * FROM t VERSION AS OF 2) SELECT count(*) FROM q") == [(2,)]
    t.sql("CREATE TABLE u AS SELECT * FROM t VERSION AS OF 2")
    assert t.rows("SELECT count(*) FROM u") == [(2,)]
    assert t.rows('SELECT 1 AS "version as of 1 x"') == [(1,)]
    fails(t, "SELECT * FROM t a VERSION AS OF 1", ValueError)
    fails(t, "WITH q AS (SELECT 1) SELECT * FROM q VERSION AS OF 1", ValueError, "common table expression")
    fails(t, "INSERT INTO t VERSION AS OF 1 VALUES (1)", ValueError)


def test_sql_201_versions(t):
    t.sql("CALL sys.create_tag('db.t', '2', 3)")
    assert t.rows("SELECT count(*) FROM t VERSION AS OF 1") == [(1,)]
    assert t.rows("SELECT count(*) FROM t VERSION AS OF 'first'") == [(1,)]
    assert t.rows("SELECT count(*) FROM t VERSION AS OF '2'") == [(3,)]
    for version in ["first", "-1", "1 + 1"]:
        fails(t, f"SELECT * FROM t VERSION AS OF {version}", ValueError)


def test_sql_202_times(t):
    first = t.table("t").list_snapshots()[-1].commit_time_ms()
    assert t.rows(f"SELECT count(*) FROM t TIMESTAMP AS OF {first // 1000 + 3600}") == [(3,)]
    assert t.rows("SELECT count(*) FROM t TIMESTAMP AS OF now()") == [(3,)]
    assert t.rows("SELECT count(*) FROM t FOR SYSTEM_TIME AS OF now() + INTERVAL '1' HOUR") == [(3,)]
    assert t.rows("SELECT count(*) FROM t TIMESTAMP AS OF '2099-01-01 00:00:00'") == [(3,)]
    assert t.rows("SELECT count(*) FROM t TIMESTAMP AS OF DATE '2099-01-01'") == [(3,)]
    for value in ["NULL", "id", "true"]:
        fails(t, f"SELECT * FROM t TIMESTAMP AS OF {value}", ValueError)


def test_sql_202_seconds_and_instants(db):  # noqa: F811
    db.sql("CREATE TABLE t (id INT)")
    for i in (1, 2):
        db.sql(f"INSERT INTO t VALUES ({i})")
        time.sleep(1.1)
    first, second = [s.commit_time_ms() for s in reversed(db.table("t").list_snapshots())]
    zoned = "arrow_cast({}, 'Timestamp(Millisecond, Some(\"+08:00\"))')"
    local = datetime.datetime.fromtimestamp(second / 1000).isoformat(sep=" ", timespec="milliseconds")
    for value, rows in [(f"{first // 1000 + 1}", 1), (f"{second // 1000 + 1}", 2), (zoned.format(second), 2), (zoned.format(second - 1), 1),
                        (f"'{local}'", 2), (f"TIMESTAMP '{local}'", 2), (f"TIMESTAMP '{local}' - INTERVAL '1' MILLISECOND", 1)]:
        assert db.rows(f"SELECT max(id) FROM t TIMESTAMP AS OF {value}") == [(rows,)], value
    for value in [f"{first // 1000 - 1}", zoned.format(first - 1), "now() - INTERVAL '1' HOUR"]:
        fails(db, f"SELECT * FROM t TIMESTAMP AS OF {value}", ValueError, "no snapshot earlier than")
    for value in ["'2024-01-01 12:00'", "X'00'", "1.5"]:
        fails(db, f"SELECT * FROM t TIMESTAMP AS OF {value}", ValueError, "expected a time")


def test_sql_203_zones_of_times(t):
    t.sql("SET TIME ZONE '+14:00'")
    text = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=14, minutes=5)).strftime("%Y-%m-%d %H:%M:%S")
    assert t.rows(f"SELECT count(*) FROM t TIMESTAMP AS OF '{text}'") == [(3,)]
    assert t.rows("SELECT count(*) FROM t TIMESTAMP AS OF now()") == [(3,)]
    t.sql("SET TIME ZONE '-12:00'")
    fails(t, f"SELECT * FROM t TIMESTAMP AS OF '{datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=13)}'"[:-7] + "'", ValueError)


def test_sql_204_other_words(t):
    assert t.rows("SELECT count(*) FROM t FOR VERSION AS OF 1") == [(1,)]
    assert t.rows("SELECT count(*) FROM t FOR SYSTEM_VERSION AS OF 2") == [(2,)]
    assert t.rows("SELECT count(*) FROM t FOR TIMESTAMP AS OF now()") == [(3,)]


def test_sql_205_nothing_found(t):
    for clause, part in [("VERSION AS OF 9", "9"), ("VERSION AS OF 'nope'", "nope"), ("TIMESTAMP AS OF '2000-01-01 00:00:00'", "")]:
        fails(t, f"SELECT * FROM t {clause}", ValueError, part)
    t.sql("CREATE TABLE e (a INT)")
    fails(t, "SELECT * FROM e VERSION AS OF 1", ValueError)


def test_sql_206_the_schema_of_the_snapshot(t):
    t.sql("ALTER TABLE t ADD COLUMN b INT")
    assert columns(t, "SELECT * FROM t VERSION AS OF 1") == ["id"]
    assert t.rows("SELECT a.id, b.id FROM t VERSION AS OF 1 a JOIN t VERSION AS OF 2 b ON a.id = b.id") == [(1, 1)]


def test_sql_207_versions_of_system_tables(t):
    assert t.rows("SELECT count(*) FROM t$files VERSION AS OF 1") == [(1,)]
    assert t.rows("SELECT count(*) FROM t$branch_main VERSION AS OF 2") == [(2,)]
    for system in ["manifests", "partitions", "audit_log", "ro"]:
        assert t.rows(f"SELECT count(*) FROM t${system} VERSION AS OF 1") == [(1,)], system
    for system in ["snapshots", "schemas", "options", "tags", "branches", "consumers", "buckets"]:
        fails(t, f"SELECT * FROM t${system} VERSION AS OF 1", ValueError, "always shows the present")


def test_sql_208_versions_of_other_relations(t):
    t.sql("CREATE TABLE datafusion.public.m AS SELECT 1 AS a")
    fails(t, "SELECT * FROM datafusion.public.m VERSION AS OF 1", ValueError, "not a table of a Paimon catalog")


@pytest.mark.parametrize("sql", [
    "SELECT * FROM t TABLESAMPLE (10)", "SELECT * FROM t WITH (NOLOCK)", "SELECT * FROM t PARTITION (p)", "SELECT * FROM t FOR UPDATE",
    "SELECT * FROM t FOR SHARE", "SELECT * INTO x FROM t", "SELECT * FROM t AT(TIMESTAMP => '2024-01-01')",
])
def test_sql_209_clauses_that_the_engine_ignores(t, sql):
    with pytest.raises((module.UnsupportedError, module.PaimonValueError)):
        t.sql(sql)


def test_sql_210_hints(t):
    assert t.rows("SELECT x.id FROM t /*+ OPTIONS('scan.snapshot-id' = '1') */ AS x WHERE x.id = 1") == [(1,)]
    t.sql("INSERT INTO t /*+ OPTIONS('target-file-size' = '1 mb') */ VALUES (4)")
    assert t.rows("SELECT count(*) FROM t") == [(4,)]
    fails(t, "SELECT * FROM t /*+ OPTIONS('scan.snapshot-id' = 'x') */", ValueError)
    fails(t, "SELECT * FROM t /*+ OPTIONS('no.such.option' = 'x') */", ValueError, "no.such.option")


def test_sql_211_hints_elsewhere(t):
    for sql in ["SELECT /*+ OPTIONS('a' = 'b') */ * FROM t", "SELECT * FROM t x /*+ OPTIONS('scan.snapshot-id' = '1') */",
                "SELECT * FROM t /*+ OPTIONS('a' */"]:
        fails(t, sql, ValueError)
    assert t.rows("SELECT /*+ BROADCAST(t) */ count(*) FROM t") == [(3,)]


def test_sql_212_set(t):
    t.sql("SET paimon.scan.snapshot-id = 1")
    assert t.rows("SELECT count(*) FROM t") == [(1,)]
    t.sql("SET 'paimon.*.db.t.scan.snapshot-id' = '2'")
    assert t.rows("SELECT count(*) FROM t") == [(2,)]
    t.sql("RESET ALL")
    for key in ["paimon.*.db.t.scan.snapshot-id", '"paimon.scan.snapshot-id"', "paimon.paimon.*.*.scan.snapshot-id", "'paimon.paimon.db.t.scan.snapshot-id'"]:
        t.sql(f"SET {key} = 1")
        assert t.rows("SELECT count(*) FROM t") == [(1,)], key
        t.sql("RESET ALL")
    for key in ["paimon.*.db.u.scan.snapshot-id", "paimon.other.*.*.scan.snapshot-id"]:
        t.sql(f"SET {key} = 1")
    assert t.rows("SELECT count(*) FROM t") == [(3,)]


def test_sql_213_order_of_options(t):
    t.sql("SET paimon.scan.snapshot-id = 1")
    assert t.rows("SELECT count(*) FROM t VERSION AS OF 2") == [(2,)]
    assert t.rows("SELECT count(*) FROM t /*+ OPTIONS('scan.tag-name' = 'first') */") == [(1,)]
    fails(t, "SELECT * FROM t VERSION AS OF 1 /*+ OPTIONS('scan.snapshot-id' = '1') */", ValueError, "both")
    # A selector for the table replaces one for all tables; two of one rank are too many.
    t.sql("SET paimon.scan.snapshot-id = 2")
    t.sql("SET 'paimon.*.*.t.scan.tag-name' = 'first'")
    assert t.rows("SELECT count(*) FROM t") == [(1,)]
    t.sql("SET paimon.scan.timestamp-millis = 1")
    assert t.rows("SELECT count(*) FROM t") == [(1,)]
    t.sql("RESET 'paimon.*.*.t.scan.tag-name'")
    fails(t, "SELECT count(*) FROM t", ValueError, "scan.timestamp-millis")


def test_sql_214_options_are_checked(t):
    for key, value in [("paimon.scan.snapshot-idd", "1"), ("paimon.scan.snapshot-id", "'x'"), ("paimon.bucket", "2"),
                       ("paimon.merge-engine", "aggregation"), ("paimon.primary-key", "a")]:
        fails(t, f"SET {key} = {value}", ValueError, key.removeprefix("paimon."))


def test_sql_215_no_writes_while_a_selector_is_set(t):
    t.sql("SET paimon.scan.snapshot-id = 1")
    for sql in ["INSERT INTO t VALUES (1)", "INSERT OVERWRITE t VALUES (1)", "TRUNCATE TABLE t"]:
        fails(t, sql, ValueError, "RESET 'paimon.scan.snapshot-id'")
    t.sql("RESET paimon.scan.snapshot-id")
    t.sql("INSERT INTO t VALUES (4)")


def test_sql_216_reset_and_show(t):
    t.sql("RESET paimon.scan.snapshot-id")
    t.sql("SET paimon.scan.snapshot-id = 1")
    assert t.rows("SHOW paimon.scan.snapshot-id") == [("paimon.scan.snapshot-id", "1")]
    t.sql("SET datafusion.execution.batch_size = 77")
    assert ("datafusion.execution.batch_size", "77") in t.rows("SHOW ALL")
    t.sql("RESET ALL")
    after = t.rows("SET")
    assert ("datafusion.execution.batch_size", "8192") in after and not [k for k, _ in after if k.startswith("paimon.")]


def test_sql_218_time_zone(t):
    t.sql("SET TIME ZONE '+08:00'")
    assert t.rows("SHOW datafusion.execution.time_zone") == [("datafusion.execution.time_zone", "+08:00")]
    t.sql("SET timezone = '+09:00'")
    assert t.rows("SHOW datafusion.execution.time_zone") == [("datafusion.execution.time_zone", "+09:00")]


def test_sql_220_paimon_scan(t):
    assert t.rows("SELECT count(*) FROM paimon_scan('db.t', 'scan.snapshot-id', '2')") == [(2,)]
    fails(t, "SELECT * FROM paimon_scan('db.t', 'scan.snapshot-id')", ValueError)
    fails(t, "SELECT * FROM paimon_scan('db.t', 'no.such.option', '2')", ValueError, "no.such.option")


def test_sql_221_incremental_functions(t):
    assert t.rows("SELECT id FROM paimon_incremental_query('db.t', 1, 3)") == [(2,), (3,)]
    start = t.table("t").list_snapshots()[-1].commit_time_ms()
    assert t.rows(f"SELECT id FROM paimon_incremental_between_timestamp('db.t', {start}, {start + 10**6})")[-1] == (3,)


def test_sql_222_names_of_table_functions(t):
    for name in ["t", "db.t", "paimon.db.t", "`db`.`t`", "db.t$branch_main"]:
        assert t.rows(f"SELECT count(*) FROM paimon_scan('{name}')") == [(3,)], name
    assert t.rows("SELECT count(*) FROM paimon_scan('db.t$snapshots')") == [(3,)]


def test_sql_223_arguments_are_constants(t):
    assert t.rows("SELECT count(*) FROM paimon_scan(concat('db', '.t')) WHERE id > 1") == [(2,)]
    fails(t, "SELECT * FROM t, LATERAL paimon_scan(t.id)", (ValueError, NotImplementedError))


def test_sql_230_limit(t):
    assert len(t.rows("SELECT * FROM t LIMIT 2")) == 2 and len(t.rows("SELECT * FROM t LIMIT 9")) == 3
    assert t.rows("SELECT * FROM t WHERE id > 2 LIMIT 2") == [(3,)]
    assert t.rows("SELECT count(*) FROM (SELECT 1 FROM t LIMIT 2) x") == [(2,)]


def test_sql_231_explain(t):
    text = str(t.rows("EXPLAIN SELECT * FROM t WHERE id = 1"))
    assert "snapshot=3" in text and "files=" in text, text
    assert "DROP TABLE t" in str(t.rows("EXPLAIN DROP TABLE t"))
    assert t.rows("SELECT count(*) FROM t") == [(3,)]


def test_sql_232_explain_analyze(t):
    assert "files" in str(t.rows("EXPLAIN ANALYZE SELECT * FROM t"))
    t.sql("EXPLAIN ANALYZE INSERT INTO t VALUES (4)")
    assert t.rows("SELECT count(*) FROM t") == [(4,)]
    unsupported(t, "EXPLAIN ANALYZE DROP TABLE t")


def test_sql_235_system_tables(t):
    assert t.rows("SELECT s.snapshot_id FROM t$snapshots s JOIN t$tags g ON s.snapshot_id = g.snapshot_id") == [(1,)]
    t.sql("CREATE TABLE e (a INT)")
    for system in ["snapshots", "files", "manifests", "tags", "partitions", "options", "schemas"]:
        rows = t.rows(f"SELECT count(*) FROM e${system} WHERE true")
        assert rows == [(1,)] if system == "schemas" else len(rows) == 1, system


def test_sql_236_information_schema(t):
    assert t.rows("SELECT table_name, table_type FROM information_schema.tables WHERE table_schema = 'db'") == [("t", "BASE TABLE")]
    assert t.rows("SELECT column_name FROM information_schema.columns WHERE table_name = 't' AND table_schema = 'db'") == [("id",)]
    assert ("db",) in t.rows("SELECT schema_name FROM information_schema.schemata")


def test_sql_238_a_failed_statement_leaves_no_files(t):
    import os

    bucket = t.path("t", "bucket-0")
    before = sorted(os.listdir(bucket))
    fails(t, "INSERT INTO t SELECT 10 / (v - 5) FROM (SELECT row_number() OVER () AS v FROM generate_series(1, 20000)) x", ValueError)
    for _ in range(50):
        if sorted(os.listdir(bucket)) == before:
            break
        time.sleep(0.1)
    assert sorted(os.listdir(bucket)) == before


# 8. Procedures


def test_sql_250_names_of_procedures(t):
    t.sql("CALL paimon.sys.create_tag('db.t', 'a')")
    t.sql("CALL SYS.Create_Tag('db.t', 'b')")
    for sql in ["CALL foo.create_tag('db.t', 'x')", "CALL create_tag('db.t', 'x')"]:
        fails(t, sql, ValueError, "sys")
    fails(t, "CALL sys.create_tagg('db.t', 'x')", ValueError, "create_tag")


def test_sql_251_arguments(t):
    t.sql("CALL sys.create_tag('db.t', tag => 'a')")
    t.sql("CALL sys.create_tag(table = 'db.t', tag = 'b', snapshot_id = 1)")
    for sql, part in [("CALL sys.create_tag('db.t', zz => 'x')", "zz"), ("CALL sys.create_tag('db.t', 'x', table => 'db.t')", "twice"),
                      ("CALL sys.create_tag('db.t')", "tag"), ("CALL sys.create_tag(table => 'db.t', 'x')", "positional")]:
        fails(t, sql, ValueError, part)


def test_sql_252_spellings(t):
    t.sql("CALL sys.create_tag(table => 'db.t', tag => 'a', snapshot => '1')")
    t.sql("CALL sys.create_tag('db.t', 'c', NULL)")
    assert {g.name(): g.snapshot_id() for g in t.table("t").list_tags()} == {"a": 1, "c": 3, "first": 1}
    fails(t, "CALL sys.create_tag(table => 'db.t', tag => 'x', snapshot => 1, snapshot_id => 1)", ValueError, "twice")


def test_sql_253_names_of_tables(t):
    for i, name in enumerate(["t", "db.t", "paimon.db.t", "`db`.`t`"]):
        t.sql(f"CALL sys.create_tag('{name}', 'x{i}')")
    fails(t, "CALL sys.create_tag('db.t$files', 'x')", ValueError)
    fails(t, "CALL sys.create_tag('db.nope', 'x')", module.NotFoundError)


def test_sql_255_results(t):
    assert t.rows("CALL sys.create_tag('db.t', 'x')") == OK
    assert columns(t, "CALL sys.compact('db.t')")[:4] == ["tasks", "files_removed", "files_added", "rows_written"]


def test_sql_256_procedures_as_functions(t):
    before = t.table("t").latest_snapshot().id()
    t.sql("EXPLAIN SELECT * FROM sys.create_tag('db.t', 'fn')")
    t.sql("PREPARE p AS SELECT * FROM sys.create_tag('db.t', 'prepared')")
    t.sql("CREATE TEMPORARY VIEW v AS SELECT * FROM sys.create_tag('db.t', 'viewed')")
    assert [g.name() for g in t.table("t").list_tags()] == ["first"]
    t.sql("EXECUTE p")
    assert t.rows("SELECT * FROM v") == OK
    assert [g.name() for g in t.table("t").list_tags()] == ["first", "prepared", "viewed"]
    t.sql("CALL sys.delete_tag('db.t', 'prepared,viewed')")
    assert t.rows("SELECT * FROM sys.create_tag('db.t', 'fn')") == OK
    assert [g.name() for g in t.table("t").list_tags()] == ["first", "fn"] and t.table("t").latest_snapshot().id() == before


# 9. SHOW and DESCRIBE


def test_sql_270_show_tables(t):
    t.sql("CREATE TABLE orders (a INT)")
    t.sql("CREATE TEMPORARY TABLE m AS SELECT 1 AS a")
    t.sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
    assert ordered(t, "SHOW TABLES") == [
        ("paimon", "db", "m", "LOCAL TEMPORARY"), ("paimon", "db", "orders", "BASE TABLE"), ("paimon", "db", "t", "BASE TABLE"),
        ("paimon", "db", "v", "VIEW"),
    ]
    for pattern in ["ord%", "o_ders", "*ers"]:
        assert [r[2] for r in ordered(t, f"SHOW TABLES IN paimon.db LIKE '{pattern}'")] == ["orders"], pattern
    fails(t, "SHOW TABLES IN nope", module.NotFoundError)


def test_sql_271_show_databases(t):
    t.sql("CREATE DATABASE e")
    assert columns(t, "SHOW DATABASES") == ["database_name"]
    assert ordered(t, "SHOW SCHEMAS IN paimon LIKE 'd%'") == [("db",), ("default",)]
    assert ordered(t, "SHOW DATABASES FROM paimon LIKE 'e'") == [("e",)]


def test_sql_272_show_catalogs(t):
    assert columns(t, "SHOW CATALOGS") == ["catalog_name"] and ordered(t, "SHOW CATALOGS LIKE 'pai%'") == [("paimon",)]


def test_sql_273_show_create_table(t):
    t.sql("CREATE TABLE c (a INT DEFAULT 1 COMMENT 'x') WITH ('fs.oss.accessKeySecret' = 'hidden', 'b' = '1', 'a' = '2')")
    [(catalog, database, name, ddl)] = t.rows("SHOW CREATE TABLE c")
    assert (catalog, database, name) == ("paimon", "db", "c") and "hidden" not in ddl and "DEFAULT '1'" in ddl and "COMMENT 'x'" in ddl
    assert ddl.index("'a' = '2'") < ddl.index("'b' = '1'")
    fails(t, "SHOW CREATE TABLE t$files", ValueError, "system table")


def test_sql_274_show_partitions(t):
    t.sql("CREATE TABLE p (a INT, dt STRING, h INT) PARTITIONED BY (dt, h)")
    t.sql("INSERT INTO p VALUES (1, 'b', 2), (2, 'a/x', 1), (3, 'a/x', 3)")
    assert ordered(t, "SHOW PARTITIONS p") == [("dt=a%2Fx/h=1",), ("dt=a%2Fx/h=3",), ("dt=b/h=2",)]
    assert ordered(t, "SHOW PARTITIONS p PARTITION (dt = 'b')") == [("dt=b/h=2",)]
    fails(t, "SHOW PARTITIONS t", ValueError, "not partitioned")


def test_sql_275_show_columns(t):
    assert ordered(t, "SHOW COLUMNS IN t") == ordered(t, "SHOW COLUMNS FROM db.t") == [("paimon", "db", "t", "id", "INT", "YES")]


def test_sql_276_show_tblproperties(t):
    t.sql("ALTER TABLE t SET ('write-only' = 'true')")
    assert ("write-only", "true") in ordered(t, "SHOW TBLPROPERTIES t")
    assert ordered(t, "SHOW TBLPROPERTIES t ('write-only')") == [("write-only", "true")]
    fails(t, "SHOW TBLPROPERTIES t ('zz')", ValueError, "zz")


def test_sql_277_describe(t):
    t.sql("CREATE TABLE c (a STRING NOT NULL, b ARRAY<INT>)")
    for words in ["DESC", "DESCRIBE", "DESCRIBE TABLE"]:
        assert ordered(t, f"{words} c") == [("a", "STRING", "NO"), ("b", "ARRAY<INT>", "YES")]
    assert columns(t, "DESC c") == ["column_name", "data_type", "is_nullable"]


def test_sql_278_describe_extended(t):
    t.sql("CREATE TABLE p (a INT COMMENT 'x', dt STRING) PARTITIONED BY (dt) COMMENT 'tab'")
    t.sql("INSERT INTO p VALUES (1, 'a')")
    for word in ["EXTENDED", "FORMATTED"]:
        rows = ordered(t, f"DESCRIBE {word} p")
        names = [r[0] for r in rows]
        assert rows[0] == ("a", "INT", "x") and names.index("# Partition Information") < names.index("# Detailed Table Information")
        detail = {r[0]: r[1] for r in rows}
        assert detail["Comment"] == "tab" and detail["Latest snapshot"] == "1" and detail["Rows"] == "1" and detail["Schema id"] == "0"


def test_sql_279_describe_other_things(t):
    assert ordered(t, "DESCRIBE DATABASE db") == [("Catalog Name", "paimon"), ("Namespace Name", "db")]
    assert ordered(t, "DESCRIBE t id") == [("id", "INT", "YES")]
    assert ordered(t, "DESCRIBE SELECT 1 AS a")[0][0] == "a"
    fails(t, "DESCRIBE DATABASE nope", module.NotFoundError, "nope")
    unsupported(t, "DESCRIBE FUNCTION abs")


def test_sql_280_show_tags_and_snapshots(t):
    assert ordered(t, "SHOW TAGS t") == [("first",)] and columns(t, "SHOW TAGS t") == ["tag_name"]
    assert ordered(t, "SHOW BRANCHES t") == []
    assert len(ordered(t, "SHOW SNAPSHOTS t")) == 3 and columns(t, "SHOW SNAPSHOTS t")[0] == "snapshot_id"


def test_sql_281_other_lists(t):
    t.sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
    assert [r[2] for r in ordered(t, "SHOW VIEWS IN db LIKE 'v%'")] == ["v"]
    assert "compact" in [r[0] for r in ordered(t, "SHOW PROCEDURES")]
    assert ordered(t, "SHOW CURRENT CATALOG") == [("paimon",)] and ordered(t, "SHOW CURRENT DATABASE") == [("paimon", "db")]
    assert ordered(t, "SHOW FUNCTIONS LIKE 'abs'")
    [row] = ordered(t, "SHOW TABLE EXTENDED IN db LIKE 't*'")
    assert row[:3] == ("db", "t", "false") and "Location" in row[3]


def test_sql_282_analyze_is_refused(t):
    unsupported(t, "ANALYZE TABLE t COMPUTE STATISTICS", "ANALYZE")


def test_sql_283_refresh(t):
    assert t.rows("REFRESH TABLE t") == OK
    for sql in ["MSCK REPAIR TABLE t", "CACHE TABLE t", "UNCACHE TABLE t"]:
        unsupported(t, sql)


# 10. Views, functions, tags


@pytest.mark.parametrize("place", ["db", "datafusion.public", "nodb"])
def test_sql_300_temporary_views(t, place):
    t.sql(f"CREATE TEMPORARY VIEW {place}.v (x) AS SELECT id * 10 FROM t VERSION AS OF 1")
    t.sql(f"CREATE TEMP VIEW {place}.w AS SELECT count(*) AS n FROM t")
    t.sql("USE default")
    assert t.rows(f"SELECT x FROM {place}.v WHERE x > 1") == [(10,)]
    t.sql("INSERT INTO db.t VALUES (4)")
    assert t.rows(f"SELECT n FROM {place}.w") == [(4,)]
    fails(t, f"CREATE TEMPORARY VIEW {place}.v AS SELECT 1", module.AlreadyExistsError)
    t.sql(f"CREATE TEMPORARY VIEW IF NOT EXISTS {place}.v AS SELECT 1 AS a")
    t.sql(f"CREATE OR REPLACE TEMPORARY VIEW {place}.v AS SELECT 5 AS x")
    assert t.rows(f"SELECT x FROM {place}.v") == [(5,)]
    fails(t, f"CREATE TEMPORARY VIEW {place}.z AS SELECT * FROM db.nope", ValueError, "nope")
    fails(t, f"CREATE TEMPORARY VIEW {place}.z (a, b) AS SELECT 1", ValueError)
    assert ("v", "VIEW") in [r[2:] for r in ordered(t, f"SHOW TABLES IN {place}")]


def test_sql_301_drop_temporary_views(t):
    t.sql("CREATE TEMPORARY VIEW v AS SELECT 1 AS a")
    t.sql("DROP TEMPORARY VIEW v")
    fails(t, "DROP TEMPORARY VIEW v", module.NotFoundError)
    t.sql("DROP TEMP VIEW IF EXISTS v")
    for sql in ["CREATE GLOBAL TEMPORARY VIEW v AS SELECT 1", "CREATE MATERIALIZED VIEW v AS SELECT 1", "DROP MATERIALIZED VIEW v"]:
        unsupported(t, sql)


@pytest.mark.parametrize("place", ["db", "datafusion.public", "nodb"])
def test_sql_302_temporary_objects_are_of_the_session(t, place):
    t.sql(f"CREATE TEMPORARY TABLE {place}.m AS SELECT 1 AS a")
    assert t.rows(f"SELECT a FROM {place}.m") == [(1,)]
    t.sql(f"INSERT INTO {place}.m VALUES (2)")
    assert t.rows(f"SELECT sum(a) FROM {place}.m") == [(3,)]
    assert ("m", "LOCAL TEMPORARY") in [r[2:] for r in ordered(t, f"SHOW TABLES IN {place}")]
    with pytest.raises(ValueError):
        t.fresh().sql(f"SELECT * FROM {place}.m")
    t.ctx.register_catalog("paimon", {"warehouse": t.warehouse})
    assert t.rows(f"SELECT sum(a) FROM {place}.m") == [(3,)]
    t.sql(f"DROP TEMPORARY TABLE {place}.m")
    fails(t, f"SELECT * FROM {place}.m", ValueError)


def test_sql_302_temporary_objects_need_no_catalog():
    ctx = module.SQLContext()
    ctx.sql("CREATE TEMPORARY TABLE m AS SELECT 1 AS a")
    ctx.sql("CREATE TEMPORARY VIEW v AS SELECT a + 1 AS b FROM m")
    ctx.register_batch("r", pa.record_batch({"c": [7]}))
    [batch] = ctx.sql("SELECT b, c FROM v, datafusion.public.r")
    assert batch.to_pylist() == [{"b": 2, "c": 7}]
    ctx.sql("DROP TEMPORARY VIEW v")
    with pytest.raises(ValueError):
        ctx.sql("SELECT * FROM v")


def test_sql_303_views_are_refused(t):
    for sql in ["CREATE VIEW v AS SELECT 1", "CREATE OR REPLACE VIEW v AS SELECT 1", "ALTER VIEW v AS SELECT 1", "DROP VIEW v"]:
        unsupported(t, sql, "filesystem catalogs hold no views")


def test_sql_305_temporary_functions(t):
    t.sql("CREATE TEMPORARY FUNCTION plus(a INT, b INT) RETURNS BIGINT RETURN a + b * 2")
    assert t.rows("SELECT plus(1, 2), plus(id, 1) FROM t WHERE plus(id, 0) = 3") == [(5, 5)]
    fails(t, "CREATE TEMPORARY FUNCTION plus(a INT) RETURNS INT RETURN a", module.AlreadyExistsError)
    t.sql("CREATE OR REPLACE TEMPORARY FUNCTION plus(a INT, b INT) RETURNS BIGINT RETURN a - b")
    assert t.rows("SELECT plus(5, 2)") == [(3,)]
    t.sql("DROP TEMPORARY FUNCTION plus")
    fails(t, "SELECT plus(1, 2)", ValueError)
    t.sql("DROP TEMPORARY FUNCTION IF EXISTS plus")
    fails(t, "DROP TEMPORARY FUNCTION abs", module.NotFoundError)


def test_sql_306_functions_are_refused(t):
    unsupported(t, "CREATE FUNCTION f(a INT) RETURNS INT RETURN a", "filesystem catalogs hold no functions")
    unsupported(t, "DROP FUNCTION f", "filesystem catalogs hold no functions")


def test_sql_307_tags_by_ddl(t):
    tags = lambda: {g.name(): g.snapshot_id() for g in t.table("t").list_tags()}  # noqa: E731
    t.sql("ALTER TABLE t CREATE TAG a")
    t.sql("ALTER TABLE t CREATE TAG 'B-1' AS OF VERSION 2 RETAIN 7 DAYS")
    t.sql("ALTER TABLE t CREATE TAG IF NOT EXISTS a AS OF VERSION 1")
    assert tags() == {"first": 1, "a": 3, "B-1": 2}
    t.sql("ALTER TABLE t CREATE OR REPLACE TAG a AS OF VERSION 1")
    t.sql("ALTER TABLE t REPLACE TAG first AS OF VERSION 3")
    t.sql("ALTER TABLE t RENAME TAG 'B-1' TO c")
    assert tags() == {"first": 3, "a": 1, "c": 2}
    fails(t, "ALTER TABLE t CREATE TAG a", module.AlreadyExistsError, "a")
    fails(t, "ALTER TABLE t DELETE TAG 'a,nope'", module.NotFoundError, "nope")
    t.sql("ALTER TABLE t DELETE TAG 'a,c'")
    t.sql("ALTER TABLE t DELETE TAG IF EXISTS a")
    assert tags() == {"first": 3}


def test_sql_308_branches_by_ddl_are_refused(t):
    for sql in ["CREATE BRANCH b", "DELETE BRANCH b", "FAST FORWARD BRANCH b"]:
        unsupported(t, f"ALTER TABLE t {sql}", "branches")


def test_sql_309_transactions(t):
    for sql in ["BEGIN", "START TRANSACTION", "COMMIT", "ROLLBACK", "SAVEPOINT a", "LOCK TABLE t"]:
        unsupported(t, sql, "transaction")


# 12. The parser


def test_sql_340_strings_and_names_are_never_rewritten(t):
    assert t.rows("SELECT 'FROM t VERSION AS OF ''x''' AS \"version as of 'a'\", /* VERSION AS OF 'x' */ 1") == [
        ("FROM t VERSION AS OF 'x'", 1)
    ]


def test_sql_342_nesting(t):
    for sql in ["SELECT " + "(" * 20000, "SELECT 1" + " + 1" * 20000, "SELECT " + "ARRAY[" * 20000, "SELECT " + "- " * 20000 + "1"]:
        start = time.time()
        fails(t, sql, ValueError)
        assert time.time() - start < 10


@pytest.mark.parametrize("count", [201, 5000])
def test_sql_342_long_conditions(t, count):
    ors = " OR ".join(f"id = {i}" for i in range(count))
    ands = " AND ".join(f"id <> {i + 2}" for i in range(min(count, 500)))
    pairs = " OR ".join(f"(id = {i} AND id > 0)" for i in range(count))
    assert t.rows(f"SELECT id FROM t WHERE {ors}") == [(1,), (2,), (3,)]
    assert t.rows(f"SELECT id FROM t WHERE {ands}") == [(1,)]
    assert t.rows(f"SELECT id FROM t WHERE {pairs}") == [(1,), (2,), (3,)]
    assert t.rows(f"SELECT ({ors}) AND true AS b, count(*) FROM t GROUP BY b") == [(True, 3)]


def test_sql_254_times_and_durations(t):
    now = lambda: int(time.time() * 1000)  # noqa: E731
    first = t.table("t").list_snapshots()[-1].commit_time_ms()
    assert t.rows(f"CALL sys.create_tag_from_timestamp('db.t', 'ms', {first}, '7 d')") == [("ms", 1, first, None)]
    t.sql("CALL sys.delete_tag('db.t', 'first')")
    assert t.rows("CALL sys.create_tag_from_timestamp('db.t', tag => 'text', timestamp => '2001-01-01 00:00:00')")[0][1] == 1
    assert t.rows("CALL sys.create_tag_from_timestamp('db.t', 'typed', TIMESTAMP '2001-01-01 00:00:00')")[0][1] == 1
    fails(t, f"CALL sys.create_tag_from_timestamp('db.t', 'late', {now() + 60_000})", ValueError, "committed at or after")
    fails(t, "CALL sys.create_tag_from_timestamp('db.t', 'x', 'noon')", ValueError, "timestamp")
    fails(t, "CALL sys.create_tag('db.t', 'x', time_retained => 'a while')", ValueError, "a while")
    # Only what has a retention expires by itself; by age everything does.
    t.sql("CALL sys.create_tag('db.t', 'short', time_retained => '1ms')")
    time.sleep(0.02)
    assert t.rows("CALL sys.expire_tags('db.t')") == [("short",)]
    assert t.rows("CALL sys.expire_tags('db.t', older_than => '2001-01-01')") == []
    assert sorted(t.rows(f"CALL sys.expire_tags('db.t', {now() + 60_000})")) == [("ms",), ("text",), ("typed",)]
    assert t.rows("SELECT count(*) FROM t$tags") == [(0,)]
    t.sql("ALTER TABLE t SET ('tag.default-time-retained' = '1 ms')")
    t.sql("CALL sys.create_tag('db.t', 'by_option')")
    time.sleep(0.02)
    assert t.rows("CALL sys.expire_tags('db.t')") == [("by_option",)]


def test_sql_254_rollback_to_a_time(t):
    t.sql("INSERT INTO t VALUES (4)")
    latest = t.rows("SELECT max(snapshot_id) FROM t$snapshots")[0][0]
    fails(t, "CALL sys.rollback_to_timestamp('db.t', 5)", ValueError, "as old as 5")
    time.sleep(0.01)
    millis = int(time.time() * 1000)
    time.sleep(0.01)
    t.sql("INSERT INTO t VALUES (5)")
    assert t.rows(f"CALL sys.rollback_to_timestamp('db.t', {millis})") == [(latest + 1, latest)]
    assert (5,) not in t.rows("SELECT id FROM t") and (4,) in t.rows("SELECT id FROM t")


def test_sql_254_partitions_and_where(t):
    t.sql("CREATE TABLE p (id INT NOT NULL, dt STRING NOT NULL, h INT NOT NULL, PRIMARY KEY (id, dt, h)) PARTITIONED BY (dt, h) WITH ('bucket' = '1')")
    for _ in range(2):
        t.sql("INSERT INTO p VALUES (1, 'a', 1), (1, 'a', 2), (1, 'b', 1), (1, 'c', 3)")
    tasks = lambda arguments: t.rows(f"CALL sys.compact(table => 'db.p', {arguments})")[0][0]  # noqa: E731
    assert tasks("partitions => 'dt=a,h=1;dt=b'") == 2
    assert tasks("`where` => 'h > 2 AND dt = ''c'''") == 1
    assert tasks("partitions => 'dt=a', options => 'target-file-size=64 mb,compaction.min.file-num=3'") == 1
    assert tasks("partitions => 'dt=a'") == 0
    fails(t, "CALL sys.compact(table => 'db.p', partitions => 'nope=1')", ValueError, "nope")
    fails(t, "CALL sys.compact(table => 'db.p', `where` => 'id = 1')", ValueError, "partition")
    fails(t, "CALL sys.compact(table => 'db.p', options => 'no.such=1')", ValueError, "no.such")


def test_sql_232_explain_analyze_shows_the_time_of_merges(t):
    t.sql("CREATE TABLE k (id INT NOT NULL, v INT, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    t.sql("INSERT INTO k VALUES (1, 1), (2, 2)")
    t.sql("INSERT INTO k VALUES (1, 3)")
    plan = " ".join(row[1] for row in t.rows("EXPLAIN ANALYZE SELECT * FROM k"))
    assert "output_rows=2" in plan and "output_bytes=" in plan and "files_pruned_by_statistics=0" in plan
    assert re.search(r"merge_time=[1-9][\d.]*[nµm]?s", plan), plan
    plan = " ".join(row[1] for row in t.rows("EXPLAIN ANALYZE SELECT * FROM t WHERE id < 9"))
    assert "bytes_scanned=" in plan and "row_groups_pruned_statistics=" in plan


def test_sql_236_a_broken_table_does_not_fail_the_listing(t):
    schema = t.path("broken", "schema")
    os.makedirs(schema)
    with open(os.path.join(schema, "schema-0"), "w", encoding="utf-8") as file:
        file.write("{")
    assert t.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'db'") == [("t",)]
    assert t.rows("SELECT column_name FROM information_schema.columns WHERE table_schema = 'db'") == [("id",)]
    assert t.rows("SELECT count(*) FROM information_schema.views WHERE table_name = 'broken'") == [(0,)]
    assert ("db",) in t.rows("SELECT schema_name FROM information_schema.schemata")
    fails(t, "SELECT * FROM broken", ValueError, "schema-0")
