//! The tail of an ORC file: its types and stripes.
//!
//! Invariants: every stripe lies within the file; a type names only types behind it, so that types are a tree.
//! Source: ORC specification, "File Tail".

use std::ops::Range;
use std::sync::Arc;

use super::codec::{ByteStream, Compression, compression};
use super::wire::{Message, Value};
use crate::error::{Error, Result};
use crate::format::InputFile;
use crate::format::ranges::fetch_one;

/// The tail of most files fits into this many bytes.
const PREFETCH: u64 = 64 << 10;
/// The magic at the start and the length of the postscript.
const LEAST_SIZE: u64 = 4;
const MAGIC: &[u8] = b"ORC";
/// Chunks are this large if the file does not say it.
const DEFAULT_CHUNK_BYTES: u64 = 256 << 10;

/// What a type of the file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Byte,
    Short,
    Int,
    Long,
    Float,
    Double,
    String,
    Binary,
    Timestamp,
    List,
    Map,
    Struct,
    Union,
    Decimal,
    Date,
    Varchar,
    Char,
    TimestampInstant,
}

impl Kind {
    fn of(number: u64) -> Result<Self> {
        Ok(match number {
            0 => Self::Boolean,
            1 => Self::Byte,
            2 => Self::Short,
            3 => Self::Int,
            4 => Self::Long,
            5 => Self::Float,
            6 => Self::Double,
            7 => Self::String,
            8 => Self::Binary,
            9 => Self::Timestamp,
            10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Union,
            14 => Self::Decimal,
            15 => Self::Date,
            16 => Self::Varchar,
            17 => Self::Char,
            18 => Self::TimestampInstant,
            _ => return Err(Error::corrupt(format!("the ORC file has a type of kind {number}, which does not exist"))),
        })
    }
}

/// A type of the file.
#[derive(Debug, Clone)]
pub(super) struct OrcType {
    pub(super) kind: Kind,
    /// Positions of the types of its parts.
    pub(super) parts: Vec<usize>,
    /// Names of its parts, if it is a struct.
    pub(super) names: Vec<String>,
}

/// A stripe of the file.
#[derive(Debug, Clone)]
pub(super) struct StripeInfo {
    pub(super) offset: u64,
    pub(super) index_length: u64,
    pub(super) data_length: u64,
    pub(super) footer_length: u64,
    pub(super) rows: usize,
}

impl StripeInfo {
    /// The bytes of its footer.
    pub(super) fn footer(&self) -> Range<u64> {
        let start = self.offset + self.index_length + self.data_length;
        start..start + self.footer_length
    }
}

/// The tail of a file.
#[derive(Debug, Clone)]
pub(crate) struct OrcFooter {
    pub(super) compression: Compression,
    pub(super) types: Vec<OrcType>,
    pub(super) stripes: Vec<StripeInfo>,
    /// Where the statistics of the stripes are.
    pub(super) statistics: Range<u64>,
    stored_bytes: usize,
}

impl OrcFooter {
    /// About how much memory it takes.
    pub(crate) fn memory_size(&self) -> usize {
        size_of::<Self>() + self.stored_bytes * 4
    }

    /// Rows of the file.
    pub(super) fn rows(&self) -> Result<usize> {
        let sum = self.stripes.iter().try_fold(0usize, |sum, s| sum.checked_add(s.rows));
        sum.ok_or_else(|| Error::corrupt("the rows of the ORC file add up to too much"))
    }

    fn root(&self) -> Result<&OrcType> {
        let root = self.types.first().filter(|t| t.kind == Kind::Struct);
        root.ok_or_else(|| Error::corrupt("the root of the ORC file is no struct"))
    }

    /// The type of the column with this name.
    pub(super) fn column(&self, name: &str) -> Result<Option<usize>> {
        let root = self.root()?;
        Ok(root.names.iter().position(|n| n == name).and_then(|i| root.parts.get(i).copied()))
    }
}

/// The tail of a file, from the cache if it is there.
pub(super) async fn footer(file: &InputFile) -> Result<Arc<OrcFooter>> {
    if let Some(footer) = file.footers.orc(&file.path, file.size).await {
        return Ok(footer);
    }
    let footer = Arc::new(load(file).await?);
    file.footers.keep_orc(&file.path, file.size, Arc::clone(&footer)).await;
    Ok(footer)
}

