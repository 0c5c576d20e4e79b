//! The option `type` of a table: which kinds a filesystem catalog makes and loads.
//!
//! Source: catalog sheet section 7; `TableType.java`, `catalog/AbstractCatalog.java`.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::options::parse_bool;

const KINDS: [&str; 6] =
    ["table", "format-table", "materialized-table", "object-table", "lance-table", "iceberg-table"];

/// Checks the options of a table to be created that the catalog, not the schema, has a say in.
///
/// # Errors
/// `Unsupported` for a kind of table that this catalog does not make, or a path of its own; `InvalidConfig` for an unknown
/// kind.
pub(super) fn check_created(options: &BTreeMap<String, String>) -> Result<()> {
    if let Some(value) = options.get("auto-create")
        && parse_bool(value)?
    {
        return Err(Error::invalid_config("The value of auto-create property should be false."));
    }
    if options.contains_key("path") {
        return Err(Error::unsupported(
            "The current catalog FileSystemCatalog does not support specifying the table path when creating a table.",
        ));
    }
    let kind = kind(options)?;
    if is_data_table(kind) {
        return Ok(());
    }
    Err(Error::unsupported(format!("FileSystemCatalog currently does not support {}", kind.replace('-', " "))))
}

/// Checks that a table that was loaded is one that can be read.
///
/// # Errors
/// `Unsupported` naming the kind.
pub(super) fn check_loaded(options: &BTreeMap<String, String>) -> Result<()> {
    let kind = kind(options)?;
    if is_data_table(kind) {
        return Ok(());
    }
    Err(Error::unsupported(format!("tables of type '{kind}' are not supported")))
}

fn is_data_table(kind: &str) -> bool {
    matches!(kind, "table" | "materialized-table")
}

fn kind(options: &BTreeMap<String, String>) -> Result<&'static str> {
    let Some(text) = options.get("type") else { return Ok("table") };
    KINDS.into_iter().find(|kind| kind.eq_ignore_ascii_case(text)).ok_or_else(|| {
        Error::invalid_config(format!(
            "Could not parse value '{text}' for key 'type'. Expected one of: [{}]",
            KINDS.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn options(key: &str, value: &str) -> BTreeMap<String, String> {
        [(key.to_owned(), value.to_owned())].into()
    }

    #[test]
    fn kinds() {
        for kind in ["table", "TABLE", "materialized-table"] {
            assert!(check_created(&options("type", kind)).is_ok() && check_loaded(&options("type", kind)).is_ok());
        }
        let cases = [
            ("type", "format-table", ErrorKind::Unsupported, "does not support format table"),
            ("type", "object-table", ErrorKind::Unsupported, "does not support object table"),
            ("type", "iceberg-table", ErrorKind::Unsupported, "does not support iceberg table"),
            ("type", "view", ErrorKind::InvalidConfig, "'view'"),
            ("path", "/x", ErrorKind::Unsupported, "specifying the table path"),
            ("auto-create", "TRUE", ErrorKind::InvalidConfig, "auto-create"),
        ];
        for (key, value, kind, text) in cases {
            let error = check_created(&options(key, value)).unwrap_err();
            assert_eq!(error.kind(), kind, "{value}");
            assert!(error.message().contains(text), "{error}");
        }
        assert!(check_created(&options("auto-create", "false")).is_ok());
    }
}
