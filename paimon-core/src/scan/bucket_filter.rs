//! Which buckets may hold a row that passes, from equalities on the bucket key.
//!
//! Invariants: buckets are computed with the bucket count of each entry, not of the table; a bucket is given up only if
//! the predicate fixes every column of the bucket key. Source: read-path sheet section 3;
//! `operation/BucketSelectConverter.java`, `operation/BucketSelector.java`.

use std::collections::HashMap;

use arrow::array::{ArrayRef, UInt32Array};
use arrow::compute::take;

use super::partitions::Residuals;
use crate::error::Result;
use crate::predicate::{Function, Predicate};
use crate::spec::{BUCKET, BUCKET_FUNCTION, BucketFunction, TableSchema, assign_buckets};
use crate::table::Table;
use crate::types::{DataField, DataType, Datum, array_from_datums};

/// So many combinations of values are hashed at most.
const MAX_COMBINATIONS: usize = 1_000;

/// Selects buckets for the residual predicates of partitions.
#[derive(Debug)]
pub(super) struct BucketFilter<'a> {
    fields: Vec<DataField>,
    types: Vec<DataType>,
    function: BucketFunction,
    residuals: &'a Residuals,
    /// Values of the bucket key by residual, one array per column; `None` if the residual does not fix it.
    keys: HashMap<usize, Option<Vec<ArrayRef>>>,
    /// Buckets by residual and bucket count.
    selected: HashMap<(usize, i32), Vec<i32>>,
}

impl<'a> BucketFilter<'a> {
    /// `None` if rows of the table have no fixed bucket.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad option.
    pub(super) fn try_new(table: &Table, residuals: &'a Residuals) -> Result<Option<Self>> {
        let (schema, bucket): (&TableSchema, i32) = (table.schema(), table.options().value(&BUCKET)?);
        let fields: Vec<DataField> =
            schema.bucket_key_positions().into_iter().map(|i| schema.fields[i].clone()).collect();
        let fixed = bucket > 0 || bucket == super::prune::POSTPONE_BUCKET;
        if !fixed || fields.is_empty() || fields.len() != schema.bucket_keys().len() {
            return Ok(None);
        }
        let function = table.options().value(&BUCKET_FUNCTION)?;
        let types = fields.iter().map(|f| f.data_type.clone()).collect();
        Ok(Some(Self { fields, types, function, residuals, keys: HashMap::new(), selected: HashMap::new() }))
    }

    /// Whether the bucket of an entry may hold a row that passes. `written` is the schema of the file.
    ///
    /// # Errors
    /// Those of hashing.
    pub(super) fn keeps(
        &mut self,
        partition: usize,
        bucket: i32,
        total_buckets: i32,
        written: &TableSchema,
    ) -> Result<bool> {
        // A value may hash differently in another type.
        let same_type = |f: &DataField| {
            written.fields.iter().any(|w| w.id == f.id && w.data_type.equals_ignoring_nullability(&f.data_type))
        };
        if total_buckets <= 0 || bucket < 0 || !self.fields.iter().all(same_type) {
            return Ok(true);
        }
        let residual = self.residuals.index(partition);
        if let Some(buckets) = self.selected.get(&(residual, total_buckets)) {
            return Ok(buckets.contains(&bucket));
        }
        let keys = match self.keys.get(&residual) {
            Some(keys) => keys,
            None => {
                let keys = key_columns(self.residuals.of(partition), &self.fields)?;
                self.keys.entry(residual).or_insert(keys)
            }
        };
        let Some(columns) = keys else { return Ok(true) };
        let mut buckets = match columns.first() {
            Some(column) if !column.is_empty() => assign_buckets(columns, &self.types, self.function, total_buckets)?,
            _ => Vec::new(),
        };
        buckets.sort_unstable();
        buckets.dedup();
        let keeps = buckets.contains(&bucket);
        self.selected.insert((residual, total_buckets), buckets);
        Ok(keeps)
    }
}

/// All combinations of the values that the predicate allows for the columns of the bucket key, as columns.
fn key_columns(predicate: &Predicate, fields: &[DataField]) -> Result<Option<Vec<ArrayRef>>> {
    let mut values: Vec<Option<Vec<Datum>>> = vec![None; fields.len()];
    for conjunct in predicate.conjuncts() {
        let Some((field_id, allowed)) = allowed_values(conjunct) else { continue };
        let Some(position) = fields.iter().position(|f| f.id == field_id) else { continue };
        match &mut values[position] {
            Some(known) => known.retain(|v| allowed.contains(v)),
            unknown => *unknown = Some(allowed),
        }
        // Two conjuncts that exclude each other: no row passes, which statistics and the row filter find out.
        if values[position].as_ref().is_some_and(Vec::is_empty) {
            return Ok(None);
        }
    }
    let Some(values) = values.into_iter().collect::<Option<Vec<Vec<Datum>>>>() else { return Ok(None) };
    let combinations = values.iter().try_fold(1usize, |n, v| n.checked_mul(v.len()));
    let Some(combinations) = combinations.filter(|n| *n <= MAX_COMBINATIONS) else { return Ok(None) };
    let mut columns = Vec::with_capacity(fields.len());
    let mut repeat = combinations;
    for (values, field) in values.iter().zip(fields) {
        repeat /= values.len().max(1);
        let distinct: Vec<_> = values.iter().cloned().map(Some).collect();
        let Ok(distinct) = array_from_datums(&distinct, &field.data_type) else { return Ok(None) };
        let index = |i: usize| u32::try_from(i / repeat.max(1) % values.len().max(1)).unwrap_or_default();
        let indices = UInt32Array::from_iter_values((0..combinations).map(index));
        columns.push(take(&distinct, &indices, None)?);
    }
    Ok(Some(columns))
}

/// The values that a conjunct allows for the one column that it speaks of: an OR of `=` and IN.
fn allowed_values(conjunct: &Predicate) -> Option<(i32, Vec<Datum>)> {
    match conjunct {
        Predicate::Leaf(leaf) if matches!(leaf.function, Function::Equal | Function::In) => {
            let mut values = Vec::with_capacity(leaf.literals.len());
            for literal in &leaf.literals {
                add_hashed_forms(&mut values, literal)?;
            }
            Some((leaf.field_id, values))
        }
        Predicate::Or(children) => {
            let mut parts = children.iter().map(allowed_values);
            let (field_id, mut values) = parts.next()??;
            for part in parts {
                let (other, more) = part?;
                if other != field_id {
                    return None;
                }
                values.extend(more);
            }
            Some((field_id, values))
        }
        _ => None,
    }
}

/// Every form of the value that hashes on its own; `None` if they cannot be listed: NaN has many.
fn add_hashed_forms(values: &mut Vec<Datum>, literal: &Datum) -> Option<()> {
    match literal {
        Datum::Float(v) if v.is_nan() => return None,
        Datum::Double(v) if v.is_nan() => return None,
        Datum::Float(v) if *v == 0.0 => values.extend([Datum::Float(-0.0), Datum::Float(0.0)]),
        Datum::Double(v) if *v == 0.0 => values.extend([Datum::Double(-0.0), Datum::Double(0.0)]),
        other => values.push(other.clone()),
    }
    Some(())
}
