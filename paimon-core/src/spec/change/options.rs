//! Which options may change, and when.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::options::{OptionKey, Options};
use crate::spec::{BUCKET, DELETION_VECTORS, IGNORE_DELETE, IGNORE_UPDATE_BEFORE};

/// Options that may not change once a table has a snapshot, nor by dynamic options.
pub const IMMUTABLE_OPTIONS: [&str; 22] = [
    "aggregation.remove-record-on-delete",
    "blob-descriptor-field",
    "blob-field",
    "blob-view-field",
    "bucket-function.type",
    "bucket-key",
    "data-evolution.enabled",
    "data-file.path-directory",
    "dynamic-bucket.initial-buckets",
    "force-lookup",
    "index-file-in-data-file-dir",
    "merge-engine",
    "partial-update.remove-record-on-delete",
    "partial-update.remove-record-on-sequence-group",
    "partition",
    "pk-clustering-override",
    "primary-key",
    "primary-key.nullable",
    "row-tracking.enabled",
    "rowkind.field",
    "sequence.snapshot-ordering",
    "type",
];

/// Options that may change, but not for one use of a table: files lie in buckets of the stored count, and which row of a key
/// wins was decided by the stored sequence when files were compacted.
pub const FIXED_FOR_USE: [&str; 3] = ["bucket", "sequence.field", "sequence.field.sort-order"];

fn fixed(key: &str) -> Error {
    Error::invalid_config(format!("Change '{key}' is not supported yet."))
}

/// Checks that dynamic options do not change what is fixed for a table, whether or not it has snapshots.
///
/// # Errors
/// `InvalidConfig` naming the option.
pub fn check_dynamic_options(stored: &Options, dynamic: &BTreeMap<String, Option<String>>) -> Result<()> {
    dynamic.iter().try_for_each(|(key, value)| {
        if FIXED_FOR_USE.contains(&key.as_str()) && stored.get(key) != value.as_deref() {
            return Err(fixed(key));
        }
        check_change(stored, key, value.as_deref(), true)
    })
}

/// Checks the change of one option; `None` removes it.
///
/// # Errors
/// `InvalidConfig` naming the option.
pub(super) fn check_change(old: &Options, key: &str, new: Option<&str>, has_snapshots: bool) -> Result<()> {
    if key == "type" {
        let kind = |value: Option<&str>| value.unwrap_or("table").to_ascii_lowercase();
        return if kind(old.get(key)) == kind(new) { Ok(()) } else { Err(fixed(key)) };
    }
    // The text decides: another spelling of the same value, or a default that is spelled out, is a change.
    if old.get(key) == new {
        return Ok(());
    }
    if key == "path" {
        return Err(Error::invalid_config("Change path is not supported yet."));
    }
    if !has_snapshots {
        return Ok(());
    }
    if IMMUTABLE_OPTIONS.contains(&key) {
        return Err(fixed(key));
    }
    match key {
        "bucket" => check_bucket(old, new),
        "deletion-vectors.enabled" => check_deletion_vectors(old, new),
        "clustering.columns" if old.contains("pk-clustering-override") => Err(fixed(key)),
        _ if names(&IGNORE_DELETE, key) => check_stays_on(old, &IGNORE_DELETE, new),
        _ if names(&IGNORE_UPDATE_BEFORE, key) => check_stays_on(old, &IGNORE_UPDATE_BEFORE, new),
        _ => Ok(()),
    }
}

fn names<T>(option: &OptionKey<T>, key: &str) -> bool {
    option.key == key || option.fallbacks.contains(&key)
}

fn check_bucket(old: &Options, new: Option<&str>) -> Result<()> {
    let Some(new) = new else { return Err(Error::invalid_config("Cannot reset bucket.")) };
    let (was, becomes) = (old.value(&BUCKET)?, (BUCKET.parse)(new)?);
    if was == becomes {
        Ok(())
    } else if was == -1 {
        Err(Error::invalid_config("Cannot change bucket when it is -1."))
    } else if becomes == -1 {
        Err(Error::invalid_config("Cannot change bucket to -1."))
    } else {
        Ok(())
    }
}

fn check_deletion_vectors(old: &Options, new: Option<&str>) -> Result<()> {
    let (was, becomes) = (old.value(&DELETION_VECTORS)?, is_true(new));
    if was == becomes || is_true(old.get("deletion-vectors.modifiable")) {
        return Ok(());
    }
    Err(Error::invalid_config(format!(
        "Cannot change deletion vectors mode from {was} to {becomes}. If modifying table deletion-vectors mode without \
         full-compaction, this may result in data duplication. If you are confident, you can set table option \
         'deletion-vectors.modifiable' = 'true' to allow deletion vectors modification."
    )))
}

/// Anything but `true` is false here, as in Java's check.
fn is_true(text: Option<&str>) -> bool {
    text.is_some_and(|t| t.eq_ignore_ascii_case("true"))
}

fn check_stays_on(old: &Options, option: &OptionKey<bool>, new: Option<&str>) -> Result<()> {
    if is_true(old.text(option)) && !is_true(new) {
        return Err(Error::invalid_config(format!("Cannot change {} from true to false.", option.key)));
    }
    Ok(())
}
