//! Plans that write a table.

mod conform;
mod insert;
mod uncommitted;

pub use insert::{InputOnCaller, WriteMode, insert_plan};
