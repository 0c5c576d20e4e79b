"""One test per requirement of batch writes, commits and compaction; see `test_requirements_api.py`."""

import glob
import os
import pickle
import threading

import pyarrow as pa
import pytest
from conftest import batch, write

from pypaimon_rust import datafusion as module

I32, I64, S = pa.int32(), pa.int64(), pa.string()


# 12. Writes


def test_py_200_builders(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    write(env.table("t"), batch(a=(I32, [1])))
    assert env.rows("SELECT * FROM paimon.db.t") == [(1,)]


def test_py_201_write_arrow(env):
    env.sql("CREATE TABLE paimon.db.t (a INT, PRIMARY KEY (a)) WITH ('bucket' = '2')")
    builder = env.table("t").new_batch_write_builder()
    writer = builder.new_write()
    for bucket in (-1, 2):
        with pytest.raises(ValueError):
            writer.write_arrow(batch(a=(I32, [1])), bucket)
    with pytest.raises(ValueError, match="belongs to bucket"):
        for i in range(6):
            env.table("t").new_batch_write_builder().new_write().write_arrow(batch(a=(I32, [i])), 0)
    env.sql("CREATE TABLE paimon.db.u (a INT)")
    with pytest.raises(ValueError, match="fixed number of buckets"):
        env.table("u").new_batch_write_builder().new_write().write_arrow(batch(a=(I32, [1])), 0)
    writer.write_arrow(batch(a=(I32, [1])))
    writer.write_arrow(batch(a=(I32, [2])))
    assert env.rows("SELECT * FROM paimon.db.t") == []
    builder.new_commit().commit(writer.prepare_commit())
    assert env.rows("SELECT * FROM paimon.db.t") == [(1,), (2,)]


@pytest.mark.parametrize("bad", [
    batch(id=(I64, [1]), name=(S, ["a"])), batch(name=(S, ["a"]), id=(I32, [1])), batch(id=(I32, [1])), batch(id=(I32, [1]), title=(S, ["a"])),
])
def test_py_202_the_schema_is_strict(env, bad):
    env.sql("CREATE TABLE paimon.db.t (id INT, name STRING)")
    with pytest.raises(ValueError):
        write(env.table("t"), bad)


def test_py_203_other_encodings(env):
    env.sql("CREATE TABLE paimon.db.t (s STRING, b BINARY(2))")
    for text in [pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), S)]:
        write(env.table("t"), pa.record_batch([pa.array(["x"]).cast(text), pa.array([b"ab"], pa.binary(2))], names=["s", "b"]))
    assert env.rows("SELECT * FROM paimon.db.t") == [("x", b"ab")] * 3


def test_py_204_nulls_and_lengths(env):
    env.sql("CREATE TABLE paimon.db.t (a INT NOT NULL, c VARCHAR(2), b BINARY(2))")
    for columns, name in [(([None], ["a"], [b"ab"]), "a"), (([1], ["abc"], [b"ab"]), "c"), (([1], ["a"], [b"a"]), "b")]:
        with pytest.raises(module.SchemaMismatchError, match=name):
            write(env.table("t"), batch(a=(I32, columns[0]), c=(S, columns[1]), b=(pa.binary(), columns[2])))


