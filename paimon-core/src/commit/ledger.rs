//! Which messages of one builder are used up.
//!
//! Invariants: a file that committers of one builder commit, or may have committed, is never committed again nor deleted.
//! Batch commits share one identifier, so that a repeated commit is known by the names of its files alone. Names hold a
//! UUID: for messages that stay within a builder, no table needs to be read.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{ConflictKind, Error, ErrorKind, Result};
use crate::spec::{CommitMessage, DataFileMeta};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A commit is under way, or was dropped, or its outcome is unknown.
    Unknown,
    Committed,
    /// A commit has failed; nothing is visible.
    Free,
    Aborted,
}

/// Names of files that committers of one builder have used; clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger(Arc<Mutex<HashMap<String, Use>>>);

fn name(file: &DataFileMeta) -> &str {
    &file.file_name
}

/// Names of the new files of append parts.
pub(super) fn appended(messages: &[CommitMessage]) -> Vec<&str> {
    messages.iter().flat_map(|m| m.append.new_files.iter().chain(&m.append.changelog_files)).map(name).collect()
}

/// Names of the new files of compaction parts. An upgraded file is not new.
pub(super) fn compacted(messages: &[CommitMessage]) -> Vec<&str> {
    let parts = || messages.iter().map(|m| &m.compact);
    let before: HashSet<&str> = parts().flat_map(|p| &p.compact_before).map(name).collect();
    let after = parts().flat_map(|p| &p.compact_after).map(name).filter(|n| !before.contains(n));
    after.chain(parts().flat_map(|p| &p.changelog_files).map(name)).collect()
}

impl Ledger {
    /// Takes files for a commit.
    ///
    /// # Errors
    /// `Conflict(Files)` if one is committed, `InvalidState` if one is aborted or may be committed; then none is taken.
    pub(super) fn claim(&self, names: &[&str]) -> Result<Claim> {
        let mut used = self.lock();
        for name in names {
            check(name, used.get(*name).copied())?;
        }
        used.extend(names.iter().map(|n| ((*n).to_owned(), Use::Unknown)));
        drop(used);
        Ok(Claim { ledger: self.clone(), names: names.iter().map(|n| (*n).to_owned()).collect() })
    }

    /// Whether it is known that none of the files is committed; `false` if this ledger has not seen one of them.
    ///
    /// # Errors
    /// `InvalidState` if one is committed or may be.
    pub(super) fn may_abort(&self, names: &[&str]) -> Result<bool> {
        let used = self.lock();
        let mut known = true;
        for name in names {
            match used.get(*name) {
                Some(Use::Committed | Use::Unknown) => return Err(live(name)),
                Some(Use::Free | Use::Aborted) => {}
                None => known = false,
            }
        }
        Ok(known)
    }

    /// Notes that files are deleted.
    pub(super) fn aborted(&self, names: &[&str]) {
        self.lock().extend(names.iter().map(|n| ((*n).to_owned(), Use::Aborted)));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Use>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn check(name: &str, used: Option<Use>) -> Result<()> {
    match used {
        None | Some(Use::Free) => Ok(()),
        Some(Use::Committed) => Err(committed(name)),
        Some(Use::Aborted) => {
            Err(Error::invalid_state("these messages were aborted; their files are gone").with_context("file", name))
        }
        Some(Use::Unknown) => Err(Error::invalid_state(
            "another commit of these messages is under way, or has ended without a known outcome: look whether a snapshot \
             of this commit user shows their rows",
        )
        .with_context("file", name)),
    }
}

/// The error for messages that are committed already.
pub(super) fn committed(name: &str) -> Error {
    let message = "File deletion conflicts detected! Give up committing: these messages are committed already";
    Error::conflict(ConflictKind::Files, message).with_context("file", name)
}

/// The error for messages that are to be aborted, but are committed.
pub(super) fn live(name: &str) -> Error {
    Error::invalid_state("these messages are committed, or may be; their files are not deleted")
        .with_context("file", name)
}

/// Files that a commit has taken. Dropped without an outcome, their use stays unknown.
#[derive(Debug)]
#[must_use]
pub(super) struct Claim {
    ledger: Ledger,
    names: Vec<String>,
}

impl Claim {
    /// Notes how the commit ended.
    pub(super) fn settle<T>(self, outcome: &Result<T>) {
        match outcome {
            Ok(_) => self.note(Use::Committed),
            Err(error) if error.kind() == ErrorKind::CommitUnknown => {}
            Err(_) => self.give_back(),
        }
    }

    /// Gives the files back: nothing is visible, they may be committed again, or aborted.
    pub(super) fn give_back(self) {
        self.note(Use::Free);
    }

    fn note(self, outcome: Use) {
        self.ledger.lock().extend(self.names.into_iter().map(|n| (n, outcome)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_committed_once() {
        let ledger = Ledger::default();
        ledger.claim(&["a", "b"]).unwrap().settle(&Ok(()));
        assert_eq!(ledger.claim(&["c", "a"]).unwrap_err().kind(), ErrorKind::Conflict(ConflictKind::Files));
        assert!(!ledger.may_abort(&["c"]).unwrap());
        ledger.claim(&["c"]).unwrap().give_back();
        assert!(ledger.may_abort(&["c"]).unwrap());
        assert_eq!(ledger.may_abort(&["a"]).unwrap_err().kind(), ErrorKind::InvalidState);
        ledger.aborted(&["c"]);
        assert_eq!(ledger.claim(&["c"]).unwrap_err().kind(), ErrorKind::InvalidState);
    }

    #[test]
    fn a_conflict_frees_the_files_and_an_unknown_outcome_does_not() {
        let ledger = Ledger::default();
        let conflict: Result<()> = Err(Error::conflict(ConflictKind::Files, "lost"));
        ledger.claim(&["a"]).unwrap().settle(&conflict);
        let unknown: Result<()> = Err(Error::new(ErrorKind::CommitUnknown, "lost"));
        ledger.claim(&["a"]).unwrap().settle(&unknown);
        assert_eq!(ledger.claim(&["a"]).unwrap_err().kind(), ErrorKind::InvalidState);
        assert_eq!(ledger.may_abort(&["a"]).unwrap_err().kind(), ErrorKind::InvalidState);
        drop(ledger.claim(&["b"]).unwrap());
        assert_eq!(ledger.claim(&["b"]).unwrap_err().kind(), ErrorKind::InvalidState);
    }
}
