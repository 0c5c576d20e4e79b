//! Lists and maps of all open batches as ranges of elements, and ordered sets of elements by key.
//!
//! Invariants: elements are named by batch and position among the elements of the batch; nothing is copied before the
//! result is gathered.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BooleanBufferBuilder, ListArray, MapArray};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::DataType as ArrowType;
use arrow::row::{RowConverter, Rows, SortField};

use crate::error::{Error, Result};
use crate::merge::fold::{Column, RowRef};
use crate::merge::gather::take_rows;

/// A column of lists or maps.
#[derive(Debug)]
pub(super) struct Lists<'a> {
    pub(super) column: &'a Column<'a>,
    offsets: Vec<&'a [i32]>,
    /// Elements, or entries of maps.
    pub(super) children: Vec<&'a dyn Array>,
}

impl<'a> Lists<'a> {
    /// The lists of a column.
    ///
    /// # Errors
    /// `Internal` for another type.
    pub(super) fn try_new(column: &'a Column<'a>) -> Result<Self> {
        let (mut offsets, mut children) = (Vec::new(), Vec::new());
        for array in &column.arrays {
            if let Some(list) = array.as_list_opt::<i32>() {
                offsets.push(list.value_offsets());
                children.push(list.values().as_ref());
            } else if let Some(map) = array.as_map_opt() {
                offsets.push(map.value_offsets());
                let entries: &dyn Array = map.entries();
                children.push(entries);
            } else {
                return Err(Error::internal("a column must hold lists or maps"));
            }
        }
        Ok(Self { column, offsets, children })
    }

    /// The elements of a row; none for null.
    pub(super) fn elements(&self, row: RowRef) -> impl DoubleEndedIterator<Item = RowRef> + use<> {
        let range = match self.column.is_null(row) {
            true => 0..0,
            false => {
                let offsets = self.offsets[row.batch()];
                offsets[row.row()]..offsets[row.row() + 1]
            }
        };
        range.map(move |i| RowRef { batch: row.batch, row: i as u32 })
    }

    /// The fields of the elements, which must be rows: one column per field.
    ///
    /// # Errors
    /// `Internal` if they are no rows.
    pub(super) fn fields(&self) -> Result<Vec<Column<'a>>> {
        let structs: Option<Vec<_>> = self.children.iter().map(|c| c.as_struct_opt()).collect();
        let structs = structs.ok_or_else(|| Error::internal("elements must be rows"))?;
        let width = structs.first().map_or(0, |s| s.num_columns());
        let field = |i: usize| Column::new(structs.iter().map(|s| s.column(i).as_ref()).collect());
        Ok((0..width).map(field).collect())
    }
}

/// Columns as comparable bytes, by batch.
///
/// # Errors
/// `Unsupported` for a type that has no such bytes.
pub(super) fn encode(columns: &[&Column<'_>]) -> Result<Vec<Rows>> {
    let Some(first) = columns.first() else { return Ok(Vec::new()) };
    let Some(batch) = first.arrays.first() else { return Ok(Vec::new()) };
    debug_assert!(!batch.data_type().is_null());
    let fields = columns.iter().filter_map(|c| c.arrays.first());
    let converter = RowConverter::new(fields.map(|a| SortField::new(a.data_type().clone())).collect())?;
    let of_batch = |batch: usize| -> Result<Rows> {
        let arrays: Vec<ArrayRef> = columns.iter().map(|c| c.arrays[batch].slice(0, c.arrays[batch].len())).collect();
        Ok(converter.convert_columns(&arrays)?)
    };
    (0..first.arrays.len()).map(of_batch).collect()
}

/// The bytes of an element.
pub(super) fn bytes_of(rows: &[Rows], element: RowRef) -> &[u8] {
    rows[element.batch()].row(element.row()).data()
}

/// Elements by key, in the order in which the keys came first.
#[derive(Debug, Default)]
pub(super) struct Keyed<'a> {
    elements: Vec<Option<RowRef>>,
    index: HashMap<&'a [u8], usize>,
}

