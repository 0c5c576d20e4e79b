//! `nested_update` and `nested_partial_update`: lists of rows, updated by key.
//!
//! Source: merge-engine sheet sections 5.1 and 5.3; `FieldNestedUpdateAgg.java`, `FieldNestedPartialUpdateAgg.java`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{ArrayRef, StructArray};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::Rows;

use super::choice::Work;
use super::entries::{Keyed, ListOutput, Lists, bytes_of, encode};
use crate::error::{Error, Result};
use crate::merge::fold::{Column, Fold, RowRef, fold, no_retraction};
use crate::merge::function::NullKeys;
use crate::merge::gather::take_rows;

/// The keys of elements.
struct Keys<'a> {
    columns: Vec<&'a Column<'a>>,
    bytes: &'a [Rows],
    nulls: NullKeys,
}

impl<'a> Keys<'a> {
    /// The key of an element, unless it is to be dropped.
    fn of(&self, element: RowRef) -> Result<Option<&'a [u8]>> {
        if self.nulls != NullKeys::Merge && self.columns.iter().any(|c| c.is_null(element)) {
            if self.nulls == NullKeys::Ignore {
                return Ok(None);
            }
            let text = "Nested key contains null values. Primary key fields must not be null.";
            return Err(Error::invalid_input(text));
        }
        Ok(Some(bytes_of(self.bytes, element)))
    }
}

enum Nested<'a> {
    Null,
    /// The list of a row as it is.
    Row(RowRef),
    List(Vec<RowRef>),
    Keyed(Keyed<'a>),
}

struct Update<'a> {
    lists: &'a Lists<'a>,
    elements: &'a Column<'a>,
    /// Without keys rows are appended.
    keys: Option<Keys<'a>>,
    /// What orders rows of one key.
    sequence: Option<&'a [Rows]>,
    /// Whole elements, if they are compared.
    bytes: &'a [Rows],
    limit: usize,
}

impl<'a> Fold for Update<'a> {
    type State = Nested<'a>;

    fn fresh(&self) -> Nested<'a> {
        Nested::Null
    }

    fn fill(&self, state: &mut Nested<'a>, row: RowRef) -> Result<()> {
        *state = if self.lists.column.is_null(row) { Nested::Null } else { Nested::Row(row) };
        Ok(())
    }

    fn add(&self, state: &mut Nested<'a>, row: RowRef) -> Result<()> {
        if self.lists.column.is_null(row) {
            return Ok(());
        }
        *state = match std::mem::replace(state, Nested::Null) {
            Nested::Null => Nested::Row(row),
            there => self.appended(there, self.lists.elements(row))?,
        };
        Ok(())
    }

    /// The roles are swapped: what is there is added to the list of the row.
    fn add_older(&self, state: &mut Nested<'a>, row: RowRef) -> Result<()> {
        if self.lists.column.is_null(row) {
            return Ok(());
        }
        *state = match std::mem::replace(state, Nested::Null) {
            Nested::Null => Nested::Row(row),
            there => self.appended(Nested::Row(row), self.list(there).into_iter())?,
        };
        Ok(())
    }

    fn retract(&self, state: &mut Nested<'a>, row: RowRef, _: bool) -> Result<()> {
        if matches!(state, Nested::Null) || self.lists.column.is_null(row) {
            return Ok(());
        }
        let there = std::mem::replace(state, Nested::Null);
        let gone = self.lists.elements(row).filter(|&e| !self.elements.is_null(e));
        *state = match &self.keys {
            Some(keys) => {
                let mut keyed = self.keyed(keys, there)?;
                for element in gone {
                    if let Some(key) = keys.of(element)? {
                        keyed.remove(key);
                    }
                }
                Nested::Keyed(keyed)
            }
            None => {
                let gone: Vec<&[u8]> = gone.map(|e| bytes_of(self.bytes, e)).collect();
                let mut list = self.list(there);
                list.retain(|&e| !self.elements.is_null(e) && !gone.contains(&bytes_of(self.bytes, e)));
                Nested::List(list)
            }
        };
        Ok(())
    }
}

impl<'a> Update<'a> {
    fn list(&self, state: Nested<'a>) -> Vec<RowRef> {
        match state {
            Nested::Null => Vec::new(),
            Nested::Row(row) => self.lists.elements(row).collect(),
            Nested::List(list) => list,
            Nested::Keyed(keyed) => keyed.iter().collect(),
        }
    }

