//! The cast of values that are stored: what a column cannot hold is an error, never cut, wrapped or made null.
//!
//! Invariants: digits behind those of a DECIMAL are rounded half up and finer digits of a timestamp are cut, as Java does;
//! every other loss is an error that names column and value. A floating point number becomes a DECIMAL by its shortest
//! text, as in Java, so that 1.005 is 1.005. Source: SQL sheet SQL-134.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, StringArray, make_array, make_comparator,
};
use datafusion::arrow::compute::{CastOptions, SortOptions, cast_with_options};
use datafusion::arrow::datatypes::{DataType, Field, Float32Type, Float64Type, Int64Type, TimeUnit};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::array_value_to_string;
use paimon_core::types::field_from_arrow;
use paimon_core::{Error, Result};

/// The values as `target`, the type of the column of this name.
///
/// # Errors
/// `SchemaMismatch` naming the column, and the value where it is known.
pub(crate) fn store(array: &ArrayRef, column: &str, target: &DataType) -> Result<ArrayRef> {
    let source = array.data_type();
    if source == target {
        return Ok(Arc::clone(array));
    }
    if source.is_floating() && matches!(target, DataType::Decimal128(..)) {
        let text = Arc::new(shortest_texts(array)?) as ArrayRef;
        return strict(&text, column, target);
    }
    let stored = strict(&floored(array, column, target)?, column, target)?;
    if source.is_floating() && *target == DataType::Float32 {
        check_range(array, &stored, column, target)?;
    }
    if may_lose(source, target) {
        check_loss(array, &stored, column, target)?;
    }
    Ok(stored)
}

/// As [`store`], but what has no zone of its own is of this one where it becomes an instant; `None` is UTC.
///
/// # Errors
/// As [`store`].
pub(crate) fn store_in_zone(array: &ArrayRef, column: &str, target: &DataType, zone: Option<&str>) -> Result<ArrayRef> {
    match zone {
        Some(zone) if has_instants(target) => strict(&store(array, column, &in_zone(target, zone))?, column, target),
        _ => store(array, column, target),
    }
}

/// Whether values of this type are or hold points in time of a zone.
pub(crate) fn has_instants(data_type: &DataType) -> bool {
    match data_type {
        DataType::Timestamp(_, zone) => zone.is_some(),
        other => parts(other).is_some_and(|parts| parts.iter().any(|part| has_instants(part.data_type()))),
    }
}

/// The type with its points in time in a zone.
fn in_zone(data_type: &DataType, zone: &str) -> DataType {
    let part = |field: &Arc<Field>| Arc::new(field.as_ref().clone().with_data_type(in_zone(field.data_type(), zone)));
    match data_type {
        DataType::Timestamp(unit, Some(_)) => DataType::Timestamp(*unit, Some(zone.into())),
        DataType::List(field) => DataType::List(part(field)),
        DataType::Map(field, sorted) => DataType::Map(part(field), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(part).collect()),
        other => other.clone(),
    }
}

fn strict(array: &ArrayRef, column: &str, target: &DataType) -> Result<ArrayRef> {
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(array, target, &options).map_err(|e| Error::schema_mismatch(format!("column {column}: {e}")))
}

/// Timestamps without the digits that `target` does not have: the engine would cut them towards 1970, Java does towards
/// the past.
///
/// # Errors
/// `SchemaMismatch` naming the column for one next to the smallest number.
fn floored(array: &ArrayRef, column: &str, target: &DataType) -> Result<ArrayRef> {
    let source = array.data_type();
    if let (DataType::Timestamp(from, _), DataType::Timestamp(to, _)) = (source, target) {
        let step = per_second(*from) / per_second(*to);
        if step <= 1 {
            return Ok(Arc::clone(array));
        }
        let numbers = cast_with_options(array, &DataType::Int64, &CastOptions::default())?;
        let floor = |number: i64| {
            let floored = number.checked_sub(number.rem_euclid(step));
            floored.ok_or_else(|| ArrowError::ComputeError(format!("the timestamp {number} is out of range")))
        };
        let numbers = numbers.as_primitive::<Int64Type>().try_unary::<_, Int64Type, _>(floor);
        let numbers = numbers.map_err(|e| Error::schema_mismatch(format!("column {column}: {e}")))?;
        return Ok(cast_with_options(&(Arc::new(numbers) as ArrayRef), source, &CastOptions::default())?);
    }
    match (parts(source), parts(target)) {
        (Some(from), Some(to)) if from.len() == to.len() => {
            let data = array.to_data();
            if data.child_data().len() != to.len() {
                return Ok(Arc::clone(array));
            }
            let children = data.child_data().iter().zip(to);
            let children = children
                .map(|(child, part)| Ok(floored(&make_array(child.clone()), column, part.data_type())?.to_data()));
            let children = children.collect::<Result<Vec<_>>>()?;
            Ok(make_array(data.into_builder().child_data(children).build()?))
        }
        _ => Ok(Arc::clone(array)),
    }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Numbers as the shortest texts that read back as them.
fn shortest_texts(array: &ArrayRef) -> Result<StringArray> {
    fn texts<T: ArrowPrimitiveType<Native: ToString>>(array: &dyn Array) -> StringArray {
        array.as_primitive::<T>().iter().map(|value| value.map(|v| v.to_string())).collect()
    }
    Ok(match array.data_type() {
        DataType::Float32 => texts::<Float32Type>(array),
        DataType::Float64 => texts::<Float64Type>(array),
        _ => {
            let wide = cast_with_options(array, &DataType::Float32, &CastOptions::default())?;
            texts::<Float32Type>(&wide)
        }
    })
}

/// The type without the encoding of its values.
fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::RunEndEncoded(_, values) => plain(values.data_type()),
        other => other,
    }
}

