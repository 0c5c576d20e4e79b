//! `$file_indexes`: the indexes of data files.
//!
//! Source: system-tables sheet section 3; `table/system/FileIndexesTable.java`.

use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::stream::{self, StreamExt, TryStreamExt};

use super::files::live_entries;
use super::rows::{ints, longs, partition_text, schema, texts};
use crate::error::Result;
use crate::index::{IndexInfo, Indexes, describe};
use crate::meta::TablePaths;
use crate::spec::ManifestEntry;
use crate::table::Table;

/// Heads of index files that are read at once.
const PARALLEL_READS: usize = 16;

pub(super) fn file_indexes_schema() -> SchemaRef {
    let (text, long) = (ArrowType::Utf8, ArrowType::Int64);
    schema(vec![
        ("partition", text.clone(), true),
        ("bucket", ArrowType::Int32, false),
        ("file_path", text.clone(), false),
        ("file_size_in_bytes", long.clone(), false),
        ("record_count", long.clone(), false),
        ("schema_id", long.clone(), false),
        ("column_name", text.clone(), false),
        ("index_type", text.clone(), false),
        ("storage_type", text.clone(), false),
        ("index_file_path", text, true),
        ("index_size_in_bytes", long.clone(), false),
        ("index_container_size_in_bytes", long, false),
        ("is_empty", ArrowType::Boolean, false),
    ])
}

/// A data file with its indexes.
struct Indexed {
    entry: ManifestEntry,
    partition: String,
    path: String,
    indexes: Indexes,
}

pub(super) async fn file_indexes(table: &Table) -> Result<RecordBatch> {
    let entries = match table.current_snapshot().await? {
        Some(snapshot) => live_entries(table, &snapshot).await?,
        None => Vec::new(),
    };
    let found = stream::iter(entries).map(|entry| indexed(table, entry)).buffered(PARALLEL_READS);
    let files: Vec<Indexed> = found.try_filter_map(async |found| Ok(found)).try_collect().await?;
    let rows: Vec<(&Indexed, &IndexInfo)> =
        files.iter().flat_map(|file| file.indexes.indexes.iter().map(move |index| (file, index))).collect();
    let storage = |file: &Indexed| if file.indexes.path.is_some() { "FILE" } else { "EMBEDDED" };
    let columns = vec![
        texts(rows.iter().map(|(f, _)| Some(&f.partition))),
        ints(rows.iter().map(|(f, _)| f.entry.bucket)),
        texts(rows.iter().map(|(f, _)| Some(&f.path))),
        longs(rows.iter().map(|(f, _)| Some(f.entry.file.file_size))),
        longs(rows.iter().map(|(f, _)| Some(f.entry.file.row_count))),
        longs(rows.iter().map(|(f, _)| Some(f.entry.file.schema_id))),
        texts(rows.iter().map(|(_, i)| Some(&i.column))),
        texts(rows.iter().map(|(_, i)| Some(&i.kind))),
        texts(rows.iter().map(|(f, _)| Some(storage(f)))),
        texts(rows.iter().map(|(f, _)| f.indexes.path.as_ref())),
        longs(rows.iter().map(|(_, i)| Some(i.bytes))),
        longs(rows.iter().map(|(f, _)| Some(f.indexes.container_bytes))),
        Arc::new(rows.iter().map(|(_, i)| Some(i.is_empty)).collect::<BooleanArray>()),
    ];
    Ok(RecordBatch::try_new(file_indexes_schema(), columns)?)
}

async fn indexed(table: &Table, entry: ManifestEntry) -> Result<Option<Indexed>> {
    let schema = table.schema();
    let bucket_dir = table.paths().bucket_dir(schema, table.options(), &entry.partition, entry.bucket)?;
    let path = TablePaths::data_file(&bucket_dir, &entry.file);
    let Some(indexes) = describe(table.io(), &path, &entry.file).await? else { return Ok(None) };
    let partition = partition_text(&entry.partition, &schema.partition_type())?;
    Ok(Some(Indexed { entry, partition, path, indexes }))
}
