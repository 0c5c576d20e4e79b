//! Starts a compaction.

use super::Table;
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::runtime::Resources;

/// What a compaction did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CompactMetrics {
    /// Buckets that were compacted, or groups of files of an append table.
    pub tasks: i64,
    /// Files that are no longer live; upgrades do not count.
    pub files_removed: i64,
    /// Files that were written.
    pub files_added: i64,
    /// Rows that were written.
    pub rows_written: i64,
    /// Bytes that were written.
    pub bytes_written: i64,
    /// Changelog files.
    pub changelog_files_added: i64,
    /// Their rows.
    pub changelog_rows_written: i64,
    /// Their bytes.
    pub changelog_bytes_written: i64,
}

/// Settings of a compaction.
#[derive(Debug, Clone)]
pub struct CompactBuilder {
    table: Table,
    partition_filter: Option<Predicate>,
    user: Option<String>,
    minor: bool,
    resources: Resources,
}

impl CompactBuilder {
    /// A full compaction of all partitions.
    pub fn new(table: Table) -> Self {
        Self { table, partition_filter: None, user: None, minor: false, resources: Resources::default() }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Only partitions that match; repeated calls combine with AND.
    ///
    /// # Errors
    /// `InvalidInput` naming a column that is no partition column.
    pub fn with_partition_filter(mut self, filter: Predicate) -> Result<Self> {
        self.partition_filter = Some(match self.partition_filter.take() {
            Some(earlier) => Predicate::And(vec![earlier, filter]),
            None => filter,
        });
        Ok(self)
    }

    /// The commit user becomes `<user>-compact-<fresh suffix>`.
    ///
    /// # Errors
    /// `InvalidInput` for a blank user.
    pub fn with_commit_user(mut self, user: impl Into<String>) -> Result<Self> {
        let user = user.into();
        if user.trim().is_empty() {
            return Err(Error::invalid_input("the commit user must not be blank"));
        }
        self.user = Some(user);
        Ok(self)
    }

    /// Only what the picking rules choose, instead of everything.
    #[must_use]
    pub fn with_minor(mut self, minor: bool) -> Self {
        self.minor = minor;
        self
    }

    /// Memory and parallelism that the compaction may use.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// Plans, runs and commits one COMPACT snapshot for all tasks; none if there is nothing to do.
    ///
    /// # Errors
    /// `Unsupported` before any file is written; `Conflict` if another compaction was faster. Files that were written are
    /// deleted again.
    pub async fn execute(&self) -> Result<CompactMetrics> {
        let _ = (&self.partition_filter, &self.user, self.minor, &self.resources);
        Err(Error::unsupported("compacting"))
    }
}
