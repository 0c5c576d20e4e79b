//! Starts a batch write.

use super::Table;
use crate::commit::{Ledger, Overwrite, TableCommit};
use crate::error::Result;
use crate::runtime::Resources;
use crate::spec::COMMIT_USER_PREFIX;
use crate::write::TableWrite;

/// Settings of a batch write. Writer and committer share the commit user.
#[derive(Debug, Clone)]
pub struct WriteBuilder {
    table: Table,
    user: String,
    overwrite: Option<Overwrite>,
    resources: Resources,
    ledger: Ledger,
}

impl WriteBuilder {
    /// An append with a fresh commit user.
    pub fn new(table: Table) -> Self {
        let fresh = table.clock().fresh_id();
        let user = match table.options().find(&COMMIT_USER_PREFIX) {
            Ok(Some(prefix)) => format!("{prefix}_{fresh}"),
            _ => fresh,
        };
        Self { table, user, overwrite: None, resources: Resources::default(), ledger: Ledger::default() }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The commit user.
    pub fn commit_user(&self) -> &str {
        &self.user
    }

    /// What the commit replaces; `None` appends.
    #[must_use]
    pub fn with_overwrite(mut self, overwrite: Option<Overwrite>) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// What the commit replaces.
    pub fn overwrite(&self) -> Option<&Overwrite> {
        self.overwrite.as_ref()
    }

    /// Memory and parallelism that writes may use.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// A writer.
    ///
    /// # Errors
    /// `Unsupported` if the table cannot be written yet; `InvalidInput` if it is pinned to a snapshot.
    pub fn new_write(&self) -> Result<TableWrite> {
        TableWrite::new(self.table.clone(), self.overwrite.is_some(), self.resources.clone())
    }

    /// A committer.
    pub fn new_commit(&self) -> TableCommit {
        TableCommit::new(self.table.clone(), self.user.clone()).with_ledger(self.ledger.clone())
    }
}
