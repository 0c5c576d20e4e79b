//! From a snapshot to splits. Knows nothing of file formats and merging.

mod plan;
mod sections;
mod split;
mod table_scan;

pub use plan::{Plan, ScanTrace};
pub use sections::{SortedRun, sections};
pub use split::{DeletionFile, Split};
pub use table_scan::TableScan;
