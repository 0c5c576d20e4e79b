//! Batch writes: builder, writer, committer, messages.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use paimon_core::commit::{Overwrite, TableCommit};
use paimon_core::spec::{CommitMessage, DYNAMIC_PARTITION_OVERWRITE, PARTITION_DEFAULT_NAME};
use paimon_core::table::WriteBuilder;
use paimon_core::types::Datum;
use paimon_core::write::TableWrite;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::bytes::bytes_from_py;
use crate::errors::{OrRaise, raise};
use crate::number::whole;
use crate::runtime::{Maker, wait};
use crate::{arrow, predicate};

/// What one bucket's writer produced.
#[pyclass(module = "pypaimon_rust.datafusion", name = "CommitMessage", frozen, skip_from_py_object)]
#[derive(Clone)]
pub(crate) struct PyCommitMessage {
    message: CommitMessage,
    /// The commit user of its builder; none if it comes from bytes.
    user: Option<String>,
}

#[pymethods]
impl PyCommitMessage {
    /// The message in Java's serialised form, version 14.
    fn serialize<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.message.serialize().or_raise(py)?))
    }

    /// The message of bytes that `serialize` or Java wrote in this version, 13 or 14, by default 14. Any committer of the
    /// table commits it.
    #[staticmethod]
    #[pyo3(signature = (data, *, version=None))]
    fn deserialize(py: Python<'_>, data: &Bound<'_, PyAny>, version: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let version = version.map_or(Ok(CommitMessage::VERSION), |version| whole("version", &version, None))?;
        let bytes = bytes_from_py(data, "a serialised commit message")?;
        Ok(Self { message: CommitMessage::deserialize(&bytes, version).or_raise(py)?, user: None })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let class = py.get_type::<Self>();
        Ok((class.getattr("deserialize")?, (self.serialize(py)?,)))
    }

    fn __repr__(&self) -> String {
        let files = &self.message.append.new_files;
        let rows: i64 = files.iter().map(|f| f.row_count).sum();
        format!("CommitMessage(bucket={}, files={}, rows={rows})", self.message.bucket, files.len())
    }
}

/// Settings of a batch write. Writer and committer of one builder share a commit user.
#[pyclass(module = "pypaimon_rust.datafusion", name = "BatchWriteBuilder")]
pub(crate) struct PyWriteBuilder {
    builder: WriteBuilder,
}

impl PyWriteBuilder {
    pub(crate) fn new(builder: WriteBuilder) -> Self {
        Self { builder }
    }

    fn spec(&self, spec: &Bound<'_, PyDict>) -> PyResult<BTreeMap<String, Option<Datum>>> {
        let table = self.builder.table();
        let default_name = table.options().value(&PARTITION_DEFAULT_NAME).or_raise(spec.py())?;
        predicate::partition_spec(spec, &table.schema().partition_type(), &default_name)
    }
}

#[pymethods]
impl PyWriteBuilder {
    /// Overwrites instead of appending: without argument or with `{}` what the table's options say; `None` appends again.
    ///
    /// A partitioned table replaces exactly the partitions that get rows, whatever the values given, unless its option
    /// `dynamic-partition-overwrite` is false: then everything that matches the values.
    #[pyo3(signature = (static_partition=Some(PartitionArgument::default())))]
    fn with_overwrite<'py>(
        mut slf: PyRefMut<'py, Self>,
        py: Python<'py>,
        static_partition: Option<PartitionArgument<'py>>,
    ) -> PyResult<PyRefMut<'py, Self>> {
        let overwrite = match static_partition {
            None => None,
            Some(PartitionArgument(spec)) => {
                let values = spec.as_ref().map(|s| slf.spec(s)).transpose()?.unwrap_or_default();
                let table = slf.builder.table();
                let dynamic = table.options().value(&DYNAMIC_PARTITION_OVERWRITE).or_raise(py)?
                    && !table.schema().partition_keys.is_empty();
                Some(if dynamic { Overwrite::Dynamic } else { Overwrite::Static(values) })
            }
        };
        slf.builder = slf.builder.clone().with_overwrite(overwrite);
        Ok(slf)
    }

    /// A writer.
    fn new_write(&self, py: Python<'_>) -> PyResult<PyTableWrite> {
        let write = self.builder.new_write().or_raise(py)?;
        Ok(PyTableWrite {
            write: Arc::new(tokio::sync::Mutex::new(write)),
            prepared: Arc::default(),
            commit: self.builder.new_commit(),
            state: Mutex::new(State::Open),
            maker: Maker::here(),
        })
    }

    /// A committer.
    fn new_commit(&self) -> PyTableCommit {
        PyTableCommit {
            commit: self.builder.new_commit(),
            overwrite: self.builder.overwrite().cloned(),
            state: Mutex::new(State::Open),
            partition_type: self.builder.table().schema().partition_type(),
            default_name: self.builder.table().options().value(&PARTITION_DEFAULT_NAME).unwrap_or_default(),
        }
    }

    fn __repr__(&self) -> String {
        format!("BatchWriteBuilder({})", self.builder.table().identifier())
    }
}

