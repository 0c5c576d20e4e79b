//! Plans that write a table.

mod conform;
mod insert;
mod store;
mod uncommitted;

pub(crate) use store::store;

pub use insert::{InputOnCaller, WriteMode, insert_plan};
