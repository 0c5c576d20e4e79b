//! The engine's environment by a handful of options: kind and size of the memory pool, directory and size of temporary files.
//!
//! The pool counts what operators reserve: sorts, aggregations, joins, and our merges and write buffers. It is not a limit of
//! the process.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};

use crate::error::{invalid_input, to_datafusion};

/// Options of an environment; what is not set is the engine's default.
#[derive(Debug, Clone, Default)]
pub struct EnvironmentOptions {
    /// `fair` or `greedy`; needs a size.
    pub memory_pool_type: Option<String>,
    /// Bytes of the memory pool; alone they mean a greedy pool.
    pub memory_pool_bytes: Option<usize>,
    /// Directory of temporary files; made with its parents when missing.
    pub temp_directory: Option<PathBuf>,
    /// Bytes that temporary files may take.
    pub max_temp_directory_size_bytes: Option<u64>,
}

impl EnvironmentOptions {
    /// The environment.
    ///
    /// # Errors
    /// `InvalidInput` naming the option; an I/O error if the directory cannot be made.
    pub fn build(&self) -> Result<Arc<RuntimeEnv>> {
        let mut builder = RuntimeEnvBuilder::new();
        if let Some(pool) = self.pool()? {
            builder = builder.with_memory_pool(pool);
        }
        if let Some(directory) = &self.temp_directory {
            if directory.as_os_str().is_empty() {
                return invalid_input("temp_directory must not be empty");
            }
            if let Err(error) = std::fs::create_dir_all(directory) {
                let shown = directory.display();
                return Err(to_datafusion(
                    paimon_core::Error::invalid_input(format!("temp_directory {shown} cannot be used as a directory"))
                        .with_source(error),
                ));
            }
            let mode = DiskManagerMode::Directories(vec![directory.clone()]);
            builder = builder.with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode));
        }
        if let Some(bytes) = self.max_temp_directory_size_bytes {
            builder = builder.with_max_temp_directory_size(bytes);
        }
        builder.build_arc()
    }

    fn pool(&self) -> Result<Option<Arc<dyn MemoryPool>>> {
        let fair = match self.memory_pool_type.as_deref() {
            None | Some("greedy") => false,
            Some("fair") => true,
            Some(other) => {
                return invalid_input(format!("memory_pool_type must be 'fair' or 'greedy', but is '{other}'"));
            }
        };
        match self.memory_pool_bytes {
            None if self.memory_pool_type.is_some() => invalid_input("memory_pool_type needs memory_pool_bytes"),
            None => Ok(None),
            Some(0) => invalid_input("memory_pool_bytes must be greater than 0"),
            Some(bytes) if fair => Ok(Some(Arc::new(FairSpillPool::new(bytes)))),
            Some(bytes) => Ok(Some(Arc::new(GreedyMemoryPool::new(bytes)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pool: Option<&str>, bytes: Option<usize>) -> EnvironmentOptions {
        EnvironmentOptions { memory_pool_type: pool.map(str::to_owned), memory_pool_bytes: bytes, ..Default::default() }
    }

    #[test]
    fn a_pool_needs_a_kind_that_exists_and_a_size() {
        for (pool, bytes, fits) in [
            (None, None, true),
            (Some("fair"), None, false),
            (Some("Fair"), Some(1), false),
            (Some("fair"), Some(1 << 20), true),
            (Some("greedy"), Some(0), false),
            (None, Some(1 << 20), true),
        ] {
            assert_eq!(with(pool, bytes).build().is_ok(), fits, "{pool:?} {bytes:?}");
        }
    }

    #[test]
    fn the_directory_is_made_with_its_parents() {
        let folder = tempfile::tempdir().unwrap();
        let nested = folder.path().join("a").join("b");
        EnvironmentOptions { temp_directory: Some(nested.clone()), ..Default::default() }.build().unwrap();
        assert!(nested.is_dir());
        let file = folder.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(EnvironmentOptions { temp_directory: Some(file), ..Default::default() }.build().is_err());
    }
}
