//! `StreamTableScan`: continuous plans of a table.

use std::sync::Arc;

use paimon_core::scan::StreamScan;
use pyo3::prelude::*;
use tokio::sync::Mutex;

use crate::errors::{OrRaise, raise};
use crate::number::whole;
use crate::read::PyPlan;
use crate::runtime::wait;

/// Plans a table continuously: its state first, then its changes, snapshot by snapshot.
#[pyclass(module = "pypaimon_rust.datafusion", name = "StreamTableScan", frozen)]
pub(crate) struct PyStreamTableScan {
    scan: Arc<Mutex<StreamScan>>,
}

impl PyStreamTableScan {
    pub(crate) fn new(scan: StreamScan) -> Self {
        Self { scan: Arc::new(Mutex::new(scan)) }
    }

    /// Works on the scan once no plan is being made.
    fn with<T, F>(&self, py: Python<'_>, work: F) -> PyResult<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut StreamScan) -> paimon_core::Result<T> + Send + 'static,
    {
        let scan = self.scan.clone();
        wait(py, async move { work(&mut *scan.lock().await) })
    }
}

fn snapshot_id(value: Option<Bound<'_, PyAny>>) -> PyResult<Option<i64>> {
    value.map(|value| whole("next_snapshot_id", &value, None)).transpose()
}

#[pymethods]
impl PyStreamTableScan {
    /// The next plan; `None` if there is nothing new now: call again later.
    fn plan(&self, py: Python<'_>) -> PyResult<Option<PyPlan>> {
        let scan = self.scan.clone();
        let plan = wait(py, async move { scan.lock().await.plan().await })?;
        Ok(plan.map(|plan| PyPlan { plan }))
    }

    /// The id of the snapshot that is planned next; `None` before the first plan.
    fn checkpoint(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.with(py, |scan| Ok(scan.checkpoint()))
    }

    /// The watermark of the snapshot that was planned last.
    fn watermark(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        self.with(py, |scan| Ok(scan.watermark()))
    }

    /// Whether the stream has passed `scan.bounded.watermark`: no plan follows.
    fn is_finished(&self, py: Python<'_>) -> PyResult<bool> {
        self.with(py, |scan| Ok(scan.is_finished()))
    }

    /// Continues with this snapshot; `None` starts over.
    fn restore(&self, py: Python<'_>, next_snapshot_id: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let next_snapshot_id = snapshot_id(next_snapshot_id)?;
        self.with(py, move |scan| scan.restore(next_snapshot_id))
    }

    /// Stores a checkpoint as the progress of the consumer; nothing without a consumer id or for `None`.
    fn notify_checkpoint_complete(&self, py: Python<'_>, next_snapshot_id: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let next_snapshot_id = snapshot_id(next_snapshot_id)?;
        let scan = self.scan.clone();
        wait(py, async move { scan.lock().await.notify_checkpoint_complete(next_snapshot_id).await })
    }

    /// Keeps progress under this name.
    fn with_consumer_id<'py>(slf: Bound<'py, Self>, consumer_id: &str) -> PyResult<Bound<'py, Self>> {
        let py = slf.py();
        let Ok(mut scan) = slf.get().scan.try_lock() else {
            return Err(raise(py, "StateError", "the scan is planning in another thread"));
        };
        *scan = scan.clone().with_consumer_id(consumer_id).or_raise(py)?;
        drop(scan);
        Ok(slf)
    }

    fn __repr__(&self) -> String {
        "StreamTableScan()".to_owned()
    }
}
