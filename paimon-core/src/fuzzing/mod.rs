//! One entry per decoder of bytes from disk: for fuzzers, and for the test that damages known files.
//!
//! Invariants: an entry takes any bytes and gives nothing back; it panics only if a decoder is wrong. Built for tests and
//! with the feature `fuzzing`, never for users.

mod data_files;
mod metadata;
#[cfg(test)]
mod mutations;
mod rows;
mod seeds;
#[cfg(test)]
mod tests;
pub(crate) mod values;

use crate::error::{ErrorKind, Result};
use crate::format::BREAKS_THE_FORMAT;

/// A decoder that can be given any bytes.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// What it decodes.
    pub name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
}

impl Target {
    /// Decodes.
    ///
    /// # Panics
    /// If the decoder is wrong: it panics, calls damage an internal error, or does not read what it writes.
    pub fn run(&self, bytes: &[u8]) {
        (self.run)(bytes);
    }

    /// Inputs to start from: what Java wrote, and what was found before.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let mut seeds = (self.seeds)();
        seeds.extend(seeds::found(self.name));
        seeds
    }
}

macro_rules! targets {
    ($($name:literal => $run:path, $seeds:expr;)*) => { [$(Target { name: $name, run: $run, seeds: $seeds }),*] };
}

/// Every decoder.
pub const TARGETS: [Target; 17] = targets! {
    "snapshot" => metadata::snapshot, || seeds::files("", "snapshot-");
    "schema" => metadata::schema, || seeds::files("", "schema-");
    "manifest_list" => metadata::manifest_list, seeds::manifest_lists;
    "manifest" => metadata::manifest, seeds::manifests;
    "index_manifest" => metadata::index_manifest, seeds::index_manifests;
    "binary_row" => rows::binary_row, seeds::binary_rows;
    "statistics" => rows::statistics, seeds::statistics;
    "split" => rows::split, || seeds::files("splits", "");
    "deletion_vector" => rows::deletion_vector, seeds::deletion_vectors;
    "file_index" => rows::file_index, seeds::file_indexes;
    "bloom_filter" => rows::bloom_filter, || seeds::index_blobs("bloom-filter");
    "bitmap" => rows::bitmap, || seeds::index_blobs("bitmap");
    "bit_slices" => rows::bit_slices, || seeds::index_blobs("bsi");
    "range_bitmap" => rows::range_bitmap, || seeds::index_blobs("range-bitmap");
    "parquet" => data_files::parquet, data_files::parquet_seeds;
    "orc" => data_files::orc, data_files::orc_seeds;
    "avro" => data_files::avro, data_files::avro_seeds;
};

/// What was decoded. Damage is no fault of a decoder, but an error that blames this crate is, and so is a panic of our own
/// code that a reader caught.
#[track_caller]
fn decoded<T>(outcome: Result<T>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(error) => {
            let is_ours = error.kind() == ErrorKind::Internal || error.message().ends_with(BREAKS_THE_FORMAT);
            assert!(!is_ours, "{error}");
            None
        }
    }
}
