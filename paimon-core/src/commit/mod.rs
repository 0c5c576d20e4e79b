//! Making changes visible: messages to manifests, conflicts, publishing, retries.

mod publish;
mod table_commit;

pub use publish::{FileSystemCommit, SnapshotCommit};
pub use table_commit::{CommitOutcome, Overwrite, TableCommit};
