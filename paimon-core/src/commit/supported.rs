//! Refuses commits that need rules which are not built, before anything is written.
//!
//! Invariants: an option that changes what a commit must do is either obeyed or named here.

use super::changes::Changes;
use crate::error::{Error, Result};
use crate::options::parse_bool;
use crate::spec::{DELETION_VECTORS, EntryKind, ROW_TRACKING};
use crate::table::Table;

/// Switches that change what a commit does.
const SWITCHES: [&str; 1] = ["commit.discard-duplicate-files"];
/// Options that do so wherever they are set.
const KEYS: [&str; 1] = ["commit.strict-mode.last-safe-snapshot"];

/// Checks that these changes may be committed to the table.
///
/// # Errors
/// `Unsupported` naming the option; `InvalidInput` if the handle is pinned to a snapshot, or a partition does not fit the
/// table; `InvalidConfig` for a bad value.
pub(super) fn check(table: &Table, changes: &Changes) -> Result<()> {
    if let Some(snapshot) = table.pinned() {
        return Err(Error::invalid_input(format!(
            "table {} is pinned to snapshot {} by a selector of time travel and cannot be changed",
            table.identifier(),
            snapshot.id
        )));
    }
    let options = table.options();
    for key in SWITCHES {
        if let Some(text) = options.get(key)
            && parse_bool(text).map_err(|e| e.with_context("option", key))?
        {
            return Err(refuse(key, text));
        }
    }
    for key in KEYS {
        if let Some(text) = options.get(key) {
            return Err(refuse(key, text));
        }
    }
    let adds = changes.delta.iter().any(|e| e.kind == EntryKind::Add);
    if adds && options.value(&ROW_TRACKING)? {
        return Err(refuse(ROW_TRACKING.key, "true"));
    }
    if changes.changes_deletion_vectors() {
        return Err(refuse(DELETION_VECTORS.key, "true"));
    }
    check_partitions(table, changes)
}

fn refuse(key: &str, value: &str) -> Error {
    Error::unsupported(format!("committing to tables with option '{key}' = '{value}' is not supported"))
}

/// Messages of another table would make this one unreadable.
fn check_partitions(table: &Table, changes: &Changes) -> Result<()> {
    let types = table.schema().partition_type().types();
    for partition in changes.partitions() {
        if partition.arity() != types.len() || partition.decode(&types).is_err() {
            return Err(Error::invalid_input(format!(
                "the messages are of another table: their partitions have {} columns, but those of {} have {}",
                partition.arity(),
                table.identifier(),
                types.len()
            )));
        }
    }
    Ok(())
}
