//! Reads: builder, scan, plan, splits, and the readers of batches.

use std::sync::{Arc, Mutex, PoisonError};

use ::arrow::array::RecordBatch;
use ::arrow::datatypes::SchemaRef;
use ::arrow::error::ArrowError;
use futures::{StreamExt, TryStreamExt};
use paimon_core::format::BatchStream;
use paimon_core::predicate::Predicate;
use paimon_core::read::TableRead;
use paimon_core::scan::{Plan, RowPositions, Split, TableScan};
use paimon_core::spec::ChangesMode;
use paimon_core::table::ReadBuilder;
use pyo3::exceptions::{PyStopIteration, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyString};

use crate::bytes::bytes_from_py;
use crate::errors::{OrRaise, raise};
use crate::number::whole;
use crate::runtime::{Maker, blocking, handle, wait};
use crate::stream::PyStreamTableScan;
use crate::table::Pinned;
use crate::{arrow, predicate};

/// Settings of a read; each setter changes the builder and returns it. Scans and reads keep the settings they were made with.
#[pyclass(module = "pypaimon_rust.datafusion", name = "ReadBuilder")]
pub(crate) struct PyReadBuilder {
    table: Pinned,
    projection: Option<Vec<String>>,
    filter: Option<Predicate>,
    limit: Option<usize>,
    case_sensitive: bool,
    row_kind: bool,
    /// Whether a stream was started: then reads have its schema, the newest one.
    streams: bool,
}

impl PyReadBuilder {
    pub(crate) fn new(table: Pinned) -> Self {
        Self {
            table,
            projection: None,
            filter: None,
            limit: None,
            case_sensitive: true,
            row_kind: false,
            streams: false,
        }
    }

    /// A continuous scan with these settings.
    pub(crate) fn stream_scan(&self, py: Python<'_>) -> PyResult<PyStreamTableScan> {
        let builder = self.builder(py, self.table.open().clone())?;
        Ok(PyStreamTableScan::new(builder.new_stream_scan().or_raise(py)?))
    }

    fn projection(&self, py: Python<'_>, table: &paimon_core::Table) -> PyResult<Option<Vec<String>>> {
        let Some(asked) = &self.projection else { return Ok(None) };
        if self.case_sensitive {
            return Ok(Some(asked.clone()));
        }
        let fields = &table.schema().fields;
        let find = |name: &String| {
            let matching: Vec<&str> =
                fields.iter().map(|f| f.name.as_str()).filter(|f| f.eq_ignore_ascii_case(name)).collect();
            match matching[..] {
                [one] => Ok(one.to_owned()),
                [] => Err(raise(py, "NotFoundError", &format!("column {name} does not exist"))),
                _ => {
                    let message = format!("column {name} is ambiguous: {}", matching.join(" and "));
                    Err(raise(py, "PaimonValueError", &message))
                }
            }
        };
        asked.iter().map(find).collect::<PyResult<Vec<_>>>().map(Some)
    }

    fn builder(&self, py: Python<'_>, table: paimon_core::Table) -> PyResult<ReadBuilder> {
        let mut builder = table.new_read_builder().with_row_kind(self.row_kind);
        if let Some(columns) = self.projection(py, &table)? {
            builder = builder.with_projection(&columns).or_raise(py)?;
        }
        if self.row_kind && table.schema().fields.iter().any(|f| f.name == "rowkind") {
            return Err(raise(
                py,
                "PaimonValueError",
                "the table has a column named rowkind; row kinds cannot be added",
            ));
        }
        if let Some(filter) = &self.filter {
            builder = builder.with_filter(filter.clone());
        }
        if let Some(limit) = self.limit {
            builder = builder.with_limit(limit);
        }
        Ok(builder)
    }
}

