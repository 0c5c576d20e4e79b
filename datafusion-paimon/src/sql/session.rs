//! What a statement knows of its session: names, catalogs, and how results are handed back.
//!
//! Invariants: names are resolved here for every statement of ours, by the same rule as the engine's; nothing is cached
//! between statements. Source: SQL sheet section 2.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::SchemaProvider;
use datafusion::common::TableReference;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::prelude::{DataFrame, SessionContext};
use paimon_core::error::Entity;
use paimon_core::{Error, ErrorKind, Identifier, Table};

use super::parse::cursor::Name;
use super::printer::name_text;
use crate::catalog::{PaimonCatalogProvider, TemporaryObject, TemporaryObjects};
use crate::error::to_datafusion;
use crate::extension::Extension;
use crate::procedure::ok_batch;

/// A name with all its parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectPath {
    /// Catalog.
    pub(crate) catalog: String,
    /// Database.
    pub(crate) database: String,
    /// Table, view, branch or system table.
    pub(crate) object: String,
}

impl ObjectPath {
    /// Database and object.
    pub(crate) fn identifier(&self) -> Identifier {
        Identifier::new(&self.database, &self.object)
    }

    /// The engine's form.
    pub(crate) fn reference(&self) -> TableReference {
        TableReference::full(self.catalog.as_str(), self.database.as_str(), self.object.as_str())
    }

    /// As SQL text.
    pub(crate) fn text(&self) -> String {
        name_text(&[self.catalog.clone(), self.database.clone(), self.object.clone()])
    }
}

/// A session at one statement.
pub(crate) struct Session<'a> {
    pub(crate) context: &'a SessionContext,
    pub(crate) state: SessionState,
}

impl<'a> Session<'a> {
    /// The zone of wall clocks, if the session has one.
    pub(crate) fn zone(&self) -> Option<&str> {
        self.state.config().options().execution.time_zone.as_deref()
    }

    /// The session as it is now.
    pub(crate) fn new(context: &'a SessionContext) -> Self {
        Self { context, state: context.state() }
    }

    /// Whether unquoted identifiers become lower case.
    pub(crate) fn folds(&self) -> bool {
        self.state.config().options().sql_parser.enable_ident_normalization
    }

    /// The catalog of names without one.
    pub(crate) fn current_catalog(&self) -> &str {
        &self.state.config().options().catalog.default_catalog
    }

    /// The database of names without one.
    pub(crate) fn current_database(&self) -> &str {
        &self.state.config().options().catalog.default_schema
    }

    /// A name with its missing parts.
    pub(crate) fn resolve(&self, name: &Name) -> ObjectPath {
        let part = |n: usize, default: &str| match name.len().checked_sub(n) {
            Some(i) => name.get(i).cloned().unwrap_or_default(),
            None => default.to_owned(),
        };
        ObjectPath {
            catalog: part(3, self.current_catalog()),
            database: part(2, self.current_database()),
            object: part(1, ""),
        }
    }

    /// Catalog and database of `[catalog.]database`; the current ones for `None`.
    pub(crate) fn resolve_database(&self, name: Option<&Name>) -> Result<(String, String)> {
        match name.map(Vec::as_slice) {
            None => Ok((self.current_catalog().to_owned(), self.current_database().to_owned())),
            Some([database]) => Ok((self.current_catalog().to_owned(), database.clone())),
            Some([catalog, database]) => Ok((catalog.clone(), database.clone())),
            Some(other) => Err(to_datafusion(Error::invalid_input(format!(
                "expected [catalog.]database, found {}",
                name_text(other)
            )))),
        }
    }

    /// Whether the engine has a catalog of this name.
    pub(crate) fn has_catalog(&self, name: &str) -> bool {
        self.state.catalog_list().catalog(name).is_some()
    }

    /// A Paimon catalog; `None` if the name is that of another catalog, or of none.
    pub(crate) fn paimon(&self, name: &str) -> Option<PaimonCatalogProvider> {
        let catalog = self.state.catalog_list().catalog(name)?;
        catalog.downcast_ref::<PaimonCatalogProvider>().cloned()
    }

    /// A Paimon catalog.
    ///
    /// # Errors
    /// `NotFound` or `InvalidInput` saying what there is instead.
    pub(crate) fn require_paimon(&self, name: &str) -> Result<PaimonCatalogProvider> {
        self.paimon(name).ok_or_else(|| to_datafusion(self.no_paimon(name)))
    }

    fn no_paimon(&self, name: &str) -> Error {
        let names = self.state.catalog_list().catalog_names();
        if !names.iter().any(|other| self.paimon(other).is_some()) {
            return Error::invalid_input("No Paimon catalog registered");
        }
        match self.has_catalog(name) {
            true => Error::invalid_input(format!("catalog {name} is not a Paimon catalog")),
            false => Error::not_found(Entity::Database, format!("Catalog {name} does not exist.")),
        }
    }

