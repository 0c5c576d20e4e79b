//! The bytes of one deletion vector.
//!
//! ```text
//! length (int32, big-endian) | magic | bitmap | CRC-32 of magic and bitmap (int32, big-endian)
//!                            |<--- length ---->|
//! ```
//!
//! Two layouts, told apart by the magic: a standard 32-bit Roaring bitmap, whose length in the index manifest is that of
//! the length word, or a list of such bitmaps by the upper half of the position, whose length in the index manifest
//! counts the framing too.
//!
//! Invariants: never allocates more than the bytes at hand justify. Source: deletion-vector sheet section 1;
//! `deletionvectors/BitmapDeletionVector.java`, `deletionvectors/Bitmap64DeletionVector.java`.

use roaring::RoaringBitmap;

use crate::error::{Error, Result};
use crate::row_selection::RowSelection;

/// Bytes of the length word, and of the checksum.
const WORD: usize = 4;
/// Bytes around a bin: length word and checksum.
pub(super) const FRAMING: usize = 2 * WORD;
const MAGIC_32: [u8; WORD] = 1_581_511_376_u32.to_be_bytes();
const MAGIC_64: [u8; WORD] = 1_681_511_377_u32.to_le_bytes();

/// The deleted rows of one data file.
#[derive(Debug, Clone, PartialEq)]
pub struct DeletionVector {
    positions: RoaringBitmap,
}

impl DeletionVector {
    /// Reads a vector from bytes that begin with its length word; `length` is what the index manifest says. More bytes may
    /// follow.
    ///
    /// # Errors
    /// `Corrupt` if lengths, magic, checksum or bitmap do not fit; `Unsupported` for positions from 2^32 on.
    pub fn decode(bytes: &[u8], length: i64) -> Result<Self> {
        let (word, rest) = split_word(bytes)?;
        let bin_len = usize::try_from(i32::from_be_bytes(word)).map_err(|_| wrong("its length is negative"))?;
        if bin_len < WORD || rest.len() < bin_len.saturating_add(WORD) {
            return Err(wrong(format!("it is {bin_len} bytes long, of which {} are there", rest.len())));
        }
        let (bin, rest) = rest.split_at(bin_len);
        let (magic, bitmap) = split_word(bin)?;
        let listed = match magic {
            MAGIC_32 => bin_len,
            MAGIC_64 => bin_len + FRAMING,
            _ => return Err(wrong(format!("its magic number is {magic:02x?}"))),
        };
        if i64::try_from(listed) != Ok(length) {
            return Err(wrong(format!("its length is {listed}, but the index manifest says {length}")));
        }
        let (checksum, _) = split_word(rest)?;
        if crc32fast::hash(bin) != u32::from_be_bytes(checksum) {
            return Err(wrong("its checksum does not fit its bytes"));
        }
        let positions = if magic == MAGIC_32 { bitmap_32(bitmap)? } else { bitmap_64(bitmap)? };
        Ok(Self { positions })
    }

    /// Whether bytes that begin with the length word are of the layout whose listed length counts the framing.
    pub(super) fn counts_framing(bytes: &[u8]) -> bool {
        bytes.get(WORD..2 * WORD) == Some(&MAGIC_64)
    }

    /// How many rows are deleted.
    pub fn cardinality(&self) -> u64 {
        self.positions.len()
    }

    /// The rows that are left of a file of so many rows.
    ///
    /// # Errors
    /// `Corrupt` if the vector deletes rows that the file does not have; as [`RowSelection::row_count`].
    pub fn live_rows(&self, rows: i64) -> Result<RowSelection> {
        let count = RowSelection::row_count(rows)?;
        match self.positions.max() {
            Some(last) if last as usize >= count => {
                Err(wrong(format!("it deletes row {last} of a file of {count} rows")))
            }
            _ => Ok(RowSelection::except(count, &self.positions)),
        }
    }
}

fn wrong(why: impl std::fmt::Display) -> Error {
    Error::corrupt(format!("a deletion vector is damaged: {why}"))
}

fn split_word(bytes: &[u8]) -> Result<([u8; WORD], &[u8])> {
    match bytes.split_first_chunk::<WORD>() {
        Some((word, rest)) => Ok((*word, rest)),
        None => Err(wrong("it ends early")),
    }
}

fn bitmap_32(mut bytes: &[u8]) -> Result<RoaringBitmap> {
    let bitmap = RoaringBitmap::deserialize_from(&mut bytes).map_err(|e| wrong("its bitmap").with_source(e))?;
    if bytes.is_empty() { Ok(bitmap) } else { Err(wrong(format!("{} bytes follow its bitmap", bytes.len()))) }
}

