//! Access to the files of one store by location.
//!
//! Invariants: a location of another store is refused; every error names the location. Dropping a call does not stop
//! what it started: a create, write, rename or delete happens as a whole or not at all, but for deleting directories.
//! Source: storage sheet sections 1 and 4; `fs/FileIO.java`.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::{self, StreamExt, TryStreamExt};

use super::failure::{from_io, from_operator};
use super::local::Sync;
use super::location::Location;
use super::{local, objects};
use crate::error::{Entity, Error, Result, ResultExt};
use crate::options::Options;
use crate::runtime::{self, MemoryBudget, Reservation};

/// Streams to the local disk go out in pieces of this size.
const LOCAL_CHUNK: usize = 1 << 20;
/// Parts of an upload: above the least part size of every store.
const UPLOAD_CHUNK: usize = 8 << 20;

/// Ranges of one file that are asked of a store at once.
const CONCURRENT_RANGES: usize = 8;

/// What a listing says about a file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Canonical text of the location.
    pub path: String,
    /// Last part of the location.
    pub name: String,
    /// Whether it is a directory.
    pub is_dir: bool,
    /// Bytes; 0 for directories.
    pub size: u64,
    /// Modification time in milliseconds, if the store knows it.
    pub modified_ms: Option<i64>,
}

/// Access to the files of one store. Cheap to clone.
///
/// Locations are full: `/warehouse/db.db/t/schema/schema-0`, `file:/...`, `memory:/...`. Bare paths and `file:` are one
/// store; `memory:` is one store of the whole process, shared by every `FileIO` in it.
#[derive(Debug, Clone)]
pub struct FileIO {
    operator: opendal::Operator,
    is_local: bool,
    /// What ranges that are read take memory from, as long as they live.
    memory: Option<Arc<dyn MemoryBudget>>,
}

/// Shorter ranges are not worth a reservation.
const RESERVED_FROM: u64 = 64 << 10;

/// Bytes with the memory that is reserved for them.
struct Reserved {
    bytes: Bytes,
    _memory: Reservation,
}

impl AsRef<[u8]> for Reserved {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl FileIO {
    /// The store that a location points into. Contacts nothing.
    ///
    /// # Errors
    /// `Unsupported` naming the scheme and the schemes that are built in; `InvalidInput` for text that is no location.
    pub fn from_location(location: &str, options: &Options) -> Result<Self> {
        // The local disk and the memory have no options; other stores will be configured from them.
        let _ = options;
        let location = Location::parse(location)?;
        let operator = super::schemes::operator(&location)?;
        Ok(Self { operator, is_local: location.is_local(), memory: None })
    }

    /// The same access, but ranges of files take memory from `memory` for as long as any part of them is in use.
    #[must_use]
    pub fn with_memory(mut self, memory: Arc<dyn MemoryBudget>) -> Self {
        self.memory = Some(memory);
        self
    }

    fn reserve(&self, range: &Range<u64>) -> Result<Option<Reservation>> {
        let length = range.end.saturating_sub(range.start);
        let Some(memory) = self.memory.as_ref().filter(|_| length >= RESERVED_FROM) else { return Ok(None) };
        let mut reservation = Reservation::new(Arc::clone(memory));
        reservation.try_resize(usize::try_from(length).unwrap_or(usize::MAX))?;
        Ok(Some(reservation))
    }

    /// A store behind an operator that is rooted at `/`.
    #[cfg(test)]
    pub(super) fn from_operator(operator: opendal::Operator) -> Self {
        Self { operator, is_local: false, memory: None }
    }

    /// The canonical text of a location: repeated slashes collapsed, `.` and `..` resolved, no trailing slash; relative
    /// paths made absolute by the working directory. The scheme stays as written.
    ///
    /// # Errors
    /// `InvalidInput` for text that is no location.
    pub fn normalize(location: &str) -> Result<String> {
        Location::parse(location).map(|l| l.to_string())
    }

    /// The operator behind it, rooted at `/`, and the path of `location` in it.
    ///
    /// # Errors
    /// `InvalidInput` if the location belongs to another store; `Unsupported` for a name that the operator would change.
    pub fn resolve(&self, location: &str) -> Result<(&opendal::Operator, String)> {
        let location = self.locate(location)?;
        objects::check_name(&location.path, &location.to_string())?;
        Ok((&self.operator, location.relative_path().to_owned()))
    }

    /// The whole content of a file.
    ///
    /// # Errors
    /// `NotFound(File)`, `PermissionDenied` or `Storage`, naming the file.
    pub async fn read(&self, location: &str) -> Result<Bytes> {
        if self.is_local {
            return self.on_disk(location, |path| std::fs::read(path)).await.map(Bytes::from);
        }
        let (operator, path) = self.resolve(location)?;
        objects::read(operator, &path, location).await
    }

