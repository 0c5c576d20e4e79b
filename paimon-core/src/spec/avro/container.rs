//! The container around Avro blocks: header, compression, sync markers.

use std::io::Read;

use apache_avro::{Codec, DeflateSettings};

use super::cursor::Cursor;
use super::encode::{put_bytes, put_long};
use super::shape::Shape;
use crate::error::{Error, Result, ResultExt};
use crate::options::Options;
use crate::spec::{MANIFEST_COMPRESSION, ZSTD_LEVEL};

const MAGIC: &[u8; 4] = b"Obj\x01";
/// The bytes of values after which a block ends, as Java has it.
const BLOCK_BYTES: usize = 64_000;
/// More than any writer puts into one block: what claims more is damaged.
const MAX_BLOCK_BYTES: usize = 64 << 20;

/// How blocks are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AvroCompression {
    /// Not at all.
    None,
    /// Deflate without a header.
    Deflate,
    /// Snappy with a checksum.
    Snappy,
    /// Bzip2, which is only read.
    Bzip2,
    /// Zstandard of this level, which only matters for writing.
    Zstd(i32),
}

impl AvroCompression {
    /// What `manifest.compression` and `file.compression.zstd-level` say.
    ///
    /// # Errors
    /// `InvalidConfig` naming the option.
    pub(crate) fn from_options(options: &Options) -> Result<Self> {
        let text = options.value(&MANIFEST_COMPRESSION)?;
        match text.to_ascii_lowercase().as_str() {
            "none" | "null" | "uncompressed" => Ok(Self::None),
            "deflate" => Ok(Self::Deflate),
            "snappy" => Ok(Self::Snappy),
            "zstd" | "zstandard" => Ok(Self::Zstd(options.value(&ZSTD_LEVEL)?)),
            _ => Err(Error::invalid_config(format!(
                "option '{}' must be one of zstd, snappy, deflate and none, but is '{text}'",
                MANIFEST_COMPRESSION.key
            ))),
        }
    }

    /// The codec with this name in the header of a file.
    ///
    /// # Errors
    /// `Unsupported` naming it.
    pub(crate) fn from_name(name: &[u8]) -> Result<Self> {
        match name {
            b"null" => Ok(Self::None),
            b"deflate" => Ok(Self::Deflate),
            b"snappy" => Ok(Self::Snappy),
            b"bzip2" => Ok(Self::Bzip2),
            b"zstandard" => Ok(Self::Zstd(1)),
            _ => {
                let name = String::from_utf8_lossy(name);
                Err(Error::unsupported(format!("the Avro codec '{name}' is not supported")))
            }
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::None => "null",
            Self::Deflate => "deflate",
            Self::Snappy => "snappy",
            Self::Bzip2 => "bzip2",
            Self::Zstd(_) => "zstandard",
        }
    }

    fn compress(self, block: Vec<u8>) -> Result<Vec<u8>> {
        let failed = |e| Error::internal("compressing an Avro block failed").with_source(e);
        let through = |codec: Codec, mut block: Vec<u8>| match codec.compress(&mut block) {
            Ok(()) => Ok(block),
            Err(e) => Err(Error::internal("compressing an Avro block failed").with_source(e)),
        };
        match self {
            Self::None => Ok(block),
            Self::Deflate => through(Codec::Deflate(DeflateSettings::default()), block),
            Self::Snappy => through(Codec::Snappy, block),
            Self::Bzip2 => Err(Error::unsupported("writing Avro files with the codec 'bzip2' is not supported")),
            Self::Zstd(level) => zstd::bulk::compress(&block, level).map_err(failed),
        }
    }

    /// The content of a block.
    ///
    /// # Errors
    /// `Corrupt` if it is damaged or too large.
    pub(crate) fn decompress(self, block: &[u8]) -> Result<Vec<u8>> {
        let damaged = || Error::corrupt(format!("an Avro block is not valid {} data", self.name()));
        let too_large = || Error::corrupt(format!("an Avro block has more than {MAX_BLOCK_BYTES} bytes"));
        let through = |codec: Codec| {
            let mut block = block.to_vec();
            match codec.decompress(&mut block) {
                Ok(()) => Ok(block),
                Err(e) => Err(damaged().with_source(e)),
            }
        };
        let plain = match self {
            Self::None => block.to_vec(),
            Self::Deflate => through(Codec::Deflate(DeflateSettings::default()))?,
            Self::Snappy => {
                // The library takes the checksum and the length at the start for granted.
                let body = block.len().checked_sub(4).map(|end| &block[..end]).ok_or_else(damaged)?;
                if snappy_length(body).ok_or_else(damaged)? > MAX_BLOCK_BYTES as u64 {
                    return Err(too_large());
                }
                through(Codec::Snappy)?
            }
            Self::Bzip2 => {
                let mut plain = Vec::new();
                let mut decoder = bzip2::bufread::BzDecoder::new(block).take(MAX_BLOCK_BYTES as u64 + 1);
                decoder.read_to_end(&mut plain).map_err(|e| damaged().with_source(e))?;
                plain
            }
            Self::Zstd(_) => {
                let mut plain = Vec::with_capacity(block.len().saturating_mul(3).min(BLOCK_BYTES * 2));
                let decoder = zstd::stream::read::Decoder::with_buffer(block).map_err(|e| damaged().with_source(e))?;
                let limit = MAX_BLOCK_BYTES as u64 + 1;
                decoder.take(limit).read_to_end(&mut plain).map_err(|e| damaged().with_source(e))?;
                plain
            }
        };
        if plain.len() > MAX_BLOCK_BYTES { Err(too_large()) } else { Ok(plain) }
    }
}

