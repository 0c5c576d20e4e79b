//! Exact evaluation of a predicate on a batch, by column kernels.
//!
//! Invariants: the result has no null; a comparison with null is false; floats compare in total order with all NaNs equal
//! and greatest; text and bytes compare as unsigned bytes. `_` in LIKE matches any one character, line ends included.
//! Source: read-path sheet section 9.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, RecordBatch, Scalar};
use arrow::buffer::BooleanBuffer;
use arrow::compute::kernels::cmp::{eq, gt, gt_eq, lt, lt_eq, neq};
use arrow::compute::kernels::comparison::{contains, ends_with, like, starts_with};
use arrow::compute::{and, cast, is_not_null, is_null, not, or};
use arrow::row::{RowConverter, SortField};

use super::{Function, Leaf, Predicate};
use crate::error::{Error, Result};
use crate::types::{array_from_datums, arrow_type};

/// From so many literals on, IN looks values up in a set.
const IN_SET_THRESHOLD: usize = 12;

/// Which rows of the batch pass; columns are looked up by name.
///
/// # Errors
/// `Internal` if the batch lacks a column; `InvalidInput` if a column has another type than the predicate says.
pub fn evaluate(predicate: &Predicate, batch: &RecordBatch) -> Result<BooleanArray> {
    match predicate {
        Predicate::AlwaysTrue => Ok(constant(true, batch.num_rows())),
        Predicate::AlwaysFalse => Ok(constant(false, batch.num_rows())),
        Predicate::Leaf(leaf) => {
            let Some(column) = batch.column_by_name(&leaf.name) else {
                return Err(Error::internal(format!("the batch has no column {} to test", leaf.name)));
            };
            evaluate_leaf(leaf, column)
        }
        Predicate::And(children) => fold(children, batch, true, and),
        Predicate::Or(children) => fold(children, batch, false, or),
    }
}

type Combine = fn(&BooleanArray, &BooleanArray) -> std::result::Result<BooleanArray, arrow::error::ArrowError>;

/// Combines the children until all rows are decided: `neutral` is the result without children.
fn fold(children: &[Predicate], batch: &RecordBatch, neutral: bool, combine: Combine) -> Result<BooleanArray> {
    let mut result = constant(neutral, batch.num_rows());
    for child in children {
        result = combine(&result, &evaluate(child, batch)?)?;
        let decided = if neutral { 0 } else { batch.num_rows() };
        if result.true_count() == decided {
            break;
        }
    }
    Ok(result)
}

fn constant(value: bool, len: usize) -> BooleanArray {
    BooleanArray::new(if value { BooleanBuffer::new_set(len) } else { BooleanBuffer::new_unset(len) }, None)
}

/// The values with nulls as false.
fn without_nulls(result: BooleanArray) -> BooleanArray {
    match result.nulls() {
        Some(nulls) => BooleanArray::new(result.values() & nulls.inner(), None),
        None => result,
    }
}

fn evaluate_leaf(leaf: &Leaf, column: &ArrayRef) -> Result<BooleanArray> {
    match leaf.function {
        Function::IsNull => return Ok(is_null(column)?),
        Function::IsNotNull => return Ok(is_not_null(column)?),
        _ => {}
    }
    let expected = arrow_type(&leaf.data_type);
    let column = if *column.data_type() == expected { column.clone() } else { cast(column, &expected)? };
    let literals = leaf.literals.iter().cloned().map(Some).collect::<Vec<_>>();
    let literals = ordered(&array_from_datums(&literals, &leaf.data_type)?);
    let column = ordered(&column);
    let literal = |i: usize| {
        if i < literals.len() {
            Ok(Scalar::new(literals.slice(i, 1)))
        } else {
            Err(Error::internal(format!("a test {:?} of column {} lacks a literal", leaf.function, leaf.name)))
        }
    };
    let result = match leaf.function {
        Function::Equal => eq(&column, &literal(0)?)?,
        Function::NotEqual => neq(&column, &literal(0)?)?,
        Function::LessThan => lt(&column, &literal(0)?)?,
        Function::LessOrEqual => lt_eq(&column, &literal(0)?)?,
        Function::GreaterThan => gt(&column, &literal(0)?)?,
        Function::GreaterOrEqual => gt_eq(&column, &literal(0)?)?,
        Function::Between => and(&gt_eq(&column, &literal(0)?)?, &lt_eq(&column, &literal(1)?)?)?,
        Function::NotBetween => or(&lt(&column, &literal(0)?)?, &gt(&column, &literal(1)?)?)?,
        Function::In => is_in(&column, &literals)?,
        Function::NotIn => and(&not(&is_in(&column, &literals)?)?, &is_not_null(&column)?)?,
        Function::StartsWith => starts_with(&column, &literal(0)?)?,
        Function::EndsWith => ends_with(&column, &literal(0)?)?,
        Function::Contains => contains(&column, &literal(0)?)?,
        Function::Like => like(&column, &literal(0)?)?,
        Function::IsNull | Function::IsNotNull => return Err(Error::internal("null tests have no literal")),
    };
    Ok(without_nulls(result))
}

/// Which values occur among the literals; never null.
fn is_in(column: &ArrayRef, literals: &ArrayRef) -> Result<BooleanArray> {
    if literals.len() < IN_SET_THRESHOLD {
        let mut result = constant(false, column.len());
        for i in 0..literals.len() {
            result = or(&result, &without_nulls(eq(column, &Scalar::new(literals.slice(i, 1)))?))?;
        }
        return Ok(result);
    }
    let converter = RowConverter::new(vec![SortField::new(column.data_type().clone())])?;
    let wanted = converter.convert_columns(std::slice::from_ref(literals))?;
    let wanted: HashSet<&[u8]> = wanted.iter().map(|r| r.data()).collect();
    let rows = converter.convert_columns(std::slice::from_ref(column))?;
    let found =
        BooleanArray::new(BooleanBuffer::collect_bool(rows.num_rows(), |i| wanted.contains(rows.row(i).data())), None);
    Ok(and(&found, &is_not_null(column)?)?)
}

/// Floats as integers of the same order: the engine's kernels hold -0.0 and 0.0 for equal, this order does not.
fn ordered(column: &ArrayRef) -> ArrayRef {
    if let Some(values) = column.as_primitive_opt::<Float64Type>() {
        let order = |v: f64| {
            let bits = if v.is_nan() { f64::NAN.to_bits() as i64 & i64::MAX } else { v.to_bits() as i64 };
            bits ^ ((bits >> 63) as u64 >> 1) as i64
        };
        return Arc::new(values.unary::<_, Int64Type>(order));
    }
    if let Some(values) = column.as_primitive_opt::<Float32Type>() {
        let order = |v: f32| {
            let bits = if v.is_nan() { f32::NAN.to_bits() as i32 & i32::MAX } else { v.to_bits() as i32 };
            bits ^ ((bits >> 31) as u32 >> 1) as i32
        };
        return Arc::new(values.unary::<_, Int32Type>(order));
    }
    column.clone()
}
