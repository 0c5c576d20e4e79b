//! Which identifiers of a commit user are committed.
//!
//! Invariants: identifiers of one user grow, so that the newest snapshot of the user decides. Source: layout sheet section 9;
//! `operation/FileStoreCommitImpl.java` (`filterCommitted`).

use crate::error::{Error, Result};
use crate::spec::Snapshot;
use crate::table::Table;

/// The newest snapshot of a user with an id above `above`, looked for from `latest` down.
async fn newest_of(table: &Table, user: &str, latest: &Snapshot, above: i64) -> Result<Option<Snapshot>> {
    let mut candidate = latest.clone();
    loop {
        if candidate.commit_user == user {
            return Ok(Some(candidate));
        }
        if candidate.id - 1 <= above {
            return Ok(None);
        }
        match table.snapshots().find(candidate.id - 1).await? {
            Some(earlier) => candidate = earlier,
            // What came before has expired.
            None => return Ok(None),
        }
    }
}

/// Refuses an identifier that the user has committed in a snapshot with an id above `above`.
///
/// # Errors
/// `InvalidState` naming both identifiers.
pub(super) async fn refuse(table: &Table, user: &str, identifier: i64, latest: &Snapshot, above: i64) -> Result<()> {
    match newest_of(table, user, latest, above).await? {
        Some(newest) if newest.commit_identifier >= identifier => Err(Error::invalid_state(format!(
            "commit user {user} has committed identifier {} in snapshot {}; identifier {identifier} must be greater",
            newest.commit_identifier, newest.id
        ))),
        _ => Ok(()),
    }
}

/// The identifiers that the user has not committed yet.
///
/// # Errors
/// `InvalidInput` unless the identifiers grow.
pub(super) async fn uncommitted(table: &Table, user: &str, identifiers: &[i64]) -> Result<Vec<i64>> {
    if identifiers.windows(2).any(|pair| pair[0] >= pair[1]) {
        return Err(Error::invalid_input(
            "Committables must be sorted according to identifiers before filtering. This is unexpected.",
        ));
    }
    let newest = match table.snapshots().latest().await? {
        Some(latest) => newest_of(table, user, &latest, 0).await?,
        None => None,
    };
    let committed = newest.map(|s| s.commit_identifier);
    Ok(identifiers.iter().copied().filter(|id| committed.is_none_or(|c| *id > c)).collect())
}
