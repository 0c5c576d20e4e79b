//! The sorted values of a range bitmap, in chunks.
//!
//! Invariants: the rank of a value is the number of lesser ones. Only chunks that may hold a value are decoded, and those
//! are checked for their order. Source: file-index sheet section 6;
//! `fileindex/rangebitmap/dictionary/chunked/FixedLengthChunk.java`, `VariableLengthChunk.java`.

use super::cursor::{Cursor, after, damaged};
use super::key::{Key, KeyKind};
use crate::error::Result;

const VERSION: u8 = 1;

/// The values, each with its rank.
#[derive(Debug)]
pub(super) struct Dictionary<'a> {
    kind: KeyKind,
    chunks: Vec<Chunk>,
    /// The values but the first of each chunk.
    keys: &'a [u8],
    distinct: usize,
}

#[derive(Debug)]
struct Chunk {
    first: Key,
    rank: usize,
    offset: usize,
    /// Values after the first.
    further: usize,
    /// Bytes of the offsets that stand before values of different lengths.
    offsets_length: usize,
    keys_length: usize,
}

impl<'a> Dictionary<'a> {
    /// The dictionary of so many values.
    pub(super) fn read(bytes: &'a [u8], kind: KeyKind, distinct: usize) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        let length = cursor.size()?;
        let mut head = Cursor::new(cursor.take(length)?);
        let version = head.u8()?;
        if version != VERSION {
            return Err(damaged(format!("its dictionary has version {version}")));
        }
        let (count, offsets_length, heads_length) = (head.size()?, head.size()?, head.size()?);
        if count.checked_mul(4) != Some(offsets_length) {
            return Err(damaged(format!("{count} chunks have {offsets_length} bytes of offsets")));
        }
        let mut offsets = Cursor::new(cursor.take(offsets_length)?);
        let heads = cursor.take(heads_length)?;
        let chunks = (0..count).map(|_| Chunk::read(after(heads, offsets.size()?)?, kind));
        let chunks = chunks.collect::<Result<Vec<_>>>()?;
        let this = Self { kind, chunks, keys: cursor.rest(), distinct };
        if this.is_complete() { Ok(this) } else { Err(damaged("the chunks of its dictionary do not fit together")) }
    }

    /// Whether chunks follow each other in order and hold all values.
    fn is_complete(&self) -> bool {
        let mut next = 0;
        let ranks_follow = self.chunks.iter().all(|chunk| {
            let follows = chunk.rank == next;
            next = chunk.rank + 1 + chunk.further;
            follows
        });
        ranks_follow && next == self.distinct && self.chunks.is_sorted_by(|a, b| a.first < b.first)
    }

    /// How many values are less, and whether the value is there.
    pub(super) fn rank(&self, key: &Key) -> Result<(u64, bool)> {
        let after = self.chunks.partition_point(|chunk| chunk.first <= *key);
        let Some(chunk) = after.checked_sub(1).and_then(|i| self.chunks.get(i)) else { return Ok((0, false)) };
        if chunk.first == *key {
            return Ok((chunk.rank as u64, true));
        }
        let further = self.further(chunk)?;
        let (position, found) = match further.binary_search(key) {
            Ok(position) => (position, true),
            Err(position) => (position, false),
        };
        Ok(((chunk.rank + 1 + position) as u64, found))
    }

    fn further(&self, chunk: &Chunk) -> Result<Vec<Key>> {
        let mut cursor = Cursor::new(after(self.keys, chunk.offset)?);
        cursor.take(chunk.offsets_length)?;
        let mut keys = Cursor::new(cursor.take(chunk.keys_length)?);
        if chunk.further.checked_mul(self.kind.least_bytes()).is_none_or(|bytes| bytes > chunk.keys_length) {
            return Err(damaged(format!("a chunk has {} values in {} bytes", chunk.further, chunk.keys_length)));
        }
        let keys = (0..chunk.further).map(|_| self.kind.read(&mut keys)).collect::<Result<Vec<_>>>()?;
        let sorted = keys.is_sorted_by(|a, b| a < b) && keys.first().is_none_or(|k| chunk.first < *k);
        if sorted { Ok(keys) } else { Err(damaged("the values of a chunk are out of order")) }
    }
}

impl Chunk {
    fn read(bytes: &[u8], kind: KeyKind) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        let version = cursor.u8()?;
        if version != VERSION {
            return Err(damaged(format!("a chunk of its dictionary has version {version}")));
        }
        let first = kind.read(&mut cursor)?;
        let (rank, offset, further) = (cursor.size()?, cursor.size()?, cursor.size()?);
        let offsets_length = if kind.is_fixed() { 0 } else { cursor.size()? };
        let keys_length = cursor.size()?;
        Ok(Self { first, rank, offset, further, offsets_length, keys_length })
    }
}
