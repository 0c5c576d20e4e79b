//! Numbers stored bit by bit: one bitmap of rows per binary digit.
//!
//! Invariants: rows of every result are among those that have a number.

use roaring::RoaringBitmap;

use super::cursor::{Cursor, damaged, within};
use crate::error::Result;

/// The digits of a number of 64 bits.
const MAX_SLICES: usize = 64;

/// Unsigned numbers of some rows.
#[derive(Debug)]
pub(super) struct Slices {
    exists: RoaringBitmap,
    /// The rows whose number has this digit, least digit first.
    digits: Vec<RoaringBitmap>,
}

impl Slices {
    pub(super) fn try_new(exists: RoaringBitmap, digits: Vec<RoaringBitmap>) -> Result<Self> {
        if digits.len() > MAX_SLICES || digits.iter().any(|d| !d.is_subset(&exists)) {
            return Err(damaged(format!("{} digits do not fit the rows that have a value", digits.len())));
        }
        Ok(Self { exists, digits })
    }

    /// Bitmaps back to back: rows that have a number, then so many digits.
    pub(super) fn read(cursor: &mut Cursor<'_>, rows: u32) -> Result<Self> {
        let exists = within(cursor.bitmap()?, rows)?;
        let count = cursor.size()?;
        if count > MAX_SLICES {
            return Err(damaged(format!("a number has {count} digits")));
        }
        let digits = (0..count).map(|_| cursor.bitmap()).collect::<Result<_>>()?;
        Self::try_new(exists, digits)
    }

    /// The rows that have a number.
    pub(super) fn exists(&self) -> &RoaringBitmap {
        &self.exists
    }

    /// The rows whose number is below, equal to and above `number`.
    pub(super) fn compare(&self, number: u64) -> Compared {
        let (mut below, mut above) = (RoaringBitmap::new(), RoaringBitmap::new());
        let mut equal = self.exists.clone();
        let held = u32::try_from(self.digits.len()).unwrap_or(u32::MAX);
        if number.checked_shr(held).unwrap_or(0) != 0 {
            return Compared { below: equal, equal: RoaringBitmap::new(), above };
        }
        for (digit, rows) in self.digits.iter().enumerate().rev() {
            if number >> digit & 1 == 1 {
                below |= &equal - rows;
                equal &= rows;
            } else {
                above |= &equal & rows;
                equal -= rows;
            }
        }
        Compared { below, equal, above }
    }
}

/// Rows by how their number compares.
#[derive(Debug, PartialEq)]
pub(super) struct Compared {
    pub(super) below: RoaringBitmap,
    pub(super) equal: RoaringBitmap,
    pub(super) above: RoaringBitmap,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_compare(
            values in prop::collection::vec(prop::option::of(prop_oneof![0u64..9, any::<u64>()]), 0..40),
            number in prop_oneof![0u64..9, any::<u64>()],
        ) {
            let rows = || values.iter().enumerate().filter_map(|(row, v)| Some((row as u32, (*v)?)));
            let some = |keep: &dyn Fn(u64) -> bool| rows().filter(|r| keep(r.1)).map(|r| r.0).collect::<RoaringBitmap>();
            let greatest = rows().map(|r| r.1).max().unwrap_or(0);
            let count = (64 - greatest.leading_zeros()) as usize;
            let digits = (0..count).map(|d| some(&|v| v >> d & 1 == 1)).collect();
            let slices = Slices::try_new(some(&|_| true), digits).unwrap();
            let expected = Compared {
                below: some(&|v| v < number),
                equal: some(&|v| v == number),
                above: some(&|v| v > number),
            };
            prop_assert_eq!(slices.compare(number), expected);
        }
    }
}
