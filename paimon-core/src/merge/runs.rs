//! Merging sorted runs.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::rule::MergeRule;
use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::runtime::Resources;

/// Merges sorted runs, each key at most once per run, into one sorted stream with each key once. Rows of kind `-U` and
/// `-D` are dropped from the result if `drop_deletes`. Needs memory for one or two batches per run.
///
/// # Errors
/// Those of the runs; `MemoryExhausted` if the budget does not cover the open runs.
pub fn merge_runs(
    schema: SchemaRef,
    runs: Vec<BatchStream>,
    rule: Arc<MergeRule>,
    drop_deletes: bool,
    batch_rows: usize,
    resources: &Resources,
) -> Result<BatchStream> {
    let _ = (schema, runs, rule, drop_deletes, batch_rows, resources);
    Err(Error::unsupported("merging"))
}

/// Sorts and merges buffered key-value batches: rows in any order, keys any number of times. Gives batches of at most
/// `batch_rows` rows, sorted by key, each key once; deletes are kept.
///
/// # Errors
/// `Internal` if the batches lack a column of the rule.
pub fn sort_merge(batches: &[RecordBatch], rule: &MergeRule, batch_rows: usize) -> Result<Vec<RecordBatch>> {
    let _ = (batches, rule, batch_rows);
    Err(Error::unsupported("merging"))
}
