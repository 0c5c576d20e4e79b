//! Work that goes on after its caller has stopped waiting: what a cancelled call must still end or clean up.
//!
//! Invariants: pieces of such work begin in the order in which they were handed over, each after the ones before it have
//! ended; a host can wait for all of them before it goes on or ends.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::runtime::Handle;
use tokio::sync::{Notify, oneshot};

use crate::error::{Error, Result};

/// The numbers of the pieces that have not ended, and the next number.
static OPEN: Mutex<(BTreeSet<u64>, u64)> = Mutex::new((BTreeSet::new(), 0));
static ENDED: Notify = Notify::const_new();

fn open() -> MutexGuard<'static, (BTreeSet<u64>, u64)> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A piece of work; ends when dropped, also with its runtime.
struct Ticket(u64);

impl Ticket {
    fn take() -> Self {
        let mut open = open();
        let number = open.1;
        open.1 += 1;
        open.0.insert(number);
        Self(number)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        open().0.remove(&self.0);
        ENDED.notify_waiters();
    }
}

/// Waits until no piece with a number below this is open.
async fn ended_below(number: u64) {
    loop {
        let mut ended = std::pin::pin!(ENDED.notified());
        ended.as_mut().enable();
        if open().0.first().is_none_or(|first| *first >= number) {
            return;
        }
        ended.await;
    }
}

/// Does this work on the runtime of the caller without anybody waiting for it, after the pieces before it. Outside of a
/// runtime nothing happens.
pub fn finish_in_background(work: impl Future<Output = ()> + Send + 'static) {
    let Ok(handle) = Handle::try_current() else { return };
    let ticket = Ticket::take();
    handle.spawn(async move {
        ended_below(ticket.0).await;
        work.await;
        drop(ticket);
    });
}

/// Waits until no such work is open.
pub async fn background_finished() {
    ended_below(u64::MAX).await;
}

/// Runs `work` to its end even if the caller stops waiting. Then `stop` is set, so that the work can end early.
///
/// # Errors
/// Those of `work`; `Internal` if it panicked, or outside of a runtime.
///
/// # Cancellation
/// The work ends in the background, and what it gives is dropped there: see [`background_finished`].
pub async fn supervised<T: Send + 'static>(
    stop: Arc<AtomicBool>,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<T> {
    let handle = Handle::try_current().map_err(|e| Error::internal("there is no runtime").with_source(e))?;
    let (sender, receiver) = oneshot::channel();
    handle.spawn(async move {
        // Nobody listens if the caller is gone.
        let _ = sender.send(work.await);
    });
    let mut waiting = Waiting { stop, receiver: Some(receiver) };
    let outcome = match &mut waiting.receiver {
        Some(receiver) => receiver.await,
        None => return Err(Error::internal("nothing is waited for")),
    };
    waiting.receiver = None;
    outcome.map_err(|e| Error::internal("the work panicked").with_source(e))?
}

struct Waiting<T: Send + 'static> {
    stop: Arc<AtomicBool>,
    receiver: Option<oneshot::Receiver<Result<T>>>,
}

impl<T: Send + 'static> Drop for Waiting<T> {
    fn drop(&mut self) {
        if let Some(receiver) = self.receiver.take() {
            self.stop.store(true, Ordering::Relaxed);
            finish_in_background(async move { drop(receiver.await) });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn work_ends_in_order_after_its_caller_is_gone() {
        let stop = Arc::new(AtomicBool::new(false));
        let (flag, order) = (Arc::clone(&stop), Arc::new(Mutex::new(Vec::new())));
        let first = Arc::clone(&order);
        let work = supervised(stop, async move {
            while !flag.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            first.lock().unwrap().push("work");
            Ok(())
        });
        assert!(tokio::time::timeout(Duration::from_millis(10), work).await.is_err());
        let second = Arc::clone(&order);
        finish_in_background(async move { second.lock().unwrap().push("after") });
        background_finished().await;
        assert_eq!(*order.lock().unwrap(), ["work", "after"]);
        assert_eq!(supervised(Arc::default(), async { Ok(7) }).await.unwrap(), 7);
    }
}
