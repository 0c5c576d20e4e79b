//! Tags of a table: snapshots kept under a name.
//!
//! Invariants: a tag without retention is a plain snapshot document, which the oldest readers take; with one it has two
//! keys more. A tag appears whole or not at all. A name never leaves its directory.
//! Source: metadata sheet section 3, time-travel sheet section 9; `tag/Tag.java`, `utils/TagManager.java`.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::paths::TablePaths;
use super::tag_document::{decode, encode};
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::spec::Snapshot;
use crate::storage::FileIO;

/// Documents that are read at once.
const PARALLEL_READS: usize = 16;

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Name.
    pub name: String,
    /// The snapshot document that it keeps.
    pub snapshot: Snapshot,
    /// Creation time as the wall clock of its creator showed it, in milliseconds as if it were UTC; only with a
    /// retention.
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
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn get(&self, name: &str) -> Result<Option<Tag>> {
        if check_name(name).is_err() {
            return Ok(None);
        }
        let file = self.paths.tag(name);
        match self.io.read(&file).await {
            Ok(content) => decode(name, &content).map(Some).map_err(|e| e.with_context("file", file)),
            Err(e) if e.kind() == ErrorKind::NotFound(Entity::File) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// The names of all tags, sorted.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn names(&self) -> Result<Vec<String>> {
        let names = self.io.list_names(&self.paths.tag_dir()).await?;
        let files = names.iter().filter(|(_, is_dir)| !is_dir);
        Ok(files.filter_map(|(name, _)| name.strip_prefix("tag-")).map(str::to_owned).collect())
    }

    /// All tags by name.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn list(&self) -> Result<Vec<Tag>> {
        let names = self.names().await?;
        let read = stream::iter(names).map(async |name| self.get(&name).await).buffered(PARALLEL_READS);
        read.try_filter_map(|t| async { Ok(t) }).try_collect().await
    }

    /// Creates a tag.
    ///
    /// # Errors
    /// `AlreadyExists(Tag)` unless the same name holds the same snapshot and `ignore_if_exists`; `InvalidInput` for a
    /// name that is blank or would leave its directory.
    pub async fn create(
        &self,
        name: &str,
        snapshot: &Snapshot,
        time_retained: Option<Duration>,
        now_ms: i64,
        ignore_if_exists: bool,
    ) -> Result<()> {
        check_name(name)?;
        let content = encode(snapshot, time_retained, now_ms)?;
        if self.io.create_if_absent(&self.paths.tag(name), Bytes::from(content)).await? {
            return Ok(());
        }
        let same = self.get(name).await?.is_some_and(|tag| tag.snapshot == *snapshot);
        if ignore_if_exists && same {
            return Ok(());
        }
        Err(Error::already_exists(Entity::Tag, format!("Tag '{name}' already exists.")))
    }

    /// Points an existing tag to another snapshot or retention.
    ///
    /// # Errors
    /// `NotFound(Tag)`; `DiskFull`, `PermissionDenied` or `Storage`.
    pub async fn replace(
        &self,
        name: &str,
        snapshot: &Snapshot,
        time_retained: Option<Duration>,
        now_ms: i64,
    ) -> Result<()> {
        self.existing(name).await?;
        self.io.write(&self.paths.tag(name), Bytes::from(encode(snapshot, time_retained, now_ms)?)).await
    }

    /// Renames a tag.
    ///
    /// # Errors
    /// `NotFound(Tag)`; `AlreadyExists(Tag)`; `InvalidInput` for a bad new name.
    pub async fn rename(&self, from: &str, to: &str) -> Result<()> {
        check_name(to)?;
        self.existing(from).await?;
        self.io.rename(&self.paths.tag(from), &self.paths.tag(to)).await.map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists(_) => Error::already_exists(Entity::Tag, format!("Tag '{to}' already exists.")),
            _ => e,
        })
    }

    /// Deletes a tag, and nothing else: see [`delete_tag`](crate::maintain::delete_tag) for the files that only it held.
    ///
    /// # Errors
    /// `NotFound(Tag)`.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.existing(name).await?;
        self.io.delete(&self.paths.tag(name)).await
    }

    async fn existing(&self, name: &str) -> Result<()> {
        if check_name(name).is_ok() && self.io.exists(&self.paths.tag(name)).await? {
            return Ok(());
        }
        Err(Self::not_found(name))
    }

    /// The error for a tag that does not exist.
    pub(crate) fn not_found(name: &str) -> Error {
        Error::not_found(Entity::Tag, format!("Tag '{name}' doesn't exist."))
    }
}

/// A slash would make a directory that no listing shows.
fn check_name(name: &str) -> Result<()> {
    if name.trim().is_empty() {
        return Err(Error::invalid_input("Tag name shouldn't be blank."));
    }
    if name.chars().any(|c| matches!(c, '/' | '\\') || c.is_control()) {
        return Err(Error::invalid_input(format!(
            "'{}' cannot be the name of a tag: it must not hold '/', '\\' or control characters",
            name.escape_debug()
        )));
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
