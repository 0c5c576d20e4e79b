//! Compactions through the public API: metrics, snapshots, visible rows.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use futures::TryStreamExt;
use paimon_core::error::ErrorKind;
use paimon_core::predicate::PredicateBuilder;
use paimon_core::spec::CommitKind;
use paimon_core::table::CompactMetrics;
use paimon_core::types::{DataType, Datum, IntType, VarCharType};
use paimon_core::{Catalog, CatalogFactory, CatalogOptions, Identifier, Options, Schema, Table};

struct Warehouse {
    catalog: Arc<dyn Catalog>,
    _dir: tempfile::TempDir,
}

impl Warehouse {
    async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut options = Options::new();
        options.set(CatalogOptions::WAREHOUSE, dir.path().to_str().unwrap());
        let catalog = CatalogFactory::create(options).await.unwrap();
        catalog.create_database("db", false, HashMap::new()).await.unwrap();
        Self { catalog, _dir: dir }
    }

    /// Table `db.t` of `id INT, v INT, dt STRING`.
    async fn table(&self, primary_key: &[&str], partition: &[&str], options: &[(&str, &str)]) -> Table {
        let mut schema = Schema::builder()
            .column("id", DataType::Int(IntType::with_nullable(false)))
            .column("v", DataType::Int(IntType::new()))
            .column("dt", DataType::VarChar(VarCharType::string_type()).with_nullable(false));
        if !primary_key.is_empty() {
            schema = schema.primary_key(primary_key.iter().copied());
        }
        if !partition.is_empty() {
            schema = schema.partition_keys(partition.iter().copied());
        }
        for (key, value) in options {
            schema = schema.option(*key, *value);
        }
        let identifier = Identifier::new("db", "t");
        self.catalog.create_table(&identifier, schema.build().unwrap(), false).await.unwrap();
        self.catalog.get_table(&identifier).await.unwrap()
    }
}

async fn insert(table: &Table, rows: &[(i32, i32, &str)]) {
    let batch = RecordBatch::try_from_iter([
        ("id", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.0))) as _),
        ("v", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.1))) as _),
        ("dt", Arc::new(StringArray::from_iter_values(rows.iter().map(|r| r.2))) as _),
    ]);
    let builder = table.new_batch_write_builder();
    let mut write = builder.new_write().unwrap();
    write.write(&batch.unwrap()).await.unwrap();
    builder.new_commit().commit(write.prepare_commit().await.unwrap()).await.unwrap();
}

/// Visible rows as `id=v`, sorted.
async fn rows(table: &Table) -> Vec<String> {
    let builder = table.new_read_builder();
    let plan = builder.new_scan().plan().await.unwrap();
    let stream = builder.new_read().unwrap().to_arrow(plan.splits()).unwrap();
    let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
    let mut rows = Vec::new();
    for batch in batches {
        let (id, v) = (batch.column(0).as_primitive::<Int32Type>(), batch.column(1).as_primitive::<Int32Type>());
        rows.extend(id.values().iter().zip(v.values()).map(|(id, v)| format!("{id}={v}")));
    }
    rows.sort();
    rows
}

async fn files(table: &Table) -> usize {
    let plan = table.new_read_builder().new_scan().plan().await.unwrap();
    plan.splits().iter().map(|s| s.files.len()).sum()
}

