//! Layouts of other and older writers: lists and maps under other names and with one level less, decimals in every
//! physical type, timestamps without a unit.

use std::sync::Arc;

use ::parquet::column::writer::ColumnWriter;
use ::parquet::data_type::{ByteArray, FixedLenByteArray};
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::parser::parse_message_type;
use bytes::Bytes;
use futures::TryStreamExt;

use super::ParquetFormat;
use crate::format::testing::lines;
use crate::format::{FileFormat, FooterCache, InputFile, ReadRequest};
use crate::options::Options;
use crate::storage::FileIO;
use crate::types::DataField;

/// Three rows: with two items, null, without items.
const LISTS: &str = "message m {
    optional group two (LIST) { repeated int32 element; }
    optional group hive (LIST) { repeated group bag { optional int32 array_element; } }
    optional group pair (LIST) { repeated group array { optional int32 x; optional int32 y; } }
    optional group one (LIST) { repeated group array { optional int32 x; } }
    optional group tuple (LIST) { repeated group tuple_tuple { optional int32 x; } }
    optional group item (LIST) { repeated group list { optional int32 item; } }
    optional group map (MAP_KEY_VALUE) { repeated group map { required int32 key; optional int32 value; } }
    optional group pairs (MAP) { repeated group entries { required int32 k; optional int32 v; } }
}";

/// Two rows: a value and null.
const SCALARS: &str = "message m {
    optional binary d_binary (DECIMAL(9, 2));
    optional fixed_len_byte_array(12) d_fixed (DECIMAL(9, 2));
    optional int64 d_long (DECIMAL(9, 2));
    optional int32 d_int (DECIMAL(9, 2));
    optional int64 t3;
    optional int64 t6;
    optional int64 old3 (TIMESTAMP_MILLIS);
    optional int64 old6 (TIMESTAMP_MICROS);
    optional int64 utc6 (TIMESTAMP(MICROS, true));
    optional binary text;
    optional binary bytes (UTF8);
    optional int32 wide;
}";

fn file(message: &str, write: impl Fn(&str, &mut ColumnWriter<'_>)) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut bytes = Vec::new();
    let properties = Arc::new(WriterProperties::builder().build());
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
    let names: Vec<String> = writer.schema_descr().columns().iter().map(|c| c.path().parts()[0].clone()).collect();
    let mut group = writer.next_row_group().unwrap();
    for name in names {
        let mut column = group.next_column().unwrap().unwrap();
        write(&name, column.untyped());
        column.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}

async fn read(bytes: Vec<u8>, columns: &[(&str, &str)]) -> Vec<String> {
    let io = FileIO::from_location("memory:/legacy", &Options::new()).unwrap();
    let (path, size) = (format!("memory:/legacy/{}", columns[0].0), bytes.len() as u64);
    io.write(&path, Bytes::from(bytes)).await.unwrap();
    let file = InputFile { io, path, size, footers: FooterCache::default() };
    let columns = columns.iter().map(|(name, text)| DataField::new(0, *name, text.parse().unwrap())).collect();
    let request =
        ReadRequest { columns, predicate: None, rows: None, batch_rows: 100, options: Default::default(), tasks: 1 };
    let batches: Vec<_> = ParquetFormat.read(file, request).await.unwrap().try_collect().await.unwrap();
    lines(&batches)
}

#[tokio::test]
async fn lists_and_maps_of_other_writers() {
    let bytes = file(LISTS, |name, column| {
        let ColumnWriter::Int32ColumnWriter(column) = column else { panic!("{name}") };
        let full = match name {
            "two" => 2,
            _ => 3,
        };
        let is_key = column.get_descriptor().name().starts_with('k');
        let full = if is_key { 2 } else { full };
        column.write_batch(&[1, 2], Some(&[full, full, 0, 1]), Some(&[0, 1, 0, 0])).unwrap();
    });
    let columns = [
        ("two", "ARRAY<INT>"),
        ("hive", "ARRAY<INT>"),
        ("pair", "ARRAY<ROW<x INT, y INT>>"),
        ("one", "ARRAY<ROW<x INT>>"),
        ("tuple", "ARRAY<ROW<x INT>>"),
        ("item", "ARRAY<INT>"),
        ("map", "MAP<INT, INT>"),
        ("pairs", "MAP<INT, INT>"),
    ];
    let expected = [
        "[1, 2] | [1, 2] | [{x: 1, y: 1}, {x: 2, y: 2}] | [{x: 1}, {x: 2}] | [{x: 1}, {x: 2}] | [1, 2] | {1: 1, 2: 2} | {1: 1, 2: 2}",
        " |  |  |  |  |  |  | ",
        "[] | [] | [] | [] | [] | [] | {} | {}",
    ];
    assert_eq!(read(bytes, &columns).await, expected);
}

#[tokio::test]
async fn scalars_of_other_writers() {
    let bytes = file(SCALARS, |name, column| {
        let (levels, number) = (Some([1, 0].as_slice()), -12_345);
        let written = match column {
            ColumnWriter::Int32ColumnWriter(c) => c.write_batch(&[number], levels, None),
            ColumnWriter::Int64ColumnWriter(c) => c.write_batch(&[i64::from(number)], levels, None),
            ColumnWriter::ByteArrayColumnWriter(c) => {
                let value = if name == "d_binary" { vec![0xcf, 0xc7] } else { b"text".to_vec() };
                c.write_batch(&[ByteArray::from(value)], levels, None)
            }
            ColumnWriter::FixedLenByteArrayColumnWriter(c) => {
                let value = i128::from(number).to_be_bytes()[4..].to_vec();
                c.write_batch(&[FixedLenByteArray::from(value)], levels, None)
            }
            _ => panic!("{name}"),
        };
        assert_eq!(written.unwrap(), 1);
    });
    let columns = [
        ("d_binary", "DECIMAL(9, 2)"),
        ("d_fixed", "DECIMAL(9, 2)"),
        ("d_long", "DECIMAL(9, 2)"),
        ("d_int", "DECIMAL(9, 2)"),
        ("t3", "TIMESTAMP(3)"),
        ("t6", "TIMESTAMP(6)"),
        ("old3", "TIMESTAMP(3)"),
        ("old6", "TIMESTAMP(6)"),
        ("utc6", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("text", "STRING"),
        ("bytes", "BYTES"),
        ("wide", "BIGINT"),
    ];
    let found = read(bytes, &columns).await;
    let expected = [
        "-123.45",
        "-123.45",
        "-123.45",
        "-123.45",
        "1969-12-31T23:59:47.655",
        "1969-12-31T23:59:59.987655",
        "1969-12-31T23:59:47.655",
        "1969-12-31T23:59:59.987655",
        "1969-12-31T23:59:59.987655Z",
        "text",
        "74657874",
        "-12345",
    ];
    assert_eq!(found, [expected.join(" | "), " | ".repeat(expected.len() - 1)]);
}
