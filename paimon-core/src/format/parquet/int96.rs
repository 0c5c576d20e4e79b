//! Finds timestamps of INT96 that nanoseconds in 64 bits cannot hold.
//!
//! INT96 holds any year, but the library wraps around silently when it decodes to nanoseconds. The columns are therefore
//! decoded a second time, to microseconds, and both must agree. Only columns of INT96 cost this.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use ::parquet::basic::Type as PhysicalType;
use ::parquet::file::metadata::ParquetMetaData;
use ::parquet::schema::types::SchemaDescriptor;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::{
    DataType as ArrowType, FieldRef, Schema, TimeUnit, TimestampMicrosecondType, TimestampNanosecondType,
};
use arrow::record_batch::RecordBatch;

use crate::error::{Error, Result};

/// What the second decoding reads, if the columns that are chosen have any INT96.
pub(super) fn second_look(
    footer: &Arc<ParquetMetaData>,
    chosen: &ProjectionMask,
) -> ::parquet::errors::Result<Option<(ArrowReaderMetadata, ProjectionMask)>> {
    let schema = footer.file_metadata().schema_descr();
    let is_int96 = |leaf: &usize| schema.column(*leaf).physical_type() == PhysicalType::INT96;
    let leaves: Vec<usize> =
        (0..schema.num_columns()).filter(|leaf| chosen.leaf_included(*leaf)).filter(is_int96).collect();
    if leaves.is_empty() {
        return Ok(None);
    }
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    let inferred = ArrowReaderMetadata::try_new(Arc::clone(footer), options.clone())?;
    let hinted = with_micros(inferred.schema(), schema, &leaves);
    let metadata = ArrowReaderMetadata::try_new(Arc::clone(footer), options.with_schema(Arc::new(hinted)))?;
    Ok(Some((metadata, ProjectionMask::leaves(schema, leaves))))
}

/// The schema with microseconds in the root columns of these leaves.
fn with_micros(inferred: &Schema, schema: &SchemaDescriptor, leaves: &[usize]) -> Schema {
    let roots: Vec<usize> = leaves.iter().map(|leaf| schema.get_column_root_idx(*leaf)).collect();
    let fields = inferred.fields().iter().enumerate();
    let fields = fields.map(|(i, field)| if roots.contains(&i) { micros(field) } else { Arc::clone(field) });
    Schema::new(fields.collect::<Vec<FieldRef>>())
}

fn micros(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        ArrowType::Timestamp(TimeUnit::Nanosecond, zone) => ArrowType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        ArrowType::Struct(fields) => ArrowType::Struct(fields.iter().map(micros).collect()),
        ArrowType::List(element) => ArrowType::List(micros(element)),
        ArrowType::Map(entries, ordered) => ArrowType::Map(micros(entries), *ordered),
        _ => return Arc::clone(field),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// Checks that both decodings agree.
///
/// # Errors
/// `Unsupported` naming the column.
pub(super) fn compare(first: &RecordBatch, second: &RecordBatch) -> Result<()> {
    if first.num_rows() != second.num_rows() {
        return Err(Error::internal("two decodings of the same rows differ in length"));
    }
    for (field, second) in second.schema_ref().fields().iter().zip(second.columns()) {
        let first = first.column_by_name(field.name());
        let first = first.ok_or_else(|| Error::internal("two decodings of the same rows differ in columns"))?;
        if !agree(first, second) {
            return Err(Error::unsupported(format!(
                "column {} holds a timestamp before 1677 or after 2262, which Arrow cannot hold in nanoseconds",
                field.name()
            )));
        }
    }
    Ok(())
}

/// Compares leaf by leaf; the second may lack leaves that are not INT96.
fn agree(first: &ArrayRef, second: &ArrayRef) -> bool {
    match (first.data_type(), second.data_type()) {
        (ArrowType::Timestamp(TimeUnit::Nanosecond, _), ArrowType::Timestamp(TimeUnit::Microsecond, _)) => {
            let nanos = first.as_primitive::<TimestampNanosecondType>().iter();
            let micros = second.as_primitive::<TimestampMicrosecondType>().iter();
            // Both round toward zero within the day, so they differ by less than a microsecond.
            let near = |(nanos, micros): (Option<i64>, Option<i64>)| match (nanos, micros) {
                (Some(nanos), Some(micros)) => (i128::from(micros) * 1_000 - i128::from(nanos)).abs() < 1_000,
                (None, None) => true,
                _ => false,
            };
            first.len() == second.len() && nanos.zip(micros).all(near)
        }
        (ArrowType::Struct(_), ArrowType::Struct(fields)) => {
            let (first, second) = (first.as_struct(), second.as_struct());
            fields
                .iter()
                .zip(second.columns())
                .all(|(field, second)| first.column_by_name(field.name()).is_some_and(|first| agree(first, second)))
        }
        (ArrowType::List(_), ArrowType::List(_)) => {
            agree(first.as_list::<i32>().values(), second.as_list::<i32>().values())
        }
        (ArrowType::Map(..), ArrowType::Map(..)) => {
            let (first, second) = (first.as_map().entries(), second.as_map().entries());
            let (first, second): (ArrayRef, ArrayRef) = (Arc::new(first.clone()), Arc::new(second.clone()));
            agree(&first, &second)
        }
        _ => true,
    }
}
