//! A predicate over the columns that are read, as one over the columns of a file.
//!
//! Invariants: the result lets pass every row that the predicate lets pass. A part that cannot be said of the file is left
//! out: columns that the file lacks, partition columns, columns whose type changed other than to a wider integer.
//! Source: schema-evolution sheet section 2; `schema/SchemaEvolutionUtil.java`.

use crate::predicate::{Leaf, Predicate};
use crate::spec::TableSchema;
use crate::types::{DataType, Datum};

/// The part of `predicate` that a reader of files of `schema` may use; `None` if that is nothing.
pub(crate) fn devolve(predicate: &Predicate, schema: &TableSchema) -> Option<Predicate> {
    match predicate {
        Predicate::AlwaysTrue => None,
        Predicate::AlwaysFalse => Some(Predicate::AlwaysFalse),
        Predicate::Leaf(leaf) => devolve_leaf(leaf, schema).map(Predicate::Leaf),
        // A conjunction without one of its parts lets pass more.
        Predicate::And(parts) => {
            let mut parts: Vec<_> = parts.iter().filter_map(|p| devolve(p, schema)).collect();
            match parts.len() {
                0 | 1 => parts.pop(),
                _ => Some(Predicate::And(parts)),
            }
        }
        Predicate::Or(parts) => parts.iter().map(|p| devolve(p, schema)).collect::<Option<_>>().map(Predicate::Or),
    }
}

fn devolve_leaf(leaf: &Leaf, schema: &TableSchema) -> Option<Leaf> {
    let field = schema.fields.iter().find(|f| f.id == leaf.field_id)?;
    if schema.partition_keys.contains(&field.name) {
        return None;
    }
    let literals = if field.data_type.equals_ignoring_nullability(&leaf.data_type) {
        leaf.literals.clone()
    } else {
        leaf.literals.iter().map(|l| narrow(l, &leaf.data_type, &field.data_type)).collect::<Option<_>>()?
    };
    Some(Leaf { name: field.name.clone(), data_type: field.data_type.clone(), literals, ..leaf.clone() })
}

/// The literal in the narrower integer type of the file.
fn narrow(literal: &Datum, read: &DataType, file: &DataType) -> Option<Datum> {
    if integer_width(read)? <= integer_width(file)? {
        return None;
    }
    let value = match literal {
        Datum::TinyInt(v) => i64::from(*v),
        Datum::SmallInt(v) => i64::from(*v),
        Datum::Int(v) => i64::from(*v),
        Datum::BigInt(v) => *v,
        _ => return None,
    };
    match file {
        DataType::TinyInt(_) => i8::try_from(value).ok().map(Datum::TinyInt),
        DataType::SmallInt(_) => i16::try_from(value).ok().map(Datum::SmallInt),
        DataType::Int(_) => i32::try_from(value).ok().map(Datum::Int),
        _ => None,
    }
}

fn integer_width(data_type: &DataType) -> Option<u8> {
    match data_type {
        DataType::TinyInt(_) => Some(1),
        DataType::SmallInt(_) => Some(2),
        DataType::Int(_) => Some(4),
        DataType::BigInt(_) => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::Function;
    use crate::types::{BigIntType, DataField, DoubleType, FloatType, IntType, SmallIntType, VarCharType};

    fn schema() -> TableSchema {
        TableSchema {
            version: 3,
            id: 0,
            fields: vec![
                DataField::new(0, "p", DataType::Int(IntType::new())),
                DataField::new(1, "old", DataType::SmallInt(SmallIntType::new())),
                DataField::new(2, "f", DataType::Float(FloatType::new())),
                DataField::new(3, "s", DataType::VarChar(VarCharType::string_type())),
            ],
            highest_field_id: 3,
            partition_keys: vec!["p".to_owned()],
            primary_keys: Vec::new(),
            options: Default::default(),
            comment: None,
            time_millis: 0,
        }
    }

    fn leaf(id: i32, data_type: DataType, literal: Datum) -> Predicate {
        let function = Function::Equal;
        Predicate::Leaf(Leaf { field_id: id, name: "new".to_owned(), data_type, function, literals: vec![literal] })
    }

    #[test]
    fn leaves_follow_the_rules_of_type_changes() {
        let big = |v| leaf(1, DataType::BigInt(BigIntType::new()), Datum::BigInt(v));
        let Some(Predicate::Leaf(found)) = devolve(&big(7), &schema()) else { panic!() };
        assert_eq!((found.name.as_str(), &found.literals[0]), ("old", &Datum::SmallInt(7)));
        let dropped = [
            big(40_000),
            leaf(0, DataType::Int(IntType::new()), Datum::Int(1)),
            leaf(2, DataType::Double(DoubleType::new()), Datum::Double(1.0)),
            leaf(9, DataType::Int(IntType::new()), Datum::Int(1)),
            leaf(1, DataType::VarChar(VarCharType::string_type()), Datum::String("7".to_owned())),
        ];
        for predicate in &dropped {
            assert_eq!(devolve(predicate, &schema()), None, "{predicate:?}");
        }
        let kept = leaf(3, DataType::VarChar(VarCharType::string_type()), Datum::String("a".to_owned()));
        let and = Predicate::And(vec![kept.clone(), dropped[2].clone()]);
        assert!(matches!(devolve(&and, &schema()), Some(Predicate::Leaf(l)) if l.name == "s"));
        assert_eq!(devolve(&Predicate::Or(vec![kept, dropped[2].clone()]), &schema()), None);
    }
}
