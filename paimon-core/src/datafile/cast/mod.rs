//! Casts of values from the type of a file to the type that is read, and of the text of defaults to the type of a column.
//!
//! Invariants: values are Java's, which differ from those of Arrow's kernels: integers wrap, floats saturate, decimals that
//! overflow are null, text that does not parse is an error. Casts between zoned and other types go through the zone of the
//! process, so they differ between processes of different zones. Source: schema-evolution sheet section 3; `casting/CastExecutors.java`.

mod moment;
mod number;
mod text_from;
mod text_to;
mod zone;

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BinaryArray};

use crate::error::{Error, Result};
use crate::types::{DataType, MAX_LENGTH};

/// A cast that was found possible.
pub(crate) type Cast = Box<dyn Fn(&ArrayRef) -> Result<ArrayRef> + Send + Sync>;

/// The cast between two types that differ.
///
/// # Errors
/// `Unsupported` naming column and types.
pub(crate) fn cast(column: &str, from: &DataType, to: &DataType) -> Result<Cast> {
    find(from, to).ok_or_else(|| {
        Error::unsupported(format!("column {column} was written as {from:?} and cannot be cast to {to:?}"))
    })
}

fn find(from: &DataType, to: &DataType) -> Option<Cast> {
    if from.equals_ignoring_nullability(to) {
        return Some(Box::new(|array| Ok(Arc::clone(array))));
    }
    if is_text(from) {
        return text_from::find(to);
    }
    if is_text(to) {
        return text_to::find(from, to);
    }
    match (from, to) {
        (DataType::Binary(_) | DataType::VarBinary(_), DataType::Binary(_) | DataType::VarBinary(_)) => {
            let fit = BytesFit::new(to)?;
            Some(Box::new(move |array| Ok(fit.apply(array.as_binary::<i32>()))))
        }
        _ => number::find(from, to).or_else(|| moment::find(from, to)),
    }
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Char(_) | DataType::VarChar(_))
}

/// Cuts bytes to the length of their type; BINARY is filled up with zeros.
#[derive(Debug, Clone, Copy)]
struct BytesFit {
    length: usize,
    fill: bool,
}

impl BytesFit {
    fn new(to: &DataType) -> Option<Self> {
        let (length, fill) = match to {
            DataType::Binary(t) => (t.length(), true),
            DataType::VarBinary(t) => (t.length(), false),
            _ => return None,
        };
        Some(Self { length: usize::try_from(length).ok()?, fill })
    }

    fn apply(self, array: &BinaryArray) -> ArrayRef {
        let fits = |value: &[u8]| value.len() == self.length || value.len() < self.length && !self.fill;
        if array.iter().flatten().all(fits) {
            return Arc::new(array.clone());
        }
        let fitted = array.iter().map(|value| {
            value.map(|value| {
                let mut bytes = value.get(..self.length).unwrap_or(value).to_vec();
                if self.fill {
                    bytes.resize(self.length, 0);
                }
                bytes
            })
        });
        Arc::new(fitted.collect::<BinaryArray>())
    }
}

/// The text of a value cut to the length of a type and filled up with blanks if it is CHAR; lengths are in characters.
#[derive(Debug, Clone, Copy)]
struct TextFit {
    length: usize,
    fill: bool,
}

impl TextFit {
    fn new(to: &DataType) -> Option<Self> {
        let (length, fill) = match to {
            DataType::Char(t) => (t.length(), true),
            DataType::VarChar(t) => (t.length(), false),
            _ => return None,
        };
        Some(Self { length: usize::try_from(length).ok()?, fill })
    }

    fn is_whole(self) -> bool {
        !self.fill && u32::try_from(self.length).is_ok_and(|l| l == MAX_LENGTH)
    }

    fn apply(self, text: &str) -> String {
        let mut fitted: String = text.chars().take(self.length).collect();
        if self.fill {
            let count = fitted.chars().count();
            fitted.extend(std::iter::repeat_n(' ', self.length.saturating_sub(count)));
        }
        fitted
    }
}

#[cfg(test)]
mod tests;
