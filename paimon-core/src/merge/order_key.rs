//! Comparable keys: the columns of a key as numbers or byte strings whose order is Java's order of the columns.
//!
//! Every row gets a fixed-width number, its *prefix*. If all columns are of fixed width and fit together, the prefix is
//! the whole key; else it is the first bytes of a byte string, and only equal prefixes make the byte strings themselves
//! be compared.
//!
//! Invariants: nulls stand first, in both directions; floats are in total order with one NaN that is greater than all
//! else; text and bytes are compared as unsigned bytes. Source: merge-engine sheet section 1 "Key comparison";
//! `codegen/GenerateUtils.scala`.

use std::cmp::Ordering;
use std::fmt::Debug;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, BinaryArray, Float32Array, Float64Array};
use arrow::compute::SortOptions;
use arrow::datatypes::{DataType as ArrowType, TimeUnit, *};
use arrow::record_batch::RecordBatch;
use arrow::row::{RowConverter, Rows, SortField};

use crate::error::{Error, Result};
use crate::types::{DataField, DataType, arrow_type};

/// A number that holds a key or begins it.
pub(super) trait Prefix: Copy + Ord + Debug + Default + Send + Sync + 'static {
    /// Bytes.
    const BYTES: usize;
    /// The number of big-endian bytes, padded with zeros.
    fn from_bytes(bytes: &[u8]) -> Self;
    /// `self` moved up by `bits` with `value` below it; the first piece of all replaces `self`.
    fn push(self, bits: u32, value: u128) -> Self;
}

impl Prefix for u64 {
    const BYTES: usize = 8;

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut buffer = [0; 8];
        let len = bytes.len().min(8);
        buffer[..len].copy_from_slice(&bytes[..len]);
        Self::from_be_bytes(buffer)
    }

    fn push(self, bits: u32, value: u128) -> Self {
        self.checked_shl(bits).unwrap_or(0) | value as Self
    }
}

impl Prefix for u128 {
    const BYTES: usize = 16;

    fn from_bytes(bytes: &[u8]) -> Self {
        let mut buffer = [0; 16];
        let len = bytes.len().min(16);
        buffer[..len].copy_from_slice(&bytes[..len]);
        Self::from_be_bytes(buffer)
    }

    fn push(self, bits: u32, value: u128) -> Self {
        self.checked_shl(bits).unwrap_or(0) | value
    }
}

/// What decides between keys of equal prefixes.
#[derive(Debug)]
enum Tail {
    /// The prefix is the whole key.
    Exact,
    /// One column of text or bytes without nulls, ascending.
    Bytes(BinaryArray),
    /// Rows in Arrow's comparable encoding.
    Rows(Rows),
}

/// The keys of a batch.
#[derive(Debug)]
pub(super) struct Keys<P> {
    prefix: Vec<P>,
    tail: Tail,
}

impl<P: Prefix> Keys<P> {
    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.prefix.len()
    }

    /// The prefixes of all rows.
    pub(super) fn prefixes(&self) -> &[P] {
        &self.prefix
    }

    /// Whether equal prefixes are equal keys.
    pub(super) fn is_exact(&self) -> bool {
        matches!(self.tail, Tail::Exact)
    }

    /// Compares row `i` with row `j` of `other`, whose prefixes are known to be equal.
    pub(super) fn compare_tail(&self, i: usize, other: &Self, j: usize) -> Ordering {
        match (&self.tail, &other.tail) {
            (Tail::Bytes(a), Tail::Bytes(b)) => a.value(i).cmp(b.value(j)),
            (Tail::Rows(a), Tail::Rows(b)) => a.row(i).cmp(&b.row(j)),
            _ => Ordering::Equal,
        }
    }

    /// Compares row `i` with row `j` of `other`.
    pub(super) fn compare(&self, i: usize, other: &Self, j: usize) -> Ordering {
        self.prefix[i].cmp(&other.prefix[j]).then_with(|| self.compare_tail(i, other, j))
    }

    /// Bytes of memory.
    pub(super) fn size(&self) -> usize {
        let tail = match &self.tail {
            Tail::Exact => 0,
            Tail::Bytes(array) => array.offsets().last().map_or(0, |&end| (end - array.offsets()[0]) as usize),
            Tail::Rows(rows) => rows.size(),
        };
        tail + self.prefix.len() * P::BYTES
    }
}

/// How a column goes into the prefix.
#[derive(Debug, Clone, Copy)]
struct Packing {
    bits: u32,
    nullable: bool,
}

#[derive(Debug, Clone)]
enum Plan {
    Packed(Vec<Packing>),
    Bytes,
    Rows(Arc<RowConverter>),
}

/// Makes [`Keys`] of batches.
#[derive(Debug, Clone)]
pub(super) struct KeyEncoder {
    fields: Vec<DataField>,
    descending: bool,
    plan: Plan,
}

