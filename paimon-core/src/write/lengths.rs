//! Checks that text and bytes fit the lengths of their columns.
//!
//! Source: SQL sheet requirement 135: a longer value is an error.

use arrow::array::{ArrayRef, AsArray};

use crate::error::{Error, Result};
use crate::types::{DataField, DataType, MAX_LENGTH};

/// Checks a column in the form of the table.
///
/// # Errors
/// `SchemaMismatch` naming column and row.
pub(super) fn check_lengths(array: &ArrayRef, field: &DataField) -> Result<()> {
    let (name, length) = match &field.data_type {
        DataType::Char(t) => ("CHAR", t.length()),
        DataType::VarChar(t) => ("VARCHAR", t.length()),
        DataType::Binary(t) => ("BINARY", t.length()),
        DataType::VarBinary(t) => ("VARBINARY", t.length()),
        _ => return Ok(()),
    };
    if length == MAX_LENGTH {
        return Ok(());
    }
    let limit = usize::try_from(length).unwrap_or(usize::MAX);
    let wrong = match &field.data_type {
        DataType::Char(_) | DataType::VarChar(_) => {
            let array = array.as_string::<i32>();
            // A text of so few bytes cannot have more characters.
            let too_long = |text: &str| text.len() > limit && text.chars().count() > limit;
            first(array.iter(), too_long).map(|(row, text)| (row, text.chars().count(), "characters"))
        }
        DataType::Binary(_) => {
            let other = |value: &[u8]| value.len() != limit;
            first(array.as_binary::<i32>().iter(), other).map(|(row, value)| (row, value.len(), "bytes"))
        }
        _ => {
            let too_long = |value: &[u8]| value.len() > limit;
            first(array.as_binary::<i32>().iter(), too_long).map(|(row, value)| (row, value.len(), "bytes"))
        }
    };
    match wrong {
        None => Ok(()),
        Some((row, found, unit)) => Err(Error::schema_mismatch(format!(
            "the value of column {} in row {row} has {found} {unit}, but its type is {name}({length})",
            field.name
        ))
        .with_context("column", &field.name)),
    }
}

fn first<'a, T: ?Sized>(
    values: impl Iterator<Item = Option<&'a T>>,
    wrong: impl Fn(&T) -> bool,
) -> Option<(usize, &'a T)> {
    values.enumerate().find_map(|(row, value)| value.filter(|v| wrong(v)).map(|v| (row, v)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{BinaryArray, StringArray};

    use super::*;
    use crate::types::{BinaryType, VarBinaryType, VarCharType};

    #[test]
    fn lengths_count_characters_of_text_and_bytes_of_binary() {
        let text = |values: Vec<&str>| -> ArrayRef { Arc::new(StringArray::from(values)) };
        let bytes = |values: Vec<&[u8]>| -> ArrayRef { Arc::new(BinaryArray::from(values)) };
        let varchar = DataType::VarChar(VarCharType::new(2).unwrap());
        let binary = DataType::Binary(BinaryType::new(2).unwrap());
        let varbinary = DataType::VarBinary(VarBinaryType::new(2).unwrap());
        let cases = [
            (varchar.clone(), text(vec!["ab", "\u{1f600}\u{1f600}"]), None),
            (varchar, text(vec!["ab", "abc"]), Some("row 1 has 3 characters, but its type is VARCHAR(2)")),
            (binary.clone(), bytes(vec![b"ab"]), None),
            (binary, bytes(vec![b"a"]), Some("row 0 has 1 bytes, but its type is BINARY(2)")),
            (varbinary.clone(), bytes(vec![b"", b"ab"]), None),
            (varbinary, bytes(vec![b"abc"]), Some("row 0 has 3 bytes")),
        ];
        for (data_type, array, expected) in cases {
            let outcome = check_lengths(&array, &DataField::new(0, "c", data_type));
            match expected {
                None => assert!(outcome.is_ok()),
                Some(part) => assert!(outcome.unwrap_err().to_string().contains(part)),
            }
        }
    }
}
