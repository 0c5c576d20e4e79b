//! What another library writes: unions in any order, other units and widths, rows within a union.

use apache_avro::types::Value;
use apache_avro::{Codec, Decimal, Schema, Writer};
use arrow::array::*;
use arrow::buffer::BooleanBuffer;
use arrow::compute::concat_batches;
use bytes::Bytes;
use futures::TryStreamExt;

use super::AvroFormat;
use crate::error::ErrorKind;
use crate::format::testing::lines;
use crate::format::{FileFormat, FooterCache, InputFile, ReadRequest};
use crate::options::Options;
use crate::storage::FileIO;
use crate::types::{DataField, RowType, to_arrow_schema};

const RECORD: &str = r#"{"type":"record","name":"record","fields":[
    {"name":"i","type":"long"},
    {"name":"skipped","type":["null",{"type":"map","values":{"type":"array","items":["string","null"]}}]},
    {"name":"s","type":["string","null"]},
    {"name":"f","type":"float"},
    {"name":"d","type":{"type":"fixed","name":"fixed_d","size":5,"logicalType":"decimal","precision":9,"scale":1}},
    {"name":"t","type":["null",{"type":"long","logicalType":"timestamp-micros"}]},
    {"name":"p","type":{"type":"long","logicalType":"local-timestamp-millis"}},
    {"name":"m","type":["null",{"type":"map","values":["null","int"]}]},
    {"name":"k","type":{"type":"array","items":{"type":"record","name":"pair","fields":[
        {"name":"key","type":"int"},
        {"name":"value","type":["null",{"type":"bytes","logicalType":"decimal","precision":9,"scale":1}]}]}}},
    {"name":"again","type":["null",{"type":"record","name":"other","fields":[
        {"name":"key","type":"int"},{"name":"value","type":["null","string"]}]}]}
]}"#;

