//! `$statistics`: what ANALYZE found out about a table.
//!
//! Source: system-tables sheet section 2, metadata sheet section 4; `table/system/StatisticTable.java`,
//! `stats/Statistics.java`.

use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::rows::{longs, schema, texts};
use crate::error::{Result, ResultExt};
use crate::json::{self, Json, Object};
use crate::table::Table;

const LONG: ArrowType = ArrowType::Int64;
/// The keys of a column's statistics in Java's order; `min` and `max` are texts.
const COLUMN_KEYS: [&str; 7] = ["colId", "distinctCount", "min", "max", "nullCount", "avgLen", "maxLen"];

pub(super) fn statistics_schema() -> SchemaRef {
    schema(vec![
        ("snapshot_id", LONG, false),
        ("schema_id", LONG, false),
        ("mergedRecordCount", LONG, true),
        ("mergedRecordSize", LONG, true),
        ("colstat", ArrowType::Utf8, true),
    ])
}

/// A row of the table.
struct Analyzed {
    snapshot_id: i64,
    schema_id: i64,
    record_count: Option<i64>,
    record_size: Option<i64>,
    columns: String,
}

pub(super) async fn statistics(table: &Table) -> Result<RecordBatch> {
    let name = table.current_snapshot().await?.and_then(|s| s.statistics);
    let rows = match name {
        Some(name) => {
            let path = table.paths().statistics(&name);
            vec![parse(&table.io().read(&path).await?).context("file", path)?]
        }
        None => Vec::new(),
    };
    let columns = vec![
        longs(rows.iter().map(|r| Some(r.snapshot_id))),
        longs(rows.iter().map(|r| Some(r.schema_id))),
        longs(rows.iter().map(|r| r.record_count)),
        longs(rows.iter().map(|r| r.record_size)),
        texts(rows.iter().map(|r| Some(&r.columns))),
    ];
    Ok(RecordBatch::try_new(statistics_schema(), columns)?)
}

fn parse(content: &[u8]) -> Result<Analyzed> {
    const WHAT: &str = "statistics";
    let value = json::parse(content, WHAT)?;
    let document = Object::new(&value, WHAT)?;
    let mut columns = Vec::new();
    if let Some(found) = document.get("colStats") {
        for (name, stats) in found.as_object().into_iter().flatten() {
            let stats = Object::new(stats, WHAT)?;
            let mut entries = Vec::new();
            for key in COLUMN_KEYS {
                let value = if matches!(key, "min" | "max") {
                    stats.find_text(key)?.map(Json::text)
                } else {
                    stats.find_long(key)?.map(Json::Number)
                };
                entries.extend(value.map(|v| (key.to_owned(), v)));
            }
            columns.push((name.clone(), Json::Object(entries)));
        }
    }
    let slots = (columns.len() * 4).div_ceil(3).next_power_of_two().max(16);
    columns.sort_by_key(|(name, _)| slot(name, slots));
    Ok(Analyzed {
        snapshot_id: document.long("snapshotId")?,
        schema_id: document.long("schemaId")?,
        record_count: document.find_long("mergedRecordCount")?,
        record_size: document.find_long("mergedRecordSize")?,
        columns: if columns.is_empty() { "{}".to_owned() } else { Json::Object(columns).pretty() },
    })
}

/// Where Java's hash map of so many slots has this key: the writers of statistics keep columns in one, so that this is the
/// order in which Java shows them.
fn slot(name: &str, slots: usize) -> usize {
    let hash = name.encode_utf16().fold(0u32, |hash, unit| hash.wrapping_mul(31).wrapping_add(u32::from(unit)));
    (hash ^ (hash >> 16)) as usize & (slots - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_of_java() {
        let found = parse(
            br#"{ "snapshotId" : 1, "schemaId" : 0, "mergedRecordCount" : 3, "mergedRecordSize" : 300,
            "colStats" : { "id" : { "colId" : 0, "distinctCount" : 3, "min" : "1", "max" : "3", "nullCount" : 0 } } }"#,
        )
        .unwrap();
        assert_eq!((found.snapshot_id, found.schema_id), (1, 0));
        assert_eq!((found.record_count, found.record_size), (Some(3), Some(300)));
        let expected = [
            "{",
            "  \"id\" : {",
            "    \"colId\" : 0,",
            "    \"distinctCount\" : 3,",
            "    \"min\" : \"1\",",
            "    \"max\" : \"3\",",
            "    \"nullCount\" : 0",
            "  }",
            "}",
        ];
        assert_eq!(found.columns, expected.join("\n"));
        assert_eq!(parse(br#"{"snapshotId": 1, "schemaId": 0}"#).unwrap().columns, "{}");
        assert!(parse(br#"{"snapshotId": 1}"#).is_err());
    }

    #[test]
    fn columns_stand_as_in_a_hash_map_of_java() {
        let document = br#"{"snapshotId": 1, "schemaId": 0, "colStats": {"id": {"colId": 0}, "v": {"colId": 1}}}"#;
        let columns = parse(document).unwrap().columns;
        assert!(columns.find("\"v\"").unwrap() < columns.find("\"id\"").unwrap(), "{columns}");
    }
}
