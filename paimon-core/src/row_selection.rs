//! Which rows of one data file are wanted, by position.
//!
//! One type for everything that chooses rows of a file: deletion vectors take rows away, file indexes leave the rows that
//! may match. Readers of files apply it before they decode.
//!
//! Invariants: a position is that of the row in the file, from 0, whatever else is filtered; memory is one bit per row.

use arrow::buffer::BooleanBuffer;
use arrow::buffer::MutableBuffer;
use roaring::RoaringBitmap;

use crate::error::{Error, Result};

/// The most rows of a file that can be told apart; the mask of such a file takes 256 MiB.
const MAX_ROWS: usize = i32::MAX as usize;

/// A set of rows of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSelection {
    rows: BooleanBuffer,
}

impl RowSelection {
    /// The number of rows of a file in the form that the constructors take.
    ///
    /// # Errors
    /// `Corrupt` for a negative count, `Unsupported` for more rows than a mask is made for.
    pub fn row_count(rows: i64) -> Result<usize> {
        match usize::try_from(rows) {
            Ok(rows) if rows <= MAX_ROWS => Ok(rows),
            Ok(rows) => Err(Error::unsupported(format!("choosing rows of a file of {rows} rows is not supported"))),
            Err(_) => Err(Error::corrupt(format!("a file has {rows} rows"))),
        }
    }

    /// Every row of a file of so many rows.
    pub fn all(rows: usize) -> Self {
        Self { rows: BooleanBuffer::new_set(rows) }
    }

    /// These rows; positions past the end choose nothing.
    pub fn only(rows: usize, positions: &RoaringBitmap) -> Self {
        let mut mask = MutableBuffer::from_len_zeroed(rows.div_ceil(8));
        each_range(rows, positions, |start, end| fill(&mut mask, start, end, true));
        Self { rows: BooleanBuffer::new(mask.into(), 0, rows) }
    }

    /// Every row but these; positions past the end mean nothing.
    pub fn except(rows: usize, positions: &RoaringBitmap) -> Self {
        let mut mask = MutableBuffer::from_len_zeroed(rows.div_ceil(8));
        mask.as_slice_mut().fill(u8::MAX);
        each_range(rows, positions, |start, end| fill(&mut mask, start, end, false));
        Self { rows: BooleanBuffer::new(mask.into(), 0, rows) }
    }

    /// The rows that are in both; both are of the same file.
    ///
    /// # Errors
    /// `Internal` if they are of files of different numbers of rows.
    pub fn and(&self, other: &Self) -> Result<Self> {
        if self.len() != other.len() {
            return Err(Error::internal(format!("selections of {} and {} rows of one file", self.len(), other.len())));
        }
        Ok(Self { rows: &self.rows & &other.rows })
    }

    /// Rows of the file.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no row is chosen.
    pub fn is_empty(&self) -> bool {
        self.selected() == 0
    }

    /// How many rows are chosen.
    pub fn selected(&self) -> usize {
        self.rows.count_set_bits()
    }

    /// Whether every row is chosen.
    pub fn is_all(&self) -> bool {
        self.selected() == self.len()
    }

    /// One bit per row of the file.
    pub fn mask(&self) -> &BooleanBuffer {
        &self.rows
    }

    /// One bit per row of the file.
    pub fn into_mask(self) -> BooleanBuffer {
        self.rows
    }

    /// How many runs of rows there are that are chosen, or are not.
    pub fn run_count(&self) -> usize {
        let chunks = self.rows.bit_chunks();
        let mut last = u64::from(self.rows.iter().next().unwrap_or_default());
        let mut changes = 0;
        // One bit for each row that differs from the one before it.
        let mut count = |word: u64, bits: usize| {
            let before = word << 1 | last;
            let within = u64::MAX >> (u64::BITS as usize - bits);
            changes += ((word ^ before) & within).count_ones() as usize;
            last = word >> (bits - 1) & 1;
        };
        chunks.iter().for_each(|word| count(word, u64::BITS as usize));
        if chunks.remainder_len() > 0 {
            count(chunks.remainder_bits(), chunks.remainder_len());
        }
        changes + usize::from(!self.rows.is_empty())
    }

