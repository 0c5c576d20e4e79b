"""One test per requirement of the read API, found by its number; see `test_requirements_api.py`."""

import datetime
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from conftest import leaf, read, to_rows, write

from pypaimon_rust import datafusion as module

I32, S = pa.int32(), pa.string()


def test_py_110_options(t):
    for options in [None, {}]:
        assert len(read(t.new_read_builder(options))) == 6
    with pytest.raises(TypeError, match="scan.snapshot-id"):
        t.new_read_builder({"scan.snapshot-id": 1})


def test_py_111_setters_return_the_builder(t):
    builder = t.new_read_builder()
    assert builder.with_projection(["id"]) is builder and builder.with_limit(1) is builder
    builder.with_filter(leaf("equal", "id", 1))
    builder.with_limit(100).with_filter(leaf("equal", "id", 2))
    assert read(builder) == [(2,)]


def test_py_112_scans_keep_their_settings(t):
    builder = t.new_read_builder().with_filter(leaf("equal", "id", 1))
    scan, reader = builder.new_scan(), builder.new_read()
    builder.with_filter(leaf("equal", "id", 2))
    assert [r[0] for r in to_rows(reader.read(scan.plan().splits()))] == [1]


def test_py_113_projection(t):
    assert read(t.new_read_builder().with_projection(["v", "id"]))[0] == (None, 2)
    builder = t.new_read_builder().with_projection([])
    assert sum(b.num_rows for b in builder.new_read().read(builder.new_scan().plan().splits())) == 6
    with pytest.raises(TypeError):
        t.new_read_builder().with_projection("id")
    for names in [["id", "id"], ["nope"], ["ID"]]:
        with pytest.raises(ValueError):
            read(t.new_read_builder().with_projection(names))


def test_py_113_only_these_columns_are_read(env):
    env.sql("CREATE TABLE paimon.db.c (id INT, v STRING) WITH ('file.compression' = 'none')")
    env.sql("INSERT INTO paimon.db.c SELECT value, 'text' || value FROM generate_series(1, 1000)")
    [path] = glob.glob(env.path("c", "bucket-0", "*"))
    column = parquet.ParquetFile(path).metadata.row_group(0).column(1)
    with open(path, "r+b") as file:
        file.seek(column.dictionary_page_offset or column.data_page_offset)
        file.write(b"\xff" * column.total_compressed_size)
    builder = env.table("c").new_read_builder().with_projection(["id"])
    assert read(builder) == sorted(((i,) for i in range(1, 1001)), key=lambda row: str(row[0]))
    with pytest.raises(module.CorruptError, match=os.path.basename(path)):
        read(builder.with_projection(["v"]))


def test_py_114_columns_that_only_the_filter_or_the_merge_needs(env):
    env.sql("CREATE TABLE paimon.db.k (id INT, a STRING, seq INT, v INT, PRIMARY KEY (id)) WITH ('bucket' = '1', 'sequence.field' = 'seq')")
    env.sql("INSERT INTO paimon.db.k VALUES (1, 'x', 5, 10), (2, 'y', 1, 20)")
    env.sql("INSERT INTO paimon.db.k VALUES (1, 'z', 3, 11), (2, 'w', 2, 21)")
    table = env.table("k")
    # The later row of key 1 loses by its sequence field.
    assert read(table.new_read_builder().with_projection(["v"])) == [(10,), (21,)]
    builder = table.new_read_builder().with_projection(["v"]).with_filter(leaf("equal", "a", "w"))
    [batch] = builder.new_read().read(builder.new_scan().plan().splits())
    assert batch.to_pydict() == {"v": [21]}
    assert read(table.new_read_builder().with_projection(["v"]).with_filter(leaf("equal", "a", "z"))) == []
    builder = table.new_read_builder().with_projection([])
    assert sum(b.num_rows for b in builder.new_read().read(builder.new_scan().plan().splits())) == 2


def test_py_115_limit(t):
    builder = t.new_read_builder().with_limit(0)
    plan = builder.new_scan().plan()
    assert plan.splits() == [] and plan.snapshot_id() == 3
    assert len(read(t.new_read_builder().with_limit(1))) >= 1
    for value, error in [(-1, ValueError), (1.0, TypeError), (None, TypeError)]:
        with pytest.raises(error):
            t.new_read_builder().with_limit(value)


