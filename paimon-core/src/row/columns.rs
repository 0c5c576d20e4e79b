//! Columns to binary rows and to their hashes, column by column.
//!
//! Invariants: the bytes equal those of [`BinaryRow::encode`] on the same values; one buffer holds all rows of a batch.
//! Source: binary-row sheet sections 1, 3 and 5.

use arrow::array::types::*;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};
use arrow::datatypes::{DataType as ArrowType, TimeUnit};
use bytes::Bytes;

use super::binary_row::{check_size, nested};
use super::hash::{hash_single_slot, hash_words};
use super::layout::{RowSlots, Slot, WIDE_DECIMAL_SIZE, WIDE_TIMESTAMP_SIZE, bytes_size, fixed_size};
use super::{BinaryRow, NullLayout};
use crate::error::{Error, Result};
use crate::types::{DataType, Timestamp, arrow_type};

/// The binary row of each row of `columns`, which have the Arrow types of `types` (other encodings of the same values are
/// cast).
///
/// # Errors
/// `InvalidInput` if a column does not have its type; `Unsupported` for nested types.
pub fn encode_columns(columns: &[ArrayRef], types: &[DataType], nulls: NullLayout) -> Result<Vec<BinaryRow>> {
    let rows = Encoded::try_new(columns, types, nulls)?;
    let bytes = Bytes::from(rows.buffer);
    let row = |w: &[usize]| BinaryRow::from_layout(types.len(), bytes.slice(w[0]..w[1]));
    Ok(rows.offsets.windows(2).map(row).collect())
}

/// The hash of the binary row, in layout [`NullLayout::Reserved`], of each row of `columns`.
///
/// # Errors
/// As [`encode_columns`].
pub fn hash_columns(columns: &[ArrayRef], types: &[DataType]) -> Result<Vec<i32>> {
    if let ([column], [data_type]) = (columns, types)
        && Slot::of(data_type) == Slot::Fixed
    {
        return hash_fixed(&normalize(column, data_type)?, data_type);
    }
    let rows = Encoded::try_new(columns, types, NullLayout::Reserved)?;
    Ok(rows.offsets.windows(2).map(|w| hash_words(&rows.buffer[w[0]..w[1]])).collect())
}

/// The rows of a batch, one after another.
struct Encoded {
    buffer: Vec<u8>,
    offsets: Vec<usize>,
}

impl Encoded {
    fn try_new(columns: &[ArrayRef], types: &[DataType], nulls: NullLayout) -> Result<Self> {
        if columns.len() != types.len() {
            let (found, expected) = (columns.len(), types.len());
            return Err(Error::invalid_input(format!("expected {expected} columns for binary rows, found {found}")));
        }
        let Some(first) = columns.first() else {
            return Err(Error::invalid_input("binary rows need at least one column"));
        };
        let len = first.len();
        if columns.iter().any(|c| c.len() != len) {
            return Err(Error::invalid_input("the columns of binary rows differ in length"));
        }
        let columns = columns.iter().zip(types).map(|(c, t)| normalize(c, t)).collect::<Result<Vec<_>>>()?;
        let arity = types.len();
        let mut sizes = vec![fixed_size(arity); len];
        for (column, data_type) in columns.iter().zip(types) {
            add_sizes(&mut sizes, column, data_type, nulls);
        }
        let mut offsets = Vec::with_capacity(len + 1);
        let mut end = 0usize;
        offsets.push(end);
        for size in sizes {
            check_size(size)?;
            end += size;
            offsets.push(end);
        }
        let mut rows = Rows { buffer: vec![0; end], cursors: vec![fixed_size(arity); len], offsets, arity, nulls };
        for (position, (column, data_type)) in columns.iter().zip(types).enumerate() {
            rows.put_column(position, column, data_type)?;
        }
        Ok(Self { buffer: rows.buffer, offsets: rows.offsets })
    }
}

/// The column in the Arrow type of its data type; casts only between encodings of the same values.
fn normalize(column: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let expected = arrow_type(data_type);
    let found = column.data_type();
    if *found == expected || matches!(expected, ArrowType::Timestamp(..)) && matches!(found, ArrowType::Timestamp(..)) {
        return Ok(column.clone());
    }
    let value = match found {
        ArrowType::Dictionary(_, value) => value.as_ref(),
        ArrowType::RunEndEncoded(_, values) => values.data_type(),
        other => other,
    };
    let same_values = *value == expected
        || value.is_null()
        || value.is_string() && expected.is_string()
        || value.is_binary() && expected.is_binary();
    if !same_values {
        return Err(Error::invalid_input(format!("expected a column of Arrow type {expected}, found {found}")));
    }
    Ok(arrow::compute::cast(column, &expected)?)
}

