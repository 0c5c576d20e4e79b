use super::*;
use crate::error::ErrorKind;
use crate::row::{BinaryRow, NullLayout};
use crate::spec::FileSource;
use crate::types::testing::{int, string};
use crate::types::{DataType, Datum};

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/golden/splits/", $name)).as_slice()
    };
}

/// One file of each form of splits that Java ever wrote.
const BODIES: [&[u8]; 9] = [
    golden!("datasplit-v1.bin"),
    golden!("datasplit-v2.bin"),
    golden!("datasplit-v3.bin"),
    golden!("datasplit-v4.bin"),
    golden!("datasplit-v5.bin"),
    golden!("datasplit-v6.bin"),
    golden!("datasplit-v7.bin"),
    golden!("datasplit-v8.bin"),
    golden!("datasplit-v9.bin"),
];
const DATA: &[u8] = golden!("split-v1-data");
const INCREMENTAL: &[u8] = golden!("split-v1-incremental");
const INDEXED: &[u8] = golden!("split-v1-indexed");
const FALLBACK: &[u8] = golden!("split-v1-fallback-data");

fn row(values: &[Datum], types: &[DataType]) -> BinaryRow {
    let values: Vec<_> = values.iter().cloned().map(Some).collect();
    BinaryRow::encode(&values, types, NullLayout::Reserved).unwrap()
}

fn text_row(text: &str) -> BinaryRow {
    row(&[Datum::String(text.to_owned())], &[string()])
}

fn texts(list: &str) -> Option<Vec<String>> {
    Some(list.split(' ').map(str::to_owned).collect())
}

fn body(bytes: &[u8]) -> Split {
    let mut reader = JavaReader::new(bytes, "split");
    let split = read_data(&mut reader).unwrap();
    reader.end().unwrap();
    split
}

#[test]
fn every_version_of_java_is_read() {
    for (bytes, version) in BODIES.into_iter().zip(1..) {
        let split = body(bytes);
        assert_eq!((split.snapshot_id, split.bucket, split.bucket_path.as_str()), (18, 20, "my path"), "{version}");
        assert_eq!((&split.partition, split.total_buckets), (&text_row("aaaaa"), (version >= 6).then_some(32)));
        assert!(!split.streaming && !split.raw_convertible);
        let file = split.files[0].as_ref();
        assert_eq!((file.file_name.as_str(), file.file_size, file.row_count), ("my_file", 1_048_576, 1024));
        assert_eq!((&file.min_key, &file.max_key), (&text_row("min_key"), &text_row("max_key")));
        assert_eq!((&file.key_stats.min_values, &file.key_stats.null_counts), (&text_row("min_key"), &vec![Some(0)]));
        assert_eq!(file.value_stats.max_values, text_row("max_value"));
        assert_eq!((file.min_sequence_number, file.max_sequence_number), (15, 200));
        assert_eq!((file.schema_id, file.level), (5, 3));
        assert_eq!(Some(&file.extra_files), texts("extra1 extra2").as_ref());
        assert_eq!((file.creation_time_ms, file.delete_row_count), (Some(1_646_252_412_000), Some(11)));
        assert_eq!(file.embedded_index.as_deref(), Some([1, 2, 4].as_slice()));
        assert_eq!(file.file_source, (version >= 2).then_some(FileSource::Compact));
        assert_eq!(file.value_stats_cols, texts("field1 field2 field3").filter(|_| version >= 3));
        assert_eq!(file.external_path.as_deref(), (version >= 5).then_some("hdfs:///path/to/warehouse"));
        assert_eq!(file.first_row_id, (version >= 7).then_some(12));
        assert_eq!(file.write_cols, texts("a b c f").filter(|_| version >= 8));
        assert_eq!(file.write_cols_sequences, (version >= 9).then(|| vec![15, 100, 150, 200]));
        let vector = DeletionFile {
            path: "deletion_file".to_owned(),
            offset: 100,
            length: 22,
            cardinality: (version >= 4).then_some(33),
        };
        assert_eq!(split.deletion_files, (version >= 3).then(|| vec![Some(vector)]), "{version}");
    }
}

