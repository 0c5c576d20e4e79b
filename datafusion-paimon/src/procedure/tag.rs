//! Tags: `sys.create_tag`, `delete_tag`, `rename_tag`, `replace_tag`.

use std::time::Duration;

use datafusion::arrow::record_batch::RecordBatch;
use paimon_core::error::Entity;
use paimon_core::maintain::{self, forget_snapshots};
use paimon_core::options::parse_duration;
use paimon_core::spec::Snapshot;
use paimon_core::{Error, Result, Table};

use super::Arguments;
use super::registry::{Outcome, Parameter, ParameterType, Procedure, ProcedureContext, ok_batch, ok_schema};

use ParameterType::{Integer, Text};

const TABLE: Parameter = Parameter::required("table", Text);
const TAG: Parameter = Parameter::required("tag", Text).or(&["tagName", "tag_name"]);
const SNAPSHOT: Parameter = Parameter::optional("snapshot", Integer).or(&["snapshot_id", "snapshotId"]);
const RETAINED: Parameter = Parameter::optional("time_retained", Text).or(&["timeRetained"]);

pub(super) const CREATE: Procedure = Procedure {
    name: "create_tag",
    parameters: &[TABLE, TAG, SNAPSHOT, RETAINED],
    schema: ok_schema,
    run: |context, arguments| {
        Box::pin(async move {
            let table = context.table(&arguments).await?;
            create_tag(&table, arguments.text("tag")?, arguments.integer("snapshot"), retained(&arguments)?).await
        })
    },
};

pub(super) const REPLACE: Procedure = Procedure {
    name: "replace_tag",
    parameters: &[TABLE, TAG, SNAPSHOT, RETAINED],
    schema: ok_schema,
    run: |context, arguments| {
        Box::pin(async move {
            let table = context.table(&arguments).await?;
            replace_tag(&table, arguments.text("tag")?, arguments.integer("snapshot"), retained(&arguments)?).await
        })
    },
};

pub(super) const DELETE: Procedure =
    Procedure { name: "delete_tag", parameters: &[TABLE, TAG], schema: ok_schema, run: run_delete };

pub(super) const RENAME: Procedure = Procedure {
    name: "rename_tag",
    parameters: &[TABLE, TAG, Parameter::required("target_tag", Text).or(&["targetTagName", "target_tag_name"])],
    schema: ok_schema,
    run: |context, arguments| {
        Box::pin(async move {
            let table = context.table(&arguments).await?;
            rename_tag(&table, arguments.text("tag")?, arguments.text("target_tag")?).await
        })
    },
};

fn run_delete(context: ProcedureContext, arguments: Arguments) -> Outcome {
    Box::pin(async move {
        let table = context.table(&arguments).await?;
        let names: Vec<&str> = arguments.text("tag")?.split(',').map(str::trim).collect();
        delete_tag(&table, &names).await
    })
}

fn retained(arguments: &Arguments) -> Result<Option<Duration>> {
    arguments.optional_text("time_retained").map(parse_duration).transpose()
}

/// Creates a tag on a snapshot, the latest one if `None`.
///
/// # Errors
/// `AlreadyExists(Tag)`; `NotFound(Snapshot)`; `InvalidInput` for a name that cannot be one.
pub async fn create_tag(
    table: &Table,
    name: &str,
    snapshot_id: Option<i64>,
    time_retained: Option<Duration>,
) -> Result<RecordBatch> {
    let snapshot = snapshot(table, snapshot_id).await?;
    let ignore_if_exists = false;
    table.tags().create(name, &snapshot, time_retained, table.clock().now_ms(), ignore_if_exists).await?;
    ok_batch()
}

/// Puts an existing tag on a snapshot, the latest one if `None`.
///
/// # Errors
/// `NotFound(Tag)`, `NotFound(Snapshot)`.
pub async fn replace_tag(
    table: &Table,
    name: &str,
    snapshot_id: Option<i64>,
    time_retained: Option<Duration>,
) -> Result<RecordBatch> {
    let snapshot = snapshot(table, snapshot_id).await?;
    let Some(old) = table.tags().get(name).await? else { return Err(no_tag(table, name)) };
    table.tags().delete(name).await?;
    table.tags().create(name, &snapshot, time_retained, table.clock().now_ms(), false).await?;
    forget_snapshots(table, std::slice::from_ref(&old.snapshot)).await?;
    ok_batch()
}

/// Deletes tags, with the files that only they held; none if one of them does not exist.
///
/// # Errors
/// `NotFound(Tag)` naming the first that does not exist.
pub async fn delete_tag(table: &Table, names: &[&str]) -> Result<RecordBatch> {
    let tags = table.tags();
    for name in names {
        if tags.get(name).await?.is_none() {
            return Err(no_tag(table, name));
        }
    }
    for name in names {
        maintain::delete_tag(table, name).await?;
    }
    ok_batch()
}

/// Gives a tag another name.
///
/// # Errors
/// `NotFound(Tag)`, `AlreadyExists(Tag)`.
pub async fn rename_tag(table: &Table, from: &str, to: &str) -> Result<RecordBatch> {
    let tags = table.tags();
    let Some(tag) = tags.get(from).await? else { return Err(no_tag(table, from)) };
    tags.create(to, &tag.snapshot, tag.time_retained, table.clock().now_ms(), false).await?;
    tags.delete(from).await?;
    ok_batch()
}

fn no_tag(table: &Table, name: &str) -> Error {
    Error::not_found(Entity::Tag, format!("Tag {name} of table {} does not exist.", table.identifier()))
}

/// The snapshot with this id, or the latest one.
async fn snapshot(table: &Table, id: Option<i64>) -> Result<Snapshot> {
    match id {
        Some(id) => table.snapshots().get(id).await,
        None => {
            table.snapshots().latest().await?.ok_or_else(|| {
                Error::not_found(Entity::Snapshot, format!("table {} has no snapshot", table.identifier()))
            })
        }
    }
}
