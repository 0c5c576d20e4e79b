"""Branches that Java made: altered, written, compacted and tagged by SQL and by Python; see `test_requirements_sql.py`."""

import os

import pyarrow as pa
import pytest
from conftest import to_rows, write

from pypaimon_rust import datafusion as module


@pytest.fixture
def branches(java):
    """Table `t` with (id, v) and its branches `dev` and `blank`."""
    return java("branches")


def names(table):
    return [field.name() for field in table.schema().fields()]


def test_sql_116_alter_table_on_a_branch(branches):
    main = branches.table()
    before = main.schema().id(), names(main), main.schema().options()
    for statement in [
        "ADD COLUMN w INT COMMENT 'new' FIRST", "RENAME COLUMN v TO text", "ALTER COLUMN w TYPE BIGINT", "SET ('snapshot.time-retained' = '2 h')",
    ]:
        branches.sql(f"ALTER TABLE t$branch_dev {statement}")
    branches.sql("ALTER TABLE t$branch_dev ADD COLUMN x INT, DROP COLUMN w")
    branches.sql('COMMENT ON TABLE "t$branch_dev" IS \'of the branch\'')
    dev = branches.table("t$branch_dev")
    assert names(dev) == ["id", "text", "x"] and dev.schema().id() == before[0] + 6
    assert dev.schema().options()["snapshot.time-retained"] == "2 h" and dev.schema().comment() == "of the branch"
    assert sorted(os.listdir(branches.path("t", "branch", "branch-dev", "schema"))) == [f"schema-{i}" for i in range(7)]
    # The main branch and the other branch have schemas of their own.
    main = branches.table()
    assert (main.schema().id(), names(main), main.schema().options()) == before and main.schema().comment() is None
    assert names(branches.table("t$branch_blank")) == ["id", "v"]
    assert branches.rows("SELECT * FROM t$branch_dev") == [(1, "main", None), (2, "dev", None)]
    assert branches.rows("SELECT * FROM t") == [(1, "main"), (4, "main again")]
    with pytest.raises(ValueError, match="only a table can be renamed"):
        branches.sql("ALTER TABLE t$branch_dev RENAME TO u")
    with pytest.raises(module.NotFoundError, match="nope"):
        branches.sql("ALTER TABLE t$branch_nope ADD COLUMN w INT")


def test_sql_029_branches_are_written_compacted_and_tagged(branches):
    branches.sql("INSERT INTO t$branch_dev VALUES (7, 'seven')")
    assert branches.rows("SELECT * FROM t$branch_dev") == [(1, "main"), (2, "dev"), (7, "seven")]
    branches.sql("INSERT OVERWRITE t$branch_dev VALUES (8, 'eight')")
    branches.sql("CALL sys.create_tag('ora.t$branch_dev', 'of_dev')")
    branches.sql("INSERT INTO t$branch_dev VALUES (9, 'nine')")
    branches.sql("CALL sys.compact(table => 'ora.t$branch_dev')")
    assert branches.rows("SELECT * FROM t$branch_dev") == [(8, "eight"), (9, "nine")]
    assert branches.rows("SELECT * FROM t$branch_dev VERSION AS OF 'of_dev'") == [(8, "eight")]
    assert branches.rows("SELECT tag_name FROM t$branch_dev$tags") == [("base",), ("of_dev",)]
    branches.sql("TRUNCATE TABLE t$branch_dev")
    assert branches.rows("SELECT * FROM t$branch_dev") == []
    # Nothing of it reaches the main branch.
    assert branches.rows("SELECT * FROM t") == [(1, "main"), (4, "main again")]
    assert [tag.name() for tag in branches.table().list_tags()] == ["base"]
    for statement in ("DROP TABLE t$branch_dev", "ALTER TABLE t$branch_dev RENAME TO u"):
        with pytest.raises(ValueError, match="t\\$branch_dev"):
            branches.sql(statement)
    assert sorted(os.listdir(branches.path("t", "branch"))) == ["branch-blank", "branch-dev"]


def test_py_037_090_093_handles_of_branches(branches):
    """PY-090 and PY-093 too: what a handle says is of its branch."""
    table = branches.table("t$branch_dev")
    assert (table.identifier(), table.branch(), branches.table().branch()) == ("ora.t$branch_dev", "dev", "main")
    assert table.location() == branches.table().location() == branches.path("t")
    write(table, pa.record_batch([pa.array([7], pa.int32()), pa.array(["seven"])], names=["id", "v"]))
    builder = table.new_read_builder()
    assert to_rows(builder.new_read().read(builder.new_scan().plan().splits())) == [(1, "main"), (2, "dev"), (7, "seven")]
    main = branches.table()
    assert [s.id() for s in table.list_snapshots()][0] == table.latest_snapshot().id()
    assert sum(s.record_count() for s in table.partition_stats()) == 3 and sum(s.record_count() for s in main.partition_stats()) == 2
    assert table != main and table == branches.table("t$branch_dev") and hash(table) == hash(branches.table("t$branch_dev"))
    with pytest.raises(module.NotFoundError, match="blue"):
        branches.table("t$branch_blue")
