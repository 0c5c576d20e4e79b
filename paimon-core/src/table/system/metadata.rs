//! `$snapshots`, `$schemas`, `$options`, `$tags`, `$aggregation_fields`.
//!
//! Source: system-tables sheet section 2; `table/system/SnapshotsTable.java` and its neighbours.

use std::time::Duration;

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::rows::{TIME, local_times, longs, schema, texts, wall_clocks};
use crate::error::Result;
use crate::json::Json;
use crate::spec::{Snapshot, TableSchema};
use crate::table::Table;

const TEXT: ArrowType = ArrowType::Utf8;
const LONG: ArrowType = ArrowType::Int64;

pub(super) fn snapshots_schema() -> SchemaRef {
    schema(vec![
        ("snapshot_id", LONG, false),
        ("schema_id", LONG, false),
        ("commit_user", TEXT, false),
        ("commit_identifier", LONG, false),
        ("commit_kind", TEXT, false),
        ("commit_time", TIME, false),
        ("base_manifest_list", TEXT, false),
        ("delta_manifest_list", TEXT, false),
        ("changelog_manifest_list", TEXT, true),
        ("total_record_count", LONG, true),
        ("delta_record_count", LONG, true),
        ("changelog_record_count", LONG, true),
        ("watermark", LONG, true),
        ("next_row_id", LONG, true),
        ("operation", TEXT, true),
        ("writer_version", TEXT, true),
    ])
}

pub(super) async fn snapshots(table: &Table) -> Result<RecordBatch> {
    let all = table.snapshots().list().await?;
    let long = |get: fn(&Snapshot) -> Option<i64>| longs(all.iter().map(get));
    fn text<'a>(all: &'a [Snapshot], get: fn(&'a Snapshot) -> Option<&'a str>) -> ArrayRef {
        texts(all.iter().map(get))
    }
    let columns = vec![
        long(|s| Some(s.id)),
        long(|s| Some(s.schema_id)),
        text(&all, |s| Some(&s.commit_user)),
        long(|s| Some(s.commit_identifier)),
        text(&all, |s| Some(s.commit_kind.as_str())),
        local_times(all.iter().map(|s| s.time_millis)),
        text(&all, |s| Some(&s.base_manifest_list)),
        text(&all, |s| Some(&s.delta_manifest_list)),
        text(&all, |s| s.changelog_manifest_list.as_deref()),
        long(|s| s.total_record_count),
        long(|s| s.delta_record_count),
        long(|s| s.changelog_record_count),
        long(|s| s.watermark),
        long(|s| s.next_row_id),
        text(&all, |s| s.operation.as_deref()),
        text(&all, |s| s.writer_version.as_deref()),
    ];
    Ok(RecordBatch::try_new(snapshots_schema(), columns)?)
}

pub(super) fn schemas_schema() -> SchemaRef {
    schema(vec![
        ("schema_id", LONG, false),
        ("fields", TEXT, false),
        ("partition_keys", TEXT, false),
        ("primary_keys", TEXT, false),
        ("options", TEXT, false),
        ("comment", TEXT, true),
        ("update_time", TIME, false),
    ])
}

pub(super) async fn schemas(table: &Table) -> Result<RecordBatch> {
    let all = table.schemas().list().await?;
    let text = |get: fn(&TableSchema) -> String| texts(all.iter().map(|s| Some(get(s))));
    let mut comments = Vec::with_capacity(all.len());
    for schema in &all {
        comments.push(match &schema.comment {
            Some(comment) => Some(comment.clone()),
            // Java shows the null that Python writes as text.
            None => table.schemas().has_null_comment(schema.id).await?.then(|| "null".to_owned()),
        });
    }
    let columns = vec![
        longs(all.iter().map(|s| Some(s.id))),
        text(TableSchema::fields_json),
        text(|s| Json::texts(&s.partition_keys).compact()),
        text(|s| Json::texts(&s.primary_keys).compact()),
        text(|s| Json::text_map(&s.options).compact()),
        texts(comments.iter().map(Option::as_deref)),
        local_times(all.iter().map(|s| s.time_millis)),
    ];
    Ok(RecordBatch::try_new(schemas_schema(), columns)?)
}

