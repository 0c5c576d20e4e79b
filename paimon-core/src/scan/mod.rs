//! From a snapshot to splits. Knows nothing of file formats and merging.
//!
//! What awaits reads metadata; every rule between manifests and splits is pure.
//! Source: read-path sheet sections 1 to 6; `table/source/AbstractDataTableScan.java` and its neighbours.

mod bucket_filter;
mod changes;
mod deletion_files;
mod difference;
mod entries;
mod fallback;
mod file_stats;
mod limit;
mod metadata;
mod old_python;
mod packing;
mod partitions;
mod plan;
mod planner;
mod prune;
mod row_positions;
mod scope;
mod sections;
mod split;
mod split_bytes;
mod split_generator;
mod startup;
mod stream_scan;
mod stream_start;
mod table_scan;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use entries::live_entries;
pub(crate) use fallback::translated;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use file_stats::{keys_may_match, values_may_match};
pub use packing::pack;
pub use plan::{Plan, ScanTrace};
pub use row_positions::RowPositions;
pub use sections::{SortedRun, sections};
pub use split::{BeforeFiles, DeletionFile, RowRange, Split};
pub use stream_scan::StreamScan;
pub use table_scan::TableScan;