    /// A range of a file.
    ///
    /// # Errors
    /// As [`FileIO::read`]; `Corrupt` if the file is shorter; `MemoryExhausted`.
    pub async fn read_range(&self, location: &str, range: Range<u64>) -> Result<Bytes> {
        let memory = self.reserve(&range)?;
        if self.is_local {
            let bytes = self.on_disk(location, move |path| local::read_range(path, &range)).await?;
            return Ok(hold(Bytes::from(bytes), memory));
        }
        let (operator, path) = self.resolve(location)?;
        Ok(hold(objects::read_range(operator, &path, location, range).await?, memory))
    }

    /// Several ranges of a file, in their order. On the local disk the file is opened once.
    ///
    /// # Errors
    /// As [`FileIO::read_range`].
    pub async fn read_ranges(&self, location: &str, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let memory = ranges.iter().map(|range| self.reserve(range)).collect::<Result<Vec<_>>>()?;
        let parts: Vec<Bytes> = if self.is_local {
            let ranges = ranges.to_vec();
            let parts = self.on_disk(location, move |path| local::read_ranges(path, &ranges)).await?;
            parts.into_iter().map(Bytes::from).collect()
        } else {
            let (operator, path) = self.resolve(location)?;
            let read = |range| objects::read_range(operator, &path, location, range);
            stream::iter(ranges.to_vec()).map(read).buffered(CONCURRENT_RANGES).try_collect().await?
        };
        Ok(parts.into_iter().zip(memory).map(|(bytes, memory)| hold(bytes, memory)).collect())
    }

    /// Status of a file or directory; `None` if there is none.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn status(&self, location: &str) -> Result<Option<FileStatus>> {
        if self.is_local {
            let canonical = self.locate(location)?.to_string();
            let entry = self.on_disk(location, local::status).await?;
            return Ok(entry.map(|e| e.into_status(canonical)));
        }
        let (operator, path) = self.resolve(location)?;
        objects::status(operator, &path, location).await
    }

