//! Directories as databases and tables.
//!
//! Invariants: a database is a directory `<name>.db` below the warehouse, a table a directory in it whose main branch has
//! a schema file; nothing else is kept about either. The flags that ignore what exists or is missing never excuse a wrong
//! argument. Names are checked before they become paths.
//! Source: catalog sheet sections 3, 4, 6 and 7; `catalog/FileSystemCatalog.java`, `catalog/AbstractCatalog.java`.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};

use super::identifier::check_name;
use super::{Catalog, CatalogTable, Identifier, SchemaChange, external_paths, option_values, table_kind};
use crate::clock::{Clock, SystemClock};
use crate::commit::FileSystemCommit;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::meta::{Schemas, Snapshots, TablePaths};
use crate::options::{CatalogOptions, Options};
use crate::spec::{Schema, TableSchema};
use crate::storage::FileIO;
use crate::table::Table;

/// The database of global system tables, which is no directory.
const SYSTEM_DATABASE: &str = CatalogTable::DATABASE;
/// What the directory of a database ends in.
const DATABASE_SUFFIX: &str = ".db";
/// Directories that are looked into at once.
const PARALLEL_LOOKS: usize = 16;

/// A catalog whose databases are the directories `*.db` below a warehouse.
#[derive(Debug, Clone)]
pub struct FileSystemCatalog {
    options: Options,
    warehouse: String,
    io: FileIO,
    clock: Arc<dyn Clock>,
}

impl FileSystemCatalog {
    /// The catalog of the option `warehouse`. Contacts no storage; the directory is made with the first database.
    ///
    /// # Errors
    /// `InvalidConfig` if the option is missing or another option does not go with this catalog; `Unsupported` naming a
    /// storage scheme that is not built in.
    pub fn new(options: Options) -> Result<Self> {
        let warehouse = options
            .get(CatalogOptions::WAREHOUSE)
            .ok_or_else(|| Error::invalid_config("Missing required option: warehouse"))?;
        if options.get("table.type").is_some_and(|kind| !kind.eq_ignore_ascii_case("managed")) {
            return Err(Error::invalid_config("Only managed table is supported in File system catalog."));
        }
        option_values::check(&options)?;
        let warehouse = FileIO::normalize(warehouse)?;
        let io = FileIO::from_location(&warehouse, &options)?;
        Ok(Self { options, warehouse, io, clock: SystemClock::shared() })
    }

    /// The same catalog with another source of time and names.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// The root path.
    pub fn warehouse(&self) -> &str {
        &self.warehouse
    }

    fn database_location(&self, database: &str) -> String {
        format!("{}/{database}{DATABASE_SUFFIX}", self.warehouse.trim_end_matches('/'))
    }

    fn paths(&self, identifier: &Identifier) -> TablePaths {
        TablePaths::new(self.table_location(identifier), identifier.branch().unwrap_or("main"))
    }

    fn schemas(&self, identifier: &Identifier) -> Schemas {
        Schemas::new(self.io.clone(), self.paths(identifier))
    }

    async fn check_database(&self, name: &str) -> Result<()> {
        if self.database_exists(name).await? {
            return Ok(());
        }
        Err(Error::not_found(Entity::Database, format!("Database {name} does not exist.")))
    }

    /// A warehouse that is a file would look empty.
    async fn check_warehouse(&self) -> Result<()> {
        match self.io.status(&self.warehouse).await? {
            Some(status) if !status.is_dir => {
                Err(Error::invalid_config(format!("The path '{}' should be a directory.", self.warehouse)))
            }
            _ => Ok(()),
        }
    }

