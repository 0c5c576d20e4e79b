"""Writes the ORC files of this folder with pyarrow 26.0.1, and their rows as `rows.arrow`."""

import decimal
import random

import pyarrow as pa
import pyarrow.orc

ROWS = 2_000
rng = random.Random(7)


def number(i):
    """Runs of every kind: steps, repeats, small numbers with outliers, and noise."""
    kind = i // 700 % 4
    if kind == 0:
        return i * 3
    if kind == 1:
        return -42
    if kind == 2:
        return rng.randrange(100) - (1 << 40 if i % 97 == 0 else 0)
    return rng.randrange(-(1 << 62), 1 << 62)


def column(data_type, value, nulls=0.2):
    """Nulls come in runs and one by one."""
    quiet = set(range(1_000, 1_600))
    valid = [i in quiet or rng.random() >= nulls for i in range(ROWS)]
    return pa.array([value(i) if v else None for i, v in enumerate(valid)], data_type)


def narrow(bits):
    return lambda i: ((number(i) + (1 << (bits - 1))) % (1 << bits)) - (1 << (bits - 1))


def items(value, i):
    return None if rng.random() < 0.1 else [None if rng.random() < 0.1 else value(i + j) for j in range(rng.randrange(4))]


row = pa.struct([("x", pa.int32()), ("y", pa.list_(pa.field("element", pa.string())))])
table = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int32()),
        "b": column(pa.bool_(), lambda i: rng.random() < 0.3),
        "i8": column(pa.int8(), narrow(8)),
        "i16": column(pa.int16(), narrow(16)),
        "i32": column(pa.int32(), narrow(32)),
        "i64": column(pa.int64(), number),
        "f": column(pa.float32(), lambda i: i / 8),
        "d": column(pa.float64(), lambda i: rng.random() * 1e300),
        "s": column(pa.string(), lambda i: "é" * (i % 7) + str(rng.randrange(10_000))),
        "few": column(pa.string(), lambda i: "word" * (i % 3) + str(i % 11)),
        "by": column(pa.binary(), lambda i: rng.randbytes(i % 9)),
        "da": column(pa.date32(), lambda i: i * 3 - 4_000),
        "d9": column(pa.decimal128(9, 2), lambda i: decimal.Decimal(rng.randrange(-(10**9) + 1, 10**9)) / 100),
        "d38": column(pa.decimal128(38, 10), lambda i: decimal.Decimal(rng.randrange(-(10**28), 10**28)).scaleb(-10)),
        "ts": column(pa.timestamp("ns"), lambda i: 1_500_000_000 * 10**9 + i * 10 ** (i % 12)),
        "l": column(pa.list_(pa.field("element", pa.int64())), lambda i: items(number, i)),
        "m": column(pa.map_(pa.string(), pa.int32()), lambda i: [(f"k{j}", j) for j in range(i % 4)]),
        "r": column(row, lambda i: {"x": i if i % 3 else None, "y": items(str, i)}),
    }
)
common = dict(stripe_size=64 << 10, batch_size=500, row_index_stride=1_000)
pyarrow.orc.write_table(table, "v2-plain.orc", **common)
pyarrow.orc.write_table(table, "v2-zstd-dictionary.orc", compression="zstd", dictionary_key_size_threshold=0.8, **common)
pyarrow.orc.write_table(table, "v1-zlib.orc", compression="zlib", file_version="0.11", **common)
pyarrow.orc.write_table(table, "v1-lz4-dictionary.orc", compression="lz4", file_version="0.11", dictionary_key_size_threshold=1.0, **common)
with pa.OSFile("rows.arrow", "wb") as sink, pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
    writer.write_table(table)
