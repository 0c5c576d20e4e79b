//! Which rows of a batch go to which partition and bucket.
//!
//! Invariants: rows of one bucket keep their order; a batch of one bucket is passed on without a copy.
//! Source: write-path sheet sections 1 and 2; `table/sink/FixedBucketRowKeyExtractor.java`.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int8Array, Scalar, UInt32Array};
use arrow::compute::kernels::cmp::not_distinct;
use arrow::compute::{take, take_record_batch};
use arrow::datatypes::Int8Type;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;

use super::supported::BucketMode;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::row::{BinaryRow, NullLayout, encode_columns};
use crate::spec::{BUCKET_FUNCTION, BucketFunction, PARTITION_DEFAULT_NAME, TableSchema, assign_buckets};
use crate::types::{DataType, Datum};

/// A bucket of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct BucketKey {
    /// In the layout of partitions, so that equal values have equal bytes.
    pub(super) partition: BinaryRow,
    pub(super) bucket: i32,
}

/// Rows of one bucket.
#[derive(Debug)]
pub(super) struct Routed {
    pub(super) key: BucketKey,
    pub(super) batch: RecordBatch,
    pub(super) kinds: Option<Int8Array>,
}

/// Finds partitions and buckets of rows.
#[derive(Debug)]
pub(super) struct Router {
    partition: Columns,
    bucket_key: Columns,
    mode: BucketMode,
    function: BucketFunction,
    /// Names of the partition columns.
    partition_keys: Vec<String>,
    /// The name of the null partition.
    null_name: String,
}

#[derive(Debug)]
struct Columns {
    positions: Vec<usize>,
    types: Vec<DataType>,
}

impl Columns {
    fn new(schema: &TableSchema, positions: Vec<usize>) -> Self {
        let types = schema.row_type().project(&positions).types();
        Self { positions, types }
    }

    fn of(&self, batch: &RecordBatch) -> Vec<ArrayRef> {
        self.positions.iter().map(|&i| Arc::clone(batch.column(i))).collect()
    }
}

/// One number per row, or one for all.
enum Assigned<T> {
    All(T),
    Each(Vec<T>),
}

impl Router {
    /// For a table.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad value.
    pub(super) fn try_new(schema: &TableSchema, options: &Options, mode: BucketMode) -> Result<Self> {
        Ok(Self {
            partition: Columns::new(schema, schema.partition_positions()),
            bucket_key: Columns::new(schema, schema.bucket_key_positions()),
            mode,
            function: options.value(&BUCKET_FUNCTION)?,
            partition_keys: schema.partition_keys.clone(),
            null_name: options.value(&PARTITION_DEFAULT_NAME)?,
        })
    }

    /// The rows of each bucket, in the order in which the buckets first occur.
    ///
    /// # Errors
    /// `InvalidInput` if a given bucket is out of range or not that of the rows; `SchemaMismatch` for a partition value that
    /// is the name of the null partition; those of the bucket function.
    pub(super) fn route(
        &self,
        batch: &RecordBatch,
        kinds: Option<&Int8Array>,
        given: Option<i32>,
    ) -> Result<Vec<Routed>> {
        if batch.num_rows() == 0 {
            return Ok(Vec::new());
        }
        let (partitions, ids) = self.partitions(batch)?;
        partitions.iter().try_for_each(|partition| self.check_names(partition))?;
        let buckets = self.buckets(batch, given)?;
        let partition_of =
            |id: usize| partitions.get(id).cloned().ok_or_else(|| Error::internal("a row has no partition"));
        if let (Assigned::All(id), Assigned::All(bucket)) = (&ids, &buckets) {
            let key = BucketKey { partition: partition_of(*id)?, bucket: *bucket };
            return Ok(vec![Routed { key, batch: batch.clone(), kinds: kinds.cloned() }]);
        }
        group(batch.num_rows(), &ids, &buckets)
            .into_iter()
            .map(|((id, bucket), rows)| {
                let key = BucketKey { partition: partition_of(id)?, bucket };
                if rows.len() == batch.num_rows() {
                    return Ok(Routed { key, batch: batch.clone(), kinds: kinds.cloned() });
                }
                let rows = UInt32Array::from(rows);
                let kinds = kinds.map(|k| take(k, &rows, None).map(|k| k.as_primitive::<Int8Type>().clone()));
                Ok(Routed { key, batch: take_record_batch(batch, &rows)?, kinds: kinds.transpose()? })
            })
            .collect()
    }

