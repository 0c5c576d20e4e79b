"""Java and we write, compact and read the same tables, taking turns; after each turn both see the same rows."""

import pytest
from conftest import ours

ALL_TYPES = (
    "id INT NOT NULL, b BOOLEAN, i8 TINYINT, i16 SMALLINT, i64 BIGINT, f FLOAT, d DOUBLE, dec DECIMAL(10, 2), "
    "wide DECIMAL(38, 10), c CHAR(3), vc VARCHAR(9), s STRING, bin BINARY(2), bytes BYTES, dt DATE, t TIME(3), ts0 TIMESTAMP(0), "
    "ts3 TIMESTAMP(3), ts6 TIMESTAMP(6), ltz TIMESTAMP_LTZ(3), arr ARRAY<INT>, m MAP(STRING, INT), r STRUCT<x INT, y STRING>"
)
ROW = (
    "({id}, true, -8, -16, -64, 1.5, -2.25, 123.45, 12345678901234567890.0123456789, 'abc', 'text', 'grüße', X'0102', X'00ff', "
    "DATE '2024-02-29', '10:11:12.123', '2023-11-14 22:13:20', '2023-11-14 22:13:20.123', '1969-12-31 23:59:59.999999', "
    "'2023-11-14 22:13:20.123', [1, NULL, 3], MAP {{'k': 1}}, named_struct('x', 7, 'y', 'z'))"
)
NULLS = "({id}" + ", NULL" * 22 + ")"


def same(java, ctx, warehouse, table="db.t"):
    rows = ours(ctx, f"SELECT * FROM paimon.{table}")
    assert rows == java.read(warehouse, table)
    return rows


@pytest.mark.parametrize("keyed", [False, True])
def test_all_types(java, ctx, warehouse, keyed):
    options = ", PRIMARY KEY (id)) WITH ('bucket' = '2')" if keyed else ")"
    ctx.sql(f"CREATE TABLE paimon.db.t ({ALL_TYPES}{options}")
    ctx.sql(f"INSERT INTO paimon.db.t VALUES {ROW.format(id=1)}, {NULLS.format(id=2)}")
    assert len(same(java, ctx, warehouse)) == 2
    for i in range(3, 9):
        ctx.sql(f"INSERT INTO paimon.db.t VALUES {ROW.format(id=i)}")
    ctx.sql("CALL sys.compact(table => 'db.t')")
    assert len(same(java, ctx, warehouse)) == 8
    java.compact(warehouse, "db.t")
    assert len(same(java, ctx, warehouse)) == 8


def test_partitioned_append(java, ctx, warehouse):
    ctx.sql("CREATE TABLE paimon.db.t (id INT, dt STRING, h INT, v STRING) PARTITIONED BY (dt, h)")
    ctx.sql("INSERT INTO paimon.db.t VALUES (1, 'a', 1, 'x'), (2, 'b=/', 2, 'y'), (3, NULL, NULL, 'z'), (4, ' ', 0, NULL)")
    assert len(same(java, ctx, warehouse)) == 4
    java.write(warehouse, "db.t", [["+I", "5", "a", "1", "java"], ["+I", "6", None, None, None]])
    assert len(same(java, ctx, warehouse)) == 6
    ctx.sql("INSERT OVERWRITE paimon.db.t VALUES (7, 'a', 1, 'only')")
    rows = same(java, ctx, warehouse)
    assert ("7", "a", "1", "only") in rows and len(rows) == 5


def test_primary_key_taking_turns(java, ctx, warehouse):
    ctx.sql(
        "CREATE TABLE paimon.db.t (id BIGINT NOT NULL, p STRING NOT NULL, v STRING, PRIMARY KEY (id, p)) "
        "PARTITIONED BY (p) WITH ('bucket' = '3')"
    )
    ctx.sql("INSERT INTO paimon.db.t SELECT value, 'p' || (value % 2), 'ours' FROM generate_series(1, 300) AS g(value)")
    assert len(same(java, ctx, warehouse)) == 300
    java.write(warehouse, "db.t", [["+U", "7", "p1", "java"], ["-D", "8", "p0", None], ["+I", "1000", "p0", "new"]])
    rows = same(java, ctx, warehouse)
    assert len(rows) == 300 and ("7", "p1", "java") in rows and ("1000", "p0", "new") in rows
    ctx.sql("CALL sys.compact(table => 'db.t')")
    assert same(java, ctx, warehouse) == rows
    java.write(warehouse, "db.t", [["+I", str(i), f"p{i % 2}", "late"] for i in range(290, 320)])
    ctx.sql("INSERT INTO paimon.db.t VALUES (290, 'p0', 'latest')")
    rows = same(java, ctx, warehouse)
    assert ("290", "p0", "latest") in rows and ("291", "p1", "late") in rows and len(rows) == 319
    java.compact(warehouse, "db.t")
    assert same(java, ctx, warehouse) == rows
    ctx.sql("INSERT INTO paimon.db.t VALUES (1, 'p1', 'again')")
    ctx.sql("CALL sys.compact(table => 'db.t')")
    assert ("1", "p1", "again") in same(java, ctx, warehouse)


def test_sequence_field(java, ctx, warehouse):
    ctx.sql(
        "CREATE TABLE paimon.db.t (id INT NOT NULL, ts INT, v STRING, PRIMARY KEY (id)) "
        "WITH ('bucket' = '1', 'sequence.field' = 'ts')"
    )
    ctx.sql("INSERT INTO paimon.db.t VALUES (1, 5, 'five'), (2, NULL, 'none')")
    java.write(warehouse, "db.t", [["+I", "1", "3", "three"], ["+I", "2", "1", "one"]])
    ctx.sql("INSERT INTO paimon.db.t VALUES (1, 4, 'four')")
    expected = [("1", "5", "five"), ("2", "1", "one")]
    assert same(java, ctx, warehouse) == expected
    ctx.sql("CALL sys.compact(table => 'db.t')")
    assert same(java, ctx, warehouse) == expected


def test_fixed_bucket_append(java, ctx, warehouse):
    ctx.sql("CREATE TABLE paimon.db.t (id INT, v STRING) WITH ('bucket' = '4', 'bucket-key' = 'id')")
    for i in range(6):
        ctx.sql(f"INSERT INTO paimon.db.t SELECT value, 'c{i}' FROM generate_series({i * 10}, {i * 10 + 9}) AS g(value)")
    assert len(same(java, ctx, warehouse)) == 60
    ctx.sql("CALL sys.compact(table => 'db.t')")
    java.write(warehouse, "db.t", [["+I", "100", "java"]])
    assert len(same(java, ctx, warehouse)) == 61
    java.compact(warehouse, "db.t")
    assert len(same(java, ctx, warehouse)) == 61


def test_tables_of_java(java, ctx, warehouse):
    java.create(warehouse, "db.j", [["k", "INT NOT NULL"], ["v", "DECIMAL(20, 3)"]], ["k"], [], {"bucket": "2"})
    java.write(warehouse, "db.j", [["+I", str(k), f"{k}.125"] for k in range(50)])
    ctx.sql("INSERT INTO paimon.db.j VALUES (1, 9.5), (77, NULL)")
    rows = same(java, ctx, warehouse, "db.j")
    assert len(rows) == 51 and ("1", "9.500") in rows and ("77", None) in rows
    assert java.read(warehouse, "db.j", {"scan.snapshot-id": "1"}) == ours(ctx, "SELECT * FROM paimon.db.j VERSION AS OF 1")
