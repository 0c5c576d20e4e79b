//! `sys.expire_snapshots`: snapshots that are too old or too many go, with the files that only they need.

use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::Int32Array;
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use paimon_core::maintain::{ExpireConfig, expire_snapshots};
use paimon_core::{Error, Result, Table};

use super::Arguments;
use super::registry::{Outcome, Parameter, ParameterType, Procedure, ProcedureContext};

use ParameterType::{Integer, Options, Text, Time};

pub(super) const PROCEDURE: Procedure = Procedure {
    name: "expire_snapshots",
    parameters: &[
        Parameter::required("table", Text),
        Parameter::optional("retain_max", Integer).or(&["retainMax"]),
        Parameter::optional("retain_min", Integer).or(&["retainMin"]),
        Parameter::optional("older_than", Time).or(&["olderThan"]),
        Parameter::optional("max_deletes", Integer).or(&["maxDeletes"]),
        Parameter::optional("options", Options),
    ],
    schema: count_schema,
    run,
};

fn run(context: ProcedureContext, arguments: Arguments) -> Outcome {
    Box::pin(async move {
        let table = context.table_with_options(&arguments).await?;
        let mut config = ExpireConfig::from_options(table.options())?;
        let given = |name: &'static str, least: i64| match arguments.integer(name) {
            Some(count) if count < least => {
                Err(Error::invalid_input(format!("argument {name} must be at least {least}, found {count}")))
            }
            count => Ok(count.and_then(|c| u64::try_from(c).ok())),
        };
        if let Some(count) = given("retain_max", 1)? {
            config.retain_max = count;
            config.retain_min = config.retain_min.min(count);
        }
        if let Some(count) = given("retain_min", 1)? {
            config.retain_min = count;
        }
        if let Some(count) = given("max_deletes", 1)? {
            config.max_deletes = count;
        }
        if config.retain_min > config.retain_max {
            return Err(Error::invalid_input(format!(
                "retain_min must not be greater than retain_max, but they are {} and {}",
                config.retain_min, config.retain_max
            )));
        }
        if let Some(older_than) = arguments.integer("older_than") {
            let age = table.clock().now_ms().saturating_sub(older_than);
            config.time_retained = Duration::from_millis(u64::try_from(age).unwrap_or_default());
        }
        expire(&table, &config).await
    })
}

/// Expires snapshots. One row: `deleted_snapshots_count` INT NOT NULL.
///
/// # Errors
/// Those of the core's `expire_snapshots`.
pub async fn expire(table: &Table, config: &ExpireConfig) -> Result<RecordBatch> {
    let count = expire_snapshots(table, config).await?;
    let column = Int32Array::from(vec![i32::try_from(count).unwrap_or(i32::MAX)]);
    Ok(RecordBatch::try_new(count_schema(), vec![Arc::new(column)])?)
}

fn count_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new("deleted_snapshots_count", DataType::Int32, false)]))
}
