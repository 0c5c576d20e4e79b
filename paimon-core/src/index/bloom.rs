//! Bloom filters: values that a file does not hold.
//!
//! Source: file-index sheet section 3; `fileindex/bloomfilter/BloomFilterFileIndex.java`, `utils/BloomFilter64.java`.

use roaring::RoaringBitmap;

use super::cursor::{Cursor, damaged};
use super::key::KeyKind;
use super::question::Question;
use crate::error::Result;

/// More hash functions than this no writer chooses: the least false-positive rate would be 2^-200.
const MAX_HASHES: usize = 200;

/// No rows if none can be meant, `None` if the filter cannot tell.
pub(super) fn answer(blob: &[u8], kind: KeyKind, question: &Question) -> Result<Option<RoaringBitmap>> {
    let Question::OneOf(keys) = question else { return Ok(None) };
    let mut cursor = Cursor::new(blob);
    let (hashes, bits) = (cursor.size()?, cursor.rest());
    if hashes == 0 || hashes > MAX_HASHES || bits.is_empty() {
        return Err(damaged(format!("a bloom filter has {hashes} hash functions and {} bytes", bits.len())));
    }
    for key in keys {
        match kind.hash(key) {
            Some(hash) if !holds(bits, hashes, hash) => {}
            _ => return Ok(None),
        }
    }
    Ok(Some(RoaringBitmap::new()))
}

fn holds(bits: &[u8], hashes: usize, hash: u64) -> bool {
    let (first, second) = (hash as i32, (hash >> 32) as i32);
    let size = bits.len() * 8;
    let mut probe = first;
    (0..hashes).all(|_| {
        probe = probe.wrapping_add(second);
        let combined = if probe < 0 { !probe } else { probe };
        let bit = combined.unsigned_abs() as usize % size;
        bits.get(bit / 8).is_some_and(|byte| byte & (1 << (bit % 8)) != 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::key::Key;

    /// INT {1, 2, 3}, 10 items, false-positive rate 0.1, by Java.
    const BLOB: [u8; 10] = [0, 0, 0, 3, 0x89, 0x20, 0x01, 0x50, 0x40, 0x00];

    fn holds_any(keys: &[i64]) -> bool {
        let question = Question::OneOf(keys.iter().map(|k| Key::Long(*k)).collect());
        answer(&BLOB, KeyKind::Int, &question).unwrap().is_none()
    }

    #[test]
    fn a_filter_of_java() {
        assert!([1, 2, 3].iter().all(|k| holds_any(&[*k])));
        let found = (4..1_000).filter(|k| holds_any(&[*k])).count();
        assert!(found < 200, "{found}");
        assert!(!holds_any(&[]));
        let absent = (4..100).find(|k| !holds_any(&[*k])).unwrap();
        assert!(holds_any(&[absent, 2]));
    }

    /// STRING, 200 items, false-positive rate 0.01, by Java: k5, k8 and so on to k89 without k17, k32 and so on.
    const TEXT: &str = "000000070800811400040000000000021000024000001100019000000405c0400000000400000120000000000000044000000000\
        20040002503000001000042000c00000024820000000440000000000200014540400401000000000400000000008010101c22000840009000\
        10000c000020000001000000202000080410060000000048000000800480004000000020000002100020020200000004006000183000810004\
        001000c0048400001040180080008000904090000404080121000009020820004030000400e20000100000002040a040000000000001004010018\
        8004040000200000020044020080008018400010";

    #[test]
    fn a_filter_of_text_of_java() {
        let blob: Vec<u8> =
            (0..TEXT.len() / 2).map(|i| u8::from_str_radix(&TEXT[2 * i..2 * i + 2], 16).unwrap()).collect();
        let holds = |i: u32| {
            let question = Question::OneOf(vec![Key::Bytes(format!("k{i}").into_bytes())]);
            answer(&blob, KeyKind::Text, &question).unwrap().is_none()
        };
        assert!((5..90).step_by(3).filter(|i| i % 15 != 2).all(holds));
        assert!((0..1_000).filter(|i| holds(*i)).count() < 40);
    }

    #[test]
    fn only_equality_is_answered() {
        assert_eq!(answer(&BLOB, KeyKind::Int, &Question::Null).unwrap(), None);
        assert_eq!(answer(&BLOB, KeyKind::Int, &Question::NoneOf(vec![Key::Long(1)])).unwrap(), None);
        assert_eq!(answer(&BLOB, KeyKind::Boolean, &Question::OneOf(vec![Key::Long(1)])).unwrap(), None);
    }

    #[test]
    fn damage_is_an_error() {
        let question = Question::OneOf(vec![Key::Long(1)]);
        for blob in [&b""[..], &[0, 0, 0, 3], &[0x7f, 0, 0, 3, 1], &[0xff, 0, 0, 3, 1], &[0, 0, 0, 0, 1]] {
            assert!(answer(blob, KeyKind::Int, &question).is_err(), "{blob:?}");
        }
    }
}
