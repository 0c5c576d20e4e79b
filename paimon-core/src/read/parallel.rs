//! Several streams at once, a bounded number at a time, as one.
//!
//! Each worker is a task that takes the next stream when it has read one to its end. Dropping the result ends the tasks.
//!
//! Invariants: at most two batches per worker are in memory besides what the streams hold; a worker that stops without
//! reaching the end of its streams is an error, never the end of the rows.

use std::sync::{Arc, Mutex, PoisonError};

use arrow::record_batch::RecordBatch;
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::format::BatchStream;

/// The batches of all streams, those of one stream in its order, with so many streams open at a time.
pub(super) fn read_all(streams: Vec<BatchStream>, at_once: usize) -> BatchStream {
    async_stream::try_stream! {
        let workers = at_once.clamp(1, streams.len().max(1));
        let queue = Arc::new(Mutex::new(streams.into_iter()));
        let (sender, mut receiver) = mpsc::channel(workers);
        let mut tasks = JoinSet::new();
        for _ in 0..workers {
            tasks.spawn(work(Arc::clone(&queue), sender.clone()));
        }
        drop(sender);
        while let Some(batch) = receiver.recv().await {
            yield batch?;
        }
        while let Some(ended) = tasks.join_next().await {
            ended.map_err(|e| Error::internal("reading a split stopped before its end").with_source(e))?;
        }
    }
    .boxed()
}

async fn work(queue: Arc<Mutex<std::vec::IntoIter<BatchStream>>>, sender: mpsc::Sender<Result<RecordBatch>>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(mut stream) = next else { return };
        while let Some(batch) = stream.next().await {
            let failed = batch.is_err();
            if sender.send(batch).await.is_err() || failed {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{TryStreamExt, stream};

    use super::*;
    use crate::error::ErrorKind;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(future)
    }

    fn batches(rows: &[usize]) -> BatchStream {
        let batch = |&rows: &usize| {
            let options = arrow::record_batch::RecordBatchOptions::new().with_row_count(Some(rows));
            RecordBatch::try_new_with_options(Arc::new(arrow::datatypes::Schema::empty()), vec![], &options)
        };
        stream::iter(rows.iter().map(|r| Ok(batch(r).unwrap())).collect::<Vec<_>>()).boxed()
    }

    #[test]
    fn all_batches_come_in_the_order_of_their_stream() {
        let streams = vec![batches(&[1, 2, 3]), batches(&[]), batches(&[10, 20]), batches(&[100])];
        let read: Vec<usize> = block_on(read_all(streams, 2).map_ok(|b| b.num_rows()).try_collect()).unwrap();
        assert_eq!(read.iter().sum::<usize>(), 136);
        let of_first: Vec<usize> = read.into_iter().filter(|&r| r < 10).collect();
        assert_eq!(of_first, [1, 2, 3]);
        assert!(block_on(read_all(Vec::new(), 4).try_collect::<Vec<_>>()).unwrap().is_empty());
    }

    #[test]
    fn errors_and_panics_are_no_end() {
        let failing = batches(&[1]).chain(stream::once(async { Err(Error::corrupt("torn")) })).boxed();
        let error = block_on(read_all(vec![failing, batches(&[1])], 2).try_collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
        let panicking = stream::once(async { panic!("worker") }).boxed();
        let error = block_on(read_all(vec![panicking, batches(&[1])], 1).try_collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
    }
}
