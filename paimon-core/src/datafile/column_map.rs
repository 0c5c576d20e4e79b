//! From the columns of a file to the columns that are read: by field id, with casts.
//!
//! Invariants: columns of a file are named by the schema that it was written with and matched by id, never by name; what
//! the file lacks is null; a ROW of which the file has no part is null as a whole, and so is a list or map of such rows.
//! What cannot be cast is refused when the map is made. Source: schema-evolution sheet section 1; `utils/FormatReaderMapping.java`.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, ListArray, MapArray, StructArray, new_null_array};
use arrow::datatypes::{DataType as ArrowType, Fields};

use super::cast::{Cast, cast};
use crate::error::{Error, Result, ResultExt};
use crate::types::{ArrayType, DataField, DataType, MapType, RowType, arrow_type, to_arrow_field};

/// How the values of a file become the values of a column that is read.
pub(super) enum Adapt {
    /// As they are.
    Same,
    /// By a cast.
    Cast(Cast),
    /// Part by part: name in the file and what to do with it, `None` for parts that are null.
    Row(Vec<Option<(String, Adapt)>>),
    /// Element by element.
    List(Box<Adapt>),
    /// Value by value; keys stay.
    Map(Box<Adapt>),
}

/// What to ask of the file for a column, and what to do with it; `None` if the file has nothing of it. Errors call it
/// `column`.
pub(super) fn map_column(column: &str, file: &DataField, read: &DataField) -> Result<Option<(DataField, Adapt)>> {
    let Some((data_type, adapt)) = map_type(column, &file.data_type, &read.data_type)? else { return Ok(None) };
    Ok(Some((DataField::new(file.id, &file.name, data_type), adapt)))
}

fn map_type(column: &str, file: &DataType, read: &DataType) -> Result<Option<(DataType, Adapt)>> {
    if file.equals_ignoring_nullability(read) {
        return Ok(Some((read.clone(), Adapt::Same)));
    }
    match (file, read) {
        (DataType::Row(file), DataType::Row(read)) => map_row(column, file, read),
        (DataType::Array(file), DataType::Array(read)) => {
            let Some((element, adapt)) = map_type(column, file.element_type(), read.element_type())? else {
                return Ok(None);
            };
            let asked = DataType::Array(ArrayType::with_nullable(read.is_nullable(), element));
            Ok(Some((asked, Adapt::List(Box::new(adapt)))))
        }
        (DataType::Map(file), DataType::Map(read)) => {
            if !file.key_type().equals_ignoring_nullability(read.key_type()) {
                return Err(Error::unsupported(format!(
                    "cannot cast map column {column}: the key types differ between file and table"
                )));
            }
            let Some((value, adapt)) = map_type(column, file.value_type(), read.value_type())? else { return Ok(None) };
            let asked = MapType::with_nullable(read.is_nullable(), read.key_type().clone(), value);
            Ok(Some((DataType::Map(asked), Adapt::Map(Box::new(adapt)))))
        }
        _ => Ok(Some((file.with_nullable(true), Adapt::Cast(cast(column, file, read)?)))),
    }
}

fn map_row(column: &str, file: &RowType, read: &RowType) -> Result<Option<(DataType, Adapt)>> {
    let mut asked = Vec::new();
    let mut parts = Vec::with_capacity(read.fields().len());
    for part in read.fields() {
        let found = match file.index_of_id(part.id) {
            Some(i) => map_column(&format!("{column}.{}", part.name), &file.fields()[i], part)?,
            None => None,
        };
        parts.push(found.map(|(field, adapt)| {
            let name = field.name.clone();
            asked.push(field);
            (name, adapt)
        }));
    }
    if asked.is_empty() {
        return Ok(None);
    }
    Ok(Some((DataType::Row(RowType::with_nullable(read.is_nullable(), asked)), Adapt::Row(parts))))
}

impl Adapt {
    /// The values as `read`.
    pub(super) fn apply(&self, array: &ArrayRef, column: &str, read: &DataType) -> Result<ArrayRef> {
        let mismatch = || Error::internal(format!("column {column} was not read as it was asked for"));
        match (self, read) {
            (Self::Same, _) => Ok(Arc::clone(array)),
            (Self::Cast(cast), _) => cast(array).context("column", column),
            (Self::Row(parts), DataType::Row(row)) => {
                let array = array.as_struct_opt().ok_or_else(mismatch)?;
                apply_row(parts, array, column, row)
            }
            (Self::List(element), DataType::Array(list)) => {
                let array = array.as_list_opt::<i32>().ok_or_else(mismatch)?;
                let ArrowType::List(field) = arrow_type(read) else { return Err(mismatch()) };
                let values = element.apply(array.values(), column, list.element_type())?;
                let built = ListArray::try_new(field, array.offsets().clone(), values, array.nulls().cloned());
                Ok(Arc::new(built.map_err(|e| null_part(column, e))?))
            }
            (Self::Map(value), DataType::Map(map)) => {
                let array = array.as_map_opt().ok_or_else(mismatch)?;
                let ArrowType::Map(field, ordered) = arrow_type(read) else { return Err(mismatch()) };
                let ArrowType::Struct(parts) = field.data_type() else { return Err(mismatch()) };
                let values = value.apply(array.values(), column, map.value_type())?;
                let entries = StructArray::try_new(parts.clone(), vec![Arc::clone(array.keys()), values], None);
                let entries = entries.map_err(|e| null_part(column, e))?;
                let (offsets, nulls) = (array.offsets().clone(), array.nulls().cloned());
                let built = MapArray::try_new(Arc::clone(&field), offsets, entries, nulls, ordered);
                Ok(Arc::new(built.map_err(|e| null_part(column, e))?))
            }
            _ => Err(mismatch()),
        }
    }
}

fn apply_row(parts: &[Option<(String, Adapt)>], array: &StructArray, column: &str, row: &RowType) -> Result<ArrayRef> {
    let fields: Fields = row.fields().iter().map(to_arrow_field).collect();
    let mut children = Vec::with_capacity(fields.len());
    for ((part, field), arrow) in parts.iter().zip(row.fields()).zip(&fields) {
        let child = match part {
            Some((name, adapt)) => {
                let child = array
                    .column_by_name(name)
                    .ok_or_else(|| Error::internal(format!("part {name} of column {column} was not read")))?;
                adapt.apply(child, column, &field.data_type)?
            }
            None => new_null_array(arrow.data_type(), array.len()),
        };
        children.push(child);
    }
    let built = StructArray::try_new(fields, children, array.nulls().cloned());
    Ok(Arc::new(built.map_err(|e| null_part(column, e))?))
}

fn null_part(column: &str, error: arrow::error::ArrowError) -> Error {
    Error::corrupt(format!("a part of column {column} that is NOT NULL is null in the file")).with_source(error)
}
