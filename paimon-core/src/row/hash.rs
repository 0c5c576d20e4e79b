//! The hash of a binary row, from which buckets follow.
//!
//! Invariants: MurmurHash3 (x86, 32 bits) with seed 42 over the whole row, null words included and the arity prefix not;
//! rows are multiples of 4 bytes, so there is no tail. Source: binary-row sheet section 5; `utils/MurmurHashUtils.java`.

use super::BinaryRow;

const SEED: u32 = 42;

fn mix_word(word: u32) -> u32 {
    word.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

fn mix(hash: u32, word: u32) -> u32 {
    (hash ^ mix_word(word)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64)
}

fn finish(hash: u32, length: usize) -> i32 {
    let mut h = hash ^ length as u32;
    h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
    h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
    (h ^ (h >> 16)) as i32
}

/// The hash of bytes whose number is a multiple of 4; bytes beyond the last whole word do not count.
pub(super) fn hash_words(bytes: &[u8]) -> i32 {
    let (words, _) = bytes.as_chunks::<4>();
    finish(words.iter().fold(SEED, |hash, word| mix(hash, u32::from_le_bytes(*word))), bytes.len())
}

/// The hash of a row of one field that stands in its slot.
pub(super) fn hash_single_slot(slot: u64, is_null: bool) -> i32 {
    // One null word: byte 0 is the row kind, bit 8 says that field 0 is null.
    let mut hash = mix(SEED, if is_null { 1 << 8 } else { 0 });
    hash = mix(hash, 0);
    hash = mix(hash, slot as u32);
    hash = mix(hash, (slot >> 32) as u32);
    finish(hash, 16)
}

/// The hash of a row.
pub fn hash(row: &BinaryRow) -> i32 {
    hash_words(row.as_bytes())
}
