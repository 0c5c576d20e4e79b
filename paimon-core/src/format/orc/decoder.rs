//! Values of one type of a stripe as Arrow arrays.
//!
//! Invariants: arrays have exactly the Arrow type of the column; values of nulls are not stored, and a part of a ROW has
//! values only where the ROW is not null. Lengths are not believed before their values are there.
//! Source: ORC specification, "Column Encodings"; data-file sheet section 3.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, BooleanBufferBuilder, Date32Array, Int32Array, ListArray, MapArray,
    PrimitiveArray, StructArray, Time32MillisecondArray, new_null_array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{
    ArrowNativeType, DataType as ArrowType, Fields, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
};

use super::bits::{Bits, ByteRuns};
use super::codec::ByteStream;
use super::decimals::Decimals;
use super::footer::Kind;
use super::integers::{Integers, length_of};
use super::node::Node;
use super::stripe::{StreamKind, Stripe};
use super::texts::Texts;
use super::timestamps::Timestamps;
use crate::error::{Error, Result};
use crate::types::{DataType, arrow_type, to_arrow_field};

/// What the reader is told about the file by the options of the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// Whether zoned timestamps are stored as the wall clock of UTC taken for that of the writer.
    pub(super) legacy_zoned: bool,
}

/// A column of a stripe, read from its start to its end.
#[derive(Debug)]
pub(super) struct Decoder {
    column: String,
    data_type: DataType,
    arrow: ArrowType,
    present: Option<Bits>,
    values: Values,
}

#[derive(Debug)]
enum Values {
    Booleans(Bits),
    Bytes(ByteRuns),
    Integers(Integers),
    Floats(ByteStream),
    Doubles(ByteStream),
    Decimals(Decimals),
    Texts(Texts),
    Timestamps(Timestamps),
    List(Integers, Box<Decoder>),
    Map(Integers, Box<(Decoder, Decoder)>),
    Struct(Vec<Option<Decoder>>),
}

impl Decoder {
    /// At the start of a stripe.
    pub(super) fn new(column: &str, node: &Node, stripe: &Stripe, settings: Settings) -> Result<Self> {
        let id = node.position;
        let part = |i: usize| match node.parts.get(i).and_then(Option::as_ref) {
            Some(part) => Self::new(column, part, stripe, settings),
            None => Err(Error::internal("a part of a list or map was not resolved")),
        };
        let data = || stripe.stream(id, StreamKind::Data);
        let lengths = || stripe.integers(id, StreamKind::Length, false);
        let values = match node.kind {
            Kind::Boolean => Values::Booleans(Bits::new(data())),
            Kind::Byte => Values::Bytes(ByteRuns::new(data())),
            Kind::Short | Kind::Int | Kind::Long | Kind::Date => {
                Values::Integers(stripe.integers(id, StreamKind::Data, true)?)
            }
            Kind::Float => Values::Floats(data()),
            Kind::Double => Values::Doubles(data()),
            Kind::Decimal => Values::Decimals(Decimals::new(column, &node.data_type, id, stripe)?),
            Kind::String | Kind::Varchar | Kind::Char | Kind::Binary => {
                Values::Texts(Texts::new(node.kind, id, stripe)?)
            }
            Kind::Timestamp | Kind::TimestampInstant => Values::Timestamps(Timestamps::new(node, stripe, settings)?),
            Kind::List => Values::List(lengths()?, Box::new(part(0)?)),
            Kind::Map => Values::Map(lengths()?, Box::new((part(0)?, part(1)?))),
            Kind::Struct => {
                let parts = node.parts.iter().map(|p| p.as_ref().map(|p| Self::new(column, p, stripe, settings)));
                Values::Struct(parts.map(Option::transpose).collect::<Result<_>>()?)
            }
            Kind::Union => return Err(Error::corrupt(format!("column {column} of the ORC file is a union"))),
        };
        Ok(Self {
            column: column.to_owned(),
            arrow: arrow_type(&node.data_type),
            data_type: node.data_type.clone(),
            present: stripe.find(id, StreamKind::Present).map(Bits::new),
            values,
        })
    }

