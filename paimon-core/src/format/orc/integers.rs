//! Runs of integers, both versions.
//!
//! Invariants: arithmetic wraps as in Java; a run is decoded as a whole, at most 512 values.
//! Source: ORC specification, "Run Length Encoding".

use super::codec::ByteStream;
use super::wire::zigzag;
use crate::error::{Error, Result};

/// Most values of a run of version 2.
const MAX_RUN: usize = 512;
/// Bytes of the largest packed run, and what a window of eight bytes may look past it.
const PACKED_BYTES: usize = MAX_RUN * 8 + 8;

/// A stream of integers.
#[derive(Debug)]
pub(super) struct Integers {
    source: ByteStream,
    version: Version,
    signed: bool,
    run: Vec<i64>,
    at: usize,
}

/// How runs are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// Runs with a fixed step, and numbers one by one.
    One,
    /// Four kinds of packed runs.
    Two,
}

fn damaged(what: &str) -> Error {
    Error::corrupt(format!("a run of integers of the ORC file is damaged: {what}"))
}

impl Integers {
    pub(super) fn new(source: ByteStream, version: Version, signed: bool) -> Self {
        Self { source, version, signed, run: Vec::new(), at: 0 }
    }

    /// The next `count` values.
    pub(super) fn read(&mut self, count: usize) -> Result<Vec<i64>> {
        // What is announced is not believed before it is there.
        let mut out = Vec::with_capacity(count.min(1 << 16));
        let mut left = count;
        while left > 0 {
            let run = self.rest_of_run()?;
            let now = run.get(..left).unwrap_or(run);
            out.extend_from_slice(now);
            let now = now.len();
            self.at += now;
            left -= now;
        }
        Ok(out)
    }

