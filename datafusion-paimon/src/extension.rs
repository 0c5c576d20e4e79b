//! What a session with Paimon shares, and the one call that installs it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use datafusion::catalog::{CatalogProviderList, MemoryCatalogProviderList, TableFunction};
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::execution::SessionStateBuilder;
use datafusion::optimizer::analyzer::Analyzer;
use paimon_core::Catalog;
use tokio::runtime::Handle;

use crate::blocking;
use crate::catalog::{PaimonCatalogProvider, PaimonTableFactory, TemporaryObjects};
use crate::config::DynamicOptions;
use crate::error::invalid_input;
use crate::scan;
use crate::sql::{ExactLiterals, PaimonTypePlanner, Prepared, TimeComparisons, VersionPlanner, number_function};
use crate::udtf::{QualifiedProcedures, Target, functions_of};

/// Catalogs, options and runtime of a session. Clones share them.
#[derive(Debug, Clone)]
pub struct Extension(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    handle: Handle,
    options: DynamicOptions,
    catalogs: RwLock<BTreeMap<String, Arc<PaimonCatalogProvider>>>,
    /// Temporary objects by catalog, also of catalogs that are not ours: they outlive a catalog that is registered again.
    temporary: RwLock<BTreeMap<String, TemporaryObjects>>,
    /// Prepared statements by name.
    prepared: Mutex<BTreeMap<String, Prepared>>,
}

impl Extension {
    /// Without catalogs; work of synchronous callbacks runs on `handle`.
    pub fn new(handle: Handle) -> Self {
        blocking::note(&handle);
        let (options, catalogs, temporary) = (DynamicOptions::new(), RwLock::default(), RwLock::default());
        Self(Arc::new(Inner { handle, options, catalogs, temporary, prepared: Mutex::default() }))
    }

    /// The extension that was installed into a session.
    pub fn of(state: &SessionState) -> Option<Self> {
        state.config().get_extension::<Self>().map(|e| e.as_ref().clone())
    }

    /// The runtime.
    pub fn handle(&self) -> &Handle {
        &self.0.handle
    }

    /// The options that `SET paimon.<option>` sets.
    pub fn options(&self) -> &DynamicOptions {
        &self.0.options
    }

    /// Makes the provider of a catalog under this name, to be registered in the session by the caller; a catalog of the
    /// same name is replaced.
    pub fn add_catalog(&self, name: impl Into<String>, catalog: Arc<dyn Catalog>) -> Arc<PaimonCatalogProvider> {
        self.add_catalog_with_database(name, catalog, "default")
    }

    /// As [`Extension::add_catalog`], with the database that becomes the current one together with the catalog.
    pub fn add_catalog_with_database(
        &self,
        name: impl Into<String>,
        catalog: Arc<dyn Catalog>,
        database: &str,
    ) -> Arc<PaimonCatalogProvider> {
        let name = name.into();
        let provider = PaimonCatalogProvider::new(catalog, self.handle().clone())
            .with_name(name.clone())
            .with_default_database(database)
            .with_dynamic_options(self.options().clone())
            .with_temporary(self.temporary(&name));
        let provider = Arc::new(provider);
        self.0.catalogs.write().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::clone(&provider));
        provider
    }

    /// The temporary objects of the session in the catalog of this name.
    pub fn temporary(&self, catalog: &str) -> TemporaryObjects {
        let mut all = self.0.temporary.write().unwrap_or_else(PoisonError::into_inner);
        all.entry(catalog.to_owned()).or_default().clone()
    }

    /// The prepared statements of the session, by name.
    pub(crate) fn prepared(&self) -> MutexGuard<'_, BTreeMap<String, Prepared>> {
        self.0.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The catalog under this name.
    pub fn catalog(&self, name: &str) -> Option<Arc<PaimonCatalogProvider>> {
        self.0.catalogs.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Names of the catalogs, sorted.
    pub fn catalog_names(&self) -> Vec<String> {
        self.0.catalogs.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }
}

/// Installs the extension into a session that is being built: its catalogs, table functions, `CREATE EXTERNAL TABLE ..
/// STORED AS PAIMON`, the options `paimon.*` and two rules for plans: one spares shuffles over the keys of buckets, one has text
/// that is grouped by read as views. What the builder holds already stays.
///
/// # Errors
/// `InvalidInput` if an extension is installed already.
pub fn install(mut builder: SessionStateBuilder, extension: &Extension) -> Result<SessionStateBuilder> {
    let config = builder.config().take().unwrap_or_default();
    if config.get_extension::<Extension>().is_some() {
        return invalid_input("the Paimon extension is installed already");
    }
    let mut config = config.with_extension(Arc::new(extension.clone()));
    config.options_mut().extensions.insert(extension.options().clone());
    let catalogs = builder
        .catalog_list()
        .get_or_insert_with(|| Arc::new(MemoryCatalogProviderList::new()) as Arc<dyn CatalogProviderList>);
    for name in extension.catalog_names() {
        if let Some(provider) = extension.catalog(&name) {
            catalogs.register_catalog(name, provider);
        }
    }
    let functions = functions_of(&Target::Session(extension.clone()));
    builder.table_functions().get_or_insert_default().extend(
        functions.into_iter().map(|(name, function)| (name.clone(), Arc::new(TableFunction::new(name, function)))),
    );
    builder.relation_planners().get_or_insert_default().push(Arc::new(QualifiedProcedures::new(extension.clone())));
    // The version of a table is asked for first: the engine alone would ignore it.
    builder.relation_planners().get_or_insert_default().insert(0, Arc::new(VersionPlanner::new(extension.clone())));
    builder.scalar_functions().get_or_insert_default().push(number_function());
    builder.expr_planners().get_or_insert_default().insert(0, Arc::new(TimeComparisons));
    builder.analyzer().get_or_insert_with(Analyzer::new).add_function_rewrite(Arc::new(ExactLiterals));
    builder.type_planner().get_or_insert_with(|| Arc::new(PaimonTypePlanner));
    scan::add_to(builder.physical_optimizers().get_or_insert_default());
    let factory = Arc::new(PaimonTableFactory::new(extension.handle().clone()));
    Ok(builder.with_config(config).with_table_factory("PAIMON".to_owned(), factory))
}
