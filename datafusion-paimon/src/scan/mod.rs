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

pub(crate) use bucket_partitioning::add_to;
pub(crate) use planner::{ScanRequest, plan, plan_log};
pub(crate) use splits_exec::RowShape;
