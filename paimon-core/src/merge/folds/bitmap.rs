//! `rbm32`: the union of 32-bit Roaring bitmaps in their standard serialised form.
//!
//! Invariants: damaged bytes are an error; containers of the result take the form that Java's `runOptimize` gives them.
//! Source: merge-engine sheet section 5.1; `FieldRoaringBitmap32Agg.java`, the Roaring format specification.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray, BinaryBuilder};

use super::choice::Work;
use crate::error::{Error, Result};
use crate::merge::fold::{Column, Fold, RowRef, fold, no_retraction};

/// Cookie of bitmaps without containers of runs.
const NO_RUNS: u32 = 12_346;
/// Cookie of bitmaps with containers of runs, in the low half of the first word.
const WITH_RUNS: u32 = 12_347;
/// Containers from which bitmaps with runs have offsets.
const OFFSETS_FROM: usize = 4;
/// The most values of an array container.
const MAX_ARRAY: u32 = 4_096;
const BITMAP_BYTES: usize = 8_192;
const WORDS: usize = 1_024;

/// The values that share their upper half.
#[derive(Debug, Clone)]
struct Container {
    words: Box<[u64]>,
    /// The form that it was read in, or got by a union.
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Array,
    Bitmap,
    Runs,
}

impl Container {
    fn empty(form: Form) -> Self {
        Self { words: vec![0; WORDS].into_boxed_slice(), form }
    }

    fn set(&mut self, value: u16) {
        self.words[usize::from(value) / 64] |= 1 << (value % 64);
    }

    fn unite(&mut self, other: &Self) {
        for (a, b) in self.words.iter_mut().zip(&other.words) {
            *a |= b;
        }
        self.form = match (self.form, other.form) {
            (Form::Bitmap, _) | (_, Form::Bitmap) => Form::Bitmap,
            (Form::Runs, _) | (_, Form::Runs) => Form::Runs,
            (Form::Array, Form::Array) => Form::Array,
        };
    }

    fn cardinality(&self) -> u32 {
        self.words.iter().map(|w| w.count_ones()).sum()
    }

    fn values(&self) -> impl Iterator<Item = u16> {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros())?;
                rest &= rest - 1;
                Some((i * 64) as u16 + bit as u16)
            })
        })
    }

    /// First value and number of further values of each run.
    fn runs(&self) -> Vec<(u16, u16)> {
        let mut runs: Vec<(u16, u16)> = Vec::new();
        for value in self.values() {
            match runs.last_mut() {
                Some((start, more)) if u32::from(*start) + u32::from(*more) + 1 == u32::from(value) => *more += 1,
                _ => runs.push((value, 0)),
            }
        }
        runs
    }
}

type Bitmap = BTreeMap<u16, Container>;

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.0.split_at_checked(count) else {
            return Err(Error::corrupt("a Roaring bitmap is cut short"));
        };
        self.0 = rest;
        Ok(taken)
    }

    fn u16(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_le_bytes([bytes[0], bytes[1]]))
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from(self.u16()?) | u32::from(self.u16()?) << 16)
    }
}

fn decode(bytes: &[u8]) -> Result<Bitmap> {
    let mut bytes = Bytes(bytes);
    let cookie = bytes.u32()?;
    let (count, run_flags) = match cookie {
        NO_RUNS => (bytes.u32()? as usize, None),
        _ if cookie & 0xffff == WITH_RUNS => {
            let count = (cookie >> 16) as usize + 1;
            (count, Some(bytes.take(count.div_ceil(8))?))
        }
        _ => return Err(Error::corrupt(format!("a Roaring bitmap cannot begin with {cookie}"))),
    };
    if count > 1 << 16 {
        return Err(Error::corrupt(format!("a Roaring bitmap cannot have {count} containers")));
    }
    let mut headers = Vec::with_capacity(count);
    for _ in 0..count {
        headers.push((bytes.u16()?, u32::from(bytes.u16()?) + 1));
    }
    if run_flags.is_none() || count >= OFFSETS_FROM {
        bytes.take(4 * count)?;
    }
    let mut bitmap = Bitmap::new();
    for (i, (key, cardinality)) in headers.into_iter().enumerate() {
        let has_runs = run_flags.is_some_and(|flags| flags[i / 8] & 1 << (i % 8) != 0);
        let container = if has_runs {
            decode_runs(&mut bytes)?
        } else if cardinality <= MAX_ARRAY {
            let mut container = Container::empty(Form::Array);
            for _ in 0..cardinality {
                container.set(bytes.u16()?);
            }
            container
        } else {
            let mut container = Container::empty(Form::Bitmap);
            for (word, bytes) in container.words.iter_mut().zip(bytes.take(BITMAP_BYTES)?.chunks_exact(8)) {
                *word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
            }
            container
        };
        if bitmap.insert(key, container).is_some() {
            return Err(Error::corrupt(format!("a Roaring bitmap has container {key} twice")));
        }
    }
    Ok(bitmap)
}