def test_py_205_what_can_be_written(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    write(env.table("t"), batch(a=(I32, [])))
    assert env.table("t").latest_snapshot() is None
    write(env.table("t"), pa.table({"a": pa.array([1, 2], I32)}))
    with pytest.raises(TypeError):
        write(env.table("t"), [1])
    assert env.rows("SELECT * FROM paimon.db.t") == [(1,), (2,)]


def test_py_206_prepare_commit_once(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    writer = env.table("t").new_batch_write_builder().new_write()
    assert writer.prepare_commit() == []
    for call in [writer.prepare_commit, lambda: writer.write_arrow(batch(a=(I32, [1])))]:
        with pytest.raises(RuntimeError):
            call()
    # The same after a batch was refused.
    failed = env.table("t").new_batch_write_builder().new_write()
    with pytest.raises(ValueError):
        failed.write_arrow(batch(a=(I64, [1])))
    assert failed.prepare_commit() == []
    with pytest.raises(RuntimeError):
        failed.prepare_commit()


def prepared(env):
    env.sql("CREATE TABLE IF NOT EXISTS paimon.db.t (a INT)")
    builder = env.table("t").new_batch_write_builder()
    writer = builder.new_write()
    writer.write_arrow(batch(a=(I32, [1])))
    return builder, writer.prepare_commit()


def test_py_207_commit_once(env):
    builder, messages = prepared(env)
    commit = builder.new_commit()
    for wrong in [[1], ["x"]]:
        with pytest.raises(TypeError):
            commit.commit(wrong)
    with pytest.raises(ValueError):
        env.table("t").new_batch_write_builder().new_commit().commit(messages)
    commit.commit(messages)
    with pytest.raises(RuntimeError):
        commit.commit(messages)
    builder.new_commit().commit([])
    assert env.table("t").latest_snapshot().id() == 1


def test_py_208_messages_are_committed_once(env):
    builder, messages = prepared(env)
    builder.new_commit().commit(messages)
    with pytest.raises(RuntimeError):
        builder.new_commit().commit(messages)
    builder, messages = prepared(env)
    builder.new_commit().abort(messages)
    with pytest.raises((RuntimeError, OSError, ValueError)):
        builder.new_commit().commit(messages)
    assert env.rows("SELECT * FROM paimon.db.t") == [(1,)]


def test_py_209_commits_race_safely(env):
    env.sql("CREATE TABLE paimon.db.t (w INT, i INT)")
    errors = []

    def work(w):
        try:
            for i in range(5):
                write(env.table("t"), batch(w=(I32, [w]), i=(I32, [i])))
        except BaseException as e:  # noqa: BLE001
            errors.append(repr(e))

    threads = [threading.Thread(target=work, args=(w,)) for w in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert errors == [] and env.rows("SELECT count(*) FROM paimon.db.t") == [(20,)]


def test_py_210_abort(env):
    builder, messages = prepared(env)
    assert os.listdir(env.path("t", "bucket-0"))
    builder.new_commit().abort(messages)
    assert os.listdir(env.path("t", "bucket-0")) == []
    builder, messages = prepared(env)
    builder.new_commit().commit(messages)
    with pytest.raises(RuntimeError, match="are committed"):
        builder.new_commit().abort(messages)
    assert env.rows("SELECT * FROM paimon.db.t") == [(1,)]


def test_py_211_close(env):
    env.sql("CREATE TABLE paimon.db.t (a INT)")
    builder = env.table("t").new_batch_write_builder()
    writer, commit = builder.new_write(), builder.new_commit()
    writer.write_arrow(batch(a=(I32, [1])))
    for thing in (writer, commit):
        thing.close()
        thing.close()
    with pytest.raises(RuntimeError):
        writer.write_arrow(batch(a=(I32, [1])))
    for use in (lambda: commit.commit([]), lambda: commit.abort([]), commit.truncate_table, writer.prepare_commit):
        with pytest.raises(RuntimeError):
            use()
    assert glob.glob(env.path("t", "bucket-*", "*")) == []


@pytest.fixture
def parts(env):
    env.sql("CREATE TABLE paimon.db.t (a INT, p STRING) PARTITIONED BY (p)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'x'), (2, 'y')")
    return env


def test_py_212_with_overwrite(parts):
    builder = parts.table("t").new_batch_write_builder().with_overwrite().with_overwrite({}).with_overwrite(None)
    writer = builder.new_write()
    writer.write_arrow(batch(a=(I32, [3]), p=(S, ["x"])))
    builder.new_commit().commit(writer.prepare_commit())
    assert parts.rows("SELECT a FROM paimon.db.t") == [(1,), (2,), (3,)]


def test_py_213_overwrite(parts):
    write(parts.table("t"), batch(a=(I32, [9]), p=(S, ["x"])), overwrite={})
    assert parts.rows("SELECT a FROM paimon.db.t") == [(2,), (9,)]
    assert parts.table("t").latest_snapshot().commit_kind() == "OVERWRITE"
    parts.sql("ALTER TABLE paimon.db.t SET ('dynamic-partition-overwrite' = 'false')")
    write(parts.table("t"), batch(a=(I32, []), p=(S, [])), overwrite={"p": "x"})
    assert parts.rows("SELECT a FROM paimon.db.t") == [(2,)]
    with pytest.raises(ValueError):
        write(parts.table("t"), batch(a=(I32, [1]), p=(S, ["z"])), overwrite={"p": "x"})
    write(parts.table("t"), batch(a=(I32, [5]), p=(S, ["q"])), overwrite={})
    assert parts.rows("SELECT a FROM paimon.db.t") == [(5,)]


def test_py_213_what_an_overwrite_leaves(parts):
    def rows_and_snapshot(name="t"):
        return parts.rows(f"SELECT a FROM paimon.db.{name}"), parts.table(name).latest_snapshot().id()

    # Dynamic: the partitions of the rows, whatever the values given; without rows nothing.
    write(parts.table("t"), batch(a=(I32, [9]), p=(S, ["y"])), overwrite={"p": "x"})
    assert rows_and_snapshot() == ([(1,), (9,)], 2)
    write(parts.table("t"), batch(a=(I32, []), p=(S, [])), overwrite={})
    assert rows_and_snapshot() == ([(1,), (9,)], 2)
    # Without partitions: everything, also without rows; no snapshot if nothing changes.
    parts.sql("CREATE TABLE paimon.db.u (a INT)")
    parts.sql("INSERT INTO paimon.db.u VALUES (1)")
    for _ in range(2):
        write(parts.table("u"), batch(a=(I32, [])), overwrite={})
        assert rows_and_snapshot("u") == ([], 2)
    parts.sql("ALTER TABLE paimon.db.t SET ('dynamic-partition-overwrite' = 'false')")
    write(parts.table("t"), batch(a=(I32, []), p=(S, [])), overwrite={"p": "zz"})
    assert rows_and_snapshot() == ([(1,), (9,)], 2)


def test_py_214_specs(parts):
    for spec in [{"a": 1}, {"p": 1}, {"zz": "x"}]:
        with pytest.raises(ValueError):
            parts.table("t").new_batch_write_builder().with_overwrite(spec)
    parts.sql("INSERT INTO paimon.db.t VALUES (6, NULL)")
    parts.sql("ALTER TABLE paimon.db.t SET ('dynamic-partition-overwrite' = 'false')")
    for number, null in [(7, None), (8, "__DEFAULT_PARTITION__")]:
        write(parts.table("t"), batch(a=(I32, [number]), p=(S, [None])), overwrite={"p": null})
        assert parts.rows("SELECT a, p FROM paimon.db.t") == [(1, "x"), (2, "y"), (number, None)]


def test_py_215_truncate(parts):
    commit = parts.table("t").new_batch_write_builder().new_commit()
    with pytest.raises(ValueError):
        commit.truncate_partitions([])
    commit.truncate_partitions([{"p": "x"}, {"p": "zz"}])
    with pytest.raises(RuntimeError):
        commit.truncate_table()
    assert parts.rows("SELECT a FROM paimon.db.t") == [(2,)]
    before = parts.table("t").latest_snapshot().id()
    parts.table("t").new_batch_write_builder().new_commit().truncate_partitions([{"p": "zz"}])
    assert parts.table("t").latest_snapshot().id() == before
    again = parts.table("t").new_batch_write_builder().new_commit()
    with pytest.raises(ValueError, match="a"):
        again.truncate_partitions([{"a": 1}])
    parts.table("t").new_batch_write_builder().new_commit().truncate_table()
    assert parts.rows("SELECT a FROM paimon.db.t") == []


# 13. Compaction


@pytest.fixture
def keyed(env):
    env.sql("CREATE TABLE paimon.db.k (id INT PRIMARY KEY, v INT) WITH ('bucket' = '1')")
    for v in range(4):
        env.sql(f"INSERT INTO paimon.db.k VALUES (1, {v}), ({v + 10}, 0)")
    return env


def test_py_230_compaction(keyed):
    metrics = keyed.table("k").new_compact_builder().execute()
    assert (metrics["tasks"], metrics["files_removed"], metrics["files_added"], metrics["rows_written"]) == (1, 4, 1, 5)
    assert keyed.table("k").latest_snapshot().commit_kind() == "COMPACT"


def test_py_231_partition_filter(parts):
    builder = parts.table("t").new_compact_builder()
    builder.with_partition_filter({"method": "equal", "field": "p", "literals": ["x"]})
    for wrong in [{"method": "equal", "field": "a", "literals": [1]}, {"method": "equal", "field": "p", "literals": [1]}]:
        with pytest.raises(ValueError):
            builder.with_partition_filter(wrong)


def test_py_231_filters_combine(env):
    env.sql("CREATE TABLE paimon.db.k (id INT, p STRING, PRIMARY KEY (p, id)) PARTITIONED BY (p) WITH ('bucket' = '1')")
    for _ in range(3):
        env.sql("INSERT INTO paimon.db.k VALUES (1, 'x'), (1, 'y'), (1, 'z')")
    builder = env.table("k").new_compact_builder()
    builder.with_partition_filter({"method": "in", "field": "p", "literals": ["x", "y"]})
    builder.with_partition_filter({"method": "notEqual", "field": "p", "literals": ["y"]})
    assert builder.execute()["files_removed"] == 3
    assert [(s.partition()["p"], s.file_count()) for s in env.table("k").partition_stats()] == [("x", 1), ("y", 3), ("z", 3)]


def test_py_232_commit_user(keyed):
    keyed.table("k").new_compact_builder().with_commit_user("me").execute()
    user = keyed.table("k").latest_snapshot().commit_user()
    assert user.startswith("me-compact-") and user != "me-compact-"
    with pytest.raises(ValueError):
        keyed.table("k").new_compact_builder().with_commit_user("")


def test_py_233_nothing_to_do(keyed):
    keyed.table("k").new_compact_builder().execute()
    before = keyed.table("k").latest_snapshot().id()
    assert set(keyed.table("k").new_compact_builder().execute().values()) == {0}
    assert keyed.table("k").latest_snapshot().id() == before


def test_py_234_metrics(keyed):
    metrics = keyed.table("k").new_compact_builder().execute()
    assert sorted(metrics) == sorted(["tasks", "files_removed", "files_added", "rows_written", "bytes_written", "changelog_files_added",
                                      "changelog_rows_written", "changelog_bytes_written"])
    assert all(type(v) is int for v in metrics.values())


def test_text_that_is_no_utf8_is_refused_where_it_comes_in(env):
    bad = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xff\xfe")])
    rows = pa.record_batch([pa.array([1], I32), bad], names=["a", "s"])
    nested = pa.record_batch([pa.ListArray.from_arrays(pa.array([0, 1], I32), bad)], names=["l"])
    env.sql("CREATE TABLE paimon.db.t (a INT, s STRING)")
    for given in (rows, pa.Table.from_batches([rows])):
        with pytest.raises(ValueError, match="column s"):
            write(env.table("t"), given)
    for given in (rows, nested):
        with pytest.raises(ValueError, match="column"):
            env.ctx.register_batch("x", given)
    assert env.rows("SELECT * FROM paimon.db.t") == []


def test_py_216_messages_travel_as_bytes(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, p STRING) PARTITIONED BY (p)")
    table = env.table("t")
    writer = table.new_batch_write_builder().new_write()
    writer.write_arrow(batch(id=(I32, [1, 2]), p=(S, ["a", "b"])))
    messages = writer.prepare_commit()
    sent = [message.serialize() for message in messages]
    assert all(module.CommitMessage.deserialize(data).serialize() == data for data in sent)
    # Version 13 has no last byte.
    received = [module.CommitMessage.deserialize(bytearray(data[:-1]), version=13) for data in sent]
    assert [m.serialize() for m in pickle.loads(pickle.dumps(received))] == sent
    table.new_batch_write_builder().new_commit().commit(received)
    assert env.rows("SELECT * FROM paimon.db.t") == [(1, "a"), (2, "b")]
    # Once only, whoever commits and in whatever form.
    for again in (received, messages, pickle.loads(pickle.dumps(messages))):
        with pytest.raises((module.CommitConflictError, module.PaimonValueError)):
            table.new_batch_write_builder().new_commit().commit(again)
    with pytest.raises(RuntimeError):
        table.new_batch_write_builder().new_commit().abort(received)
    assert env.rows("SELECT * FROM paimon.db.t") == [(1, "a"), (2, "b")]
    wrongs = [
        (sent[0][:-3], 14, ValueError), (sent[0] + b"x", 14, ValueError), (sent[0], 12, NotImplementedError), ("x", 14, TypeError)
    ]
    for wrong, version, error in wrongs:
        with pytest.raises(error):
            module.CommitMessage.deserialize(wrong, version=version)


def test_py_216_messages_of_another_table_are_refused(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    env.sql("CREATE TABLE paimon.db.u (id INT)")
    writer = env.table("t").new_batch_write_builder().new_write()
    writer.write_arrow(batch(id=(I32, [1])))
    received = [module.CommitMessage.deserialize(m.serialize()) for m in writer.prepare_commit()]
    with pytest.raises(module.MissingFileError):
        env.table("u").new_batch_write_builder().new_commit().commit(received)
    env.table("t").new_batch_write_builder().new_commit().abort(received)
    with pytest.raises(module.MissingFileError):
        env.table("t").new_batch_write_builder().new_commit().commit(received)