pub(super) fn options_schema() -> SchemaRef {
    schema(vec![("key", TEXT, false), ("value", TEXT, false)])
}

pub(super) async fn options(table: &Table) -> Result<RecordBatch> {
    let latest = latest_schema(table).await?;
    let columns = vec![texts(latest.options.keys().map(Some)), texts(latest.options.values().map(Some))];
    Ok(RecordBatch::try_new(options_schema(), columns)?)
}

pub(super) fn tags_schema() -> SchemaRef {
    schema(vec![
        ("tag_name", TEXT, false),
        ("snapshot_id", LONG, false),
        ("schema_id", LONG, false),
        ("commit_time", TIME, false),
        ("record_count", LONG, true),
        ("create_time", TIME, true),
        ("time_retained", TEXT, true),
    ])
}

pub(super) async fn tags(table: &Table) -> Result<RecordBatch> {
    let all = table.tags().list().await?;
    let columns = vec![
        texts(all.iter().map(|t| Some(&t.name))),
        longs(all.iter().map(|t| Some(t.snapshot.id))),
        longs(all.iter().map(|t| Some(t.snapshot.schema_id))),
        local_times(all.iter().map(|t| t.snapshot.time_millis)),
        longs(all.iter().map(|t| t.snapshot.total_record_count)),
        wall_clocks(all.iter().map(|t| t.create_time_ms)),
        texts(all.iter().map(|t| t.time_retained.map(iso_duration))),
    ];
    Ok(RecordBatch::try_new(tags_schema(), columns)?)
}

/// Java's text of a duration: `PT25H`, `PT1H30M`, `PT0.5S`.
fn iso_duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
    let mut text = String::from("PT");
    for (value, unit) in [(hours, 'H'), (minutes, 'M')] {
        if value > 0 {
            text.push_str(&format!("{value}{unit}"));
        }
    }
    let nanos = duration.subsec_nanos();
    if !seconds.is_multiple_of(60) || nanos > 0 || text.len() == 2 {
        text.push_str(&(seconds % 60).to_string());
        if nanos > 0 {
            text.push_str(format!(".{nanos:09}").trim_end_matches('0'));
        }
        text.push('S');
    }
    text
}

pub(super) fn aggregation_fields_schema() -> SchemaRef {
    schema(vec![
        ("field_name", TEXT, false),
        ("field_type", TEXT, false),
        ("function", TEXT, true),
        ("function_options", TEXT, true),
        ("comment", TEXT, true),
    ])
}

pub(super) async fn aggregation_fields(table: &Table) -> Result<RecordBatch> {
    let latest = latest_schema(table).await?;
    let options_of = |field: &str| {
        let prefix = format!("fields.{field}.");
        latest.options.iter().filter(move |(key, _)| key.starts_with(&prefix))
    };
    let list = |items: Vec<&str>| Some(format!("[{}]", items.join(", ")));
    let fields = &latest.fields;
    let columns = vec![
        texts(fields.iter().map(|f| Some(&f.name))),
        texts(fields.iter().map(|f| Some(f.data_type.to_string()))),
        texts(fields.iter().map(|f| list(options_of(&f.name).map(|(_, value)| value.as_str()).collect()))),
        texts(fields.iter().map(|f| list(options_of(&f.name).map(|(key, _)| key.as_str()).collect()))),
        texts(fields.iter().map(|f| f.description.as_deref())),
    ];
    Ok(RecordBatch::try_new(aggregation_fields_schema(), columns)?)
}

async fn latest_schema(table: &Table) -> Result<std::sync::Arc<TableSchema>> {
    table.schemas().latest().await?.ok_or_else(|| table.identifier().not_found())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_javas() {
        let cases = [
            (Duration::from_secs(25 * 3_600), "PT25H"),
            (Duration::from_secs(5_400), "PT1H30M"),
            (Duration::from_millis(500), "PT0.5S"),
            (Duration::ZERO, "PT0S"),
            (Duration::from_secs(61), "PT1M1S"),
        ];
        for (duration, expected) in cases {
            assert_eq!(iso_duration(duration), expected);
        }
    }
}
