"""Incremental and continuous reads, selected rows, splits as bytes: one test per requirement of the Python API."""
import copy
import pickle

import pyarrow as pa
import pytest
from conftest import to_rows, write

I32 = pa.int32()


def batch(*rows):
    ids, values = zip(*rows)
    return pa.record_batch([pa.array(ids, I32), pa.array(values)], names=["id", "v"])


@pytest.fixture
def keyed(env):
    """Commits a, b and c to one key."""
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket'='1')")
    for value in ("a", "b", "c"):
        env.sql(f"INSERT INTO paimon.db.t VALUES (1, '{value}')")
    return env.table("t")


@pytest.fixture
def append(env):
    """Four files of two rows."""
    env.sql("CREATE TABLE paimon.db.a (id INT, v STRING)")
    table = env.table("a")
    for first in (0, 2, 4, 6):
        write(table, batch((first, "x"), (first + 1, "y")))
    return table


def in_order(builder, splits):
    return [row for b in builder.new_read().read(splits) for row in zip(*(c.to_pylist() for c in b.columns))]


def test_py_134_splits_tell_what_they_hold(keyed):
    builder = keyed.new_read_builder()
    [split] = builder.new_scan().plan().splits()
    assert (split.row_count(), split.is_streaming(), split.bucket()) == (3, False, 0)
    for other in (pickle.loads(pickle.dumps(split)), copy.copy(split), copy.deepcopy(split)):
        assert other == split and hash(other) == hash(split)
        assert in_order(builder, [other]) == [(1, "c")]


def test_py_135_splits_are_java_s_bytes(env, keyed):
    builder = keyed.new_read_builder()
    [split] = builder.new_incremental_scan(0, 3).plan().splits()
    data = split.serialize()
    assert isinstance(data, bytes) and data[:8] == b"SPLIT_V1"
    again = env.mod.Split.deserialize(data)
    assert again.is_streaming() and again.serialize() == data
    assert in_order(builder, [again]) == [(1, "a"), (1, "b"), (1, "c")]
    assert env.mod.Split.deserialize(bytearray(data)) == split
    for bad in (b"", data[:-1], data + b"\0", b"x" * 40):
        with pytest.raises(ValueError):
            env.mod.Split.deserialize(bad)
    with pytest.raises(TypeError):
        env.mod.Split.deserialize("text")


def test_py_150_151_ranges(env, keyed):
    builder = keyed.new_read_builder()
    plan = builder.new_incremental_scan(3, 3).plan()
    assert (plan.snapshot_id(), plan.splits()) == (3, [])
    plan = builder.new_incremental_scan(1, 3).plan()
    assert plan.snapshot_id() == 3
    assert in_order(builder, plan.splits()) == [(1, "b"), (1, "c")]
    for start, end in ((2, 1), (-1, 2), (0, 4), (9, 9)):
        with pytest.raises(ValueError):
            builder.new_incremental_scan(start, end).plan()
    env.sql("CREATE TABLE paimon.db.empty (id INT)")
    with pytest.raises(ValueError):
        env.table("empty").new_read_builder().new_incremental_scan(0, 1).plan()


def test_py_152_153_modes(env, keyed):
    builder = keyed.new_read_builder()
    for mode in ("delta", "AUTO", "Delta"):
        assert len(in_order(builder, builder.new_incremental_scan(0, 3, mode).plan().splits())) == 3
    assert builder.new_incremental_scan(0, 3, "changelog").plan().splits() == []
    with pytest.raises(ValueError, match="delta, changelog or auto"):
        builder.new_incremental_scan(0, 3, "all")
    with pytest.raises(ValueError, match="compares two snapshots"):
        builder.new_incremental_scan(0, 3, "diff")


def test_py_154_156_events_keep_every_row_in_order(env, keyed):
    env.sql("CALL sys.compact(table => 'db.t')")
    write(keyed, batch((1, "d"), (2, "x")))
    builder = keyed.new_read_builder().with_include_row_kind(True).with_filter(
        {"method": "equal", "field": "id", "literals": [1]}
    ).with_projection(["v"])
    splits = builder.new_incremental_scan(0, 5).plan().splits()
    assert all(split.is_streaming() for split in splits)
    assert in_order(builder, splits) == [("+I", "a"), ("+I", "b"), ("+I", "c"), ("+I", "d")]


