//! From a snapshot to splits. Knows nothing of file formats and merging.
//!
//! Only [`live_entries`] and [`TableScan::plan`] await; every rule between manifests and splits is pure.
//! Source: read-path sheet sections 1 to 6; `table/source/AbstractDataTableScan.java` and its neighbours.

mod bucket_filter;
mod deletion_files;
mod entries;
mod file_stats;
mod limit;
mod packing;
mod partitions;
mod plan;
mod prune;
mod sections;
mod split;
mod split_generator;
mod table_scan;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use entries::live_entries;
pub use packing::pack;
pub use plan::{Plan, ScanTrace};
pub use sections::{SortedRun, sections};
pub use split::{DeletionFile, Split};
pub use table_scan::TableScan;
