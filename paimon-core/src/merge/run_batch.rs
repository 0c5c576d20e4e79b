//! A batch that takes part in a merge: its columns, comparable keys, and what orders rows of one key.
//!
//! Invariants: memory is reserved as long as the batch lives. Source: merge-engine sheet section 1 "Order inside the
//! group".

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::buffer::{BooleanBuffer, ScalarBuffer};
use arrow::datatypes::{Int32Type, Int64Type, SchemaRef};
use arrow::record_batch::RecordBatch;

use super::kinds::{is_retract, row_kinds};
use super::order_key::{KeyEncoder, Keys, Prefix};
use super::rule::MergeRule;
use crate::error::{Error, Result};
use crate::runtime::{MemoryBudget, Reservation};
use crate::types::{DataField, SEQUENCE_NUMBER};

/// Name of a column of runs whose rows tell their level.
pub(crate) const LEVEL: &str = "_LEVEL";

/// One batch of a run.
#[derive(Debug)]
pub(super) struct RunBatch<P> {
    /// The columns of the result, in its order.
    pub(super) columns: Vec<ArrayRef>,
    /// The keys.
    pub(super) keys: Keys<P>,
    /// Whether every key is greater than the one before.
    pub(super) strictly_sorted: bool,
    /// Whether a row is of kind `-U` or `-D`.
    pub(super) has_retracts: bool,
    kinds: ScalarBuffer<i8>,
    sequences: ScalarBuffer<i64>,
    user_sequences: Option<Keys<u128>>,
    /// What orders rows in sequence groups, by number of the group; `None` for groups that nothing asks for.
    pub(super) orderings: Vec<Option<GroupOrder>>,
    /// The levels of the rows, if they count and are known.
    levels: Option<ScalarBuffer<i32>>,
    _memory: Reservation,
}

impl<P: Prefix> RunBatch<P> {
    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether the row takes something away.
    pub(super) fn is_retract(&self, row: usize) -> bool {
        is_retract(self.kinds[row])
    }

    /// The row kind as a byte.
    pub(super) fn kind(&self, row: usize) -> i8 {
        self.kinds[row]
    }

    /// The level; 0, as in a write buffer, if it is not known.
    pub(super) fn level(&self, row: usize) -> i32 {
        self.levels.as_ref().map_or(0, |levels| levels[row])
    }

    /// The sequence number.
    pub(super) fn sequence(&self, row: usize) -> i64 {
        self.sequences[row]
    }

    /// The ranges of rows among `start .. end` that are no retracts.
    pub(super) fn adds(&self, start: usize, end: usize) -> impl Iterator<Item = (usize, usize)> {
        let mut next = start;
        std::iter::from_fn(move || {
            let first = (next..end).find(|&row| !self.is_retract(row))?;
            next = (first..end).find(|&row| self.is_retract(row)).unwrap_or(end);
            Some((first, next))
        })
    }

    /// Compares the age of two rows of one key: the greater one is newer. Sequence fields, then sequence number, then
    /// retracts before adds.
    pub(super) fn compare_age(&self, row: usize, other: &Self, other_row: usize) -> Ordering {
        let user = match (&self.user_sequences, &other.user_sequences) {
            (Some(a), Some(b)) => a.compare(row, b, other_row),
            _ => Ordering::Equal,
        };
        user.then_with(|| self.sequences[row].cmp(&other.sequences[other_row]))
            .then_with(|| other.is_retract(other_row).cmp(&self.is_retract(row)))
    }
}

/// The ordering columns of a sequence group.
#[derive(Debug)]
pub(super) struct GroupOrder {
    /// Nulls are least.
    pub(super) keys: Keys<u128>,
    /// The rows of which all ordering columns are null, if there may be any.
    all_null: Option<BooleanBuffer>,
}

impl GroupOrder {
    /// Whether all ordering columns of a row are null.
    pub(super) fn is_null(&self, row: usize) -> bool {
        self.all_null.as_ref().is_some_and(|nulls| nulls.value(row))
    }

    fn try_new(encoder: &GroupEncoder, batch: &RecordBatch) -> Result<Self> {
        let mut all_null: Option<BooleanBuffer> = None;
        for (i, field) in encoder.fields.iter().enumerate() {
            let nulls = column(batch, &field.name)?.logical_nulls().map(|n| !n.inner());
            all_null = match (all_null, nulls) {
                (_, None) => {
                    all_null = None;
                    break;
                }
                (None, nulls) if i == 0 => nulls,
                (Some(a), Some(b)) => Some(&a & &b),
                (None, _) => None,
            };
        }
        Ok(Self { keys: encoder.keys.encode(batch)?, all_null })
    }
}

/// Makes [`GroupOrder`]s of a sequence group.
#[derive(Debug, Clone)]
struct GroupEncoder {
    keys: KeyEncoder,
    /// The ordering columns.
    fields: Vec<DataField>,
}

