//! A catalog of the format as a catalog of the engine.
//!
//! Invariants: no name is cached: each call asks the catalog, so that what another process made a moment ago is seen.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use datafusion::catalog::{CatalogProvider, SchemaProvider};
use datafusion::error::Result;
use paimon_core::error::Entity;
use paimon_core::{Catalog, Error, ErrorKind};
use tokio::runtime::Handle;

use super::schema::PaimonSchemaProvider;
use super::temporary::TemporaryObjects;
use crate::blocking;
use crate::config::DynamicOptions;
use crate::error::to_datafusion;

/// A catalog as a provider; what its synchronous calls do runs on its runtime.
#[derive(Debug, Clone)]
pub struct PaimonCatalogProvider {
    pub(super) name: String,
    pub(super) catalog: Arc<dyn Catalog>,
    pub(super) handle: Handle,
    pub(super) options: DynamicOptions,
    pub(super) temporary: TemporaryObjects,
    default_database: String,
}

impl PaimonCatalogProvider {
    /// The provider of a catalog; its work runs on `handle`.
    pub fn new(catalog: Arc<dyn Catalog>, handle: Handle) -> Self {
        blocking::note(&handle);
        Self {
            name: "paimon".to_owned(),
            catalog,
            handle,
            options: DynamicOptions::new(),
            temporary: TemporaryObjects::default(),
            default_database: "default".to_owned(),
        }
    }

    /// The provider of a catalog; its work runs on the runtime that is entered now.
    ///
    /// # Errors
    /// `InvalidInput` outside a runtime.
    pub fn try_new(catalog: Arc<dyn Catalog>) -> Result<Self> {
        match Handle::try_current() {
            Ok(handle) => Ok(Self::new(catalog, handle)),
            Err(error) => Err(to_datafusion(
                Error::invalid_input("a catalog provider needs a Tokio runtime; pass its handle").with_source(error),
            )),
        }
    }

    /// The name under which scoped options (`paimon.<catalog>.<database>.<table>.<option>`) mean this catalog.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Options that are laid over those of each table that is looked up.
    #[must_use]
    pub fn with_dynamic_options(mut self, options: DynamicOptions) -> Self {
        self.options = options;
        self
    }

    /// Temporary objects that hide the tables of their names.
    #[must_use]
    pub fn with_temporary(mut self, temporary: TemporaryObjects) -> Self {
        self.temporary = temporary;
        self
    }

    /// The database that becomes the current one with this catalog; `default` if not set.
    #[must_use]
    pub fn with_default_database(mut self, name: impl Into<String>) -> Self {
        self.default_database = name.into();
        self
    }

    /// The database that becomes the current one with this catalog.
    pub fn default_database(&self) -> &str {
        &self.default_database
    }

    /// Temporary tables and views, which hide the tables of their names.
    pub fn temporary(&self) -> &TemporaryObjects {
        &self.temporary
    }

    /// Options that are laid over those of each table that is looked up.
    pub fn dynamic_options(&self) -> &DynamicOptions {
        &self.options
    }

    /// The catalog.
    pub fn catalog(&self) -> &Arc<dyn Catalog> {
        &self.catalog
    }

    /// The runtime.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// The name under which scoped options mean this catalog.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A database, whether or not it exists.
    pub fn database(&self, name: impl Into<String>) -> PaimonSchemaProvider {
        PaimonSchemaProvider::new(self.clone(), name.into())
    }

    /// Runs a call of the catalog from a synchronous callback.
    pub(super) fn wait<T, F>(&self, call: impl FnOnce(Arc<dyn Catalog>) -> F) -> Result<T>
    where
        F: Future<Output = paimon_core::Result<T>> + Send + 'static,
        T: Send + 'static,
    {
        blocking::run(&self.handle, call(Arc::clone(&self.catalog)))?.map_err(to_datafusion)
    }
}

impl CatalogProvider for PaimonCatalogProvider {
    // The engine's interface has no place for an error here: a catalog that cannot be listed looks empty.
    fn schema_names(&self) -> Vec<String> {
        self.wait(|catalog| async move { catalog.list_databases().await }).unwrap_or_default()
    }

    // If it cannot be told whether the database exists, the look-up of a table in it says why.
    fn schema(&self, name: &str) -> Option<Arc<dyn SchemaProvider>> {
        let database = name.to_owned();
        if self.temporary.has_database(name) {
            return Some(Arc::new(self.database(name)));
        }
        let exists = self.wait(|catalog| async move { catalog.database_exists(&database).await });
        exists.unwrap_or(true).then(|| Arc::new(self.database(name)) as Arc<dyn SchemaProvider>)
    }

    fn register_schema(&self, name: &str, _: Arc<dyn SchemaProvider>) -> Result<Option<Arc<dyn SchemaProvider>>> {
        let database = name.to_owned();
        self.wait(|catalog| async move { catalog.create_database(&database, false, HashMap::new()).await })?;
        Ok(None)
    }

    fn deregister_schema(&self, name: &str, cascade: bool) -> Result<Option<Arc<dyn SchemaProvider>>> {
        let database = name.to_owned();
        let dropped = self.wait(|catalog| async move { catalog.drop_database(&database, false, cascade).await });
        match dropped {
            Ok(()) => Ok(Some(Arc::new(self.database(name)))),
            Err(error) => match crate::error::core_error(&error).map(Error::kind) {
                Some(ErrorKind::NotFound(Entity::Database)) => Ok(None),
                _ => Err(error),
            },
        }
    }
}
