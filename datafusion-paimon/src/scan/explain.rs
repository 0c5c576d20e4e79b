//! What EXPLAIN shows of a scan of ours.

use std::fmt;

use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder};
use paimon_core::scan::{Plan, ScanTrace};
use paimon_core::{Identifier, Table};

/// Table, snapshot and what each step of planning removed.
#[derive(Debug, Clone)]
pub(crate) struct ScanInfo {
    table: Identifier,
    snapshot_id: Option<i64>,
    splits: usize,
    files: usize,
    trace: ScanTrace,
}

impl ScanInfo {
    pub(crate) fn new(table: &Table, plan: &Plan) -> Self {
        Self {
            table: table.identifier().clone(),
            snapshot_id: plan.snapshot_id(),
            splits: plan.splits().len(),
            files: plan.splits().iter().map(|s| s.files.len()).sum(),
            trace: plan.trace().clone(),
        }
    }

    /// The counts as metrics, so that EXPLAIN ANALYZE shows them beside those of the execution.
    pub(crate) fn report(&self, metrics: &ExecutionPlanMetricsSet) {
        let trace = &self.trace;
        let counts = [
            ("manifests_total", trace.manifests),
            ("manifests_read", trace.manifests_read),
            ("files_pruned_by_partition", trace.files.saturating_sub(trace.files_after_partition)),
            ("files_pruned_by_bucket", trace.files_after_partition.saturating_sub(trace.files_after_bucket)),
            ("files_pruned_by_statistics", trace.files_after_bucket.saturating_sub(trace.files_after_stats)),
        ];
        for (name, value) in counts {
            MetricBuilder::new(metrics).global_counter(name).add(value);
        }
    }
}

impl fmt::Display for ScanInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table={}, snapshot=", self.table)?;
        match self.snapshot_id {
            Some(id) => write!(f, "{id}")?,
            None => f.write_str("none")?,
        }
        let trace = &self.trace;
        write!(
            f,
            ", splits={}, files={}, pruning=[manifests {}->{}, files {}->partition {}->bucket {}->statistics {}]",
            self.splits,
            self.files,
            trace.manifests,
            trace.manifests_read,
            trace.files,
            trace.files_after_partition,
            trace.files_after_bucket,
            trace.files_after_stats,
        )
    }
}
