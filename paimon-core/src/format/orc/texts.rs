//! Text and bytes, one by one or by a dictionary.
//!
//! Invariants: text is valid UTF-8. The blanks that fill CHAR up are cut off, as Java does.
//! Source: ORC specification, "String, Char, and VarChar Columns".

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BinaryArray, StringArray, UInt32Array};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow::compute::take;

use super::codec::ByteStream;
use super::decoder::{offsets, spread};
use super::footer::Kind;
use super::integers::Integers;
use super::stripe::{StreamKind, Stripe};
use crate::error::{Error, Result};

/// A column of text or bytes.
#[derive(Debug)]
pub(super) struct Texts {
    kind: Kind,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Direct { lengths: Integers, bytes: ByteStream },
    Dictionary { entries: ArrayRef, positions: Integers },
}

impl Texts {
    pub(super) fn new(kind: Kind, column: usize, stripe: &Stripe) -> Result<Self> {
        let mut lengths = stripe.integers(column, StreamKind::Length, false)?;
        let source = match stripe.encoding(column)?.dictionary {
            None => Source::Direct { lengths, bytes: stripe.stream(column, StreamKind::Data) },
            Some(size) => {
                let (offsets, total) = offsets(&lengths.read(size)?, size, None)?;
                let mut bytes = Vec::new();
                stripe.stream(column, StreamKind::Dictionary).append(&mut bytes, total)?;
                let entries = build(kind, offsets, bytes, None)?;
                Source::Dictionary { entries, positions: stripe.integers(column, StreamKind::Data, false)? }
            }
        };
        Ok(Self { kind, source })
    }

    pub(super) fn read(&mut self, count: usize, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        match &mut self.source {
            Source::Direct { lengths, bytes } => {
                let (offsets, total) = offsets(&lengths.read(count)?, rows, nulls.as_ref())?;
                let mut content = Vec::with_capacity(total.min(1 << 20));
                bytes.append(&mut content, total)?;
                build(self.kind, offsets, content, nulls)
            }
            Source::Dictionary { entries, positions } => {
                let size = entries.len();
                let position = |number: i64| {
                    let inside = usize::try_from(number).is_ok_and(|n| n < size);
                    u32::try_from(number).ok().filter(|_| inside).ok_or_else(|| {
                        Error::corrupt(format!(
                            "a dictionary of the ORC file has {size} entries, but no entry {number}"
                        ))
                    })
                };
                let dense = positions.read(count)?.into_iter().map(position).collect::<Result<Vec<_>>>()?;
                let positions = UInt32Array::new(spread(dense, rows, nulls.as_ref()), nulls);
                Ok(take(entries.as_ref(), &positions, None)?)
            }
        }
    }

    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        match &mut self.source {
            Source::Direct { lengths, bytes } => bytes.skip(lengths.skip_lengths(count)?),
            Source::Dictionary { positions, .. } => positions.skip(count),
        }
    }
}

fn build(kind: Kind, offsets: OffsetBuffer<i32>, bytes: Vec<u8>, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let damaged = |e| Error::corrupt("text of the ORC file is not UTF-8").with_source(e);
    let bytes = Buffer::from(bytes);
    Ok(match kind {
        Kind::Binary => Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?),
        Kind::Char => {
            let padded = StringArray::try_new(offsets, bytes, nulls).map_err(damaged)?;
            let cut: StringArray = padded.iter().map(|v| v.map(|v| v.trim_end_matches(' '))).collect();
            Arc::new(cut)
        }
        _ => Arc::new(StringArray::try_new(offsets, bytes, nulls).map_err(damaged)?),
    })
}
