//! Predicates over columns: the tree, how it prunes by statistics, and its exact evaluation on batches.
//!
//! Pure: no I/O. Source: read-path sheet sections 3, 4 and 9; `predicate/Predicate.java` and its neighbours.

mod batch;
mod builder;
mod display;
mod literal;
mod rewrite;
mod stats;
#[cfg(test)]
mod tests;
mod tree;

pub use batch::evaluate;
pub use builder::PredicateBuilder;
pub use stats::{ColumnStats, may_match};
pub use tree::{Function, Leaf, Predicate};
