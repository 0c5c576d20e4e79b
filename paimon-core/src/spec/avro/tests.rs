//! Manifests against bytes of other writers, and against apache-avro both ways.

use apache_avro::types::Value;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::error::ErrorKind;
use crate::row::{BinaryRow, NullLayout};
use crate::spec::*;
use crate::types::{DataType, Datum};

macro_rules! golden {
    ($($name:literal),+ $(,)?) => {
        &[$(($name, include_bytes!(concat!("../../../tests/golden/manifests/", $name)).as_slice())),+]
    };
}

const MANIFESTS: &[(&str, &[u8])] = golden![
    "java-pk.manifest",
    "java-deflate.manifest",
    "java-snappy.manifest",
    "java-null.manifest",
    "java-partition-null.manifest",
    "java-embedded-index.manifest",
    "java-row-tracking.manifest",
    "java-1.1.1.manifest",
    "pypaimon-pk.manifest",
    "pypaimon-evolution.manifest",
];
const LISTS: &[(&str, &[u8])] = golden![
    "java-pk.list",
    "java-dynamic.list",
    "java-partition-null.list",
    "java-row-tracking.list",
    "java-1.1.1.list",
    "pypaimon-pk.list",
];
const INDEXES: &[(&str, &[u8])] = golden!["java-dv.index", "java-hash.index", "java-1.1.1.index"];

