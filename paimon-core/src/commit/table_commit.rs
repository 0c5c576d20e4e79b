//! Commits messages of a table.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::spec::CommitMessage;
use crate::table::Table;
use crate::types::Datum;

/// What a commit did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The last snapshot that was published.
    Committed {
        /// Its id.
        snapshot_id: i64,
    },
    /// There was nothing to commit.
    Nothing,
}

/// What a commit replaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overwrite {
    /// The partitions of the new files.
    Dynamic,
    /// Everything whose partition columns have these values (`None` null); all for no values.
    Static(BTreeMap<String, Option<Datum>>),
}

/// The identifier of batch commits.
pub(crate) const BATCH_IDENTIFIER: i64 = i64::MAX;

/// Commits messages. Safe against any number of writers in threads and processes.
///
/// # Cancellation
/// Dropping a commit before it is published leaves manifests that nothing names; nothing becomes visible in part.
#[derive(Debug, Clone)]
pub struct TableCommit {
    table: Table,
    user: String,
}

impl TableCommit {
    /// A committer of this user.
    pub fn new(table: Table, user: impl Into<String>) -> Self {
        Self { table, user: user.into() }
    }

    /// The commit user.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Commits messages with a batch identifier: an APPEND snapshot for their append parts, then a COMPACT snapshot for their
    /// compaction parts; then expires snapshots unless the table is write-only.
    ///
    /// # Errors
    /// `Conflict`: nothing is visible. `CommitUnknown`: nothing was deleted.
    pub async fn commit(&self, messages: Vec<CommitMessage>) -> Result<CommitOutcome> {
        let _ = (&self.table, messages);
        Err(Error::unsupported("committing"))
    }

    /// Commits messages and replaces what `overwrite` says. Dynamic without new files does nothing.
    ///
    /// # Errors
    /// As [`TableCommit::commit`]; `InvalidInput` for a file outside a static partition.
    pub async fn overwrite(&self, messages: Vec<CommitMessage>, overwrite: Overwrite) -> Result<CommitOutcome> {
        let _ = (messages, overwrite);
        Err(Error::unsupported("committing"))
    }

    /// Deletes all rows.
    ///
    /// # Errors
    /// As [`TableCommit::commit`].
    pub async fn truncate_table(&self) -> Result<CommitOutcome> {
        Err(Error::unsupported("committing"))
    }

    /// Deletes the partitions that match one of these specs, each full or partial.
    ///
    /// # Errors
    /// As [`TableCommit::commit`]; `InvalidInput` for no spec or an unknown column.
    pub async fn truncate_partitions(&self, specs: Vec<BTreeMap<String, Option<Datum>>>) -> Result<CommitOutcome> {
        let _ = specs;
        Err(Error::unsupported("committing"))
    }

    /// Deletes the files of messages that were not committed, best effort.
    ///
    /// # Errors
    /// `InvalidState` if a file is live.
    pub async fn abort(&self, messages: Vec<CommitMessage>) -> Result<()> {
        let _ = messages;
        Err(Error::unsupported("committing"))
    }
}
