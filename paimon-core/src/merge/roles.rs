//! What each column does in a merge: which engine, which sequence group, which function.
//!
//! Invariants: every column of the schema has exactly one role. Source: merge-engine sheet sections 4.2 and 5;
//! `mergetree/compact/PartialUpdateMergeFunction.java`, `aggregate/AggregateMergeFunction.java`.

use std::collections::BTreeMap;

use super::function::{ColumnFunction, Function};
use crate::error::{Error, Result};
use crate::options::{Options, parse_bool};
use crate::spec::{IGNORE_DELETE, MERGE_ENGINE, MergeEngine, TableSchema};
use crate::types::DataField;

/// What a retract does in a partial update without sequence groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnRetract {
    /// It is an error.
    Refuse,
    /// Nothing.
    Ignore,
    /// `-D` removes the row, `-U` does nothing.
    Remove,
}

/// Columns that are updated together, in an order of their own.
#[derive(Debug, Clone)]
pub(super) struct SequenceGroup {
    /// The columns that say which row is newer.
    pub(super) ordering: Vec<DataField>,
    /// Whether a newer `-D` removes the whole row.
    pub(super) removes: bool,
}

/// How rows of one key become one row.
#[derive(Debug, Clone)]
pub(super) enum Engine {
    /// The newest row counts.
    Deduplicate { ignore_delete: bool },
    /// The oldest row counts.
    FirstRow { ignore_delete: bool },
    /// Columns are updated one by one.
    PartialUpdate { on_retract: OnRetract, groups: Vec<SequenceGroup> },
    /// Columns are aggregated.
    Aggregation { remove_on_delete: bool },
}

/// How the values of a column become one.
#[derive(Debug, Clone)]
pub(super) enum How {
    /// The value of the row that counts.
    Newest,
    /// The newest value that is not null.
    NonNull,
    /// The value of the newest row, nulls included.
    Replaced,
    /// An ordering column of a sequence group.
    Ordering,
    /// An aggregate.
    Function(ColumnFunction),
}

/// The part of a column.
#[derive(Debug, Clone)]
pub(super) struct Role {
    /// The sequence group whose order counts.
    pub(super) group: Option<usize>,
    pub(super) how: How,
}

impl Role {
    const NEWEST: Self = Self { group: None, how: How::Newest };
}

/// The engine of a table and the roles of its columns by field id.
#[derive(Debug, Clone)]
pub(super) struct Roles {
    pub(super) engine: Engine,
    columns: BTreeMap<i32, Role>,
}

impl Roles {
    /// Reads the options.
    ///
    /// # Errors
    /// `InvalidConfig` naming the option.
    pub(super) fn try_new(schema: &TableSchema, options: &Options, sequence: &[DataField]) -> Result<Self> {
        let ignore_delete = options.value(&IGNORE_DELETE)?;
        match options.value(&MERGE_ENGINE)? {
            MergeEngine::Deduplicate => Ok(Self::of_rows(Engine::Deduplicate { ignore_delete })),
            MergeEngine::FirstRow => Ok(Self::of_rows(Engine::FirstRow { ignore_delete })),
            MergeEngine::Aggregation => Self::aggregation(schema, options, sequence),
            MergeEngine::PartialUpdate => Self::partial_update(schema, options, ignore_delete),
        }
    }

    /// The role of a column.
    pub(super) fn of(&self, id: i32) -> &Role {
        self.columns.get(&id).unwrap_or(&Role::NEWEST)
    }

    /// The sequence groups.
    pub(super) fn groups(&self) -> &[SequenceGroup] {
        match &self.engine {
            Engine::PartialUpdate { groups, .. } => groups,
            _ => &[],
        }
    }

    fn of_rows(engine: Engine) -> Self {
        Self { engine, columns: BTreeMap::new() }
    }

    fn aggregation(schema: &TableSchema, options: &Options, sequence: &[DataField]) -> Result<Self> {
        let mut columns = BTreeMap::new();
        for field in schema.fields.iter().filter(|f| !is_key(schema, f)) {
            let function = if sequence.iter().any(|s| s.id == field.id) {
                ColumnFunction::plain("last_value", Function::LastValue)
            } else {
                let found = ColumnFunction::find(field, options)?;
                found.unwrap_or_else(|| ColumnFunction::plain("last_non_null_value", Function::LastNonNull))
            };
            columns.insert(field.id, Role { group: None, how: How::Function(function) });
        }
        let remove_on_delete = is_on(options, "aggregation.remove-record-on-delete")?;
        Ok(Self { engine: Engine::Aggregation { remove_on_delete }, columns })
    }

    fn partial_update(schema: &TableSchema, options: &Options, ignore_delete: bool) -> Result<Self> {
        let removing = options.get("partial-update.remove-record-on-sequence-group").unwrap_or_default();
        let removing: Vec<&str> = removing.split(',').map(str::trim).collect();
        let mut columns = BTreeMap::new();
        let mut groups = Vec::new();
        for (key, protected) in options.iter() {
            let Some(ordering) = key.strip_prefix("fields.").and_then(|k| k.strip_suffix(".sequence-group")) else {
                continue;
            };
            let group = Some(groups.len());
            let of_names = |names: &str| -> Result<Vec<DataField>> {
                // Names are not trimmed: ` a` is another column than `a`.
                names.split(',').map(|name| column(schema, name).map_err(|e| e.with_context("option", key))).collect()
            };
            let (ordering, protected) = (of_names(ordering)?, of_names(protected)?);
            for field in &protected {
                let how = match ColumnFunction::find(field, options)? {
                    Some(function) => How::Function(function),
                    None => How::Replaced,
                };
                columns.insert(field.id, Role { group, how });
            }
            for field in &ordering {
                columns.insert(field.id, Role { group, how: How::Ordering });
            }
            let listed = |f: &DataField| removing.contains(&f.name.as_str());
            groups.push(SequenceGroup { removes: ordering.iter().any(listed), ordering });
        }
        for field in schema.fields.iter().filter(|f| !is_key(schema, f)) {
            columns.entry(field.id).or_insert(Role { group: None, how: How::NonNull });
        }
        let on_retract = if ignore_delete {
            OnRetract::Ignore
        } else if is_on(options, "partial-update.remove-record-on-delete")? {
            OnRetract::Remove
        } else {
            OnRetract::Refuse
        };
        Ok(Self { engine: Engine::PartialUpdate { on_retract, groups }, columns })
    }
}

fn column(schema: &TableSchema, name: &str) -> Result<DataField> {
    let found = schema.fields.iter().find(|f| f.name == name).cloned();
    found.ok_or_else(|| Error::invalid_config(format!("Field {name} can not be found in table schema.")))
}

fn is_key(schema: &TableSchema, field: &DataField) -> bool {
    schema.primary_keys.contains(&field.name) || schema.partition_keys.contains(&field.name)
}

fn is_on(options: &Options, key: &'static str) -> Result<bool> {
    let Some(text) = options.get(key) else { return Ok(false) };
    parse_bool(text).map_err(|e| e.with_context("option", key))
}
