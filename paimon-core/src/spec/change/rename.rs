//! Options that follow the rename of a column.
//!
//! Those that do not follow name a column that is gone, and the check of the new schema says so. Source: schema sheet
//! section 4, "Options that follow a rename".

use std::collections::BTreeMap;

/// Lists of columns, of which Java leaves the last two behind without an error.
const LISTS: [&str; 4] =
    ["bucket-key", "sequence.field", "clustering.columns", "changelog-producer.row-deduplicate-ignore-fields"];
/// What `fields.<column>.` may be followed by to be renamed.
const SUFFIXES: [&str; 5] = ["aggregate-function", "ignore-retract", "distinct", "list-agg-delimiter", "nested-key"];

/// Rewrites the options for a top-level column that gets a new name.
pub(super) fn column(options: &BTreeMap<String, String>, old: &str, new: &str) -> BTreeMap<String, String> {
    options.iter().map(|(key, value)| renamed(key, value, old, new)).collect()
}

fn renamed(key: &str, value: &str, old: &str, new: &str) -> (String, String) {
    if LISTS.contains(&key) {
        return (key.to_owned(), in_list(value, old, new));
    }
    let Some((columns, suffix)) = key.strip_prefix("fields.").and_then(|rest| rest.split_once('.')) else {
        return (key.to_owned(), value.to_owned());
    };
    if suffix == "sequence-group" {
        return (format!("fields.{}.{suffix}", in_list(columns, old, new)), in_list(value, old, new));
    }
    if columns == old && (SUFFIXES.contains(&suffix) || suffix.starts_with("map.")) {
        return (format!("fields.{new}.{suffix}"), value.to_owned());
    }
    (key.to_owned(), value.to_owned())
}

/// Rewrites the options for a field of the rows in `column` that gets a new name.
pub(super) fn nested(options: &mut BTreeMap<String, String>, column: &str, old: &str, new: &str) {
    if let Some(value) = options.get_mut(&format!("fields.{column}.nested-key")) {
        *value = in_list(value, old, new);
    }
}

/// Replaces a name in a list. Names are not trimmed: `a, b` holds ` b`.
fn in_list(list: &str, old: &str, new: &str) -> String {
    list.split(',').map(|name| if name == old { new } else { name }).collect::<Vec<_>>().join(",")
}
