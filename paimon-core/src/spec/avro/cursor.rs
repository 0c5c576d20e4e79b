//! Values out of an Avro block.

use super::names::FieldName;
use super::shape::Shape;
use crate::error::{Error, Result};
use crate::row::BinaryRow;
use crate::spec::file_name::file_name;

/// A position in the decompressed bytes of a block.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
}

fn truncated() -> Error {
    Error::corrupt("an Avro block ends within a value")
}

fn mismatch(expected: &str) -> Error {
    Error::corrupt(format!("the Avro schema has another type than {expected}"))
}

/// The value of a field that every version has.
///
/// # Errors
/// `Corrupt` naming the field if the writer's schema lacks it or its value is null.
pub(crate) fn required<T>(value: Option<T>, name: FieldName) -> Result<T> {
    value.ok_or_else(|| Error::corrupt(format!("field '{}' of a manifest has no value", name.as_str())))
}

/// As [`required`] for the name of a file.
///
/// # Errors
/// As [`required`]; `Corrupt` naming the field if the value is no such name.
pub(crate) fn required_file_name(value: Option<String>, name: FieldName) -> Result<String> {
    file_name(required(value, name)?, name.as_str())
}

impl<'a> Cursor<'a> {
    /// At the start of these bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What is left.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(crate) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    /// A zigzag number.
    ///
    /// # Errors
    /// `Corrupt` if it does not end, or within 10 bytes.
    pub(crate) fn raw_long(&mut self) -> Result<i64> {
        let mut number = 0u64;
        for (at, byte) in self.rest.iter().take(10).enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[at + 1..];
                return Ok((number >> 1) as i64 ^ -((number & 1) as i64));
            }
        }
        Err(if self.rest.len() < 10 { truncated() } else { Error::corrupt("a number in an Avro block is too long") })
    }

    /// A length and so many bytes.
    ///
    /// # Errors
    /// `Corrupt` if there are fewer.
    pub(crate) fn raw_bytes(&mut self) -> Result<&'a [u8]> {
        let length =
            usize::try_from(self.raw_long()?).map_err(|_| Error::corrupt("a length in an Avro block is negative"))?;
        self.take(length)
    }

    /// The branch of a union that comes next.
    fn branch<'s>(&mut self, branches: &'s [Shape]) -> Result<&'s Shape> {
        let at = self.raw_long()?;
        let branch = usize::try_from(at).ok().and_then(|at| branches.get(at));
        branch.ok_or_else(|| Error::corrupt(format!("an Avro union of {} branches has no branch {at}", branches.len())))
    }

    /// A number, or null.
    pub(crate) fn long(&mut self, shape: &Shape) -> Result<Option<i64>> {
        match shape {
            Shape::Long => self.raw_long().map(Some),
            Shape::Null => Ok(None),
            Shape::Union(branches) => {
                let branch = self.branch(branches)?;
                self.long(branch)
            }
            _ => Err(mismatch("int or long")),
        }
    }

    /// A number of 32 bits, or null.
    pub(crate) fn int(&mut self, shape: &Shape) -> Result<Option<i32>> {
        let wide = self.long(shape)?;
        wide.map(|v| i32::try_from(v).map_err(|_| Error::corrupt(format!("{v} does not fit 32 bits")))).transpose()
    }

    /// Bytes, or null.
    pub(crate) fn bytes(&mut self, shape: &Shape) -> Result<Option<&'a [u8]>> {
        match shape {
            Shape::Bytes => self.raw_bytes().map(Some),
            Shape::Fixed(length) => self.take(*length).map(Some),
            Shape::Null => Ok(None),
            Shape::Union(branches) => {
                let branch = self.branch(branches)?;
                self.bytes(branch)
            }
            _ => Err(mismatch("bytes or string")),
        }
    }

    /// Text, or null.
    pub(crate) fn text(&mut self, shape: &Shape) -> Result<Option<String>> {
        let text = |bytes: &[u8]| {
            std::str::from_utf8(bytes)
                .map(str::to_owned)
                .map_err(|e| Error::corrupt("text is not UTF-8").with_source(e))
        };
        self.bytes(shape)?.map(text).transpose()
    }

    /// A serialized binary row, or null.
    pub(crate) fn row(&mut self, shape: &Shape) -> Result<Option<BinaryRow>> {
        let row = |bytes: &'a [u8]| {
            // Most rows of append tables are this one: it is shared instead of copied.
            if bytes == [0; 12] { Ok(BinaryRow::empty()) } else { BinaryRow::from_serialized(bytes.to_vec()) }
        };
        self.bytes(shape)?.map(row).transpose()
    }

    /// A list, or null.
    pub(crate) fn list<T>(
        &mut self,
        shape: &Shape,
        mut item: impl FnMut(&mut Self, &Shape) -> Result<T>,
    ) -> Result<Option<Vec<T>>> {
        match shape {
            Shape::Array(items) => {
                let mut list = Vec::new();
                while let Some(count) = self.block()? {
                    list.reserve(count.min(1 << 10));
                    for _ in 0..count {
                        list.push(item(self, items)?);
                    }
                }
                Ok(Some(list))
            }
            Shape::Null => Ok(None),
            Shape::Union(branches) => {
                let branch = self.branch(branches)?;
                self.list(branch, item)
            }
            _ => Err(mismatch("array")),
        }
    }

    /// The number of items in the next block of an array or map; `None` at its end.
    pub(crate) fn block(&mut self) -> Result<Option<usize>> {
        let count = self.raw_long()?;
        if count < 0 {
            self.raw_long()?; // the bytes of the block, which only who skips needs
        }
        // An item has at least one byte, so a greater count is damage and not a reason to allocate.
        match usize::try_from(count.unsigned_abs()) {
            Ok(0) => Ok(None),
            Ok(count) if count <= self.rest.len() => Ok(Some(count)),
            _ => Err(truncated()),
        }
    }

    /// Visits the known fields of a record in the writer's order; `false` for null. The visitor takes each value.
    pub(crate) fn record(
        &mut self,
        shape: &Shape,
        mut visit: impl FnMut(&mut Self, FieldName, &Shape) -> Result<()>,
    ) -> Result<bool> {
        match shape {
            Shape::Record(fields) => {
                for field in fields {
                    match field.name {
                        Some(name) => {
                            visit(self, name, &field.shape).map_err(|e| e.with_context("field", name.as_str()))?;
                        }
                        None => self.skip(&field.shape)?,
                    }
                }
                Ok(true)
            }
            Shape::Null => Ok(false),
            Shape::Union(branches) => {
                let branch = self.branch(branches)?;
                self.record(branch, visit)
            }
            _ => Err(mismatch("record")),
        }
    }

    /// Passes over a value.
    pub(crate) fn skip(&mut self, shape: &Shape) -> Result<()> {
        match shape {
            Shape::Null => {}
            Shape::Boolean => {
                self.take(1)?;
            }
            Shape::Long => {
                self.raw_long()?;
            }
            Shape::Float => {
                self.take(4)?;
            }
            Shape::Double => {
                self.take(8)?;
            }
            Shape::Bytes => {
                self.raw_bytes()?;
            }
            Shape::Fixed(length) => {
                self.take(*length)?;
            }
            Shape::Array(item) => {
                while let Some(count) = self.block()? {
                    for _ in 0..count {
                        self.skip(item)?;
                    }
                }
            }
            Shape::Map(value) => {
                while let Some(count) = self.block()? {
                    for _ in 0..count {
                        self.raw_bytes()?;
                        self.skip(value)?;
                    }
                }
            }
            Shape::Union(branches) => {
                let branch = self.branch(branches)?;
                self.skip(branch)?;
            }
            Shape::Record(fields) => {
                for field in fields {
                    self.skip(&field.shape)?;
                }
            }
        }
        Ok(())
    }
}
