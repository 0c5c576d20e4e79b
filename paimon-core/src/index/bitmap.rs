//! Bitmap indexes: the rows of each value.
//!
//! ```text
//! 1 | rows | values | has nulls [offset]               | value, offset ...        | bitmaps
//! 2 | rows | values | has nulls [offset, length]       | first value, offset ...  | bitmaps' offset | blocks | bitmaps
//!                                          block: count | value, offset, length ...
//! ```
//!
//! An offset below 0 is the one row -1 - offset of its value. Source: file-index sheet section 4;
//! `fileindex/bitmap/BitmapFileIndexMeta.java`, `BitmapFileIndexMetaV2.java`.

use roaring::RoaringBitmap;

use super::cursor::{Cursor, after, damaged, every_row, within};
use super::key::{Key, KeyKind};
use super::question::Question;
use crate::error::Result;

/// The rows that the index leaves; `None` if it cannot tell.
pub(super) fn answer(blob: &[u8], kind: KeyKind, rows: u32, question: &Question) -> Result<Option<RoaringBitmap>> {
    if matches!(kind, KeyKind::Bytes | KeyKind::Decimal)
        || matches!(question, Question::Within(..) | Question::Outside(..))
    {
        return Ok(None);
    }
    let mut cursor = Cursor::new(blob);
    let version = cursor.u8()?;
    if !matches!(version, 1 | 2) {
        return Ok(None);
    }
    let head = Head::read(&mut cursor, version, rows)?;
    let bitmaps = match (version, question) {
        (_, Question::OneOf(keys) | Question::NoneOf(keys)) if version == 1 => {
            list(&mut cursor, kind, head.values, keys)?
        }
        (_, Question::OneOf(keys) | Question::NoneOf(keys)) => blocks(&mut cursor, kind, keys)?,
        (1, _) => list(&mut cursor, kind, head.values, &[])?,
        _ => blocks(&mut cursor, kind, &[])?,
    };
    let of = |position: i32| rows_at(bitmaps.body, position, rows);
    let nulls = || head.nulls.map_or_else(|| Ok(RoaringBitmap::new()), of);
    let found = || {
        let found = bitmaps.found.iter().map(|position| of(*position));
        found.collect::<Result<Vec<_>>>().map(|all| all.into_iter().fold(RoaringBitmap::new(), |a, b| a | b))
    };
    Ok(Some(match question {
        Question::Null => nulls()?,
        Question::NotNull => every_row(rows) - nulls()?,
        Question::OneOf(_) => found()?,
        _ => every_row(rows) - nulls()? - found()?,
    }))
}

struct Head {
    values: usize,
    /// Where the rows without a value are.
    nulls: Option<i32>,
}

impl Head {
    fn read(cursor: &mut Cursor<'_>, version: u8, rows: u32) -> Result<Self> {
        let counted = cursor.size()?;
        if u32::try_from(counted) != Ok(rows) {
            return Err(damaged(format!("it counts {counted} rows of a file of {rows}")));
        }
        let values = cursor.size()?;
        let nulls = if cursor.flag()? { Some(cursor.i32()?) } else { None };
        if version == 2 && nulls.is_some() {
            cursor.i32()?; // its length, which the bitmap says too
        }
        Ok(Self { values, nulls })
    }
}

struct Bitmaps<'a> {
    /// Where the rows of the wanted values are.
    found: Vec<i32>,
    /// The bitmaps.
    body: &'a [u8],
}

/// Version 1: values in no order.
fn list<'a>(cursor: &mut Cursor<'a>, kind: KeyKind, values: usize, wanted: &[Key]) -> Result<Bitmaps<'a>> {
    let mut found = Vec::new();
    for _ in 0..values {
        let (key, position) = (kind.read(cursor)?, cursor.i32()?);
        if wanted.contains(&key) {
            found.push(position);
        }
    }
    Ok(Bitmaps { found, body: cursor.rest() })
}

