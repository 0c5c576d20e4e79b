"""One test per requirement of SQL on INSERT, INSERT OVERWRITE, TRUNCATE and COPY; see `test_requirements_sql.py`."""

import datetime
import decimal

import pytest
from test_requirements_sql import OK, db, fails, unsupported  # noqa: F401

D = decimal.Decimal


# 6. INSERT


def test_sql_130_insert(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT, b INT DEFAULT 5, c STRING NOT NULL)")
    db.sql("INSERT INTO t (c, a) VALUES ('x', 1)")
    db.sql("INSERT INTO TABLE t SELECT 2, 2, 'y'")
    db.sql("WITH q AS (SELECT 3 AS a) INSERT INTO t SELECT a, a, 'z' FROM q")
    assert db.rows("SELECT * FROM t") == [(1, 5, "x"), (2, 2, "y"), (3, 3, "z")]
    fails(db, "INSERT INTO t (a) VALUES (1)", ValueError, "column c")
    fails(db, "INSERT INTO t (c, nope) VALUES ('x', 1)", ValueError, "nope")
    fails(db, "INSERT INTO t (c, c) VALUES ('x', 'y')", ValueError, "c")
    db.sql("CREATE TABLE u (a INT DEFAULT 7)")
    db.sql("INSERT INTO u DEFAULT VALUES")
    assert db.rows("SELECT * FROM u") == [(7,)]


def test_sql_130_columns_of_one_name(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT, b INT)")
    db.sql("INSERT INTO t SELECT 1, 1")
    db.sql("INSERT INTO t SELECT a, a FROM t")
    db.sql("INSERT INTO t SELECT 2 AS x, 3 AS x UNION ALL SELECT 4, 4")
    assert db.rows("SELECT * FROM t") == [(1, 1), (1, 1), (2, 3), (4, 4)]


def test_sql_131_by_name(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT, b INT)")
    db.sql("INSERT INTO t BY NAME SELECT 1 AS b")
    db.sql("INSERT INTO t BY NAME SELECT 2 AS b, 3 AS a")
    assert db.rows("SELECT * FROM t") == [(None, 1), (3, 2)]
    fails(db, "INSERT INTO t BY NAME SELECT 1 AS zz", ValueError, "zz")


def test_sql_132_default_values(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT, b INT DEFAULT 5, c INT NOT NULL)")
    db.sql("INSERT INTO t VALUES (1, DEFAULT, 1), (DEFAULT, NULL, 2)")
    assert db.rows("SELECT * FROM t") == [(None, 5, 2), (1, 5, 1)]
    fails(db, "INSERT INTO t VALUES (1, 1, DEFAULT)", ValueError, "column c")


def test_sql_133_partition(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT, p STRING, b INT) PARTITIONED BY (p)")
    db.sql("INSERT INTO t PARTITION (p = 'x') SELECT 1, 2")
    db.sql("INSERT INTO t PARTITION (p = 'x') (b) VALUES (3)")
    db.sql("INSERT INTO t (b) PARTITION (p = 'y') VALUES (4)")
    assert db.rows("SELECT * FROM t") == [(None, "x", 3), (None, "y", 4), (1, "x", 2)]


@pytest.mark.parametrize("column, value, part", [
    ("INT", "1.7", "1.7"), ("INT", "'1.7'", "1.7"), ("INT", "9999999999", "9999999999"), ("TINYINT", "128", "128"), ("INT", "'x'", "x"),
    ("DATE", "'2024-13-01'", "2024-13-01"), ("DECIMAL(4, 2)", "123.4", "c"), ("BOOLEAN", "5", "5"), ("TIMESTAMP(3)", "'nope'", "nope"),
    ("FLOAT", "1e300", "c"), ("TIME", "TIME '10:00:00.0001'", "c"), ("ARRAY<INT>", "[1.5]", "1.5"),
])
def test_sql_134_nothing_is_lost(db, column, value, part):  # noqa: F811
    db.sql(f"CREATE TABLE t (c {column})")
    for sql in [f"INSERT INTO t VALUES ({value})", f"INSERT INTO t SELECT {value}"]:
        text = fails(db, sql, ValueError, part)
        assert "column c" in text, text
    assert db.rows("SELECT * FROM t") == []