fn golden(files: &'static [(&str, &[u8])], name: &str) -> &'static [u8] {
    files.iter().find(|(n, _)| *n == name).unwrap().1
}

/// The fields of a record that apache-avro read, by name.
struct Record(Vec<(String, Value)>);

impl Record {
    fn of(value: Value) -> Self {
        match value {
            Value::Record(fields) => Self(fields),
            Value::Union(_, inner) => Self::of(*inner),
            other => panic!("{other:?} is no record"),
        }
    }

    fn all(bytes: &[u8]) -> Vec<Self> {
        apache_avro::Reader::new(bytes).unwrap().map(|v| Self::of(v.unwrap())).collect()
    }

    fn get(&self, name: FieldName) -> Option<Value> {
        let value = self.0.iter().find(|(n, _)| n == name.as_str()).map(|(_, v)| v.clone());
        match value {
            Some(Value::Union(_, inner)) => Some(*inner).filter(|v| *v != Value::Null),
            other => other,
        }
    }

    fn long(&self, name: FieldName) -> Option<i64> {
        self.get(name).map(as_long)
    }

    fn int(&self, name: FieldName) -> Option<i32> {
        self.long(name).map(|v| v as i32)
    }

    fn text(&self, name: FieldName) -> Option<String> {
        self.get(name).map(as_text)
    }

    fn bytes(&self, name: FieldName) -> Option<Vec<u8>> {
        self.get(name).map(|v| if let Value::Bytes(bytes) = v { bytes } else { panic!("{v:?} is no bytes") })
    }

    fn row(&self, name: FieldName) -> BinaryRow {
        BinaryRow::from_serialized(self.bytes(name).unwrap()).unwrap()
    }

    fn list<T>(&self, name: FieldName, item: fn(Value) -> T) -> Option<Vec<T>> {
        self.get(name)
            .map(|v| if let Value::Array(items) = v { items.into_iter().map(item).collect() } else { panic!() })
    }

    fn record(&self, name: FieldName) -> Option<Self> {
        self.get(name).map(Self::of)
    }

    fn stats(&self, name: FieldName) -> SimpleStats {
        let stats = self.record(name).unwrap();
        let count = |v: Value| match v {
            Value::Union(_, inner) if *inner == Value::Null => None,
            Value::Union(_, inner) => Some(as_long(*inner)),
            other => Some(as_long(other)),
        };
        SimpleStats {
            min_values: stats.row(FieldName::MinValues),
            max_values: stats.row(FieldName::MaxValues),
            null_counts: stats.list(FieldName::NullCounts, count).unwrap_or_default(),
        }
    }

    fn file(&self) -> DataFileMeta {
        DataFileMeta {
            file_name: self.text(FieldName::FileName).unwrap(),
            file_size: self.long(FieldName::FileSize).unwrap(),
            row_count: self.long(FieldName::RowCount).unwrap(),
            min_key: self.row(FieldName::MinKey),
            max_key: self.row(FieldName::MaxKey),
            key_stats: self.stats(FieldName::KeyStats),
            value_stats: self.stats(FieldName::ValueStats),
            min_sequence_number: self.long(FieldName::MinSequenceNumber).unwrap(),
            max_sequence_number: self.long(FieldName::MaxSequenceNumber).unwrap(),
            schema_id: self.long(FieldName::SchemaId).unwrap(),
            level: self.int(FieldName::Level).unwrap(),
            extra_files: self.list(FieldName::ExtraFiles, as_text).unwrap(),
            creation_time_ms: self.long(FieldName::CreationTime),
            delete_row_count: self.long(FieldName::DeleteRowCount),
            embedded_index: self.bytes(FieldName::EmbeddedFileIndex),
            file_source: self
                .int(FieldName::FileSource)
                .map(|n| if n == 0 { FileSource::Append } else { FileSource::Compact }),
            value_stats_cols: self.list(FieldName::ValueStatsCols, as_text),
            external_path: self.text(FieldName::ExternalPath),
            first_row_id: self.long(FieldName::FirstRowId),
            write_cols: self.list(FieldName::WriteCols, as_text),
            write_cols_sequences: self.list(FieldName::WriteColsSequences, as_long),
        }
    }

    fn entry(&self) -> ManifestEntry {
        assert_eq!(self.int(FieldName::Version), Some(2));
        ManifestEntry {
            kind: if self.int(FieldName::Kind) == Some(0) { EntryKind::Add } else { EntryKind::Delete },
            partition: self.row(FieldName::Partition),
            bucket: self.int(FieldName::Bucket).unwrap(),
            total_buckets: self.int(FieldName::TotalBuckets).unwrap(),
            file: self.record(FieldName::File).unwrap().file(),
        }
    }

    fn manifest(&self) -> ManifestFileMeta {
        assert_eq!(self.int(FieldName::Version), Some(2));
        ManifestFileMeta {
            file_name: self.text(FieldName::FileName).unwrap(),
            file_size: self.long(FieldName::FileSize).unwrap(),
            num_added_files: self.long(FieldName::NumAddedFiles).unwrap(),
            num_deleted_files: self.long(FieldName::NumDeletedFiles).unwrap(),
            partition_stats: self.stats(FieldName::PartitionStats),
            schema_id: self.long(FieldName::SchemaId).unwrap(),
            min_bucket: self.int(FieldName::MinBucket),
            max_bucket: self.int(FieldName::MaxBucket),
            min_level: self.int(FieldName::MinLevel),
            max_level: self.int(FieldName::MaxLevel),
            min_row_id: self.long(FieldName::MinRowId),
            max_row_id: self.long(FieldName::MaxRowId),
            total_buckets: self.int(FieldName::TotalBuckets),
            extra_files: self.list(FieldName::ExtraFiles, as_text),
        }
    }

    fn index(&self) -> IndexManifestEntry {
        assert_eq!((self.int(FieldName::Version), self.int(FieldName::Kind)), (Some(1), Some(0)));
        let range = |v: Value| {
            let range = Self::of(v);
            DeletionVectorRange {
                data_file_name: range.text(FieldName::RangeFile).unwrap(),
                offset: range.int(FieldName::RangeOffset).unwrap(),
                length: range.int(FieldName::RangeLength).unwrap(),
                cardinality: range.long(FieldName::Cardinality),
            }
        };
        let global = self.record(FieldName::GlobalIndex).map(|index| GlobalIndexMeta {
            row_range_start: index.long(FieldName::RowRangeStart).unwrap(),
            row_range_end: index.long(FieldName::RowRangeEnd).unwrap(),
            index_field_id: index.int(FieldName::IndexFieldId).unwrap(),
            extra_field_ids: index.list(FieldName::ExtraFieldIds, |v| as_long(v) as i32),
            index_meta: index.bytes(FieldName::IndexMeta),
            source_meta: index.bytes(FieldName::SourceMeta),
        });
        IndexManifestEntry {
            partition: self.row(FieldName::Partition),
            bucket: self.int(FieldName::Bucket).unwrap(),
            index_type: self.text(FieldName::IndexType).unwrap(),
            file_name: self.text(FieldName::FileName).unwrap(),
            file_size: self.long(FieldName::FileSize).unwrap(),
            row_count: self.long(FieldName::RowCount).unwrap(),
            dv_ranges: self.list(FieldName::DeletionVectorsRanges, range),
            external_path: self.text(FieldName::ExternalPath),
            global_index: global,
        }
    }
}

fn as_long(value: Value) -> i64 {
    match value {
        Value::Int(v) => i64::from(v),
        Value::Long(v) | Value::TimestampMillis(v) => v,
        other => panic!("{other:?} is no number"),
    }
}

fn as_text(value: Value) -> String {
    if let Value::String(text) = value { text } else { panic!("{value:?} is no text") }
}

#[test]
fn files_of_other_writers_read_as_apache_avro_reads_them() {
    for (name, bytes) in MANIFESTS {
        let expected: Vec<_> = Record::all(bytes).iter().map(Record::entry).collect();
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(decode_manifest(bytes).unwrap(), expected, "{name}");
    }
    for (name, bytes) in LISTS {
        let expected: Vec<_> = Record::all(bytes).iter().map(Record::manifest).collect();
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(decode_manifest_list(bytes).unwrap(), expected, "{name}");
    }
    for (name, bytes) in INDEXES {
        let expected: Vec<_> = Record::all(bytes).iter().map(Record::index).collect();
        assert!(!expected.is_empty(), "{name}");
        assert_eq!(decode_index_manifest(bytes).unwrap(), expected, "{name}");
    }
}

#[test]
fn values_of_java() {
    let entries = decode_manifest(golden(MANIFESTS, "java-pk.manifest")).unwrap();
    let int: DataType = "INT".parse().unwrap();
    let file = &entries[0].file;
    assert_eq!(
        (entries.len(), entries[0].kind, entries[0].bucket, entries[0].total_buckets),
        (1, EntryKind::Add, 0, 1)
    );
    assert_eq!(file.min_key.decode(std::slice::from_ref(&int)).unwrap(), [Some(Datum::Int(2))]);
    assert_eq!((file.level, file.schema_id, file.file_source), (0, 0, Some(FileSource::Append)));
    assert_eq!((file.delete_row_count, file.value_stats_cols.as_ref()), (Some(0), None));
    assert_eq!(file.format(), "parquet");

    let lists = decode_manifest_list(golden(LISTS, "java-partition-null.list")).unwrap();
    assert_eq!((lists[0].min_bucket, lists[0].max_bucket, lists[0].total_buckets), (Some(0), Some(0), None));
    assert!(lists[0].partition_stats.null_counts.iter().any(|n| *n > Some(0)), "{lists:?}");

    let index = decode_index_manifest(golden(INDEXES, "java-dv.index")).unwrap();
    assert_eq!(index[0].index_type, "DELETION_VECTORS");
    let ranges = index[0].dv_ranges.as_ref().unwrap();
    assert_eq!((ranges[0].offset, ranges.len() as i64), (1, index[0].row_count));
    assert!(ranges.iter().all(|r| r.cardinality > Some(0)));
}

#[test]
fn other_formats_are_refused_by_name() {
    let files: &[(&str, &[u8])] = golden!["java-orc.manifest", "java-parquet.list"];
    for ((_, bytes), word) in files.iter().zip(["ORC", "Parquet"]) {
        let error = decode_manifest(bytes).unwrap_err();
        assert!(error.kind() == ErrorKind::Unsupported && error.message().contains(word), "{error}");
    }
    let bytes = golden(MANIFESTS, "java-null.manifest");
    let codec = bytes.windows(16).position(|w| w.starts_with(b"avro.codec")).unwrap() + 11;
    let mut other = bytes.to_vec();
    other[codec..codec + 4].copy_from_slice(b"lzma");
    assert!(decode_manifest(&other).unwrap_err().message().contains("'lzma'"));
}

#[test]
fn every_truncation_and_many_flips_are_errors_or_values() {
    for (name, bytes) in MANIFESTS {
        for end in 0..bytes.len() {
            // An Avro file may end after its header or any block; elsewhere it is damaged.
            if let Err(error) = decode_manifest(&bytes[..end]) {
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{name} at {end}: {error}");
            } else {
                assert!(decode_manifest(&bytes[..end]).unwrap().is_empty(), "{name} at {end}");
            }
        }
        let mut flipped = bytes.to_vec();
        for at in 0..bytes.len() {
            for bit in [1, 0x40, 0x80] {
                flipped[at] ^= bit;
                let _ = decode_manifest(&flipped);
                flipped[at] ^= bit;
            }
        }
    }
    for (_, bytes) in INDEXES {
        for end in 0..bytes.len() {
            let _ = decode_index_manifest(&bytes[..end]);
        }
    }
}

#[test]
fn unions_around_records_are_read() {
    // Releases before 0.9 put a union with null around the top record, the file and its statistics.
    let stats = |name: &str| {
        format!(
            r#"["null",{{"type":"record","name":"{name}","fields":[{{"name":"_MIN_VALUES","type":"bytes"}},
            {{"name":"_MAX_VALUES","type":"bytes"}},{{"name":"_NULL_COUNTS","type":{{"type":"array","items":"long"}}}}]}}]"#
        )
    };
    let schema = format!(
        r#"["null",{{"type":"record","name":"record","fields":[{{"name":"_NEW","type":{{"type":"map","values":"double"}}}},
        {{"name":"_VERSION","type":"int"}},{{"name":"_KIND","type":"int"}},{{"name":"_PARTITION","type":"bytes"}},
        {{"name":"_BUCKET","type":"int"}},{{"name":"_TOTAL_BUCKETS","type":"int"}},
        {{"name":"_FILE","type":["null",{{"type":"record","name":"record__FILE","fields":[
        {{"name":"_FILE_NAME","type":"string"}},{{"name":"_FILE_SIZE","type":"long"}},{{"name":"_ROW_COUNT","type":"long"}},
        {{"name":"_MIN_KEY","type":"bytes"}},{{"name":"_MAX_KEY","type":"bytes"}},
        {{"name":"_KEY_STATS","type":{}}},{{"name":"_VALUE_STATS","type":{}}},
        {{"name":"_MIN_SEQUENCE_NUMBER","type":"long"}},{{"name":"_MAX_SEQUENCE_NUMBER","type":"long"}},
        {{"name":"_SCHEMA_ID","type":"long"}},{{"name":"_LEVEL","type":"int"}},
        {{"name":"_EXTRA_FILES","type":{{"type":"array","items":"string"}}}},
        {{"name":"_CREATION_TIME","type":["null","long"]}}]}}]}}]}}]"#,
        stats("a"),
        stats("b")
    );
    let schema = apache_avro::Schema::parse_str(&schema).unwrap();
    let some = |value| Value::Union(1, Box::new(value));
    let record =
        |fields: Vec<(&str, Value)>| Value::Record(fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
    let row = || Value::Bytes(vec![0; 12]);
    let stats = || {
        let counts = Value::Array(vec![Value::Long(3)]);
        some(record(vec![("_MIN_VALUES", row()), ("_MAX_VALUES", row()), ("_NULL_COUNTS", counts)]))
    };
    let file = record(vec![
        ("_FILE_NAME", Value::String("data-0.orc".into())),
        ("_FILE_SIZE", Value::Long(7)),
        ("_ROW_COUNT", Value::Long(8)),
        ("_MIN_KEY", row()),
        ("_MAX_KEY", row()),
        ("_KEY_STATS", Value::Union(0, Box::new(Value::Null))),
        ("_VALUE_STATS", stats()),
        ("_MIN_SEQUENCE_NUMBER", Value::Long(-1)),
        ("_MAX_SEQUENCE_NUMBER", Value::Long(i64::MAX)),
        ("_SCHEMA_ID", Value::Long(0)),
        ("_LEVEL", Value::Int(5)),
        ("_EXTRA_FILES", Value::Array(vec![Value::String("x".into())])),
        ("_CREATION_TIME", Value::Union(0, Box::new(Value::Null))),
    ]);
    let entry = record(vec![
        ("_NEW", Value::Map([("k".to_owned(), Value::Double(1.0))].into())),
        ("_VERSION", Value::Int(2)),
        ("_KIND", Value::Int(1)),
        ("_PARTITION", row()),
        ("_BUCKET", Value::Int(3)),
        ("_TOTAL_BUCKETS", Value::Int(4)),
        ("_FILE", some(file)),
    ]);
    let mut writer = apache_avro::Writer::with_codec(&schema, Vec::new(), apache_avro::Codec::Snappy);
    writer.append(some(entry)).unwrap();
    let entries = decode_manifest(&writer.into_inner().unwrap()).unwrap();
    let file = &entries[0].file;
    assert_eq!(
        (entries[0].kind, entries[0].bucket, file.level, file.max_sequence_number),
        (EntryKind::Delete, 3, 5, i64::MAX)
    );
    assert_eq!((&file.key_stats, &file.value_stats.null_counts), (&SimpleStats::empty(), &vec![Some(3)]));
    assert_eq!((file.delete_row_count, file.file_source, file.format()), (None, None, "orc"));
}