#[pymethods]
impl PyReadBuilder {
    /// Columns of the result, in this order.
    fn with_projection<'py>(
        mut slf: PyRefMut<'py, Self>,
        columns: &Bound<'py, PyAny>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        if columns.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("columns are a list of names, found one string"));
        }
        let names: Vec<String> = columns.extract()?;
        if let Some(twice) = names.iter().enumerate().find(|(i, n)| names[..*i].contains(n)) {
            let message = format!("column {} occurs twice in the projection", twice.1);
            return Err(raise(columns.py(), "PaimonValueError", &message));
        }
        slf.projection = Some(names);
        Ok(slf)
    }

    /// Rows of the result satisfy this predicate in dictionary form; replaces an earlier one.
    fn with_filter<'py>(mut slf: PyRefMut<'py, Self>, predicate: &Bound<'py, PyAny>) -> PyResult<PyRefMut<'py, Self>> {
        let row = slf.table.for_schema().schema().row_type();
        slf.filter = Some(predicate::from_py(predicate, &row, slf.case_sensitive)?);
        Ok(slf)
    }

    /// A hint: planning may stop once so many rows are certain.
    fn with_limit<'py>(mut slf: PyRefMut<'py, Self>, limit: &Bound<'py, PyAny>) -> PyResult<PyRefMut<'py, Self>> {
        slf.limit = Some(whole("the limit", limit, Some(0))?);
        Ok(slf)
    }

    /// Whether column names match exactly; `False` folds ASCII letters. Set it before the filter.
    fn with_case_sensitive(mut slf: PyRefMut<'_, Self>, flag: bool) -> PyRefMut<'_, Self> {
        slf.case_sensitive = flag;
        slf
    }

    /// Adds a first column `rowkind`.
    fn with_include_row_kind(mut slf: PyRefMut<'_, Self>, flag: bool) -> PyRefMut<'_, Self> {
        slf.row_kind = flag;
        slf
    }

    /// Rows with these row ids; tables with row ids cannot be read yet.
    fn with_row_ranges(&self, py: Python<'_>, ranges: &Bound<'_, PyAny>) -> PyResult<()> {
        let _: Vec<(i64, i64)> = ranges.extract()?;
        Err(raise(py, "UnsupportedError", "selecting rows by their row ids is not supported yet"))
    }

    /// A scan with these settings.
    fn new_scan(&self, py: Python<'_>) -> PyResult<PyTableScan> {
        let table = self.table.resolved(py)?;
        Ok(PyTableScan::new(self.builder(py, table)?.new_scan()))
    }

    /// A scan of the changes in the snapshots after `start_snapshot_id` up to `end_snapshot_id`: every row that they
    /// append (`delta`), their changelog (`changelog`), or what the table's changelog producer makes of it (`auto`).
    #[pyo3(signature = (start_snapshot_id, end_snapshot_id, mode="delta"))]
    fn new_incremental_scan(
        &self,
        py: Python<'_>,
        start_snapshot_id: &Bound<'_, PyAny>,
        end_snapshot_id: &Bound<'_, PyAny>,
        mode: &str,
    ) -> PyResult<PyTableScan> {
        let Ok(mode) = ChangesMode::parse(mode) else {
            let message = format!("the mode of an incremental scan is delta, changelog or auto, but is '{mode}'");
            return Err(raise(py, "PaimonValueError", &message));
        };
        let (start, end) =
            (whole("start_snapshot_id", start_snapshot_id, None)?, whole("end_snapshot_id", end_snapshot_id, None)?);
        let table = self.table.resolved(py)?;
        let scan = self.builder(py, table)?.new_scan();
        Ok(PyTableScan::new(scan.with_changes(start, end, mode).or_raise(py)?))
    }

    /// A continuous scan: `plan()` gives the state of the table and then its changes, snapshot by snapshot.
    fn new_stream_scan(mut slf: PyRefMut<'_, Self>) -> PyResult<PyStreamTableScan> {
        slf.streams = true;
        slf.stream_scan(slf.py())
    }

    /// A read with these settings; needs no scan.
    fn new_read(&self, py: Python<'_>) -> PyResult<PyTableRead> {
        let table = if self.streams { self.table.open() } else { self.table.for_schema() };
        Ok(PyTableRead { read: self.builder(py, table.clone())?.new_read().or_raise(py)? })
    }

    fn __repr__(&self) -> String {
        format!("ReadBuilder({})", self.table.for_schema().identifier())
    }
}

/// Plans reads.
#[pyclass(module = "pypaimon_rust.datafusion", name = "TableScan", frozen)]
pub(crate) struct PyTableScan {
    scan: Mutex<TableScan>,
}

impl PyTableScan {
    fn new(scan: TableScan) -> Self {
        Self { scan: Mutex::new(scan) }
    }

    fn select(&self, py: Python<'_>, positions: RowPositions) -> PyResult<()> {
        let mut scan = self.scan.lock().unwrap_or_else(PoisonError::into_inner);
        *scan = scan.clone().with_row_positions(positions).or_raise(py)?;
        Ok(())
    }
}

#[pymethods]
impl PyTableScan {
    /// Plans anew on the snapshot that is latest now, unless a selector pins one.
    fn plan(&self, py: Python<'_>) -> PyResult<PyPlan> {
        let scan = self.scan.lock().unwrap_or_else(PoisonError::into_inner).clone();
        wait(py, async move { scan.plan().await }).map(|plan| PyPlan { plan })
    }

    /// Only the rows from position `start` up to, but without, `end`; positions run through the files of the plan.
    fn with_row_position_slice<'py>(
        slf: Bound<'py, Self>,
        start: &Bound<'py, PyAny>,
        end: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let slice = RowPositions::slice(whole("start", start, Some(0))?, whole("end", end, Some(0))?).or_raise(py)?;
        slf.get().select(py, slice)?;
        Ok(slf)
    }

    /// Only part `index` of `count` parts of the rows, whose sizes differ by one at most.
    fn with_row_position_shard<'py>(
        slf: Bound<'py, Self>,
        index: &Bound<'py, PyAny>,
        count: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let shard =
            RowPositions::shard(whole("index", index, Some(0))?, whole("count", count, Some(0))?).or_raise(py)?;
        slf.get().select(py, shard)?;
        Ok(slf)
    }
}

