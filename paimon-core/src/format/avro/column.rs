//! Values of one type of an Avro file, collected into Arrow arrays.
//!
//! Avro stores row after row, so values are taken one by one; what is collected is columnar.
//! Invariants: arrays have exactly the Arrow type of the column; a type of another family is refused before rows are read.
//! TIMESTAMP and its zoned sibling are told apart by the table, for Java swaps their names in the file.
//! Source: data-file sheet section 3; `format/avro/AvroSchemaConverter.java`.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, BooleanBufferBuilder, Date32Array, Decimal128Array, Float32Array,
    Float64Array, Int8Array, Int16Array, Int32Array, Int64Array, ListArray, MapArray, NullBufferBuilder, StringArray,
    StructArray, Time32MillisecondArray, TimestampMicrosecondArray, TimestampMillisecondArray,
    TimestampNanosecondArray, TimestampSecondArray, new_null_array,
};
use arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow::datatypes::{ArrowNativeType, DataType as ArrowType, Fields, TimeUnit};

use super::shape::{Shape, Unit};
use crate::error::{Error, Result};
use crate::spec::avro::Cursor;
use crate::types::{DataField, DataType, IntType, arrow_type, to_arrow_field};

/// Rows of the file as columns.
#[derive(Debug)]
pub(super) struct Rows {
    /// Whether a union stands around each row, and which branch the row is.
    branch: Option<i64>,
    record: Record,
}

impl Rows {
    /// A reader of these columns out of rows of this shape.
    ///
    /// # Errors
    /// `Corrupt` if a column has another type.
    pub(super) fn new(shape: &Shape, columns: &[DataField]) -> Result<Self> {
        let (shape, branch) = match shape {
            Shape::Union(branches) => {
                let at = branches.iter().position(|b| matches!(b, Shape::Record(_)));
                let at = at.ok_or_else(|| Error::corrupt("the rows of the Avro file are no records"))?;
                (&branches[at], i64::try_from(at).ok())
            }
            other => (other, None),
        };
        let Shape::Record(fields) = shape else {
            return Err(Error::corrupt("the rows of the Avro file are no records"));
        };
        Ok(Self { branch, record: Record::new(fields, columns, None)? })
    }

    /// Takes the next row.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        if let Some(branch) = self.branch
            && cursor.raw_long()? != branch
        {
            return Err(Error::corrupt("a row of the Avro file is null"));
        }
        self.record.read(cursor)
    }

    /// The columns of the rows that were taken since the last time.
    pub(super) fn finish(&mut self, rows: usize) -> Result<Vec<ArrayRef>> {
        self.record.finish(rows)
    }
}

/// Fields of a record in the order of the file, and the parts that are asked for.
#[derive(Debug)]
struct Record {
    fields: Vec<Step>,
    /// In the order that is asked for; `None` if the file lacks it.
    parts: Vec<Option<Column>>,
    types: Vec<ArrowType>,
}

#[derive(Debug)]
enum Step {
    Skip(Shape),
    Take(usize),
}

