//! `collect`: lists one after another, or as a set.
//!
//! Source: merge-engine sheet sections 5.1 and 5.3; `FieldCollectAgg.java`.

use arrow::array::ArrayRef;
use arrow::datatypes::DataType as ArrowType;
use arrow::row::Rows;

use super::choice::Work;
use super::entries::{Keyed, ListOutput, Lists, bytes_of, encode};
use crate::error::Result;
use crate::merge::fold::{Column, Fold, RowRef, fold};

enum Collected<'a> {
    Null,
    /// The list of a row as it is.
    Row(RowRef),
    List(Vec<RowRef>),
    Set(Keyed<'a>),
}

struct Collect<'a> {
    lists: &'a Lists<'a>,
    /// The elements as bytes, if they are compared.
    bytes: &'a [Rows],
    distinct: bool,
    /// Whether older lists go first.
    older_first: bool,
}

impl<'a> Fold for Collect<'a> {
    type State = Collected<'a>;

    fn fresh(&self) -> Collected<'a> {
        Collected::Null
    }

    fn fill(&self, state: &mut Collected<'a>, row: RowRef) -> Result<()> {
        *state = if self.lists.column.is_null(row) { Collected::Null } else { Collected::Row(row) };
        Ok(())
    }

    fn add(&self, state: &mut Collected<'a>, row: RowRef) -> Result<()> {
        if self.lists.column.is_null(row) {
            return Ok(());
        }
        if self.distinct {
            let mut set = self.set(std::mem::replace(state, Collected::Null));
            self.extend(&mut set, self.lists.elements(row));
            *state = Collected::Set(set);
        } else if matches!(state, Collected::Null) {
            *state = Collected::Row(row);
        } else {
            let mut list = self.list(std::mem::replace(state, Collected::Null));
            list.extend(self.lists.elements(row));
            *state = Collected::List(list);
        }
        Ok(())
    }

    fn add_older(&self, state: &mut Collected<'a>, row: RowRef) -> Result<()> {
        if !self.older_first || self.distinct || self.lists.column.is_null(row) || matches!(state, Collected::Null) {
            return self.add(state, row);
        }
        let newer = self.list(std::mem::replace(state, Collected::Null));
        *state = Collected::List(self.lists.elements(row).chain(newer).collect());
        Ok(())
    }

    fn retract(&self, state: &mut Collected<'a>, row: RowRef, _: bool) -> Result<()> {
        let mut gone = self.lists.elements(row).peekable();
        if matches!(state, Collected::Null) || gone.peek().is_none() {
            return Ok(());
        }
        let mut list = self.list(std::mem::replace(state, Collected::Null));
        for element in gone {
            let bytes = bytes_of(self.bytes, element);
            if let Some(found) = list.iter().position(|&e| bytes_of(self.bytes, e) == bytes) {
                list.remove(found);
            }
        }
        *state = Collected::List(list);
        Ok(())
    }
}

impl<'a> Collect<'a> {
    fn list(&self, state: Collected<'a>) -> Vec<RowRef> {
        match state {
            Collected::Null => Vec::new(),
            Collected::Row(row) => self.lists.elements(row).collect(),
            Collected::List(list) => list,
            Collected::Set(set) => set.iter().collect(),
        }
    }

    fn set(&self, state: Collected<'a>) -> Keyed<'a> {
        match state {
            Collected::Set(set) => set,
            other => {
                let mut set = Keyed::default();
                self.extend(&mut set, self.list(other));
                set
            }
        }
    }

    fn extend(&self, set: &mut Keyed<'a>, elements: impl IntoIterator<Item = RowRef>) {
        for element in elements {
            let bytes = bytes_of(self.bytes, element);
            if set.get(bytes).is_none() {
                set.put(bytes, element);
            }
        }
    }
}

/// The collected lists of the groups.
///
/// # Errors
/// `Unsupported` for elements that cannot be compared.
pub(super) fn fold_lists(
    work: Work<'_>,
    column: &Column<'_>,
    data_type: &ArrowType,
    distinct: bool,
) -> Result<ArrayRef> {
    let lists = Lists::try_new(column)?;
    let bytes =
        if distinct || work.steps.is_some() { encode(&[&Column::new(lists.children.clone())])? } else { Vec::new() };
    let collect = Collect { lists: &lists, bytes: &bytes, distinct, older_first: work.ignore_retract };
    let mut output = ListOutput::new(work.groups.len());
    fold(work.groups, work.steps, work.ignore_retract, &collect, |state| match state {
        Collected::Null => {
            output.push_null();
            Ok(())
        }
        state => output.push(collect.list(state)),
    })?;
    output.finish(data_type, &lists.children)
}
