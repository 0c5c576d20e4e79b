//! Which leaves of a file serve the columns that are asked for.
//!
//! Invariants: a column is found by its exact name at the top level; parts of a ROW that nobody asks for are not read,
//! below ARRAY and MAP everything is.

use ::parquet::arrow::ProjectionMask;
use ::parquet::schema::types::{SchemaDescriptor, Type};

use crate::error::{Error, Result};
use crate::types::{DataField, DataType};

/// The leaves to read, and for each column that is asked for whether the file has any of it.
#[derive(Debug)]
pub(super) struct Projection {
    pub(super) mask: ProjectionMask,
    pub(super) present: Vec<bool>,
}

impl Projection {
    pub(super) fn new(schema: &SchemaDescriptor, columns: &[DataField]) -> Result<Self> {
        let mut leaves = Vec::new();
        let mut present = vec![false; columns.len()];
        let mut next_leaf = 0;
        for root in schema.root_schema().get_fields() {
            let count = leaf_count(root);
            if let Some(i) = columns.iter().position(|c| c.name == root.name()) {
                let before = leaves.len();
                collect(root, &columns[i].data_type, &mut next_leaf.clone(), &mut leaves);
                present[i] = leaves.len() > before;
            }
            next_leaf += count;
        }
        if next_leaf != schema.num_columns() {
            return Err(Error::corrupt("the leaves of the Parquet schema do not add up"));
        }
        Ok(Self { mask: ProjectionMask::leaves(schema, leaves), present })
    }
}

fn leaf_count(node: &Type) -> usize {
    if node.is_primitive() { 1 } else { node.get_fields().iter().map(|f| leaf_count(f)).sum() }
}

fn collect(node: &Type, data_type: &DataType, next_leaf: &mut usize, leaves: &mut Vec<usize>) {
    match data_type {
        DataType::Row(row) if !node.is_primitive() => {
            for child in node.get_fields() {
                match row.field(child.name()) {
                    Some(field) => collect(child, &field.data_type, next_leaf, leaves),
                    None => *next_leaf += leaf_count(child),
                }
            }
        }
        _ => {
            let count = leaf_count(node);
            leaves.extend(*next_leaf..*next_leaf + count);
            *next_leaf += count;
        }
    }
}

/// The leaf of a column without parts: its position, if the file has it.
pub(super) fn flat_leaf(schema: &SchemaDescriptor, name: &str) -> Option<usize> {
    schema.columns().iter().position(|leaf| match leaf.path().parts() {
        [only] => only == name && leaf.max_rep_level() == 0,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ::parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::types::{ArrayType, IntType, RowType};

    #[test]
    fn only_leaves_that_are_asked_for() {
        let message = "message m {
            optional int32 a;
            optional group s { optional int32 x; optional group t { optional int32 y; optional int32 z; } }
            optional group l (LIST) { repeated group list { optional group element { optional int32 p; } } }
            optional int32 b;
        }";
        let schema = SchemaDescriptor::new(Arc::new(parse_message_type(message).unwrap()));
        let int = || DataType::Int(IntType::new());
        let row = |fields: &[(&str, DataType)]| {
            DataType::Row(RowType::new(fields.iter().map(|(n, t)| DataField::new(0, *n, t.clone())).collect()))
        };
        let columns = [
            DataField::new(0, "b", int()),
            DataField::new(1, "s", row(&[("t", row(&[("z", int())]))])),
            DataField::new(2, "l", DataType::Array(ArrayType::new(row(&[("p", int())])))),
            DataField::new(3, "gone", int()),
        ];
        let projection = Projection::new(&schema, &columns).unwrap();
        let read: Vec<_> = (0..6).filter(|&i| projection.mask.leaf_included(i)).collect();
        assert_eq!(read, [3, 4, 5]);
        assert_eq!(projection.present, [true, true, true, false]);
        assert_eq!((flat_leaf(&schema, "b"), flat_leaf(&schema, "s"), flat_leaf(&schema, "x")), (Some(5), None, None));
    }
}