    /// The next `rows` values; rows where `parent` is null have none in the file.
    pub(super) fn read(&mut self, rows: usize, parent: Option<&NullBuffer>) -> Result<ArrayRef> {
        let nulls = self.nulls(rows, parent)?;
        let nulls = nulls.filter(|n| n.null_count() > 0);
        let count = rows - nulls.as_ref().map_or(0, NullBuffer::null_count);
        let column = self.column.as_str();
        match &mut self.values {
            Values::Booleans(bits) => {
                let dense = bits.read(count)?;
                let values = match &nulls {
                    None => dense,
                    Some(nulls) => {
                        let mut values = BooleanBufferBuilder::new(rows);
                        values.append_n(rows, false);
                        let set = nulls.valid_indices().zip(dense.iter()).filter(|(_, bit)| *bit);
                        set.for_each(|(row, _)| values.set_bit(row, true));
                        values.finish()
                    }
                };
                Ok(Arc::new(BooleanArray::new(values, nulls)))
            }
            Values::Bytes(bytes) => {
                let mut dense = Vec::with_capacity(count.min(1 << 16));
                bytes.read(count, &mut dense)?;
                self.integers(dense.into_iter().map(|byte| i64::from(byte as i8)).collect(), rows, nulls)
            }
            Values::Integers(integers) => {
                let dense = integers.read(count)?;
                self.integers(dense, rows, nulls)
            }
            Values::Floats(stream) => {
                let dense = fixed(stream, count, f32::from_le_bytes)?;
                Ok(match self.arrow {
                    ArrowType::Float64 => {
                        primitive::<Float64Type>(dense.into_iter().map(f64::from).collect(), rows, nulls)
                    }
                    _ => primitive::<Float32Type>(dense, rows, nulls),
                })
            }
            Values::Doubles(stream) => {
                Ok(primitive::<Float64Type>(fixed(stream, count, f64::from_le_bytes)?, rows, nulls))
            }
            Values::Decimals(decimals) => decimals.read(count, rows, nulls),
            Values::Texts(texts) => texts.read(count, rows, nulls),
            Values::Timestamps(timestamps) => timestamps.read(column, count, rows, nulls),
            Values::List(lengths, element) => {
                let (offsets, total) = offsets(&lengths.read(count)?, rows, nulls.as_ref())?;
                let values = element.read(total, None)?;
                let ArrowType::List(field) = &self.arrow else { return Err(mismatch(column)) };
                let built = ListArray::try_new(Arc::clone(field), offsets, values, nulls);
                Ok(Arc::new(built.map_err(|e| null_in_not_null(column, e))?))
            }
            Values::Map(lengths, parts) => {
                let (offsets, total) = offsets(&lengths.read(count)?, rows, nulls.as_ref())?;
                let entries = vec![parts.0.read(total, None)?, parts.1.read(total, None)?];
                let ArrowType::Map(field, ordered) = &self.arrow else { return Err(mismatch(column)) };
                let ArrowType::Struct(fields) = field.data_type() else { return Err(mismatch(column)) };
                let entries = StructArray::try_new(fields.clone(), entries, None);
                let entries = entries.map_err(|e| null_in_not_null(column, e))?;
                let built = MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *ordered);
                Ok(Arc::new(built.map_err(|e| null_in_not_null(column, e))?))
            }
            Values::Struct(parts) => {
                let DataType::Row(row) = &self.data_type else { return Err(mismatch(column)) };
                let fields: Fields = row.fields().iter().map(to_arrow_field).collect();
                if fields.is_empty() {
                    return Ok(Arc::new(StructArray::new_empty_fields(rows, nulls)));
                }
                let arrays = parts.iter_mut().zip(&fields).map(|(part, field)| match part {
                    Some(part) => part.read(rows, nulls.as_ref()),
                    None => Ok(new_null_array(field.data_type(), rows)),
                });
                let arrays = arrays.collect::<Result<Vec<_>>>()?;
                let built = StructArray::try_new(fields, arrays, nulls);
                Ok(Arc::new(built.map_err(|e| null_in_not_null(column, e))?))
            }
        }
    }

    /// Passes over `rows` values; rows where the parent is null do not count.
    pub(super) fn skip(&mut self, rows: usize) -> Result<()> {
        let count = match &mut self.present {
            Some(present) => present.read(rows)?.count_set_bits(),
            None => rows,
        };
        match &mut self.values {
            Values::Booleans(bits) => bits.read(count).map(drop),
            Values::Bytes(bytes) => bytes.skip(count),
            Values::Integers(integers) => integers.skip(count),
            Values::Floats(stream) => stream.skip(count.saturating_mul(4)),
            Values::Doubles(stream) => stream.skip(count.saturating_mul(8)),
            Values::Decimals(decimals) => decimals.skip(count),
            Values::Texts(texts) => texts.skip(count),
            Values::Timestamps(timestamps) => timestamps.skip(count),
            Values::List(lengths, element) => element.skip(lengths.skip_lengths(count)?),
            Values::Map(lengths, parts) => {
                let total = lengths.skip_lengths(count)?;
                parts.0.skip(total)?;
                parts.1.skip(total)
            }
            Values::Struct(parts) => parts.iter_mut().flatten().try_for_each(|part| part.skip(count)),
        }
    }

    fn nulls(&mut self, rows: usize, parent: Option<&NullBuffer>) -> Result<Option<NullBuffer>> {
        let Some(present) = &mut self.present else { return Ok(parent.cloned()) };
        let Some(parent) = parent else { return Ok(Some(NullBuffer::new(present.read(rows)?))) };
        let dense = present.read(rows - parent.null_count())?;
        let mut valid = BooleanBufferBuilder::new(rows);
        valid.append_n(rows, false);
        let set = parent.valid_indices().zip(dense.iter()).filter(|(_, bit)| *bit);
        set.for_each(|(row, _)| valid.set_bit(row, true));
        Ok(Some(NullBuffer::new(valid.finish())))
    }

    /// Integers in the width of the column.
    fn integers(&self, dense: Vec<i64>, rows: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let column = self.column.as_str();
        Ok(match self.arrow {
            ArrowType::Int8 => primitive::<Int8Type>(narrow(column, &dense)?, rows, nulls),
            ArrowType::Int16 => primitive::<Int16Type>(narrow(column, &dense)?, rows, nulls),
            ArrowType::Int32 => primitive::<Int32Type>(narrow(column, &dense)?, rows, nulls),
            ArrowType::Int64 => primitive::<Int64Type>(dense, rows, nulls),
            ArrowType::Date32 => {
                Arc::new(Date32Array::new(spread(narrow(column, &dense)?, rows, nulls.as_ref()), nulls))
            }
            ArrowType::Time32(_) => {
                let values: Int32Array = Int32Array::new(spread(narrow(column, &dense)?, rows, nulls.as_ref()), nulls);
                let times: Time32MillisecondArray = values.reinterpret_cast();
                Arc::new(times)
            }
            _ => return Err(mismatch(column)),
        })
    }
}

