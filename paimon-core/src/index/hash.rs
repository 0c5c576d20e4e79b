//! The 64-bit hash that bloom filters are probed with.
//!
//! Source: file-index sheet section 3; `fileindex/bloomfilter/FastHash.java`.

use twox_hash::XxHash64;

/// The hash of text and bytes.
pub(super) fn of_bytes(bytes: &[u8]) -> u64 {
    XxHash64::oneshot(0, bytes)
}

/// The hash of a number: Wang's mix, with shifts that keep the sign.
pub(super) fn of_long(value: i64) -> u64 {
    let mut key = (!value).wrapping_add(value << 21);
    key ^= key >> 24;
    key = key.wrapping_add(key << 3).wrapping_add(key << 8);
    key ^= key >> 14;
    key = key.wrapping_add(key << 2).wrapping_add(key << 4);
    key ^= key >> 28;
    key = key.wrapping_add(key << 31);
    key.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_java() {
        let longs = [
            (1, 6_614_235_796_240_398_542_i64),
            (-1, 6_614_246_905_173_314_819),
            (1_234_567_890_123, 2_536_013_120_387_282_886),
            (1.5_f64.to_bits().cast_signed(), 4_457_999_897_849_084_360),
            (i64::from(1.5_f32.to_bits().cast_signed()), -5_964_487_987_920_989_368),
            (1_700_000_000_123, -780_439_430_849_039_776),
            (1_700_000_000_123_456, 6_804_527_640_801_269_588),
            (19_675, 7_755_705_821_203_396_867),
        ];
        for (value, expected) in longs {
            assert_eq!(of_long(value).cast_signed(), expected, "{value}");
        }
        assert_eq!(of_bytes(b"a").cast_signed(), -3_292_477_735_350_538_661);
        assert_eq!(of_bytes(b"").cast_signed(), -1_205_034_819_632_174_695);
    }
}
