//! `$partitions` and `$buckets`: what lies where, counted over the entries of the manifests.
//!
//! Source: system-tables sheet section 3; `table/system/PartitionsTable.java`, `BucketsTable.java`,
//! `manifest/PartitionEntry.java`, `manifest/BucketEntry.java`.

use std::collections::HashMap;
use std::hash::Hash;

use arrow::array::BooleanArray;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::rows::{TIME, ints, longs, partition_text, schema, texts, wall_clocks};
use crate::error::Result;
use crate::meta::{local_time, value_text};
use crate::row::BinaryRow;
use crate::spec::{EntryKind, ManifestEntry, PARTITION_DEFAULT_NAME, Snapshot};
use crate::table::Table;

const TEXT: ArrowType = ArrowType::Utf8;
const LONG: ArrowType = ArrowType::Int64;

/// Counts of a place: files that are added less those that are deleted.
#[derive(Debug, Default)]
struct Counts {
    records: i64,
    bytes: i64,
    files: i64,
    /// The youngest file ever added or deleted, as its writer's wall clock showed it.
    last_update_ms: Option<i64>,
    total_buckets: i32,
}

impl Counts {
    fn add(&mut self, entry: &ManifestEntry) {
        let sign = if entry.kind == EntryKind::Add { 1 } else { -1 };
        self.records += sign * entry.file.row_count;
        self.bytes += sign * entry.file.file_size;
        self.files += sign;
        self.last_update_ms = self.last_update_ms.max(entry.file.creation_time_ms);
        self.total_buckets = entry.total_buckets;
    }
}

/// The places that have files.
async fn count<P: Eq + Hash>(
    table: &Table,
    snapshot: Option<Snapshot>,
    place: impl Fn(&ManifestEntry) -> Option<P>,
) -> Result<Vec<(P, Counts)>> {
    let Some(snapshot) = snapshot else { return Ok(Vec::new()) };
    let store = table.manifests();
    let read = store.read_all(store.of_snapshot(&snapshot).await?).await?;
    let mut places: HashMap<P, Counts> = HashMap::new();
    for entry in read.iter().flat_map(|m| m.iter()) {
        if let Some(place) = place(entry) {
            places.entry(place).or_default().add(entry);
        }
    }
    Ok(places.into_iter().filter(|(_, counts)| counts.files > 0).collect())
}

pub(super) fn partitions_schema() -> SchemaRef {
    schema(vec![
        ("partition", TEXT, true),
        ("record_count", LONG, false),
        ("file_size_in_bytes", LONG, false),
        ("file_count", LONG, false),
        ("last_update_time", TIME, true),
        ("created_at", TIME, true),
        ("created_by", TEXT, true),
        ("updated_by", TEXT, true),
        ("options", TEXT, true),
        ("total_buckets", ArrowType::Int32, false),
        ("done", ArrowType::Boolean, false),
        ("deleted_record_count", LONG, true),
    ])
}

/// Who made a partition, and whether it is done, is known to catalogs that track partitions: those of a file system do not.
pub(super) async fn partitions(table: &Table) -> Result<RecordBatch> {
    let snapshot = table.current_snapshot().await?;
    let deleted = deleted_rows(table, snapshot.as_ref()).await?;
    let found = count(table, snapshot, |e| (e.bucket >= 0).then(|| e.partition.clone())).await?;
    let mut rows = Vec::with_capacity(found.len());
    for (partition, counts) in found {
        let deleted = deleted.get(&partition).copied().unwrap_or(Some(0));
        rows.push((path_text(table, &partition)?, counts, deleted));
    }
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    let nothing = || texts(rows.iter().map(|_| None::<&str>));
    let columns = vec![
        texts(rows.iter().map(|r| Some(&r.0))),
        longs(rows.iter().map(|r| Some(r.1.records))),
        longs(rows.iter().map(|r| Some(r.1.bytes))),
        longs(rows.iter().map(|r| Some(r.1.files))),
        wall_clocks(rows.iter().map(|r| r.1.last_update_ms)),
        wall_clocks(rows.iter().map(|_| None)),
        nothing(),
        nothing(),
        nothing(),
        ints(rows.iter().map(|r| r.1.total_buckets)),
        std::sync::Arc::new(rows.iter().map(|_| Some(false)).collect::<BooleanArray>()),
        longs(rows.iter().map(|r| r.2)),
    ];
    Ok(RecordBatch::try_new(partitions_schema(), columns)?)
}

