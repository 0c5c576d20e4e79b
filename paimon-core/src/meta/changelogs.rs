//! Changelogs that outlive their snapshots.
//!
//! Expiry leaves such documents where changelogs are kept longer than snapshots; they have the form of snapshots, but
//! only what they changed can still be read. Source: time-travel sheet section 8; `utils/ChangelogManager.java`,
//! `Changelog.java`.

use super::paths::TablePaths;
use super::snapshots::numbered;
use crate::error::{Entity, ErrorKind, Result};
use crate::options::Options;
use crate::spec::{
    CHANGELOG_RETAINED_MAX, CHANGELOG_RETAINED_MIN, CHANGELOG_TIME_RETAINED, SNAPSHOT_RETAINED_MAX,
    SNAPSHOT_RETAINED_MIN, SNAPSHOT_TIME_RETAINED, Snapshot,
};
use crate::storage::FileIO;

/// The changelogs of one branch of a table.
#[derive(Debug, Clone)]
pub struct Changelogs {
    io: FileIO,
    paths: TablePaths,
}

impl Changelogs {
    /// The changelogs below these paths.
    pub fn new(io: FileIO, paths: TablePaths) -> Self {
        Self { io, paths }
    }

    /// Whether a table with these options keeps changelogs longer than snapshots.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad value.
    pub fn outlive_snapshots(options: &Options) -> Result<bool> {
        let (max, min) = (options.value(&SNAPSHOT_RETAINED_MAX)?, options.value(&SNAPSHOT_RETAINED_MIN)?);
        let time = options.value(&SNAPSHOT_TIME_RETAINED)?;
        Ok(options.find(&CHANGELOG_RETAINED_MAX)?.is_some_and(|own| own > max)
            || options.find(&CHANGELOG_RETAINED_MIN)?.is_some_and(|own| own > min)
            || options.find(&CHANGELOG_TIME_RETAINED)?.is_some_and(|own| own > time))
    }

    /// The changelog of the snapshot that had this id; `None` if there is none.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn find(&self, id: i64) -> Result<Option<Snapshot>> {
        let file = self.paths.changelog(id);
        match self.io.read(&file).await {
            Ok(content) => Snapshot::from_json(&content).map(Some).map_err(|e| e.with_context("file", file)),
            Err(e) if e.kind() == ErrorKind::NotFound(Entity::File) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The ids of all changelogs, ascending.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn ids(&self) -> Result<Vec<i64>> {
        Ok(numbered(&self.io.list_names(&self.paths.changelog_dir()).await?, "changelog-", 1))
    }
}
