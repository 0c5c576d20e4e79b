//! What other writers of the format wrote, read column by column and stripe by stripe.

use std::fs::File;

use arrow::array::*;
use arrow::buffer::BooleanBuffer;
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::Int32Type;
use arrow::ipc::reader::FileReader;
use futures::TryStreamExt;

use super::OrcFormat;
use crate::format::testing::lines;
use crate::format::{FileFormat, FooterCache, InputFile, ReadRequest};
use crate::options::Options;
use crate::predicate::{Function, Leaf, Predicate};
use crate::storage::FileIO;
use crate::types::{DataField, Datum, RowType, to_arrow_schema};

/// Files with the same rows, in both versions of runs, with and without dictionaries; the first has several stripes.
const FILES: [&str; 4] = ["v2-plain.orc", "v2-zstd-dictionary.orc", "v1-zlib.orc", "v1-lz4-dictionary.orc"];

fn columns(names: &[&str]) -> Vec<DataField> {
    let all = [
        ("id", "INT"),
        ("b", "BOOLEAN"),
        ("i8", "TINYINT"),
        ("i16", "SMALLINT"),
        ("i32", "INT"),
        ("i64", "BIGINT"),
        ("f", "FLOAT"),
        ("d", "DOUBLE"),
        ("s", "STRING"),
        ("few", "STRING"),
        ("by", "BYTES"),
        ("da", "DATE"),
        ("d9", "DECIMAL(9, 2)"),
        ("d38", "DECIMAL(38, 10)"),
        ("ts", "TIMESTAMP(9)"),
        ("l", "ARRAY<BIGINT>"),
        ("m", "MAP<STRING, INT>"),
        ("r", "ROW<x INT, y ARRAY<STRING>>"),
    ];
    let wanted = all.iter().enumerate().filter(|(_, (name, _))| names.is_empty() || names.contains(name));
    wanted.map(|(i, (name, text))| DataField::new(i as i32, *name, text.parse().unwrap())).collect()
}

/// The rows of the files.
fn rows() -> RecordBatch {
    let path = format!("{}/tests/golden/orc/rows.arrow", env!("CARGO_MANIFEST_DIR"));
    let reader = FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    concat_batches(&schema, &reader.map(Result::unwrap).collect::<Vec<_>>()).unwrap()
}

async fn open(path: &str) -> InputFile {
    let location = format!("{}/tests/golden/{path}", env!("CARGO_MANIFEST_DIR"));
    let io = FileIO::from_location(&location, &Options::new()).unwrap();
    let size = io.status(&location).await.unwrap().unwrap().size;
    InputFile { io, path: location, size, footers: FooterCache::default() }
}

fn request(columns: Vec<DataField>) -> ReadRequest {
    ReadRequest { columns, predicate: None, rows: None, batch_rows: 77, options: Default::default(), tasks: 1 }
}

async fn read(file: &InputFile, request: ReadRequest) -> RecordBatch {
    let schema = to_arrow_schema(&RowType::new(request.columns.clone()));
    let batches: Vec<_> = OrcFormat.read(file.clone(), request).await.unwrap().try_collect().await.unwrap();
    concat_batches(&schema, &batches).unwrap()
}

/// Compares column by column; nested Arrow types differ in the metadata of their fields only.
fn assert_same(found: &RecordBatch, expected: &RecordBatch, what: &str) {
    assert_eq!(found.num_rows(), expected.num_rows(), "{what}");
    for field in found.schema().fields() {
        let column = |batch: &RecordBatch| {
            let column = batch.column_by_name(field.name()).unwrap().clone();
            lines(&[RecordBatch::try_from_iter([("c", column)]).unwrap()])
        };
        assert_eq!(column(found), column(expected), "{what}, column {}", field.name());
    }
}

#[tokio::test]
async fn rows_of_another_writer_in_every_encoding() {
    let expected = rows();
    for name in FILES {
        let file = open(&format!("orc/{name}")).await;
        assert_same(&read(&file, request(columns(&[]))).await, &expected, name);
    }
}

