//! Merging sorted runs of one bucket: pure, sorted batches in, merged batches out.
//!
//! Everything here works on key-value batches (see `datafile`(crate::datafile)): `_SEQUENCE_NUMBER`, `_VALUE_KIND`,
//! then columns of the table, of which the key and the sequence fields must be present.
//!
//! Invariants: rows are never moved one value at a time. Keys become fixed-width numbers or byte strings once per batch
//! (`order_key`), a loser tree walks them (`tournament`), the engine answers with ranges of rows (`deduplicate`),
//! and the columns are gathered once per batch of the result (`gather`). No I/O. Source: merge-engine sheet sections 1
//! and 2; `mergetree/compact/SortMergeReaderWithLoserTree.java`.

mod all_rows;
mod control;
mod deduplicate;
mod engine;
#[cfg(test)]
mod engine_tests;
mod fold;
mod folds;
mod function;
mod gather;
mod grouping;
mod kinds;
mod order_key;
mod roles;
mod rounds;
mod rule;
mod run_batch;
mod runs;
mod sort;
mod spill;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod timing;
mod tournament;

pub(crate) use kinds::{adds, row_kinds};
pub use rounds::{Run, merge_in_rounds, rows_of_batches};
pub use rule::MergeRule;
pub(crate) use run_batch::LEVEL;
pub use runs::merge_runs;
pub use sort::sort_merge;
