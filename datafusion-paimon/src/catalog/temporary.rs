//! Temporary tables and views of a catalog: names that live as long as the session.
//!
//! Invariants: nothing here touches storage; a temporary object hides the table of its name in queries. Its database need
//! not exist.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use crate::error::invalid_input;

/// A view that is planned anew at each use, so that it shows the data of that moment.
#[async_trait]
pub trait TemporaryView: Debug + Send + Sync {
    /// The provider of the rows of now.
    ///
    /// # Errors
    /// Those of planning its query.
    async fn expand(&self) -> Result<Arc<dyn TableProvider>>;

    /// The columns when it was created.
    fn schema(&self) -> SchemaRef;

    /// Full names of the tables and views that it reads.
    fn reads(&self) -> Vec<String>;
}

/// A view for catalogs of the engine, which keep providers: it is planned anew at each scan.
#[derive(Debug)]
pub(crate) struct ExpandedView {
    view: Arc<dyn TemporaryView>,
}

impl ExpandedView {
    pub(crate) fn new(view: Arc<dyn TemporaryView>) -> Self {
        Self { view }
    }
}

#[async_trait]
impl TableProvider for ExpandedView {
    fn schema(&self) -> SchemaRef {
        self.view.schema()
    }

    fn table_type(&self) -> TableType {
        TableType::View
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let expanded = self.view.expand().await?;
        if expanded.schema().fields() != self.schema().fields() {
            return invalid_input("the columns that a temporary view reads have changed; create it again");
        }
        expanded.scan(state, projection, filters, limit).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // They become part of the query of the view.
        Ok(vec![TableProviderFilterPushDown::Exact; filters.len()])
    }
}

/// A temporary object.
#[derive(Debug, Clone)]
pub enum TemporaryObject {
    /// A table in memory.
    Table(Arc<dyn TableProvider>),
    /// A view.
    View(Arc<dyn TemporaryView>),
}

impl TemporaryObject {
    /// Its provider.
    ///
    /// # Errors
    /// Those of [`TemporaryView::expand`].
    pub async fn provider(&self) -> Result<Arc<dyn TableProvider>> {
        match self {
            Self::Table(table) => Ok(Arc::clone(table)),
            Self::View(view) => view.expand().await,
        }
    }

    /// What the engine calls it.
    pub fn table_type(&self) -> TableType {
        match self {
            Self::Table(_) => TableType::Temporary,
            Self::View(_) => TableType::View,
        }
    }
}

/// Temporary objects by database and name. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct TemporaryObjects(Arc<RwLock<BTreeMap<(String, String), TemporaryObject>>>);

impl TemporaryObjects {
    /// The object of this name.
    pub fn get(&self, database: &str, name: &str) -> Option<TemporaryObject> {
        let objects = self.0.read().unwrap_or_else(PoisonError::into_inner);
        objects.get(&(database.to_owned(), name.to_owned())).cloned()
    }

    /// Whether there is an object of this name.
    pub fn contains(&self, database: &str, name: &str) -> bool {
        self.get(database, name).is_some()
    }

    /// Adds or replaces an object.
    pub fn insert(&self, database: &str, name: &str, object: TemporaryObject) {
        let mut objects = self.0.write().unwrap_or_else(PoisonError::into_inner);
        objects.insert((database.to_owned(), name.to_owned()), object);
    }

    /// Removes an object; `None` if there was none.
    pub fn remove(&self, database: &str, name: &str) -> Option<TemporaryObject> {
        let mut objects = self.0.write().unwrap_or_else(PoisonError::into_inner);
        objects.remove(&(database.to_owned(), name.to_owned()))
    }

    /// The objects of a database, by name.
    pub fn of_database(&self, database: &str) -> Vec<(String, TemporaryObject)> {
        let objects = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let of = objects.iter().filter(|((d, _), _)| d == database);
        of.map(|((_, name), object)| (name.clone(), object.clone())).collect()
    }

    /// Whether a database has an object.
    pub fn has_database(&self, database: &str) -> bool {
        let objects = self.0.read().unwrap_or_else(PoisonError::into_inner);
        objects.keys().any(|(d, _)| d == database)
    }
}
