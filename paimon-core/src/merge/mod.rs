//! Merging sorted runs of one bucket: pure, sorted batches in, merged batches out.
//!
//! Everything here works on key-value batches (see [`datafile`](crate::datafile)): `_SEQUENCE_NUMBER`, `_VALUE_KIND`,
//! then columns of the table, of which the key and the sequence fields must be present.

mod rule;
mod runs;

pub use rule::MergeRule;
pub use runs::{merge_runs, sort_merge};