/// The argument of `with_overwrite` when it is given and not `None`.
#[derive(Default)]
struct PartitionArgument<'py>(Option<Bound<'py, PyDict>>);

impl<'a, 'py> FromPyObject<'a, 'py> for PartitionArgument<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.cast::<PyDict>() {
            Ok(dict) => Ok(Self(Some(dict.to_owned()))),
            Err(_) => Err(PyTypeError::new_err("static_partition is a dict of partition values")),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Used,
    Closed,
}

fn lock<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes batches; nothing is visible before its messages are committed.
#[pyclass(module = "pypaimon_rust.datafusion", name = "BatchTableWrite", frozen)]
pub(crate) struct PyTableWrite {
    write: Arc<tokio::sync::Mutex<TableWrite>>,
    /// What was prepared and has not reached the caller.
    prepared: Arc<Mutex<Vec<CommitMessage>>>,
    /// The committer that takes it back.
    commit: TableCommit,
    state: Mutex<State>,
    maker: Maker,
}

/// A writer that is dropped deletes what it has written: not in the child of a fork, whose parent goes on writing.
impl Drop for PyTableWrite {
    fn drop(&mut self) {
        if !self.maker.is_here() {
            std::mem::forget(self.write.clone());
        }
    }
}

impl PyTableWrite {
    fn check_open(&self, py: Python<'_>) -> PyResult<()> {
        self.maker.check(py, "writer")?;
        match *lock(&self.state) {
            State::Open => Ok(()),
            State::Used => Err(raise(py, "StateError", "this writer has prepared its commit; make a new one")),
            State::Closed => Err(raise(py, "StateError", "this writer is closed")),
        }
    }

    /// Deletes the files that no message with the caller names.
    fn take_back(&self, py: Python<'_>) -> PyResult<()> {
        let (write, prepared, commit) = (self.write.clone(), self.prepared.clone(), self.commit.clone());
        wait(py, async move {
            write.lock().await.abort().await;
            let messages = lock(&prepared).clone();
            commit.abort(messages).await?;
            lock(&prepared).clear();
            Ok::<(), paimon_core::Error>(())
        })
    }
}

#[pymethods]
impl PyTableWrite {
    /// Writes a batch whose columns are those of the table, by order, name and type; `bucket` names the bucket of a
    /// fixed-bucket table.
    #[pyo3(signature = (batch, bucket=None))]
    fn write_arrow(&self, py: Python<'_>, batch: &Bound<'_, PyAny>, bucket: Option<Bound<'_, PyAny>>) -> PyResult<()> {
        let bucket = bucket.map(|bucket| whole("bucket", &bucket, None)).transpose()?;
        self.check_open(py)?;
        arrow::for_each_batch(batch, |batch| {
            let write = self.write.clone();
            wait(py, async move {
                let mut write = write.lock().await;
                match bucket {
                    Some(bucket) => write.write_with_bucket(&batch, bucket).await,
                    None => write.write(&batch).await,
                }
            })
        })
    }

    /// Ends the files and gives the messages to commit; once per writer.
    fn prepare_commit(&self, py: Python<'_>) -> PyResult<Vec<PyCommitMessage>> {
        self.check_open(py)?;
        *lock(&self.state) = State::Used;
        let (write, prepared) = (self.write.clone(), self.prepared.clone());
        let outcome = wait(py, async move {
            let messages = write.lock().await.prepare_commit().await?;
            *lock(&prepared) = messages;
            Ok::<(), paimon_core::Error>(())
        });
        // What is pending now would be raised as the call returns, and its value be lost.
        if let Err(error) = outcome.and_then(|()| py.check_signals()) {
            // Perhaps everything is prepared: nobody will commit it.
            drop(self.take_back(py));
            return Err(error);
        }
        let messages = std::mem::take(&mut *lock(&self.prepared));
        let user = self.commit.user();
        Ok(messages.into_iter().map(|message| PyCommitMessage { message, user: Some(user.to_owned()) }).collect())
    }

