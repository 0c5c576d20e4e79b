//! Decodes the columns of one file in several tasks.
//!
//! Invariants: each part of the columns gives the same rows, which are put together in order, however they are cut into
//! batches; a part that ends before the others is an error, never the end of the rows. Dropping the stream ends the tasks.

use std::collections::HashMap;
use std::sync::Arc;

use ::parquet::file::metadata::ParquetMetaData;
use arrow::array::ArrayRef;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::types::{DataField, RowType, to_arrow_schema};

/// Decoding fewer bytes than this is not worth a task of its own.
const LEAST_BYTES: i64 = 4 << 20;
/// Batches that a part may be ahead.
const AHEAD: usize = 2;

/// The positions of the columns in at most so many parts of about equal work; one part if the file is small.
pub(super) fn parts(footer: &ParquetMetaData, columns: &[DataField], most: usize) -> Vec<Vec<usize>> {
    let mut bytes: HashMap<&str, i64> = HashMap::new();
    for leaf in footer.row_groups().iter().flat_map(|group| group.columns()) {
        if let Some(name) = leaf.column_path().parts().first() {
            let sum = bytes.entry(name).or_default();
            *sum = sum.saturating_add(leaf.uncompressed_size().max(0));
        }
    }
    let of = |position: &usize| columns.get(*position).and_then(|c| bytes.get(c.name.as_str())).copied().unwrap_or(0);
    let mut positions: Vec<usize> = (0..columns.len()).collect();
    let total = positions.iter().map(of).fold(0, i64::saturating_add);
    let count = usize::try_from(total / LEAST_BYTES).unwrap_or(most).min(most).min(columns.len()).max(1);
    // The largest first, each to the part that has the least.
    positions.sort_by_key(|position| std::cmp::Reverse(of(position)));
    let mut parts = vec![(0i64, Vec::new()); count];
    for position in positions {
        if let Some((sum, part)) = parts.iter_mut().min_by_key(|(sum, _)| *sum) {
            *sum = sum.saturating_add(of(&position));
            part.push(position);
        }
    }
    parts.into_iter().map(|(_, part)| part).filter(|part| !part.is_empty()).collect()
}

/// The rows of all parts, each with the positions of its columns.
pub(super) fn join(columns: &[DataField], parts: Vec<(Vec<usize>, BatchStream)>) -> BatchStream {
    let schema = to_arrow_schema(&RowType::new(columns.to_vec()));
    async_stream::try_stream! {
        let mut tasks = JoinSet::new();
        let mut inputs = Vec::with_capacity(parts.len());
        for (positions, batches) in parts {
            let (sender, receiver) = mpsc::channel(AHEAD);
            tasks.spawn(forward(batches, sender));
            inputs.push((positions, receiver));
        }
        let mut waiting: Vec<Option<RecordBatch>> = vec![None; inputs.len()];
        loop {
            for (batch, (_, input)) in waiting.iter_mut().zip(&mut inputs) {
                if batch.is_none() {
                    *batch = next(input).await?;
                }
            }
            if let Some(rows) = waiting.iter().map(|batch| batch.as_ref().map(RecordBatch::num_rows)).min().flatten() {
                let parts = waiting.iter_mut().map(|batch| take(batch, rows));
                yield assemble(&schema, inputs.iter().map(|(positions, _)| positions.as_slice()).zip(parts), rows)?;
                continue;
            }
            inputs.iter_mut().for_each(|(_, input)| input.close());
            while let Some(ended) = tasks.join_next().await {
                ended.map_err(|e| Error::internal("decoding columns stopped before the end").with_source(e))?;
            }
            if waiting.iter().any(Option::is_some) {
                Err(Error::corrupt("the columns of the file have different numbers of rows"))?;
            }
            break;
        }
    }
    .boxed()
}

async fn forward(mut batches: BatchStream, sender: mpsc::Sender<Result<RecordBatch>>) {
    while let Some(batch) = batches.next().await {
        let failed = batch.is_err();
        if sender.send(batch).await.is_err() || failed {
            return;
        }
    }
}

