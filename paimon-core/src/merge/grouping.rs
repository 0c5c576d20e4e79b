//! Engines that look at all rows of a key: rows are collected into groups, then every column is made for all groups at
//! once.
//!
//! A key with a single row is passed on as it is, as part of a range of rows. Groups of several rows are put into merge
//! order; when a batch of the result is full, [`Control`] says what each row does, the folds make one value per group and
//! column, and the columns are gathered from ranges, chosen rows and new values.
//!
//! Invariants: a group holds all rows of its key before it is looked at. Source: merge-engine sheet section 1;
//! `mergetree/compact/ReducerMergeFunctionWrapper.java`, `LookupMergeFunction.java`.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, Int8Array, Int64Array, new_empty_array};
use arrow::compute::concat;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::{RecordBatch, RecordBatchOptions};

use super::control::Control;
use super::engine::MergeEngine;
use super::fold::{Column, Groups, RowRef};
use super::folds::{Outcome, evaluate};
use super::gather::{GROUPS, LONG_SEGMENT, Picks, Segment, take_places, take_rows};
use super::kinds::is_retract;
use super::order_key::Prefix;
use super::rule::MergeRule;
use super::run_batch::RunBatch;
use crate::error::{Error, Result};
use crate::types::{RowKind, SEQUENCE_NUMBER, VALUE_KIND};

/// Groups from which sorting by insertion gives way to a merge sort.
const LONG_GROUP: usize = 32;

/// An engine over groups of rows.
#[derive(Debug)]
pub(super) struct Grouping {
    rule: Arc<MergeRule>,
    drop_deletes: bool,
    picks: Picks,
    groups: Groups,
    /// Where the rows of the last key begin, which may not be complete.
    open: usize,
}

impl Grouping {
    /// An engine that has seen no row.
    pub(super) fn new(rule: Arc<MergeRule>, drop_deletes: bool) -> Self {
        Self { rule, drop_deletes, picks: Picks::default(), groups: Groups::default(), open: 0 }
    }

    /// The last key has no more rows.
    fn close<P: Prefix>(&mut self, batches: &[RunBatch<P>]) {
        match self.groups.rows.get(self.open..) {
            None | Some([]) => {}
            Some(&[only]) => {
                self.groups.rows.truncate(self.open);
                self.pass(batches, only.batch(), only.row(), only.row() + 1);
            }
            Some(_) => {
                sort_by_age(&mut self.groups.rows[self.open..], batches);
                if self.rule.needs_levels() {
                    self.drop_higher_levels(batches);
                }
                let group = self.groups.len();
                self.open = self.groups.rows.len();
                self.groups.ends.push(self.open as u32);
                self.picks.push(GROUPS, group, group + 1);
            }
        }
    }

    /// Of the rows of levels from 1 on only those of the least level count: they hold what the others hold.
    fn drop_higher_levels<P: Prefix>(&mut self, batches: &[RunBatch<P>]) {
        let level = |row: &RowRef| batches[row.batch()].level(row.row());
        let least = self.groups.rows[self.open..].iter().map(level).filter(|&l| l > 0).min();
        let Some(least) = least else { return };
        let mut kept = self.open;
        for i in self.open..self.groups.rows.len() {
            let row = self.groups.rows[i];
            if level(&row) <= least {
                self.groups.rows[kept] = row;
                kept += 1;
            }
        }
        self.groups.rows.truncate(kept);
    }

    /// Rows that are alone with their key.
    fn pass<P: Prefix>(&mut self, batches: &[RunBatch<P>], batch: usize, start: usize, end: usize) {
        if self.drop_deletes && batches[batch].has_retracts {
            for (start, end) in batches[batch].adds(start, end) {
                self.picks.push(batch, start, end);
            }
        } else {
            self.picks.push(batch, start, end);
        }
    }

