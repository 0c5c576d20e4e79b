//! One data file: reading it as rows of the table's schema, writing it with statistics and its metadata.
//!
//! A *key-value batch* is how rows of primary-key tables travel through this crate: `_SEQUENCE_NUMBER` (Int64),
//! `_VALUE_KIND` (Int8), then columns of the table. Files also hold `_KEY_*` copies of the key columns: the writer adds
//! them, the reader never reads them.

pub(crate) mod cast;
mod column_map;
mod file_filter;
mod file_meta;
mod level_options;
mod reader;
mod rolling;
mod stats;

pub(crate) use file_filter::devolve;
pub use reader::{DataFileReader, FileRequest, key_value_fields, missing_data_file};
pub use rolling::{FileLayout, RollingWriter, WriterConfig};

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