#[test]
fn written_schemas_are_those_of_java_and_later_fields() {
    let of = |bytes: &[u8]| apache_avro::Reader::new(bytes).unwrap().writer_schema().clone();
    let fields = |schema: &apache_avro::Schema| {
        if let apache_avro::Schema::Record(record) = schema { record.fields.clone() } else { panic!() }
    };
    for (ours, theirs, more) in [
        (MANIFEST_LIST_SCHEMA, golden(LISTS, "java-pk.list"), 2),
        (MANIFEST_SCHEMA, golden(MANIFESTS, "java-pk.manifest"), 0),
        (INDEX_MANIFEST_SCHEMA, golden(INDEXES, "java-dv.index"), 0),
    ] {
        let (ours, theirs) = (apache_avro::Schema::parse_str(ours).unwrap(), of(theirs));
        assert_eq!(ours.name(), theirs.name());
        let (ours, theirs) = (fields(&ours), fields(&theirs));
        assert_eq!(ours.len(), theirs.len() + more);
        for (our, their) in ours.iter().zip(&theirs) {
            let (name, our_schema, their_schema) =
                (&our.name, our.schema.canonical_form(), their.schema.canonical_form());
            assert_eq!((name, &our.default), (&their.name, &their.default));
            // The nested records may have later fields at their end.
            let prefix = their_schema.trim_end_matches(['}', ']']);
            assert!(our_schema.starts_with(prefix), "{name}: {our_schema} {their_schema}");
        }
    }
}

