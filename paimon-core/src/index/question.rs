//! What a leaf of a predicate asks of an index.
//!
//! Invariants: a question lets pass every row that the leaf lets pass, whether -0.0 and 0.0 are equal (the engine) or not
//! (Java), and also where an index stores less of a value than the file. Source: read-path sheet section 9.

use std::ops::Bound;

use super::key::{Key, key_of};
use crate::predicate::{Function, Leaf};
use crate::types::{DataType, Datum};

/// A question about the values of one column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Question {
    /// Is it null?
    Null,
    /// Is it not null?
    NotNull,
    /// Is it one of these?
    OneOf(Vec<Key>),
    /// Is it a value other than these?
    NoneOf(Vec<Key>),
    /// Is it a value between these?
    Within(Bound<Key>, Bound<Key>),
    /// Is it a value below the first or above the second?
    Outside(Key, Key),
}

impl Question {
    /// What a leaf asks, `None` if no index has the answer.
    pub(super) fn of(leaf: &Leaf) -> Option<Self> {
        match (leaf.function, leaf.literals.as_slice()) {
            (Function::IsNull, _) => return Some(Self::Null),
            (Function::IsNotNull, _) => return Some(Self::NotNull),
            (_, literals) if literals.iter().any(is_nan) => return None,
            (Function::StartsWith, [Datum::String(prefix)]) => return starts_with(prefix, &leaf.data_type),
            (Function::Like, [Datum::String(pattern)]) => {
                return starts_with(pattern.split(['%', '_', '\\']).next()?, &leaf.data_type);
            }
            _ => {}
        }
        let mut exact = true;
        let mut key = |literal: &Datum| {
            let (key, is_exact) = key_of(literal, &leaf.data_type)?;
            exact &= is_exact;
            Some(key)
        };
        let mut keys = |zero: Option<f64>| -> Option<Vec<Key>> {
            leaf.literals.iter().map(|l| key(&with_zero(l, zero))).collect()
        };
        let question = match leaf.function {
            Function::Equal | Function::In => {
                let (mut keys, zeros) = (keys(Some(-0.0))?, keys(Some(0.0))?);
                keys.extend(zeros);
                keys.sort();
                keys.dedup();
                // A key that says less than its literal still holds every row of it.
                return Some(Self::OneOf(keys));
            }
            Function::NotEqual | Function::NotIn => Self::NoneOf(keys(None)?),
            Function::LessThan => Self::Within(Bound::Unbounded, Bound::Excluded(single(keys(None)?)?)),
            Function::LessOrEqual => Self::Within(Bound::Unbounded, Bound::Included(single(keys(Some(0.0))?)?)),
            Function::GreaterThan => Self::Within(Bound::Excluded(single(keys(None)?)?), Bound::Unbounded),
            Function::GreaterOrEqual => Self::Within(Bound::Included(single(keys(Some(-0.0))?)?), Bound::Unbounded),
            Function::Between => {
                let low = keys(Some(-0.0))?.into_iter().next()?;
                Self::Within(Bound::Included(low), Bound::Included(keys(Some(0.0))?.pop()?))
            }
            Function::NotBetween => {
                let [low, high] = <[Key; 2]>::try_from(keys(None)?).ok()?;
                Self::Outside(low, high)
            }
            _ => return None,
        };
        match question {
            _ if exact => Some(question),
            Self::Within(low, high) => Some(Self::Within(closed(low), closed(high))),
            _ => None,
        }
    }
}

fn single(mut keys: Vec<Key>) -> Option<Key> {
    keys.pop().filter(|_| keys.is_empty())
}

fn closed(bound: Bound<Key>) -> Bound<Key> {
    match bound {
        Bound::Excluded(key) => Bound::Included(key),
        other => other,
    }
}

fn is_nan(literal: &Datum) -> bool {
    match literal {
        Datum::Float(v) => v.is_nan(),
        Datum::Double(v) => v.is_nan(),
        _ => false,
    }
}

/// The literal, or that zero if it is one.
fn with_zero(literal: &Datum, zero: Option<f64>) -> Datum {
    match (literal, zero) {
        (Datum::Float(0.0), Some(zero)) => Datum::Float(zero as f32),
        (Datum::Double(0.0), Some(zero)) => Datum::Double(zero),
        _ => literal.clone(),
    }
}

