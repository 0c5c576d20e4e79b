//! The engine's environment by a handful of options: memory pool and temporary directory.
//!
//! Invariants: a setting that cannot be carried out is an error when the environment is built, never later. The pool counts
//! what operators reserve: sorts, aggregations, joins, and our merges and write buffers; it is not a limit of the process.
//! Source: Python API sheet PY-050 to PY-057.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool, TrackConsumersPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::prelude::SessionConfig;
use paimon_core::{Error, ErrorKind, Result};

/// How a pool divides its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolKind {
    /// Evenly among operators that can spill.
    Fair,
    /// First come, first served.
    Greedy,
}

impl PoolKind {
    /// Reads `fair` or `greedy`, exactly so.
    ///
    /// # Errors
    /// `InvalidInput` naming both.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "fair" => Ok(Self::Fair),
            "greedy" => Ok(Self::Greedy),
            _ => Err(Error::invalid_input(format!("memory_pool_type must be 'fair' or 'greedy', found '{text}'"))),
        }
    }
}

/// Limits of an environment; none by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EnvironmentOptions {
    /// How the pool divides its memory; greedy if only the bytes are given.
    pub pool: Option<PoolKind>,
    /// Bytes of the pool.
    pub pool_bytes: Option<u64>,
    /// Where operators spill to; made with its parents if it does not exist.
    pub temp_directory: Option<PathBuf>,
    /// Bytes that may be spilled at once; more is an error of the query.
    pub max_temp_bytes: Option<u64>,
}

/// What the engine reserves for merging sorted runs unless told otherwise.
const SORT_RESERVATION: usize = 10 << 20;

impl EnvironmentOptions {
    /// Builds the environment.
    ///
    /// # Errors
    /// `InvalidInput` naming the option that is wrong; `Storage` or `PermissionDenied` if the directory cannot be made or
    /// written.
    pub fn build(&self) -> Result<Arc<RuntimeEnv>> {
        let mut builder = RuntimeEnvBuilder::new();
        if let Some(pool) = self.pool()? {
            builder = builder.with_memory_pool(pool);
        }
        if let Some(directory) = &self.temp_directory {
            prepare(directory)?;
            let mode = DiskManagerMode::Directories(vec![directory.clone()]);
            builder = builder.with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode));
        }
        if let Some(bytes) = self.max_temp_bytes {
            builder = builder.with_max_temp_directory_size(bytes);
        }
        builder.build_arc().map_err(|e| Error::invalid_input(e.strip_backtrace()))
    }

    fn pool(&self) -> Result<Option<Arc<dyn MemoryPool>>> {
        let bytes = match (self.pool, self.pool_bytes) {
            (None, None) => return Ok(None),
            (Some(_), None) => return Err(Error::invalid_input("memory_pool_type needs memory_pool_bytes")),
            (_, Some(0)) => return Err(Error::invalid_input("memory_pool_bytes must be greater than 0")),
            (_, Some(bytes)) => usize::try_from(bytes)
                .map_err(|_| Error::invalid_input(format!("memory_pool_bytes {bytes} is too large")))?,
        };
        // Errors name the operators that hold most.
        let named = NonZeroUsize::MIN.saturating_add(4);
        Ok(Some(match self.pool {
            Some(PoolKind::Fair) => Arc::new(TrackConsumersPool::new(FairSpillPool::new(bytes), named)),
            _ => Arc::new(TrackConsumersPool::new(GreedyMemoryPool::new(bytes), named)),
        }))
    }

    /// Lowers what each sort sets aside for its merge where the pool is small: otherwise the reservations alone would
    /// use it up.
    pub fn tune(&self, config: &mut SessionConfig) {
        let Some(bytes) = self.pool_bytes else { return };
        let sorts = config.target_partitions().max(1) * 4;
        let share = usize::try_from(bytes).unwrap_or(usize::MAX) / sorts;
        let execution = &mut config.options_mut().execution;
        execution.sort_spill_reservation_bytes =
            execution.sort_spill_reservation_bytes.min(share.min(SORT_RESERVATION));
    }
}

/// Makes the directory and checks that files can be made in it.
fn prepare(directory: &Path) -> Result<()> {
    let named = |error: std::io::Error| {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied => ErrorKind::PermissionDenied,
            _ => ErrorKind::InvalidInput,
        };
        Error::new(kind, format!("temp_directory {} cannot be used", directory.display())).with_source(error)
    };
    if directory.as_os_str().is_empty() {
        return Err(Error::invalid_input("temp_directory must not be empty"));
    }
    std::fs::create_dir_all(directory).map_err(named)?;
    let probe = directory.join(format!(".paimon-probe-{}", std::process::id()));
    std::fs::write(&probe, []).and_then(|()| std::fs::remove_file(&probe)).map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: EnvironmentOptions, part: &str) {
        let error = options.build().unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }

    #[test]
    fn a_pool_needs_its_bytes() {
        refused(EnvironmentOptions { pool: Some(PoolKind::Fair), ..Default::default() }, "needs memory_pool_bytes");
        refused(EnvironmentOptions { pool_bytes: Some(0), ..Default::default() }, "greater than 0");
        assert!(PoolKind::parse("Fair").is_err());
        EnvironmentOptions { pool: Some(PoolKind::Fair), pool_bytes: Some(1 << 20), ..Default::default() }
            .build()
            .unwrap();
    }

    #[test]
    fn the_temporary_directory_is_made_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        let nested = dir.path().join("a/b");
        let options = EnvironmentOptions { temp_directory: Some(nested.clone()), ..Default::default() };
        options.build().unwrap();
        assert_eq!(std::fs::read_dir(&nested).unwrap().count(), 0);
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        refused(EnvironmentOptions { temp_directory: Some(file), ..Default::default() }, "cannot be used");
        refused(EnvironmentOptions { temp_directory: Some(PathBuf::new()), ..Default::default() }, "must not be empty");
    }

    #[test]
    fn small_pools_get_small_reservations() {
        let mut config = SessionConfig::new().with_target_partitions(2);
        EnvironmentOptions { pool_bytes: Some(8 << 20), ..Default::default() }.tune(&mut config);
        assert_eq!(config.options().execution.sort_spill_reservation_bytes, 1 << 20);
    }
}
