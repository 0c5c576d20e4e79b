//! The changes in their order.

use std::collections::BTreeMap;

use super::columns::{self, Place, TypeRules};
use super::{options, rename};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::check::check_default;
use crate::spec::field_ids::FieldIdCounter;
use crate::spec::schema_change::SchemaChange;
use crate::spec::table_schema::{CURRENT_VERSION, TableSchema, keys_of};
use crate::spec::{ADD_COLUMN_BEFORE_PARTITION, ALTER_NULL_TO_NOT_NULL_DISABLED, DISABLE_EXPLICIT_CASTING};
use crate::types::DataField;

/// Indexes of primary-key tables, whose columns keep their names.
const KEY_INDEXES: [&str; 5] = [
    "pk-vector.index.columns",
    "pk-btree.index.columns",
    "pk-bitmap.index.columns",
    "pk-multivalue.index.columns",
    "pk-full-text.index.columns",
];

/// The next schema. See [`TableSchema::change`].
pub(in crate::spec) fn apply(
    old: &TableSchema,
    changes: &[SchemaChange],
    has_snapshots: bool,
    time_millis: i64,
) -> Result<TableSchema> {
    let old_options = Options::from(old.options.clone());
    let mut next = Next {
        rules: TypeRules {
            null_to_not_null: !old_options.value(&ALTER_NULL_TO_NOT_NULL_DISABLED)?,
            explicit_casts: !old_options.value(&DISABLE_EXPLICIT_CASTING)?,
        },
        add_before_partition: old_options.value(&ADD_COLUMN_BEFORE_PARTITION)?,
        old_options,
        has_snapshots,
        ids: FieldIdCounter::after(old.highest_field_id),
        schema: old.clone(),
    };
    for change in changes {
        next.apply(change)?;
    }
    next.finish(time_millis)
}

/// The schema while changes are applied to it.
struct Next {
    schema: TableSchema,
    old_options: Options,
    has_snapshots: bool,
    ids: FieldIdCounter,
    rules: TypeRules,
    add_before_partition: bool,
}

impl Next {
    fn apply(&mut self, change: &SchemaChange) -> Result<()> {
        let fields = &self.schema.fields;
        match change {
            SchemaChange::SetOption { key, value } => return self.set_option(key, value),
            SchemaChange::RemoveOption { key } => return self.remove_option(key),
            SchemaChange::UpdateComment { comment } => self.schema.comment.clone_from(comment),
            SchemaChange::DropPrimaryKey => return self.drop_primary_key(),
            SchemaChange::AddColumn { path, data_type, comment, position } => {
                let mut new = DataField::new(0, "", data_type.clone());
                new.description.clone_from(comment);
                let place = match position {
                    Some(position) => Place::Moved(position.clone()),
                    None => self.place_of_new(path),
                };
                self.schema.fields = columns::add(fields, path, &new, &place, &mut self.ids)?;
            }
            SchemaChange::RenameColumn { path, new_name } => return self.rename(path, new_name),
            SchemaChange::DropColumn { path } => {
                if self.is_partition(path) || self.is_key(path) {
                    return Err(Error::invalid_input(format!(
                        "Cannot drop partition key or primary key: [{}]",
                        path.join(".")
                    )));
                }
                self.schema.fields = columns::drop(fields, path)?;
            }
            SchemaChange::UpdateColumnType { path, data_type, keep_nullability } => {
                if self.is_partition(path) {
                    return Err(Error::invalid_input(format!("Cannot update partition column: [{}]", path.join("."))));
                }
                if self.is_key(path) {
                    return Err(Error::invalid_input("Cannot update primary key"));
                }
                self.schema.fields = columns::update_type(fields, path, data_type, *keep_nullability, self.rules)?;
            }
            SchemaChange::UpdateColumnNullability { path, nullable } => {
                if *nullable && self.is_key(path) {
                    return Err(Error::invalid_input("Cannot change nullability of primary key"));
                }
                self.schema.fields = columns::update_nullability(fields, path, *nullable, self.rules)?;
            }
            SchemaChange::UpdateColumnComment { path, comment } => {
                self.schema.fields = columns::update_field(fields, path, &mut |field| {
                    field.description.clone_from(comment);
                    Ok(())
                })?;
            }
            SchemaChange::UpdateColumnDefault { path, default_value } => {
                self.schema.fields = columns::update_field(fields, path, &mut |field| {
                    field.default_value.clone_from(default_value);
                    check_default(field)
                })?;
            }
            SchemaChange::UpdateColumnPosition { column, position } => {
                self.schema.fields = columns::move_column(fields, column, position)?;
            }
        }
        Ok(())
    }

