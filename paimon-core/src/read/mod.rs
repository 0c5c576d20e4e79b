//! From splits to rows.
//!
//! A split that needs no merge is its files, one after another. Any other split falls into sections of overlapping keys:
//! a section of one run is read as it is, the runs of a larger one are merged. Then rows are filtered exactly and
//! deletes are dropped.
//!
//! Invariants: knows nothing of how splits were chosen; the copies of key columns in files are never read; below a
//! merge only what the filter says about key columns may skip rows. Source: read-path sheet section 7;
//! `operation/MergeFileSplitRead.java`, `RawFileSplitRead.java`.

mod columns;
mod difference;
mod fallback;
mod file_rows;
mod files;
mod finish;
mod parallel;
mod selected;
mod split_read;
mod table_read;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;

pub use file_rows::FileRows;
pub(crate) use files::{RunSource, run_stream};
pub use table_read::TableRead;
