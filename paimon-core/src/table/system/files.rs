//! `$files`, `$file_key_ranges` and `$manifests`.
//!
//! Source: system-tables sheet section 3; `table/system/FilesTable.java`, `ManifestsTable.java`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, ListBuilder, StringBuilder};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::rows::{TIME, ints, key_text, longs, map_text, partition_text, schema, texts, wall_clocks};
use crate::error::{Error, Result};
use crate::meta::{TablePaths, value_text};
use crate::row::BinaryRow;
use crate::spec::{DataFileMeta, EntryKind, FileSource, ManifestEntry, Snapshot, TableSchema};
use crate::table::Table;
use crate::types::DataField;

const TEXT: ArrowType = ArrowType::Utf8;
const LONG: ArrowType = ArrowType::Int64;
/// The bucket whose files wait for a compaction to place them.
const POSTPONE_BUCKET: i32 = -2;

pub(super) fn files_schema() -> SchemaRef {
    let element = Arc::new(Field::new("element", TEXT, true));
    schema(vec![
        ("partition", TEXT, true),
        ("bucket", ArrowType::Int32, false),
        ("file_path", TEXT, false),
        ("file_format", TEXT, false),
        ("schema_id", LONG, false),
        ("level", ArrowType::Int32, false),
        ("record_count", LONG, false),
        ("file_size_in_bytes", LONG, false),
        ("min_key", TEXT, true),
        ("max_key", TEXT, true),
        ("null_value_counts", TEXT, false),
        ("min_value_stats", TEXT, false),
        ("max_value_stats", TEXT, false),
        ("min_sequence_number", LONG, true),
        ("max_sequence_number", LONG, true),
        ("creation_time", TIME, true),
        ("deleteRowCount", LONG, true),
        ("file_source", TEXT, true),
        ("first_row_id", LONG, true),
        ("write_cols", ArrowType::List(element), true),
    ])
}

pub(super) async fn files(table: &Table) -> Result<RecordBatch> {
    let entries = match table.current_snapshot().await? {
        Some(snapshot) => live_entries(table, &snapshot).await?,
        None => Vec::new(),
    };
    let mut schemas: HashMap<i64, Arc<TableSchema>> = HashMap::new();
    for entry in &entries {
        let id = entry.file.schema_id;
        if let std::collections::hash_map::Entry::Vacant(vacant) = schemas.entry(id) {
            vacant.insert(table.schemas().get(id).await?);
        }
    }
    let rows = entries.iter().map(|e| FileRow::new(table, e, &schemas)).collect::<Result<Vec<_>>>()?;
    files_batch(&entries, &rows)
}

/// The texts of a row of `$files`.
struct FileRow {
    partition: String,
    path: String,
    keys: Option<(String, String)>,
    null_counts: String,
    min: String,
    max: String,
}

impl FileRow {
    fn new(table: &Table, entry: &ManifestEntry, schemas: &HashMap<i64, Arc<TableSchema>>) -> Result<Self> {
        let (schema, file) = (table.schema(), &entry.file);
        let bucket_dir = table.paths().bucket_dir(schema, table.options(), &entry.partition, entry.bucket)?;
        let keys = if schema.has_primary_key() && file.min_key.arity() > 0 {
            let types = schema.key_type().types();
            Some((key_text(&file.min_key, &types)?, key_text(&file.max_key, &types)?))
        } else {
            None
        };
        let Some(file_schema) = schemas.get(&file.schema_id) else {
            return Err(Error::internal(format!("schema {} was not loaded", file.schema_id)));
        };
        let stats = Stats { table: schema, file_schema, file };
        Ok(Self {
            partition: partition_text(&entry.partition, &schema.partition_type())?,
            path: TablePaths::data_file(&bucket_dir, file),
            keys,
            null_counts: stats.null_counts(),
            min: stats.bounds(&file.value_stats.min_values)?,
            max: stats.bounds(&file.value_stats.max_values)?,
        })
    }
}

/// The statistics of a file, for the columns of the table.
struct Stats<'a> {
    table: &'a TableSchema,
    file_schema: &'a TableSchema,
    file: &'a DataFileMeta,
}