/// The splits of one snapshot.
#[pyclass(module = "pypaimon_rust.datafusion", name = "Plan", frozen)]
pub(crate) struct PyPlan {
    pub(crate) plan: Plan,
}

#[pymethods]
impl PyPlan {
    /// The splits; together they give each row once.
    fn splits(&self) -> Vec<PySplit> {
        self.plan.splits().iter().cloned().map(|split| PySplit { split }).collect()
    }

    /// The snapshot that was planned; `None` if the table has none.
    fn snapshot_id(&self) -> Option<i64> {
        self.plan.snapshot_id()
    }

    fn __len__(&self) -> usize {
        self.plan.splits().len()
    }

    fn __repr__(&self) -> String {
        let snapshot = self.plan.snapshot_id().map_or("None".to_owned(), |id| id.to_string());
        format!("Plan(snapshot_id={snapshot}, splits={})", self.plan.splits().len())
    }
}

/// Files that are read together.
#[pyclass(module = "pypaimon_rust.datafusion", name = "Split", frozen, skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct PySplit {
    split: Split,
}

#[pymethods]
impl PySplit {
    /// Rows that are selected; without a selection the physical rows of the files: all versions of a key.
    fn row_count(&self) -> i64 {
        self.split.row_count()
    }

    /// Whether the rows are events that are not merged.
    fn is_streaming(&self) -> bool {
        self.split.streaming
    }

    /// The split in Java's serialised form; without frame it is what Java before 2.0 reads.
    #[pyo3(signature = (*, frame=true))]
    fn serialize<'py>(&self, py: Python<'py>, frame: bool) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = if frame { self.split.serialize() } else { self.split.serialize_without_frame() };
        Ok(PyBytes::new(py, &bytes.or_raise(py)?))
    }

    /// The split of bytes that `serialize` or Java wrote.
    #[staticmethod]
    fn deserialize(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let bytes = bytes_from_py(data, "a serialised split")?;
        Ok(Self { split: Split::deserialize(&bytes).or_raise(py)? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let class = py.get_type::<Self>();
        Ok((class.getattr("deserialize")?, (self.serialize(py, true)?,)))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.split == other.split
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        let split = &self.split;
        (split.snapshot_id, &split.partition, split.bucket, split.streaming, self.files()).hash(&mut hasher);
        hasher.finish()
    }

    /// Bucket.
    fn bucket(&self) -> i32 {
        self.split.bucket
    }

    /// Names of the files.
    fn files(&self) -> Vec<String> {
        self.split.files.iter().map(|f| f.file_name.clone()).collect()
    }

    /// Bytes of the files.
    fn size_bytes(&self) -> i64 {
        self.split.size_bytes()
    }

    fn __repr__(&self) -> String {
        format!(
            "Split(bucket={}, files={}, rows={})",
            self.split.bucket,
            self.split.files.len(),
            self.split.row_count()
        )
    }
}

fn splits_from_py(splits: &Bound<'_, PyAny>) -> PyResult<Vec<Split>> {
    let mut out = Vec::new();
    for split in splits.try_iter()? {
        let split = split?;
        match split.cast::<PySplit>() {
            Ok(split) => out.push(split.get().split.clone()),
            Err(_) => {
                let found = split.get_type().name()?;
                return Err(PyTypeError::new_err(format!("expected a Split, found {found}")));
            }
        }
    }
    Ok(out)
}

/// Reads splits.
#[pyclass(module = "pypaimon_rust.datafusion", name = "TableRead", frozen)]
pub(crate) struct PyTableRead {
    read: TableRead,
}

#[pymethods]
impl PyTableRead {
    /// All batches of the splits, as a list.
    fn read<'py>(&self, py: Python<'py>, splits: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let (read, splits) = (self.read.clone(), splits_from_py(splits)?);
        let batches = wait(py, async move { read.to_arrow(&splits)?.try_collect::<Vec<RecordBatch>>().await })?;
        arrow::batches_to_py(py, &batches)
    }

    /// The batches of the splits one after another, without holding the result.
    fn read_arrow(&self, py: Python<'_>, splits: &Bound<'_, PyAny>) -> PyResult<PyBatchReader> {
        let (read, splits) = (self.read.clone(), splits_from_py(splits)?);
        let schema = read.schema();
        // Some streams start tasks when they are made.
        let _entered = handle()?.enter();
        let stream = read.to_arrow(&splits).or_raise(py)?;
        Ok(PyBatchReader { schema, stream: Arc::new(tokio::sync::Mutex::new(Some(stream))), maker: Maker::here() })
    }
}

