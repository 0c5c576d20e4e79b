"""Workloads on TPC-H lineitem, each as a ratio to stock DataFusion over the same Parquet files in the same run.

    run.py [--scale 1] [--runs 5] [--only NAME,NAME] [--data FOLDER]

Watch the last column: time of this package divided by time of the reference, medians of interleaved runs. The reference
is stock DataFusion, or what the workload's name says after "against". Workloads without a counterpart show seconds only.
Absolute times mean little on a shared machine.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import datafusion
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import orc
from made import copied, delete_rows, many_files

from pypaimon_rust.datafusion import PaimonCatalog, SQLContext

LINEITEM = (
    "l_orderkey BIGINT NOT NULL, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT NOT NULL, l_quantity DECIMAL(15,2), "
    "l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag STRING, l_linestatus STRING, "
    "l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING"
)
QUERIES = {
    "q1": "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), sum(l_extendedprice * (1 - l_discount)), "
    "avg(l_quantity), count(*) FROM {t} WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus ORDER BY 1, 2",
    "q6": "SELECT sum(l_extendedprice * l_discount) FROM {t} WHERE l_shipdate >= DATE '1994-01-01' "
    "AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24",
    "string filter": "SELECT count(*) FROM {t} WHERE l_comment LIKE '%special%requests%'",
    "top-k": "SELECT l_orderkey, l_linenumber FROM {t} ORDER BY l_orderkey DESC, l_linenumber LIMIT 10",
    "count": "SELECT count(*) FROM {t}",
    "min max": "SELECT min(l_orderkey), max(l_orderkey) FROM {t}",
}
KEYS = "(id BIGINT NOT NULL, ver INT, amt DOUBLE, name STRING, PRIMARY KEY (id))"
KEY_COUNT = 2_000_000
EDITABLE = "'manifest.compression' = 'null'"
AGGREGATION = {
    "merge-engine": "aggregation",
    "fields.ver.aggregate-function": "max",
    "fields.amt.aggregate-function": "sum",
    "fields.default-aggregate-function": "last_non_null_value",
}
MERGED = "SELECT count(distinct name), sum(id), sum(ver), sum(amt) FROM {t}"


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def lineitem(data, scale):
    path = os.path.join(data, "lineitem.parquet")
    if not os.path.exists(path):
        tool = os.path.join(os.path.dirname(sys.executable), "tpchgen-cli")
        subprocess.run([tool, "parquet", "-s", str(scale), "--tables", "lineitem", "--output-dir", data], check=True)
    return path


def batches(path, limit=None):
    """Batches of the file in the types of the table."""
    rows, out = 0, []
    for batch in pq.ParquetFile(path).iter_batches(batch_size=262_144):
        columns = [c.cast(pa.string()) if pa.types.is_string_view(c.type) else c for c in batch.columns]
        names = batch.schema.names
        fields = [pa.field(n, c.type, n not in ("l_orderkey", "l_linenumber")) for n, c in zip(names, columns)]
        out.append(pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)))
        rows += batch.num_rows
        if limit and rows >= limit:
            break
    return out


def key_batch(low, high, step, version):
    keys = np.arange(low, high, step, dtype=np.int64)
    names = np.char.add("name-", (keys % 100_000).astype(str)).tolist()
    columns = [keys, np.full(len(keys), version, np.int32), (keys * 7919 % 100_003).astype(np.float64) + version, names]
    schema = pa.schema([pa.field("id", pa.int64(), False), ("ver", pa.int32()), ("amt", pa.float64()), ("name", pa.string())])
    return pa.RecordBatch.from_arrays([pa.array(c) for c in columns], schema=schema)


def write(table, data):
    builder = table.new_batch_write_builder()
    writer = builder.new_write()
    for batch in data:
        writer.write_arrow(batch)
    builder.new_commit().commit(writer.prepare_commit())


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder, self.warehouse = args, folder, os.path.join(folder, "warehouse")
        self.catalog = PaimonCatalog({"warehouse": self.warehouse})
        self.ctx = self.context()
        self.ctx.sql("CREATE SCHEMA paimon.b")
        print(f"{'workload':44}{'ours s':>12}{'reference s':>12}{'ratio':>8}")

    def context(self):
        ctx = SQLContext()
        ctx.register_catalog("paimon", {"warehouse": self.warehouse})
        return ctx

    def stock(self, table):
        config = datafusion.SessionConfig().set("datafusion.execution.listing_table_ignore_subdirectory", "false")
        ctx = datafusion.SessionContext(config)
        ctx.register_parquet("t", self.folder_of(table))
        return ctx

    def folder_of(self, table):
        return os.path.join(self.warehouse, "b.db", table)

    def report(self, name, ours, reference=None):
        """Runs both in turn and prints medians."""
        if self.args.only and name not in self.args.only.split(","):
            return
        mine, theirs = [], []
        for run in range(self.args.runs + 1):
            a, b = ours(), reference() if reference else None
            if run:
                mine.append(a)
                theirs.append(b)
        line = f"{name:44}{statistics.median(mine):12.4f}"
        if reference:
            line += f"{statistics.median(theirs):12.4f}{statistics.median(mine) / statistics.median(theirs):8.2f}"
        print(line, flush=True)

    def ours(self, table, sql):
        ctx = self.context()
        return timed(lambda: ctx.sql(sql.format(t=f"paimon.b.{table}")))

    def query(self, name, table, sql):
        def stock():
            ctx = self.stock(table)
            return timed(lambda: ctx.sql(sql.format(t="t")).collect())

        self.report(name, lambda: self.ours(table, sql), stock)

    def scans(self, data):
        self.ctx.sql(f"CREATE TABLE paimon.b.li ({LINEITEM}) WITH ({EDITABLE})")
        write(self.catalog.get_table("b.li"), data)
        for name, sql in QUERIES.items():
            self.query(name, "li", sql)
        delete_rows(copied(self.folder_of("li"), self.folder_of("li_deleted"), {"deletion-vectors.enabled": "true"}), 0.05)
        for name in ("q1", "q6"):
            self.query(f"{name}, 5 % deleted by vectors", "li_deleted", QUERIES[name])

        def read():
            builder = self.catalog.get_table("b.li").new_read_builder()
            return timed(lambda: sum(b.num_rows for b in builder.new_read().read(builder.new_scan().plan().splits())))

        self.report("read in Python, against SELECT *", read, lambda: self.ours("li", "SELECT * FROM {t}"))

    def formats(self, data):
        """The format's own reader in Rust, without Python: needs the repository and cargo."""
        name = "read ORC, against orc-rust"
        if self.args.only and name not in self.args.only.split(","):
            return
        path = os.path.join(self.folder, "lineitem.orc")
        orc.write_table(pa.Table.from_batches(data), path, compression="zstd")
        command = ["cargo", "bench", "-q", "-p", "paimon-core", "--bench", "orc", "--", path, str(self.args.runs)]
        done = subprocess.run(command, capture_output=True, text=True, cwd=os.path.dirname(__file__))
        if done.returncode:
            print(f"{name:44}{done.stderr.strip().splitlines()[-1]}")
            return
        ours, theirs = map(float, done.stdout.split())
        print(f"{name:44}{ours:12.4f}{theirs:12.4f}{ours / theirs:8.2f}", flush=True)

    def merges(self):
        self.ctx.sql(f"CREATE TABLE paimon.b.pk {KEYS} WITH ('bucket' = '2')")
        table = self.catalog.get_table("b.pk")
        write(table, [key_batch(i, i + 250_000, 1, 0) for i in range(0, KEY_COUNT, 250_000)])
        for run in range(1, 9):
            write(table, [key_batch(run, KEY_COUNT, 10, run)])
        self.query("merge of nine runs", "pk", "SELECT count(distinct name), sum(id), sum(ver) FROM {t}")
        self.query("point lookup", "pk", "SELECT * FROM {t} WHERE id = 1234567")
        for name, options in (("aggregation", AGGREGATION), ("partial-update", {"merge-engine": "partial-update"})):
            copied(self.folder_of("pk"), self.folder_of(name), options)
            deduplicate = lambda: self.ours("pk", MERGED)
            self.report(f"{name}, against deduplicate", lambda: self.ours(f'"{name}"', MERGED), deduplicate)
            shutil.rmtree(self.folder_of(name))

        def compact():
            copy = os.path.join(self.warehouse, "c.db")
            shutil.rmtree(copy, ignore_errors=True)
            shutil.copytree(os.path.join(self.warehouse, "b.db"), copy, ignore=lambda _, names: [n for n in names if n == "li"])
            return timed(lambda: self.catalog.get_table("c.pk").new_compact_builder().execute())

        self.report("full compaction", compact)

    def planning(self):
        self.ctx.sql(f"CREATE TABLE paimon.b.many (id BIGINT, p INT) PARTITIONED BY (p) WITH ({EDITABLE})")
        self.ctx.sql("INSERT INTO paimon.b.many VALUES (1, 1)")
        many_files(self.folder_of("many"), 100, 1000)

        def plan(*filters):
            # No manifest of a table of another name is in the cache.
            folder = copied(self.folder_of("many"), self.folder_of(f"many{time.time_ns()}"), {})
            builder = self.catalog.get_table(f"b.{os.path.basename(folder)}").new_read_builder()
            for one in filters:
                builder.with_filter(one)
            seconds = timed(lambda: builder.new_scan().plan())
            shutil.rmtree(folder)
            return seconds

        partition = {"method": "equal", "field": "p", "literals": [7]}
        self.report("plan 1 of 100 partitions, against all", lambda: plan(partition), plan)

    def writes(self, path):
        data = batches(path, 2_000_000)
        source = datafusion.SessionContext()
        source.from_arrow(pa.Table.from_batches(data), "source")

        def ours():
            self.ctx.sql(f"CREATE TABLE paimon.b.w ({LINEITEM})")
            seconds = timed(lambda: write(self.catalog.get_table("b.w"), data))
            self.ctx.sql("DROP TABLE paimon.b.w")
            return seconds

        def stock():
            target = os.path.join(self.folder, "copy.parquet")
            sql = f"COPY source TO '{target}' STORED AS PARQUET OPTIONS ('format.compression' 'zstd(1)')"
            seconds = timed(lambda: source.sql(sql).collect())
            shutil.rmtree(target, ignore_errors=True) if os.path.isdir(target) else os.remove(target)
            return seconds

        self.report("write 2 million rows", ours, stock)

    def commits(self):
        def ours():
            self.ctx.sql(f"CREATE TABLE paimon.b.s {KEYS} WITH ('bucket' = '1')")

            def work():
                for i in range(100):
                    write(self.catalog.get_table("b.s"), [key_batch(i * 10, i * 10 + 100, 1, i)])

            seconds = timed(work)
            self.ctx.sql("DROP TABLE paimon.b.s")
            return seconds

        self.report("100 small commits", ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", default="1")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--data", default=None)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = args.data or folder
        os.makedirs(data, exist_ok=True)
        path = lineitem(data, args.scale)
        bench = Bench(args, folder)
        bench.scans(batches(path))
        bench.formats(batches(path, 2_000_000))
        bench.merges()
        bench.planning()
        bench.writes(path)
        bench.commits()


if __name__ == "__main__":
    main()