/// The next batch with rows.
async fn next(input: &mut mpsc::Receiver<Result<RecordBatch>>) -> Result<Option<RecordBatch>> {
    while let Some(batch) = input.recv().await.transpose()? {
        if batch.num_rows() > 0 {
            return Ok(Some(batch));
        }
    }
    Ok(None)
}

/// The first rows; the others stay.
fn take(batch: &mut Option<RecordBatch>, rows: usize) -> Option<RecordBatch> {
    let whole = batch.take()?;
    if whole.num_rows() > rows {
        *batch = Some(whole.slice(rows, whole.num_rows() - rows));
    }
    Some(whole.slice(0, rows))
}

fn assemble<'a>(
    schema: &SchemaRef,
    parts: impl Iterator<Item = (&'a [usize], Option<RecordBatch>)>,
    rows: usize,
) -> Result<RecordBatch> {
    let mut columns: Vec<Option<ArrayRef>> = vec![None; schema.fields().len()];
    for (positions, batch) in parts {
        for (position, array) in positions.iter().zip(batch.iter().flat_map(RecordBatch::columns)) {
            if let Some(column) = columns.get_mut(*position) {
                *column = Some(Arc::clone(array));
            }
        }
    }
    let columns: Option<Vec<ArrayRef>> = columns.into_iter().collect();
    let columns = columns.ok_or_else(|| Error::internal("a column is in no part"))?;
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
}

#[cfg(test)]
mod tests {
    use futures::{TryStreamExt, stream};

    use super::*;
    use crate::error::ErrorKind;
    use crate::types::{DataType, IntType};

    fn columns(count: i32) -> Vec<DataField> {
        (0..count).map(|i| DataField::new(i, format!("c{i}"), DataType::Int(IntType::new()))).collect()
    }

    /// Batches with these numbers of rows; the values are the position of the column.
    fn part(positions: &[usize], rows: &[usize]) -> (Vec<usize>, BatchStream) {
        let all = columns(9);
        let fields = positions.iter().map(|&p| all[p].clone()).collect();
        let schema = to_arrow_schema(&RowType::new(fields));
        let batch = |rows: &usize| {
            let values = |p: &usize| -> ArrayRef {
                Arc::new(arrow::array::Int32Array::from_value(i32::try_from(*p).unwrap(), *rows))
            };
            Ok(RecordBatch::try_new(Arc::clone(&schema), positions.iter().map(values).collect()).unwrap())
        };
        (positions.to_vec(), stream::iter(rows.iter().map(batch).collect::<Vec<_>>()).boxed())
    }

    #[tokio::test]
    async fn columns_come_together_in_their_order() {
        let batches: Vec<RecordBatch> =
            join(&columns(3), vec![part(&[2, 0], &[5, 0, 3]), part(&[1], &[5, 2, 1])]).try_collect().await.unwrap();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [5, 2, 1]);
        for (i, array) in batches[0].columns().iter().enumerate() {
            let values = arrow::array::AsArray::as_primitive::<arrow::datatypes::Int32Type>(array);
            assert_eq!(values.value(4), i32::try_from(i).unwrap());
        }
    }

    #[tokio::test]
    async fn a_part_that_ends_early_is_an_error() {
        for rows in [&[5][..], &[], &[4, 1], &[5, 1, 1]] {
            let joined = join(&columns(2), vec![part(&[0], &[5, 1]), part(&[1], rows)]);
            assert_eq!(joined.try_collect::<Vec<_>>().await.unwrap_err().kind(), ErrorKind::Corrupt, "{rows:?}");
        }
        let panicking = (vec![1], stream::once(async { panic!("decoder") }).boxed());
        let joined = join(&columns(2), vec![part(&[0], &[5]), panicking]);
        assert_eq!(joined.try_collect::<Vec<_>>().await.unwrap_err().kind(), ErrorKind::Internal);
    }
}
