//! The kernels against a naive model of rows.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int8Array,
    Int32Array, Int64Array, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{Int8Type, Int64Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};
use proptest::prelude::*;

use super::{MergeRule, merge_runs, sort_merge};
use crate::error::{ErrorKind, Result};
use crate::format::BatchStream;
use crate::options::Options;
use crate::runtime::{MemoryBudget, Resources};
use crate::spec::TableSchema;
use crate::types::*;

/// A row of the model: a number for the key, one for the sequence field, the sequence number and the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    key: usize,
    user: Option<i32>,
    sequence: i64,
    kind: i8,
}

impl Row {
    fn is_retract(&self) -> bool {
        matches!(self.kind, 1 | 3)
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum KeyShape {
    Int,
    Date,
    Wide,
    Boolean,
    BigIntAndInt,
    Double,
    Decimal,
    Timestamp,
    Text,
    Bytes,
    TextAndInt,
}

const SHAPES: [KeyShape; 11] = [
    KeyShape::Int,
    KeyShape::Date,
    KeyShape::Wide,
    KeyShape::Boolean,
    KeyShape::BigIntAndInt,
    KeyShape::Double,
    KeyShape::Decimal,
    KeyShape::Timestamp,
    KeyShape::Text,
    KeyShape::Bytes,
    KeyShape::TextAndInt,
];

/// Ascending values, so that the number of a key is its place.
const INTS: [i32; 12] = [i32::MIN, -257, -256, -1, 0, 1, 2, 255, 256, 257, 65_536, i32::MAX];
const DOUBLES: [f64; 12] =
    [f64::NEG_INFINITY, -1e300, -1.5, -0.0, 0.0, 1e-300, 1.0, 1.5, 256.0, 1e300, f64::INFINITY, f64::NAN];
const TEXTS: [&str; 12] = [
    "",
    "\0",
    " ",
    "a",
    "a\0",
    "aa",
    "abcdefghijklmnop",
    "abcdefghijklmnop\0",
    "abcdefghijklmnopq",
    "b",
    "\u{ff5e}",
    "\u{1f600}",
];
const KEYS: usize = 12;

impl KeyShape {
    fn fields(self) -> Vec<DataField> {
        let one = |data_type: DataType| vec![DataField::new(0, "k0", data_type.with_nullable(false))];
        let bigint = DataType::BigInt(BigIntType::new());
        match self {
            Self::Int => one(DataType::Int(IntType::new())),
            Self::Date => one(DataType::Date(DateType::new())),
            Self::Wide => one(bigint),
            Self::Boolean => one(DataType::Boolean(BooleanType::new())),
            Self::Double => one(DataType::Double(DoubleType::new())),
            Self::Decimal => one(DataType::Decimal(DecimalType::new(38, 3).unwrap())),
            Self::Timestamp => one(DataType::Timestamp(TimestampType::new(6).unwrap())),
            Self::Text => one(DataType::VarChar(VarCharType::string_type())),
            Self::Bytes => one(DataType::VarBinary(VarBinaryType::bytes_type())),
            Self::BigIntAndInt | Self::TextAndInt => {
                let first =
                    if self == Self::TextAndInt { DataType::VarChar(VarCharType::string_type()) } else { bigint };
                let mut fields = one(first);
                fields.push(DataField::new(1, "k1", DataType::Int(IntType::with_nullable(false))));
                fields
            }
        }
    }

    /// How many different keys there are.
    fn keys(self) -> usize {
        if self == Self::Boolean { 2 } else { KEYS }
    }

    fn columns(self, keys: &[usize]) -> Vec<ArrayRef> {
        let ints = |f: &dyn Fn(usize) -> i32| -> ArrayRef {
            Arc::new(Int32Array::from_iter_values(keys.iter().map(|&k| f(k))))
        };
        let text = |f: &dyn Fn(usize) -> usize| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(keys.iter().map(|&k| TEXTS[f(k)])))
        };
        match self {
            Self::Int => vec![ints(&|k| INTS[k])],
            Self::Date => vec![Arc::new(Date32Array::from_iter_values(keys.iter().map(|&k| INTS[k])))],
            Self::Wide => vec![Arc::new(Int64Array::from_iter_values(keys.iter().map(|&k| i64::from(INTS[k]) << 31)))],
            Self::Boolean => vec![Arc::new(BooleanArray::from_iter(keys.iter().map(|&k| Some(k == 1))))],
            Self::Double => vec![Arc::new(Float64Array::from_iter_values(keys.iter().map(|&k| DOUBLES[k])))],
            Self::Decimal => {
                let values = keys.iter().map(|&k| i128::from(INTS[k]) << 90);
                vec![Arc::new(Decimal128Array::from_iter_values(values).with_precision_and_scale(38, 3).unwrap())]
            }
            Self::Timestamp => {
                let values = keys.iter().map(|&k| i64::from(INTS[k]) * 1_000_003);
                vec![Arc::new(TimestampMicrosecondArray::from_iter_values(values))]
            }
            Self::Text => vec![text(&|k| k)],
            Self::Bytes => vec![Arc::new(BinaryArray::from_iter_values(keys.iter().map(|&k| TEXTS[k])))],
            Self::BigIntAndInt => {
                let first = Int64Array::from_iter_values(keys.iter().map(|&k| i64::from(INTS[k / 3])));
                vec![Arc::new(first), ints(&|k| INTS[k % 3 + 3])]
            }
            Self::TextAndInt => vec![text(&|k| k / 3), ints(&|k| INTS[k % 3 + 3])],
        }
    }
}

