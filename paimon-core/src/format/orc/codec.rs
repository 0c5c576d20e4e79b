//! Bytes of one stream of a stripe, decompressed chunk by chunk.
//!
//! Invariants: one chunk is decompressed at a time and never to more bytes than the file allows for a chunk; reading past
//! the end is an error. Source: ORC specification, "Compression".

use bytes::{Buf, Bytes};

use super::lzo;
use crate::error::{Error, Result};

/// The length of a chunk has 23 bits, and no writer makes larger ones when they are decompressed.
const MAX_CHUNK_BYTES: u64 = 1 << 23;

/// How the chunks of a file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Codec {
    /// Deflate without a header.
    Zlib,
    /// Raw Snappy.
    Snappy,
    /// LZO1X without a header.
    Lzo,
    /// A raw block of LZ4.
    Lz4,
    /// A frame of Zstandard.
    Zstd,
}

/// The compression of a file; `None` stands for a file without any.
pub(super) type Compression = Option<(Codec, usize)>;

/// The compression with this number and this greatest chunk.
///
/// # Errors
/// `Unsupported` naming the codec; `Corrupt`.
pub(super) fn compression(kind: u64, chunk_bytes: u64) -> Result<Compression> {
    let codec = match kind {
        0 => return Ok(None),
        1 => Codec::Zlib,
        2 => Codec::Snappy,
        3 => Codec::Lzo,
        4 => Codec::Lz4,
        5 => Codec::Zstd,
        6 => return Err(Error::unsupported("the codec 'brotli' of ORC files is not supported")),
        _ => return Err(Error::corrupt(format!("the ORC file names the codec {kind}, which does not exist"))),
    };
    if chunk_bytes > MAX_CHUNK_BYTES {
        return Err(Error::corrupt(format!("the ORC file names chunks of {chunk_bytes} bytes")));
    }
    Ok(Some((codec, usize::try_from(chunk_bytes).unwrap_or_default())))
}

/// A stream that is read from its start to its end.
pub(super) struct ByteStream {
    /// What was not looked at yet.
    stored: Bytes,
    compression: Compression,
    /// The chunk that is read.
    chunk: Bytes,
    zstd: Option<zstd::bulk::Decompressor<'static>>,
}

impl std::fmt::Debug for ByteStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (stored, chunk) = (self.stored.len(), self.chunk.len());
        f.debug_struct("ByteStream").field("stored", &stored).field("chunk", &chunk).finish_non_exhaustive()
    }
}

fn ended() -> Error {
    Error::corrupt("a stream of the ORC file ends too early")
}

impl ByteStream {
    pub(super) fn new(stored: Bytes, compression: Compression) -> Self {
        match compression {
            None => Self { stored: Bytes::new(), compression, chunk: stored, zstd: None },
            Some(_) => Self { stored, compression, chunk: Bytes::new(), zstd: None },
        }
    }

    /// Bytes that can be read without looking at the next chunk; empty only at the end.
    #[inline]
    pub(super) fn available(&mut self) -> Result<&[u8]> {
        while self.chunk.is_empty() {
            if !self.next_chunk()? {
                break;
            }
        }
        Ok(&self.chunk)
    }

    /// Passes over bytes that are available.
    #[inline]
    pub(super) fn consume(&mut self, bytes: usize) {
        self.chunk.advance(bytes.min(self.chunk.len()));
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&mut self) -> Result<bool> {
        Ok(self.available()?.is_empty())
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8> {
        let byte = *self.available()?.first().ok_or_else(ended)?;
        self.chunk.advance(1);
        Ok(byte)
    }

    /// Fills `out`.
    pub(super) fn read_exact(&mut self, mut out: &mut [u8]) -> Result<()> {
        while !out.is_empty() {
            let available = self.available()?;
            let length = available.len().min(out.len());
            if length == 0 {
                return Err(ended());
            }
            let (now, later) = out.split_at_mut(length);
            now.copy_from_slice(available.get(..length).ok_or_else(ended)?);
            self.consume(length);
            out = later;
        }
        Ok(())
    }

    /// Adds the next `length` bytes to `out`.
    pub(super) fn append(&mut self, out: &mut Vec<u8>, mut length: usize) -> Result<()> {
        while length > 0 {
            let available = self.available()?;
            let now = available.len().min(length);
            if now == 0 {
                return Err(ended());
            }
            out.extend_from_slice(available.get(..now).ok_or_else(ended)?);
            self.consume(now);
            length -= now;
        }
        Ok(())
    }

    /// Passes over the next `length` bytes.
    pub(super) fn skip(&mut self, mut length: usize) -> Result<()> {
        while length > 0 {
            let now = self.available()?.len().min(length);
            if now == 0 {
                return Err(ended());
            }
            self.consume(now);
            length -= now;
        }
        Ok(())
    }

    /// A number of seven bits per byte, the lowest first.
    #[inline]
    pub(super) fn varint(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Error::corrupt("a number of the ORC file has too many bytes"))
    }

    /// All that is left.
    pub(super) fn read_to_end(&mut self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        while !self.is_at_end()? {
            out.extend_from_slice(&self.chunk);
            self.chunk.clear();
        }
        Ok(out)
    }