fn mismatch(column: &str) -> Error {
    Error::internal(format!("column {column} is not decoded as its type"))
}

fn null_in_not_null(column: &str, error: arrow::error::ArrowError) -> Error {
    Error::corrupt(format!("column {column} does not fit its type: a part that is NOT NULL holds nulls"))
        .with_source(error)
}

fn narrow<T: TryFrom<i64> + Default>(column: &str, values: &[i64]) -> Result<Vec<T>> {
    let mut fits = true;
    let narrowed = values.iter().map(|value| {
        T::try_from(*value).unwrap_or_else(|_| {
            fits = false;
            T::default()
        })
    });
    let narrowed = narrowed.collect();
    if fits { Ok(narrowed) } else { Err(Error::corrupt(format!("a number of column {column} does not fit its type"))) }
}

/// Values of a fixed number of bytes.
fn fixed<const N: usize, T>(stream: &mut ByteStream, count: usize, value: impl Fn([u8; N]) -> T) -> Result<Vec<T>> {
    let length = count.checked_mul(N).ok_or_else(|| Error::corrupt("a column has too many values"))?;
    let mut bytes = Vec::with_capacity(length.min(1 << 20));
    stream.append(&mut bytes, length)?;
    Ok(bytes.as_chunks::<N>().0.iter().map(|chunk| value(*chunk)).collect())
}

/// Puts values where there is no null.
pub(super) fn spread<T: ArrowNativeType>(dense: Vec<T>, rows: usize, nulls: Option<&NullBuffer>) -> ScalarBuffer<T> {
    let Some(nulls) = nulls else { return ScalarBuffer::from(dense) };
    let mut values = vec![T::default(); rows];
    for (row, value) in nulls.valid_indices().zip(dense) {
        if let Some(slot) = values.get_mut(row) {
            *slot = value;
        }
    }
    ScalarBuffer::from(values)
}

fn primitive<T: ArrowPrimitiveType>(dense: Vec<T::Native>, rows: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    Arc::new(PrimitiveArray::<T>::new(spread(dense, rows, nulls.as_ref()), nulls))
}

/// The offsets of values with these lengths, none for nulls, and their sum.
pub(super) fn offsets(dense: &[i64], rows: usize, nulls: Option<&NullBuffer>) -> Result<(OffsetBuffer<i32>, usize)> {
    let too_many = || Error::corrupt("the values of a batch of the ORC file are too many for Arrow");
    let mut offsets: Vec<i32> = Vec::with_capacity(rows + 1);
    let mut end = 0usize;
    offsets.push(0);
    let mut lengths = dense.iter();
    for row in 0..rows {
        if nulls.is_none_or(|n| n.is_valid(row)) {
            let length = lengths.next().copied().unwrap_or_default();
            end = end.checked_add(length_of(length)?).ok_or_else(too_many)?;
        }
        offsets.push(i32::try_from(end).map_err(|_| too_many())?);
    }
    Ok((OffsetBuffer::new(ScalarBuffer::from(offsets)), end))
}
