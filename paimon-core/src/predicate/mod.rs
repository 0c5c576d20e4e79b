//! Predicates over columns: the tree, how it prunes by statistics, and its exact evaluation on batches.

mod tree;

pub use tree::{Function, Leaf, Predicate};
