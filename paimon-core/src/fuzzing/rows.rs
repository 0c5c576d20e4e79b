//! Binary rows and what is made of them, splits, deletion vectors and file indexes.
//!
//! What the bytes alone do not say, such as the types of columns or the number of rows, stands before them in an input.

use std::sync::OnceLock;

use bytes::Bytes;

use super::decoded;
use super::values::{tests, type_of, types};
use crate::deletion::DeletionVector;
use crate::index::fuzzing as index;
use crate::row::BinaryRow;
use crate::scan::{Split, keys_may_match, values_may_match};
use crate::spec::{DataFileMeta, FILE_ROW_FIELDS, TableSchema};
use crate::types::{DataField, DataType};

/// Form of the oldest rows of files.
const LEAST_FILE_FIELDS: usize = 15;

/// The number of fields, a byte for the type of each, and the serialized row.
pub(super) fn binary_row(bytes: &[u8]) {
    let Some((&count, rest)) = bytes.split_first() else { return };
    let Some((kinds, row)) = rest.split_at_checked(usize::from(count)) else { return };
    let Some(row) = decoded(BinaryRow::from_serialized(row.to_vec())) else { return };
    assert_eq!(decoded(BinaryRow::from_serialized(row.to_serialized())).as_ref(), Some(&row));
    let types: Vec<DataType> = kinds.iter().map(|byte| type_of(*byte).clone()).collect();
    decoded(row.decode(&types));
    for (position, data_type) in types.iter().enumerate() {
        row.is_null(position);
        decoded(row.field(position, data_type));
    }
}

/// A table with a column of every type, the first of which is its key.
fn every_type() -> &'static TableSchema {
    static SCHEMA: OnceLock<TableSchema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        let columns = types().iter().enumerate();
        TableSchema {
            version: 3,
            id: 0,
            fields: columns.map(|(i, t)| DataField::new(i as i32, format!("c{i}"), t.clone())).collect(),
            highest_field_id: 100,
            partition_keys: Vec::new(),
            primary_keys: vec!["c0".to_owned()],
            options: Default::default(),
            comment: None,
            time_millis: 0,
        }
    })
}

/// The form, and the row of a data file with its statistics.
pub(super) fn statistics(bytes: &[u8]) {
    let Some((&form, row)) = bytes.split_first() else { return };
    let fields = LEAST_FILE_FIELDS + usize::from(form) % (FILE_ROW_FIELDS + 1 - LEAST_FILE_FIELDS);
    let Some(file) = decoded(DataFileMeta::from_row(row, fields)) else { return };
    assert_eq!(decoded(DataFileMeta::from_row(&file.to_row(fields), fields)).as_ref(), Some(&file));
    let schema = every_type();
    for (i, field) in schema.fields.iter().enumerate() {
        for test in tests(field) {
            values_may_match(&test, &file, schema);
            if i == 0 {
                keys_may_match(&test, &file, schema);
            }
        }
    }
}

pub(super) fn split(bytes: &[u8]) {
    let Some(split) = decoded(Split::deserialize(bytes)) else { return };
    split.row_count();
    split.merged_row_count();
    if let Some(bytes) = decoded(split.serialize()) {
        assert_eq!(decoded(Split::deserialize(&bytes)), Some(split));
    }
}

/// The vector as it is, and taken for the content of a frame that fits it.
pub(super) fn deletion_vector(bytes: &[u8]) {
    let mut framed = i32::try_from(bytes.len()).unwrap_or(i32::MAX).to_be_bytes().to_vec();
    framed.extend_from_slice(bytes);
    framed.extend_from_slice(&crc32fast::hash(bytes).to_be_bytes());
    for vector in [bytes, &framed] {
        let word = vector.first_chunk().map_or(0, |word| i64::from(i32::from_be_bytes(*word)));
        for length in [word, word + 8] {
            if let Some(vector) = decoded(DeletionVector::decode(vector, length)) {
                vector.cardinality();
                decoded(vector.live_rows(100_000));
            }
        }
    }
}

/// The number of rows in two bytes, and a container with indexes of columns named `c0` and so on, or as in the seeds.
pub(super) fn file_index(bytes: &[u8]) {
    let Some((rows, container)) = bytes.split_first_chunk() else { return };
    index::container(&Bytes::copy_from_slice(container), u32::from(u16::from_le_bytes(*rows)));
}

pub(super) fn bloom_filter(bytes: &[u8]) {
    index_of("bloom-filter", bytes);
}

pub(super) fn bitmap(bytes: &[u8]) {
    index_of("bitmap", bytes);
}

pub(super) fn bit_slices(bytes: &[u8]) {
    index_of("bsi", bytes);
}

pub(super) fn range_bitmap(bytes: &[u8]) {
    index_of("range-bitmap", bytes);
}

/// The type of the column, the number of rows in two bytes, and the index.
fn index_of(kind: &str, bytes: &[u8]) {
    let Some(([column, low, high], blob)) = bytes.split_first_chunk() else { return };
    let rows = u32::from(u16::from_le_bytes([*low, *high]));
    index::blob(kind, type_of(*column), &Bytes::copy_from_slice(blob), rows);
}
