//! Tags: `sys.create_tag`, `create_tag_from_timestamp`, `replace_tag`, `rename_tag`, `delete_tag`, `expire_tags`.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{ArrayRef, Int64Array, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use paimon_core::error::Entity;
use paimon_core::maintain::{self, forget_snapshots};
use paimon_core::options::parse_duration;
use paimon_core::spec::{Snapshot, TAG_DEFAULT_RETAINED};
use paimon_core::{Error, Result, Table};

use super::arguments::{Arguments, named};
use super::registry::{Outcome, Parameter, ParameterType, Procedure, ProcedureContext, ok_batch, ok_schema};

use ParameterType::{Integer, Text, Time};

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

pub(super) const CREATE_FROM_TIMESTAMP: Procedure = Procedure {
    name: "create_tag_from_timestamp",
    parameters: &[TABLE, TAG, Parameter::required("timestamp", Time), RETAINED],
    schema: created_schema,
    run: |context, arguments| {
        Box::pin(async move {
            let table = context.table(&arguments).await?;
            let time = arguments.required_integer("timestamp")?;
            create_tag_from_timestamp(&table, arguments.text("tag")?, time, retained(&arguments)?).await
        })
    },
};

pub(super) const EXPIRE: Procedure = Procedure {
    name: "expire_tags",
    parameters: &[TABLE, Parameter::optional("older_than", Time).or(&["olderThan"])],
    schema: expired_schema,
    run: |context, arguments| {
        Box::pin(async move { expire_tags(&context.table(&arguments).await?, arguments.integer("older_than")).await })
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
    let parse = |text| parse_duration(text).map_err(|e| named(&e, "time_retained"));
    arguments.optional_text("time_retained").map(parse).transpose()
}

/// What is given, else what the option of the table says.
fn or_default(table: &Table, time_retained: Option<Duration>) -> Result<Option<Duration>> {
    match time_retained {
        None => table.options().find(&TAG_DEFAULT_RETAINED),
        given => Ok(given),
    }
}

/// Creates a tag on a snapshot, the latest one if `None`, that is kept as long as the option `tag.default-time-retained`
/// says unless `time_retained` does.
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
    create(table, name, &snapshot, time_retained).await?;
    ok_batch()
}

async fn create(table: &Table, name: &str, snapshot: &Snapshot, time_retained: Option<Duration>) -> Result<()> {
    let ignore_if_exists = false;
    let retained = or_default(table, time_retained)?;
    table.tags().create(name, snapshot, retained, table.clock().now_ms(), ignore_if_exists).await
}

/// Creates a tag on the first snapshot at or after a time in milliseconds since the epoch. One row: `tagName`, `snapshot`,
/// `commit_time`, `watermark`.
///
/// # Errors
/// As [`create_tag`]; `NotFound(Snapshot)` if all snapshots are older.
pub async fn create_tag_from_timestamp(
    table: &Table,
    name: &str,
    time_ms: i64,
    time_retained: Option<Duration>,
) -> Result<RecordBatch> {
    let Some(snapshot) = table.snapshots().at_or_after(time_ms).await? else {
        let message = format!("table {} has no snapshot that was committed at or after {time_ms}", table.identifier());
        return Err(Error::not_found(Entity::Snapshot, message));
    };
    create(table, name, &snapshot, time_retained).await?;
    let watermark = snapshot.watermark.map(|watermark| watermark.to_string());
    let columns: Vec<ArrayRef> = vec![
        Arc::new(StringArray::from(vec![name])),
        Arc::new(Int64Array::from(vec![snapshot.id])),
        Arc::new(Int64Array::from(vec![snapshot.time_millis])),
        Arc::new(StringArray::from(vec![watermark])),
    ];
    Ok(RecordBatch::try_new(created_schema(), columns)?)
}

fn created_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("tagName", DataType::Utf8, false),
        Field::new("snapshot", DataType::Int64, false),
        Field::new("commit_time", DataType::Int64, false),
        Field::new("watermark", DataType::Utf8, true),
    ]))
}

/// Deletes the tags whose retention has ended, or that were made before a time in milliseconds since the epoch. One row
/// each: `expired_tags`.
///
/// # Errors
/// Those of the core's `expire_tags`.
pub async fn expire_tags(table: &Table, older_than: Option<i64>) -> Result<RecordBatch> {
    let names = maintain::expire_tags(table, older_than).await?;
    Ok(RecordBatch::try_new(expired_schema(), vec![Arc::new(StringArray::from(names))])?)
}

fn expired_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("expired_tags", DataType::Utf8, false)]))
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
    table.tags().replace(name, &snapshot, or_default(table, time_retained)?, table.clock().now_ms()).await?;
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
    if tags.get(from).await?.is_none() {
        return Err(no_tag(table, from));
    }
    tags.rename(from, to).await?;
    ok_batch()
}

fn no_tag(table: &Table, name: &str) -> Error {
    Error::not_found(Entity::Tag, format!("Tag {name} of table {} does not exist.", table.identifier()))
}

/// The snapshot with this id, also if only a tag holds it, or the latest one.
async fn snapshot(table: &Table, id: Option<i64>) -> Result<Snapshot> {
    match id {
        Some(id) => match table.snapshots().find(id).await? {
            Some(snapshot) => Ok(snapshot),
            None => {
                let held = table.tags().list().await?.into_iter().find(|tag| tag.snapshot.id == id);
                held.map(|tag| tag.snapshot).ok_or_else(|| {
                    let message = format!("table {} has no snapshot {id}", table.identifier());
                    Error::not_found(Entity::Snapshot, message)
                })
            }
        },
        None => {
            table.snapshots().latest().await?.ok_or_else(|| {
                Error::not_found(Entity::Snapshot, format!("table {} has no snapshot", table.identifier()))
            })
        }
    }
}
