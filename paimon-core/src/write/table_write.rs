//! Writes batches into the buckets of a table.

use arrow::record_batch::RecordBatch;

use crate::error::{Error, Result};
use crate::runtime::Resources;
use crate::spec::CommitMessage;
use crate::table::Table;

/// Writes batches; nothing is visible before the messages are committed.
///
/// # Cancellation
/// Dropping it leaves files that no message names; [`TableWrite::abort`] removes them.
#[derive(Debug)]
pub struct TableWrite {
    table: Table,
    ignore_previous: bool,
    resources: Resources,
}

impl TableWrite {
    /// A writer for `table`. With `ignore_previous`, as for an overwrite, sequence numbers start anew.
    ///
    /// # Errors
    /// `Unsupported` naming the option if the table cannot be written yet; `InvalidInput` if it is pinned to a snapshot.
    pub fn new(table: Table, ignore_previous: bool, resources: Resources) -> Result<Self> {
        Ok(Self { table, ignore_previous, resources })
    }

    /// Writes a batch whose columns are those of the table, in order, by name and type.
    ///
    /// # Errors
    /// `SchemaMismatch` naming the first column that differs or holds a null that it may not; nothing of the batch is written.
    pub async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let _ = (&self.table, self.ignore_previous, &self.resources, batch);
        Err(Error::unsupported("writing"))
    }

    /// Ends the files and gives one message per bucket that was written.
    ///
    /// # Errors
    /// `Storage`; the files are deleted again.
    pub async fn prepare_commit(&mut self) -> Result<Vec<CommitMessage>> {
        Err(Error::unsupported("writing"))
    }

    /// Deletes everything that was written and belongs to no message.
    pub async fn abort(&mut self) {}
}
