//! From a table provider's scan to a plan of the engine.
//!
//! Splits that need no merge become the engine's own Parquet scans; all others are read by the core behind a plan node
//! of ours. Planning reads metadata only.

mod adapter;
mod balance;
mod bucket_partitioning;
mod columns;
mod explain;
mod faults;
mod living;
mod merge_metric;
mod native;
mod pairs;
mod planner;
mod rows;
mod source;
mod splits_exec;
mod statistics;
mod store;
mod text_keys;

pub(crate) use planner::{ScanRequest, plan, plan_log};
pub(crate) use splits_exec::RowShape;

/// Adds the rules for our scans to those of a session.
pub(crate) fn add_to(optimizer: &mut datafusion::physical_optimizer::optimizer::PhysicalOptimizer) {
    bucket_partitioning::add_to(optimizer);
    text_keys::add_to(optimizer);
}
