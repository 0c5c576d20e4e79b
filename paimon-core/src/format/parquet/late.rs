//! Late materialisation: the columns of selective tests are decoded first, the others only where those pass.
//!
//! Invariants: tests are exact, so each row that passes the predicate is read; what cannot be tested here passes, and
//! damage shows when the rows are read. A test counts as selective if it names values or both ends of a range: deciding
//! rows one by one costs more than it saves where most pass.

use std::sync::Arc;

use ::parquet::arrow::ProjectionMask;
use ::parquet::arrow::arrow_reader::{ArrowPredicate, ArrowPredicateFn, RowFilter};
use ::parquet::file::metadata::ParquetMetaData;
use arrow::array::{BooleanArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{Field, Schema};

use super::conform::conform;
use super::projection::flat_leaf;
use crate::error::Result;
use crate::predicate::{Function, Leaf, Predicate, evaluate};
use crate::types::DataType;

/// Tests that decide which rows are decoded; `None` if the predicate has no selective one.
pub(super) fn row_filter(footer: &ParquetMetaData, predicate: &Predicate) -> Option<RowFilter> {
    let schema = footer.file_metadata().schema_descr();
    let conjuncts = predicate.conjuncts();
    let leaves = || conjuncts.iter().filter_map(|p| if let Predicate::Leaf(leaf) = p { Some(leaf) } else { None });
    let chosen = leaves().filter(|leaf| exact(leaf) && (names_values(leaf) || leaves().any(|l| closes(leaf, l))));
    let tests: Vec<Box<dyn ArrowPredicate>> = chosen
        .filter_map(|leaf| {
            let position = flat_leaf(schema, &leaf.name)?;
            let mask = ProjectionMask::leaves(schema, [position]);
            let leaf = leaf.clone();
            let test = move |batch: RecordBatch| {
                Ok(test(&leaf, &batch)
                    .unwrap_or_else(|_| BooleanArray::new(BooleanBuffer::new_set(batch.num_rows()), None)))
            };
            Some(Box::new(ArrowPredicateFn::new(mask, test)) as Box<dyn ArrowPredicate>)
        })
        .collect();
    (!tests.is_empty()).then(|| RowFilter::new(tests))
}

fn test(leaf: &Leaf, batch: &RecordBatch) -> Result<BooleanArray> {
    let column = conform(&leaf.name, batch.column(0), &leaf.data_type)?;
    let schema = Schema::new(vec![Field::new(&leaf.name, column.data_type().clone(), true)]);
    evaluate(&Predicate::Leaf(leaf.clone()), &RecordBatch::try_new(Arc::new(schema), vec![column])?)
}

/// Engines differ about the order and equality of floats.
fn exact(leaf: &Leaf) -> bool {
    !matches!(leaf.data_type, DataType::Float(_) | DataType::Double(_))
}

fn names_values(leaf: &Leaf) -> bool {
    matches!(leaf.function, Function::Equal | Function::In | Function::Between | Function::StartsWith)
}

/// Whether `other` bounds the same column on the other side.
fn closes(leaf: &Leaf, other: &Leaf) -> bool {
    let lower = |l: &Leaf| matches!(l.function, Function::GreaterThan | Function::GreaterOrEqual);
    let upper = |l: &Leaf| matches!(l.function, Function::LessThan | Function::LessOrEqual);
    leaf.name == other.name && (lower(leaf) && upper(other) || upper(leaf) && lower(other))
}

#[cfg(test)]
mod tests {
    use ::parquet::arrow::ArrowWriter;
    use ::parquet::file::properties::{EnabledStatistics, WriterProperties};
    use arrow::array::{ArrayRef, AsArray, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::Int64Type;
    use bytes::Bytes;
    use futures::TryStreamExt;

    use super::*;
    use crate::format::parquet::ParquetFormat;
    use crate::format::{FileFormat, FooterCache, InputFile, ReadRequest};
    use crate::options::Options;
    use crate::storage::FileIO;
    use crate::types::{DataField, Datum};

    const ROWS: i64 = 3000;

    /// `n` counts, `k` is its remainder by 100 or null, `s` the text of `k`, `f` the number as a float. No statistics.
    async fn file() -> InputFile {
        let k = |n: i64| (n % 7 != 0).then_some(n % 100);
        let columns: [(&str, ArrayRef); 4] = [
            ("n", Arc::new(Int64Array::from_iter_values(0..ROWS))),
            ("k", Arc::new(Int64Array::from_iter((0..ROWS).map(k)))),
            ("s", Arc::new(StringArray::from_iter((0..ROWS).map(|n| k(n).map(|k| format!("s{k}")))))),
            ("f", Arc::new(Float64Array::from_iter_values((0..ROWS).map(|n| n as f64)))),
        ];
        let batch = RecordBatch::try_from_iter_with_nullable(columns.map(|(name, c)| (name, c, true))).unwrap();
        let properties = WriterProperties::builder().set_statistics_enabled(EnabledStatistics::None);
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties.build())).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let io = FileIO::from_location("memory:/late", &Options::new()).unwrap();
        let (path, size) = ("memory:/late/file".to_owned(), bytes.len() as u64);
        io.write(&path, Bytes::from(bytes)).await.unwrap();
        InputFile { io, path, size, footers: FooterCache::default() }
    }

    fn leaf(name: &str, function: Function, literals: &[Datum]) -> Predicate {
        let data_type = match name {
            "s" => "STRING",
            "f" => "DOUBLE",
            _ => "BIGINT",
        };
        let (name, data_type) = (name.to_owned(), data_type.parse().unwrap());
        Predicate::Leaf(Leaf { field_id: 0, name, data_type, function, literals: literals.to_vec() })
    }

    /// The numbers of the rows that are read, and whether columns were tested first.
    async fn read(predicate: Predicate, rows: Option<BooleanBuffer>) -> (Vec<i64>, bool) {
        let file = file().await;
        let footer = crate::format::parquet::footer::footer(&file, false).await.unwrap();
        let tests = row_filter(&footer, &predicate).is_some();
        let columns = [("n", "BIGINT"), ("f", "DOUBLE")];
        let columns = columns.map(|(name, text)| DataField::new(0, name, text.parse().unwrap())).to_vec();
        let request = ReadRequest {
            columns,
            predicate: Some(predicate),
            rows,
            batch_rows: 100,
            options: Default::default(),
            tasks: 1,
        };
        let batches: Vec<_> = ParquetFormat.read(file, request).await.unwrap().try_collect().await.unwrap();
        let numbers = batches.iter().flat_map(|b| b.column(0).as_primitive::<Int64Type>().values().to_vec());
        (numbers.collect(), tests)
    }

    fn expected(keep: impl Fn(i64, i64) -> bool) -> Vec<i64> {
        (0..ROWS).filter(|n| n % 7 != 0 && keep(*n, n % 100)).collect()
    }

    #[tokio::test]
    async fn selective_tests_decide_rows_one_by_one() {
        let number = |n| Datum::BigInt(n);
        let text = |t: &str| Datum::String(t.to_owned());
        let (equal, few) = (leaf("k", Function::Equal, &[number(42)]), [number(3), number(5)]);
        assert_eq!(read(equal.clone(), None).await, (expected(|_, k| k == 42), true));
        assert_eq!(read(leaf("k", Function::In, &few), None).await, (expected(|_, k| k == 3 || k == 5), true));
        let both = Predicate::and([equal.clone(), leaf("s", Function::StartsWith, &[text("s4")])]);
        assert_eq!(read(both, None).await, (expected(|_, k| k == 42), true));
        let from = leaf("k", Function::GreaterOrEqual, &[number(10)]);
        let range = Predicate::and([from.clone(), leaf("k", Function::LessThan, &[number(13)])]);
        assert_eq!(read(range, None).await, (expected(|_, k| (10..13).contains(&k)), true));
        // Rows that are left out stay out.
        let odd = BooleanBuffer::collect_bool(usize::try_from(ROWS).unwrap(), |n| n % 2 == 1);
        assert_eq!(
            read(leaf("k", Function::In, &few), Some(odd)).await.0,
            expected(|n, k| (k == 3 || k == 5) && n % 2 == 1)
        );
    }

    #[tokio::test]
    async fn other_tests_let_rows_pass() {
        let all: Vec<i64> = (0..ROWS).collect();
        let (low, high) = ([Datum::BigInt(10)], [Datum::BigInt(20)]);
        let open = leaf("k", Function::GreaterThan, &low);
        let one_sided = Predicate::and([open.clone(), leaf("n", Function::GreaterThan, &high)]);
        let either = Predicate::or([leaf("k", Function::Equal, &low), leaf("k", Function::Equal, &high)]);
        let float = leaf("f", Function::Equal, &[Datum::Double(-0.0)]);
        let missing = leaf("other", Function::Equal, &low);
        for predicate in [open, one_sided, either, float, missing] {
            assert_eq!(read(predicate.clone(), None).await, (all.clone(), false), "{predicate:?}");
        }
    }
}
