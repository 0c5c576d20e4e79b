//! Who makes a snapshot visible.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::Result;
use crate::meta::Snapshots;
use crate::spec::Snapshot;

/// Makes snapshots visible: the file system by creating the file exclusively, a REST catalog by a request.
#[async_trait]
pub trait SnapshotCommit: Send + Sync + Debug {
    /// At most one caller gets `true` for a given snapshot id; `false` if another snapshot has it.
    ///
    /// # Errors
    /// `CommitUnknown` if it cannot be told whether the snapshot is visible.
    async fn publish(&self, snapshots: &Snapshots, snapshot: &Snapshot) -> Result<bool>;
}

/// Publishes through the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystemCommit;

#[async_trait]
impl SnapshotCommit for FileSystemCommit {
    async fn publish(&self, snapshots: &Snapshots, snapshot: &Snapshot) -> Result<bool> {
        // Without its predecessor the snapshot comes too late: others have used the id.
        if snapshot.id > 1 && !snapshots.exists(snapshot.id - 1).await? {
            return snapshots.is_published(snapshot).await;
        }
        snapshots.publish(snapshot).await
    }
}