fn row() -> impl Strategy<Value = BinaryRow> {
    let types: Vec<DataType> = vec!["STRING".parse().unwrap(), "BIGINT".parse().unwrap()];
    prop_oneof![
        Just(BinaryRow::empty()),
        (option::of(".{0,12}"), option::of(any::<i64>())).prop_map(move |(text, number)| {
            let values = [text.map(Datum::String), number.map(Datum::BigInt)];
            BinaryRow::encode(&values, &types, NullLayout::Plain).unwrap()
        }),
    ]
}

fn stats() -> impl Strategy<Value = SimpleStats> {
    (row(), row(), vec(option::of(any::<i64>()), 0..4)).prop_map(|(min_values, max_values, null_counts)| SimpleStats {
        min_values,
        max_values,
        null_counts,
    })
}

fn file() -> impl Strategy<Value = DataFileMeta> {
    let numbers = vec(any::<i64>(), 6);
    let rows = (row(), row(), stats(), stats());
    let optionals = (
        option::of(any::<i64>()),
        option::of(any::<i64>()),
        option::of(vec(any::<u8>(), 0..300)),
        option::of(any::<bool>()),
        option::of(".{0,9}"),
        option::of(any::<i64>()),
    );
    let lists = (
        vec(FILE_NAME, 0..3),
        option::of(vec(".{0,9}", 0..3)),
        option::of(vec(".{0,9}", 0..3)),
        option::of(vec(any::<i64>(), 0..3)),
    );
    (FILE_NAME, any::<i32>(), numbers, rows, optionals, lists).prop_map(|(file_name, level, n, rows, o, lists)| {
        DataFileMeta {
            file_name,
            file_size: n[0],
            row_count: n[1],
            min_key: rows.0,
            max_key: rows.1,
            key_stats: rows.2,
            value_stats: rows.3,
            min_sequence_number: n[2],
            max_sequence_number: n[3],
            schema_id: n[4],
            level,
            extra_files: lists.0,
            creation_time_ms: o.0,
            delete_row_count: o.1,
            embedded_index: o.2,
            file_source: o.3.map(|append| if append { FileSource::Append } else { FileSource::Compact }),
            value_stats_cols: lists.1,
            external_path: o.4,
            first_row_id: o.5,
            write_cols: lists.2,
            write_cols_sequences: lists.3,
        }
    })
}

