//! One binary row: values to bytes and back.
//!
//! Invariants: the bytes of a [`BinaryRow`] hold at least its null words and slots; offsets into the variable part are
//! checked when a field is read. Source: binary-row sheet sections 1 to 3; `data/BinaryRow.java`,
//! `utils/SerializationUtils.java`.

use bytes::Bytes;

use super::layout::{RowSlots, Slot, bytes_size, fixed_size, null_words_size};
use super::layout::{WIDE_DECIMAL_SIZE, WIDE_TIMESTAMP_SIZE};
use crate::error::{Error, Result};
use crate::types::{DataType, Datum, Timestamp};

/// How a null DECIMAL of more than 18 digits or TIMESTAMP of more than 3 digits is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullLayout {
    /// Nothing is reserved: statistics.
    Plain,
    /// The variable part keeps room and the slot its offset: partitions, keys and bucket keys.
    Reserved,
}

/// A row of atomic values. Two rows with equal bytes are equal; compare decoded values where nulls of wide types may
/// have been written in both layouts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BinaryRow {
    arity: u32,
    bytes: Bytes,
}

impl BinaryRow {
    /// The row without fields.
    pub fn empty() -> Self {
        Self { arity: 0, bytes: Bytes::from_static(&[0; 8]) }
    }

    /// The number of fields.
    pub fn arity(&self) -> usize {
        self.arity as usize
    }

    /// The bytes without the arity prefix.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A row from its bytes without the arity prefix.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short for the arity.
    pub fn from_bytes(arity: u32, bytes: impl Into<Bytes>) -> Result<Self> {
        let bytes = bytes.into();
        let needed = fixed_size(arity as usize);
        if arity > i32::MAX as u32 || bytes.len() < needed {
            let length = bytes.len();
            return Err(Error::corrupt(format!(
                "a binary row of {arity} fields needs {needed} bytes, but has {length}"
            )));
        }
        Ok(Self { arity, bytes })
    }

    /// A row whose bytes this room has just laid out.
    pub(super) fn from_layout(arity: usize, bytes: Bytes) -> Self {
        debug_assert!(bytes.len() >= fixed_size(arity));
        Self { arity: arity as u32, bytes }
    }

    /// Encodes values.
    ///
    /// # Errors
    /// `InvalidInput` if a value does not fit its type; `Unsupported` for nested types.
    pub fn encode(values: &[Option<Datum>], types: &[DataType], nulls: NullLayout) -> Result<Self> {
        if values.len() != types.len() {
            let (found, expected) = (values.len(), types.len());
            return Err(Error::invalid_input(format!("expected {expected} values for a binary row, found {found}")));
        }
        let arity = types.len();
        let mut size = fixed_size(arity);
        for (value, data_type) in values.iter().zip(types) {
            size += variable_size(value.as_ref(), data_type, nulls);
        }
        check_size(size)?;
        let mut bytes = vec![0u8; size];
        let mut slots = RowSlots::new(&mut bytes, arity);
        for (position, (value, data_type)) in values.iter().zip(types).enumerate() {
            match value {
                Some(value) => put_value(&mut slots, position, value, data_type)?,
                None => slots.put_null(position, Slot::of(data_type), nulls),
            }
        }
        Ok(Self::from_layout(arity, bytes.into()))
    }

    /// Decodes all values.
    ///
    /// # Errors
    /// `Corrupt` if the arity differs from the number of types or an offset leaves the row; `Unsupported` for a nested
    /// value.
    pub fn decode(&self, types: &[DataType]) -> Result<Vec<Option<Datum>>> {
        if types.len() != self.arity() {
            let (found, expected) = (self.arity, types.len());
            return Err(Error::corrupt(format!("expected a binary row of {expected} fields, found {found}")));
        }
        types.iter().enumerate().map(|(position, data_type)| self.field(position, data_type)).collect()
    }

    /// Whether a field is null; `true` for a field that the row does not have.
    pub fn is_null(&self, position: usize) -> bool {
        let bit = 8 + position;
        position >= self.arity() || self.bytes.get(bit / 8).is_none_or(|byte| byte & (1 << (bit % 8)) != 0)
    }