#[tokio::test]
async fn columns_and_parts_are_chosen_and_missing_ones_are_null() {
    let file = open("orc/v2-zstd-dictionary.orc").await;
    let mut asked = columns(&["few", "id"]);
    asked.reverse();
    asked.push(DataField::new(98, "r", "ROW<z INT, x INT>".parse().unwrap()));
    asked.push(DataField::new(99, "gone", "ARRAY<INT>".parse().unwrap()));
    let (found, all) = (read(&file, request(asked)).await, rows());
    assert_eq!(found.column(0), all.column_by_name("few").unwrap());
    assert_eq!(found.column(1), all.column_by_name("id").unwrap());
    let (row, expected) = (found.column(2).as_struct(), all.column_by_name("r").unwrap().as_struct());
    assert_eq!(row.nulls(), expected.nulls());
    let values = |row: &StructArray, part: usize| {
        let values = row.column(part).as_primitive::<Int32Type>().clone();
        (0..row.len()).map(|i| (row.is_valid(i) && values.is_valid(i)).then(|| values.value(i))).collect::<Vec<_>>()
    };
    assert_eq!(values(row, 1), values(expected, 0));
    assert_eq!((row.column(0).null_count(), found.column(3).null_count()), (all.num_rows(), all.num_rows()));
    let none: Vec<_> = OrcFormat.read(file.clone(), request(vec![])).await.unwrap().try_collect().await.unwrap();
    assert_eq!(none.iter().map(RecordBatch::num_rows).sum::<usize>(), all.num_rows());
    let wrong = vec![DataField::new(7, "s", "INT".parse().unwrap())];
    let error = OrcFormat.read(file, request(wrong)).await.err().unwrap().to_string();
    assert!(error.contains("column s ") && error.contains("v2-zstd-dictionary.orc"), "{error}");
}

#[tokio::test]
async fn rows_are_selected_by_position() {
    let all = rows();
    let masks: [&dyn Fn(usize) -> bool; 4] =
        [&|i| i % 3 == 1, &|i| i >= 1_234, &|i| (700..705).contains(&i), &|_| false];
    for name in FILES {
        let file = open(&format!("orc/{name}")).await;
        for mask in masks {
            let rows: BooleanBuffer = (0..all.num_rows()).map(mask).collect();
            let expected = filter_record_batch(&all, &BooleanArray::new(rows.clone(), None)).unwrap();
            let found = read(&file, ReadRequest { rows: Some(rows), ..request(columns(&[])) }).await;
            assert_same(&found, &expected, name);
        }
    }
}

#[tokio::test]
async fn stripes_without_matches_are_left_out() {
    let file = open("orc/v2-plain.orc").await;
    let leaf = |function, literal| {
        let data_type = "INT".parse().unwrap();
        Predicate::Leaf(Leaf {
            field_id: 0,
            name: "id".into(),
            data_type,
            function,
            literals: vec![Datum::Int(literal)],
        })
    };
    for (function, literal, least) in
        [(Function::Equal, 1_000, 1), (Function::LessThan, 100, 100), (Function::GreaterOrEqual, 1_990, 10)]
    {
        let asked = ReadRequest { predicate: Some(leaf(function, literal)), ..request(columns(&["id", "s"])) };
        let found = read(&file, asked).await.num_rows();
        assert!((least..1_500).contains(&found), "{function:?}: {found}");
    }
}

/// A file of Java with one stripe, whose column `id` goes from 1 to 6 and whose column `s` is null once.
#[tokio::test]
async fn statistics_of_every_type() {
    let file = open("tables/types_orc_a/bucket-0/data-2f2558e6-a3f8-4440-89c6-3517da441ea6-0.orc").await;
    let leaf = |name: &str, text: &str, function, literals: Vec<Datum>| {
        let data_type = text.parse().unwrap();
        Predicate::Leaf(Leaf { field_id: 0, name: name.into(), data_type, function, literals })
    };
    let id = |function, literal| leaf("id", "INT", function, vec![Datum::Int(literal)]);
    let decimal = |function, v| leaf("d5", "DECIMAL(5, 2)", function, vec![Datum::Decimal(v, 2)]);
    let text = |function, v: &str| leaf("s", "STRING", function, vec![Datum::String(v.into())]);
    let cases = [
        (id(Function::Equal, 6), true),
        (id(Function::Equal, 7), false),
        (id(Function::LessThan, 1), false),
        (leaf("id", "INT", Function::IsNull, vec![]), false),
        (leaf("s", "STRING", Function::IsNull, vec![]), true),
        (decimal(Function::GreaterThan, 99_998), true),
        (decimal(Function::GreaterThan, 99_999), false),
        (decimal(Function::LessThan, -99_999), false),
        (text(Function::LessThan, ""), false),
        (text(Function::Equal, "a"), true),
        (text(Function::GreaterThan, "z"), false),
        (leaf("f64", "DOUBLE", Function::GreaterThan, vec![Datum::Double(f64::MAX)]), true),
        (leaf("dt", "DATE", Function::LessThan, vec![Datum::Date(-25_567)]), false),
        (leaf("dt", "DATE", Function::LessOrEqual, vec![Datum::Date(-25_567)]), true),
    ];
    for (predicate, kept) in cases {
        let found = read(&file, ReadRequest { predicate: Some(predicate.clone()), ..request(columns(&["id"])) }).await;
        assert_eq!(found.num_rows(), if kept { 6 } else { 0 }, "{predicate:?}");
    }
}
