"""Java and we write, compact and read the same tables, taking turns.

After each turn both see the same rows, and Java finds nothing wrong with the metadata.
"""

import pathlib
import subprocess
import sys
import time

import pytest
from conftest import ours, rows_of
from pypaimon_rust.datafusion import PaimonCatalog, Split

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
    """Both see the same rows, and what the metadata says of the files is true."""
    rows = ours(ctx, f"SELECT * FROM paimon.{table}")
    assert rows == java.read(warehouse, table)
    assert java.check(warehouse, table) == []
    return rows


@pytest.mark.parametrize("mode", ["truncate(16)", "full", "counts", "none"])
@pytest.mark.parametrize("keyed", [False, True])
def test_all_types(java, ctx, warehouse, keyed, mode):
    options = ", PRIMARY KEY (id)) WITH ('bucket' = '2'" if keyed else ") WITH ('bucket' = '-1'"
    ctx.sql(f"CREATE TABLE paimon.db.t ({ALL_TYPES}{options}, 'metadata.stats-mode' = '{mode}')")
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


KEYS = {
    "TINYINT": ["-8", "7"],
    "SMALLINT": ["-16", "3"],
    "BIGINT": ["-64", "100"],
    "BOOLEAN": ["true", "false"],
    "FLOAT": ["1.5", "-0.25"],
    "DOUBLE": ["-2.25", "1234.5"],
    "DECIMAL(10, 2)": ["123.45", "-1.50"],
    "DECIMAL(38, 10)": ["12345678901234567890.0123456789", "-0.0000000001"],
    "CHAR(3)": ["'abc'", "'b'"],
    "VARCHAR(9)": ["'text'", "'é'"],
    "STRING": ["'a rather long text that statistics cut off é'", "''"],
    "BINARY(2)": ["X'0102'", "X'ff00'"],
    "BYTES": ["X'00ff'", "X'8000'"],
    "DATE": ["DATE '1969-02-28'", "DATE '2024-02-29'"],
    "TIME(3)": ["'10:11:12.123'", "'00:00:00'"],
    "TIMESTAMP(3)": ["'2023-11-14 22:13:20.123'", "'1969-12-31 23:59:59.999'"],
    "TIMESTAMP(6)": ["'2023-11-14 22:13:20.123456'", "'1969-12-31 23:59:59.999999'"],
    "TIMESTAMP_LTZ(3)": ["'2023-11-14 22:13:20.123'", "'1969-12-31 23:59:59.999'"],
}


@pytest.mark.parametrize("type", KEYS)
def test_every_type_as_key_and_partition(java, ctx, warehouse, type):
    one, other = KEYS[type]
    ctx.sql(f"CREATE TABLE paimon.db.t (k {type} NOT NULL, v INT, PRIMARY KEY (k)) WITH ('bucket' = '2')")
    ctx.sql("CREATE TABLE paimon.db.p (k %s, v INT) PARTITIONED BY (k) WITH ('partition.legacy-name' = 'false')" % type)
    for i in range(5):
        ctx.sql(f"INSERT INTO paimon.db.t VALUES ({one}, {i}), ({other}, {-i})")
        ctx.sql(f"INSERT INTO paimon.db.p VALUES ({one}, {i}), ({other}, {-i}), (NULL, 0)")
    assert len(same(java, ctx, warehouse)) == 2
    assert len(same(java, ctx, warehouse, "db.p")) == 15
    for table in ["db.t", "db.p"]:
        ctx.sql(f"CALL sys.compact(table => '{table}')")
    assert len(same(java, ctx, warehouse)) == 2
    assert len(same(java, ctx, warehouse, "db.p")) == 15
    java.compact(warehouse, "db.p")
    assert len(same(java, ctx, warehouse, "db.p")) == 15


def test_many_commits(java, ctx, warehouse):
    ctx.sql(
        "CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '1', "
        "'manifest.merge-min-count' = '4', 'snapshot.num-retained.max' = '5', 'snapshot.num-retained.min' = '3')"
    )
    for i in range(30):
        ctx.sql(f"INSERT INTO paimon.db.t VALUES ({i % 7}, 'v{i}')")
        if i % 10 == 9:
            ctx.sql("CALL sys.compact(table => 'db.t')")
            java.write(warehouse, "db.t", [["-D", "1", None], ["+I", "100", f"java{i}"]])
            assert len(same(java, ctx, warehouse)) == 7


