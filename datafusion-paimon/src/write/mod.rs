//! Plans that write a table.

mod conform;
mod insert;
mod store;
mod uncommitted;

pub(crate) use store::{has_instants, store_in_zone};

pub use insert::{InputOnCaller, WriteMode, insert_plan};
