//! Options that follow the rename of a column.
//!
//! Those that do not follow name a column that is gone, and the check of the new schema says so. Source: schema sheet
//! section 4, "Options that follow a rename".

use std::collections::{BTreeMap, HashMap};

use crate::options::Options;
use crate::spec::TableSchema;

/// Lists of columns, of which Java leaves the last two behind without an error.
const LISTS: [&str; 4] =
    ["bucket-key", "sequence.field", "clustering.columns", "changelog-producer.row-deduplicate-ignore-fields"];
/// What `fields.<column>.` may be followed by to be renamed.
const SUFFIXES: [&str; 5] = ["aggregate-function", "ignore-retract", "distinct", "list-agg-delimiter", "nested-key"];

/// Rewrites the options for a top-level column that gets a new name.
pub(super) fn column(options: &BTreeMap<String, String>, old: &str, new: &str) -> BTreeMap<String, String> {
    let names = HashMap::from([(old, new)]);
    options.iter().map(|(key, value)| renamed(key, value, &names)).collect()
}

/// Options of a table as they are for an earlier schema of it: columns by the names that they had then. A list with a column
/// that was not there yet is the list of then.
pub(crate) fn options_of_then(options: &Options, now: &TableSchema, then: &TableSchema) -> Options {
    if now.id == then.id {
        return options.clone();
    }
    let names_then: HashMap<i32, &str> = then.fields.iter().map(|f| (f.id, f.name.as_str())).collect();
    let names: HashMap<&str, &str> =
        now.fields.iter().filter_map(|f| Some((f.name.as_str(), *names_then.get(&f.id)?))).collect();
    let mut all: BTreeMap<String, String> = options.iter().map(|(key, value)| renamed(key, value, &names)).collect();
    for key in LISTS {
        let all_there = |list: &str| list.split(',').all(|name| names.contains_key(name));
        if options.get(key).is_some_and(|list| !all_there(list)) {
            match then.options.get(key) {
                Some(list) => all.insert(key.to_owned(), list.clone()),
                None => all.remove(key),
            };
        }
    }
    options.with_values(all)
}

fn renamed(key: &str, value: &str, names: &HashMap<&str, &str>) -> (String, String) {
    if LISTS.contains(&key) {
        return (key.to_owned(), in_list(value, names));
    }
    let Some((columns, suffix)) = key.strip_prefix("fields.").and_then(|rest| rest.split_once('.')) else {
        return (key.to_owned(), value.to_owned());
    };
    if suffix == "sequence-group" {
        return (format!("fields.{}.{suffix}", in_list(columns, names)), in_list(value, names));
    }
    match names.get(columns) {
        Some(new) if SUFFIXES.contains(&suffix) || suffix.starts_with("map.") => {
            (format!("fields.{new}.{suffix}"), value.to_owned())
        }
        _ => (key.to_owned(), value.to_owned()),
    }
}

/// Rewrites the options for a field of the rows in `column` that gets a new name.
pub(super) fn nested(options: &mut BTreeMap<String, String>, column: &str, old: &str, new: &str) {
    if let Some(value) = options.get_mut(&format!("fields.{column}.nested-key")) {
        *value = in_list(value, &HashMap::from([(old, new)]));
    }
}

/// Replaces names in a list. Names are not trimmed: `a, b` holds ` b`.
fn in_list(list: &str, names: &HashMap<&str, &str>) -> String {
    list.split(',').map(|name| names.get(name).copied().unwrap_or(name)).collect::<Vec<_>>().join(",")
}
