//! `sys.rollback`, `sys.rollback_to` and `sys.rollback_to_timestamp`: an earlier snapshot becomes the latest.

use std::sync::Arc;

use datafusion::arrow::array::Int64Array;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use paimon_core::error::Entity;
use paimon_core::maintain::rollback_to;
use paimon_core::spec::Snapshot;
use paimon_core::{Error, Result, Table};

use super::Arguments;
use super::registry::{Outcome, Parameter, ParameterType, Procedure, ProcedureContext};

use ParameterType::{Integer, Text, Time};

const PARAMETERS: &[Parameter] = &[
    Parameter::required("table", Text),
    Parameter::optional("version", Text),
    Parameter::optional("snapshot", Integer).or(&["snapshot_id", "snapshotId"]),
    Parameter::optional("tag", Text).or(&["tagName", "tag_name"]),
];

pub(super) const ROLLBACK: Procedure =
    Procedure { name: "rollback", parameters: PARAMETERS, schema: rollback_schema, run };
pub(super) const ROLLBACK_TO: Procedure = Procedure { name: "rollback_to", ..ROLLBACK };

pub(super) const ROLLBACK_TO_TIMESTAMP: Procedure = Procedure {
    name: "rollback_to_timestamp",
    parameters: &[Parameter::required("table", Text), Parameter::required("timestamp", Time)],
    schema: rollback_schema,
    run: |context, arguments| {
        Box::pin(async move {
            let table = context.table(&arguments).await?;
            let time = arguments.required_integer("timestamp")?;
            let Some(snapshot) = table.snapshots().at_or_before(time).await? else {
                let message = format!("table {} has no snapshot that is as old as {time}", table.identifier());
                return Err(Error::not_found(Entity::Snapshot, message));
            };
            rollback(&table, &snapshot).await
        })
    },
};

fn run(context: ProcedureContext, arguments: Arguments) -> Outcome {
    Box::pin(async move {
        let table = context.table(&arguments).await?;
        let target =
            (arguments.optional_text("version"), arguments.integer("snapshot"), arguments.optional_text("tag"));
        let snapshot = match target {
            (Some(version), None, None) => match table.tags().get(version).await? {
                Some(tag) => tag.snapshot,
                None => match version.parse() {
                    Ok(id) => table.snapshots().get(id).await?,
                    Err(_) => return Err(no_tag(&table, version)),
                },
            },
            (None, Some(id), None) => table.snapshots().get(id).await?,
            (None, None, Some(tag)) => table.tags().get(tag).await?.ok_or_else(|| no_tag(&table, tag))?.snapshot,
            _ => return Err(Error::invalid_input("give exactly one of the arguments version, snapshot and tag")),
        };
        rollback(&table, &snapshot).await
    })
}

fn no_tag(table: &Table, name: &str) -> Error {
    Error::not_found(Entity::Tag, format!("Rollback tag '{name}' of table {} does not exist.", table.identifier()))
}

/// Makes `snapshot` the latest one. One row: `previous_snapshot_id`, `current_snapshot_id`.
///
/// # Errors
/// Those of the core's `rollback_to`.
pub async fn rollback(table: &Table, snapshot: &Snapshot) -> Result<RecordBatch> {
    let previous = table.snapshots().latest_id().await?.unwrap_or(snapshot.id);
    rollback_to(table, snapshot).await?;
    let column = |id| Arc::new(Int64Array::from(vec![id])) as _;
    Ok(RecordBatch::try_new(rollback_schema(), vec![column(previous), column(snapshot.id)])?)
}

fn rollback_schema() -> SchemaRef {
    let names = ["previous_snapshot_id", "current_snapshot_id"];
    Arc::new(Schema::new(names.map(|name| Field::new(name, DataType::Int64, false)).to_vec()))
}