type SharedStream = Arc<tokio::sync::Mutex<Option<BatchStream>>>;

/// Batches as they are read; one is held at a time.
#[pyclass(module = "pypaimon_rust.datafusion", name = "RecordBatchReader", frozen)]
pub(crate) struct PyBatchReader {
    schema: SchemaRef,
    stream: SharedStream,
    maker: Maker,
}

async fn next_batch(stream: SharedStream) -> Result<Option<RecordBatch>, paimon_core::Error> {
    let mut guard = stream.lock().await;
    loop {
        let Some(open) = guard.as_mut() else { return Ok(None) };
        match open.next().await {
            Some(Ok(batch)) if batch.num_rows() == 0 => {}
            Some(Ok(batch)) => return Ok(Some(batch)),
            Some(Err(error)) => {
                *guard = None;
                return Err(error);
            }
            None => *guard = None,
        }
    }
}

#[pymethods]
impl PyBatchReader {
    /// The next batch; `None` at the end.
    fn read_next_batch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.maker.check(py, "reader")?;
        let batch = wait(py, next_batch(self.stream.clone()))?;
        batch.map(|b| arrow::batch_to_py(py, &b)).transpose()
    }

    /// The schema of the batches.
    #[getter]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        arrow::schema_to_py(py, &self.schema)
    }

    /// Stops the work; may be called again.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.maker.is_here() {
            return Ok(());
        }
        let stream = self.stream.clone();
        wait(py, async move {
            *stream.lock().await = None;
            Ok::<(), paimon_core::Error>(())
        })
    }

    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.read_next_batch(py)?.ok_or_else(|| PyStopIteration::new_err(()))
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close(py)
    }

    /// The rest as a stream of the Arrow C data interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The protocol lets a producer ignore a schema that it cannot cast to.
        drop(requested_schema);
        self.maker.check(py, "reader")?;
        let (schema, stream) = (self.schema.clone(), self.stream.clone());
        let reader = BlockingReader { schema, stream, runtime: handle()?, maker: self.maker };
        arrow::stream_capsule(py, Box::new(reader))
    }
}

/// A reader for consumers that ask from their own threads.
struct BlockingReader {
    schema: SchemaRef,
    stream: SharedStream,
    runtime: tokio::runtime::Handle,
    maker: Maker,
}

impl Iterator for BlockingReader {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        if !self.maker.is_here() {
            return Some(Err(ArrowError::ExternalError(Maker::refusal("reader").into())));
        }
        let (sender, receiver) = std::sync::mpsc::channel();
        let slot = Mutex::new(Some(sender));
        let stream = self.stream.clone();
        self.runtime.spawn(async move {
            let batch = next_batch(stream).await;
            if let Some(sender) = slot.lock().unwrap_or_else(PoisonError::into_inner).take() {
                let _ = sender.send(batch);
            }
        });
        match blocking(|| receiver.recv()) {
            Ok(batch) => batch.map_err(ArrowError::from).transpose(),
            Err(_) => Some(Err(ArrowError::ExternalError("the reading task ended without a result".into()))),
        }
    }
}

impl ::arrow::array::RecordBatchReader for BlockingReader {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}
