"""One test per requirement of predicates in dictionary form; see `test_requirements_api.py`."""

import datetime
import math
from decimal import Decimal
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from conftest import leaf, read, write

I32 = pa.int32()


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


LIKE = [
    ("a%", [1, 2, 3, 6, 8]), ("a_c", [1, 2, 3, 8]), (r"a\%c", [2]), (r"a\_c", [3]), ("%", [1, 2, 3, 4, 6, 7, 8]), ("", [4]), ("_bc", [1, 7]),
    (r"a\\bc", [6]), ("a", []), ("ABC", []),
]


def test_py_183_like(env):
    env.sql("CREATE TABLE paimon.db.s (id INT, s STRING)")
    texts = ["abc", "a%c", "a_c", "", None, "a\\bc", "äbc", "a\nc"]
    write(env.table("s"), pa.record_batch([pa.array(range(1, 9), I32), pa.array(texts)], names=["id", "s"]))
    builder = env.table("s").new_read_builder()
    for pattern, ids in LIKE:
        assert [r[0] for r in read(builder.with_filter(leaf("like", "s", pattern)))] == ids, pattern
    for method in ("startsWith", "endsWith", "contains"):
        assert [r[0] for r in read(builder.with_filter(leaf(method, "s", "")))] == [1, 2, 3, 4, 6, 7, 8]
    with pytest.raises((ValueError, NotImplementedError), match="like"):
        builder.with_filter(leaf("like", "s", "a!%", "!"))


def test_py_184_nulls(t):
    assert sorted(r[0] for r in read(t.new_read_builder().with_filter(leaf("notEqual", "name", "n1")))) == [3, 5]
    assert sorted(r[0] for r in read(t.new_read_builder().with_filter(leaf("notIn", "name", "n1")))) == [3, 5]


@pytest.mark.parametrize("method, children, ids", [
    ("or", [leaf("equal", "name", "n1"), leaf("equal", "id", 2)], [1, 2]), ("or", [leaf("notEqual", "name", "n1"), leaf("isNull", "v")], [2, 3, 4, 5, 6]),
    ("and", [leaf("notEqual", "name", "n1"), leaf("lessThan", "v", 5.0)], [3]), ("and", [leaf("isNull", "name"), leaf("notIn", "id", 2)], [4, 6]),
    ("and", [{"method": "or", "children": [leaf("greaterThan", "v", 1.0), leaf("equal", "id", 6)]}, leaf("notEqual", "id", 3)], [1, 5, 6]),
    ("or", [{"method": "and", "children": [leaf("isNotNull", "name"), leaf("between", "v", 3.0, 4.0)]}, leaf("startsWith", "name", "n5")], [3, 5]),
])
def test_py_184_trees(t, method, children, ids):
    assert [r[0] for r in read(t.new_read_builder().with_filter({"method": method, "children": children}))] == ids


NAN, INF = math.nan, math.inf


TOTAL_ORDER = [
    ("equal", [0.0], [1]), ("equal", [-0.0], [2, 6]), ("equal", [0], [1]), ("equal", [NAN], [3, 7]), ("notEqual", [NAN], [1, 2, 4, 6, 8]),
    ("notEqual", [0.0], [2, 3, 4, 6, 7, 8]), ("greaterThan", [1.0], [3, 7, 8]), ("greaterThan", [INF], [3, 7]), ("greaterOrEqual", [NAN], [3, 7]),
    ("lessThan", [0.0], [2, 6]), ("lessThan", [NAN], [1, 2, 4, 6, 8]), ("lessOrEqual", [-0.0], [2, 6]), ("in", [0.0, NAN], [1, 3, 7]),
    ("notIn", [NAN], [1, 2, 4, 6, 8]), ("between", [-0.0, 0.0], [1, 2, 6]), ("between", [1.0, NAN], [3, 4, 7, 8]),
]


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_py_185_floats_are_in_total_order(env, kind):
    env.sql(f"CREATE TABLE paimon.db.f (id INT, x {'FLOAT' if kind == pa.float32() else 'DOUBLE'})")
    table = env.table("f")
    # Files whose statistics must not lose NaN and -0.0.
    for rows in [[(1, 0.0), (2, -0.0)], [(3, NAN), (4, 1.0)], [(5, None)], [(6, -0.0)], [(7, NAN)], [(8, INF)]]:
        write(table, pa.record_batch([pa.array([r[0] for r in rows], I32), pa.array([r[1] for r in rows], kind)], names=["id", "x"]))
    for method, literals, ids in TOTAL_ORDER:
        assert [r[0] for r in read(table.new_read_builder().with_filter(leaf(method, "x", *literals)))] == ids, (method, literals)
    assert env.rows("SELECT id FROM paimon.db.f WHERE x = 0.0") == [(1,), (2,), (6,)]
    assert env.rows("SELECT id FROM paimon.db.f WHERE x > 1.0") == [(3,), (7,), (8,)]


