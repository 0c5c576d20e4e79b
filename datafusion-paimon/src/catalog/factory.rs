//! `CREATE EXTERNAL TABLE .. STORED AS PAIMON LOCATION '<table path>'`: a name for a table that exists.
//!
//! Invariants: nothing is created in the store; every clause that is not carried out is refused. Source: SQL sheet SQL-327.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider, TableProviderFactory};
use datafusion::error::Result;
use datafusion::logical_expr::CreateExternalTable;
use paimon_core::clock::SystemClock;
use paimon_core::commit::FileSystemCommit;
use paimon_core::error::Entity;
use paimon_core::meta::{Schemas, TablePaths};
use paimon_core::storage::FileIO;
use paimon_core::{Error, Identifier, Options, Table};
use tokio::runtime::Handle;

use crate::blocking;
use crate::error::{invalid_input, to_datafusion, unsupported};
use crate::table::PaimonTableProvider;

/// Finds a table by its path.
#[derive(Debug, Clone)]
pub struct PaimonTableFactory {
    handle: Handle,
}

impl PaimonTableFactory {
    /// A factory whose work runs on `handle`.
    pub fn new(handle: Handle) -> Self {
        blocking::note(&handle);
        Self { handle }
    }
}

#[async_trait]
impl TableProviderFactory for PaimonTableFactory {
    async fn create(&self, _: &dyn Session, command: &CreateExternalTable) -> Result<Arc<dyn TableProvider>> {
        refuse_clauses(command)?;
        let [location] = &command.locations[..] else {
            return invalid_input("STORED AS PAIMON needs one LOCATION, the path of the table");
        };
        let (location, name) = (location.clone(), command.name.table().to_owned());
        let options = dynamic_options(command);
        let handle = self.handle.clone();
        let work = async move {
            let table = open(&location, &name).await?;
            let table = if options.is_empty() { table } else { table.with_dynamic_options(&options).await? };
            PaimonTableProvider::try_new(table, handle).await
        };
        let provider = blocking::on(&self.handle, work).await?.map_err(to_datafusion)?;
        Ok(Arc::new(provider))
    }
}

fn refuse_clauses(command: &CreateExternalTable) -> Result<()> {
    let refused = [
        (!command.schema.fields().is_empty(), "columns"),
        (!command.table_partition_cols.is_empty(), "PARTITIONED BY"),
        (!command.order_exprs.is_empty(), "WITH ORDER"),
        (command.constraints.iter().next().is_some(), "constraints"),
        (!command.column_defaults.is_empty(), "DEFAULT"),
        (command.unbounded, "UNBOUNDED"),
    ];
    match refused.iter().find(|(given, _)| *given) {
        Some((_, what)) => unsupported(format!(
            "{what} in CREATE EXTERNAL TABLE .. STORED AS PAIMON: the table exists and says itself what it has"
        )),
        None => Ok(()),
    }
}

/// The options of the statement; the engine puts `format.` before those of one word.
fn dynamic_options(command: &CreateExternalTable) -> BTreeMap<String, Option<String>> {
    let option =
        |(key, value): (&String, &String)| (key.strip_prefix("format.").unwrap_or(key).to_owned(), Some(value.clone()));
    command.options.iter().map(option).collect()
}

/// The table at a path.
async fn open(location: &str, name: &str) -> paimon_core::Result<Table> {
    let location = FileIO::normalize(location)?;
    let io = FileIO::from_location(&location, &Options::new())?;
    let schemas = Schemas::new(io.clone(), TablePaths::new(&location, "main"));
    let schema = schemas
        .latest()
        .await?
        .ok_or_else(|| Error::not_found(Entity::Table, format!("there is no Paimon table at {location}")))?;
    let identifier = Identifier::new("external", name);
    Ok(Table::new(identifier, io, &location, schema, Arc::new(FileSystemCommit), SystemClock::shared()))
}
