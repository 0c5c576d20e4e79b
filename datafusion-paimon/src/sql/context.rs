//! A session with catalogs, and its SQL.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::prelude::{DataFrame, SessionConfig, SessionContext};
use paimon_core::Error;
use paimon_core::options::Options;
use tokio::runtime::Handle;

use super::session::Session;
use crate::environment::EnvironmentOptions;
use crate::error::to_datafusion;
use crate::extension::{Extension, install};

/// Settings of a fresh session that differ from the engine's: results show a table's own types, never views of them.
pub(crate) fn session_defaults(options: &mut ConfigOptions) {
    options.catalog.information_schema = true;
    options.sql_parser.map_string_types_to_utf8view = false;
    options.optimizer.expand_views_at_output = true;
    // A task that has seen nulls only may publish one bound of two, and rows beyond the other are lost.
    options.optimizer.enable_aggregate_dynamic_filter_pushdown = false;
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

    /// A session in an environment of these options, with the reservations of sorts lowered where its pool is small; what
    /// synchronous callbacks of the engine do runs on `handle`.
    ///
    /// # Errors
    /// Those of [`EnvironmentOptions::build`].
    pub fn with_environment(handle: Handle, options: &EnvironmentOptions) -> Result<Self> {
        let environment = options.build().map_err(to_datafusion)?;
        let mut config = SessionConfig::new();
        options.tune(&mut config);
        Self::with_config(handle, environment, config)
    }

    /// A session with this environment; what synchronous callbacks of the engine do runs on `handle`.
    ///
    /// # Errors
    /// None in practice.
    pub fn with_runtime(handle: Handle, environment: Arc<RuntimeEnv>) -> Result<Self> {
        Self::with_config(handle, environment, SessionConfig::new())
    }

    fn with_config(handle: Handle, environment: Arc<RuntimeEnv>, mut config: SessionConfig) -> Result<Self> {
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
    /// `InvalidInput` for a name that is empty or holds a quote; those of
    /// [`CatalogFactory::create`](paimon_core::catalog::CatalogFactory::create) and of creating the database. Then nothing
    /// is registered.
    pub async fn register_catalog(
        &self,
        name: &str,
        options: impl Into<Options>,
        default_database: Option<&str>,
    ) -> Result<()> {
        Session::new(&self.context).register_catalog(name, options.into(), default_database).await
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
        self.register_batches(name, batch.schema(), vec![batch])
    }

    /// As [`SqlContext::register_batch`], with any number of batches of one schema.
    ///
    /// # Errors
    /// As [`SqlContext::register_batch`]; of the engine if a batch has another schema.
    pub fn register_batches(&self, name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<()> {
        Session::new(&self.context).register_batches(name, schema, batches)
    }

    /// Drops a temporary table or view of this session.
    ///
    /// # Errors
    /// `InvalidInput` for a bad name; `NotFound`.
    pub fn deregister(&self, name: &str) -> Result<()> {
        Session::new(&self.context).deregister(name)
    }

    /// Runs one statement, as [`sql`](super::sql).
    ///
    /// # Errors
    /// As [`sql`](super::sql).
    pub async fn sql(&self, text: &str) -> Result<DataFrame> {
        super::sql(&self.context, text).await
    }
}