/// `k1=v1/k2=v2`, values cast to STRING and not escaped; null and blank have the table's default name.
fn path_text(table: &Table, partition: &BinaryRow) -> Result<String> {
    let types = table.schema().partition_type().types();
    let default = table.options().value(&PARTITION_DEFAULT_NAME)?;
    let mut parts = Vec::with_capacity(types.len());
    for ((key, data_type), value) in table.schema().partition_keys.iter().zip(&types).zip(partition.decode(&types)?) {
        let text = value.map(|v| value_text(&v, data_type, true)).transpose()?;
        let text = text.filter(|t| !t.trim().is_empty()).unwrap_or_else(|| default.clone());
        parts.push(format!("{key}={text}"));
    }
    Ok(parts.join("/"))
}

/// Rows that deletion vectors hide, per partition; `None` if a vector does not say how many.
async fn deleted_rows(table: &Table, snapshot: Option<&Snapshot>) -> Result<HashMap<BinaryRow, Option<i64>>> {
    let mut deleted: HashMap<BinaryRow, Option<i64>> = HashMap::new();
    if let Some(name) = snapshot.and_then(|s| s.index_manifest.as_ref()) {
        for entry in table.manifests().read_index(name).await? {
            let sum = deleted.entry(entry.partition).or_insert(Some(0));
            for range in entry.dv_ranges.iter().flatten() {
                *sum = sum.zip(range.cardinality).map(|(sum, rows)| sum.saturating_add(rows));
            }
        }
    }
    Ok(deleted)
}

/// Counts of a partition, for the table of the partitions of all tables.
#[derive(Debug)]
pub(crate) struct PartitionCount {
    /// `k1=v1/k2=v2` with the texts of the table's paths, not escaped.
    pub(crate) name: String,
    /// Physical rows.
    pub(crate) records: i64,
    /// Bytes of data files.
    pub(crate) bytes: i64,
    /// Data files.
    pub(crate) files: i64,
    /// When the youngest file was made, in milliseconds since the epoch.
    pub(crate) last_file_ms: Option<i64>,
}

/// The partitions that have files in the snapshot that is read, by name.
///
/// # Errors
/// `Storage` or `Corrupt`, naming the file.
pub(crate) async fn partition_counts(table: &Table) -> Result<Vec<PartitionCount>> {
    let snapshot = table.current_snapshot().await?;
    let found = count(table, snapshot, |e| (e.bucket >= 0).then(|| e.partition.clone())).await?;
    let (schema, options) = (table.schema(), table.options());
    let mut counts = Vec::with_capacity(found.len());
    for (partition, Counts { records, bytes, files, last_update_ms, .. }) in found {
        let values = table.paths().partition_values(schema, options, &partition)?;
        let parts: Vec<String> = schema.partition_keys.iter().zip(values).map(|(k, v)| format!("{k}={v}")).collect();
        let last_file_ms = last_update_ms.map(local_time::from_wall_clock);
        counts.push(PartitionCount { name: parts.join("/"), records, bytes, files, last_file_ms });
    }
    counts.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(counts)
}

pub(super) fn buckets_schema() -> SchemaRef {
    schema(vec![
        ("partition", TEXT, true),
        ("bucket", ArrowType::Int32, false),
        ("record_count", LONG, false),
        ("file_size_in_bytes", LONG, false),
        ("file_count", LONG, false),
        ("last_update_time", TIME, true),
    ])
}

pub(super) async fn buckets(table: &Table) -> Result<RecordBatch> {
    let partition_type = table.schema().partition_type();
    let latest = table.snapshots().latest().await?;
    let mut rows = Vec::new();
    for ((partition, bucket), counts) in count(table, latest, |e| Some((e.partition.clone(), e.bucket))).await? {
        rows.push((partition_text(&partition, &partition_type)?, bucket, counts));
    }
    rows.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    let columns = vec![
        texts(rows.iter().map(|r| Some(&r.0))),
        ints(rows.iter().map(|r| r.1)),
        longs(rows.iter().map(|r| Some(r.2.records))),
        longs(rows.iter().map(|r| Some(r.2.bytes))),
        longs(rows.iter().map(|r| Some(r.2.files))),
        wall_clocks(rows.iter().map(|r| r.2.last_update_ms)),
    ];
    Ok(RecordBatch::try_new(buckets_schema(), columns)?)
}
