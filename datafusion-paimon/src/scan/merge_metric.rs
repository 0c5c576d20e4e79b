//! The time that merging took, as a metric of a plan.

use std::time::Duration;

use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, MetricBuilder, Time};
use paimon_core::runtime::MergeTime;

/// Brings what the merges of one partition report into the metrics of its plan, at the latest when it is dropped.
pub(super) struct MergeMetric {
    reported: MergeTime,
    seen: Duration,
    metric: Time,
}

impl MergeMetric {
    /// The metric `merge_time` of a partition.
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        let metric = MetricBuilder::new(metrics).subset_time("merge_time", partition);
        Self { reported: MergeTime::default(), seen: Duration::ZERO, metric }
    }

    /// What merges are to report to.
    pub(super) fn reported(&self) -> MergeTime {
        self.reported.clone()
    }

    /// Adds what was reported since the last time.
    pub(super) fn update(&mut self) {
        let total = self.reported.total();
        self.metric.add_duration(total.saturating_sub(self.seen));
        self.seen = total;
    }
}

impl Drop for MergeMetric {
    fn drop(&mut self) {
        self.update();
    }
}
