//! Tables in memory and entries of files that do not exist: planning opens no data file.

use std::sync::Arc;

use super::plan::{Plan, ScanTrace};
use super::planner::Planner;
use super::prune::{ReadMode, SchemasById};
use super::scope::Scope;
use crate::catalog::Identifier;
use crate::clock::{Clock, SystemClock};
use crate::commit::FileSystemCommit;
use crate::error::Result;
use crate::options::Options;
use crate::predicate::{Predicate, PredicateBuilder};
use crate::row::{BinaryRow, NullLayout};
use crate::spec::{
    CommitKind, DataFileMeta, DeletionVectorRange, EntryKind, IndexManifestEntry, ManifestEntry, SimpleStats, Snapshot,
    TableSchema,
};
use crate::storage::FileIO;
use crate::table::Table;
use crate::types::testing::row_type;
use crate::types::{DataField, DataType, Datum};

/// What a test table has.
pub(super) struct TestTable {
    pub(super) table: Table,
    pub(super) schemas: SchemasById,
}

pub(super) fn names(list: &str) -> Vec<String> {
    list.split(',').filter(|s| !s.is_empty()).map(str::to_owned).collect()
}

impl TestTable {
    /// Columns with ids from 0; key columns are NOT NULL.
    pub(super) fn new(columns: &[(&str, DataType)], partition: &str, key: &str, options: &[(&str, &str)]) -> Self {
        let fields = row_type(columns).fields().to_vec();
        Self::with_fields(fields, partition, key, options)
    }

    pub(super) fn with_fields(
        mut fields: Vec<DataField>,
        partition: &str,
        key: &str,
        options: &[(&str, &str)],
    ) -> Self {
        let (partition_keys, primary_keys) = (names(partition), names(key));
        for field in fields.iter_mut().filter(|f| primary_keys.contains(&f.name)) {
            field.data_type = field.data_type.with_nullable(false);
        }
        let schema = Arc::new(TableSchema {
            version: 3,
            id: 0,
            fields,
            highest_field_id: 100,
            partition_keys,
            primary_keys,
            options: options.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            comment: None,
            time_millis: 0,
        });
        let location = format!("memory:/scan-{}/db.db/t", SystemClock.fresh_id());
        let io = FileIO::from_location(&location, &Options::new()).unwrap();
        let (identifier, publisher) = (Identifier::new("db", "t"), Arc::new(FileSystemCommit));
        let table = Table::new(identifier, io, &location, schema.clone(), publisher, SystemClock::shared());
        Self { table, schemas: SchemasById::from([(0, schema)]) }
    }

    /// Adds a schema of older files.
    pub(super) fn with_schema(mut self, id: i64, fields: Vec<DataField>) -> Self {
        let schema = TableSchema { id, fields, ..self.table.schema().as_ref().clone() };
        self.schemas.insert(id, Arc::new(schema));
        self
    }

    pub(super) fn builder(&self) -> PredicateBuilder {
        PredicateBuilder::new(&self.table.schema().row_type(), true)
    }

    /// Plans without looking at what this crate can read.
    pub(super) fn plan(&self, entries: &[ManifestEntry], filter: Option<Predicate>, limit: Option<i64>) -> Plan {
        self.try_plan(entries, &[], filter, limit).unwrap()
    }

    pub(super) fn try_plan(
        &self,
        entries: &[ManifestEntry],
        index: &[IndexManifestEntry],
        filter: Option<Predicate>,
        limit: Option<i64>,
    ) -> Result<Plan> {
        let filter = filter.unwrap_or(Predicate::AlwaysTrue);
        let partition = self.table.schema().partition_type();
        let tests_values = filter.field_ids().into_iter().any(|id| partition.index_of_id(id).is_none());
        let mode = ReadMode::of(&self.table)?;
        let planner =
            Planner { table: self.table.clone(), mode, scope: Scope::live(&mode), filter, limit, tests_values };
        let none = SchemasById::default();
        let schemas = if tests_values { &self.schemas } else { &none };
        planner.plan(snapshot(1), &[Arc::new(entries.to_vec())], index, schemas, ScanTrace::default())
    }
}

