//! Tables of Java: their rows, and that our writer says the same of them as Java's.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, StructArray};
use arrow::datatypes::*;
use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;

use super::*;
use crate::catalog::Identifier;
use crate::clock::{Clock, SystemClock};
use crate::commit::FileSystemCommit;
use crate::meta::{Schemas, TablePaths};
use crate::options::Options;
use crate::spec::{DataFileMeta, EntryKind, FileSource, ManifestEntry};
use crate::storage::FileIO;
use crate::table::Table;
use crate::types::{DataField, DataType as Type, Datum, RowType, datum_at};

const TABLES: [&str; 9] = [
    "floats_parquet",
    "nested_parquet_t",
    "stats_modes_counts",
    "stats_modes_mixed",
    "stats_modes_truncate4",
    "stats_truncate_t",
    "types_parquet_a",
    "types_parquet_p",
    "types_timestamp9_parquet",
];

/// How often each file is damaged, unless `DAMAGE_ROUNDS` says otherwise.
const ROUNDS: usize = 12;

/// Tables in formats that are only read. Java wrote and read those named after a zone in that zone, `instants` in Shanghai.
const READ_ONLY: [&str; 25] = [
    "codec_avro_bzip2",
    "codec_orc_lzo",
    "format_compression_avro_deflate",
    "format_compression_avro_null",
    "format_compression_avro_snappy",
    "format_compression_orc_lz4",
    "format_compression_orc_none",
    "format_compression_orc_snappy",
    "format_compression_orc_zlib",
    "multiset_avro",
    "multiset_orc",
    "nested_avro_t",
    "nested_deep_avro_t",
    "nested_deep_orc_t",
    "nested_deep_parquet_t",
    "nested_orc_t",
    "orc_zone_america_new_york",
    "orc_zone_asia_shanghai",
    "orc_zone_instants",
    "py_types_orc",
    "strings_avro",
    "strings_orc",
    "types_avro_a",
    "types_orc_a",
    "types_timestamp9_orc",
];

async fn open(name: &str) -> Table {
    let location = format!("{}/tests/golden/tables/{name}", env!("CARGO_MANIFEST_DIR"));
    assert!(Path::new(&location).is_dir(), "{location}");
    let io = FileIO::from_location(&location, &Options::new()).unwrap();
    let schemas = Schemas::new(io.clone(), TablePaths::new(location.clone(), "main"));
    let schema = schemas.latest().await.unwrap().unwrap();
    let (publisher, clock) = (Arc::new(FileSystemCommit), SystemClock::shared());
    Table::new(Identifier::new("ora", name), io, &location, schema, publisher, clock)
}

async fn live_files(table: &Table) -> Vec<ManifestEntry> {
    let snapshot = table.snapshots().latest().await.unwrap().unwrap();
    let mut entries = Vec::new();
    for manifest in table.manifests().of_snapshot(&snapshot).await.unwrap() {
        entries.extend(table.manifests().read(&manifest).await.unwrap().iter().cloned());
    }
    let deleted: HashSet<_> =
        entries.iter().filter(|e| e.kind == EntryKind::Delete).map(ManifestEntry::identity).collect();
    entries.retain(|e| e.kind == EntryKind::Add && !deleted.contains(&e.identity()));
    entries
}

async fn read(table: &Table, entry: &ManifestEntry, fields: &[DataField]) -> Vec<RecordBatch> {
    let paths = table.paths();
    let dir = paths.bucket_dir(table.schema(), table.options(), &entry.partition, entry.bucket).unwrap();
    let request = FileRequest {
        path: format!("{dir}/{}", entry.file.file_name),
        file: Arc::new(entry.file.clone()),
        partition: entry.partition.clone(),
        fields: fields.to_vec(),
        filter: None,
        batch_rows: 100,
    };
    DataFileReader::for_table(table).read(request).await.unwrap().try_collect().await.unwrap()
}

async fn write_again(table: &Table, batches: &[RecordBatch], like: &DataFileMeta) -> DataFileMeta {
    let dir = format!("memory:/golden-{}", SystemClock.fresh_id());
    let layout = match table.schema().has_primary_key() {
        true => FileLayout::KeyValue,
        false => FileLayout::Append { first_sequence: like.min_sequence_number },
    };
    let mut writer = RollingWriter::try_new(WriterConfig {
        io: FileIO::from_location(&dir, &Options::new()).unwrap(),
        bucket_dir: dir,
        schema: Arc::clone(table.schema()),
        options: table.options().clone(),
        layout,
        level: like.level,
        source: FileSource::Append,
        clock: SystemClock::shared(),
    })
    .unwrap();
    for batch in batches {
        writer.write(batch).await.unwrap();
    }
    writer.close().await.unwrap().remove(0)
}

