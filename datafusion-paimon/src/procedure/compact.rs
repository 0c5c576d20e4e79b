//! `sys.compact`: rewrites the files of a table.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use paimon_core::options::parse_duration;
use paimon_core::predicate::Predicate;
use paimon_core::table::CompactMetrics;
use paimon_core::{Error, Result, Table};

use super::arguments::{Arguments, named};
use super::registry::{Outcome, Parameter, ParameterType, Procedure, ProcedureContext};
use super::{buckets, partitions};

use ParameterType::{Options, Text};

pub(super) const PROCEDURE: Procedure = Procedure {
    name: "compact",
    parameters: &[
        Parameter::required("table", Text),
        Parameter::optional("partitions", Text),
        Parameter::optional("compact_strategy", Text),
        Parameter::not_supported("order_strategy"),
        Parameter::not_supported("order_by"),
        Parameter::optional("where", Text),
        Parameter::optional("options", Options),
        Parameter::optional("partition_idle_time", Text),
        Parameter::optional("buckets", Text),
    ],
    schema: metrics_schema,
    run,
};

fn run(context: ProcedureContext, arguments: Arguments) -> Outcome {
    Box::pin(async move {
        let minor = match arguments.optional_text("compact_strategy").unwrap_or("full") {
            strategy if strategy.eq_ignore_ascii_case("full") => false,
            strategy if strategy.eq_ignore_ascii_case("minor") => true,
            other => {
                return Err(Error::invalid_input(format!(
                    "argument compact_strategy must be full or minor, found '{other}'"
                )));
            }
        };
        let table = context.table_with_options(&arguments).await?;
        let mut builder = table.new_compact_builder().with_minor(minor).with_resources(context.resources);
        if let Some(filter) = partitions::selected(&table, &arguments)? {
            builder = builder.with_partition_filter(filter)?;
        }
        if let Some(text) = arguments.optional_text("partition_idle_time") {
            builder =
                builder.with_partition_idle_time(parse_duration(text).map_err(|e| named(&e, "partition_idle_time"))?);
        }
        if let Some(text) = arguments.optional_text("buckets") {
            builder = builder.with_buckets(buckets::parse(text).map_err(|e| named(&e, "buckets"))?)?;
        }
        metrics_batch(&builder.execute().await?)
    })
}

/// Compacts a table, of a partitioned one the partitions that pass `filter`; with `minor` only what the picking rules
/// choose. One row of metrics, eight columns BIGINT NOT NULL.
///
/// # Errors
/// Those of `CompactBuilder::execute`.
pub async fn compact(table: &Table, filter: Option<Predicate>, minor: bool) -> Result<RecordBatch> {
    let mut builder = table.new_compact_builder().with_minor(minor);
    if let Some(filter) = filter {
        builder = builder.with_partition_filter(filter)?;
    }
    metrics_batch(&builder.execute().await?)
}

fn metrics_schema() -> SchemaRef {
    const COLUMNS: [&str; 8] = [
        "tasks",
        "files_removed",
        "files_added",
        "rows_written",
        "bytes_written",
        "changelog_files_added",
        "changelog_rows_written",
        "changelog_bytes_written",
    ];
    Arc::new(Schema::new(COLUMNS.map(|name| Field::new(name, DataType::Int64, false)).to_vec()))
}

fn metrics_batch(metrics: &CompactMetrics) -> Result<RecordBatch> {
    let values = [
        metrics.tasks,
        metrics.files_removed,
        metrics.files_added,
        metrics.rows_written,
        metrics.bytes_written,
        metrics.changelog_files_added,
        metrics.changelog_rows_written,
        metrics.changelog_bytes_written,
    ];
    let columns = values.map(|v| Arc::new(Int64Array::from(vec![v])) as ArrayRef).to_vec();
    Ok(RecordBatch::try_new(metrics_schema(), columns)?)
}