/// Makes [`RunBatch`]es.
#[derive(Debug, Clone)]
pub(super) struct BatchPreparer {
    keys: KeyEncoder,
    user_sequences: Option<KeyEncoder>,
    /// The encoders of the sequence groups that the result asks for, with their ordering columns.
    orderings: Vec<Option<GroupEncoder>>,
    needs_levels: bool,
    result: SchemaRef,
    memory: Arc<dyn MemoryBudget>,
}

impl BatchPreparer {
    /// For results of schema `result`, whose columns are found in the batches by name.
    ///
    /// # Errors
    /// `Unsupported` for a key or sequence field without order.
    pub(super) fn try_new(rule: &MergeRule, result: SchemaRef, memory: Arc<dyn MemoryBudget>) -> Result<Self> {
        let user_sequences = match rule.sequence() {
            [] => None,
            fields => Some(KeyEncoder::try_new(fields, rule.descending())?),
        };
        let keys = KeyEncoder::try_new(rule.key(), false)?;
        let orderings = orderings(rule, &result)?;
        Ok(Self { keys, user_sequences, orderings, needs_levels: rule.needs_levels(), result, memory })
    }

    /// Whether 64 bits hold the whole key.
    pub(super) fn fits_u64(&self) -> bool {
        self.keys.fits_u64()
    }

    /// The schema of the result.
    pub(super) fn result(&self) -> &SchemaRef {
        &self.result
    }

    /// Prepares a batch.
    ///
    /// # Errors
    /// `Internal` if a column is missing; `Corrupt` for nulls or row kinds that may not be; `MemoryExhausted`.
    pub(super) fn prepare<P: Prefix>(&self, batch: &RecordBatch) -> Result<RunBatch<P>> {
        let columns = self.result.fields().iter().map(|f| column(batch, f.name()).cloned());
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let keys = self.keys.encode::<P>(batch)?;
        let user_sequences = self.user_sequences.as_ref().map(|e| e.encode::<u128>(batch)).transpose()?;
        let kinds = ScalarBuffer::from(row_kinds(batch)?.to_vec());
        let sequences = sequences(batch)?;
        let order = |encoder: &Option<GroupEncoder>| {
            encoder.as_ref().map(|encoder| GroupOrder::try_new(encoder, batch)).transpose()
        };
        let orderings = self.orderings.iter().map(order).collect::<Result<Vec<_>>>()?;
        let levels = if self.needs_levels { levels(batch)? } else { None };

        let gathered: usize = columns.iter().map(|c| c.to_data().get_slice_memory_size().unwrap_or_default()).sum();
        let of_groups: usize = orderings.iter().flatten().map(|o| o.keys.size()).sum();
        let ordering = kinds.len() * 9 + keys.size() + user_sequences.as_ref().map_or(0, Keys::size) + of_groups;
        let mut memory = Reservation::new(Arc::clone(&self.memory));
        memory.try_resize(gathered + ordering)?;
        Ok(RunBatch {
            columns,
            strictly_sorted: is_strictly_sorted(&keys),
            has_retracts: kinds.iter().any(|&k| is_retract(k)),
            keys,
            kinds,
            sequences,
            user_sequences,
            orderings,
            levels,
            _memory: memory,
        })
    }
}

fn column<'a>(batch: &'a RecordBatch, name: &str) -> Result<&'a ArrayRef> {
    batch.column_by_name(name).ok_or_else(|| Error::internal(format!("a batch to be merged lacks column {name}")))
}

fn orderings(rule: &MergeRule, result: &SchemaRef) -> Result<Vec<Option<GroupEncoder>>> {
    let needed = rule.groups_of(&rule.ids_of(result));
    let encoder = |(number, ordering): (usize, &Vec<DataField>)| {
        if !needed.contains(&number) {
            return Ok(None);
        }
        Ok(Some(GroupEncoder { keys: KeyEncoder::try_new(ordering, false)?, fields: ordering.clone() }))
    };
    rule.orderings().enumerate().map(encoder).collect()
}

/// The levels of the rows, if the batch tells them.
fn levels(batch: &RecordBatch) -> Result<Option<ScalarBuffer<i32>>> {
    let Some(column) = batch.column_by_name(LEVEL) else { return Ok(None) };
    let levels = column.as_primitive_opt::<Int32Type>().filter(|c| c.null_count() == 0);
    let levels = levels.ok_or_else(|| Error::internal(format!("{LEVEL} must be INT without nulls")))?;
    Ok(Some(levels.values().clone()))
}

fn sequences(batch: &RecordBatch) -> Result<ScalarBuffer<i64>> {
    let column = column(batch, SEQUENCE_NUMBER)?;
    let sequences = column.as_primitive_opt::<Int64Type>().filter(|c| c.null_count() == 0);
    let sequences =
        sequences.ok_or_else(|| Error::corrupt(format!("{SEQUENCE_NUMBER} must be BIGINT without nulls")))?;
    Ok(sequences.values().clone())
}

fn is_strictly_sorted<P: Prefix>(keys: &Keys<P>) -> bool {
    if keys.is_exact() {
        keys.prefixes().windows(2).all(|pair| pair[0] < pair[1])
    } else {
        (1..keys.len()).all(|i| keys.compare(i - 1, keys, i) == Ordering::Less)
    }
}
