//! Tags of a table: snapshots kept under a name.

use std::time::Duration;

use super::paths::TablePaths;
use crate::error::{Error, Result};
use crate::spec::Snapshot;
use crate::storage::FileIO;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Name.
    pub name: String,
    /// The snapshot document that it keeps.
    pub snapshot: Snapshot,
    /// Local time of creation in milliseconds as stored; only with a retention.
    pub create_time_ms: Option<i64>,
    /// How long it is kept.
    pub time_retained: Option<Duration>,
}

/// The tags of one branch of a table.
#[derive(Debug, Clone)]
pub struct Tags {
    io: FileIO,
    paths: TablePaths,
}

impl Tags {
    /// The tags below these paths.
    pub fn new(io: FileIO, paths: TablePaths) -> Self {
        Self { io, paths }
    }

    /// The tag with this name; `None` if there is none.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn get(&self, name: &str) -> Result<Option<Tag>> {
        let _ = (&self.io, &self.paths, name);
        Err(Error::unsupported("tags"))
    }

    /// All tags by name.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn list(&self) -> Result<Vec<Tag>> {
        Err(Error::unsupported("tags"))
    }

    /// Creates a tag.
    ///
    /// # Errors
    /// `AlreadyExists(Tag)` unless the same name holds the same snapshot and `ignore_if_exists`; `InvalidInput` for a
    /// blank name.
    pub async fn create(
        &self,
        name: &str,
        snapshot: &Snapshot,
        time_retained: Option<Duration>,
        now_ms: i64,
        ignore_if_exists: bool,
    ) -> Result<()> {
        let _ = (name, snapshot, time_retained, now_ms, ignore_if_exists);
        Err(Error::unsupported("tags"))
    }

    /// Deletes a tag. Files that only the tag kept are left to orphan cleaning.
    ///
    /// # Errors
    /// `NotFound(Tag)`.
    pub async fn delete(&self, name: &str) -> Result<()> {
        let _ = name;
        Err(Error::unsupported("tags"))
    }
}
