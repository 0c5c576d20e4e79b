//! Rows with their kinds as the binlog shows them: every column an array, an update in one row.
//!
//! Invariants: the rows come in the order of one split's files; a row of kind -U is put together with the row behind it,
//! whichever that is, also over the border of two batches. Source: system-tables sheet section 4;
//! `table/system/BinlogTable.java`.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, ListArray, UInt32Array};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::{concat_batches, take};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::common::internal_err;
use datafusion::error::Result;
use futures::stream::{self, Stream, StreamExt};

/// The kind of a row before an update.
const UPDATE_BEFORE: &str = "-U";

/// The rows of a stream whose first column is the kind, as arrays of this schema. Without `pairs` each row stays alone.
pub(super) fn pack<S>(rows: S, schema: SchemaRef, pairs: bool) -> impl Stream<Item = Result<RecordBatch>> + Send
where
    S: Stream<Item = Result<RecordBatch>> + Send + 'static,
{
    let packer = Packer { schema, pairs, waiting: None };
    stream::try_unfold((rows.fuse().boxed(), packer), |(mut rows, mut packer)| async move {
        while let Some(batch) = rows.next().await {
            if let Some(packed) = packer.push(batch?)? {
                return Ok(Some((packed, (rows, packer))));
            }
        }
        Ok(packer.finish()?.map(|packed| (packed, (rows, packer))))
    })
}

/// Puts rows together.
struct Packer {
    schema: SchemaRef,
    pairs: bool,
    /// A -U at the end of a batch, which waits for the row behind it.
    waiting: Option<RecordBatch>,
}

impl Packer {
    fn push(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let batch = match self.waiting.take() {
            Some(first) => concat_batches(&batch.schema(), [&first, &batch])?,
            None => batch,
        };
        let mut groups = groups(&batch, self.pairs)?;
        if groups.last_is_half {
            self.waiting = Some(batch.slice(batch.num_rows() - 1, 1));
            groups.lengths.pop();
        }
        if groups.lengths.is_empty() {
            return Ok(None);
        }
        arrays(&batch, &groups.lengths, &self.schema).map(Some)
    }

    /// A -U that no row follows stays alone.
    fn finish(&mut self) -> Result<Option<RecordBatch>> {
        self.waiting.take().map(|batch| arrays(&batch, &[1], &self.schema)).transpose()
    }
}

/// How many rows of a batch make one row each.
struct Groups {
    lengths: Vec<usize>,
    /// Whether the last row is a -U without the row behind it.
    last_is_half: bool,
}

fn groups(batch: &RecordBatch, pairs: bool) -> Result<Groups> {
    let rows = batch.num_rows();
    if !pairs {
        return Ok(Groups { lengths: vec![1; rows], last_is_half: false });
    }
    let Some(kinds) = batch.columns().first().and_then(|c| c.as_string_opt::<i32>()) else {
        return internal_err!("the first column of a log is not the kind of its rows");
    };
    let (mut lengths, mut row) = (Vec::with_capacity(rows), 0);
    // Whether a row starts a group depends on the group before it.
    while row < rows {
        let is_pair = kinds.value(row) == UPDATE_BEFORE;
        if is_pair && row + 1 == rows {
            lengths.push(1);
            return Ok(Groups { lengths, last_is_half: true });
        }
        let length = if is_pair { 2 } else { 1 };
        lengths.push(length);
        row += length;
    }
    Ok(Groups { lengths, last_is_half: false })
}

/// The groups as one row each; the kind is that of the last row of a group.
fn arrays(batch: &RecordBatch, lengths: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
    let offsets = OffsetBuffer::<i32>::from_lengths(lengths.iter().copied());
    let last: UInt32Array = offsets.iter().skip(1).map(|end| u32::try_from(end - 1).ok()).collect();
    let used = lengths.iter().sum();
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(batch.num_columns());
    for (position, (column, field)) in batch.columns().iter().zip(schema.fields()).enumerate() {
        columns.push(match field.data_type() {
            DataType::List(item) if position > 0 => {
                let values = column.slice(0, used);
                Arc::new(ListArray::try_new(Arc::clone(item), offsets.clone(), values, None)?)
            }
            _ => take(column.as_ref(), &last, None)?,
        });
    }
    Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{Int32Array, StringArray};
    use datafusion::arrow::datatypes::{Field, Schema};
    use datafusion::arrow::util::pretty::pretty_format_batches;

    use super::*;

    fn batch(rows: &[(&str, i32)]) -> Result<RecordBatch> {
        let schema =
            Schema::new(vec![Field::new("rowkind", DataType::Utf8, false), Field::new("id", DataType::Int32, false)]);
        let kinds: StringArray = rows.iter().map(|r| Some(r.0)).collect();
        let ids: Int32Array = rows.iter().map(|r| Some(r.1)).collect();
        Ok(RecordBatch::try_new(Arc::new(schema), vec![Arc::new(kinds), Arc::new(ids)])?)
    }

    async fn packed(batches: Vec<Result<RecordBatch>>, pairs: bool) -> Vec<String> {
        let item = Arc::new(Field::new("element", DataType::Int32, true));
        let schema = Arc::new(Schema::new(vec![
            Field::new("rowkind", DataType::Utf8, true),
            Field::new("id", DataType::List(item), true),
        ]));
        let found: Vec<_> = pack(stream::iter(batches), schema, pairs).collect().await;
        let found = found.into_iter().collect::<Result<Vec<_>>>().unwrap();
        let text = pretty_format_batches(&found).unwrap().to_string();
        text.lines().skip(3).filter(|l| l.starts_with('|')).map(|l| l.replace([' ', '|'], "")).collect()
    }

    #[tokio::test]
    async fn updates_are_one_row_also_over_borders_of_batches() {
        let batches = || vec![batch(&[("+I", 1), ("-U", 2)]), batch(&[("+U", 3), ("-D", 4), ("-U", 5)])];
        assert_eq!(packed(batches(), true).await, ["+I[1]", "+U[2,3]", "-D[4]", "-U[5]"]);
        assert_eq!(packed(batches(), false).await, ["+I[1]", "-U[2]", "+U[3]", "-D[4]", "-U[5]"]);
        // Whatever row follows belongs to it.
        assert_eq!(packed(vec![batch(&[("-U", 1), ("-U", 2), ("+U", 3)])], true).await, ["-U[1,2]", "+U[3]"]);
        assert_eq!(packed(vec![batch(&[("-U", 1)]), batch(&[]), batch(&[("+U", 2)])], true).await, ["+U[1,2]"]);
    }
}
