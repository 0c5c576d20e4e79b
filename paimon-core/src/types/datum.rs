//! Single values of atomic types: partitions, keys, bounds and literals.
//!
//! Invariants: floats compare in total order (-0.0 before 0.0, NaN greatest), text and bytes as unsigned
//! bytes; two values compare only if they are of one family. Source: `codegen/GenerateUtils.scala` for the order.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use arrow::datatypes::TimeUnit;

/// Milliseconds since the epoch and nanoseconds within the millisecond (0 to 999,999).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Milliseconds since the epoch, rounded down.
    pub millis: i64,
    /// Nanoseconds within the millisecond.
    pub nanos: u32,
}

impl Timestamp {
    /// A whole number of milliseconds.
    pub fn from_millis(millis: i64) -> Self {
        Self { millis, nanos: 0 }
    }

    /// From microseconds since the epoch.
    pub fn from_micros(micros: i64) -> Self {
        Self {
            millis: micros.div_euclid(1_000),
            nanos: u32::try_from(micros.rem_euclid(1_000) * 1_000).unwrap_or_default(),
        }
    }

    /// From nanoseconds since the epoch.
    pub fn from_nanos(nanos: i64) -> Self {
        Self {
            millis: nanos.div_euclid(1_000_000),
            nanos: u32::try_from(nanos.rem_euclid(1_000_000)).unwrap_or_default(),
        }
    }

    /// From a number of Arrow's units since the epoch; `None` on overflow.
    pub fn from_unit(value: i64, unit: TimeUnit) -> Option<Self> {
        Some(match unit {
            TimeUnit::Second => Self::from_millis(value.checked_mul(1_000)?),
            TimeUnit::Millisecond => Self::from_millis(value),
            TimeUnit::Microsecond => Self::from_micros(value),
            TimeUnit::Nanosecond => Self::from_nanos(value),
        })
    }

    /// The number of Arrow's units since the epoch; `None` on overflow or if smaller parts would be lost.
    pub fn to_unit(self, unit: TimeUnit) -> Option<i64> {
        match unit {
            TimeUnit::Second => (self.nanos == 0 && self.millis % 1_000 == 0).then_some(self.millis / 1_000),
            TimeUnit::Millisecond => (self.nanos == 0).then_some(self.millis),
            TimeUnit::Microsecond => self.nanos.is_multiple_of(1_000).then(|| self.to_micros())?,
            TimeUnit::Nanosecond => self.to_nanos(),
        }
    }

    /// Microseconds since the epoch, rounded down; `None` on overflow.
    pub fn to_micros(self) -> Option<i64> {
        self.millis.checked_mul(1_000)?.checked_add(i64::from(self.nanos / 1_000))
    }

    /// Nanoseconds since the epoch; `None` on overflow.
    pub fn to_nanos(self) -> Option<i64> {
        i64::try_from(i128::from(self.millis) * 1_000_000 + i128::from(self.nanos)).ok()
    }
}

/// A value that is not null.
#[derive(Debug, Clone)]
pub enum Datum {
    /// BOOLEAN.
    Boolean(bool),
    /// TINYINT.
    TinyInt(i8),
    /// SMALLINT.
    SmallInt(i16),
    /// INT.
    Int(i32),
    /// BIGINT.
    BigInt(i64),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL: the unscaled value and its scale.
    Decimal(i128, u8),
    /// CHAR and VARCHAR.
    String(String),
    /// BINARY and VARBINARY.
    Bytes(Vec<u8>),
    /// DATE: days since the epoch.
    Date(i32),
    /// TIME: milliseconds of the day.
    Time(i32),
    /// TIMESTAMP.
    Timestamp(Timestamp),
    /// TIMESTAMP WITH LOCAL TIME ZONE.
    LocalZonedTimestamp(Timestamp),
}

