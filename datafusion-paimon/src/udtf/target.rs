//! Which catalog a table function works on.

use datafusion::catalog::Session;
use datafusion::error::Result;

use crate::catalog::PaimonCatalogProvider;
use crate::error::invalid_input;
use crate::extension::Extension;
use crate::procedure::ProcedureContext;

/// One catalog, or the current one of a session.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// This one.
    Catalog(PaimonCatalogProvider),
    /// The current catalog if it is one of ours, else the only one there is.
    Session(Extension),
}

/// The database of names without one, where the session's current database is of another catalog.
const DEFAULT_DATABASE: &str = "default";

impl Target {
    /// The catalog, and the database of names without one.
    ///
    /// # Errors
    /// `InvalidInput` if the session does not say which catalog is meant.
    pub(crate) fn resolve(
        &self,
        current_catalog: &str,
        current_database: &str,
    ) -> Result<(PaimonCatalogProvider, String)> {
        let catalog = match self {
            Self::Catalog(catalog) => catalog.clone(),
            Self::Session(extension) => match extension.catalog(current_catalog) {
                Some(catalog) => catalog.as_ref().clone(),
                None => only_catalog(extension)?,
            },
        };
        let database = if catalog.name() == current_catalog { current_database } else { DEFAULT_DATABASE };
        Ok((catalog, database.to_owned()))
    }

    /// As [`Target::resolve`], for a session.
    ///
    /// # Errors
    /// As [`Target::resolve`].
    pub(crate) fn of(&self, session: &dyn Session) -> Result<(PaimonCatalogProvider, String)> {
        let options = &session.config_options().catalog;
        self.resolve(&options.default_catalog, &options.default_schema)
    }
}

fn only_catalog(extension: &Extension) -> Result<PaimonCatalogProvider> {
    let names = extension.catalog_names();
    match &names[..] {
        [] => invalid_input("No Paimon catalog registered"),
        [only] => match extension.catalog(only) {
            Some(catalog) => Ok(catalog.as_ref().clone()),
            None => invalid_input("No Paimon catalog registered"),
        },
        _ => invalid_input(format!(
            "there are several Paimon catalogs ({}) and none is current; write the catalog before the name",
            names.join(", ")
        )),
    }
}

/// The context of a procedure in this catalog.
pub(crate) fn context(catalog: &PaimonCatalogProvider, database: String) -> ProcedureContext {
    ProcedureContext::new(catalog, database)
}