    fn keyed(&self, keys: &Keys<'a>, state: Nested<'a>) -> Result<Keyed<'a>> {
        match state {
            Nested::Keyed(keyed) => Ok(keyed),
            other => {
                let mut keyed = Keyed::default();
                for element in self.list(other) {
                    self.put(keys, &mut keyed, element, usize::MAX)?;
                }
                Ok(keyed)
            }
        }
    }

    fn appended(&self, there: Nested<'a>, elements: impl Iterator<Item = RowRef>) -> Result<Nested<'a>> {
        if let Some(keys) = &self.keys {
            let mut keyed = self.keyed(keys, there)?;
            for element in elements {
                self.put(keys, &mut keyed, element, self.limit)?;
            }
            return Ok(Nested::Keyed(keyed));
        }
        let mut list = self.list(there);
        list.retain(|&e| !self.elements.is_null(e));
        let room = self.limit.saturating_sub(list.len());
        list.extend(elements.filter(|&e| !self.elements.is_null(e)).take(room));
        Ok(Nested::List(list))
    }

    fn put(&self, keys: &Keys<'a>, keyed: &mut Keyed<'a>, element: RowRef, limit: usize) -> Result<()> {
        if self.elements.is_null(element) {
            return Ok(());
        }
        let Some(key) = keys.of(element)? else { return Ok(()) };
        let known = keyed.get(key);
        let replaces = match (known, self.sequence) {
            (None, _) => keyed.len() < limit,
            (Some(_), None) => true,
            (Some(known), Some(sequence)) => bytes_of(sequence, element) >= bytes_of(sequence, known),
        };
        if replaces {
            keyed.put(key, element);
        }
        Ok(())
    }
}

/// What a nested function is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct NestedOptions<'a> {
    pub(super) keys: &'a [usize],
    pub(super) nulls: NullKeys,
    pub(super) sequence: &'a [usize],
    pub(super) limit: usize,
}

/// The updated lists of the groups.
///
/// # Errors
/// `InvalidInput` for null keys that are refused; `Unsupported` for keys that cannot be compared.
pub(super) fn fold_nested(
    work: Work<'_>,
    column: &Column<'_>,
    data_type: &ArrowType,
    options: NestedOptions<'_>,
) -> Result<ArrayRef> {
    let lists = Lists::try_new(column)?;
    let fields = lists.fields()?;
    let elements = Column::new(lists.children.clone());
    let of = |positions: &[usize]| encode(&positions.iter().map(|&i| &fields[i]).collect::<Vec<_>>());
    let key_bytes = of(options.keys)?;
    let sequence = of(options.sequence)?;
    let bytes = if options.keys.is_empty() && work.steps.is_some() { encode(&[&elements])? } else { Vec::new() };
    let update = Update {
        lists: &lists,
        elements: &elements,
        keys: (!options.keys.is_empty()).then(|| Keys {
            columns: options.keys.iter().map(|&i| &fields[i]).collect(),
            bytes: &key_bytes,
            nulls: options.nulls,
        }),
        sequence: (!options.sequence.is_empty()).then_some(sequence.as_slice()),
        bytes: &bytes,
        limit: options.limit,
    };
    let mut output = ListOutput::new(work.groups.len());
    fold(work.groups, work.steps, work.ignore_retract, &update, |state| match state {
        Nested::Null => {
            output.push_null();
            Ok(())
        }
        state => output.push(update.list(state)),
    })?;
    output.finish(data_type, &lists.children)
}

/// Rows by key, each field of which comes from an element.
#[derive(Default)]
struct Patched<'a> {
    rows: Vec<Vec<RowRef>>,
    index: HashMap<&'a [u8], usize>,
}

enum Partial<'a> {
    Null,
    Row(RowRef),
    Patched(Patched<'a>),
}

struct PartialUpdate<'a> {
    lists: &'a Lists<'a>,
    elements: &'a Column<'a>,
    fields: &'a [Column<'a>],
    keys: Keys<'a>,
}

impl<'a> Fold for PartialUpdate<'a> {
    type State = Partial<'a>;

