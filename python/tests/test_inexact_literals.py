"""Literals of predicates that lie between two values of their column, and texts that files hold without their blanks."""

import datetime
import math

import pyarrow as pa
import pytest
from conftest import write

VALUES = [-math.inf, -1.0, 0.1, 1.0, 3.4028234663852886e38, math.inf]


@pytest.fixture
def floats(env):
    env.sql("CREATE TABLE paimon.db.f (id INT, x FLOAT)")
    columns = [pa.array(range(len(VALUES)), pa.int32()), pa.array(VALUES, pa.float32())]
    write(env.table("f"), pa.record_batch(columns, names=["id", "x"]))
    return env


def ids(env, table, method, field, *literals):
    leaf = {"method": method, "field": field, "literals": list(literals)}
    return [row[0] for row in env.read(env.table(table), filter=leaf)]


@pytest.mark.parametrize("literal", [0.1, 1e300, -1e300, 1e-46, 0.3, 1.0, 1 + 2**-30])
def test_floats_are_compared_as_doubles(floats, literal):
    single = [pa.array([v], pa.float32())[0].as_py() for v in VALUES]
    expected = {
        "equal": lambda x: x == literal,
        "notEqual": lambda x: x != literal,
        "lessThan": lambda x: x < literal,
        "lessOrEqual": lambda x: x <= literal,
        "greaterThan": lambda x: x > literal,
        "greaterOrEqual": lambda x: x >= literal,
    }
    for method, passes in expected.items():
        found = ids(floats, "f", method, "x", literal)
        assert found == [i for i, x in enumerate(single) if passes(x)], method
    assert ids(floats, "f", "in", "x", literal, 1.0) == [i for i, x in enumerate(single) if x in (literal, 1.0)]
    assert ids(floats, "f", "notIn", "x", literal, 1.0) == [i for i, x in enumerate(single) if x not in (literal, 1.0)]
    low, high = sorted([literal, 0.5])
    within = [i for i, x in enumerate(single) if low <= x <= high]
    assert ids(floats, "f", "between", "x", low, high) == within
    assert ids(floats, "f", "notBetween", "x", low, high) == [i for i in range(len(VALUES)) if i not in within]


def test_times_finer_than_the_column(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, x TIMESTAMP(3))")
    env.sql("INSERT INTO paimon.db.t VALUES (1, '1960-01-01 00:00:00.001'), (2, '1960-01-01 00:00:00.002')")
    between = datetime.datetime(1960, 1, 1, 0, 0, 0, 1500)
    exact = datetime.datetime(1960, 1, 1, 0, 0, 0, 2000)
    assert ids(env, "t", "equal", "x", between) == []
    assert ids(env, "t", "notEqual", "x", between) == [1, 2]
    assert ids(env, "t", "lessThan", "x", between) == ids(env, "t", "lessOrEqual", "x", between) == [1]
    assert ids(env, "t", "greaterThan", "x", between) == ids(env, "t", "greaterOrEqual", "x", between) == [2]
    assert ids(env, "t", "in", "x", between, exact) == [2]
    assert ids(env, "t", "notIn", "x", between, exact) == [1]
    assert ids(env, "t", "between", "x", between, exact) == [2]
    assert ids(env, "t", "notBetween", "x", between, exact) == [1]
    assert ids(env, "t", "between", "x", between, between) == []
    assert ids(env, "t", "notBetween", "x", between, between) == [1, 2]


def test_blanks_of_char_in_orc(java):
    table = java("types_orc")
    for method in ["equal", "lessOrEqual"]:
        builder = table.table("p").new_read_builder().with_filter({"method": method, "field": "c", "literals": [""]})
        assert sum(b.num_rows for b in builder.new_read().read(builder.new_scan().plan().splits())) == 1
    assert table.rows("SELECT count(*) FROM p WHERE c = ''") == [(1,)]


@pytest.mark.parametrize("table, column", [("a", "f32"), ("p", "f32")])
def test_nan_is_above_every_number_also_where_bounds_leave_it_out(java, table, column):
    tables = java("types_orc")
    handle = tables.table(table)
    rows = [value for batch in handle.new_read_builder().new_read().read(handle.new_read_builder().new_scan().plan().splits()) for value in batch.column(column).to_pylist()]
    expected = sum(1 for value in rows if value is not None and (math.isnan(value) or value > 2.0))
    assert any(value is not None and math.isnan(value) for value in rows)
    builder = handle.new_read_builder()
    builder.with_filter({"method": "greaterThan", "field": column, "literals": [2.0]})
    found = sum(batch.num_rows for batch in builder.new_read().read(builder.new_scan().plan().splits()))
    assert found == expected
    assert tables.rows(f"SELECT count(*) FROM {table} WHERE {column} > 2.0") == [(expected,)]
