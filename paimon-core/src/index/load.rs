//! File indexes from the files beside data files.
//!
//! Invariants: only the indexes of wanted columns are held in memory, within a limit.

use std::collections::BTreeSet;

use super::container::{self, PREFIX};
use super::file_index::{FileIndex, Index, is_wanted};
use crate::error::{Error, Result};
use crate::storage::FileIO;

/// Files up to this size are read at once.
const SMALL_FILE: u64 = 1 << 20;
/// Indexes of the wanted columns of one file that are held at once.
const MAX_BYTES: usize = 128 << 20;

/// The indexes of these columns in an index file.
///
/// # Errors
/// `NotFound(File)` or `Storage`; `Corrupt` if the file is damaged, `Unsupported` for another version or indexes that are
/// too large.
pub async fn load(io: &FileIO, path: &str, columns: &BTreeSet<&str>) -> Result<FileIndex> {
    let size = match io.status(path).await? {
        Some(status) => status.size,
        None => return Err(Error::not_found(crate::error::Entity::File, "an index file does not exist")),
    };
    if size <= SMALL_FILE {
        return FileIndex::decode(&io.read(path).await?, columns);
    }
    let prefix = io.read_range(path, 0..PREFIX as u64).await?;
    let length = container::head_length(&prefix)?;
    let head = io.read_range(path, 0..length as u64).await?;
    let entries: Vec<_> = container::entries(&head)?.into_iter().filter(|e| is_wanted(e, columns)).collect();
    let ranges = || entries.iter().filter_map(|e| e.blob.clone());
    let bytes: usize = ranges().map(|r| r.len()).sum();
    if bytes > MAX_BYTES {
        return Err(Error::unsupported(format!("file indexes of {bytes} bytes are not supported")));
    }
    if ranges().any(|r| r.end as u64 > size) {
        return Err(super::cursor::damaged("an index ends behind its file"));
    }
    let ranges: Vec<_> = ranges().map(|r| r.start as u64..r.end as u64).collect();
    let mut blobs = io.read_ranges(path, &ranges).await?.into_iter();
    let indexes = entries.into_iter().map(|e| {
        let blob = e.blob.and_then(|_| blobs.next());
        Index { column: e.column, kind: e.kind, blob }
    });
    Ok(FileIndex::new(indexes.collect()))
}