/// Where a column of the table stands in the statistics of a file.
enum Place {
    /// Here, with the column's position in the file's schema.
    At(usize, usize),
    /// The file does not have the column.
    NoColumn,
    /// The file has no statistics of it.
    Unknown,
}

impl Stats<'_> {
    fn place(&self, field_id: i32) -> Place {
        let Some(in_schema) = self.file_schema.fields.iter().position(|f| f.id == field_id) else {
            return Place::NoColumn;
        };
        let name = &self.file_schema.fields[in_schema].name;
        let (position, count) = match (&self.file.value_stats_cols, &self.file.write_cols) {
            (None, None) => (Some(in_schema), self.file_schema.fields.len()),
            (Some(names), _) | (None, Some(names)) => (names.iter().position(|n| n == name), names.len()),
        };
        let stats = &self.file.value_stats;
        // Compaction of tables with row tracking adds statistics of system columns at the end.
        let counts = [stats.min_values.arity(), stats.max_values.arity(), stats.null_counts.len()];
        let complete = counts.iter().all(|c| *c == count || *c > count && self.file.value_stats_cols.is_none());
        match position {
            Some(position) if complete => Place::At(position, in_schema),
            _ => Place::Unknown,
        }
    }

    /// The columns of the table; those of a file with a part of the columns if its statistics do not say which they cover.
    fn shown(&self) -> impl Iterator<Item = &DataField> {
        let part = self.file.write_cols.as_ref().filter(|_| self.file.value_stats_cols.is_none());
        let in_part = |field: &DataField, names: &[String]| {
            let written = self.file_schema.fields.iter().find(|f| f.id == field.id);
            written.is_some_and(|f| names.contains(&f.name))
        };
        self.table.fields.iter().filter(move |f| part.is_none_or(|names| in_part(f, names)))
    }

    fn null_counts(&self) -> String {
        let count = |id| match self.place(id) {
            Place::At(position, _) => self.file.value_stats.null_counts.get(position).copied().flatten(),
            Place::NoColumn => Some(self.file.row_count),
            Place::Unknown => None,
        };
        let text = |count: Option<i64>| count.map_or_else(|| "null".to_owned(), |n| n.to_string());
        map_text(self.shown().map(|f| (f.name.as_str(), text(count(f.id)))).collect())
    }

    fn bounds(&self, row: &BinaryRow) -> Result<String> {
        let mut entries = Vec::with_capacity(self.table.fields.len());
        for field in self.shown() {
            let stored = match self.place(field.id) {
                Place::At(position, in_schema) if !row.is_null(position) => {
                    Some((position, &self.file_schema.fields[in_schema].data_type))
                }
                _ => None,
            };
            let text = match stored {
                Some((position, data_type)) if !data_type.is_nested() => {
                    row.field(position, data_type)?.map(|v| value_text(&v, data_type, false)).transpose()?
                }
                _ => None,
            };
            entries.push((field.name.as_str(), text.unwrap_or_else(|| "null".to_owned())));
        }
        Ok(map_text(entries))
    }
}

fn files_batch(entries: &[ManifestEntry], rows: &[FileRow]) -> Result<RecordBatch> {
    let files = || entries.iter().map(|e| &e.file);
    let long = |get: fn(&DataFileMeta) -> Option<i64>| longs(files().map(get));
    let columns = vec![
        texts(rows.iter().map(|r| Some(&r.partition))),
        ints(entries.iter().map(|e| e.bucket)),
        texts(rows.iter().map(|r| Some(&r.path))),
        texts(files().map(|f| Some(f.format()))),
        long(|f| Some(f.schema_id)),
        ints(files().map(|f| f.level)),
        long(|f| Some(f.row_count)),
        long(|f| Some(f.file_size)),
        texts(rows.iter().map(|r| r.keys.as_ref().map(|k| &k.0))),
        texts(rows.iter().map(|r| r.keys.as_ref().map(|k| &k.1))),
        texts(rows.iter().map(|r| Some(&r.null_counts))),
        texts(rows.iter().map(|r| Some(&r.min))),
        texts(rows.iter().map(|r| Some(&r.max))),
        long(|f| Some(f.min_sequence_number)),
        long(|f| Some(f.max_sequence_number)),
        wall_clocks(files().map(|f| f.creation_time_ms)),
        long(|f| f.delete_row_count),
        texts(files().map(|f| f.file_source.map(source_text))),
        long(|f| f.first_row_id),
        write_columns(files()),
    ];
    Ok(RecordBatch::try_new(files_schema(), columns)?)
}

