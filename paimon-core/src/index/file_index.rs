//! The indexes of one data file, and what they say of a predicate.
//!
//! Invariants: a row that passes the predicate is never left out; an index that is damaged, unknown or of another file
//! says nothing. Source: file-index sheet section 7; `fileindex/FileIndexPredicate.java`.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use roaring::RoaringBitmap;

use super::container::{self, Entry};
use super::cursor::damaged;
use super::key::KeyKind;
use super::question::Question;
use super::{bitmap, bloom, bsi, range_bitmap};
use crate::error::Result;
use crate::predicate::{Leaf, Predicate};

/// The indexes of one data file.
#[derive(Debug, Clone, Default)]
pub struct FileIndex {
    indexes: Vec<Index>,
}

#[derive(Debug, Clone)]
pub(super) struct Index {
    pub(super) column: Arc<str>,
    pub(super) kind: String,
    /// `None` for an index without values.
    pub(super) blob: Option<Bytes>,
}

impl FileIndex {
    pub(super) fn new(indexes: Vec<Index>) -> Self {
        Self { indexes }
    }

    /// The indexes of these columns in a whole container.
    ///
    /// # Errors
    /// `Corrupt`; `Unsupported` for containers of another version.
    pub fn decode(container: &Bytes, columns: &BTreeSet<&str>) -> Result<Self> {
        let length = container::head_length(container)?;
        let head = container.get(..length).ok_or_else(|| damaged("its head ends early"))?;
        let wanted = container::entries(head)?.into_iter().filter(|e| is_wanted(e, columns));
        let indexes = wanted.filter_map(|entry| {
            let blob = match entry.blob {
                Some(range) if range.end <= container.len() => Some(container.slice(range)),
                // One that is cut says nothing; the others may.
                Some(_) => return None,
                None => None,
            };
            Some(Index { column: entry.column, kind: entry.kind, blob })
        });
        Ok(Self::new(indexes.collect()))
    }

    /// Whether there is no index to ask.
    pub fn is_empty(&self) -> bool {
        self.indexes.is_empty()
    }

    /// Rows of a file of `rows` rows, all others of which do not pass; `None` if any row may. The predicate is over the
    /// columns of the file, by name.
    pub fn rows(&self, predicate: &Predicate, rows: u32) -> Option<RoaringBitmap> {
        match predicate {
            Predicate::AlwaysTrue => None,
            Predicate::AlwaysFalse => Some(RoaringBitmap::new()),
            Predicate::Leaf(leaf) => self.leaf_rows(leaf, rows),
            Predicate::And(parts) => intersection(parts.iter().map(|p| self.rows(p, rows))),
            Predicate::Or(parts) => {
                parts.iter().map(|p| self.rows(p, rows)).try_fold(RoaringBitmap::new(), |a, b| Some(a | b?))
            }
        }
    }

    fn leaf_rows(&self, leaf: &Leaf, rows: u32) -> Option<RoaringBitmap> {
        let (question, kind) = (Question::of(leaf)?, KeyKind::of(&leaf.data_type)?);
        let mine = self.indexes.iter().filter(|i| *i.column == leaf.name);
        // What is damaged says nothing.
        intersection(mine.map(|index| index.answer(kind, rows, &question).ok().flatten()))
    }
}

impl Index {
    fn answer(&self, kind: KeyKind, rows: u32, question: &Question) -> Result<Option<RoaringBitmap>> {
        let Some(blob) = &self.blob else {
            let means_values = matches!(question, Question::NotNull | Question::OneOf(_) | Question::Within(..));
            return Ok(means_values.then(RoaringBitmap::new));
        };
        match self.kind.as_str() {
            "bloom-filter" => bloom::answer(blob, kind, question),
            "bitmap" => bitmap::answer(blob, kind, rows, question),
            "bsi" => bsi::answer(blob, kind, rows, question),
            "range-bitmap" => range_bitmap::answer(blob, kind, rows, question),
            _ => Ok(None),
        }
    }
}

pub(super) fn is_wanted(entry: &Entry, columns: &BTreeSet<&str>) -> bool {
    columns.contains(&*entry.column)
        && matches!(entry.kind.as_str(), "bloom-filter" | "bitmap" | "bsi" | "range-bitmap")
}

/// The rows of all that are known; ends early once no row is left.
fn intersection(all: impl Iterator<Item = Option<RoaringBitmap>>) -> Option<RoaringBitmap> {
    let mut left: Option<RoaringBitmap> = None;
    for rows in all.flatten() {
        let both = match left {
            Some(left) => left & rows,
            None => rows,
        };
        if both.is_empty() {
            return Some(both);
        }
        left = Some(both);
    }
    left
}
