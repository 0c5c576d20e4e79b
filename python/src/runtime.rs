//! The one Tokio runtime of the process, and how Python waits for it.
//!
//! Invariants: made on first use, anew in the child of a fork; waiting releases the interpreter lock and looks for
//! signals, so Ctrl-C stops the work, and what the work leaves behind is cleaned up before the exception is raised; a
//! panic becomes an exception.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use futures::FutureExt;
use paimon_core::runtime::background_finished;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime, RuntimeFlavor};
use tokio::task::JoinHandle;

use crate::errors::{internal, raise, to_py};

/// How long one wait without a look for signals lasts.
const SLICE: Duration = Duration::from_millis(50);
/// How often an interrupted call is looked at.
const POLL: Duration = Duration::from_millis(5);
/// How long an interrupted call may take to end: one that only computes does not notice.
const ENDING: Duration = Duration::from_secs(2);
/// How long it may take to clean up after that.
const CLEANING: Duration = Duration::from_secs(10);

/// The runtime with the process that made it. A child of a fork has the memory but not the threads of its parent's
/// runtime: it must neither use nor drop it.
static RUNTIME: OnceLock<Mutex<Option<(u32, &'static Runtime)>>> = OnceLock::new();

/// The handle of the process's runtime.
pub(crate) fn handle() -> PyResult<Handle> {
    let cell = RUNTIME.get_or_init(Mutex::default);
    let mut current = cell.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, runtime)) = current.as_ref()
        && *owner == process
    {
        return Ok(runtime.handle().clone());
    }
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name("paimon")
        .thread_stack_size(8 << 20)
        .build()
        .map_err(|e| internal(format!("the runtime could not be started: {e}")))?;
    // Lives as long as the process: objects of Python may outlive every scope that could own it.
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    *current = Some((process, runtime));
    Ok(runtime.handle().clone())
}

/// The process that made an object whose work has begun: the child of a fork has none of the threads that go on with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Maker(u32);

impl Maker {
    /// This process.
    pub(crate) fn here() -> Self {
        Self(std::process::id())
    }

    /// Whether this process is the one.
    pub(crate) fn is_here(self) -> bool {
        self.0 == std::process::id()
    }

    /// Refuses `object` in another process than the one that made it: `ForkSafetyError`.
    pub(crate) fn check(self, py: Python<'_>, object: &str) -> PyResult<()> {
        if self.is_here() { Ok(()) } else { Err(raise(py, "ForkSafetyError", &Self::refusal(object))) }
    }

    /// What [`Maker::check`] says.
    pub(crate) fn refusal(object: &str) -> String {
        format!("the {object} was made before a fork and does not work in the child; make a new one there")
    }
}

/// Runs a future to its end while other Python threads run.
pub(crate) fn wait<T, E, F>(py: Python<'_>, future: F) -> PyResult<T>
where
    T: Send + 'static,
    E: Into<crate::errors::AnyError> + Send + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    let (sender, mut receiver) = channel();
    let task = handle()?.spawn(async move {
        let outcome = AssertUnwindSafe(future).catch_unwind().await;
        // Nobody listens any more if the caller was interrupted.
        let _ = sender.send(outcome);
    });
    loop {
        let (back, outcome) = py.detach(move || {
            let outcome = blocking(|| receiver.recv_timeout(SLICE));
            (receiver, outcome)
        });
        receiver = back;
        match outcome {
            Ok(Ok(Ok(value))) => return Ok(value),
            Ok(Ok(Err(error))) => return Err(to_py(py, error.into())),
            Ok(Err(panic)) => return Err(internal(format!("a task panicked: {}", panic_text(panic.as_ref())))),
            Err(RecvTimeoutError::Disconnected) => return Err(internal("a task ended without a result")),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(interrupt) = py.check_signals() {
                    task.abort();
                    clean_up(py, task);
                    return Err(interrupt);
                }
            }
        }
    }
}

/// Waits on this thread. If it works for the runtime, as in a function that a query calls, the tasks that are queued on it,
/// among them the one that is waited for, go on elsewhere.
pub(crate) fn blocking<T>(wait: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|handle| handle.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
        _ => wait(),
    }
}

/// Waits until an aborted task is gone and nothing is left to do for it: the process may end right after. A second
/// interruption ends the wait, and so does a task that only computes: it may hold every thread of the runtime, so the
/// wait for it does not run on them.
fn clean_up<T: Send + 'static>(py: Python<'_>, task: JoinHandle<T>) {
    let end = Instant::now() + ENDING;
    // The task counts as ended only once its future is dropped, which hands over what is to be cleaned up.
    while !task.is_finished() {
        if Instant::now() >= end || py.check_signals().is_err() {
            return;
        }
        py.detach(|| std::thread::park_timeout(POLL));
    }
    let Ok(handle) = handle() else { return };
    let (sender, mut receiver) = channel::<()>();
    handle.spawn(async move {
        background_finished().await;
        drop(sender);
    });
    let end = Instant::now() + CLEANING;
    while Instant::now() < end && py.check_signals().is_ok() {
        let (back, outcome) = py.detach(move || {
            let outcome = blocking(|| receiver.recv_timeout(SLICE));
            (receiver, outcome)
        });
        receiver = back;
        if outcome != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown panic".to_owned())
}
