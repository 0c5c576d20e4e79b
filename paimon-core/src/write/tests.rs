//! Whole writes into tables in memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{Array, ArrayRef, AsArray, Int8Array, Int32Array, StringArray};
use arrow::compute::concat_batches;
use arrow::datatypes::{Int8Type, Int32Type, Int64Type};
use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;

use super::*;
use crate::catalog::Identifier;
use crate::clock::{Clock, SystemClock};
use crate::commit::FileSystemCommit;
use crate::datafile::{DataFileReader, FileRequest, key_value_fields};
use crate::error::{Error, ErrorKind, Result};
use crate::options::Options;
use crate::row::{BinaryRow, NullLayout};
use crate::runtime::{MemoryBudget, Resources};
use crate::spec::{CommitKind, CommitMessage, EntryKind, ManifestEntry, Snapshot, TableSchema};
use crate::storage::FileIO;
use crate::table::Table;
use crate::types::testing::*;
use crate::types::*;

/// A table `p STRING, k INT, v STRING` in memory.
fn table(partition: &[&str], key: &[&str], options: &[(&str, &str)]) -> Table {
    let mut fields = row_type(&[("p", string()), ("k", int()), ("v", string())]).fields().to_vec();
    for field in fields.iter_mut().filter(|f| key.contains(&f.name.as_str())) {
        field.data_type = field.data_type.with_nullable(false);
    }
    let names = |names: &[&str]| names.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
    let schema = TableSchema {
        version: 3,
        id: 0,
        fields,
        highest_field_id: 2,
        partition_keys: names(partition),
        primary_keys: names(key),
        options: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        comment: None,
        time_millis: 0,
    };
    let location = format!("memory:/write-{}/db.db/t", SystemClock.fresh_id());
    let io = FileIO::from_location(&location, &Options::new()).unwrap();
    let (publisher, clock) = (Arc::new(FileSystemCommit), SystemClock::shared());
    let table = Table::new(Identifier::new("db", "t"), io, &location, Arc::new(schema), publisher, clock);
    assert!(futures::executor::block_on(table.schemas().create(table.schema())).unwrap());
    table
}

fn with_options(table: &Table, options: &[(&str, &str)]) -> Table {
    let mut schema = table.schema().as_ref().clone();
    schema.options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let (publisher, clock) = (Arc::new(FileSystemCommit), SystemClock::shared());
    Table::new(table.identifier().clone(), table.io().clone(), table.location(), Arc::new(schema), publisher, clock)
}

type Row<'a> = (Option<&'a str>, i32, Option<&'a str>);