/// Whether the cast from one type to another cuts some values without an error.
fn may_lose(source: &DataType, target: &DataType) -> bool {
    let number = |t: &DataType| t.is_integer() || t.is_floating() || t.is_decimal();
    match (plain(source), target) {
        (source, target) if target.is_integer() => source.is_floating() || source.is_decimal(),
        (source, DataType::Boolean) => number(source),
        (DataType::Time32(_) | DataType::Time64(_), DataType::Time32(_)) | (DataType::Date64, DataType::Date32) => true,
        (source, target) => match (parts(source), parts(target)) {
            (Some(from), Some(to)) if from.len() == to.len() => {
                from.iter().zip(to).any(|(from, to)| may_lose(from.data_type(), to.data_type()))
            }
            _ => false,
        },
    }
}

/// The parts of a type that has some.
fn parts(data_type: &DataType) -> Option<Vec<&Arc<Field>>> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => Some(vec![field]),
        DataType::Struct(fields) => Some(fields.iter().collect()),
        _ => None,
    }
}

fn lost(array: &ArrayRef, row: usize, column: &str, target: &DataType) -> Error {
    let value = array_value_to_string(array, row).unwrap_or_default();
    let name = type_name(target);
    Error::schema_mismatch(format!(
        "column {column}: the value {value} cannot be stored as {name} without loss; round it or write a CAST"
    ))
}

/// The name of a type in SQL.
fn type_name(data_type: &DataType) -> String {
    match field_from_arrow(&Field::new("", data_type.clone(), true), &mut 0) {
        Ok(field) => field.data_type.to_string(),
        Err(_) => data_type.to_string(),
    }
}

/// A finite number beyond the range of FLOAT would become infinite.
fn check_range(array: &ArrayRef, stored: &ArrayRef, column: &str, target: &DataType) -> Result<()> {
    if *array.data_type() != DataType::Float64 {
        return Ok(());
    }
    let (wide, narrow) = (array.as_primitive::<Float64Type>(), stored.as_primitive::<Float32Type>());
    let beyond = |(from, to): (&f64, &f32)| from.is_finite() && !to.is_finite();
    match wide.values().iter().zip(narrow.values()).position(beyond).filter(|row| wide.is_valid(*row)) {
        Some(row) => Err(lost(array, row, column, target)),
        None => Ok(()),
    }
}

