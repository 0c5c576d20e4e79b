//! Merging more runs than memory holds at once: some are merged into temporary files first.
//!
//! All runs are tried together. If memory runs out, the runs are halved, each half becomes one run in a temporary file, and
//! those are merged; a half that does not fit is halved again.
//!
//! Invariants: rows that go to a file are only put in order, or lose rows that cannot count, so that rounds change no
//! result. So rows that were given out before memory ran out are the first ones of the new merge, which leaves them out.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use futures::StreamExt;
use futures::future::BoxFuture;

use super::rule::MergeRule;
use super::runs::{join_runs, merge_runs};
use super::spill::Spilled;
use crate::error::{Error, ErrorKind, Result};
use crate::format::BatchStream;
use crate::runtime::Resources;

/// A sorted run that can be opened again.
#[derive(Clone)]
pub struct Run(Arc<dyn Fn() -> BatchStream + Send + Sync>);

impl Run {
    /// A run whose rows `open` gives.
    pub fn new(open: impl Fn() -> BatchStream + Send + Sync + 'static) -> Self {
        Self(Arc::new(open))
    }
}

impl Debug for Run {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("Run")
    }
}

/// Runs that are open at once at most: each one is a file that is open and some batches.
const OPEN_RUNS: usize = 128;
/// Runs that may all have batches of full size.
const RUNS_OF_FULL_BATCHES: usize = 16;
/// Smaller batches cost more than the memory that they spare.
const LEAST_ROWS: usize = 256;

/// How many rows the batches of each of `runs` runs should have, so that the memory of all does not grow with their
/// number.
pub fn rows_of_batches(batch_rows: usize, runs: usize) -> usize {
    (batch_rows * RUNS_OF_FULL_BATCHES / runs.max(1)).max(LEAST_ROWS).min(batch_rows)
}

/// As [`merge_runs`], in several rounds if the runs do not fit into memory together. `run_schema` is that of the runs.
///
/// # Errors
/// As [`merge_runs`]; from the stream also `DiskFull` and `Storage` of temporary files.
pub fn merge_in_rounds(
    schema: SchemaRef,
    run_schema: SchemaRef,
    runs: Vec<Run>,
    rule: Arc<MergeRule>,
    drop_deletes: bool,
    batch_rows: usize,
    resources: &Resources,
) -> Result<BatchStream> {
    let rounds = Rounds { schema: run_schema, rule: Arc::clone(&rule), batch_rows, resources: resources.clone() };
    // What cannot be merged at all is said at once.
    drop(merge_runs(Arc::clone(&schema), Vec::new(), Arc::clone(&rule), drop_deletes, batch_rows, resources)?);
    Ok(async_stream::try_stream! {
        let mut runs = runs;
        let mut may_spill = runs.len() > 1;
        let mut given = 0;
        if runs.len() > OPEN_RUNS {
            runs = rounds.fewer(runs).await?;
        }
        loop {
            let open = runs.iter().map(|run| (run.0)()).collect();
            let mut merged =
                merge_runs(Arc::clone(&schema), open, Arc::clone(&rule), drop_deletes, batch_rows, &rounds.resources)?;
            let mut known = given;
            let is_full = loop {
                match merged.next().await {
                    Some(Ok(batch)) => {
                        let skipped = known.min(batch.num_rows());
                        known -= skipped;
                        if skipped < batch.num_rows() {
                            let rest = batch.slice(skipped, batch.num_rows() - skipped);
                            given += rest.num_rows();
                            yield rest;
                        }
                    }
                    Some(Err(error)) if may_spill && error.kind() == ErrorKind::MemoryExhausted => break true,
                    Some(Err(error)) => Err(error)?,
                    None if known > 0 => Err(Error::internal("merging in rounds gave fewer rows"))?,
                    None => break false,
                }
            };
            drop(merged);
            if !is_full {
                break;
            }
            may_spill = false;
            runs = rounds.halves(runs).await?;
        }
    }
    .boxed())
}

#[derive(Clone)]
struct Rounds {
    schema: SchemaRef,
    rule: Arc<MergeRule>,
    batch_rows: usize,
    resources: Resources,
}

impl Rounds {
    /// At most as many runs as may be open at once.
    async fn fewer(&self, mut runs: Vec<Run>) -> Result<Vec<Run>> {
        while runs.len() > OPEN_RUNS {
            let mut merged = Vec::with_capacity(runs.len().div_ceil(OPEN_RUNS));
            for some in runs.chunks(OPEN_RUNS) {
                merged.push(self.spill(some.to_vec()).await?);
            }
            runs = merged;
        }
        Ok(runs)
    }

    /// The same rows in two runs that need little memory.
    async fn halves(&self, mut runs: Vec<Run>) -> Result<Vec<Run>> {
        let second = runs.split_off(runs.len() / 2);
        Ok(vec![self.spill(runs).await?, self.spill(second).await?])
    }

    /// Writes runs as one into a temporary file.
    fn spill(&self, runs: Vec<Run>) -> BoxFuture<'_, Result<Run>> {
        Box::pin(async move {
            let open = runs.iter().map(|run| (run.0)()).collect();
            // Batches of the file need not be large: they are read by few readers.
            let rows = rows_of_batches(self.batch_rows, 2 * RUNS_OF_FULL_BATCHES);
            let joined = join_runs(Arc::clone(&self.schema), open, &self.rule, rows, &self.resources)?;
            let spilled = match Spilled::write(joined, &self.resources.memory).await {
                Err(error) if runs.len() > 1 && error.kind() == ErrorKind::MemoryExhausted => {
                    let halves = self.halves(runs).await?;
                    let open = halves.iter().map(|run| (run.0)()).collect();
                    let joined = join_runs(Arc::clone(&self.schema), open, &self.rule, rows, &self.resources)?;
                    Spilled::write(joined, &self.resources.memory).await?
                }
                spilled => spilled?,
            };
            Ok(Run::new(move || spilled.read()))
        })
    }
}
