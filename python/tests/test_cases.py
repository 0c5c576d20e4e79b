"""Python API cases distilled from public reports.  Each test names its source."""
import datetime
import json
import os
import subprocess
import sys
import threading

import pyarrow as pa
import pytest

from conftest import MODULE, batch, to_rows, write

I32, S = pa.int32(), pa.string()


def test_api_01_one_selector_only(env):
    # documented rule of the Python binding (apache/paimon-rust#538)
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    with pytest.raises(ValueError):
        rb = env.table("t").new_read_builder({"scan.snapshot-id": "1", "scan.tag-name": "x"})
        rb.new_scan().plan()


def test_api_02_limit_zero_keeps_snapshot(env):
    # apache/paimon-rust#538: a zero limit reads nothing, and the plan still names its snapshot
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1), (2)")
    rb = env.table("t").new_read_builder()
    rb.with_limit(0)
    plan = rb.new_scan().plan()
    assert plan.snapshot_id() == 1
    assert to_rows(rb.new_read().read(plan.splits())) == []


def test_api_03_empty_table_plan(env):
    # StarRocks/starrocks#74428
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    t = env.table("t")
    plan = t.new_read_builder().new_scan().plan()
    assert plan.snapshot_id() is None and list(plan.splits()) == []
    assert t.latest_snapshot() is None and t.list_snapshots() == [] and t.list_tags() == []


@pytest.mark.parametrize("bad", [
    batch(id=(pa.int64(), [1]), name=(S, ["a"])),
    batch(name=(S, ["a"]), id=(I32, [1])),
    batch(id=(I32, [1])),
    batch(id=(I32, [1]), title=(S, ["a"])),
])
def test_api_04_schema_is_checked(env, bad):
    # apache/paimon#6182 (rows lost by a Python writer): type, order, count and name are all checked
    env.sql("CREATE TABLE paimon.db.t (id INT, name STRING)")
    t = env.table("t")
    with pytest.raises(ValueError):
        write(t, bad)
    assert env.rows("SELECT * FROM paimon.db.t") == []


def test_api_05_foreign_messages(env):
    # apache/paimon-rust#422: messages belong to the builder that made the writer
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    t = env.table("t")
    a, b = t.new_batch_write_builder(), t.new_batch_write_builder()
    w = a.new_write()
    w.write_arrow(batch(id=(I32, [1])))
    with pytest.raises(ValueError):
        b.new_commit().commit(w.prepare_commit())
    assert env.rows("SELECT * FROM paimon.db.t") == []


@pytest.mark.parametrize("pred", [
    {"method": "equal", "field": "nope", "literals": [1]},
    {"method": "and", "children": []},
    {"method": "equal", "field": "id", "literals": [1, 2]},
    {"method": "equal", "field": "id", "literals": ["x"]},
    {"method": "noSuchMethod", "field": "id", "literals": [1]},
])
def test_api_06_bad_predicates(env, pred):
    # apache/paimon-rust#419: a predicate that cannot be translated must fail as a whole
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    with pytest.raises((ValueError, NotImplementedError)):
        env.table("t").new_read_builder().with_filter(pred)


def test_api_07_filter_after_merge(env):
    # apache/paimon#3995 through the dictionary predicates
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket'='1')")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'old'), (2, 'two')")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'new')")
    t = env.table("t")
    assert env.read(t, filter={"method": "equal", "field": "v", "literals": ["old"]}) == []
    assert env.read(t, filter={"method": "notIn", "field": "v", "literals": ["two"]}) == [(1, "new")]
    assert env.read(t, filter={"method": "startsWith", "field": "v", "literals": ["n"]}) == [(1, "new")]


def test_api_08_nulls_and_negation(env):
    # apache/paimon-rust#488: NULL never satisfies notEqual or notIn
    env.sql("CREATE TABLE paimon.db.t (id INT, v INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 1), (2, NULL), (3, 3)")
    t = env.table("t")
    assert env.read(t, filter={"method": "notEqual", "field": "v", "literals": [1]}) == [(3, 3)]
    assert env.read(t, filter={"method": "notIn", "field": "v", "literals": [1, 5]}) == [(3, 3)]
    assert env.read(t, filter={"method": "isNull", "field": "v"}) == [(2, None)]


def test_api_09_projection_order(env):
    # apache/paimon-rust#363: the asked order is the returned order; unknown names are errors
    env.sql("CREATE TABLE paimon.db.t (a INT, b STRING, c INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'x', 3)")
    t = env.table("t")
    assert env.read(t, projection=["c", "a"]) == [(3, 1)]
    with pytest.raises(Exception):
        env.read(t, projection=["a", "zz"])