    /// Drops what was not prepared and deletes its files; may be called again.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.maker.is_here() {
            return Ok(());
        }
        let before = std::mem::replace(&mut *lock(&self.state), State::Closed);
        match before {
            // A cleaning up that was interrupted itself is done again.
            State::Open | State::Used => self.take_back(py),
            State::Closed => Ok(()),
        }
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
        self.close(py)
    }
}

/// Commits messages; once per committer.
#[pyclass(module = "pypaimon_rust.datafusion", name = "BatchTableCommit", frozen)]
pub(crate) struct PyTableCommit {
    commit: TableCommit,
    overwrite: Option<Overwrite>,
    state: Mutex<State>,
    partition_type: paimon_core::types::RowType,
    default_name: String,
}

impl PyTableCommit {
    fn closed(py: Python<'_>) -> PyErr {
        raise(py, "StateError", "this committer is closed")
    }

    fn take(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = lock(&self.state);
        match *state {
            State::Open => {
                *state = State::Used;
                Ok(())
            }
            State::Used => Err(raise(py, "StateError", "this committer has committed; make a new one")),
            State::Closed => Err(Self::closed(py)),
        }
    }

    /// The messages, and whether some come from bytes.
    fn messages(&self, py: Python<'_>, messages: &Bound<'_, PyAny>) -> PyResult<(Vec<CommitMessage>, bool)> {
        let (mut out, mut foreign) = (Vec::new(), false);
        for message in messages.try_iter()? {
            let message = message?;
            let Ok(message) = message.cast::<PyCommitMessage>() else {
                let found = message.get_type().name()?;
                return Err(PyTypeError::new_err(format!("expected a CommitMessage, found {found}")));
            };
            let message = message.get();
            if message.user.as_deref().is_some_and(|user| user != self.commit.user()) {
                return Err(raise(py, "PaimonValueError", "these messages were made by a writer of another builder"));
            }
            foreign |= message.user.is_none();
            out.push(message.message.clone());
        }
        Ok((out, foreign))
    }
}

#[pymethods]
impl PyTableCommit {
    /// Makes what the messages say visible in one step. No messages make no snapshot, unless an overwrite empties something.
    fn commit(&self, py: Python<'_>, messages: &Bound<'_, PyAny>) -> PyResult<()> {
        let (messages, foreign) = self.messages(py, messages)?;
        self.take(py)?;
        let (commit, overwrite) = (self.commit.clone(), self.overwrite.clone());
        wait(py, async move {
            if foreign {
                commit.check_unused(&messages).await?;
            }
            match overwrite {
                Some(overwrite) => commit.overwrite(messages, overwrite).await,
                None => commit.commit(messages).await,
            }
        })?;
        Ok(())
    }

    /// Deletes the files of messages that were not committed.
    fn abort(&self, py: Python<'_>, messages: &Bound<'_, PyAny>) -> PyResult<()> {
        if matches!(*lock(&self.state), State::Closed) {
            return Err(Self::closed(py));
        }
        let (messages, _) = self.messages(py, messages)?;
        let commit = self.commit.clone();
        wait(py, async move { commit.abort(messages).await })
    }

    /// Deletes all rows.
    fn truncate_table(&self, py: Python<'_>) -> PyResult<()> {
        self.take(py)?;
        let commit = self.commit.clone();
        wait(py, async move { commit.truncate_table().await })?;
        Ok(())
    }

    /// Deletes the partitions that match one of these specifications, each full or partial.
    fn truncate_partitions(&self, py: Python<'_>, partitions: Vec<Bound<'_, PyDict>>) -> PyResult<()> {
        let convert =
            |spec: &Bound<'_, PyDict>| predicate::partition_spec(spec, &self.partition_type, &self.default_name);
        let specs = partitions.iter().map(convert).collect::<PyResult<Vec<_>>>()?;
        if specs.is_empty() {
            return Err(raise(py, "PaimonValueError", "the list of partitions must not be empty"));
        }
        self.take(py)?;
        let commit = self.commit.clone();
        wait(py, async move { commit.truncate_partitions(specs).await })?;
        Ok(())
    }

    /// Ends the committer; may be called again.
    fn close(&self) {
        *lock(&self.state) = State::Closed;
    }
}