fn row(i: i64) -> Value {
    let some = |branch, value| Value::Union(branch, Box::new(value));
    let decimal = |v: i64| Value::Decimal(Decimal::from(v.to_be_bytes()[3..].to_vec()));
    let pair = |i: i64, v: Value| Value::Record(vec![("key".into(), Value::Int(i as i32)), ("value".into(), v)]);
    let null = || some(0, Value::Null);
    let list = Value::Array(vec![some(0, Value::String("x".into())), some(1, Value::Null)]);
    let fields = vec![
        ("i", Value::Long(i)),
        ("skipped", if i % 2 == 0 { some(1, Value::Map([("a".to_owned(), list)].into())) } else { null() }),
        ("s", if i % 3 == 0 { some(1, Value::Null) } else { some(0, Value::String(format!("é{i}"))) }),
        ("f", Value::Float(i as f32 / 2.0)),
        ("d", decimal(-i * 10)),
        ("t", if i % 2 == 0 { null() } else { some(1, Value::TimestampMicros(-i)) }),
        ("p", Value::LocalTimestampMillis(i)),
        ("m", if i % 2 == 0 { some(1, Value::Map([("a".to_owned(), some(1, Value::Int(7)))].into())) } else { null() }),
        ("k", Value::Array((0..i % 3).map(|j| pair(j, some(1, decimal(j)))).collect())),
        ("again", if i % 2 == 0 { some(1, pair(i, null())) } else { null() }),
    ];
    Value::Record(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn columns() -> Vec<DataField> {
    let columns = [
        ("i", "INT"),
        ("gone", "INT"),
        ("s", "STRING"),
        ("f", "DOUBLE"),
        ("d", "DECIMAL(9, 2)"),
        ("t", "TIMESTAMP(3)"),
        ("p", "TIMESTAMP(6)"),
        ("m", "MAP<STRING, INT>"),
        ("k", "MAP<INT, DECIMAL(9, 1)>"),
        ("again", "ROW<value STRING, key BIGINT, none INT>"),
    ];
    columns.iter().map(|(name, text)| DataField::new(0, *name, text.parse().unwrap())).collect()
}

/// Ten rows in blocks of few rows.
fn file(union: bool, codec: Codec) -> Vec<u8> {
    let text = if union { format!(r#"["null",{RECORD}]"#) } else { RECORD.to_owned() };
    let schema = Schema::parse_str(&text).unwrap();
    let mut writer = Writer::builder().schema(&schema).codec(codec).writer(Vec::new()).block_size(100).build();
    for i in 0..10 {
        let row = row(i);
        writer.append(if union { Value::Union(1, Box::new(row)) } else { row }).unwrap();
    }
    writer.into_inner().unwrap()
}

async fn store(name: &str, bytes: Vec<u8>) -> InputFile {
    let io = FileIO::from_location("memory:/avro", &Options::new()).unwrap();
    let (path, size) = (format!("memory:/avro/{name}"), bytes.len() as u64);
    io.write(&path, Bytes::from(bytes)).await.unwrap();
    InputFile { io, path, size, footers: FooterCache::default() }
}

fn request(columns: Vec<DataField>) -> ReadRequest {
    ReadRequest { columns, predicate: None, rows: None, batch_rows: 3, options: Default::default(), tasks: 1 }
}

async fn read(file: &InputFile, request: ReadRequest) -> RecordBatch {
    let schema = to_arrow_schema(&RowType::new(request.columns.clone()));
    let batches: Vec<_> = AvroFormat.read(file.clone(), request).await.unwrap().try_collect().await.unwrap();
    assert!(batches.iter().all(|b| b.num_rows() <= 3));
    concat_batches(&schema, &batches).unwrap()
}

#[tokio::test]
async fn rows_of_another_writer() {
    let expected = [
        "0 |  |  | 0.0 | 0.00 |  | 1970-01-01T00:00:00 | {a: 7} | {} | {value: , key: 0, none: }",
        "1 |  | é1 | 0.5 | -1.00 | 1969-12-31T23:59:59.999 | 1970-01-01T00:00:00.001 |  | {0: 0.0} | ",
        "2 |  | é2 | 1.0 | -2.00 |  | 1970-01-01T00:00:00.002 | {a: 7} | {0: 0.0, 1: 0.1} | {value: , key: 2, none: }",
    ];
    for (name, union, codec) in [
        ("plain", false, Codec::Null),
        ("union", true, Codec::Snappy),
        ("zstd", false, Codec::Zstandard(Default::default())),
    ] {
        let file = store(name, file(union, codec)).await;
        let found = read(&file, request(columns())).await;
        assert_eq!(found.num_rows(), 10);
        assert_eq!(lines(&[found.slice(0, 3)]), expected, "{name}");
    }
}

#[tokio::test]
async fn rows_are_selected_by_position_and_counted_without_columns() {
    let file = store("rows", file(false, Codec::Null)).await;
    let none: Vec<_> = AvroFormat.read(file.clone(), request(vec![])).await.unwrap().try_collect().await.unwrap();
    assert_eq!(none.iter().map(RecordBatch::num_rows).sum::<usize>(), 10);
    for wanted in [vec![0, 9], vec![4, 5, 6], vec![], (0..10).collect()] {
        let rows: BooleanBuffer = (0..10).map(|i| wanted.contains(&i)).collect();
        let found = read(&file, ReadRequest { rows: Some(rows), ..request(columns()[..1].to_vec()) }).await;
        let expected = RecordBatch::try_new(found.schema(), vec![std::sync::Arc::new(Int32Array::from(wanted))]);
        assert_eq!(found, expected.unwrap());
    }
}

#[tokio::test]
async fn what_cannot_be_read_names_column_and_file() {
    let bytes = file(false, Codec::Null);
    let whole = store("whole", bytes.clone()).await;
    for (name, text, kind) in [
        ("i", "STRING", ErrorKind::Corrupt),
        ("k", "MAP<STRING, DECIMAL(9, 1)>", ErrorKind::Corrupt),
        ("i", "VARIANT", ErrorKind::Unsupported),
    ] {
        let asked = vec![DataField::new(0, name, text.parse().unwrap())];
        let error = AvroFormat.read(whole.clone(), request(asked)).await.err().unwrap();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(&format!("column {name} ")), "{error}");
    }
    // Every place where a file may be cut.
    for end in (0..bytes.len()).step_by(7) {
        let cut = store(&format!("cut-{end}"), bytes[..end].to_vec()).await;
        let rows = match AvroFormat.read(cut, request(columns())).await {
            Ok(batches) => {
                batches.try_collect::<Vec<_>>().await.map(|b| b.iter().map(RecordBatch::num_rows).sum::<usize>())
            }
            Err(error) => Err(error),
        };
        match rows {
            // A file may be cut between blocks, which nothing tells.
            Ok(rows) => assert!(rows < 10),
            Err(error) => assert!(error.to_string().contains(&format!("memory:/avro/cut-{end}")), "{error}"),
        }
    }
}
