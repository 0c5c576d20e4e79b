//! `CompactBuilder`.

use std::collections::BTreeMap;

use paimon_core::table::CompactBuilder;
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::predicate;
use crate::runtime::wait;

/// Settings of a compaction; each setter returns the builder itself.
#[pyclass(module = "pypaimon_rust.datafusion", name = "CompactBuilder")]
pub(crate) struct PyCompactBuilder {
    pub(crate) builder: CompactBuilder,
}

#[pymethods]
impl PyCompactBuilder {
    /// Only partitions that match a predicate over partition columns; repeated calls combine with AND.
    fn with_partition_filter<'py>(
        mut slf: PyRefMut<'py, Self>,
        predicate: &Bound<'py, PyAny>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        let partition_type = slf.builder.table().schema().partition_type();
        let filter = predicate::from_py(predicate, &partition_type, true)?;
        slf.builder = slf.builder.clone().with_partition_filter(filter).or_raise(predicate.py())?;
        Ok(slf)
    }

    /// The commit user becomes `<user>-compact-<fresh suffix>`.
    fn with_commit_user<'py>(
        mut slf: PyRefMut<'py, Self>,
        py: Python<'py>,
        user: String,
    ) -> PyResult<PyRefMut<'py, Self>> {
        slf.builder = slf.builder.clone().with_commit_user(user).or_raise(py)?;
        Ok(slf)
    }

    /// Plans, runs and commits; one COMPACT snapshot for all tasks, none if there is nothing to do.
    fn execute(&self, py: Python<'_>) -> PyResult<BTreeMap<&'static str, i64>> {
        let builder = self.builder.clone();
        let metrics = wait(py, async move { builder.execute().await })?;
        Ok(BTreeMap::from([
            ("tasks", metrics.tasks),
            ("files_removed", metrics.files_removed),
            ("files_added", metrics.files_added),
            ("rows_written", metrics.rows_written),
            ("bytes_written", metrics.bytes_written),
            ("changelog_files_added", metrics.changelog_files_added),
            ("changelog_rows_written", metrics.changelog_rows_written),
            ("changelog_bytes_written", metrics.changelog_bytes_written),
        ]))
    }

    fn __repr__(&self) -> String {
        format!("CompactBuilder({})", self.builder.table().identifier())
    }
}
