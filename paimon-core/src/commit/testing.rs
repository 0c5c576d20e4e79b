//! Tables in memory whose data files exist in metadata only, and publishers that fail.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use super::*;
use crate::catalog::Identifier;
use crate::clock::{Clock, SystemClock};
use crate::error::{Error, ErrorKind, Result};
use crate::maintain::{ExpireConfig, expire_snapshots};
use crate::meta::{Schemas, TablePaths};
use crate::options::Options;
use crate::row::{BinaryRow, NullLayout};
use crate::scan::live_entries;
use crate::spec::{
    CommitMessage, CompactIncrement, DataFileMeta, DataIncrement, FileSource, Schema, SimpleStats, Snapshot,
    TableSchema,
};
use crate::storage::FileIO;
use crate::table::Table;
use crate::types::testing::{int, string};
use crate::types::{DataType, Datum};

/// A table `p STRING, k INT, v STRING`, partitioned by `p` and keyed by `p, k` if asked for.
pub(crate) async fn table(partitioned: bool, keyed: bool, options: &[(&str, &str)]) -> Table {
    let mut schema = Schema::builder().column("p", string()).column("k", int()).column("v", string());
    if partitioned {
        schema = schema.partition_keys(["p"]);
    }
    if keyed {
        schema = schema.primary_key(if partitioned { vec!["p", "k"] } else { vec!["k"] });
    }
    for (key, value) in options {
        schema = schema.option(*key, *value);
    }
    let schema = TableSchema::create(&schema.build().unwrap(), 0).unwrap();
    let location = format!("memory:/commit-{}/db.db/t", SystemClock.fresh_id());
    let io = FileIO::from_location(&location, &Options::new()).unwrap();
    let paths = TablePaths::new(location.as_str(), "main");
    assert!(Schemas::new(io.clone(), paths).create(&schema).await.unwrap());
    table_at(&io, &location, Arc::new(schema), Arc::new(FileSystemCommit))
}

fn table_at(io: &FileIO, location: &str, schema: Arc<TableSchema>, publisher: Arc<dyn SnapshotCommit>) -> Table {
    Table::new(Identifier::new("db", "t"), io.clone(), location, schema, publisher, SystemClock::shared())
}

/// The same table with another publisher.
pub(crate) fn with_publisher(table: &Table, publisher: Arc<dyn SnapshotCommit>) -> Table {
    table_at(table.io(), table.location(), Arc::clone(table.schema()), publisher)
}

/// Adds a schema version with these options; gives the table with it.
pub(crate) async fn altered(table: &Table, options: &[(&str, &str)]) -> Table {
    let latest = table.schemas().latest().await.unwrap().unwrap();
    let mut schema = latest.as_ref().clone();
    schema.id += 1;
    schema.options.extend(options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())));
    assert!(table.schemas().create(&schema).await.unwrap());
    table.refresh().await.unwrap()
}

pub(crate) fn partition(name: &str) -> BinaryRow {
    let types = [DataType::clone(&string())];
    BinaryRow::encode(&[Some(Datum::String(name.to_owned()))], &types, NullLayout::Reserved).unwrap()
}

fn key(key: i32) -> BinaryRow {
    BinaryRow::encode(&[Some(Datum::Int(key))], &[int()], NullLayout::Reserved).unwrap()
}