#[derive(Debug, Clone)]
struct Case {
    shape: KeyShape,
    user_sequence: bool,
    descending: bool,
    ignore_delete: bool,
}

impl Case {
    fn plain(shape: KeyShape) -> Self {
        Self { shape, user_sequence: false, descending: false, ignore_delete: false }
    }

    fn fields(&self) -> Vec<DataField> {
        let mut fields = self.shape.fields();
        fields.push(DataField::new(5, "u", DataType::Int(IntType::new())));
        fields.push(DataField::new(6, "text", DataType::VarChar(VarCharType::string_type())));
        fields
    }

    fn rule(&self) -> Result<MergeRule> {
        let mut options = Options::new();
        if self.user_sequence {
            options.set("sequence.field", "u");
        }
        if self.descending {
            options.set("sequence.field.sort-order", "descending");
        }
        if self.ignore_delete {
            options.set("ignore-delete", "true");
        }
        MergeRule::try_new(&self.schema(), &options)
    }

    fn schema(&self) -> TableSchema {
        TableSchema {
            version: 3,
            id: 0,
            fields: self.fields(),
            highest_field_id: 6,
            partition_keys: Vec::new(),
            primary_keys: self.shape.fields().into_iter().map(|f| f.name).collect(),
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        }
    }

    fn arrow_schema(&self) -> SchemaRef {
        let mut fields = vec![sequence_number_field(), value_kind_field()];
        fields.extend(self.fields());
        to_arrow_schema(&RowType::new(fields))
    }

    fn batch(&self, rows: &[Row]) -> RecordBatch {
        let keys: Vec<usize> = rows.iter().map(|r| r.key).collect();
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.sequence))),
            Arc::new(Int8Array::from_iter_values(rows.iter().map(|r| r.kind))),
        ];
        columns.extend(self.shape.columns(&keys));
        columns.push(Arc::new(Int32Array::from_iter(rows.iter().map(|r| r.user))));
        columns.push(Arc::new(StringArray::from_iter_values(rows.iter().map(|r| format!("{}/{}", r.key, r.sequence)))));
        RecordBatch::try_new(self.arrow_schema(), columns).unwrap()
    }

    fn age(&self, a: &Row, b: &Row) -> Ordering {
        let user = match (a.user, b.user) {
            (Some(x), Some(y)) if self.descending => y.cmp(&x),
            (x, y) => x.cmp(&y),
        };
        let user = if self.user_sequence { user } else { Ordering::Equal };
        user.then(a.sequence.cmp(&b.sequence)).then(b.is_retract().cmp(&a.is_retract()))
    }

    /// The newest row of each key, by key.
    fn model(&self, rows: &[Row], drop_deletes: bool) -> Vec<Row> {
        let mut newest: BTreeMap<usize, Row> = BTreeMap::new();
        for row in rows.iter().filter(|r| !(self.ignore_delete && r.is_retract())) {
            let entry = newest.entry(row.key).or_insert(*row);
            if self.age(row, entry) != Ordering::Less {
                *entry = *row;
            }
        }
        newest.into_values().filter(|r| !(drop_deletes && r.is_retract())).collect()
    }
}

