//! The container of all indexes of one data file.
//!
//! ```text
//! magic (int64) | 1 | head length | columns | name, indexes | kind, start, length ... | redundant length | ... | blobs
//! ```
//!
//! Starts count from the magic; a start of -1 is an index of no value. Source: file-index sheet section 2;
//! `fileindex/FileIndexFormat.java`.

use std::ops::Range;
use std::sync::Arc;

use super::cursor::{Cursor, damaged};
use crate::error::{Error, Result};

const MAGIC: i64 = 1_493_475_289_347_502;
const VERSION: i32 = 1;
/// Bytes until the head length is known.
pub(super) const PREFIX: usize = 16;
/// Heads longer than this are damage: they name columns.
const MAX_HEAD: usize = 16 << 20;

/// One index of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Shared by all indexes of the column: a head may name a long one many times.
    pub(super) column: Arc<str>,
    pub(super) kind: String,
    /// Where its blob is; `None` for an index without values.
    pub(super) blob: Option<Range<usize>>,
}

/// Bytes of the head, from the magic on.
///
/// # Errors
/// `Corrupt`; `Unsupported` for another version.
pub(super) fn head_length(prefix: &[u8]) -> Result<usize> {
    let mut cursor = Cursor::new(prefix);
    let (magic, version, length) = (cursor.i64()?, cursor.i32()?, cursor.size()?);
    if magic != MAGIC {
        return Err(damaged(format!("its magic number is {magic}")));
    }
    if version != VERSION {
        return Err(Error::unsupported(format!("file indexes of version {version} are not supported")));
    }
    match length {
        PREFIX..=MAX_HEAD => Ok(length),
        _ => Err(damaged(format!("its head is {length} bytes long"))),
    }
}

/// The indexes that a head names.
///
/// # Errors
/// `Corrupt`.
pub(super) fn entries(head: &[u8]) -> Result<Vec<Entry>> {
    let mut cursor = Cursor::new(head);
    cursor.take(PREFIX)?;
    let mut entries = Vec::new();
    for _ in 0..cursor.count(6)? {
        let column: Arc<str> = cursor.utf()?.into();
        for _ in 0..cursor.count(10)? {
            let (kind, start, length) = (cursor.utf()?, cursor.i32()?, cursor.size()?);
            let blob = match usize::try_from(start) {
                Ok(start) => Some(start..start + length),
                Err(_) if start == -1 => None,
                Err(_) => return Err(damaged(format!("an index starts at {start}"))),
            };
            entries.push(Entry { column: Arc::clone(&column), kind, blob });
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bitmap index of column v, by Java 0.9.
    const HEAD: [u8; 47] = *b"\0\x05\x4e\x4e\xd0\x1a\x35\xae\0\0\0\x01\0\0\0\x2f\0\0\0\x01\0\x01v\0\0\0\x01\0\x06bitmap\0\0\0\x2f\0\0\0\x20\0\0\0\0";

    #[test]
    fn a_head_of_java() {
        assert_eq!(head_length(&HEAD).unwrap(), HEAD.len());
        let expected = Entry { column: "v".into(), kind: "bitmap".to_owned(), blob: Some(47..79) };
        assert_eq!(entries(&HEAD).unwrap(), [expected]);
        let mut empty = HEAD;
        empty[35..39].fill(0xff);
        assert_eq!(entries(&empty).unwrap()[0].blob, None);
    }

    #[test]
    fn damage_and_other_versions_are_errors() {
        let mut other = HEAD;
        other[11] = 2;
        assert_eq!(head_length(&other).unwrap_err().kind(), crate::error::ErrorKind::Unsupported);
        for (at, byte) in [(0, 1), (12, 0x7f), (12, 0xff), (15, 3)] {
            let mut damaged = HEAD;
            damaged[at] = byte;
            assert_eq!(head_length(&damaged).unwrap_err().kind(), crate::error::ErrorKind::Corrupt);
        }
        for end in 0..HEAD.len() - 4 {
            assert!(entries(&HEAD[..end]).is_err(), "{end}");
        }
    }
}
