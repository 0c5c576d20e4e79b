//! Plain descriptions: schema, fields, snapshots, tags, partition statistics.

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_core::meta::Tag;
use paimon_core::spec::{Snapshot, TableSchema};
use paimon_core::types::{DataField, to_arrow_schema};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrow;

/// A column of a table.
#[pyclass(module = "pypaimon_rust.datafusion", name = "DataField", frozen, eq, hash, skip_from_py_object)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct PyDataField(pub(crate) DataField);

#[pymethods]
impl PyDataField {
    /// Id that stays through renames.
    fn id(&self) -> i32 {
        self.0.id
    }

    /// Name.
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Type in Paimon's text, without nullability.
    fn field_type(&self) -> String {
        self.0.data_type.with_nullable(true).to_string()
    }

    /// Whether values may be null.
    fn is_nullable(&self) -> bool {
        self.0.data_type.is_nullable()
    }

    /// Comment.
    fn description(&self) -> Option<&str> {
        self.0.description.as_deref()
    }

    /// Text of the value that replaces null on write.
    fn default_value(&self) -> Option<&str> {
        self.0.default_value.as_deref()
    }

    fn __repr__(&self) -> String {
        format!("DataField({} {})", self.0.name, self.0.data_type)
    }
}

/// The schema of a table.
#[pyclass(module = "pypaimon_rust.datafusion", name = "TableSchema", frozen)]
pub(crate) struct PyTableSchema(pub(crate) Arc<TableSchema>);

#[pymethods]
impl PyTableSchema {
    /// Id of the version.
    fn id(&self) -> i64 {
        self.0.id
    }

    /// Columns in order.
    fn fields(&self) -> Vec<PyDataField> {
        self.0.fields.iter().cloned().map(PyDataField).collect()
    }

    /// Partition columns.
    fn partition_keys(&self) -> Vec<String> {
        self.0.partition_keys.clone()
    }

    /// Primary-key columns.
    fn primary_keys(&self) -> Vec<String> {
        self.0.primary_keys.clone()
    }

    /// Options.
    fn options(&self) -> BTreeMap<String, String> {
        self.0.options.clone()
    }

    /// Comment.
    fn comment(&self) -> Option<&str> {
        self.0.comment.as_deref()
    }

    /// The columns as a `pyarrow.Schema`.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::schema_to_py(py, &to_arrow_schema(&self.0.row_type()))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, pyo3::types::PyCapsule>> {
        crate::capsule::export_schema(py, &to_arrow_schema(&self.0.row_type()))
    }

    fn __repr__(&self) -> String {
        let columns: Vec<String> = self.0.fields.iter().map(|f| format!("{} {}", f.name, f.data_type)).collect();
        format!("TableSchema(id={}, {})", self.0.id, columns.join(", "))
    }
}

/// A snapshot of a table.
#[pyclass(module = "pypaimon_rust.datafusion", name = "Snapshot", frozen)]
pub(crate) struct PySnapshot(pub(crate) Snapshot);

#[pymethods]
impl PySnapshot {
    /// Id.
    fn id(&self) -> i64 {
        self.0.id
    }

    /// Id of the schema at commit time.
    fn schema_id(&self) -> i64 {
        self.0.schema_id
    }

    /// Commit time in milliseconds since the epoch.
    fn commit_time_ms(&self) -> i64 {
        self.0.time_millis
    }

    /// `APPEND`, `COMPACT`, `OVERWRITE` or `ANALYZE`.
    fn commit_kind(&self) -> &'static str {
        self.0.commit_kind.as_str()
    }

    /// Who committed.
    fn commit_user(&self) -> &str {
        &self.0.commit_user
    }

    /// Identifier of the commit within its user.
    fn commit_identifier(&self) -> i64 {
        self.0.commit_identifier
    }

    /// Physical rows of all live files; `None` if the document lacks it.
    fn total_record_count(&self) -> Option<i64> {
        self.0.total_record_count
    }

    /// Physical rows added less those deleted; `None` if the document lacks it.
    fn delta_record_count(&self) -> Option<i64> {
        self.0.delta_record_count
    }

    /// Rows of changelog files.
    fn changelog_record_count(&self) -> Option<i64> {
        self.0.changelog_record_count
    }

    /// Watermark.
    fn watermark(&self) -> Option<i64> {
        self.0.watermark
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        self.0.id.unsigned_abs()
    }

    fn __repr__(&self) -> String {
        format!("Snapshot(id={}, kind={})", self.0.id, self.0.commit_kind.as_str())
    }
}

/// A tag of a table.
#[pyclass(module = "pypaimon_rust.datafusion", name = "Tag", frozen)]
pub(crate) struct PyTag(pub(crate) Tag);

#[pymethods]
impl PyTag {
    /// Name.
    fn name(&self) -> &str {
        &self.0.name
    }

    /// Id of the snapshot that it keeps.
    fn snapshot_id(&self) -> i64 {
        self.0.snapshot.id
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }

    fn __hash__(&self) -> u64 {
        self.0.snapshot.id.unsigned_abs()
    }

    fn __repr__(&self) -> String {
        format!("Tag('{}', snapshot_id={})", self.0.name, self.0.snapshot.id)
    }
}

/// A partition with its values in partition-key order.
pub(crate) fn partition_to_py<'py>(py: Python<'py>, values: &[(String, String)]) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in values {
        dict.set_item(key, value)?;
    }
    Ok(dict)
}

/// Counts of the live files of a partition.
#[pyclass(module = "pypaimon_rust.datafusion", name = "PartitionStat", frozen)]
pub(crate) struct PyPartitionStat {
    pub(crate) partition: Vec<(String, String)>,
    pub(crate) record_count: i64,
    pub(crate) file_count: i64,
    pub(crate) total_size_bytes: i64,
}

#[pymethods]
impl PyPartitionStat {
    /// Partition columns and their text.
    fn partition<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        partition_to_py(py, &self.partition)
    }

    /// Physical rows.
    fn record_count(&self) -> i64 {
        self.record_count
    }

    /// Files.
    fn file_count(&self) -> i64 {
        self.file_count
    }

    /// Bytes.
    fn total_size_bytes(&self) -> i64 {
        self.total_size_bytes
    }

    fn __repr__(&self) -> String {
        let partition: Vec<String> = self.partition.iter().map(|(k, v)| format!("{k}={v}")).collect();
        format!("PartitionStat({}, rows={}, files={})", partition.join("/"), self.record_count, self.file_count)
    }
}
