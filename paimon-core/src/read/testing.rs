//! A bucket of a primary-key table whose files tests write as they like, and a row model to compare with.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int8Array, Int32Array, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use proptest::prelude::*;
use roaring::RoaringBitmap;

use super::TableRead;
use crate::catalog::Identifier;
use crate::clock::{Clock, SystemClock};
use crate::commit::FileSystemCommit;
use crate::datafile::{FileLayout, RollingWriter, WriterConfig};
use crate::error::Result;
use crate::merge::{MergeRule, sort_merge};
use crate::options::Options;
use crate::predicate::Predicate;
use crate::row::{BinaryRow, NullLayout};
use crate::runtime::Resources;
use crate::scan::{DeletionFile, Split};
use crate::spec::{DataFileMeta, FileSource, TableSchema};
use crate::storage::FileIO;
use crate::table::Table;
use crate::types::testing::{int, row_type, string};
use crate::types::*;

/// A row as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestRow {
    pub(crate) key: i32,
    pub(crate) value: Option<i32>,
    pub(crate) user: Option<i32>,
    pub(crate) sequence: i64,
    pub(crate) kind: i8,
}

impl TestRow {
    pub(crate) fn is_retract(&self) -> bool {
        matches!(self.kind, 1 | 3)
    }
}

/// Partition `dt=x`, bucket 0 of a table `k INT, dt STRING, v INT, s STRING, u INT` with primary key `dt, k`. The column
/// `s` is always `<k>/<sequence>`.
pub(crate) struct TestBucket {
    pub(crate) table: Table,
    pub(crate) partition: BinaryRow,
    dir: String,
}

impl TestBucket {
    pub(crate) fn new(options: &[(&str, &str)]) -> Self {
        let columns = [("k", int()), ("dt", string()), ("v", int()), ("s", string()), ("u", int())];
        let mut fields = row_type(&columns).fields().to_vec();
        for field in &mut fields[..2] {
            field.data_type = field.data_type.with_nullable(false);
        }
        let schema = TableSchema {
            version: 3,
            id: 0,
            fields,
            highest_field_id: 4,
            partition_keys: vec!["dt".to_owned()],
            primary_keys: vec!["dt".to_owned(), "k".to_owned()],
            options: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            comment: None,
            time_millis: 0,
        };
        let location = format!("memory:/test-{}/db.db/t", SystemClock.fresh_id());
        let io = FileIO::from_location(&location, &Options::new()).unwrap();
        let identifier = Identifier::new("db", "t");
        let publisher = Arc::new(FileSystemCommit);
        let table = Table::new(identifier, io, &location, Arc::new(schema), publisher, SystemClock::shared());
        let types = table.schema().partition_type().types();
        let partition =
            BinaryRow::encode(&[Some(Datum::String("x".to_owned()))], &types, NullLayout::Reserved).unwrap();
        let dir = table.paths().bucket_dir(table.schema(), table.options(), &partition, 0).unwrap();
        Self { table, partition, dir }
    }

    /// The same files under a schema with other options.
    pub(crate) fn reopened(&self, options: &[(&str, &str)]) -> Self {
        let mut schema = self.table.schema().as_ref().clone();
        schema.options = options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        let (io, location) = (self.table.io().clone(), self.table.location());
        let publisher = Arc::new(FileSystemCommit);
        let identifier = self.table.identifier().clone();
        let table = Table::new(identifier, io, location, Arc::new(schema), publisher, SystemClock::shared());
        Self { table, partition: self.partition.clone(), dir: self.dir.clone() }
    }

