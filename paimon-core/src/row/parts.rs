//! Rows with nested parts, as metadata of files travels between processes: written field by field, read with checks.
//!
//! Invariants: the layout is that of [`BinaryRow`]; an array has a 32-bit count, null bits in 4-byte words and 8-byte
//! slots, padded to 8 bytes; offsets count from the first byte of the row or array that holds them. Source: binary-row
//! sheet sections 1 and 3; `data/BinaryRow.java`, `data/BinaryArray.java`.

use super::layout::{INLINE_LENGTH, fixed_size, null_words_size};
use crate::error::{Error, Result};

/// Writes a row, or an array, field by field.
#[derive(Debug)]
pub(crate) struct PartsWriter {
    bytes: Vec<u8>,
    first_slot: usize,
    /// Bit of the first field's null flag.
    first_bit: usize,
}

impl PartsWriter {
    /// A row of so many fields, all zero.
    pub(crate) fn row(arity: usize) -> Self {
        Self { bytes: vec![0; fixed_size(arity)], first_slot: null_words_size(arity), first_bit: 8 }
    }

    /// An array of so many elements with slots of 8 bytes.
    fn array(len: usize) -> Self {
        let header = array_header(len);
        let mut bytes = vec![0; (header + 8 * len).next_multiple_of(8)];
        let count = u32::try_from(len).unwrap_or(u32::MAX);
        bytes[..4].copy_from_slice(&count.to_le_bytes());
        Self { bytes, first_slot: header, first_bit: 32 }
    }

    fn slot(&mut self, position: usize, value: [u8; 8]) {
        let start = self.first_slot + 8 * position;
        self.bytes[start..start + 8].copy_from_slice(&value);
    }

    /// Puts null.
    pub(crate) fn null(&mut self, position: usize) {
        let bit = self.first_bit + position;
        self.bytes[bit / 8] |= 1 << (bit % 8);
    }

    /// Puts a number of 64 bits.
    pub(crate) fn long(&mut self, position: usize, value: i64) {
        self.slot(position, value.to_le_bytes());
    }

    /// Puts a number of up to 32 bits.
    pub(crate) fn int(&mut self, position: usize, value: i32) {
        self.slot(position, u64::from(value.cast_unsigned()).to_le_bytes());
    }

    /// Puts text or bytes.
    pub(crate) fn bytes(&mut self, position: usize, value: &[u8]) {
        if value.len() <= INLINE_LENGTH {
            let mut slot = [0; 8];
            slot[..value.len()].copy_from_slice(value);
            slot[7] = 0x80 | value.len() as u8;
            self.slot(position, slot);
        } else {
            self.part(position, value);
        }
    }

    /// Puts a nested row or array.
    pub(crate) fn part(&mut self, position: usize, value: &[u8]) {
        let low = |n: usize| u64::from(u32::try_from(n).unwrap_or(u32::MAX));
        let reference = (low(self.bytes.len()) << 32) | low(value.len());
        self.slot(position, reference.to_le_bytes());
        self.bytes.extend_from_slice(value);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    /// Puts a list of texts.
    pub(crate) fn texts(&mut self, position: usize, values: &[String]) {
        let mut array = Self::array(values.len());
        for (at, value) in values.iter().enumerate() {
            array.bytes(at, value.as_bytes());
        }
        self.part(position, &array.finish());
    }

    /// Puts a list of numbers.
    pub(crate) fn longs(&mut self, position: usize, values: impl ExactSizeIterator<Item = Option<i64>>) {
        let mut array = Self::array(values.len());
        for (at, value) in values.enumerate() {
            match value {
                Some(value) => array.long(at, value),
                None => array.null(at),
            }
        }
        self.part(position, &array.finish());
    }

    /// The bytes.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }
}

/// Bytes of the count and the null bits of an array.
fn array_header(len: usize) -> usize {
    4 + len.div_ceil(32) * 4
}

/// Reads a row, or an array, field by field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartsReader<'a> {
    bytes: &'a [u8],
    len: usize,
    first_slot: usize,
    first_bit: usize,
}

impl<'a> PartsReader<'a> {
    /// A row of so many fields.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short.
    pub(crate) fn row(bytes: &'a [u8], arity: usize) -> Result<Self> {
        if bytes.len() < fixed_size(arity) {
            return Err(Error::corrupt(format!("a row of {arity} fields cannot have {} bytes", bytes.len())));
        }
        Ok(Self { bytes, len: arity, first_slot: null_words_size(arity), first_bit: 8 })
    }

