//! A session with catalogs, and its SQL.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use paimon_core::options::Options;
use paimon_core::{CatalogFactory, Error};
use tokio::runtime::Handle;

use super::session::Session;
use crate::error::{invalid_input, to_datafusion};
use crate::extension::{Extension, install};

/// The database of a catalog when none is named.
const DEFAULT_DATABASE: &str = "default";

/// Settings of a fresh session that differ from the engine's: results show a table's own types, never views of them.
pub(crate) fn session_defaults(options: &mut ConfigOptions) {
    options.catalog.information_schema = true;
    options.sql_parser.map_string_types_to_utf8view = false;
    options.optimizer.expand_views_at_output = true;
}

/// SQL over Paimon catalogs, and over everything that DataFusion reads. Clones share the session.
#[derive(Clone)]
pub struct SqlContext {
    context: SessionContext,
    extension: Extension,
}

impl std::fmt::Debug for SqlContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqlContext").field("catalogs", &self.extension.catalog_names()).finish_non_exhaustive()
    }
}

impl SqlContext {
    /// A session without catalogs; what synchronous callbacks of the engine do runs on the runtime that is entered now.
    ///
    /// # Errors
    /// `InvalidInput` outside a runtime.
    pub fn new() -> Result<Self> {
        match Handle::try_current() {
            Ok(handle) => Self::with_runtime(handle, Arc::new(RuntimeEnv::default())),
            Err(error) => Err(to_datafusion(
                Error::invalid_input("a SqlContext needs a Tokio runtime; pass its handle").with_source(error),
            )),
        }
    }

    /// A session with this environment; what synchronous callbacks of the engine do runs on `handle`.
    ///
    /// # Errors
    /// None in practice.
    pub fn with_runtime(handle: Handle, environment: Arc<RuntimeEnv>) -> Result<Self> {
        let mut config = SessionConfig::new();
        session_defaults(config.options_mut());
        let extension = Extension::new(handle);
        let builder =
            SessionStateBuilder::new().with_default_features().with_config(config).with_runtime_env(environment);
        let state = install(builder, &extension)?.build();
        Ok(Self { context: SessionContext::new_with_state(state), extension })
    }

    /// The session of the engine.
    pub fn session(&self) -> &SessionContext {
        &self.context
    }

    /// Catalogs, options and runtime of the session.
    pub fn extension(&self) -> &Extension {
        &self.extension
    }

    /// Registers a catalog; one of the same name is replaced. Its default database (`default` if `None`) is created when
    /// missing; an empty name means none. The first catalog becomes the current one, with that database.
    ///
    /// # Errors
    /// `InvalidInput` for a name that is empty or holds a quote; those of [`CatalogFactory::create`] and of creating the
    /// database. Then nothing is registered.
    pub async fn register_catalog(
        &self,
        name: &str,
        options: impl Into<Options>,
        default_database: Option<&str>,
    ) -> Result<()> {
        if name.trim().is_empty() || name.contains(['"', '\'', '`']) {
            return invalid_input(format!("the name of a catalog must not be empty or hold a quote, found '{name}'"));
        }
        let catalog = CatalogFactory::create(options.into()).await.map_err(to_datafusion)?;
        let database = default_database.unwrap_or(DEFAULT_DATABASE);
        if !database.is_empty() {
            catalog.create_database(database, true, Default::default()).await.map_err(to_datafusion)?;
        }
        let first = self.extension.catalog_names().is_empty();
        let provider = self.extension.add_catalog_with_database(name, catalog, database);
        self.context.register_catalog(name, provider);
        if first {
            // Without a database names need two parts; the engine must have some word there.
            let database = if database.is_empty() { DEFAULT_DATABASE } else { database };
            Session::new(&self.context).set_current(name, database);
        }
        Ok(())
    }

    /// Makes a catalog the current one, with its default database.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn set_current_catalog(&self, name: &str) -> Result<()> {
        Session::new(&self.context).use_catalog(name)
    }

    /// Makes a database of the current catalog the current one.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn set_current_database(&self, name: &str) -> Result<()> {
        let session = Session::new(&self.context);
        let catalog = session.current_catalog().to_owned();
        session.use_database(&catalog, name)
    }

    /// The catalog of names without one.
    pub fn current_catalog(&self) -> String {
        Session::new(&self.context).current_catalog().to_owned()
    }

    /// The database of names without one.
    pub fn current_database(&self) -> String {
        Session::new(&self.context).current_database().to_owned()
    }

    /// Keeps a batch as a table of this session under a name of one to three parts; its database need not exist.
    ///
    /// # Errors
    /// `InvalidInput` for a bad name; `NotFound` for a catalog that is not registered; `AlreadyExists` if the session has a
    /// temporary object of that name.
    pub fn register_batch(&self, name: &str, batch: RecordBatch) -> Result<()> {
        Session::new(&self.context).register_batch(name, batch)
    }

    /// Runs one statement, as [`sql`](super::sql).
    ///
    /// # Errors
    /// As [`sql`](super::sql).
    pub async fn sql(&self, text: &str) -> Result<DataFrame> {
        super::sql(&self.context, text).await
    }
}
