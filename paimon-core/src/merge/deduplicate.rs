//! The engine `deduplicate`: of the rows of one key the newest counts.
//!
//! Rows arrive as ranges in key order. The last row of a range stays a *candidate* until a greater key shows that nothing
//! newer follows.
//!
//! Invariants: with `ignore-delete` retracts count as if they were not there; retracts leave the result only if deletes
//! are dropped. Of two rows that tie in everything the later one wins. Source: merge-engine sheet section 2;
//! `mergetree/compact/DeduplicateMergeFunction.java`, `mergetree/DropDeleteReader.java`.

use std::cmp::Ordering;

use super::gather::Picks;
use super::order_key::Prefix;
use super::run_batch::RunBatch;

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

    /// The rows that were chosen since the last time.
    pub(super) fn picks(&mut self) -> &mut Picks {
        &mut self.picks
    }

    /// The batches of all rows that were chosen or may still be.
    pub(super) fn batches(&self) -> impl Iterator<Item = usize> {
        self.picks.batches().chain(self.candidate.map(|(batch, _)| batch))
    }

    /// Batches got new numbers.
    pub(super) fn renumber(&mut self, numbers: &[usize]) {
        self.picks.renumber(numbers);
        if let Some((batch, _)) = &mut self.candidate {
            *batch = numbers[*batch];
        }
    }

    /// Takes rows `start .. end` of a batch, whose keys are strictly ascending.
    pub(super) fn accept<P: Prefix>(&mut self, batches: &[RunBatch<P>], batch: usize, start: usize, end: usize) {
        if !(self.ignore_delete && batches[batch].has_retracts) {
            return self.accept_range(batches, batch, start, end);
        }
        for (start, end) in adds(&batches[batch], start, end) {
            self.accept_range(batches, batch, start, end);
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

    /// No row follows, or none of the candidate's key.
    pub(super) fn emit_candidate<P: Prefix>(&mut self, batches: &[RunBatch<P>]) {
        if let Some((batch, row)) = self.candidate.take() {
            self.emit(&batches[batch], batch, row, row + 1);
        }
    }

    fn emit<P: Prefix>(&mut self, rows: &RunBatch<P>, batch: usize, start: usize, end: usize) {
        if self.drop_deletes && rows.has_retracts {
            for (start, end) in adds(rows, start, end) {
                self.picks.push(batch, start, end);
            }
        } else {
            self.picks.push(batch, start, end);
        }
    }
}

/// The ranges of rows that are no retracts.
fn adds<P: Prefix>(rows: &RunBatch<P>, start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut next = start;
    std::iter::from_fn(move || {
        let first = (next..end).find(|&row| !rows.is_retract(row))?;
        next = (first..end).find(|&row| rows.is_retract(row)).unwrap_or(end);
        Some((first, next))
    })
}
