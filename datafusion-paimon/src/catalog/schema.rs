//! A database of a catalog as a schema of the engine.
//!
//! Invariants: nothing is created or dropped through the engine's registration of tables; only "not found" is `None`.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::TableType;
use paimon_core::error::Entity;
use paimon_core::{Error, ErrorKind, Identifier};

use super::provider::PaimonCatalogProvider;
use crate::blocking;
use crate::error::{to_datafusion, unsupported};
use crate::table::PaimonTableProvider;

/// A database as a provider.
#[derive(Debug, Clone)]
pub struct PaimonSchemaProvider {
    catalog: PaimonCatalogProvider,
    database: String,
}

impl PaimonSchemaProvider {
    pub(super) fn new(catalog: PaimonCatalogProvider, database: String) -> Self {
        Self { catalog, database }
    }

    /// The database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The catalog it belongs to.
    pub fn catalog(&self) -> &PaimonCatalogProvider {
        &self.catalog
    }
}

/// A look-up where "not found" is no error.
fn found<T>(result: paimon_core::Result<T>) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(to_datafusion(error)),
    }
}

fn is_absent(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound(Entity::Table | Entity::Database | Entity::Branch))
}

#[async_trait]
impl SchemaProvider for PaimonSchemaProvider {
    fn table_names(&self) -> Vec<String> {
        let database = self.database.clone();
        self.catalog.wait(|catalog| async move { catalog.list_tables(&database).await }).unwrap_or_default()
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        let identifier = Identifier::new(&self.database, name);
        let (this, handle) = (self.catalog.clone(), self.catalog.handle.clone());
        let provider = blocking::on(&handle, async move { this.table_provider(&identifier).await }).await?;
        found(provider)
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        let this = self.clone();
        let name = name.to_owned();
        let exists = blocking::on(&self.catalog.handle, async move { this.exists(&name).await }).await?;
        Ok(exists.then_some(TableType::Base))
    }

    fn register_table(&self, _: String, _: Arc<dyn TableProvider>) -> Result<Option<Arc<dyn TableProvider>>> {
        unsupported(
            "CREATE TABLE through a DataFusion session cannot carry primary key, partitions and options; use SQLContext",
        )
    }

    fn deregister_table(&self, _: &str) -> Result<Option<Arc<dyn TableProvider>>> {
        unsupported("DROP TABLE through a DataFusion session is refused; use SQLContext")
    }

    fn table_exist(&self, name: &str) -> bool {
        let (this, name) = (self.clone(), name.to_owned());
        blocking::run(&self.catalog.handle, async move { this.exists(&name).await }).unwrap_or(false)
    }
}

impl PaimonSchemaProvider {
    /// Whether a table exists; one that cannot be read exists.
    async fn exists(&self, name: &str) -> bool {
        let identifier = Identifier::new(&self.database, name);
        match self.catalog.catalog.get_table(&identifier).await {
            Ok(_) => true,
            Err(error) => !is_absent(&error),
        }
    }
}

impl PaimonCatalogProvider {
    /// The provider of a table, branch or system table, with the options of the session laid over its own and pinned to
    /// the snapshot that is the latest now.
    ///
    /// # Errors
    /// Those of `Catalog::get_table` and of `Table::with_dynamic_options`.
    pub async fn table_provider(&self, identifier: &Identifier) -> paimon_core::Result<Arc<dyn TableProvider>> {
        let table = self.catalog.get_table(identifier).await?;
        let options = self.options.for_table(&self.name, identifier);
        let table = if options.is_empty() { table } else { table.with_dynamic_options(&options).await? };
        Ok(Arc::new(PaimonTableProvider::try_new(table, self.handle.clone()).await?))
    }
}

impl PaimonCatalogProvider {
    /// As [`PaimonCatalogProvider::table_provider`], with options of this one use of the table (`None` removes a key). A
    /// selector among them replaces every selector of the session.
    ///
    /// # Errors
    /// As [`PaimonCatalogProvider::table_provider`].
    pub async fn table_provider_with(
        &self,
        identifier: &Identifier,
        options: &std::collections::BTreeMap<String, Option<String>>,
    ) -> paimon_core::Result<Arc<dyn TableProvider>> {
        let table = self.table_with(identifier, options).await?;
        Ok(Arc::new(PaimonTableProvider::try_new(table, self.handle.clone()).await?))
    }

    /// A table with the options of the session, and then these, laid over its own.
    ///
    /// # Errors
    /// Those of `Catalog::get_table` and of `Table::with_dynamic_options`.
    pub async fn table_with(
        &self,
        identifier: &Identifier,
        options: &std::collections::BTreeMap<String, Option<String>>,
    ) -> paimon_core::Result<paimon_core::Table> {
        let table = self.catalog.get_table(identifier).await?;
        let mut all = self.options.for_table(&self.name, identifier);
        all.extend(options.clone());
        if all.is_empty() { Ok(table) } else { table.with_dynamic_options(&all).await }
    }
}
