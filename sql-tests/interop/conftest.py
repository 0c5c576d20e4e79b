"""The other side of the interoperability tests: one Java process that reads, checks, writes and compacts."""

import base64
import json
import os
import pathlib
import shutil
import subprocess

import pytest

HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("PAIMON_JAVA_CACHE", HERE.parents[1] / "target" / "java"))
OPENS = [f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in ("java.nio", "java.lang", "java.util", "sun.nio.ch")]


def build():
    """Fetches the jars and compiles the harness, once."""
    jars, classes = CACHE / "jars", CACHE / "classes"
    if not (CACHE / ".jars").exists():
        shutil.rmtree(jars, ignore_errors=True)
        pom = HERE / "java" / "pom.xml"
        command = ["mvn", "-q", "-B", "-f", str(pom), "dependency:copy-dependencies", f"-DoutputDirectory={jars}"]
        subprocess.run(command, check=True)
        (CACHE / ".jars").touch()
    sources = sorted((HERE / "java").glob("*.java"))
    stamp = CACHE / ".classes"
    if not stamp.exists() or any(stamp.stat().st_mtime < source.stat().st_mtime for source in sources):
        command = ["javac", "-nowarn", "-encoding", "UTF-8", "-cp", f"{jars}/*", "-d", str(classes), *map(str, sources)]
        subprocess.run(command, check=True)
        stamp.touch()
    return f"{classes}:{jars}/*"


class Java:
    """Java Paimon over one warehouse."""

    def __init__(self, class_path):
        command = ["java", "-Xmx1g", *OPENS, "-Duser.timezone=UTC", "-Dfile.encoding=UTF-8", "-cp", class_path, "Harness"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def call(self, *command):
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            raise AssertionError(f"Java failed at {command[0]} {command[2]}: {answer['error']}")
        return answer["ok"]

    def create(self, warehouse, table, columns, primary_key=(), partition_keys=(), options=None):
        return self.call("create", warehouse, table, columns, list(primary_key), list(partition_keys), options or {})

    def read(self, warehouse, table, options=None):
        return sorted(map(tuple, self.call("read", warehouse, table, options or {})), key=repr)

    def splits(self, warehouse, table, options=None):
        return [base64.b64decode(split) for split in self.call("splits", warehouse, table, options or {})]

    def read_splits(self, warehouse, table, splits):
        encoded = [base64.b64encode(split).decode() for split in splits]
        return sorted(map(tuple, self.call("read_splits", warehouse, table, encoded)), key=repr)

    def write(self, warehouse, table, rows):
        return self.call("write", warehouse, table, rows)

    def compact(self, warehouse, table):
        return self.call("compact", warehouse, table)

    def check(self, warehouse, table):
        """What is wrong with the metadata of a table, as texts."""
        return self.call("check", warehouse, table)

    def clean(self, warehouse, table):
        """Removes files that nothing names; gives their number."""
        return self.call("clean", warehouse, table)

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


@pytest.fixture(scope="session")
def java():
    java = Java(build())
    yield java
    java.close()


@pytest.fixture
def warehouse(tmp_path):
    return str(tmp_path)


@pytest.fixture
def ctx(warehouse):
    from pypaimon_rust.datafusion import SQLContext

    ctx = SQLContext()
    ctx.register_catalog("paimon", {"warehouse": warehouse})
    ctx.sql("CREATE SCHEMA paimon.db")
    return ctx


def show(value):
    """A value of ours in the text that the harness gives for it."""
    import datetime
    import decimal

    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
        text = value.isoformat(timespec="minutes" if value.second == value.microsecond == 0 else "seconds")
        fraction = f"{value.microsecond:06d}".rstrip("0")
        if fraction:
            text += "." + fraction.ljust(3 if len(fraction) <= 3 else 6, "0")
        return text
    if isinstance(value, datetime.time):
        text = value.isoformat(timespec="minutes" if value.second == value.microsecond == 0 else "seconds")
        return text + (f".{value.microsecond // 1000:03d}" if value.microsecond else "")
    if isinstance(value, dict):
        return "[" + ", ".join(str(show(v)).replace("None", "null") for v in value.values()) + "]"
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return "{" + ", ".join(f"{show(k)}={'null' if v is None else show(v)}" for k, v in sorted(value)) + "}"
        return "[" + ", ".join("null" if v is None else show(v) for v in value) + "]"
    return str(value)


def ours(ctx, sql):
    return rows_of(ctx.sql(sql))


def rows_of(batches):
    rows = []
    for batch in batches:
        rows += [tuple(map(show, row)) for row in zip(*(column.to_pylist() for column in batch.columns))]
    return sorted(rows, key=repr)
