//! `$branches` and `$consumers`: names that stand beside the snapshots.
//!
//! Source: system-tables sheet section 2; `table/system/BranchesTable.java`, `ConsumersTable.java`.

use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::rows::{TIME, local_times, longs, schema, texts};
use crate::error::Result;
use crate::maintain;
use crate::table::Table;

pub(super) fn branches_schema() -> SchemaRef {
    schema(vec![("branch_name", ArrowType::Utf8, false), ("create_time", TIME, false)])
}

/// The branches of the main table, whichever the handle is of. Their age is that of their directories.
pub(super) async fn branches(table: &Table) -> Result<RecordBatch> {
    let mut found = Vec::new();
    for entry in table.io().list(&table.paths().branches_dir()).await? {
        if let Some(name) = entry.name.strip_prefix("branch-").filter(|_| entry.is_dir) {
            found.push((name.to_owned(), entry.modified_ms.unwrap_or(0)));
        }
    }
    let columns = vec![texts(found.iter().map(|b| Some(&b.0))), local_times(found.iter().map(|b| b.1))];
    Ok(RecordBatch::try_new(branches_schema(), columns)?)
}

pub(super) fn consumers_schema() -> SchemaRef {
    schema(vec![("consumer_id", ArrowType::Utf8, false), ("next_snapshot_id", ArrowType::Int64, false)])
}

pub(super) async fn consumers(table: &Table) -> Result<RecordBatch> {
    let found = maintain::consumers(table).await?;
    let columns = vec![texts(found.iter().map(|c| Some(&c.id))), longs(found.iter().map(|c| Some(c.next_snapshot)))];
    Ok(RecordBatch::try_new(consumers_schema(), columns)?)
}