def test_sql_134_decimals_are_exact(db):  # noqa: F811
    db.sql("CREATE TABLE t (a DECIMAL(38, 18), b DECIMAL(10, 2))")
    exact = D("12345678901234567890.123456789012345678")
    db.sql(f"INSERT INTO t VALUES ({exact}, 1.005)")
    db.sql(f"INSERT INTO t SELECT {exact}, 1.005")
    db.sql(f"INSERT INTO t VALUES (-{exact}, -1.005)")
    assert db.rows("SELECT * FROM t") == [(exact.copy_negate(), D("-1.01")), (exact, D("1.01")), (exact, D("1.01"))]
    assert db.rows(f"SELECT count(*) FROM t WHERE a = {exact} AND b IN (1.01) AND b BETWEEN 1.01 AND 1.01") == [(2,)]
    db.sql("INSERT INTO t VALUES (0, 12345678.13)")
    assert db.rows("SELECT count(*) FROM t WHERE b = 12345678.13") == [(1,)]
    assert db.rows("SELECT CAST(1.005 AS DECIMAL(10, 2)), CAST('1.005' AS DECIMAL(10, 2))") == [(D("1.01"), D("1.01"))]


def test_sql_134_text_becomes_what_it_says(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT, b DATE, c TIME(3), d TIMESTAMP(3), e BOOLEAN, f DOUBLE)")
    db.sql("INSERT INTO t VALUES ('1', '2024-01-02', '10:00:00.5', '2024-01-02 03:04:05.6789', 'true', '1.5')")
    assert db.rows("SELECT * FROM t") == [(
        1, datetime.date(2024, 1, 2), datetime.time(10, 0, 0, 500000), datetime.datetime(2024, 1, 2, 3, 4, 5, 678000), True, 1.5,
    )]


def test_sql_134_time_literals_compare(db):  # noqa: F811
    db.sql("CREATE TABLE t (id INT, c TIME(3))")
    db.sql("INSERT INTO t VALUES (1, TIME '10:00:00'), (2, TIME '11:00:00.5')")
    assert db.rows("SELECT id FROM t WHERE c = TIME '10:00:00'") == [(1,)]
    assert db.rows("SELECT id FROM t WHERE c > TIME '10:00:00.0001'") == [(2,)]
    assert db.rows("SELECT id, c = TIME '10:00:00' FROM t WHERE c BETWEEN TIME '09:00:00' AND TIME '10:30:00'") == [(1, True)]
    assert db.rows("SELECT id FROM t WHERE c IN (TIME '11:00:00.5')") == [(2,)]


def test_sql_135_lengths(db):  # noqa: F811
    db.sql("CREATE TABLE t (a CHAR(3), b VARCHAR(3), c BINARY(2), d VARBINARY(2))")
    db.sql("INSERT INTO t VALUES ('ab   ', 'abc  ', X'0001', X'00')")
    assert db.rows("SELECT * FROM t") == [("ab ", "abc", b"\0\1", b"\0")]
    for values, column in [("'abcd', '', X'0000', X''", "a"), ("'', 'abcd', X'0000', X''", "b"), ("'', '', X'00', X''", "c"),
                           ("'', '', X'0000', X'000000'", "d")]:
        for sql in [f"INSERT INTO t VALUES ({values})", f"INSERT INTO t SELECT {values}"]:
            fails(db, sql, ValueError, f"column {column}")


def test_sql_136_nulls(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT NOT NULL)")
    db.sql("CREATE TABLE k (a INT PRIMARY KEY) WITH ('bucket' = '1')")
    for name in "tk":
        for sql in [f"INSERT INTO {name} VALUES (NULL)", f"INSERT INTO {name} SELECT CAST(NULL AS INT)"]:
            fails(db, sql, ValueError, "a")
        assert db.table(name).latest_snapshot() is None


def test_sql_137_upserts(db):  # noqa: F811
    db.sql("CREATE TABLE k (a INT PRIMARY KEY, v STRING) WITH ('bucket' = '1')")
    assert db.rows("INSERT INTO k VALUES (1, 'a'), (2, 'b'), (1, 'c')") == [(3,)]
    assert db.rows("SELECT * FROM k") == [(1, "c"), (2, "b")]


