//! From the values of the bucket key to the bucket.
//!
//! Invariants: the row-wise and the column-wise form agree; `default` hashes the binary row with reserved nulls, whatever
//! the row kind. Source: binary-row sheet section 6; `bucket/DefaultBucketFunction.java`, `bucket/ModBucketFunction.java`,
//! `bucket/HiveBucketFunction.java`.

use arrow::array::types::*;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray};

use super::table_options::BucketFunction;
use crate::error::{Error, Result};
use crate::row::{BinaryRow, NullLayout, hash, hash_columns};
use crate::types::{DataType, Datum, datum_at};

/// The bucket of each row, from the columns of the bucket key in the order of the option.
///
/// # Errors
/// `InvalidInput` if a column does not have its type or `buckets` is not positive; `InvalidConfig` if the function does
/// not take the types; `Unsupported` for nested types.
pub fn assign_buckets(
    columns: &[ArrayRef],
    types: &[DataType],
    function: BucketFunction,
    buckets: i32,
) -> Result<Vec<i32>> {
    check(types, function, buckets)?;
    match function {
        BucketFunction::Default => {
            Ok(hash_columns(columns, types)?.into_iter().map(|h| default_bucket(h, buckets)).collect())
        }
        BucketFunction::Mod => mod_buckets(columns, types, buckets),
        BucketFunction::Hive => hive_buckets(columns, types, buckets),
    }
}

/// The bucket of one row, from the values of the bucket key in the order of the option.
///
/// # Errors
/// As [`assign_buckets`]; `InvalidInput` if a value does not fit its type.
pub fn bucket_of(values: &[Option<Datum>], types: &[DataType], function: BucketFunction, buckets: i32) -> Result<i32> {
    check(types, function, buckets)?;
    match function {
        BucketFunction::Default => {
            Ok(default_bucket(hash(&BinaryRow::encode(values, types, NullLayout::Reserved)?), buckets))
        }
        BucketFunction::Mod => match values {
            [None] => Ok(0),
            [Some(Datum::Int(v))] => Ok(v.rem_euclid(buckets)),
            [Some(Datum::BigInt(v))] => Ok(v.rem_euclid(i64::from(buckets)) as i32),
            _ => Err(Error::invalid_input(format!("values {values:?} do not fit the bucket key"))),
        },
        BucketFunction::Hive => {
            let hashes = values.iter().map(|v| v.as_ref().map_or(Ok(0), hive_hash));
            let combined = hashes.collect::<Result<Vec<_>>>()?.into_iter().fold(0, combine);
            Ok(hive_bucket(combined, buckets))
        }
    }
}

fn check(types: &[DataType], function: BucketFunction, buckets: i32) -> Result<()> {
    if buckets <= 0 {
        return Err(Error::invalid_input(format!("the number of buckets must be positive, but is {buckets}")));
    }
    if types.is_empty() {
        return Err(Error::invalid_input("the bucket key has no column"));
    }
    if function == BucketFunction::Mod && !matches!(types, [DataType::Int(_) | DataType::BigInt(_)]) {
        return Err(Error::invalid_config(
            "option 'bucket-function.type' = 'mod' needs a bucket key of one INT or BIGINT column",
        ));
    }
    Ok(())
}

fn default_bucket(hash: i32, buckets: i32) -> i32 {
    (hash % buckets).abs()
}

fn hive_bucket(hash: i32, buckets: i32) -> i32 {
    (hash & i32::MAX) % buckets
}

fn mod_buckets(columns: &[ArrayRef], types: &[DataType], buckets: i32) -> Result<Vec<i32>> {
    let mismatch = || Error::invalid_input(format!("the columns of the bucket key do not have types {types:?}"));
    let [column] = columns else { return Err(mismatch()) };
    // A null key reads as 0.
    Ok(match types {
        [DataType::Int(_)] => {
            let values = column.as_primitive_opt::<Int32Type>().ok_or_else(mismatch)?;
            values.iter().map(|v| v.unwrap_or(0).rem_euclid(buckets)).collect()
        }
        _ => {
            let values = column.as_primitive_opt::<Int64Type>().ok_or_else(mismatch)?;
            values.iter().map(|v| v.unwrap_or(0).rem_euclid(i64::from(buckets)) as i32).collect()
        }
    })
}

fn combine(hash: i32, next: i32) -> i32 {
    hash.wrapping_mul(31).wrapping_add(next)
}

fn hash_long(bits: u64) -> i32 {
    (bits ^ (bits >> 32)) as i32
}

