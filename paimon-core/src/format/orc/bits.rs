//! Runs of bytes, and bits in them.
//!
//! Source: ORC specification, "Byte Run Length Encoding" and "Boolean Run Length Encoding".

use arrow::array::BooleanBufferBuilder;
use arrow::buffer::BooleanBuffer;

use super::codec::ByteStream;
use crate::error::Result;

/// A stream of bytes in runs.
#[derive(Debug)]
pub(super) struct ByteRuns {
    source: ByteStream,
    /// What is left of the run.
    left: usize,
    /// The byte of a run of equal bytes.
    repeated: Option<u8>,
}

impl ByteRuns {
    pub(super) fn new(source: ByteStream) -> Self {
        Self { source, left: 0, repeated: None }
    }

    /// Adds the next `count` bytes to `out`.
    pub(super) fn read(&mut self, mut count: usize, out: &mut Vec<u8>) -> Result<()> {
        while count > 0 {
            let now = self.run()?.min(count);
            match self.repeated {
                Some(byte) => out.resize(out.len() + now, byte),
                None => self.source.append(out, now)?,
            }
            self.left -= now;
            count -= now;
        }
        Ok(())
    }

    /// Passes over the next `count` bytes.
    pub(super) fn skip(&mut self, mut count: usize) -> Result<()> {
        while count > 0 {
            let now = self.run()?.min(count);
            if self.repeated.is_none() {
                self.source.skip(now)?;
            }
            self.left -= now;
            count -= now;
        }
        Ok(())
    }

    /// How much is left of the current run, or else of the next.
    fn run(&mut self) -> Result<usize> {
        if self.left == 0 {
            let control = self.source.byte()? as i8;
            if control >= 0 {
                self.left = usize::from(control.unsigned_abs()) + 3;
                self.repeated = Some(self.source.byte()?);
            } else {
                self.left = usize::from(control.unsigned_abs());
                self.repeated = None;
            }
        }
        Ok(self.left)
    }
}

/// A stream of bits, the highest of each byte first.
#[derive(Debug)]
pub(super) struct Bits {
    bytes: ByteRuns,
    /// Bytes that were begun, turned around to the order of Arrow.
    begun: Vec<u8>,
    /// Bits of `begun` that were read.
    used: usize,
}

impl Bits {
    pub(super) fn new(source: ByteStream) -> Self {
        Self { bytes: ByteRuns::new(source), begun: Vec::new(), used: 0 }
    }

    /// The next `count` bits.
    pub(super) fn read(&mut self, count: usize) -> Result<BooleanBuffer> {
        let begun = self.begun.len();
        let end = self.used + count;
        self.bytes.read(end.div_ceil(8).saturating_sub(begun), &mut self.begun)?;
        self.begun.iter_mut().skip(begun).for_each(|byte| *byte = byte.reverse_bits());
        let mut bits = BooleanBufferBuilder::new(count);
        bits.append_packed_range(self.used..end, &self.begun);
        // The last byte stays if some of it is left.
        let done = end / 8;
        self.begun.drain(..done);
        self.used = end % 8;
        Ok(bits.finish())
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn stream(bytes: &[u8]) -> ByteStream {
        ByteStream::new(Bytes::copy_from_slice(bytes), None)
    }

    #[test]
    fn byte_runs_of_the_specification() {
        let mut bytes = Vec::new();
        ByteRuns::new(stream(&[0x61, 0])).read(100, &mut bytes).unwrap();
        assert_eq!(bytes, [0; 100]);
        let mut both = ByteRuns::new(stream(&[0xfe, 0x44, 0x45, 0, 9]));
        both.skip(1).unwrap();
        bytes.clear();
        both.read(3, &mut bytes).unwrap();
        assert_eq!(bytes, [0x45, 9, 9]);
        both.skip(1).unwrap();
        assert!(both.skip(1).is_err());
    }

    #[test]
    fn bits_in_pieces() {
        // 1000 0000 0111 1111
        let mut bits = Bits::new(stream(&[0xfe, 0x80, 0x7f]));
        let mut all = Vec::new();
        for count in [1, 0, 8, 3, 4] {
            all.extend(bits.read(count).unwrap().iter());
        }
        let expected: Vec<bool> = "1000000001111111".chars().map(|c| c == '1').collect();
        assert_eq!(all, expected);
        assert!(bits.read(1).is_err());
    }
}
