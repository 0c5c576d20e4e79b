//! File indexes: which rows of a data file may pass a predicate, from what its writer noted beside the file or in its
//! manifest entry.
//!
//! Invariants: fail open. An index only ever leaves rows out that cannot pass; one that is damaged, missing, of another
//! version or kind leaves all in, and the scan goes on. Knows nothing of tables. Source: file-index sheet;
//! `fileindex/FileIndexFormat.java`.

mod bitmap;
mod bloom;
mod bsi;
mod container;
mod cursor;
mod describe;
mod dictionary;
mod file_index;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
#[cfg(test)]
mod golden;
mod hash;
mod key;
mod load;
mod of_file;
mod question;
mod range_bitmap;
mod slices;

pub(crate) use describe::{IndexInfo, Indexes, describe};
pub use file_index::FileIndex;
pub use load::load;
pub(crate) use of_file::{has_index, is_enabled, may_match, rows};
