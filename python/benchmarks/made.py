"""Tables that are made by editing the metadata of a table: what no writer gives within the time of a benchmark.

The table must be written with 'manifest.compression' = 'null', so that its manifests are edited without another library
of compression, and hold one snapshot or have its last one be complete in its base and delta lists.
"""

import copy
import glob
import json
import os
import shutil
import struct
import uuid
import zlib

import fastavro
import numpy as np

DELETED = 0x5E43F2D0
NO_RUNS = 12346


def copied(table, target, options):
    """A copy of the table's folder with further options, whatever rules those may break on a table in use."""
    shutil.copytree(table, target)
    for path in glob.glob(os.path.join(target, "schema", "schema-*")):
        with open(path) as file:
            schema = json.load(file)
        schema["options"].update(options)
        write_json(path, schema)
    return target


def write_json(path, value):
    with open(path, "w") as file:
        json.dump(value, file)


def read_avro(path):
    with open(path, "rb") as file:
        reader = fastavro.reader(file)
        return reader.writer_schema, list(reader)


def write_avro(path, schema, records):
    with open(path, "wb") as file:
        fastavro.writer(file, schema, records)
    return os.path.getsize(path)


class Last:
    """The last snapshot of a table and its manifests."""

    def __init__(self, table):
        self.table, self.manifests = table, os.path.join(table, "manifest")
        ids = [int(name.removeprefix("snapshot-")) for name in os.listdir(os.path.join(table, "snapshot")) if "-" in name]
        self.path = os.path.join(table, "snapshot", f"snapshot-{max(ids)}")
        with open(self.path) as file:
            self.snapshot = json.load(file)
        self.lists, self.files = [], []
        for name in (self.snapshot["baseManifestList"], self.snapshot["deltaManifestList"]):
            self.list_schema, entries = read_avro(os.path.join(self.manifests, name))
            self.lists += entries
        for entry in self.lists:
            self.file_schema, entries = read_avro(os.path.join(self.manifests, entry["_FILE_NAME"]))
            self.files += entries

    def save(self):
        write_json(self.path, self.snapshot)


def many_files(table, manifests, files):
    """Makes the one file of a table partitioned by one INT stand in each of `manifests` manifests `files` times under
    other names, in the partition of the manifest's number. Those files do not exist: the table can only be planned."""
    last = Last(table)
    entry, like = last.files[0], last.lists[0]
    lists = []
    for number in range(manifests):
        partition = struct.pack(">i", 1) + bytes(8) + struct.pack("<q", number)
        records = []
        for _ in range(files):
            record = copy.deepcopy(entry)
            record["_PARTITION"] = partition
            record["_FILE"]["_FILE_NAME"] = f"data-{uuid.uuid4()}-0.parquet"
            records.append(record)
        name = f"manifest-{uuid.uuid4()}-0"
        size = write_avro(os.path.join(last.manifests, name), last.file_schema, records)
        stats = {"_MIN_VALUES": partition, "_MAX_VALUES": partition, "_NULL_COUNTS": [0]}
        lists.append(dict(like, _FILE_NAME=name, _FILE_SIZE=size, _NUM_ADDED_FILES=files, _PARTITION_STATS=stats))
    snapshot = last.snapshot
    for key, records in (("baseManifestList", lists), ("deltaManifestList", [])):
        # Under names of their own: readers take a file of a known name to be the one they know.
        snapshot[key] = f"manifest-list-{uuid.uuid4()}-0"
        snapshot[f"{key}Size"] = write_avro(os.path.join(last.manifests, snapshot[key]), last.list_schema, records)
    snapshot["totalRecordCount"] = manifests * files * entry["_FILE"]["_ROW_COUNT"]
    last.save()


def bitmap(positions):
    """A Roaring bitmap of array containers, which hold at most 4,096 positions out of 65,536."""
    containers = [(high, positions[positions >> 16 == high] & 0xFFFF) for high in np.unique(positions >> 16)]
    head = struct.pack("<II", NO_RUNS, len(containers))
    head += b"".join(struct.pack("<HH", high, len(low) - 1) for high, low in containers)
    offset, offsets = len(head) + 4 * len(containers), b""
    for _, low in containers:
        offsets += struct.pack("<I", offset)
        offset += 2 * len(low)
    return head + offsets + b"".join(low.astype("<u2").tobytes() for _, low in containers)


def delete_rows(table, share):
    """Deletes a random share of the rows of each file by deletion vectors; returns how many."""
    last, random = Last(table), np.random.default_rng(7)
    folder = os.path.join(table, "index")
    os.makedirs(folder, exist_ok=True)
    entries, deleted = [], 0
    for file in last.files:
        rows = file["_FILE"]["_ROW_COUNT"]
        positions = np.sort(random.choice(rows, int(rows * share), replace=False))
        body = struct.pack(">I", DELETED) + bitmap(positions)
        blob = b"\x01" + struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
        name = f"index-{uuid.uuid4()}-0"
        with open(os.path.join(folder, name), "wb") as out:
            out.write(blob)
        vector = {"f0": file["_FILE"]["_FILE_NAME"], "f1": 1, "f2": len(body), "_CARDINALITY": len(positions)}
        entries.append(
            {"_VERSION": 1, "_KIND": 0, "_PARTITION": file["_PARTITION"], "_BUCKET": file["_BUCKET"]}
            | {"_INDEX_TYPE": "DELETION_VECTORS", "_FILE_NAME": name, "_FILE_SIZE": len(blob), "_ROW_COUNT": 1}
            | {"_DELETIONS_VECTORS_RANGES": [vector]}
        )
        deleted += len(positions)
    name = f"index-manifest-{uuid.uuid4()}-0"
    write_avro(os.path.join(last.manifests, name), INDEX_MANIFEST, entries)
    last.snapshot["indexManifest"] = name
    last.save()
    return deleted


def field(name, kind):
    return {"name": name, "type": kind}


NAME = "org.apache.paimon.avro.generated.record"
VECTOR = {
    "type": "record",
    "name": f"{NAME}__DELETIONS_VECTORS_RANGES",
    "fields": [field("f0", "string"), field("f1", "int"), field("f2", "int"), field("_CARDINALITY", ["null", "long"])],
}
INDEX_MANIFEST = {
    "type": "record",
    "name": NAME,
    "fields": [field("_VERSION", "int"), field("_KIND", "int"), field("_PARTITION", "bytes"), field("_BUCKET", "int")]
    + [field("_INDEX_TYPE", "string"), field("_FILE_NAME", "string"), field("_FILE_SIZE", "long")]
    + [field("_ROW_COUNT", "long")]
    + [field("_DELETIONS_VECTORS_RANGES", ["null", {"type": "array", "items": ["null", VECTOR]}])],
}