/// A file with keys `from..=to`, of one row each.
pub(crate) fn file(name: &str, level: i32, from: i32, to: i32) -> DataFileMeta {
    DataFileMeta {
        file_name: format!("data-{name}-0.parquet"),
        file_size: 100,
        row_count: i64::from(to - from) + 1,
        min_key: key(from),
        max_key: key(to),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 9,
        schema_id: 0,
        level,
        extra_files: Vec::new(),
        creation_time_ms: Some(1_000),
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: Some(FileSource::Append),
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

/// A message that adds files to bucket 0 of a partition; `None` for an unpartitioned table.
pub(crate) fn adds(of: Option<&str>, files: &[DataFileMeta]) -> CommitMessage {
    CommitMessage {
        partition: of.map_or_else(BinaryRow::empty, partition),
        bucket: 0,
        total_buckets: None,
        append: DataIncrement { new_files: files.to_vec(), ..DataIncrement::default() },
        compact: CompactIncrement::default(),
    }
}

/// A message that replaces files by others of the same rows.
pub(crate) fn compacts(of: Option<&str>, before: &[DataFileMeta], after: &[DataFileMeta]) -> CommitMessage {
    CommitMessage {
        append: DataIncrement::default(),
        compact: CompactIncrement {
            compact_before: before.to_vec(),
            compact_after: after.to_vec(),
            ..CompactIncrement::default()
        },
        ..adds(of, &[])
    }
}

pub(crate) fn commit(table: &Table) -> TableCommit {
    TableCommit::new(table.clone(), SystemClock.fresh_id())
}

/// Commits a file of one row.
pub(crate) async fn append(table: &Table, name: &str) {
    commit(table).commit(vec![adds(None, &[file(name, 0, 1, 1)])]).await.unwrap();
}

/// Makes the data files of messages exist.
pub(crate) async fn write_files(table: &Table, messages: &[CommitMessage]) {
    for message in messages {
        let paths = table.paths();
        let dir = paths.bucket_dir(table.schema(), table.options(), &message.partition, message.bucket).unwrap();
        for file in message.append.new_files.iter().chain(&message.compact.compact_after) {
            let path = TablePaths::data_file(&dir, file);
            table.io().write(&path, Bytes::from_static(b"data")).await.unwrap();
        }
    }
}

pub(crate) async fn latest(table: &Table) -> Snapshot {
    table.snapshots().latest().await.unwrap().unwrap()
}

/// Names of the live files without prefix and suffix, with their levels, sorted.
pub(crate) async fn live(table: &Table) -> Vec<String> {
    let entries = live_entries(table, &latest(table).await, None).await.unwrap();
    let short = |name: &str| name.trim_start_matches("data-").trim_end_matches("-0.parquet").to_owned();
    let mut names: Vec<_> = entries.iter().map(|e| format!("{}@{}", short(&e.file.file_name), e.file.level)).collect();
    names.sort();
    names
}

/// Files below `manifest/` that no snapshot names.
pub(crate) async fn orphans(table: &Table) -> Vec<String> {
    let store = table.manifests();
    let mut named = BTreeSet::new();
    for snapshot in table.snapshots().list().await.unwrap() {
        let lists = [Some(&snapshot.base_manifest_list), Some(&snapshot.delta_manifest_list)];
        for list in lists.into_iter().chain([snapshot.changelog_manifest_list.as_ref()]).flatten() {
            named.extend(store.read_list(list).await.unwrap().into_iter().map(|m| m.file_name));
            named.insert(list.clone());
        }
        named.extend(snapshot.index_manifest);
    }
    let found = table.io().list_names(&table.paths().manifest_dir()).await.unwrap();
    found.into_iter().map(|(name, _)| name).filter(|name| !named.contains(name)).collect()
}

/// What happens at one call of a publisher.
#[derive(Debug)]
pub(crate) enum Fault {
    /// Another writer commits these messages first.
    Rival(Vec<CommitMessage>),
    /// The table of the fault is committed empty first: a replacement.
    Replaced,
    /// Nothing is published, and that is known.
    Fails(ErrorKind),
    /// It is published, but the answer gets lost.
    AnswerLost,
    /// Nothing is published, and that is not known.
    Unknown,
    /// So many others commit, and all but the newest ones of their snapshots expire, right before the file is created.
    Overtaken { rivals: usize, retained: u64 },
    /// It is published, and then so many others commit, the last of them by deleting all rows if asked for, and all but the
    /// newest snapshots expire before the answer comes.
    Followed { rivals: usize, truncate: bool, retained: u64 },
}

/// Commits of others, and an expiry.
async fn others(table: &Table, rivals: usize, truncate: bool, retained: u64) {
    for i in 0..rivals {
        let name = format!("rival{i}-{}", SystemClock.fresh_id());
        commit(table).commit(vec![adds(None, &[file(&name, 0, 1, 1)])]).await.unwrap();
    }
    if truncate {
        commit(table).truncate_table().await.unwrap();
    }
    let config = ExpireConfig {
        retain_min: retained,
        retain_max: retained,
        time_retained: Duration::ZERO,
        max_deletes: u64::MAX,
    };
    expire_snapshots(table, &config).await.unwrap();
}

/// Publishes as the file system does, but for what is planned for the first calls.
#[derive(Debug, Default)]
pub(crate) struct Faulty {
    table: Option<Table>,
    faults: Mutex<VecDeque<Fault>>,
}

impl Faulty {
    pub(crate) fn on(table: &Table, faults: impl IntoIterator<Item = Fault>) -> Table {
        with_publisher(table, Self::of(table, faults))
    }

    /// The publisher by itself, with `table` as the rival.
    pub(crate) fn of(table: &Table, faults: impl IntoIterator<Item = Fault>) -> Arc<Self> {
        Arc::new(Self { table: Some(table.clone()), faults: Mutex::new(faults.into_iter().collect()) })
    }
}

#[async_trait]
impl SnapshotCommit for Faulty {
    async fn publish(&self, table: &Table, snapshot: &Snapshot, base: Option<&Snapshot>) -> Result<bool> {
        let snapshots = table.snapshots();
        let fault = self.faults.lock().unwrap().pop_front();
        match (fault, &self.table) {
            (Some(Fault::Rival(messages)), Some(table)) => {
                commit(table).commit(messages).await?;
            }
            (Some(Fault::Replaced), Some(table)) => {
                commit(table).truncate_table().await?;
            }
            (Some(Fault::Fails(kind)), _) => return Err(Error::new(kind, "planned")),
            (Some(Fault::AnswerLost), _) => {
                assert!(snapshots.publish(snapshot).await?);
                return Err(Error::new(ErrorKind::CommitUnknown, "planned"));
            }
            (Some(Fault::Unknown), _) => return Err(Error::new(ErrorKind::CommitUnknown, "planned")),
            (Some(Fault::Overtaken { rivals, retained }), Some(table)) => {
                others(table, rivals, false, retained).await;
                let file = table.paths().snapshot(snapshot.id);
                return table.io().create_if_absent(&file, Bytes::from(snapshot.to_json())).await;
            }
            (Some(Fault::Followed { rivals, truncate, retained }), Some(table)) => {
                assert!(snapshots.publish(snapshot).await?);
                others(table, rivals, truncate, retained).await;
                return Ok(true);
            }
            _ => {}
        }
        FileSystemCommit.publish(table, snapshot, base).await
    }
}
