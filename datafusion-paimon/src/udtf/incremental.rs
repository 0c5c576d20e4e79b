//! Reads of changes: `paimon_incremental_query('db.t', start, end)`, `paimon_incremental_between_timestamp('db.t', start,
//! end)`, `paimon_incremental_to_auto_tag('db.t', 'tag')`.
//!
//! Source: SQL sheet section 7 (SQL-221), time-travel sheet section 3.

use std::sync::Arc;

use datafusion::catalog::{TableFunctionArgs, TableFunctionImpl, TableProvider};
use datafusion::error::Result;

use super::constant::constant_word;
use super::scan::provider;
use super::target::Target;
use crate::error::invalid_input;

/// One of the functions.
#[derive(Debug, Clone)]
pub(crate) struct IncrementalFunction {
    name: &'static str,
    /// The option that its arguments behind the table set.
    option: &'static str,
    /// How many arguments stand behind the table.
    arguments: usize,
    target: Target,
}

impl IncrementalFunction {
    /// All of them.
    pub(crate) fn all(target: &Target) -> Vec<Self> {
        let function = |name, option, arguments| Self { name, option, arguments, target: target.clone() };
        vec![
            function("paimon_incremental_query", "incremental-between", 2),
            function("paimon_incremental_between_timestamp", "incremental-between-timestamp", 2),
            function("paimon_incremental_to_auto_tag", "incremental-to-auto-tag", 1),
        ]
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }
}

impl TableFunctionImpl for IncrementalFunction {
    fn call_with_args(&self, args: TableFunctionArgs<'_, '_>) -> Result<Arc<dyn TableProvider>> {
        let texts = args.exprs().iter().map(constant_word).collect::<Result<Vec<_>>>()?;
        match &texts[..] {
            [table, range @ ..] if range.len() == self.arguments => {
                let options = [(self.option.to_owned(), Some(range.join(",")))];
                provider(&self.target, &args, table, options.into_iter().collect())
            }
            _ => {
                let (name, expected) = (self.name, self.arguments + 1);
                invalid_input(format!(
                    "{name} takes {expected} arguments, the name of a table first, found {}",
                    texts.len()
                ))
            }
        }
    }
}
