//! What the kinds and sequence groups of the rows of a group say: which row counts, its kind, and what each row does to
//! the columns.
//!
//! Invariants: nothing here looks at values of columns that are not keys, kinds or ordering columns. Source: merge-engine
//! sheet sections 2 to 5; `DeduplicateMergeFunction.java`, `FirstRowMergeFunction.java`, `PartialUpdateMergeFunction.java`,
//! `AggregateMergeFunction.java`.

use std::cmp::Ordering;
use std::ops::Range;

use super::fold::{Groups, RowRef, Step};
use super::order_key::Prefix;
use super::roles::{Engine, OnRetract, SequenceGroup};
use super::run_batch::{GroupOrder, RunBatch};
use crate::error::{Error, Result};
use crate::types::RowKind;

const INSERT: i8 = RowKind::Insert as i8;
const DELETE: i8 = RowKind::Delete as i8;

/// What is done with groups.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// The row of each group that gives its keys; [`RowRef::NONE`] for a group without result.
    pub(super) newest: Vec<RowRef>,
    /// The row of each group that gives its sequence number, or [`RowRef::NONE`] for 0, if it is another one.
    pub(super) numbered: Option<Vec<RowRef>>,
    /// The kind of each result, `None` for a group without result; all `+I` if there is no list.
    pub(super) kinds: Option<Vec<Option<i8>>>,
    /// What each row does to columns outside of sequence groups; all rows are added if there is no list.
    steps: Option<Vec<Step>>,
    /// The same for the columns of each sequence group.
    group_steps: Vec<Option<Vec<Step>>>,
}

impl Control {
    /// Looks at the rows of all groups.
    ///
    /// # Errors
    /// `Unsupported` for retracts that the engine cannot take.
    pub(super) fn new<P: Prefix>(engine: &Engine, groups: &Groups, batches: &[RunBatch<P>]) -> Result<Self> {
        match engine {
            Engine::Deduplicate { ignore_delete } => Ok(Self::newest_row(groups, batches, *ignore_delete)),
            Engine::FirstRow { ignore_delete } => Self::first_row(groups, batches, *ignore_delete),
            Engine::Aggregation { remove_on_delete } => Ok(Self::aggregation(groups, batches, *remove_on_delete)),
            Engine::PartialUpdate { on_retract, groups: sequences } => {
                if sequences.is_empty() && !has_retracts(batches) {
                    return Ok(Self { newest: last_rows(groups), ..Self::default() });
                }
                let mut walk = Walk::new(*on_retract, sequences, batches, groups.rows.len());
                for range in groups.ranges() {
                    walk.group(&groups.rows, range)?;
                }
                Ok(walk.finish())
            }
        }
    }

    /// What each row does to the columns of a sequence group, or to those outside of all.
    pub(super) fn steps(&self, group: Option<usize>) -> Option<&[Step]> {
        match group {
            Some(group) => self.group_steps.get(group).and_then(Option::as_deref),
            None => self.steps.as_deref(),
        }
    }

    fn newest_row<P: Prefix>(groups: &Groups, batches: &[RunBatch<P>], ignore_delete: bool) -> Self {
        if !has_retracts(batches) {
            return Self::of_rows(last_rows(groups), batches);
        }
        let choose = |range: Range<usize>| {
            let found = groups.rows[range].iter().rev().find(|r| !(ignore_delete && is_retract(batches, **r)));
            found.copied().unwrap_or(RowRef::NONE)
        };
        Self::of_rows(groups.ranges().map(choose).collect(), batches)
    }

    fn first_row<P: Prefix>(groups: &Groups, batches: &[RunBatch<P>], ignore_delete: bool) -> Result<Self> {
        let choose = |range: Range<usize>| {
            let rows = &groups.rows[range];
            if !ignore_delete && rows.iter().any(|&row| is_retract(batches, row)) {
                return Err(Error::unsupported(
                    "By default, First row merge engine can not accept DELETE/UPDATE_BEFORE records. You can config \
                     'ignore-delete' to ignore the DELETE/UPDATE_BEFORE records.",
                ));
            }
            Ok(rows.iter().find(|row| !is_retract(batches, **row)).copied().unwrap_or(RowRef::NONE))
        };
        let newest = groups.ranges().map(choose).collect::<Result<Vec<_>>>()?;
        Ok(Self::of_rows(newest, batches))
    }