    /// Decodes one field.
    ///
    /// # Errors
    /// `Corrupt` if the row has no such field or an offset leaves the row; `Unsupported` for a nested value.
    pub fn field(&self, position: usize, data_type: &DataType) -> Result<Option<Datum>> {
        if position >= self.arity() {
            return Err(Error::corrupt(format!("a binary row of {} fields has no field {position}", self.arity)));
        }
        if self.is_null(position) {
            return Ok(None);
        }
        let slot = self.slot(position)?;
        let low = u64::from_le_bytes(slot);
        Ok(Some(match data_type {
            DataType::Boolean(_) => Datum::Boolean(slot[0] != 0),
            DataType::TinyInt(_) => Datum::TinyInt(low as i8),
            DataType::SmallInt(_) => Datum::SmallInt(low as i16),
            DataType::Int(_) => Datum::Int(low as i32),
            DataType::BigInt(_) => Datum::BigInt(low as i64),
            DataType::Float(_) => Datum::Float(f32::from_bits(low as u32)),
            DataType::Double(_) => Datum::Double(f64::from_bits(low)),
            DataType::Date(_) => Datum::Date(low as i32),
            DataType::Time(_) => Datum::Time(low as i32),
            DataType::Char(_) | DataType::VarChar(_) => match std::str::from_utf8(self.bytes_at(slot, position)?) {
                Ok(text) => Datum::String(text.to_owned()),
                Err(error) => {
                    let message = format!("field {position} of a binary row is no UTF-8 text");
                    return Err(Error::corrupt(message).with_source(error));
                }
            },
            DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_) => {
                Datum::Bytes(self.bytes_at(slot, position)?.to_vec())
            }
            DataType::Decimal(t) if Slot::of(data_type) == Slot::Fixed => {
                Datum::Decimal(i128::from(low as i64), t.scale())
            }
            DataType::Decimal(t) => Datum::Decimal(self.wide_decimal(low, position)?, t.scale()),
            DataType::Timestamp(_) => Datum::Timestamp(self.timestamp(low, position, data_type)?),
            DataType::LocalZonedTimestamp(_) => Datum::LocalZonedTimestamp(self.timestamp(low, position, data_type)?),
            DataType::Array(_)
            | DataType::Multiset(_)
            | DataType::Map(_)
            | DataType::Row(_)
            | DataType::Variant(_)
            | DataType::Vector(_) => return Err(nested(data_type)),
        }))
    }

    fn slot(&self, position: usize) -> Result<[u8; 8]> {
        let start = null_words_size(self.arity()) + 8 * position;
        let slot = self.bytes.get(start..start + 8).and_then(|s| s.try_into().ok());
        slot.ok_or_else(|| Error::corrupt(format!("slot {position} of a binary row is cut off")))
    }

    fn part(&self, offset: u64, length: u64, position: usize) -> Result<&[u8]> {
        let end = offset.saturating_add(length);
        let range = usize::try_from(offset).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX);
        self.bytes.get(range).ok_or_else(|| {
            let size = self.bytes.len();
            Error::corrupt(format!(
                "field {position} of a binary row of {size} bytes points to bytes {offset} to {end}"
            ))
        })
    }

    fn bytes_at(&self, slot: [u8; 8], position: usize) -> Result<&[u8]> {
        let low = u64::from_le_bytes(slot);
        if slot[7] & 0x80 == 0 {
            return self.part(low >> 32, low & 0xffff_ffff, position);
        }
        let length = usize::from(slot[7] & 0x7f);
        if length > 7 {
            return Err(Error::corrupt(format!("field {position} of a binary row has {length} bytes in its slot")));
        }
        let start = null_words_size(self.arity()) + 8 * position;
        self.part(start as u64, length as u64, position)
    }

    fn wide_decimal(&self, slot: u64, position: usize) -> Result<i128> {
        let length = slot & 0xffff_ffff;
        if length == 0 || length > WIDE_DECIMAL_SIZE as u64 {
            return Err(Error::corrupt(format!("the decimal in field {position} of a binary row has {length} bytes")));
        }
        let bytes = self.part(slot >> 32, length, position)?;
        let sign = if bytes.first().is_some_and(|b| b & 0x80 != 0) { -1 } else { 0 };
        Ok(bytes.iter().fold(sign, |value: i128, byte| (value << 8) | i128::from(*byte)))
    }

    fn timestamp(&self, slot: u64, position: usize, data_type: &DataType) -> Result<Timestamp> {
        if Slot::of(data_type) == Slot::Fixed {
            return Ok(Timestamp::from_millis(slot as i64));
        }
        let nanos = slot as u32;
        if nanos > 999_999 {
            return Err(Error::corrupt(format!("field {position} of a binary row has {nanos} ns in a millisecond")));
        }
        let bytes = self.part(slot >> 32, WIDE_TIMESTAMP_SIZE as u64, position)?;
        Ok(Timestamp { millis: bytes.try_into().map(i64::from_le_bytes).unwrap_or_default(), nanos })
    }

    /// The serialized form in metadata: big-endian arity, then the row.
    pub fn to_serialized(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + self.bytes.len());
        out.extend_from_slice(&self.arity.to_be_bytes());
        out.extend_from_slice(&self.bytes);
        out
    }

    /// Reads the serialized form. No bytes at all are the row without fields, as early writers of other languages left it.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short for their arity.
    pub fn from_serialized(bytes: impl Into<Bytes>) -> Result<Self> {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Ok(Self::empty());
        }
        match bytes.first_chunk::<4>() {
            Some(arity) => Self::from_bytes(u32::from_be_bytes(*arity), bytes.slice(4..)),
            None => Err(Error::corrupt(format!("a serialized binary row has {} bytes", bytes.len()))),
        }
    }
}

