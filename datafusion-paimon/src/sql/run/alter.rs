//! ALTER TABLE: all actions of a statement are one new schema. Source: SQL sheet section 5.

use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use paimon_core::catalog::SchemaChange;
use paimon_core::error::Entity;
use paimon_core::types::{DataField, DataType};
use paimon_core::{Error, Table};

use super::drop::is_absent;
use crate::catalog::PaimonCatalogProvider;
use crate::error::to_datafusion;
use crate::sql::constant::{default_text, evaluate_constant};
use crate::sql::parse::cursor::Name;
use crate::sql::session::{ObjectPath, Session};
use crate::sql::statement::{AlterAction, PartitionValue};

impl Session<'_> {
    pub(super) async fn alter_table(&self, name: &Name, if_exists: bool, actions: &[AlterAction]) -> Result<DataFrame> {
        let (provider, path, table) = match self.table(name, "ALTER TABLE").await {
            Err(e) if if_exists && is_absent(&e) => return self.ok(),
            found => found?,
        };
        match actions {
            [AlterAction::RenameTo(target)] => self.rename_table(&provider, &path, target).await,
            [AlterAction::Tag(action)] => self.change_tag(&table, action).await,
            [AlterAction::DropPartitions { specs, if_exists }] => {
                self.refuse_selectors(&provider, &path, "DROP PARTITION")?;
                self.drop_partitions(&table, specs, *if_exists).await
            }
            _ => {
                let mut changes = Vec::with_capacity(actions.len());
                for action in actions {
                    changes.extend(self.change(&table, action)?);
                }
                if !changes.is_empty() {
                    provider.catalog().alter_table(&path.identifier(), changes, false).await.map_err(to_datafusion)?;
                }
                self.ok()
            }
        }
    }

    /// The changes of one action; none if it has nothing to do.
    fn change(&self, table: &Table, action: &AlterAction) -> Result<Vec<SchemaChange>> {
        let schema = table.schema();
        Ok(match action {
            AlterAction::Change(change) => vec![change.clone()],
            AlterAction::AddColumn { path, if_not_exists: true, .. } if find(&schema.fields, path).is_some() => {
                Vec::new()
            }
            AlterAction::AddColumn { path, field, position, .. } => vec![SchemaChange::AddColumn {
                path: path.clone(),
                data_type: field.data_type.clone(),
                comment: field.description.clone(),
                position: position.clone(),
            }],
            AlterAction::DropColumn { path, if_exists: true } if find(&schema.fields, path).is_none() => Vec::new(),
            AlterAction::DropColumn { path, .. } => vec![SchemaChange::DropColumn { path: path.clone() }],
            AlterAction::SetDefault { path, default } => {
                let column = path.join(".");
                let Some(data_type) = find(&schema.fields, path) else {
                    return Err(to_datafusion(Error::not_found(
                        Entity::Column,
                        format!("Column {column} does not exist in the {} table.", table.identifier()),
                    )));
                };
                let value = evaluate_constant(&self.state, default)?;
                let default_value = default_text(&value, &column, &data_type)?;
                vec![SchemaChange::UpdateColumnDefault { path: path.clone(), default_value }]
            }
            AlterAction::Unset { keys, if_exists } => {
                let mut changes = Vec::new();
                for key in keys {
                    let is_set = match key.as_str() {
                        "comment" => schema.comment.is_some(),
                        key => schema.options.contains_key(key),
                    };
                    match (is_set, if_exists) {
                        (true, _) if key == "comment" => changes.push(SchemaChange::UpdateComment { comment: None }),
                        (true, _) => changes.push(SchemaChange::RemoveOption { key: key.clone() }),
                        (false, true) => {}
                        (false, false) => {
                            return Err(to_datafusion(Error::invalid_config(format!(
                                "option '{key}' of {} is not set",
                                table.identifier()
                            ))));
                        }
                    }
                }
                changes
            }
            AlterAction::RenameTo(_) | AlterAction::Tag(_) | AlterAction::DropPartitions { .. } => {
                return Err(to_datafusion(Error::internal("an action that stands alone is not among others")));
            }
        })
    }

    async fn rename_table(
        &self,
        provider: &PaimonCatalogProvider,
        path: &ObjectPath,
        target: &Name,
    ) -> Result<DataFrame> {
        // A name without database stays in the database of the table, not in the current one.
        let (catalog, database, object) = match &target[..] {
            [object] => (path.catalog.clone(), path.database.clone(), object.clone()),
            [database, object] => (path.catalog.clone(), database.clone(), object.clone()),
            _ => {
                let resolved = self.resolve(target);
                (resolved.catalog, resolved.database, resolved.object)
            }
        };
        let to = ObjectPath { catalog, database, object };
        if to.catalog != path.catalog {
            return Err(to_datafusion(Error::unsupported(format!(
                "renaming a table into another catalog is not supported ({} to {})",
                path.catalog, to.catalog
            ))));
        }
        let (from, to) = (path.identifier(), to.identifier());
        for identifier in [&from, &to] {
            if identifier.object().contains('$') {
                return Err(to_datafusion(Error::invalid_input(format!(
                    "{identifier}: '$' separates branch and system names; only a table can be renamed"
                ))));
            }
        }
        provider.catalog().rename_table(&from, &to, false).await.map_err(to_datafusion)?;
        self.ok()
    }

    async fn drop_partitions(
        &self,
        table: &Table,
        specs: &[Vec<PartitionValue>],
        if_exists: bool,
    ) -> Result<DataFrame> {
        let mut found = Vec::with_capacity(specs.len());
        for spec in specs {
            let values = self.partition_spec(table, spec)?;
            if self.has_partition(table, &values).await? {
                found.push(values);
            } else if !if_exists {
                let spec: Vec<String> = spec
                    .iter()
                    .map(|(name, value)| {
                        format!("{name} = {}", value.as_ref().map(ToString::to_string).unwrap_or_default())
                    })
                    .collect();
                return Err(to_datafusion(Error::invalid_input(format!(
                    "Partition ({}) of {} does not exist.",
                    spec.join(", "),
                    table.identifier()
                ))));
            }
        }
        if !found.is_empty() {
            let commit = table.new_batch_write_builder().new_commit();
            commit.truncate_partitions(found).await.map_err(to_datafusion)?;
        }
        self.ok()
    }
}

/// The type of a column or nested field.
fn find(fields: &[DataField], path: &[String]) -> Option<DataType> {
    let (first, rest) = path.split_first()?;
    let mut current = fields.iter().find(|f| f.name == *first)?.data_type.clone();
    for part in rest {
        current = match (&current, part.as_str()) {
            (DataType::Row(row), name) => row.field(name)?.data_type.clone(),
            (DataType::Array(array), "element") => array.element_type().clone(),
            (DataType::Map(map), "value") => map.value_type().clone(),
            (DataType::Map(map), "key") => map.key_type().clone(),
            _ => return None,
        };
    }
    Some(current)
}
