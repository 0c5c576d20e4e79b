//! What a scan found.

use super::split::Split;
use crate::spec::Snapshot;

/// Counts at each step of planning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanTrace {
    /// Manifests of the snapshot.
    pub manifests: usize,
    /// Manifests that were read.
    pub manifests_read: usize,
    /// Live files before pruning, in the manifests that were read.
    pub files: usize,
    /// Files left after the partition filter.
    pub files_after_partition: usize,
    /// Files left after bucket pruning.
    pub files_after_bucket: usize,
    /// Files left after key and value statistics.
    pub files_after_stats: usize,
}

/// Splits of one snapshot.
#[derive(Debug, Clone)]
pub struct Plan {
    snapshot: Option<Snapshot>,
    splits: Vec<Split>,
    trace: ScanTrace,
}

impl Plan {
    /// A plan.
    pub fn new(snapshot: Option<Snapshot>, splits: Vec<Split>, trace: ScanTrace) -> Self {
        Self { snapshot, splits, trace }
    }

    /// The snapshot that was planned; `None` if the table has none.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.snapshot.as_ref()
    }

    /// Its id.
    pub fn snapshot_id(&self) -> Option<i64> {
        self.snapshot.as_ref().map(|s| s.id)
    }

    /// The splits.
    pub fn splits(&self) -> &[Split] {
        &self.splits
    }

    /// What each step removed.
    pub fn trace(&self) -> &ScanTrace {
        &self.trace
    }
}
