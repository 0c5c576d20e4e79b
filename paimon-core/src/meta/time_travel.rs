//! Which snapshot the options of a read select.

use super::{Snapshots, Tags};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::Snapshot;

/// A selector of one snapshot. Source: time-travel sheet section 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `scan.snapshot-id`.
    SnapshotId(i64),
    /// `scan.tag-name`.
    Tag(String),
    /// `scan.timestamp-millis`, or `scan.timestamp` in the process's zone.
    TimestampMillis(i64),
    /// `scan.version`: a tag, `watermark-<ms>` or a snapshot id, in this order.
    Version(String),
    /// `scan.watermark`.
    Watermark(i64),
}

impl Selector {
    /// The option keys that select a snapshot.
    pub const KEYS: [&str; 6] = [
        "scan.snapshot-id",
        "scan.tag-name",
        "scan.timestamp-millis",
        "scan.timestamp",
        "scan.version",
        "scan.watermark",
    ];

    /// The selector that is set; `None` for the latest snapshot.
    ///
    /// # Errors
    /// `InvalidConfig` naming both keys if there are two, or a `scan.mode` that does not fit; `Unsupported` for modes and
    /// selectors that are not built.
    pub fn from_options(options: &Options) -> Result<Option<Self>> {
        let _ = options;
        Err(Error::unsupported("time travel"))
    }

    /// The snapshot it selects.
    ///
    /// # Errors
    /// `NotFound(Snapshot)` or `NotFound(Tag)` naming selector and value.
    pub async fn resolve(&self, snapshots: &Snapshots, tags: &Tags) -> Result<Snapshot> {
        let _ = (snapshots, tags);
        Err(Error::unsupported("time travel"))
    }
}