#[tokio::test]
async fn our_metadata_of_javas_rows_is_that_of_java() {
    for name in TABLES {
        let table = open(name).await;
        let fields = match table.schema().has_primary_key() {
            true => key_value_fields(&table.schema().fields),
            false => table.schema().fields.clone(),
        };
        for entry in live_files(&table).await {
            let java = entry.file.clone();
            let ours = write_again(&table, &read(&table, &entry, &fields).await, &java).await;
            // What belongs to the file and not to its rows.
            let ours = DataFileMeta {
                file_name: java.file_name.clone(),
                file_size: java.file_size,
                creation_time_ms: java.creation_time_ms,
                file_source: java.file_source,
                ..ours
            };
            assert_eq!(ours, java, "{name}");
        }
    }
}

#[tokio::test]
async fn rows_are_those_that_java_reads() {
    for name in TABLES.into_iter().chain(READ_ONLY) {
        let table = open(name).await;
        if table.schema().has_primary_key() {
            continue;
        }
        let mut found = Vec::new();
        for entry in live_files(&table).await {
            for batch in read(&table, &entry, &table.schema().fields).await {
                let row = RowType::new(table.schema().fields.clone());
                let rows = StructArray::from(batch);
                found.extend((0..rows.len()).map(|i| json_row(&rows, i, &row)));
            }
        }
        found.sort();
        let path = format!("{}/rows.jsonl", table.location());
        let expected = String::from_utf8(table.io().read(&path).await.unwrap().to_vec()).unwrap();
        let mut expected: Vec<_> =
            expected.lines().map(|l| l.parse::<serde_json::Value>().unwrap().to_string()).collect();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
}

/// Damaged files give an error that names the file, or rows, and never a panic: a decoder may be told anything.
#[tokio::test]
async fn damaged_files_are_errors() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        usize::try_from(seed >> 1).unwrap() % below
    };
    let io = FileIO::from_location("memory:/damaged", &Options::new()).unwrap();
    let rounds = std::env::var("DAMAGE_ROUNDS").ok().and_then(|r| r.parse().ok()).unwrap_or(ROUNDS);
    let mut failures = 0;
    for name in TABLES.into_iter().chain(READ_ONLY) {
        let table = open(name).await;
        let reader = DataFileReader::new(
            io.clone(),
            Arc::clone(table.schema()),
            table.schemas().clone(),
            table.options().clone(),
        );
        let dir = |e: &ManifestEntry| {
            table.paths().bucket_dir(table.schema(), table.options(), &e.partition, e.bucket).unwrap()
        };
        for entry in live_files(&table).await {
            let whole = table.io().read(&format!("{}/{}", dir(&entry), entry.file.file_name)).await.unwrap();
            for round in 0..rounds {
                let mut bytes = whole.to_vec();
                if round % 8 == 0 {
                    bytes.truncate(random(bytes.len()));
                }
                for _ in 0..=round % 3 {
                    if !bytes.is_empty() {
                        let at = random(bytes.len());
                        bytes[at] ^= 1 << random(8);
                    }
                }
                let path = format!("memory:/damaged/{name}/{round}");
                let mut file = entry.file.clone();
                file.file_size = i64::try_from(bytes.len()).unwrap();
                io.write(&path, bytes.into()).await.unwrap();
                let request = FileRequest {
                    path: path.clone(),
                    file: Arc::new(file),
                    partition: entry.partition.clone(),
                    fields: table.schema().fields.clone(),
                    filter: None,
                    batch_rows: 100,
                };
                let result = match reader.read(request).await {
                    Ok(batches) => batches.try_collect::<Vec<_>>().await.map(drop),
                    Err(error) => Err(error),
                };
                if let Err(error) = result {
                    assert!(error.to_string().contains(&path), "{error}");
                    failures += 1;
                }
                io.delete(&path).await.unwrap();
            }
        }
    }
    assert!(failures > rounds);
}