/// Refuses rows whose offsets do not fit 31 bits.
pub(super) fn check_size(size: usize) -> Result<()> {
    if size > i32::MAX as usize {
        return Err(Error::invalid_input(format!("a binary row of {size} bytes is too large")));
    }
    Ok(())
}

pub(super) fn nested(data_type: &DataType) -> Error {
    Error::unsupported(format!("values of type {data_type:?} in binary rows"))
}

fn variable_size(value: Option<&Datum>, data_type: &DataType, nulls: NullLayout) -> usize {
    let slot = Slot::of(data_type);
    match (value, slot) {
        (None, _) => slot.null_size(nulls),
        (Some(Datum::String(v)), _) => bytes_size(v.len()),
        (Some(Datum::Bytes(v)), _) => bytes_size(v.len()),
        (Some(_), Slot::WideDecimal) => WIDE_DECIMAL_SIZE,
        (Some(_), Slot::WideTimestamp) => WIDE_TIMESTAMP_SIZE,
        (Some(_), _) => 0,
    }
}

fn put_value(slots: &mut RowSlots<'_>, at: usize, value: &Datum, data_type: &DataType) -> Result<()> {
    match (data_type, value) {
        (DataType::Boolean(_), Datum::Boolean(v)) => slots.put_fixed(at, &[u8::from(*v)]),
        (DataType::TinyInt(_), Datum::TinyInt(v)) => slots.put_fixed(at, &v.to_le_bytes()),
        (DataType::SmallInt(_), Datum::SmallInt(v)) => slots.put_fixed(at, &v.to_le_bytes()),
        (DataType::Int(_), Datum::Int(v))
        | (DataType::Date(_), Datum::Date(v))
        | (DataType::Time(_), Datum::Time(v)) => slots.put_fixed(at, &v.to_le_bytes()),
        (DataType::BigInt(_), Datum::BigInt(v)) => slots.put_fixed(at, &v.to_le_bytes()),
        (DataType::Float(_), Datum::Float(v)) => slots.put_fixed(at, &v.to_le_bytes()),
        (DataType::Double(_), Datum::Double(v)) => slots.put_fixed(at, &v.to_le_bytes()),
        (DataType::Char(_) | DataType::VarChar(_), Datum::String(v)) => slots.put_bytes(at, v.as_bytes()),
        (DataType::Binary(_) | DataType::VarBinary(_) | DataType::Blob(_), Datum::Bytes(v)) => slots.put_bytes(at, v),
        (DataType::Decimal(t), Datum::Decimal(v, scale)) => {
            let unscaled = rescale(*v, *scale, t.scale()).ok_or_else(|| misfit(value, data_type))?;
            match Slot::of(data_type) {
                Slot::WideDecimal => slots.put_wide_decimal(at, unscaled),
                _ => {
                    let narrow = i64::try_from(unscaled).map_err(|_| misfit(value, data_type))?;
                    slots.put_fixed(at, &narrow.to_le_bytes());
                }
            }
        }
        (DataType::Timestamp(_), Datum::Timestamp(v))
        | (DataType::LocalZonedTimestamp(_), Datum::LocalZonedTimestamp(v)) => match Slot::of(data_type) {
            Slot::WideTimestamp => slots.put_wide_timestamp(at, v.millis, v.nanos),
            _ if v.nanos == 0 => slots.put_fixed(at, &v.millis.to_le_bytes()),
            _ => return Err(misfit(value, data_type)),
        },
        _ if data_type.is_nested() => return Err(nested(data_type)),
        _ => return Err(misfit(value, data_type)),
    }
    Ok(())
}

fn misfit(value: &Datum, data_type: &DataType) -> Error {
    Error::invalid_input(format!("value {value:?} does not fit type {data_type:?}"))
}

/// The unscaled value at another scale; `None` if digits would be lost or overflow.
fn rescale(unscaled: i128, from: u8, to: u8) -> Option<i128> {
    if to >= from {
        return unscaled.checked_mul(10i128.checked_pow(u32::from(to - from))?);
    }
    let factor = 10i128.checked_pow(u32::from(from - to))?;
    (unscaled % factor == 0).then_some(unscaled / factor)
}