    /// Results that are rows as they are, with their kinds.
    fn of_rows<P: Prefix>(newest: Vec<RowRef>, batches: &[RunBatch<P>]) -> Self {
        let kind = |row: &RowRef| row.is_some().then(|| batches[row.batch()].kind(row.row()));
        Self { kinds: Some(newest.iter().map(kind).collect()), newest, ..Self::default() }
    }

    fn aggregation<P: Prefix>(groups: &Groups, batches: &[RunBatch<P>], remove_on_delete: bool) -> Self {
        let newest = last_rows(groups);
        if !has_retracts(batches) {
            return Self { newest, ..Self::default() };
        }
        let removes = |row: RowRef| remove_on_delete && batches[row.batch()].kind(row.row()) == DELETE;
        let step = |&row: &RowRef| match () {
            () if !is_retract(batches, row) => Step::Add,
            () if removes(row) => Step::Fill,
            () => Step::Retract,
        };
        let kinds = newest.iter().map(|&row| Some(if removes(row) { DELETE } else { INSERT })).collect();
        let steps = Some(groups.rows.iter().map(step).collect());
        Self { newest, kinds: Some(kinds), steps, ..Self::default() }
    }
}

fn last_rows(groups: &Groups) -> Vec<RowRef> {
    groups.ends.iter().map(|&end| groups.rows[end as usize - 1]).collect()
}

fn has_retracts<P: Prefix>(batches: &[RunBatch<P>]) -> bool {
    batches.iter().any(|b| b.has_retracts)
}

fn is_retract<P: Prefix>(batches: &[RunBatch<P>], row: RowRef) -> bool {
    batches[row.batch()].is_retract(row.row())
}

/// Goes through the rows of partial updates.
struct Walk<'a, P> {
    on_retract: OnRetract,
    sequences: &'a [SequenceGroup],
    batches: &'a [RunBatch<P>],
    /// The sequence groups whose order is known.
    active: Vec<usize>,
    steps: Vec<Step>,
    group_steps: Vec<Vec<Step>>,
    /// The row whose ordering columns each sequence group has, of the group of rows at hand.
    stored: Vec<RowRef>,
    newest: Vec<RowRef>,
    numbered: Vec<RowRef>,
    kinds: Vec<Option<i8>>,
}

impl<'a, P: Prefix> Walk<'a, P> {
    fn new(on_retract: OnRetract, sequences: &'a [SequenceGroup], batches: &'a [RunBatch<P>], rows: usize) -> Self {
        let known = |group: &usize| batches.iter().all(|b| b.orderings.get(*group).is_some_and(Option::is_some));
        let active: Vec<usize> = (0..sequences.len()).filter(known).collect();
        let of_group = |group: usize| Vec::with_capacity(if active.contains(&group) { rows } else { 0 });
        Self {
            on_retract,
            sequences,
            batches,
            steps: Vec::with_capacity(rows),
            group_steps: (0..sequences.len()).map(of_group).collect(),
            active,
            stored: vec![RowRef::NONE; sequences.len()],
            newest: Vec::new(),
            numbered: Vec::new(),
            kinds: Vec::new(),
        }
    }

    fn group(&mut self, rows: &[RowRef], range: Range<usize>) -> Result<()> {
        self.stored.fill(RowRef::NONE);
        let (mut numbered, mut added, mut removed) = (RowRef::NONE, false, false);
        let start = range.start;
        self.newest.push(range.clone().next_back().map_or(RowRef::NONE, |last| rows[last]));
        for place in range {
            let row = rows[place];
            removed = false;
            if !is_retract(self.batches, row) {
                (numbered, added) = (row, true);
                self.add(row);
                continue;
            }
            if self.on_retract != OnRetract::Ignore {
                numbered = row;
            }
            removed = self.retract(row, place == start)?;
        }
        self.numbered.push(numbered);
        self.kinds.push(Some(if removed || !added { DELETE } else { INSERT }));
        Ok(())
    }