    fn batch(&self, rows: &[TestRow]) -> RecordBatch {
        let mut fields = vec![sequence_number_field(), value_kind_field()];
        fields.extend_from_slice(&self.table.schema().fields);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.sequence))),
            Arc::new(Int8Array::from_iter_values(rows.iter().map(|r| r.kind))),
            Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.key))),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|_| "x"))),
            Arc::new(Int32Array::from_iter(rows.iter().map(|r| r.value))),
            Arc::new(StringArray::from_iter_values(rows.iter().map(|r| format!("{}/{}", r.key, r.sequence)))),
            Arc::new(Int32Array::from_iter(rows.iter().map(|r| r.user))),
        ];
        RecordBatch::try_new(to_arrow_schema(&RowType::new(fields)), columns).unwrap()
    }

    /// Writes rows as a writer flushes them: sorted, one row per key.
    pub(crate) async fn flush(&self, rows: &[TestRow], level: i32) -> Vec<Arc<DataFileMeta>> {
        let rule = MergeRule::try_new(self.table.schema(), self.table.options()).unwrap();
        let batches = sort_merge(&[self.batch(rows)], &rule, 7).unwrap();
        let mut writer = RollingWriter::try_new(WriterConfig {
            io: self.table.io().clone(),
            bucket_dir: self.dir.clone(),
            schema: Arc::clone(self.table.schema()),
            options: self.table.options().clone(),
            layout: FileLayout::KeyValue,
            level,
            source: FileSource::Append,
            clock: SystemClock::shared(),
        })
        .unwrap();
        for batch in &batches {
            writer.write(batch).await.unwrap();
        }
        writer.close().await.unwrap().into_iter().map(Arc::new).collect()
    }

    /// Writes an index file with one vector that deletes these rows.
    pub(crate) async fn vector(&self, rows: &[u32]) -> DeletionFile {
        let mut bin = vec![0x5e, 0x43, 0xf2, 0xd0];
        rows.iter().copied().collect::<RoaringBitmap>().serialize_into(&mut bin).unwrap();
        let mut bytes = vec![1];
        bytes.extend_from_slice(&(bin.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&bin);
        bytes.extend_from_slice(&crc32fast::hash(&bin).to_be_bytes());
        let path = self.table.paths().index(&format!("index-{}", SystemClock.fresh_id()));
        self.table.io().write(&path, bytes.into()).await.unwrap();
        let (length, cardinality) = (bin.len() as i64, Some(rows.len() as i64));
        DeletionFile { path, offset: 1, length, cardinality }
    }

    pub(crate) fn split(&self, files: &[Arc<DataFileMeta>]) -> Split {
        Split {
            snapshot_id: 1,
            partition: self.partition.clone(),
            bucket: 0,
            bucket_path: self.dir.clone(),
            total_buckets: Some(1),
            files: files.to_vec(),
            deletion_files: None,
            streaming: false,
            raw_convertible: false,
            rows: None,
            before: None,
            fallback: false,
        }
    }

    pub(crate) fn read(&self, projection: &[usize], filter: Option<Predicate>, row_kind: bool) -> TableRead {
        TableRead::new(self.table.clone(), projection.to_vec(), filter, row_kind, Resources::default())
    }

    /// The column `s` of all visible rows, in key order.
    pub(crate) async fn visible(&self, files: &[Arc<DataFileMeta>]) -> Vec<String> {
        let read = self.read(&[3], None, false).with_batch_rows(5);
        text_of(read.read_split(&self.split(files)).unwrap().try_collect().await.unwrap())
    }

    pub(crate) async fn file_names(&self) -> Vec<String> {
        let files = self.table.io().list(&self.dir).await.unwrap();
        let mut names: Vec<String> =
            files.into_iter().filter_map(|f| f.path.rsplit('/').next().map(str::to_owned)).collect();
        names.sort();
        names
    }

    /// Which of two rows of one key is newer.
    pub(crate) fn age(&self, a: &TestRow, b: &TestRow) -> Ordering {
        let by_user = self.table.options().contains("sequence.field");
        let user = if by_user { a.user.cmp(&b.user) } else { Ordering::Equal };
        user.then(a.sequence.cmp(&b.sequence)).then(b.is_retract().cmp(&a.is_retract()))
    }

    /// The newest row of each key, if it is no retract.
    pub(crate) fn model(&self, rows: &[TestRow]) -> Vec<TestRow> {
        let mut newest: BTreeMap<i32, TestRow> = BTreeMap::new();
        for row in rows {
            let entry = newest.entry(row.key).or_insert(*row);
            if self.age(row, entry) != Ordering::Less {
                *entry = *row;
            }
        }
        newest.into_values().filter(|r| !r.is_retract()).collect()
    }
}

/// The rows of batches, values separated by bars.
pub(crate) fn text_of(batches: Vec<RecordBatch>) -> Vec<String> {
    let options = FormatOptions::new().with_null("null");
    let mut rows = Vec::new();
    for batch in batches {
        let columns: Vec<_> = batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
        let row = |i: usize| columns.iter().map(|c| c.value(i).to_string()).collect::<Vec<_>>().join("|");
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows
}

/// Runs a future on two threads.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(future)
}

/// All batches of a stream as text, or its error.
pub(crate) async fn collect(stream: Result<crate::format::BatchStream>) -> Result<Vec<String>> {
    Ok(text_of(stream?.try_collect().await?))
}

/// Rows of several flushes; sequence numbers grow from flush to flush.
pub(crate) fn arbitrary_flushes() -> impl Strategy<Value = Vec<Vec<TestRow>>> {
    let number = |n: i32| prop::option::weighted(0.8, 0..n);
    let kind = prop::sample::select(vec![0i8, 0, 0, 2, 1, 3]);
    let rows = prop::collection::vec((0..12i32, number(3), number(4), kind), 1..12);
    prop::collection::vec((rows, prop::bool::weighted(0.5)), 1..6).prop_map(|flushes| {
        let mut sequence = 0;
        let spread = |(rows, far): (Vec<_>, bool), flush: i32| {
            rows.into_iter().map(move |(key, value, user, kind)| {
                // Some flushes keep to keys of their own, so that there are sections of one run.
                let key = if far { 100 * (flush + 1) + key } else { key };
                TestRow { key, value, user, sequence: 0, kind }
            })
        };
        let numbered = flushes.into_iter().zip(0..).map(|(rows, flush)| {
            let rows = spread(rows, flush).map(|row| {
                sequence += 1;
                TestRow { sequence, ..row }
            });
            rows.collect()
        });
        numbered.collect()
    })
}
