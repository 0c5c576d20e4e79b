//! Paimon's binary row: the bytes of partitions, keys and statistics in metadata, and the hash that assigns buckets.
//!
//! Pure bytes: no I/O. Source: binary-row chapter of the specification; `data/BinaryRow.java`.

mod binary_row;
mod columns;
mod hash;
mod layout;
mod parts;
#[cfg(test)]
mod tests;

pub use binary_row::{BinaryRow, NullLayout};
pub use columns::{encode_columns, hash_columns};
pub use hash::hash;
pub(crate) use parts::{PartsReader, PartsWriter};