    fn order(&self, group: usize, row: RowRef) -> Option<&'a GroupOrder> {
        self.batches[row.batch()].orderings[group].as_ref()
    }

    /// Whether a row is not older than what is stored; `None` if it has no place in the order.
    fn is_newer(&self, group: usize, row: RowRef) -> Option<bool> {
        let order = self.order(group, row)?;
        if order.is_null(row.row()) {
            return None;
        }
        let stored = self.stored[group];
        if !stored.is_some() {
            return Some(true);
        }
        let stored_order = self.order(group, stored)?;
        Some(order.keys.compare(row.row(), &stored_order.keys, stored.row()) != Ordering::Less)
    }

    fn add(&mut self, row: RowRef) {
        self.steps.push(Step::Add);
        for i in 0..self.active.len() {
            let group = self.active[i];
            let step = match self.is_newer(group, row) {
                None => Step::Skip,
                Some(true) => {
                    self.stored[group] = row;
                    Step::Add
                }
                Some(false) => Step::AddOlder,
            };
            self.group_steps[group].push(step);
        }
    }

    /// A retract; the first row of its group fills all columns before anything else. Says whether it removes the row.
    fn retract(&mut self, row: RowRef, is_first: bool) -> Result<bool> {
        if is_first {
            self.stored.fill(row);
        }
        let still = if is_first { Step::Fill } else { Step::Skip };
        if self.on_retract == OnRetract::Ignore {
            self.push_all(still);
            return Ok(false);
        }
        let is_delete = self.batches[row.batch()].kind(row.row()) == DELETE;
        if self.sequences.is_empty() {
            return match self.on_retract {
                OnRetract::Remove if is_delete => {
                    self.push_all(Step::Fill);
                    Ok(true)
                }
                OnRetract::Remove => {
                    self.push_all(still);
                    Ok(false)
                }
                _ => Err(Error::unsupported(
                    "By default, Partial update can not accept delete records, you can choose one of the following \
                     solutions: 1. Configure 'ignore-delete' to ignore delete records. 2. Configure \
                     'partial-update.remove-record-on-delete' to remove the whole row when receiving delete records. \
                     3. Configure 'sequence-group's to retract partial columns.",
                )),
            };
        }
        let newer: Vec<Option<bool>> = self.active.iter().map(|&group| self.is_newer(group, row)).collect();
        let removing = |(&group, newer): (&usize, &Option<bool>)| *newer == Some(true) && self.sequences[group].removes;
        if is_delete && self.active.iter().zip(&newer).any(removing) {
            self.stored.fill(row);
            self.push_all(Step::Fill);
            return Ok(true);
        }
        self.steps.push(still);
        for (&group, newer) in self.active.iter().zip(newer) {
            let step = match newer {
                None => still,
                Some(true) if is_first => Step::FillRetract,
                Some(true) => Step::Retract,
                Some(false) => Step::RetractOlder,
            };
            if newer == Some(true) {
                self.stored[group] = row;
            }
            self.group_steps[group].push(step);
        }
        Ok(false)
    }

    fn push_all(&mut self, step: Step) {
        self.steps.push(step);
        for &group in &self.active {
            self.group_steps[group].push(step);
        }
    }

    fn finish(self) -> Control {
        let unless_plain = |steps: Vec<Step>| steps.iter().any(|&s| s != Step::Add).then_some(steps);
        Control {
            newest: self.newest,
            numbered: (self.on_retract == OnRetract::Ignore).then_some(self.numbered),
            kinds: self.kinds.iter().any(|&k| k != Some(INSERT)).then_some(self.kinds),
            steps: unless_plain(self.steps),
            group_steps: self.group_steps.into_iter().map(unless_plain).collect(),
        }
    }
}
