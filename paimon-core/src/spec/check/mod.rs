//! The rules that every new schema must satisfy, whether it comes from CREATE or ALTER.
//!
//! Invariants: no I/O; the first rule that is broken is the error; what Java allows is allowed, even where this product
//! cannot write it yet. Source: schema sheet section 7; `schema/SchemaValidation.java`.

mod columns;
mod features;
mod keys;
mod merging;
mod options;

pub(super) use columns::check_default;
pub use options::check_format_names;
pub(super) use options::formats_per_level;

use super::table_schema::TableSchema;
use crate::error::Result;
use crate::options::Options;

/// Checks a schema.
///
/// # Errors
/// `InvalidInput` for columns and keys, `InvalidConfig` for options, `Unsupported` for what is known but cannot be made.
pub(super) fn check(schema: &TableSchema) -> Result<()> {
    let options = Options::from(schema.options.clone());
    super::check_values(&options)?;
    columns::check(schema)?;
    keys::check(schema, &options)?;
    options::check(schema, &options)?;
    merging::check(schema, &options)?;
    features::check(schema, &options)
}

/// The text of an option that is a list of names, trimmed.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty())
}

/// Whether a switch without a typed key is on.
///
/// # Errors
/// `InvalidConfig` naming the key if the text is no switch.
fn is_on(options: &Options, key: &'static str) -> Result<bool> {
    let Some(text) = options.get(key) else { return Ok(false) };
    crate::options::parse_bool(text).map_err(|e| e.with_context("option", key))
}

#[cfg(test)]
mod tests;
