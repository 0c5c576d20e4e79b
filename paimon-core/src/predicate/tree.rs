//! The tree of a predicate.
//!
//! Invariants: literals have the type of their column; a null literal does not occur. Comparisons with null are false;
//! there is no NOT: [`Predicate::negate`] rewrites. Floats compare in total order: NaN equals NaN and is the greatest,
//! -0.0 is less than 0.0. Source: read-path sheet section 9; `predicate/PredicateBuilder.java`.

use std::collections::BTreeSet;

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

impl Predicate {
    /// All of `children`: flat, without constants.
    pub fn and(children: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = Vec::new();
        for child in children {
            match child {
                Self::AlwaysTrue => {}
                Self::AlwaysFalse => return Self::AlwaysFalse,
                Self::And(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        single_or(parts, Self::AlwaysTrue, Self::And)
    }

    /// At least one of `children`: flat, without constants.
    pub fn or(children: impl IntoIterator<Item = Self>) -> Self {
        let mut parts = Vec::new();
        for child in children {
            match child {
                Self::AlwaysFalse => {}
                Self::AlwaysTrue => return Self::AlwaysTrue,
                Self::Or(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        single_or(parts, Self::AlwaysFalse, Self::Or)
    }

    /// The parts of the top-level AND; none for [`Predicate::AlwaysTrue`].
    pub fn conjuncts(&self) -> Vec<&Self> {
        match self {
            Self::AlwaysTrue => Vec::new(),
            Self::And(children) => children.iter().flat_map(Self::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// The predicate that SQL's NOT means: rows whose test is unknown because of a null pass neither. `None` if a test
    /// has no opposite: text functions.
    pub fn negate(&self) -> Option<Self> {
        match self {
            Self::AlwaysTrue => Some(Self::AlwaysFalse),
            Self::AlwaysFalse => Some(Self::AlwaysTrue),
            Self::Leaf(leaf) => {
                let function = leaf.function.negate()?;
                Some(Self::Leaf(Leaf { function, ..leaf.clone() }))
            }
            Self::And(children) => children.iter().map(Self::negate).collect::<Option<Vec<_>>>().map(Self::or),
            Self::Or(children) => children.iter().map(Self::negate).collect::<Option<Vec<_>>>().map(Self::and),
        }
    }

    /// Ids of the columns that are tested.
    pub fn field_ids(&self) -> BTreeSet<i32> {
        let mut ids = BTreeSet::new();
        self.visit_leaves(&mut |leaf| {
            ids.insert(leaf.field_id);
        });
        ids
    }

    /// Names of the columns that are tested.
    pub fn column_names(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        self.visit_leaves(&mut |leaf| {
            names.insert(leaf.name.as_str());
        });
        names
    }

    /// Calls `visit` on each leaf, from left to right.
    pub fn visit_leaves<'a>(&'a self, visit: &mut dyn FnMut(&'a Leaf)) {
        match self {
            Self::AlwaysTrue | Self::AlwaysFalse => {}
            Self::Leaf(leaf) => visit(leaf),
            Self::And(children) | Self::Or(children) => children.iter().for_each(|c| c.visit_leaves(visit)),
        }
    }

    /// The same tree with each leaf replaced, simplified.
    pub fn map_leaves(&self, replace: &mut dyn FnMut(&Leaf) -> Self) -> Self {
        match self {
            Self::AlwaysTrue | Self::AlwaysFalse => self.clone(),
            Self::Leaf(leaf) => replace(leaf),
            Self::And(children) => Self::and(children.iter().map(|c| c.map_leaves(replace)).collect::<Vec<_>>()),
            Self::Or(children) => Self::or(children.iter().map(|c| c.map_leaves(replace)).collect::<Vec<_>>()),
        }
    }
}

fn single_or(mut parts: Vec<Predicate>, empty: Predicate, many: fn(Vec<Predicate>) -> Predicate) -> Predicate {
    match parts.len() {
        0 => empty,
        1 => parts.swap_remove(0),
        _ => many(parts),
    }
}

impl Function {
    /// The function that accepts exactly the values, nulls aside, that this one rejects.
    pub fn negate(self) -> Option<Self> {
        Some(match self {
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
            Self::LessThan => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::GreaterThan,
            Self::GreaterThan => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::LessThan,
            Self::IsNull => Self::IsNotNull,
            Self::IsNotNull => Self::IsNull,
            Self::In => Self::NotIn,
            Self::NotIn => Self::In,
            Self::Between => Self::NotBetween,
            Self::NotBetween => Self::Between,
            Self::StartsWith | Self::EndsWith | Self::Contains | Self::Like => return None,
        })
    }

    /// The number of literals; `None` for any number.
    pub fn arity(self) -> Option<usize> {
        match self {
            Self::IsNull | Self::IsNotNull => Some(0),
            Self::In | Self::NotIn => None,
            Self::Between | Self::NotBetween => Some(2),
            Self::Equal
            | Self::NotEqual
            | Self::LessThan
            | Self::LessOrEqual
            | Self::GreaterThan
            | Self::GreaterOrEqual
            | Self::StartsWith
            | Self::EndsWith
            | Self::Contains
            | Self::Like => Some(1),
        }
    }
}