    /// A value that reads as the name of the null partition would be taken for null wherever partitions are named.
    fn check_names(&self, partition: &BinaryRow) -> Result<()> {
        for (position, (name, data_type)) in self.partition_keys.iter().zip(&self.partition.types).enumerate() {
            let is_text = matches!(data_type, DataType::Char(_) | DataType::VarChar(_));
            if is_text && partition.field(position, data_type)? == Some(Datum::String(self.null_name.clone())) {
                return Err(Error::schema_mismatch(format!(
                    "column {name}: '{}' is the name of the partition of null (option '{}') and cannot be a value",
                    self.null_name, PARTITION_DEFAULT_NAME.key
                )));
            }
        }
        Ok(())
    }

    fn partitions(&self, batch: &RecordBatch) -> Result<(Vec<BinaryRow>, Assigned<usize>)> {
        let columns = self.partition.of(batch);
        if columns.is_empty() {
            return Ok((vec![BinaryRow::empty()], Assigned::All(0)));
        }
        let encode = |columns: &[ArrayRef]| encode_columns(columns, &self.partition.types, NullLayout::Reserved);
        if columns.iter().map(is_constant).collect::<Result<Vec<_>>>()?.into_iter().all(|same| same) {
            let first: Vec<_> = columns.iter().map(|c| c.slice(0, 1)).collect();
            return Ok((encode(&first)?, Assigned::All(0)));
        }
        let mut known: HashMap<BinaryRow, usize> = HashMap::new();
        let ids = encode(&columns)?.into_iter().map(|row| {
            let next = known.len();
            *known.entry(row).or_insert(next)
        });
        let ids: Vec<usize> = ids.collect();
        let mut partitions = vec![BinaryRow::empty(); known.len()];
        for (row, id) in known {
            if let Some(slot) = partitions.get_mut(id) {
                // The rows share one buffer; a partition that is kept must not keep it.
                *slot = BinaryRow::from_bytes(row.arity() as u32, Bytes::copy_from_slice(row.as_bytes()))?;
            }
        }
        Ok((partitions, Assigned::Each(ids)))
    }

    fn buckets(&self, batch: &RecordBatch, given: Option<i32>) -> Result<Assigned<i32>> {
        let BucketMode::Fixed(count) = self.mode else {
            return match given {
                None => Ok(Assigned::All(0)),
                Some(bucket) => Err(Error::invalid_input(format!(
                    "bucket {bucket} is given, but the table does not have a fixed number of buckets"
                ))),
            };
        };
        if let Some(bucket) = given
            && !(0..count).contains(&bucket)
        {
            return Err(Error::invalid_input(format!("bucket must be from 0 to {}, but is {bucket}", count - 1)));
        }
        if count == 1 {
            return Ok(Assigned::All(0));
        }
        let columns = self.bucket_key.of(batch);
        let buckets = assign_buckets(&columns, &self.bucket_key.types, self.function, count)?;
        match given {
            None => Ok(Assigned::Each(buckets)),
            Some(bucket) => match buckets.iter().position(|b| *b != bucket) {
                None => Ok(Assigned::All(bucket)),
                Some(row) => Err(Error::invalid_input(format!(
                    "row {row} of the batch belongs to bucket {}, not to the given bucket {bucket}",
                    buckets.get(row).copied().unwrap_or_default()
                ))),
            },
        }
    }
}

fn is_constant(column: &ArrayRef) -> Result<bool> {
    let first = Scalar::new(column.slice(0, 1));
    let same = not_distinct(column, &first)?;
    Ok(same.true_count() == column.len())
}

type Group = ((usize, i32), Vec<u32>);

