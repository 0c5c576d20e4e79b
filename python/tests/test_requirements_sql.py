"""One test per requirement of SQL, found by its number: `test_sql_060` is for SQL-060 of docs/REQUIREMENTS.md."""

import datetime
import decimal
import os
import threading
import time

import pyarrow as pa
import pytest
from conftest import to_rows

from pypaimon_rust import datafusion as module

D = decimal.Decimal
OK = [("OK",)]


@pytest.fixture
def db(env):
    env.sql("USE db")
    return env


def fails(env, sql, error, part=""):
    with pytest.raises(error) as caught:
        env.sql(sql)
    text = str(caught.value)
    assert part.lower() in text.lower(), f"{sql}: {text}"
    assert "External error" not in text and "DataInvalid" not in text, text
    return text


def unsupported(env, sql, part=""):
    return fails(env, sql, module.UnsupportedError, part)


def ordered(env, sql):
    return [row for b in env.sql(sql) for row in zip(*[c.to_pylist() for c in b.columns])]


def columns(env, sql):
    return env.sql(sql)[0].schema.names


# 1. Contexts


def test_sql_001_the_engine_keeps_its_meaning(db):
    assert db.rows("SELECT 1 + 1, upper('a'), 1.5 * 2") == [(2, "A", 3.0)]
    db.sql("CREATE TABLE datafusion.public.memory AS SELECT 1 AS a")
    db.sql("INSERT INTO datafusion.public.memory VALUES (2)")
    assert db.rows("SELECT sum(a) FROM datafusion.public.memory") == [(3,)]
    db.sql("DROP TABLE datafusion.public.memory")


def test_sql_002_no_clause_is_ignored(db):
    db.sql("CREATE TABLE t (a INT)")
    for sql, part in [
        ("CREATE TABLE x (a INT) LOCATION '/x'", "LOCATION"),
        ("CREATE TABLE x (a INT CHECK (a > 0))", "CHECK"),
        ("CREATE TABLE x (a INT) STORED AS ORC", "STORED"),
        ("DELETE FROM t LIMIT 1", "DELETE"),
        ("SELECT * FROM t TABLESAMPLE (10)", "TABLESAMPLE"),
        ("DROP TABLE t CASCADE", "CASCADE"),
    ]:
        unsupported(db, sql, part)


def test_sql_003_one_statement(db):
    assert db.rows("SELECT 1 /* a /* b */ c */; -- end") == [(1,)]
    fails(db, "", ValueError, "No SQL statement")
    fails(db, " -- nothing", ValueError, "No SQL statement")
    fails(db, "SELECT 1; SELECT 2", ValueError, "line 1, column 11")


def test_sql_004_planning_changes_nothing(db):
    db.sql("CREATE TABLE t (id INT NOT NULL, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    for sql in [
        "EXPLAIN INSERT INTO t VALUES (1)",
        "EXPLAIN CREATE TABLE x (a INT)",
        "EXPLAIN DROP TABLE t",
        "EXPLAIN CALL sys.create_tag('db.t', 'x')",
        "EXPLAIN SELECT * FROM sys.compact('db.t')",
        "EXPLAIN ALTER TABLE t ADD COLUMN b INT",
    ]:
        assert db.sql(sql), sql
    db.sql("PREPARE p AS INSERT INTO t VALUES (1)")
    db.sql("CREATE TEMPORARY VIEW v AS SELECT * FROM sys.compact('db.t')")
    db.sql("DROP TEMPORARY VIEW v")
    assert db.table("t").latest_snapshot() is None and db.rows("SHOW TABLES") == [("paimon", "db", "t", "BASE TABLE")]
    assert [f.name() for f in db.table("t").schema().fields()] == ["id"]


def test_sql_005_a_statement_is_atomic(db):
    db.sql("CREATE TABLE t (a INT NOT NULL)")
    fails(db, "ALTER TABLE t ADD COLUMN b INT, DROP COLUMN nope", ValueError, "nope")
    fails(db, "INSERT INTO t VALUES (1), (NULL)", ValueError, "a")
    fails(db, "CREATE TABLE u AS SELECT 1 / (a - a) AS x FROM (VALUES (1)) AS v(a)", ValueError)
    assert db.table("t").schema().id() == 0 and db.table("t").latest_snapshot() is None
    assert db.rows("SHOW TABLES LIKE 'u'") == []
    assert not [n for n in os.listdir(db.path("t")) if n.startswith("bucket")]


def test_sql_006_errors_name_their_object(db):
    assert "db.nope" in fails(db, "SELECT * FROM nope", module.NotFoundError)
    assert "Line: 1, Column: 1" in fails(db, "SELEC 1", ValueError)
    assert "line 2, column 9" in fails(db, "CREATE TABLE x\n(a INT) FOO", ValueError)
    fails(db, "CREATE TABLE x (a NO_SUCH_TYPE)", module.UnsupportedError, "column a")


def test_sql_008_prepared_statements(db):
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1), (2)")
    db.sql("PREPARE p AS SELECT a FROM t WHERE a = $1")
    assert db.rows("EXECUTE p(2)") == [(2,)]
    db.sql("DEALLOCATE p")
    db.sql("PREPARE i AS INSERT INTO t VALUES ($1)")
    assert db.rows("SELECT count(*) FROM t") == [(2,)]
    assert db.rows("EXECUTE i(7)") == [(1,)] and db.rows("SELECT max(a) FROM t") == [(7,)]


def test_sql_009_results(db):
    for sql in ["CREATE SCHEMA e", "CREATE TABLE t (a INT)", "ALTER TABLE t ADD COLUMN b INT", "USE db", "DROP SCHEMA e"]:
        [batch] = db.sql(sql)
        assert batch.schema.field(0).name == "result" and batch.schema.field(0).type == pa.string(), sql
        assert not batch.schema.field(0).nullable and batch.to_pylist() == [{"result": "OK"}], sql
    [batch] = db.sql("INSERT INTO t VALUES (1, 2), (3, 4)")
    assert batch.schema.field(0).type == pa.uint64() and not batch.schema.field(0).nullable
    assert batch.to_pylist() == [{"count": 2}]


def test_sql_010_statements_run_once(db):
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1)")
    assert [s.id() for s in db.table("t").list_snapshots()] == [1]


# 2. Names


def test_sql_020_the_dialect(db):
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1)")
    assert db.rows("SELECT a FROM t VERSION AS OF 1") == [(1,)]
    db.sql("ALTER TABLE t ADD COLUMN b INT FIRST")
    unsupported(db, "SET datafusion.sql_parser.dialect = 'hive'", "generic")


def test_sql_021_quotes(db):
    db.sql('CREATE TABLE `q``t` ("a""b" STRING, c BYTES)')
    db.sql("INSERT INTO \"q`t\" VALUES ('it''s \\n', X'00FF')")
    assert db.rows('SELECT "a""b", c FROM `q``t`') == [("it's \\n", b"\x00\xff")]


