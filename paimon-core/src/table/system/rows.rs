//! Values of system tables: columns from iterators, local times, and the texts of rows and maps.
//!
//! Source: system-tables sheet section 1 (common value forms); `casting/RowToStringCastRule.java`.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, Int64Array, StringArray, TimestampMillisecondArray};
use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef, TimeUnit};
use chrono::{Local, TimeZone};

use crate::error::Result;
use crate::meta::value_text;
use crate::row::BinaryRow;
use crate::types::{DataType, RowType};

/// A column: name, type, whether it may be null.
pub(crate) type Column = (&'static str, ArrowType, bool);

/// TIMESTAMP(3).
pub(super) const TIME: ArrowType = ArrowType::Timestamp(TimeUnit::Millisecond, None);

/// A schema of these columns.
pub(crate) fn schema(columns: Vec<Column>) -> SchemaRef {
    Arc::new(Schema::new(columns.into_iter().map(|(n, t, nullable)| Field::new(n, t, nullable)).collect::<Vec<_>>()))
}

/// A column of texts.
pub(crate) fn texts<S: AsRef<str>>(values: impl IntoIterator<Item = Option<S>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<StringArray>())
}

/// A column of BIGINTs.
pub(crate) fn longs(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Int64Array>())
}

pub(super) fn ints(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

/// Times that are stored as local wall clock already.
pub(super) fn wall_clocks(values: impl IntoIterator<Item = Option<i64>>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<TimestampMillisecondArray>())
}

/// Instants as wall clock of the process.
pub(super) fn local_times(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    wall_clocks(values.into_iter().map(|instant| {
        let local = Local.timestamp_millis_opt(instant).single().map(|t| t.naive_local().and_utc().timestamp_millis());
        Some(local.unwrap_or(instant))
    }))
}

/// `{v1, v2}`, each value cast to STRING.
pub(super) fn partition_text(partition: &BinaryRow, partition_type: &RowType) -> Result<String> {
    let types = partition_type.types();
    let values = partition.decode(&types)?;
    let texts = values.iter().zip(&types).map(|(value, data_type)| match value {
        Some(value) => value_text(value, data_type, true),
        None => Ok("null".to_owned()),
    });
    Ok(format!("{{{}}}", texts.collect::<Result<Vec<_>>>()?.join(", ")))
}

/// `[v1, v2]`, values as they are stored.
pub(super) fn key_text(key: &BinaryRow, types: &[DataType]) -> Result<String> {
    let values = key.decode(types)?;
    let texts = values.iter().zip(types).map(|(value, data_type)| match value {
        Some(value) => value_text(value, data_type, false),
        None => Ok("null".to_owned()),
    });
    Ok(format!("[{}]", texts.collect::<Result<Vec<_>>>()?.join(", ")))
}

/// `{a=1, b=2}`, names sorted.
pub(super) fn map_text(mut entries: Vec<(&str, String)>) -> String {
    entries.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
    let texts: Vec<String> = entries.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{{{}}}", texts.join(", "))
}
