//! CREATE, DROP and USE of databases and catalogs.

use std::collections::HashMap;

use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use paimon_core::error::Entity;
use paimon_core::{CatalogFactory, Error, Options};

use crate::error::{invalid_input, to_datafusion};
use crate::extension::Extension;
use crate::sql::engine::INFORMATION_SCHEMA;
use crate::sql::parse::cursor::Name;
use crate::sql::session::Session;
use crate::sql::statement::UseTarget;
use crate::sql::tokens::Fragment;

/// A database of this name would be hidden by the engine's own.
const HIDDEN: &str = INFORMATION_SCHEMA;

/// The database of a catalog when none is named.
const DEFAULT_DATABASE: &str = "default";

impl Session<'_> {
    pub(super) async fn create_catalog(
        &self,
        name: &str,
        if_not_exists: bool,
        options: &[(String, String)],
    ) -> Result<DataFrame> {
        if self.has_catalog(name) {
            return match if_not_exists {
                true => self.ok(),
                false => Err(to_datafusion(Error::already_exists(
                    Entity::Database,
                    format!("Catalog {name} already exists."),
                ))),
            };
        }
        let mut options: Options = options.iter().cloned().collect();
        match options.remove("type").as_deref() {
            None | Some("paimon") => {}
            Some(other) => {
                return Err(to_datafusion(Error::unsupported(format!("a catalog of type '{other}', only 'paimon'"))));
            }
        }
        self.register_catalog(name, options, None).await?;
        self.ok()
    }

    /// Registers a catalog, as [`SqlContext::register_catalog`](crate::SqlContext::register_catalog).
    ///
    /// # Errors
    /// Those of creating it.
    pub(crate) async fn register_catalog(
        &self,
        name: &str,
        options: Options,
        default_database: Option<&str>,
    ) -> Result<()> {
        if name.trim().is_empty() || name.contains(['"', '\'', '`']) {
            return invalid_input(format!("the name of a catalog must not be empty or hold a quote, found '{name}'"));
        }
        let Some(extension) = Extension::of(&self.state) else {
            return Err(to_datafusion(Error::invalid_state("the Paimon extension is not installed in this session")));
        };
        let catalog = CatalogFactory::create(options).await.map_err(to_datafusion)?;
        let database = default_database.unwrap_or(DEFAULT_DATABASE);
        if !database.is_empty() {
            catalog.create_database(database, true, HashMap::new()).await.map_err(to_datafusion)?;
        }
        let first = extension.catalog_names().is_empty();
        let provider = extension.add_catalog_with_database(name, catalog, database);
        self.context.register_catalog(name, provider);
        if first {
            // Without a database names need two parts; the engine must have some word there.
            let database = if database.is_empty() { DEFAULT_DATABASE } else { database };
            self.set_current(name, database);
        }
        Ok(())
    }

    pub(super) async fn create_database(
        &self,
        name: &Name,
        if_not_exists: bool,
        original: &Fragment,
    ) -> Result<DataFrame> {
        let (catalog, database) = self.resolve_database(Some(name))?;
        if !self.has_catalog(&catalog) {
            self.require_paimon(&catalog)?;
        }
        let Some(provider) = self.paimon(&catalog) else {
            // In the engine this makes a catalog, or a schema of a catalog of its own.
            return self.run_in_engine(original).await;
        };
        if database == HIDDEN {
            return Err(to_datafusion(Error::invalid_input(format!("a database cannot be called {HIDDEN}"))));
        }
        provider.catalog().create_database(&database, if_not_exists, HashMap::new()).await.map_err(to_datafusion)?;
        self.ok()
    }

    pub(super) async fn drop_database(
        &self,
        name: &Name,
        if_exists: bool,
        cascade: bool,
        original: &Fragment,
    ) -> Result<DataFrame> {
        let (catalog, database) = self.resolve_database(Some(name))?;
        if !self.has_catalog(&catalog) {
            self.require_paimon(&catalog)?;
        }
        let Some(provider) = self.paimon(&catalog) else { return self.run_in_engine(original).await };
        provider.catalog().drop_database(&database, if_exists, cascade).await.map_err(to_datafusion)?;
        self.ok()
    }

    pub(super) fn use_target(&self, target: &UseTarget) -> Result<DataFrame> {
        match target {
            UseTarget::Catalog(catalog) => {
                self.use_catalog(catalog)?;
            }
            UseTarget::Database(name) => {
                let (catalog, database) = self.resolve_database(Some(name))?;
                let hint = match &name[..] {
                    [word] if self.has_catalog(word) => format!(" {word} is a catalog; write USE CATALOG {word}."),
                    _ => String::new(),
                };
                self.use_database(&catalog, &database).map_err(|e| match hint.is_empty() {
                    true => e,
                    false => to_datafusion(Error::not_found(
                        Entity::Database,
                        format!("Database {database} does not exist.{hint}"),
                    )),
                })?;
            }
        }
        self.ok()
    }

    /// Makes a catalog the current one, with its default database.
    ///
    /// # Errors
    /// `NotFound` if there is no such catalog; then nothing changes.
    pub(crate) fn use_catalog(&self, catalog: &str) -> Result<()> {
        if !self.has_catalog(catalog) {
            return Err(to_datafusion(Error::not_found(
                Entity::Database,
                format!("Catalog {catalog} does not exist."),
            )));
        }
        let database = match self.paimon(catalog) {
            Some(provider) => provider.default_database().to_owned(),
            None => "public".to_owned(),
        };
        self.set_current(catalog, &database);
        Ok(())
    }

    /// Makes a database the current one.
    ///
    /// # Errors
    /// `NotFound` if there is no such database; then nothing changes.
    pub(crate) fn use_database(&self, catalog: &str, database: &str) -> Result<()> {
        self.schema_provider(catalog, database)?;
        self.set_current(catalog, database);
        Ok(())
    }

    /// Sets catalog and database of names without them.
    pub(crate) fn set_current(&self, catalog: &str, database: &str) {
        let state = self.context.state_ref();
        let mut state = state.write();
        let options = &mut state.config_mut().options_mut().catalog;
        options.default_catalog = catalog.to_owned();
        options.default_schema = database.to_owned();
    }
}
