//! Where the columns of a table are in files of another schema.
//!
//! Invariants: columns are found by field id, and in the file by the name of the file's schema. A cast is left to the
//! engine only where it cannot differ from the format's own: widening of numbers. Source: schema-evolution sheet
//! sections 1 to 3.

use paimon_core::spec::TableSchema;
use paimon_core::types::{DataField, DataType};

/// Where a column of the table is in a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum FileColumn {
    /// Under this name, with the same type.
    Same(String),
    /// Under this name, with a narrower type.
    Widened(String),
    /// Not in the file: null.
    Missing,
    /// Only the core can read it.
    Core,
}

/// The columns of `table` in files of `file`, in the order of the table.
pub(crate) fn file_columns(table: &TableSchema, file: &TableSchema) -> Vec<FileColumn> {
    table.fields.iter().map(|field| file_column(field, file)).collect()
}

fn file_column(field: &DataField, file: &TableSchema) -> FileColumn {
    let Some(stored) = file.fields.iter().find(|f| f.id == field.id) else {
        // The reader of the core decides about a column that may not be null.
        return if field.data_type.is_nullable() { FileColumn::Missing } else { FileColumn::Core };
    };
    let name = stored.name.clone();
    if is_core_only(&field.data_type) {
        FileColumn::Core
    } else if field.data_type.equals_ignoring_nullability(&stored.data_type)
        || reads_alike(&stored.data_type, &field.data_type)
    {
        FileColumn::Same(name)
    } else if widens(&stored.data_type, &field.data_type) {
        FileColumn::Widened(name)
    } else {
        FileColumn::Core
    }
}

/// Types whose layout in files the engine does not know.
fn is_core_only(data_type: &DataType) -> bool {
    match data_type {
        DataType::Variant(_) | DataType::Blob(_) | DataType::Vector(_) | DataType::Multiset(_) => true,
        DataType::Array(t) => is_core_only(t.element_type()),
        DataType::Map(t) => is_core_only(t.key_type()) || is_core_only(t.value_type()),
        DataType::Row(t) => t.fields().iter().any(|f| is_core_only(&f.data_type)),
        _ => false,
    }
}

/// Whether a value of one type is, unchanged, a value of the other: longer text and bytes.
fn reads_alike(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Char(a), DataType::VarChar(b)) => a.length() <= b.length(),
        (DataType::VarChar(a), DataType::VarChar(b)) => a.length() <= b.length(),
        (DataType::Binary(a), DataType::VarBinary(b)) => a.length() <= b.length(),
        (DataType::VarBinary(a), DataType::VarBinary(b)) => a.length() <= b.length(),
        _ => false,
    }
}

/// Whether every value of one type has an equal one in the other, and no kernel could see it differently.
fn widens(from: &DataType, to: &DataType) -> bool {
    match (from, to) {
        (DataType::Float(_), DataType::Double(_)) => true,
        (DataType::Decimal(a), DataType::Decimal(b)) => a.scale() == b.scale() && a.precision() <= b.precision(),
        _ => match (integer_width(from), integer_width(to)) {
            (Some(from), Some(to)) => from < to,
            _ => false,
        },
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
    use std::collections::BTreeMap;

    use paimon_core::types::{BigIntType, DecimalType, DoubleType, FloatType, IntType, VarCharType};

    use super::*;

    fn schema(fields: Vec<(i32, &str, DataType)>) -> TableSchema {
        TableSchema {
            version: 3,
            id: 0,
            fields: fields.into_iter().map(|(id, name, t)| DataField::new(id, name, t)).collect(),
            highest_field_id: 9,
            partition_keys: Vec::new(),
            primary_keys: Vec::new(),
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        }
    }

    #[test]
    fn columns_are_found_by_id() {
        let int = || DataType::Int(IntType::new());
        let file = schema(vec![
            (0, "a", int()),
            (1, "b", int()),
            (2, "c", DataType::BigInt(BigIntType::new())),
            (3, "d", DataType::VarChar(VarCharType::new(3).unwrap())),
            (4, "e", DataType::Float(FloatType::new())),
            (5, "f", DataType::Decimal(DecimalType::new(5, 2).unwrap())),
        ]);
        let table = schema(vec![
            (1, "a", DataType::BigInt(BigIntType::new())),
            (0, "renamed", int()),
            (2, "c", int()),
            (9, "b", int()),
            (8, "must", int().with_nullable(false)),
            (3, "d", DataType::VarChar(VarCharType::string_type())),
            (4, "e", DataType::Double(DoubleType::new())),
            (5, "f", DataType::Decimal(DecimalType::new(7, 3).unwrap())),
        ]);
        let expected = [
            FileColumn::Widened("b".into()),
            FileColumn::Same("a".into()),
            FileColumn::Core,
            FileColumn::Missing,
            FileColumn::Core,
            FileColumn::Same("d".into()),
            FileColumn::Widened("e".into()),
            FileColumn::Core,
        ];
        assert_eq!(file_columns(&table, &file), expected);
    }
}
