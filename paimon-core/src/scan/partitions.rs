//! The distinct partitions of a scan, decoded once each, and what a predicate says of them.
//!
//! Invariants: two rows of equal values are one partition, whatever the layout of their nulls; a partition is given up only
//! if no row of it can pass. Source: read-path sheet section 3, binary-row sheet section 3.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, RecordBatch};
use arrow::compute::or;

use crate::error::{Result, ResultExt};
use crate::predicate::{Leaf, Predicate, evaluate};
use crate::row::BinaryRow;
use crate::types::{DataType, Datum, RowType, array_from_datums, to_arrow_schema};

/// Partitions in order of first appearance.
#[derive(Debug)]
pub(super) struct Partitions {
    row: RowType,
    types: Vec<DataType>,
    rows: Vec<BinaryRow>,
    values: Vec<Vec<Option<Datum>>>,
    ids_by_bytes: HashMap<BinaryRow, usize>,
    ids_by_value: HashMap<Vec<Option<Datum>>, usize>,
}

impl Partitions {
    /// No partition yet; `row` are the partition columns.
    pub(super) fn new(row: RowType) -> Self {
        let types = row.types();
        let (ids_by_bytes, ids_by_value) = (HashMap::new(), HashMap::new());
        Self { row, types, rows: Vec::new(), values: Vec::new(), ids_by_bytes, ids_by_value }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The row of a partition as it was seen first.
    pub(super) fn row(&self, id: usize) -> &BinaryRow {
        &self.rows[id]
    }

    /// The values of a partition.
    pub(super) fn values(&self, id: usize) -> &[Option<Datum>] {
        &self.values[id]
    }

    /// The number of a partition; decodes it if its bytes are new.
    pub(super) fn id(&mut self, row: &BinaryRow) -> Result<usize> {
        if let Some(id) = self.ids_by_bytes.get(row) {
            return Ok(*id);
        }
        let values = row.decode(&self.types).context("field", "_PARTITION")?;
        let id = match self.ids_by_value.entry(values) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let id = self.rows.len();
                self.rows.push(row.clone());
                self.values.push(new.key().clone());
                *new.insert(id)
            }
        };
        self.ids_by_bytes.insert(row.clone(), id);
        Ok(id)
    }

    /// What is left of the predicate in each partition once its partition columns have values.
    pub(super) fn residuals(&self, predicate: &Predicate) -> Result<Residuals> {
        let is_partition = |id: i32| self.row.index_of_id(id).is_some();
        if !predicate.field_ids().into_iter().any(is_partition) {
            return Ok(Residuals { distinct: vec![predicate.clone()], of_partition: vec![0; self.len()] });
        }
        let batch = self.batch()?;
        let mut tests: Vec<BooleanArray> = Vec::new();
        let mut error = None;
        predicate.visit_leaves(&mut |leaf| {
            if is_partition(leaf.field_id) {
                match test(leaf, &self.row, &batch) {
                    Ok(result) => tests.push(result),
                    Err(e) => error = error.take().or(Some(e)),
                }
            }
        });
        if let Some(error) = error {
            return Err(error);
        }
        // `map_leaves` replaces every leaf in the order of `visit_leaves`, also where a sibling decides the result.
        let residual = |partition: usize| {
            let mut next = tests.iter();
            predicate.map_leaves(&mut |leaf| match is_partition(leaf.field_id).then(|| next.next()).flatten() {
                Some(result) if result.value(partition) => Predicate::AlwaysTrue,
                Some(_) => Predicate::AlwaysFalse,
                None => Predicate::Leaf(leaf.clone()),
            })
        };
        Ok(Residuals { distinct: (0..self.len()).map(residual).collect(), of_partition: (0..self.len()).collect() })
    }

    fn batch(&self) -> Result<RecordBatch> {
        let columns = self.types.iter().enumerate().map(|(i, data_type)| {
            let values: Vec<_> = self.values.iter().map(|row| row[i].clone()).collect();
            array_from_datums(&values, data_type)
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>>>()?;
        let fields = to_arrow_schema(&self.row);
        let nullable = fields.fields().iter().map(|f| Arc::new(f.as_ref().clone().with_nullable(true)));
        let schema = Arc::new(arrow::datatypes::Schema::new(nullable.collect::<Vec<_>>()));
        Ok(RecordBatch::try_new(schema, columns)?)
    }
}

/// Which partitions a leaf may let pass. A zero may stand for the other one, as callers order them differently.
fn test(leaf: &Leaf, row: &RowType, batch: &RecordBatch) -> Result<BooleanArray> {
    // Partition columns keep their names for ever, but the predicate may call them in another case.
    let name = row.index_of_id(leaf.field_id).map(|i| row.fields()[i].name.clone());
    let predicate = Predicate::Leaf(Leaf { name: name.unwrap_or_else(|| leaf.name.clone()), ..leaf.clone() });
    let exact = evaluate(&predicate, batch)?;
    let with_equal_zeros = predicate.with_equal_zeros();
    if with_equal_zeros == predicate {
        return Ok(exact);
    }
    Ok(or(&exact, &evaluate(&with_equal_zeros, batch)?)?)
}

/// A predicate with the partition columns filled in.
#[derive(Debug)]
pub(super) struct Residuals {
    distinct: Vec<Predicate>,
    of_partition: Vec<usize>,
}

impl Residuals {
    /// The number of the residual of a partition: partitions with the same number share it.
    pub(super) fn index(&self, partition: usize) -> usize {
        self.of_partition[partition]
    }

    /// The residual of a partition.
    pub(super) fn of(&self, partition: usize) -> &Predicate {
        &self.distinct[self.of_partition[partition]]
    }

    /// Whether rows of a partition may pass as far as its own values tell.
    pub(super) fn keeps(&self, partition: usize) -> bool {
        *self.of(partition) != Predicate::AlwaysFalse
    }
}
