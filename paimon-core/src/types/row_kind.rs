//! What a row of a primary-key table says about its key.

use crate::error::{Error, Result};

/// Kind of a row. Stored as one byte in `_VALUE_KIND`. Source: `types/RowKind.java`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RowKind {
    /// `+I`: insert.
    Insert = 0,
    /// `-U`: the value before an update.
    UpdateBefore = 1,
    /// `+U`: the value after an update.
    UpdateAfter = 2,
    /// `-D`: delete.
    Delete = 3,
}

impl RowKind {
    /// The kind stored as this byte.
    ///
    /// # Errors
    /// `Corrupt` for other bytes.
    pub fn from_byte(byte: i8) -> Result<Self> {
        match byte {
            0 => Ok(Self::Insert),
            1 => Ok(Self::UpdateBefore),
            2 => Ok(Self::UpdateAfter),
            3 => Ok(Self::Delete),
            _ => Err(Error::corrupt(format!("row kind must be 0, 1, 2 or 3, but is {byte}"))),
        }
    }

    /// The kind of a short text such as `+I`.
    ///
    /// # Errors
    /// `InvalidInput` for other text.
    pub fn from_short_string(text: &str) -> Result<Self> {
        match text {
            "+I" => Ok(Self::Insert),
            "-U" => Ok(Self::UpdateBefore),
            "+U" => Ok(Self::UpdateAfter),
            "-D" => Ok(Self::Delete),
            _ => Err(Error::invalid_input(format!("row kind must be one of +I, -U, +U, -D, but is '{text}'"))),
        }
    }

    /// The short text.
    pub fn short_string(self) -> &'static str {
        match self {
            Self::Insert => "+I",
            Self::UpdateBefore => "-U",
            Self::UpdateAfter => "+U",
            Self::Delete => "-D",
        }
    }

    /// Whether the row takes something away: `-U` and `-D`.
    pub fn is_retract(self) -> bool {
        matches!(self, Self::UpdateBefore | Self::Delete)
    }
}