def test_files_of_a_level(java, ctx, warehouse):
    ctx.sql(
        "CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) "
        "WITH ('bucket' = '1', 'target-file-size' = '500 kb', 'file.block-size' = '100 kb')"
    )
    text = " || ".join(f"md5(CAST(value + {i} AS STRING))" for i in range(4))
    for i in (1, 2):
        ctx.sql(f"INSERT INTO paimon.db.t SELECT value * {i}, {text} FROM generate_series(1, 20000) AS g(value)")
    ctx.sql("CALL sys.compact(table => 'db.t')")
    assert len(same(java, ctx, warehouse)) == 30000
    assert ours(ctx, "SELECT count(*) > 1 FROM paimon.db.\"t$files\"") == [("true",)]
    java.write(warehouse, "db.t", [["+I", "50000", "java"], ["-D", "6000", None]])
    java.compact(warehouse, "db.t")
    assert len(same(java, ctx, warehouse)) == 30000


def test_overwrites(java, ctx, warehouse):
    ctx.sql(
        "CREATE TABLE paimon.db.t (id INT NOT NULL, p INT NOT NULL, v STRING, PRIMARY KEY (id, p)) PARTITIONED BY (p) "
        "WITH ('bucket' = '2')"
    )
    for i in range(4):
        ctx.sql(f"INSERT INTO paimon.db.t VALUES ({i}, 1, 'a'), ({i}, 2, 'b')")
    ctx.sql("INSERT OVERWRITE paimon.db.t VALUES (9, 1, 'z'), (8, 1, 'y')")
    assert len(same(java, ctx, warehouse)) == 6
    ctx.sql("CALL sys.compact(table => 'db.t')")
    ctx.sql("INSERT OVERWRITE paimon.db.t PARTITION (p = 2) SELECT 5, 'q'")
    assert len(same(java, ctx, warehouse)) == 3
    ctx.sql("TRUNCATE TABLE paimon.db.t")
    assert same(java, ctx, warehouse) == []
    java.write(warehouse, "db.t", [["+I", "1", "1", "java"]])
    assert same(java, ctx, warehouse) == [("1", "1", "java")]


def test_replaced_tables(java, ctx, warehouse):
    ctx.sql("CREATE TABLE paimon.db.t (id INT, v STRING, dt STRING) PARTITIONED BY (dt)")
    java.write(warehouse, "db.t", [["+I", "1", "java", "a"], ["+I", "2", "java", "b"]])
    ctx.sql("INSERT INTO paimon.db.t VALUES (3, 'ours', 'a')")
    # Another key, other types, and rows of the old table.
    ctx.sql(
        "CREATE OR REPLACE TABLE paimon.db.t (k STRING, dt STRING, n BIGINT, PRIMARY KEY (k, dt)) PARTITIONED BY (dt) "
        "WITH ('bucket' = '2') AS SELECT v, dt, count(*) FROM paimon.db.t GROUP BY v, dt"
    )
    assert same(java, ctx, warehouse) == sorted([("java", "a", "1"), ("java", "b", "1"), ("ours", "a", "1")])
    java.write(warehouse, "db.t", [["+U", "ours", "a", "7"], ["-D", "java", "b", None]])
    rows = same(java, ctx, warehouse)
    assert rows == sorted([("java", "a", "1"), ("ours", "a", "7")])
    java.compact(warehouse, "db.t")
    assert same(java, ctx, warehouse) == rows
    # Back to a table without key, empty.
    ctx.sql("REPLACE TABLE paimon.db.t (dt STRING, x DOUBLE) PARTITIONED BY (dt)")
    assert same(java, ctx, warehouse) == []
    java.write(warehouse, "db.t", [["+I", "a", "0.5"]])
    assert same(java, ctx, warehouse) == [("a", "0.5")]
    assert len(ours(ctx, "SELECT * FROM paimon.db.t VERSION AS OF 2")) == 3