def test_sql_022_unquoted_names_fold(db):
    db.sql("CREATE TABLE A28 (Id INT, R STRUCT<Inner INT>, P STRING) PARTITIONED BY (P)")
    db.sql("INSERT INTO a28 PARTITION (P = 'X') (ID) VALUES (1)")
    assert db.rows("SELECT ID, p FROM A28") == [(1, "X")]
    db.sql("ALTER TABLE a28 RENAME COLUMN ID TO New")
    assert [f.name() for f in db.table("a28").schema().fields()] == ["new", "r", "p"]
    assert db.table("a28").schema().fields()[1].field_type() == "ROW<`inner` INT>"
    db.sql("CALL SYS.CREATE_TAG(TABLE => 'db.a28', Tag => 'Keep')")
    assert [t.name() for t in db.table("a28").list_tags()] == ["Keep"]


def test_sql_022_folding_can_be_switched_off(db):
    db.sql("SET datafusion.sql_parser.enable_ident_normalization = false")
    db.sql("CREATE TABLE Mixed (Id INT)")
    db.sql("INSERT INTO Mixed VALUES (1)")
    assert db.rows("SELECT Id FROM Mixed") == [(1,)]
    assert db.table("Mixed").schema().fields()[0].name() == "Id"


def test_sql_023_quoted_names_are_exact(db):
    db.sql('CREATE TABLE "Big" ("Col" INT) WITH (\'User.Key\' = \'Value\')')
    db.sql('INSERT INTO "Big" VALUES (1)')
    assert db.rows('SELECT "Col" FROM "Big"') == [(1,)]
    assert db.table("Big").schema().options()["User.Key"] == "Value"
    fails(db, "SELECT * FROM big", module.NotFoundError)


def test_sql_024_suggestions(db):
    db.sql('CREATE TABLE "Big" (a INT)')
    db.sql("CREATE TABLE orders (a INT)")
    assert '"Big"' in fails(db, "SELECT * FROM big", module.NotFoundError)
    assert "orders" in fails(db, "SELECT * FROM ordes", module.NotFoundError)


def test_sql_025_dollars(db):
    db.sql("CREATE TABLE t (a INT)")
    assert db.rows("SELECT count(*) FROM t$snapshots") == [(0,)]
    assert db.rows('SELECT count(*) FROM "t$snapshots"') == [(0,)]
    fails(db, 'SELECT * FROM "t"$files', ValueError)


def test_sql_026_parts(db):
    db.sql("CREATE TABLE t (a INT)")
    for name in ["t", "db.t", "paimon.db.t"]:
        assert db.rows(f"SELECT count(*) FROM {name}") == [(0,)]
    fails(db, "SELECT * FROM a.b.c.d", ValueError)
    assert "Catalog zz" in fails(db, "SELECT * FROM zz.db.t", module.NotFoundError)
    assert "Database zz" in fails(db, "SELECT * FROM zz.t", module.NotFoundError)
    assert "Table db.zz" in fails(db, "SELECT * FROM zz", module.NotFoundError)


def test_sql_027_object_parts(db):
    db.sql("CREATE TABLE t (a INT)")
    assert db.rows("SELECT count(*) FROM t$FILES") == [(0,)]
    assert db.rows("SELECT count(*) FROM t$branch_main") == [(0,)]
    fails(db, "SELECT * FROM t$branch_x", module.NotFoundError)
    fails(db, "SELECT * FROM t$bogus", module.NotFoundError)


def test_sql_028_no_dollar_in_new_names(db):
    db.sql("CREATE TABLE t (a INT)")
    for sql in [
        'CREATE TABLE "a$b" (a INT)',
        "CREATE TABLE t$snapshots (a INT)",
        "ALTER TABLE t RENAME TO t$x",
        "CREATE TEMPORARY TABLE t$x (a INT)",
        "CREATE TEMPORARY VIEW t$x AS SELECT 1",
    ]:
        fails(db, sql, ValueError, "'$'")
    with pytest.raises(ValueError, match="'\\$'"):
        db.ctx.register_batch("a$b", pa.record_batch({"a": [1]}))


def test_sql_029_branches_are_not_dropped(db):
    db.sql("CREATE TABLE t (a INT)")
    for name in ["t$branch_main", "t$branch_b"]:
        fails(db, f"DROP TABLE {name}", ValueError)
        fails(db, f"ALTER TABLE {name} RENAME TO u", ValueError)
    assert db.rows("SHOW TABLES LIKE 't'")


def test_sql_030_system_tables_are_read_only(db):
    db.sql("CREATE TABLE t (a INT)")
    for sql in ["INSERT INTO t$files VALUES (1)", "DROP TABLE t$files", "TRUNCATE TABLE t$files",
                "ALTER TABLE t$files ADD COLUMN x INT", "ALTER TABLE t$files RENAME TO u"]:
        fails(db, sql, ValueError, "files")
    unsupported(db, "DELETE FROM t$files")


def test_sql_031_reserved_databases(db):
    fails(db, "CREATE DATABASE sys", ValueError)
    fails(db, "CREATE DATABASE information_schema", ValueError)
    assert ("sys",) not in db.rows("SHOW DATABASES")


def test_sql_032_use(db):
    db.sql("CREATE DATABASE e")
    for sql in ["USE e", "USE paimon.e", "USE DATABASE e", "USE SCHEMA e"]:
        db.sql("USE db")
        db.sql(sql)
        assert db.ctx.current_database == "e", sql
    db.sql("USE CATALOG paimon")
    assert (db.ctx.current_catalog, db.ctx.current_database) == ("paimon", "default")
    fails(db, "USE nope", module.NotFoundError, "nope")
    fails(db, "USE datafusion", module.NotFoundError, "USE CATALOG datafusion")
    assert db.ctx.current_database == "default"


def test_sql_033_dropping_the_current_database(db):
    db.sql("CREATE DATABASE e")
    db.sql("USE e")
    db.sql("DROP DATABASE e")
    fails(db, "SELECT * FROM t", module.NotFoundError, "Database e")


def test_sql_034_without_a_catalog():
    ctx = module.SQLContext()
    assert to_rows(ctx.sql("SELECT 1")) == [(1,)]
    for sql in ["CALL sys.compact('db.t')", "CREATE TABLE paimon.db.t (a INT)"]:
        with pytest.raises(ValueError, match="No Paimon catalog registered"):
            ctx.sql(sql)


def test_sql_035_temporary_objects_come_first(db):
    db.sql("CREATE TABLE t (a INT)")
    db.sql("CREATE TEMPORARY TABLE t AS SELECT 7 AS a")
    assert db.rows("SELECT a FROM t") == [(7,)]
    assert db.rows("WITH t AS (SELECT 8 AS a) SELECT a FROM t") == [(8,)]
    for sql in ["DROP TABLE t", "TRUNCATE TABLE t", "ALTER TABLE t ADD COLUMN b INT"]:
        fails(db, sql, ValueError, "temporary")
    db.sql("DROP TEMPORARY TABLE t")
    assert db.rows("SELECT count(*) FROM t") == [(0,)]


def test_sql_036_one_state_per_statement(db):
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1), (2)")
    db.sql("INSERT INTO t SELECT a + 10 FROM t")
    assert db.rows("SELECT count(*) FROM t x JOIN t y ON x.a = y.a") == [(4,)]


def test_sql_037_nothing_is_cached_by_name(db):
    db.sql("CREATE TABLE t (a INT)")
    other = db.fresh()
    assert to_rows(other.sql("SELECT * FROM db.t")) == []
    db.sql("DROP TABLE t")
    db.sql("CREATE TABLE t (b STRING)")
    db.sql("INSERT INTO t VALUES ('x')")
    assert to_rows(other.sql("SELECT b FROM db.t")) == [("x",)]


