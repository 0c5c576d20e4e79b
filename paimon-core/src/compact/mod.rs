//! Compaction: which files of a bucket are worth rewriting, and rewriting them.
//!
//! Planning is pure: [`Levels`] and [`PickOptions`] give a [`CompactUnit`], [`plan_merge`] and [`AppendPlanner`] give the
//! work of a [`CompactTask`], which is plain data about one bucket. Only a [`Rewriter`] touches files. Nothing here
//! commits.
//!
//! Invariants: compaction never changes the visible rows. Source: compaction sheet; `mergetree/compact/*.java`,
//! `append/AppendCompactCoordinator.java`.

mod append;
mod levels;
mod merge_plan;
mod pick;
mod plan;
mod rewrite;
mod task;
#[cfg(test)]
mod tests;

pub use append::AppendPlanner;
pub use levels::{LevelRun, Levels};
pub use merge_plan::plan_merge;
pub use pick::{CompactUnit, Moment, PickOptions, pick, pick_full};
pub use plan::{CompactStrategy, plan_tasks};
pub use rewrite::Rewriter;
pub use task::{CompactResult, CompactTask, CompactWork, MergeStep};
