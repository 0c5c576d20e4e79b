//! `PaimonCatalog`.

use std::collections::HashMap;
use std::sync::Arc;

use paimon_core::error::Entity;
use paimon_core::options::is_secret;
use paimon_core::spec::Schema;
use paimon_core::types::row_type_from_arrow;
use paimon_core::{Catalog, CatalogFactory, CatalogOptions, ErrorKind, Identifier, Options};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::errors::{OrRaise, raise};
use crate::runtime::wait;
use crate::table::PyTable;
use crate::{arrow, engine};

/// Options from a dict of strings.
pub(crate) fn options_from_py(options: &Bound<'_, PyAny>) -> PyResult<Options> {
    let dict = options.cast::<PyDict>().map_err(|_| PyTypeError::new_err("options are a dict of strings"))?;
    let mut out = Options::new();
    for (key, value) in dict.iter() {
        let Ok(key) = key.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("option names are strings, found {key}")));
        };
        let Ok(value) = value.extract::<String>() else {
            return Err(PyTypeError::new_err(format!("the value of option '{key}' must be a string")));
        };
        out.set(key, value);
    }
    Ok(out)
}

/// An identifier from `"db.table"` or a pair.
pub(crate) fn identifier_from_py(identifier: &Bound<'_, PyAny>) -> PyResult<Identifier> {
    let py = identifier.py();
    if let Ok(text) = identifier.extract::<String>() {
        return Identifier::parse(&text).or_raise(py);
    }
    let Ok(pair) = identifier.cast::<PyTuple>() else {
        let found = identifier.get_type().name()?;
        return Err(PyTypeError::new_err(format!("an identifier is a string or a pair of strings, found {found}")));
    };
    match pair.extract::<(String, String)>() {
        Ok((database, table)) if !database.trim().is_empty() && !table.trim().is_empty() => {
            Ok(Identifier::new(database, table))
        }
        _ => Err(raise(py, "PaimonValueError", "an identifier has two parts, database and table, that are not empty")),
    }
}

/// A catalog of Paimon tables.
///
/// >>> catalog = PaimonCatalog({"warehouse": "/data/warehouse"})
/// >>> catalog.list_databases()
#[pyclass(module = "pypaimon_rust.datafusion", name = "PaimonCatalog", frozen)]
pub(crate) struct PyCatalog {
    pub(crate) catalog: Arc<dyn Catalog>,
}

#[pymethods]
impl PyCatalog {
    /// A catalog of these options; contacts no storage.
    #[new]
    fn new(py: Python<'_>, catalog_options: &Bound<'_, PyAny>) -> PyResult<Self> {
        let options = options_from_py(catalog_options)?;
        Ok(Self { catalog: CatalogFactory::create_now(options).or_raise(py)? })
    }

    /// Names of all databases, sorted.
    fn list_databases(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let catalog = self.catalog.clone();
        wait(py, async move { catalog.list_databases().await })
    }

    /// Names of all tables of a database, sorted.
    fn list_tables(&self, py: Python<'_>, database_name: String) -> PyResult<Vec<String>> {
        let catalog = self.catalog.clone();
        wait(py, async move { catalog.list_tables(&database_name).await })
    }

    /// A handle of a table: `"db.table"` or `("db", "table")`; the table part may carry `$branch_<name>`.
    fn get_table(&self, py: Python<'_>, identifier: &Bound<'_, PyAny>) -> PyResult<PyTable> {
        let (catalog, identifier) = (self.catalog.clone(), identifier_from_py(identifier)?);
        wait(py, async move { catalog.get_table(&identifier).await }).map(|table| PyTable { table })
    }

    /// Creates a database.
    #[pyo3(signature = (name, ignore_if_exists=false, properties=None))]
    fn create_database(
        &self,
        py: Python<'_>,
        name: String,
        ignore_if_exists: bool,
        properties: Option<HashMap<String, String>>,
    ) -> PyResult<()> {
        let catalog = self.catalog.clone();
        wait(py, async move { catalog.create_database(&name, ignore_if_exists, properties.unwrap_or_default()).await })
    }

