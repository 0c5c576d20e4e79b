//! Entries for fuzzers: whole containers, and indexes of one kind.

use std::collections::BTreeSet;

use bytes::Bytes;

use super::container;
use super::file_index::{FileIndex, Index};
use crate::fuzzing::values::{tests, types};
use crate::types::{DataField, DataType};

/// Asks a container about each of its columns, as if it had each type.
pub(crate) fn container(bytes: &Bytes, rows: u32) {
    let Some(names) = columns(bytes) else { return };
    let names: BTreeSet<&str> = names.iter().map(String::as_str).take(4).collect();
    let Ok(index) = FileIndex::decode(bytes, &names) else { return };
    for name in names {
        for data_type in types() {
            ask(&index, name, data_type, rows);
        }
    }
}

/// Asks one index.
pub(crate) fn blob(kind: &str, data_type: &DataType, blob: &Bytes, rows: u32) {
    let one = Index { column: "c".into(), kind: kind.to_owned(), blob: Some(blob.clone()) };
    ask(&FileIndex::new(vec![one]), "c", data_type, rows);
}

/// The columns, kinds and bytes of the indexes in a container.
pub(crate) fn blobs(bytes: &Bytes) -> Vec<(String, String, Bytes)> {
    let entries = container::head_length(bytes).ok().and_then(|length| container::entries(bytes.get(..length)?).ok());
    let entry = |e: container::Entry| Some((e.column.to_string(), e.kind, bytes.slice(e.blob?)));
    entries.unwrap_or_default().into_iter().filter_map(entry).collect()
}

fn columns(bytes: &Bytes) -> Option<Vec<String>> {
    let head = bytes.get(..container::head_length(bytes).ok()?)?;
    let mut names: Vec<String> = container::entries(head).ok()?.into_iter().map(|e| e.column.to_string()).collect();
    names.dedup();
    Some(names)
}

/// Rows outside of the file are never named.
fn ask(index: &FileIndex, name: &str, data_type: &DataType, rows: u32) {
    for test in tests(&DataField::new(0, name, data_type.clone())) {
        if let Some(last) = index.rows(&test, rows).and_then(|found| found.max()) {
            assert!(last < rows, "{test:?} names row {last} of {rows}");
        }
    }
}
