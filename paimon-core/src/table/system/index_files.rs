//! `$table_indexes`: the index files of a snapshot.
//!
//! Source: system-tables sheet section 3; `table/system/TableIndexesTable.java`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Builder, Int64Builder, ListBuilder, StringBuilder, StructBuilder};
use arrow::datatypes::{DataType as ArrowType, Field, Fields, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::rows::{ints, longs, partition_text, schema, texts};
use crate::error::{Error, Result};
use crate::spec::{DeletionVectorRange, GlobalIndexMeta, IndexManifestEntry};
use crate::table::Table;

const TEXT: ArrowType = ArrowType::Utf8;
const LONG: ArrowType = ArrowType::Int64;

fn range_fields() -> Fields {
    Fields::from(vec![
        Field::new("f0", TEXT, false),
        Field::new("f1", ArrowType::Int32, false),
        Field::new("f2", ArrowType::Int32, false),
        Field::new("_CARDINALITY", LONG, true),
    ])
}

fn range_element() -> Field {
    Field::new("element", ArrowType::Struct(range_fields()), true)
}

pub(super) fn table_indexes_schema() -> SchemaRef {
    schema(vec![
        ("partition", TEXT, true),
        ("bucket", ArrowType::Int32, false),
        ("index_type", TEXT, false),
        ("file_name", TEXT, false),
        ("file_size", LONG, false),
        ("row_count", LONG, false),
        ("dv_ranges", ArrowType::List(Arc::new(range_element())), true),
        ("row_range_start", LONG, true),
        ("row_range_end", LONG, true),
        ("index_field_id", ArrowType::Int32, true),
        ("index_field_name", TEXT, true),
    ])
}

pub(super) async fn table_indexes(table: &Table) -> Result<RecordBatch> {
    let manifest = table.current_snapshot().await?.and_then(|s| s.index_manifest);
    let entries = match manifest {
        Some(name) => table.manifests().read_index(&name).await?,
        None => Vec::new(),
    };
    let partition_type = table.schema().partition_type();
    let partitions = entries.iter().map(|e| partition_text(&e.partition, &partition_type).map(Some));
    let global = |get: fn(&GlobalIndexMeta) -> i64| longs(entries.iter().map(|e| e.global_index.as_ref().map(get)));
    let columns = vec![
        texts(partitions.collect::<Result<Vec<_>>>()?),
        ints(entries.iter().map(|e| e.bucket)),
        texts(entries.iter().map(|e| Some(&e.index_type))),
        texts(entries.iter().map(|e| Some(&e.file_name))),
        longs(entries.iter().map(|e| Some(e.file_size))),
        longs(entries.iter().map(|e| Some(e.row_count))),
        ranges(&entries)?,
        global(|g| g.row_range_start),
        global(|g| g.row_range_end),
        Arc::new(arrow::array::Int32Array::from_iter(
            entries.iter().map(|e| e.global_index.as_ref().map(|g| g.index_field_id)),
        )),
        texts(entries.iter().map(|e| e.global_index.as_ref().and_then(|g| field_names(table, g)))),
    ];
    Ok(RecordBatch::try_new(table_indexes_schema(), columns)?)
}

/// The indexed columns, joined; `None` if one is gone.
fn field_names(table: &Table, index: &GlobalIndexMeta) -> Option<String> {
    let ids = std::iter::once(&index.index_field_id).chain(index.extra_field_ids.iter().flatten());
    let fields = &table.schema().fields;
    let names: Option<Vec<&str>> = ids.map(|id| fields.iter().find(|f| f.id == *id).map(|f| f.name.as_str())).collect();
    names.map(|names| names.join(","))
}

fn ranges(entries: &[IndexManifestEntry]) -> Result<ArrayRef> {
    let items = StructBuilder::from_fields(range_fields(), entries.len());
    let mut builder = ListBuilder::new(items).with_field(range_element());
    for entry in entries {
        for range in entry.dv_ranges.iter().flatten() {
            append(builder.values(), range)?;
        }
        builder.append(entry.dv_ranges.is_some());
    }
    Ok(Arc::new(builder.finish()))
}

fn append(item: &mut StructBuilder, range: &DeletionVectorRange) -> Result<()> {
    let wrong = || Error::internal("the columns of a range of deletion vectors are not as built");
    item.field_builder::<StringBuilder>(0).ok_or_else(wrong)?.append_value(&range.data_file_name);
    item.field_builder::<Int32Builder>(1).ok_or_else(wrong)?.append_value(range.offset);
    item.field_builder::<Int32Builder>(2).ok_or_else(wrong)?.append_value(range.length);
    item.field_builder::<Int64Builder>(3).ok_or_else(wrong)?.append_option(range.cardinality);
    item.append(true);
    Ok(())
}
