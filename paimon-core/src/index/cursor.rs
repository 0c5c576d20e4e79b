//! Numbers and bytes of an index blob, one after another.
//!
//! Invariants: integers are big-endian; what is not there is `Corrupt`, whatever a length says.

use roaring::RoaringBitmap;

use crate::error::{Error, Result};

pub(super) fn damaged(why: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("a file index is damaged: {why}"))
}

/// What is left of a blob.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk().ok_or_else(|| damaged("it ends early"))?;
        self.rest = rest;
        Ok(*array)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(super) fn i8(&mut self) -> Result<i8> {
        Ok(i8::from_be_bytes(self.array()?))
    }

    pub(super) fn i16(&mut self) -> Result<i16> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// A byte that is 0 or 1.
    pub(super) fn flag(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(damaged(format!("a flag is {other}"))),
        }
    }

    /// A count, length or offset of 32 bits.
    pub(super) fn size(&mut self) -> Result<usize> {
        let size = self.i32()?;
        usize::try_from(size).map_err(|_| damaged(format!("a length is {size}")))
    }

    /// The number of items that take at least so many bytes each, all of which are there.
    pub(super) fn count(&mut self, least: usize) -> Result<usize> {
        let count = self.size()?;
        match count.checked_mul(least) {
            Some(bytes) if bytes <= self.rest.len() => Ok(count),
            _ => Err(damaged(format!("it has {count} items in {} bytes", self.rest.len()))),
        }
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(|| damaged("it ends early"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// A standard Roaring bitmap, as long as it says itself.
    pub(super) fn bitmap(&mut self) -> Result<RoaringBitmap> {
        RoaringBitmap::deserialize_from(&mut self.rest).map_err(|e| damaged("a bitmap").with_source(e))
    }

    /// A length of 16 bits and text, as Java's `writeUTF` has it: only what is UTF-8 too is of use here.
    pub(super) fn utf(&mut self) -> Result<String> {
        let length = u16::from_be_bytes(self.array()?);
        let bytes = self.take(usize::from(length))?;
        Ok(modified_utf8(bytes).unwrap_or_else(|| String::from_utf8_lossy(bytes).into_owned()))
    }
}

/// Text of Java's modified UTF-8: U+0000 in two bytes, characters beyond 16 bits as two surrogates.
fn modified_utf8(bytes: &[u8]) -> Option<String> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        let mut more = after.iter().map(|b| (b & 0xc0 == 0x80).then_some(u16::from(b & 0x3f)));
        let (unit, length) = match first {
            0..0x80 => (u16::from(first), 0),
            0xc0..0xe0 => (u16::from(first & 0x1f) << 6 | more.next()??, 1),
            0xe0..0xf0 => (u16::from(first & 0x0f) << 12 | more.next()?? << 6 | more.next()??, 2),
            _ => return None,
        };
        units.push(unit);
        rest = after.get(length..)?;
    }
    String::from_utf16(&units).ok()
}

/// Bytes from an offset on.
pub(super) fn after(bytes: &[u8], offset: usize) -> Result<&[u8]> {
    bytes.get(offset..).ok_or_else(|| damaged(format!("it has no offset {offset}")))
}

/// A bitmap all of whose positions are rows of the file.
pub(super) fn within(bitmap: RoaringBitmap, rows: u32) -> Result<RoaringBitmap> {
    match bitmap.max() {
        Some(last) if last >= rows => Err(damaged(format!("it names row {last} of a file of {rows}"))),
        _ => Ok(bitmap),
    }
}

/// Every row of a file.
pub(super) fn every_row(rows: u32) -> RoaringBitmap {
    let mut all = RoaringBitmap::new();
    all.insert_range(0..rows);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_java() {
        let cases: [(&[u8], Option<&str>); 6] = [
            (b"abc", Some("abc")),
            (b"a\xc0\x80b", Some("a\0b")),
            ("aé€".as_bytes(), Some("aé€")),
            (b"\xed\xa0\xbd\xed\xb8\x80", Some("😀")),
            (b"\xe2\x82", None),
            (b"\xff", None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(modified_utf8(bytes).as_deref(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn counts_must_fit_the_bytes() {
        assert!(Cursor::new(&[0, 0, 0, 2, 9, 9]).count(1).is_ok());
        assert!(Cursor::new(&[0, 0, 0, 2, 9]).count(1).is_err());
        assert!(Cursor::new(&[0xff, 0xff, 0xff, 0xff]).size().is_err());
    }
}