@pytest.mark.parametrize("content", ["", "not a number", "1"])
def test_api_10_stale_hint(env, content):
    # ClickHouse/ClickHouse#112010: a torn or stale LATEST hint must fall back to listing the folder
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    for i in (1, 2, 3):
        env.sql("INSERT INTO paimon.db.t VALUES (%d)" % i)
    with open(env.path("t", "snapshot", "LATEST"), "w") as f:
        f.write(content)
    assert to_rows(env.fresh().sql("SELECT id FROM paimon.db.t")) == [(1,), (2,), (3,)]
    env.fresh().sql("INSERT INTO paimon.db.t VALUES (4)")
    assert to_rows(env.fresh().sql("SELECT count(*) FROM paimon.db.t")) == [(4,)]


def test_api_24_hint_beyond_the_end(env):
    # ClickHouse/ClickHouse#112010: a hint above the last snapshot falls back too (Java itself trusts such a hint)
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    with open(env.path("t", "snapshot", "LATEST"), "w") as f:
        f.write("999")
    assert to_rows(env.fresh().sql("SELECT id FROM paimon.db.t")) == [(1,)]


def test_api_11_tag_outlives_snapshot(env):
    # StarRocks/starrocks#74777, apache/doris#60166: the tag is readable after its snapshot file is gone
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    env.sql("CALL sys.create_tag(table => 'db.t', tag => 'keep', snapshot_id => 1)")
    env.sql("INSERT INTO paimon.db.t VALUES (2)")
    os.remove(env.path("t", "snapshot", "snapshot-1"))
    with open(env.path("t", "snapshot", "EARLIEST"), "w") as f:
        f.write("2")
    assert to_rows(env.fresh().sql("SELECT id FROM paimon.db.t VERSION AS OF 'keep'")) == [(1,)]
    assert env.read(env.table("t"), options={"scan.tag-name": "keep"}) == [(1,)]
    with pytest.raises(Exception):
        env.fresh().sql("SELECT id FROM paimon.db.t VERSION AS OF 1")


def test_api_12_date_partition_folder(env):
    # apache/paimon#10034: by default Java names the folder after the day number
    env.sql("CREATE TABLE paimon.db.t (id INT, day DATE) PARTITIONED BY (day)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, '1970-01-02')")
    assert "day=1" in os.listdir(env.path("t"))
    assert env.rows("SELECT id, day FROM paimon.db.t") == [(1, datetime.date(1970, 1, 2))]


def test_api_13_date_partition_folder_new_style(env):
    # apache/doris#61076, apache/paimon#4349: partition.legacy-name=false spells the date
    env.sql("CREATE TABLE paimon.db.t (id INT, day DATE) PARTITIONED BY (day) WITH ('partition.legacy-name'='false')")
    env.sql("INSERT INTO paimon.db.t VALUES (1, '2026-03-01')")
    assert "day=2026-03-01" in os.listdir(env.path("t"))
    assert env.rows("SELECT id FROM paimon.db.t WHERE day = DATE '2026-03-01'") == [(1,)]


def test_api_14_timestamp_partition_folder(env):
    # ClickHouse/ClickHouse#115116, apache/paimon#9115: ISO spelling with T, no padding of the fraction
    env.sql("CREATE TABLE paimon.db.t (id INT, t TIMESTAMP(3)) PARTITIONED BY (t)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, '2026-01-01 12:00:00.123'), (2, '2026-01-01 12:00:00')")
    names = [n for n in os.listdir(env.path("t")) if n.startswith("t=")]
    assert sorted(n.replace("%3A", ":") for n in names) == ["t=2026-01-01T12:00", "t=2026-01-01T12:00:00.123"]
    assert env.rows("SELECT id FROM paimon.db.t WHERE t = TIMESTAMP '2026-01-01 12:00:00'") == [(2,)]


def test_api_15_two_writers(env):
    # apache/paimon#5762: of two commits that raced for one snapshot number, one was lost
    env.sql("CREATE TABLE paimon.db.t (w INT, i INT)")
    errors = []

    def work(w):
        try:
            t = env.table("t")
            for i in range(12):
                write(t, batch(w=(I32, [w]), i=(I32, [i])))
        except BaseException as e:  # noqa: BLE001
            errors.append(repr(e))

    ts = [threading.Thread(target=work, args=(w,)) for w in range(6)]
    [x.start() for x in ts]
    [x.join() for x in ts]
    assert errors == []
    assert env.rows("SELECT count(*), count(DISTINCT w * 100 + i) FROM paimon.db.t") == [(72, 72)]
    assert env.table("t").latest_snapshot().id() == 72