    fn is_partition(&self, path: &[String]) -> bool {
        matches!(path, [column] if self.schema.partition_keys.contains(column))
    }

    fn is_key(&self, path: &[String]) -> bool {
        matches!(path, [column] if self.schema.primary_keys.contains(column))
    }

    fn place_of_new(&self, path: &[String]) -> Place {
        let is_partition = |f: &DataField| self.schema.partition_keys.contains(&f.name);
        match self.schema.fields.iter().position(is_partition) {
            Some(first) if path.len() == 1 && self.add_before_partition => Place::At(first),
            _ => Place::End,
        }
    }

    fn set_option(&mut self, key: &str, value: &str) -> Result<()> {
        let same = |keys: &[String]| value.split(',').map(str::trim).eq(keys.iter().map(String::as_str));
        let stated = match key {
            "primary-key" => same(&self.schema.primary_keys),
            "partition" => same(&self.schema.partition_keys),
            _ => false,
        };
        if stated {
            return Ok(());
        }
        options::check_change(&self.old_options, key, Some(value), self.has_snapshots)?;
        self.schema.options.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    fn remove_option(&mut self, key: &str) -> Result<()> {
        options::check_change(&self.old_options, key, None, self.has_snapshots)?;
        self.schema.options.remove(key);
        Ok(())
    }

    fn drop_primary_key(&mut self) -> Result<()> {
        if self.has_snapshots {
            return Err(Error::invalid_input("Cannot drop primary keys on a non-empty table."));
        }
        self.schema.primary_keys.clear();
        Ok(())
    }

    fn rename(&mut self, path: &[String], new_name: &str) -> Result<()> {
        if self.is_partition(path) {
            return Err(Error::invalid_input(format!("Cannot rename partition column: [{}]", path.join("."))));
        }
        self.refuse_indexed(path)?;
        self.schema.fields = columns::rename(&self.schema.fields, path, new_name)?;
        match path {
            [column] => {
                for key in self.schema.primary_keys.iter_mut().filter(|k| *k == column) {
                    new_name.clone_into(key);
                }
                self.schema.options = rename::column(&self.schema.options, column, new_name);
            }
            [column, .., old] => rename::nested(&mut self.schema.options, column, old, new_name),
            [] => {}
        }
        Ok(())
    }

    fn refuse_indexed(&self, path: &[String]) -> Result<()> {
        let [column] = path else { return Ok(()) };
        for key in KEY_INDEXES {
            let columns = self.schema.options.get(key).map(String::as_str).unwrap_or_default();
            if columns.split(',').any(|name| name.trim() == column) {
                return Err(Error::invalid_input(format!(
                    "Cannot rename column '{column}', which option '{key}' names"
                )));
            }
        }
        Ok(())
    }

    fn finish(self, time_millis: i64) -> Result<TableSchema> {
        let mut schema = self.schema;
        let mut options: BTreeMap<_, _> = std::mem::take(&mut schema.options);
        schema.primary_keys = keys_of(&mut options, "primary-key", "primary key", &schema.primary_keys)?;
        schema.partition_keys = keys_of(&mut options, "partition", "partition", &schema.partition_keys)?;
        let nullable_keys = options.get("primary-key.nullable").is_some_and(|v| v.eq_ignore_ascii_case("true"));
        schema.options = options;
        if !nullable_keys {
            for field in schema.fields.iter_mut().filter(|f| schema.primary_keys.contains(&f.name)) {
                field.data_type = field.data_type.with_nullable(false);
            }
        }
        schema.id += 1;
        // Version 1 stays, since what it implies may not be valid for a new table.
        schema.version = if schema.version <= 1 { schema.version } else { CURRENT_VERSION };
        schema.highest_field_id = self.ids.highest();
        schema.time_millis = time_millis;
        schema.check()?;
        Ok(schema)
    }
}