fn add_sizes(sizes: &mut [usize], column: &ArrayRef, data_type: &DataType, nulls: NullLayout) {
    let slot = Slot::of(data_type);
    let null_size = slot.null_size(nulls);
    let add_width = |sizes: &mut [usize], width: usize| {
        for (row, size) in sizes.iter_mut().enumerate() {
            *size += if column.is_null(row) { null_size } else { width };
        }
    };
    match slot {
        Slot::Fixed | Slot::Nested => {}
        Slot::WideDecimal => add_width(sizes, WIDE_DECIMAL_SIZE),
        Slot::WideTimestamp => add_width(sizes, WIDE_TIMESTAMP_SIZE),
        Slot::Bytes => {
            let mut add_lengths = |offsets: &[i32]| {
                for (row, (size, ends)) in sizes.iter_mut().zip(offsets.windows(2)).enumerate() {
                    if column.is_valid(row) {
                        *size += bytes_size((ends[1] - ends[0]) as usize);
                    }
                }
            };
            match column.data_type() {
                ArrowType::Utf8 => add_lengths(column.as_string::<i32>().value_offsets()),
                ArrowType::LargeBinary => {
                    let values = column.as_binary::<i64>();
                    for (row, size) in sizes.iter_mut().enumerate() {
                        *size += if column.is_valid(row) { bytes_size(values.value(row).len()) } else { 0 };
                    }
                }
                _ => add_lengths(column.as_binary::<i32>().value_offsets()),
            }
        }
    }
}

struct Rows {
    buffer: Vec<u8>,
    offsets: Vec<usize>,
    /// Per row, where its next variable part goes.
    cursors: Vec<usize>,
    arity: usize,
    nulls: NullLayout,
}

impl Rows {
    /// Puts one column into all rows; `put` puts the value of a row that is not null.
    fn each(
        &mut self,
        position: usize,
        column: &dyn Array,
        slot: Slot,
        mut put: impl FnMut(&mut RowSlots<'_>, usize) -> Result<()>,
    ) -> Result<()> {
        let nulls = column.logical_nulls();
        for (row, cursor) in self.cursors.iter_mut().enumerate() {
            let bytes = &mut self.buffer[self.offsets[row]..self.offsets[row + 1]];
            let mut slots = RowSlots::resume(bytes, self.arity, *cursor);
            if nulls.as_ref().is_some_and(|n| n.is_null(row)) {
                slots.put_null(position, slot, self.nulls);
            } else {
                put(&mut slots, row)?;
            }
            *cursor = slots.cursor();
        }
        Ok(())
    }

    fn primitive<T: ArrowPrimitiveType, const N: usize>(
        &mut self,
        position: usize,
        column: &ArrayRef,
        bytes: impl Fn(T::Native) -> [u8; N],
    ) -> Result<()> {
        let values = column.as_primitive::<T>().values();
        self.each(position, column, Slot::Fixed, |slots, row| {
            slots.put_fixed(position, &bytes(values[row]));
            Ok(())
        })
    }

    fn put_column(&mut self, at: usize, column: &ArrayRef, data_type: &DataType) -> Result<()> {
        let slot = Slot::of(data_type);
        match (data_type, slot) {
            (DataType::Boolean(_), _) => {
                let values = column.as_boolean();
                self.each(at, column, slot, |slots, row| {
                    slots.put_fixed(at, &[u8::from(values.value(row))]);
                    Ok(())
                })
            }
            (DataType::TinyInt(_), _) => self.primitive::<Int8Type, 1>(at, column, i8::to_le_bytes),
            (DataType::SmallInt(_), _) => self.primitive::<Int16Type, 2>(at, column, i16::to_le_bytes),
            (DataType::Int(_), _) => self.primitive::<Int32Type, 4>(at, column, i32::to_le_bytes),
            (DataType::BigInt(_), _) => self.primitive::<Int64Type, 8>(at, column, i64::to_le_bytes),
            (DataType::Float(_), _) => self.primitive::<Float32Type, 4>(at, column, f32::to_le_bytes),
            (DataType::Double(_), _) => self.primitive::<Float64Type, 8>(at, column, f64::to_le_bytes),
            (DataType::Date(_), _) => self.primitive::<Date32Type, 4>(at, column, i32::to_le_bytes),
            (DataType::Time(_), _) => self.primitive::<Time32MillisecondType, 4>(at, column, i32::to_le_bytes),
            (DataType::Decimal(_), Slot::Fixed) => {
                // At most 18 digits: the low 64 bits are the value.
                self.primitive::<Decimal128Type, 8>(at, column, |v| (v as i64).to_le_bytes())
            }
            (DataType::Decimal(_), _) => {
                let values = column.as_primitive::<Decimal128Type>().values();
                self.each(at, column, slot, |slots, row| {
                    slots.put_wide_decimal(at, values[row]);
                    Ok(())
                })
            }
            (DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_), _) => {
                let (values, unit) = timestamps(column)?;
                self.each(at, column, slot, |slots, row| {
                    let value = timestamp(values[row], unit)?;
                    match slot {
                        Slot::WideTimestamp => slots.put_wide_timestamp(at, value.millis, value.nanos),
                        _ => slots.put_fixed(at, &value.millis.to_le_bytes()),
                    }
                    Ok(())
                })
            }
            (DataType::Char(_) | DataType::VarChar(_), _) => {
                let values = column.as_string::<i32>();
                self.each(at, column, slot, |slots, row| {
                    slots.put_bytes(at, values.value(row).as_bytes());
                    Ok(())
                })
            }
            (DataType::Binary(_) | DataType::VarBinary(_), _) => {
                let values = column.as_binary::<i32>();
                self.each(at, column, slot, |slots, row| {
                    slots.put_bytes(at, values.value(row));
                    Ok(())
                })
            }
            (DataType::Blob(_), _) => {
                let values = column.as_binary::<i64>();
                self.each(at, column, slot, |slots, row| {
                    slots.put_bytes(at, values.value(row));
                    Ok(())
                })
            }
            (
                DataType::Array(_)
                | DataType::Multiset(_)
                | DataType::Map(_)
                | DataType::Row(_)
                | DataType::Variant(_)
                | DataType::Vector(_),
                _,
            ) => self.each(at, column, slot, |_, _| Err(nested(data_type))),
        }
    }
}

