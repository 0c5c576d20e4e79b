//! Merging sorted runs as a stream.
//!
//! Each run has a task of its own that reads its next batch and makes comparable keys of it while the merge works on
//! the batches before, so runs are decoded in parallel. Dropping the stream ends the tasks.
//!
//! Invariants: a run that stops without saying that it is at its end is an error, never the end of its rows.

use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::all_rows::AllRows;
use super::deduplicate::Deduplicate;
use super::engine::MergeEngine;
use super::grouping::Grouping;
use super::order_key::Prefix;
use super::roles::Engine;
use super::rule::MergeRule;
use super::run_batch::{BatchPreparer, RunBatch};
use super::tournament::{Step, Tournament};
use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::runtime::{MergeTime, Resources};

/// Merges sorted runs, each key at most once per run, into one sorted stream with each key once. Rows of kind `-U` and
/// `-D` are dropped from the result if `drop_deletes`. The result has the columns of `schema`, found by name in the
/// batches of the runs, which must also have what the rule needs. Needs memory for two or three batches per run, and a
/// Tokio runtime.
///
/// # Errors
/// `Unsupported` for keys without order. From the stream: those of the runs; `Corrupt` if a run is not sorted;
/// `MemoryExhausted` if the budget does not cover the open batches.
pub fn merge_runs(
    schema: SchemaRef,
    runs: Vec<BatchStream>,
    rule: Arc<MergeRule>,
    drop_deletes: bool,
    batch_rows: usize,
    resources: &Resources,
) -> Result<BatchStream> {
    let preparer = BatchPreparer::try_new(&rule, schema, Arc::clone(&resources.memory))?;
    Ok(start(preparer, runs, choose(&rule, drop_deletes), batch_rows, &resources.merge_time))
}

/// Merges sorted runs into one that may hold keys several times: what is left of their rows gives the same result as all
/// of them. `schema` is that of the runs.
///
/// # Errors
/// As [`merge_runs`].
pub(super) fn join_runs(
    schema: SchemaRef,
    runs: Vec<BatchStream>,
    rule: &Arc<MergeRule>,
    batch_rows: usize,
    resources: &Resources,
) -> Result<BatchStream> {
    let preparer = BatchPreparer::try_new(rule, schema, Arc::clone(&resources.memory))?;
    // Of rows of which only the newest counts the others need not be kept.
    let chosen = match choose(rule, false) {
        Chosen::Groups(_) => Chosen::All(AllRows::default()),
        chosen => chosen,
    };
    Ok(start(preparer, runs, chosen, batch_rows, &resources.merge_time))
}

fn start(
    preparer: BatchPreparer,
    runs: Vec<BatchStream>,
    chosen: Chosen,
    batch_rows: usize,
    time: &MergeTime,
) -> BatchStream {
    let batch_rows = batch_rows.max(1);
    let time = time.clone();
    match chosen {
        Chosen::Rows(engine) if preparer.fits_u64() => {
            Merge::<u64, _>::stream(preparer, runs, engine, batch_rows, time)
        }
        Chosen::Rows(engine) => Merge::<u128, _>::stream(preparer, runs, engine, batch_rows, time),
        Chosen::Groups(engine) if preparer.fits_u64() => {
            Merge::<u64, _>::stream(preparer, runs, engine, batch_rows, time)
        }
        Chosen::Groups(engine) => Merge::<u128, _>::stream(preparer, runs, engine, batch_rows, time),
        Chosen::All(engine) if preparer.fits_u64() => Merge::<u64, _>::stream(preparer, runs, engine, batch_rows, time),
        Chosen::All(engine) => Merge::<u128, _>::stream(preparer, runs, engine, batch_rows, time),
    }
}

/// An engine that fits a rule.
pub(super) enum Chosen {
    /// It never needs more than two rows of a key at once.
    Rows(Deduplicate),
    /// It needs all of them.
    Groups(Grouping),
    /// It only puts them in order.
    All(AllRows),
}

/// The engine of a rule.
pub(super) fn choose(rule: &Arc<MergeRule>, drop_deletes: bool) -> Chosen {
    match rule.engine() {
        Engine::Deduplicate { ignore_delete } if !rule.needs_levels() => {
            Chosen::Rows(Deduplicate::new(drop_deletes, *ignore_delete))
        }
        _ => Chosen::Groups(Grouping::new(Arc::clone(rule), drop_deletes)),
    }
}

/// Batches per run that may be open on average: the current one, and one with rows of the next batch of the result.
const BATCHES_PER_RUN: usize = 2;

/// What the task of a run sends: a batch, an error, or at last `None`.
type FromRun<P> = Option<Result<RunBatch<P>>>;