/// What a batch holds, as text of the model's rows.
fn found(batches: &[RecordBatch]) -> Vec<(String, i64, i8)> {
    let mut rows = Vec::new();
    for batch in batches {
        let text = batch.column_by_name("text").unwrap().as_string::<i32>();
        let sequences = batch.column_by_name(SEQUENCE_NUMBER).unwrap().as_primitive::<Int64Type>();
        let kinds = batch.column_by_name(VALUE_KIND).unwrap().as_primitive::<Int8Type>();
        rows.extend((0..batch.num_rows()).map(|i| (text.value(i).to_owned(), sequences.value(i), kinds.value(i))));
    }
    rows
}

fn expected(rows: &[Row]) -> Vec<(String, i64, i8)> {
    rows.iter().map(|r| (format!("{}/{}", r.key, r.sequence), r.sequence, r.kind)).collect()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn run_of(batches: Vec<RecordBatch>) -> BatchStream {
    stream::iter(batches.into_iter().map(Ok)).boxed()
}

fn merge(case: &Case, schema: SchemaRef, runs: Vec<BatchStream>, drop: bool, rows: usize) -> Result<Vec<RecordBatch>> {
    let merged = merge_runs(schema, runs, Arc::new(case.rule()?), drop, rows, &Resources::default())?;
    block_on(merged.try_collect())
}

fn arbitrary_case() -> impl Strategy<Value = Case> {
    (0..SHAPES.len(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.2)).prop_map(
        |(shape, user_sequence, descending, ignore_delete)| Case {
            shape: SHAPES[shape],
            user_sequence,
            descending,
            ignore_delete,
        },
    )
}

/// Rows with different sequence numbers; adds are more likely than retracts.
fn arbitrary_rows() -> impl Strategy<Value = Vec<Row>> {
    let kinds = prop::sample::select(vec![0i8, 0, 0, 2, 1, 3]);
    let users = prop::option::weighted(0.8, prop::sample::select(vec![-1, 0, 1, 300]));
    prop::collection::vec((0..KEYS, users, kinds), 0..80).prop_flat_map(|rows| {
        let sequences: Vec<i64> = (0..rows.len() as i64).collect();
        Just(sequences).prop_shuffle().prop_map(move |sequences| {
            let rows = rows.iter().zip(sequences);
            rows.map(|(&(key, user, kind), sequence)| Row { key, user, sequence, kind }).collect()
        })
    })
}

/// Cuts rows into pieces of these lengths, which repeat.
fn cut(rows: &[Row], lengths: &[usize]) -> Vec<Vec<Row>> {
    let mut pieces = Vec::new();
    let mut rest = rows;
    for &length in lengths.iter().cycle().take(rows.len() * 2 + lengths.len()) {
        let (piece, tail) = rest.split_at(length.min(rest.len()));
        pieces.push(piece.to_vec());
        rest = tail;
    }
    pieces.push(rest.to_vec());
    pieces
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn merged_runs_equal_the_row_model(
        case in arbitrary_case(),
        rows in arbitrary_rows(),
        places in prop::collection::vec(0usize..5, 80),
        lengths in prop::collection::vec(0usize..6, 1..4),
        drop_deletes in any::<bool>(),
        batch_rows in 1usize..9,
    ) {
        let rows: Vec<Row> = rows.into_iter().map(|r| Row { key: r.key % case.shape.keys(), ..r }).collect();
        // A run holds each key at most once: a row goes to its run if that has room for the key, else it is left out.
        let mut runs: Vec<BTreeMap<usize, Row>> = vec![BTreeMap::new(); 5];
        for (row, place) in rows.iter().zip(places) {
            runs[place].entry(row.key).or_insert(*row);
        }
        let all: Vec<Row> = runs.iter().flat_map(|r| r.values().copied()).collect();
        let streams = runs.iter().map(|run| {
            let run: Vec<Row> = run.values().copied().collect();
            run_of(cut(&run, &lengths).iter().map(|piece| case.batch(piece)).collect())
        });
        let merged = merge(&case, case.arrow_schema(), streams.collect(), drop_deletes, batch_rows).unwrap();
        prop_assert!(merged.iter().all(|b| (1..=batch_rows).contains(&b.num_rows())));
        prop_assert_eq!(found(&merged), expected(&case.model(&all, drop_deletes)));
    }

    #[test]
    fn sorted_buffers_equal_the_row_model(
        case in arbitrary_case(),
        rows in arbitrary_rows(),
        lengths in prop::collection::vec(0usize..30, 1..4),
        batch_rows in 1usize..20,
    ) {
        let rows: Vec<Row> = rows.into_iter().map(|r| Row { key: r.key % case.shape.keys(), ..r }).collect();
        let batches: Vec<RecordBatch> = cut(&rows, &lengths).iter().map(|piece| case.batch(piece)).collect();
        let sorted = sort_merge(&batches, &case.rule().unwrap(), batch_rows).unwrap();
        prop_assert!(sorted.iter().all(|b| (1..=batch_rows).contains(&b.num_rows())));
        prop_assert_eq!(found(&sorted), expected(&case.model(&rows, false)));
    }
}

fn row(key: usize, user: Option<i32>, sequence: i64, kind: i8) -> Row {
    Row { key, user, sequence, kind }
}

#[test]
fn equal_sequences_put_the_retract_before_the_add() {
    let case = Case { user_sequence: true, ..Case::plain(KeyShape::Int) };
    for (first, second) in [(0, 3), (3, 0)] {
        let rows = [row(4, Some(1), 5, first), row(4, Some(1), 5, second)];
        let runs = rows.iter().map(|r| run_of(vec![case.batch(&[*r])])).collect();
        let merged = merge(&case, case.arrow_schema(), runs, true, 10).unwrap();
        assert_eq!(found(&merged), [("4/5".to_owned(), 5, 0)]);
        let sorted = sort_merge(&[case.batch(&rows)], &case.rule().unwrap(), 10).unwrap();
        assert_eq!(found(&sorted), [("4/5".to_owned(), 5, 0)]);
    }
}

#[test]
fn null_sequences_lose_in_both_directions() {
    // The sequence field was 5, null, 5, 4 in this order: the second 5 wins; descending the 4.
    let rows = [row(1, Some(5), 1, 0), row(1, None, 2, 0), row(1, Some(5), 3, 0), row(1, Some(4), 4, 0)];
    for (descending, winner) in [(false, 3), (true, 4)] {
        let case = Case { user_sequence: true, descending, ..Case::plain(KeyShape::Int) };
        let sorted = sort_merge(&[case.batch(&rows)], &case.rule().unwrap(), 10).unwrap();
        assert_eq!(found(&sorted), [(format!("1/{winner}"), winner, 0)]);
    }
}

#[test]
fn long_runs_that_hardly_overlap_are_merged_in_order() {
    let case = Case::plain(KeyShape::Wide);
    let schema = case.arrow_schema();
    let run = |from: i64, to: i64, sequence: i64| {
        let keys: Vec<i64> = (from..to).collect();
        let batches = keys.chunks(1000).map(|keys| {
            let columns: Vec<ArrayRef> = vec![
                Arc::new(Int64Array::from(vec![sequence; keys.len()])),
                Arc::new(Int8Array::from(vec![0; keys.len()])),
                Arc::new(Int64Array::from(keys.to_vec())),
                Arc::new(Int32Array::from(vec![1; keys.len()])),
                Arc::new(StringArray::from_iter_values(keys.iter().map(|k| format!("{k}/{sequence}")))),
            ];
            RecordBatch::try_new(Arc::clone(&schema), columns).unwrap()
        });
        run_of(batches.collect())
    };
    let runs = vec![run(0, 20_000, 1), run(9_990, 10_010, 2), run(15_000, 30_000, 3)];
    let merged = merge(&case, Arc::clone(&schema), runs, true, 4096).unwrap();
    let rows = found(&merged);
    assert_eq!(rows.len(), 30_000);
    for (key, (text, sequence, _)) in rows.iter().enumerate() {
        let newest = match key {
            15_000.. => 3,
            9_990..10_010 => 2,
            _ => 1,
        };
        assert_eq!((text.as_str(), *sequence), (format!("{key}/{newest}").as_str(), newest));
    }
}

#[test]
fn results_have_only_the_columns_that_are_asked_for() {
    let case = Case::plain(KeyShape::Text);
    let batch = || case.batch(&[row(1, None, 1, 0), row(2, None, 2, 0)]);
    let newer = || case.batch(&[row(2, Some(7), 3, 0)]);
    let full = case.arrow_schema();
    let only_u = Arc::new(Schema::new(vec![full.field_with_name("u").unwrap().clone()]));
    let merged = merge(&case, only_u, vec![run_of(vec![batch()]), run_of(vec![newer()])], true, 10).unwrap();
    assert_eq!(merged[0].num_columns(), 1);
    assert_eq!(merged[0].column(0).as_ref(), &Int32Array::from(vec![None, Some(7)]) as &dyn Array);

    let nothing = Arc::new(Schema::empty());
    let merged = merge(&case, nothing, vec![run_of(vec![batch()]), run_of(vec![newer()])], true, 10).unwrap();
    assert_eq!(merged.iter().map(RecordBatch::num_rows).sum::<usize>(), 2);
}

#[test]
fn runs_that_are_not_sorted_are_corrupt() {
    let case = Case::plain(KeyShape::Int);
    let sorted = || case.batch(&[row(1, None, 1, 0), row(3, None, 2, 0)]);
    let inside = vec![case.batch(&[row(3, None, 1, 0), row(1, None, 2, 0)])];
    let between = vec![sorted(), case.batch(&[row(2, None, 3, 0)])];
    for bad in [inside, between] {
        let error = merge(&case, case.arrow_schema(), vec![run_of(vec![sorted()]), run_of(bad)], true, 10).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn kinds_and_nulls_that_may_not_be_are_corrupt() {
    let case = Case::plain(KeyShape::Int);
    let error = sort_merge(&[case.batch(&[row(1, None, 1, 9)])], &case.rule().unwrap(), 10).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn errors_of_a_run_end_the_merge() {
    let case = Case::plain(KeyShape::Int);
    let failing =
        stream::iter([Ok(case.batch(&[row(1, None, 1, 0)])), Err(crate::error::Error::corrupt("page is torn"))]);
    let good = run_of(vec![case.batch(&[row(0, None, 1, 0)])]);
    let error = merge(&case, case.arrow_schema(), vec![failing.boxed(), good], true, 10).unwrap_err();
    assert_eq!(error.message(), "page is torn");
}

#[derive(Debug)]
struct Small(std::sync::Mutex<usize>);

impl MemoryBudget for Small {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        let mut left = self.0.lock().unwrap();
        *left =
            left.checked_sub(bytes).ok_or_else(|| crate::error::Error::new(ErrorKind::MemoryExhausted, "no memory"))?;
        Ok(())
    }

    fn shrink(&self, bytes: usize) {
        *self.0.lock().unwrap() += bytes;
    }
}

#[test]
fn memory_of_open_batches_is_reserved_and_given_back() {
    let case = Case::plain(KeyShape::Int);
    let many: Vec<Row> = (0..KEYS).map(|key| row(key, None, 1, 0)).collect();
    let batches = || (0..50).map(|i| case.batch(&many[i % KEYS..=i % KEYS])).take(KEYS).collect::<Vec<_>>();
    let run = |budget: &Arc<Small>| {
        let memory: Arc<dyn MemoryBudget> = budget.clone();
        let resources = Resources { memory, ..Resources::default() };
        let runs = vec![run_of(batches()), run_of(batches())];
        let merged = merge_runs(case.arrow_schema(), runs, Arc::new(case.rule().unwrap()), true, 2, &resources)?;
        block_on(merged.try_collect::<Vec<_>>())
    };
    let enough = Arc::new(Small(std::sync::Mutex::new(10_000)));
    assert_eq!(found(&run(&enough).unwrap()).len(), KEYS);
    assert_eq!(*enough.0.lock().unwrap(), 10_000);
    let error = run(&Arc::new(Small(std::sync::Mutex::new(100)))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::MemoryExhausted);
}

#[test]
fn wrong_sequence_fields_are_refused_by_name() {
    let schema = Case::plain(KeyShape::Int).schema();
    let options: Options = [("sequence.field", "nosuch")].into_iter().collect();
    let error = MergeRule::try_new(&schema, &options).unwrap_err();
    assert_eq!(error.message(), "Sequence field: 'nosuch' can not be found in table schema.");
}
