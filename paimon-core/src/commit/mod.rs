//! Making changes visible: messages to manifests, conflicts, publishing, retries.
//!
//! Invariants: this is the only room that changes the state of a table; everything before it can be dropped.

mod changes;
mod committer;
mod conflict;
mod ledger;
mod manifest_merge;
mod overwrite;
mod publish;
mod table_commit;

pub(crate) use ledger::Ledger;
pub use publish::{FileSystemCommit, SnapshotCommit};
pub use table_commit::{CommitOutcome, Overwrite, TableCommit};
