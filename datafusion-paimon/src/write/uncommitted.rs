//! Owners of files that are not committed yet: what they own is deleted when they are dropped.
//!
//! Invariants: a commit that has begun runs to its end even if its caller is gone, and files are kept if it cannot be
//! told whether they are visible.

use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use paimon_core::commit::{Overwrite, TableCommit};
use paimon_core::runtime::{finish_in_background, supervised};
use paimon_core::spec::CommitMessage;
use paimon_core::table::WriteBuilder;
use paimon_core::write::TableWrite;
use paimon_core::{Error, ErrorKind, Result};

/// A writer; its files go when it is dropped before [`Writer::finish`].
#[derive(Debug)]
pub(crate) struct Writer(Option<TableWrite>);

impl Writer {
    pub(crate) fn try_new(builder: &WriteBuilder) -> Result<Self> {
        Ok(Self(Some(builder.new_write()?)))
    }

    pub(crate) async fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.0 {
            Some(write) => write.write(batch).await,
            None => Err(Error::invalid_state("the writer is closed")),
        }
    }

    /// Ends the files; the messages are the caller's to commit or to abort.
    pub(crate) async fn finish(mut self) -> Result<Vec<CommitMessage>> {
        let Some(write) = &mut self.0 else { return Err(Error::invalid_state("the writer is closed")) };
        let messages = write.prepare_commit().await?;
        self.0 = None;
        Ok(messages)
    }

    /// Deletes the files now.
    pub(crate) async fn abort(mut self) {
        if let Some(mut write) = self.0.take() {
            write.abort().await;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(mut write) = self.0.take() {
            finish_in_background(async move { write.abort().await });
        }
    }
}

/// Messages; their files go when they are dropped before [`Uncommitted::commit`].
#[derive(Debug)]
pub(crate) struct Uncommitted {
    commit: TableCommit,
    messages: Vec<CommitMessage>,
}

impl Uncommitted {
    pub(crate) fn new(commit: TableCommit, messages: Vec<CommitMessage>) -> Self {
        Self { commit, messages }
    }

    /// Takes over what the other owns.
    pub(crate) fn add(&mut self, mut other: Self) {
        self.messages.append(&mut other.messages);
    }

    pub(crate) fn messages(&self) -> &[CommitMessage] {
        &self.messages
    }

    /// Commits. Runs to its end even if this future is dropped.
    pub(crate) async fn commit(mut self, overwrite: Option<Overwrite>) -> Result<()> {
        let (commit, messages) = (self.commit.clone(), std::mem::take(&mut self.messages));
        let work = supervised(Arc::default(), async move {
            let outcome = match overwrite {
                None => commit.commit(messages.clone()).await,
                Some(overwrite) => commit.overwrite(messages.clone(), overwrite).await,
            };
            match outcome {
                Ok(_) => Ok(()),
                Err(error) => {
                    if error.kind() != ErrorKind::CommitUnknown {
                        // The error of the commit says more than one of the cleaning.
                        let _ = commit.abort(messages).await;
                    }
                    Err(error)
                }
            }
        });
        work.await
    }
}

impl Drop for Uncommitted {
    fn drop(&mut self) {
        let messages = std::mem::take(&mut self.messages);
        if !messages.is_empty() {
            let commit = self.commit.clone();
            // What cannot be deleted stays as files that nothing names.
            finish_in_background(async move { drop(commit.abort(messages).await) });
        }
    }
}