    /// Passes over the next `count` values.
    pub(super) fn skip(&mut self, count: usize) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let now = self.rest_of_run()?.len().min(left);
            self.at += now;
            left -= now;
        }
        Ok(())
    }

    /// The sum of the next `count` values, none of which may be negative.
    pub(super) fn skip_lengths(&mut self, count: usize) -> Result<usize> {
        let (mut left, mut sum) = (count, 0usize);
        while left > 0 {
            let run = self.rest_of_run()?;
            let now = run.get(..left).unwrap_or(run);
            for &length in now {
                sum = length_of(length)?.checked_add(sum).ok_or_else(|| damaged("lengths add up to too much"))?;
            }
            let now = now.len();
            self.at += now;
            left -= now;
        }
        Ok(sum)
    }

    /// What is left of the current run, or else the next run; never empty.
    fn rest_of_run(&mut self) -> Result<&[i64]> {
        if self.at >= self.run.len() {
            self.run.clear();
            self.at = 0;
            match self.version {
                Version::One => self.run_of_version_1()?,
                Version::Two => self.run_of_version_2()?,
            }
        }
        match self.run.get(self.at..) {
            Some(rest) if !rest.is_empty() => Ok(rest),
            _ => Err(damaged("it has no values")),
        }
    }

    fn run_of_version_1(&mut self) -> Result<()> {
        let control = self.source.byte()? as i8;
        if control >= 0 {
            let length = i64::from(control) + 3;
            let step = i64::from(self.source.byte()? as i8);
            let base = self.varint()?;
            self.run.extend((0..length).map(|i| base.wrapping_add(step.wrapping_mul(i))));
        } else {
            for _ in 0..control.unsigned_abs() {
                let value = self.varint()?;
                self.run.push(value);
            }
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<i64> {
        let raw = self.source.varint()?;
        Ok(if self.signed { zigzag(raw) } else { raw as i64 })
    }

    fn run_of_version_2(&mut self) -> Result<()> {
        let first = self.source.byte()?;
        match first >> 6 {
            0 => self.short_repeat(first),
            1 => self.direct(first),
            2 => self.patched_base(first),
            _ => self.delta(first),
        }
    }

    fn short_repeat(&mut self, first: u8) -> Result<()> {
        let raw = self.big_endian(usize::from(first >> 3 & 7) + 1)?;
        let value = if self.signed { zigzag(raw) } else { raw as i64 };
        self.run.resize(usize::from(first & 7) + 3, value);
        Ok(())
    }

    fn direct(&mut self, first: u8) -> Result<()> {
        let width = bit_width(first >> 1 & 0x1f);
        let length = self.length(first)? + 1;
        let signed = self.signed;
        self.packed(length, width, |raw| if signed { zigzag(raw) } else { raw as i64 })
    }

    fn patched_base(&mut self, first: u8) -> Result<()> {
        let width = bit_width(first >> 1 & 0x1f);
        let length = self.length(first)? + 1;
        let (third, fourth) = (self.source.byte()?, self.source.byte()?);
        let base_bytes = usize::from(third >> 5) + 1;
        let patch_width = bit_width(third & 0x1f);
        let gap_width = u32::from(fourth >> 5) + 1;
        let patches = usize::from(fourth & 0x1f);
        let raw_base = self.big_endian(base_bytes)?;
        // The highest bit is the sign of the number that the others are.
        let sign = 1u64 << (base_bytes * 8 - 1);
        let base = if raw_base & sign == 0 { raw_base as i64 } else { ((raw_base & !sign) as i64).wrapping_neg() };
        if patch_width + gap_width > 64 {
            return Err(damaged("its patches are too wide"));
        }
        self.packed(length, width, |raw| raw as i64)?;
        let values = std::mem::take(&mut self.run);
        self.packed(patches, closest_width(patch_width + gap_width), |raw| raw as i64)?;
        let patches = std::mem::replace(&mut self.run, values);
        let mask = (1u64 << (patch_width % 64)) - 1;
        let mut at = 0usize;
        for patch in patches {
            let patch = patch as u64;
            at += usize::try_from(patch >> (patch_width % 64)).unwrap_or(usize::MAX).min(MAX_RUN);
            let high = patch & mask;
            // A gap that does not fit is split; the first parts patch nothing.
            if high == 0 {
                continue;
            }
            let value = self.run.get_mut(at).ok_or_else(|| damaged("a patch is behind its end"))?;
            *value |= high.checked_shl(width).unwrap_or(0) as i64;
        }
        self.run.iter_mut().for_each(|value| *value = base.wrapping_add(*value));
        Ok(())
    }

    fn delta(&mut self, first: u8) -> Result<()> {
        let code = first >> 1 & 0x1f;
        let more = self.length(first)?;
        let base = self.varint()?;
        let step = zigzag(self.source.varint()?);
        if code == 0 {
            let values = (0..=more as i64).map(|i| base.wrapping_add(step.wrapping_mul(i)));
            self.run.extend(values);
            return Ok(());
        }
        if more > 1 {
            self.packed(more - 1, bit_width(code), |raw| raw as i64)?;
        }
        // The steps become the values that follow the first two.
        let mut last = base.wrapping_add(step);
        for value in &mut self.run {
            last = if step < 0 { last.wrapping_sub(*value) } else { last.wrapping_add(*value) };
            *value = last;
        }
        let start = [base, base.wrapping_add(step)];
        self.run.splice(0..0, start.into_iter().take(more + 1));
        Ok(())
    }

    /// The nine bits of a length.
    fn length(&mut self, first: u8) -> Result<usize> {
        Ok(usize::from(first & 1) << 8 | usize::from(self.source.byte()?))
    }

    fn big_endian(&mut self, bytes: usize) -> Result<u64> {
        let mut number = 0;
        for _ in 0..bytes {
            number = number << 8 | u64::from(self.source.byte()?);
        }
        Ok(number)
    }

    /// Adds `count` numbers of `width` bits, the highest bit first.
    fn packed(&mut self, count: usize, width: u32, value: impl Fn(u64) -> i64) -> Result<()> {
        let width_bits = usize::try_from(width).unwrap_or(64);
        let mut bytes = [0u8; PACKED_BYTES];
        let length = (count * width_bits).div_ceil(8);
        let target = bytes.get_mut(..length).ok_or_else(|| damaged("it is too long"))?;
        self.source.read_exact(target)?;
        self.run.reserve(count);
        let mut bit = 0usize;
        for _ in 0..count {
            let window = bytes.get(bit / 8..).and_then(|rest| rest.first_chunk::<8>());
            let window = u64::from_be_bytes(*window.ok_or_else(|| damaged("it is too long"))?);
            // Widths above 56 bits are whole bytes, so the window always holds all bits.
            self.run.push(value((window << (bit % 8)) >> (64 - width)));
            bit += width_bits;
        }
        Ok(())
    }
}

/// A number that stands for a length.
pub(super) fn length_of(number: i64) -> Result<usize> {
    usize::try_from(number).map_err(|_| damaged("a length is negative"))
}

/// The bits of a packed number by the five bits that encode them.
fn bit_width(code: u8) -> u32 {
    match code {
        0..=23 => u32::from(code) + 1,
        24 => 26,
        25 => 28,
        26 => 30,
        27 => 32,
        28 => 40,
        29 => 48,
        30 => 56,
        _ => 64,
    }
}

/// The least width that exists and holds so many bits.
fn closest_width(bits: u32) -> u32 {
    (0..32).map(bit_width).find(|width| *width >= bits).unwrap_or(64)
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn read(bytes: &[u8], version: Version, signed: bool, count: usize) -> Result<Vec<i64>> {
        let mut stream = Integers::new(ByteStream::new(Bytes::copy_from_slice(bytes), None), version, signed);
        stream.read(count)
    }

    /// The examples of the specification.
    #[test]
    fn runs_of_the_specification() {
        let cases: [(&[u8], Version, Vec<i64>); 6] = [
            (&[0x61, 0, 7], Version::One, vec![7; 100]),
            (&[0xfb, 2, 3, 6, 7, 11], Version::One, vec![2, 3, 6, 7, 11]),
            (&[0x0a, 0x27, 0x10], Version::Two, vec![10_000; 5]),
            (
                &[0x5e, 3, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef],
                Version::Two,
                vec![23_713, 43_806, 57_005, 48_879],
            ),
            (
                &[
                    0x8e, 0x13, 0x2b, 0x21, 0x07, 0xd0, 0x1e, 0x00, 0x14, 0x70, 0x28, 0x32, 0x3c, 0x46, 0x50, 0x5a,
                    0x64, 0x6e, 0x78, 0x82, 0x8c, 0x96, 0xa0, 0xaa, 0xb4, 0xbe, 0xfc, 0xe8,
                ],
                Version::Two,
                vec![
                    2030, 2000, 2020, 1_000_000, 2040, 2050, 2060, 2070, 2080, 2090, 2100, 2110, 2120, 2130, 2140,
                    2150, 2160, 2170, 2180, 2190,
                ],
            ),
            (&[0xc6, 9, 2, 2, 0x22, 0x42, 0x42, 0x46], Version::Two, vec![2, 3, 5, 7, 11, 13, 17, 19, 23, 29]),
        ];
        for (bytes, version, expected) in cases {
            assert_eq!(read(bytes, version, false, expected.len()).unwrap(), expected);
            assert!(read(bytes, version, false, expected.len() + 1).is_err());
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end], version, false, expected.len()).is_err());
            }
        }
        assert_eq!(read(&[0x61, 0xff, 100], Version::One, false, 100).unwrap(), (1..=100).rev().collect::<Vec<_>>());
        assert_eq!(read(&[0x0a, 0x27, 0x10], Version::Two, true, 5).unwrap(), [5_000; 5]);
    }

    #[test]
    fn lengths_are_summed_and_checked() {
        let stream =
            |bytes: &[u8]| Integers::new(ByteStream::new(Bytes::copy_from_slice(bytes), None), Version::Two, false);
        assert_eq!(stream(&[0x0a, 0x27, 0x10]).skip_lengths(4).unwrap(), 40_000);
        assert!(stream(&[0x38, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).skip_lengths(3).is_err());
        let mut skipped = stream(&[0x5e, 3, 0x5c, 0xa1, 0xab, 0x1e, 0xde, 0xad, 0xbe, 0xef]);
        skipped.skip(2).unwrap();
        assert_eq!(skipped.read(2).unwrap(), [57_005, 48_879]);
    }
}
