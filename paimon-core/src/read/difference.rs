//! Splits that stand for the difference between two sets of files of a bucket.
//!
//! As a batch, the rows of the later set whose key is new or whose values or kind differ from the earlier set; where
//! deletes are kept, keys that are gone have a row of kind `-D`. As events, the rows of the earlier set as `-D`, then those
//! of the later one.
//!
//! Invariants: both sides are merged on their own and come in key order, so one row of each side is looked at at a time.
//! Values are compared whole, whatever the projection. Source: time-travel sheet section 4;
//! `operation/DiffReader.java`, `table/source/splitread/IncrementalDiffSplitRead.java`.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, BooleanArray, StringArray};
use arrow::compute::filter_record_batch;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use arrow::row::{RowConverter, Rows, SortField};
use futures::{StreamExt, TryStreamExt};

use super::columns::Columns;
use super::split_read::SplitRead;
use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::predicate::evaluate;
use crate::scan::{BeforeFiles, Split};
use crate::spec::TableSchema;
use crate::types::{ROW_KIND, RowKind};

/// The later and the earlier files of a split, each as a split of its own.
fn sides(split: &Split, before: &BeforeFiles) -> (Split, Split) {
    let after = Split { before: None, streaming: false, raw_convertible: false, ..split.clone() };
    let (files, deletion_files) = (before.files.clone(), before.deletion_files.clone());
    (Split { files, deletion_files, ..after.clone() }, after)
}

/// The rows of the split as events.
///
/// # Errors
/// As for the splits that it is made of.
pub(super) fn replaced(read: &Arc<SplitRead>, split: &Split, before: &BeforeFiles) -> Result<BatchStream> {
    let (old, new) = sides(split, before);
    let has_kind = read.columns.row_kind;
    let old = read.read(&old)?.map(move |batch| batch.and_then(|b| if has_kind { deleted(&b) } else { Ok(b) }));
    Ok(old.chain(read.read(&new)?).boxed())
}

/// The batch with `-D` as kind of every row; the kind is its first column.
fn deleted(batch: &RecordBatch) -> Result<RecordBatch> {
    let kinds = StringArray::from_iter_values(std::iter::repeat_n(RowKind::Delete.short_string(), batch.num_rows()));
    let mut columns: Vec<ArrayRef> = vec![Arc::new(kinds)];
    columns.extend(batch.columns().iter().skip(1).cloned());
    Ok(RecordBatch::try_new(batch.schema(), columns)?)
}

/// The rows of the split as a batch.
///
/// # Errors
/// As for the splits that it is made of.
pub(super) fn differing(read: &Arc<SplitRead>, split: &Split, before: &BeforeFiles) -> Result<BatchStream> {
    let schema = Arc::clone(read.table.schema());
    let all: Vec<usize> = (0..schema.fields.len()).collect();
    let whole = Arc::new(SplitRead {
        table: read.table.clone(),
        columns: Columns::try_new(&schema, &all, None, true)?,
        batch_rows: read.batch_rows,
        tasks: 1,
        keep_deletes: read.keep_deletes,
        resources: read.resources.clone(),
    });
    let (old, new) = sides(split, before);
    let (mut old, mut new) = (whole.read(&old)?, whole.read(&new)?);
    let read = Arc::clone(read);
    let stream = async_stream::try_stream! {
        let encoder = Encoder::try_new(&schema, &whole.columns)?;
        let mut earlier = Cursor::default();
        while let Some(batch) = new.try_next().await? {
            let later = encoder.encode(&batch)?;
            let mut differs = Vec::with_capacity(batch.num_rows());
            // Row by row, since each step depends on the one before.
            for row in 0..batch.num_rows() {
                while earlier.compare(&later, row) == Some(Ordering::Less) || earlier.needs_batch() {
                    let gone = earlier.advance(&encoder, &mut old).await?;
                    if let Some(result) = shown(&read, gone)? {
                        yield result;
                    }
                }
                let is_same_key = earlier.compare(&later, row) == Some(Ordering::Equal);
                earlier.is_matched |= is_same_key;
                differs.push(!(is_same_key && earlier.has_values_of(&later, row)));
            }
            let batch = filter_record_batch(&batch, &BooleanArray::from(differs))?;
            if let Some(result) = project(&read.columns, &batch)? {
                yield result;
            }
        }
        while read.keep_deletes && !earlier.is_at_end {
            let gone = earlier.advance(&encoder, &mut old).await?;
            if let Some(result) = shown(&read, gone)? {
                yield result;
            }
        }
    };
    Ok(stream.boxed())
}

/// Which rows add a row; the kind is the first column.
fn adds(batch: &RecordBatch) -> Result<BooleanArray> {
    let kinds = batch.column(0).as_string_opt::<i32>();
    let kinds = kinds.ok_or_else(|| Error::internal("the first column of a difference is not the kind of its rows"))?;
    Ok(BooleanArray::from_iter(kinds.iter().map(|kind| kind.map(|kind| kind.starts_with('+')))))
}