/// The length of the content, which stands as a little-endian number of 7 bits per byte at the start.
fn snappy_length(body: &[u8]) -> Option<u64> {
    let end = body.iter().take(5).position(|b| b & 0x80 == 0)?;
    Some(body[..=end].iter().rev().fold(0, |length, b| (length << 7) | u64::from(b & 0x7f)))
}

/// Decodes every value of a file with `decode`.
///
/// # Errors
/// `Corrupt` if the bytes are no Avro file or end too early; `Unsupported` for files in other formats and codecs.
pub(crate) fn decode_all<T>(bytes: &[u8], decode: impl Fn(&mut Cursor<'_>, &Shape) -> Result<T>) -> Result<Vec<T>> {
    let (header, mut file) = Header::read(bytes)?;
    let mut values = Vec::new();
    while !file.rest().is_empty() {
        let count = file.raw_long()?;
        let stored = file.raw_bytes()?;
        if file.take(16)? != header.sync {
            return Err(Error::corrupt("the marker after an Avro block is wrong"));
        }
        let block = header.compression.decompress(stored)?;
        // A value has at least one byte, so a greater count is damage and not a reason to allocate.
        let count = usize::try_from(count).ok().filter(|c| *c <= block.len());
        let count = count.ok_or_else(|| Error::corrupt("an Avro block has fewer values than it says"))?;
        let mut cursor = Cursor::new(&block);
        values.reserve(count.min(block.len() / 16));
        for _ in 0..count {
            values.push(decode(&mut cursor, &header.shape)?);
        }
        if !cursor.rest().is_empty() {
            return Err(Error::corrupt("an Avro block has bytes after its last value"));
        }
    }
    Ok(values)
}

struct Header<'a> {
    shape: Shape,
    compression: AvroCompression,
    sync: &'a [u8],
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Result<(Self, Cursor<'a>)> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(match bytes {
                [b'O', b'R', b'C', ..] => {
                    Error::unsupported("manifests in ORC (option 'manifest.format') are not supported")
                }
                [b'P', b'A', b'R', b'1', ..] => {
                    Error::unsupported("manifests in Parquet (option 'manifest.format') are not supported")
                }
                _ => Error::corrupt("the file does not start as an Avro file"),
            });
        };
        let mut file = Cursor::new(rest);
        let (mut schema, mut codec) = (None, b"null".as_slice());
        loop {
            let count = file.raw_long()?;
            if count == 0 {
                break;
            }
            if count < 0 {
                file.raw_long()?;
            }
            for _ in 0..count.unsigned_abs() {
                let (key, value) = (file.raw_bytes()?, file.raw_bytes()?);
                match key {
                    b"avro.schema" => schema = Some(value),
                    b"avro.codec" => codec = value,
                    _ => {}
                }
            }
        }
        let sync = file.take(16)?;
        let schema = schema.ok_or_else(|| Error::corrupt("key 'avro.schema' is missing in the Avro header"))?;
        let header = Self {
            shape: Shape::parse(schema).context("key", "avro.schema")?,
            compression: AvroCompression::from_name(codec)?,
            sync,
        };
        Ok((header, file))
    }
}

/// Writes a file in memory.
#[derive(Debug)]
pub(crate) struct AvroWriter {
    file: Vec<u8>,
    block: Vec<u8>,
    count: i64,
    compression: AvroCompression,
    sync: [u8; 16],
}

impl AvroWriter {
    /// Starts a file whose blocks end with `sync`, which must be random.
    pub(crate) fn new(schema: &str, compression: AvroCompression, sync: [u8; 16]) -> Self {
        let mut file = MAGIC.to_vec();
        put_long(&mut file, 2);
        put_bytes(&mut file, b"avro.schema");
        put_bytes(&mut file, schema.as_bytes());
        put_bytes(&mut file, b"avro.codec");
        put_bytes(&mut file, compression.name().as_bytes());
        put_long(&mut file, 0);
        file.extend_from_slice(&sync);
        Self { file, block: Vec::new(), count: 0, compression, sync }
    }

    /// Writes one value.
    ///
    /// # Errors
    /// `Internal` if compressing fails.
    pub(crate) fn push(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        put(&mut self.block);
        self.count += 1;
        if self.block.len() >= BLOCK_BYTES { self.flush() } else { Ok(()) }
    }

    /// The bytes of the blocks that are full.
    pub(crate) fn flushed_bytes(&self) -> usize {
        self.file.len()
    }

    fn flush(&mut self) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let capacity = self.block.capacity();
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(capacity));
        let stored = self.compression.compress(block)?;
        put_long(&mut self.file, self.count);
        put_bytes(&mut self.file, &stored);
        self.file.extend_from_slice(&self.sync);
        self.count = 0;
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// `Internal` if compressing fails.
    pub(crate) fn finish(mut self) -> Result<Vec<u8>> {
        self.flush()?;
        Ok(self.file)
    }
}
