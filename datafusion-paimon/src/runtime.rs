//! The engine's memory pool as the core's memory budget.

use std::sync::Arc;

use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use paimon_core::runtime::{MemoryBudget, Resources};
use paimon_core::{Error, ErrorKind, Result};

/// A memory pool of the engine as a budget of the core.
#[derive(Debug)]
pub struct PoolBudget(MemoryReservation);

impl PoolBudget {
    /// A budget that takes from `pool` under this name.
    pub fn new(pool: &Arc<dyn MemoryPool>, name: impl Into<String>) -> Self {
        Self(MemoryConsumer::new(name).register(pool))
    }
}

impl MemoryBudget for PoolBudget {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        self.0.try_grow(bytes).map_err(|e| Error::new(ErrorKind::MemoryExhausted, e.strip_backtrace()))
    }

    fn shrink(&self, bytes: usize) {
        self.0.shrink(bytes.min(self.0.size()));
    }
}

/// What a task lends to the core: its memory pool under this name, and so many pieces of work at once.
pub fn resources(context: &TaskContext, name: &str, parallelism: usize) -> Resources {
    Resources { memory: Arc::new(PoolBudget::new(context.memory_pool(), name)), parallelism }
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
