//! TRUNCATE TABLE: deletes all rows in one commit, when its plan is executed.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{ArrayRef, UInt64Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use paimon_core::{Result, Table};

use super::batch_exec::BatchSource;

/// Truncates a table and gives the number of rows that went.
#[derive(Debug)]
pub(super) struct Truncate(pub(super) Table);

impl fmt::Display for Truncate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "truncate={}", self.0.identifier())
    }
}

#[async_trait]
impl BatchSource for Truncate {
    fn schema(&self) -> SchemaRef {
        Arc::new(Schema::new(vec![Field::new("count", DataType::UInt64, false)]))
    }

    async fn batch(&self) -> Result<RecordBatch> {
        let rows = count_rows(&self.0).await?;
        self.0.new_batch_write_builder().new_commit().truncate_table().await?;
        let count: ArrayRef = Arc::new(UInt64Array::from(vec![rows]));
        Ok(RecordBatch::try_new(self.schema(), vec![count])?)
    }
}

/// The rows of a table: from metadata where that knows, else read.
async fn count_rows(table: &Table) -> Result<u64> {
    let builder = table.new_read_builder().with_projected_positions(Vec::new())?;
    let plan = builder.new_scan().plan().await?;
    let read = builder.new_read()?;
    let mut rows = 0;
    for split in plan.splits() {
        rows += match split.merged_row_count() {
            Some(known) => u64::try_from(known).unwrap_or(0),
            None => {
                let batches = read.read_split(split)?;
                batches.try_fold(0, |sum, batch| async move { Ok(sum + batch.num_rows() as u64) }).await?
            }
        };
    }
    Ok(rows)
}
