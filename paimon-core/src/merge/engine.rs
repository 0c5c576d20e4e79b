//! What a merge asks of an engine: it takes ranges of rows in key order and gives batches of merged rows.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::order_key::Prefix;
use super::run_batch::RunBatch;
use crate::error::Result;

/// The way in which rows of one key become one row.
pub(super) trait MergeEngine<P: Prefix>: Send + 'static {
    /// Takes rows `start .. end` of a batch, whose keys are strictly ascending and not below those taken before; only the
    /// first may be equal to the last one that was taken.
    fn accept(&mut self, batches: &[RunBatch<P>], batch: usize, start: usize, end: usize);

    /// No row follows.
    fn end(&mut self, batches: &[RunBatch<P>]);

    /// How many rows the next batch has, at most.
    fn rows(&self) -> usize;

    /// The batches that are still needed, some of them several times.
    fn batches(&self) -> Vec<usize>;

    /// Batches got new numbers.
    fn renumber(&mut self, numbers: &[usize]);

    /// The rows that are merged since the last time, as a batch of `schema`.
    ///
    /// # Errors
    /// Those of the engine for rows that it cannot take, and of Arrow.
    fn take(&mut self, schema: &SchemaRef, batches: &[RunBatch<P>]) -> Result<RecordBatch>;
}
