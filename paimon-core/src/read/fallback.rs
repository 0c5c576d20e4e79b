//! Splits of the fallback branch, as rows of the table.
//!
//! Invariants: columns are found by name, since the branch may have other ids. Source: read-path sheet section 10;
//! `table/FallbackReadFileStoreTable.java`.

use std::sync::Arc;

use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::{StreamExt, TryStreamExt};

use super::TableRead;
use super::split_read::SplitRead;
use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::scan::{Split, translated};

/// The rows of the split.
pub(super) fn fallback(read: &Arc<SplitRead>, split: &Split) -> BatchStream {
    let (read, split) = (Arc::clone(read), Split { fallback: false, ..split.clone() });
    async_stream::try_stream! {
        let mut batches = of_branch(&read).await?.read_split(&split)?;
        while let Some(batch) = batches.try_next().await? {
            let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
            let schema = Arc::clone(&read.columns.schema);
            yield RecordBatch::try_new_with_options(schema, batch.columns().to_vec(), &options)?;
        }
    }
    .boxed()
}

/// The same read of the branch.
async fn of_branch(read: &SplitRead) -> Result<TableRead> {
    let Some(branch) = read.table.fallback().await? else {
        return Err(Error::invalid_input("a split is of a fallback branch, but the table has none"));
    };
    let position = |name: &str| {
        let found = branch.schema().fields.iter().position(|f| f.name == name);
        found.ok_or_else(|| Error::invalid_config(format!("the fallback branch has no column {name}")))
    };
    let projection = read.columns.output.iter().map(|field| position(&field.name)).collect::<Result<Vec<_>>>()?;
    let filter = read.columns.filter.as_ref().map(|filter| translated(filter, &read.table, &branch)).transpose()?;
    let (row_kind, resources) = (read.columns.row_kind, read.resources.clone());
    let of_branch = TableRead::new(branch, projection, filter, row_kind, resources);
    Ok(of_branch.with_batch_rows(read.batch_rows).with_keep_deletes(read.keep_deletes))
}
