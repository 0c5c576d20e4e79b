//! Bit-slice indexes: numbers by their binary digits, those below 0 apart.
//!
//! ```text
//! 1 | rows | has values from 0 on [map] | has values below 0 [map of the absolute values]
//! map: 1 | least | greatest | rows with a value | digits | rows of each digit, of the value less the least
//! ```
//!
//! Source: file-index sheet section 5; `fileindex/bsi/BitSliceIndexBitmapFileIndex.java`,
//! `utils/BitSliceIndexRoaringBitmap.java`.

use std::ops::Bound;

use roaring::RoaringBitmap;

use super::cursor::{Cursor, damaged, every_row};
use super::key::{Key, KeyKind};
use super::question::Question;
use super::slices::{Compared, Slices};
use crate::error::Result;

const VERSION: u8 = 1;

/// The rows that the index leaves; `None` if it cannot tell.
pub(super) fn answer(blob: &[u8], kind: KeyKind, rows: u32, question: &Question) -> Result<Option<RoaringBitmap>> {
    if matches!(kind, KeyKind::Boolean | KeyKind::Float | KeyKind::Double | KeyKind::Text | KeyKind::Bytes) {
        return Ok(None);
    }
    let mut cursor = Cursor::new(blob);
    if cursor.u8()? != VERSION {
        return Ok(None);
    }
    let counted = cursor.size()?;
    if u32::try_from(counted) != Ok(rows) {
        return Err(damaged(format!("it counts {counted} rows of a file of {rows}")));
    }
    let positive = if cursor.flag()? { Some(Map::read(&mut cursor, rows)?) } else { None };
    let negative = if cursor.flag()? { Some(Map::read(&mut cursor, rows)?) } else { None };
    let numbers = Numbers { positive, negative };
    let values = numbers.values();
    Ok(match question {
        Question::Null => Some(every_row(rows) - values),
        Question::NotNull => Some(values),
        Question::OneOf(keys) => numbers.any_of(keys),
        Question::NoneOf(keys) => numbers.any_of(keys).map(|found| values - found),
        Question::Within(low, high) => {
            let (Some(low), Some(high)) = (numbers.outside(low, true), numbers.outside(high, false)) else {
                return Ok(None);
            };
            Some(values - low - high)
        }
        Question::Outside(low, high) => match (number(low), number(high)) {
            (Some(low), Some(high)) => Some(numbers.compare(low).below | numbers.compare(high).above),
            _ => None,
        },
    })
}

fn number(key: &Key) -> Option<i64> {
    match key {
        Key::Long(value) => Some(*value),
        Key::Bytes(_) => None,
    }
}

/// Values of one sign, from the least on.
struct Map {
    least: u64,
    slices: Slices,
}

impl Map {
    fn read(cursor: &mut Cursor<'_>, rows: u32) -> Result<Self> {
        let version = cursor.u8()?;
        let (least, greatest) = (cursor.i64()?, cursor.i64()?);
        let (Ok(least), Ok(_)) = (u64::try_from(least), u64::try_from(greatest)) else {
            return Err(damaged(format!("it has values from {least} to {greatest}")));
        };
        if version != VERSION {
            return Err(damaged(format!("a map of digits has version {version}")));
        }
        Ok(Self { least, slices: Slices::read(cursor, rows)? })
    }

    fn compare(&self, number: u64) -> Compared {
        match number.checked_sub(self.least) {
            Some(number) => self.slices.compare(number),
            None => {
                let above = self.slices.exists().clone();
                Compared { below: RoaringBitmap::new(), equal: RoaringBitmap::new(), above }
            }
        }
    }
}

struct Numbers {
    positive: Option<Map>,
    negative: Option<Map>,
}

impl Numbers {
    fn rows(map: Option<&Map>) -> RoaringBitmap {
        map.map(|m| m.slices.exists().clone()).unwrap_or_default()
    }

    fn values(&self) -> RoaringBitmap {
        Self::rows(self.positive.as_ref()) | Self::rows(self.negative.as_ref())
    }

    fn compare(&self, number: i64) -> Compared {
        let none =
            || Compared { below: RoaringBitmap::new(), equal: RoaringBitmap::new(), above: RoaringBitmap::new() };
        let in_map = |map: Option<&Map>| map.map_or_else(none, |m| m.compare(number.unsigned_abs()));
        if number >= 0 {
            let found = in_map(self.positive.as_ref());
            Compared { below: found.below | Self::rows(self.negative.as_ref()), ..found }
        } else {
            let Compared { below, equal, above } = in_map(self.negative.as_ref());
            Compared { below: above, equal, above: below | Self::rows(self.positive.as_ref()) }
        }
    }

    fn any_of(&self, keys: &[Key]) -> Option<RoaringBitmap> {
        keys.iter().map(|k| Some(self.compare(number(k)?).equal)).try_fold(RoaringBitmap::new(), |a, b| Some(a | b?))
    }

    /// The rows on the wrong side of a bound.
    fn outside(&self, bound: &Bound<Key>, is_low: bool) -> Option<RoaringBitmap> {
        let (key, excluded) = match bound {
            Bound::Unbounded => return Some(RoaringBitmap::new()),
            Bound::Included(key) => (key, false),
            Bound::Excluded(key) => (key, true),
        };
        let Compared { below, equal, above } = self.compare(number(key)?);
        let outside = if is_low { below } else { above };
        Some(if excluded { outside | equal } else { outside })
    }
}
