//! Reads a Parquet file as batches.
//!
//! Invariants: only leaves that are asked for are fetched and decoded, row group by row group; pages that pruning or the
//! selection of rows leave out are neither; with selective tests the other columns are decoded where those pass. Memory is
//! bounded by the chosen leaves of one row group.

use std::sync::Arc;

use ::parquet::DecodeResult;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, RowSelection};
use ::parquet::arrow::push_decoder::{ParquetPushDecoder, ParquetPushDecoderBuilder};
use ::parquet::file::metadata::ParquetMetaData;
use arrow::array::{ArrayRef, BooleanArray, BooleanBufferBuilder, new_null_array};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::stream::{self, StreamExt};

use super::conform::conform;
use super::failure::guarded;
use super::footer::footer;
use super::projection::Projection;
use super::{int96, late, prune, side_by_side};
use crate::error::{Error, Result, ResultExt};
use crate::format::ranges::fetch;
use crate::format::readable::check_readable;
use crate::format::{BatchStream, InputFile, ReadRequest};
use crate::types::{DataField, RowType, to_arrow_schema};

/// Starts to read; the footer is read before this returns.
pub(super) async fn read(file: InputFile, request: ReadRequest) -> Result<BatchStream> {
    check_readable("Parquet", true, &request.columns)?;
    // With tests the parts would each decode the columns that are tested.
    if request.tasks < 2 || request.predicate.is_some() || request.columns.len() < 2 {
        return read_columns(file, request).await;
    }
    let footer = footer(&file, request.rows.is_some()).await.context("file", &file.path)?;
    let parts = side_by_side::parts(&footer, &request.columns, request.tasks);
    if parts.len() < 2 {
        return read_columns(file, request).await;
    }
    let mut streams = Vec::with_capacity(parts.len());
    for positions in parts {
        let columns = positions.iter().filter_map(|&i| request.columns.get(i).cloned()).collect();
        let part = ReadRequest { columns, ..request.clone() };
        streams.push((positions, read_columns(file.clone(), part).await?));
    }
    let path = file.path;
    Ok(side_by_side::join(&request.columns, streams).map(move |batch| batch.context("file", &path)).boxed())
}

async fn read_columns(file: InputFile, request: ReadRequest) -> Result<BatchStream> {
    let Some(opened) = open(&file, &request).await.context("file", &file.path)? else {
        return Ok(stream::empty().boxed());
    };
    let path = file.path.clone();
    let shape = Shape::new(request.columns, opened.present);
    let state = (file, opened.decoder, opened.second_look);
    let batches = stream::try_unfold(state, |(file, mut decoder, mut second_look)| async move {
        let Some(batch) = next(&file, &mut decoder).await? else { return Ok(None) };
        if let Some(second_look) = &mut second_look {
            let again = next(&file, second_look).await?;
            int96::compare(&batch, &again.ok_or_else(|| Error::internal("the second decoding ended early"))?)?;
        }
        Ok(Some((batch, (file, decoder, second_look))))
    });
    Ok(batches.map(move |batch| batch.and_then(|b| shape.apply(&b)).context("file", &path)).boxed())
}

struct Opened {
    decoder: ParquetPushDecoder,
    /// Decodes INT96 a second time.
    second_look: Option<ParquetPushDecoder>,
    present: Vec<bool>,
}

/// A decoder of the rows that may be wanted; `None` if there are none.
async fn open(file: &InputFile, request: &ReadRequest) -> Result<Option<Opened>> {
    let selects = request.predicate.is_some() || request.rows.is_some();
    let footer = footer(file, selects).await?;
    let schema = footer.file_metadata().schema_descr();
    let projection = Projection::new(schema, &request.columns)?;
    let mut groups = match &request.predicate {
        Some(predicate) => guarded(|| Ok(prune::row_groups(&footer, predicate)))?,
        None => (0..footer.num_row_groups()).collect(),
    };
    let selection = Selection::new(&footer, request)?;
    groups.retain(|&g| selection.selects_any(g));
    if groups.is_empty() {
        return Ok(None);
    }
    let rows = selection.rows(&groups);
    // An Arrow schema in the file is a hint of its writer; the types of the columns come from the request.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let build = |metadata, mask, filter| {
        let mut builder = ParquetPushDecoderBuilder::new_with_metadata(metadata)
            .with_batch_size(request.batch_rows.max(1))
            .with_projection(mask)
            .with_row_groups(groups.clone());
        if let Some(rows) = &rows {
            builder = builder.with_row_selection(rows.clone());
        }
        if let Some(filter) = filter {
            builder = builder.with_row_filter(filter);
        }
        builder.build()
    };
    let second_look = guarded(|| {
        let found = int96::second_look(&footer, &projection.mask)?;
        found.map(|(metadata, mask)| build(metadata, mask, None)).transpose()
    })?;
    // Both decodings of INT96 must give the same rows.
    let tested = request.predicate.as_ref().filter(|_| second_look.is_none());
    let filter = tested.and_then(|predicate| late::row_filter(&footer, predicate));
    let metadata = guarded(|| ArrowReaderMetadata::try_new(Arc::clone(&footer), options))?;
    let decoder = guarded(|| build(metadata, projection.mask, filter))?;
    Ok(Some(Opened { decoder, second_look, present: projection.present }))
}