fn json_row(rows: &StructArray, i: usize, row: &RowType) -> String {
    json_struct(rows, i, row).to_string()
}

fn json_struct(rows: &StructArray, i: usize, row: &RowType) -> serde_json::Value {
    let parts = row.fields().iter().zip(rows.columns());
    parts.map(|(field, part)| (field.name.clone(), json(part, i, &field.data_type))).collect()
}

/// A value as the expected rows give it.
fn json(array: &ArrayRef, i: usize, data_type: &Type) -> serde_json::Value {
    if array.is_null(i) {
        return serde_json::Value::Null;
    }
    let entries = |key: &Type, value: &Type| {
        let entries = array.as_map().value(i);
        let entry = |j| serde_json::json!([json(entries.column(0), j, key), json(entries.column(1), j, value)]);
        let mut entries: Vec<_> = (0..entries.len()).map(entry).collect();
        entries.sort_by_key(ToString::to_string);
        entries.into()
    };
    match data_type {
        Type::Array(t) => {
            let values = array.as_list::<i32>().value(i);
            (0..values.len()).map(|j| json(&values, j, t.element_type())).collect()
        }
        Type::Map(t) => entries(t.key_type(), t.value_type()),
        Type::Multiset(t) => {
            let counts = array.as_map().value(i);
            let count = |j| counts.column(1).as_primitive::<Int32Type>().value(j);
            let entry = |j| serde_json::json!([json(counts.column(0), j, t.element_type()), count(j)]);
            let mut entries: Vec<_> = (0..counts.len()).map(entry).collect();
            entries.sort_by_key(ToString::to_string);
            entries.into()
        }
        Type::Row(t) => json_struct(array.as_struct(), i, t),
        _ => json_datum(&datum_at(array, i, data_type).unwrap().unwrap(), data_type),
    }
}

fn json_datum(value: &Datum, data_type: &Type) -> serde_json::Value {
    let float = |v: f64, shortest: String| match () {
        () if v.is_nan() => "NaN".into(),
        () if v.is_infinite() => if v > 0.0 { "Infinity" } else { "-Infinity" }.into(),
        () if v == 0.0 && v.is_sign_negative() => "-0.0".into(),
        () => shortest.parse().unwrap(),
    };
    let digits = |t: &Type| match t {
        Type::Timestamp(t) => t.precision() as usize,
        Type::LocalZonedTimestamp(t) => t.precision() as usize,
        _ => 0,
    };
    match value {
        Datum::Boolean(v) => (*v).into(),
        Datum::TinyInt(v) => (*v).into(),
        Datum::SmallInt(v) => (*v).into(),
        Datum::Int(v) => (*v).into(),
        Datum::BigInt(v) => (*v).into(),
        Datum::Float(v) => float(f64::from(*v), format!("{v:e}")),
        Datum::Double(v) => float(*v, format!("{v:e}")),
        Datum::Decimal(v, scale) => {
            let scale = usize::from(*scale);
            let digits = format!("{:0>width$}", v.unsigned_abs(), width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            format!("{}{whole}{}{fraction}", if *v < 0 { "-" } else { "" }, if scale > 0 { "." } else { "" }).into()
        }
        Datum::String(v) => v.as_str().into(),
        Datum::Bytes(v) => format!("0x{}", v.iter().map(|b| format!("{b:02x}")).collect::<String>()).into(),
        Datum::Date(v) => chrono::NaiveDate::from_epoch_days(*v).unwrap().to_string().into(),
        Datum::Time(v) => {
            let v = *v;
            format!("{:02}:{:02}:{:02}.{:03}", v / 3_600_000, v / 60_000 % 60, v / 1_000 % 60, v % 1_000).into()
        }
        Datum::Timestamp(v) => moment(*v, digits(data_type)).into(),
        Datum::LocalZonedTimestamp(v) => format!("{}Z", moment(*v, digits(data_type))).into(),
    }
}

fn moment(v: crate::types::Timestamp, digits: usize) -> String {
    let whole = chrono::DateTime::from_timestamp_millis(v.millis).unwrap();
    let fraction = format!("{:03}{:06}", v.millis.rem_euclid(1_000), v.nanos);
    let kept = fraction.trim_end_matches('0').len().max(digits);
    let point = if kept > 0 { "." } else { "" };
    format!("{}{point}{}", whole.format("%Y-%m-%dT%H:%M:%S"), &fraction[..kept])
}