fn batch(rows: &[Row<'_>]) -> RecordBatch {
    let columns: [(&str, ArrayRef); 3] = [
        ("p", Arc::new(StringArray::from_iter(rows.iter().map(|r| r.0)))),
        ("k", Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.1)))),
        ("v", Arc::new(StringArray::from_iter(rows.iter().map(|r| r.2)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn writer(table: &Table) -> TableWrite {
    TableWrite::new(table.clone(), false, Resources::default()).unwrap()
}

async fn write(table: &Table, batches: &[RecordBatch]) -> Vec<CommitMessage> {
    let mut write = writer(table);
    for batch in batches {
        write.write(batch).await.unwrap();
    }
    write.prepare_commit().await.unwrap()
}

/// Publishes the messages as the next snapshot, so that it holds nothing else.
async fn publish(table: &Table, messages: &[CommitMessage]) {
    let entry = |message: &CommitMessage| {
        let of = |file: &crate::spec::DataFileMeta| ManifestEntry {
            kind: EntryKind::Add,
            partition: message.partition.clone(),
            bucket: message.bucket,
            total_buckets: message.total_buckets.unwrap(),
            file: file.clone(),
        };
        message.append.new_files.iter().map(of).collect::<Vec<_>>()
    };
    let entries: Vec<_> = messages.iter().flat_map(entry).collect();
    let manifests = table.manifests();
    let written = manifests.write(&entries, table.schema(), table.options()).await.unwrap();
    let (delta, _) = manifests.write_list(&written, table.options()).await.unwrap();
    let (base, _) = manifests.write_list(&[], table.options()).await.unwrap();
    let id = table.snapshots().latest_id().await.unwrap().unwrap_or(0) + 1;
    let snapshot = Snapshot {
        version: Some(3),
        uuid: None,
        id,
        schema_id: 0,
        base_manifest_list: base,
        base_manifest_list_size: None,
        delta_manifest_list: delta,
        delta_manifest_list_size: None,
        changelog_manifest_list: None,
        changelog_manifest_list_size: None,
        index_manifest: None,
        commit_user: "u".to_owned(),
        writer_version: None,
        commit_identifier: id,
        commit_kind: CommitKind::Append,
        time_millis: 0,
        total_record_count: None,
        delta_record_count: None,
        changelog_record_count: None,
        watermark: None,
        statistics: None,
        properties: None,
        next_row_id: None,
        operation: None,
    };
    assert!(table.snapshots().publish(&snapshot).await.unwrap());
}

/// The rows of the files of a message, in order.
async fn rows_of(table: &Table, message: &CommitMessage, fields: &[DataField]) -> RecordBatch {
    let directory = table.paths().bucket_dir(table.schema(), table.options(), &message.partition, message.bucket);
    let directory = directory.unwrap();
    let mut batches = Vec::new();
    for file in &message.append.new_files {
        let request = FileRequest {
            path: format!("{directory}/{}", file.file_name),
            file: Arc::new(file.clone()),
            partition: message.partition.clone(),
            fields: fields.to_vec(),
            filter: None,
            batch_rows: 100,
        };
        let stream = DataFileReader::for_table(table).read(request).await.unwrap();
        batches.extend(stream.try_collect::<Vec<_>>().await.unwrap());
    }
    concat_batches(&to_arrow_schema(&RowType::new(fields.to_vec())), &batches).unwrap()
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> &'a ArrayRef {
    batch.column_by_name(name).unwrap()
}

fn ints(batch: &RecordBatch, name: &str) -> Vec<i32> {
    column(batch, name).as_primitive::<Int32Type>().values().to_vec()
}

#[tokio::test]
async fn append_rows_stay_in_order_per_partition() {
    let table = table(&["p"], &[], &[]);
    let batches =
        [batch(&[(Some("a"), 1, None), (None, 2, None), (Some("a"), 3, None)]), batch(&[(None, 4, None)]), batch(&[])];
    let messages = write(&table, &batches).await;
    let mut found = BTreeMap::new();
    for message in &messages {
        assert_eq!((message.bucket, message.total_buckets), (0, Some(-1)));
        let rows = rows_of(&table, message, &table.schema().fields).await;
        let partition = message.partition.decode(&[string()]).unwrap();
        let expected = (0..rows.num_rows()).map(|i| {
            let texts = column(&rows, "p").as_string::<i32>();
            texts.is_valid(i).then(|| text(texts.value(i)))
        });
        assert!(expected.into_iter().all(|v| vec![v] == partition));
        found.insert(format!("{partition:?}"), ints(&rows, "k"));
    }
    assert_eq!(found.into_values().collect::<Vec<_>>(), [vec![2, 4], vec![1, 3]]);
}

#[tokio::test]
async fn key_rows_are_merged_and_numbered_from_the_snapshot() {
    let options = [("bucket", "2")];
    let table = table(&[], &["k"], &options);
    let first = [batch(&[(None, 5, Some("a")), (None, -1, Some("b"))]), batch(&[(None, 5, Some("c"))])];
    let messages = write(&table, &first).await;
    let fields = key_value_fields(&table.schema().fields);
    let mut total = 0;
    for message in &messages {
        let rows = rows_of(&table, message, &fields).await;
        assert!(ints(&rows, "k").is_sorted());
        let kinds = column(&rows, "_VALUE_KIND").as_primitive::<Int8Type>();
        assert!(kinds.values().iter().all(|k| *k == 0));
        total += rows.num_rows();
        if let Some(i) = ints(&rows, "k").iter().position(|k| *k == 5) {
            assert_eq!(column(&rows, "v").as_string::<i32>().value(i), "c");
        }
        assert_eq!(message.append.new_files[0].level, 0);
    }
    assert_eq!(total, 2);
    publish(&table, &messages).await;

    let again = write(&table, &[batch(&[(None, 5, Some("d"))])]).await;
    let bucket = again[0].bucket;
    let before = messages.iter().find(|m| m.bucket == bucket).unwrap();
    let greatest = before.append.new_files.iter().map(|f| f.max_sequence_number).max().unwrap();
    assert_eq!(again[0].append.new_files[0].min_sequence_number, greatest + 1);

    let mut anew = TableWrite::new(table.clone(), true, Resources::default()).unwrap();
    anew.write(&batch(&[(None, 5, Some("e"))])).await.unwrap();
    assert_eq!(anew.prepare_commit().await.unwrap()[0].append.new_files[0].min_sequence_number, 0);

    let rescaled = with_options(&table, &[("bucket", "3")]);
    let error = writer(&rescaled).write(&batch(&[(None, 5, None)])).await.unwrap_err();
    assert!(error.message().starts_with(
        "Try to write table with a new bucket num 3, but the previous bucket num is 2. Please switch to batch mode"
    ));
    let mut overwrite = TableWrite::new(rescaled, true, Resources::default()).unwrap();
    overwrite.write(&batch(&[(None, 5, None)])).await.unwrap();
    assert_eq!(overwrite.prepare_commit().await.unwrap()[0].total_buckets, Some(3));
}

#[tokio::test]
async fn sequences_are_restored_per_partition() {
    let options = [("bucket", "1"), ("bucket-key", "k")];
    let table = table(&["p"], &[], &options);
    let rows = batch(&[(Some("a"), 1, None), (Some("a"), 2, None), (None, 3, None)]);
    publish(&table, &write(&table, &[rows]).await).await;
    let mut write = writer(&table);
    for partition in [Some("new"), Some("a"), None] {
        write.write(&batch(&[(partition, 9, None)])).await.unwrap();
    }
    let found: BTreeMap<_, _> = write
        .prepare_commit()
        .await
        .unwrap()
        .iter()
        .map(|m| (format!("{:?}", m.partition.decode(&[string()]).unwrap()), m.append.new_files[0].min_sequence_number))
        .collect();
    assert_eq!(found.into_values().collect::<Vec<_>>(), [1, 2, 0]);

    let rescaled = with_options(&table, &[("bucket", "2"), ("bucket-key", "k")]);
    let error = writer(&rescaled).write(&batch(&[(Some("a"), 1, None)])).await.unwrap_err();
    assert!(error.message().starts_with("Try to write partition {p=a} with a new bucket num 2"), "{error}");
    assert!(writer(&rescaled).write(&batch(&[(Some("new"), 1, None)])).await.is_ok());
}

#[tokio::test]
async fn kinds_are_kept_for_key_tables() {
    let table = table(&[], &["k"], &[("bucket", "1")]);
    let mut write = writer(&table);
    let rows = batch(&[(None, 1, Some("a")), (None, 2, Some("b"))]);
    write.write_changes(&rows, &Int8Array::from(vec![0, 3])).await.unwrap();
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(messages[0].append.new_files[0].delete_row_count, Some(1));
    let rows = rows_of(&table, &messages[0], &key_value_fields(&table.schema().fields)).await;
    assert_eq!(column(&rows, "_VALUE_KIND").as_primitive::<Int8Type>().values(), &[0, 3]);
    assert_eq!(column(&rows, "_SEQUENCE_NUMBER").as_primitive::<Int64Type>().values(), &[0, 1]);
}

#[tokio::test]
async fn a_write_works_once() {
    let table = table(&[], &[], &[]);
    let mut write = writer(&table);
    assert!(write.prepare_commit().await.unwrap().is_empty());
    for outcome in [write.prepare_commit().await.map(|_| ()), write.write(&batch(&[(None, 1, None)])).await] {
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::InvalidState);
    }
}

#[tokio::test]
async fn a_batch_that_does_not_fit_leaves_the_write_as_it_was() {
    let table = table(&[], &["k"], &[("bucket", "2")]);
    let mut write = writer(&table);
    write.write(&batch(&[(None, 1, Some("a"))])).await.unwrap();
    let wrong = batch(&[(None, 2, None)]).project(&[0, 1]).unwrap();
    assert_eq!(write.write(&wrong).await.unwrap_err().kind(), ErrorKind::SchemaMismatch);
    assert_eq!(
        write.write_with_bucket(&batch(&[(None, 2, None)]), 2).await.unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
    let messages = write.prepare_commit().await.unwrap();
    assert_eq!(messages.iter().flat_map(|m| &m.append.new_files).map(|f| f.row_count).sum::<i64>(), 1);
}

#[tokio::test]
async fn aborted_writes_leave_nothing() {
    for (key, options) in [(&[][..], &[][..]), (&["k"], &[("bucket", "1"), ("write-buffer-size", "1 b")])] {
        let table = table(&[], key, options);
        let mut write = writer(&table);
        let rows: Vec<Row<'_>> = (0..3_000).map(|k| (None, k, Some("value"))).collect();
        write.write(&batch(&rows)).await.unwrap();
        write.abort().await;
        let directory = table.paths().bucket_dir(table.schema(), table.options(), &BinaryRow::empty(), 0).unwrap();
        assert!(table.io().list(&directory).await.unwrap().is_empty());
        assert_eq!(write.write(&batch(&rows)).await.unwrap_err().kind(), ErrorKind::InvalidState);
    }
}

/// A budget that counts, with a limit.
#[derive(Debug)]
struct Limited {
    used: AtomicUsize,
    limit: usize,
}

impl MemoryBudget for Limited {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        if self.used.load(Ordering::SeqCst) + bytes > self.limit {
            return Err(Error::new(ErrorKind::MemoryExhausted, "the budget is used up"));
        }
        self.used.fetch_add(bytes, Ordering::SeqCst);
        Ok(())
    }

    fn shrink(&self, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn buffers_stay_within_the_buffer_size_and_the_budget() {
    let value = "x".repeat(1_000);
    let rows = |start: i32| {
        let rows: Vec<Row<'_>> = (start..start + 100).map(|k| (None, k, Some(value.as_str()))).collect();
        batch(&rows)
    };
    for (options, limit) in
        [(vec![("bucket", "2"), ("write-buffer-size", "150 kb")], usize::MAX / 2), (vec![("bucket", "2")], 150 << 10)]
    {
        let table = table(&[], &["k"], &options);
        let budget = Arc::new(Limited { used: AtomicUsize::new(0), limit });
        let memory: Arc<dyn MemoryBudget> = budget.clone();
        let mut write =
            TableWrite::new(table.clone(), false, Resources { memory, parallelism: 2, ..Resources::default() })
                .unwrap();
        for i in 0..10 {
            write.write(&rows(i * 50)).await.unwrap();
            assert!(budget.used.load(Ordering::SeqCst) <= 150 << 10);
        }
        let messages = write.prepare_commit().await.unwrap();
        assert_eq!(budget.used.load(Ordering::SeqCst), 0);
        let files: Vec<_> = messages.iter().flat_map(|m| &m.append.new_files).collect();
        assert!(files.len() > 4, "{}", files.len());
        let mut keys = Vec::new();
        for message in &messages {
            keys.extend(ints(&rows_of(&table, message, &table.schema().fields).await, "k"));
        }
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys, (0..550).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn what_cannot_be_written_is_refused_at_once() {
    type Case = (&'static [&'static str], &'static [(&'static str, &'static str)], &'static str);
    let cases: [Case; 8] = [
        (&["k"], &[("bucket", "-1")], "bucket"),
        (&["k"], &[("bucket", "-2")], "bucket"),
        (&["k"], &[("bucket", "1"), ("changelog-producer", "lookup")], "changelog-producer"),
        (&["k"], &[("bucket", "1"), ("merge-engine", "aggregation")], "merge-engine"),
        (&["k"], &[("bucket", "1"), ("deletion-vectors.enabled", "true")], "deletion-vectors.enabled"),
        (&[], &[("row-tracking.enabled", "true")], "row-tracking.enabled"),
        (&[], &[("file.format", "orc")], "orc"),
        (&[], &[("file.compression", "lzo")], "lzo"),
    ];
    for (key, options, part) in cases {
        let error = TableWrite::new(table(&[], key, options), false, Resources::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{options:?}");
        assert!(error.to_string().contains(part), "{error}");
    }
}

#[tokio::test]
async fn many_partitions_are_written_side_by_side() {
    let table = table(&["p"], &["p", "k"], &[("bucket", "2")]);
    let partitions: Vec<String> = (0..40).map(|i| format!("part {i}")).collect();
    let rows: Vec<Row<'_>> = (0..4_000).map(|k| (Some(partitions[k as usize % 40].as_str()), k / 40, None)).collect();
    let messages = write(&table, &[batch(&rows[..2_000]), batch(&rows[2_000..])]).await;
    assert!(messages.len() > 40 && messages.len() <= 80);
    let rows = messages.iter().flat_map(|m| &m.append.new_files).map(|f| f.row_count).sum::<i64>();
    assert_eq!(rows, 4_000);
    let null = BinaryRow::encode(&[None], &[string()], NullLayout::Reserved).unwrap();
    assert!(messages.iter().all(|m| m.partition != null));
}
