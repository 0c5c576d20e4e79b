//! Values as indexes store and order them.
//!
//! Invariants: keys order as Java orders the values; floats are numbers of the same order, all NaNs one, the greatest.
//! Source: file-index sheet sections 3 to 6; `fileindex/bitmap/BitmapFileIndexMeta.java`,
//! `fileindex/rangebitmap/dictionary/KeyFactory.java`.

use super::cursor::Cursor;
use super::hash;
use crate::error::Result;
use crate::types::{DataType, Datum, Timestamp};

/// A value in an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    /// Everything that is a number.
    Long(i64),
    /// Text and bytes.
    Bytes(Vec<u8>),
}

/// How values of a type are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// One byte.
    Boolean,
    /// 8 bits.
    Byte,
    /// 16 bits.
    Short,
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    /// IEEE, 32 bits.
    Float,
    /// IEEE, 64 bits.
    Double,
    /// The unscaled value in 64 bits.
    Decimal,
    /// A length of 32 bits and UTF-8.
    Text,
    /// Bytes: only hashed.
    Bytes,
}

impl KeyKind {
    /// The form of a type; `None` for types that no index takes.
    pub(super) fn of(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean(_) => Self::Boolean,
            DataType::TinyInt(_) => Self::Byte,
            DataType::SmallInt(_) => Self::Short,
            DataType::Int(_) | DataType::Date(_) | DataType::Time(_) => Self::Int,
            DataType::BigInt(_) | DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => Self::Long,
            DataType::Float(_) => Self::Float,
            DataType::Double(_) => Self::Double,
            DataType::Decimal(t) if t.precision() <= 18 => Self::Decimal,
            DataType::Char(_) | DataType::VarChar(_) => Self::Text,
            DataType::Binary(_) | DataType::VarBinary(_) => Self::Bytes,
            _ => return None,
        })
    }

    /// Bytes of a value at least.
    pub(super) fn least_bytes(self) -> usize {
        match self {
            Self::Boolean | Self::Byte => 1,
            Self::Short => 2,
            Self::Int | Self::Float | Self::Text | Self::Bytes => 4,
            Self::Long | Self::Double | Self::Decimal => 8,
        }
    }

    /// Whether the values have one width.
    pub(super) fn is_fixed(self) -> bool {
        !matches!(self, Self::Text | Self::Bytes)
    }

    /// Reads a value.
    pub(super) fn read(self, cursor: &mut Cursor<'_>) -> Result<Key> {
        Ok(Key::Long(match self {
            Self::Boolean => i64::from(cursor.u8()? != 0),
            Self::Byte => i64::from(cursor.i8()?),
            Self::Short => i64::from(cursor.i16()?),
            Self::Int => i64::from(cursor.i32()?),
            Self::Long | Self::Decimal => cursor.i64()?,
            Self::Float => order_32(f32::from_bits(cursor.i32()?.cast_unsigned())),
            Self::Double => order_64(f64::from_bits(cursor.i64()?.cast_unsigned())),
            Self::Text | Self::Bytes => {
                let length = cursor.size()?;
                return Ok(Key::Bytes(cursor.take(length)?.to_vec()));
            }
        }))
    }

    /// The hash of a value in a bloom filter; `None` for kinds that have none.
    pub(super) fn hash(self, key: &Key) -> Option<u64> {
        match (self, key) {
            (Self::Boolean | Self::Decimal, _) => None,
            (_, Key::Bytes(bytes)) => Some(hash::of_bytes(bytes)),
            (Self::Float, Key::Long(order)) => i32::try_from(*order).ok().map(|o| hash::of_long(unorder_32(o))),
            (Self::Double, Key::Long(order)) => {
                Some(hash::of_long(order ^ (order >> 63).cast_unsigned().wrapping_shr(1).cast_signed()))
            }
            (_, Key::Long(value)) => Some(hash::of_long(*value)),
        }
    }
}

fn order_32(value: f32) -> i64 {
    let bits = if value.is_nan() { f32::NAN.to_bits() & 0x7fff_ffff } else { value.to_bits() }.cast_signed();
    i64::from(bits ^ ((bits >> 31).cast_unsigned() >> 1).cast_signed())
}

/// The bits of the float, the sign in the upper half too.
fn unorder_32(order: i32) -> i64 {
    i64::from(order ^ ((order >> 31).cast_unsigned() >> 1).cast_signed())
}