    fn build<P: Prefix>(&self, schema: &SchemaRef, batches: &[RunBatch<P>]) -> Result<RecordBatch> {
        let control = Control::new(self.rule.engine(), &self.groups, batches)?;
        let visible = self.visible(&control);
        let picks = visible.as_ref().unwrap_or(&self.picks);
        let places =
            Places { segments: picks.segments(), rows: picks.rows(), newest: &control.newest, cache: OnceCell::new() };
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
        for (i, field) in schema.fields().iter().enumerate() {
            let column = Column::new(batches.iter().map(|b| b.columns[i].as_ref()).collect());
            let outcome = match field.name().as_str() {
                SEQUENCE_NUMBER => Outcome::Values(sequences(&control, batches)),
                VALUE_KIND => Outcome::Values(kinds(&control)),
                name => {
                    let role = match self.rule.id_of(name) {
                        Some(id) => self.rule.role(id),
                        None => return Err(Error::internal(format!("a merge cannot give column {name}"))),
                    };
                    evaluate(&role.how, &self.groups, control.steps(role.group), &column, field.data_type())?
                }
            };
            columns.push(places.column(&column, &outcome, field.data_type())?);
        }
        let options = RecordBatchOptions::new().with_row_count(Some(picks.rows()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)?)
    }

    /// The rows of the result without groups that have none; `None` if all have.
    fn visible(&self, control: &Control) -> Option<Picks> {
        let kinds = control.kinds.as_ref()?;
        let shows = |kind: Option<i8>| kind.is_some_and(|kind| !(self.drop_deletes && is_retract(kind)));
        if kinds.iter().all(|&kind| shows(kind)) {
            return None;
        }
        let mut picks = Picks::default();
        for &Segment { batch, start, len } in self.picks.segments() {
            let (batch, start, end) = (batch as usize, start as usize, (start + len) as usize);
            if batch == GROUPS {
                for group in (start..end).filter(|&group| shows(kinds[group])) {
                    picks.push(GROUPS, group, group + 1);
                }
            } else {
                picks.push(batch, start, end);
            }
        }
        Some(picks)
    }
}

impl<P: Prefix> MergeEngine<P> for Grouping {
    fn accept(&mut self, batches: &[RunBatch<P>], batch: usize, mut start: usize, end: usize) {
        if start >= end {
            return;
        }
        if let Some(&last) = self.groups.rows.get(self.open..).and_then(<[RowRef]>::last) {
            let keys = &batches[batch].keys;
            if keys.compare(start, &batches[last.batch()].keys, last.row()) == Ordering::Equal {
                self.groups.rows.push(RowRef::new(batch, start));
                start += 1;
                if start == end {
                    return;
                }
            }
            self.close(batches);
        }
        self.pass(batches, batch, start, end - 1);
        self.groups.rows.push(RowRef::new(batch, end - 1));
    }

    fn end(&mut self, batches: &[RunBatch<P>]) {
        self.close(batches);
    }

    fn rows(&self) -> usize {
        self.picks.rows()
    }

    fn batches(&self) -> Vec<usize> {
        let mut batches: Vec<usize> = self.picks.batches().filter(|&b| b != GROUPS).collect();
        let mut last = u32::MAX;
        for row in &self.groups.rows {
            if row.batch != last {
                last = row.batch;
                batches.push(row.batch());
            }
        }
        batches
    }

    fn renumber(&mut self, numbers: &[usize]) {
        self.picks.renumber(numbers);
        for row in &mut self.groups.rows {
            row.batch = numbers[row.batch()] as u32;
        }
    }

    fn take(&mut self, schema: &SchemaRef, batches: &[RunBatch<P>]) -> Result<RecordBatch> {
        let batch = self.build(schema, batches)?;
        self.picks.clear();
        self.groups.rows.drain(..self.open);
        self.groups.ends.clear();
        self.open = 0;
        Ok(batch)
    }
}

fn sort_by_age<P: Prefix>(rows: &mut [RowRef], batches: &[RunBatch<P>]) {
    let age = |a: &RowRef, b: &RowRef| batches[a.batch()].compare_age(a.row(), &batches[b.batch()], b.row());
    if rows.len() > LONG_GROUP {
        return rows.sort_by(age);
    }
    for i in 1..rows.len() {
        let mut place = i;
        while place > 0 && age(&rows[place - 1], &rows[place]) == Ordering::Greater {
            rows.swap(place - 1, place);
            place -= 1;
        }
    }
}

/// The sequence numbers of the results.
fn sequences<P: Prefix>(control: &Control, batches: &[RunBatch<P>]) -> ArrayRef {
    let sequence = |row: &RowRef| if row.is_some() { batches[row.batch()].sequence(row.row()) } else { 0 };
    Arc::new(Int64Array::from_iter_values(control.numbered.as_ref().unwrap_or(&control.newest).iter().map(sequence)))
}

