//! Making changes visible: messages to manifests, conflicts, publishing, retries.
//!
//! Invariants: this is the only room that changes the state of a table; everything before it can be dropped.

mod abort;
mod attempt;
mod base_files;
mod changes;
mod committer;
mod conflict;
mod history;
mod ledger;
mod manifest_merge;
mod overwrite;
mod publish;
mod replacement;
mod replay;
mod retry;
mod supported;
mod table_commit;

pub(crate) use ledger::Ledger;
pub use publish::{FileSystemCommit, SnapshotCommit};
pub use table_commit::{CommitOutcome, Overwrite, TableCommit};

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