    /// Makes the next chunk current; `false` at the end.
    fn next_chunk(&mut self) -> Result<bool> {
        let Some((codec, limit)) = self.compression else { return Ok(false) };
        if self.stored.is_empty() {
            return Ok(false);
        }
        let [a, b, c] = *self.stored.first_chunk::<3>().ok_or_else(ended)?;
        let header = u32::from_le_bytes([a, b, c, 0]);
        self.stored.advance(3);
        let length = usize::try_from(header >> 1).unwrap_or(usize::MAX);
        if length > self.stored.len() {
            return Err(ended());
        }
        let stored = self.stored.split_to(length);
        self.chunk = if header & 1 == 1 { stored } else { self.decompress(codec, &stored, limit)? };
        Ok(true)
    }

    fn decompress(&mut self, codec: Codec, stored: &[u8], limit: usize) -> Result<Bytes> {
        let damaged = || Error::corrupt(format!("a chunk of the ORC file is not valid {codec:?} data"));
        let mut plain = Vec::new();
        match codec {
            Codec::Zlib => {
                plain.reserve_exact(limit);
                let mut inflate = flate2::Decompress::new(false);
                let status = inflate.decompress_vec(stored, &mut plain, flate2::FlushDecompress::Finish);
                match status.map_err(|e| damaged().with_source(e))? {
                    flate2::Status::StreamEnd => {}
                    flate2::Status::Ok | flate2::Status::BufError => return Err(damaged()),
                }
            }
            Codec::Snappy => {
                let length = snap::raw::decompress_len(stored).map_err(|e| damaged().with_source(e))?;
                if length > limit {
                    return Err(damaged());
                }
                plain.resize(length, 0);
                let written = snap::raw::Decoder::new().decompress(stored, &mut plain);
                plain.truncate(written.map_err(|e| damaged().with_source(e))?);
            }
            Codec::Lzo => plain = lzo::decompress(stored, limit).ok_or_else(damaged)?,
            Codec::Lz4 => {
                // Zeros of the allocator cost nothing until they are used.
                plain = vec![0; limit];
                let written = lz4_flex::block::decompress_into(stored, &mut plain);
                plain.truncate(written.map_err(|e| damaged().with_source(e))?);
            }
            Codec::Zstd => {
                plain.reserve_exact(limit);
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Decompressor::new().map_err(|e| damaged().with_source(e))?),
                };
                zstd.decompress_to_buffer(stored, &mut plain).map_err(|e| damaged().with_source(e))?;
            }
        }
        Ok(Bytes::from(plain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn chunk(bytes: &[u8], plain: bool) -> Vec<u8> {
        let header = (u32::try_from(bytes.len()).unwrap() << 1) | u32::from(plain);
        [&header.to_le_bytes()[..3], bytes].concat()
    }

    #[test]
    fn chunks_of_every_codec() {
        let text = b"to be or not to be or to be".repeat(20);
        let deflated = {
            let mut deflate = flate2::Compress::new(flate2::Compression::default(), false);
            let mut out = Vec::with_capacity(1_000);
            deflate.compress_vec(&text, &mut out, flate2::FlushCompress::Finish).unwrap();
            out
        };
        let cases = [
            (Codec::Zlib, deflated),
            (Codec::Snappy, snap::raw::Encoder::new().compress_vec(&text).unwrap()),
            (Codec::Lz4, lz4_flex::block::compress(&text)),
            (Codec::Zstd, zstd::bulk::compress(&text, 1).unwrap()),
        ];
        for (codec, compressed) in cases {
            let stored = [chunk(&compressed, false), chunk(b"", true), chunk(b"plain", true)].concat();
            let mut stream = ByteStream::new(Bytes::from(stored.clone()), Some((codec, 1_000)));
            let all = stream.read_to_end().unwrap();
            assert_eq!(all, [&text[..], b"plain"].concat(), "{codec:?}");
            assert!(stream.byte().is_err());
            // Nothing may become larger than the file says.
            let mut stream = ByteStream::new(Bytes::from(stored), Some((codec, 100)));
            assert_eq!(stream.read_to_end().unwrap_err().kind(), ErrorKind::Corrupt, "{codec:?}");
        }
    }

    #[test]
    fn values_cross_chunks() {
        let stored = [chunk(&[0x96], true), chunk(&[1, 7], true)].concat();
        let mut stream = ByteStream::new(Bytes::from(stored.clone()), Some((Codec::Zstd, 10)));
        assert_eq!((stream.varint().unwrap(), stream.byte().unwrap()), (150, 7));
        let mut stream = ByteStream::new(Bytes::from(stored), Some((Codec::Zstd, 10)));
        let mut both = [0; 2];
        stream.read_exact(&mut both).unwrap();
        assert_eq!(both, [0x96, 1]);
        stream.skip(1).unwrap();
        assert!(stream.is_at_end().unwrap() && stream.skip(1).is_err());
    }

    #[test]
    fn unknown_codecs_are_refused() {
        assert_eq!(compression(6, 100).unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(compression(9, 100).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(compression(5, 1 << 40).unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(compression(0, 1 << 40).unwrap(), None);
    }
}