/// The texts that start with a prefix are those from it until the next prefix of that length.
fn starts_with(prefix: &str, data_type: &DataType) -> Option<Question> {
    if !matches!(data_type, DataType::Char(_) | DataType::VarChar(_)) {
        return None;
    }
    let mut next = prefix.as_bytes().to_vec();
    while next.pop_if(|last| *last == u8::MAX).is_some() {}
    let end = match next.last_mut() {
        Some(last) => {
            *last += 1;
            Bound::Excluded(Key::Bytes(next))
        }
        None => Bound::Unbounded,
    };
    Some(Question::Within(Bound::Included(Key::Bytes(prefix.as_bytes().to_vec())), end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{DoubleType, Timestamp, TimestampType, VarCharType};

    fn ask(data_type: DataType, function: Function, literals: &[Datum]) -> Option<Question> {
        Question::of(&Leaf { field_id: 0, name: "c".to_owned(), data_type, function, literals: literals.to_vec() })
    }

    #[test]
    fn zeros_are_taken_for_each_other() {
        let double = |function, values: &[f64]| {
            let literals: Vec<Datum> = values.iter().map(|v| Datum::Double(*v)).collect();
            ask(DataType::Double(DoubleType::new()), function, &literals)
        };
        let key = |v: f64| key_of(&Datum::Double(v), &DataType::Double(DoubleType::new())).unwrap().0;
        let (below, above) = (Bound::Included(key(-0.0)), Bound::Included(key(0.0)));
        assert_eq!(double(Function::Equal, &[0.0]), Some(Question::OneOf(vec![key(-0.0), key(0.0)])));
        assert_eq!(double(Function::In, &[-0.0, 2.0]), Some(Question::OneOf(vec![key(-0.0), key(0.0), key(2.0)])));
        assert_eq!(double(Function::NotEqual, &[0.0]), Some(Question::NoneOf(vec![key(0.0)])));
        assert_eq!(double(Function::LessOrEqual, &[-0.0]), Some(Question::Within(Bound::Unbounded, above.clone())));
        assert_eq!(double(Function::GreaterOrEqual, &[0.0]), Some(Question::Within(below.clone(), Bound::Unbounded)));
        assert_eq!(double(Function::Between, &[0.0, -0.0]), Some(Question::Within(below, above)));
        assert_eq!(double(Function::Equal, &[f64::NAN]), None);
    }

    #[test]
    fn what_an_index_does_not_store_widens_the_question() {
        let stamp = |function, nanos| {
            let data_type = DataType::Timestamp(TimestampType::new(3).unwrap());
            ask(data_type, function, &[Datum::Timestamp(Timestamp { millis: 7, nanos })])
        };
        let key = || Key::Long(7);
        assert_eq!(stamp(Function::LessThan, 0), Some(Question::Within(Bound::Unbounded, Bound::Excluded(key()))));
        assert_eq!(stamp(Function::LessThan, 1), Some(Question::Within(Bound::Unbounded, Bound::Included(key()))));
        assert_eq!(stamp(Function::GreaterThan, 1), Some(Question::Within(Bound::Included(key()), Bound::Unbounded)));
        assert_eq!(stamp(Function::Equal, 1), Some(Question::OneOf(vec![key()])));
        assert_eq!(stamp(Function::NotEqual, 1), None);
    }

    #[test]
    fn prefixes_are_ranges() {
        let text = |function, literal: &str| {
            ask(DataType::VarChar(VarCharType::string_type()), function, &[Datum::String(literal.to_owned())])
        };
        let key = |bytes: &[u8]| Key::Bytes(bytes.to_vec());
        let ab = Some(Question::Within(Bound::Included(key(b"ab")), Bound::Excluded(key(b"ac"))));
        assert_eq!(text(Function::StartsWith, "ab"), ab);
        assert_eq!(text(Function::Like, "ab%z_"), ab);
        let all = Some(Question::Within(Bound::Included(key(b"")), Bound::Unbounded));
        assert_eq!(text(Function::Like, "%z"), all);
        assert_eq!(text(Function::EndsWith, "z"), None);
    }
}
