//! `Table`, and handles with the options of one read.

use std::collections::BTreeMap;

use paimon_core::error::{Entity, ErrorKind};
use paimon_core::meta::Travel;
use paimon_core::{Error, Table};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::catalog::options_from_py;
use crate::compact::PyCompactBuilder;
use crate::engine;
use crate::errors::{raise, to_py};
use crate::inspect::{PyPartitionStat, PySnapshot, PyTableSchema, PyTag, partition_to_py};
use crate::read::PyReadBuilder;
use crate::runtime::wait;
use crate::stream::PyStreamTableScan;
use crate::write::PyWriteBuilder;

/// Options of reads whose keys begin with `scan.` or `incremental-`.
const SCAN_OPTIONS: [&str; 29] = [
    "incremental-between",
    "incremental-between-scan-mode",
    "incremental-between-tag-to-snapshot",
    "incremental-between-timestamp",
    "incremental-to-auto-tag",
    "scan.bounded.watermark",
    "scan.bucket",
    "scan.creation-time-millis",
    "scan.fallback-branch",
    "scan.fallback-branch.read-fail-fast",
    "scan.fallback-delta-branch",
    "scan.fallback-snapshot-branch",
    "scan.file-creation-time-millis",
    "scan.ignore-corrupt-files",
    "scan.ignore-lost-files",
    "scan.infer-parallelism",
    "scan.manifest.parallelism",
    "scan.max-splits-per-task",
    "scan.mode",
    "scan.parallelism",
    "scan.plan-auto-tag-for-read.time-retained",
    "scan.plan-sort-partition",
    "scan.primary-branch",
    "scan.snapshot-id",
    "scan.tag-name",
    "scan.timestamp",
    "scan.timestamp-millis",
    "scan.version",
    "scan.watermark",
];
/// Those that no read of this package follows.
const NOT_FOLLOWED: [&str; 3] =
    ["scan.ignore-corrupt-files", "scan.ignore-lost-files", "scan.plan-auto-tag-for-read.time-retained"];

/// Refuses options that look like those of reads but are none: a slip would read something else.
fn check_options(py: Python<'_>, options: &BTreeMap<String, Option<String>>) -> PyResult<()> {
    for key in options.keys().map(String::as_str) {
        let is_of_reads = key.starts_with("scan.") || key.starts_with("incremental-");
        if is_of_reads && !SCAN_OPTIONS.contains(&key) {
            return Err(raise(py, "PaimonValueError", &format!("unknown option '{key}' of a read")));
        }
        if NOT_FOLLOWED.contains(&key) {
            return Err(raise(py, "UnsupportedError", &format!("the option '{key}' of a read is not supported")));
        }
    }
    Ok(())
}

/// A table with the options of a read. A selector that selects nothing is an error of the scan, not of the builder:
/// streams may start at what does not exist yet.
#[derive(Clone)]
pub(crate) struct Pinned {
    /// The table with its options, selectors not looked up.
    open: Table,
    resolved: Option<Table>,
}

impl Pinned {
    fn new(py: Python<'_>, base: Table, dynamic: BTreeMap<String, Option<String>>) -> PyResult<Self> {
        let (open, resolved) = wait(py, async move {
            let open = if dynamic.is_empty() { base } else { base.with_options(&dynamic).await? };
            let resolved = match open.for_reading().await {
                Ok(table) => Some(table),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound(Entity::Snapshot | Entity::Tag)) => None,
                Err(error) => return Err(error),
            };
            Ok::<_, Error>((open, resolved))
        })?;
        Ok(Self { open, resolved })
    }

    /// The table for looking up columns.
    pub(crate) fn for_schema(&self) -> &Table {
        self.resolved.as_ref().unwrap_or(&self.open)
    }

    /// The table of streams, with the newest schema.
    pub(crate) fn open(&self) -> &Table {
        &self.open
    }

    /// The table of batch reads.
    pub(crate) fn resolved(&self, py: Python<'_>) -> PyResult<Table> {
        if let Some(table) = &self.resolved {
            return Ok(table.clone());
        }
        let table = self.open.clone();
        wait(py, async move { table.for_reading().await })
    }
}

/// A table of a catalog. Keeps the schema it was loaded with; sees commits of others on the next call that plans.
#[pyclass(module = "pypaimon_rust.datafusion", name = "Table", frozen)]
pub(crate) struct PyTable {
    pub(crate) table: Table,
}

#[pymethods]
impl PyTable {
    /// `db.table`, with `$branch_<name>` for a branch.
    fn identifier(&self) -> String {
        self.table.identifier().to_string()
    }

    /// The directory of the table.
    fn location(&self) -> &str {
        self.table.location()
    }

