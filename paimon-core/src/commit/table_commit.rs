//! Commits messages of a table.

use std::collections::{BTreeMap, HashSet};

use super::changes::Changes;
use super::committer::{Committer, Source};
use super::ledger::Ledger;
use super::overwrite::{self, Replaced};
use crate::error::{Error, Result};
use crate::maintain::{ExpireConfig, expire_snapshots};
use crate::meta::TablePaths;
use crate::scan::live_entries;
use crate::spec::{CommitKind, CommitMessage, DataFileMeta, IGNORE_EMPTY_COMMIT, Snapshot, WRITE_ONLY};
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

impl From<&Snapshot> for CommitOutcome {
    fn from(snapshot: &Snapshot) -> Self {
        Self::Committed { snapshot_id: snapshot.id }
    }
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
const BATCH_IDENTIFIER: i64 = i64::MAX;
/// The operation that truncating notes in its snapshot.
const TRUNCATE: &str = "TRUNCATE";

/// Commits messages. Safe against any number of writers in threads and processes.
///
/// # Cancellation
/// Dropping a commit before it is published leaves manifests that nothing names; nothing becomes visible in part.
#[derive(Debug, Clone)]
pub struct TableCommit {
    table: Table,
    user: String,
    ledger: Ledger,
}

impl TableCommit {
    /// A committer of this user.
    pub fn new(table: Table, user: impl Into<String>) -> Self {
        Self { table, user: user.into(), ledger: Ledger::default() }
    }

    /// Shares the ledger of other committers.
    #[must_use]
    pub(crate) fn with_ledger(mut self, ledger: Ledger) -> Self {
        self.ledger = ledger;
        self
    }

    /// The commit user.
    pub fn user(&self) -> &str {
        &self.user
    }