/// The rows of each row group that are wanted.
struct Selection {
    groups: Vec<Option<RowSelection>>,
    row_counts: Vec<usize>,
}

impl Selection {
    fn new(footer: &ParquetMetaData, request: &ReadRequest) -> Result<Self> {
        let mut start = 0;
        let mut row_counts = Vec::with_capacity(footer.num_row_groups());
        let mut groups = Vec::with_capacity(footer.num_row_groups());
        for (i, group) in footer.row_groups().iter().enumerate() {
            let count = usize::try_from(group.num_rows())
                .map_err(|_| Error::corrupt(format!("row group {i} has {} rows", group.num_rows())))?;
            let by_pages = match &request.predicate {
                Some(predicate) => guarded(|| Ok(prune::pages(footer, i, predicate)))?,
                None => None,
            };
            let by_rows = request.rows.as_ref().map(|rows| part(rows, start, count)).transpose()?;
            groups.push(match (by_pages, by_rows) {
                (Some(pages), Some(rows)) => Some(pages.intersection(&rows)),
                (one, other) => one.or(other),
            });
            row_counts.push(count);
            start += count;
        }
        match &request.rows {
            Some(rows) if rows.len() != start => {
                let found = rows.len();
                Err(Error::corrupt(format!("the file has {start} rows, but {found} by its metadata")))
            }
            _ => Ok(Self { groups, row_counts }),
        }
    }

    fn selects_any(&self, group: usize) -> bool {
        self.row_counts.get(group).is_some_and(|&c| c > 0)
            && self.groups.get(group).is_some_and(|g| g.as_ref().is_none_or(RowSelection::selects_any))
    }

    /// The selection over these row groups; `None` if it is everything.
    fn rows(&self, groups: &[usize]) -> Option<RowSelection> {
        let chosen = || groups.iter().filter_map(|&g| Some((self.groups.get(g)?, *self.row_counts.get(g)?)));
        if chosen().all(|(selection, _)| selection.is_none()) {
            return None;
        }
        let mut mask = BooleanBufferBuilder::new(chosen().map(|(_, count)| count).sum());
        for (selection, count) in chosen() {
            match selection {
                None => mask.append_n(count, true),
                Some(selection) => selection.iter().for_each(|run| mask.append_n(run.row_count, !run.skip)),
            }
        }
        Some(RowSelection::from_filters(&[BooleanArray::new(mask.finish(), None)]))
    }
}

fn part(rows: &BooleanBuffer, start: usize, count: usize) -> Result<RowSelection> {
    if start + count > rows.len() {
        let found = rows.len();
        return Err(Error::corrupt(format!("the file has more than the {found} rows of its metadata")));
    }
    Ok(RowSelection::from_filters(&[BooleanArray::new(rows.slice(start, count), None)]))
}

async fn next(file: &InputFile, decoder: &mut ParquetPushDecoder) -> Result<Option<RecordBatch>> {
    loop {
        match guarded(|| decoder.try_decode())? {
            DecodeResult::Data(batch) => return Ok(Some(batch)),
            DecodeResult::Finished => return Ok(None),
            DecodeResult::NeedsData(ranges) => {
                let data = fetch(file, &ranges).await?;
                guarded(|| decoder.push_ranges(ranges, data))?;
            }
        }
    }
}

/// From what the library decodes to the columns that were asked for.
struct Shape {
    schema: SchemaRef,
    columns: Vec<DataField>,
    present: Vec<bool>,
}

impl Shape {
    fn new(columns: Vec<DataField>, present: Vec<bool>) -> Self {
        let schema = to_arrow_schema(&RowType::new(columns.clone()));
        Self { schema, columns, present }
    }

    fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = self.columns.iter().zip(&self.present).zip(self.schema.fields()).map(
            |((column, present), field)| -> Result<ArrayRef> {
                let found = if *present { batch.column_by_name(&column.name) } else { None };
                let array = match found {
                    Some(array) => conform(&column.name, array, &column.data_type)?,
                    None => new_null_array(field.data_type(), batch.num_rows()),
                };
                if !field.is_nullable() && array.null_count() > 0 {
                    return Err(Error::corrupt(format!("column {} is NOT NULL, but holds nulls", column.name)));
                }
                Ok(array)
            },
        );
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        Ok(RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)?)
    }
}