fn bitmap_64(bytes: &[u8]) -> Result<RoaringBitmap> {
    let (count, mut rest) = bytes.split_first_chunk().ok_or_else(|| wrong("it ends early"))?;
    let mut positions = RoaringBitmap::new();
    let mut last_key = None;
    for _ in 0..u64::from_le_bytes(*count) {
        let (key, bitmap) = split_word(rest)?;
        let key = u32::from_le_bytes(key);
        if last_key.replace(key).is_some_and(|last| last >= key) {
            return Err(wrong(format!("its bitmap {key} is out of order")));
        }
        rest = bitmap;
        let bitmap = RoaringBitmap::deserialize_from(&mut rest).map_err(|e| wrong("a bitmap of it").with_source(e))?;
        match key {
            0 => positions = bitmap,
            _ if bitmap.is_empty() => {}
            _ => return Err(Error::unsupported("deletion vectors of files with over 2^32 rows are not supported")),
        }
    }
    if rest.is_empty() { Ok(positions) } else { Err(wrong(format!("{} bytes follow its bitmaps", rest.len()))) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::ErrorKind;

    /// Row 1 deleted, as Java 0.9 wrote it, after the version byte of the index file.
    const JAVA_32: &str = "000000165e43f2d03a3000000100000000000000100000000100fa2b5192";

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        digits.chunks(2).map(|d| u8::from_str_radix(std::str::from_utf8(d).unwrap(), 16).unwrap()).collect()
    }

    fn frame(bin: &[u8]) -> Vec<u8> {
        let mut bytes = (bin.len() as i32).to_be_bytes().to_vec();
        bytes.extend_from_slice(bin);
        bytes.extend_from_slice(&crc32fast::hash(bin).to_be_bytes());
        bytes
    }

    fn wide(maps: &[(u32, &[u32])]) -> Vec<u8> {
        let mut bin = MAGIC_64.to_vec();
        bin.extend_from_slice(&(maps.len() as u64).to_le_bytes());
        for (key, positions) in maps {
            bin.extend_from_slice(&key.to_le_bytes());
            positions.iter().copied().collect::<RoaringBitmap>().serialize_into(&mut bin).unwrap();
        }
        frame(&bin)
    }

    #[test]
    fn vectors_of_java() {
        let vector = DeletionVector::decode(&hex(JAVA_32), 22).unwrap();
        assert_eq!(vector.positions.iter().collect::<Vec<_>>(), [1]);
        let bin = hex("5e43f2d0 3a300000 02000000 0000 0100 0100 0000 18000000 1c000000 0100 0500 7011");
        let vector = DeletionVector::decode(&frame(&bin), bin.len() as i64).unwrap();
        assert_eq!(vector.positions.iter().collect::<Vec<_>>(), [1, 5, 70_000]);
        assert_eq!(vector.cardinality(), 3);
        assert_eq!(vector.live_rows(70_001).unwrap().selected(), 69_998);
        let error = vector.live_rows(70_000).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }

    /// The first vector of an index file with 64-bit bitmaps.
    const JAVA_64: &str = "0000002a d1d33964 0100000000000000 00000000 3a300000 01000000 0000 0400 10000000
        0700 0c00 1500 1a00 2300 a90b03a4";

    #[test]
    fn wide_vectors_of_java() {
        let vector = DeletionVector::decode(&hex(JAVA_64), 50).unwrap();
        assert_eq!(vector.positions.iter().collect::<Vec<_>>(), [7, 12, 21, 26, 35]);
        assert!(DeletionVector::decode(&hex(JAVA_64), 42).is_err());
    }

    #[test]
    fn wide_vectors_may_have_gaps() {
        let bytes = wide(&[(0, &[3, 4, 9]), (7, &[])]);
        let mut followed = bytes.clone();
        followed.extend_from_slice(&hex(JAVA_32));
        for bytes in [&bytes, &followed] {
            assert!(DeletionVector::counts_framing(bytes));
            let vector = DeletionVector::decode(bytes, wide(&[(0, &[3, 4, 9]), (7, &[])]).len() as i64).unwrap();
            assert_eq!(vector.positions.iter().collect::<Vec<_>>(), [3, 4, 9]);
        }
        let far = wide(&[(0, &[3]), (1, &[0])]);
        assert_eq!(DeletionVector::decode(&far, far.len() as i64).unwrap_err().kind(), ErrorKind::Unsupported);
        let unordered = wide(&[(1, &[]), (0, &[1])]);
        assert_eq!(DeletionVector::decode(&unordered, unordered.len() as i64).unwrap_err().kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn every_damaged_bit_is_found() {
        let narrow = hex(JAVA_32);
        let wide = wide(&[(0, &[3, 4, 9])]);
        for (bytes, length) in [(&narrow, 22), (&wide, wide.len() as i64)] {
            for bit in 0..bytes.len() * 8 {
                let mut damaged = bytes.clone();
                damaged[bit / 8] ^= 1 << (bit % 8);
                let error = DeletionVector::decode(&damaged, length).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "bit {bit}");
            }
            for end in 0..bytes.len() {
                assert_eq!(DeletionVector::decode(&bytes[..end], length).unwrap_err().kind(), ErrorKind::Corrupt);
            }
            assert!(DeletionVector::decode(bytes, length + 1).is_err());
        }
    }

    proptest! {
        /// Damage that the checksum does not show, since it was made before the checksum.
        #[test]
        fn bitmaps_of_any_bytes_give_a_vector_or_an_error(
            wide: bool,
            start in prop::sample::select(vec![&b""[..], &[0x3a, 0x30, 0, 0], &[0x3b, 0x30], &[1, 0, 0, 0, 0, 0, 0, 0]]),
            tail in prop::collection::vec(any::<u8>(), 0..200),
        ) {
            let mut bin = if wide { MAGIC_64.to_vec() } else { MAGIC_32.to_vec() };
            bin.extend_from_slice(start);
            bin.extend_from_slice(&tail);
            let length = bin.len() + if wide { FRAMING } else { 0 };
            if let Ok(vector) = DeletionVector::decode(&frame(&bin), length as i64) {
                // What was accepted is a set: it survives being written again.
                let mut again = MAGIC_32.to_vec();
                vector.positions.serialize_into(&mut again).unwrap();
                prop_assert_eq!(DeletionVector::decode(&frame(&again), again.len() as i64).unwrap(), vector);
            }
        }
    }
}
