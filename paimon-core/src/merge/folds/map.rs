//! `merge_map` and `merge_map_with_keytime`: maps united key by key.
//!
//! Source: merge-engine sheet sections 5.1 and 5.3; `FieldMergeMapAgg.java`, `FieldMergeMapWithKeyTimeAgg.java`.

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType as ArrowType;
use arrow::row::Rows;

use super::choice::Work;
use super::entries::{Keyed, ListOutput, Lists, bytes_of, encode};
use crate::error::{Error, Result};
use crate::merge::fold::{Column, Fold, RowRef, fold, no_retraction};

enum Merged<'a> {
    Null,
    /// The map of a row as it is.
    Row(RowRef),
    Map(Keyed<'a>),
}

/// What decides between two values of a key, if not the order of rows.
struct Times<'a> {
    /// Values of the maps, which are rows.
    values: &'a Column<'a>,
    /// The times of the values as text, by batch.
    texts: Vec<StringArray>,
}

impl Times<'_> {
    fn time(&self, entry: RowRef) -> Option<&str> {
        let texts = &self.texts[entry.batch()];
        (!self.values.is_null(entry) && texts.is_valid(entry.row())).then(|| texts.value(entry.row()))
    }
}

struct Maps<'a> {
    lists: &'a Lists<'a>,
    keys: &'a [Rows],
    times: Option<Times<'a>>,
}

impl<'a> Fold for Maps<'a> {
    type State = Merged<'a>;

    fn fresh(&self) -> Merged<'a> {
        Merged::Null
    }

    fn fill(&self, state: &mut Merged<'a>, row: RowRef) -> Result<()> {
        *state = if self.lists.column.is_null(row) { Merged::Null } else { Merged::Row(row) };
        Ok(())
    }

    fn add(&self, state: &mut Merged<'a>, row: RowRef) -> Result<()> {
        if self.lists.column.is_null(row) {
            return Ok(());
        }
        *state = match std::mem::replace(state, Merged::Null) {
            Merged::Null => Merged::Row(row),
            there => {
                let mut map = self.map(there);
                self.put_all(&mut map, self.lists.elements(row));
                Merged::Map(map)
            }
        };
        Ok(())
    }

    /// The roles are swapped: what is there is put into the map of the row.
    fn add_older(&self, state: &mut Merged<'a>, row: RowRef) -> Result<()> {
        if self.lists.column.is_null(row) {
            return Ok(());
        }
        *state = match std::mem::replace(state, Merged::Null) {
            Merged::Null => Merged::Row(row),
            there => {
                let mut map = self.map(Merged::Row(row));
                self.put_all(&mut map, self.map(there).iter());
                Merged::Map(map)
            }
        };
        Ok(())
    }

    fn retract(&self, state: &mut Merged<'a>, row: RowRef, _: bool) -> Result<()> {
        if self.times.is_some() {
            return Err(no_retraction("merge_map_with_keytime"));
        }
        if matches!(state, Merged::Null) || self.lists.column.is_null(row) {
            return Ok(());
        }
        let mut map = self.map(std::mem::replace(state, Merged::Null));
        for entry in self.lists.elements(row) {
            map.remove(bytes_of(self.keys, entry));
        }
        *state = Merged::Map(map);
        Ok(())
    }
}

impl<'a> Maps<'a> {
    fn map(&self, state: Merged<'a>) -> Keyed<'a> {
        match state {
            Merged::Map(map) => map,
            Merged::Null => Keyed::default(),
            Merged::Row(row) => {
                let mut map = Keyed::default();
                for entry in self.lists.elements(row) {
                    map.put(bytes_of(self.keys, entry), entry);
                }
                map
            }
        }
    }

    fn put_all(&self, map: &mut Keyed<'a>, entries: impl Iterator<Item = RowRef>) {
        for entry in entries {
            let key = bytes_of(self.keys, entry);
            match &self.times {
                None => map.put(key, entry),
                Some(times) if times.values.is_null(entry) => map.remove(key),
                Some(times) => {
                    let Some(time) = times.time(entry) else { continue };
                    let known = map.get(key).and_then(|known| times.time(known));
                    if known.is_none_or(|known| time > known) {
                        map.put(key, entry);
                    }
                }
            }
        }
    }
}

/// The united maps of the groups; `time` is the position of the field of the values that decides.
///
/// # Errors
/// `Unsupported` for keys that cannot be compared and times that have no text.
pub(super) fn fold_maps(
    work: Work<'_>,
    column: &Column<'_>,
    data_type: &ArrowType,
    time: Option<usize>,
) -> Result<ArrayRef> {
    let lists = Lists::try_new(column)?;
    let mut fields = lists.fields()?.into_iter();
    let (Some(keys), Some(values)) = (fields.next(), fields.next()) else {
        return Err(Error::internal("entries of maps must have a key and a value"));
    };
    let keys = encode(&[&keys])?;
    let times = match time {
        None => None,
        Some(field) => Some(Times { texts: times_of(&values, field)?, values: &values }),
    };
    let maps = Maps { lists: &lists, keys: &keys, times };
    let mut output = ListOutput::new(work.groups.len());
    fold(work.groups, work.steps, work.ignore_retract, &maps, |state| match state {
        Merged::Null => {
            output.push_null();
            Ok(())
        }
        Merged::Row(row) => output.push(lists.elements(row)),
        Merged::Map(map) => output.push(map.iter()),
    })?;
    output.finish(data_type, &lists.children)
}

fn times_of(values: &Column<'_>, field: usize) -> Result<Vec<StringArray>> {
    let of_batch = |array: &&dyn Array| {
        let rows = array.as_struct_opt().ok_or_else(|| Error::internal("values of maps must be rows"))?;
        let times = rows.column(field);
        match times.data_type() {
            ArrowType::Utf8 | ArrowType::Int8 | ArrowType::Int16 | ArrowType::Int32 | ArrowType::Int64 => {
                Ok(cast(times, &ArrowType::Utf8)?.as_string::<i32>().clone())
            }
            other => Err(Error::unsupported(format!(
                "aggregate function 'merge_map_with_keytime' with times of type {other} is not supported"
            ))),
        }
    };
    values.arrays.iter().map(of_batch).collect()
}
