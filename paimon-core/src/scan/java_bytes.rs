//! Java's data streams: big-endian numbers and modified UTF-8.
//!
//! Source: read-path sheet section 8; `java.io.DataOutput`.

use crate::error::{Error, Result};

/// The longest text in bytes.
const MAX_UTF: usize = 65_535;

/// Writes.
#[derive(Debug, Default)]
pub(super) struct JavaWriter(Vec<u8>);

impl JavaWriter {
    pub(super) fn long(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn int(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// A length.
    ///
    /// # Errors
    /// `InvalidInput` if it does not fit 31 bits.
    pub(super) fn len(&mut self, len: usize) -> Result<()> {
        let len = i32::try_from(len).map_err(|_| Error::invalid_input(format!("{len} does not fit a split")))?;
        self.int(len);
        Ok(())
    }

    pub(super) fn bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// # Errors
    /// `InvalidInput` if the text is too long.
    pub(super) fn utf(&mut self, text: &str) -> Result<()> {
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

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Reads.
#[derive(Debug)]
pub(super) struct JavaReader<'a>(&'a [u8]);

impl<'a> JavaReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn chunk<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (chunk, rest) = self.0.split_first_chunk::<N>().ok_or_else(|| self.short(N))?;
        self.0 = rest;
        Ok(*chunk)
    }

    fn short(&self, wanted: usize) -> Error {
        Error::corrupt(format!("a split is cut off: {wanted} more bytes were expected, {} are left", self.0.len()))
    }

    /// The number that follows, which stays.
    pub(super) fn peek_long(&self) -> Option<i64> {
        self.0.first_chunk::<8>().map(|chunk| i64::from_be_bytes(*chunk))
    }

    pub(super) fn long(&mut self) -> Result<i64> {
        Ok(i64::from_be_bytes(self.chunk()?))
    }

    pub(super) fn int(&mut self) -> Result<i32> {
        Ok(i32::from_be_bytes(self.chunk()?))
    }

    /// A count of items of at least so many bytes each.
    pub(super) fn len(&mut self, item_size: usize) -> Result<usize> {
        let len = self.int()?;
        match usize::try_from(len) {
            Ok(count) if count.saturating_mul(item_size.max(1)) <= self.0.len() => Ok(count),
            _ => Err(Error::corrupt(format!("a split cannot hold {len} items in {} bytes", self.0.len()))),
        }
    }

    pub(super) fn bool(&mut self) -> Result<bool> {
        let [byte] = self.chunk()?;
        Ok(byte != 0)
    }

    pub(super) fn raw(&mut self, len: usize) -> Result<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or_else(|| self.short(len))?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(super) fn utf(&mut self) -> Result<String> {
        let length = u16::from_be_bytes(self.chunk()?);
        let bytes = self.raw(usize::from(length))?;
        decode_utf(bytes).ok_or_else(|| Error::corrupt("a text of a split is no modified UTF-8"))
    }

    /// # Errors
    /// `Corrupt` if bytes are left.
    pub(super) fn end(self) -> Result<()> {
        match self.0.len() {
            0 => Ok(()),
            left => Err(Error::corrupt(format!("{left} bytes follow a split"))),
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
        assert_eq!(JavaReader::new(&bytes).utf().unwrap(), text);
        assert!(JavaReader::new(&[0, 1, 0xf0]).utf().is_err());
        assert!(JavaReader::new(&[0, 2, 0xc3]).utf().is_err());
        let mut writer = JavaWriter::default();
        assert!(writer.utf(&"x".repeat(MAX_UTF + 1)).is_err());
    }
}
