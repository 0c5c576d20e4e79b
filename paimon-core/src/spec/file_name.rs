//! Names of files in metadata.
//!
//! Invariants: a name stays in the directory that its kind of file has: what is read, and what expiry deletes, is never outside
//! of the table.

use crate::error::{Error, Result};

/// The text, if it names nothing outside of a directory.
///
/// # Errors
/// `Corrupt` naming the field.
pub(crate) fn file_name(text: String, field: &str) -> Result<String> {
    if text == "." || text == ".." || text.contains(['/', '\\', '\0']) {
        return Err(Error::corrupt(format!("the value of '{field}' is not the name of a file, but {text:?}")));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn a_name_stays_in_its_directory() {
        assert_eq!(file_name("data-1..2-0.parquet".to_owned(), "_FILE_NAME").unwrap(), "data-1..2-0.parquet");
        for bad in [".", "..", "a/b", "../a", "/a", "a\\b", "a\0"] {
            let error = file_name(bad.to_owned(), "_FILE_NAME").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{bad}");
            assert!(error.message().contains("_FILE_NAME"), "{error}");
        }
    }
}