fn entry() -> impl Strategy<Value = ManifestEntry> {
    (any::<bool>(), row(), any::<i32>(), any::<i32>(), file()).prop_map(
        |(add, partition, bucket, total_buckets, file)| {
            let kind = if add { EntryKind::Add } else { EntryKind::Delete };
            ManifestEntry { kind, partition, bucket, total_buckets, file }
        },
    )
}

/// Names of files.
const FILE_NAME: &str = r"m[^/\\\x00]{0,40}";

fn manifest() -> impl Strategy<Value = ManifestFileMeta> {
    let ints = vec(option::of(any::<i32>()), 5);
    let longs = vec(any::<i64>(), 4);
    let rows = vec(option::of(any::<i64>()), 2);
    (FILE_NAME, longs, stats(), ints, rows, option::of(vec(FILE_NAME, 0..3))).prop_map(
        |(file_name, n, stats, i, r, extra)| ManifestFileMeta {
            file_name,
            file_size: n[0],
            num_added_files: n[1],
            num_deleted_files: n[2],
            partition_stats: stats,
            schema_id: n[3],
            min_bucket: i[0],
            max_bucket: i[1],
            min_level: i[2],
            max_level: i[3],
            min_row_id: r[0],
            max_row_id: r[1],
            total_buckets: i[4],
            extra_files: extra,
        },
    )
}

