//! `paimon_scan('db.t' [, 'key', 'value']…)`: a table with dynamic options, in every context.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result;

use super::constant::constant_text;
use super::target::{Target, context};
use crate::blocking;
use crate::error::{invalid_input, to_datafusion};
use crate::sql::is_known;

/// The function `paimon_scan`.
#[derive(Debug, Clone)]
pub(crate) struct ScanFunction {
    target: Target,
}

impl ScanFunction {
    pub(crate) fn new(target: Target) -> Self {
        Self { target }
    }
}

impl TableFunctionImpl for ScanFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let texts = args.exprs().iter().map(constant_text).collect::<Result<Vec<_>>>()?;
        let [name, options @ ..] = &texts[..] else {
            return invalid_input("paimon_scan needs the name of a table");
        };
        let (pairs, rest) = options.as_chunks::<2>();
        if !rest.is_empty() {
            return invalid_input("paimon_scan takes a table, then keys and values in pairs");
        }
        let options: BTreeMap<String, Option<String>> =
            pairs.iter().map(|[key, value]| (key.clone(), Some(value.clone()))).collect();
        if let Some(unknown) = options.keys().find(|key| !is_known(key)) {
            return invalid_input(format!("paimon_scan: unknown option '{unknown}'"));
        }
        provider(&self.target, &args, name, options)
    }
}

/// The table of this name with options laid over its own.
pub(super) fn provider(
    target: &Target,
    args: &TableFunctionArgs<'_, '_>,
    name: &str,
    options: BTreeMap<String, Option<String>>,
) -> Result<Arc<dyn TableProvider>> {
    let (catalog, database) = target.of(args.session())?;
    let identifier = context(&catalog, database).any_identifier(name).map_err(to_datafusion)?;
    let handle = catalog.handle().clone();
    let work = async move { catalog.table_provider_with(&identifier, &options).await };
    blocking::run(&handle, work)?.map_err(to_datafusion)
}
