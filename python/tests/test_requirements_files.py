"""One test per requirement of deletion vectors and of files that cannot be read; see `test_requirements_api.py`."""

import copy
import glob
import io
import json
import os
import shutil

import fastavro
import pyarrow as pa
import pytest
from conftest import to_rows

from pypaimon_rust import datafusion as module


def read_long(file):
    """A number as Avro writes it."""
    value = shift = 0
    while True:
        [byte] = file.read(1)
        value |= (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return (value >> 1) ^ -(value & 1)


def zstd_block(file):
    """A block of an Avro file that Zstandard compressed, for which `fastavro` would need another package."""
    return io.BytesIO(pa.CompressedInputStream(pa.BufferReader(file.read(read_long(file))), "zstd").read())


def rewrite(path, change_record=lambda record: None, change_schema=lambda schema: None):
    """Writes an Avro file again with other records or another schema, before anything has read it."""
    fastavro.read.BLOCK_READERS["zstandard"] = zstd_block
    with open(path, "rb") as file:
        reader = fastavro.reader(file)
        schema, records = copy.deepcopy(reader.writer_schema), list(reader)
    change_schema(schema)
    for record in records:
        change_record(record)
    with open(path, "wb") as file:
        fastavro.writer(file, schema, records)


def index_manifests(java):
    found = glob.glob(java.path("t", "manifest", "index-manifest-*"))
    assert found
    return found


def set_option(java, key, value):
    path = java.path("t", "schema", "schema-0")
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    schema["options"][key] = value
    with open(path, "w", encoding="utf-8") as file:
        json.dump(schema, file)


def read(table, options=None):
    builder = table.new_read_builder(options)
    return to_rows(builder.new_read().read(builder.new_scan().plan().splits()))


LIVE = [(2, "b"), (4, "d"), (5, "e")]


def test_py_141_deletion_vectors_apply(java):
    tables = java("dv_append")
    assert read(tables.table()) == LIVE
    assert [len(read(tables.table(), {"scan.snapshot-id": str(i)})) for i in (1, 2, 3, 4)] == [4, 6, 4, 3]
    assert tables.rows("SELECT * FROM t WHERE id > 2") == LIVE[1:]


def test_py_141_items_without_a_union(java):
    tables = java("dv_append")

    def plain(schema):
        [ranges] = [field for field in schema["fields"] if field["name"] == "_DELETIONS_VECTORS_RANGES"]
        array = ranges["type"][1]
        # Java writes a union of null and the record.
        assert array["type"] == "array" and array["items"][0] == "null"
        array["items"] = array["items"][1]

    for path in index_manifests(tables):
        rewrite(path, change_schema=plain)
    assert read(tables.table()) == LIVE


def test_py_141_files_of_older_python_writers(java):
    # The canonical place is the directory of the bucket, but the files are in the directory of indexes.
    tables = java("dv_append")
    set_option(tables, "index-file-in-data-file-dir", "true")
    assert os.listdir(tables.path("t", "index")) and not glob.glob(tables.path("t", "bucket-0", "index-*"))
    assert read(tables.table()) == LIVE


def test_py_141_the_canonical_place_wins(java):
    tables = java("dv_append")
    set_option(tables, "index-file-in-data-file-dir", "true")
    for name in os.listdir(tables.path("t", "index")):
        shutil.copy(tables.path("t", "index", name), tables.path("t", "bucket-0", name))
        with open(tables.path("t", "index", name), "wb") as file:
            file.write(b"not a deletion vector")
    assert read(tables.table()) == LIVE


@pytest.mark.parametrize("in_bucket", ["false", "true"])
def test_py_141_an_explicit_path_wins(java, in_bucket):
    tables = java("dv_append")
    set_option(tables, "index-file-in-data-file-dir", in_bucket)
    elsewhere = tables.path("elsewhere")
    shutil.copytree(tables.path("t", "index"), elsewhere)
    for name in os.listdir(elsewhere):
        for place in ("index", "bucket-0"):
            with open(tables.path("t", place, name), "wb") as file:
                file.write(b"not a deletion vector")
    for path in index_manifests(tables):
        rewrite(path, lambda record: record.update(_EXTERNAL_PATH=f"file:{elsewhere}/{record['_FILE_NAME']}"))
    assert read(tables.table()) == LIVE


def test_py_142_level_0_is_seen_after_compaction(java):
    tables = java("dv_pk_level0")
    table = tables.table()
    kinds = {s.id(): s.commit_kind() for s in table.list_snapshots()}
    assert (kinds[1], kinds[2], kinds[4], kinds[6]) == ("APPEND", "COMPACT", "APPEND", "COMPACT")

    def keys(snapshot, **options):
        rows = read(table, {"scan.snapshot-id": str(snapshot), **options})
        return len(rows), {row[0]: row[1] for row in rows if row[0] in (3, 4, 50)}

    assert keys(1) == (0, {})
    # Snapshots 3 and 4 change keys 3 and 50 and delete key 4, in files that no compaction has seen.
    old, new = {3: "v3", 4: "v4"}, {3: "hidden", 50: "hidden"}
    assert [keys(i) for i in (2, 3, 4, 6)] == [(20, old), (20, old), (20, old), (20, new)]
    merge = {"deletion-vectors.merge-on-read": "true"}
    assert [keys(i, **merge) for i in (2, 3, 4, 6)] == [(20, old), (21, {**old, **new}), (20, new), (20, new)]
    assert len(tables.rows("SELECT * FROM t VERSION AS OF 1")) == 0
    assert len(tables.rows("SELECT * FROM t /*+ OPTIONS('scan.snapshot-id' = '1', 'deletion-vectors.merge-on-read' = 'true') */")) == 20


def test_py_142_first_row(java):
    table = java("first_row").table()
    assert [(s.id(), s.commit_kind()) for s in reversed(table.list_snapshots())] == [
        (1, "APPEND"), (2, "COMPACT"), (3, "APPEND"), (4, "COMPACT"), (5, "APPEND")]
    two = [(1, "a"), (2, "b")]
    rows = [[row[:2] for row in read(table, {"scan.snapshot-id": str(i)})] for i in (1, 2, 3, 4)]
    assert rows == [[], two, two, [*two, (3, "c")]]


def test_py_143_formats_that_cannot_be_read(env):
    env.sql("CREATE TABLE paimon.db.t (id INT) WITH ('manifest.compression' = 'none')")
    for i in (1, 2):
        env.sql(f"INSERT INTO paimon.db.t VALUES ({i})")
    # The first of two files gets the name of a format that is not built; another copy of the table has not been read.
    shutil.copytree(env.path("t"), env.path("u"))
    renamed = []

    def rename(record):
        name = record["_FILE"]["_FILE_NAME"]
        if renamed in ([], [name]):
            renamed[:] = [name]
            record["_FILE"]["_FILE_NAME"] = name.replace(".parquet", ".mosaic")

    for path in sorted(glob.glob(env.path("u", "manifest", "manifest-*"))):
        if "manifest-list" not in path:
            rewrite(path, rename)
    os.rename(env.path("u", "bucket-0", renamed[0]), env.path("u", "bucket-0", renamed[0].replace(".parquet", ".mosaic")))
    builder = env.table("u").new_read_builder()
    for read_some in (lambda: builder.new_read().read_arrow(builder.new_scan().plan().splits()), lambda: env.sql("SELECT * FROM paimon.db.u")):
        with pytest.raises(NotImplementedError, match=f"mosaic.*{renamed[0][:20]}"):
            read_some()


@pytest.mark.parametrize("kind", ["VECTOR<FLOAT, 3>", "BLOB", "GEOMETRY"])
def test_py_143_types_that_cannot_be_read(env, kind):
    env.sql("CREATE TABLE paimon.db.t (id INT, v STRING)")
    env.sql("INSERT INTO paimon.db.t VALUES (1, 'a')")
    shutil.copytree(env.path("t"), env.path("u"))
    path = env.path("u", "schema", "schema-0")
    with open(path, encoding="utf-8") as file:
        schema = json.load(file)
    schema["fields"][1]["type"] = kind
    with open(path, "w", encoding="utf-8") as file:
        json.dump(schema, file)
    for call in (lambda: env.table("u").new_read_builder().new_scan().plan(), lambda: env.sql("SELECT id FROM paimon.db.u")):
        with pytest.raises(NotImplementedError, match=kind) as caught:
            call()
        assert "v" in str(caught.value)


def test_py_255_mosaic_is_not_written(env):
    env.sql("CREATE TABLE paimon.db.t (id INT) WITH ('file.format' = 'mosaic')")
    for call in (lambda: env.sql("INSERT INTO paimon.db.t VALUES (1)"), lambda: env.table("t").new_batch_write_builder().new_write()):
        with pytest.raises(module.UnsupportedError, match="mosaic"):
            call()
    assert not glob.glob(env.path("t", "bucket-*")) and env.table("t").latest_snapshot() is None


def test_file_indexes_are_listed(java):
    """System-tables sheet, `$file_indexes`: one row for each index of each data file, from the heads of the files."""
    table = java("index_bitmap")
    rows = table.rows('SELECT column_name, index_type, storage_type, record_count, is_empty FROM "t$file_indexes"')
    assert sorted(rows) == [("color", "bitmap", "FILE", 40, False)] * 2 + [("size", "bitmap", "FILE", 40, False)] * 2
    for file, path, size, container in table.rows(
        'SELECT file_path, index_file_path, index_size_in_bytes, index_container_size_in_bytes FROM "t$file_indexes"'
    ):
        assert path == file + ".index"
        assert 0 < size < container == os.path.getsize(path.removeprefix("file:"))
    assert table.rows('SELECT count(*) FROM "t$file_indexes" VERSION AS OF 1') == [(2,)]
    assert table.rows('SELECT DISTINCT column_name FROM "t$file_indexes" WHERE index_size_in_bytes = 218') == [("size",)]
    for path in glob.glob(table.path("t", "bucket-0", "*.index")):
        with open(path, "r+b") as index:
            index.truncate(20)
    with pytest.raises(module.CorruptError, match=r"\.index"):
        table.rows('SELECT * FROM "t$file_indexes"')


def test_embedded_file_indexes_are_listed(java):
    table, found = java("index_versions"), 0
    for name in os.listdir(table.path()):
        for column, path, size, container in table.rows(
            "SELECT column_name, index_file_path, index_size_in_bytes, index_container_size_in_bytes "
            f'FROM "{name}$file_indexes" WHERE storage_type = \'EMBEDDED\''
        ):
            assert column in ("s", "n") and path is None and 0 < size < container
            found += 1
    assert found
