//! The engine's memory pool and temporary files as the core's memory budget.

use std::fmt::{self, Debug, Formatter};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::sync::Arc;

use datafusion::catalog::Session;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::execution::{DiskManager, SpillFile, SpillWriter, TaskContext};
use paimon_core::runtime::{MemoryBudget, Resources, TempFile};
use paimon_core::{Error, ErrorKind, Result};

use crate::error::to_core;

/// A memory pool of the engine as a budget of the core, with the engine's temporary files.
#[derive(Debug)]
pub struct PoolBudget {
    memory: MemoryReservation,
    disk: Option<Arc<DiskManager>>,
}

impl PoolBudget {
    /// A budget that takes from `pool` under this name.
    pub fn new(pool: &Arc<dyn MemoryPool>, name: impl Into<String>) -> Self {
        Self { memory: MemoryConsumer::new(name).register(pool), disk: None }
    }

    /// The budget of a task: its memory pool under this name, and its temporary files.
    pub fn of_task(context: &TaskContext, name: impl Into<String>) -> Self {
        let disk = Some(Arc::clone(&context.runtime_env().disk_manager));
        let memory = MemoryConsumer::new(name).register(context.memory_pool());
        Self { memory, disk }
    }
}

impl MemoryBudget for PoolBudget {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        self.memory.try_grow(bytes).map_err(|e| Error::new(ErrorKind::MemoryExhausted, e.strip_backtrace()))
    }

    fn shrink(&self, bytes: usize) {
        self.memory.shrink(bytes.min(self.memory.size()));
    }

    fn temp_file(&self) -> Result<Box<dyn TempFile>> {
        let Some(disk) = &self.disk else {
            return Err(Error::new(
                ErrorKind::MemoryExhausted,
                "memory is used up, and there is no temporary directory",
            ));
        };
        let file = disk.create_tmp_file("merging sorted runs").map_err(to_core)?;
        Ok(Box::new(EngineFile(file)))
    }
}

/// A temporary file of the engine, which counts what is written.
struct EngineFile(Arc<dyn SpillFile>);

impl Debug for EngineFile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EngineFile").field(&self.0.path()).finish()
    }
}

impl TempFile for EngineFile {
    fn writer(&self) -> io::Result<Box<dyn Write + Send>> {
        Ok(Box::new(BufWriter::with_capacity(1 << 16, Limited(self.0.open_writer().map_err(io::Error::other)?))))
    }

    fn reader(&self) -> io::Result<Box<dyn Read + Send>> {
        let path = self.0.path().ok_or_else(|| io::Error::other("temporary files must be files of the local disk"))?;
        Ok(Box::new(BufReader::new(File::open(path)?)))
    }
}

/// Says that the limit of temporary files is reached in the way that a full disk does.
struct Limited(Box<dyn SpillWriter>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| match error.kind() {
            io::ErrorKind::Other => io::Error::new(io::ErrorKind::StorageFull, error),
            _ => error,
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// What a task lends to the core: its memory pool under this name, and so many pieces of work at once.
pub fn resources(context: &TaskContext, name: &str, parallelism: usize) -> Resources {
    Resources { memory: Arc::new(PoolBudget::of_task(context, name)), parallelism, ..Resources::default() }
}

/// What a session lends to the core.
pub(crate) fn resources_of(session: &dyn Session, name: &str) -> Resources {
    resources(&session.task_ctx(), name, session.config().target_partitions())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::EnvironmentOptions;

    #[test]
    fn the_budget_is_that_of_the_pool() {
        let greedy = EnvironmentOptions { pool_bytes: Some(1 << 20), ..Default::default() }.build().unwrap();
        let budget = PoolBudget::new(&greedy.memory_pool, "test");
        budget.try_grow(1 << 20).unwrap();
        assert_eq!(budget.try_grow(1).unwrap_err().kind(), ErrorKind::MemoryExhausted);
        budget.shrink(1 << 20);
        budget.try_grow(1).unwrap();
    }
}
