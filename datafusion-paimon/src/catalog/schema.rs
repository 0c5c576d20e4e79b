//! A database of a catalog as a schema of the engine.
//!
//! Invariants: nothing is created or dropped through the engine's registration of tables; only "not found" is `None`.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::TableType;
use futures::stream::{self, StreamExt};
use paimon_core::catalog::CatalogTable;
use paimon_core::error::Entity;
use paimon_core::meta::Travel;
use paimon_core::table::SystemTable;
use paimon_core::{Error, ErrorKind, Identifier, Table};

use super::provider::PaimonCatalogProvider;
use crate::blocking;
use crate::config::lay_over;
use crate::error::{to_datafusion, unsupported};
use crate::procedure;
use crate::table::{
    PaimonCatalogTableProvider, PaimonRowViewProvider, PaimonSystemTableProvider, PaimonTableProvider, RowView,
};

/// The database of the catalog's own tables, procedures and functions.
const SYSTEM_DATABASE: &str = CatalogTable::DATABASE;

/// Tables that are looked at together.
const PARALLEL_LOOKS: usize = 16;

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
    // The engine lists tables to describe each one, and gives up at the first that cannot be described.
    fn table_names(&self) -> Vec<String> {
        let this = self.clone();
        let mut names = blocking::run(&self.catalog.handle, async move { this.readable().await }).unwrap_or_default();
        let temporary = self.catalog.temporary.of_database(&self.database).into_iter().map(|(name, _)| name);
        names.extend(temporary);
        names.sort();
        names.dedup();
        names
    }

    async fn table(&self, name: &str) -> Result<Option<Arc<dyn TableProvider>>, DataFusionError> {
        if let Some(object) = self.catalog.temporary.get(&self.database, name) {
            return object.provider().await.map(Some);
        }
        // The engine looks up every name in FROM, also those of qualified table functions.
        if self.database == SYSTEM_DATABASE && procedure::names().any(|procedure| procedure == name) {
            return Ok(None);
        }
        let identifier = Identifier::new(&self.database, name);
        let (this, handle) = (self.catalog.clone(), self.catalog.handle.clone());
        let provider = blocking::on(&handle, async move { this.table_provider(&identifier).await }).await?;
        found(provider)
    }

    async fn table_type(&self, name: &str) -> Result<Option<TableType>> {
        if let Some(object) = self.catalog.temporary.get(&self.database, name) {
            return Ok(Some(object.table_type()));
        }
        let this = self.clone();
        let name = name.to_owned();
        let exists = blocking::on(&self.catalog.handle, async move { this.exists(&name).await }).await?;
        Ok(exists)
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
        if self.catalog.temporary.contains(&self.database, name) {
            return true;
        }
        let (this, name) = (self.clone(), name.to_owned());
        blocking::run(&self.catalog.handle, async move { this.exists(&name).await }).is_ok_and(|kind| kind.is_some())
    }
}

impl PaimonSchemaProvider {
    /// The tables that can be described; those that cannot are logged.
    async fn readable(&self) -> Vec<String> {
        let names = match self.catalog.catalog.list_tables(&self.database).await {
            Ok(names) => names,
            Err(error) => {
                log::warn!("the tables of {} cannot be listed: {error}", self.database);
                return Vec::new();
            }
        };
        let looks = stream::iter(names).map(async |name| {
            match self.catalog.table_provider(&Identifier::new(&self.database, &name)).await {
                Ok(_) => Some(name),
                Err(error) => {
                    log::warn!("{}.{name} is left out of the list of tables: {error}", self.database);
                    None
                }
            }
        });
        looks.buffered(PARALLEL_LOOKS).filter_map(std::future::ready).collect().await
    }

