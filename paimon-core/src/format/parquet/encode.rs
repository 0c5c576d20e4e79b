//! Encodes the columns of one row group, small ones in place and large ones side by side.
//!
//! Invariants: a row group of few rows costs no tasks; a large one has a task per column, fed through channels of a few
//! batches, so that memory stays within the encoded row group and those batches. Dropping it stops the tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use ::parquet::data_type::{Int96, Int96Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::writer::SerializedRowGroupWriter;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{DataType as ArrowType, FieldRef, Schema, SchemaRef, TimeUnit, TimestampNanosecondType};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::error::{Error, Result};
use crate::runtime;

/// Rows up to which a row group is encoded in place.
const INLINE_ROWS: usize = 32_768;
/// Batches that wait for the encoder of a column.
const WAITING: usize = 4;
/// Julian day of 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;
const NANOS_PER_DAY: i64 = 86_400_000_000_000;

pub(super) fn from_writing(error: ParquetError) -> Error {
    Error::internal("encoding Parquet failed").with_source(error)
}

/// The encoded form of one column of a row group.
pub(super) enum Chunk {
    /// By the library's writers, one per leaf.
    Leaves(Vec<ArrowColumnChunk>),
    /// INT96, which the library does not write from Arrow: the values, written at last.
    Int96(Vec<ArrayRef>),
}

/// Encodes one column of a row group.
struct ColumnEncoder {
    field: FieldRef,
    leaves: Vec<ArrowColumnWriter>,
    int96: Option<Vec<ArrayRef>>,
}

impl ColumnEncoder {
    fn write(&mut self, array: &ArrayRef) -> Result<()> {
        if let Some(arrays) = &mut self.int96 {
            arrays.push(Arc::clone(array));
            return Ok(());
        }
        let leaves = compute_leaves(&self.field, array).map_err(from_writing)?;
        if leaves.len() != self.leaves.len() {
            return Err(Error::internal(format!("column {} has another shape than its file", self.field.name())));
        }
        for (writer, leaf) in self.leaves.iter_mut().zip(&leaves) {
            writer.write(leaf).map_err(from_writing)?;
        }
        Ok(())
    }

    /// Bytes in the file if the row group ended now, and bytes in memory.
    fn sizes(&self) -> (usize, usize) {
        match &self.int96 {
            Some(arrays) => {
                let bytes = arrays.iter().map(|a| a.len() * size_of::<Int96>()).sum();
                (bytes, bytes)
            }
            None => self.leaves.iter().fold((0, 0), |(encoded, memory), leaf| {
                (encoded + leaf.get_estimated_total_bytes(), memory + leaf.memory_size())
            }),
        }
    }

    fn close(self) -> Result<Chunk> {
        match self.int96 {
            Some(arrays) => Ok(Chunk::Int96(arrays)),
            None => {
                let chunks = self.leaves.into_iter().map(|leaf| leaf.close().map_err(from_writing));
                Ok(Chunk::Leaves(chunks.collect::<Result<_>>()?))
            }
        }
    }
}

/// What a column weighs, seen from outside its task.
#[derive(Debug, Default)]
struct Weight {
    encoded: AtomicUsize,
    memory: AtomicUsize,
}

impl Weight {
    fn set(&self, (encoded, memory): (usize, usize)) {
        self.encoded.store(encoded, Ordering::Relaxed);
        self.memory.store(memory, Ordering::Relaxed);
    }
}

/// The columns of an open row group.
enum Columns {
    Inline(Vec<ColumnEncoder>),
    Parallel {
        inputs: Vec<mpsc::Sender<ArrayRef>>,
        tasks: JoinSet<Result<(usize, Chunk)>>,
    },
    /// An error or panic took them.
    Lost,
}

/// An open row group.
pub(super) struct RowGroup {
    columns: Columns,
    weights: Vec<Arc<Weight>>,
    rows: usize,
}