def test_py_157_160_streams(env, keyed):
    builder = keyed.new_read_builder()
    scan = builder.new_stream_scan()
    assert scan.checkpoint() is None
    plan = scan.plan()
    assert (plan.snapshot_id(), scan.checkpoint()) == (3, 4)
    assert [split.is_streaming() for split in plan.splits()] == [False]
    assert in_order(builder, plan.splits()) == [(1, "c")]
    assert scan.plan() is None
    env.sql("CALL sys.compact(table => 'db.t')")
    write(keyed, batch((1, "d")))
    plan = scan.plan()
    assert (plan.snapshot_id(), scan.checkpoint()) == (5, 6)
    assert in_order(builder, plan.splits()) == [(1, "d")] and plan.splits()[0].is_streaming()
    scan.restore(2)
    assert [scan.plan().snapshot_id() for _ in range(3)] == [2, 3, 5]
    scan.restore(None)
    assert scan.plan().snapshot_id() == 5
    for bad in (0, -1):
        with pytest.raises(ValueError):
            scan.restore(bad)
    assert keyed.new_stream_scan().plan().snapshot_id() == 5


def test_py_161_consumers(env, keyed):
    options = {"consumer-id": "me", "scan.mode": "from-snapshot", "scan.snapshot-id": "1"}
    scan = keyed.new_read_builder(options).new_stream_scan()
    assert scan.plan().snapshot_id() == 1
    again = keyed.new_read_builder(options).new_stream_scan()
    assert (again.plan().snapshot_id(), again.checkpoint()) == (1, 2)
    scan.notify_checkpoint_complete(None)
    scan.notify_checkpoint_complete(scan.checkpoint())
    again = keyed.new_read_builder(options).new_stream_scan()
    assert again.plan().snapshot_id() == 2
    named = keyed.new_stream_scan().with_consumer_id("me")
    assert (named.plan().snapshot_id(), named.checkpoint()) == (2, 3)
    anew = keyed.new_read_builder({**options, "consumer.ignore-progress": "true"}).new_stream_scan()
    assert anew.plan().snapshot_id() == 1
    for bad in ("", " ", ".", "..", "a/b", "a\\b"):
        with pytest.raises(ValueError):
            keyed.new_stream_scan().with_consumer_id(bad)


def test_py_162_the_range_is_looked_at_every_16th_poll(keyed):
    scan = keyed.new_stream_scan()
    scan.restore(9)
    assert [scan.plan() for _ in range(15)] == [None] * 15
    with pytest.raises(ValueError, match="too big"):
        scan.plan()
    assert scan.checkpoint() == 9 and scan.plan() is None


def test_py_163_streams_may_start_in_the_future(keyed):
    options = {"scan.mode": "from-snapshot", "scan.snapshot-id": "4"}
    builder = keyed.new_read_builder(options)
    for make in (builder.new_scan, lambda: builder.new_incremental_scan(1, 2)):
        with pytest.raises(ValueError, match="scan.snapshot-id"):
            make()
    scan, read = builder.new_stream_scan(), builder.new_read()
    assert scan.plan() is None and scan.plan() is None
    write(keyed, batch((2, "new")))
    assert to_rows(read.read(scan.plan().splits())) == [(2, "new")]
    for refused in ({"scan.tag-name": "x"}, {"scan.watermark": "1"}, {"scan.mode": "latest-delta"}, {"incremental-between": "1,2"}):
        with pytest.raises(ValueError):
            keyed.new_read_builder(refused).new_stream_scan()


def test_py_170_171_174_positions(append):
    builder = append.new_read_builder()

    def select(scan):
        splits = scan.plan().splits()
        ids = [row[0] for row in in_order(builder, splits)]
        assert len(ids) == sum(split.row_count() for split in splits)
        return ids

    assert select(builder.new_scan().with_row_position_slice(1, 5)) == [1, 2, 3, 4]
    assert select(builder.new_scan().with_row_position_slice(6, 100)) == [6, 7]
    assert select(builder.new_scan().with_row_position_slice(8, 100)) == []
    shards = [select(builder.new_scan().with_row_position_shard(i, 3)) for i in range(3)]
    assert shards == [[0, 1, 2], [3, 4, 5], [6, 7]]
    for start, end in ((-1, 2), (2, 2), (3, 1)):
        with pytest.raises(ValueError):
            builder.new_scan().with_row_position_slice(start, end)
    for index, count in ((0, 0), (3, 3), (-1, 3)):
        with pytest.raises(ValueError):
            builder.new_scan().with_row_position_shard(index, count)
    # Positions count what statistics leave; the filter itself does not move them.
    builder.with_filter({"method": "greaterOrEqual", "field": "id", "literals": [3]})
    assert [row[0] for row in in_order(builder, builder.new_scan().with_row_position_slice(0, 3).plan().splits())] == [3, 4]


