//! The list of procedures, and how a call is bound to one of them.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use paimon_core::runtime::Resources;
use paimon_core::{Catalog, Error, Identifier, Result, Table};

use super::arguments::{Argument, Arguments};
use super::{compact, expire, rollback, tag};
use crate::catalog::{PaimonCatalogProvider, TemporaryObjects};
use crate::sql::is_known;

/// What a call runs against.
#[derive(Debug, Clone)]
pub struct ProcedureContext {
    /// The catalog of the call.
    pub catalog: Arc<dyn Catalog>,
    /// Name of the catalog; a table name of three parts must start with it.
    pub catalog_name: String,
    /// Database of table names without one.
    pub database: String,
    /// Temporary tables and views, which hide tables of their names.
    pub temporary: TemporaryObjects,
    /// Memory and parallelism that the work may use.
    pub resources: Resources,
}

impl ProcedureContext {
    /// The context of a provider.
    pub fn new(provider: &PaimonCatalogProvider, database: impl Into<String>) -> Self {
        Self {
            catalog: Arc::clone(provider.catalog()),
            catalog_name: provider.name().to_owned(),
            database: database.into(),
            temporary: provider.temporary().clone(),
            resources: Resources::default(),
        }
    }

    /// The same context with what a session lends.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// The name in the text `t`, `db.t` or `catalog.db.t`, parts in back-quotes if they hold dots.
    ///
    /// # Errors
    /// `InvalidInput` for other forms, another catalog, or a system table.
    pub fn identifier(&self, text: &str) -> Result<Identifier> {
        let identifier = self.any_identifier(text)?;
        if identifier.system_table().is_some() {
            return Err(Error::invalid_input(format!("{identifier} is a system table; expected a table")));
        }
        Ok(identifier)
    }

    /// As [`ProcedureContext::identifier`], but system tables pass.
    ///
    /// # Errors
    /// `InvalidInput` for other forms or another catalog.
    pub fn any_identifier(&self, text: &str) -> Result<Identifier> {
        let parts = split_name(text)?;
        let identifier = match &parts[..] {
            [table] => Identifier::new(&self.database, table),
            [database, table] => Identifier::new(database, table),
            [catalog, database, table] if *catalog == self.catalog_name => Identifier::new(database, table),
            [catalog, ..] if parts.len() == 3 => {
                return Err(Error::invalid_input(format!(
                    "table {text} is in catalog {catalog}, but the procedure was called in catalog {}",
                    self.catalog_name
                )));
            }
            _ => return Err(Error::invalid_input(format!("expected [catalog.][database.]table, found '{text}'"))),
        };
        identifier.check()?;
        if self.temporary.contains(identifier.database(), identifier.object()) {
            return Err(Error::invalid_input(format!(
                "{identifier} is a temporary table or view here; expected a table"
            )));
        }
        Ok(identifier)
    }

    /// The table of the argument `table`.
    ///
    /// # Errors
    /// Those of [`ProcedureContext::identifier`] and of `Catalog::get_table`.
    pub async fn table(&self, arguments: &Arguments) -> Result<Table> {
        self.catalog.get_table(&self.identifier(arguments.text("table")?)?).await
    }

    /// As [`ProcedureContext::table`], with the options of the argument `options` for this call.
    ///
    /// # Errors
    /// As [`ProcedureContext::table`]; `InvalidInput` or `InvalidConfig` for options that cannot be set.
    pub async fn table_with_options(&self, arguments: &Arguments) -> Result<Table> {
        let options = arguments.options("options")?;
        let table = self.table(arguments).await?;
        if options.is_empty() {
            return Ok(table);
        }
        let unknown = options.keys().find(|key| !is_known(key));
        if let Some(key) = unknown {
            return Err(Error::invalid_config(format!("argument options: unknown option '{key}'")));
        }
        table.with_options(&options.into_iter().map(|(key, value)| (key, Some(value))).collect()).await
    }
}

/// Splits a name at dots outside back-quotes.
fn split_name(text: &str) -> Result<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in text.trim().chars() {
        match c {
            '`' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            c => {
                if let Some(last) = parts.last_mut() {
                    last.push(c);
                }
            }
        }
    }
    if quoted || parts.iter().any(String::is_empty) {
        return Err(Error::invalid_input(format!("expected [catalog.][database.]table, found '{text}'")));
    }
    Ok(parts)
}

/// Type of a parameter. Text that is a number passes for a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// Text.
    Text,
    /// Options: text `key=value,key=value`, or a map of texts.
    Options,
    /// A whole number.
    Integer,
    /// A boolean.
    Boolean,
    /// Epoch milliseconds, a timestamp, or text in the form of `scan.timestamp`.
    Time,
}

/// A parameter of a procedure.
#[derive(Debug, Clone, Copy)]
pub struct Parameter {
    /// Name.
    pub name: &'static str,
    /// Other spellings of the name.
    pub aliases: &'static [&'static str],
    /// Type.
    pub kind: ParameterType,
    /// Whether a call must give it.
    pub required: bool,
    /// Whether it can be given: other engines know it, and a call with it is refused by name.
    pub supported: bool,
}

impl Parameter {
    /// A parameter that a call must give.
    pub(super) const fn required(name: &'static str, kind: ParameterType) -> Self {
        Self { name, aliases: &[], kind, required: true, supported: true }
    }

    /// A parameter that a call may leave out.
    pub(super) const fn optional(name: &'static str, kind: ParameterType) -> Self {
        Self { name, aliases: &[], kind, required: false, supported: true }
    }

