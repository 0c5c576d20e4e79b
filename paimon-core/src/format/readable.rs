//! Which column types the files of a format can have.

use crate::error::{Error, Result};
use crate::types::{DataField, DataType};

/// Refuses columns that cannot be read from files of a format, before any byte is read.
///
/// # Errors
/// `Unsupported` naming column and type.
pub(super) fn check_readable(format: &str, has_variant: bool, columns: &[DataField]) -> Result<()> {
    columns.iter().try_for_each(|column| match refused(has_variant, &column.data_type) {
        Some(found) => Err(Error::unsupported(format!(
            "column {} of type {} is not supported in {format} files",
            column.name,
            found.sql_text()
        ))),
        None => Ok(()),
    })
}

fn refused(has_variant: bool, data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::Blob(_) | DataType::Vector(_) => Some(data_type),
        DataType::Variant(_) if !has_variant => Some(data_type),
        DataType::Array(t) => refused(has_variant, t.element_type()),
        DataType::Multiset(t) => refused(has_variant, t.element_type()),
        DataType::Map(t) => refused(has_variant, t.key_type()).or_else(|| refused(has_variant, t.value_type())),
        DataType::Row(t) => t.fields().iter().find_map(|f| refused(has_variant, &f.data_type)),
        _ => None,
    }
}