    /// Whether a file or directory exists.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn exists(&self, location: &str) -> Result<bool> {
        Ok(self.status(location).await?.is_some())
    }

    /// Writes a file, replacing one that exists. Readers never see half of it.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`, naming the file.
    pub async fn write(&self, location: &str, content: Bytes) -> Result<()> {
        self.replace(location, content, Sync::Now).await
    }

    /// As [`FileIO::write`], but a loss of power may take the content: for files that nothing depends on, as hints.
    ///
    /// # Errors
    /// As [`FileIO::write`].
    pub async fn write_advisory(&self, location: &str, content: Bytes) -> Result<()> {
        self.replace(location, content, Sync::Lazy).await
    }

    async fn replace(&self, location: &str, content: Bytes, sync: Sync) -> Result<()> {
        if self.is_local {
            return self.on_disk(location, move |path| local::write(path, &content, sync)).await;
        }
        let (operator, path) = self.resolve(location)?;
        objects::write(operator, &path, location, content).await
    }

    /// Creates a file with this content if and only if it does not exist, all or nothing; `false` if it exists.
    ///
    /// Of any number of callers, in this process or others, at most one gets `true`. A caller that got an error, or
    /// whose answer got lost, may call again; `false` can then mean its own first try, so read the file and compare.
    ///
    /// # Errors
    /// `Unsupported` on a store without conditional writes, with nothing written. `DiskFull`, `PermissionDenied` or
    /// `Storage`, naming the file; the file may or may not exist then.
    pub async fn create_if_absent(&self, location: &str, content: Bytes) -> Result<bool> {
        if self.is_local {
            return self.on_disk(location, move |path| local::create_if_absent(path, &content)).await;
        }
        let (operator, path) = self.resolve(location)?;
        objects::create_if_absent(operator, &path, location, content).await
    }

    /// As [`FileIO::create_if_absent`], if `check` passes. On a disk the check runs when the file has its content but not its
    /// name: if the directory that the check saw gives way to another one afterwards, the file does not appear in that.
    ///
    /// # Errors
    /// Those of the check, with nothing written; `NotFound(File)` if the directory gave way; those of
    /// [`FileIO::create_if_absent`].
    pub(crate) async fn create_if_absent_while(
        &self,
        location: &str,
        content: Bytes,
        check: impl Future<Output = Result<()>>,
    ) -> Result<bool> {
        if !self.is_local {
            check.await?;
            return self.create_if_absent(location, content).await;
        }
        let Some(staged) = self.on_disk(location, move |path| local::stage(path, &content)).await? else {
            return Ok(false);
        };
        check.await?;
        self.on_disk(location, move |path| local::give_name(staged, path)).await
    }

    /// A stream into a new file: see [`NewFile`](super::NewFile).
    pub(super) async fn writer(&self, location: &str) -> Result<opendal::Writer> {
        let (operator, path) = self.resolve(location)?;
        let chunk = if self.is_local { LOCAL_CHUNK } else { UPLOAD_CHUNK };
        operator.writer_with(&path).chunk(chunk).await.map_err(|e| from_operator(e, location))
    }

    /// Deletes a file; nothing happens if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn delete(&self, location: &str) -> Result<()> {
        if self.is_local {
            return self.on_disk(location, local::delete).await;
        }
        let (operator, path) = self.resolve(location)?;
        objects::delete(operator, &path, location).await
    }

    /// Deletes a directory with everything in it; nothing happens if it does not exist. On a disk it is gone at once.
    ///
    /// # Errors
    /// `InvalidInput` for the root of the store; `PermissionDenied` or `Storage`.
    pub async fn delete_dir(&self, location: &str) -> Result<()> {
        if self.locate(location)?.path == "/" {
            return Err(Error::invalid_input(format!("'{location}' is the root of the store and cannot be deleted")));
        }
        if self.is_local {
            return self.on_disk(location, local::delete_dir).await;
        }
        let (operator, path) = self.resolve(location)?;
        objects::delete_dir(operator, &path, location).await
    }

    /// The files and directories directly in a directory, sorted by name; empty if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn list(&self, location: &str) -> Result<Vec<FileStatus>> {
        let canonical = self.locate(location)?.to_string();
        if !self.is_local {
            let (operator, path) = self.resolve(location)?;
            return objects::list(operator, &path, &canonical).await;
        }
        let entries = self.on_disk(location, local::list).await?;
        let below = canonical.trim_end_matches('/');
        let status = |e: local::Entry| {
            let path = format!("{below}/{}", e.name);
            e.into_status(path)
        };
        Ok(entries.into_iter().map(status).collect())
    }

    /// As [`FileIO::list`], names only, and whether each is a directory. Cheaper, since no file is looked at.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn list_names(&self, location: &str) -> Result<Vec<(String, bool)>> {
        if self.is_local {
            return self.on_disk(location, local::list_names).await;
        }
        let (operator, path) = self.resolve(location)?;
        objects::list_names(operator, &path, location).await
    }

    /// Creates a directory with its parents.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`.
    pub async fn create_dir(&self, location: &str) -> Result<()> {
        if self.is_local {
            return self.on_disk(location, |path| std::fs::create_dir_all(path)).await;
        }
        let (operator, path) = self.resolve(location)?;
        objects::create_dir(operator, &path, location).await
    }

    /// Renames a file or directory whose target does not exist; parents of the target are made. An empty directory at
    /// the target gives way to a directory. Not atomic in memory.
    ///
    /// # Errors
    /// `AlreadyExists(File)` if the target exists, `NotFound(File)` if the source does not; `Unsupported` on a store that
    /// cannot rename.
    pub async fn rename(&self, from: &str, to: &str) -> Result<()> {
        if !self.is_local {
            let ((operator, source), (_, target)) = (self.resolve(from)?, self.resolve(to)?);
            return objects::rename(operator, (&source, &target), (from, to)).await;
        }
        let target = self.locate(to)?.path;
        if self.on_disk(from, move |path| local::rename(path, Path::new(&target))).await.context("target", to)? {
            return Ok(());
        }
        Err(Error::already_exists(Entity::File, "the target exists").with_context("file", to))
    }

    fn locate(&self, text: &str) -> Result<Location> {
        let location = Location::parse(text)?;
        super::schemes::check(&location)?;
        let same_store = if self.is_local { location.is_local() } else { self.serves(&location) };
        if !same_store {
            return Err(Error::invalid_input(format!(
                "the location '{location}' belongs to another store than the one in use, {}",
                if self.is_local { "file" } else { self.operator.info().scheme() }
            )));
        }
        Ok(location)
    }

    fn serves(&self, location: &Location) -> bool {
        location.scheme.as_deref().is_some_and(|s| s.eq_ignore_ascii_case(self.operator.info().scheme()))
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        location: &str,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let location = self.locate(location)?;
        runtime::cpu(move || work(Path::new(&location.path)).map_err(|e| from_io(e, &location.to_string()))).await
    }
}

fn hold(bytes: Bytes, memory: Option<Reservation>) -> Bytes {
    match memory {
        Some(memory) => Bytes::from_owner(Reserved { bytes, _memory: memory }),
        None => bytes,
    }
}
