//! SQL: the statements that DataFusion cannot plan, and the ones it can with what it lacks added.
//!
//! A text becomes tokens (`tokens`), a statement of ours or of the engine (`parse`, `statement`), and is run (`run`) or
//! handed on (`engine`) after versions and hints are rewritten (`rewrite`). Invariants: no clause is ever ignored; what is
//! not supported is refused by name before anything is read or written. Source: SQL sheet.

mod assign;
mod balance;
mod condition;
mod constant;
mod context;
mod dialect;
mod engine;
mod exact;
mod literals;
mod number;
mod option_names;
mod parse;
mod printer;
mod rewrite;
mod run;
mod session;
mod statement;
mod time_travel;
mod tokens;
mod type_planner;
mod unique_names;
mod zone;

pub use context::SqlContext;
pub use run::sql;

pub(crate) use condition::condition;
pub(crate) use constant::simplify_with;
pub(crate) use exact::{ExactLiterals, TimeComparisons};
pub(crate) use number::number_function;
pub(crate) use option_names::is_known;
pub(crate) use run::{check_option, partition_column, partition_filter, partition_value, table_definition};
pub(crate) use statement::Prepared;
pub(crate) use time_travel::VersionPlanner;
pub(crate) use type_planner::PaimonTypePlanner;
