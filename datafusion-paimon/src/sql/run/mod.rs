//! Runs statements. One file per family.
//!
//! Invariants: everything is checked and planned before the first change; a statement is one schema file, one commit, or
//! nothing. Source: SQL sheet SQL-005, SQL-010.

mod alter;
mod call;
mod create;
mod database;
mod describe;
mod drop;
mod explain;
mod function;
mod insert;
mod partition;
mod prepared;
mod set;
mod show;
mod tag;
mod temporary;
mod values;

use std::future::Future;
use std::pin::Pin;

use datafusion::error::Result;
use datafusion::prelude::{DataFrame, SessionContext};

use super::parse::parse;
use super::session::Session;
use super::statement::Statement;
use super::tokens::{Fragment, tokenize};
use crate::error::to_datafusion;

pub(crate) use partition::{filter as partition_filter, partition_column, partition_value};
pub(crate) use set::check_option;
pub(crate) use show::table_definition;

type Running<'f> = Pin<Box<dyn Future<Output = Result<DataFrame>> + Send + 'f>>;

/// Runs one statement of the grammar of [`SqlContext`](super::SqlContext) in any session with Paimon catalogs.
///
/// DDL, CALL and DML have run when the call returns, and the result shows what they did; a query runs when its result is
/// collected.
///
/// # Errors
/// The core error, whole, of what failed ([`core_error`](crate::core_error) finds it): `InvalidInput` with line and column
/// for a syntax error, `Unsupported` naming a clause that is refused, `NotFound` and `AlreadyExists` for names. Then
/// nothing is changed.
///
/// # Cancellation
/// Once the call is dropped, what a statement wrote is deleted in the background and the table of a CREATE TABLE AS dropped
/// again, unless its commit has begun, which ends then: see [`paimon_core::runtime::background_finished`]. No rows become
/// visible in part.
pub async fn sql(context: &SessionContext, text: &str) -> Result<DataFrame> {
    let session = Session::new(context);
    let tokens = tokenize(text).map_err(to_datafusion)?;
    let original = Fragment(tokens.clone());
    let statement = parse(tokens, session.folds(), &|name| session.is_ours(name)).map_err(to_datafusion)?;
    session.run(&statement, &original).await
}

impl Session<'_> {
    /// Runs a statement; `original` are its tokens, for the engine.
    fn run<'f>(&'f self, statement: &'f Statement, original: &'f Fragment) -> Running<'f> {
        match statement {
            Statement::CreateDatabase { name, if_not_exists } => {
                Box::pin(self.create_database(name, *if_not_exists, original))
            }
            Statement::DropDatabase { name, if_exists, cascade } => {
                Box::pin(self.drop_database(name, *if_exists, *cascade, original))
            }
            Statement::CreateCatalog { name, if_not_exists, options } => {
                Box::pin(self.create_catalog(name, *if_not_exists, options))
            }
            Statement::CreateFunction(function) => Box::pin(async move { self.create_function(function) }),
            Statement::DropFunction { name, if_exists } => {
                Box::pin(async move { self.drop_function(name, *if_exists) })
            }
            Statement::CreateTable(table) if table.temporary => Box::pin(self.create_temporary_table(table)),
            Statement::CreateTable(table) => Box::pin(self.create_table(table)),
            Statement::DropTable { names, if_exists, temporary: true } => {
                Box::pin(async move { self.drop_temporary(names, *if_exists, false) })
            }
            Statement::DropTable { names, if_exists, temporary: false } => {
                Box::pin(self.drop_tables(names, *if_exists))
            }
            Statement::CreateView(view) => Box::pin(self.create_view(view)),
            Statement::DropView { names, if_exists } => {
                Box::pin(async move { self.drop_temporary(names, *if_exists, true) })
            }
            Statement::AlterTable { name, if_exists, actions } => Box::pin(self.alter_table(name, *if_exists, actions)),
            Statement::Insert(insert) => Box::pin(self.insert(insert, original)),
            Statement::Truncate { name, if_exists, partition } => Box::pin(self.truncate(name, *if_exists, partition)),
            Statement::Call { name, arguments } => Box::pin(self.call(name, arguments)),
            Statement::Set { key, value } => Box::pin(self.set(key, value)),
            Statement::Reset(key) => Box::pin(self.reset(key.as_deref())),
            Statement::Use(target) => Box::pin(async move { self.use_target(target) }),
            Statement::Show(show) => Box::pin(self.show(show)),
            Statement::Refresh(name) => Box::pin(async move {
                self.table(name, "REFRESH TABLE").await?;
                self.ok()
            }),
            Statement::Explain { analyze, verbose, format, statement } => {
                Box::pin(self.explain(*analyze, *verbose, format.as_deref(), statement))
            }
            Statement::Prepare { name, prepared } => Box::pin(self.prepare(name, prepared, original)),
            Statement::Execute { name, parameters } => Box::pin(self.execute(name, parameters, original)),
            Statement::Deallocate(name) => Box::pin(self.deallocate(name, original)),
            Statement::Engine(fragment) => Box::pin(self.run_in_engine(fragment)),
        }
    }
}