impl Record {
    fn new(fields: &[(String, Shape)], asked: &[DataField], column: Option<&str>) -> Result<Self> {
        let mut parts: Vec<Option<Column>> = asked.iter().map(|_| None).collect();
        let mut steps = Vec::with_capacity(fields.len());
        for (name, shape) in fields {
            steps.push(match asked.iter().position(|a| a.name == *name) {
                Some(i) => {
                    parts[i] = Some(Column::new(column.unwrap_or(name), shape, &asked[i].data_type)?);
                    Step::Take(i)
                }
                None => Step::Skip(shape.clone()),
            });
        }
        Ok(Self { fields: steps, parts, types: asked.iter().map(|a| arrow_type(&a.data_type)).collect() })
    }

    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        for step in &self.fields {
            match step {
                Step::Skip(shape) => shape.skip(cursor)?,
                Step::Take(i) => {
                    if let Some(Some(part)) = self.parts.get_mut(*i) {
                        part.read(cursor)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn append_null(&mut self) {
        self.parts.iter_mut().flatten().for_each(Column::append_null);
    }

    fn finish(&mut self, rows: usize) -> Result<Vec<ArrayRef>> {
        let arrays = self.parts.iter_mut().zip(&self.types).map(|(part, arrow)| match part {
            Some(part) => part.finish(),
            None => Ok(new_null_array(arrow, rows)),
        });
        arrays.collect()
    }
}

/// One column, or a part of one.
#[derive(Debug)]
struct Column {
    /// Its name, for messages.
    name: String,
    arrow: ArrowType,
    /// Which branch of a union holds values, and how many branches it has.
    branch: Option<(i64, i64)>,
    values: Values,
    nulls: NullBufferBuilder,
    rows: usize,
}

#[derive(Debug)]
enum Values {
    Booleans(BooleanBufferBuilder),
    Numbers(Vec<i64>),
    /// Numbers that count `from` units per second, to be counted in `to`.
    Moments {
        from: i64,
        to: i64,
        ticks: Vec<i64>,
    },
    Singles(Vec<f32>),
    Doubles {
        from_single: bool,
        values: Vec<f64>,
    },
    Decimals {
        fixed: Option<usize>,
        from: u8,
        precision: u8,
        to: u8,
        values: Vec<i128>,
    },
    Bytes {
        fixed: Option<usize>,
        offsets: Vec<i32>,
        bytes: Vec<u8>,
    },
    List {
        offsets: Vec<i32>,
        element: Box<Column>,
    },
    /// The keys are text of an Avro map.
    TextMap {
        offsets: Vec<i32>,
        keys: Box<Column>,
        values: Box<Column>,
    },
    /// An array of records of key and value.
    PairMap {
        offsets: Vec<i32>,
        pair: Box<Record>,
    },
    Row {
        fields: Fields,
        record: Box<Record>,
    },
}

impl Column {
    fn new(name: &str, shape: &Shape, data_type: &DataType) -> Result<Self> {
        let (shape, branch) = match shape {
            Shape::Union(branches) => {
                let mut others = branches.iter().enumerate().filter(|(_, b)| !matches!(b, Shape::Null));
                match (others.next(), others.next()) {
                    (Some((at, shape)), None) => {
                        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
                        (shape, Some((number(at), number(branches.len()))))
                    }
                    _ => return Err(Error::corrupt(format!("column {name} of the Avro file is a union of types"))),
                }
            }
            other => (other, None),
        };
        let values = Values::new(name, shape, data_type)?;
        let nulls = NullBufferBuilder::new(0);
        Ok(Self { name: name.to_owned(), arrow: arrow_type(data_type), branch, values, nulls, rows: 0 })
    }

    fn read(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let name = self.name.as_str();
        if let Some((value, count)) = self.branch {
            let branch = cursor.raw_long()?;
            if branch != value {
                if !(0..count).contains(&branch) {
                    return Err(damaged(name, "a union has too few branches"));
                }
                self.append_null();
                return Ok(());
            }
        }
        self.nulls.append_non_null();
        self.rows += 1;
        match &mut self.values {
            Values::Booleans(bits) => bits.append(cursor.take(1)? != [0]),
            Values::Numbers(numbers) => numbers.push(cursor.raw_long()?),
            Values::Moments { from, to, ticks } => {
                let (number, from, to) = (cursor.raw_long()?, *from, *to);
                ticks.push(if from == to {
                    number
                } else if from > to {
                    number.div_euclid(from / to)
                } else {
                    number.checked_mul(to / from).ok_or_else(|| damaged(name, "a timestamp is out of range"))?
                });
            }
            Values::Singles(values) => values.push(single(cursor)?),
            Values::Doubles { from_single: true, values } => values.push(f64::from(single(cursor)?)),
            Values::Doubles { from_single: false, values } => {
                values.push(f64::from_le_bytes(cursor.take(8)?.try_into().map_err(|_| wrong_length())?));
            }
            Values::Decimals { fixed, from, precision, to, values } => {
                let bytes = match fixed {
                    Some(length) => cursor.take(*length)?,
                    None => cursor.raw_bytes()?,
                };
                let value = big_endian(bytes).and_then(|v| rescale(v, *from, *precision, *to));
                match value {
                    Some(value) => values.push(value),
                    None => return Err(damaged(name, "a decimal does not fit its type")),
                }
            }
            Values::Bytes { fixed, offsets, bytes } => {
                bytes.extend_from_slice(match fixed {
                    Some(length) => cursor.take(*length)?,
                    None => cursor.raw_bytes()?,
                });
                offsets.push(offset(bytes.len())?);
            }
            Values::List { offsets, element } => {
                while let Some(count) = cursor.block()? {
                    (0..count).try_for_each(|_| element.read(cursor))?;
                }
                offsets.push(offset(element.rows)?);
            }
            Values::TextMap { offsets, keys, values } => {
                while let Some(count) = cursor.block()? {
                    for _ in 0..count {
                        keys.read(cursor)?;
                        values.read(cursor)?;
                    }
                }
                offsets.push(offset(keys.rows)?);
            }
            Values::PairMap { offsets, pair } => {
                let mut end = offsets.last().copied().unwrap_or_default();
                while let Some(count) = cursor.block()? {
                    (0..count).try_for_each(|_| pair.read(cursor))?;
                    end = end.checked_add(offset(count)?).ok_or_else(wrong_length)?;
                }
                offsets.push(end);
            }
            Values::Row { record, .. } => record.read(cursor)?,
        }
        Ok(())
    }

    fn append_null(&mut self) {
        self.nulls.append_null();
        self.rows += 1;
        match &mut self.values {
            Values::Booleans(bits) => bits.append(false),
            Values::Numbers(values) | Values::Moments { ticks: values, .. } => values.push(0),
            Values::Singles(values) => values.push(0.0),
            Values::Doubles { values, .. } => values.push(0.0),
            Values::Decimals { values, .. } => values.push(0),
            Values::Bytes { offsets, .. }
            | Values::List { offsets, .. }
            | Values::TextMap { offsets, .. }
            | Values::PairMap { offsets, .. } => offsets.push(offsets.last().copied().unwrap_or_default()),
            Values::Row { record, .. } => record.append_null(),
        }
    }

    /// The values that were taken since the last time.
    fn finish(&mut self) -> Result<ArrayRef> {
        let nulls = self.nulls.finish();
        let rows = std::mem::take(&mut self.rows);
        let name = self.name.as_str();
        let take = |offsets: &mut Vec<i32>| OffsetBuffer::new(ScalarBuffer::from(std::mem::replace(offsets, vec![0])));
        Ok(match &mut self.values {
            Values::Booleans(bits) => Arc::new(BooleanArray::new(bits.finish(), nulls)),
            Values::Numbers(numbers) => numbers_array(name, std::mem::take(numbers), nulls, &self.arrow)?,
            Values::Moments { ticks, .. } => moments_array(name, std::mem::take(ticks), nulls, &self.arrow)?,
            Values::Singles(values) => Arc::new(Float32Array::new(std::mem::take(values).into(), nulls)),
            Values::Doubles { values, .. } => Arc::new(Float64Array::new(std::mem::take(values).into(), nulls)),
            Values::Decimals { precision, to, values, .. } => {
                let array = Decimal128Array::new(std::mem::take(values).into(), nulls);
                let scale = i8::try_from(*to).map_err(|_| wrong_length())?;
                Arc::new(array.with_precision_and_scale(*precision, scale)?)
            }
            Values::Bytes { offsets, bytes, .. } => {
                let (offsets, bytes) = (take(offsets), Buffer::from(std::mem::take(bytes)));
                match self.arrow {
                    ArrowType::Utf8 => Arc::new(StringArray::try_new(offsets, bytes, nulls).map_err(|e| {
                        Error::corrupt(format!("text of column {name} of the Avro file is not UTF-8")).with_source(e)
                    })?),
                    _ => Arc::new(BinaryArray::try_new(offsets, bytes, nulls)?),
                }
            }
            Values::List { offsets, element } => {
                let ArrowType::List(field) = &self.arrow else { return Err(mismatch(name)) };
                let built = ListArray::try_new(Arc::clone(field), take(offsets), element.finish()?, nulls);
                Arc::new(built.map_err(|e| null_in_not_null(name, e))?)
            }
            Values::TextMap { offsets, keys, values } => {
                let entries = vec![keys.finish()?, values.finish()?];
                map_array(name, take(offsets), entries, nulls, &self.arrow)?
            }
            Values::PairMap { offsets, pair } => {
                let offsets = take(offsets);
                let count = offsets.last().copied().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
                map_array(name, offsets, pair.finish(count)?, nulls, &self.arrow)?
            }
            Values::Row { fields, .. } if fields.is_empty() => Arc::new(StructArray::new_empty_fields(rows, nulls)),
            Values::Row { fields, record } => {
                let built = StructArray::try_new(fields.clone(), record.finish(rows)?, nulls);
                Arc::new(built.map_err(|e| null_in_not_null(name, e))?)
            }
        })
    }
}

impl Values {
    fn new(name: &str, shape: &Shape, data_type: &DataType) -> Result<Self> {
        let decimal = |fixed: Option<usize>, scale: Option<u8>| match data_type {
            DataType::Decimal(t) => {
                let (precision, to) = (t.precision(), t.scale());
                Ok(Self::Decimals { fixed, from: scale.unwrap_or(to), precision, to, values: Vec::new() })
            }
            _ => Err(refuse(name, data_type)),
        };
        let bytes = |fixed| Self::Bytes { fixed, offsets: vec![0], bytes: Vec::new() };
        let is_bytes = matches!(
            data_type,
            DataType::Char(_) | DataType::VarChar(_) | DataType::Binary(_) | DataType::VarBinary(_)
        );
        Ok(match (shape, data_type) {
            (Shape::Boolean, DataType::Boolean(_)) => Self::Booleans(BooleanBufferBuilder::new(0)),
            (
                Shape::Number(_),
                DataType::TinyInt(_)
                | DataType::SmallInt(_)
                | DataType::Int(_)
                | DataType::BigInt(_)
                | DataType::Date(_),
            ) => Self::Numbers(Vec::new()),
            (Shape::Number(unit), DataType::Time(_)) => {
                let from = unit.unwrap_or(Unit::Millis).per_second();
                Self::Moments { from, to: Unit::Millis.per_second(), ticks: Vec::new() }
            }
            (Shape::Number(unit), DataType::Timestamp(t)) => moments(*unit, t.precision(), data_type),
            (Shape::Number(unit), DataType::LocalZonedTimestamp(t)) => moments(*unit, t.precision(), data_type),
            (Shape::Float, DataType::Float(_)) => Self::Singles(Vec::new()),
            (Shape::Float | Shape::Double, DataType::Double(_)) => {
                Self::Doubles { from_single: matches!(shape, Shape::Float), values: Vec::new() }
            }
            (Shape::Bytes(scale), DataType::Decimal(_)) => decimal(None, *scale)?,
            (Shape::Fixed(length, scale), DataType::Decimal(_)) => decimal(Some(*length), *scale)?,
            (Shape::Bytes(_), _) if is_bytes => bytes(None),
            (Shape::Fixed(length, _), _) if is_bytes => bytes(Some(*length)),
            (Shape::Array(item), DataType::Array(t)) => {
                let element = Box::new(Column::new(name, item, t.element_type())?);
                Self::List { offsets: vec![0], element }
            }
            (Shape::Map(_) | Shape::Array(_), DataType::Map(t)) => map(name, shape, t.key_type(), t.value_type())?,
            (Shape::Map(_) | Shape::Array(_), DataType::Multiset(t)) => {
                let count = DataType::Int(IntType::with_nullable(false));
                map(name, shape, t.element_type(), &count)?
            }
            (Shape::Record(fields), DataType::Row(row)) => Self::Row {
                fields: row.fields().iter().map(to_arrow_field).collect(),
                record: Box::new(Record::new(fields, row.fields(), Some(name))?),
            },
            _ => return Err(refuse(name, data_type)),
        })
    }
}

fn moments(unit: Option<Unit>, precision: u32, data_type: &DataType) -> Values {
    let stored = unit.unwrap_or(if precision <= 3 { Unit::Millis } else { Unit::Micros });
    let to = match arrow_type(data_type) {
        ArrowType::Timestamp(TimeUnit::Second, _) => 1,
        ArrowType::Timestamp(TimeUnit::Millisecond, _) => 1_000,
        ArrowType::Timestamp(TimeUnit::Microsecond, _) => 1_000_000,
        _ => 1_000_000_000,
    };
    Values::Moments { from: stored.per_second(), to, ticks: Vec::new() }
}

fn map(name: &str, shape: &Shape, key: &DataType, value: &DataType) -> Result<Values> {
    match shape {
        Shape::Map(inner) if matches!(key, DataType::Char(_) | DataType::VarChar(_)) => Ok(Values::TextMap {
            offsets: vec![0],
            keys: Box::new(Column::new(name, &Shape::Bytes(None), key)?),
            values: Box::new(Column::new(name, inner, value)?),
        }),
        Shape::Array(item) => {
            let Shape::Record(fields) = item.as_ref() else { return Err(refuse(name, key)) };
            let asked = [DataField::new(0, "key", key.clone()), DataField::new(1, "value", value.clone())];
            Ok(Values::PairMap { offsets: vec![0], pair: Box::new(Record::new(fields, &asked, Some(name))?) })
        }
        _ => Err(refuse(name, key)),
    }
}

fn refuse(name: &str, data_type: &DataType) -> Error {
    Error::corrupt(format!("column {name} of the Avro file is of another type than {}", data_type.sql_text()))
}

fn damaged(name: &str, what: &str) -> Error {
    Error::corrupt(format!("column {name} of the Avro file is damaged: {what}"))
}

fn mismatch(name: &str) -> Error {
    Error::internal(format!("column {name} is not decoded as its type"))
}

fn wrong_length() -> Error {
    Error::corrupt("a value of the Avro file has a wrong length")
}

fn null_in_not_null(name: &str, error: arrow::error::ArrowError) -> Error {
    Error::corrupt(format!("column {name} does not fit its type: a part that is NOT NULL holds nulls"))
        .with_source(error)
}

fn offset(length: usize) -> Result<i32> {
    i32::try_from(length).map_err(|_| Error::corrupt("the values of a batch of the Avro file are too many for Arrow"))
}

fn single(cursor: &mut Cursor<'_>) -> Result<f32> {
    cursor.take(4)?.try_into().map(f32::from_le_bytes).map_err(|_| wrong_length())
}

/// A signed number of any length that fits 128 bits.
fn big_endian(bytes: &[u8]) -> Option<i128> {
    let negative = bytes.first().is_some_and(|b| b & 0x80 != 0);
    let fill = if negative { 0xff } else { 0 };
    let extra = bytes.len().saturating_sub(16);
    let (high, low) = bytes.split_at_checked(extra)?;
    if high.iter().any(|b| *b != fill) {
        return None;
    }
    let start = if negative { -1i128 } else { 0 };
    let value = low.iter().fold(start, |value, byte| value << 8 | i128::from(*byte));
    (extra == 0 || (value < 0) == negative).then_some(value)
}

/// The unscaled value at another scale; `None` if that loses digits or there are too many.
fn rescale(value: i128, from: u8, precision: u8, to: u8) -> Option<i128> {
    let power = |digits: u8| 10i128.checked_pow(u32::from(digits));
    let rescaled = match to.checked_sub(from) {
        Some(digits) => value.checked_mul(power(digits)?)?,
        None => {
            let factor = power(from - to)?;
            (value % factor == 0).then_some(value / factor)?
        }
    };
    (rescaled.unsigned_abs() < power(precision)?.unsigned_abs()).then_some(rescaled)
}

fn numbers_array(name: &str, numbers: Vec<i64>, nulls: Option<NullBuffer>, arrow: &ArrowType) -> Result<ArrayRef> {
    fn narrow<T: TryFrom<i64> + ArrowNativeType>(name: &str, numbers: Vec<i64>) -> Result<ScalarBuffer<T>> {
        let narrowed = numbers.into_iter().map(T::try_from).collect::<std::result::Result<Vec<T>, _>>();
        narrowed
            .map(ScalarBuffer::from)
            .map_err(|_| Error::corrupt(format!("a number of column {name} of the Avro file does not fit its type")))
    }
    Ok(match arrow {
        ArrowType::Int8 => Arc::new(Int8Array::new(narrow(name, numbers)?, nulls)),
        ArrowType::Int16 => Arc::new(Int16Array::new(narrow(name, numbers)?, nulls)),
        ArrowType::Int32 => Arc::new(Int32Array::new(narrow(name, numbers)?, nulls)),
        ArrowType::Int64 => Arc::new(Int64Array::new(numbers.into(), nulls)),
        ArrowType::Date32 => Arc::new(Date32Array::new(narrow(name, numbers)?, nulls)),
        _ => return Err(mismatch(name)),
    })
}

fn moments_array(name: &str, ticks: Vec<i64>, nulls: Option<NullBuffer>, arrow: &ArrowType) -> Result<ArrayRef> {
    Ok(match arrow {
        ArrowType::Time32(_) => {
            let millis = ticks.into_iter().map(i32::try_from).collect::<std::result::Result<Vec<_>, _>>();
            let millis = millis.map_err(|_| Error::corrupt(format!("a time of column {name} is out of range")))?;
            Arc::new(Time32MillisecondArray::new(millis.into(), nulls))
        }
        ArrowType::Timestamp(unit, zone) => {
            let (ticks, zone) = (ScalarBuffer::from(ticks), zone.clone());
            match unit {
                TimeUnit::Second => Arc::new(TimestampSecondArray::new(ticks, nulls).with_timezone_opt(zone)),
                TimeUnit::Millisecond => Arc::new(TimestampMillisecondArray::new(ticks, nulls).with_timezone_opt(zone)),
                TimeUnit::Microsecond => Arc::new(TimestampMicrosecondArray::new(ticks, nulls).with_timezone_opt(zone)),
                TimeUnit::Nanosecond => Arc::new(TimestampNanosecondArray::new(ticks, nulls).with_timezone_opt(zone)),
            }
        }
        _ => return Err(mismatch(name)),
    })
}

fn map_array(
    name: &str,
    offsets: OffsetBuffer<i32>,
    entries: Vec<ArrayRef>,
    nulls: Option<NullBuffer>,
    arrow: &ArrowType,
) -> Result<ArrayRef> {
    let ArrowType::Map(field, ordered) = arrow else { return Err(mismatch(name)) };
    let ArrowType::Struct(parts) = field.data_type() else { return Err(mismatch(name)) };
    let entries = StructArray::try_new(parts.clone(), entries, None).map_err(|e| null_in_not_null(name, e))?;
    let built = MapArray::try_new(Arc::clone(field), offsets, entries, nulls, *ordered);
    Ok(Arc::new(built.map_err(|e| null_in_not_null(name, e))?))
}