/// Version 2: values in order over all blocks.
fn blocks<'a>(cursor: &mut Cursor<'a>, kind: KeyKind, wanted: &[Key]) -> Result<Bitmaps<'a>> {
    let count = cursor.count(kind.least_bytes() + 4)?;
    let mut blocks = Vec::with_capacity(count);
    for _ in 0..count {
        blocks.push((kind.read(cursor)?, cursor.size()?));
    }
    if !blocks.is_sorted_by(|a, b| a.0 < b.0) {
        return Err(damaged("its blocks are out of order"));
    }
    let area = cursor.size()?;
    let rest = cursor.rest();
    let mut found = Vec::new();
    for (i, (first, offset)) in blocks.iter().enumerate() {
        let next = blocks.get(i + 1).map(|(key, _)| key);
        let mine: Vec<&Key> = wanted.iter().filter(|w| first <= *w && next.is_none_or(|n| *w < n)).collect();
        if !mine.is_empty() {
            block(Cursor::new(after(rest, *offset)?), kind, first, &mine, &mut found)?;
        }
    }
    Ok(Bitmaps { found, body: after(rest, area)? })
}

fn block(mut cursor: Cursor<'_>, kind: KeyKind, first: &Key, wanted: &[&Key], found: &mut Vec<i32>) -> Result<()> {
    let mut previous: Option<Key> = None;
    for _ in 0..cursor.count(kind.least_bytes() + 8)? {
        let key = kind.read(&mut cursor)?;
        let (position, _length) = (cursor.i32()?, cursor.i32()?);
        if previous.as_ref().map_or(key != *first, |p| *p >= key) {
            return Err(damaged("the values of a block are out of order"));
        }
        if wanted.contains(&&key) {
            found.push(position);
        }
        previous = Some(key);
    }
    Ok(())
}

fn rows_at(body: &[u8], position: i32, rows: u32) -> Result<RoaringBitmap> {
    let bitmap = match usize::try_from(position) {
        Ok(offset) => Cursor::new(after(body, offset)?).bitmap()?,
        Err(_) => RoaringBitmap::from_iter([(!position).cast_unsigned()]),
    };
    within(bitmap, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        digits.chunks(2).map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
    }

    fn ask(blob: &[u8], kind: KeyKind, rows: u32, question: &Question) -> Vec<u32> {
        answer(blob, kind, rows, question).unwrap().unwrap().iter().collect()
    }

    #[test]
    fn the_first_version_of_java() {
        let text = hex("01 00000003 00000002 01 fffffffd 00000001 61 ffffffff 00000001 62 fffffffe");
        let key = |t: &str| Key::Bytes(t.as_bytes().to_vec());
        let ask_text = |question: Question| ask(&text, KeyKind::Text, 3, &question);
        assert_eq!(ask_text(Question::OneOf(vec![key("a")])), [0]);
        assert_eq!(ask_text(Question::OneOf(vec![key("b"), key("z"), key("a")])), [0, 1]);
        assert_eq!(ask_text(Question::OneOf(vec![key("z")])), [0; 0]);
        assert_eq!(ask_text(Question::NoneOf(vec![key("a")])), [1]);
        assert_eq!(ask_text(Question::Null), [2]);
        assert_eq!(ask_text(Question::NotNull), [0, 1]);
        let numbers = hex("01 00000007 00000003 01 00000000 00000001 00000014 00000002 fffffffe 00000003 fffffffb
             3a300000 01000000 0000 0100 10000000 0300 0500 3a300000 01000000 0000 0200 10000000 0000 0200 0600");
        let ask_number = |question: Question| ask(&numbers, KeyKind::Int, 7, &question);
        assert_eq!(ask_number(Question::OneOf(vec![Key::Long(1)])), [0, 2, 6]);
        assert_eq!(ask_number(Question::OneOf(vec![Key::Long(2), Key::Long(3)])), [1, 4]);
        assert_eq!(ask_number(Question::NoneOf(vec![Key::Long(1)])), [1, 4]);
        assert_eq!(ask_number(Question::Null), [3, 5]);
        assert_eq!(answer(&numbers, KeyKind::Int, 7, &Question::Outside(Key::Long(1), Key::Long(2))).unwrap(), None);
        assert!(answer(&numbers, KeyKind::Int, 8, &Question::Null).is_err());
        assert!(answer(&numbers[..40], KeyKind::Int, 7, &Question::Null).is_err());
    }

    #[test]
    fn newer_versions_are_not_understood() {
        assert_eq!(answer(&[3, 0], KeyKind::Int, 7, &Question::Null).unwrap(), None);
    }
}
