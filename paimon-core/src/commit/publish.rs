//! Who makes a snapshot visible.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::error::Result;
use crate::spec::Snapshot;
use crate::table::Table;

/// Makes snapshots visible: the file system by creating the file exclusively, a REST catalog by a request.
#[async_trait]
pub trait SnapshotCommit: Send + Sync + Debug {
    /// At most one caller gets `true` for a given snapshot id; `false` if another snapshot has it, or if `base`, on which the
    /// snapshot was made, is not the snapshot of its id any more.
    ///
    /// # Errors
    /// As [`Table::check_alive`] if the table is gone, with nothing published; `CommitUnknown` if it cannot be told whether the snapshot is visible.
    async fn publish(&self, table: &Table, snapshot: &Snapshot, base: Option<&Snapshot>) -> Result<bool>;
}

/// Publishes through the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileSystemCommit;

#[async_trait]
impl SnapshotCommit for FileSystemCommit {
    async fn publish(&self, table: &Table, snapshot: &Snapshot, base: Option<&Snapshot>) -> Result<bool> {
        let snapshots = table.snapshots();
        // Without its base the snapshot comes too late: that has expired, or a rollback took it and others have used its id.
        if let Some(base) = base
            && !snapshots.holds(base).await?
        {
            return snapshots.is_published(snapshot).await;
        }
        // Manifests were written for this table, not for one that has its name by now.
        snapshots.publish_while(snapshot, table.check_alive()).await
    }
}
