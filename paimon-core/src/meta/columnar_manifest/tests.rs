//! Manifests of Java in ORC and Parquet.

use bytes::Bytes;

use super::*;
use crate::clock::{Clock, SystemClock};
use crate::error::ErrorKind;
use crate::format::FooterCache;
use crate::spec::{
    EntryKind, FileSource, IndexManifestEntry, ManifestEntry, ManifestFileMeta, SimpleStats, decode_index_manifest,
    decode_manifest, decode_manifest_list,
};
use crate::storage::FileIO;
use crate::types::Datum;

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/golden/manifests/", $name)).as_slice()
    };
}

/// List, manifest and index manifest of one table, and when its first file was made.
type Golden = (&'static [u8], &'static [u8], &'static [u8], i64);

/// One table per format.
const FILES: [Golden; 2] = [
    (
        golden!("java-orc-full.list"),
        golden!("java-orc-full.manifest"),
        golden!("java-orc-full.index"),
        1_796_223_954_551,
    ),
    (
        golden!("java-parquet-full.list"),
        golden!("java-parquet-full.manifest"),
        golden!("java-parquet-full.index"),
        1_796_223_965_408,
    ),
];

async fn avro(bytes: &[u8], kind: ManifestKind) -> Result<Vec<u8>> {
    let path = format!("memory:/columnar-manifest-{}", SystemClock.fresh_id());
    let io = FileIO::from_location(&path, &Options::new())?;
    io.write(&path, Bytes::copy_from_slice(bytes)).await?;
    let format = columnar_format(bytes).ok_or_else(|| Error::corrupt("no ORC and no Parquet"))?;
    let size = bytes.len() as u64;
    to_avro(format, InputFile { io, path, size, footers: FooterCache::with_limit(0) }, kind).await
}

async fn list(bytes: &[u8]) -> Result<Vec<ManifestFileMeta>> {
    decode_manifest_list(&avro(bytes, ManifestKind::List).await?)
}

async fn entries(bytes: &[u8]) -> Result<Vec<ManifestEntry>> {
    decode_manifest(&avro(bytes, ManifestKind::Entries).await?)
}

async fn index(bytes: &[u8]) -> Result<Vec<IndexManifestEntry>> {
    decode_index_manifest(&avro(bytes, ManifestKind::Index).await?)
}

fn text(value: &str) -> Option<Datum> {
    Some(Datum::String(value.into()))
}

fn partition_types() -> [DataType; 1] {
    ["STRING".parse().unwrap()]
}

#[tokio::test]
async fn values_of_java() {
    let int: [DataType; 1] = ["INT".parse().unwrap()];
    for (list_bytes, manifest_bytes, index_bytes, created) in FILES {
        let lists = list(list_bytes).await.unwrap();
        let first = &lists[0];
        assert_eq!((lists.len(), first.num_added_files, first.num_deleted_files, first.schema_id), (2, 3, 0, 0));
        assert_eq!(first.file_size, manifest_bytes.len() as i64);
        assert_eq!((first.min_bucket, first.max_bucket, first.min_row_id), (Some(0), Some(0), None));
        assert_eq!(first.partition_stats.min_values.decode(&partition_types()).unwrap(), [text("a")]);
        assert_eq!(first.partition_stats.max_values.decode(&partition_types()).unwrap(), [text("b")]);
        assert_eq!(first.partition_stats.null_counts, [Some(1)]);

        let entries = entries(manifest_bytes).await.unwrap();
        let partitions: Vec<_> = entries.iter().flat_map(|e| e.partition.decode(&partition_types()).unwrap()).collect();
        assert_eq!(partitions, [text("b"), text("a"), None]);
        let entry = &entries[1];
        assert_eq!((entry.kind, entry.bucket, entry.total_buckets), (EntryKind::Add, 0, -1));
        let file = &entry.file;
        assert_eq!((file.row_count, file.file_size, file.level, file.schema_id), (2, 670, 0, 0));
        assert_eq!((file.min_sequence_number, file.max_sequence_number, file.delete_row_count), (0, 1, Some(0)));
        assert_eq!(file.value_stats_cols, Some(vec!["id".to_owned()]));
        assert_eq!(file.value_stats.min_values.decode(&int).unwrap(), [Some(Datum::Int(1))]);
        assert_eq!(file.value_stats.max_values.decode(&int).unwrap(), [Some(Datum::Int(7))]);
        assert_eq!((&file.key_stats, &file.value_stats.null_counts), (&SimpleStats::empty(), &vec![Some(0)]));
        assert_eq!(file.embedded_index.as_ref().map(Vec::len), Some(599_125));
        assert_eq!((file.file_source, &file.external_path, file.first_row_id), (Some(FileSource::Append), &None, None));
        assert_eq!(entries[0].file.creation_time_ms, Some(created));

        let mut index = index(index_bytes).await.unwrap();
        index.sort_by_key(|e| e.partition.decode(&partition_types()).unwrap()[0] != text("a"));
        assert_eq!(
            index.iter().map(|e| (e.index_type.as_str(), e.file_size)).collect::<Vec<_>>(),
            [("DELETION_VECTORS", 31); 2]
        );
        let ranges = index[0].dv_ranges.as_ref().unwrap();
        assert_eq!((ranges.len(), &ranges[0].data_file_name), (1, &file.file_name));
        assert_eq!((ranges[0].offset, ranges[0].length, ranges[0].cardinality), (1, 22, Some(1)));
        assert!(index[0].global_index.is_none());
    }
}

#[tokio::test]
async fn other_columns_are_refused_by_name() {
    for (list_bytes, manifest_bytes, _, _) in FILES {
        // A list as a manifest: its own fields are not looked at, those of a manifest are missing.
        let error = entries(list_bytes).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Corrupt && error.to_string().contains('_'), "{error}");
        let error = list(manifest_bytes).await.unwrap_err();
        assert!(error.kind() == ErrorKind::Corrupt && error.to_string().contains('_'), "{error}");
    }
    assert_eq!(columnar_format(b"Obj\x01"), None);
    assert_eq!(columnar_format(b"OR"), None);
}

#[tokio::test]
async fn damaged_files_are_errors_or_values() {
    for (_, _, bytes, _) in FILES {
        for end in (4..bytes.len()).step_by(211) {
            let error = index(&bytes[..end]).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported), "at {end}: {error}");
        }
        let mut flipped = bytes.to_vec();
        for at in (4..bytes.len()).step_by(37) {
            flipped[at] ^= 0x41;
            let _ = index(&flipped).await;
            flipped[at] ^= 0x41;
        }
    }
}
