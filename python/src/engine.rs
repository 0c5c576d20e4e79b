//! The bridge to the `datafusion` package: version check, capsules, table functions.

use std::sync::Arc;

use datafusion_paimon::{PaimonCatalogProvider, PaimonTableProvider};
use paimon_core::{Catalog, Table};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule;
use crate::errors::raise;
use crate::runtime::{handle, wait};

/// The major version of `datafusion` whose structures this module speaks.
const MAJOR: &str = "55";

/// Refuses an installed `datafusion` of another major version, before any of its structures is touched. A consumer that is
/// not that package is checked by the version in its structures.
fn check_version(py: Python<'_>, class: &str) -> PyResult<()> {
    let Ok(version) = py.import("importlib.metadata")?.call_method1("version", ("datafusion",)) else { return Ok(()) };
    let version: String = version.extract()?;
    if version.split('.').next() == Some(MAJOR) {
        return Ok(());
    }
    let message = format!(
        "pypaimon-rust was built for datafusion {MAJOR}, but datafusion {version} is installed; \
         pip install 'datafusion>=55,<56', or install the pypaimon-rust that fits it"
    );
    Err(raise(py, class, &message))
}

fn provider(catalog: &Arc<dyn Catalog>) -> PyResult<PaimonCatalogProvider> {
    Ok(PaimonCatalogProvider::new(catalog.clone(), handle()?))
}

/// The capsule of a catalog.
pub(crate) fn catalog_capsule<'py>(
    py: Python<'py>,
    catalog: &Arc<dyn Catalog>,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyCapsule>> {
    check_version(py, "IncompatibleDataFusionError")?;
    let codec = capsule::host_codec(session)?;
    let ffi = datafusion_paimon_ffi::catalog_provider(Arc::new(provider(catalog)?), handle()?, codec);
    PyCapsule::new_with_value(py, ffi, c"datafusion_catalog_provider")
}

/// The capsule of a table.
pub(crate) fn table_capsule<'py>(
    py: Python<'py>,
    table: &Table,
    session: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyCapsule>> {
    check_version(py, "IncompatibleDataFusionError")?;
    let codec = capsule::host_codec(session)?;
    let (owned, runtime) = (table.clone(), handle()?);
    let provider = wait(py, async move { PaimonTableProvider::try_new(owned, runtime).await })?;
    let ffi = datafusion_paimon_ffi::table_provider(Arc::new(provider), handle()?, codec);
    PyCapsule::new_with_value(py, ffi, c"datafusion_table_provider")
}

/// A procedure as a table function of the `datafusion` package.
#[pyclass(module = "pypaimon_rust.datafusion", name = "ProcedureFunction", frozen)]
pub(crate) struct PyProcedureFunction {
    name: String,
    catalog: Arc<dyn Catalog>,
}

#[pymethods]
impl PyProcedureFunction {
    /// The name under which it is registered.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __datafusion_table_function__<'py>(
        &self,
        py: Python<'py>,
        session: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        check_version(py, "IncompatibleDataFusionError")?;
        let codec = capsule::host_codec(session)?;
        let functions = datafusion_paimon::udtf::functions(&provider(&self.catalog)?);
        let Some((_, function)) = functions.into_iter().find(|(name, _)| *name == self.name) else {
            return Err(raise(py, "NotFoundError", &format!("there is no procedure {}", self.name)));
        };
        let ffi = datafusion_paimon_ffi::table_function(function, handle()?, codec);
        PyCapsule::new_with_value(py, ffi, c"datafusion_table_function")
    }

    fn __repr__(&self) -> String {
        format!("ProcedureFunction({})", self.name)
    }
}

/// The procedures of a catalog by the names that `datafusion` registers: `compact`, `sys` and `sys_<procedure>`.
#[pyfunction]
pub(crate) fn procedures(catalog: &Bound<'_, crate::catalog::PyCatalog>) -> PyResult<Vec<PyProcedureFunction>> {
    let catalog = catalog.get().catalog.clone();
    let functions = datafusion_paimon::udtf::functions(&provider(&catalog)?);
    Ok(functions.into_iter().map(|(name, _)| PyProcedureFunction { name, catalog: catalog.clone() }).collect())
}

/// Refuses a `datafusion` of another major version with an `ImportError`.
#[pyfunction]
pub(crate) fn check_datafusion(py: Python<'_>) -> PyResult<()> {
    check_version(py, "IncompatibleDataFusionImportError")
}