pub(super) fn snapshot(id: i64) -> Snapshot {
    Snapshot {
        version: Some(3),
        uuid: None,
        id,
        schema_id: 0,
        base_manifest_list: String::new(),
        base_manifest_list_size: None,
        delta_manifest_list: String::new(),
        delta_manifest_list_size: None,
        changelog_manifest_list: None,
        changelog_manifest_list_size: None,
        index_manifest: None,
        commit_user: "u".to_owned(),
        writer_version: None,
        commit_identifier: 1,
        commit_kind: CommitKind::Append,
        time_millis: 0,
        total_record_count: Some(0),
        delta_record_count: Some(0),
        changelog_record_count: None,
        watermark: None,
        statistics: None,
        properties: None,
        next_row_id: None,
        operation: None,
    }
}

/// A file of one row and one byte on level 0.
pub(super) fn file(name: &str) -> DataFileMeta {
    DataFileMeta {
        file_name: format!("{name}.parquet"),
        file_size: 1,
        row_count: 1,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 0,
        schema_id: 0,
        level: 0,
        extra_files: Vec::new(),
        creation_time_ms: None,
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: None,
        write_cols: None,
        write_cols_sequences: None,
    }
}

pub(super) fn row(values: &[Option<Datum>], types: &[DataType]) -> BinaryRow {
    BinaryRow::encode(values, types, NullLayout::Plain).unwrap()
}

/// Bounds and null counts of columns.
pub(super) fn stats(types: &[DataType], columns: &[(Option<Datum>, Option<Datum>, Option<i64>)]) -> SimpleStats {
    let min: Vec<_> = columns.iter().map(|c| c.0.clone()).collect();
    let max: Vec<_> = columns.iter().map(|c| c.1.clone()).collect();
    SimpleStats {
        min_values: row(&min, types),
        max_values: row(&max, types),
        null_counts: columns.iter().map(|c| c.2).collect(),
    }
}

/// The file with an INT key from `min` to `max` on a level.
pub(super) fn keyed(name: &str, level: i32, min: i32, max: i32) -> DataFileMeta {
    let types = [crate::types::testing::int()];
    let (low, high) = (Some(Datum::Int(min)), Some(Datum::Int(max)));
    DataFileMeta {
        level,
        min_key: row(std::slice::from_ref(&low), &types),
        max_key: row(std::slice::from_ref(&high), &types),
        key_stats: stats(&types, &[(low, high, Some(0))]),
        ..file(name)
    }
}

/// The entry that adds a file to a bucket.
pub(super) fn add_to(partition: BinaryRow, bucket: i32, total_buckets: i32, file: DataFileMeta) -> ManifestEntry {
    ManifestEntry { kind: EntryKind::Add, partition, bucket, total_buckets, file }
}

/// The entry that adds a file to bucket 0 of 1 of an unpartitioned table.
pub(super) fn add(file: DataFileMeta) -> ManifestEntry {
    add_to(BinaryRow::empty(), 0, 1, file)
}

pub(super) fn delete(entry: &ManifestEntry) -> ManifestEntry {
    ManifestEntry { kind: EntryKind::Delete, ..entry.clone() }
}

/// The index entry of one deletion vector in bucket 0.
pub(super) fn vector(partition: BinaryRow, file: &DataFileMeta, cardinality: Option<i64>) -> IndexManifestEntry {
    let data_file_name = file.file_name.clone();
    IndexManifestEntry {
        partition,
        bucket: 0,
        index_type: "DELETION_VECTORS".to_owned(),
        file_name: format!("index-{data_file_name}"),
        file_size: 1,
        row_count: 1,
        dv_ranges: Some(vec![DeletionVectorRange { data_file_name, offset: 1, length: 22, cardinality }]),
        external_path: None,
        global_index: None,
    }
}

/// Splits as text: files of a split joined by blanks, `*` after those that are read raw.
pub(super) fn show(plan: &Plan) -> Vec<String> {
    let one = |split: &super::Split| {
        let files = split.files.iter().map(|f| f.file_name.trim_end_matches(".parquet"));
        let raw = if split.raw_convertible { "*" } else { "" };
        format!("{}{raw}", files.collect::<Vec<_>>().join(" "))
    };
    plan.splits().iter().map(one).collect()
}
