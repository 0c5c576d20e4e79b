"""Creates, writes, reads, upserts, compacts and travels through Paimon tables in a temporary local warehouse."""

import tempfile

import pyarrow as pa

from pypaimon_rust.datafusion import PaimonCatalog, SQLContext

with tempfile.TemporaryDirectory() as warehouse:
    ctx = SQLContext()
    ctx.register_catalog("paimon", {"warehouse": warehouse})
    ctx.sql("CREATE SCHEMA paimon.wdb")
    ctx.sql("CREATE TABLE paimon.wdb.t (id INT, name STRING)")

    catalog = PaimonCatalog({"warehouse": warehouse})
    table = catalog.get_table("wdb.t")
    batch = pa.record_batch(
        [pa.array([1, 2, 3], pa.int32()), pa.array(["alice", "bob", "carol"], pa.string())], names=["id", "name"]
    )
    wb = table.new_batch_write_builder()
    write = wb.new_write()
    write.write_arrow(batch)
    wb.new_commit().commit(write.prepare_commit())

    rb = table.new_read_builder()
    rb.with_projection(["id", "name"])
    rb.with_filter({"method": "greaterThan", "field": "id", "literals": [0]})
    splits = rb.new_scan().plan().splits()
    print("Read through the builders:")
    for b in rb.new_read().read(splits):
        print(pa.Table.from_batches([b]).sort_by("id").to_pylist())

    print("Read through SQL:")
    for b in ctx.sql("SELECT id, name FROM paimon.wdb.t ORDER BY id"):
        print(b.to_pylist())

    ctx.sql("CREATE TABLE paimon.wdb.users (id INT NOT NULL, name STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')")
    for values in ("(1, 'alice'), (2, 'bob')", "(2, 'bobby'), (3, 'carol')", "(3, 'caroline')"):
        ctx.sql(f"INSERT INTO paimon.wdb.users VALUES {values}")
    print("Compaction:", catalog.get_table("wdb.users").new_compact_builder().execute())
    print("Now:", ctx.sql("SELECT * FROM paimon.wdb.users ORDER BY id")[0].to_pylist())
    print("Snapshot 1:", ctx.sql("SELECT * FROM paimon.wdb.users VERSION AS OF 1 ORDER BY id")[0].to_pylist())
