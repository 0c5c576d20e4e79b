//! The store that the engine's Parquet source reads from: the same place that the core reads.
//!
//! The local disk goes through the engine's own local store, which reads ranges with one call to the system; every other
//! store goes through the operator of the core, so that credentials and caches are the same.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store_opendal::OpendalStore;
use paimon_core::storage::FileIO;
use paimon_core::{Error, Result};

/// The store behind a `FileIO`.
///
/// # Errors
/// As [`FileIO::resolve`].
pub(crate) fn object_store(io: &FileIO, location: &str) -> Result<Arc<dyn ObjectStore>> {
    let (operator, _) = io.resolve(location)?;
    Ok(match operator.info().scheme() {
        "fs" => Arc::new(LocalFileSystem::new()),
        _ => Arc::new(OpendalStore::new(operator.clone())),
    })
}

/// The path of a file in that store.
///
/// # Errors
/// `Unsupported` for a name that the store would change.
pub(crate) fn object_path(io: &FileIO, location: &str) -> Result<Path> {
    let (_, path) = io.resolve(location)?;
    Path::parse(&path)
        .map_err(|e| Error::unsupported("the name of a file").with_context("file", location).with_source(e))
}