    /// The branch; `main` for an ordinary table.
    fn branch(&self) -> &str {
        self.table.branch()
    }

    /// The schema.
    fn schema(&self) -> PyTableSchema {
        PyTableSchema(self.table.schema().clone())
    }

    /// The same table with the newest schema.
    fn refresh(&self, py: Python<'_>) -> PyResult<Self> {
        let table = self.table.clone();
        wait(py, async move { table.refresh().await }).map(|table| Self { table })
    }

    /// The latest snapshot; `None` if there is none.
    fn latest_snapshot(&self, py: Python<'_>) -> PyResult<Option<PySnapshot>> {
        let table = self.table.clone();
        let latest = wait(py, async move { table.while_alive(table.snapshots().latest()).await })?;
        Ok(latest.map(PySnapshot))
    }

    /// All snapshots, newest first.
    fn list_snapshots(&self, py: Python<'_>) -> PyResult<Vec<PySnapshot>> {
        let table = self.table.clone();
        let listed = wait(py, async move { table.while_alive(table.snapshots().list()).await })?;
        Ok(listed.into_iter().rev().map(PySnapshot).collect())
    }

    /// All tags by name.
    fn list_tags(&self, py: Python<'_>) -> PyResult<Vec<PyTag>> {
        let table = self.table.clone();
        let listed = wait(py, async move { table.while_alive(table.tags().list()).await })?;
        Ok(listed.into_iter().map(PyTag).collect())
    }

    /// The partitions that have files, as in their paths.
    fn list_partitions<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let table = self.table.clone();
        let partitions = wait(py, async move { table.list_partitions().await })?;
        partitions.iter().map(|values| partition_to_py(py, values)).collect()
    }

    /// Counts of the live files of each partition.
    fn partition_stats(&self, py: Python<'_>) -> PyResult<Vec<PyPartitionStat>> {
        let table = self.table.clone();
        let stats = wait(py, async move { table.partition_stats().await })?;
        let convert = |stat: paimon_core::table::PartitionStat| PyPartitionStat {
            partition: stat.partition,
            record_count: stat.record_count,
            file_count: stat.file_count,
            total_size_bytes: stat.total_size_bytes,
        };
        Ok(stats.into_iter().map(convert).collect())
    }

    /// Starts a read; options are laid over the table's, and a selector among them travels in time.
    #[pyo3(signature = (options=None))]
    fn new_read_builder(&self, py: Python<'_>, options: Option<&Bound<'_, PyAny>>) -> PyResult<PyReadBuilder> {
        let dynamic = match options {
            Some(options) => {
                options_from_py(options)?.iter().map(|(k, v)| (k.to_owned(), Some(v.to_owned()))).collect()
            }
            None => BTreeMap::new(),
        };
        check_options(py, &dynamic)?;
        Ok(PyReadBuilder::new(Pinned::new(py, self.table.clone(), dynamic)?))
    }

    /// A continuous scan of all columns and rows.
    fn new_stream_scan(&self, py: Python<'_>) -> PyResult<PyStreamTableScan> {
        PyReadBuilder::new(Pinned::new(py, self.table.clone(), BTreeMap::new())?).stream_scan(py)
    }

    /// Starts a batch write. `PaimonValueError` if an option of the table selects a snapshot.
    fn new_batch_write_builder(&self, py: Python<'_>) -> PyResult<PyWriteBuilder> {
        if let Some(key) = Travel::KEYS.into_iter().find(|key| self.table.options().get(key).is_some()) {
            let name = self.table.identifier();
            let message = format!(
                "{name} cannot be written while its option '{key}' selects what is read; ALTER TABLE {name} RESET ('{key}') first"
            );
            return Err(raise(py, "PaimonValueError", &message));
        }
        Ok(PyWriteBuilder::new(self.table.new_batch_write_builder()))
    }

    /// Raises `NotImplementedError`: stream writes are not supported yet.
    fn new_stream_write_builder(&self, py: Python<'_>) -> PyResult<PyWriteBuilder> {
        Err(to_py(py, Error::unsupported("stream writes are not supported yet").into()))
    }

    /// Starts a compaction.
    fn new_compact_builder(&self) -> PyCompactBuilder {
        PyCompactBuilder { builder: self.table.new_compact_builder() }
    }

    /// The table for a session of the `datafusion` package: `ctx.register_table("t", table)`.
    fn __datafusion_table_provider__<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        engine::table_capsule(py, &self.table, session)
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.table.identifier() == other.table.identifier() && self.table.location() == other.table.location()
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (self.table.identifier(), self.table.location()).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        format!("Table({}, location='{}')", self.table.identifier(), self.table.location())
    }
}
