//! The streams of one stripe.
//!
//! Invariants: only streams of types that are asked for are fetched; every stream lies within its stripe.
//! Source: ORC specification, "Stripes".

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use chrono_tz::Tz;

use super::codec::{ByteStream, Compression};
use super::footer::{OrcFooter, StripeInfo};
use super::integers::{Integers, Version};
use super::wire::{Message, Value};
use crate::error::{Error, Result};
use crate::format::InputFile;
use crate::format::ranges::{fetch, fetch_one};

/// What a stream holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum StreamKind {
    Present,
    Data,
    Length,
    Dictionary,
    Secondary,
}

impl StreamKind {
    fn of(number: u64) -> Option<Self> {
        Some(match number {
            0 => Self::Present,
            1 => Self::Data,
            2 => Self::Length,
            3 => Self::Dictionary,
            5 => Self::Secondary,
            _ => return None,
        })
    }
}

/// How the values of a type are encoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Encoding {
    /// Entries of its dictionary, if it has one.
    pub(super) dictionary: Option<usize>,
    pub(super) version: Version,
}

/// A stripe whose streams are in memory.
#[derive(Debug)]
pub(super) struct Stripe {
    streams: HashMap<(usize, StreamKind), Bytes>,
    encodings: Vec<Encoding>,
    compression: Compression,
    zone: Option<String>,
    /// Bytes of all streams.
    pub(super) stored_bytes: usize,
}

impl Stripe {
    /// Fetches the streams of the types that `wanted` accepts.
    pub(super) async fn load(
        file: &InputFile,
        footer: &Arc<OrcFooter>,
        info: &StripeInfo,
        wanted: &[bool],
    ) -> Result<Self> {
        let stored = fetch_one(file, info.footer()).await?;
        let plain = ByteStream::new(stored, footer.compression).read_to_end()?;
        let parsed = StripeFooter::read(&plain)?;
        let mut keys = Vec::new();
        let mut ranges: Vec<Range<u64>> = Vec::new();
        let end = info.footer().start;
        let mut offset = info.offset;
        for (column, kind, length) in parsed.streams {
            let next = offset.checked_add(length).filter(|next| *next <= end);
            let next = next.ok_or_else(|| Error::corrupt("a stream of the ORC file does not lie within its stripe"))?;
            if let (Some(kind), Some(true)) = (StreamKind::of(kind), wanted.get(column)) {
                keys.push((column, kind));
                ranges.push(offset..next);
            }
            offset = next;
        }
        let bytes = fetch(file, &ranges).await?;
        let stored_bytes = bytes.iter().map(Bytes::len).sum();
        let (encodings, zone) = (parsed.encodings, parsed.zone);
        let streams = keys.into_iter().zip(bytes).collect();
        Ok(Self { streams, encodings, compression: footer.compression, zone, stored_bytes })
    }

    /// A stream, if the stripe has it.
    pub(super) fn find(&self, column: usize, kind: StreamKind) -> Option<ByteStream> {
        let stored = self.streams.get(&(column, kind))?;
        Some(ByteStream::new(stored.clone(), self.compression))
    }

    /// A stream; without values it may be left out of the file.
    pub(super) fn stream(&self, column: usize, kind: StreamKind) -> ByteStream {
        self.find(column, kind).unwrap_or_else(|| ByteStream::new(Bytes::new(), None))
    }

    /// A stream of integers.
    pub(super) fn integers(&self, column: usize, kind: StreamKind, signed: bool) -> Result<Integers> {
        Ok(Integers::new(self.stream(column, kind), self.encoding(column)?.version, signed))
    }

    /// The zone of the writer.
    ///
    /// # Errors
    /// `Unsupported` naming it.
    pub(super) fn zone(&self) -> Result<Tz> {
        let id = self.zone.as_deref().unwrap_or_default();
        read_zone(id).ok_or_else(|| {
            Error::unsupported(format!("the ORC file was written in the time zone '{id}', which is not known"))
        })
    }

    /// How a type is encoded.
    pub(super) fn encoding(&self, column: usize) -> Result<Encoding> {
        let found = self.encodings.get(column).copied();
        found.ok_or_else(|| Error::corrupt(format!("a stripe of the ORC file has no encoding of type {column}")))
    }
}

struct StripeFooter {
    /// Type, kind and length of each stream.
    streams: Vec<(usize, u64, u64)>,
    encodings: Vec<Encoding>,
    zone: Option<String>,
}

impl StripeFooter {
    fn read(bytes: &[u8]) -> Result<Self> {
        let (mut streams, mut encodings, mut zone) = (Vec::new(), Vec::new(), None);
        let mut message = Message::new(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                1 => streams.push(read_stream(value)?),
                2 => encodings.push(read_encoding(value)?),
                3 => zone = Some(value.text()?),
                _ => {}
            }
        }
        Ok(Self { streams, encodings, zone })
    }
}

fn read_stream(value: Value<'_>) -> Result<(usize, u64, u64)> {
    let (mut kind, mut column, mut length) = (0, 0, 0);
    let mut message = value.message()?;
    while let Some((field, value)) = message.next()? {
        match field {
            1 => kind = value.number()?,
            2 => column = value.number()?,
            3 => length = value.number()?,
            _ => {}
        }
    }
    Ok((usize::try_from(column).unwrap_or(usize::MAX), kind, length))
}

fn read_encoding(value: Value<'_>) -> Result<Encoding> {
    let (mut kind, mut size) = (0, 0);
    let mut message = value.message()?;
    while let Some((field, value)) = message.next()? {
        match field {
            1 => kind = value.number()?,
            2 => size = value.number()?,
            _ => {}
        }
    }
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let (dictionary, version) = match kind {
        0 => (None, Version::One),
        1 => (Some(size), Version::One),
        2 => (None, Version::Two),
        3 => (Some(size), Version::Two),
        _ => return Err(Error::corrupt(format!("the ORC file has an encoding {kind}, which does not exist"))),
    };
    Ok(Encoding { dictionary, version })
}

/// The zone with an id of Java: a name, or whole hours as in `GMT+08:00`.
fn read_zone(id: &str) -> Option<Tz> {
    if matches!(id, "" | "GMT" | "Z") {
        return Some(Tz::UTC);
    }
    let Some(hours) = id.strip_prefix("GMT").and_then(|rest| rest.strip_suffix(":00")) else { return id.parse().ok() };
    let hours: i8 = hours.parse().ok()?;
    // The names of these zones have the sign turned around.
    format!("Etc/GMT{:+}", -hours).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_of_java() {
        assert_eq!(read_zone(""), Some(Tz::UTC));
        assert_eq!(read_zone("Asia/Shanghai"), Some(Tz::Asia__Shanghai));
        assert_eq!(read_zone("GMT+08:00"), Some(Tz::Etc__GMTMinus8));
        assert_eq!(read_zone("GMT-03:00"), Some(Tz::Etc__GMTPlus3));
        assert_eq!((read_zone("Nowhere"), read_zone("GMT+08:30")), (None, None));
    }
}
