//! Expressions of the engine as literals and predicates of the core.

mod literal;
mod predicate;

pub use literal::{to_datum, to_scalar};
pub use predicate::{Translated, to_predicate};