def test_sql_138_no_rows(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT)")
    assert db.rows("INSERT INTO t SELECT a FROM t") == [(0,)]
    assert db.table("t").latest_snapshot() is None


@pytest.mark.parametrize("sql", [
    "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "INSERT INTO t VALUES (1) RETURNING a", "REPLACE INTO t VALUES (1)",
    "INSERT OR REPLACE INTO t VALUES (1)", "INSERT INTO t SET a = 1", "INSERT INTO t REPLACE WHERE a = 1 SELECT 1",
    "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1",
])
def test_sql_139_refused_forms(db, sql):  # noqa: F811
    db.sql("CREATE TABLE t (a INT)")
    unsupported(db, sql)
    assert db.rows("SELECT * FROM t") == []


def test_sql_140_overwrite(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT)")
    db.sql("INSERT INTO t VALUES (1)")
    db.sql("INSERT OVERWRITE t VALUES (2)")
    assert db.rows("SELECT * FROM t") == [(2,)]
    db.sql("INSERT OVERWRITE TABLE t SELECT a FROM t WHERE false")
    assert db.rows("SELECT * FROM t") == []


@pytest.fixture
def parts(db):  # noqa: F811
    db.sql("CREATE TABLE t (a INT, p STRING, q INT) PARTITIONED BY (p, q)")
    db.sql("INSERT INTO t VALUES (1, 'x', 1), (2, 'x', 2), (3, 'y', 1)")
    return db


def test_sql_141_dynamic_overwrite(parts):
    parts.sql("INSERT OVERWRITE t VALUES (9, 'x', 1)")
    assert parts.rows("SELECT a FROM t") == [(2,), (3,), (9,)]
    parts.sql("INSERT OVERWRITE t SELECT * FROM t WHERE false")
    assert parts.rows("SELECT a FROM t") == [(2,), (3,), (9,)]
    parts.sql("INSERT OVERWRITE t /*+ OPTIONS('dynamic-partition-overwrite' = 'false') */ VALUES (7, 'z', 1)")
    assert parts.rows("SELECT a FROM t") == [(7,)]


def test_sql_142_static_overwrite(parts):
    parts.sql("INSERT OVERWRITE t PARTITION (p = 'x') SELECT 9, 3")
    assert parts.rows("SELECT a, p, q FROM t") == [(3, "y", 1), (9, "x", 3)]
    parts.sql("INSERT OVERWRITE t PARTITION (p = 'x') SELECT a, q FROM t WHERE false")
    assert parts.rows("SELECT a FROM t") == [(3,)]


def test_sql_143_values_of_partitions(parts):
    parts.sql("INSERT OVERWRITE t PARTITION (p = upper('y'), q = '4') VALUES (5)")
    parts.sql("INSERT INTO t PARTITION (p = NULL, q = 1) VALUES (6)")
    assert parts.rows("SELECT a, p, q FROM t WHERE a > 4") == [(5, "Y", 4), (6, None, 1)]
    fails(parts, "INSERT INTO t PARTITION (q = 'x') SELECT 1, 'a'", ValueError, "q")


def test_sql_144_overwrite_from_itself(parts):
    parts.sql("INSERT OVERWRITE t SELECT a * 10, p, q FROM t")
    assert parts.rows("SELECT a FROM t") == [(10,), (20,), (30,)]


def test_sql_155_truncate(parts):
    assert parts.rows("TRUNCATE TABLE t PARTITION (p = 'x')") == OK
    assert parts.rows("SELECT a FROM t") == [(3,)]
    unsupported(parts, "TRUNCATE TABLE t, u", "list")
    parts.sql("TRUNCATE TABLE IF EXISTS nope")
    parts.sql("TRUNCATE TABLE t")
    assert parts.rows("SELECT a FROM t") == []


def test_sql_180_copy(parts, tmp_path):
    parts.sql(f"COPY (SELECT a FROM t) TO '{tmp_path}/x.parquet' STORED AS PARQUET")
    import pyarrow.parquet as pq

    assert sorted(pq.read_table(f"{tmp_path}/x.parquet")["a"].to_pylist()) == [1, 2, 3]
