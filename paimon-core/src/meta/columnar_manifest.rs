//! Manifests in ORC and Parquet, which tables of releases before 2.1 may have by the option `manifest.format`.
//!
//! Invariants: a file tells its format by its first bytes, whatever the options say, since it may be older than they are;
//! columns are found by name as in Avro manifests, and what a file lacks is null; the rows are brought into Avro's form, so
//! that one decoder per kind of manifest knows what fields mean and what must be there. Such files are only read.
//! Source: manifest sheet sections 0 to 3; `manifest/ManifestFile.java`.

use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType as ArrowType, Int8Type, Int32Type, Int64Type, TimeUnit, TimestampMillisecondType};
use futures::TryStreamExt;
use serde_json::{Value, json};

use crate::error::{Error, Result, ResultExt};
use crate::format::{InputFile, ReadRequest, file_format};
use crate::options::Options;
use crate::spec::avro::{AvroCompression, AvroWriter, put_bytes, put_long};
use crate::types::{DataField, DataType};

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 1024;
/// More than a manifest of any sensible size holds: what decodes to more is damaged.
const MAX_BYTES: usize = 256 << 20;

macro_rules! stats {
    () => {
        "ROW<`_MIN_VALUES` BYTES, `_MAX_VALUES` BYTES, `_NULL_COUNTS` ARRAY<BIGINT>>"
    };
}

/// Which fields a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ManifestKind {
    /// A manifest list.
    List,
    /// A manifest.
    Entries,
    /// An index manifest.
    Index,
}

impl ManifestKind {
    /// The columns with the types that writers gave them, all nullable: the decoder says what must be there.
    fn row_text(self) -> &'static str {
        match self {
            Self::List => concat!(
                "ROW<`_VERSION` INT, `_FILE_NAME` STRING, `_FILE_SIZE` BIGINT, `_NUM_ADDED_FILES` BIGINT, ",
                "`_NUM_DELETED_FILES` BIGINT, `_PARTITION_STATS` ",
                stats!(),
                ", `_SCHEMA_ID` BIGINT, `_MIN_BUCKET` INT, `_MAX_BUCKET` INT, `_MIN_LEVEL` INT, `_MAX_LEVEL` INT, ",
                "`_MIN_ROW_ID` BIGINT, `_MAX_ROW_ID` BIGINT, `_TOTAL_BUCKETS` INT, `_EXTRA_FILES` ARRAY<STRING>>"
            ),
            Self::Entries => concat!(
                "ROW<`_VERSION` INT, `_KIND` TINYINT, `_PARTITION` BYTES, `_BUCKET` INT, `_TOTAL_BUCKETS` INT, ",
                "`_FILE` ROW<`_FILE_NAME` STRING, `_FILE_SIZE` BIGINT, `_ROW_COUNT` BIGINT, `_MIN_KEY` BYTES, ",
                "`_MAX_KEY` BYTES, `_KEY_STATS` ",
                stats!(),
                ", `_VALUE_STATS` ",
                stats!(),
                ", `_MIN_SEQUENCE_NUMBER` BIGINT, `_MAX_SEQUENCE_NUMBER` BIGINT, `_SCHEMA_ID` BIGINT, `_LEVEL` INT, ",
                "`_EXTRA_FILES` ARRAY<STRING>, `_CREATION_TIME` TIMESTAMP(3), `_DELETE_ROW_COUNT` BIGINT, ",
                "`_EMBEDDED_FILE_INDEX` BYTES, `_FILE_SOURCE` TINYINT, `_VALUE_STATS_COLS` ARRAY<STRING>, ",
                "`_EXTERNAL_PATH` STRING, `_FIRST_ROW_ID` BIGINT, `_WRITE_COLS` ARRAY<STRING>, ",
                "`_WRITE_COLS_SEQUENCES` ARRAY<BIGINT>>>"
            ),
            Self::Index => concat!(
                "ROW<`_VERSION` INT, `_KIND` TINYINT, `_PARTITION` BYTES, `_BUCKET` INT, `_INDEX_TYPE` STRING, ",
                "`_FILE_NAME` STRING, `_FILE_SIZE` BIGINT, `_ROW_COUNT` BIGINT, `_DELETIONS_VECTORS_RANGES` ",
                "ARRAY<ROW<`f0` STRING, `f1` INT, `f2` INT, `_CARDINALITY` BIGINT>>, `_EXTERNAL_PATH` STRING, ",
                "`_GLOBAL_INDEX` ROW<`_ROW_RANGE_START` BIGINT, `_ROW_RANGE_END` BIGINT, `_INDEX_FIELD_ID` INT, ",
                "`_EXTRA_FIELD_IDS` ARRAY<INT>, `_INDEX_META` BYTES, `_SOURCE_META` BYTES>>"
            ),
        }
    }

    fn columns(self) -> Result<Vec<DataField>> {
        match self.row_text().parse()? {
            DataType::Row(row) => Ok(row.fields().to_vec()),
            other => Err(Error::internal(format!("the columns of a manifest are of type {other}"))),
        }
    }
}