impl KeyEncoder {
    /// An encoder of these columns, all in the same direction.
    ///
    /// # Errors
    /// `Unsupported` for a type without order.
    pub(super) fn try_new(fields: &[DataField], descending: bool) -> Result<Self> {
        let packings: Option<Vec<Packing>> = fields
            .iter()
            .map(|f| fixed_bits(&f.data_type).map(|bits| Packing { bits, nullable: f.data_type.is_nullable() }))
            .collect();
        let plan = match (packings, fields) {
            (Some(packings), _) if total_bits(&packings) <= 128 => Plan::Packed(packings),
            (_, [field]) if is_plain_bytes(field) && !descending => Plan::Bytes,
            _ => {
                let options = SortOptions { descending, nulls_first: true };
                let sort: Vec<SortField> =
                    fields.iter().map(|f| SortField::new_with_options(arrow_type(&f.data_type), options)).collect();
                Plan::Rows(Arc::new(RowConverter::new(sort)?))
            }
        };
        Ok(Self { fields: fields.to_vec(), descending, plan })
    }

    /// Whether 64 bits hold the whole key.
    pub(super) fn fits_u64(&self) -> bool {
        matches!(&self.plan, Plan::Packed(packings) if total_bits(packings) <= 64)
    }

    /// The keys of a batch.
    ///
    /// # Errors
    /// `Internal` if a column is missing or of another type; `Corrupt` for a null in a column that is NOT NULL.
    pub(super) fn encode<P: Prefix>(&self, batch: &RecordBatch) -> Result<Keys<P>> {
        let columns = self.fields.iter().map(|f| key_column(batch, f)).collect::<Result<Vec<_>>>()?;
        let rows = batch.num_rows();
        match &self.plan {
            Plan::Packed(packings) => {
                let mut prefix = vec![P::default(); rows];
                for (column, packing) in columns.iter().zip(packings) {
                    pack(&mut prefix, column, *packing, self.descending)?;
                }
                Ok(Keys { prefix, tail: Tail::Exact })
            }
            Plan::Bytes => {
                let bytes = to_binary(&columns)?;
                let prefix = (0..rows).map(|i| P::from_bytes(bytes.value(i))).collect();
                Ok(Keys { prefix, tail: Tail::Bytes(bytes) })
            }
            Plan::Rows(converter) => {
                let columns: Vec<ArrayRef> = columns.into_iter().map(one_nan).collect();
                let encoded = converter.convert_columns(&columns)?;
                let prefix = encoded.iter().map(|row| P::from_bytes(row.data())).collect();
                Ok(Keys { prefix, tail: Tail::Rows(encoded) })
            }
        }
    }
}

fn total_bits(packings: &[Packing]) -> u32 {
    packings.iter().map(|p| p.bits + u32::from(p.nullable)).sum()
}

/// The bits of a type of fixed width.
fn fixed_bits(data_type: &DataType) -> Option<u32> {
    match arrow_type(data_type) {
        ArrowType::Boolean => Some(1),
        ArrowType::Int8 => Some(8),
        ArrowType::Int16 => Some(16),
        ArrowType::Int32 | ArrowType::Date32 | ArrowType::Time32(_) | ArrowType::Float32 => Some(32),
        ArrowType::Int64 | ArrowType::Timestamp(..) | ArrowType::Float64 => Some(64),
        ArrowType::Decimal128(precision, _) if precision <= 18 => Some(64),
        ArrowType::Decimal128(..) => Some(128),
        _ => None,
    }
}

fn is_plain_bytes(field: &DataField) -> bool {
    let of_bytes = matches!(arrow_type(&field.data_type), ArrowType::Utf8 | ArrowType::Binary);
    of_bytes && !field.data_type.is_nullable()
}

fn key_column(batch: &RecordBatch, field: &DataField) -> Result<ArrayRef> {
    let Some(column) = batch.column_by_name(&field.name) else {
        return Err(Error::internal(format!("a batch to be merged lacks column {}", field.name)));
    };
    let expected = arrow_type(&field.data_type);
    if *column.data_type() != expected {
        let found = column.data_type();
        return Err(Error::internal(format!("column {} must be {expected}, but is {found}", field.name)));
    }
    if !field.data_type.is_nullable() && column.null_count() > 0 {
        return Err(Error::corrupt("a column that is NOT NULL holds a null").with_context("column", &field.name));
    }
    Ok(Arc::clone(column))
}

fn to_binary(columns: &[ArrayRef]) -> Result<BinaryArray> {
    match columns.first().map(|c| (c, c.data_type())) {
        Some((column, ArrowType::Utf8)) => Ok(BinaryArray::from(column.as_string::<i32>().clone())),
        Some((column, ArrowType::Binary)) => Ok(column.as_binary::<i32>().clone()),
        _ => Err(Error::internal("a key of bytes must be text or bytes")),
    }
}

