//! Partitions that a table lacks, from its fallback branch.
//!
//! Invariants: a partition comes whole from one branch; whether it exists is asked of the branch of the table with the
//! partition filter alone, so that no other filter moves it. Source: read-path sheet section 10;
//! `table/FallbackReadFileStoreTable.java`.

use std::collections::HashSet;

use super::entries::live_entries;
use super::metadata::PlanRequest;
use super::plan::Plan;
use super::scope::Scope;
use super::split::Split;
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::spec::Snapshot;
use crate::table::Table;
use crate::types::Datum;

/// The plan with the splits of the fallback branch added. `snapshot` is what was planned of the table itself.
///
/// # Errors
/// `InvalidConfig` if the branches have other columns; as for plans of the branch.
pub(super) async fn add(
    request: &PlanRequest,
    fallback: &Table,
    snapshot: Option<&Snapshot>,
    plan: Plan,
) -> Result<Plan> {
    check(&request.table, fallback)?;
    let filter = request.filter.as_ref().map(|filter| translated(filter, &request.table, fallback)).transpose()?;
    let branch = PlanRequest { table: fallback.clone(), filter, limit: request.limit };
    let Some(latest) = fallback.current_snapshot().await? else { return Ok(plan) };
    let mode = branch.mode()?;
    let added = branch.live(latest, mode, Scope::live(&mode)).await?;
    let own = match snapshot {
        Some(snapshot) => partitions(&request.table, snapshot, request.filter.as_ref()).await?,
        None => HashSet::new(),
    };
    let types = request.table.schema().partition_type().types();
    let mut splits = plan.splits().to_vec();
    for split in added.splits() {
        if !own.contains(&split.partition.decode(&types)?) {
            splits.push(Split { fallback: true, ..split.clone() });
        }
    }
    let planned = plan.snapshot().or(added.snapshot()).cloned();
    Ok(Plan::new(planned, splits, plan.trace().clone()))
}

type Values = Vec<Option<Datum>>;

async fn partitions(table: &Table, snapshot: &Snapshot, filter: Option<&Predicate>) -> Result<HashSet<Values>> {
    let types = table.schema().partition_type().types();
    let entries = live_entries(table, snapshot, filter).await?;
    entries.iter().map(|entry| entry.partition.decode(&types)).collect()
}

/// Checks that both branches have the same columns; they may differ in ids and nullability.
fn check(table: &Table, fallback: &Table) -> Result<()> {
    let (own, other) = (table.schema(), fallback.schema());
    let same_columns = own.fields.len() == other.fields.len()
        && own
            .fields
            .iter()
            .zip(&other.fields)
            .all(|(a, b)| a.name == b.name && a.data_type.equals_ignoring_nullability(&b.data_type));
    if same_columns && own.partition_keys == other.partition_keys {
        return Ok(());
    }
    Err(Error::invalid_config(format!(
        "Branch {} and {} does not have the same row type: the fallback branch of table {} cannot be read",
        table.branch(),
        fallback.branch(),
        table.identifier()
    )))
}

/// The predicate over the columns of the other branch, which may have other ids.
///
/// # Errors
/// `Internal` if a column is missing there.
pub(crate) fn translated(predicate: &Predicate, table: &Table, fallback: &Table) -> Result<Predicate> {
    let mut missing = None;
    let translated = predicate.map_leaves(&mut |leaf| {
        let name = table.schema().fields.iter().find(|f| f.id == leaf.field_id).map(|f| &f.name);
        let field = fallback.schema().fields.iter().find(|f| Some(&f.name) == name);
        match field {
            Some(field) => Predicate::Leaf(crate::predicate::Leaf { field_id: field.id, ..leaf.clone() }),
            None => {
                missing = Some(leaf.name.clone());
                Predicate::AlwaysTrue
            }
        }
    });
    match missing {
        Some(name) => Err(Error::internal(format!("the fallback branch has no column {name}"))),
        None => Ok(translated),
    }
}
