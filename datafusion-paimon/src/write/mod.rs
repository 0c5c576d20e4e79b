//! Plans that write a table.

mod insert;

pub use insert::{WriteMode, insert_plan};