async fn load(file: &InputFile) -> Result<OrcFooter> {
    if file.size < LEAST_SIZE {
        return Err(Error::corrupt(format!("an ORC file has at least {LEAST_SIZE} bytes, found {}", file.size)));
    }
    let start = file.size.saturating_sub(PREFETCH);
    let tail = fetch_one(file, start..file.size).await?;
    let end = tail.len().checked_sub(1).ok_or_else(no_tail)?;
    let length = usize::from(*tail.last().ok_or_else(no_tail)?);
    let postscript = end.checked_sub(length).ok_or_else(no_tail)?;
    let script = Postscript::read(tail.get(postscript..end).ok_or_else(no_tail)?)?;
    let footer_end = start + u64::try_from(postscript).unwrap_or_default();
    let footer_start = footer_end.checked_sub(script.footer_length).ok_or_else(no_tail)?;
    let statistics_start = footer_start.checked_sub(script.metadata_length).ok_or_else(no_tail)?;
    let stored = if footer_start >= start {
        let from = usize::try_from(footer_start - start).unwrap_or(usize::MAX);
        tail.get(from..postscript).map(|part| tail.slice_ref(part)).ok_or_else(no_tail)?
    } else {
        fetch_one(file, footer_start..footer_end).await?
    };
    let stored_bytes = stored.len();
    let plain = ByteStream::new(stored, script.compression).read_to_end()?;
    let (types, stripes, rows) = read_footer(&plain, statistics_start)?;
    let statistics = statistics_start..footer_start;
    let footer = OrcFooter { compression: script.compression, types, stripes, statistics, stored_bytes };
    footer.root()?;
    match footer.rows()? {
        sum if u64::try_from(sum).is_ok_and(|sum| sum == rows) => Ok(footer),
        sum => Err(Error::corrupt(format!("the stripes of the ORC file have {sum} rows, but it should have {rows}"))),
    }
}

fn no_tail() -> Error {
    Error::corrupt("the ORC file has no valid tail")
}

struct Postscript {
    footer_length: u64,
    metadata_length: u64,
    compression: Compression,
}

impl Postscript {
    fn read(bytes: &[u8]) -> Result<Self> {
        let (mut footer_length, mut metadata_length, mut kind) = (0, 0, 0);
        let mut chunk_bytes = DEFAULT_CHUNK_BYTES;
        let mut magic: &[u8] = b"";
        let mut message = Message::new(bytes);
        while let Some((field, value)) = message.next()? {
            match field {
                1 => footer_length = value.number()?,
                2 => kind = value.number()?,
                3 => chunk_bytes = value.number()?,
                5 => metadata_length = value.number()?,
                8_000 => magic = value.bytes()?,
                _ => {}
            }
        }
        if magic != MAGIC {
            return Err(no_tail());
        }
        Ok(Self { footer_length, metadata_length, compression: compression(kind, chunk_bytes)? })
    }
}

/// Types, stripes and the number of rows; stripes end before `data_end`.
fn read_footer(bytes: &[u8], data_end: u64) -> Result<(Vec<OrcType>, Vec<StripeInfo>, u64)> {
    let (mut types, mut stripes, mut rows) = (Vec::new(), Vec::new(), 0);
    let mut message = Message::new(bytes);
    while let Some((field, value)) = message.next()? {
        match field {
            3 => stripes.push(read_stripe(value, data_end)?),
            4 => types.push(read_type(value, types.len())?),
            6 => rows = value.number()?,
            10 => return Err(Error::unsupported("encrypted ORC files are not supported")),
            _ => {}
        }
    }
    let count = types.len();
    if types.iter().any(|t| t.parts.iter().any(|p| *p >= count)) {
        return Err(Error::corrupt("a type of the ORC file names a part that does not exist"));
    }
    Ok((types, stripes, rows))
}

fn read_stripe(value: Value<'_>, data_end: u64) -> Result<StripeInfo> {
    let mut stripe = StripeInfo { offset: 0, index_length: 0, data_length: 0, footer_length: 0, rows: 0 };
    let mut message = value.message()?;
    while let Some((field, value)) = message.next()? {
        match field {
            1 => stripe.offset = value.number()?,
            2 => stripe.index_length = value.number()?,
            3 => stripe.data_length = value.number()?,
            4 => stripe.footer_length = value.number()?,
            5 => stripe.rows = usize::try_from(value.number()?).unwrap_or(usize::MAX),
            _ => {}
        }
    }
    let parts = [stripe.offset, stripe.index_length, stripe.data_length, stripe.footer_length];
    let end = parts.iter().try_fold(0u64, |sum, part| sum.checked_add(*part));
    if end.is_none_or(|end| end > data_end) {
        return Err(Error::corrupt("a stripe of the ORC file does not lie within the file"));
    }
    Ok(stripe)
}

fn read_type(value: Value<'_>, position: usize) -> Result<OrcType> {
    let (mut kind, mut numbers, mut names) = (0, Vec::new(), Vec::new());
    let mut message = value.message()?;
    while let Some((field, value)) = message.next()? {
        match field {
            1 => kind = value.number()?,
            2 => value.numbers(&mut numbers)?,
            3 => names.push(value.text()?),
            _ => {}
        }
    }
    let kind = Kind::of(kind)?;
    let parts: Vec<usize> = numbers.into_iter().map(|n| usize::try_from(n).unwrap_or(usize::MAX)).collect();
    let expected = match kind {
        Kind::Struct => names.len(),
        Kind::List => 1,
        Kind::Map => 2,
        Kind::Union => parts.len(),
        _ => 0,
    };
    if parts.len() != expected || parts.iter().any(|p| *p <= position) {
        return Err(Error::corrupt(format!("type {position} of the ORC file has wrong parts")));
    }
    Ok(OrcType { kind, parts, names })
}
