//! The order in which rows of several sorted runs come: a loser tree over the first rows that are left of each run.
//!
//! Rows come as *steps*: ranges of rows of one batch whose keys are below those of all other runs, only the first of
//! them may be equal to a key that came before. A run that wins twice in a row is searched for the place where the next
//! run takes over, so ranges that do not overlap cost a search instead of a comparison per row.
//!
//! Invariants: keys never go down, neither within a run nor in the result. Source:
//! `mergetree/compact/SortMergeReaderWithLoserTree.java`, `LoserTree.java`.

use std::cmp::Ordering;

use super::order_key::Prefix;
use super::run_batch::RunBatch;
use crate::error::{Error, Result};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Rows `start .. end` of the batch with this number.
    Rows {
        /// Number of the batch.
        batch: usize,
        /// First row.
        start: usize,
        /// After the last row.
        end: usize,
    },
    /// The run with this number needs its next batch: [`Tournament::supply`] or [`Tournament::finish`].
    Need(usize),
    /// No run has rows left.
    Done,
}

/// The first row that is left of a run.
#[derive(Debug, Clone, Copy)]
struct Head<P> {
    /// Number of the run, which never changes.
    run: usize,
    /// Number of the open batch.
    batch: usize,
    row: usize,
    len: usize,
    prefix: P,
}

/// The merge of sorted runs; batches have numbers that [`Tournament::forget`] changes.
#[derive(Debug)]
pub(super) struct Tournament<P> {
    batches: Vec<RunBatch<P>>,
    /// The runs that have rows left.
    heads: Vec<Head<P>>,
    /// `tree[0]` is the position in `heads` of the winner, the others those of the losers of their match.
    tree: Vec<usize>,
    /// Runs that need a batch before anything else can happen.
    needy: Vec<usize>,
    exact: bool,
    last_winner: usize,
}

const NO_RUN: usize = usize::MAX;

impl<P: Prefix> Tournament<P> {
    /// A merge of so many runs, of which none has a batch yet.
    pub(super) fn new(runs: usize) -> Self {
        let needy = (0..runs).rev().collect();
        Self { batches: Vec::new(), heads: Vec::new(), tree: Vec::new(), needy, exact: true, last_winner: NO_RUN }
    }

    /// The open batches, those of rows that have come included.
    pub(super) fn batches(&self) -> &[RunBatch<P>] {
        &self.batches
    }

    /// The next rows, at most `limit`, which must not be 0.
    pub(super) fn next(&mut self, limit: usize) -> Step {
        if let Some(&run) = self.needy.last() {
            return Step::Need(run);
        }
        if self.tree.is_empty() {
            self.build();
        }
        let Some(&winner) = self.tree.first() else { return Step::Done };
        let head = self.heads[winner];
        let end = self.end_of_step(winner, head, limit);
        self.last_winner = head.run;
        if end < head.len {
            let prefix = self.batches[head.batch].keys.prefixes()[end];
            let head = &mut self.heads[winner];
            (head.row, head.prefix) = (end, prefix);
            self.replay(winner);
        } else {
            self.heads.swap_remove(winner);
            self.tree.clear();
            self.needy.push(head.run);
        }
        Step::Rows { batch: head.batch, start: head.row, end }
    }

    fn end_of_step(&self, winner: usize, head: Head<P>, limit: usize) -> usize {
        let batch = &self.batches[head.batch];
        let most = head.len.min(head.row.saturating_add(limit));
        if !batch.strictly_sorted {
            return head.row + 1;
        }
        if self.heads.len() == 1 {
            return most;
        }
        if self.last_winner != head.run {
            return head.row + 1;
        }
        let rival = self.heads[self.runner_up(winner)];
        let below = |row: usize| self.compare_rows(head.batch, row, rival.batch, rival.row) == Ordering::Less;
        gallop(head.row + 1, most, below)
    }

    fn compare_rows(&self, batch: usize, row: usize, other: usize, other_row: usize) -> Ordering {
        self.batches[batch].keys.compare(row, &self.batches[other].keys, other_row)
    }

    /// Whether the head at position `a` comes before that at position `b`.
    fn before(&self, a: usize, b: usize) -> bool {
        let (x, y) = (&self.heads[a], &self.heads[b]);
        let mut order = x.prefix.cmp(&y.prefix);
        if order == Ordering::Equal && !self.exact {
            order = self.batches[x.batch].keys.compare_tail(x.row, &self.batches[y.batch].keys, y.row);
        }
        order.then_with(|| x.run.cmp(&y.run)) == Ordering::Less
    }