    fn array(bytes: &'a [u8]) -> Result<Self> {
        let short = || Error::corrupt(format!("an array cannot have {} bytes", bytes.len()));
        let count = bytes.first_chunk::<4>().map(|c| u32::from_le_bytes(*c)).ok_or_else(short)?;
        let len = usize::try_from(count).unwrap_or(usize::MAX);
        // The greatest count that the bytes can hold keeps the sizes below from overflowing.
        if len > bytes.len() / 8 || array_header(len) + 8 * len > bytes.len() {
            return Err(Error::corrupt(format!("an array of {len} items cannot have {} bytes", bytes.len())));
        }
        Ok(Self { bytes, len, first_slot: array_header(len), first_bit: 32 })
    }

    /// Whether a field is null.
    pub(crate) fn is_null(&self, position: usize) -> bool {
        let bit = self.first_bit + position;
        position >= self.len || self.bytes.get(bit / 8).is_none_or(|byte| byte & (1 << (bit % 8)) != 0)
    }

    fn slot(&self, position: usize) -> Result<[u8; 8]> {
        let start = self.first_slot + 8 * position;
        let slot = self.bytes.get(start..start + 8).and_then(|s| s.try_into().ok());
        slot.filter(|_| position < self.len).ok_or_else(|| Error::corrupt(format!("a row has no field {position}")))
    }

    /// A number of 64 bits.
    pub(crate) fn long(&self, position: usize) -> Result<i64> {
        Ok(i64::from_le_bytes(self.slot(position)?))
    }

    /// A number of 32 bits.
    pub(crate) fn int(&self, position: usize) -> Result<i32> {
        let [a, b, c, d, ..] = self.slot(position)?;
        Ok(i32::from_le_bytes([a, b, c, d]))
    }

    /// Text or bytes.
    pub(crate) fn bytes(&self, position: usize) -> Result<&'a [u8]> {
        let slot = self.slot(position)?;
        if slot[7] & 0x80 == 0 {
            return self.part(position);
        }
        let (start, length) = (self.first_slot + 8 * position, usize::from(slot[7] & 0x7f));
        let value = self.bytes.get(start..start + length).filter(|_| length <= INLINE_LENGTH);
        value.ok_or_else(|| Error::corrupt(format!("field {position} of a row has {length} bytes in its slot")))
    }

    /// Text.
    pub(crate) fn text(&self, position: usize) -> Result<String> {
        let bytes = self.bytes(position)?;
        let text = std::str::from_utf8(bytes)
            .map_err(|e| Error::corrupt(format!("field {position} of a row is no UTF-8 text")).with_source(e))?;
        Ok(text.to_owned())
    }

    /// A nested row or array.
    pub(crate) fn part(&self, position: usize) -> Result<&'a [u8]> {
        let slot = u64::from_le_bytes(self.slot(position)?);
        let (offset, length) = (slot >> 32, slot & 0xffff_ffff);
        let range = usize::try_from(offset).unwrap_or(usize::MAX)
            ..usize::try_from(offset.saturating_add(length)).unwrap_or(usize::MAX);
        self.bytes.get(range).ok_or_else(|| {
            let size = self.bytes.len();
            Error::corrupt(format!("field {position} of {size} bytes points to {length} bytes at {offset}"))
        })
    }

    /// A list of texts.
    pub(crate) fn texts(&self, position: usize) -> Result<Vec<String>> {
        let array = Self::array(self.part(position)?)?;
        let mut left = array.bytes.len();
        let text = |at| {
            let text = array.text(at)?;
            // Texts that share their bytes could take the square of what is there.
            left = left.checked_sub(text.len()).ok_or_else(|| Error::corrupt("texts of an array share their bytes"))?;
            Ok(text)
        };
        (0..array.len).map(text).collect()
    }

    /// A list of numbers.
    pub(crate) fn longs(&self, position: usize) -> Result<Vec<Option<i64>>> {
        let array = Self::array(self.part(position)?)?;
        (0..array.len).map(|at| if array.is_null(at) { Ok(None) } else { array.long(at).map(Some) }).collect()
    }
}
