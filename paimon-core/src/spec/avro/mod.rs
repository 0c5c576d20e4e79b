//! Avro object container files of manifests: written by hand, read by walking the writer's schema.
//!
//! Invariants: fields are found by name in the writer's schema, whatever their order and record names; a union with null
//! may stand around every field and around the top record; every length is checked against the bytes that are there, so
//! that damaged files are `Corrupt` without large allocations. Source: Avro specification 1.11; manifest sheet section 0.

mod container;
mod cursor;
mod encode;
mod names;
mod schemas;
mod shape;

pub(crate) use container::{AvroCompression, AvroWriter, decode_all};
pub(crate) use cursor::{Cursor, required, required_file_name};
pub(crate) use encode::{put_bytes, put_list, put_long, put_optional, put_text};
pub(crate) use names::FieldName;
pub(crate) use schemas::{INDEX_MANIFEST_SCHEMA, MANIFEST_LIST_SCHEMA, MANIFEST_SCHEMA};
pub(crate) use shape::Shape;

#[cfg(test)]
mod tests;