def test_py_172_173_175_positions_and_other_settings(env, append, keyed):
    builder = append.new_read_builder()
    scan = builder.new_scan().with_row_position_slice(0, 1)
    assert scan.with_row_position_slice(2, 3).plan().splits()[0].files() != []
    with pytest.raises(ValueError):
        scan.with_row_position_shard(0, 2)
    changes = builder.new_incremental_scan(1, 3).with_row_position_slice(1, 3).plan().splits()
    assert [row[0] for row in in_order(builder, changes)] == [3, 4]
    [split] = builder.new_scan().with_row_position_slice(3, 4).plan().splits()
    again = env.mod.Split.deserialize(split.serialize())
    assert (again.row_count(), len(again.files())) == (1, 1)
    assert in_order(builder, [again]) == [(3, "y")]
    with pytest.raises(NotImplementedError):
        keyed.new_read_builder().new_scan().with_row_position_slice(0, 1)


def test_py_190_195_stored_selectors_apply(env):
    env.sql("CREATE TABLE paimon.db.s (id INT) WITH ('scan.mode' = 'compacted-full')")
    table = env.table("s")
    env.sql("INSERT INTO paimon.db.s VALUES (1)")
    assert env.read(table) == [(1,)]
    env.sql("CREATE TABLE paimon.db.p (id INT) WITH ('scan.snapshot-id' = '1')")
    pinned = env.table("p")
    env.sql("CREATE TABLE paimon.db.q (id INT)")
    with pytest.raises(ValueError):
        env.read(pinned)
    with pytest.raises(ValueError, match=r"scan\.snapshot-id"):
        pinned.new_batch_write_builder()
    env.sql("INSERT INTO paimon.db.p VALUES (1)")
    env.sql("INSERT INTO paimon.db.p VALUES (2)")
    assert env.read(pinned) == [(1,)]
    assert env.rows("SELECT id FROM paimon.db.p") == [(1,)]


def test_incremental_functions_of_sql(env, keyed):
    assert env.rows("SELECT v FROM paimon_incremental_query('paimon.db.t', 1, 3)") == [("b",), ("c",)]
    assert env.rows("SELECT v FROM paimon_scan('paimon.db.t', 'incremental-between', '0,2')") == [("a",), ("b",)]
    diff = "'incremental-between', '1,3', 'incremental-between-scan-mode', 'diff'"
    assert env.rows(f"SELECT v FROM paimon_scan('paimon.db.t', {diff})") == [("c",)]
    assert env.rows("SELECT count(*) FROM paimon_incremental_query('paimon.db.t', 0, 3) WHERE v <> 'b'") == [(2,)]
    with pytest.raises(ValueError):
        env.rows("SELECT v FROM paimon_incremental_query('paimon.db.t', 1, 9)")


def test_py_122_options_of_reads(env, keyed):
    for key in ("scan.snapshot", "scan.nope", "incremental-betwen"):
        with pytest.raises(ValueError, match=key):
            keyed.new_read_builder({key: "1"})
    with pytest.raises(NotImplementedError, match="scan.ignore-lost-files"):
        keyed.new_read_builder({"scan.ignore-lost-files": "true"})
    wrong = (("bucket", "-1"), ("bucket", "9"), ("read.batch-size", "0"), ("sequence.field", "v"))
    for key, value in (*wrong, ("sequence.field.sort-order", "descending")):
        with pytest.raises(ValueError, match=key):
            env.read(keyed, options={key: value})
    assert env.read(keyed, options={"read.batch-size": "1", "scan.bucket": "0"}) == [(1, "c")]
    assert env.read(keyed, options={"scan.bucket": "1"}) == []


def test_audit_log_and_read_optimized(env, keyed):
    env.sql("INSERT INTO paimon.db.t VALUES (2, 'x')")
    assert env.rows('SELECT * FROM paimon.db."t$audit_log"') == [("+I", 1, "c"), ("+I", 2, "x")]
    assert env.rows("SELECT v, rowkind FROM paimon.db.t$audit_log WHERE id = 1") == [("c", "+I")]
    assert env.rows("SELECT count(*) FROM paimon.db.t$audit_log WHERE rowkind = '-D'") == [(0,)]
    events = "SELECT rowkind, v FROM paimon_scan('paimon.db.t$audit_log', 'incremental-between', '1,3')"
    assert env.rows(events) == [("+I", "b"), ("+I", "c")]
    assert env.rows("SELECT * FROM paimon.db.t$ro") == []
    env.sql("CALL sys.compact(table => 'db.t')")
    env.sql("INSERT INTO paimon.db.t VALUES (3, 'y')")
    assert env.rows("SELECT * FROM paimon.db.t$ro") == [(1, "c"), (2, "x")]
    assert env.rows("SELECT v FROM paimon.db.t$ro WHERE id = 2 LIMIT 1") == [("x",)]
    with pytest.raises(ValueError, match="read only"):
        env.sql("INSERT INTO paimon.db.t$ro VALUES (3, 'y')")
