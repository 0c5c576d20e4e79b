"""Rows that deletion vectors delete, one here and one there: SQL gives what is left, however it reads."""

import math
import pathlib
import sys

import datafusion
import pytest

from pypaimon_rust.datafusion import install

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "benchmarks"))
from made import copied, delete_rows  # noqa: E402

ROWS = 30_000
SETTINGS = [
    {},
    {"datafusion.execution.parquet.pushdown_filters": "true"},
    {"datafusion.optimizer.repartition_file_min_size": "1", "datafusion.execution.target_partitions": "5"},
    {"datafusion.execution.batch_size": "100", "datafusion.execution.target_partitions": "1"},
]


@pytest.fixture(params=[0.25, 0.05, 0.001])
def deleted(env, request):
    """The table `d`, and the rows of it that are left, as the format's own reader gives them."""
    env.sql(
        "CREATE TABLE paimon.db.t (id BIGINT, s STRING, v DOUBLE, p INT) PARTITIONED BY (p) "
        "WITH ('manifest.compression' = 'null', 'file.block-size' = '32 kb')"
    )
    env.sql(
        f"INSERT INTO paimon.db.t SELECT value, 's' || (value % 100), CASE WHEN value % 3 = 0 THEN NULL ELSE value / 2.0 END, "
        f"CAST(value / {ROWS // 2} AS INT) FROM generate_series(0, {ROWS - 1}) AS g(value)"
    )
    env.sql("ALTER TABLE paimon.db.t ADD COLUMN late INT")
    gone = delete_rows(copied(env.path("t"), env.path("d"), {"deletion-vectors.enabled": "true"}), request.param)
    left = env.read(env.table("d"))
    assert gone > 0 and len(left) == ROWS - gone
    return env, left


def contexts(env):
    for settings in SETTINGS:
        own = env.fresh()
        for key, value in settings.items():
            own.sql(f"SET {key} = '{value}'")
        yield settings, lambda sql, own=own: [tuple(row.values()) for b in own.sql(sql) for row in b.to_pylist()]
        config = datafusion.SessionConfig()
        for key, value in settings.items():
            config = config.set(key, value)
        stock = datafusion.SessionContext(config)
        install(stock, "paimon", {"warehouse": env.warehouse})
        yield settings, lambda sql, stock=stock: [tuple(row.values()) for b in stock.sql(sql).collect() for row in b.to_pylist()]


def test_what_is_left(deleted):
    env, left = deleted
    by_id = sorted(left, key=lambda row: row[0])
    near = [row for row in by_id if 12_000 <= row[0] < 20_000]
    sevens = [row for row in by_id if row[1] == "s7"]
    numbers = [row[2] for row in by_id if row[2] is not None]
    for settings, rows in contexts(env):
        assert rows("SELECT count(*) FROM paimon.db.d") == [(len(left),)], settings
        assert rows("SELECT count(v), count(late), min(id), max(id) FROM paimon.db.d") == [
            (len(numbers), 0, by_id[0][0] if by_id else None, by_id[-1][0] if by_id else None)
        ], settings
        total = rows("SELECT sum(v) FROM paimon.db.d WHERE v IS NOT NULL")[0][0]
        assert (total is None and not numbers) or math.isclose(total, sum(numbers)), settings
        assert rows("SELECT * FROM paimon.db.d WHERE id >= 12000 AND id < 20000 ORDER BY id") == near, settings
        assert rows("SELECT id, p + 1 FROM paimon.db.d WHERE s = 's7' ORDER BY id") == [(r[0], r[3] + 1) for r in sevens], settings
        assert rows("SELECT id FROM paimon.db.d ORDER BY id DESC LIMIT 3") == [(r[0],) for r in by_id[::-1][:3]], settings
        assert len(rows("SELECT p FROM paimon.db.d LIMIT 5")) == min(5, len(left)), settings
        assert rows("SELECT p, count(*) FROM paimon.db.d GROUP BY p ORDER BY p") == [
            (p, sum(r[3] == p for r in left)) for p in (0, 1) if any(r[3] == p for r in left)
        ], settings
        assert rows("SELECT count(*) FROM paimon.db.d a JOIN paimon.db.d b ON a.id = b.id WHERE a.p = 1") == [
            (sum(r[3] == 1 for r in left),)
        ], settings


def test_a_column_of_the_name_of_the_mark(env):
    for kind in ("bigint", "int"):
        env.sql(f"CREATE TABLE paimon.db.t_{kind} (id INT, __paimon_row_in_file {kind}) WITH ('manifest.compression' = 'null')")
        env.sql(f"INSERT INTO paimon.db.t_{kind} SELECT value, value * 3 FROM generate_series(1, 500) AS g(value)")
        delete_rows(copied(env.path(f"t_{kind}"), env.path(f"d_{kind}"), {"deletion-vectors.enabled": "true"}), 0.2)
        left = sorted(env.read(env.table(f"d_{kind}")))
        for _, rows in contexts(env):
            assert len(left) == 400 and rows(f"SELECT * FROM paimon.db.d_{kind} ORDER BY id") == left


def test_the_mark_is_not_seen(deleted):
    env, _ = deleted
    assert env.sql("SELECT * FROM paimon.db.d LIMIT 1")[0].schema.names == ["id", "s", "v", "p", "late"]
    with pytest.raises(ValueError, match="__paimon_row_in_file"):
        env.sql("SELECT __paimon_row_in_file FROM paimon.db.d")


def test_filters_over_nested_columns_of_evolved_files(env):
    env.sql("CREATE TABLE paimon.db.t (id INT, a ARRAY<INT>)")
    row = "CAST(value AS INT), CASE WHEN value % 2 = 0 THEN make_array(1) ELSE arrow_cast(make_array(), 'List(Int32)') END"
    env.sql(f"INSERT INTO paimon.db.t SELECT {row} FROM generate_series(0, 99) AS g(value)")
    env.sql("ALTER TABLE paimon.db.t ADD COLUMN late INT")
    env.sql(f"INSERT INTO paimon.db.t SELECT {row}, 1 FROM generate_series(100, 199) AS g(value)")
    for settings, rows in contexts(env):
        assert rows("SELECT count(*) FROM paimon.db.t WHERE cardinality(a) = 0 OR late IS NOT NULL") == [(150,)], settings
        assert rows("SELECT count(*) FROM paimon.db.t WHERE cardinality(a) = 0 AND late = 1") == [(50,)], settings
