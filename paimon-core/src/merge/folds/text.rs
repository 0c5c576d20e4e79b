//! `listagg`: texts joined by a delimiter.
//!
//! Invariants: empty texts are never joined. Source: merge-engine sheet sections 5.1 and 5.3; `FieldListaggAgg.java`.

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, StringArray, StringBuilder};

use super::choice::Work;
use crate::error::{Error, Result};
use crate::merge::fold::{Column, Fold, RowRef, fold, no_retraction};

/// A text that grows, or one of a row.
enum Text {
    Null,
    Row(RowRef),
    Owned(String),
}

struct Joined<'a> {
    column: &'a Column<'a>,
    values: Vec<&'a StringArray>,
    delimiter: &'a str,
    distinct: bool,
}

impl Fold for Joined<'_> {
    type State = Text;

    fn fresh(&self) -> Text {
        Text::Null
    }

    fn fill(&self, state: &mut Text, row: RowRef) -> Result<()> {
        *state = if self.column.is_null(row) { Text::Null } else { Text::Row(row) };
        Ok(())
    }

    fn add(&self, state: &mut Text, row: RowRef) -> Result<()> {
        let Some(input) = self.input(row) else { return Ok(()) };
        match self.text(state) {
            None | Some("") => *state = Text::Row(row),
            Some(_) => {
                let mut text = self.owned(state);
                self.append(&mut text, input);
                *state = Text::Owned(text);
            }
        }
        Ok(())
    }

    /// The roles are swapped: what is there is appended to the row.
    fn add_older(&self, state: &mut Text, row: RowRef) -> Result<()> {
        let input = self.input(row);
        match (input, self.text(state)) {
            (None, Some(text)) if !text.is_empty() => {}
            (None, _) | (Some(_), None | Some("")) => {
                // An empty text that is there loses against the row, whatever that holds.
                self.fill(state, row)?;
            }
            (Some(input), Some(text)) => {
                let mut joined = input.to_owned();
                self.append(&mut joined, text);
                *state = Text::Owned(joined);
            }
        }
        Ok(())
    }

    fn retract(&self, _: &mut Text, _: RowRef, _: bool) -> Result<()> {
        Err(no_retraction("listagg"))
    }
}

impl Joined<'_> {
    /// The text of a row, unless there is nothing to join.
    fn input(&self, row: RowRef) -> Option<&str> {
        (!self.column.is_null(row)).then(|| self.values[row.batch()].value(row.row())).filter(|t| !t.is_empty())
    }

    fn text<'t>(&'t self, state: &'t Text) -> Option<&'t str> {
        match state {
            Text::Null => None,
            Text::Row(row) => Some(self.values[row.batch()].value(row.row())),
            Text::Owned(text) => Some(text),
        }
    }

    fn owned(&self, state: &mut Text) -> String {
        match std::mem::replace(state, Text::Null) {
            Text::Null => String::new(),
            Text::Row(row) => self.values[row.batch()].value(row.row()).to_owned(),
            Text::Owned(text) => text,
        }
    }

    fn append(&self, text: &mut String, input: &str) {
        if !self.distinct || self.delimiter.is_empty() {
            text.push_str(self.delimiter);
            text.push_str(input);
            return;
        }
        for token in input.split(self.delimiter).filter(|t| !t.trim().is_empty()) {
            if !text.split(self.delimiter).any(|known| known == token) {
                text.push_str(self.delimiter);
                text.push_str(token);
            }
        }
    }
}

/// The joined texts of the groups.
///
/// # Errors
/// `Unsupported` for retracts; `Internal` for values that are no text.
pub(super) fn fold_texts(work: Work<'_>, column: &Column<'_>, delimiter: &str, distinct: bool) -> Result<ArrayRef> {
    let values: Option<Vec<_>> = column.arrays.iter().map(|a| a.as_string_opt::<i32>()).collect();
    let values = values.ok_or_else(|| Error::internal("listagg of a column that is no text"))?;
    let joined = Joined { column, values, delimiter, distinct };
    let mut result = StringBuilder::with_capacity(work.groups.len(), 0);
    fold(work.groups, work.steps, work.ignore_retract, &joined, |state| {
        result.append_option(joined.text(&state));
        Ok(())
    })?;
    Ok(Arc::new(result.finish()))
}
