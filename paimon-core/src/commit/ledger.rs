//! Which messages of one builder are used up.
//!
//! Batch commits share one identifier, so a repeated commit is known by the names of its files alone. Names hold a UUID:
//! what a builder's committers have committed or given up can be told without reading the table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{ConflictKind, Error, Result};
use crate::spec::CommitMessage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Committed,
    Aborted,
}

/// Names of files that committers of one builder have used; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<HashMap<String, Use>>>);

fn names_of(message: &CommitMessage) -> impl Iterator<Item = &str> {
    let new = message.append.new_files.iter().chain(&message.append.changelog_files);
    let compacted = message.compact.compact_after.iter().chain(&message.compact.changelog_files);
    new.chain(compacted).map(|f| f.file_name.as_str())
}

fn names(messages: &[CommitMessage]) -> impl Iterator<Item = &str> {
    messages.iter().flat_map(names_of)
}

impl Ledger {
    /// Refuses messages that were used.
    ///
    /// # Errors
    /// `Conflict(Files)` for committed ones, `InvalidState` for aborted ones.
    pub(crate) fn check(&self, messages: &[CommitMessage]) -> Result<()> {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for name in names(messages) {
            match used.get(name) {
                Some(Use::Committed) => {
                    let message =
                        "File deletion conflicts detected! Give up committing: these messages are committed already";
                    return Err(Error::conflict(ConflictKind::Files, message).with_context("file", name));
                }
                Some(Use::Aborted) => {
                    return Err(Error::invalid_state("these messages were aborted; their files are gone")
                        .with_context("file", name));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn note(&self, messages: &[CommitMessage], outcome: Use) {
        let mut used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        used.extend(names(messages).map(|n| (n.to_owned(), outcome)));
    }

    /// Notes that messages are committed.
    pub(crate) fn committed(&self, messages: &[CommitMessage]) {
        self.note(messages, Use::Committed);
    }

    /// Notes that messages are aborted.
    pub(crate) fn aborted(&self, messages: &[CommitMessage]) {
        self.note(messages, Use::Aborted);
    }

    /// Whether messages are committed.
    pub(crate) fn is_committed(&self, messages: &[CommitMessage]) -> bool {
        let used = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names(messages).any(|n| used.get(n) == Some(&Use::Committed))
    }
}
