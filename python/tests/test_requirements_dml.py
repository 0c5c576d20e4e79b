"""Statements that change rows are refused by name, in every form, before anything is read or written; see `test_requirements_sql.py`."""

import glob
import os

import pytest

from pypaimon_rust import datafusion as module

DELETES = [
    "DELETE FROM t", "DELETE FROM t WHERE false", "DELETE FROM t WHERE v = NULL", "DELETE FROM t AS a WHERE a.id = 1",
    "DELETE FROM t WHERE id IN (SELECT id FROM s)", "DELETE FROM t WHERE NOT EXISTS (SELECT 1 FROM s WHERE s.id = t.id)", "DELETE FROM t LIMIT 1",
    "DELETE FROM t ORDER BY id LIMIT 1", "DELETE FROM t RETURNING id", "DELETE FROM t USING s WHERE t.id = s.id", "DELETE t, s FROM t",
    "EXPLAIN DELETE FROM t", "EXPLAIN ANALYZE DELETE FROM t", "PREPARE p AS DELETE FROM t",
]
UPDATES = [
    "UPDATE t SET v = 'x'", "UPDATE t AS a SET v = 'x' WHERE a.id = 1", "UPDATE t SET id = 1", "UPDATE t SET v = DEFAULT", "UPDATE t SET (id, v) = (1, 'x')",
    "UPDATE t SET v = s.v FROM s WHERE s.id = t.id", "UPDATE t SET v = (SELECT max(v) FROM s)", "UPDATE t SET v = 'x' LIMIT 1",
    "UPDATE t SET v = 'x' RETURNING id", "EXPLAIN UPDATE t SET v = 'x'", "EXPLAIN ANALYZE UPDATE t SET v = 'x'",
]
ON = " INTO t USING s ON t.id = s.id WHEN "
MERGES = ["MERGE" + ON + clause for clause in [
    "MATCHED THEN UPDATE SET v = s.v", "MATCHED THEN UPDATE SET *", "MATCHED AND t.id > 1 THEN DELETE", "NOT MATCHED THEN INSERT (id) VALUES (s.id)",
    "NOT MATCHED THEN INSERT *", "NOT MATCHED THEN INSERT ROW", "NOT MATCHED BY SOURCE THEN DELETE", "MATCHED THEN DO NOTHING",
]] + ["MERGE WITH SCHEMA EVOLUTION" + ON + "MATCHED THEN DELETE"]


@pytest.fixture
def db(env):
    env.sql("USE db")
    env.sql("CREATE TABLE t (id INT, v STRING)")
    env.sql("INSERT INTO t VALUES (1, 'a'), (2, NULL)")
    env.sql("CREATE TABLE s (id INT, v STRING)")
    return env


def check(db, word, statements):
    def files():
        return sorted(glob.glob(os.path.join(db.warehouse, "**"), recursive=True))

    before = files()
    for statement in statements:
        with pytest.raises(module.UnsupportedError, match=word) as caught:
            db.sql(statement)
        assert "not supported" in str(caught.value), statement
    assert files() == before and db.rows("SELECT id FROM t") == [(1,), (2,)]


def test_sql_150_152_deletes_and_updates(db):
    """SQL-152 too: what stays refused is refused with the statement."""
    check(db, "DELETE", DELETES)
    check(db, "UPDATE", UPDATES)


def test_sql_170_merges(db):
    check(db, "MERGE", MERGES)
