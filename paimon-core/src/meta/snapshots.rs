//! Snapshots of a table: hints, by id, ranges, by time.

use super::paths::TablePaths;
use crate::error::{Error, Result};
use crate::spec::Snapshot;
use crate::storage::FileIO;

/// The snapshots of one branch of a table. Hints are advisory: a missing, stale or garbled one never fails.
#[derive(Debug, Clone)]
pub struct Snapshots {
    io: FileIO,
    paths: TablePaths,
}

impl Snapshots {
    /// The snapshots below these paths.
    pub fn new(io: FileIO, paths: TablePaths) -> Self {
        Self { io, paths }
    }

    /// The latest id; `None` if there is no snapshot. A hint that points past the last snapshot is ignored.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn latest_id(&self) -> Result<Option<i64>> {
        let _ = (&self.io, &self.paths);
        Err(Error::unsupported("snapshots"))
    }

    /// The earliest id; `None` if there is no snapshot.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn earliest_id(&self) -> Result<Option<i64>> {
        Err(Error::unsupported("snapshots"))
    }

    /// The latest snapshot.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn latest(&self) -> Result<Option<Snapshot>> {
        match self.latest_id().await? {
            Some(id) => self.get(id).await.map(Some),
            None => Ok(None),
        }
    }

    /// The snapshot with this id.
    ///
    /// # Errors
    /// `NotFound(Snapshot)`, `Storage` or `Corrupt`.
    pub async fn get(&self, id: i64) -> Result<Snapshot> {
        let _ = id;
        Err(Error::unsupported("snapshots"))
    }

    /// All snapshots that exist, by id ascending; one that expires meanwhile is left out.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn list(&self) -> Result<Vec<Snapshot>> {
        Err(Error::unsupported("snapshots"))
    }

    /// The last snapshot committed at or before this time.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn at_or_before(&self, time_ms: i64) -> Result<Option<Snapshot>> {
        let _ = time_ms;
        Err(Error::unsupported("snapshots"))
    }

    /// The first snapshot with at least this watermark.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn at_or_after_watermark(&self, watermark: i64) -> Result<Option<Snapshot>> {
        let _ = watermark;
        Err(Error::unsupported("snapshots"))
    }

    /// Publishes a snapshot under its id if that is free; `false` if another snapshot has it. Sets the `LATEST` hint.
    ///
    /// # Errors
    /// `CommitUnknown` if storage failed and it cannot be told whether the snapshot is visible.
    pub async fn publish(&self, snapshot: &Snapshot) -> Result<bool> {
        let _ = snapshot;
        Err(Error::unsupported("snapshots"))
    }

    /// Sets the `EARLIEST` hint.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn set_earliest_hint(&self, id: i64) -> Result<()> {
        let _ = id;
        Err(Error::unsupported("snapshots"))
    }

    /// Sets the `LATEST` hint, as rollback does.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn set_latest_hint(&self, id: i64) -> Result<()> {
        let _ = id;
        Err(Error::unsupported("snapshots"))
    }
}