fn decode_runs(bytes: &mut Bytes<'_>) -> Result<Container> {
    let mut container = Container::empty(Form::Runs);
    for _ in 0..bytes.u16()? {
        let (start, more) = (bytes.u16()?, bytes.u16()?);
        let Some(end) = start.checked_add(more) else {
            return Err(Error::corrupt("a run of a Roaring bitmap leaves its container"));
        };
        (start..=end).for_each(|value| container.set(value));
    }
    Ok(container)
}

fn encode(bitmap: &Bitmap) -> Vec<u8> {
    let (mut headers, mut flags) = (Vec::new(), vec![0u8; bitmap.len().div_ceil(8)]);
    let (mut bodies, mut lengths) = (Vec::new(), Vec::new());
    for (i, (key, container)) in bitmap.iter().enumerate() {
        let (cardinality, runs) = (container.cardinality(), container.runs());
        let plain = if cardinality <= MAX_ARRAY { 2 * cardinality as usize } else { BITMAP_BYTES };
        let in_runs = 2 + 4 * runs.len();
        headers.extend_from_slice(&key.to_le_bytes());
        headers.extend_from_slice(&(cardinality.saturating_sub(1) as u16).to_le_bytes());
        let before = bodies.len();
        if in_runs < plain || in_runs == plain && container.form == Form::Runs {
            flags[i / 8] |= 1 << (i % 8);
            bodies.extend_from_slice(&(runs.len() as u16).to_le_bytes());
            for (start, more) in runs {
                bodies.extend_from_slice(&start.to_le_bytes());
                bodies.extend_from_slice(&more.to_le_bytes());
            }
        } else if cardinality <= MAX_ARRAY {
            container.values().for_each(|value| bodies.extend_from_slice(&value.to_le_bytes()));
        } else {
            container.words.iter().for_each(|word| bodies.extend_from_slice(&word.to_le_bytes()));
        }
        lengths.push(bodies.len() - before);
    }
    let mut result = Vec::new();
    let has_runs = flags.iter().any(|&f| f != 0);
    if has_runs {
        let count = bitmap.len() as u32;
        result.extend_from_slice(&(WITH_RUNS | (count - 1) << 16).to_le_bytes());
        result.extend_from_slice(&flags);
    } else {
        result.extend_from_slice(&NO_RUNS.to_le_bytes());
        result.extend_from_slice(&(bitmap.len() as u32).to_le_bytes());
    }
    result.extend_from_slice(&headers);
    if !has_runs || bitmap.len() >= OFFSETS_FROM {
        let mut offset = (result.len() + 4 * bitmap.len()) as u32;
        for length in lengths {
            result.extend_from_slice(&offset.to_le_bytes());
            offset += length as u32;
        }
    }
    result.extend_from_slice(&bodies);
    result
}

enum Union {
    Null,
    /// The bytes of a row as they are.
    Row(RowRef),
    Bitmap(Bitmap),
}

struct Unite<'a> {
    column: &'a Column<'a>,
    values: Vec<&'a BinaryArray>,
}

