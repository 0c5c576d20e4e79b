//! Expressions of the engine as literals and predicates of the core.

mod literal;

pub use literal::to_datum;