impl Datum {
    fn rank(&self) -> u8 {
        match self {
            Self::Boolean(_) => 0,
            Self::TinyInt(_) => 1,
            Self::SmallInt(_) => 2,
            Self::Int(_) => 3,
            Self::BigInt(_) => 4,
            Self::Float(_) => 5,
            Self::Double(_) => 6,
            Self::Decimal(..) => 7,
            Self::String(_) => 8,
            Self::Bytes(_) => 9,
            Self::Date(_) => 10,
            Self::Time(_) => 11,
            Self::Timestamp(_) => 12,
            Self::LocalZonedTimestamp(_) => 13,
        }
    }
}

fn compare_decimals(a: i128, a_scale: u8, b: i128, b_scale: u8) -> Ordering {
    let scale = a_scale.max(b_scale);
    let widen = |value: i128, from: u8| 10i128.checked_pow(u32::from(scale - from)).and_then(|f| value.checked_mul(f));
    match (widen(a, a_scale), widen(b, b_scale)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (None, Some(_)) => a.cmp(&0),
        (Some(_), None) => 0.cmp(&b),
        (None, None) => a.cmp(&b),
    }
}

impl Ord for Datum {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Boolean(a), Self::Boolean(b)) => a.cmp(b),
            (Self::TinyInt(a), Self::TinyInt(b)) => a.cmp(b),
            (Self::SmallInt(a), Self::SmallInt(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::BigInt(a), Self::BigInt(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => order_f64(f64::from(*a), f64::from(*b)),
            (Self::Double(a), Self::Double(b)) => order_f64(*a, *b),
            (Self::Decimal(a, s), Self::Decimal(b, t)) => compare_decimals(*a, *s, *b, *t),
            (Self::String(a), Self::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) | (Self::Time(a), Self::Time(b)) => a.cmp(b),
            (Self::Timestamp(a), Self::Timestamp(b)) | (Self::LocalZonedTimestamp(a), Self::LocalZonedTimestamp(b)) => {
                a.cmp(b)
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

fn order_f64(a: f64, b: f64) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Greater,
        (false, true) => Ordering::Less,
        (false, false) => a.total_cmp(&b),
    }
}

impl PartialOrd for Datum {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Datum {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Datum {}

impl Hash for Datum {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.rank().hash(state);
        match self {
            Self::Boolean(v) => v.hash(state),
            Self::TinyInt(v) => v.hash(state),
            Self::SmallInt(v) => v.hash(state),
            Self::Int(v) | Self::Date(v) | Self::Time(v) => v.hash(state),
            Self::BigInt(v) => v.hash(state),
            Self::Float(v) => if v.is_nan() { f32::NAN.to_bits() } else { v.to_bits() }.hash(state),
            Self::Double(v) => if v.is_nan() { f64::NAN.to_bits() } else { v.to_bits() }.hash(state),
            Self::Decimal(v, scale) => {
                let (mut v, mut scale) = (*v, *scale);
                while scale > 0 && v % 10 == 0 {
                    v /= 10;
                    scale -= 1;
                }
                (v, scale).hash(state);
            }
            Self::String(v) => v.hash(state),
            Self::Bytes(v) => v.hash(state),
            Self::Timestamp(v) | Self::LocalZonedTimestamp(v) => v.hash(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_in_total_order() {
        let ordered = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, 1.0, f64::INFINITY, f64::NAN];
        for pair in ordered.windows(2) {
            assert!(Datum::Double(pair[0]) < Datum::Double(pair[1]), "{pair:?}");
        }
        assert_eq!(Datum::Double(f64::NAN), Datum::Double(-f64::NAN));
    }

    #[test]
    fn decimals_compare_by_value() {
        assert_eq!(Datum::Decimal(150, 2), Datum::Decimal(15, 1));
        assert!(Datum::Decimal(i128::MAX, 0) > Datum::Decimal(1, 38));
        assert!(Datum::Decimal(-1, 0) < Datum::Decimal(0, 38));
    }
}