def in_child(env, body):
    """Run a snippet in its own process, because a broken ABI kills the interpreter."""
    pytest.importorskip("datafusion")
    code = (
        "import importlib, json, sys\n"
        "import datafusion\n"
        "m = importlib.import_module(%r)\n"
        "ctx = datafusion.SessionContext()\n"
        "ctx.register_catalog_provider('paimon', m.PaimonCatalog({'warehouse': %r}))\n"
        "def q(s):\n"
        "    return sorted([list(r) for b in ctx.sql(s).collect() for r in zip(*[c.to_pylist() for c in b.columns])], key=str)\n"
        % (MODULE, env.warehouse)
    ) + body
    p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, "exit %d: %s" % (p.returncode, p.stderr[-400:])
    return json.loads(p.stdout.strip().splitlines()[-1])


def test_api_17_stock_datafusion(env):
    # apache/paimon-rust#204, delta-io/delta-rs#4135, apache/datafusion-python#1077: the stock context reads our catalog
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket'='2')")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b'), (3, NULL)")
    env.sql("INSERT INTO paimon.db.t VALUES (2, 'bb')")
    got = in_child(env, "print(json.dumps([q('SELECT id, v FROM paimon.db.t'), "
                        "q(\"SELECT count(*) FROM paimon.db.t WHERE v = 'b'\"), "
                        "q(\"SELECT a.id FROM paimon.db.t a JOIN paimon.db.t b ON a.id = b.id WHERE b.v LIKE 'b%'\"), "
                        "q('SELECT count(*) FROM (SELECT 1 FROM paimon.db.t LIMIT 2) x')]))")
    assert got == [[[1, "a"], [2, "bb"], [3, None]], [[0]], [[2]], [[2]]]


def test_api_18_stock_datafusion_insert(env):
    # apache/paimon-rust#204: writing through the stock context
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    in_child(env, "q(\"INSERT INTO paimon.db.t VALUES (1, 'a'), (2, 'b')\"); print('null')")
    assert to_rows(env.fresh().sql("SELECT id, v FROM paimon.db.t")) == [(1, "a"), (2, "b")]


def test_api_20_memory_arguments(env):
    # documented rule (apache/paimon-rust#538): a pool type needs a size
    with pytest.raises(ValueError):
        env.mod.SQLContext(memory_pool_type="fair")
    with pytest.raises(ValueError):
        env.mod.SQLContext(memory_pool_type="other", memory_pool_bytes=1 << 20)


def test_api_22_show_create_round_trip(env):
    # apache/paimon-rust#444 (review): the printed statement recreates the same table
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, c CHAR(4), v VARCHAR(9), d DECIMAL(12,3), t TIMESTAMP(3), "
            "a ARRAY<INT>, dt STRING NOT NULL, PRIMARY KEY (dt, id)) PARTITIONED BY (dt) WITH ('bucket'='2')")
    ddl = [r for r in to_rows(env.sql("SHOW CREATE TABLE paimon.db.t"))][0][3]
    before = env.table("t").schema()
    env.sql("DROP TABLE paimon.db.t")
    env.ctx.set_current_catalog("paimon")
    env.sql(ddl)
    after = env.table("t").schema()
    fields = lambda s: [(f.name(), f.field_type(), f.is_nullable()) for f in s.fields()]  # noqa: E731
    assert fields(before) == fields(after)
    assert before.primary_keys() == after.primary_keys() and before.partition_keys() == after.partition_keys()
    assert before.options() == after.options()


def test_api_23_compact_builder(env):
    # apache/paimon-rust#286: compaction from Python reports what it did and is idempotent
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v INT, PRIMARY KEY (id)) WITH ('bucket'='1')")
    for v in range(4):
        env.sql("INSERT INTO paimon.db.t VALUES (1, %d), (%d, 0)" % (v, v + 10))
    m = env.table("t").new_compact_builder().execute()
    assert m["tasks"] == 1 and m["files_removed"] == 4 and m["files_added"] == 1 and m["rows_written"] == 5
    latest = env.table("t").latest_snapshot()
    assert latest.commit_kind() == "COMPACT" and latest.total_record_count() == 5
    assert env.table("t").new_compact_builder().execute()["tasks"] == 0
    assert env.table("t").latest_snapshot().id() == latest.id()
    assert env.rows("SELECT v FROM paimon.db.t WHERE id = 1") == [(3,)]
