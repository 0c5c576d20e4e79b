//! The engine `deduplicate`: of the rows of one key the newest counts.
//!
//! Rows arrive as ranges in key order. The last row of a range stays a *candidate* until a greater key shows that nothing
//! newer follows.
//!
//! Invariants: with `ignore-delete` retracts count as if they were not there; retracts leave the result only if deletes
//! are dropped. Of two rows that tie in everything the later one wins. Source: merge-engine sheet section 2;
//! `mergetree/compact/DeduplicateMergeFunction.java`, `mergetree/DropDeleteReader.java`.

use std::cmp::Ordering;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::engine::MergeEngine;
use super::gather::Picks;
use super::order_key::Prefix;
use super::run_batch::RunBatch;
use crate::error::Result;

/// The choice of the newest row of each key.
#[derive(Debug)]
pub(super) struct Deduplicate {
    drop_deletes: bool,
    ignore_delete: bool,
    candidate: Option<(usize, usize)>,
    picks: Picks,
}

impl Deduplicate {
    /// An engine that has seen no row.
    pub(super) fn new(drop_deletes: bool, ignore_delete: bool) -> Self {
        Self { drop_deletes, ignore_delete, candidate: None, picks: Picks::default() }
    }

    /// No row follows, or none of the candidate's key.
    fn emit_candidate<P: Prefix>(&mut self, batches: &[RunBatch<P>]) {
        if let Some((batch, row)) = self.candidate.take() {
            self.emit(&batches[batch], batch, row, row + 1);
        }
    }

    fn accept_range<P: Prefix>(&mut self, batches: &[RunBatch<P>], batch: usize, mut start: usize, end: usize) {
        let rows = &batches[batch];
        if let Some((other, other_row)) = self.candidate {
            let other_rows = &batches[other];
            if rows.keys.compare(start, &other_rows.keys, other_row) == Ordering::Equal {
                if rows.compare_age(start, other_rows, other_row) != Ordering::Less {
                    self.candidate = Some((batch, start));
                }
                start += 1;
                if start == end {
                    return;
                }
            }
            self.emit_candidate(batches);
        }
        self.emit(rows, batch, start, end - 1);
        self.candidate = Some((batch, end - 1));
    }

    fn emit<P: Prefix>(&mut self, rows: &RunBatch<P>, batch: usize, start: usize, end: usize) {
        if self.drop_deletes && rows.has_retracts {
            for (start, end) in rows.adds(start, end) {
                self.picks.push(batch, start, end);
            }
        } else {
            self.picks.push(batch, start, end);
        }
    }
}

impl<P: Prefix> MergeEngine<P> for Deduplicate {
    fn accept(&mut self, batches: &[RunBatch<P>], batch: usize, start: usize, end: usize) {
        if !(self.ignore_delete && batches[batch].has_retracts) {
            return self.accept_range(batches, batch, start, end);
        }
        for (start, end) in batches[batch].adds(start, end) {
            self.accept_range(batches, batch, start, end);
        }
    }

    fn end(&mut self, batches: &[RunBatch<P>]) {
        self.emit_candidate(batches);
    }

    fn rows(&self) -> usize {
        self.picks.rows()
    }

    fn batches(&self) -> Vec<usize> {
        self.picks.batches().chain(self.candidate.map(|(batch, _)| batch)).collect()
    }

    fn renumber(&mut self, numbers: &[usize]) {
        self.picks.renumber(numbers);
        if let Some((batch, _)) = &mut self.candidate {
            *batch = numbers[*batch];
        }
    }

    fn take(&mut self, schema: &SchemaRef, batches: &[RunBatch<P>]) -> Result<RecordBatch> {
        let gathered = self.picks.gather(schema, batches.len(), |batch| batches[batch].columns.as_slice())?;
        self.picks.clear();
        Ok(gathered)
    }
}
