//! Table functions: every procedure as one, `paimon_scan`, and reads of changes.
//!
//! Invariants: calling a function while planning looks up schemas at most; procedures work when their plan is executed.
//! Source: SQL sheet sections 7, 8 and 11.

mod constant;
mod incremental;
mod procedures;
mod qualified;
mod scan;
mod target;

use std::sync::Arc;

use datafusion::catalog::TableFunctionImpl;

use crate::catalog::PaimonCatalogProvider;
use crate::procedure;

use incremental::IncrementalFunction;
use procedures::ProcedureFunction;
use scan::ScanFunction;

pub(crate) use qualified::QualifiedProcedures;
pub(crate) use target::Target;

/// The table functions of one catalog, by the names that an engine without our planner looks up: `compact`, `sys` (what
/// is left of `sys.compact`), `sys_<procedure>`, `paimon_scan`, and `paimon_incremental_query` and its neighbours.
pub fn functions(catalog: &PaimonCatalogProvider) -> Vec<(String, Arc<dyn TableFunctionImpl>)> {
    functions_of(&Target::Catalog(catalog.clone()))
}

pub(crate) fn functions_of(target: &Target) -> Vec<(String, Arc<dyn TableFunctionImpl>)> {
    let mut all: Vec<(String, Arc<dyn TableFunctionImpl>)> = Vec::new();
    for name in procedure::names() {
        all.push((format!("sys_{name}"), Arc::new(ProcedureFunction::new(target.clone(), name))));
    }
    all.push(("compact".to_owned(), Arc::new(ProcedureFunction::new(target.clone(), "compact"))));
    all.push(("sys".to_owned(), Arc::new(ProcedureFunction::first_word_of_sys_compact(target.clone()))));
    all.push(("paimon_scan".to_owned(), Arc::new(ScanFunction::new(target.clone()))));
    for function in IncrementalFunction::all(target) {
        all.push((function.name().to_owned(), Arc::new(function)));
    }
    all
}
