//! SQL through `SqlContext`, one file per part of the language.

mod alter;
mod cancel;
mod ddl;
mod insert;
mod partitions;
mod refusals;
mod session;
mod show;
mod temporary;
mod time_travel;

use datafusion::arrow::array::Array;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion_paimon::{SqlContext, core_error};
use paimon_core::ErrorKind;
use paimon_core::options::Options;

/// A session over an empty warehouse, registered as catalog `paimon` with a database `db`.
pub(crate) struct Env {
    pub(crate) context: SqlContext,
    pub(crate) warehouse: tempfile::TempDir,
}

impl Env {
    pub(crate) async fn new() -> Self {
        let warehouse = tempfile::tempdir().unwrap();
        let context = context(warehouse.path()).await;
        let env = Self { context, warehouse };
        env.ok("CREATE SCHEMA paimon.db").await;
        env
    }

    /// Another session over the same warehouse.
    pub(crate) async fn second(&self) -> SqlContext {
        context(self.warehouse.path()).await
    }

    /// Runs a statement that succeeds; the rows of its result.
    pub(crate) async fn rows(&self, sql: &str) -> Vec<String> {
        rows(&self.context, sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// Runs a statement whose result is `OK`.
    pub(crate) async fn ok(&self, sql: &str) {
        assert_eq!(self.rows(sql).await, ["OK"], "{sql}");
    }

    /// Runs a statement that fails; the kind of its error, and what it says.
    pub(crate) async fn error(&self, sql: &str) -> (ErrorKind, String) {
        match rows(&self.context, sql).await {
            Ok(rows) => panic!("{sql} succeeded with {rows:?}"),
            Err(error) => match core_error(&error) {
                Some(core) => (core.kind(), core.to_string()),
                None => panic!("{sql} failed in the engine: {error}"),
            },
        }
    }

    /// Runs a statement that fails, here or in the engine, with a message that holds `part`.
    pub(crate) async fn fails(&self, sql: &str, part: &str) {
        match rows(&self.context, sql).await {
            Ok(rows) => panic!("{sql} succeeded with {rows:?}"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(part), "{sql}: expected '{part}' in: {text}");
            }
        }
    }
}

async fn context(warehouse: &std::path::Path) -> SqlContext {
    let context = SqlContext::new().unwrap();
    let options: Options = [("warehouse", warehouse.to_str().unwrap())].into_iter().collect();
    context.register_catalog("paimon", options, None).await.unwrap();
    context
}

/// The rows of a result, cells with blanks between.
pub(crate) async fn rows(context: &SqlContext, sql: &str) -> datafusion::error::Result<Vec<String>> {
    let batches = context.sql(sql).await?.collect().await?;
    let options = FormatOptions::new().with_null("NULL");
    let mut rows = Vec::new();
    for batch in &batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|c| ArrayFormatter::try_new(c.as_ref() as &dyn Array, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|c| c.value(row).to_string()).collect::<Vec<_>>().join(" "));
        }
    }
    Ok(rows)
}