    /// What the user gave, over the options that the catalog gives to new tables.
    fn with_defaults(&self, mut schema: Schema) -> Schema {
        for (key, value) in self.options.iter() {
            if let Some(key) = key.strip_prefix(CatalogOptions::TABLE_DEFAULT_PREFIX) {
                schema.options.entry(key.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
        schema
    }

    /// The error for a branch without schemas.
    async fn nothing_there(&self, identifier: &Identifier) -> Result<Error> {
        let Some(branch) = identifier.branch() else { return Ok(identifier.not_found()) };
        let table = Identifier::new(identifier.database(), identifier.table());
        if !self.schemas(&table).exist().await? {
            return Ok(table.not_found());
        }
        Ok(Error::not_found(Entity::Branch, format!("Branch {branch} in table {table} doesn't exist.")))
    }
}

/// Checks a name that an operation changes: no system database, and only a data table in the main branch.
fn check_main_table(identifier: &Identifier, operation: &str) -> Result<()> {
    check_data_table(identifier, operation)?;
    if identifier.branch().is_some() {
        return Err(Error::invalid_input(format!(
            "Cannot '{operation}' for branch table '{identifier}', please modify the table with the default branch."
        )));
    }
    Ok(())
}

fn check_data_table(identifier: &Identifier, operation: &str) -> Result<()> {
    identifier.check()?;
    check_no_system_database(identifier.database())?;
    if identifier.system_table().is_some() {
        return Err(Error::invalid_input(format!(
            "Cannot '{operation}' for system table '{identifier}', please use data table."
        )));
    }
    Ok(())
}

fn check_no_system_database(name: &str) -> Result<()> {
    if name == SYSTEM_DATABASE {
        return Err(Error::invalid_input("Can't do operation on system database."));
    }
    Ok(())
}

/// Names the table in an error about one of its columns, as Java does.
fn in_table(error: Error, identifier: &Identifier) -> Error {
    match (error.kind(), error.message().strip_suffix('.')) {
        (kind @ (ErrorKind::NotFound(Entity::Column) | ErrorKind::AlreadyExists(Entity::Column)), Some(message)) => {
            Error::new(kind, format!("{message} in the {identifier} table."))
        }
        _ => error.with_context("table", identifier),
    }
}

#[async_trait]
impl Catalog for FileSystemCatalog {
    fn options(&self) -> &Options {
        &self.options
    }

    async fn list_databases(&self) -> Result<Vec<String>> {
        let entries = self.io.list_names(&self.warehouse).await?;
        if entries.is_empty() {
            self.check_warehouse().await?;
        }
        let directories = entries.iter().filter(|(_, is_dir)| *is_dir);
        let mut names: Vec<String> = directories
            .filter_map(|(name, _)| name.strip_suffix(DATABASE_SUFFIX))
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        // The listing is sorted with the suffix, where a-b.db stands before a.db.
        names.sort_unstable();
        Ok(names)
    }

    async fn database_exists(&self, name: &str) -> Result<bool> {
        if name == SYSTEM_DATABASE {
            return Ok(true);
        }
        if check_name(name).is_err() {
            return Ok(false);
        }
        Ok(self.io.status(&self.database_location(name)).await?.is_some_and(|s| s.is_dir))
    }

    async fn create_database(
        &self,
        name: &str,
        ignore_if_exists: bool,
        properties: HashMap<String, String>,
    ) -> Result<()> {
        check_name(name)?;
        check_no_system_database(name)?;
        if properties.contains_key("location") {
            return Err(Error::invalid_input("Cannot specify location for a database when using fileSystem catalog."));
        }
        if !properties.is_empty() {
            let mut keys: Vec<&str> = properties.keys().map(String::as_str).collect();
            keys.sort_unstable();
            return Err(Error::unsupported(format!(
                "a filesystem catalog keeps no properties of a database, but was given: {}",
                keys.join(", ")
            )));
        }
        if self.database_exists(name).await? {
            return match ignore_if_exists {
                true => Ok(()),
                false => Err(Error::already_exists(Entity::Database, format!("Database {name} already exists."))),
            };
        }
        self.check_warehouse().await?;
        self.io.create_dir(&self.database_location(name)).await
    }

    async fn drop_database(&self, name: &str, ignore_if_not_exists: bool, cascade: bool) -> Result<()> {
        check_name(name)?;
        check_no_system_database(name)?;
        if ignore_if_not_exists && !self.database_exists(name).await? {
            return Ok(());
        }
        let tables = self.list_tables(name).await?;
        if !cascade && !tables.is_empty() {
            return Err(Error::new(ErrorKind::NotEmpty(Entity::Database), format!("Database {name} is not empty.")));
        }
        for table in tables {
            self.drop_table(&Identifier::new(name, table), true).await?;
        }
        self.io.delete_dir(&self.database_location(name)).await
    }

    async fn list_tables(&self, database: &str) -> Result<Vec<String>> {
        if database == SYSTEM_DATABASE {
            return Ok(CatalogTable::of_catalog(&self.options)?.iter().map(|t| t.name().to_owned()).collect());
        }
        self.check_database(database).await?;
        let entries = self.io.list_names(&self.database_location(database)).await?;
        let directories = entries.into_iter().filter(|(_, is_dir)| *is_dir).map(|(name, _)| name);
        let looked_into = stream::iter(directories).map(async |name| {
            let is_table = self.schemas(&Identifier::new(database, &name)).exist().await?;
            Ok::<_, Error>(is_table.then_some(name))
        });
        looked_into.buffered(PARALLEL_LOOKS).try_filter_map(|name| async { Ok(name) }).try_collect().await
    }

    async fn get_table(&self, identifier: &Identifier) -> Result<Table> {
        let schema = self.load_schema(identifier).await?;
        table_kind::check_loaded(&schema.options).map_err(|e| e.with_context("table", identifier))?;
        let location = self.table_location(identifier);
        let publisher = Arc::new(FileSystemCommit);
        Ok(Table::new(identifier.clone(), self.io.clone(), &location, schema, publisher, self.clock.clone()))
    }

    async fn load_schema(&self, identifier: &Identifier) -> Result<Arc<TableSchema>> {
        identifier.check()?;
        if identifier.database() == SYSTEM_DATABASE {
            CatalogTable::by_name(identifier.object(), &self.options)?;
            return Err(Error::invalid_input(format!(
                "{identifier} is a system table, which has no handle: select from it in SQL"
            )));
        }
        if let Some(system) = identifier.system_table() {
            let table = identifier.table();
            return Err(Error::invalid_input(format!(
                "{identifier} is a system table, which has no handle of its own: get the table {table} and ask for its \
                 system table {system}, or select from it in SQL"
            )));
        }
        match self.schemas(identifier).latest().await? {
            Some(schema) => Ok(schema),
            None => Err(self.nothing_there(identifier).await?),
        }
    }

    fn table_location(&self, identifier: &Identifier) -> String {
        format!("{}/{}", self.database_location(identifier.database()), identifier.table())
    }

    async fn create_table(&self, identifier: &Identifier, schema: Schema, ignore_if_exists: bool) -> Result<()> {
        check_main_table(identifier, "createTable")?;
        table_kind::check_created(&schema.options)?;
        let now_ms = self.clock.now_ms();
        TableSchema::create(&schema, now_ms)?;
        self.check_database(identifier.database()).await?;
        let schemas = self.schemas(identifier);
        let mut exists = schemas.exist().await?;
        if !exists {
            let schema = self.with_defaults(schema);
            table_kind::check_created(&schema.options)?;
            let schema = TableSchema::create(&schema, now_ms)?;
            let created = match schemas.create(&schema).await {
                // The directory of a table that was dropped just now: the next try makes its own.
                Err(error) if error.kind() == ErrorKind::NotFound(Entity::File) => schemas.create(&schema).await?,
                other => other?,
            };
            // Losing the race for the first schema is the same as finding it.
            exists = !created;
        }
        if exists && !ignore_if_exists {
            return Err(Error::already_exists(Entity::Table, format!("Table {identifier} already exists.")));
        }
        Ok(())
    }

    async fn stage_replacement(&self, identifier: &Identifier, schema: Schema) -> Result<Table> {
        check_main_table(identifier, "replaceTable")?;
        table_kind::check_created(&schema.options)?;
        let now_ms = self.clock.now_ms();
        TableSchema::create(&schema, now_ms)?;
        let table = self.get_table(identifier).await?;
        let schema = self.with_defaults(schema);
        table_kind::check_created(&schema.options)?;
        let next = table.schema().replace(&schema, now_ms).map_err(|e| in_table(e, identifier))?;
        Ok(table.replaced_by(next))
    }

    async fn drop_table(&self, identifier: &Identifier, ignore_if_not_exists: bool) -> Result<()> {
        check_main_table(identifier, "dropTable")?;
        if !self.schemas(identifier).exist().await? {
            return if ignore_if_not_exists { Ok(()) } else { Err(identifier.not_found()) };
        }
        let location = self.table_location(identifier);
        let external = external_paths::of_table(&self.io, &location).await?;
        let stores = external_paths::stores(&external, &self.warehouse, &self.options)?;
        self.io.delete_dir(&location).await?;
        for (path, store) in external.iter().zip(stores) {
            store.delete_dir(path).await?;
        }
        Ok(())
    }

    async fn rename_table(&self, from: &Identifier, to: &Identifier, ignore_if_not_exists: bool) -> Result<()> {
        check_main_table(from, "renameTable")?;
        check_main_table(to, "renameTable")?;
        if !self.schemas(from).exist().await? {
            return if ignore_if_not_exists { Ok(()) } else { Err(from.not_found()) };
        }
        self.check_database(to.database()).await?;
        if self.schemas(to).exist().await? {
            return Err(Error::already_exists(Entity::Table, format!("Table {to} already exists.")));
        }
        self.io.rename(&self.table_location(from), &self.table_location(to)).await.map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists(_) => Error::already_exists(
                Entity::Table,
                format!("Failed to rename table {from} to table {to}: the target directory exists and is not a table"),
            )
            .with_context("directory", self.table_location(to)),
            // Another one was faster.
            ErrorKind::NotFound(Entity::File) => from.not_found(),
            _ => e.with_context("table", from),
        })
    }

    async fn alter_table(
        &self,
        identifier: &Identifier,
        changes: Vec<SchemaChange>,
        ignore_if_not_exists: bool,
    ) -> Result<()> {
        check_data_table(identifier, "alterTable")?;
        loop {
            // A fresh look every time: whoever won the race has made a newer schema.
            let schemas = self.schemas(identifier);
            let Some(newest) = schemas.latest().await? else {
                return match ignore_if_not_exists {
                    true => Ok(()),
                    false => Err(self.nothing_there(identifier).await?),
                };
            };
            if changes.is_empty() {
                return Ok(());
            }
            let snapshots = Snapshots::new(self.io.clone(), self.paths(identifier));
            let latest = snapshots.latest().await?;
            if !schemas.is_new_enough(&newest, latest.as_ref()).await? {
                continue;
            }
            let changed = newest.change(&changes, latest.is_some(), self.clock.now_ms());
            let changed = changed.map_err(|e| in_table(e, identifier))?;
            if changed.says_the_same(&newest) {
                return Ok(());
            }
            if schemas.create(&changed).await? {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests;