    /// A parameter that keeps its position and is refused.
    pub(super) const fn not_supported(name: &'static str) -> Self {
        Self { name, aliases: &[], kind: ParameterType::Text, required: false, supported: false }
    }

    /// Whether this, as it is written, is one of its names; names in camel case are taken only in that case.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let is = |known: &&str| match known.bytes().any(|b| b.is_ascii_uppercase()) {
            true => *known == name,
            false => known.eq_ignore_ascii_case(name),
        };
        std::iter::once(&self.name).chain(self.aliases).any(is)
    }

    /// The same parameter, also under these names.
    pub(super) const fn or(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }
}

pub(super) type Outcome = Pin<Box<dyn Future<Output = Result<RecordBatch>> + Send>>;

/// A procedure.
#[derive(Clone, Copy)]
pub struct Procedure {
    /// Name, without `sys.`.
    pub name: &'static str,
    /// Parameters in positional order.
    pub parameters: &'static [Parameter],
    /// Columns of the result.
    pub schema: fn() -> SchemaRef,
    pub(super) run: fn(ProcedureContext, Arguments) -> Outcome,
}

impl fmt::Debug for Procedure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sys.{}", self.name)
    }
}

/// All procedures, by name.
const PROCEDURES: &[Procedure] = &[
    compact::PROCEDURE,
    expire::PROCEDURE,
    tag::CREATE,
    tag::CREATE_FROM_TIMESTAMP,
    tag::DELETE,
    tag::EXPIRE,
    tag::RENAME,
    tag::REPLACE,
    rollback::ROLLBACK,
    rollback::ROLLBACK_TO,
    rollback::ROLLBACK_TO_TIMESTAMP,
];

/// Procedures of other engines.
const NOT_SUPPORTED: [&str; 38] = [
    "alter_column_default_value",
    "alter_function",
    "alter_view_dialect",
    "analyze",
    "clear_consumers",
    "clone",
    "compact_chain_table",
    "compact_database",
    "compact_manifest",
    "copy",
    "create_branch",
    "create_function",
    "create_global_index",
    "create_lumina_index",
    "create_tag_from_watermark",
    "delete_branch",
    "drop_function",
    "drop_global_index",
    "drop_partition",
    "expire_changelogs",
    "expire_partitions",
    "fast_forward",
    "mark_partition_done",
    "materialize_deletion_vectors",
    "merge_branch",
    "migrate_database",
    "migrate_file",
    "migrate_table",
    "purge_files",
    "query_service",
    "reassign_row_id",
    "remove_orphan_files",
    "remove_unexisting_files",
    "rename_branch",
    "repair",
    "rescale",
    "reset_consumer",
    "rollback_to_watermark",
];

/// All procedures.
pub fn list() -> impl Iterator<Item = &'static Procedure> {
    PROCEDURES.iter()
}

/// Names of all procedures, without `sys.`.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROCEDURES.iter().map(|p| p.name)
}

/// A call whose arguments fit a procedure; nothing has happened yet.
#[derive(Debug, Clone)]
pub struct BoundCall {
    procedure: Procedure,
    arguments: Arguments,
}

impl BoundCall {
    /// The procedure.
    pub fn procedure(&self) -> &Procedure {
        &self.procedure
    }

    /// Columns of the result.
    pub fn schema(&self) -> SchemaRef {
        (self.procedure.schema)()
    }

    /// Does the work. Must be awaited on a Tokio runtime.
    ///
    /// # Errors
    /// Those of the procedure; then nothing is changed unless the error says so.
    pub async fn run(&self, context: ProcedureContext) -> Result<RecordBatch> {
        (self.procedure.run)(context, self.arguments.clone()).await
    }
}

/// Binds a call: positional arguments in the order of the parameters, then named ones. NULL is "not given".
///
/// # Errors
/// `InvalidInput` naming the known procedures or parameters.
pub fn bind(name: &str, arguments: Vec<Argument>) -> Result<BoundCall> {
    let Some(procedure) = PROCEDURES.iter().find(|p| p.name == name) else {
        if NOT_SUPPORTED.contains(&name) {
            return Err(Error::unsupported(format!("Procedure {name} is not supported")));
        }
        let known: Vec<&str> = names().collect();
        return Err(Error::invalid_input(format!("procedure {name} does not exist; known are {}", known.join(", "))));
    };
    Ok(BoundCall { procedure: *procedure, arguments: Arguments::bind(procedure, arguments)? })
}

/// The columns of a procedure that has nothing to say: `result`.
pub fn ok_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("result", DataType::Utf8, false)]))
}

/// The one row `OK`.
///
/// # Errors
/// None in practice.
pub fn ok_batch() -> Result<RecordBatch> {
    let column: ArrayRef = Arc::new(StringArray::from(vec!["OK"]));
    Ok(RecordBatch::try_new(ok_schema(), vec![column])?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_names_every_procedure_and_argument() {
        let text = include_str!("../../../docs/PROCEDURES.md");
        for procedure in list() {
            let row = text.lines().find(|l| l.starts_with('|') && l.contains(&format!("`{}`", procedure.name)));
            let row = row.unwrap_or_else(|| panic!("{} is not documented", procedure.name));
            for parameter in procedure.parameters {
                let place = if parameter.supported { row } else { text };
                assert!(place.contains(&format!("`{}`", parameter.name)), "{}: {}", procedure.name, parameter.name);
            }
        }
    }
}
