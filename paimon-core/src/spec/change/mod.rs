//! How changes make the next schema.
//!
//! Invariants: the ids of fields that stay do not change and no id is given twice; what results satisfies every rule of a
//! new schema. Source: schema sheet sections 4 and 5; `schema/SchemaManager.java`.

mod apply;
mod columns;
mod options;
mod paths;
mod rename;

pub(super) use apply::apply;
pub use options::{FIXED_FOR_USE, IMMUTABLE_OPTIONS, check_dynamic_options};
pub(crate) use rename::options_of_then;

#[cfg(test)]
mod tests;
