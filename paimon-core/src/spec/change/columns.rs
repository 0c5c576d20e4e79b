//! Changes of one column or nested field.

use super::paths::{edit_leaf, edit_siblings, not_found};
use crate::error::{Entity, Error, Result};
use crate::spec::check::check_default;
use crate::spec::field_ids::FieldIdCounter;
use crate::spec::schema_change::ColumnMove;
use crate::types::{CastKind, DataField, DataType, cast_kind};

/// Rules that the options of the table set.
#[derive(Debug, Clone, Copy)]
pub(super) struct TypeRules {
    /// Whether a column may become NOT NULL.
    pub(super) null_to_not_null: bool,
    /// Whether casts may be explicit.
    pub(super) explicit_casts: bool,
}

/// Where a new column goes.
#[derive(Debug, Clone)]
pub(super) enum Place {
    /// As the change says.
    Moved(ColumnMove),
    /// At this position.
    At(usize),
    /// At the end.
    End,
}

pub(super) fn add(
    columns: &[DataField],
    path: &[String],
    new: &DataField,
    place: &Place,
    ids: &mut FieldIdCounter,
) -> Result<Vec<DataField>> {
    if !new.data_type.is_nullable() {
        return Err(Error::invalid_input(format!("Column {} cannot specify NOT NULL in the table.", path.join("."))));
    }
    edit_siblings(columns, path, &mut |fields, name| {
        refuse_existing(fields, name, path)?;
        let field = ids.renumber(&DataField { name: name.to_owned(), ..new.clone() })?;
        let end = fields.len();
        let at = match place {
            Place::End => end,
            Place::At(at) => (*at).min(end),
            Place::Moved(ColumnMove::First) => 0,
            Place::Moved(ColumnMove::Last) => end,
            Place::Moved(ColumnMove::After(reference)) => position(fields, reference)? + 1,
            Place::Moved(ColumnMove::Before(reference)) => position(fields, reference)?,
        };
        fields.insert(at, field);
        Ok(())
    })
}

fn refuse_existing(fields: &[DataField], name: &str, path: &[String]) -> Result<()> {
    if fields.iter().any(|f| f.name == name) {
        let text = format!("Column {} already exists.", path.join("."));
        return Err(Error::already_exists(Entity::Column, text));
    }
    Ok(())
}

fn position(fields: &[DataField], name: &str) -> Result<usize> {
    fields
        .iter()
        .position(|f| f.name == name)
        .ok_or_else(|| Error::not_found(Entity::Column, format!("Field name not found: {name}")))
}

pub(super) fn rename(columns: &[DataField], path: &[String], new_name: &str) -> Result<Vec<DataField>> {
    edit_siblings(columns, path, &mut |fields, name| {
        let at = fields.iter().position(|f| f.name == name).ok_or_else(|| not_found(path))?;
        if matches!(fields[at].data_type, DataType::Blob(_)) {
            return Err(Error::invalid_input(format!("Cannot rename BLOB column: [{name}]")));
        }
        refuse_existing(fields, new_name, &[new_name.to_owned()])?;
        new_name.clone_into(&mut fields[at].name);
        Ok(())
    })
}

pub(super) fn drop(columns: &[DataField], path: &[String]) -> Result<Vec<DataField>> {
    edit_siblings(columns, path, &mut |fields, name| {
        let at = fields.iter().position(|f| f.name == name).ok_or_else(|| not_found(path))?;
        fields.remove(at);
        if fields.is_empty() {
            return Err(Error::invalid_input("Cannot drop all fields in table"));
        }
        Ok(())
    })
}

pub(super) fn update_type(
    columns: &[DataField],
    path: &[String],
    new_type: &DataType,
    keep_nullability: bool,
    rules: TypeRules,
) -> Result<Vec<DataField>> {
    let changed = edit_leaf(columns, path, &mut |old| {
        let nullable = if keep_nullability { old.is_nullable() } else { new_type.is_nullable() };
        check_nullability(path, old.is_nullable(), nullable, rules)?;
        // A type that is given again has other ids inside; Java refuses it, but nothing is lost by keeping the old one.
        if old.sql_text() == new_type.sql_text() {
            return Ok(old.with_nullable(nullable));
        }
        check_cast(path, old, new_type, rules)?;
        Ok(new_type.with_nullable(nullable))
    })?;
    if let [column] = path
        && let Some(field) = changed.iter().find(|f| f.name == *column)
    {
        check_default(field)?;
    }
    Ok(changed)
}

fn check_cast(path: &[String], old: &DataType, new: &DataType, rules: TypeRules) -> Result<()> {
    let column = path.join(".");
    if matches!(old, DataType::Blob(_)) || matches!(new, DataType::Blob(_)) {
        return Err(Error::invalid_input(format!(
            "Cannot change column type involving BLOB: {column}[{old}] to {new}"
        )));
    }
    let allowed = match cast_kind(old, new) {
        Some(CastKind::Implicit) => true,
        Some(CastKind::Explicit) => rules.explicit_casts,
        None => false,
    };
    if allowed {
        return Ok(());
    }
    Err(Error::invalid_input(format!(
        "Column type {column}[{old}] cannot be converted to {new} without losing information."
    )))
}

fn check_nullability(path: &[String], was: bool, becomes: bool, rules: TypeRules) -> Result<()> {
    if was && !becomes && !rules.null_to_not_null {
        return Err(Error::invalid_input(format!(
            "Cannot update column type from nullable to non nullable for {}. You can set table configuration option \
             'alter-column-null-to-not-null.disabled' = 'false' to allow converting null columns to not null",
            path.join(".")
        )));
    }
    Ok(())
}

pub(super) fn update_nullability(
    columns: &[DataField],
    path: &[String],
    nullable: bool,
    rules: TypeRules,
) -> Result<Vec<DataField>> {
    edit_leaf(columns, path, &mut |old| {
        check_nullability(path, old.is_nullable(), nullable, rules)?;
        Ok(old.with_nullable(nullable))
    })
}

/// Edits comment or default of a field.
pub(super) fn update_field(
    columns: &[DataField],
    path: &[String],
    edit: &mut dyn FnMut(&mut DataField) -> Result<()>,
) -> Result<Vec<DataField>> {
    edit_siblings(columns, path, &mut |fields, name| {
        let field = fields.iter_mut().find(|f| f.name == name).ok_or_else(|| not_found(path))?;
        edit(field)
    })
}

/// Moves a top-level column.
pub(super) fn move_column(columns: &[DataField], column: &str, to: &ColumnMove) -> Result<Vec<DataField>> {
    let mut fields = columns.to_vec();
    let from = position(&fields, column)?;
    let stays = match to {
        ColumnMove::First => from == 0,
        ColumnMove::Last => from + 1 == fields.len(),
        ColumnMove::After(reference) | ColumnMove::Before(reference) => reference == column,
    };
    if stays {
        return Err(Error::invalid_input(format!("Cannot move itself for column {column}")));
    }
    let field = fields.remove(from);
    let at = match to {
        ColumnMove::First => 0,
        ColumnMove::Last => fields.len(),
        ColumnMove::After(reference) => position(&fields, reference)? + 1,
        ColumnMove::Before(reference) => position(&fields, reference)?,
    };
    fields.insert(at, field);
    Ok(fields)
}
