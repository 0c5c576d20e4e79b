//! Expiry of snapshots by count and age.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{SNAPSHOT_EXPIRE_LIMIT, SNAPSHOT_RETAINED_MAX, SNAPSHOT_RETAINED_MIN, SNAPSHOT_TIME_RETAINED};
use crate::table::Table;

/// Which snapshots stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpireConfig {
    /// So many newest ones always stay.
    pub retain_min: u64,
    /// At most so many stay.
    pub retain_max: u64,
    /// Younger ones stay.
    pub time_retained: Duration,
    /// At most so many go in one run.
    pub max_deletes: u64,
}

impl ExpireConfig {
    /// As the table's options say.
    ///
    /// # Errors
    /// `InvalidConfig`.
    pub fn from_options(options: &Options) -> Result<Self> {
        Ok(Self {
            retain_min: options.value(&SNAPSHOT_RETAINED_MIN)?,
            retain_max: options.value(&SNAPSHOT_RETAINED_MAX)?,
            time_retained: options.value(&SNAPSHOT_TIME_RETAINED)?,
            max_deletes: options.value(&SNAPSHOT_EXPIRE_LIMIT)?,
        })
    }
}

/// Expires snapshots. Files that a kept snapshot, tag or branch needs stay. Gives how many snapshots went.
///
/// # Errors
/// `Storage` or `Corrupt`; what was not deleted can be deleted by the next run.
pub async fn expire_snapshots(table: &Table, config: &ExpireConfig) -> Result<usize> {
    let _ = (table, config);
    Err(Error::unsupported("expiring snapshots"))
}