fn source_text(source: FileSource) -> &'static str {
    match source {
        FileSource::Append => "APPEND",
        FileSource::Compact => "COMPACT",
    }
}

fn write_columns<'a>(files: impl Iterator<Item = &'a DataFileMeta>) -> ArrayRef {
    let field = Field::new("element", TEXT, true);
    let mut builder = ListBuilder::new(StringBuilder::new()).with_field(field);
    for file in files {
        match &file.write_cols {
            Some(names) => builder.append_value(names.iter().map(Some)),
            None => builder.append_null(),
        }
    }
    Arc::new(builder.finish())
}

/// The entries whose files are live, in the order in which they were added.
pub(super) async fn live_entries(table: &Table, snapshot: &Snapshot) -> Result<Vec<ManifestEntry>> {
    let manifests = table.manifests();
    let mut lists = Vec::new();
    for manifest in manifests.of_snapshot(snapshot).await? {
        lists.push(manifests.read(&manifest).await?);
    }
    let entries = || lists.iter().flat_map(|list| list.iter());
    let deleted: HashSet<_> = entries().filter(|e| e.kind == EntryKind::Delete).map(ManifestEntry::identity).collect();
    Ok(entries()
        .filter(|e| e.kind == EntryKind::Add && e.bucket != POSTPONE_BUCKET && !deleted.contains(&e.identity()))
        .cloned()
        .collect())
}

/// The columns of `$files` that `$file_key_ranges` has.
const KEY_RANGE_COLUMNS: [usize; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 18];

pub(super) fn key_ranges_schema() -> SchemaRef {
    let files = files_schema();
    Arc::new(Schema::new(KEY_RANGE_COLUMNS.map(|i| files.field(i).clone()).to_vec()))
}

pub(super) async fn key_ranges(table: &Table) -> Result<RecordBatch> {
    Ok(files(table).await?.project(&KEY_RANGE_COLUMNS)?)
}

pub(super) fn manifests_schema() -> SchemaRef {
    schema(vec![
        ("file_name", TEXT, false),
        ("file_size", LONG, false),
        ("num_added_files", LONG, false),
        ("num_deleted_files", LONG, false),
        ("schema_id", LONG, false),
        ("min_partition_stats", TEXT, true),
        ("max_partition_stats", TEXT, true),
        ("min_row_id", LONG, true),
        ("max_row_id", LONG, true),
    ])
}

pub(super) async fn manifests(table: &Table) -> Result<RecordBatch> {
    let mut all = Vec::new();
    if let Some(snapshot) = table.current_snapshot().await? {
        let manifests = table.manifests();
        all = manifests.of_snapshot(&snapshot).await?;
        if let Some(changelog) = &snapshot.changelog_manifest_list {
            all.extend(manifests.read_list(changelog).await?);
        }
    }
    let partition_type = table.schema().partition_type();
    let bounds = |row: &BinaryRow| match row.arity() == partition_type.fields().len() {
        true => partition_text(row, &partition_type).map(Some),
        false => Ok(None),
    };
    let min = all.iter().map(|m| bounds(&m.partition_stats.min_values)).collect::<Result<Vec<_>>>()?;
    let max = all.iter().map(|m| bounds(&m.partition_stats.max_values)).collect::<Result<Vec<_>>>()?;
    let columns = vec![
        texts(all.iter().map(|m| Some(&m.file_name))),
        longs(all.iter().map(|m| Some(m.file_size))),
        longs(all.iter().map(|m| Some(m.num_added_files))),
        longs(all.iter().map(|m| Some(m.num_deleted_files))),
        longs(all.iter().map(|m| Some(m.schema_id))),
        texts(min),
        texts(max),
        longs(all.iter().map(|m| m.min_row_id)),
        longs(all.iter().map(|m| m.max_row_id)),
    ];
    Ok(RecordBatch::try_new(manifests_schema(), columns)?)
}
