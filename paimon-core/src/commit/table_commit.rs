//! Commits messages of a table.
//!
//! Source: write-path sheet sections 8 and 9; `table/sink/TableCommitImpl.java`.

use std::collections::BTreeMap;

use super::abort;
use super::changes::Changes;
use super::committer::{BATCH_IDENTIFIER, Committer, Source};
use super::ledger::{self, Ledger, appended, compacted};
use super::overwrite::{self, Replaced};
use super::replay;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::maintain::{ExpireConfig, expire_snapshots};
use crate::spec::{CommitKind, CommitMessage, IGNORE_EMPTY_COMMIT, Snapshot, WRITE_ONLY};
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

impl From<Option<Snapshot>> for CommitOutcome {
    fn from(snapshot: Option<Snapshot>) -> Self {
        snapshot.map_or(Self::Nothing, |s| Self::Committed { snapshot_id: s.id })
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

/// The operation that truncating notes in its snapshot.
const TRUNCATE: &str = "TRUNCATE";

/// Commits messages. Safe against any number of writers in threads and processes.
///
/// A commit has up to two snapshots: one for the append parts of its messages, one for their compaction parts. If the first
/// is visible and the second meets a conflict, the commit stands without the compaction, whose files are deleted: the next
/// compaction does it again.
///
/// # Cancellation
/// Dropping a commit before it is published leaves manifests that nothing names; nothing becomes visible in part. Its
/// messages can be neither committed nor aborted afterwards, since it cannot be told whether they are visible.
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

    fn batch(&self, operation: Option<&'static str>) -> Committer<'_> {
        let (table, user) = (&self.table, self.user.as_str());
        Committer { table, user, identifier: BATCH_IDENTIFIER, operation, refuses_replay: false }
    }

    /// Commits messages with the identifier of batch commits, then expires snapshots unless the table is write-only. No
    /// messages make no snapshot unless option `snapshot.ignore-empty-commit` is false.
    ///
    /// # Errors
    /// `Conflict`: nothing is visible; also for messages that a committer of the same builder has committed. `InvalidState`
    /// for messages that were aborted. `CommitUnknown`: nothing was deleted.
    pub async fn commit(&self, messages: Vec<CommitMessage>) -> Result<CommitOutcome> {
        let keeps_empty = !self.table.options().find(&IGNORE_EMPTY_COMMIT)?.unwrap_or(true);
        let outcome = self.publish(&messages, &self.batch(None), keeps_empty, false).await?;
        Ok(self.finish(outcome).await)
    }

    /// Commits messages under an identifier, which must be greater than those that this user has committed. No messages make
    /// an empty snapshot unless option `snapshot.ignore-empty-commit` is true.
    ///
    /// # Errors
    /// As [`TableCommit::commit`]; `InvalidState` if the user has committed this identifier or a greater one.
    pub async fn commit_with_identifier(&self, identifier: i64, messages: Vec<CommitMessage>) -> Result<CommitOutcome> {
        self.commit_identified(identifier, messages, false).await
    }

    async fn commit_identified(
        &self,
        identifier: i64,
        messages: Vec<CommitMessage>,
        is_replay: bool,
    ) -> Result<CommitOutcome> {
        let keeps_empty = !self.table.options().find(&IGNORE_EMPTY_COMMIT)?.unwrap_or(false);
        let committer = Committer { identifier, refuses_replay: true, ..self.batch(None) };
        let outcome = self.publish(&messages, &committer, keeps_empty, is_replay).await?;
        Ok(self.finish(outcome).await)
    }

    /// Those of the identifiers that this user has not committed: after a restart, what is to be committed again.
    ///
    /// # Errors
    /// `InvalidInput` unless they grow; `Storage` or `Corrupt`.
    pub async fn filter_committed(&self, identifiers: &[i64]) -> Result<Vec<i64>> {
        replay::uncommitted(&self.table, &self.user, identifiers).await
    }

    /// Commits those of these commits that this user has not committed, in order; gives their number. For restarts.
    ///
    /// # Errors
    /// As [`TableCommit::commit`]; `NotFound(File)` if a file of the messages is gone, with nothing committed.
    pub async fn filter_and_commit(&self, commits: BTreeMap<i64, Vec<CommitMessage>>) -> Result<usize> {
        let identifiers: Vec<i64> = commits.keys().copied().collect();
        let open = self.filter_committed(&identifiers).await?;
        let mut commits = commits;
        commits.retain(|id, _| open.contains(id));
        for messages in commits.values() {
            if let Some(path) = abort::missing(&self.table, messages).await? {
                return Err(Error::not_found(
                    Entity::File,
                    "Cannot recover from this checkpoint because some files in the snapshot that need to be resubmitted \
                     have been deleted",
                )
                .with_context("file", path));
            }
        }
        for (identifier, messages) in commits {
            self.commit_identified(identifier, messages, true).await?;
        }
        Ok(open.len())
    }

    /// Commits both parts of messages; gives the last snapshot.
    async fn publish(
        &self,
        messages: &[CommitMessage],
        committer: &Committer<'_>,
        keeps_empty: bool,
        is_replay: bool,
    ) -> Result<Option<Snapshot>> {
        let buckets = self.table.bucket_option()?;
        let append = Changes::append(messages, buckets);
        let has_compaction = messages.iter().any(|m| !m.compact.is_empty());
        let mut last = None;
        if !append.is_empty() || (!has_compaction && keeps_empty) {
            let kind = append.append_kind();
            let check = is_replay || kind == CommitKind::Overwrite;
            let claim = self.ledger.claim(&appended(messages))?;
            let outcome = committer.run(&Source::Fixed { changes: append, kind, check }).await;
            claim.settle(&outcome);
            last = outcome?;
        }
        self.publish_compaction(messages, committer, last).await
    }

    /// Commits the compaction parts after `last`, the snapshot of the append parts.
    async fn publish_compaction(
        &self,
        messages: &[CommitMessage],
        committer: &Committer<'_>,
        last: Option<Snapshot>,
    ) -> Result<Option<Snapshot>> {
        let changes = Changes::compact(messages, self.table.bucket_option()?);
        if changes.is_empty() {
            return Ok(last);
        }
        let claim = self.ledger.claim(&compacted(messages))?;
        // The identity of a commit has its kind: an APPEND snapshot of the same identifier does not matter.
        let committer = Committer { refuses_replay: committer.refuses_replay && last.is_none(), ..*committer };
        let outcome = committer.run(&Source::Fixed { changes, kind: CommitKind::Compact, check: true }).await;
        claim.settle(&outcome);
        match outcome {
            Err(error) if last.is_some() && matches!(error.kind(), ErrorKind::Conflict(_)) => {
                let compactions: Vec<CommitMessage> = messages.iter().map(compaction_only).collect();
                self.delete(&compactions).await?;
                Ok(last)
            }
            outcome => Ok(outcome?.or(last)),
        }
    }

    /// Commits messages and replaces what `overwrite` says. Dynamic without new files does nothing, nor does any overwrite
    /// that neither adds nor finds something to replace.
    ///
    /// # Errors
    /// As [`TableCommit::commit`]; `InvalidInput` for a file outside a static partition.
    pub async fn overwrite(&self, messages: Vec<CommitMessage>, overwrite: Overwrite) -> Result<CommitOutcome> {
        let mut changes = Changes::append(&messages, self.table.bucket_option()?);
        // An overwrite commits no changelog: there is no row that a reader of changes could have seen before.
        changes.changelog.clear();
        let replaced = match overwrite {
            Overwrite::Dynamic if changes.delta.is_empty() => return Ok(CommitOutcome::Nothing),
            Overwrite::Dynamic => Replaced::Partitions(changes.partitions()),
            Overwrite::Static(spec) => {
                let replaced = Replaced::Matching(vec![spec]);
                overwrite::check_within(&self.table, &replaced, &changes)?;
                replaced
            }
        };
        if messages.iter().all(|m| m.compact.is_empty()) {
            overwrite::upgrade(&self.table.schema().key_type().types(), self.table.options(), &mut changes)?;
        }
        let claim = self.ledger.claim(&appended(&messages))?;
        let committer = self.batch(None);
        let outcome = committer.run(&Source::Overwrite { changes, replaced }).await;
        claim.settle(&outcome);
        let last = self.publish_compaction(&messages, &committer, outcome?).await?;
        Ok(self.finish(last).await)
    }

    /// Deletes all rows. An empty table stays as it is.
    ///
    /// # Errors
    /// As [`TableCommit::commit`].
    pub async fn truncate_table(&self) -> Result<CommitOutcome> {
        self.truncate(Replaced::Matching(vec![BTreeMap::new()])).await
    }

    /// Deletes the partitions that match one of these specs, each full or partial. If none has files, nothing happens.
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
        let source = Source::Overwrite { changes: Changes::default(), replaced };
        let snapshot = self.batch(Some(TRUNCATE)).run(&source).await?;
        Ok(self.finish(snapshot).await)
    }

    /// Keeps the table small. The commit stands whatever comes of it: the next one tries again, and expiring by hand says
    /// what is wrong.
    async fn finish(&self, snapshot: Option<Snapshot>) -> CommitOutcome {
        let options = self.table.options();
        if snapshot.is_some()
            && let (Ok(false), Ok(config)) = (options.value(&WRITE_ONLY), ExpireConfig::from_options(options))
        {
            let _ = expire_snapshots(&self.table, &config).await;
        }
        snapshot.into()
    }

    /// Checks that no file of the messages was ever committed, and that all are there. For messages that were made by another
    /// builder or process, of which the committer remembers nothing.
    ///
    /// # Errors
    /// `Conflict(Files)` if one is named by the table's metadata; `NotFound(File)` if one is gone.
    pub async fn check_unused(&self, messages: &[CommitMessage]) -> Result<()> {
        if let Some(name) = abort::named_by_metadata(&self.table, messages).await? {
            return Err(ledger::committed(&name));
        }
        match abort::missing(&self.table, messages).await? {
            Some(path) => {
                Err(Error::not_found(Entity::File, "a file of these messages does not exist; were they aborted?")
                    .with_context("file", path))
            }
            None => Ok(()),
        }
    }

    /// Deletes the files of messages that were not committed, best effort. Upgraded files, which are live under the same
    /// name, stay.
    ///
    /// # Errors
    /// `InvalidState` if a file is live, was, or may be, with nothing deleted.
    pub async fn abort(&self, messages: Vec<CommitMessage>) -> Result<()> {
        let names = [appended(&messages), compacted(&messages)].concat();
        if !self.ledger.may_abort(&names)?
            && let Some(name) = abort::named_by_metadata(&self.table, &messages).await?
        {
            return Err(ledger::live(&name));
        }
        self.delete(&messages).await
    }

    async fn delete(&self, messages: &[CommitMessage]) -> Result<()> {
        self.ledger.aborted(&[appended(messages), compacted(messages)].concat());
        abort::delete(&self.table, messages).await
    }
}

fn compaction_only(message: &CommitMessage) -> CommitMessage {
    CommitMessage { append: Default::default(), ..message.clone() }
}
