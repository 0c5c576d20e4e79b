"""Ctrl-C in the middle of work: nothing is left behind, even if the process ends at once."""

import pathlib
import signal
import subprocess
import sys

import pyarrow as pa
import pytest


def files(env):
    return sorted(str(path) for path in pathlib.Path(env.warehouse).rglob("*") if path.is_file())


def interrupted(warehouse, body, delay):
    """Runs `body`, which is interrupted after a while, in a process that ends right after it; what it printed."""
    code = (
        # What is imported late would be interrupted instead of the work.
        "import _thread, pyarrow, signal, threading\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from pypaimon_rust.datafusion import PaimonCatalog, SQLContext\n"
        "ctx = SQLContext()\n"
        "ctx.register_catalog('paimon', {'warehouse': %r})\n"
        "catalog = PaimonCatalog({'warehouse': %r})\n"
        "table = catalog.get_table('db.t')\n"
        "threading.Timer(%r, _thread.interrupt_main).start()\n"
        "try:\n"
        "    %s\n"
        "    print('done', flush=True)\n"
        "except KeyboardInterrupt:\n"
        "    print('interrupted', flush=True)\n"
        "import os; os._exit(0)\n" % (warehouse, warehouse, delay, body)
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("body", ["table.new_compact_builder().execute()", "ctx.sql(\"CALL sys.compact(table => 'db.t')\")"])
def test_interrupted_compaction_leaves_no_files(env, body):
    env.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, v STRING, PRIMARY KEY (id)) WITH ('bucket' = '2')")
    for v in "abc":
        env.sql(f"INSERT INTO paimon.db.t SELECT value, '{v}' || value FROM generate_series(1, 100000) AS g(value)")
    for delay in (0.05, 0.2, 0.4):
        before = files(env)
        outcome = interrupted(env.warehouse, body, delay)
        after = files(env)
        # A commit that has begun ends.
        if any("snapshot-4" in path for path in after):
            break
        assert outcome == "interrupted" and after == before, delay
    assert env.rows("SELECT count(*), min(v) FROM paimon.db.t") == [(100000, "c1")]


def test_interrupted_create_table_as_leaves_no_table(env):
    env.sql("CREATE TABLE paimon.db.t (id INT)")
    before = files(env)
    sql = "CREATE TABLE paimon.db.u AS SELECT a.value FROM generate_series(1, 100000) a CROSS JOIN generate_series(1, 100000) b"
    assert interrupted(env.warehouse, f'ctx.sql("{sql}")', 1.0) == "interrupted"
    assert files(env) == before
    env.sql("CREATE TABLE paimon.db.u (a INT)")


def test_interrupted_prepare_commit_leaves_no_files(env):
    env.sql("CREATE TABLE paimon.db.t (id BIGINT NOT NULL, PRIMARY KEY (id)) WITH ('bucket' = '4')")
    before = files(env)
    table = env.table("t")
    rows = pa.record_batch([pa.array(range(20_000), pa.int64())], names=["id"])
    hits = 0

    def interrupt(*_):
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for step in range(60):
            builder = table.new_batch_write_builder()
            writer = builder.new_write()
            writer.write_arrow(rows)
            messages = None
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.001 + step * 0.0005)
                messages = writer.prepare_commit()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                hits += messages is None
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if messages is not None:
                builder.new_commit().abort(messages)
            writer.close()
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert hits > 0
    assert files(env) == before
