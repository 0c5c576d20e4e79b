//! The schema of a table that replaces another one.
//!
//! Invariants: it appears right before the snapshot that replaces all rows, and goes again if that snapshot does not come.
//! From then on no commit of a handle of the replaced table is taken: the schema of a snapshot is the newest one. Source:
//! catalog sheet section 6, "replace table".

use crate::error::{ConflictKind, Error, ErrorKind, Result};
use crate::spec::Snapshot;
use crate::table::Table;

/// Commits; for a table that replaces another one, with its schema stored first.
///
/// # Errors
/// Those of the commit; `Conflict(Schema)` if the table was altered since it was looked at.
pub(super) async fn with_schema<T>(table: &Table, commit: impl Future<Output = Result<T>>) -> Result<T> {
    let Some(replaced) = table.replaces() else { return commit.await };
    let (schemas, schema) = (table.schemas(), table.schema());
    table.check_alive().await?;
    let is_newest = schemas.ids().await?.last() == Some(&replaced.id);
    if !is_newest || !schemas.create(schema).await? {
        let message = format!("table {} was altered while it was replaced; nothing was replaced", table.identifier());
        return Err(Error::conflict(ConflictKind::Schema, message));
    }
    let outcome = commit.await;
    if let Err(error) = &outcome
        && error.kind() != ErrorKind::CommitUnknown
    {
        // The error of the commit says why; one of the clean-up would only hide it.
        let _ = take_back(table).await;
    }
    outcome
}

/// Takes back the schema of the table, unless a later schema or a snapshot is built on it.
async fn take_back(table: &Table) -> Result<()> {
    let (schemas, schema) = (table.schemas(), table.schema());
    let is_used = async || Ok::<_, Error>(table.snapshots().latest().await?.is_some_and(|s| s.schema_id >= schema.id));
    let is_last = schemas.ids().await?.last() == Some(&schema.id);
    if !is_last || schemas.is_current(schema).await? != Some(true) || is_used().await? {
        return Ok(());
    }
    table.io().delete(&table.paths().schema(schema.id)).await?;
    // A writer that had read it may have been faster.
    if is_used().await? {
        schemas.create(schema).await?;
    }
    Ok(())
}

/// Checks that the snapshot which a commit builds on is not of the table that this one replaces, unless the commit is what
/// replaces it: between the new schema and its snapshot nothing else is committed.
///
/// # Errors
/// As [`Table::check_not_replaced`].
pub(super) async fn check_base(table: &Table, base: Option<&Snapshot>) -> Result<()> {
    match base {
        Some(base) if table.replaces().is_none() => table.check_not_replaced(base.schema_id).await,
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