#[test]
fn the_newest_versions_are_written_as_java_does() {
    let mut out = JavaWriter::default();
    write_data(&mut out, &body(BODIES[8]), 9).unwrap();
    assert_eq!(out.finish(), BODIES[8]);
    assert_eq!(body(BODIES[7]).serialize_without_frame().unwrap(), BODIES[7]);
    // Without frame, but not the first version: it can be told from anything else.
    assert_eq!(Split::deserialize(BODIES[7]).unwrap(), body(BODIES[7]));
}

#[test]
fn frames_are_read_and_written_as_java_does() {
    let split = Split::deserialize(DATA).unwrap();
    assert_eq!(split.partition, row(&[Datum::Int(2026), Datum::Int(7)], &[int(), int()]));
    assert_eq!((split.snapshot_id, split.bucket, split.total_buckets), (42, 3, Some(8)));
    assert_eq!(split.bucket_path, "dt=20260706/bucket-3");
    assert!(split.raw_convertible && !split.streaming && !split.fallback);
    let files: Vec<_> = split.files.iter().map(|f| (f.file_name.as_str(), f.level, f.max_sequence_number)).collect();
    assert_eq!(files, [("file-a", 0, 100), ("file-b", 1, 200)]);
    let vectors = split.deletion_files.as_ref().unwrap();
    assert_eq!(vectors[0], None);
    assert_eq!(vectors[1].as_ref().map(|v| (v.path.as_str(), v.offset, v.length)), Some(("dv/file-b", 2, 10)));
    assert_eq!(split.merged_row_count(), Some(17));
    assert_eq!(split.serialize().unwrap(), DATA);

    let difference = Split::deserialize(INCREMENTAL).unwrap();
    let before = difference.before.as_ref().unwrap();
    assert_eq!((difference.snapshot_id, difference.bucket, difference.streaming), (43, 4, true));
    assert_eq!(before.files[0].file_name, "before-file");
    assert_eq!(before.deletion_files.as_ref().unwrap()[0].as_ref().unwrap().cardinality, None);
    assert_eq!(difference.files[0].file_name, "after-file");
    assert_eq!(difference.merged_row_count(), None);
    assert_eq!(difference.serialize().unwrap(), INCREMENTAL);

    let fallback = Split::deserialize(FALLBACK).unwrap();
    assert_eq!(fallback, Split { fallback: true, ..split.clone() });
    assert_eq!(fallback.serialize().unwrap(), FALLBACK);

    let rows = [(1, 4), (11, 13)].map(|(from, to)| RowRange { from, to });
    let indexed = Split { rows: Some(rows.to_vec()), ..split };
    let bytes = indexed.serialize().unwrap();
    // Java's has scores behind the ranges.
    let (without_scores, flag) = bytes.split_at(bytes.len() - 1);
    assert_eq!((without_scores, flag), (&INDEXED[..bytes.len() - 1], [0].as_slice()));
    assert_eq!(Split::deserialize(&bytes).unwrap(), indexed);
    assert_eq!(indexed.row_count(), 7);
}

#[test]
fn what_cannot_be_read_is_named() {
    let unsupported =
        [(INDEXED, "scores"), (golden!("split-v1-chain"), "chain"), (golden!("split-v1-query-auth"), "authorisation")];
    for (bytes, word) in unsupported {
        let error = Split::deserialize(bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains(word), "{error}");
    }
    let mut newer = DATA.to_vec();
    newer[27] = 10;
    assert!(Split::deserialize(&newer).unwrap_err().message().contains("version 10"));
    for bytes in [b"".as_slice(), b"x", b"12345678", &[DATA, &[0]].concat()] {
        assert_eq!(Split::deserialize(bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn damaged_bytes_are_errors() {
    for golden in [DATA, INCREMENTAL, FALLBACK, BODIES[8]] {
        for end in 0..golden.len() {
            assert!(Split::deserialize(&golden[..end]).is_err(), "{end}");
        }
        for at in 0..golden.len() {
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = golden.to_vec();
                bytes[at] ^= flip;
                // Other numbers or an error, but no panic and no huge buffer.
                let _ = Split::deserialize(&bytes);
            }
        }
    }
}
