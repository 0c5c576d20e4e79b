"""One test per requirement of incremental and continuous reads and of row positions; see `test_requirements_api.py`."""

import os
import pickle

import pyarrow as pa
import pytest
from conftest import to_rows, write

I32 = pa.int32()


def leaf(method, field, *literals):
    return {"method": method, "field": field, "literals": list(literals)}


def in_order(builder, splits):
    return [row for b in builder.new_read().read(splits) for row in zip(*(c.to_pylist() for c in b.columns))]


def streamed(table, options=None, polls=8, setup=lambda builder: builder):
    """What a stream gives: snapshot, whether its splits are streaming, rows, checkpoint after it; polls with nothing left out."""
    builder = setup(table.new_read_builder(options))
    scan, found = builder.new_stream_scan(), []
    for _ in range(polls):
        plan = scan.plan()
        if plan is not None:
            kinds = sorted({split.is_streaming() for split in plan.splits()})
            found.append((plan.snapshot_id(), kinds, to_rows(builder.new_read().read(plan.splits())), scan.checkpoint()))
    return found


def with_kinds(builder):
    return builder.with_include_row_kind(True)


# 8. Incremental reads


def test_py_152_what_is_a_change(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    env.sql("INSERT OVERWRITE paimon.db.t VALUES (2)")
    env.sql("INSERT INTO paimon.db.t VALUES (3)")
    env.sql("CALL sys.compact('db.t')")
    table = env.table("t")
    assert [s.commit_kind() for s in reversed(table.list_snapshots())] == ["APPEND", "OVERWRITE", "APPEND", "COMPACT"]
    builder = table.new_read_builder()
    for mode, rows in [("delta", [(1,), (3,)]), ("auto", [(1,), (3,)]), ("AUTO", [(1,), (3,)]), ("changelog", [])]:
        assert to_rows(builder.new_read().read(builder.new_incremental_scan(0, 4, mode).plan().splits())) == rows


def test_py_155_events_are_not_filtered_by_deletion_vectors(java):
    table = java("dv_append").table()
    builder = table.new_read_builder()
    assert to_rows(builder.new_read().read(builder.new_scan().plan().splits())) == [(2, "b"), (4, "d"), (5, "e")]
    everything = [(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e"), (6, "f")]
    assert in_order(builder, builder.new_incremental_scan(0, 4).plan().splits()) == everything
    builder.with_filter(leaf("in", "v", "a", "c", "e")).with_projection(["id"])
    assert in_order(builder, builder.new_incremental_scan(0, 4).plan().splits()) == [(1,), (3,), (5,)]
    none = table.new_read_builder().with_limit(0).new_incremental_scan(0, 4).plan()
    assert (none.splits(), none.snapshot_id()) == ([], 4)


@pytest.mark.parametrize("name, mode, events", [
    ("changelog_input", "delta", [("+I", 1, "a"), ("+I", 2, "b"), ("+U", 1, "a2"), ("-D", 2, "b"), ("+I", 3, "c"), ("+I", 3, "c2")]),
    ("changelog_input", "auto", [("+I", 1, "a"), ("+I", 2, "b"), ("-U", 1, "a"), ("+U", 1, "a2"), ("-D", 2, "b"), ("+I", 3, "c"),
                                 ("-D", 3, "c"), ("+I", 3, "c2")]),
    ("changelog_full_compaction", "changelog", [("+I", 1, "a"), ("+I", 2, "b"), ("-U", 1, "a"), ("+U", 1, "a2"), ("-D", 2, "b"),
                                                ("+I", 3, "c"), ("-U", 1, "a2"), ("+U", 1, "a2")]),
])
def test_py_156_events_of_a_bucket_come_in_the_order_of_commits(java, name, mode, events):
    table = java(name).table()
    builder = table.new_read_builder().with_include_row_kind(True).with_projection(["id", "v"])
    splits = builder.new_incremental_scan(0, table.latest_snapshot().id(), mode).plan().splits()
    assert in_order(builder, splits) == events


def test_py_156_events_of_one_key(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    for value in ("v0", "v1", "v2"):
        env.sql(f"INSERT INTO paimon.db.t VALUES (1, '{value}')")
    builder = env.table("t").new_read_builder().with_projection(["v"])
    assert in_order(builder, builder.new_incremental_scan(0, 3).plan().splits()) == [("v0",), ("v1",), ("v2",)]


# 8. Continuous reads


@pytest.fixture
def commits(env):
    """Three appends to one table, and when they were made."""
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    table = env.table("t")
    for i in (1, 2, 3):
        env.sql(f"INSERT INTO paimon.db.t VALUES ({i}, 'v{i}')")
    return table, [s.commit_time_ms() for s in reversed(table.list_snapshots())]


FULL, SECOND, THIRD = (3, [False], [1, 2, 3], 4), (2, [True], [2], 3), (3, [True], [3], 4)


@pytest.mark.parametrize("options, plans", [
    ({}, [FULL]), ({"scan.mode": "latest-full"}, [FULL]), ({"scan.mode": "full"}, [FULL]), ({"scan.mode": "latest"}, []),
    ({"scan.mode": "from-snapshot", "scan.snapshot-id": "2"}, [SECOND, THIRD]), ({"scan.snapshot-id": "2"}, [SECOND, THIRD]),
    ({"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"}, [(2, [False], [1, 2], 3), THIRD]),
    ({"scan.timestamp-millis": "{1}"}, [SECOND, THIRD]), ({"scan.mode": "from-timestamp", "scan.timestamp-millis": "{1}"}, [SECOND, THIRD]),
    ({"scan.timestamp-millis": "1"}, [(1, [True], [1], 2), SECOND, THIRD]), ({"scan.timestamp": "2000-01-01"}, [(1, [True], [1], 2), SECOND, THIRD]),
    ({"scan.timestamp": "2099-01-01"}, []), ({"scan.mode": "compacted-full"}, [FULL]),
])
def test_py_158_where_a_stream_starts(commits, options, plans):
    table, times = commits
    options = {key: value.format(*times) for key, value in options.items()}
    found = [(s, kinds, [r[0] for r in rows], next_id) for s, kinds, rows, next_id in streamed(table, options)]
    assert found == plans


@pytest.mark.parametrize("options", [{"scan.mode": "latest"}, {"scan.timestamp": "2099-01-01"}, {"scan.snapshot-id": "4"}])
def test_py_158_starts_that_wait_for_the_next_commit(env, commits, options):
    scan = commits[0].new_read_builder(options).new_stream_scan()
    assert scan.plan() is None
    env.sql("INSERT INTO paimon.db.t VALUES (4, 'v4')")
    plan = scan.plan()
    assert (plan.snapshot_id(), scan.checkpoint(), scan.plan()) == (4, 5, None)


def test_py_158_an_empty_table(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    scans = [env.table("t").new_read_builder(options).new_stream_scan() for options in ({}, {"scan.mode": "latest"})]
    assert [scan.plan() for scan in scans] == [None, None]
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    assert [scan.plan().snapshot_id() for scan in scans] == [1, 1]


@pytest.mark.parametrize("options", [
    {"scan.mode": "latest-delta"}, {"scan.mode": "incremental"}, {"scan.tag-name": "x"}, {"scan.watermark": "1"}, {"scan.version": "x"},
])
def test_py_158_modes_of_batches_only(commits, options):
    with pytest.raises(ValueError):
        commits[0].new_read_builder(options).new_stream_scan().plan()


def test_py_158_starts_that_expired(java):
    # Snapshots 10 to 12 remain.
    table = java("expired").table()
    assert [plan[0] for plan in streamed(table, {"scan.snapshot-id": "2"})] == [10, 11]
    first = streamed(table, {"scan.mode": "from-snapshot-full", "scan.snapshot-id": "2"})[0]
    assert first[:2] == (10, [False]) and len(first[2]) == 12


def test_py_158_modes_as_java_runs_them(java):
    tables = java("stream_modes")
    keyed = tables.table("p")
    compacted = streamed(keyed, {"scan.mode": "compacted-full"})
    assert [(plan[0], plan[1], [r[0] for r in plan[2]]) for plan in compacted] == [(7, [False], [0, 1, 2, 3, 4]), (9, [True], [9])]
    # Compactions and snapshots without splits are passed in the same call.
    changes = streamed(keyed, {"scan.mode": "from-snapshot", "scan.snapshot-id": "3"})
    assert [(plan[0], [r[0] for r in plan[2]]) for plan in changes] == [(3, [0, 2]), (5, [0, 3]), (6, [0, 4]), (9, [9])]
    assert {s.id(): s.commit_kind() for s in keyed.list_snapshots()}[4] == "COMPACT"
    created = streamed(tables.table("a"), {"scan.mode": "from-creation-timestamp", "scan.creation-time-millis": "1796177883980"})
    assert sum(len(plan[2]) for plan in created) == 3


def test_py_158_snapshots_without_splits_after_filtering(commits):
    found = streamed(commits[0], {"scan.snapshot-id": "1"}, setup=lambda b: b.with_filter(leaf("equal", "id", 3)))
    assert found == [(3, [True], [(3, "v3")], 4)]


@pytest.mark.parametrize("key, option, replaced", [
    (", PRIMARY KEY (id)) WITH ('bucket' = '1')", "streaming-read-overwrite", [("+I", 2), ("-D", 1)]), (")", "streaming-read-append-overwrite", [("+I", 2)]),
])
def test_py_158_overwrites(env, key, option, replaced):
    env.sql("CREATE TABLE paimon.db.t (id INT" + key)
    env.sql("INSERT INTO paimon.db.t VALUES (1)")
    env.sql("INSERT OVERWRITE paimon.db.t VALUES (2)")
    env.sql("INSERT INTO paimon.db.t VALUES (3)")
    first, last = (1, [True], [("+I", 1)], 2), (3, [True], [("+I", 3)], 4)
    assert streamed(env.table("t"), {"scan.snapshot-id": "1"}, setup=with_kinds) == [first, last]
    read = streamed(env.table("t"), {"scan.snapshot-id": "1", option: "true"}, setup=with_kinds)
    assert read == [first, (2, [True], replaced, 3), last]


def test_py_159_the_first_plan_is_merged_and_the_next_are_events(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    for value in ("a", "b"):
        env.sql(f"INSERT INTO paimon.db.t VALUES (1, '{value}')")
    builder = env.table("t").new_read_builder()
    scan = builder.new_stream_scan()
    plan = scan.plan()
    assert [s.is_streaming() for s in plan.splits()] == [False] and in_order(builder, plan.splits()) == [(1, "b")]
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'c'), (2, 'x')")
    plan = scan.plan()
    assert [s.is_streaming() for s in plan.splits()] == [True] and in_order(builder, plan.splits()) == [(1, "c"), (2, "x")]


INPUT = [(2, [True], [("+I", 3), ("+U", 1), ("-D", 2), ("-U", 1)], 3), (3, [True], [("+I", 3), ("-D", 3)], 4)]
LOOKUP = [(4, [True], [("+I", 3), ("+U", 1), ("-D", 2), ("-U", 1)], 5), (6, [True], [("+I", 2), ("+U", 1), ("-U", 1)], 7)]
COMPACTED = [(4, [True], [("+I", 3), ("+U", 1), ("-D", 2), ("-U", 1)], 5), (6, [True], [("+U", 1), ("-U", 1)], 7)]


@pytest.mark.parametrize("name, start, first, then", [
    ("changelog_input", 1, (1, [False], [("+I", 1), ("+I", 2)], 2), INPUT),
    # Levels above 0: nothing before the first compaction, and nothing that came after the last one.
    ("changelog_lookup", 1, (1, [], [], 2), [(2, [True], [("+I", 1), ("+I", 2), ("+I", 5)], 3), *LOOKUP]),
    ("changelog_lookup", 3, (3, [False], [("+I", 1), ("+I", 2), ("+I", 5)], 4), LOOKUP),
    ("changelog_full_compaction", 1, (1, [], [], 2), [(2, [True], [("+I", 1), ("+I", 2)], 3), *COMPACTED]),
    ("changelog_full_compaction", 3, (3, [False], [("+I", 1), ("+I", 2)], 4), COMPACTED),
])
def test_py_159_changelogs(java, name, start, first, then):
    options = {"scan.mode": "from-snapshot-full", "scan.snapshot-id": str(start)}
    read = streamed(java(name).table(), options, setup=lambda b: b.with_include_row_kind(True).with_projection(["id"]))
    assert read == [first, *then]


def test_py_160_checkpoints(commits):
    scan = commits[0].new_read_builder({"scan.snapshot-id": "1"}).new_stream_scan()
    assert scan.checkpoint() is None
    seen = []
    for _ in range(3):
        plan = scan.plan()
        seen.append((plan.snapshot_id(), scan.checkpoint()))
    assert seen == [(1, 2), (2, 3), (3, 4)]
    # What was planned but not processed is planned again, also by another scan.
    scan.restore(2)
    assert (scan.checkpoint(), scan.plan().snapshot_id()) == (2, 2)
    other = commits[0].new_stream_scan()
    other.restore(3)
    assert (other.plan().snapshot_id(), other.plan()) == (3, None)
    scan.restore(None)
    assert scan.checkpoint() is None and scan.plan().snapshot_id() == 1
    for wrong in (0, -1):
        with pytest.raises(ValueError):
            scan.restore(wrong)
    with pytest.raises(TypeError):
        scan.restore("2")


def test_py_162_a_next_snapshot_that_expired(env, commits):
    scan = commits[0].new_stream_scan()
    scan.restore(1)
    env.sql("CALL sys.expire_snapshots(table => 'db.t', retain_max => 1, retain_min => 1, older_than => '2099-01-01 00:00:00')")
    assert [scan.plan() for _ in range(15)] == [None] * 15
    with pytest.raises(ValueError, match="id 1 has expired: the snapshots are 3 to 3"):
        scan.plan()
    assert scan.checkpoint() == 1
    scan.restore(3)
    assert scan.plan().snapshot_id() == 3


# 9. Row positions


@pytest.fixture
def append(env):
    """Files {0, 1}, {2, 3}, {4, 5} and {6, 7}, each in a split of its own."""
    env.sql("CREATE TABLE paimon.db.a (id INT) WITH ('source.split.target-size' = '1 b', 'source.split.open-file-cost' = '1 b')")
    table = env.table("a")
    for first in (0, 2, 4, 6):
        write(table, pa.record_batch([pa.array([first, first + 1], I32)], names=["id"]))
    return table


def ids(builder, scan):
    return sorted(row[0] for row in in_order(builder, scan.plan().splits()))


def test_py_173_which_tables_and_scans_take_positions(env, append):
    builder = append.new_read_builder()
    assert ids(builder, builder.new_scan().with_row_position_slice(1, 3)) == [1, 2]
    assert ids(builder, builder.new_incremental_scan(1, 4).with_row_position_slice(1, 3)) == [3, 4]
    assert ids(builder, builder.new_incremental_scan(1, 4).with_row_position_shard(1, 4)) == [4, 5]
    env.sql("CREATE TABLE paimon.db.k (id INT, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    env.sql("INSERT INTO paimon.db.k VALUES (1)")
    keyed = env.table("k").new_read_builder()
    for scan in (keyed.new_scan(), keyed.new_incremental_scan(0, 1)):
        for method in ("with_row_position_slice", "with_row_position_shard"):
            with pytest.raises(NotImplementedError, match="db.k"):
                getattr(scan, method)(0, 1).plan()


def test_py_174_positions_run_through_the_files_that_are_planned(append):
    builder = append.new_read_builder().with_filter(leaf("greaterOrEqual", "id", 3))
    # Statistics drop the file {0, 1}; the filter drops the row 2 only after it was counted.
    assert ids(builder, builder.new_scan().with_row_position_slice(0, 3)) == [3, 4]
    limited = append.new_read_builder().with_limit(1)
    assert ids(limited, limited.new_scan().with_row_position_slice(3, 7)) == [3, 4, 5, 6]


def test_py_175_the_selection_is_in_the_splits(env, append):
    builder = append.new_read_builder()
    splits = builder.new_scan().with_row_position_slice(3, 6).plan().splits()
    assert [(len(s.files()), s.row_count()) for s in splits] == [(1, 1), (1, 2)]
    # Files without a selected row are not opened.
    kept = {name for split in splits for name in split.files()}
    for name in os.listdir(env.path("a", "bucket-0")):
        if name not in kept:
            os.remove(env.path("a", "bucket-0", name))
    travelled = [[env.mod.Split.deserialize(s.serialize()) for s in splits], pickle.loads(pickle.dumps(splits))]
    for again in [splits, *travelled]:
        assert [s.row_count() for s in again] == [1, 2]
        # A read that knows nothing of the scan; the positions of each split are its own.
        reads = [in_order(env.table("a").new_read_builder(), [split]) for split in again]
        assert reads == [[(3,)], [(4,), (5,)]]