struct Merge<P, E> {
    schema: SchemaRef,
    tournament: Tournament<P>,
    engine: E,
    batch_rows: usize,
    /// The last batch of each run, to check that the next one follows it.
    last_batches: Vec<Option<usize>>,
}

impl<P: Prefix, E: MergeEngine<P>> Merge<P, E> {
    fn stream(
        preparer: BatchPreparer,
        runs: Vec<BatchStream>,
        engine: E,
        batch_rows: usize,
        time: MergeTime,
    ) -> BatchStream {
        let mut merge = Self {
            schema: Arc::clone(preparer.result()),
            tournament: Tournament::new(runs.len()),
            engine,
            batch_rows,
            last_batches: vec![None; runs.len()],
        };
        async_stream::try_stream! {
            let mut tasks = JoinSet::new();
            let mut inputs = Vec::with_capacity(runs.len());
            for run in runs {
                // One batch waits in the channel while the task prepares the next one.
                let (sender, receiver) = mpsc::channel(1);
                tasks.spawn(feed(run, preparer.clone(), sender, time.clone()));
                inputs.push(receiver);
            }
            loop {
                let progress = match time.during(|| merge.advance()) {
                    Ok(Progress::Need(run)) => {
                        let input = inputs[run].recv().await;
                        time.during(|| merge.receive(run, input)).map(|batch| batch.map_or(Progress::Work, Progress::Batch))
                    }
                    progress => progress,
                };
                match progress {
                    Ok(Progress::Batch(batch)) => {
                        yield batch;
                        tokio::task::yield_now().await;
                    }
                    Ok(Progress::Done) => break,
                    Ok(_) => {}
                    Err(error) => {
                        // Whoever tries again with less needs the memory of the tasks.
                        inputs.clear();
                        tasks.shutdown().await;
                        Err(error)?;
                    }
                }
            }
        }
        .boxed()
    }

    /// Takes what the task of a run sent. Gives a batch of the result if too many batches wait for it.
    fn receive(&mut self, run: usize, input: Option<FromRun<P>>) -> Result<Option<RecordBatch>> {
        match input {
            Some(Some(batch)) => {
                let batch = batch?;
                if batch.len() > 0 {
                    self.last_batches[run] = Some(self.tournament.supply(run, batch, self.last_batches[run])?);
                }
            }
            Some(None) => {
                self.last_batches[run] = None;
                self.tournament.finish(run);
            }
            None => return Err(Error::internal("reading a sorted run stopped before its end")),
        }
        // Few rows of many batches may be left, so memory is what must be bounded, not rows.
        let most = self.last_batches.len() * BATCHES_PER_RUN;
        if self.tournament.batches().len() > most {
            self.forget();
            if self.tournament.batches().len() > most && self.engine.rows() > 0 {
                return self.take_batch().map(Some);
            }
        }
        Ok(None)
    }

    /// Works until a batch of the result is full or a run needs its next batch.
    fn advance(&mut self) -> Result<Progress> {
        loop {
            let room = self.batch_rows.saturating_sub(self.engine.rows());
            if room == 0 {
                return self.take_batch().map(Progress::Batch);
            }
            match self.tournament.next(room) {
                Step::Rows { batch, start, end } => self.engine.accept(self.tournament.batches(), batch, start, end),
                Step::Need(run) => return Ok(Progress::Need(run)),
                Step::Done => {
                    self.engine.end(self.tournament.batches());
                    return if self.engine.rows() == 0 {
                        Ok(Progress::Done)
                    } else {
                        self.take_batch().map(Progress::Batch)
                    };
                }
            }
        }
    }

    fn take_batch(&mut self) -> Result<RecordBatch> {
        let gathered = self.engine.take(&self.schema, self.tournament.batches())?;
        self.forget();
        Ok(gathered)
    }

    /// Gives back the memory of batches that nothing needs any more.
    fn forget(&mut self) {
        let kept = self.engine.batches().into_iter().chain(self.last_batches.iter().copied().flatten());
        let numbers = self.tournament.forget(kept);
        self.engine.renumber(&numbers);
        for last in self.last_batches.iter_mut().flatten() {
            *last = numbers[*last];
        }
    }
}

enum Progress {
    Batch(RecordBatch),
    Need(usize),
    /// More can be done at once.
    Work,
    Done,
}

/// Reads a run and sends it batch by batch.
async fn feed<P: Prefix>(
    mut run: BatchStream,
    preparer: BatchPreparer,
    sender: mpsc::Sender<FromRun<P>>,
    time: MergeTime,
) {
    while let Some(batch) = run.next().await {
        let prepared = batch.and_then(|batch| time.during(|| preparer.prepare::<P>(&batch)));
        let failed = prepared.is_err();
        if sender.send(Some(prepared)).await.is_err() || failed {
            return;
        }
    }
    // If nobody listens any more the merge was dropped.
    drop(sender.send(None).await);
}
