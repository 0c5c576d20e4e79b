//! Runs futures on a runtime of ours from wherever the engine calls.
//!
//! Invariants: a synchronous callback never enters a runtime on the caller's thread: it hands the future over and waits
//! on a plain channel. So it works inside `block_on`, on a current-thread runtime, from a thread without runtime, and
//! when every worker of the caller's runtime waits at once. The child of a fork has handles but no threads of its parent's
//! runtimes: its work runs on the runtime that it has entered, or on a helper of its own.

use std::future::Future;
use std::sync::{Mutex, PoisonError, mpsc};

use datafusion::error::Result;
use paimon_core::{Error, ErrorKind};
use tokio::runtime::{Builder, Handle, Id, Runtime, RuntimeFlavor};

use crate::error::to_datafusion;

/// Runs a future to its end and gives its output to a synchronous caller.
///
/// The future runs on `handle` unless the caller is itself a thread of that runtime, or the runtime has one thread only:
/// waiting could then stop the very thread that should do the work, so a small helper runtime does it.
///
/// # Errors
/// `Cancelled` if the runtime shuts down; `Internal` if the future panicked.
pub fn run<F>(handle: &Handle, future: F) -> Result<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (sender, receiver) = mpsc::sync_channel(1);
    let work = async move {
        let _ = sender.send(future.await);
    };
    let handle = alive(handle)?;
    let caller = Handle::try_current().ok().map(|h| h.id());
    if handle.runtime_flavor() == RuntimeFlavor::CurrentThread || caller == Some(handle.id()) {
        helper()?.spawn(work);
    } else {
        handle.spawn(work);
    }
    receiver.recv().map_err(|_| to_datafusion(Error::new(ErrorKind::Cancelled, "the call did not finish")))
}

/// Runs a future on `handle` and awaits it, also where no runtime is entered; dropping the call cancels it.
///
/// # Errors
/// `Cancelled` if the runtime shuts down; `Internal` if the future panicked.
pub async fn on<F>(handle: &Handle, future: F) -> Result<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let handle = alive(handle)?;
    if Handle::try_current().is_ok_and(|h| h.id() == handle.id()) {
        return Ok(future.await);
    }
    let mut task = Aborting(handle.spawn(future));
    (&mut task.0).await.map_err(|error| {
        to_datafusion(if error.is_cancelled() {
            Error::new(ErrorKind::Cancelled, "the runtime is shutting down")
        } else {
            Error::internal("a task panicked").with_source(error)
        })
    })
}

/// A task that ends with its owner.
struct Aborting<T>(tokio::task::JoinHandle<T>);

impl<T> Drop for Aborting<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runtimes with the process that they were first used in.
static HOMES: Mutex<Vec<(Id, u32)>> = Mutex::new(Vec::new());

/// Notes that the runtime belongs to this process, if nothing is known of it; providers do so when they are made.
pub(crate) fn note(handle: &Handle) {
    home(handle);
}

fn home(handle: &Handle) -> u32 {
    let mut homes = HOMES.lock().unwrap_or_else(PoisonError::into_inner);
    let (id, process) = (handle.id(), std::process::id());
    if let Some((_, home)) = homes.iter().find(|(known, _)| *known == id) {
        return *home;
    }
    homes.push((id, process));
    process
}

/// A handle of a runtime that has threads in this process.
fn alive(handle: &Handle) -> Result<Handle> {
    if home(handle) == std::process::id() {
        return Ok(handle.clone());
    }
    match Handle::try_current() {
        Ok(current) if home(&current) == std::process::id() => Ok(current),
        _ => Ok(helper()?.handle().clone()),
    }
}

/// The runtime for callers that are threads of the runtime they would wait for. It lives as long as the process, also
/// because a runtime must not be dropped on a thread that is inside another one; the child of a fork makes its own.
fn helper() -> Result<&'static Runtime> {
    static HELPER: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);
    let mut helper = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, runtime)) = *helper
        && owner == process
    {
        return Ok(runtime);
    }
    let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("paimon-callback").enable_all().build();
    let runtime =
        runtime.map_err(|e| to_datafusion(Error::internal("cannot start a runtime for callbacks").with_source(e)))?;
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    *helper = Some((process, runtime));
    Ok(runtime)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn work(n: usize) -> usize {
        tokio::time::sleep(Duration::from_millis(5)).await;
        n + 1
    }

    #[test]
    fn a_thread_without_runtime_may_call() {
        let runtime = Runtime::new().unwrap();
        assert_eq!(run(runtime.handle(), work(1)).unwrap(), 2);
    }

    #[tokio::test]
    async fn a_current_thread_runtime_may_call_itself() {
        assert_eq!(run(&Handle::current(), work(1)).unwrap(), 2);
        assert_eq!(on(&Handle::current(), work(2)).await.unwrap(), 3);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_worker_may_wait_at_once() {
        let handle = Handle::current();
        let mut tasks = tokio::task::JoinSet::new();
        for n in 0..64 {
            let handle = handle.clone();
            tasks.spawn(async move { run(&handle, work(n)).unwrap() });
        }
        let mut sum = 0;
        while let Some(n) = tasks.join_next().await {
            sum += n.unwrap();
        }
        assert_eq!(sum, (1..=64).sum::<usize>());
    }

    #[test]
    fn another_runtime_may_be_inside_block_on() {
        let (ours, theirs) = (Runtime::new().unwrap(), Builder::new_current_thread().build().unwrap());
        let handle = ours.handle().clone();
        assert_eq!(theirs.block_on(async { run(&handle, work(1)).unwrap() }), 2);
        assert_eq!(theirs.block_on(async { on(&handle, work(1)).await.unwrap() }), 2);
    }
}
