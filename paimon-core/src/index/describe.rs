//! What indexes a data file has, without their content.

use super::container::{self, PREFIX};
use super::cursor::damaged;
use super::of_file::index_files;
use crate::error::{Error, Result, ResultExt};
use crate::spec::DataFileMeta;
use crate::storage::FileIO;

/// The indexes of one data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Indexes {
    /// The file that holds them; `None` if they are in the manifest entry.
    pub(crate) path: Option<String>,
    /// Bytes of all of them, with the head that names them.
    pub(crate) container_bytes: i64,
    pub(crate) indexes: Vec<IndexInfo>,
}

/// One index of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexInfo {
    pub(crate) column: String,
    pub(crate) kind: String,
    pub(crate) bytes: i64,
    /// Whether it is an index of no value.
    pub(crate) is_empty: bool,
}

/// The indexes of the data file at `path`; `None` if it has none. Of an index file only the head is read.
///
/// # Errors
/// `NotFound(File)` or `Storage`; `Corrupt` if the head is damaged or there is more than one index file, `Unsupported` for
/// another version; all naming the file.
pub(crate) async fn describe(io: &FileIO, path: &str, file: &DataFileMeta) -> Result<Option<Indexes>> {
    if let Some(bytes) = &file.embedded_index {
        let found = within(None, bytes.len() as u64, bytes);
        return found.map(Some).context("file", path);
    }
    let mut names = index_files(file);
    let Some(name) = names.next() else { return Ok(None) };
    if names.next().is_some() {
        return Err(Error::corrupt("a data file has more than one index file").with_context("file", path));
    }
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let path = format!("{directory}/{name}");
    from_file(io, &path).await.map(Some).context("file", path)
}

async fn from_file(io: &FileIO, path: &str) -> Result<Indexes> {
    let Some(status) = io.status(path).await? else {
        return Err(Error::not_found(crate::error::Entity::File, "an index file does not exist"));
    };
    if status.size < PREFIX as u64 {
        return Err(damaged(format!("it has {} bytes", status.size)));
    }
    let prefix = io.read_range(path, 0..PREFIX as u64).await?;
    let length = container::head_length(&prefix)? as u64;
    if length > status.size {
        return Err(damaged("its head ends behind its file"));
    }
    let head = io.read_range(path, 0..length).await?;
    within(Some(path.to_owned()), status.size, &head)
}

/// From the bytes of a container, of which the head is enough.
fn within(path: Option<String>, size: u64, bytes: &[u8]) -> Result<Indexes> {
    let head = bytes.get(..container::head_length(bytes)?).ok_or_else(|| damaged("its head ends behind its file"))?;
    let mut indexes = Vec::new();
    for entry in container::entries(head)? {
        let blob = entry.blob.clone().unwrap_or_default();
        if blob.end as u64 > size {
            return Err(damaged("an index ends behind its file"));
        }
        indexes.push(IndexInfo {
            column: entry.column.to_string(),
            kind: entry.kind,
            bytes: i64::try_from(blob.len()).unwrap_or(i64::MAX),
            is_empty: entry.blob.is_none(),
        });
    }
    Ok(Indexes { path, container_bytes: i64::try_from(size).unwrap_or(i64::MAX), indexes })
}
