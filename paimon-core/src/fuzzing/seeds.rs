//! Inputs to start from: the golden files of this crate.
//!
//! Files that are compressed are there a second time without compression, for a fuzzer cannot change what is inside.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use roaring::RoaringBitmap;

use super::values::{byte_of, types};
use crate::index::fuzzing::blobs;
use crate::row::{BinaryRow, NullLayout};
use crate::spec::avro::{AvroCompression, Cursor, put_bytes, put_long};
use crate::spec::{FILE_ROW_FIELDS, ManifestEntry, TableSchema, decode_manifest};
use crate::types::{Datum, Timestamp};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
const FOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/found");
/// Larger files make fuzzing slow.
const MAX_BYTES: usize = 64 << 10;

/// The files below a golden folder, in the order of their paths.
pub(super) fn paths(folder: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    walk(&Path::new(GOLDEN).join(folder), &mut paths);
    paths.sort();
    paths
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { walk(&path, paths) } else { paths.push(path) }
    }
}

pub(super) fn read(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok().filter(|bytes| bytes.len() <= MAX_BYTES)
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Files below a golden folder whose names start so.
pub(super) fn files(folder: &str, prefix: &str) -> Vec<Vec<u8>> {
    paths(folder).iter().filter(|path| name(path).starts_with(prefix)).filter_map(|path| read(path)).collect()
}

/// What fuzzing found.
pub(super) fn found(target: &str) -> Vec<Vec<u8>> {
    let mut paths = Vec::new();
    walk(&Path::new(FOUND).join(target), &mut paths);
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read(path).ok()).collect()
}

/// The Avro file, and without compression.
fn plain_too(file: Vec<u8>) -> Vec<Vec<u8>> {
    let plain = plain_avro(&file).filter(|plain| plain.len() <= MAX_BYTES);
    std::iter::once(file).chain(plain).collect()
}

/// An Avro file without compression; `None` if it is none.
pub(super) fn plain_avro(file: &[u8]) -> Option<Vec<u8>> {
    let mut cursor = Cursor::new(file.strip_prefix(b"Obj\x01")?);
    let (mut schema, mut codec) = (b"".as_slice(), b"null".as_slice());
    while let Some(count) = cursor.block().ok()? {
        for _ in 0..count {
            match (cursor.raw_bytes().ok()?, cursor.raw_bytes().ok()?) {
                (b"avro.schema", value) => schema = value,
                (b"avro.codec", value) => codec = value,
                _ => {}
            }
        }
    }
    let compression = AvroCompression::from_name(codec).ok()?;
    let sync = cursor.take(16).ok()?;
    let mut plain = b"Obj\x01".to_vec();
    put_long(&mut plain, 1);
    put_bytes(&mut plain, b"avro.schema");
    put_bytes(&mut plain, schema);
    put_long(&mut plain, 0);
    plain.extend_from_slice(sync);
    while !cursor.rest().is_empty() {
        put_long(&mut plain, cursor.raw_long().ok()?);
        put_bytes(&mut plain, &compression.decompress(cursor.raw_bytes().ok()?).ok()?);
        plain.extend_from_slice(cursor.take(16).ok()?);
    }
    Some(plain)
}

fn with_extension(folder: &str, extension: &str) -> Vec<Vec<u8>> {
    let paths = paths(folder).into_iter().filter(|path| path.extension().is_some_and(|e| e == extension));
    paths.filter_map(|path| read(&path)).collect()
}

pub(super) fn manifest_lists() -> Vec<Vec<u8>> {
    with_extension("manifests", "list").into_iter().flat_map(plain_too).collect()
}

pub(super) fn manifests() -> Vec<Vec<u8>> {
    with_extension("manifests", "manifest").into_iter().flat_map(plain_too).collect()
}

pub(super) fn index_manifests() -> Vec<Vec<u8>> {
    with_extension("manifests", "index").into_iter().flat_map(plain_too).collect()
}

/// The entries of every golden manifest.
fn entries() -> Vec<ManifestEntry> {
    let tables = files("tables", "manifest-").into_iter();
    with_extension("manifests", "manifest")
        .into_iter()
        .chain(tables)
        .flat_map(|f| decode_manifest(&f).unwrap_or_default())
        .collect()
}