fn timestamps(column: &ArrayRef) -> Result<(&[i64], TimeUnit)> {
    let ArrowType::Timestamp(unit, _) = column.data_type() else {
        return Err(Error::invalid_input(format!("expected a timestamp column, found {}", column.data_type())));
    };
    let values: &[i64] = match unit {
        TimeUnit::Second => column.as_primitive::<TimestampSecondType>().values(),
        TimeUnit::Millisecond => column.as_primitive::<TimestampMillisecondType>().values(),
        TimeUnit::Microsecond => column.as_primitive::<TimestampMicrosecondType>().values(),
        TimeUnit::Nanosecond => column.as_primitive::<TimestampNanosecondType>().values(),
    };
    Ok((values, *unit))
}

fn timestamp(value: i64, unit: TimeUnit) -> Result<Timestamp> {
    Timestamp::from_unit(value, unit)
        .ok_or_else(|| Error::invalid_input(format!("timestamp of {value} seconds is out of range")))
}

/// Hashes of one column whose values stand in their slots, without laying out rows.
fn hash_fixed(column: &ArrayRef, data_type: &DataType) -> Result<Vec<i32>> {
    fn hashes<T: Copy>(column: &ArrayRef, values: &[T], slot: impl Fn(T) -> u64) -> Vec<i32> {
        match column.logical_nulls() {
            Some(nulls) => values
                .iter()
                .zip(nulls.iter())
                .map(|(v, valid)| hash_single_slot(if valid { slot(*v) } else { 0 }, !valid))
                .collect(),
            None => values.iter().map(|v| hash_single_slot(slot(*v), false)).collect(),
        }
    }
    // Slots are zero-extended, not sign-extended.
    let int = |v: i32| u64::from(v as u32);
    Ok(match data_type {
        DataType::Boolean(_) => {
            let values: Vec<bool> = column.as_boolean().values().iter().collect();
            hashes(column, &values, u64::from)
        }
        DataType::TinyInt(_) => hashes(column, column.as_primitive::<Int8Type>().values(), |v| u64::from(v as u8)),
        DataType::SmallInt(_) => hashes(column, column.as_primitive::<Int16Type>().values(), |v| u64::from(v as u16)),
        DataType::Int(_) => hashes(column, column.as_primitive::<Int32Type>().values(), int),
        DataType::Date(_) => hashes(column, column.as_primitive::<Date32Type>().values(), int),
        DataType::Time(_) => hashes(column, column.as_primitive::<Time32MillisecondType>().values(), int),
        DataType::BigInt(_) => hashes(column, column.as_primitive::<Int64Type>().values(), |v| v as u64),
        DataType::Float(_) => hashes(column, column.as_primitive::<Float32Type>().values(), |v| u64::from(v.to_bits())),
        DataType::Double(_) => hashes(column, column.as_primitive::<Float64Type>().values(), f64::to_bits),
        DataType::Decimal(_) => hashes(column, column.as_primitive::<Decimal128Type>().values(), |v| v as u64),
        DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => {
            let (values, unit) = timestamps(column)?;
            let checked = values.iter().enumerate().map(|(row, v)| match column.is_null(row) {
                true => Ok(0),
                false => timestamp(*v, unit).map(|t| t.millis),
            });
            let millis = checked.collect::<Result<Vec<i64>>>()?;
            hashes(column, &millis, |v| v as u64)
        }
        other => return Err(Error::internal(format!("type {other:?} does not stand in its slot"))),
    })
}