    /// Plays the matches of the winner anew after its head changed.
    fn replay(&mut self, leaf: usize) {
        let mut winner = leaf;
        let mut node = usize::midpoint(leaf, self.heads.len());
        while node > 0 {
            let loser = self.tree[node];
            if self.before(loser, winner) {
                self.tree[node] = winner;
                winner = loser;
            }
            node /= 2;
        }
        self.tree[0] = winner;
    }

    /// The best of those that lost against the winner.
    fn runner_up(&self, winner: usize) -> usize {
        let mut node = usize::midpoint(winner, self.heads.len());
        let mut best = self.tree[node];
        node /= 2;
        while node > 0 {
            if self.before(self.tree[node], best) {
                best = self.tree[node];
            }
            node /= 2;
        }
        best
    }

    /// Plays all matches.
    fn build(&mut self) {
        let runs = self.heads.len();
        if runs == 0 {
            return;
        }
        // Winners of the matches below each node; leaves stand at `runs ..`.
        let mut winners = vec![0; 2 * runs];
        for (leaf, winner) in winners[runs..].iter_mut().enumerate() {
            *winner = leaf;
        }
        self.tree = vec![0; runs];
        for node in (1..runs).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let (winner, loser) = if self.before(left, right) { (left, right) } else { (right, left) };
            winners[node] = winner;
            self.tree[node] = loser;
        }
        self.tree[0] = winners[1];
    }

    /// Gives the run that needs one its next batch.
    ///
    /// # Errors
    /// `Corrupt` if keys go down.
    pub(super) fn supply(&mut self, run: usize, batch: RunBatch<P>, previous: Option<usize>) -> Result<usize> {
        if !batch.strictly_sorted {
            for row in 1..batch.len() {
                if batch.keys.compare(row - 1, &batch.keys, row) == Ordering::Greater {
                    return Err(out_of_order());
                }
            }
        }
        if let Some(previous) = previous.map(|p| &self.batches[p])
            && batch.len() > 0
            && previous.keys.compare(previous.len() - 1, &batch.keys, 0) == Ordering::Greater
        {
            return Err(out_of_order());
        }
        let number = self.batches.len();
        if let Some(&prefix) = batch.keys.prefixes().first() {
            self.exact = batch.keys.is_exact();
            self.heads.push(Head { run, batch: number, row: 0, len: batch.len(), prefix });
            self.finish(run);
        }
        self.batches.push(batch);
        Ok(number)
    }

    /// The run that needs a batch has none, or got one.
    pub(super) fn finish(&mut self, run: usize) {
        self.needy.retain(|&r| r != run);
        self.tree.clear();
    }

    /// Forgets batches that no run and none of `kept` needs. Gives the new number of each batch.
    pub(super) fn forget(&mut self, kept: impl Iterator<Item = usize>) -> Vec<usize> {
        let mut needed = vec![false; self.batches.len()];
        for batch in kept.chain(self.heads.iter().map(|h| h.batch)) {
            needed[batch] = true;
        }
        let mut next = 0;
        let numbers: Vec<usize> = needed
            .iter()
            .map(|&needed| {
                next += usize::from(needed);
                if needed { next - 1 } else { NO_RUN }
            })
            .collect();
        let mut needed = needed.into_iter();
        self.batches.retain(|_| needed.next().unwrap_or(true));
        for head in &mut self.heads {
            head.batch = numbers[head.batch];
        }
        numbers
    }
}

fn out_of_order() -> Error {
    Error::corrupt("the rows of a sorted run are not in key order")
}

/// The first of `from .. to` that is not `below`, where `below` holds for a first part of the range.
fn gallop(from: usize, to: usize, below: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (from, 1);
    loop {
        if low >= to {
            return to;
        }
        let probe = (low + step - 1).min(to - 1);
        if !below(probe) {
            // The answer is in `low ..= probe`.
            let mut high = probe;
            while low < high {
                let middle = usize::midpoint(low, high);
                if below(middle) { low = middle + 1 } else { high = middle }
            }
            return low;
        }
        low = probe + 1;
        step *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::gallop;

    #[test]
    fn gallop_finds_the_first_that_is_not_below() {
        for to in 3..40 {
            for answer in 3..=to {
                assert_eq!(gallop(3, to, |i| i < answer), answer, "{to}");
            }
        }
    }
}