/// The kinds of the results.
fn kinds(control: &Control) -> ArrayRef {
    const INSERT: i8 = RowKind::Insert as i8;
    match &control.kinds {
        None => Arc::new(Int8Array::from_value(INSERT, control.newest.len())),
        Some(kinds) => Arc::new(Int8Array::from_iter_values(kinds.iter().map(|k| k.unwrap_or(INSERT)))),
    }
}

/// The places of the result's rows.
struct Places<'a> {
    segments: &'a [Segment],
    rows: usize,
    newest: &'a [RowRef],
    /// Rows one by one, for columns that take the newest row of each group.
    cache: OnceCell<Vec<(usize, usize)>>,
}

impl Places<'_> {
    fn column(&self, column: &Column<'_>, outcome: &Outcome, data_type: &ArrowType) -> Result<ArrayRef> {
        let arrays = &column.arrays;
        if self.segments.is_empty() {
            return Ok(new_empty_array(data_type));
        }
        if let ([only], Outcome::Values(values)) = (self.segments, outcome)
            && only.batch as usize == GROUPS
        {
            return Ok(values.slice(only.start as usize, only.len as usize));
        }
        let has_groups = self.segments.iter().any(|s| s.batch as usize == GROUPS);
        if !has_groups && self.segments.len() == 1
            || self.rows >= self.segments.len() * LONG_SEGMENT && self.segments.len() > 1
        {
            return self.in_ranges(arrays, has_groups, outcome, data_type);
        }
        let groups = arrays.len();
        match outcome {
            Outcome::Newest => {
                let places = self.cache.get_or_init(|| self.one_by_one(groups, self.newest));
                // A group without a row of its own takes no key from anywhere.
                take_places(arrays, places, self.newest.iter().any(|r| !r.is_some()), data_type)
            }
            Outcome::Rows(rows) => {
                take_places(arrays, &self.one_by_one(groups, rows), rows.iter().any(|r| !r.is_some()), data_type)
            }
            Outcome::Values(values) => {
                let mut arrays = arrays.clone();
                arrays.push(values.as_ref());
                let rows: Vec<RowRef> = (0..values.len()).map(|group| RowRef::new(groups, group)).collect();
                take_places(&arrays, &self.one_by_one(groups, &rows), false, data_type)
            }
        }
    }

    /// Copies whole ranges, after the values of all groups were put together.
    fn in_ranges(
        &self,
        arrays: &[&dyn Array],
        has_groups: bool,
        outcome: &Outcome,
        data_type: &ArrowType,
    ) -> Result<ArrayRef> {
        let of_groups = match outcome {
            _ if !has_groups => new_empty_array(data_type),
            Outcome::Newest => take_rows(arrays, self.newest, data_type)?,
            Outcome::Rows(rows) => take_rows(arrays, rows, data_type)?,
            Outcome::Values(values) => Arc::clone(values),
        };
        let slice = |s: &Segment| {
            let (start, len) = (s.start as usize, s.len as usize);
            match s.batch as usize {
                GROUPS => of_groups.slice(start, len),
                batch => arrays[batch].slice(start, len),
            }
        };
        if let [only] = self.segments {
            return Ok(slice(only));
        }
        let slices: Vec<ArrayRef> = self.segments.iter().map(slice).collect();
        Ok(concat(&slices.iter().map(|s| s.as_ref()).collect::<Vec<_>>())?)
    }

    /// Array and position of each row; groups take theirs from `of_groups`, which is null in the array after the last.
    fn one_by_one(&self, nulls: usize, of_groups: &[RowRef]) -> Vec<(usize, usize)> {
        let mut places = Vec::with_capacity(self.rows);
        for segment in self.segments {
            let (batch, range) =
                (segment.batch as usize, segment.start as usize..(segment.start + segment.len) as usize);
            if batch == GROUPS {
                let place = |r: &RowRef| if r.is_some() { (r.batch(), r.row()) } else { (nulls, 0) };
                places.extend(of_groups[range].iter().map(place));
            } else {
                places.extend(range.map(|row| (batch, row)));
            }
        }
        places
    }
}
