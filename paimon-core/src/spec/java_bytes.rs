//! Java's data streams, as splits and commit messages travel in them: big-endian numbers, modified UTF-8, rows with their
//! length.
//!
//! Source: read-path sheet section 8; write-path sheet section 7; `java.io.DataOutput`.

use bytes::Bytes;

use super::data_file::DataFileMeta;
use crate::error::{Error, Result};
use crate::row::BinaryRow;

/// The longest text in bytes.
const MAX_UTF: usize = 65_535;

/// Writes.
#[derive(Debug, Default)]
pub(crate) struct JavaWriter(Vec<u8>);

impl JavaWriter {
    pub(crate) fn long(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn int(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// A length.
    ///
    /// # Errors
    /// `InvalidInput` if it does not fit 31 bits.
    pub(crate) fn len(&mut self, len: usize) -> Result<()> {
        let len = i32::try_from(len).map_err(|_| Error::invalid_input(format!("{len} does not fit 31 bits")))?;
        self.int(len);
        Ok(())
    }

    pub(crate) fn bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// # Errors
    /// `InvalidInput` if the text is too long.
    pub(crate) fn utf(&mut self, text: &str) -> Result<()> {
        let mut bytes = Vec::with_capacity(text.len());
        for unit in text.encode_utf16() {
            match unit {
                1..=0x7f => bytes.push(unit as u8),
                0 | 0x80..=0x7ff => bytes.extend([0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
                _ => bytes.extend([
                    0xe0 | (unit >> 12) as u8,
                    0x80 | ((unit >> 6) & 0x3f) as u8,
                    0x80 | (unit & 0x3f) as u8,
                ]),
            }
        }
        let length = u16::try_from(bytes.len())
            .map_err(|_| Error::invalid_input(format!("a text of {} bytes is longer than {MAX_UTF}", bytes.len())))?;
        self.raw(&length.to_be_bytes());
        self.raw(&bytes);
        Ok(())
    }

    /// A row with its arity.
    pub(crate) fn row(&mut self, row: &BinaryRow) -> Result<()> {
        let bytes = row.to_serialized();
        self.len(bytes.len())?;
        self.raw(&bytes);
        Ok(())
    }

    /// Data files as rows of so many fields.
    pub(crate) fn files<'a>(
        &mut self,
        files: impl ExactSizeIterator<Item = &'a DataFileMeta>,
        fields: usize,
    ) -> Result<()> {
        self.len(files.len())?;
        for file in files {
            let row = file.to_row(fields);
            self.len(row.len())?;
            self.raw(&row);
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads.
#[derive(Debug)]
pub(crate) struct JavaReader<'a> {
    rest: &'a [u8],
    /// What is read, for messages.
    what: &'static str,
}

impl<'a> JavaReader<'a> {
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (chunk, rest) = self.rest.split_first_chunk::<N>().ok_or_else(|| self.short(N))?;
        self.rest = rest;
        Ok(*chunk)
    }

    fn short(&self, wanted: usize) -> Error {
        let (what, left) = (self.what, self.rest.len());
        Error::corrupt(format!("a {what} is cut off: {wanted} more bytes were expected, {left} are left"))
    }

    /// The number that follows, which stays.
    pub(crate) fn peek_long(&self) -> Option<i64> {
        self.rest.first_chunk::<8>().map(|chunk| i64::from_be_bytes(*chunk))
    }

    pub(crate) fn long(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.chunk()?))
    }

    pub(crate) fn int(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.chunk()?))
    }

    /// A count of items of at least so many bytes each.
    pub(crate) fn len(&mut self, item_size: usize) -> Result<usize> {
        let len = self.int()?;
        match usize::try_from(len) {
            Ok(count) if count.saturating_mul(item_size.max(1)) <= self.rest.len() => Ok(count),
            _ => {
                let (what, left) = (self.what, self.rest.len());
                Err(Error::corrupt(format!("a {what} cannot hold {len} items in {left} bytes")))
            }
        }
    }

    pub(crate) fn bool(&mut self) -> Result<bool> {
        let [byte] = self.chunk()?;
        Ok(byte != 0)
    }

    pub(crate) fn raw(&mut self, len: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or_else(|| self.short(len))?;
        self.rest = rest;
        Ok(bytes)
    }

    pub(crate) fn utf(&mut self) -> Result<String> {
        let length = u16::from_be_bytes(self.chunk()?);
        let bytes = self.raw(usize::from(length))?;
        decode_utf(bytes).ok_or_else(|| Error::corrupt(format!("a text of a {} is no modified UTF-8", self.what)))
    }

    /// A row with its arity.
    pub(crate) fn row(&mut self) -> Result<BinaryRow> {
        let length = self.len(1)?;
        BinaryRow::from_serialized(Bytes::copy_from_slice(self.raw(length)?))
    }

    /// Data files as rows of so many fields.
    pub(crate) fn files(&mut self, fields: usize) -> Result<Vec<DataFileMeta>> {
        let count = self.len(4)?;
        let mut files = Vec::with_capacity(count);
        for _ in 0..count {
            let length = self.len(1)?;
            files.push(DataFileMeta::from_row(self.raw(length)?, fields)?);
        }
        Ok(files)
    }

    /// # Errors
    /// `Corrupt` if bytes are left.
    pub(crate) fn end(self) -> Result<()> {
        match self.rest.len() {
            0 => Ok(()),
            left => Err(Error::corrupt(format!("{left} bytes follow a {}", self.what))),
        }
    }
}

fn decode_utf(bytes: &[u8]) -> Option<String> {
    let mut units: Vec<u16> = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().map(|byte| u16::from(*byte));
    while let Some(first) = rest.next() {
        let mut tail = || rest.next().filter(|byte| byte & 0xc0 == 0x80).map(|byte| byte & 0x3f);
        units.push(match first >> 4 {
            0..=7 => first,
            0xc | 0xd => (first & 0x1f) << 6 | tail()?,
            0xe => (first & 0x0f) << 12 | tail()? << 6 | tail()?,
            _ => return None,
        });
    }
    String::from_utf16(&units).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modified_utf8_is_java_s() {
        let text = "a\0ü€\u{1f600}";
        let mut writer = JavaWriter::default();
        writer.utf(text).unwrap();
        let bytes = writer.finish();
        assert_eq!(bytes[2..], [0x61, 0xc0, 0x80, 0xc3, 0xbc, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80]);
        assert_eq!(JavaReader::new(&bytes, "text").utf().unwrap(), text);
        assert!(JavaReader::new(&[0, 1, 0xf0], "text").utf().is_err());
        assert!(JavaReader::new(&[0, 2, 0xc3], "text").utf().is_err());
        let mut writer = JavaWriter::default();
        assert!(writer.utf(&"x".repeat(MAX_UTF + 1)).is_err());
    }
}
