//! Reads the protobuf messages of ORC files.
//!
//! Invariants: never reads past the bytes of a message; unknown fields are skipped. Source: `orc_proto.proto` of the ORC
//! format.

use crate::error::{Error, Result};

/// The value of a field.
#[derive(Debug, Clone, Copy)]
pub(super) enum Value<'a> {
    /// A number of any width.
    Number(u64),
    /// Text, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

/// The fields of a message, in the order in which they were written.
#[derive(Debug, Clone)]
pub(super) struct Message<'a> {
    rest: &'a [u8],
}

fn damaged() -> Error {
    Error::corrupt("the metadata of the ORC file is damaged")
}

impl<'a> Message<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The next field: its number and value.
    pub(super) fn next(&mut self) -> Result<Option<(u64, Value<'a>)>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Number(self.varint()?),
            1 => Value::Number(self.take(8)?.try_into().map(u64::from_le_bytes).map_err(|_| damaged())?),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| damaged())?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Number(self.take(4)?.try_into().map(u32::from_le_bytes).map(u64::from).map_err(|_| damaged())?),
            _ => return Err(damaged()),
        };
        Ok(Some((key >> 3, value)))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(damaged)?;
        self.rest = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for (at, byte) in self.rest.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.rest = self.rest.get(at + 1..).unwrap_or_default();
                return Ok(number);
            }
        }
        Err(damaged())
    }
}

impl<'a> Value<'a> {
    pub(super) fn number(self) -> Result<u64> {
        match self {
            Self::Number(number) => Ok(number),
            Self::Bytes(_) => Err(damaged()),
        }
    }

    /// A number that is encoded as zigzag.
    pub(super) fn signed(self) -> Result<i64> {
        self.number().map(zigzag)
    }

    pub(super) fn bytes(self) -> Result<&'a [u8]> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Number(_) => Err(damaged()),
        }
    }

    pub(super) fn message(self) -> Result<Message<'a>> {
        self.bytes().map(Message::new)
    }

    pub(super) fn text(self) -> Result<String> {
        std::str::from_utf8(self.bytes()?).map(str::to_owned).map_err(|_| damaged())
    }

    /// Adds the numbers of a repeated field, packed or not.
    pub(super) fn numbers(self, into: &mut Vec<u64>) -> Result<()> {
        match self {
            Self::Number(number) => into.push(number),
            Self::Bytes(bytes) => {
                let mut packed = Message::new(bytes);
                while !packed.rest.is_empty() {
                    into.push(packed.varint()?);
                }
            }
        }
        Ok(())
    }
}

/// The signed number of its zigzag form.
pub(super) fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_every_wire_type() {
        let bytes = [8, 0x96, 1, 0x12, 2, 3, 4, 0x19, 1, 0, 0, 0, 0, 0, 0, 0, 0x25, 2, 0, 0, 0];
        let mut message = Message::new(&bytes);
        assert!(matches!(message.next().unwrap(), Some((1, Value::Number(150)))));
        let mut packed = Vec::new();
        message.next().unwrap().unwrap().1.numbers(&mut packed).unwrap();
        assert_eq!(packed, [3, 4]);
        assert!(matches!(message.next().unwrap(), Some((3, Value::Number(1)))));
        assert!(matches!(message.next().unwrap(), Some((4, Value::Number(2)))));
        assert!(message.next().unwrap().is_none());
        for damaged in [&[8u8][..], &[0x12, 9, 1], &[0x0b], &[0x19, 1]] {
            assert!(Message::new(damaged).next().is_err(), "{damaged:?}");
        }
        assert_eq!([zigzag(0), zigzag(1), zigzag(2), zigzag(u64::MAX)], [0, -1, 1, i64::MIN]);
    }
}