fn counts(metrics: CompactMetrics) -> [i64; 4] {
    [metrics.tasks, metrics.files_removed, metrics.files_added, metrics.rows_written]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_compaction_reports_what_it_did_once() {
    let warehouse = Warehouse::new().await;
    let table = warehouse.table(&["id"], &[], &[("bucket", "1")]).await;
    assert_eq!(table.new_compact_builder().execute().await.unwrap(), CompactMetrics::default());
    for v in 0..4 {
        insert(&table, &[(1, v, ""), (v + 10, 0, "")]).await;
    }
    let before = rows(&table).await;
    let builder = table.new_compact_builder().with_commit_user("me").unwrap();
    let metrics = builder.execute().await.unwrap();
    assert_eq!(counts(metrics), [1, 4, 1, 5]);
    assert!(metrics.bytes_written > 0);

    let latest = table.snapshots().latest().await.unwrap().unwrap();
    assert_eq!((latest.id, latest.commit_kind, latest.total_record_count), (5, CommitKind::Compact, Some(5)));
    assert!(latest.commit_user.starts_with("me-compact-"), "{}", latest.commit_user);
    assert_eq!(rows(&table).await, before);
    assert_eq!(before, ["10=0", "11=0", "12=0", "13=0", "1=3"]);

    assert_eq!(builder.execute().await.unwrap(), CompactMetrics::default());
    assert_eq!(table.snapshots().latest_id().await.unwrap(), Some(5));
    let old = table.at(table.snapshots().get(2).await.unwrap()).await.unwrap();
    assert_eq!(rows(&old).await, ["10=0", "11=0", "1=1"]);
    insert(&table, &[(1, 99, "")]).await;
    assert!(rows(&table).await.contains(&"1=99".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn small_files_of_append_partitions_are_joined() {
    let warehouse = Warehouse::new().await;
    let table = warehouse.table(&[], &["dt"], &[("bucket", "-1")]).await;
    for v in 0..4 {
        insert(&table, &[(v, v, "x"), (v + 10, v, if v % 2 == 0 { "y" } else { "x" })]).await;
    }
    insert(&table, &[(99, 1, "z")]).await;
    let before = rows(&table).await;
    assert_eq!(counts(table.new_compact_builder().with_minor(true).execute().await.unwrap()), [0; 4]);

    let dt = PredicateBuilder::new(&table.schema().row_type(), true);
    let only_y = dt.equal("dt", Datum::String("y".to_owned())).unwrap();
    let filtered = table.new_compact_builder().with_partition_filter(only_y).unwrap();
    assert_eq!(counts(filtered.execute().await.unwrap()), [1, 2, 1, 2]);
    assert_eq!(counts(table.new_compact_builder().execute().await.unwrap()), [1, 4, 1, 6]);
    assert_eq!((rows(&table).await, files(&table).await), (before, 3));
    assert_eq!(counts(table.new_compact_builder().execute().await.unwrap()), [0; 4]);

    let by_id = dt.equal("id", Datum::Int(1)).unwrap();
    let error = table.new_compact_builder().with_partition_filter(by_id).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.message().contains("id"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fixed_buckets_of_append_tables_keep_their_order() {
    let warehouse = Warehouse::new().await;
    let table = warehouse.table(&[], &[], &[("bucket", "1"), ("bucket-key", "id")]).await;
    for v in 0..3 {
        insert(&table, &[(v, v, ""), (v + 10, v, "")]).await;
    }
    let before = rows(&table).await;
    assert_eq!(counts(table.new_compact_builder().execute().await.unwrap()), [1, 3, 1, 6]);
    assert_eq!((rows(&table).await, files(&table).await), (before, 1));
    assert_eq!(counts(table.new_compact_builder().execute().await.unwrap()), [0; 4]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_minor_compaction_waits_for_the_trigger() {
    let warehouse = Warehouse::new().await;
    let table = warehouse.table(&["id"], &[], &[("bucket", "1")]).await;
    for v in 0..4 {
        insert(&table, &[(v, v, "")]).await;
    }
    let minor = || table.new_compact_builder().with_minor(true);
    assert_eq!(counts(minor().execute().await.unwrap()), [0; 4]);
    insert(&table, &[(4, 4, "")]).await;
    assert_eq!(counts(minor().execute().await.unwrap()), [1, 5, 1, 5]);
    assert_eq!(rows(&table).await, ["0=0", "1=1", "2=2", "3=3", "4=4"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_that_cannot_be_compacted_are_refused_by_name() {
    for (key, value) in
        [("merge-engine", "aggregation"), ("changelog-producer", "lookup"), ("record-level.expire-time", "1 d")]
    {
        let warehouse = Warehouse::new().await;
        let table = warehouse.table(&["id"], &[], &[("bucket", "1")]).await;
        insert(&table, &[(1, 1, "")]).await;
        insert(&table, &[(1, 2, "")]).await;
        let mut schema = table.schema().as_ref().clone();
        schema.options.insert(key.to_owned(), value.to_owned());
        schema.id = 1;
        let document = schema.to_json().into_bytes();
        table.io().write(&table.paths().schema(1), document.into()).await.unwrap();
        let error = table.new_compact_builder().execute().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        assert!(error.message().contains(value) || error.message().contains(key), "{error}");
        assert_eq!(table.snapshots().latest_id().await.unwrap(), Some(2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn compactions_at_the_same_time_lose_no_row() {
    let warehouse = Warehouse::new().await;
    let table = warehouse.table(&["id"], &[], &[("bucket", "2")]).await;
    for v in 0..6 {
        insert(&table, &[(1, v, ""), (2, v, ""), (v + 10, v, "")]).await;
    }
    let mut tasks = tokio::task::JoinSet::new();
    for n in 0..4 {
        let table = table.clone();
        tasks.spawn(async move {
            if n % 2 == 0 {
                let result = table.new_compact_builder().execute().await;
                assert!(
                    result.as_ref().is_ok() || matches!(result.as_ref().unwrap_err().kind(), ErrorKind::Conflict(_))
                );
            } else {
                insert(&table, &[(n + 100, n, ""), (1, n * 100, "")]).await;
            }
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.unwrap();
    }
    let seen = rows(&table).await;
    assert_eq!(seen.len(), 10, "{seen:?}");
    table.new_compact_builder().execute().await.unwrap();
    assert_eq!(rows(&table).await, seen);
}
