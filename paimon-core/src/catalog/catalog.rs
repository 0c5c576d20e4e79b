//! What a catalog does.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use super::{Identifier, SchemaChange};
use crate::commit::TableCommit;
use crate::error::Result;
use crate::options::Options;
use crate::spec::{Schema, TableSchema};
use crate::table::Table;

/// Names to tables. Small on purpose: everything that is done to one table belongs to [`Table`].
#[async_trait]
pub trait Catalog: Send + Sync + Debug {
    /// The options it was made with.
    fn options(&self) -> &Options;

    /// Names of all databases, sorted.
    async fn list_databases(&self) -> Result<Vec<String>>;

    /// Whether a database exists.
    async fn database_exists(&self, name: &str) -> Result<bool>;

    /// Creates a database.
    ///
    /// # Errors
    /// `AlreadyExists(Database)`; `Unsupported` for properties that the catalog cannot keep.
    async fn create_database(
        &self,
        name: &str,
        ignore_if_exists: bool,
        properties: HashMap<String, String>,
    ) -> Result<()>;

    /// Drops a database; with `cascade` its tables too.
    ///
    /// # Errors
    /// `NotFound(Database)`, `NotEmpty(Database)`.
    async fn drop_database(&self, name: &str, ignore_if_not_exists: bool, cascade: bool) -> Result<()>;

    /// Names of all tables of a database, sorted.
    ///
    /// # Errors
    /// `NotFound(Database)`.
    async fn list_tables(&self, database: &str) -> Result<Vec<String>>;

    /// A handle of a table or branch, with the newest schema.
    ///
    /// # Errors
    /// `NotFound(Table)`, `NotFound(Branch)`; `InvalidInput` for a system table.
    async fn get_table(&self, identifier: &Identifier) -> Result<Table>;

    /// The newest schema of a table or branch of any kind, also one that cannot be read.
    ///
    /// # Errors
    /// `NotFound(Table)`, `NotFound(Branch)`; `InvalidInput` for a system table.
    async fn load_schema(&self, identifier: &Identifier) -> Result<Arc<TableSchema>>;

    /// The directory of a table, whether it exists or not.
    fn table_location(&self, identifier: &Identifier) -> String;

    /// Creates a table.
    ///
    /// # Errors
    /// `NotFound(Database)`, `AlreadyExists(Table)`, and those of the schema rules.
    async fn create_table(&self, identifier: &Identifier, schema: Schema, ignore_if_exists: bool) -> Result<()>;

    /// Begins to replace a table by one with another schema: the handle is that of the new table, and nothing has happened
    /// until a commit of it overwrites everything. Then the new table stands, with these rows; snapshots of before can be read
    /// by time travel.
    ///
    /// # Errors
    /// `NotFound(Table)`; `InvalidInput` for a branch or system table; `Unsupported` for other partition columns; those of
    /// the schema rules. The commit fails with `Conflict(Schema)` if the table was altered meanwhile.
    async fn stage_replacement(&self, identifier: &Identifier, schema: Schema) -> Result<Table>;

    /// Replaces a table by an empty one.
    ///
    /// # Errors
    /// As [`Catalog::stage_replacement`] and its commit.
    async fn replace_table(&self, identifier: &Identifier, schema: Schema) -> Result<()> {
        let table = self.stage_replacement(identifier, schema).await?;
        let user = format!("replace-table-{}", table.clock().fresh_id());
        TableCommit::new(table, user).truncate_table().await.map(|_| ())
    }

    /// Drops a table with all its branches and files.
    ///
    /// # Errors
    /// `NotFound(Table)`; `InvalidInput` for a branch or system table.
    async fn drop_table(&self, identifier: &Identifier, ignore_if_not_exists: bool) -> Result<()>;

    /// Renames a table, also into another database.
    ///
    /// # Errors
    /// `NotFound(Table)`, `AlreadyExists(Table)`.
    async fn rename_table(&self, from: &Identifier, to: &Identifier, ignore_if_not_exists: bool) -> Result<()>;

    /// Applies changes as one new schema version; a lost race applies them to the newest version again.
    ///
    /// # Errors
    /// `NotFound`, `AlreadyExists` and those of the schema rules; then nothing is changed.
    async fn alter_table(
        &self,
        identifier: &Identifier,
        changes: Vec<SchemaChange>,
        ignore_if_not_exists: bool,
    ) -> Result<()>;
}
