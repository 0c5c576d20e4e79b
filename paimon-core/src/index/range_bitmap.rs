//! Range bitmaps: a sorted dictionary of the values, and the ranks of the rows' values by their binary digits.
//!
//! ```text
//! head length | 1 | rows | distinct | least, greatest value if there is one | dictionary length
//! dictionary: head length | 1 | chunks | offsets length | chunk heads length | offsets | chunk heads | keys
//! chunk head: 1 | first value | its rank | offset of its keys | further values | (offsets length) | keys length | (width)
//! digits:     head length | 1 | digits (byte) | bitmap length | index length | offset, length ... | rows with a value | digits
//! ```
//!
//! Source: file-index sheet section 6; `fileindex/rangebitmap/RangeBitmap.java`,
//! `fileindex/rangebitmap/BitSliceIndexBitmap.java`, `fileindex/rangebitmap/dictionary/chunked/ChunkedDictionary.java`.

use std::ops::Bound;

use roaring::RoaringBitmap;

use super::cursor::{Cursor, after, damaged, every_row, within};
use super::dictionary::Dictionary;
use super::key::{Key, KeyKind};
use super::question::Question;
use super::slices::Slices;
use crate::error::Result;

const VERSION: u8 = 1;

/// The rows that the index leaves; `None` if it cannot tell.
pub(super) fn answer(blob: &[u8], kind: KeyKind, rows: u32, question: &Question) -> Result<Option<RoaringBitmap>> {
    if kind == KeyKind::Bytes {
        return Ok(None);
    }
    let mut cursor = Cursor::new(blob);
    let length = cursor.size()?;
    let mut head = Cursor::new(cursor.take(length)?);
    if head.u8()? != VERSION {
        return Ok(None);
    }
    let (counted, distinct) = (head.size()?, head.size()?);
    if u32::try_from(counted) != Ok(rows) {
        return Err(damaged(format!("it counts {counted} rows of a file of {rows}")));
    }
    if distinct == 0 {
        return Ok(Some(match question {
            Question::Null => every_row(rows),
            _ => RoaringBitmap::new(),
        }));
    }
    let bounds = (kind.read(&mut head)?, kind.read(&mut head)?);
    let length = head.size()?;
    let dictionary = Dictionary::read(cursor.take(length)?, kind, distinct)?;
    let index = Ranked { bounds, dictionary, slices: slices(cursor.rest(), rows)? };
    let values = index.slices.exists().clone();
    Ok(Some(match question {
        Question::Null => every_row(rows) - values,
        Question::NotNull => values,
        Question::OneOf(keys) => index.any_of(keys)?,
        Question::NoneOf(keys) => values - index.any_of(keys)?,
        Question::Within(low, high) => {
            let low = match low {
                Bound::Unbounded => RoaringBitmap::new(),
                Bound::Included(key) => index.below(key, false)?,
                Bound::Excluded(key) => index.below(key, true)?,
            };
            let high = match high {
                Bound::Unbounded => values,
                Bound::Included(key) => index.below(key, true)?,
                Bound::Excluded(key) => index.below(key, false)?,
            };
            high - low
        }
        Question::Outside(low, high) => index.below(low, false)? | (values - index.below(high, true)?),
    }))
}

struct Ranked<'a> {
    /// The least and the greatest value.
    bounds: (Key, Key),
    dictionary: Dictionary<'a>,
    slices: Slices,
}

impl Ranked<'_> {
    fn any_of(&self, keys: &[Key]) -> Result<RoaringBitmap> {
        let mut found = RoaringBitmap::new();
        for key in keys.iter().filter(|k| self.bounds.0 <= **k && **k <= self.bounds.1) {
            if let (rank, true) = self.dictionary.rank(key)? {
                found |= self.slices.compare(rank).equal;
            }
        }
        Ok(found)
    }

    /// The rows whose value is below the key, or equal to it if that counts too.
    fn below(&self, key: &Key, or_equal: bool) -> Result<RoaringBitmap> {
        if *key < self.bounds.0 {
            return Ok(RoaringBitmap::new());
        }
        if *key > self.bounds.1 {
            return Ok(self.slices.exists().clone());
        }
        let (rank, found) = self.dictionary.rank(key)?;
        Ok(self.slices.compare(rank + u64::from(found && or_equal)).below)
    }
}

fn slices(bytes: &[u8], rows: u32) -> Result<Slices> {
    let mut cursor = Cursor::new(bytes);
    let length = cursor.size()?;
    let mut head = Cursor::new(cursor.take(length)?);
    let version = head.u8()?;
    if version != VERSION {
        return Err(damaged(format!("the digits have version {version}")));
    }
    let count = usize::from(head.u8()?);
    let (exists_length, _index_length) = (head.size()?, head.size()?);
    let exists = within(Cursor::new(cursor.take(exists_length)?).bitmap()?, rows)?;
    let body = cursor.rest();
    let mut digits = Vec::with_capacity(count);
    for _ in 0..count {
        let (offset, length) = (head.size()?, head.size()?);
        digits.push(Cursor::new(Cursor::new(after(body, offset)?).take(length)?).bitmap()?);
    }
    Slices::try_new(exists, digits)
}
