//! Manifests through storage.

use super::*;
use crate::clock::SystemClock;
use crate::error::{Entity, ErrorKind};
use crate::row::{BinaryRow, NullLayout};
use crate::spec::{DataFileMeta, EntryKind, SimpleStats};
use crate::types::Datum;

fn manifests(name: &str) -> Manifests {
    let location = format!("memory:/manifests-{name}-{}", SystemClock.fresh_id());
    let io = FileIO::from_location(&location, &Options::new()).unwrap();
    Manifests::new(io, TablePaths::new(location, "main"), SystemClock::shared())
}

fn schema() -> TableSchema {
    let document = include_bytes!("../../../tests/golden/java-1.4.2/nested_parquet/schema-0");
    let mut schema = TableSchema::from_json(document).unwrap();
    schema.partition_keys = vec!["id".to_owned()];
    schema
}

fn entry(number: i32, partition: Option<i32>) -> ManifestEntry {
    let types = schema().partition_type().types();
    let partition = BinaryRow::encode(&[partition.map(Datum::Int)], &types, NullLayout::Reserved).unwrap();
    let file = DataFileMeta {
        file_name: format!("data-{:x}-{number}.parquet", number.wrapping_mul(0x9e37_79b1_u32 as i32)),
        file_size: 10,
        row_count: 5,
        min_key: BinaryRow::empty(),
        max_key: BinaryRow::empty(),
        key_stats: SimpleStats::empty(),
        value_stats: SimpleStats::empty(),
        min_sequence_number: 0,
        max_sequence_number: 4,
        schema_id: i64::from(number % 3),
        level: number % 2,
        extra_files: Vec::new(),
        creation_time_ms: Some(1),
        delete_row_count: Some(0),
        embedded_index: None,
        file_source: None,
        value_stats_cols: None,
        external_path: None,
        first_row_id: Some(i64::from(number) * 5),
        write_cols: None,
        write_cols_sequences: None,
    };
    ManifestEntry { kind: EntryKind::Add, partition, bucket: number % 7, total_buckets: 7, file }
}

#[tokio::test]
async fn manifests_roll_and_say_what_they_hold() {
    let manifests = manifests("roll");
    let mut entries: Vec<_> = (0..4500).map(|n| entry(n, (n % 10 > 0).then_some(n % 10))).collect();
    entries[7].kind = EntryKind::Delete;
    let options: Options = [("manifest.target-file-size", "20 kb")].into_iter().collect();
    let written = manifests.write(&entries, &schema(), &options).await.unwrap();
    assert!(written.len() > 1, "{written:?}");
    let mut read = Vec::new();
    for manifest in &written {
        let part = manifests.read(manifest).await.unwrap();
        assert_eq!(part.len() as i64, manifest.num_added_files + manifest.num_deleted_files);
        read.extend(part.iter().cloned());
    }
    assert_eq!(read, entries);

    let first = &written[0];
    let of_first = i64::from(first.num_added_files as i32) + 1;
    assert_eq!((first.num_deleted_files, first.schema_id, first.total_buckets), (1, 2, Some(7)));
    assert_eq!(
        (first.min_bucket, first.max_bucket, first.min_level, first.max_level),
        (Some(0), Some(6), Some(0), Some(1))
    );
    assert_eq!((first.min_row_id, first.max_row_id), (Some(0), Some(of_first * 5 - 1)));
    let types = schema().partition_type().types();
    assert_eq!(first.partition_stats.min_values.decode(&types).unwrap(), [Some(Datum::Int(1))]);
    assert_eq!(first.partition_stats.max_values.decode(&types).unwrap(), [Some(Datum::Int(9))]);
    assert_eq!(first.partition_stats.null_counts, [Some(of_first / 10)]);

    let (name, size) = manifests.write_list(&written, &options).await.unwrap();
    assert_eq!(manifests.read_list(&name).await.unwrap(), written);
    let path = manifests.paths.manifest(&name);
    assert_eq!(manifests.io.status(&path).await.unwrap().unwrap().size as i64, size);
}

#[tokio::test]
async fn unknown_numbers_are_not_summed_up() {
    let manifests = manifests("unknown");
    let mut entries = vec![entry(0, None), entry(1, None)];
    entries[0].file.first_row_id = None;
    entries[1].total_buckets = 8;
    let options: Options = [("manifest.compression", "snappy")].into_iter().collect();
    let written = manifests.write(&entries, &schema(), &options).await.unwrap();
    assert_eq!((written[0].min_row_id, written[0].max_row_id, written[0].total_buckets), (None, None, None));
    assert_eq!(written[0].partition_stats.null_counts, [Some(2)]);
    assert!(manifests.write(&[], &schema(), &options).await.unwrap().is_empty());
    let bad: Options = [("manifest.compression", "lzo")].into_iter().collect();
    let error = manifests.write(&entries, &schema(), &bad).await.unwrap_err();
    assert!(error.kind() == ErrorKind::InvalidConfig && error.message().contains("lzo"), "{error}");
}

#[tokio::test]
async fn damaged_files_are_named() {
    let manifests = manifests("damaged");
    let (name, _) = manifests.write_list(&[], &Options::new()).await.unwrap();
    let path = manifests.paths.manifest(&name);
    let bytes = manifests.io.read(&path).await.unwrap();
    let other = manifests.paths.manifest("manifest-list-other");
    manifests.io.write(&other, bytes.slice(..100)).await.unwrap();
    let error = manifests.read_list("manifest-list-other").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("manifest-list-other"), "{error}");
    manifests.delete(&name).await.unwrap();
    assert_eq!(manifests.read_list(&name).await.unwrap_err().kind(), ErrorKind::NotFound(Entity::File));
}
