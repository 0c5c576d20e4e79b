//! Nested fields by path.
//!
//! A path names fields of rows; below an ARRAY stands `element`, below a MAP `value`.

use crate::error::{Entity, Error, Result};
use crate::types::{ArrayType, DataField, DataType, MapType, RowType};

/// The error for a path that leads nowhere.
pub(super) fn not_found(path: &[String]) -> Error {
    Error::not_found(Entity::Column, format!("Column {} does not exist.", path.join(".")))
}

/// Replaces the type at the end of `path`, of which `done` steps are taken, by what `edit` makes of it.
pub(super) fn edit_type(
    data_type: &DataType,
    path: &[String],
    done: usize,
    edit: &mut dyn FnMut(&DataType) -> Result<DataType>,
) -> Result<DataType> {
    let Some(step) = path.get(done) else { return edit(data_type) };
    let nullable = data_type.is_nullable();
    match data_type {
        DataType::Row(row) => {
            let at = row.index_of(step).ok_or_else(|| not_found(path))?;
            let mut fields = row.fields().to_vec();
            fields[at].data_type = edit_type(&fields[at].data_type, path, done + 1, edit)?;
            Ok(DataType::Row(RowType::with_nullable(nullable, fields)))
        }
        DataType::Array(t) if step == "element" => {
            let element = edit_type(t.element_type(), path, done + 1, edit)?;
            Ok(DataType::Array(ArrayType::with_nullable(nullable, element)))
        }
        DataType::Map(t) if step == "value" => {
            let value = edit_type(t.value_type(), path, done + 1, edit)?;
            Ok(DataType::Map(MapType::with_nullable(nullable, t.key_type().clone(), value)))
        }
        _ => Err(not_found(path)),
    }
}

/// Edits the fields of the row that the last step of `path` names a field of.
pub(super) fn edit_siblings(
    columns: &[DataField],
    path: &[String],
    edit: &mut dyn FnMut(&mut Vec<DataField>, &str) -> Result<()>,
) -> Result<Vec<DataField>> {
    let Some((name, parents)) = path.split_last() else {
        return Err(Error::invalid_input("the path of a column is empty"));
    };
    let root = DataType::Row(RowType::with_nullable(false, columns.to_vec()));
    let edited = edit_type(&root, parents, 0, &mut |parent| match parent {
        DataType::Row(row) => {
            let mut fields = row.fields().to_vec();
            edit(&mut fields, name)?;
            Ok(DataType::Row(RowType::with_nullable(row.is_nullable(), fields)))
        }
        _ => Err(not_found(path)),
    })?;
    columns_of(edited)
}

/// Edits the type that `path` names.
pub(super) fn edit_leaf(
    columns: &[DataField],
    path: &[String],
    edit: &mut dyn FnMut(&DataType) -> Result<DataType>,
) -> Result<Vec<DataField>> {
    if path.is_empty() {
        return Err(Error::invalid_input("the path of a column is empty"));
    }
    let root = DataType::Row(RowType::with_nullable(false, columns.to_vec()));
    columns_of(edit_type(&root, path, 0, edit)?)
}

fn columns_of(root: DataType) -> Result<Vec<DataField>> {
    match root {
        DataType::Row(row) => Ok(row.fields().to_vec()),
        _ => Err(Error::internal("the columns of a table are a row")),
    }
}
