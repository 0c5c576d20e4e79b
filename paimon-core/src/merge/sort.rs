//! Sorting and merging the rows of a write buffer.
//!
//! Invariants: rows of one key need not be next to each other; the newest counts by the same rule as between runs.
//! Source: `mergetree/SortBufferWriteBuffer.java`.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::record_batch::RecordBatch;

use super::engine::MergeEngine;
use super::order_key::Prefix;
use super::rule::MergeRule;
use super::run_batch::{BatchPreparer, RunBatch};
use super::runs::{Chosen, choose};
use crate::error::{Error, Result};
use crate::runtime::Unlimited;

/// Sorts and merges buffered key-value batches: rows in any order, keys any number of times. Gives batches of at most
/// `batch_rows` rows, sorted by key, each key once; deletes are kept. CPU work: callers put it on a thread where it may
/// take long, and reserve the memory of the batches and of as much again.
///
/// # Errors
/// `Internal` if the batches lack a column of the rule.
pub fn sort_merge(batches: &[RecordBatch], rule: &MergeRule, batch_rows: usize) -> Result<Vec<RecordBatch>> {
    let Some(first) = batches.first() else { return Ok(Vec::new()) };
    let preparer = BatchPreparer::try_new(rule, first.schema(), Arc::new(Unlimited))?;
    let batch_rows = batch_rows.max(1);
    match choose(&Arc::new(rule.clone()), false) {
        Chosen::Rows(engine) if preparer.fits_u64() => sort::<u64, _>(batches, &preparer, engine, batch_rows),
        Chosen::Rows(engine) => sort::<u128, _>(batches, &preparer, engine, batch_rows),
        Chosen::Groups(engine) if preparer.fits_u64() => sort::<u64, _>(batches, &preparer, engine, batch_rows),
        Chosen::Groups(engine) => sort::<u128, _>(batches, &preparer, engine, batch_rows),
        Chosen::All(engine) => sort::<u128, _>(batches, &preparer, engine, batch_rows),
    }
}

/// A row and the beginning of its key.
#[derive(Debug, Clone, Copy)]
struct Row<P> {
    prefix: P,
    batch: u32,
    row: u32,
}

fn sort<P: Prefix, E: MergeEngine<P>>(
    batches: &[RecordBatch],
    preparer: &BatchPreparer,
    mut engine: E,
    batch_rows: usize,
) -> Result<Vec<RecordBatch>> {
    let open = batches.iter().map(|b| preparer.prepare::<P>(b)).collect::<Result<Vec<_>>>()?;
    let rows = sorted_rows(&open)?;
    let mut result = Vec::with_capacity(rows.len().div_ceil(batch_rows));
    for row in &rows {
        let (batch, row) = (row.batch as usize, row.row as usize);
        engine.accept(&open, batch, row, row + 1);
        if engine.rows() == batch_rows {
            result.push(engine.take(preparer.result(), &open)?);
        }
    }
    engine.end(&open);
    if engine.rows() > 0 {
        result.push(engine.take(preparer.result(), &open)?);
    }
    Ok(result)
}

/// All rows by key; those of one key in the order in which they came.
fn sorted_rows<P: Prefix>(batches: &[RunBatch<P>]) -> Result<Vec<Row<P>>> {
    let too_many = || Error::internal("a write buffer holds more rows than can be numbered");
    let count: usize = batches.iter().map(RunBatch::len).sum();
    u32::try_from(count.max(batches.len())).map_err(|_| too_many())?;
    let mut rows = Vec::with_capacity(count);
    for (number, batch) in batches.iter().enumerate() {
        let numbered = batch.keys.prefixes().iter().zip(0u32..);
        rows.extend(numbered.map(|(&prefix, row)| Row { prefix, batch: number as u32, row }));
    }
    let by_place = |a: &Row<P>, b: &Row<P>| (a.batch, a.row).cmp(&(b.batch, b.row));
    if batches.first().is_none_or(|b| b.keys.is_exact()) {
        rows.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| by_place(a, b)));
    } else {
        let tails = |a: &Row<P>, b: &Row<P>| -> Ordering {
            let (x, y) = (&batches[a.batch as usize].keys, &batches[b.batch as usize].keys);
            x.compare_tail(a.row as usize, y, b.row as usize)
        };
        rows.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix).then_with(|| tails(a, b)).then_with(|| by_place(a, b)));
    }
    Ok(rows)
}
