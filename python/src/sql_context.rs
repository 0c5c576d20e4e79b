//! `SQLContext`.

use std::path::PathBuf;

use datafusion::error::DataFusionError;
use datafusion_paimon::{EnvironmentOptions, PoolKind, SqlContext};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::arrow;
use crate::catalog::options_from_py;
use crate::errors::OrRaise;
use crate::number::whole;
use crate::runtime::{handle, wait};
use crate::udf::PyScalarUdf;

fn directory_from_py(value: &Bound<'_, PyAny>) -> PyResult<PathBuf> {
    let path = if value.hasattr("__fspath__")? { value.call_method0("__fspath__")? } else { value.clone() };
    if path.is_instance_of::<PyBytes>() || !path.is_instance_of::<PyString>() {
        let found = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("temp_directory is a str or os.PathLike, found {found}")));
    }
    Ok(PathBuf::from(path.extract::<String>()?))
}

/// SQL over Paimon catalogs and everything that DataFusion has.
///
/// >>> ctx = SQLContext()
/// >>> ctx.register_catalog("paimon", {"warehouse": "/data/warehouse"})
/// >>> ctx.sql("SELECT 1 AS one")
#[pyclass(module = "pypaimon_rust.datafusion", name = "SQLContext", frozen)]
pub(crate) struct PySqlContext {
    context: SqlContext,
}

#[pymethods]
impl PySqlContext {
    /// A session. The memory pool is `fair` or `greedy` and counts what operators reserve; temporary files go to the directory.
    #[new]
    #[pyo3(signature = (*, memory_pool_type=None, memory_pool_bytes=None, temp_directory=None, max_temp_directory_size_bytes=None))]
    fn new(
        py: Python<'_>,
        memory_pool_type: Option<String>,
        memory_pool_bytes: Option<Bound<'_, PyAny>>,
        temp_directory: Option<Bound<'_, PyAny>>,
        max_temp_directory_size_bytes: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let options = EnvironmentOptions {
            pool: memory_pool_type.map(|kind| PoolKind::parse(&kind)).transpose().or_raise(py)?,
            pool_bytes: memory_pool_bytes.map(|b| whole("memory_pool_bytes", &b, Some(1))).transpose()?,
            temp_directory: temp_directory.map(|d| directory_from_py(&d)).transpose()?,
            max_temp_bytes: max_temp_directory_size_bytes
                .map(|b| whole("max_temp_directory_size_bytes", &b, Some(0)))
                .transpose()?,
        };
        let context = SqlContext::with_environment(handle()?, &options).or_raise(py)?;
        Ok(Self { context })
    }

    /// Registers a catalog; one of the same name is replaced. The default database is created when missing; `""` means none.
    #[pyo3(signature = (catalog_name, catalog_options, default_database=None))]
    fn register_catalog(
        &self,
        py: Python<'_>,
        catalog_name: String,
        catalog_options: &Bound<'_, PyAny>,
        default_database: Option<String>,
    ) -> PyResult<()> {
        let options = options_from_py(catalog_options)?;
        let context = self.context.clone();
        wait(py, async move { context.register_catalog(&catalog_name, options, default_database.as_deref()).await })
    }

    /// Makes a catalog the current one.
    fn set_current_catalog(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.context.set_current_catalog(name).or_raise(py)
    }

    /// Makes a database of the current catalog the current one.
    fn set_current_database(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.context.set_current_database(name).or_raise(py)
    }

    /// The catalog of names without one.
    #[getter]
    fn current_catalog(&self) -> String {
        self.context.current_catalog()
    }

    /// The database of names without one.
    #[getter]
    fn current_database(&self) -> String {
        self.context.current_database()
    }

    /// Names of the Paimon catalogs, sorted.
    fn catalogs(&self) -> Vec<String> {
        self.context.extension().catalog_names()
    }

    /// Runs one statement to its end and gives its batches.
    fn sql<'py>(&self, py: Python<'py>, sql: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let Ok(text) = sql.cast::<PyString>() else {
            return Err(PyTypeError::new_err(format!("a statement is a str, found {}", sql.get_type().name()?)));
        };
        let text = text.to_str()?.to_owned();
        let context = self.context.clone();
        let batches = wait(py, async move {
            let frame = context.sql(&text).await?;
            let batches = frame.collect().await?;
            let plain = batches.into_iter().map(arrow::without_views).collect::<Result<Vec<_>, _>>()?;
            Ok::<_, DataFusionError>(plain)
        })?;
        arrow::results_to_py(py, &batches)
    }

    /// A table of this session in memory: `name`, `db.name` or `catalog.db.name`.
    fn register_batch(&self, py: Python<'_>, name: &str, batch: &Bound<'_, PyAny>) -> PyResult<()> {
        let (schema, batches) = arrow::batches_from_py(batch)?;
        self.context.register_batches(name, schema, batches).or_raise(py)
    }

    /// Drops a table or view of this session.
    fn deregister(&self, py: Python<'_>, name: &str) -> PyResult<()> {
        self.context.deregister(name).or_raise(py)
    }

    /// Makes a function available to SQL; one of the same name is replaced.
    fn register_udf(&self, udf: &Bound<'_, PyScalarUdf>) {
        self.context.session().register_udf(udf.get().function.clone());
    }

    fn __repr__(&self) -> String {
        format!("SQLContext(catalogs={:?})", self.context.extension().catalog_names())
    }
}