    /// Drops a database; with `cascade` its tables too.
    #[pyo3(signature = (name, ignore_if_not_exists=false, cascade=false))]
    fn drop_database(&self, py: Python<'_>, name: String, ignore_if_not_exists: bool, cascade: bool) -> PyResult<()> {
        let catalog = self.catalog.clone();
        wait(py, async move { catalog.drop_database(&name, ignore_if_not_exists, cascade).await })
    }

    /// Creates a table with the columns of a `pyarrow.Schema`.
    #[pyo3(signature = (identifier, schema, ignore_if_exists=false, *, partition_keys=None, primary_keys=None, options=None, comment=None))]
    #[expect(clippy::too_many_arguments, reason = "keywords of one Python call")]
    fn create_table(
        &self,
        py: Python<'_>,
        identifier: &Bound<'_, PyAny>,
        schema: &Bound<'_, PyAny>,
        ignore_if_exists: bool,
        partition_keys: Option<Vec<String>>,
        primary_keys: Option<Vec<String>>,
        options: Option<HashMap<String, String>>,
        comment: Option<String>,
    ) -> PyResult<()> {
        let row = row_type_from_arrow(&arrow::schema_from_py(schema)?).or_raise(py)?;
        let schema = Schema {
            fields: row.fields().to_vec(),
            partition_keys: partition_keys.unwrap_or_default(),
            primary_keys: primary_keys.unwrap_or_default(),
            options: options.unwrap_or_default().into_iter().collect(),
            comment,
        };
        let (catalog, identifier) = (self.catalog.clone(), identifier_from_py(identifier)?);
        wait(py, async move { catalog.create_table(&identifier, schema, ignore_if_exists).await })
    }

    /// Drops a table with all its files.
    #[pyo3(signature = (identifier, ignore_if_not_exists=false))]
    fn drop_table(&self, py: Python<'_>, identifier: &Bound<'_, PyAny>, ignore_if_not_exists: bool) -> PyResult<()> {
        let (catalog, identifier) = (self.catalog.clone(), identifier_from_py(identifier)?);
        wait(py, async move { catalog.drop_table(&identifier, ignore_if_not_exists).await })
    }

    /// Renames a table.
    #[pyo3(signature = (source, target, ignore_if_not_exists=false))]
    fn rename_table(
        &self,
        py: Python<'_>,
        source: &Bound<'_, PyAny>,
        target: &Bound<'_, PyAny>,
        ignore_if_not_exists: bool,
    ) -> PyResult<()> {
        let catalog = self.catalog.clone();
        let (from, to) = (identifier_from_py(source)?, identifier_from_py(target)?);
        wait(py, async move { catalog.rename_table(&from, &to, ignore_if_not_exists).await })
    }

    /// Whether a database exists.
    fn database_exists(&self, py: Python<'_>, name: String) -> PyResult<bool> {
        let catalog = self.catalog.clone();
        wait(py, async move { catalog.database_exists(&name).await })
    }

    /// Whether a table exists.
    fn table_exists(&self, py: Python<'_>, identifier: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (catalog, identifier) = (self.catalog.clone(), identifier_from_py(identifier)?);
        wait(py, async move {
            match catalog.get_table(&identifier).await {
                Ok(_) => Ok(true),
                Err(error) if matches!(error.kind(), ErrorKind::NotFound(Entity::Table | Entity::Database)) => {
                    Ok(false)
                }
                Err(error) => Err(error),
            }
        })
    }

    /// The options, with secrets hidden.
    fn options(&self) -> HashMap<String, String> {
        let show =
            |(key, value): (&str, &str)| (key.to_owned(), if is_secret(key) { "******" } else { value }.to_owned());
        self.catalog.options().iter().map(show).collect()
    }

    /// The catalog for a session of the `datafusion` package: `ctx.register_catalog_provider("paimon", catalog)`.
    fn __datafusion_catalog_provider__<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        engine::catalog_capsule(py, &self.catalog, session)
    }

    fn __repr__(&self) -> String {
        let options = self.catalog.options();
        let kind = options.get(CatalogOptions::METASTORE).unwrap_or("filesystem");
        format!("PaimonCatalog({kind}, warehouse='{}')", options.get(CatalogOptions::WAREHOUSE).unwrap_or_default())
    }
}