/// Floats with every NaN replaced by one that is greater than all else.
fn one_nan(column: ArrayRef) -> ArrayRef {
    match column.data_type() {
        ArrowType::Float32 => {
            let floats = column.as_primitive::<Float32Type>();
            let fixed: Float32Array = floats.unary(|v| if v.is_nan() { f32::NAN.abs() } else { v });
            Arc::new(fixed)
        }
        ArrowType::Float64 => {
            let floats = column.as_primitive::<Float64Type>();
            let fixed: Float64Array = floats.unary(|v| if v.is_nan() { f64::NAN.abs() } else { v });
            Arc::new(fixed)
        }
        _ => column,
    }
}

fn pack<P: Prefix>(prefix: &mut [P], column: &ArrayRef, packing: Packing, descending: bool) -> Result<()> {
    const SIGN_32: u32 = 1 << 31;
    const SIGN_64: u64 = 1 << 63;
    let mut into = Packer { prefix, column: column.as_ref(), packing, descending };
    macro_rules! signed {
        ($arrow:ty, $unsigned:ty) => {
            into.primitive::<$arrow>(|v| u128::from((v as $unsigned) ^ (1 << (<$unsigned>::BITS - 1))))
        };
    }
    match column.data_type() {
        ArrowType::Boolean => {
            let values = column.as_boolean().values().clone();
            into.push_all(|i| u128::from(values.value(i)));
        }
        ArrowType::Int8 => signed!(Int8Type, u8),
        ArrowType::Int16 => signed!(Int16Type, u16),
        ArrowType::Int32 => signed!(Int32Type, u32),
        ArrowType::Date32 => signed!(Date32Type, u32),
        ArrowType::Time32(TimeUnit::Second) => signed!(Time32SecondType, u32),
        ArrowType::Time32(_) => signed!(Time32MillisecondType, u32),
        ArrowType::Int64 => signed!(Int64Type, u64),
        ArrowType::Timestamp(TimeUnit::Second, _) => signed!(TimestampSecondType, u64),
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => signed!(TimestampMillisecondType, u64),
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => signed!(TimestampMicrosecondType, u64),
        ArrowType::Timestamp(TimeUnit::Nanosecond, _) => signed!(TimestampNanosecondType, u64),
        ArrowType::Float32 => into.primitive::<Float32Type>(|v| {
            let bits = if v.is_nan() { f32::NAN.abs() } else { v }.to_bits();
            u128::from(if bits & SIGN_32 == 0 { bits | SIGN_32 } else { !bits })
        }),
        ArrowType::Float64 => into.primitive::<Float64Type>(|v| {
            let bits = if v.is_nan() { f64::NAN.abs() } else { v }.to_bits();
            u128::from(if bits & SIGN_64 == 0 { bits | SIGN_64 } else { !bits })
        }),
        ArrowType::Decimal128(precision, _) if *precision <= 18 => {
            let values = column.as_primitive::<Decimal128Type>();
            if values.iter().flatten().any(|v| i64::try_from(v).is_err()) {
                return Err(Error::corrupt(format!("a decimal does not fit its precision of {precision} digits")));
            }
            into.primitive::<Decimal128Type>(|v| u128::from((v as u64) ^ SIGN_64));
        }
        ArrowType::Decimal128(..) => into.primitive::<Decimal128Type>(|v| (v as u128) ^ (1 << 127)),
        other => return Err(Error::internal(format!("a column of type {other} cannot be packed into a key"))),
    }
    Ok(())
}

/// Puts one column into the prefixes.
struct Packer<'a, P> {
    prefix: &'a mut [P],
    column: &'a dyn Array,
    packing: Packing,
    descending: bool,
}

impl<P: Prefix> Packer<'_, P> {
    fn primitive<T: ArrowPrimitiveType>(&mut self, to_unsigned: impl Fn(T::Native) -> u128) {
        let column = self.column;
        let values = column.as_primitive::<T>().values();
        self.push_all(|i| to_unsigned(values[i]));
    }

    fn push_all(&mut self, value: impl Fn(usize) -> u128) {
        let Packing { bits, nullable } = self.packing;
        let mask = u128::MAX >> (128 - bits);
        let flip = if self.descending { mask } else { 0 };
        let nulls = self.column.logical_nulls();
        if nullable {
            for (i, prefix) in self.prefix.iter_mut().enumerate() {
                let present = nulls.as_ref().is_none_or(|n| n.is_valid(i));
                let value = if present { value(i) ^ flip } else { 0 };
                *prefix = prefix.push(1, u128::from(present)).push(bits, value);
            }
        } else {
            for (i, prefix) in self.prefix.iter_mut().enumerate() {
                *prefix = prefix.push(bits, value(i) ^ flip);
            }
        }
    }
}
