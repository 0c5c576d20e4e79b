//! Documents and Avro files of metadata.

use super::decoded;
use crate::meta::decode_tag;
use crate::options::Options;
use crate::row::BinaryRow;
use crate::spec::avro::AvroCompression;
use crate::spec::{
    ManifestWriter, Snapshot, TableSchema, check_readable, decode_index_manifest, decode_manifest,
    decode_manifest_list, encode_index_manifest, encode_manifest_list,
};
use crate::types::to_arrow_schema;

const SYNC: [u8; 16] = [7; 16];

/// A snapshot, and the same document as a tag.
pub(super) fn snapshot(bytes: &[u8]) {
    if let Some(snapshot) = decoded(Snapshot::from_json(bytes)) {
        let text = snapshot.to_json();
        let again = decoded(Snapshot::from_json(text.as_bytes()));
        assert_eq!(again.map(|s| s.to_json()), Some(text));
    }
    decoded(decode_tag("t", bytes));
}

pub(super) fn schema(bytes: &[u8]) {
    let Some(schema) = decoded(TableSchema::from_json(bytes)) else { return };
    let text = schema.to_json();
    let again = decoded(TableSchema::from_json(text.as_bytes()));
    assert_eq!(again.map(|s| s.to_json()), Some(text));
    to_arrow_schema(&schema.row_type());
    to_arrow_schema(&schema.partition_type());
    to_arrow_schema(&schema.key_type());
    schema.bucket_key_positions();
    let options: Options = schema.options.clone().into();
    decoded(check_readable(&schema, &options));
}

pub(super) fn manifest_list(bytes: &[u8]) {
    let Some(manifests) = decoded(decode_manifest_list(bytes)) else { return };
    let again = decoded(encode_manifest_list(&manifests, AvroCompression::None, SYNC));
    assert_eq!(again.and_then(|bytes| decoded(decode_manifest_list(&bytes))), Some(manifests));
}

pub(super) fn manifest(bytes: &[u8]) {
    let Some(entries) = decoded(decode_manifest(bytes)) else { return };
    let mut writer = ManifestWriter::new(AvroCompression::None, SYNC);
    for entry in &entries {
        decoded(writer.push(entry));
        let file = &entry.file;
        let stats = [&file.key_stats, &file.value_stats];
        let bounds = stats.iter().flat_map(|s| [&s.min_values, &s.max_values]);
        [&entry.partition, &file.min_key, &file.max_key].into_iter().chain(bounds).for_each(check_row);
    }
    let again = decoded(writer.finish());
    assert_eq!(again.and_then(|bytes| decoded(decode_manifest(&bytes))), Some(entries));
}

/// Takes the row for one of texts, then for one of wide numbers.
fn check_row(row: &BinaryRow) {
    for data_type in super::values::types().iter().rev().take(6) {
        for position in 0..row.arity().min(20) {
            decoded(row.field(position, data_type));
        }
    }
}

pub(super) fn index_manifest(bytes: &[u8]) {
    let Some(entries) = decoded(decode_index_manifest(bytes)) else { return };
    let again = decoded(encode_index_manifest(&entries, AvroCompression::None, SYNC));
    assert_eq!(again.and_then(|bytes| decoded(decode_index_manifest(&bytes))), Some(entries));
}