/// Compares each value with what casting the stored one back gives. Only for types whose cast may lose something.
fn check_loss(array: &ArrayRef, stored: &ArrayRef, column: &str, target: &DataType) -> Result<()> {
    let fraction = match array.data_type() {
        DataType::Float64 => {
            array.as_primitive::<Float64Type>().iter().position(|v| v.is_some_and(|v| v.fract() != 0.0))
        }
        DataType::Float32 => {
            array.as_primitive::<Float32Type>().iter().position(|v| v.is_some_and(|v| v.fract() != 0.0))
        }
        _ => None,
    };
    if array.data_type().is_floating() && target.is_integer() {
        return fraction.map_or(Ok(()), |row| Err(lost(array, row, column, target)));
    }
    let back = cast_with_options(stored, array.data_type(), &CastOptions::default())?;
    let compare = make_comparator(array, &back, SortOptions::default())?;
    match (0..array.len()).find(|row| compare(*row, *row).is_ne()) {
        Some(row) => Err(lost(array, row, column, target)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::{
        BooleanArray, Decimal128Array, Float64Array, Int32Array, ListArray, StructArray, Time64NanosecondArray,
        TimestampMicrosecondArray,
    };
    use datafusion::arrow::datatypes::{Decimal128Type, Fields, Int32Type, TimestampMillisecondType};

    use super::*;

    fn stores(array: impl Array + 'static, target: DataType) -> Result<ArrayRef> {
        store(&(Arc::new(array) as ArrayRef), "c", &target)
    }

    fn refused(array: impl Array + 'static, target: DataType, part: &str) {
        let error = stores(array, target).unwrap_err().to_string();
        assert!(error.contains("column c") && error.contains(part), "{error}");
    }

    #[test]
    fn whole_numbers_take_no_fractions() {
        let whole = stores(Float64Array::from(vec![Some(-0.0), None, Some(7.0)]), DataType::Int32).unwrap();
        assert_eq!(whole.as_primitive::<Int32Type>(), &Int32Array::from(vec![Some(0), None, Some(7)]));
        refused(Float64Array::from(vec![1.0, 1.7]), DataType::Int32, "the value 1.7");
        let decimals = |values: Vec<i128>| Decimal128Array::from(values).with_precision_and_scale(5, 1).unwrap();
        assert!(stores(decimals(vec![20, 30]), DataType::Int64).is_ok());
        refused(decimals(vec![20, 25]), DataType::Int64, "the value 2.5");
        refused(Int32Array::from(vec![1, 5]), DataType::Boolean, "the value 5");
        assert_eq!(
            stores(Int32Array::from(vec![1, 0]), DataType::Boolean).unwrap().as_boolean(),
            &BooleanArray::from(vec![true, false])
        );
        refused(Float64Array::from(vec![f64::NAN]), DataType::Int32, "NaN");
    }

    #[test]
    fn parts_are_checked_too() {
        let list =
            ListArray::from_iter_primitive::<Float64Type, _, _>(vec![Some(vec![Some(1.0)]), Some(vec![Some(1.5)])]);
        let ints = DataType::List(Arc::new(Field::new("element", DataType::Int32, true)));
        assert!(stores(list.slice(0, 1), ints.clone()).is_ok());
        refused(list, ints, "1.5");
    }

    #[test]
    fn floats_become_decimals_by_their_text() {
        let decimals = stores(Float64Array::from(vec![1.005, -2.675, 0.1]), DataType::Decimal128(10, 2)).unwrap();
        assert_eq!(decimals.as_primitive::<Decimal128Type>().values().as_ref(), [101, -268, 10]);
        refused(Float64Array::from(vec![1e300]), DataType::Decimal128(10, 2), "");
        refused(Float64Array::from(vec![1e300]), DataType::Float32, "the value 1e300");
    }

    #[test]
    fn digits_of_timestamps_are_cut_towards_the_past() {
        let micros = vec![Some(-1), Some(-1_000), Some(-1_001), None, Some(1_999)];
        let milli = DataType::Timestamp(TimeUnit::Millisecond, None);
        let expected = [Some(-1), Some(-1), Some(-2), None, Some(1)];
        let flat = stores(TimestampMicrosecondArray::from(micros.clone()), milli.clone()).unwrap();
        assert_eq!(flat.as_primitive::<TimestampMillisecondType>().iter().collect::<Vec<_>>(), expected);
        refused(TimestampMicrosecondArray::from(vec![i64::MIN]), milli.clone(), "out of range");
        let field = |data_type| Fields::from(vec![Field::new("x", data_type, true)]);
        let column = Arc::new(TimestampMicrosecondArray::from(micros)) as ArrayRef;
        let row = StructArray::new(field(column.data_type().clone()), vec![column], None).slice(2, 3);
        let stored = stores(row, DataType::Struct(field(milli))).unwrap();
        let inner = stored.as_struct().column(0).as_primitive::<TimestampMillisecondType>();
        assert_eq!(inner.iter().collect::<Vec<_>>(), expected[2..5]);
    }

    #[test]
    fn times_keep_their_digits() {
        let milli = DataType::Time32(TimeUnit::Millisecond);
        assert!(stores(Time64NanosecondArray::from(vec![5_000_000]), milli.clone()).is_ok());
        refused(Time64NanosecondArray::from(vec![5_000_001]), milli, "without loss");
    }
}