fn hash_text(bytes: &[u8]) -> i32 {
    bytes.iter().fold(0, |h, b| combine(h, i32::from(*b as i8)))
}

/// Java's `BigDecimal.hashCode` of the value without trailing zeros of its fraction.
fn hash_decimal(mut unscaled: i128, mut scale: u8) -> i32 {
    while scale > 0 && unscaled % 10 == 0 {
        unscaled /= 10;
        scale -= 1;
    }
    let magnitude = unscaled.unsigned_abs().to_be_bytes();
    let (words, _) = magnitude.as_chunks::<4>();
    let hash = words.iter().fold(0, |h, word| combine(h, i32::from_be_bytes(*word)));
    combine(hash.wrapping_mul(unscaled.signum() as i32), i32::from(scale))
}

fn hash_float(value: f32) -> i32 {
    match value {
        0.0 => 0,
        v if v.is_nan() => f32::NAN.to_bits() as i32,
        v => v.to_bits() as i32,
    }
}

fn hash_double(value: f64) -> i32 {
    match value {
        0.0 => 0,
        v if v.is_nan() => hash_long(f64::NAN.to_bits()),
        v => hash_long(v.to_bits()),
    }
}

fn hive_hash(value: &Datum) -> Result<i32> {
    Ok(match value {
        Datum::Boolean(v) => i32::from(*v),
        Datum::TinyInt(v) => i32::from(*v),
        Datum::SmallInt(v) => i32::from(*v),
        Datum::Int(v) | Datum::Date(v) | Datum::Time(v) => *v,
        Datum::BigInt(v) => hash_long(*v as u64),
        Datum::Float(v) => hash_float(*v),
        Datum::Double(v) => hash_double(*v),
        Datum::Decimal(v, scale) => hash_decimal(*v, *scale),
        Datum::String(v) => hash_text(v.as_bytes()),
        Datum::Bytes(v) => hash_text(v),
        Datum::Timestamp(_) | Datum::LocalZonedTimestamp(_) => return Err(unsupported_by_hive("TIMESTAMP")),
    })
}

fn unsupported_by_hive(what: &str) -> Error {
    Error::invalid_config(format!("option 'bucket-function.type' = 'hive' does not take bucket keys of type {what}"))
}

fn hive_buckets(columns: &[ArrayRef], types: &[DataType], buckets: i32) -> Result<Vec<i32>> {
    if columns.len() != types.len() || columns.windows(2).any(|c| c[0].len() != c[1].len()) {
        return Err(Error::invalid_input("the columns of the bucket key do not fit its types or differ in length"));
    }
    let mut hashes = vec![0; columns.first().map_or(0, |c| c.len())];
    for (column, data_type) in columns.iter().zip(types) {
        add_hive_hashes(&mut hashes, column, data_type)?;
    }
    Ok(hashes.into_iter().map(|h| hive_bucket(h, buckets)).collect())
}

fn add_hive_hashes(hashes: &mut [i32], column: &ArrayRef, data_type: &DataType) -> Result<()> {
    fn add<T: ArrowPrimitiveType>(hashes: &mut [i32], column: &ArrayRef, hash: impl Fn(T::Native) -> i32) -> bool {
        let Some(values) = column.as_primitive_opt::<T>() else { return false };
        for (h, v) in hashes.iter_mut().zip(values) {
            *h = combine(*h, v.map_or(0, &hash));
        }
        true
    }
    let done = match data_type {
        DataType::Int(_) => add::<Int32Type>(hashes, column, |v| v),
        DataType::Date(_) => add::<Date32Type>(hashes, column, |v| v),
        DataType::BigInt(_) => add::<Int64Type>(hashes, column, |v| hash_long(v as u64)),
        DataType::Char(_) | DataType::VarChar(_) => match column.as_string_opt::<i32>() {
            Some(values) => {
                for (h, v) in hashes.iter_mut().zip(values) {
                    *h = combine(*h, v.map_or(0, |v| hash_text(v.as_bytes())));
                }
                true
            }
            None => false,
        },
        DataType::Timestamp(_) | DataType::LocalZonedTimestamp(_) => return Err(unsupported_by_hive("TIMESTAMP")),
        _ => false,
    };
    if !done {
        // Rare key types, or text in a view or dictionary: value by value.
        for (row, h) in hashes.iter_mut().enumerate() {
            let value = datum_at(column, row, data_type)?;
            *h = combine(*h, value.as_ref().map_or(Ok(0), hive_hash)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