    /// Whether a statement with this target is ours: in a Paimon catalog, or in none, which is an error of ours to tell.
    pub(crate) fn is_ours(&self, name: &Name) -> bool {
        let catalog = self.resolve(name).catalog;
        self.paimon(&catalog).is_some() || !self.has_catalog(&catalog)
    }

    /// The temporary objects of the session in a catalog, ours or not.
    pub(crate) fn temporary_objects(&self, catalog: &str) -> TemporaryObjects {
        match (self.paimon(catalog), Extension::of(&self.state)) {
            (Some(provider), _) => provider.temporary().clone(),
            (None, Some(extension)) => extension.temporary(catalog),
            (None, None) => TemporaryObjects::default(),
        }
    }

    /// The temporary object of this name.
    pub(crate) fn temporary(&self, path: &ObjectPath) -> Option<TemporaryObject> {
        self.temporary_objects(&path.catalog).get(&path.database, &path.object)
    }

    /// A database of any catalog.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) fn schema_provider(&self, catalog: &str, database: &str) -> Result<Arc<dyn SchemaProvider>> {
        let Some(provider) = self.state.catalog_list().catalog(catalog) else {
            return Err(to_datafusion(Error::not_found(
                Entity::Database,
                format!("Catalog {catalog} does not exist."),
            )));
        };
        provider.schema(database).ok_or_else(|| {
            to_datafusion(Error::not_found(Entity::Database, format!("Database {database} does not exist.")))
        })
    }

    /// A table or branch that a statement changes or describes, with the provider of its catalog.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` for a temporary object of that name or a system table, saying what cannot be done.
    pub(crate) async fn table(&self, name: &Name, what: &str) -> Result<(PaimonCatalogProvider, ObjectPath, Table)> {
        let (provider, path) = self.target(name, what)?;
        let table = self.look_up(&provider, &path).await?;
        Ok((provider, path, table))
    }

    /// The table of a path.
    ///
    /// # Errors
    /// Those of `Catalog::get_table`; `NotFound(Database)` if that is what is missing.
    pub(crate) async fn look_up(&self, provider: &PaimonCatalogProvider, path: &ObjectPath) -> Result<Table> {
        match provider.catalog().get_table(&path.identifier()).await {
            Err(error) if error.kind() == ErrorKind::NotFound(Entity::Table) => {
                let database = &path.database;
                let exists = provider.catalog().database_exists(database).await.map_err(to_datafusion)?;
                Err(to_datafusion(match exists {
                    true => error,
                    false => Error::not_found(Entity::Database, format!("Database {database} does not exist.")),
                }))
            }
            result => result.map_err(to_datafusion),
        }
    }

    /// As [`Session::table`], without looking the table up.
    ///
    /// # Errors
    /// As [`Session::table`].
    pub(crate) fn target(&self, name: &Name, what: &str) -> Result<(PaimonCatalogProvider, ObjectPath)> {
        let path = self.resolve(name);
        let provider = self.require_paimon(&path.catalog)?;
        if provider.temporary().contains(&path.database, &path.object) {
            return Err(to_datafusion(Error::invalid_input(format!(
                "{} is a temporary table or view here; {what} does not work on it",
                path.text()
            ))));
        }
        let identifier = path.identifier();
        identifier.check().map_err(to_datafusion)?;
        if let Some(system) = identifier.system_table() {
            return Err(to_datafusion(Error::invalid_input(format!(
                "{} is a system table ({system}), which is read only; {what} does not work on it",
                path.text()
            ))));
        }
        Ok((provider, path))
    }

    /// The result `OK`.
    pub(crate) fn ok(&self) -> Result<DataFrame> {
        self.context.read_batch(ok_batch().map_err(to_datafusion)?)
    }

    /// The result of DML.
    pub(crate) fn count(&self, rows: u64) -> Result<DataFrame> {
        let schema = Arc::new(Schema::new(vec![Field::new("count", DataType::UInt64, false)]));
        let column: ArrayRef = Arc::new(UInt64Array::from(vec![rows]));
        self.context.read_batch(RecordBatch::try_new(schema, vec![column])?)
    }

    /// Rows of text under these names.
    pub(crate) fn rows(&self, names: &[&str], rows: Vec<Vec<Option<String>>>) -> Result<DataFrame> {
        let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, DataType::Utf8, true)).collect();
        let columns = (0..names.len())
            .map(|i| {
                let values = rows.iter().map(|row| row.get(i).cloned().flatten());
                Arc::new(values.collect::<StringArray>()) as ArrayRef
            })
            .collect();
        self.context.read_batch(RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?)
    }

    /// Runs a plan to its end now; collecting the result only shows it.
    ///
    /// # Errors
    /// Those of the plan.
    pub(crate) async fn run_now(&self, frame: DataFrame) -> Result<DataFrame> {
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let batches = frame.collect().await?;
        self.context.read_table(Arc::new(MemTable::try_new(schema, vec![batches])?))
    }
}