/// The format of a file by its first bytes; `None` for Avro and for what is damaged, which the Avro decoder names.
pub(super) fn columnar_format(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [b'O', b'R', b'C', ..] => Some(crate::format::orc::IDENTIFIER),
        [b'P', b'A', b'R', b'1', ..] => Some(crate::format::parquet::IDENTIFIER),
        _ => None,
    }
}

/// Reads a file of this format and gives an Avro file with the same rows.
///
/// # Errors
/// `Corrupt` naming the column that has another type or a file that is damaged; `Storage`.
pub(super) async fn to_avro(format: &str, file: InputFile, kind: ManifestKind) -> Result<Vec<u8>> {
    let columns = kind.columns()?;
    let mut named = 0;
    let schema = record_schema(&columns, &mut named)?;
    let mut writer = AvroWriter::new(&schema.to_string(), AvroCompression::None, [0; 16]);
    let request = ReadRequest {
        columns: columns.clone(),
        predicate: None,
        rows: None,
        batch_rows: BATCH_ROWS,
        options: Arc::new(Options::new()),
        tasks: 1,
    };
    let mut batches = file_format(format)?.read(file, request).await?;
    let mut row = Vec::new();
    while let Some(batch) = batches.try_next().await? {
        // Row by row, as Avro has it: manifests in these formats are rare and have one row per data file.
        for at in 0..batch.num_rows() {
            row.clear();
            for (column, array) in columns.iter().zip(batch.columns()) {
                put(&mut row, array, at).context("column", &column.name)?;
            }
            writer.push(|out| out.extend_from_slice(&row))?;
        }
        if writer.flushed_bytes() > MAX_BYTES {
            return Err(Error::corrupt(format!("a manifest has more than {MAX_BYTES} bytes")));
        }
        // A batch takes a while: others get their turn.
        tokio::task::yield_now().await;
    }
    writer.finish()
}

/// A record whose fields all may be null; records are numbered, since Avro wants each to have its own name.
fn record_schema(fields: &[DataField], named: &mut usize) -> Result<Value> {
    let name = format!("r{named}");
    *named += 1;
    let field = |field: &DataField| {
        let data_type = nullable_schema(&field.data_type, named)?;
        Ok(json!({ "name": field.name, "type": data_type }))
    };
    let fields = fields.iter().map(field).collect::<Result<Vec<_>>>()?;
    Ok(json!({ "type": "record", "name": name, "fields": fields }))
}

fn nullable_schema(data_type: &DataType, named: &mut usize) -> Result<Value> {
    let schema = match data_type {
        DataType::TinyInt(_) | DataType::Int(_) | DataType::BigInt(_) | DataType::Timestamp(_) => json!("long"),
        DataType::VarChar(_) | DataType::VarBinary(_) => json!("bytes"),
        DataType::Array(list) => {
            let items = nullable_schema(list.element_type(), named)?;
            json!({ "type": "array", "items": items })
        }
        DataType::Row(row) => record_schema(row.fields(), named)?,
        other => return Err(Error::internal(format!("manifests have no fields of type {other}"))),
    };
    Ok(json!(["null", schema]))
}

/// Writes the value of a row; the first branch of every union is null.
fn put(out: &mut Vec<u8>, array: &dyn Array, at: usize) -> Result<()> {
    if array.is_null(at) {
        put_long(out, 0);
        return Ok(());
    }
    put_long(out, 1);
    match array.data_type() {
        ArrowType::Int8 => put_long(out, array.as_primitive::<Int8Type>().value(at).into()),
        ArrowType::Int32 => put_long(out, array.as_primitive::<Int32Type>().value(at).into()),
        ArrowType::Int64 => put_long(out, array.as_primitive::<Int64Type>().value(at)),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => {
            put_long(out, array.as_primitive::<TimestampMillisecondType>().value(at));
        }
        ArrowType::Utf8 => put_bytes(out, array.as_string::<i32>().value(at).as_bytes()),
        ArrowType::Binary => put_bytes(out, array.as_binary::<i32>().value(at)),
        ArrowType::List(_) => {
            let items = array.as_list::<i32>().value(at);
            if !items.is_empty() {
                put_long(out, items.len() as i64);
                (0..items.len()).try_for_each(|item| put(out, &items, item))?;
            }
            put_long(out, 0);
        }
        ArrowType::Struct(_) => {
            let parts = array.as_struct().columns();
            parts.iter().try_for_each(|part| put(out, part, at))?;
        }
        other => return Err(Error::internal(format!("manifests have no values of type {other}"))),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