/// Row numbers per partition and bucket. A loop over rows, since the target of each row depends on those before it.
fn group(rows: usize, ids: &Assigned<usize>, buckets: &Assigned<i32>) -> Vec<Group> {
    let at = |row: usize| {
        let id = match ids {
            Assigned::All(id) => *id,
            Assigned::Each(ids) => ids.get(row).copied().unwrap_or_default(),
        };
        let bucket = match buckets {
            Assigned::All(bucket) => *bucket,
            Assigned::Each(buckets) => buckets.get(row).copied().unwrap_or_default(),
        };
        (id, bucket)
    };
    let mut known: HashMap<(usize, i32), usize> = HashMap::new();
    let mut groups: Vec<Group> = Vec::new();
    let mut last: Option<((usize, i32), usize)> = None;
    for row in 0..rows {
        let key = at(row);
        let group = match last {
            Some((known_key, group)) if known_key == key => group,
            _ => *known.entry(key).or_insert_with(|| {
                groups.push((key, Vec::new()));
                groups.len() - 1
            }),
        };
        last = Some((key, group));
        if let (Some((_, rows)), Ok(row)) = (groups.get_mut(group), u32::try_from(row)) {
            rows.push(row);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use arrow::array::{Int32Array, StringArray};
    use arrow::datatypes::Int32Type;

    use super::*;
    use crate::spec::bucket_of;
    use crate::types::Datum;
    use crate::types::testing::*;

    fn schema(partition: &[&str]) -> TableSchema {
        TableSchema {
            version: 3,
            id: 0,
            fields: row_type(&[("p", string()), ("k", int())]).fields().to_vec(),
            highest_field_id: 1,
            partition_keys: partition.iter().map(|s| (*s).to_owned()).collect(),
            primary_keys: Vec::new(),
            options: BTreeMap::from([("bucket-key".to_owned(), "k".to_owned())]),
            comment: None,
            time_millis: 0,
        }
    }

    fn batch(partitions: Vec<Option<&str>>, keys: Vec<i32>) -> RecordBatch {
        let columns: [(&str, ArrayRef); 2] =
            [("p", Arc::new(StringArray::from(partitions))), ("k", Arc::new(Int32Array::from(keys)))];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn router(partition: &[&str], mode: BucketMode) -> Router {
        Router::try_new(&schema(partition), &Options::new(), mode).unwrap()
    }

    #[test]
    fn rows_go_to_their_partition_and_bucket_in_order() {
        let rows = batch(
            (0..100).map(|i| [Some("a"), None, Some("b")][i % 3]).collect(),
            (0..100).map(|i| i * 7 - 50).collect(),
        );
        let kinds = Int8Array::from_iter_values((0..100).map(|i| i % 4));
        let routed = router(&["p"], BucketMode::Fixed(4)).route(&rows, Some(&kinds), None).unwrap();
        assert_eq!(routed.iter().map(|r| r.batch.num_rows()).sum::<usize>(), 100);
        for part in &routed {
            let partition = part.key.partition.decode(&[string()]).unwrap();
            let keys = part.batch.column(1).as_primitive::<Int32Type>();
            let texts = part.batch.column(0).as_string::<i32>();
            let kinds = part.kinds.as_ref().unwrap();
            let mut previous = i32::MIN;
            for (row, key) in keys.values().iter().enumerate() {
                let value = texts.is_valid(row).then(|| text(texts.value(row)));
                assert_eq!(vec![value], partition);
                let bucket = bucket_of(&[Some(Datum::Int(*key))], &[int()], BucketFunction::Default, 4).unwrap();
                assert_eq!(bucket, part.key.bucket);
                assert_eq!(i32::from(kinds.value(row)), (key + 50) / 7 % 4);
                assert!(*key > previous);
                previous = *key;
            }
        }
    }

    #[test]
    fn one_partition_and_bucket_is_not_copied() {
        let rows = batch(vec![Some("a"), Some("a")], vec![1, 2]);
        for (partition, mode) in
            [(&[][..], BucketMode::Unaware), (&["p"], BucketMode::Unaware), (&["p"], BucketMode::Fixed(1))]
        {
            let routed = router(partition, mode).route(&rows, None, None).unwrap();
            assert_eq!((routed.len(), routed[0].key.bucket), (1, 0));
            assert!(Arc::ptr_eq(routed[0].batch.column(0), rows.column(0)));
        }
    }

    #[test]
    fn given_buckets_are_checked() {
        let rows = batch(vec![None], vec![42]);
        // Vector B1 of the specification: 42 is in bucket 1 of 4.
        let routed = router(&[], BucketMode::Fixed(4)).route(&rows, None, Some(1)).unwrap();
        assert_eq!(routed[0].key.bucket, 1);
        for (mode, bucket, part) in [
            (BucketMode::Fixed(4), 4, "from 0 to 3"),
            (BucketMode::Fixed(4), -1, "from 0 to 3"),
            (BucketMode::Fixed(4), 2, "belongs to bucket 1"),
            (BucketMode::Unaware, 0, "fixed number of buckets"),
        ] {
            let error = router(&[], mode).route(&rows, None, Some(bucket)).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
