//! Reads against a naive model of rows.

use std::sync::Arc;

use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use proptest::prelude::*;

use super::testing::*;
use crate::error::ErrorKind;
use crate::predicate::{Predicate, PredicateBuilder};
use crate::scan::DeletionFile;
use crate::types::{Datum, RowKind};

const NAMES: [&str; 5] = ["k", "dt", "v", "s", "u"];

fn row(key: i32, value: Option<i32>, sequence: i64, kind: i8) -> TestRow {
    TestRow { key, value, user: None, sequence, kind }
}

/// The values of a row by column name, and its kind.
fn value(row: &TestRow, column: &str) -> String {
    let number = |v: Option<i32>| v.map_or("null".to_owned(), |v| v.to_string());
    match column {
        "k" => row.key.to_string(),
        "dt" => "x".to_owned(),
        "v" => number(row.value),
        "s" => format!("{}/{}", row.key, row.sequence),
        "u" => number(row.user),
        _ => RowKind::from_byte(row.kind).unwrap().short_string().to_owned(),
    }
}

fn shown(rows: &[TestRow], columns: &[&str]) -> Vec<String> {
    rows.iter().map(|row| columns.iter().map(|c| value(row, c)).collect::<Vec<_>>().join("|")).collect()
}

/// A test that the model understands too.
#[derive(Debug, Clone, Copy)]
enum Test {
    KeyAtLeast(i32),
    ValueIs(i32),
    ValueIsNull,
    PartitionIs(bool),
    KeyIsOrValueIs(i32, i32),
}

impl Test {
    fn predicate(self, bucket: &TestBucket) -> Predicate {
        let builder = PredicateBuilder::new(&bucket.table.schema().row_type(), true);
        let text = |s: &str| Datum::String(s.to_owned());
        match self {
            Self::KeyAtLeast(k) => builder.greater_or_equal("k", Datum::Int(k)),
            Self::ValueIs(v) => builder.equal("v", Datum::Int(v)),
            Self::ValueIsNull => builder.is_null("v"),
            Self::PartitionIs(own) => builder.equal("dt", text(if own { "x" } else { "y" })),
            Self::KeyIsOrValueIs(k, v) => {
                let either = [builder.equal("k", Datum::Int(k)), builder.equal("v", Datum::Int(v))];
                Ok(Predicate::or(either.map(Result::unwrap)))
            }
        }
        .unwrap()
    }

    fn passes(self, row: &TestRow) -> bool {
        match self {
            Self::KeyAtLeast(k) => row.key >= k,
            Self::ValueIs(v) => row.value == Some(v),
            Self::ValueIsNull => row.value.is_none(),
            Self::PartitionIs(own) => own,
            Self::KeyIsOrValueIs(k, v) => row.key == k || row.value == Some(v),
        }
    }
}