    /// The type of a table; one that cannot be read exists all the same.
    async fn exists(&self, name: &str) -> Option<TableType> {
        if self.database == SYSTEM_DATABASE {
            return CatalogTable::by_name(name, self.catalog.catalog.options()).ok().map(|_| TableType::View);
        }
        let identifier = Identifier::new(&self.database, name);
        let (base, kind) = match system_table(&identifier) {
            Ok(Some((base, _))) => (base, TableType::View),
            Ok(None) => (identifier, TableType::Base),
            Err(_) => return None,
        };
        match self.catalog.catalog.get_table(&base).await {
            Err(error) if is_absent(&error) => None,
            _ => Some(kind),
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
        self.table_provider_with(identifier, &BTreeMap::new()).await
    }

    /// As [`PaimonCatalogProvider::table_provider`], with options of this one use of the table (`None` removes a key). A
    /// selector among them replaces every selector of the session.
    ///
    /// # Errors
    /// As [`PaimonCatalogProvider::table_provider`]; `InvalidInput` if a selector is given for a system table that does
    /// not travel.
    pub async fn table_provider_with(
        &self,
        identifier: &Identifier,
        options: &BTreeMap<String, Option<String>>,
    ) -> paimon_core::Result<Arc<dyn TableProvider>> {
        let handle = self.handle.clone();
        if identifier.database() == SYSTEM_DATABASE {
            check_no_selector(identifier, options)?;
            let table = CatalogTable::by_name(identifier.object(), self.catalog.options())?;
            return Ok(Arc::new(PaimonCatalogTableProvider::new(Arc::clone(&self.catalog), table, handle)));
        }
        match system_table(identifier)? {
            Some((base, System::Rows(view))) => {
                let table = self.table_with(&base, options).await?;
                Ok(Arc::new(PaimonRowViewProvider::try_new(table, view, handle).await?))
            }
            Some((base, System::Metadata(system))) if system.travels() => {
                let table = self.table_with(&base, options).await?;
                Ok(Arc::new(PaimonSystemTableProvider::new(table, system, handle)))
            }
            Some((base, System::Metadata(system))) => {
                check_no_selector(identifier, options)?;
                let table = self.catalog.get_table(&base).await?;
                Ok(Arc::new(PaimonSystemTableProvider::new(table, system, handle)))
            }
            None => {
                let table = self.table_with(identifier, options).await?;
                Ok(Arc::new(PaimonTableProvider::try_new(table, handle).await?.with_catalog_name(&self.name)))
            }
        }
    }

    /// A table with the options of the session, and then these, laid over its own.
    ///
    /// # Errors
    /// Those of `Catalog::get_table` and of `Table::with_dynamic_options`.
    pub async fn table_with(
        &self,
        identifier: &Identifier,
        options: &BTreeMap<String, Option<String>>,
    ) -> paimon_core::Result<Table> {
        let table = self.catalog.get_table(identifier).await?;
        let mut all = self.options.for_table(&self.name, identifier);
        lay_over(&mut all, options.clone());
        if all.is_empty() { Ok(table) } else { table.with_dynamic_options(&all).await }
    }
}

/// Refuses a selector for a system table that does not travel.
fn check_no_selector(identifier: &Identifier, options: &BTreeMap<String, Option<String>>) -> paimon_core::Result<()> {
    match Travel::KEYS.iter().find(|key| options.contains_key(**key)) {
        Some(selector) => Err(Error::invalid_input(format!(
            "the system table {identifier} always shows the present: {selector} cannot be set for it"
        ))),
        None => Ok(()),
    }
}

/// A system table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum System {
    /// What metadata says.
    Metadata(SystemTable),
    /// The rows of the table, seen in another way.
    Rows(RowView),
}

/// Names of system tables that exist elsewhere.
const NOT_BUILT: [&str; 1] = ["row_tracking"];

/// The table behind the name of a system table, and which one it is; `None` for other names.
fn system_table(identifier: &Identifier) -> paimon_core::Result<Option<(Identifier, System)>> {
    let Some(name) = identifier.system_table() else { return Ok(None) };
    identifier.check()?;
    let system = match (SystemTable::by_name(name), RowView::by_name(name)) {
        (Some(table), _) => System::Metadata(table),
        (None, Some(view)) => System::Rows(view),
        (None, None) if NOT_BUILT.iter().any(|n| n.eq_ignore_ascii_case(name)) => {
            return Err(Error::unsupported(format!("the system table {identifier} is not supported yet")));
        }
        (None, None) => return Err(identifier.not_found()),
    };
    let object = identifier.object();
    let base = object.strip_suffix(name).and_then(|base| base.strip_suffix('$')).unwrap_or(object);
    Ok(Some((Identifier::new(identifier.database(), base), system)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_tables_are_told_from_branches() {
        let of = |object: &str| system_table(&Identifier::new("d", object)).unwrap();
        assert_eq!(of("t"), None);
        assert_eq!(of("t$branch_b"), None);
        assert_eq!(of("t$Files"), Some((Identifier::new("d", "t"), System::Metadata(SystemTable::Files))));
        assert_eq!(
            of("t$branch_b$options"),
            Some((Identifier::new("d", "t$branch_b"), System::Metadata(SystemTable::Options)))
        );
        assert_eq!(of("t$RO"), Some((Identifier::new("d", "t"), System::Rows(RowView::ReadOptimized))));
        let error = system_table(&Identifier::new("d", "t$row_tracking")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        let error = system_table(&Identifier::new("d", "t$bogus")).unwrap_err();
        assert!(is_absent(&error), "{error}");
    }
}
