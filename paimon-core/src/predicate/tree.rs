//! The tree of a predicate.
//!
//! Invariants: literals have the type of their column; a null literal does not occur. Comparisons with null are false;
//! there is no NOT: [`Predicate::negate`] rewrites.

use crate::types::{DataType, Datum};

/// What a leaf tests. The number of literals is fixed by the function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// `x = l`.
    Equal,
    /// `x <> l`.
    NotEqual,
    /// `x < l`.
    LessThan,
    /// `x <= l`.
    LessOrEqual,
    /// `x > l`.
    GreaterThan,
    /// `x >= l`.
    GreaterOrEqual,
    /// `x IS NULL`; no literal.
    IsNull,
    /// `x IS NOT NULL`; no literal.
    IsNotNull,
    /// `x IN (l, ...)`; any number of literals.
    In,
    /// `x NOT IN (l, ...)`; any number of literals.
    NotIn,
    /// `x BETWEEN l0 AND l1`.
    Between,
    /// `x NOT BETWEEN l0 AND l1`.
    NotBetween,
    /// Text starts with the literal.
    StartsWith,
    /// Text ends with the literal.
    EndsWith,
    /// Text contains the literal.
    Contains,
    /// SQL LIKE with `%`, `_` and the escape `\`.
    Like,
}

/// A test of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    /// Id of the column.
    pub field_id: i32,
    /// Name of the column in the schema that the predicate was built for.
    pub name: String,
    /// Type of the column in that schema.
    pub data_type: DataType,
    /// The test.
    pub function: Function,
    /// Its literals, of the column's type.
    pub literals: Vec<Datum>,
}

/// A predicate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Predicate {
    /// Every row passes.
    AlwaysTrue,
    /// No row passes.
    AlwaysFalse,
    /// A test of one column.
    Leaf(Leaf),
    /// All pass.
    And(Vec<Predicate>),
    /// At least one passes.
    Or(Vec<Predicate>),
}
