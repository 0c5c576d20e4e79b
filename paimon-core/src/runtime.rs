//! What the host lends us: a memory budget, a way to keep long CPU work off the reactor, and time to clean up.
//!
//! Invariants: a reservation gives back what it holds when it is dropped.

mod background;

use std::fmt::Debug;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub use background::{background_finished, finish_in_background, supervised};

use crate::error::{Error, Result};

/// A budget of memory that buffers reserve from.
pub trait MemoryBudget: Send + Sync + Debug {
    /// Takes `bytes` from the budget.
    ///
    /// # Errors
    /// `MemoryExhausted` if the budget does not have them.
    fn try_grow(&self, bytes: usize) -> Result<()>;
    /// Gives `bytes` back.
    fn shrink(&self, bytes: usize);
    /// A file for what does not fit. In the system's directory for temporary files, unless the host has another one.
    ///
    /// # Errors
    /// `DiskFull` or `Storage`; `MemoryExhausted` if the host allows no such files.
    fn temp_file(&self) -> Result<Box<dyn TempFile>> {
        Ok(Box::new(SystemTempFile { path: std::env::temp_dir().join(format!("paimon-{}", uuid::Uuid::new_v4())) }))
    }
}

/// A file for data that does not fit into memory. It is deleted when this is dropped.
pub trait TempFile: Send + Sync + Debug {
    /// Starts writing it.
    ///
    /// # Errors
    /// Those of the disk.
    fn writer(&self) -> std::io::Result<Box<dyn Write + Send>>;
    /// Starts reading it, once it was written.
    ///
    /// # Errors
    /// Those of the disk.
    fn reader(&self) -> std::io::Result<Box<dyn Read + Send>>;
}

#[derive(Debug)]
struct SystemTempFile {
    path: PathBuf,
}

impl TempFile for SystemTempFile {
    fn writer(&self) -> std::io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(BufWriter::new(File::create_new(&self.path)?)))
    }

    fn reader(&self) -> std::io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(BufReader::new(File::open(&self.path)?)))
    }
}

impl Drop for SystemTempFile {
    fn drop(&mut self) {
        // What cannot be deleted costs space until the system cleans up.
        drop(std::fs::remove_file(&self.path));
    }
}

/// A budget without limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl MemoryBudget for Unlimited {
    fn try_grow(&self, _: usize) -> Result<()> {
        Ok(())
    }

    fn shrink(&self, _: usize) {}
}

/// What the host lends to reads, writes and compactions.
#[derive(Debug, Clone)]
pub struct Resources {
    /// Memory for buffers over 1 MiB.
    pub memory: Arc<dyn MemoryBudget>,
    /// How many pieces of work may run at once.
    pub parallelism: usize,
    /// Where merges say how long they took.
    pub merge_time: MergeTime,
}

impl Default for Resources {
    fn default() -> Self {
        let parallelism = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        Self { memory: Arc::new(Unlimited), parallelism, merge_time: MergeTime::default() }
    }
}

/// The time that merging took: comparing keys, choosing rows and gathering them, without decoding. All tasks together, so
/// it may be more than the time that passed.
#[derive(Debug, Clone, Default)]
pub struct MergeTime(Arc<AtomicU64>);

impl MergeTime {
    /// The time so far.
    pub fn total(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    /// Adds the time that `work` takes.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.0.fetch_add(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        result
    }
}

/// A part of a budget, given back on drop.
#[derive(Debug)]
pub struct Reservation {
    budget: Arc<dyn MemoryBudget>,
    bytes: usize,
}

impl Reservation {
    /// An empty reservation of `budget`.
    pub fn new(budget: Arc<dyn MemoryBudget>) -> Self {
        Self { budget, bytes: 0 }
    }

    /// The bytes held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Holds exactly `bytes` from now on.
    ///
    /// # Errors
    /// `MemoryExhausted` if the budget does not have them; what was held stays held.
    pub fn try_resize(&mut self, bytes: usize) -> Result<()> {
        if bytes > self.bytes {
            self.budget.try_grow(bytes - self.bytes)?;
        } else {
            self.budget.shrink(self.bytes - bytes);
        }
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.budget.shrink(self.bytes);
    }
}

/// Runs `work` on a thread where it may take long.
///
/// # Errors
/// Those of `work`; `Internal` if it panicked.
pub async fn cpu<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_cancelled() => {
            Err(Error::new(crate::error::ErrorKind::Cancelled, "the runtime is shutting down"))
        }
        Err(error) => Err(Error::internal("a worker thread panicked").with_source(error)),
    }
}