pub(super) fn binary_rows() -> Vec<Vec<u8>> {
    let of = |row: &BinaryRow| {
        let count = u8::try_from(row.arity()).unwrap_or(u8::MAX);
        // Rows of texts and numbers; the types are guessed.
        let kinds = (0..count).map(|i| if i % 2 == 0 { 17 } else { 4 });
        std::iter::once(count).chain(kinds).chain(row.to_serialized()).collect()
    };
    let mut seeds: Vec<Vec<u8>> = entries().iter().step_by(7).map(|e| of(&e.file.value_stats.min_values)).collect();
    let moment = Timestamp { millis: 7, nanos: 9 };
    let values = [
        (17, Datum::String("text that is longer than a slot".to_owned())),
        (16, Datum::Decimal(-(1 << 90), 10)),
        (11, Datum::Timestamp(moment)),
        (12, Datum::LocalZonedTimestamp(Timestamp { nanos: 9_000, ..moment })),
        (15, Datum::Bytes(vec![0, 1, 2])),
        (0, Datum::Boolean(true)),
        (6, Datum::Double(-0.5)),
        (7, Datum::Decimal(-15, 2)),
    ];
    let kinds: Vec<u8> = values.iter().map(|(kind, _)| *kind).collect();
    let row_types: Vec<_> = kinds.iter().map(|kind| types()[usize::from(*kind)].clone()).collect();
    let set: Vec<_> = values.iter().map(|(_, value)| Some(value.clone())).collect();
    let nulls = vec![None; set.len()];
    for (values, layout) in [(&set, NullLayout::Plain), (&nulls, NullLayout::Plain), (&nulls, NullLayout::Reserved)] {
        if let Ok(row) = BinaryRow::encode(values, &row_types, layout) {
            seeds.push(std::iter::once(kinds.len() as u8).chain(kinds.clone()).chain(row.to_serialized()).collect());
        }
    }
    seeds
}

/// Rows of files of every form.
pub(super) fn statistics() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (i, entry) in entries().iter().step_by(5).enumerate() {
        let form = i % (FILE_ROW_FIELDS - 14);
        seeds.push(std::iter::once(form as u8).chain(entry.file.to_row(15 + form)).collect());
    }
    seeds
}

/// Vectors of both layouts, with their frame and without.
pub(super) fn deletion_vectors() -> Vec<Vec<u8>> {
    const MAGIC_32: [u8; 4] = 1_581_511_376_u32.to_be_bytes();
    const MAGIC_64: [u8; 4] = 1_681_511_377_u32.to_le_bytes();
    let few: RoaringBitmap = [1, 5, 70_000].into_iter().collect();
    let many: RoaringBitmap = (0..20_000).filter(|n| n % 3 == 0).collect();
    let mut runs = RoaringBitmap::new();
    runs.insert_range(5..3_000);
    runs.optimize();
    let mut seeds = Vec::new();
    for bitmap in [few, many, runs] {
        let mut bytes = Vec::new();
        // Writing to memory does not fail.
        drop(bitmap.serialize_into(&mut bytes));
        let narrow = [&MAGIC_32[..], &bytes].concat();
        let wide = [&MAGIC_64[..], &1u64.to_le_bytes(), &0u32.to_le_bytes(), &bytes].concat();
        for bin in [narrow, wide] {
            let frame = [&(bin.len() as i32).to_be_bytes()[..], &bin, &crc32fast::hash(&bin).to_be_bytes()].concat();
            seeds.extend([bin, frame]);
        }
    }
    seeds
}

/// Containers of Java with the number of rows of their files, and the schema of their table.
fn containers() -> Vec<(u16, Bytes, TableSchema)> {
    let mut all = Vec::new();
    for folder in paths("tables").iter().filter(|p| name(p) == "schema-0").filter_map(|p| p.parent()?.parent()) {
        let schema = read(&folder.join("schema/schema-0")).and_then(|bytes| TableSchema::from_json(&bytes).ok());
        let Some(schema) = schema else { continue };
        let manifests = paths(&folder.to_string_lossy());
        let manifests = manifests.iter().filter(|p| name(p).starts_with("manifest-") && !name(p).contains("list"));
        for entry in manifests.filter_map(|p| decode_manifest(&read(p)?).ok()).flatten() {
            let file = &entry.file;
            let beside = file.extra_files.iter().find(|f| f.ends_with(".index"));
            let beside = beside.and_then(|f| read(&folder.join("bucket-0").join(f)));
            let rows = u16::try_from(file.row_count).unwrap_or(u16::MAX);
            if let Some(bytes) = file.embedded_index.clone().or(beside) {
                all.push((rows, Bytes::from(bytes), schema.clone()));
            }
        }
    }
    all
}

pub(super) fn file_indexes() -> Vec<Vec<u8>> {
    containers().into_iter().map(|(rows, bytes, _)| [&rows.to_le_bytes()[..], &bytes].concat()).collect()
}

/// The indexes of one kind.
pub(super) fn index_blobs(kind: &str) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (rows, bytes, schema) in containers() {
        for (column, _, blob) in blobs(&bytes).into_iter().filter(|(_, k, _)| k == kind) {
            let field = schema.fields.iter().find(|f| f.name == column);
            let byte = field.map_or(0, |f| byte_of(&f.data_type));
            seeds.push([&[byte][..], &rows.to_le_bytes(), &blob].concat());
        }
    }
    if kind == "bloom-filter" {
        seeds.push(vec![3, 3, 0, 0, 0, 0, 3, 0x89, 0x20, 0x01, 0x50, 0x40, 0x00]);
    }
    seeds
}
