//! Paimon's binary row: the bytes of partitions, keys and statistics in metadata, and the hash that assigns buckets.
//!
//! Pure bytes: no I/O. Source: binary-row chapter of the specification; `data/BinaryRow.java`.

mod binary_row;

pub use binary_row::{BinaryRow, NullLayout};
