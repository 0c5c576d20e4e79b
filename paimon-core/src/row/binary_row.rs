//! One binary row.

use bytes::Bytes;

use crate::error::{Error, Result};
use crate::types::{DataType, Datum};

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

    /// Encodes values.
    ///
    /// # Errors
    /// `InvalidInput` if a value does not fit its type; `Unsupported` for nested types.
    pub fn encode(values: &[Option<Datum>], types: &[DataType], nulls: NullLayout) -> Result<Self> {
        let _ = (values, types, nulls);
        Err(Error::unsupported("encoding binary rows"))
    }

    /// Decodes all values.
    ///
    /// # Errors
    /// `Corrupt` if the arity differs from the number of types or an offset leaves the row.
    pub fn decode(&self, types: &[DataType]) -> Result<Vec<Option<Datum>>> {
        let _ = types;
        Err(Error::unsupported("decoding binary rows"))
    }

    /// The serialized form in metadata: big-endian arity, then the row.
    pub fn to_serialized(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(4 + self.bytes.len());
        out.extend_from_slice(&self.arity.to_be_bytes());
        out.extend_from_slice(&self.bytes);
        out
    }

    /// Reads the serialized form.
    ///
    /// # Errors
    /// `Corrupt` if the bytes are too short for their arity.
    pub fn from_serialized(bytes: impl Into<Bytes>) -> Result<Self> {
        let _ = bytes.into();
        Err(Error::unsupported("decoding binary rows"))
    }
}
