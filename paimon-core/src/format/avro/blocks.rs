//! The container of an Avro data file: its header and its blocks, read one after another.
//!
//! Invariants: a length is checked against the size of the file before anything is allocated; every block must end with
//! the marker of the file. Source: Avro specification 1.11, "Object Container Files".

use bytes::{Bytes, BytesMut};

use super::shape::Shape;
use crate::error::{Error, Result, ResultExt};
use crate::format::InputFile;
use crate::format::ranges::fetch_one;
use crate::spec::avro::{AvroCompression, Cursor};

const MAGIC: &[u8] = b"Obj\x01";
/// Bytes that are read at once.
const READ_AHEAD: u64 = 4 << 20;
/// Schemas of a thousand columns are smaller than this.
const MAX_HEADER: usize = 64 << 20;
const SYNC_BYTES: usize = 16;
/// Two numbers of 64 bits.
const MAX_BLOCK_HEADER: usize = 20;

/// Reads the blocks of a file.
#[derive(Debug)]
pub(super) struct Blocks {
    file: InputFile,
    /// What was read and not used yet.
    buffer: Bytes,
    /// Where the file is read next.
    position: u64,
    compression: AvroCompression,
    sync: Bytes,
}

/// A block that is not decompressed yet.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) rows: usize,
    stored: Bytes,
    compression: AvroCompression,
}

impl Block {
    /// Its content.
    pub(super) fn decompress(&self) -> Result<Vec<u8>> {
        self.compression.decompress(&self.stored)
    }
}

fn ended() -> Error {
    Error::corrupt("the Avro file ends too early")
}

impl Blocks {
    /// Reads the header of a file.
    pub(super) async fn open(file: InputFile) -> Result<(Self, Shape)> {
        let mut blocks =
            Self { file, buffer: Bytes::new(), position: 0, compression: AvroCompression::None, sync: Bytes::new() };
        let mut wanted = 1;
        loop {
            let complete = !blocks.fill(wanted).await?;
            match header(&blocks.buffer)? {
                Some(header) => {
                    blocks.compression = header.compression;
                    blocks.sync = blocks.buffer.slice_ref(header.sync);
                    let shape = header.shape;
                    let length = header.length;
                    blocks.buffer = blocks.buffer.slice(length..);
                    return Ok((blocks, shape));
                }
                None if complete || blocks.buffer.len() > MAX_HEADER => return Err(ended()),
                None => wanted = blocks.buffer.len() + 1,
            }
        }
    }

    /// The next block; `None` at the end of the file.
    pub(super) async fn next(&mut self) -> Result<Option<Block>> {
        self.fill(MAX_BLOCK_HEADER).await?;
        if self.buffer.is_empty() {
            return Ok(None);
        }
        let (rows, length, start) = {
            let mut cursor = Cursor::new(&self.buffer);
            let (rows, length) = (cursor.raw_long()?, cursor.raw_long()?);
            (rows, length, self.buffer.len() - cursor.rest().len())
        };
        let rest = self.file.size - self.position;
        let in_file = usize::try_from(rest).unwrap_or(usize::MAX).saturating_add(self.buffer.len() - start);
        let length = usize::try_from(length).ok().filter(|l| l.saturating_add(SYNC_BYTES) <= in_file);
        let length = length.ok_or_else(ended)?;
        let rows =
            usize::try_from(rows).map_err(|_| Error::corrupt("a block of the Avro file has a negative count"))?;
        let end = start + length + SYNC_BYTES;
        self.fill(end).await?;
        if self.buffer.len() < end {
            return Err(ended());
        }
        let block = self.buffer.split_to(end);
        if block.slice(start + length..) != self.sync {
            return Err(Error::corrupt("the marker after a block of the Avro file is wrong"));
        }
        Ok(Some(Block { rows, stored: block.slice(start..start + length), compression: self.compression }))
    }

    /// Reads until the buffer has `wanted` bytes; `false` if the file has no more.
    async fn fill(&mut self, wanted: usize) -> Result<bool> {
        let missing = wanted.saturating_sub(self.buffer.len());
        if missing == 0 {
            return Ok(true);
        }
        let missing = u64::try_from(missing).unwrap_or(u64::MAX);
        let end = self.position.saturating_add(missing.max(READ_AHEAD)).min(self.file.size);
        if end == self.position {
            return Ok(false);
        }
        let more = fetch_one(&self.file, self.position..end).await?;
        self.position = end;
        self.buffer = if self.buffer.is_empty() {
            more
        } else {
            let mut joined = BytesMut::with_capacity(self.buffer.len() + more.len());
            joined.extend_from_slice(&self.buffer);
            joined.extend_from_slice(&more);
            joined.freeze()
        };
        Ok(self.buffer.len() >= wanted)
    }
}

struct Header<'a> {
    shape: Shape,
    compression: AvroCompression,
    sync: &'a [u8],
    length: usize,
}

/// The header at the start of these bytes; `None` if they end before it does.
fn header(bytes: &[u8]) -> Result<Option<Header<'_>>> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(Error::corrupt("the file does not start as an Avro file"));
    };
    let mut cursor = Cursor::new(rest);
    let Ok((schema, codec)) = entries(&mut cursor) else { return Ok(None) };
    let Ok(sync) = cursor.take(SYNC_BYTES) else { return Ok(None) };
    let schema = schema.ok_or_else(|| Error::corrupt("key 'avro.schema' is missing in the Avro header"))?;
    Ok(Some(Header {
        shape: Shape::parse(schema).context("key", "avro.schema")?,
        compression: AvroCompression::from_name(codec)?,
        sync,
        length: bytes.len() - cursor.rest().len(),
    }))
}

/// The schema, if there is one, and the codec.
fn entries<'a>(cursor: &mut Cursor<'a>) -> Result<(Option<&'a [u8]>, &'a [u8])> {
    let (mut schema, mut codec) = (None, b"null".as_slice());
    while let Some(count) = cursor.block()? {
        for _ in 0..count {
            match (cursor.raw_bytes()?, cursor.raw_bytes()?) {
                (b"avro.schema", value) => schema = Some(value),
                (b"avro.codec", value) => codec = value,
                _ => {}
            }
        }
    }
    Ok((schema, codec))
}