# 3. Types

TYPES = [
    ("BOOLEAN", "BOOLEAN"), ("tinyint", "TINYINT"), ("SMALLINT", "SMALLINT"), ("INT", "INT"), ("BIGINT", "BIGINT"), ("FLOAT", "FLOAT"),
    ("DOUBLE", "DOUBLE"), ("FLOAT(53)", "DOUBLE"), ("VARCHAR(7)", "VARCHAR(7)"), ("STRING", "STRING"), ("BINARY(2)", "BINARY(2)"),
    ("TIME(9)", "TIME(9)"), ("TIMESTAMP(4) WITHOUT TIME ZONE", "TIMESTAMP(4)"), ("ARRAY<STRING>", "ARRAY<STRING>"), ("VARIANT", "VARIANT"),
    ("ROW<a INT, b ARRAY<INT>>", "ROW<a INT, b ARRAY<INT>>"), ("BOOL", "BOOLEAN"), ("INT2", "SMALLINT"), ("INTEGER", "INT"), ("INT4", "INT"), ("INT8", "BIGINT"), ("REAL", "FLOAT"),
    ("FLOAT4", "FLOAT"), ("FLOAT(24)", "FLOAT"), ("FLOAT(25)", "DOUBLE"), ("DOUBLE PRECISION", "DOUBLE"), ("FLOAT8", "DOUBLE"),
    ("DECIMAL", "DECIMAL(10, 0)"), ("DEC(5)", "DECIMAL(5, 0)"), ("NUMERIC(5, 2)", "DECIMAL(5, 2)"), ("CHAR", "CHAR(1)"),
    ("CHARACTER(3)", "CHAR(3)"), ("CHARACTER VARYING(3)", "VARCHAR(3)"), ("NVARCHAR(4)", "VARCHAR(4)"), ("TEXT", "STRING"),
    ("VARCHAR", "STRING"), ("CLOB", "STRING"), ("BINARY", "BINARY(1)"), ("VARBINARY(3)", "VARBINARY(3)"),
    ("BINARY VARYING(3)", "VARBINARY(3)"), ("BYTES", "BYTES"), ("BYTEA", "BYTES"), ("VARBINARY", "BYTES"), ("DATE", "DATE"),
    ("TIME", "TIME(0)"), ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"), ("TIMESTAMP", "TIMESTAMP(6)"), ("DATETIME", "TIMESTAMP(6)"),
    ("TIMESTAMP_NTZ(4)", "TIMESTAMP(4)"), ("TIMESTAMP(9) WITH LOCAL TIME ZONE", "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
    ("TIMESTAMP_LTZ(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"), ("TIMESTAMPTZ", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
    ("TIMESTAMP(0) WITH TIME ZONE", "TIMESTAMP(0) WITH LOCAL TIME ZONE"), ("INT[]", "ARRAY<INT>"),
    ("ARRAY<INT NOT NULL>", "ARRAY<INT NOT NULL>"), ("ARRAY(INT)", "ARRAY<INT>"), ("MAP(STRING, INT)", "MAP<STRING, INT>"),
    ("MAP<STRING, INT NOT NULL>", "MAP<STRING, INT NOT NULL>"), ("MULTISET<INT>", "MULTISET<INT>"),
    ("STRUCT<a: INT, b INT NOT NULL COMMENT 'x'>", "ROW<a INT, b INT NOT NULL COMMENT 'x'>"),
    ("STRUCT(a INT)", "ROW<a INT>"), ("ROW(\"B\" INT)", 'ROW<"B" INT>'),
]


@pytest.mark.parametrize("written, shown", TYPES)
def test_sql_040_types(db, written, shown):
    db.sql(f"CREATE TABLE t (c {written})")
    assert db.rows("DESCRIBE t") == [("c", shown, "YES")]
    db.sql("CREATE TABLE u (a INT)")
    db.sql(f"ALTER TABLE u ADD COLUMN c {written}")
    assert db.rows("DESCRIBE u c") == [("c", shown, "YES")]


def test_sql_040_types_in_expressions(db):
    assert db.rows("SELECT arrow_typeof(CAST(X'00' AS BYTES)), arrow_typeof(CAST('10:00:00' AS TIME(3)))") == [
        ("Binary", "Time32(ms)")
    ]


@pytest.mark.parametrize("written, hint", [
    ("INT UNSIGNED", "BIGINT"), ("UUID", "STRING"), ("JSON", "STRING"), ("INTERVAL", ""), ("HUGEINT", ""),
    ("TIME WITH TIME ZONE", ""), ("BIT", ""), ("XML", ""), ("MONEY", ""), ("MY_TYPE", ""), ("ENUM('a')", ""), ("INT256", ""), ("VOID", ""),
    ("NULL", ""), ("GEOMETRY", ""), ("TINYINT UNSIGNED", "SMALLINT"), ("BIGINT UNSIGNED", "DECIMAL(20,0)"),
])
def test_sql_041_refused_types(db, written, hint):
    text = unsupported(db, f"CREATE TABLE t (c {written})", "Unsupported type")
    assert "column c" in text and hint in text


@pytest.mark.parametrize("written", ["VARCHAR(0)", "DECIMAL(39)", "DECIMAL(5, 6)", "TIMESTAMP(10)", "CHAR(0)", "TIME(10)"])
def test_sql_041_lengths(db, written):
    fails(db, f"CREATE TABLE t (c {written})", ValueError, "c")


def test_sql_042_nullability(db):
    db.sql("CREATE TABLE t (a INT, b INT NOT NULL, c INT NULL, k INT, PRIMARY KEY (k) NOT ENFORCED)")
    assert [row[2] for row in ordered(db, "DESCRIBE t")] == ["YES", "NO", "YES", "NO"]


def test_sql_043_show_create_reads_back(db):
    types = ", ".join(f"c{i} {written}" for i, (written, _) in enumerate(TYPES))
    db.sql(f"CREATE TABLE t (k INT, p STRING, d INT DEFAULT 5 COMMENT 'it''s', {types}, PRIMARY KEY (p, k)) "
           "PARTITIONED BY (p) COMMENT 'all' WITH ('bucket' = '2')")
    before = db.table("t").schema()
    [(_, _, _, ddl)] = db.rows("SHOW CREATE TABLE t")
    db.sql("DROP TABLE t")
    db.sql(ddl)
    after = db.table("t").schema()
    assert before.fields() == after.fields()
    for part in ["primary_keys", "partition_keys", "options", "comment"]:
        assert getattr(before, part)() == getattr(after, part)(), part


def test_sql_044_arrow_types(db):
    db.sql("CREATE TABLE t (a TINYINT, b DECIMAL(10, 2), c CHAR(2), d VARBINARY(2), e TIME, f TIMESTAMP(0), g TIMESTAMP(9), "
           "h TIMESTAMP_LTZ(3), i ARRAY<INT NOT NULL>, j MULTISET<STRING>, k ROW<x INT NOT NULL>)")
    schema = db.table("t").schema().to_arrow()
    assert [str(t) for t in schema.types[:8]] == [
        "int8", "decimal128(10, 2)", "string", "binary", "time32[ms]", "timestamp[s]", "timestamp[ns]", "timestamp[ms, tz=UTC]",
    ]
    assert schema.field("i").type.value_field.name == "element" and not schema.field("i").type.value_field.nullable
    assert schema.field("j").type.item_type == pa.int32() and not schema.field("j").type.item_field.nullable
    assert not schema.field("k").type.field("x").nullable


def test_sql_044_other_arrow_types(db):
    zoned = pa.array([0], pa.timestamp("us", tz="Asia/Shanghai"))
    kinds = {
        "u8": (pa.array([1], pa.uint8()), "SMALLINT", 1), "u16": (pa.array([1], pa.uint16()), "INT", 1),
        "u32": (pa.array([1], pa.uint32()), "BIGINT", 1), "u64": (pa.array([1], pa.uint64()), "BIGINT", 1),
        "f16": (pa.array([1.5], pa.float16()), "FLOAT", 1.5), "wide": (pa.array([D(1)], pa.decimal256(30, 2)), "DECIMAL(30, 2)", D("1.00")),
        "scaled": (pa.array([D("1E2")], pa.decimal128(5, -2)), "DECIMAL(7, 0)", D(100)), "text": (pa.array(["a"], pa.large_string()), "STRING", "a"),
        "view": (pa.array(["a"], pa.string_view()), "STRING", "a"), "bytes": (pa.array([b"a"], pa.large_binary()), "BYTES", b"a"),
        "fixed": (pa.array([b"ab"], pa.binary(2)), "BINARY(2)", b"ab"), "day": (pa.array([0], pa.date64()), "DATE", datetime.date(1970, 1, 1)),
        "second": (pa.array([1], pa.time32("s")), "TIME(0)", datetime.time(0, 0, 1)), "micros": (pa.array([1000], pa.time64("us")), "TIME(3)", datetime.time(0, 0, 0, 1000)),
        "ts": (pa.array([0], pa.timestamp("s")), "TIMESTAMP(0)", datetime.datetime(1970, 1, 1)),
        "nanos": (pa.array([0], pa.timestamp("ns")), "TIMESTAMP(9)", datetime.datetime(1970, 1, 1)),
        "instant": (zoned, "TIMESTAMP(6) WITH LOCAL TIME ZONE", datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)),
        "word": (pa.array(["x"]).dictionary_encode(), "STRING", "x"), "many": (pa.array([[1]], pa.large_list(pa.int32())), "ARRAY<INT>", [1]),
        "pair": (pa.array([[1, 2]], pa.list_(pa.int32(), 2)), "ARRAY<INT>", [1, 2]),
    }
    db.ctx.register_batch("arrows", pa.record_batch({name: kind[0] for name, kind in kinds.items()}))
    db.sql("CREATE TABLE t AS SELECT * FROM arrows")
    assert ordered(db, "DESCRIBE t") == [(name, kind[1], "YES") for name, kind in kinds.items()]
    assert ordered(db, "SELECT * FROM t") == [tuple(kind[2] for kind in kinds.values())]
    db.ctx.register_batch("big", pa.record_batch({"u": pa.array([2**63], pa.uint64())}))
    fails(db, "CREATE TABLE u AS SELECT u FROM big", ValueError, "column u")
    for value, kind in [("NULL", "Null"), ("arrow_cast(1, 'Duration(Second)')", "Duration")]:
        fails(db, f"CREATE TABLE u AS SELECT {value} AS c", ValueError, f"column c has Arrow type {kind}")
    db.sql("CREATE TABLE n (x TIMESTAMP(9))")
    fails(db, "INSERT INTO n VALUES ('1500-01-01 00:00:00')", ValueError, "column x")


def test_sql_045_columns_of_create_table_as(db):
    db.sql("CREATE TABLE t AS SELECT 1 AS a, row_number() OVER () AS n, 'x' AS s")
    assert ordered(db, "DESCRIBE t") == [("a", "BIGINT", "YES"), ("n", "BIGINT", "YES"), ("s", "STRING", "YES")]
    fails(db, "CREATE TABLE u AS SELECT 1 AS a, 2 AS a", ValueError, "a")
    fails(db, "CREATE TABLE u AS SELECT INTERVAL '1' DAY AS i", ValueError, "i")


def test_sql_046_results_have_the_types_of_the_table(db):
    db.sql("CREATE TABLE t (s STRING, b BYTES)")
    db.sql("INSERT INTO t VALUES ('a', X'00')")
    [batch] = db.sql("SELECT max(s) AS s, b FROM t GROUP BY b")
    assert batch.schema.types == [pa.string(), pa.binary()]


def test_sql_047_nan_and_zero(db):
    db.sql("CREATE TABLE t (id INT, x DOUBLE)")
    db.sql("INSERT INTO t VALUES (1, 'NaN'), (2, -0.0), (3, 2.0)")
    assert db.rows("SELECT id FROM t WHERE x > 1.0") == [(1,), (3,)]
    assert db.rows("SELECT id FROM t WHERE x = 0.0") == [(2,)]
    assert db.rows("SELECT id FROM t WHERE x = 'NaN'") == [(1,)]


def test_times_without_zone_are_utc(db):
    db.sql("CREATE TABLE t (id INT, x TIMESTAMP_LTZ(3))")
    db.sql("INSERT INTO t VALUES (1, '2024-01-01 12:00:00')")
    utc = datetime.timezone.utc
    assert db.rows("SELECT x FROM t") == [(datetime.datetime(2024, 1, 1, 12, tzinfo=utc),)]
    assert db.rows("SELECT id FROM t WHERE x = '2024-01-01 12:00:00'") == [(1,)]


# 4. Databases and tables


def test_sql_060_create_database(db):
    for sql in ["CREATE DATABASE e", "CREATE SCHEMA f", "CREATE DATABASE IF NOT EXISTS e", "CREATE SCHEMA paimon.g"]:
        assert db.rows(sql) == OK
    fails(db, "CREATE DATABASE e", module.AlreadyExistsError, "Database e already exists.")
    assert {("e",), ("f",), ("g",)} <= set(db.rows("SHOW DATABASES"))


def test_sql_061_clauses_of_create_database(db):
    for clause in ["COMMENT 'x'", "WITH (a = 'b')", "WITH DBPROPERTIES (a = 'b')", "LOCATION '/x'"]:
        unsupported(db, f"CREATE DATABASE e {clause}", clause.split()[0])


def test_sql_062_drop_database(db):
    db.sql("CREATE DATABASE e")
    db.sql("CREATE TABLE e.t (a INT)")
    fails(db, "DROP DATABASE e", ValueError, "Database e is not empty.")
    fails(db, "DROP DATABASE e RESTRICT", ValueError, "not empty")
    assert db.rows("DROP SCHEMA e CASCADE") == OK
    assert db.rows("DROP SCHEMA IF EXISTS e") == OK
    fails(db, "DROP DATABASE e", module.NotFoundError, "Database e does not exist.")


def test_sql_063_alter_database(db):
    for sql in ["ALTER DATABASE db SET DBPROPERTIES ('a' = 'b')", "ALTER SCHEMA db UNSET DBPROPERTIES ('a')"]:
        unsupported(db, sql, "Alter database is not supported.")


def test_sql_064_create_catalog(db, tmp_path):
    db.sql(f"CREATE CATALOG other WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/second')")
    assert ("other",) in db.rows("SHOW CATALOGS")
    db.sql("CREATE TABLE other.default.t (a INT)")
    assert db.rows("SELECT count(*) FROM other.default.t") == [(0,)]
    fails(db, "CREATE CATALOG other WITH ('warehouse' = '/x')", module.AlreadyExistsError, "other")
    unsupported(db, "DROP CATALOG other", "DROP CATALOG")


def test_sql_070_clauses_in_any_order(db):
    db.sql("CREATE TABLE a (x INT, p STRING) WITH ('file.format' = 'parquet') COMMENT 'c' PARTITIONED BY (p)")
    db.sql("CREATE TABLE b (x INT, p STRING) USING paimon PARTITIONED BY (p) TBLPROPERTIES (file.format 'parquet')")
    assert db.table("a").schema().partition_keys() == db.table("b").schema().partition_keys() == ["p"]
    fails(db, "CREATE TABLE c (x INT) COMMENT 'a' COMMENT 'b'", ValueError, "twice")


def test_sql_071_options(db):
    db.sql("CREATE TABLE a (x INT) OPTIONS (file.format 'parquet', 'target-file-size' = '1 mb', write-only = TRUE)")
    options = db.table("a").schema().options()
    assert (options["file.format"], options["target-file-size"], options["write-only"].lower()) == ("parquet", "1 mb", "true")
    fails(db, "CREATE TABLE b (x INT) WITH ('a' = '1', 'a' = '2')", ValueError, "twice")
    for option in ["'merge-engine' = 'x'", "'file.format' = 'x'", "'type' = 'x'", "'target-file-size' = 'x'"]:
        fails(db, f"CREATE TABLE b (x INT) WITH ({option})", ValueError, "x")


def test_sql_072_primary_keys(db):
    db.sql("CREATE TABLE a (x INT PRIMARY KEY NOT ENFORCED) WITH ('bucket' = '1')")
    db.sql("CREATE TABLE b (x INT, CONSTRAINT pk PRIMARY KEY (x)) WITH ('bucket' = '1')")
    db.sql("CREATE TABLE c (x INT) WITH ('bucket' = '1', 'primary-key' = 'x')")
    for name in "abc":
        assert db.table(name).schema().primary_keys() == ["x"], name
    fails(db, "CREATE TABLE d (x INT PRIMARY KEY) WITH ('primary-key' = 'x')", ValueError, "at the same time")
    unsupported(db, "CREATE TABLE d (x INT PRIMARY KEY ENFORCED)", "ENFORCED")


def test_sql_073_partitioned_by(db):
    unsupported(db, "CREATE TABLE a (x INT) PARTITIONED BY (y INT)", "type")
    unsupported(db, "CREATE TABLE a (x INT) PARTITIONED BY (bucket(4, x))", "bucket")
    fails(db, "CREATE TABLE a (x INT) PARTITIONED BY (y)", ValueError, "y")
    fails(db, "CREATE TABLE a (x INT, y INT) PARTITIONED BY (x, x)", ValueError, "x")


def test_sql_074_checks_at_creation(db):
    for columns_and_options in [
        "(a INT, PRIMARY KEY (b))", "(a INT, PRIMARY KEY (a, a))", "(a INT) WITH ('bucket' = '2')", "(a INT) WITH ('bucket' = '0')",
        "(a INT, p INT, PRIMARY KEY (p)) PARTITIONED BY (p)", "(rowkind STRING)", "(\"_KEY_a\" INT)", "(\"_SEQUENCE_NUMBER\" INT)",
        "(\"_ROW_ID\" INT)", "()", "(a INT, A INT)", "(a INT, PRIMARY KEY (a)) WITH ('bucket' = '1', 'sequence.field' = 'zz')",
    ]:
        fails(db, f"CREATE TABLE t {columns_and_options}", ValueError)


def test_sql_075_defaults(db):
    db.sql("CREATE TABLE t (a INT, b INT DEFAULT CAST('5' AS INT), c TIMESTAMP DEFAULT '2024-01-01 00:00:00', d DECIMAL(4, 2) DEFAULT 1.005)")
    assert [f.default_value() for f in db.table("t").schema().fields()] == [None, "5", "2024-01-01 00:00:00", "1.01"]
    db.sql("INSERT INTO t (a) VALUES (1)")
    assert db.rows("SELECT b, d FROM t") == [(5, D("1.01"))]
    fails(db, "CREATE TABLE u (a INT DEFAULT 'x')", ValueError, "column a")
    fails(db, "CREATE TABLE u (a BIGINT DEFAULT random())", ValueError, "random")


def test_sql_076_comments(db):
    db.sql("CREATE TABLE t (a INT COMMENT 'col') COMMENT 'tab'")
    schema = db.table("t").schema()
    assert (schema.comment(), schema.fields()[0].description()) == ("tab", "col")


@pytest.mark.parametrize("rest, word", [
    ("(a INT UNIQUE)", "UNIQUE"), ("(a INT CHECK (a > 0))", "CHECK"), ("(a INT REFERENCES b)", "REFERENCES"),
    ("(a INT GENERATED ALWAYS AS (1))", "GENERATED"), ("(a INT AUTO_INCREMENT)", "AUTO_INCREMENT"), ("(a INT COLLATE x)", "COLLATE"),
    ("(a INT METADATA)", "METADATA"), ("(a INT AS (1))", "AS"), ("(a INT, WATERMARK FOR a AS a)", "WATERMARK"),
    ("(a INT) STORED AS ORC", "STORED"), ("(a INT) ROW FORMAT x", "ROW"), ("(a INT) LOCATION '/x'", "LOCATION"),
    ("(a INT) CLUSTERED BY (a) INTO 4 BUCKETS", "CLUSTERED"), ("(a INT) CLUSTER BY (a)", "CLUSTER"),
    ("(a INT) TABLESPACE x", "TABLESPACE"), ("(a INT) ON COMMIT DROP", "ON"), ("(a INT) USING delta", "USING"),
    ("(a INT, FOREIGN KEY (a) REFERENCES b)", "FOREIGN"),
])
def test_sql_077_refused_clauses(db, rest, word):
    unsupported(db, f"CREATE TABLE t {rest}", word)


def test_sql_077_refused_words(db):
    for word in ["UNLOGGED", "TRANSIENT", "MATERIALIZED", "GLOBAL"]:
        unsupported(db, f"CREATE {word} TABLE t (a INT)", word)
    fails(db, "CREATE TABLE t ()", ValueError)


def test_sql_078_if_not_exists(db):
    db.sql("CREATE TABLE t (a INT)")
    assert db.rows("CREATE TABLE IF NOT EXISTS t (b STRING)") == OK
    fails(db, "CREATE TABLE t (a INT)", module.AlreadyExistsError, "Table db.t already exists.")
    fails(db, "CREATE OR REPLACE TABLE IF NOT EXISTS t (a INT)", ValueError)


def test_sql_079_create_table_as(db):
    assert db.rows("CREATE TABLE t WITH ('file.format' = 'parquet') AS SELECT 1 AS a, 2 AS b") == [(1,)]
    assert db.rows("CREATE TABLE u (x, y) AS SELECT 1, 1") == [(1,)]
    assert db.rows("CREATE TABLE v (x BIGINT, y DECIMAL(5, 2)) AS SELECT 1, 1.005") == [(1,)]
    assert db.rows("SELECT * FROM v") == [(1, D("1.01"))]
    assert db.rows("CREATE TABLE IF NOT EXISTS t AS SELECT 1 / 0 AS a") == [(0,)]
    assert db.rows("CREATE TABLE w AS SELECT a FROM t WHERE false") == [(0,)]
    assert db.table("w").latest_snapshot() is None
    fails(db, "CREATE TABLE x (a INT) AS SELECT 1.5", ValueError, "1.5")
    assert db.rows("SHOW TABLES LIKE 'x'") == []


def test_sql_080_like(db):
    db.sql("CREATE TABLE s (a INT DEFAULT 1 COMMENT 'c', p STRING) PARTITIONED BY (p) COMMENT 'x' WITH ('write-only' = 'true')")
    db.sql("CREATE TABLE t LIKE s")
    db.sql("CREATE TABLE u (LIKE s) WITH ('write-only' = 'false')")
    db.sql("CREATE TABLE v LIKE s (EXCLUDING OPTIONS)")
    source = db.table("s").schema()
    for name, options in [("t", {"write-only": "true"}), ("u", {"write-only": "false"}), ("v", {})]:
        schema = db.table(name).schema()
        assert schema.fields() == source.fields() and schema.partition_keys() == ["p"], name
        assert {k: v for k, v in schema.options().items() if k != "path"} == options, name


def test_sql_081_a_table_is_replaced_by_one_of_another_schema(db):
    fails(db, "REPLACE TABLE t (b INT)", module.NotFoundError, "t")
    assert db.rows("CREATE OR REPLACE TABLE t (a INT, b STRING) WITH ('write-only' = 'true')") == OK
    db.sql("INSERT INTO t VALUES (1, 'x'), (2, 'y')")
    assert db.rows("CREATE OR REPLACE TABLE t (b BIGINT PRIMARY KEY, c INT) COMMENT 'new' WITH ('bucket' = '1')") == OK
    assert db.rows("SELECT * FROM t") == []
    schema = db.table("t").schema()
    assert [field.name() for field in schema.fields()] == ["b", "c"]
    assert schema.primary_keys() == ["b"] and schema.comment() == "new" and "write-only" not in schema.options()
    db.sql("INSERT INTO t VALUES (5, 1), (6, 2)")
    db.sql("INSERT INTO t VALUES (5, 3)")
    assert ordered(db, "SELECT * FROM t ORDER BY b") == [(5, 3), (6, 2)]
    assert db.rows("SELECT c FROM t WHERE b = 5") == [(3,)] and db.rows("SELECT b FROM t WHERE c < 3") == [(6,)]
    # Snapshots of before are read with their schema.
    assert ordered(db, "SELECT * FROM t VERSION AS OF 1 ORDER BY a") == [(1, "x"), (2, "y")]
    assert db.rows("SELECT b FROM t VERSION AS OF 1 WHERE a = 2") == [("y",)]
    kinds = ordered(db, "SELECT snapshot_id, schema_id, commit_kind FROM t$snapshots ORDER BY snapshot_id")
    assert kinds == [(1, 0, "APPEND"), (2, 1, "OVERWRITE"), (3, 1, "APPEND"), (4, 1, "APPEND")]
    assert db.rows("REPLACE TABLE t LIKE t") == OK
    assert db.rows("SELECT count(*) FROM t") == [(0,)] and db.table("t").schema().primary_keys() == ["b"]
    unsupported(db, "CREATE OR REPLACE TABLE t (p INT, b INT) PARTITIONED BY (p)", "partition columns")
    fails(db, "CREATE OR REPLACE TABLE IF NOT EXISTS t (a INT)", ValueError, "exclude each other")
    fails(db, "CREATE OR REPLACE TABLE t$branch_x (a INT)", ValueError)
    fails(db, "REPLACE TABLE t (a INT PRIMARY KEY) WITH ('bucket' = 'x')", ValueError, "bucket")
    unsupported(db, "CREATE OR REPLACE TEMPORARY TABLE m (a INT)", "OR REPLACE")
    assert db.table("t").schema().primary_keys() == ["b"]


def test_sql_081_a_table_is_replaced_by_the_rows_of_a_query(db):
    db.sql("CREATE TABLE t (p STRING, a INT) PARTITIONED BY (p)")
    db.sql("INSERT INTO t VALUES ('x', 1), ('y', 2), ('y', 3)")
    query = "SELECT p, sum(a) AS total, CAST(count(*) AS INT) AS n FROM t GROUP BY p"
    assert db.rows(f"CREATE OR REPLACE TABLE t PARTITIONED BY (p) WITH ('primary-key' = 'p,n', 'bucket' = '1') AS {query}") == [(2,)]
    assert ordered(db, "SELECT * FROM t ORDER BY p") == [("x", 1, 1), ("y", 5, 2)]
    assert ordered(db, "SELECT * FROM t VERSION AS OF 1 ORDER BY a") == [("x", 1), ("y", 2), ("y", 3)]
    files = lambda: sorted(path for path, _, names in os.walk(db.path("t")) for _ in names)  # noqa: E731
    before = files()
    # A query that fails leaves the table as it was.
    fails(db, "REPLACE TABLE t PARTITIONED BY (p) AS SELECT p, CAST(p AS INT) AS a FROM t", ValueError, "cannot cast string")
    unsupported(db, "CREATE OR REPLACE TABLE t AS SELECT 1 AS a", "partition columns")
    assert ordered(db, "SELECT * FROM t ORDER BY p") == [("x", 1, 1), ("y", 5, 2)]
    # What it wrote is deleted in the background.
    until = time.monotonic() + 60
    while files() != before and time.monotonic() < until:
        time.sleep(0.01)
    assert files() == before
    assert db.rows("REPLACE TABLE t PARTITIONED BY (p) AS SELECT * FROM t WHERE false") == [(0,)]
    assert db.rows("SELECT * FROM t") == [] and len(db.rows("SELECT * FROM t VERSION AS OF 2")) == 2
    assert db.rows("CREATE OR REPLACE TABLE fresh AS SELECT 1 AS a") == [(1,)]
    assert db.rows("SELECT a FROM fresh") == [(1,)]


def test_sql_081_handles_and_ranges_of_the_replaced_table_are_refused(db):
    db.sql("CREATE TABLE t (a INT, b STRING)")
    db.sql("INSERT INTO t VALUES (1, 'x')")
    old = db.table("t")
    stream = old.new_read_builder().new_stream_scan()
    writer = old.new_batch_write_builder()
    write = writer.new_write()
    write.write_arrow(pa.table({"a": pa.array([2], pa.int32()), "b": ["z"]}))
    db.sql("CREATE OR REPLACE TABLE t (c INT, b STRING)")
    db.sql("INSERT INTO t VALUES (7, 'n')")
    for use in [
        lambda: old.new_read_builder().new_scan().plan(),
        lambda: old.new_read_builder().new_incremental_scan(1, 3).plan(),
        lambda: writer.new_commit().commit(write.prepare_commit()),
        lambda: [stream.plan() for _ in range(3)],
    ]:
        with pytest.raises(module.PaimonError, match="get it again"):
            use()
    new = db.table("t")
    assert db.read(new) == [(7, "n")]
    with pytest.raises(module.PaimonError, match="was replaced"):
        new.new_read_builder().new_incremental_scan(0, 3).plan()
    changes = new.new_read_builder().new_incremental_scan(2, 3).plan()
    assert to_rows(new.new_read_builder().new_read().read(changes.splits())) == [(7, "n")]
    assert db.rows("SELECT count(*) FROM t$files") == [(1,)]
    fails(db, "CALL sys.rollback_to('db.t', '1')", module.PaimonError, "was replaced")
    assert db.rows("SELECT * FROM t") == [(7, "n")]


def test_sql_082_temporary_tables(db):
    db.sql("CREATE TEMPORARY TABLE m (id INT, s STRING)")
    assert db.rows("INSERT INTO m VALUES (1, 'a')") == [(1,)]
    db.sql("CREATE TEMP TABLE n AS SELECT id + 1 AS x FROM m")
    assert db.rows("SELECT x FROM n") == [(2,)]
    for part in ["(k INT PRIMARY KEY)", "(k INT) PARTITIONED BY (k)", "(k INT) WITH ('a' = 'b')"]:
        unsupported(db, f"CREATE TEMPORARY TABLE k {part}")
    db.sql("CREATE TEMPORARY TABLE IF NOT EXISTS m (x INT)")
    assert os.listdir(db.path()) == []


def test_sql_083_external_tables(db, tmp_path):
    unsupported(db, "CREATE EXTERNAL TABLE x STORED AS PARQUET LOCATION '/x'", "datafusion.public")
    db.sql(f"COPY (SELECT 1 AS a) TO '{tmp_path}/x.parquet' STORED AS PARQUET")
    db.sql(f"CREATE EXTERNAL TABLE datafusion.public.x STORED AS PARQUET LOCATION '{tmp_path}/x.parquet'")
    assert db.rows("SELECT a FROM datafusion.public.x") == [(1,)]


def test_sql_084_drop_table(db):
    for name in "abc":
        db.sql(f"CREATE TABLE {name} (x INT)")
    fails(db, "DROP TABLE a, nope", module.NotFoundError, "nope")
    assert len(db.rows("SHOW TABLES")) == 3
    db.sql("DROP TABLE a, b")
    db.sql("DROP TABLE IF EXISTS a")
    for word in ["CASCADE", "RESTRICT"]:
        unsupported(db, f"DROP TABLE c {word}", word)
    fails(db, "DROP TEMPORARY TABLE c", module.NotFoundError)
    assert not os.path.exists(db.path("a")) and os.path.exists(db.path("c"))
    db.sql("DROP TABLE c PURGE")


def test_sql_085_other_types_of_tables(db):
    unsupported(db, "CREATE TABLE t (a INT) WITH ('type' = 'format-table')", "format table")


# 5. ALTER TABLE


@pytest.fixture
def o(db):
    db.sql("CREATE TABLE o (id BIGINT, dt STRING, r STRUCT<a INT>, arr ARRAY<STRUCT<x INT>>, m MAP<STRING, STRUCT<y INT>>, "
           "PRIMARY KEY (dt, id)) PARTITIONED BY (dt) WITH ('bucket' = '1')")
    return db


def names(env, table="o"):
    return [f.name() for f in env.table(table).schema().fields()]


def type_of(env, name, table="o"):
    return {f.name(): f.field_type() for f in env.table(table).schema().fields()}[name]


def test_sql_100_add_column(o):
    o.sql("ALTER TABLE o ADD COLUMN a INT COMMENT 'x' FIRST")
    o.sql("ALTER TABLE o ADD b INT AFTER id")
    o.sql("ALTER TABLE o ADD COLUMN IF NOT EXISTS a INT")
    assert names(o)[:3] == ["a", "id", "b"]
    fails(o, "ALTER TABLE o ADD COLUMN c INT NOT NULL", ValueError, "c")
    unsupported(o, "ALTER TABLE o ADD COLUMN c INT DEFAULT 1", "DEFAULT")
    fails(o, "ALTER TABLE o ADD COLUMN a INT", module.AlreadyExistsError, "Column a already exists in the db.o table.")


def test_sql_101_add_columns(o):
    o.sql("ALTER TABLE o ADD (a INT, b INT)")
    o.sql("ALTER TABLE o ADD COLUMNS (c INT)")
    o.sql("ALTER TABLE o ADD COLUMN d INT, ADD COLUMN e INT")
    assert names(o)[-5:] == list("abcde") and o.table("o").schema().id() == 3


def test_sql_102_add_nested_fields(o):
    o.sql("ALTER TABLE o ADD COLUMN r.b STRING")
    o.sql("ALTER TABLE o ADD COLUMN arr.element.z INT")
    o.sql("ALTER TABLE o ADD COLUMN m.value.z INT")
    assert type_of(o, "r") == "ROW<`a` INT, `b` STRING>"
    assert type_of(o, "arr") == "ARRAY<ROW<`x` INT, `z` INT>>"


def test_sql_103_drop_column(o):
    o.sql("ALTER TABLE o ADD (a INT, b INT, c INT, d INT, e INT)")
    o.sql("ALTER TABLE o ADD COLUMN r.b INT")
    for sql in ["DROP COLUMN a", "DROP b", "DROP COLUMNS (c, d)", "DROP (e)", "DROP COLUMN r.b", "DROP COLUMN IF EXISTS nope"]:
        o.sql(f"ALTER TABLE o {sql}")
    assert names(o) == ["id", "dt", "r", "arr", "m"] and type_of(o, "r") == "ROW<`a` INT>"
    for column in ["id", "dt"]:
        fails(o, f"ALTER TABLE o DROP COLUMN {column}", ValueError, column)
    fails(o, "ALTER TABLE o DROP COLUMN nope", ValueError, "nope")
    o.sql("CREATE TABLE last (a INT)")
    fails(o, "ALTER TABLE last DROP COLUMN a", ValueError)


def test_sql_104_rename_column(o):
    o.sql("ALTER TABLE o RENAME COLUMN id TO ident")
    o.sql("ALTER TABLE o RENAME r.a TO aa")
    assert names(o)[0] == "ident" and o.table("o").schema().primary_keys() == ["dt", "ident"]
    fails(o, "ALTER TABLE o RENAME COLUMN dt TO day", ValueError, "dt")


def test_sql_105_change_types(o):
    o.sql("ALTER TABLE o ADD (a INT, b INT, c INT, d INT)")
    for sql in ["ALTER COLUMN a TYPE BIGINT", "ALTER b SET DATA TYPE BIGINT", "MODIFY COLUMN c BIGINT COMMENT 'x' FIRST",
                "CHANGE COLUMN d dd BIGINT", "ALTER COLUMN r.a TYPE BIGINT"]:
        o.sql(f"ALTER TABLE o {sql}")
    assert {type_of(o, n) for n in ["a", "b", "c", "dd"]} == {"BIGINT"} and names(o)[0] == "c"
    for column in ["id", "dt"]:
        fails(o, f"ALTER TABLE o ALTER COLUMN {column} TYPE DOUBLE", ValueError, "Cannot update")


def test_sql_106_not_null(o):
    fails(o, "ALTER TABLE o ALTER COLUMN r SET NOT NULL", ValueError, "alter-column-null-to-not-null.disabled")
    fails(o, "ALTER TABLE o ALTER COLUMN id DROP NOT NULL", ValueError)
    o.sql("CREATE TABLE n (a INT NOT NULL)")
    o.sql("ALTER TABLE n ALTER COLUMN a DROP NOT NULL")
    assert o.table("n").schema().fields()[0].is_nullable()


def test_sql_107_comment_and_order(o):
    o.sql("ALTER TABLE o ALTER COLUMN id COMMENT 'x'")
    o.sql("ALTER TABLE o ALTER COLUMN m FIRST")
    o.sql("ALTER TABLE o ALTER COLUMN id AFTER r")
    assert names(o) == ["m", "dt", "r", "id", "arr"]
    assert o.table("o").schema().fields()[3].description() == "x"


def test_sql_108_defaults(o):
    o.sql("ALTER TABLE o ADD COLUMN a INT")
    o.sql("ALTER TABLE o ALTER COLUMN a SET DEFAULT 1 + 1")
    assert o.table("o").schema().fields()[-1].default_value() == "2"
    o.sql("ALTER TABLE o ALTER COLUMN a DROP DEFAULT")
    assert o.table("o").schema().fields()[-1].default_value() is None
    fails(o, "ALTER TABLE o ALTER COLUMN a SET DEFAULT 'x'", ValueError, "column a")


def test_sql_109_set_options(o):
    o.sql("ALTER TABLE o SET TBLPROPERTIES ('snapshot.num-retained.max' = '20')")
    o.sql("ALTER TABLE o SET ('snapshot.num-retained.min' = '3', 'comment' = 'hello')")
    o.sql("ALTER TABLE o SET OPTIONS ('write-only' = 'true')")
    schema = o.table("o").schema()
    assert schema.options()["snapshot.num-retained.max"] == "20" and schema.comment() == "hello"
    o.sql("INSERT INTO o (id, dt) VALUES (1, 'a')")
    fails(o, "ALTER TABLE o SET ('merge-engine' = 'aggregation')", ValueError, "merge-engine")


def test_sql_110_unset_options(o):
    o.sql("ALTER TABLE o SET ('snapshot.num-retained.max' = '20', 'snapshot.num-retained.min' = '3')")
    o.sql("ALTER TABLE o UNSET TBLPROPERTIES ('snapshot.num-retained.max')")
    o.sql("ALTER TABLE o RESET ('snapshot.num-retained.min', 'never-set')")
    assert not [key for key in o.table("o").schema().options() if key.startswith("snapshot.num-retained")]
    fails(o, "ALTER TABLE o UNSET TBLPROPERTIES ('never-set')", ValueError, "never-set")
    o.sql("ALTER TABLE o UNSET TBLPROPERTIES IF EXISTS ('never-set')")


def test_sql_111_comments(o):
    o.sql("COMMENT ON TABLE o IS 'a'")
    o.sql("COMMENT ON COLUMN o.id IS 'b'")
    assert (o.table("o").schema().comment(), o.table("o").schema().fields()[0].description()) == ("a", "b")
    o.sql("ALTER TABLE o COMMENT 'c'")
    assert o.table("o").schema().comment() == "c"
    o.sql("COMMENT ON TABLE o IS NULL")
    assert o.table("o").schema().comment() in (None, "")


def test_sql_112_rename_table(o):
    o.sql("CREATE DATABASE e")
    o.sql("ALTER TABLE o RENAME TO e.u")
    o.sql("ALTER TABLE e.u RENAME TO v")
    assert o.rows("SHOW TABLES IN e") == [("paimon", "e", "v", "BASE TABLE")]
    o.sql("CREATE TABLE x (a INT)")
    fails(o, "ALTER TABLE x RENAME TO e.v", module.AlreadyExistsError, "e.v")
    unsupported(o, "ALTER TABLE x RENAME TO other.e.x", "catalog")


def test_sql_113_drop_partition(db):
    db.sql("CREATE TABLE t (a INT, p STRING, q INT) PARTITIONED BY (p, q)")
    db.sql("INSERT INTO t VALUES (1, 'a', 1), (2, 'a', 2), (3, NULL, 3), (4, 'b', 4), (5, 'c', 5)")
    db.sql("ALTER TABLE t DROP PARTITION (p = 'a')")
    db.sql("ALTER TABLE t DROP PARTITION (p = NULL), PARTITION (p = 'b', q = '4')")
    assert db.rows("SELECT a FROM t") == [(5,)]
    before = db.table("t").latest_snapshot().id()
    db.sql("ALTER TABLE t DROP IF EXISTS PARTITION (p = 'zz')")
    fails(db, "ALTER TABLE t DROP PARTITION (p = 'zz')", ValueError, "zz")
    fails(db, "ALTER TABLE t DROP PARTITION (a = 1)", ValueError, "a")
    assert db.table("t").latest_snapshot().id() == before


def test_sql_114_add_partition(o):
    unsupported(o, "ALTER TABLE o ADD PARTITION (dt = 'a')", "ADD PARTITION")
    unsupported(o, "ALTER TABLE o ADD IF NOT EXISTS PARTITION (dt = 'a')", "ADD PARTITION")


@pytest.mark.parametrize("action", [
    "PARTITION (dt = 'a') RENAME TO PARTITION (dt = 'b')", "RENAME PARTITION (dt = 'a') TO PARTITION (dt = 'b')",
    "ADD CONSTRAINT c CHECK (id > 0)", "DROP CONSTRAINT c", "ADD PRIMARY KEY (id)", "DROP PRIMARY KEY", "SWAP WITH x",
    "SET LOCATION '/x'", "REPLACE COLUMNS (a INT)", "RECOVER PARTITIONS",
])
def test_sql_115_refused_actions(o, action):
    unsupported(o, f"ALTER TABLE o {action}")


def test_sql_117_lost_races_are_run_again(o):
    errors = []

    def add(i):
        try:
            o.fresh().sql(f"ALTER TABLE paimon.db.o ADD COLUMN c{i} INT")
        except Exception as error:  # noqa: BLE001
            errors.append(repr(error))

    threads = [threading.Thread(target=add, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert errors == [] and {f"c{i}" for i in range(8)} <= set(names(o)) and o.table("o").schema().id() == 8
    # What no longer applies is the error of that change.
    outcomes = []
    again = [threading.Thread(target=lambda: outcomes.append(dropped(o))) for _ in range(4)]
    [thread.start() for thread in again]
    [thread.join() for thread in again]
    assert outcomes.count("OK") == 1 and sum("c0" in outcome for outcome in outcomes) == 3


def dropped(env):
    try:
        return to_rows(env.fresh().sql("ALTER TABLE paimon.db.o DROP COLUMN c0"))[0][0]
    except ValueError as error:
        return str(error)


def test_sql_117_if_exists(o):
    assert o.rows("ALTER TABLE IF EXISTS nope ADD COLUMN a INT") == OK
    before = o.table("o").schema().id()
    o.sql("ALTER TABLE o DROP COLUMN IF EXISTS nope")
    assert o.table("o").schema().id() == before