fn arbitrary_test() -> impl Strategy<Value = Test> {
    prop_oneof![
        (0..12).prop_map(Test::KeyAtLeast),
        (0..3).prop_map(Test::ValueIs),
        Just(Test::ValueIsNull),
        prop::bool::weighted(0.8).prop_map(Test::PartitionIs),
        (0..12, 0..3).prop_map(|(k, v)| Test::KeyIsOrValueIs(k, v)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn splits_equal_the_row_model(
        flushes in arbitrary_flushes(),
        projection in prop::sample::subsequence(vec![0usize, 1, 2, 3, 4], 0..=5).prop_shuffle(),
        tests in prop::collection::vec(arbitrary_test(), 0..3),
        row_kind in any::<bool>(),
        user_sequence in any::<bool>(),
        batch_rows in 1usize..8,
    ) {
        let bucket = TestBucket::new(if user_sequence { &[("sequence.field", "u")] } else { &[] });
        block_on(async {
            let mut files = Vec::new();
            for rows in &flushes {
                files.extend(bucket.flush(rows, 0).await);
            }
            let predicates: Vec<Predicate> = tests.iter().map(|t| t.predicate(&bucket)).collect();
            let filter = (!predicates.is_empty()).then(|| Predicate::and(predicates));
            let passes = |row: &TestRow| tests.iter().all(|t| t.passes(row));
            let read = bucket.read(&projection, filter, row_kind).with_batch_rows(batch_rows);
            let kind = row_kind.then_some("kind");
            let columns: Vec<&str> = kind.into_iter().chain(projection.iter().map(|&i| NAMES[i])).collect();

            let split = bucket.split(&files);
            let batches: Vec<RecordBatch> = read.read_split(&split).unwrap().try_collect().await.unwrap();
            assert!(batches.iter().all(|b| b.schema() == read.schema() && b.num_rows() > 0));
            let all: Vec<TestRow> = flushes.iter().flatten().copied().collect();
            let mut expected = bucket.model(&all);
            expected.retain(passes);
            assert_eq!(text_of(batches), shown(&expected, &columns));

            let pieces = read.cut(&split).unwrap();
            let mut read_in_pieces = collect(read.to_arrow(&pieces)).await.unwrap();
            let mut expected = shown(&expected, &columns);
            read_in_pieces.sort();
            expected.sort();
            assert_eq!(read_in_pieces, expected, "in {} pieces", pieces.len());

            // As events every row that was stored comes back with its kind.
            let mut events = split;
            events.streaming = true;
            let mut stored = Vec::new();
            for rows in &flushes {
                stored.extend(stored_rows(&bucket, rows));
            }
            stored.retain(passes);
            assert_eq!(collect(read.to_arrow(&[events])).await.unwrap(), shown(&stored, &columns));
        });
    }
}

/// What a flush stores: the newest row of each key, retracts too.
fn stored_rows(bucket: &TestBucket, rows: &[TestRow]) -> Vec<TestRow> {
    let mut stored: std::collections::BTreeMap<i32, TestRow> = Default::default();
    for row in rows {
        let entry = stored.entry(row.key).or_insert(*row);
        if bucket.age(row, entry) != std::cmp::Ordering::Less {
            *entry = *row;
        }
    }
    stored.into_values().collect()
}

#[test]
fn raw_splits_with_unknown_deletes_drop_them_without_merging() {
    let bucket = TestBucket::new(&[("merge-engine", "deduplicate")]);
    block_on(async {
        let files = bucket.flush(&[row(1, Some(1), 1, 0), row(2, Some(2), 2, 3), row(3, Some(3), 3, 2)], 5).await;
        let mut split = bucket.split(&files);
        split.raw_convertible = true;
        let read = bucket.read(&[3], None, true);
        assert_eq!(collect(read.read_split(&split)).await.unwrap(), ["+I|1/1", "+U|3/3"]);
        let mut unknown = files[0].as_ref().clone();
        unknown.delete_row_count = None;
        split.files = vec![Arc::new(unknown)];
        assert_eq!(collect(read.read_split(&split)).await.unwrap(), ["+I|1/1", "+U|3/3"]);
    });
}

#[test]
fn raw_splits_of_any_merge_engine_are_read() {
    let bucket = TestBucket::new(&[]);
    block_on(async {
        let files = bucket.flush(&[row(1, Some(1), 1, 0), row(2, Some(2), 2, 0)], 0).await;
        let summed = bucket.reopened(&[("merge-engine", "aggregation")]);
        let mut split = bucket.split(&files);
        split.raw_convertible = true;
        let read = summed.read(&[0], None, true);
        assert_eq!(read.schema().field(0).name(), "rowkind");
        assert_eq!(collect(read.to_arrow(&[split])).await.unwrap(), ["+I|1", "+I|2"]);
    });
}

#[test]
fn deleted_rows_are_left_out_before_the_merge() {
    let bucket = TestBucket::new(&[]);
    block_on(async {
        let mut files = bucket.flush(&[row(1, Some(1), 1, 0), row(2, Some(2), 1, 0), row(3, Some(3), 1, 0)], 0).await;
        files.extend(bucket.flush(&[row(2, Some(20), 2, 0), row(3, Some(30), 2, 0)], 0).await);
        let mut split = bucket.split(&files);
        // Key 1 of the older file, key 3 of the newer one: the older version of 3 shows.
        split.deletion_files = Some(vec![Some(bucket.vector(&[0]).await), Some(bucket.vector(&[1]).await)]);
        let read = bucket.read(&[0, 2], None, false);
        assert_eq!(collect(read.to_arrow(&[split.clone()])).await.unwrap(), ["2|20", "3|3"]);
        let pieces = read.cut(&split).unwrap();
        assert_eq!(collect(read.to_arrow(&pieces)).await.unwrap(), ["2|20", "3|3"]);
        split.raw_convertible = true;
        assert_eq!(collect(read.to_arrow(&[split.clone()])).await.unwrap(), ["2|2", "3|3", "2|20"]);
        split.deletion_files = Some(vec![Some(bucket.vector(&[0, 1, 2]).await), None]);
        assert_eq!(collect(read.to_arrow(&[split])).await.unwrap(), ["2|20", "3|30"]);
    });
}

#[test]
fn pieces_of_a_split_keep_their_vectors() {
    let bucket = TestBucket::new(&[]);
    block_on(async {
        let mut files = bucket.flush(&[row(8, Some(8), 1, 0), row(9, Some(9), 1, 0)], 0).await;
        files.extend(bucket.flush(&[row(1, Some(1), 2, 0), row(2, Some(2), 2, 0)], 0).await);
        let mut split = bucket.split(&files);
        split.deletion_files = Some(vec![None, Some(bucket.vector(&[1]).await)]);
        let read = bucket.read(&[0, 2], None, false);
        let pieces = read.cut(&split).unwrap();
        assert_eq!(pieces.iter().map(|p| p.deletion_files.is_some()).collect::<Vec<_>>(), [true, false]);
        // Pieces come as they are ready.
        let mut rows = collect(read.to_arrow(&pieces)).await.unwrap();
        rows.sort();
        assert_eq!(rows, ["1|1", "8|8", "9|9"]);
    });
}

#[test]
fn a_damaged_vector_is_an_error_that_names_its_file() {
    let bucket = TestBucket::new(&[]);
    block_on(async {
        let files = bucket.flush(&[row(1, None, 1, 0)], 0).await;
        let mut split = bucket.split(&files);
        let vector = bucket.vector(&[0]).await;
        for length in [vector.length - 1, vector.length + 8] {
            split.deletion_files = Some(vec![Some(DeletionFile { length, ..vector.clone() })]);
            let error = collect(bucket.read(&[0], None, false).to_arrow(&[split.clone()])).await.unwrap_err();
            assert_eq!((error.kind(), error.context_value("file")), (ErrorKind::Corrupt, Some(vector.path.as_str())));
        }
    });
}

#[test]
fn a_file_that_is_gone_is_an_error_that_names_it() {
    let bucket = TestBucket::new(&[]);
    block_on(async {
        let mut files = bucket.flush(&[row(1, None, 1, 0)], 0).await;
        files.extend(bucket.flush(&[row(1, None, 2, 0)], 0).await);
        let split = bucket.split(&files);
        bucket.table.io().delete(&format!("{}/{}", split.bucket_path, files[0].file_name)).await.unwrap();
        let error = collect(bucket.read(&[0], None, false).to_arrow(&[split])).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotFound(_)), "{error}");
        assert!(error.to_string().contains(&files[0].file_name), "{error}");
        assert!(error.message().contains("may have expired"), "{error}");
    });
}

#[test]
fn a_split_of_another_table_is_refused_before_a_byte_is_read() {
    let (bucket, other) = (TestBucket::new(&[]), TestBucket::new(&[]));
    block_on(async {
        let files = other.flush(&[row(1, None, 1, 0)], 0).await;
        let mut split = other.split(&files);
        split.bucket_path = "/elsewhere/bucket-0".to_owned();
        let error = bucket.read(&[0], None, false).to_arrow(&[split]).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
        assert!(error.message().contains("another table"), "{error}");
    });
}
