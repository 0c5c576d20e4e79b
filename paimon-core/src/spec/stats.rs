//! Minimum, maximum and null count of columns, as metadata stores them.

use super::avro::{Cursor, FieldName, Shape, put_bytes, put_list, put_long, put_optional, required};
use crate::error::Result;
use crate::row::BinaryRow;

/// Statistics of some columns: two rows of bounds and a list of null counts, all in the same order.
///
/// A bound that is null while the null count is below the row count is unknown. Empty statistics have rows of arity 0
/// and no counts. Source: `stats/SimpleStats.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleStats {
    /// Lower bounds.
    pub min_values: BinaryRow,
    /// Upper bounds.
    pub max_values: BinaryRow,
    /// Null counts; an inner `None` is unknown.
    pub null_counts: Vec<Option<i64>>,
}

impl SimpleStats {
    /// Statistics of no column.
    pub fn empty() -> Self {
        Self { min_values: BinaryRow::empty(), max_values: BinaryRow::empty(), null_counts: Vec::new() }
    }

    /// Reads a record of statistics; null, as files before 0.9 may have, is empty.
    pub(super) fn decode(cursor: &mut Cursor<'_>, shape: &Shape) -> Result<Self> {
        let (mut min, mut max, mut counts) = (None, None, None);
        let present = cursor.record(shape, |c, name, shape| {
            match name {
                FieldName::MinValues => min = c.row(shape)?,
                FieldName::MaxValues => max = c.row(shape)?,
                FieldName::NullCounts => counts = c.list(shape, |c, item| c.long(item))?,
                _ => c.skip(shape)?,
            }
            Ok(())
        })?;
        if !present {
            return Ok(Self::empty());
        }
        Ok(Self {
            min_values: required(min, FieldName::MinValues)?,
            max_values: required(max, FieldName::MaxValues)?,
            null_counts: counts.unwrap_or_default(),
        })
    }

    /// Writes the record.
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_bytes(out, &self.min_values.to_serialized());
        put_bytes(out, &self.max_values.to_serialized());
        put_optional(out, Some(&self.null_counts), |out, counts| {
            put_list(out, counts, |out, count| put_optional(out, *count, put_long));
        });
    }
}
