//! Where the parts of a binary row stand, and how one value is put into its slot.
//!
//! Invariants: a row has 8-byte null words whose first byte is the row kind, then one 8-byte slot per field, then
//! variable parts padded to 8 bytes; everything is little-endian; offsets count from the first byte of the row.
//! Source: binary-row sheet sections 1 and 3; `data/BinaryRow.java`, `data/AbstractBinaryWriter.java`.

use super::NullLayout;
use crate::types::DataType;

/// The longest text that stands in its slot.
pub(super) const INLINE_LENGTH: usize = 7;
/// Bytes that a DECIMAL of more than 18 digits takes in the variable part.
pub(super) const WIDE_DECIMAL_SIZE: usize = 16;
/// Bytes that a TIMESTAMP of more than 3 digits takes in the variable part.
pub(super) const WIDE_TIMESTAMP_SIZE: usize = 8;
/// The greatest precision of a DECIMAL that stands in its slot.
const NARROW_DECIMAL_PRECISION: u8 = 18;
/// The greatest precision of a TIMESTAMP that stands in its slot.
const NARROW_TIMESTAMP_PRECISION: u32 = 3;

/// How values of a type are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The value stands in the slot.
    Fixed,
    /// Up to 7 bytes in the slot, more in the variable part.
    Bytes,
    /// 16 bytes in the variable part.
    WideDecimal,
    /// Nanoseconds in the slot, milliseconds in the variable part.
    WideTimestamp,
    /// A nested value, or one of which only null is supported.
    Nested,
}

impl Slot {
    pub(super) fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean(_)
            | DataType::TinyInt(_)
            | DataType::SmallInt(_)
            | DataType::Int(_)
            | DataType::BigInt(_)
            | DataType::Float(_)
            | DataType::Double(_)
            | DataType::Date(_)
            | DataType::Time(_) => Self::Fixed,
            DataType::Decimal(t) if t.precision() <= NARROW_DECIMAL_PRECISION => Self::Fixed,
            DataType::Decimal(_) => Self::WideDecimal,
            DataType::Timestamp(t) if t.precision() <= NARROW_TIMESTAMP_PRECISION => Self::Fixed,
            DataType::LocalZonedTimestamp(t) if t.precision() <= NARROW_TIMESTAMP_PRECISION => Self::Fixed,
            DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => Self::WideTimestamp,
            DataType::Char(_)
            | DataType::VarChar(_)
            | DataType::Binary(_)
            | DataType::VarBinary(_)
            | DataType::Blob(_) => Self::Bytes,
            DataType::Array(_)
            | DataType::Multiset(_)
            | DataType::Map(_)
            | DataType::Row(_)
            | DataType::Variant(_)
            | DataType::Vector(_) => Self::Nested,
        }
    }

    /// Bytes of the variable part that a null takes.
    pub(super) fn null_size(self, nulls: NullLayout) -> usize {
        match (self, nulls) {
            (Self::WideDecimal, NullLayout::Reserved) => WIDE_DECIMAL_SIZE,
            (Self::WideTimestamp, NullLayout::Reserved) => WIDE_TIMESTAMP_SIZE,
            _ => 0,
        }
    }
}

/// Bytes of the null words of a row, its kind included.
pub(super) fn null_words_size(arity: usize) -> usize {
    (arity + 8).div_ceil(64) * 8
}

/// Bytes of null words and slots.
pub(super) fn fixed_size(arity: usize) -> usize {
    null_words_size(arity) + 8 * arity
}

/// Bytes of the variable part that `length` bytes of text take.
pub(super) fn bytes_size(length: usize) -> usize {
    if length <= INLINE_LENGTH { 0 } else { length.next_multiple_of(8) }
}

/// A zeroed row that is filled field by field, in field order.
///
/// Invariant of callers: the row has room for what is put, since its size was summed with the functions above.
#[derive(Debug)]
pub(super) struct RowSlots<'a> {
    row: &'a mut [u8],
    first_slot: usize,
    /// Where the next variable part goes.
    cursor: usize,
}

impl<'a> RowSlots<'a> {
    pub(super) fn new(row: &'a mut [u8], arity: usize) -> Self {
        Self::resume(row, arity, fixed_size(arity))
    }

    /// Goes on with a row whose variable part is filled up to `cursor`.
    pub(super) fn resume(row: &'a mut [u8], arity: usize, cursor: usize) -> Self {
        Self { row, first_slot: null_words_size(arity), cursor }
    }

    /// Where the next variable part goes.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    fn put(&mut self, position: usize, bytes: &[u8]) {
        let start = self.first_slot + 8 * position;
        self.row[start..start + bytes.len()].copy_from_slice(bytes);
    }

    fn put_reference(&mut self, position: usize, low: usize, reserved: usize) {
        let low = u32::try_from(low).unwrap_or(u32::MAX);
        let offset = u32::try_from(self.cursor).unwrap_or(u32::MAX);
        self.put(position, &low.to_le_bytes());
        let start = self.first_slot + 8 * position + 4;
        self.row[start..start + 4].copy_from_slice(&offset.to_le_bytes());
        self.cursor += reserved;
    }

    pub(super) fn put_null(&mut self, position: usize, slot: Slot, nulls: NullLayout) {
        let bit = 8 + position;
        self.row[bit / 8] |= 1 << (bit % 8);
        let reserved = slot.null_size(nulls);
        if reserved > 0 {
            self.put_reference(position, 0, reserved);
        }
    }

    /// Puts the little-endian bytes of a value that stands in its slot.
    pub(super) fn put_fixed(&mut self, position: usize, bytes: &[u8]) {
        self.put(position, bytes);
    }

    pub(super) fn put_bytes(&mut self, position: usize, value: &[u8]) {
        if value.len() <= INLINE_LENGTH {
            self.put(position, value);
            self.row[self.first_slot + 8 * position + 7] = 0x80 | value.len() as u8;
        } else {
            self.row[self.cursor..self.cursor + value.len()].copy_from_slice(value);
            self.put_reference(position, value.len(), bytes_size(value.len()));
        }
    }

    pub(super) fn put_wide_decimal(&mut self, position: usize, unscaled: i128) {
        let bytes = unscaled.to_be_bytes();
        let minimal = minimal_bytes(&bytes);
        self.row[self.cursor..self.cursor + minimal.len()].copy_from_slice(minimal);
        self.put_reference(position, minimal.len(), WIDE_DECIMAL_SIZE);
    }

    pub(super) fn put_wide_timestamp(&mut self, position: usize, millis: i64, nanos: u32) {
        self.row[self.cursor..self.cursor + 8].copy_from_slice(&millis.to_le_bytes());
        self.put_reference(position, nanos as usize, WIDE_TIMESTAMP_SIZE);
    }
}

/// The shortest big-endian two's complement form, as Java's `BigInteger.toByteArray`.
fn minimal_bytes(bytes: &[u8; 16]) -> &[u8] {
    let redundant = |pair: &&[u8]| matches!((pair[0], pair[1] >> 7), (0x00, 0) | (0xff, 1));
    &bytes[bytes.windows(2).take_while(redundant).count()..]
}
