//! Files by location.

use std::ops::Range;

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::options::Options;

/// What a listing says about a file or directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// Location in the form that the [`FileIO`] was asked with.
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
/// Locations are full: `/warehouse/db.db/t/schema/schema-0`, `file:/...`, `memory:/...`.
#[derive(Debug, Clone)]
pub struct FileIO {
    operator: opendal::Operator,
}

impl FileIO {
    /// The store that a location points into.
    ///
    /// # Errors
    /// `Unsupported` naming the scheme and the schemes that are built in.
    pub fn from_location(location: &str, options: &Options) -> Result<Self> {
        let _ = (location, options);
        Err(Error::unsupported("storage"))
    }

    /// The canonical text of a location: repeated slashes collapsed, `.` and `..` resolved, no trailing slash; relative
    /// paths made absolute by the working directory.
    ///
    /// # Errors
    /// `InvalidInput` for text that is no location.
    pub fn normalize(location: &str) -> Result<String> {
        Ok(location.to_owned())
    }

    /// The operator behind it, rooted at `/`, and the path of `location` in it.
    ///
    /// # Errors
    /// `InvalidInput` if the location belongs to another store.
    pub fn resolve(&self, location: &str) -> Result<(&opendal::Operator, String)> {
        Ok((&self.operator, location.to_owned()))
    }

    /// The whole content of a file.
    ///
    /// # Errors
    /// `NotFound(File)`, `PermissionDenied` or `Storage`, naming the file.
    pub async fn read(&self, location: &str) -> Result<Bytes> {
        let _ = location;
        Err(Error::unsupported("storage"))
    }

    /// A range of a file.
    ///
    /// # Errors
    /// As [`FileIO::read`].
    pub async fn read_range(&self, location: &str, range: Range<u64>) -> Result<Bytes> {
        let _ = (location, range);
        Err(Error::unsupported("storage"))
    }

    /// Status of a file or directory; `None` if there is none.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn status(&self, location: &str) -> Result<Option<FileStatus>> {
        let _ = location;
        Err(Error::unsupported("storage"))
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
        let _ = (location, content);
        Err(Error::unsupported("storage"))
    }

    /// Creates a file with this content if and only if it does not exist, all or nothing; `false` if it exists.
    ///
    /// On a store without conditional writes this is `Unsupported`.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`, naming the file; the file may or may not exist then.
    pub async fn create_if_absent(&self, location: &str, content: Bytes) -> Result<bool> {
        let _ = (location, content);
        Err(Error::unsupported("storage"))
    }

    /// A writer that streams into a new file. Nothing may be taken for visible before it is closed; an unclosed file is
    /// to be deleted by the caller.
    ///
    /// # Errors
    /// As [`FileIO::write`].
    pub async fn writer(&self, location: &str) -> Result<opendal::Writer> {
        let _ = location;
        Err(Error::unsupported("storage"))
    }

    /// Deletes a file; nothing happens if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn delete(&self, location: &str) -> Result<()> {
        let _ = location;
        Err(Error::unsupported("storage"))
    }

    /// Deletes a directory with everything in it; nothing happens if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn delete_dir(&self, location: &str) -> Result<()> {
        let _ = location;
        Err(Error::unsupported("storage"))
    }

    /// The files and directories directly in a directory, sorted by name; empty if it does not exist.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn list(&self, location: &str) -> Result<Vec<FileStatus>> {
        let _ = location;
        Err(Error::unsupported("storage"))
    }

    /// Creates a directory with its parents.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`.
    pub async fn create_dir(&self, location: &str) -> Result<()> {
        let _ = location;
        Err(Error::unsupported("storage"))
    }

    /// Renames a file or directory whose target does not exist; parents of the target are made.
    ///
    /// # Errors
    /// `AlreadyExists(File)` if the target exists, `NotFound(File)` if the source does not.
    pub async fn rename(&self, from: &str, to: &str) -> Result<()> {
        let _ = (from, to);
        Err(Error::unsupported("storage"))
    }
}