fn index() -> impl Strategy<Value = IndexManifestEntry> {
    let range = (FILE_NAME, any::<i32>(), any::<i32>(), option::of(any::<i64>())).prop_map(
        |(name, offset, length, cardinality)| DeletionVectorRange { data_file_name: name, offset, length, cardinality },
    );
    let bytes = || option::of(vec(any::<u8>(), 0..9));
    let global = (any::<i64>(), any::<i64>(), any::<i32>(), option::of(vec(any::<i32>(), 0..3)), bytes(), bytes())
        .prop_map(|(row_range_start, row_range_end, index_field_id, extra_field_ids, index_meta, source_meta)| {
            GlobalIndexMeta { row_range_start, row_range_end, index_field_id, extra_field_ids, index_meta, source_meta }
        });
    let numbers = (any::<i32>(), any::<i64>(), any::<i64>());
    let optionals = (option::of(vec(range, 0..4)), option::of(".{0,9}"), option::of(global));
    (row(), ".{0,9}", FILE_NAME, numbers, optionals).prop_map(|(partition, index_type, file_name, n, o)| {
        IndexManifestEntry {
            partition,
            bucket: n.0,
            index_type,
            file_name,
            file_size: n.1,
            row_count: n.2,
            dv_ranges: o.0,
            external_path: o.1,
            global_index: o.2,
        }
    })
}

fn compression() -> impl Strategy<Value = AvroCompression> {
    use AvroCompression::*;
    prop_oneof![Just(None), Just(Deflate), Just(Snappy), (-5..20).prop_map(Zstd)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn manifests_round_trip(entries in vec(entry(), 0..5), compression in compression()) {
        let mut writer = ManifestWriter::new(compression, [7; 16]);
        for entry in &entries {
            writer.push(entry).unwrap();
        }
        let bytes = writer.finish().unwrap();
        prop_assert_eq!(&decode_manifest(&bytes).unwrap(), &entries);
        let other: Vec<_> = Record::all(&bytes).iter().map(Record::entry).collect();
        prop_assert_eq!(other, entries);
    }

    #[test]
    fn manifest_lists_round_trip(manifests in vec(manifest(), 0..5), compression in compression()) {
        let bytes = encode_manifest_list(&manifests, compression, [7; 16]).unwrap();
        prop_assert_eq!(&decode_manifest_list(&bytes).unwrap(), &manifests);
        let other: Vec<_> = Record::all(&bytes).iter().map(Record::manifest).collect();
        prop_assert_eq!(other, manifests);
    }

    #[test]
    fn index_manifests_round_trip(entries in vec(index(), 0..5), compression in compression()) {
        let bytes = encode_index_manifest(&entries, compression, [7; 16]).unwrap();
        prop_assert_eq!(&decode_index_manifest(&bytes).unwrap(), &entries);
        let other: Vec<_> = Record::all(&bytes).iter().map(Record::index).collect();
        prop_assert_eq!(other, entries);
    }

    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
        let _ = decode_manifest(&bytes);
        let whole = [b"Obj\x01".as_slice(), &bytes].concat();
        let _ = decode_manifest_list(&whole);
    }
}
