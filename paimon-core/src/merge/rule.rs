//! How rows of one key become one row.
//!
//! Invariants: a rule that exists can be carried out, but for functions that [`MergeRule::check_columns`] refuses.
//! Source: `CoreOptions.java` (`MERGE_ENGINE`, `SEQUENCE_FIELD`), `mergetree/compact/LookupMergeFunction.java`.

use std::collections::BTreeMap;

use arrow::datatypes::SchemaRef;

use super::function::Function;
use super::roles::{Engine, How, Role, Roles};
use crate::error::{Error, Result};
use crate::options::{Options, parse_bool};
use crate::spec::{
    CHANGELOG_PRODUCER, ChangelogProducer, DELETION_VECTORS, SEQUENCE_FIELD, SEQUENCE_SNAPSHOT_ORDERING,
    SEQUENCE_SORT_ORDER, SortOrder, TableSchema,
};
use crate::types::{DataField, DataType};

/// The merge engine of a table with its keys and sequence fields, resolved against its schema.
#[derive(Debug, Clone)]
pub struct MergeRule {
    key: Vec<DataField>,
    sequence: Vec<DataField>,
    descending: bool,
    lookup: bool,
    roles: Roles,
    required_ids: Vec<i32>,
    /// The ids of all columns by name.
    ids: BTreeMap<String, i32>,
}

impl MergeRule {
    /// The rule of a primary-key table.
    ///
    /// # Errors
    /// `Unsupported` naming the option that is not built; `InvalidConfig` naming a sequence field that is no column, or
    /// an aggregate that does not fit its column; `InvalidInput` for a table without primary key.
    pub fn try_new(schema: &TableSchema, options: &Options) -> Result<Self> {
        if options.value(&SEQUENCE_SNAPSHOT_ORDERING)? {
            return Err(Error::unsupported(format!("{} is not supported yet", SEQUENCE_SNAPSHOT_ORDERING.key)));
        }
        let key = schema.key_type().fields().to_vec();
        if key.is_empty() {
            return Err(Error::invalid_input("only tables with a primary key can be merged"));
        }
        let sequence = sequence_fields(schema, options)?;
        let mut required_ids: Vec<i32> = Vec::new();
        for field in key.iter().chain(&sequence) {
            if !required_ids.contains(&field.id) {
                required_ids.push(field.id);
            }
        }
        let roles = Roles::try_new(schema, options, &sequence)?;
        let lookup = is_lookup(options)? && !matches!(roles.engine, Engine::FirstRow { .. });
        let descending = options.value(&SEQUENCE_SORT_ORDER)? == SortOrder::Descending;
        let ids = schema.fields.iter().map(|f| (f.name.clone(), f.id)).collect();
        Ok(Self { key, sequence, descending, lookup, roles, required_ids, ids })
    }

    /// Ids of the columns that merging needs besides `_SEQUENCE_NUMBER` and `_VALUE_KIND`, whatever the result holds:
    /// key, then sequence fields.
    pub fn required_ids(&self) -> &[i32] {
        &self.required_ids
    }

    /// Ids of the columns that merging needs to give these columns: [`MergeRule::required_ids`], then those that order
    /// their sequence groups.
    pub fn required_ids_for(&self, columns: &[i32]) -> Vec<i32> {
        let mut ids = self.required_ids.clone();
        for group in self.groups_of(columns) {
            for field in &self.roles.groups()[group].ordering {
                if !ids.contains(&field.id) {
                    ids.push(field.id);
                }
            }
        }
        ids
    }

    /// Checks that these columns can be merged.
    ///
    /// # Errors
    /// `Unsupported` naming the function and column.
    pub fn check_columns<'a>(&self, columns: impl IntoIterator<Item = &'a DataField>) -> Result<()> {
        for field in columns {
            if let How::Function(f) = &self.roles.of(field.id).how
                && f.function == Function::NotBuilt
            {
                let text = format!("aggregate function '{}' is not supported", f.name);
                return Err(Error::unsupported(text).with_context("column", &field.name));
            }
        }
        Ok(())
    }

    /// Whether the level of each row must be known: see [`LEVEL`](super::LEVEL).
    pub(crate) fn needs_levels(&self) -> bool {
        self.lookup
    }

    /// The trimmed primary key, in key order.
    pub(crate) fn key(&self) -> &[DataField] {
        &self.key
    }

    /// The columns that order rows of one key before their sequence numbers.
    pub(crate) fn sequence(&self) -> &[DataField] {
        &self.sequence
    }

    /// Whether the row with the least sequence fields wins.
    pub(crate) fn descending(&self) -> bool {
        self.descending
    }

    /// What is done with rows of one key.
    pub(super) fn engine(&self) -> &Engine {
        &self.roles.engine
    }

    /// The role of a column.
    pub(super) fn role(&self, id: i32) -> &Role {
        self.roles.of(id)
    }

    /// The ordering columns of the sequence groups, by number.
    pub(super) fn orderings(&self) -> impl Iterator<Item = &Vec<DataField>> {
        self.roles.groups().iter().map(|group| &group.ordering)
    }

    /// The ids of the table's columns in a schema.
    pub(super) fn ids_of(&self, schema: &SchemaRef) -> Vec<i32> {
        schema.fields().iter().filter_map(|f| self.id_of(f.name())).collect()
    }

    /// The id of the column with a name.
    pub(super) fn id_of(&self, name: &str) -> Option<i32> {
        self.ids.get(name).copied()
    }

    /// The sequence groups that decide something about these columns, ascending: their own ones, and those that remove
    /// rows.
    pub(super) fn groups_of(&self, columns: &[i32]) -> Vec<usize> {
        let own = |group: usize| columns.iter().any(|&id| self.roles.of(id).group == Some(group));
        let groups = self.roles.groups().iter().enumerate();
        groups.filter(|(number, group)| group.removes || own(*number)).map(|(number, _)| number).collect()
    }
}

/// Whether compactions look old values up, so that a row of a lower level holds those of higher levels already.
fn is_lookup(options: &Options) -> Result<bool> {
    let forced = options.get("force-lookup").map(parse_bool).transpose()?.unwrap_or(false);
    let producer = options.value(&CHANGELOG_PRODUCER)?;
    Ok(forced || producer == ChangelogProducer::Lookup || options.value(&DELETION_VECTORS)?)
}

fn sequence_fields(schema: &TableSchema, options: &Options) -> Result<Vec<DataField>> {
    let mut fields: Vec<DataField> = Vec::new();
    for name in options.value(&SEQUENCE_FIELD)? {
        let Some(field) = schema.fields.iter().find(|f| f.name == name) else {
            let message = format!("Sequence field: '{name}' can not be found in table schema.");
            return Err(Error::invalid_config(message).with_context("option", SEQUENCE_FIELD.key));
        };
        if fields.iter().any(|f| f.id == field.id) {
            let message = format!("Sequence field '{name}' is defined repeatedly.");
            return Err(Error::invalid_config(message).with_context("option", SEQUENCE_FIELD.key));
        }
        if is_nested(&field.data_type) {
            let message = format!("sequence field '{name}' of a nested type is not supported yet");
            return Err(Error::unsupported(message).with_context("option", SEQUENCE_FIELD.key));
        }
        fields.push(field.clone());
    }
    Ok(fields)
}

fn is_nested(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Array(_)
            | DataType::Multiset(_)
            | DataType::Map(_)
            | DataType::Row(_)
            | DataType::Variant(_)
            | DataType::Blob(_)
            | DataType::Vector(_)
    )
}
