//! The native part of the Python package `pypaimon_rust`.
//!
//! A method here converts its arguments, makes one call into the crates below, and converts the result.

mod arrow;
mod bytes;
mod capsule;
mod catalog;
mod compact;
mod engine;
mod errors;
mod inspect;
mod number;
mod predicate;
mod read;
mod runtime;
mod sql_context;
mod stream;
mod table;
mod udf;
mod write;

use pyo3::prelude::*;

#[pymodule(gil_used = true)]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<catalog::PyCatalog>()?;
    module.add_class::<sql_context::PySqlContext>()?;
    module.add_class::<table::PyTable>()?;
    module.add_class::<inspect::PyTableSchema>()?;
    module.add_class::<inspect::PyDataField>()?;
    module.add_class::<inspect::PySnapshot>()?;
    module.add_class::<inspect::PyTag>()?;
    module.add_class::<inspect::PyPartitionStat>()?;
    module.add_class::<read::PyReadBuilder>()?;
    module.add_class::<read::PyTableScan>()?;
    module.add_class::<stream::PyStreamTableScan>()?;
    module.add_class::<read::PyPlan>()?;
    module.add_class::<read::PySplit>()?;
    module.add_class::<read::PyTableRead>()?;
    module.add_class::<read::PyBatchReader>()?;
    module.add_class::<write::PyWriteBuilder>()?;
    module.add_class::<write::PyTableWrite>()?;
    module.add_class::<write::PyTableCommit>()?;
    module.add_class::<write::PyCommitMessage>()?;
    module.add_class::<compact::PyCompactBuilder>()?;
    module.add_class::<udf::PyScalarUdf>()?;
    module.add_class::<engine::PyProcedureFunction>()?;
    module.add_function(wrap_pyfunction!(udf::udf, module)?)?;
    module.add_function(wrap_pyfunction!(engine::procedures, module)?)?;
    module.add_function(wrap_pyfunction!(engine::check_datafusion, module)?)?;
    Ok(())
}