impl Fold for Unite<'_> {
    type State = Union;

    fn fresh(&self) -> Union {
        Union::Null
    }

    fn fill(&self, state: &mut Union, row: RowRef) -> Result<()> {
        *state = if self.column.is_null(row) { Union::Null } else { Union::Row(row) };
        Ok(())
    }

    fn add(&self, state: &mut Union, row: RowRef) -> Result<()> {
        if self.column.is_null(row) {
            return Ok(());
        }
        let mut there = match std::mem::replace(state, Union::Null) {
            Union::Null => {
                *state = Union::Row(row);
                return Ok(());
            }
            Union::Row(row) => decode(self.bytes(row))?,
            Union::Bitmap(bitmap) => bitmap,
        };
        for (key, container) in decode(self.bytes(row))? {
            there.entry(key).and_modify(|there| there.unite(&container)).or_insert(container);
        }
        *state = Union::Bitmap(there);
        Ok(())
    }

    fn retract(&self, _: &mut Union, _: RowRef, _: bool) -> Result<()> {
        Err(no_retraction("rbm32"))
    }
}

impl Unite<'_> {
    fn bytes(&self, row: RowRef) -> &[u8] {
        self.values[row.batch()].value(row.row())
    }
}

/// The united bitmaps of the groups.
///
/// # Errors
/// `Corrupt` for bytes that are no bitmap; `Unsupported` for retracts.
pub(super) fn fold_bitmaps(work: Work<'_>, column: &Column<'_>) -> Result<ArrayRef> {
    let values: Option<Vec<_>> = column.arrays.iter().map(|a| a.as_binary_opt::<i32>()).collect();
    let values = values.ok_or_else(|| Error::internal("rbm32 of a column that holds no bytes"))?;
    let unite = Unite { column, values };
    let mut result = BinaryBuilder::with_capacity(work.groups.len(), 0);
    fold(work.groups, work.steps, work.ignore_retract, &unite, |state| {
        match state {
            Union::Null => result.append_null(),
            Union::Row(row) => result.append_value(unite.bytes(row)),
            Union::Bitmap(bitmap) => result.append_value(encode(&bitmap)),
        }
        Ok(())
    })?;
    Ok(Arc::new(result.finish()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits: Vec<char> = hex.chars().filter(|c| !c.is_whitespace()).collect();
        digits.chunks(2).map(|pair| u8::from_str_radix(&pair.iter().collect::<String>(), 16).unwrap()).collect()
    }

    fn union(a: &[u8], b: &[u8]) -> Vec<u8> {
        let mut there = decode(a).unwrap();
        for (key, container) in decode(b).unwrap() {
            there.entry(key).and_modify(|there| there.unite(&container)).or_insert(container);
        }
        encode(&there)
    }

    #[test]
    fn unions_have_the_bytes_that_java_writes() {
        let a = bytes("3a300000 01000000 0000 0100 10000000 0100 0500");
        let b = bytes("3a300000 02000000 0000 0000 0100 0000 18000000 1a000000 0500 7011");
        let both = bytes("3a300000 02000000 0000 0100 0100 0000 18000000 1c000000 0100 0500 7011");
        assert_eq!(union(&a, &b), both);
        let run = bytes("3b300000 01 0000 6300 0100 0000 6300");
        assert_eq!(union(&run, &a), run);
        assert_eq!(union(&run, &run), run);
    }

    #[test]
    fn all_forms_of_containers_come_back() {
        let mut bitmap = Bitmap::new();
        for (key, step, form) in [
            (0, 1, Form::Runs),
            (1, 2, Form::Bitmap),
            (2, 100, Form::Array),
            (9, 3, Form::Bitmap),
            (65_535, 1, Form::Runs),
        ] {
            let mut container = Container::empty(form);
            (0..=65_535).step_by(step).for_each(|v| container.set(v));
            bitmap.insert(key, container);
        }
        let encoded = encode(&bitmap);
        let decoded = decode(&encoded).unwrap();
        assert_eq!(decoded.len(), 5);
        for (key, container) in &decoded {
            assert_eq!((&container.words, container.form), (&bitmap[key].words, bitmap[key].form), "{key}");
        }
        for length in 0..encoded.len().min(400) {
            assert!(decode(&encoded[..length]).is_err(), "{length}");
        }
        assert!(decode(&bytes("3b300000 01 0000 6300 0100 0100 ffff")).is_err());
    }
}