    /// The rows of the file as runs: how many, and whether they are chosen.
    pub fn runs(&self) -> impl Iterator<Item = (usize, bool)> + '_ {
        let mut at = 0;
        let chosen = self.rows.set_slices().flat_map(move |(start, end)| {
            let before = start - at;
            at = end;
            [(before, false), (end - start, true)]
        });
        let end = self.rows.set_slices().last().map_or(0, |(_, end)| end);
        chosen.chain([(self.len() - end, false)]).filter(|(rows, _)| *rows > 0)
    }
}

/// Scattered positions are cheaper one by one than as ranges, which are looked for.
const SCATTERED: u64 = 8;

/// Calls `visit` with ranges of the positions below `rows`, in order.
fn each_range(rows: usize, positions: &RoaringBitmap, mut visit: impl FnMut(usize, usize)) {
    if positions.len() < rows as u64 / SCATTERED {
        for position in positions.iter().map(|position| position as usize).take_while(|position| *position < rows) {
            visit(position, position + 1);
        }
        return;
    }
    let mut positions = positions.iter();
    while let Some(range) = positions.next_range() {
        let (start, end) = (*range.start() as usize, *range.end() as usize + 1);
        if start >= rows {
            break;
        }
        visit(start, end.min(rows));
    }
}

/// Sets the bits from `start` until `end`, which are within the mask.
fn fill(mask: &mut MutableBuffer, start: usize, end: usize, value: bool) {
    let bytes = mask.as_slice_mut();
    let mut set = |byte: usize, bits: u8| match value {
        true => bytes[byte] |= bits,
        false => bytes[byte] &= !bits,
    };
    let (first, last) = (start / 8, (end - 1) / 8);
    let (head, tail) = (u8::MAX << (start % 8), u8::MAX >> (7 - (end - 1) % 8));
    if first == last {
        return set(first, head & tail);
    }
    set(first, head);
    set(last, tail);
    bytes[first + 1..last].fill(if value { u8::MAX } else { 0 });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn positions(selection: &RowSelection) -> Vec<u32> {
        selection.mask().set_indices_u32().collect()
    }

    #[test]
    fn runs_cover_the_file() {
        let bitmap: RoaringBitmap = [0, 1, 5, 6, 7, 100].into_iter().collect();
        let only = RowSelection::only(10, &bitmap);
        assert_eq!(only.runs().collect::<Vec<_>>(), [(2, true), (3, false), (3, true), (2, false)]);
        let except = RowSelection::except(10, &bitmap);
        assert_eq!(except.runs().collect::<Vec<_>>(), [(2, false), (3, true), (3, false), (2, true)]);
        assert!(only.and(&except).unwrap().is_empty());
        assert_eq!(RowSelection::all(3).runs().collect::<Vec<_>>(), [(3, true)]);
        assert_eq!(RowSelection::all(0).runs().count(), 0);
        assert_eq!(only.and(&RowSelection::all(3)).unwrap_err().kind(), crate::error::ErrorKind::Internal);
    }

    #[test]
    fn counts_of_rows_are_checked() {
        assert_eq!(RowSelection::row_count(-1).unwrap_err().kind(), crate::error::ErrorKind::Corrupt);
        assert_eq!(RowSelection::row_count(1 << 40).unwrap_err().kind(), crate::error::ErrorKind::Unsupported);
        assert_eq!(RowSelection::row_count(7).unwrap(), 7);
    }

    proptest! {
        #[test]
        fn masks_hold_the_positions(rows in 0usize..300, some in prop::collection::btree_set(0u32..320, 0..200), few in 0usize..200) {
            // Few positions and many take different ways.
            let some: BTreeSet<u32> = some.into_iter().take(few).collect();
            let bitmap: RoaringBitmap = some.iter().copied().collect();
            let only = RowSelection::only(rows, &bitmap);
            let inside: Vec<u32> = some.iter().copied().filter(|p| (*p as usize) < rows).collect();
            prop_assert_eq!(positions(&only), inside.clone());
            let except = RowSelection::except(rows, &bitmap);
            let outside: Vec<u32> = (0..rows as u32).filter(|p| !some.contains(p)).collect();
            prop_assert_eq!(except.selected(), outside.len());
            prop_assert_eq!(positions(&except), outside);
            prop_assert_eq!(only.runs().map(|(n, _)| n).sum::<usize>(), rows);
            prop_assert_eq!((only.run_count(), except.run_count()), (only.runs().count(), except.runs().count()));
            prop_assert_eq!(only.runs().filter(|r| r.1).map(|(n, _)| n).sum::<usize>(), inside.len());
        }
    }
}