impl<'a> Keyed<'a> {
    /// The element with a key.
    pub(super) fn get(&self, key: &[u8]) -> Option<RowRef> {
        self.index.get(key).and_then(|&i| self.elements[i])
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// Adds an element, or replaces the one with its key.
    pub(super) fn put(&mut self, key: &'a [u8], element: RowRef) {
        match self.index.get(key) {
            Some(&i) => self.elements[i] = Some(element),
            None => {
                self.index.insert(key, self.elements.len());
                self.elements.push(Some(element));
            }
        }
    }

    /// Removes the element with a key.
    pub(super) fn remove(&mut self, key: &[u8]) {
        if let Some(i) = self.index.remove(key) {
            self.elements[i] = None;
        }
    }

    /// All elements.
    pub(super) fn iter(&self) -> impl Iterator<Item = RowRef> {
        self.elements.iter().copied().flatten()
    }
}

/// Lists of the result.
#[derive(Debug)]
pub(super) struct ListOutput {
    offsets: Vec<i32>,
    validity: BooleanBufferBuilder,
    elements: Vec<RowRef>,
}

impl ListOutput {
    /// For so many lists.
    pub(super) fn new(lists: usize) -> Self {
        let mut offsets = Vec::with_capacity(lists + 1);
        offsets.push(0);
        Self { offsets, validity: BooleanBufferBuilder::new(lists), elements: Vec::new() }
    }

    /// Adds null.
    pub(super) fn push_null(&mut self) {
        self.offsets.push(self.offsets.last().copied().unwrap_or(0));
        self.validity.append(false);
    }

    /// Adds a list.
    ///
    /// # Errors
    /// `Unsupported` for more elements than one batch can hold.
    pub(super) fn push(&mut self, elements: impl IntoIterator<Item = RowRef>) -> Result<()> {
        self.elements.extend(elements);
        let too_many = |_| Error::unsupported("a batch with more than 2^31 elements of lists is not supported");
        self.offsets.push(i32::try_from(self.elements.len()).map_err(too_many)?);
        self.validity.append(true);
        Ok(())
    }

    /// The lists as a column, whose elements are gathered from `children`.
    ///
    /// # Errors
    /// Those of Arrow; `Internal` for a type that is no list.
    pub(super) fn finish(self, data_type: &ArrowType, children: &[&dyn Array]) -> Result<ArrayRef> {
        let Self { offsets, validity, elements } = self;
        let gather = |element: &ArrowType| take_rows(children, &elements, element);
        assemble(data_type, offsets, validity, gather)
    }

    /// As [`ListOutput::finish`], with elements that `gather` makes.
    ///
    /// # Errors
    /// As there.
    pub(super) fn finish_with(
        self,
        data_type: &ArrowType,
        gather: impl FnOnce(&ArrowType) -> Result<ArrayRef>,
    ) -> Result<ArrayRef> {
        assemble(data_type, self.offsets, self.validity, gather)
    }
}

fn assemble(
    data_type: &ArrowType,
    offsets: Vec<i32>,
    mut validity: BooleanBufferBuilder,
    gather: impl FnOnce(&ArrowType) -> Result<ArrayRef>,
) -> Result<ArrayRef> {
    let offsets = OffsetBuffer::new(offsets.into());
    let nulls = Some(NullBuffer::new(validity.finish())).filter(|n| n.null_count() > 0);
    match data_type {
        ArrowType::List(field) => {
            let elements = gather(field.data_type())?;
            Ok(Arc::new(ListArray::try_new(Arc::clone(field), offsets, elements, nulls)?))
        }
        ArrowType::Map(field, sorted) => {
            let entries = gather(field.data_type())?;
            let entries = entries.as_struct_opt().cloned();
            let entries = entries.ok_or_else(|| Error::internal("entries of maps must be rows"))?;
            Ok(Arc::new(MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *sorted)?))
        }
        other => Err(Error::internal(format!("a column of type {other} holds no lists"))),
    }
}