    fn committer(&self, operation: Option<&'static str>) -> Committer<'_> {
        Committer { table: &self.table, user: &self.user, identifier: BATCH_IDENTIFIER, operation }
    }

    /// Commits messages with a batch identifier: an APPEND snapshot for their append parts, then a COMPACT snapshot for their
    /// compaction parts; then expires snapshots unless the table is write-only.
    ///
    /// # Errors
    /// `Conflict`: nothing is visible. `CommitUnknown`: nothing was deleted.
    pub async fn commit(&self, messages: Vec<CommitMessage>) -> Result<CommitOutcome> {
        self.ledger.check(&messages)?;
        let buckets = self.table.bucket_option()?;
        let append = Changes::append(&messages, buckets);
        let compact = Changes::compact(&messages, buckets);
        let ignore_empty = self.table.options().find(&IGNORE_EMPTY_COMMIT)?.unwrap_or(true);
        let mut outcome = CommitOutcome::Nothing;
        if !append.is_empty() || (compact.is_empty() && !ignore_empty) {
            let kind = append.append_kind();
            let source = Source::Fixed { changes: append, kind, check: kind == CommitKind::Overwrite };
            outcome = (&self.committer(None).run(source).await?).into();
            self.ledger.committed(&messages);
        }
        if !compact.is_empty() {
            let source = Source::Fixed { changes: compact, kind: CommitKind::Compact, check: true };
            outcome = (&self.committer(None).run(source).await?).into();
            self.ledger.committed(&messages);
        }
        self.finish(outcome).await
    }

    /// Commits messages and replaces what `overwrite` says. Dynamic without new files does nothing.
    ///
    /// # Errors
    /// As [`TableCommit::commit`]; `InvalidInput` for a file outside a static partition.
    pub async fn overwrite(&self, messages: Vec<CommitMessage>, overwrite: Overwrite) -> Result<CommitOutcome> {
        self.ledger.check(&messages)?;
        let mut changes = Changes::append(&messages, self.table.bucket_option()?);
        // An overwrite commits no changelog: there is no row that a reader of changes could have seen before.
        changes.changelog.clear();
        let replaced = match overwrite {
            Overwrite::Dynamic if changes.delta.is_empty() => return Ok(CommitOutcome::Nothing),
            Overwrite::Dynamic => Replaced::Partitions(changes.partitions()),
            Overwrite::Static(spec) => {
                let replaced = Replaced::Matching(vec![spec]);
                overwrite::check_within(self.table.schema().partition_type(), &replaced, &changes)?;
                replaced
            }
        };
        overwrite::upgrade(&self.table.schema().key_type().types(), self.table.options(), &mut changes)?;
        if changes.delta.is_empty() && !self.has_live(&replaced).await? {
            return Ok(CommitOutcome::Nothing);
        }
        let snapshot = self.committer(None).run(Source::Overwrite { changes, replaced }).await?;
        self.ledger.committed(&messages);
        self.finish((&snapshot).into()).await
    }

    /// Whether something live would be replaced.
    async fn has_live(&self, replaced: &Replaced) -> Result<bool> {
        let latest = self.table.snapshots().latest().await?;
        let found = overwrite::replace(&self.table, latest.as_ref(), replaced, &Changes::default()).await?;
        Ok(!found.is_empty())
    }

    /// Deletes all rows.
    ///
    /// # Errors
    /// As [`TableCommit::commit`].
    pub async fn truncate_table(&self) -> Result<CommitOutcome> {
        self.truncate(Replaced::Matching(vec![BTreeMap::new()])).await
    }

    /// Deletes the partitions that match one of these specs, each full or partial.
    ///
    /// # Errors
    /// As [`TableCommit::commit`]; `InvalidInput` for no spec or an unknown column.
    pub async fn truncate_partitions(&self, specs: Vec<BTreeMap<String, Option<Datum>>>) -> Result<CommitOutcome> {
        if specs.is_empty() {
            return Err(Error::invalid_input("Partitions list cannot be empty."));
        }
        if specs.iter().any(BTreeMap::is_empty) {
            return Err(Error::invalid_input("a partition specification needs at least one column"));
        }
        self.truncate(Replaced::Matching(specs)).await
    }

    async fn truncate(&self, replaced: Replaced) -> Result<CommitOutcome> {
        if !self.has_live(&replaced).await? {
            return Ok(CommitOutcome::Nothing);
        }
        let source = Source::Overwrite { changes: Changes::default(), replaced };
        let snapshot = self.committer(Some(TRUNCATE)).run(source).await?;
        self.finish((&snapshot).into()).await
    }

    /// Keeps the table small. The commit stands whatever comes of it, and the next one tries again.
    async fn finish(&self, outcome: CommitOutcome) -> Result<CommitOutcome> {
        if outcome != CommitOutcome::Nothing && !self.table.options().value(&WRITE_ONLY)? {
            let config = ExpireConfig::from_options(self.table.options())?;
            let _ = expire_snapshots(&self.table, &config).await;
        }
        Ok(outcome)
    }

    /// Deletes the files of messages that were not committed, best effort.
    ///
    /// # Errors
    /// `InvalidState` if a file is live.
    pub async fn abort(&self, messages: Vec<CommitMessage>) -> Result<()> {
        if self.ledger.is_committed(&messages) || self.any_live(&messages).await? {
            return Err(Error::invalid_state("these messages are committed; their files are live"));
        }
        self.ledger.aborted(&messages);
        let (schema, options) = (self.table.schema(), self.table.options());
        for message in &messages {
            let directory = self.table.paths().bucket_dir(schema, options, &message.partition, message.bucket)?;
            let before: HashSet<&str> = message.compact.compact_before.iter().map(|f| f.file_name.as_str()).collect();
            let written = message.append.new_files.iter().chain(&message.append.changelog_files);
            let compacted = message.compact.compact_after.iter().chain(&message.compact.changelog_files);
            // An upgraded file has the name of its input: that file is live.
            for file in written.chain(compacted.filter(|f| !before.contains(f.file_name.as_str()))) {
                self.delete_file(&directory, file).await;
            }
            for index in message.append.new_index_files.iter().chain(&message.compact.new_index_files) {
                let _ = self.table.io().delete(&self.table.paths().index(&index.file_name)).await;
            }
        }
        Ok(())
    }

    async fn delete_file(&self, directory: &str, file: &DataFileMeta) {
        let path = TablePaths::data_file(directory, file);
        let _ = self.table.io().delete(&path).await;
        let beside = path.rsplit_once('/').map_or(directory, |(parent, _)| parent);
        for extra in &file.extra_files {
            let _ = self.table.io().delete(&format!("{beside}/{extra}")).await;
        }
    }

    async fn any_live(&self, messages: &[CommitMessage]) -> Result<bool> {
        let names: HashSet<&str> =
            messages.iter().flat_map(|m| m.append.new_files.iter().map(|f| f.file_name.as_str())).collect();
        if names.is_empty() {
            return Ok(false);
        }
        match self.table.snapshots().latest().await? {
            Some(latest) => {
                let live = live_entries(&self.table, &latest, None).await?;
                Ok(live.iter().any(|e| names.contains(e.file.file_name.as_str())))
            }
            None => Ok(false),
        }
    }
}