def test_py_186_nested_columns(env, java):
    env.sql("CREATE TABLE paimon.db.n (id INT, st ROW<x INT>, a ARRAY<INT>, mp MAP<STRING, INT>, ms MULTISET<STRING>)")
    env.sql("INSERT INTO paimon.db.n (id) VALUES (1)")
    env.sql("INSERT INTO paimon.db.n SELECT 2, named_struct('x', 1), make_array(1), map(['a'], [1]), map(['a'], [1])")
    table = env.table("n")
    for predicate in (leaf("equal", "st.x", 1), leaf("isNull", "st.x")):
        with pytest.raises(NotImplementedError, match="st.x"):
            table.new_read_builder().with_filter(predicate)
    for column, literal in [("st", {"x": 1}), ("a", [1]), ("mp", {"a": 1}), ("ms", {"a": 1})]:
        with pytest.raises(NotImplementedError, match=column):
            table.new_read_builder().with_filter(leaf("equal", column, literal))
        found = [[r[0] for r in read(table.new_read_builder().with_filter(leaf(m, column)))] for m in ("isNull", "isNotNull")]
        assert found == [[1], [2]], column
    variant = java("variant").table("plain")
    with pytest.raises(NotImplementedError, match="v"):
        variant.new_read_builder().with_filter(leaf("equal", "v", "x"))
    assert [len(read(variant.new_read_builder().with_filter(leaf(m, "v")))) for m in ("isNull", "isNotNull")] == [1, 10]


class NoOffset(datetime.tzinfo):
    """A zone that does not know its offset."""

    def utcoffset(self, when):
        return None


UTC, SHANGHAI = datetime.timezone.utc, ZoneInfo("Asia/Shanghai")
AT = datetime.datetime(2024, 1, 2, 3, 4, 5)
# Type, stored value in SQL, literals that are equal to it, literals that are not, and what is no literal of the type.
LITERALS = [
    ("BOOLEAN", "true", [True], [False], [1, "true"]),
    ("TINYINT", "5", [5], [-128, 127], [True, 5.0, "5", 128, -129]),
    ("SMALLINT", "5", [5], [-(1 << 15), (1 << 15) - 1], [1 << 15, False]),
    ("INT", "5", [5], [-(1 << 31)], [1 << 31, 5.0]),
    ("BIGINT", "7", [7], [-(1 << 63)], [1 << 63, "7"]),
    ("FLOAT", "1.5", [1.5], [2, math.nan, math.inf], [True, "1.5"]),
    ("DOUBLE", "0.1", [0.1], [1, math.nan, -math.inf], [True, "0.1"]),
    ("CHAR(5)", "'ab'", ["ab"], ["abc", ""], [b"ab", 1]),
    ("VARCHAR(5)", "'ab'", ["ab"], ["ab "], [b"ab"]),
    ("STRING", "'x'", ["x"], ["X"], [b"x", 1]),
    ("BINARY(2)", "X'0102'", [b"\1\2", bytearray(b"\1\2")], [b"\1"], ["x"]),
    ("BYTES", "X'0102'", [b"\1\2", bytearray(b"\1\2")], [b""], ["x"]),
    ("DATE", "DATE '2024-01-02'", [datetime.date(2024, 1, 2)], [datetime.date(1, 1, 1)], [AT, "2024-01-02", 1]),
    ("TIME(3)", "TIME '10:00:00.123'", [datetime.time(10, 0, 0, 123000)], [datetime.time(10)],
     [datetime.time(10, 0, 0, 123001), datetime.time(10, tzinfo=UTC), "10:00:00"]),
    ("TIMESTAMP(3)", "TIMESTAMP '2024-01-02 03:04:05.678'", [AT.replace(microsecond=678000)], [AT, AT.replace(microsecond=678001)],
     [AT.replace(tzinfo=UTC), datetime.date(2024, 1, 2), "2024-01-02 03:04:05"]),
    ("TIMESTAMP(6)", "TIMESTAMP '2024-01-02 03:04:05.678901'", [AT.replace(microsecond=678901)], [AT], [AT.replace(tzinfo=UTC)]),
    ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP '2024-01-02 03:04:05'", [AT.replace(tzinfo=UTC), AT.replace(hour=11, tzinfo=SHANGHAI)],
     [AT.replace(tzinfo=SHANGHAI)], [AT, AT.replace(tzinfo=NoOffset()), datetime.date(2024, 1, 2)]),
    ("DECIMAL(10, 2)", "123.00", [Decimal("123"), 123, Decimal("123.00"), Decimal("123.000")], [Decimal("123.01")],
     [123.0, True, "123", Decimal("123.455"), Decimal("1e10"), Decimal("NaN"), Decimal("Infinity")]),
]


@pytest.mark.parametrize("kind, value, equal, other, wrong", LITERALS, ids=[row[0] for row in LITERALS])
def test_py_182_literals_of_every_type(env, kind, value, equal, other, wrong):
    env.sql(f"CREATE TABLE paimon.db.c (c {kind})")
    env.sql(f"INSERT INTO paimon.db.c VALUES ({value})")
    builder = env.table("c").new_read_builder()
    for literals, rows in ((equal, 1), (other, 0)):
        for literal in literals:
            assert len(read(builder.with_filter(leaf("equal", "c", literal)))) == rows, literal
            assert len(read(builder.with_filter(leaf("notEqual", "c", literal)))) == 1 - rows, literal
            assert len(read(builder.with_filter(leaf("in", "c", literal)))) == rows, literal
    for literal in wrong:
        with pytest.raises(ValueError) as caught:
            builder.with_filter(leaf("equal", "c", literal))
        text = str(caught.value)
        assert "column c" in text and type(literal).__name__ in text and kind in text, text