def test_py_117_case(t):
    builder = t.new_read_builder().with_case_sensitive(False).with_projection(["ID"]).with_filter(leaf("equal", "Id", 1))
    [batch] = builder.new_read().read(builder.new_scan().plan().splits())
    assert batch.schema.names == ["id"]


def test_py_118_filters_are_exact(t):
    assert read(t.new_read_builder().with_filter(leaf("greaterThan", "v", 3.5))) == [(5, "n5", 5.5)]
    with pytest.raises(ValueError):
        t.new_read_builder().with_filter(leaf("equal", "nope", 1))


def test_py_119_row_kinds(t):
    builder = t.new_read_builder().with_include_row_kind(True).with_projection(["id"]).with_filter(leaf("equal", "id", 1))
    [batch] = builder.new_read().read(builder.new_scan().plan().splits())
    assert batch.to_pylist() == [{"rowkind": "+I", "id": 1}]


def test_py_120_row_ranges_are_refused(env, t, java):
    for table in (t, java("row_tracking").table()):
        for ranges in ([(0, 1)], [], [(2, 1)]):
            with pytest.raises(module.UnsupportedError, match="row ids"):
                table.new_read_builder().with_row_ranges(ranges)


def test_py_121_scans_and_reads(env, t):
    builder = t.new_read_builder().with_projection(["id"]).with_filter(leaf("greaterThan", "id", 4))
    made = [builder.new_scan(), builder.new_incremental_scan(0, 1), builder.new_stream_scan(), builder.new_read()]
    assert [type(one).__name__ for one in made] == ["TableScan", "TableScan", "StreamTableScan", "TableRead"]
    # A worker knows the table, the settings and the bytes of the splits, and never makes a scan.
    code = (
        "import json, sys\n"
        "from pypaimon_rust.datafusion import PaimonCatalog, Split\n"
        "builder = PaimonCatalog({'warehouse': sys.argv[1]}).get_table('db.t').new_read_builder()\n"
        "builder.with_projection(['id']).with_filter({'method': 'greaterThan', 'field': 'id', 'literals': [4]})\n"
        "splits = [Split.deserialize(bytes.fromhex(text)) for text in sys.argv[2:]]\n"
        "print(json.dumps(sorted(i for b in builder.new_read().read(splits) for i in b.column(0).to_pylist())))\n"
    )
    splits = [split.serialize().hex() for split in builder.new_scan().plan().splits()]
    done = subprocess.run([sys.executable, "-c", code, env.warehouse, *splits], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [5, 6]


def test_py_130_each_plan_is_new(env, t):
    scan = t.new_read_builder().new_scan()
    assert scan.plan().snapshot_id() == 3
    env.sql("INSERT INTO paimon.db.t VALUES (7, 'n7', 7.5)")
    assert scan.plan().snapshot_id() == 4


def test_py_131_plans(t):
    plan = t.new_read_builder().new_scan().plan()
    assert len(plan) == len(plan.splits()) and plan.snapshot_id() == 3
    none = t.new_read_builder().with_filter(leaf("equal", "id", 99)).new_scan().plan()
    assert none.splits() == [] and none.snapshot_id() == 3


def test_py_132_plans_stay_readable(env, t):
    builder = t.new_read_builder()
    splits = builder.new_scan().plan().splits()
    env.sql("INSERT OVERWRITE paimon.db.t VALUES (9, 'x', 1)")
    assert len(to_rows(builder.new_read().read(splits))) == 6


def test_py_133_no_key_is_in_two_splits(env):
    env.sql("CREATE TABLE paimon.db.k (id INT, v INT, PRIMARY KEY (id)) WITH ('bucket' = '1', 'source.split.target-size' = '1 b', "
            "'source.split.open-file-cost' = '1 b', 'num-sorted-run.compaction-trigger' = '100')")
    for low, high in [(1, 10), (5, 15), (20, 30), (40, 50), (45, 60), (100, 110)]:
        env.sql(f"INSERT INTO paimon.db.k SELECT value, {low} FROM generate_series({low}, {high})")
    builder = env.table("k").new_read_builder()
    splits = builder.new_scan().plan().splits()
    assert len(splits) == 4
    # Any order, any number of workers.
    parts = {}

    def work(number, split):
        parts[number] = to_rows(builder.new_read().read([split]))

    threads = [threading.Thread(target=work, args=item) for item in reversed(list(enumerate(splits)))]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    rows = sorted(row for part in parts.values() for row in part)
    newest = {**{i: 1 for i in range(1, 11)}, **{i: 5 for i in range(5, 16)}, **{i: 20 for i in range(20, 31)}}
    newest |= {**{i: 40 for i in range(40, 51)}, **{i: 45 for i in range(45, 61)}, **{i: 100 for i in range(100, 111)}}
    assert rows == sorted(newest.items())


def test_py_134_splits(t):
    splits = t.new_read_builder().new_scan().plan().splits()
    assert sum(s.row_count() for s in splits) == 6 and not any(s.is_streaming() for s in splits)


def test_splits_of_another_table_are_refused(env, t):
    env.sql("CREATE TABLE paimon.db.other AS SELECT * FROM paimon.db.t")
    other = env.table("other").new_read_builder()
    splits = t.new_read_builder().new_scan().plan().splits()
    for given in (splits, [module.Split.deserialize(s.serialize()) for s in splits]):
        with pytest.raises(ValueError, match="another table"):
            other.new_read().read(given)


def test_a_file_that_expired_after_the_plan_is_named(env):
    env.sql("CREATE TABLE paimon.db.e (a INT) WITH ('snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '1')")
    env.sql("INSERT INTO paimon.db.e VALUES (1)")
    builder = env.table("e").new_read_builder()
    splits = builder.new_scan().plan().splits()
    env.sql("INSERT OVERWRITE paimon.db.e VALUES (2)")
    with pytest.raises(module.MissingFileError, match=r"may have expired.*data-.*parquet"):
        builder.new_read().read(splits)


def test_py_135_splits_travel(t):
    builder = t.new_read_builder()
    splits = builder.new_scan().plan().splits()
    again = [module.Split.deserialize(s.serialize()) for s in splits]
    assert to_rows(builder.new_read().read(again)) == read(builder)
    data = splits[0].serialize()
    for bad in [b"", data[:-1], data + b"x", b"nonsense"]:
        with pytest.raises(ValueError):
            module.Split.deserialize(bad)
    with pytest.raises(TypeError):
        module.Split.deserialize("text")


def test_py_136_read(t):
    builder = t.new_read_builder()
    reader = builder.new_read()
    assert reader.read([]) == []
    assert len(to_rows(reader.read(s for s in builder.new_scan().plan().splits()))) == 6
    with pytest.raises(TypeError):
        reader.read([1])


def test_py_137_streams(t):
    builder = t.new_read_builder()
    reader = builder.new_read().read_arrow(builder.new_scan().plan().splits())
    rows = 0
    while (batch := reader.read_next_batch()) is not None:
        rows += batch.num_rows
    assert rows == 6 and reader.read_next_batch() is None
    reader.close()
    reader.close()
    assert list(reader) == []


def test_py_138_streams_are_arrow(t):
    builder = t.new_read_builder()
    with builder.new_read().read_arrow(builder.new_scan().plan().splits()) as reader:
        assert reader.schema.names == ["id", "name", "v"]
        assert pa.RecordBatchReader.from_stream(reader).read_all().num_rows == 6


def test_py_140_order_within_a_split(env):
    env.sql("CREATE TABLE paimon.db.a (id INT)")
    env.sql("CREATE TABLE paimon.db.k (id INT, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    for ids in ([5, 1, 9], [4, 8, 2]):
        for name in ("a", "k"):
            write(env.table(name), pa.record_batch([pa.array(ids, I32)], names=["id"]))
    for name, order in [("a", [5, 1, 9, 4, 8, 2]), ("k", [1, 2, 4, 5, 8, 9])]:
        builder = env.table(name).new_read_builder()
        splits = builder.new_scan().plan().splits()
        assert len(splits) == 1
        for options in (None, {"read.batch-size": "1"}):
            batches = env.table(name).new_read_builder(options).new_read().read_arrow(splits)
            assert [i for b in batches for i in b.column(0).to_pylist()] == order, name


def test_py_140_a_bounded_number_of_splits_is_read_at_once(env):
    env.sql("CREATE TABLE paimon.db.a (id INT, p INT) PARTITIONED BY (p)")
    numbers = list(range(400))
    write(env.table("a"), pa.record_batch([pa.array(numbers, I32)] * 2, names=["id", "p"]))
    builder = env.table("a").new_read_builder()
    splits = builder.new_scan().plan().splits()
    assert len(splits) == 400
    assert sorted(row[0] for row in to_rows(builder.new_read().read(splits))) == numbers
    reader = builder.new_read().read_arrow(splits)
    rows = [next(reader).num_rows]
    time.sleep(0.2)
    # What is open already may end; the rest was not touched.
    for p in numbers:
        shutil.rmtree(env.path("a", f"p={p}"))
    with pytest.raises(FileNotFoundError):
        for batch in reader:
            rows.append(batch.num_rows)
    assert sum(rows) < 400


def test_py_150_incremental(t):
    builder = t.new_read_builder()
    plan = builder.new_incremental_scan(1, 3).plan()
    assert plan.snapshot_id() == 3 and [r[0] for r in to_rows(builder.new_read().read(plan.splits()))] == [3, 4, 5, 6]
    empty = builder.new_incremental_scan(3, 3).plan()
    assert empty.splits() == [] and empty.snapshot_id() == 3


def test_py_151_ranges(t):
    # The snapshot at the end must exist, also for an empty range.
    for start, end in [(1, 9), (3, 1), (-5, 2), (0, 0)]:
        with pytest.raises(ValueError):
            t.new_read_builder().new_incremental_scan(start, end).plan()


def test_py_153_diff_is_refused(t):
    with pytest.raises(ValueError, match="(?i)diff"):
        t.new_read_builder().new_incremental_scan(1, 3, "diff").plan()
    with pytest.raises(ValueError, match="zz"):
        t.new_read_builder().new_incremental_scan(1, 3, "zz").plan()


def test_py_157_streams_of_changes(env, t):
    builder = t.new_read_builder()
    scan = builder.new_stream_scan()
    assert scan.checkpoint() is None
    assert len(to_rows(builder.new_read().read(scan.plan().splits()))) == 6
    assert scan.plan() is None and scan.checkpoint() == 4
    env.sql("INSERT INTO paimon.db.t VALUES (7, 'n7', 7.5)")
    plan = scan.plan()
    assert [r[0] for r in to_rows(builder.new_read().read(plan.splits()))] == [7]


def test_py_170_slices(t):
    builder = t.new_read_builder()
    scan = builder.new_scan().with_row_position_slice(1, 3)
    assert len(to_rows(builder.new_read().read(scan.plan().splits()))) == 2
    for start, end in [(3, 3), (2, 1), (-1, 2)]:
        with pytest.raises(ValueError):
            builder.new_scan().with_row_position_slice(start, end)


def test_py_171_shards(t):
    builder = t.new_read_builder()
    parts = [to_rows(builder.new_read().read(builder.new_scan().with_row_position_shard(i, 4).plan().splits())) for i in range(4)]
    assert [len(p) for p in parts] == [2, 2, 1, 1] and sorted(r[0] for p in parts for r in p) == [1, 2, 3, 4, 5, 6]
    for index, count in [(0, 0), (4, 4), (-1, 4)]:
        with pytest.raises(ValueError):
            builder.new_scan().with_row_position_shard(index, count)


def test_py_190_selectors(env, t):
    env.sql("CALL sys.create_tag('db.t', 'first', 1)")
    for options in [{"scan.snapshot-id": "1"}, {"scan.version": "1"}, {"scan.version": "first"}, {"scan.tag-name": "first"}]:
        assert len(read(t.new_read_builder(options))) == 2, options


def test_py_191_one_selector(t):
    with pytest.raises(ValueError):
        t.new_read_builder({"scan.snapshot-id": "1", "scan.tag-name": "x"}).new_scan()


def test_py_192_nothing_selected(t):
    for options in [{"scan.snapshot-id": "9"}, {"scan.tag-name": "nope"}, {"scan.snapshot-id": "x"}]:
        with pytest.raises(ValueError):
            t.new_read_builder(options).new_scan()


def test_py_193_the_schema_of_the_snapshot(env, t):
    env.sql("ALTER TABLE paimon.db.t ADD COLUMN later INT")
    table = env.table("t")
    with pytest.raises(ValueError):
        read(table.new_read_builder({"scan.snapshot-id": "1"}).with_projection(["later"]))
    assert len(read(table.new_read_builder({"scan.snapshot-id": "1"}))[0]) == 3


def local_text(ms, fraction=""):
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(ms // 1000)) + fraction


def test_py_194_times_are_of_the_local_zone(env):
    env.sql("CREATE TABLE paimon.db.w (id INT)")
    env.sql("INSERT INTO paimon.db.w VALUES (1)")
    table = env.table("w")
    committed = table.latest_snapshot().commit_time_ms()

    def rows(text):
        return env.read(table, options={"scan.timestamp": text})

    for text in ["2099-01-01", "2099-01-01 12:00:00", "2099-01-01 12:00:00.1", "2099-01-01 12:00:00.123456789", "2099-01-01T12:00",
                 "2099-01-01T12:00:00", "2099-01-01T12:00:00.5"]:
        assert rows(text) == [(1,)], text
    for text in ["2099-01-01 12:00", "2099-01-01T12:00:00Z", "2099-01-01 12:00:00.1234567890", "2099-13-01", "2099-02-30", "x",
                 "2099-01-01 12:00:00+01:00"]:
        with pytest.raises(ValueError, match="scan.timestamp"):
            rows(text)
    # The instant of the commit itself counts; the digits below a millisecond are cut.
    assert rows(local_text(committed, f".{committed % 1000:03d}")) == [(1,)]
    assert rows(local_text(committed, f".{committed % 1000:03d}999999")) == [(1,)]
    before = committed - 1
    for digits in ("", "999999"):
        with pytest.raises(ValueError):
            rows(local_text(before, f".{before % 1000:03d}{digits}"))


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "America/New_York"])
def test_py_194_the_zone_is_that_of_the_process(env, zone):
    zoneinfo = pytest.importorskip("zoneinfo")
    env.sql("CREATE TABLE paimon.db.w (id INT)")
    env.sql("INSERT INTO paimon.db.w VALUES (1)")
    committed = datetime.datetime.fromtimestamp(env.table("w").latest_snapshot().commit_time_ms() // 1000, zoneinfo.ZoneInfo(zone))
    code = (
        "import json, sys\n"
        "from pypaimon_rust.datafusion import PaimonCatalog\n"
        "table = PaimonCatalog({'warehouse': sys.argv[1]}).get_table('db.w')\n"
        "def found(text):\n"
        "    try:\n"
        "        return len(table.new_read_builder({'scan.timestamp': text}).new_scan().plan().splits())\n"
        "    except ValueError:\n"
        "        return None\n"
        "print(json.dumps([found(text) for text in sys.argv[2:]]))\n"
    )
    texts = [(committed + datetime.timedelta(seconds=s)).strftime("%Y-%m-%d %H:%M:%S") for s in (-60, 60)]
    environment = {**os.environ, "TZ": zone}
    done = subprocess.run([sys.executable, "-c", code, env.warehouse, *texts], capture_output=True, text=True, env=environment, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [None, 1]


@pytest.mark.parametrize("options, fits", [
    ({"scan.mode": "from-timestamp", "scan.timestamp": "2099-01-01"}, True), ({"scan.mode": "from-timestamp", "scan.timestamp-millis": "9999999999999"}, True),
    ({"scan.mode": "from-snapshot", "scan.snapshot-id": "3"}, True), ({"scan.mode": "from-snapshot-full", "scan.snapshot-id": "3"}, True),
    ({"scan.mode": "from-timestamp", "scan.snapshot-id": "3"}, False), ({"scan.mode": "latest-full", "scan.snapshot-id": "3"}, False),
    ({"scan.mode": "latest", "scan.snapshot-id": "3"}, False), ({"scan.mode": "compacted-full", "scan.snapshot-id": "3"}, False),
    ({"scan.mode": "from-snapshot", "scan.timestamp": "2099-01-01"}, False), ({"scan.mode": "latest-full", "scan.timestamp": "2099-01-01"}, False),
    ({"scan.mode": "full", "scan.tag-name": "x"}, False), ({"scan.mode": "from-timestamp"}, False), ({"scan.mode": "from-snapshot"}, False),
    ({"scan.mode": "nope", "scan.snapshot-id": "3"}, False),
])
def test_py_195_modes_and_selectors(t, options, fits):
    if fits:
        assert len(read(t.new_read_builder(options))) == 6
        return
    with pytest.raises(ValueError, match="scan.mode") as caught:
        read(t.new_read_builder(options))
    assert options["scan.mode"] in str(caught.value)


def test_py_196_tags_keep_expired_snapshots(env, t):
    env.sql("CALL sys.create_tag('db.t', 'keep', 1)")
    env.sql("CALL sys.expire_snapshots(table => 'db.t', retain_max => 1, retain_min => 1, older_than => '2099-01-01 00:00:00')")
    assert [s.id() for s in t.list_snapshots()] == [3]
    for options in ({"scan.tag-name": "keep"}, {"scan.version": "keep"}):
        assert [r[0] for r in read(t.new_read_builder(options))] == [1, 2]
    for options in ({"scan.snapshot-id": "1"}, {"scan.version": "1"}):
        with pytest.raises(ValueError, match="1"):
            t.new_read_builder(options).new_scan()


def test_py_196_tags_of_java(java):
    table = java("tags_outlive").table()
    for tag, rows in [("tag-1", 5), ("tag-3", 10), ("tag-5", 10)]:
        for key in ("scan.tag-name", "scan.version"):
            assert len(read(table.new_read_builder({key: tag}))) == rows


def test_py_197_no_writes_through_a_table_that_stands_still(env):
    env.sql("CREATE TABLE paimon.db.s (id INT)")
    env.sql("INSERT INTO paimon.db.s VALUES (1)")
    for key, value in (("scan.snapshot-id", "1"), ("scan.timestamp", "2099-01-01"), ("scan.version", "1"), ("incremental-between", "0,1")):
        env.sql(f"ALTER TABLE paimon.db.s SET ('{key}' = '{value}')")
        with pytest.raises(ValueError, match=re.escape(f"'{key}'")):
            env.table("s").new_batch_write_builder()
        env.sql(f"ALTER TABLE paimon.db.s RESET ('{key}')")
    env.table("s").new_batch_write_builder()


@pytest.mark.parametrize("number", [1 << 70, -(1 << 70)])
def test_py_020_numbers_out_of_range_are_value_errors(env, number):
    env.sql("CREATE TABLE paimon.db.s (id INT)")
    builder = env.table("s").new_read_builder()
    stream = env.table("s").new_stream_scan()
    calls = [
        lambda: builder.with_limit(number), lambda: builder.new_incremental_scan(number, 1), lambda: builder.new_incremental_scan(0, number),
        lambda: builder.new_scan().with_row_position_slice(0, number), lambda: stream.restore(number),
        lambda: stream.notify_checkpoint_complete(number), lambda: env.mod.CommitMessage.deserialize(b"", version=number),
        lambda: env.mod.SQLContext(memory_pool_bytes=number),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=str(number)):
            call()


def test_numbers_of_numpy_are_numbers(env):
    numpy = pytest.importorskip("numpy")
    env.sql("CREATE TABLE paimon.db.s (id INT)")
    env.table("s").new_read_builder().with_limit(numpy.int64(1)).new_incremental_scan(numpy.int32(0), numpy.int64(0))
    env.sql("INSERT INTO paimon.db.s VALUES (1), (2)")
    for literal in (numpy.int64(2), numpy.uint8(2)):
        assert env.read(env.table("s"), filter={"method": "equal", "field": "id", "literals": [literal]}) == [(2,)]
    for wrong in (numpy.float32(2), numpy.array([2]), numpy.bool_(True)):
        with pytest.raises(ValueError, match="no literal for column id"):
            env.table("s").new_read_builder().with_filter({"method": "equal", "field": "id", "literals": [wrong]})
    writer = env.table("s").new_batch_write_builder().new_write()
    batch = pa.record_batch([pa.array([1], pa.int32())], names=["id"])
    for bucket, error in ((1 << 31, ValueError), (1 << 70, ValueError), (True, TypeError), ("1", TypeError)):
        with pytest.raises(error):
            writer.write_arrow(batch, bucket=bucket)
    for wrong in (True, 1.0, "1", numpy.float64(1)):
        with pytest.raises(TypeError, match="the limit is an int"):
            env.table("s").new_read_builder().with_limit(wrong)