fn order_64(value: f64) -> i64 {
    let bits = if value.is_nan() { f64::NAN.to_bits() & (u64::MAX >> 1) } else { value.to_bits() }.cast_signed();
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// A literal as a key, and whether the key says all of it; `None` if the type has no keys or the literal another type.
pub(super) fn key_of(literal: &Datum, data_type: &DataType) -> Option<(Key, bool)> {
    let (value, exact) = match (literal, data_type) {
        (Datum::String(text), DataType::Char(_) | DataType::VarChar(_)) => {
            return Some((Key::Bytes(text.as_bytes().to_vec()), true));
        }
        (Datum::Bytes(bytes), DataType::Binary(_) | DataType::VarBinary(_)) => {
            return Some((Key::Bytes(bytes.clone()), true));
        }
        (Datum::Boolean(v), DataType::Boolean(_)) => (i64::from(*v), true),
        (Datum::TinyInt(v), DataType::TinyInt(_)) => (i64::from(*v), true),
        (Datum::SmallInt(v), DataType::SmallInt(_)) => (i64::from(*v), true),
        (Datum::Int(v), DataType::Int(_))
        | (Datum::Date(v), DataType::Date(_))
        | (Datum::Time(v), DataType::Time(_)) => (i64::from(*v), true),
        (Datum::BigInt(v), DataType::BigInt(_)) => (*v, true),
        (Datum::Float(v), DataType::Float(_)) => (order_32(*v), true),
        (Datum::Double(v), DataType::Double(_)) => (order_64(*v), true),
        (Datum::Decimal(v, scale), DataType::Decimal(t)) => (rescaled(*v, *scale, t.scale())?, true),
        (Datum::Timestamp(v), DataType::Timestamp(t)) => stamp(*v, t.precision())?,
        (Datum::LocalZonedTimestamp(v), DataType::LocalZonedTimestamp(t)) => stamp(*v, t.precision())?,
        _ => return None,
    };
    Some((Key::Long(value), exact))
}

/// Milliseconds or microseconds. Columns of more than 6 digits lose theirs, so that no key of them is exact.
fn stamp(value: Timestamp, precision: u32) -> Option<(i64, bool)> {
    match precision {
        0..=3 => Some((value.millis, value.nanos == 0)),
        _ => Some((value.to_micros()?, precision <= 6 && value.nanos.is_multiple_of(1_000))),
    }
}

fn rescaled(value: i128, from: u8, to: u8) -> Option<i64> {
    let factor = 10_i128.checked_pow(u32::from(from.abs_diff(to)))?;
    let value = match from <= to {
        true => value.checked_mul(factor)?,
        false if value % factor == 0 => value / factor,
        false => return None,
    };
    i64::try_from(value).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{DecimalType, DoubleType, FloatType, TimestampType};

    #[test]
    fn floats_keep_their_order_and_hash() {
        let ordered = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1.5, f64::INFINITY, -f64::NAN];
        let double = DataType::Double(DoubleType::new());
        let keys: Vec<Key> = ordered.iter().map(|v| key_of(&Datum::Double(*v), &double).unwrap().0).collect();
        assert!(keys.is_sorted());
        assert_eq!(KeyKind::Double.hash(&keys[4]).unwrap().cast_signed(), 4_457_999_897_849_084_360);
        for (value, key) in ordered.iter().zip(&keys).take(6) {
            assert_eq!(KeyKind::Double.hash(key), Some(hash::of_long(value.to_bits().cast_signed())));
            let float = *value as f32;
            let (key, _) = key_of(&Datum::Float(float), &DataType::Float(FloatType::new())).unwrap();
            assert_eq!(KeyKind::Float.hash(&key), Some(hash::of_long(i64::from(float.to_bits().cast_signed()))));
        }
    }

    #[test]
    fn literals_that_do_not_fit_are_not_exact() {
        let stamp = |precision, nanos| {
            let data_type = DataType::Timestamp(TimestampType::new(precision).unwrap());
            key_of(&Datum::Timestamp(Timestamp { millis: 5, nanos }), &data_type).unwrap()
        };
        assert_eq!(stamp(3, 0), (Key::Long(5), true));
        assert_eq!(stamp(3, 1_000), (Key::Long(5), false));
        assert_eq!(stamp(6, 1_000), (Key::Long(5_001), true));
        assert_eq!(stamp(6, 1_001), (Key::Long(5_001), false));
        assert_eq!(stamp(9, 1_000), (Key::Long(5_001), false));
        let decimal = DataType::Decimal(DecimalType::new(9, 2).unwrap());
        assert_eq!(key_of(&Datum::Decimal(15, 1), &decimal), Some((Key::Long(150), true)));
        assert_eq!(key_of(&Datum::Decimal(1501, 3), &decimal), None);
    }
}
