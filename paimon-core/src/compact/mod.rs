//! Compaction: which files of a bucket are worth rewriting, and rewriting them.
//!
//! Planning is pure: [`Levels`] and [`PickOptions`] give a [`CompactUnit`], and a [`CompactTask`] is plain data that names
//! the files of one bucket. Only [`rewrite`] and [`append`] touch files. Nothing here commits.
//!
//! Invariants: compaction never changes the visible rows. Source: compaction sheet; `mergetree/compact/*.java`,
//! `append/AppendCompactCoordinator.java`.

mod levels;
mod pick;

pub use levels::{Levels, SortedRun};
pub use pick::{CompactUnit, Moment, PickOptions, pick, pick_full};
