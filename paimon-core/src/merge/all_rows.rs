//! No engine at all: rows of several runs in key order.

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::engine::MergeEngine;
use super::gather::Picks;
use super::order_key::Prefix;
use super::run_batch::RunBatch;
use crate::error::Result;

/// Keeps all rows.
#[derive(Debug, Default)]
pub(super) struct AllRows {
    picks: Picks,
}

impl<P: Prefix> MergeEngine<P> for AllRows {
    fn accept(&mut self, _: &[RunBatch<P>], batch: usize, start: usize, end: usize) {
        self.picks.push(batch, start, end);
    }

    fn end(&mut self, _: &[RunBatch<P>]) {}

    fn rows(&self) -> usize {
        self.picks.rows()
    }

    fn batches(&self) -> Vec<usize> {
        self.picks.batches().collect()
    }

    fn renumber(&mut self, numbers: &[usize]) {
        self.picks.renumber(numbers);
    }

    fn take(&mut self, schema: &SchemaRef, batches: &[RunBatch<P>]) -> Result<RecordBatch> {
        let gathered = self.picks.gather(schema, batches.len(), |batch| batches[batch].columns.as_slice())?;
        self.picks.clear();
        Ok(gathered)
    }
}