def test_the_check_sees_what_is_wrong(java, ctx, warehouse):
    ctx.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    ctx.sql("INSERT INTO paimon.db.t VALUES (1, 'a')")
    ctx.sql("INSERT INTO paimon.db.t VALUES (2, 'b')")
    assert java.check(warehouse, "db.t") == []
    one, other = sorted(pathlib.Path(warehouse).rglob("data-*.parquet"))
    one.write_bytes(other.read_bytes())
    faults = java.check(warehouse, "db.t")
    assert len(faults) == 2 and all("column" in fault and one.name in fault for fault in faults), faults
    one.unlink()
    assert java.check(warehouse, "db.t") == [f"{one.name} does not exist"]


WRITER = """
import sys
import pyarrow as pa
from pypaimon_rust.datafusion import PaimonCatalog
table = PaimonCatalog({'warehouse': sys.argv[1]}).get_table('db.t')
schema = pa.schema([pa.field('id', pa.int32(), False), pa.field('v', pa.string())])
for number in range(int(sys.argv[2])):
    builder = table.new_batch_write_builder()
    write = builder.new_write()
    write.write_arrow(pa.record_batch([pa.array(range(50), pa.int32()), pa.array([str(number)] * 50)], schema=schema))
    messages = write.prepare_commit()
    if number == 0:
        print('written', flush=True)
    if sys.argv[3] == 'commit':
        builder.new_commit().commit(messages)
        if number % 3 == 2:
            table.new_compact_builder().execute()
"""


def files(warehouse):
    return sorted(str(path) for path in pathlib.Path(warehouse).rglob("*") if path.is_file())


def test_java_removes_what_is_left_behind(java, ctx, warehouse):
    ctx.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '2')")
    ctx.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (100, 'b')")
    before = files(warehouse)
    # A process that ends without committing what it has written.
    subprocess.run([sys.executable, "-c", WRITER, warehouse, "3", "nothing"], check=True, timeout=60)
    left = len(files(warehouse)) - len(before)
    assert left > 0
    assert java.clean(warehouse, "db.t") == left and files(warehouse) == before
    # Processes that are killed while they write, commit and compact.
    for delay in (0.02, 0.05, 0.11, 0.23):
        command = [sys.executable, "-c", WRITER, warehouse, "1000", "commit"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "written\n"
        time.sleep(delay)
        process.kill()
        process.wait(30)
        rows = same(java, ctx, warehouse)
        java.clean(warehouse, "db.t")
        assert same(java, ctx, warehouse) == rows and ("100", "b") in rows
        assert not [path for path in files(warehouse) if path.endswith(".tmp")]


@pytest.mark.parametrize("keyed", [False, True])
def test_splits_travel_in_both_directions(java, ctx, warehouse, keyed):
    key = ", PRIMARY KEY (id, dt)) PARTITIONED BY (dt) WITH ('bucket' = '2', " if keyed else ") PARTITIONED BY (dt) WITH ("
    ctx.sql(f"CREATE TABLE paimon.db.t (id INT NOT NULL, dt STRING NOT NULL, v STRING{key}'source.split.target-size' = '1 kb')")
    for value in ("a", "b"):
        ctx.sql(f"INSERT INTO paimon.db.t SELECT value, 'd' || (value % 3), '{value}' FROM generate_series(1, 20) AS g(value)")
    java.write(warehouse, "db.t", [["+I", "1", "d1", "java"], ["+I", "99", "d9", None]])
    builder = PaimonCatalog({"warehouse": warehouse}).get_table("db.t").new_read_builder()
    expected = same(java, ctx, warehouse)

    serialised = java.splits(warehouse, "db.t")
    splits = [Split.deserialize(split) for split in serialised]
    assert [split.serialize(frame=False) for split in splits] == serialised
    assert rows_of(builder.new_read().read(splits)) == expected

    splits = builder.new_scan().plan().splits()
    assert len(splits) > 1
    assert java.read_splits(warehouse, "db.t", [split.serialize(frame=False) for split in splits]) == expected

    # Events keep every version of a key.
    serialised = java.splits(warehouse, "db.t", {"incremental-between": "0,3"})
    splits = [Split.deserialize(split) for split in serialised]
    assert [split.serialize(frame=False) for split in splits] == serialised
    assert len(rows_of(builder.new_read().read(splits))) == 42
    splits = builder.new_incremental_scan(0, 3).plan().splits()
    assert len(java.read_splits(warehouse, "db.t", [split.serialize(frame=False) for split in splits])) == 42
