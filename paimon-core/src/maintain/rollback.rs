//! Going back to an earlier snapshot.

use crate::error::{Error, Result};
use crate::spec::Snapshot;
use crate::table::Table;

/// Makes `snapshot` the latest one: later snapshots and the tags on them are deleted.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub async fn rollback_to(table: &Table, snapshot: &Snapshot) -> Result<()> {
    let _ = (table, snapshot);
    Err(Error::unsupported("rolling back"))
}
