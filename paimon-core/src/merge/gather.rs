//! Gathering the rows that a merge chose: whole columns at a time, from ranges of rows of several batches.
//!
//! Invariants: one range is a slice of its batch; ranges that are long on average are copied as ranges, short ones row by
//! row through Arrow's interleave. No column is touched that the result does not have.

use arrow::array::{Array, ArrayRef, new_empty_array, new_null_array};
use arrow::compute::{concat, interleave};
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};

use super::fold::RowRef;
use crate::error::Result;

/// The number that stands for a batch in segments whose rows are results of groups.
pub(super) const GROUPS: usize = u32::MAX as usize;

/// Rows `start .. start + len` of the batch with number `batch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) batch: u32,
    pub(super) start: u32,
    pub(super) len: u32,
}

/// Ranges of rows in the order of the result.
#[derive(Debug, Default)]
pub(super) struct Picks {
    segments: Vec<Segment>,
    rows: usize,
}

/// Rows per range from which ranges are copied whole: a range costs about as much as this many single rows.
pub(super) const LONG_SEGMENT: usize = 16;

impl Picks {
    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The ranges.
    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Adds rows `start .. end` of a batch.
    pub(super) fn push(&mut self, batch: usize, start: usize, end: usize) {
        if start >= end {
            return;
        }
        self.rows += end - start;
        let (batch, start, len) = (batch as u32, start as u32, (end - start) as u32);
        match self.segments.last_mut() {
            Some(last) if last.batch == batch && last.start + last.len == start => last.len += len,
            _ => self.segments.push(Segment { batch, start, len }),
        }
    }

    /// The numbers of the batches whose rows are among them, some of them several times.
    pub(super) fn batches(&self) -> impl Iterator<Item = usize> {
        self.segments.iter().map(|s| s.batch as usize)
    }

    /// Forgets all ranges.
    pub(super) fn clear(&mut self) {
        self.segments.clear();
        self.rows = 0;
    }

    /// Batches got new numbers.
    pub(super) fn renumber(&mut self, numbers: &[usize]) {
        for segment in self.segments.iter_mut().filter(|s| s.batch as usize != GROUPS) {
            segment.batch = numbers[segment.batch as usize] as u32;
        }
    }

    /// The rows as a batch. `columns` gives the columns of a batch by its number, in the order of `schema`.
    ///
    /// # Errors
    /// Those of Arrow, such as text of more than 2 GiB in one batch.
    pub(super) fn gather<'a>(
        &self,
        schema: &SchemaRef,
        batches: usize,
        columns: impl Fn(usize) -> &'a [ArrayRef],
    ) -> Result<RecordBatch> {
        let options = RecordBatchOptions::new().with_row_count(Some(self.rows));
        let width = schema.fields().len();
        let mut result = Vec::with_capacity(width);
        if width > 0 {
            let plan = GatherPlan::new(&self.segments, self.rows, batches);
            for (i, field) in schema.fields().iter().enumerate() {
                if self.segments.is_empty() {
                    result.push(new_empty_array(field.data_type()));
                } else {
                    result.push(plan.column(|batch| columns(batch)[i].as_ref())?);
                }
            }
        }
        Ok(RecordBatch::try_new_with_options(schema.clone(), result, &options)?)
    }
}

/// What all columns of one result share.
struct GatherPlan<'a> {
    segments: &'a [Segment],
    /// The numbers of the batches that are used; their positions are the first halves of `rows`.
    used: Vec<usize>,
    /// Single rows, if ranges are short.
    rows: Vec<(usize, usize)>,
}

impl<'a> GatherPlan<'a> {
    fn new(segments: &'a [Segment], rows: usize, batches: usize) -> Self {
        let mut plan = Self { segments, used: Vec::new(), rows: Vec::new() };
        if segments.len() > 1 && rows < segments.len() * LONG_SEGMENT {
            let mut position = vec![usize::MAX; batches];
            plan.rows.reserve_exact(rows);
            for segment in segments {
                let position = &mut position[segment.batch as usize];
                if *position == usize::MAX {
                    *position = plan.used.len();
                    plan.used.push(segment.batch as usize);
                }
                let start = segment.start as usize;
                plan.rows.extend((start..start + segment.len as usize).map(|row| (*position, row)));
            }
        }
        plan
    }

    fn column<'b>(&self, column: impl Fn(usize) -> &'b dyn Array) -> Result<ArrayRef> {
        if !self.rows.is_empty() {
            let arrays: Vec<&dyn Array> = self.used.iter().map(|&batch| column(batch)).collect();
            return Ok(interleave(&arrays, &self.rows)?);
        }
        let slice = |s: &Segment| column(s.batch as usize).slice(s.start as usize, s.len as usize);
        if let [only] = self.segments {
            return Ok(slice(only));
        }
        let slices: Vec<ArrayRef> = self.segments.iter().map(slice).collect();
        let slices: Vec<&dyn Array> = slices.iter().map(|s| s.as_ref()).collect();
        Ok(concat(&slices)?)
    }
}

/// These rows of the arrays, in this order; [`RowRef::NONE`] is null.
///
/// # Errors
/// Those of Arrow.
pub(super) fn take_rows(arrays: &[&dyn Array], rows: &[RowRef], data_type: &ArrowType) -> Result<ArrayRef> {
    if rows.is_empty() {
        return Ok(new_empty_array(data_type));
    }
    let nulls = arrays.len();
    let place = |row: &RowRef| if row.is_some() { (row.batch(), row.row()) } else { (nulls, 0) };
    let places: Vec<(usize, usize)> = rows.iter().map(place).collect();
    take_places(arrays, &places, rows.iter().any(|r| !r.is_some()), data_type)
}

/// The values at these places: array and position. The place after the last array is null, if `has_nulls`.
///
/// # Errors
/// Those of Arrow.
pub(super) fn take_places(
    arrays: &[&dyn Array],
    places: &[(usize, usize)],
    has_nulls: bool,
    data_type: &ArrowType,
) -> Result<ArrayRef> {
    if !has_nulls {
        return Ok(interleave(arrays, places)?);
    }
    let null = new_null_array(data_type, 1);
    let mut arrays = arrays.to_vec();
    arrays.push(null.as_ref());
    Ok(interleave(&arrays, places)?)
}