/// Rows whose keys are gone, if they are asked for.
fn shown(read: &SplitRead, gone: Option<RecordBatch>) -> Result<Option<RecordBatch>> {
    match gone.filter(|_| read.keep_deletes) {
        Some(gone) => project(&read.columns, &gone),
        None => Ok(None),
    }
}

/// Rows as bytes that compare as keys do, and as bytes that are equal if all values and the kind are.
struct Encoded {
    keys: Rows,
    values: Rows,
    /// Which rows are there, instead of saying that a key is gone.
    adds: BooleanArray,
}

struct Encoder {
    keys: RowConverter,
    values: RowConverter,
    key_columns: Vec<usize>,
}

impl Encoder {
    fn try_new(schema: &TableSchema, columns: &Columns) -> Result<Self> {
        // The kind stands before the columns of the table.
        let key_columns: Vec<usize> = schema.key_positions().into_iter().map(|position| position + 1).collect();
        let arrow = &columns.schema;
        let sort_field = |position: usize| SortField::new(arrow.field(position).data_type().clone());
        Ok(Self {
            keys: RowConverter::new(key_columns.iter().map(|&p| sort_field(p)).collect())?,
            values: RowConverter::new((0..arrow.fields().len()).map(sort_field).collect())?,
            key_columns,
        })
    }

    fn encode(&self, batch: &RecordBatch) -> Result<Encoded> {
        let keys: Vec<ArrayRef> = self.key_columns.iter().map(|&p| Arc::clone(batch.column(p))).collect();
        let mut all = batch.columns().to_vec();
        // An insert and an update of the same values do not differ: both add the row.
        let adds = adds(batch)?;
        if let Some(kind) = all.first_mut() {
            *kind =
                Arc::new(StringArray::from_iter_values(adds.values().iter().map(|add| if add { "+" } else { "-" })));
        }
        Ok(Encoded { keys: self.keys.convert_columns(&keys)?, values: self.values.convert_columns(&all)?, adds })
    }
}

/// The row of the earlier side that is looked at.
#[derive(Default)]
struct Cursor {
    batch: Option<Encoded>,
    /// The rows of the batch.
    rows: Option<RecordBatch>,
    row: usize,
    /// Whether the later side has the key of the row.
    is_matched: bool,
    /// Which rows of the batch, as far as it is read, have keys that the later side lacks.
    gone: Vec<bool>,
    is_at_end: bool,
}

impl Cursor {
    /// Whether its batch is read to the end, but not its side.
    fn needs_batch(&self) -> bool {
        !self.is_at_end && self.batch.as_ref().is_none_or(|batch| self.row >= batch.keys.num_rows())
    }

    /// How its key compares with that of a row; `None` without a row.
    fn compare(&self, later: &Encoded, row: usize) -> Option<Ordering> {
        let batch = self.batch.as_ref().filter(|batch| self.row < batch.keys.num_rows())?;
        Some(batch.keys.row(self.row).cmp(&later.keys.row(row)))
    }

    fn has_values_of(&self, later: &Encoded, row: usize) -> bool {
        let batch = self.batch.as_ref().filter(|batch| self.row < batch.values.num_rows());
        batch.is_some_and(|batch| batch.values.row(self.row) == later.values.row(row))
    }

    /// Goes to the next row. At the end of a batch gives its rows whose keys the later side lacks, as `-D`.
    async fn advance(&mut self, encoder: &Encoder, side: &mut BatchStream) -> Result<Option<RecordBatch>> {
        if !self.needs_batch() {
            let was_there = self.batch.as_ref().is_some_and(|batch| batch.adds.value(self.row));
            let is_matched = std::mem::take(&mut self.is_matched);
            self.gone.push(was_there && !is_matched);
            self.row += 1;
            return Ok(None);
        }
        let (rows, gone) = (self.rows.take(), std::mem::take(&mut self.gone));
        match side.try_next().await? {
            Some(batch) => {
                self.batch = Some(encoder.encode(&batch)?);
                self.rows = Some(batch);
                self.row = 0;
            }
            None => {
                self.batch = None;
                self.is_at_end = true;
            }
        }
        match rows {
            Some(rows) if gone.contains(&true) => {
                deleted(&filter_record_batch(&rows, &BooleanArray::from(gone))?).map(Some)
            }
            _ => Ok(None),
        }
    }
}

/// The rows that pass the filter, with the columns of the result; `None` if no row is left.
fn project(columns: &Columns, batch: &RecordBatch) -> Result<Option<RecordBatch>> {
    let batch = match &columns.filter {
        Some(filter) => filter_record_batch(batch, &evaluate(filter, batch)?)?,
        None => batch.clone(),
    };
    if batch.num_rows() == 0 {
        return Ok(None);
    }
    let kind = columns.row_kind.then_some(ROW_KIND);
    let names = kind.into_iter().chain(columns.output.iter().map(|field| field.name.as_str()));
    let arrays = names.map(|name| {
        let found = batch.column_by_name(name).cloned();
        found.ok_or_else(|| Error::internal(format!("a batch that was read lacks column {name}")))
    });
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(Some(RecordBatch::try_new_with_options(Arc::clone(&columns.schema), arrays, &options)?))
}
