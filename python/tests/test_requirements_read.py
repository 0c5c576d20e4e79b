"""One test per requirement of the read API, found by its number; see `test_requirements_api.py`."""


import pyarrow as pa
import pytest
from conftest import to_rows

from pypaimon_rust import datafusion as module

I32, S = pa.int32(), pa.string()


@pytest.fixture
def t(env):
    """Three commits of two rows each."""
    env.sql("CREATE TABLE paimon.db.t (id INT, name STRING, v DOUBLE)")
    for i in (1, 3, 5):
        env.sql(f"INSERT INTO paimon.db.t VALUES ({i}, 'n{i}', {i}.5), ({i + 1}, NULL, NULL)")
    return env.table("t")


def read(builder):
    return to_rows(builder.new_read().read(builder.new_scan().plan().splits()))


def leaf(method, field, *literals):
    return {"method": method, "field": field, "literals": list(literals)}


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


def test_py_134_splits(t):
    splits = t.new_read_builder().new_scan().plan().splits()
    assert sum(s.row_count() for s in splits) == 6 and not any(s.is_streaming() for s in splits)


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


def test_py_150_incremental(t):
    builder = t.new_read_builder()
    plan = builder.new_incremental_scan(1, 3).plan()
    assert plan.snapshot_id() == 3 and [r[0] for r in to_rows(builder.new_read().read(plan.splits()))] == [3, 4, 5, 6]
    empty = builder.new_incremental_scan(3, 3).plan()
    assert empty.splits() == [] and empty.snapshot_id() == 3


def test_py_151_ranges(t):
    for start, end in [(1, 9), (3, 1), (-5, 2)]:
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


def test_py_180_predicates(t):
    both = {"method": "and", "children": (leaf("equal", "id", 1), {"method": "or", "children": [leaf("isNotNull", "v")]})}
    assert [r[0] for r in read(t.new_read_builder().with_filter(both))] == [1]
    for wrong in [{"method": "equal", "field": "id", "literals": [1], "x": 1}, {"field": "id"}, {"method": "equal"}, {"method": "and"},
                  {"method": "and", "children": 1}]:
        with pytest.raises(ValueError):
            t.new_read_builder().with_filter(wrong)
    with pytest.raises(TypeError):
        t.new_read_builder().with_filter([1])


@pytest.mark.parametrize("predicate, ids", [
    (leaf("equal", "id", 1), [1]), (leaf("notEqual", "id", 1), [2, 3, 4, 5, 6]), (leaf("lessThan", "id", 2), [1]),
    (leaf("lessOrEqual", "id", 2), [1, 2]), (leaf("greaterThan", "id", 5), [6]), (leaf("greaterOrEqual", "id", 5), [5, 6]),
    (leaf("isNull", "name"), [2, 4, 6]), (leaf("isNotNull", "name"), [1, 3, 5]), (leaf("in", "id", 1, 3, 9), [1, 3]),
    (leaf("notIn", "id", 1, 2, 3, 4), [5, 6]), (leaf("startsWith", "name", "n"), [1, 3, 5]), (leaf("endsWith", "name", "3"), [3]),
    (leaf("contains", "name", "5"), [5]), (leaf("like", "name", "_1%"), [1]), (leaf("between", "id", 2, 4), [2, 3, 4]),
    (leaf("notBetween", "id", 2, 5), [1, 6]),
])
def test_py_181_methods(t, predicate, ids):
    assert sorted(r[0] for r in read(t.new_read_builder().with_filter(predicate))) == ids


def test_py_181_other_methods(t):
    with pytest.raises(NotImplementedError, match="Equal"):
        t.new_read_builder().with_filter(leaf("Equal", "id", 1))


def test_py_182_wrong_literals(t):
    for wrong in [leaf("equal", "id"), leaf("equal", "id", 1, 2), leaf("between", "id", 1), leaf("equal", "id", None), leaf("isNull", "id", 1),
                  {"method": "or", "children": []}]:
        with pytest.raises(ValueError):
            t.new_read_builder().with_filter(wrong)


def test_py_184_nulls(t):
    assert sorted(r[0] for r in read(t.new_read_builder().with_filter(leaf("notEqual", "name", "n1")))) == [3, 5]
    assert sorted(r[0] for r in read(t.new_read_builder().with_filter(leaf("notIn", "name", "n1")))) == [3, 5]


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