    fn fresh(&self) -> Partial<'a> {
        Partial::Null
    }

    fn fill(&self, state: &mut Partial<'a>, row: RowRef) -> Result<()> {
        *state = if self.lists.column.is_null(row) { Partial::Null } else { Partial::Row(row) };
        Ok(())
    }

    fn add(&self, state: &mut Partial<'a>, row: RowRef) -> Result<()> {
        if self.lists.column.is_null(row) {
            return Ok(());
        }
        *state = match std::mem::replace(state, Partial::Null) {
            Partial::Null => Partial::Row(row),
            there => {
                let mut patched = self.patched(there)?;
                self.patch_all(&mut patched, row)?;
                Partial::Patched(patched)
            }
        };
        Ok(())
    }

    fn add_older(&self, state: &mut Partial<'a>, row: RowRef) -> Result<()> {
        if self.lists.column.is_null(row) {
            return Ok(());
        }
        *state = match std::mem::replace(state, Partial::Null) {
            Partial::Null => Partial::Row(row),
            there => {
                let mut older = self.patched(Partial::Row(row))?;
                let newer = self.patched(there)?;
                for (key, at) in newer.index {
                    patch(&mut older, key, newer.rows[at].iter().copied());
                }
                Partial::Patched(older)
            }
        };
        Ok(())
    }

    fn retract(&self, _: &mut Partial<'a>, _: RowRef, _: bool) -> Result<()> {
        Err(no_retraction("nested_partial_update"))
    }
}

impl<'a> PartialUpdate<'a> {
    fn patched(&self, state: Partial<'a>) -> Result<Patched<'a>> {
        match state {
            Partial::Patched(patched) => Ok(patched),
            Partial::Null => Ok(Patched::default()),
            Partial::Row(row) => {
                let mut patched = Patched::default();
                self.patch_all(&mut patched, row)?;
                Ok(patched)
            }
        }
    }

    fn patch_all(&self, patched: &mut Patched<'a>, row: RowRef) -> Result<()> {
        for element in self.lists.elements(row).filter(|&e| !self.elements.is_null(e)) {
            if let Some(key) = self.keys.of(element)? {
                patch(patched, key, self.fields.iter().map(|field| field.unless_null(element)));
            }
        }
        Ok(())
    }
}

fn patch<'a>(patched: &mut Patched<'a>, key: &'a [u8], fields: impl Iterator<Item = RowRef>) {
    let Some(&at) = patched.index.get(key) else {
        patched.index.insert(key, patched.rows.len());
        patched.rows.push(fields.collect());
        return;
    };
    for (known, field) in patched.rows[at].iter_mut().zip(fields) {
        if field.is_some() {
            *known = field;
        }
    }
}

/// The lists of the groups, whose rows are updated field by field.
///
/// # Errors
/// As [`fold_nested`], and `Unsupported` for retracts.
pub(super) fn fold_nested_partial(
    work: Work<'_>,
    column: &Column<'_>,
    data_type: &ArrowType,
    keys: &[usize],
    nulls: NullKeys,
) -> Result<ArrayRef> {
    let lists = Lists::try_new(column)?;
    let fields = lists.fields()?;
    let elements = Column::new(lists.children.clone());
    let columns: Vec<&Column<'_>> = keys.iter().map(|&i| &fields[i]).collect();
    let bytes = encode(&columns)?;
    let keys = Keys { columns, bytes: &bytes, nulls };
    let update = PartialUpdate { lists: &lists, elements: &elements, fields: &fields, keys };
    let mut output = ListOutput::new(work.groups.len());
    // The element of the result that each field of it comes from.
    let mut sources: Vec<Vec<RowRef>> = vec![Vec::new(); fields.len()];
    let mut whole: Vec<RowRef> = Vec::new();
    fold(work.groups, work.steps, work.ignore_retract, &update, |state| {
        let rows: Vec<Vec<RowRef>> = match state {
            Partial::Null => {
                output.push_null();
                return Ok(());
            }
            Partial::Row(row) => {
                let of_element = |e: RowRef| fields.iter().map(|field| field.unless_null(e)).collect();
                lists.elements(row).map(of_element).collect()
            }
            Partial::Patched(patched) => patched.rows,
        };
        for row in &rows {
            whole.push(RowRef::NONE);
            for (source, &field) in sources.iter_mut().zip(row) {
                source.push(field);
            }
        }
        output.push(rows.iter().map(|_| RowRef::NONE))
    })?;
    output.finish_with(data_type, |element| {
        let ArrowType::Struct(of_element) = element else {
            return Err(Error::internal("elements must be rows"));
        };
        let gathered = of_element.iter().zip(&fields).zip(&sources);
        let gathered = gathered.map(|((field, column), rows)| take_rows(&column.arrays, rows, field.data_type()));
        let gathered = gathered.collect::<Result<Vec<_>>>()?;
        Ok(Arc::new(StructArray::try_new_with_length(of_element.clone(), gathered, None, whole.len())?))
    })
}
