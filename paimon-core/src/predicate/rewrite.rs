//! A predicate narrowed to some columns, and other sound rewritings.
//!
//! Invariants: a projection is weaker than the predicate: every row that passes the predicate passes it.
//! Source: read-path sheet section 3; `predicate/PartitionPredicateVisitor.java`, `predicate/PredicateProjectionConverter.java`.

use super::{Function, Leaf, Predicate};
use crate::types::{DataType, Datum};

impl Predicate {
    /// The part of the predicate that speaks only of columns that `keep` accepts: inside AND, other children are dropped;
    /// an OR stays only if each of its children leaves something.
    #[must_use]
    pub fn project(&self, keep: &dyn Fn(i32) -> bool) -> Self {
        match self {
            Self::AlwaysTrue | Self::AlwaysFalse => self.clone(),
            Self::Leaf(leaf) if keep(leaf.field_id) => self.clone(),
            Self::Leaf(_) => Self::AlwaysTrue,
            Self::And(children) => Self::and(children.iter().map(|c| c.project(keep)).collect::<Vec<_>>()),
            Self::Or(children) => Self::or(children.iter().map(|c| c.project(keep)).collect::<Vec<_>>()),
        }
    }

    /// The conjuncts that speak only of columns that `keep` accepts, and the others, unchanged.
    pub fn split(&self, keep: &dyn Fn(i32) -> bool) -> (Self, Self) {
        let (inside, outside): (Vec<_>, Vec<_>) =
            self.conjuncts().into_iter().cloned().partition(|c| c.field_ids().into_iter().all(keep));
        (Self::and(inside), Self::and(outside))
    }

    /// The predicate for callers to whom -0.0 and 0.0 are equal, as SQL of the engine has it: the same tree in which every
    /// comparison with a zero treats both zeros alike.
    #[must_use]
    pub fn with_equal_zeros(&self) -> Self {
        self.map_leaves(&mut equal_zeros)
    }
}

/// The zeros of the type of a literal, negative first, if it is a zero.
fn zeros(literal: &Datum) -> Option<[Datum; 2]> {
    match literal {
        Datum::Float(v) if *v == 0.0 => Some([Datum::Float(-0.0), Datum::Float(0.0)]),
        Datum::Double(v) if *v == 0.0 => Some([Datum::Double(-0.0), Datum::Double(0.0)]),
        _ => None,
    }
}

fn equal_zeros(leaf: &Leaf) -> Predicate {
    if !matches!(leaf.data_type, DataType::Float(_) | DataType::Double(_)) || !leaf.literals.iter().any(is_zero) {
        return Predicate::Leaf(leaf.clone());
    }
    let low = |d: &Datum| zeros(d).map_or_else(|| d.clone(), |[low, _]| low);
    let high = |d: &Datum| zeros(d).map_or_else(|| d.clone(), |[_, high]| high);
    let both = |literals: &[Datum]| {
        let mut all: Vec<Datum> = literals.iter().filter(|d| !is_zero(d)).cloned().collect();
        all.extend(literals.iter().find_map(zeros).into_iter().flatten());
        all
    };
    let (function, literals) = match (leaf.function, leaf.literals.as_slice()) {
        (Function::Equal | Function::In, literals) => (Function::In, both(literals)),
        (Function::NotEqual | Function::NotIn, literals) => (Function::NotIn, both(literals)),
        (Function::LessThan | Function::GreaterOrEqual, [l]) => (leaf.function, vec![low(l)]),
        (Function::LessOrEqual | Function::GreaterThan, [l]) => (leaf.function, vec![high(l)]),
        (Function::Between | Function::NotBetween, [l, h]) => (leaf.function, vec![low(l), high(h)]),
        (_, literals) => (leaf.function, literals.to_vec()),
    };
    Predicate::Leaf(Leaf { function, literals, ..leaf.clone() })
}

fn is_zero(literal: &Datum) -> bool {
    zeros(literal).is_some()
}
