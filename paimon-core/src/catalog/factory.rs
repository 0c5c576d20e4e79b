//! From options to a catalog.

use std::sync::Arc;

use super::{Catalog, FileSystemCatalog};
use crate::error::{Error, Result};
use crate::options::{CatalogOptions, Options};

/// Makes catalogs.
#[derive(Debug, Clone, Copy)]
pub struct CatalogFactory;

impl CatalogFactory {
    /// The catalog that the options describe. Contacts no storage.
    ///
    /// # Errors
    /// `InvalidConfig` naming a missing or unknown option value; `Unsupported` naming a storage scheme that is not built in.
    pub async fn create(options: Options) -> Result<Arc<dyn Catalog>> {
        Self::create_now(options)
    }

    /// As [`CatalogFactory::create`], outside async code.
    ///
    /// # Errors
    /// As [`CatalogFactory::create`].
    pub fn create_now(options: Options) -> Result<Arc<dyn Catalog>> {
        match options.get(CatalogOptions::METASTORE).unwrap_or("filesystem") {
            "filesystem" => Ok(Arc::new(FileSystemCatalog::new(options)?)),
            "rest" => {
                Err(Error::unsupported("the catalog option metastore = rest is not supported yet; use filesystem"))
            }
            other => Err(Error::invalid_config(format!(
                "unknown value '{other}' of the catalog option metastore, expected filesystem or rest"
            ))),
        }
    }
}
