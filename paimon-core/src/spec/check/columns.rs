//! Names, comments and defaults of columns.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::spec::table_schema::TableSchema;
use crate::types::{DataField, DataType, Datum, KEY_FIELD_PREFIX, RESERVED_NAMES};

/// Words at the start of comments by which Java turns columns into other types.
const DIRECTIVES: [&str; 4] = ["__BLOB_FIELD", "__BLOB_DESCRIPTOR_FIELD", "__BLOB_VIEW_FIELD", "__VECTOR_FIELD"];

pub(super) fn check(schema: &TableSchema) -> Result<()> {
    check_distinct("Table column", &schema.fields.iter().map(|f| f.name.as_str()).collect::<Vec<_>>())?;
    for field in &schema.fields {
        check_name(&field.name)?;
        check_directive(field)?;
        check_default(field)?;
        check_nested(&field.data_type, &field.name)?;
    }
    Ok(())
}

/// Refuses a list with the same name twice.
pub(super) fn check_distinct(what: &str, names: &[&str]) -> Result<()> {
    let mut seen = HashSet::new();
    let twice: Vec<_> = names.iter().filter(|name| !seen.insert(**name)).collect();
    if twice.is_empty() {
        return Ok(());
    }
    let (all, twice) = (names.join(", "), twice.into_iter().copied().collect::<Vec<_>>().join(", "));
    let kind = if what == "Table column" { "fields" } else { "columns" };
    Err(Error::invalid_input(format!("{what} [{all}] must not contain duplicate {kind}. Found: [{twice}]")))
}

fn check_name(name: &str) -> Result<()> {
    if RESERVED_NAMES.contains(&name) {
        let reserved = RESERVED_NAMES.join(", ");
        return Err(Error::invalid_input(format!("Field name[{name}] in schema cannot be exist in [{reserved}]")));
    }
    if name.starts_with(KEY_FIELD_PREFIX) {
        return Err(Error::invalid_input(format!(
            "Field name[{name}] in schema cannot start with [{KEY_FIELD_PREFIX}]"
        )));
    }
    if name.is_empty() {
        return Err(Error::invalid_input("the name of a column must not be empty"));
    }
    Ok(())
}

fn check_directive(field: &DataField) -> Result<()> {
    let comment = field.description.as_deref().unwrap_or_default();
    let word = comment.split(';').next().unwrap_or_default().trim();
    if DIRECTIVES.contains(&word) {
        let name = &field.name;
        return Err(Error::unsupported(format!("column {name}: the directive {word} in a comment is not supported")));
    }
    Ok(())
}

/// Checks that the default of a column is a value of its type.
pub(in crate::spec) fn check_default(field: &DataField) -> Result<()> {
    let Some(default) = &field.default_value else { return Ok(()) };
    let wrong = |e: Error| {
        let text = format!("Unsupported default value `{default}` for type {}", field.data_type.sql_text());
        Error::invalid_input(text).with_context("column", &field.name).with_source(e)
    };
    match &field.data_type {
        DataType::Variant(_) | DataType::Blob(_) | DataType::Vector(_) | DataType::Multiset(_) => {
            let text = format!("Default value do not support the type of {}", field.data_type.sql_text());
            Err(Error::invalid_input(text).with_context("column", &field.name))
        }
        DataType::Array(_) | DataType::Map(_) | DataType::Row(_) => {
            Err(Error::unsupported(format!("default values of type {} are not supported", field.data_type.sql_text()))
                .with_context("column", &field.name))
        }
        scalar => Datum::from_default(default, scalar).map(|_| ()).map_err(wrong),
    }
}

/// Names inside of rows are told apart; a BLOB stands at the top or directly in an array or map.
fn check_nested(data_type: &DataType, column: &str) -> Result<()> {
    match data_type {
        DataType::Row(row) => {
            let names: Vec<_> = row.fields().iter().map(|f| f.name.as_str()).collect();
            check_distinct("Table column", &names).map_err(|e| e.with_context("column", column))?;
            for field in row.fields() {
                refuse_blob(&field.data_type, column)?;
                check_nested(&field.data_type, column)?;
            }
            Ok(())
        }
        DataType::Array(t) => check_nested(t.element_type(), column),
        DataType::Multiset(t) => {
            refuse_blob(t.element_type(), column)?;
            check_nested(t.element_type(), column)
        }
        DataType::Map(t) => {
            refuse_blob(t.key_type(), column)?;
            check_nested(t.key_type(), column)?;
            check_nested(t.value_type(), column)
        }
        _ => Ok(()),
    }
}

fn refuse_blob(data_type: &DataType, column: &str) -> Result<()> {
    if matches!(data_type, DataType::Blob(_)) {
        return Err(Error::invalid_input(format!("Field '{column}' has unsupported nested BLOB type")));
    }
    Ok(())
}