impl RowGroup {
    /// A row group of columns of this physical schema.
    pub(super) fn new(factory: &ArrowRowGroupWriterFactory, schema: &SchemaRef, index: usize) -> Result<Self> {
        let mut writers = factory.create_column_writers(index).map_err(from_writing)?.into_iter();
        let encoders = schema.fields().iter().map(|field| {
            let leaves = writers.by_ref().take(leaf_count(field.data_type())).collect();
            let int96 = is_int96(field.data_type()).then(Vec::new);
            ColumnEncoder { field: Arc::clone(field), leaves, int96 }
        });
        let encoders: Vec<_> = encoders.collect();
        let weights = encoders.iter().map(|_| Arc::default()).collect();
        Ok(Self { columns: Columns::Inline(encoders), weights, rows: 0 })
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn encoded_bytes(&self) -> usize {
        self.weights.iter().map(|w| w.encoded.load(Ordering::Relaxed)).sum()
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.weights.iter().map(|w| w.memory.load(Ordering::Relaxed)).sum()
    }

    /// Adds rows, one array per column.
    pub(super) async fn write(&mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<()> {
        self.rows += rows;
        if self.rows > INLINE_ROWS {
            self.spread();
        }
        match std::mem::replace(&mut self.columns, Columns::Lost) {
            Columns::Inline(mut encoders) => {
                let weights = self.weights.clone();
                let work = move || {
                    for ((encoder, array), weight) in encoders.iter_mut().zip(&arrays).zip(&weights) {
                        encoder.write(array)?;
                        weight.set(encoder.sizes());
                    }
                    Ok(encoders)
                };
                self.columns = Columns::Inline(runtime::cpu(work).await?);
            }
            Columns::Parallel { inputs, mut tasks } => {
                for (input, array) in inputs.iter().zip(arrays) {
                    if input.send(array).await.is_err() {
                        return Err(failure(&mut tasks).await);
                    }
                }
                self.columns = Columns::Parallel { inputs, tasks };
            }
            Columns::Lost => return Err(lost()),
        }
        Ok(())
    }

    /// Gives every column a task of its own.
    fn spread(&mut self) {
        let Columns::Inline(encoders) = &mut self.columns else { return };
        let encoders = std::mem::take(encoders);
        let mut tasks = JoinSet::new();
        let mut inputs = Vec::with_capacity(encoders.len());
        for (i, (mut encoder, weight)) in encoders.into_iter().zip(&self.weights).enumerate() {
            let (input, mut arrays) = mpsc::channel::<ArrayRef>(WAITING);
            let weight = Arc::clone(weight);
            tasks.spawn(async move {
                while let Some(array) = arrays.recv().await {
                    encoder.write(&array)?;
                    weight.set(encoder.sizes());
                }
                Ok((i, encoder.close()?))
            });
            inputs.push(input);
        }
        self.columns = Columns::Parallel { inputs, tasks };
    }

    /// Ends the row group and gives its columns.
    pub(super) async fn close(self) -> Result<Vec<Chunk>> {
        match self.columns {
            Columns::Inline(encoders) => {
                runtime::cpu(move || encoders.into_iter().map(ColumnEncoder::close).collect()).await
            }
            Columns::Parallel { inputs, mut tasks } => {
                drop(inputs);
                let mut chunks = Vec::with_capacity(tasks.len());
                while let Some(done) = tasks.join_next().await {
                    chunks.push(done.map_err(|e| lost().with_source(e))??);
                }
                chunks.sort_by_key(|(i, _)| *i);
                Ok(chunks.into_iter().map(|(_, chunk)| chunk).collect())
            }
            Columns::Lost => Err(lost()),
        }
    }
}

fn lost() -> Error {
    Error::internal("an earlier write of the file failed")
}

async fn failure(tasks: &mut JoinSet<Result<(usize, Chunk)>>) -> Error {
    while let Some(done) = tasks.join_next().await {
        match done {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return error,
            Err(error) => return lost().with_source(error),
        }
    }
    lost()
}

/// Appends the columns of a row group to a file, in order.
pub(super) fn append<W: std::io::Write + Send>(
    chunks: Vec<Chunk>,
    group: &mut SerializedRowGroupWriter<'_, W>,
) -> Result<()> {
    for chunk in chunks {
        match chunk {
            Chunk::Leaves(leaves) => {
                for leaf in leaves {
                    leaf.append_to_row_group(group).map_err(from_writing)?;
                }
            }
            Chunk::Int96(arrays) => {
                let column = group.next_column().map_err(from_writing)?;
                let mut column = column.ok_or_else(|| Error::internal("a row group has too few columns"))?;
                for array in arrays {
                    let (values, levels) = int96_values(&array);
                    column.typed::<Int96Type>().write_batch(&values, Some(&levels), None).map_err(from_writing)?;
                }
                column.close().map_err(from_writing)?;
            }
        }
    }
    Ok(())
}

/// Values that are not null, and for each row whether it is one.
fn int96_values(array: &ArrayRef) -> (Vec<Int96>, Vec<i16>) {
    let array = array.as_primitive::<TimestampNanosecondType>();
    let levels = (0..array.len()).map(|i| i16::from(array.is_valid(i))).collect();
    (array.iter().flatten().map(int96).collect(), levels)
}

/// Nanoseconds within the day are never negative: readers that take them as unsigned agree with those that do not.
fn int96(nanos: i64) -> Int96 {
    let (day, in_day) = (nanos.div_euclid(NANOS_PER_DAY) + JULIAN_EPOCH, nanos.rem_euclid(NANOS_PER_DAY));
    let mut value = Int96::new();
    value.set_data((in_day & 0xffff_ffff) as u32, (in_day >> 32) as u32, day as u32);
    value
}

fn is_int96(data_type: &ArrowType) -> bool {
    matches!(data_type, ArrowType::Timestamp(TimeUnit::Nanosecond, _))
}

fn leaf_count(data_type: &ArrowType) -> usize {
    match data_type {
        ArrowType::Struct(fields) => fields.iter().map(|f| leaf_count(f.data_type())).sum(),
        ArrowType::List(field) | ArrowType::Map(field, _) => leaf_count(field.data_type()),
        _ => 1,
    }
}

/// The Arrow schema that is encoded for a file whose columns have this one: Parquet has no seconds.
pub(super) fn physical_schema(schema: &Schema) -> SchemaRef {
    let fields: Vec<FieldRef> = schema.fields().iter().map(physical_field).collect();
    Arc::new(Schema::new(fields))
}

fn physical_field(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        ArrowType::Timestamp(TimeUnit::Second, zone) => ArrowType::Timestamp(TimeUnit::Millisecond, zone.clone()),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(physical_field).collect()),
        ArrowType::List(element) => ArrowType::List(physical_field(element)),
        ArrowType::Map(entries, ordered) => ArrowType::Map(physical_field(entries), *ordered),
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn int96_keeps_every_instant() {
        for nanos in [0, 1, -1, NANOS_PER_DAY, -NANOS_PER_DAY, i64::MIN, i64::MAX, 1_709_210_096_123_456_789] {
            assert_eq!(int96(nanos).to_nanos(), nanos);
        }
    }
}
