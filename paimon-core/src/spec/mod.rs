//! On-disk metadata: the structs, their bytes both ways, and the rules between them. No I/O.
//!
//! Source: specification chapters "Snapshot", "Manifest", "Table Schema".

pub(crate) mod avro;
mod bucket;
mod change;
mod check;
mod commit_message;
mod data_file;
mod field_ids;
mod file_name;
mod file_row;
mod index_manifest;
mod java_bytes;
mod manifest_entry;
mod manifest_list;
mod manifest_summary;
mod message_bytes;
mod other_options;
mod schema;
mod schema_change;
mod snapshot;
mod stats;
mod support;
mod table_options;
mod table_schema;

pub use bucket::{assign_buckets, bucket_of};
pub(crate) use change::options_of_then;
pub use change::{FIXED_FOR_USE, IMMUTABLE_OPTIONS, check_dynamic_options};
pub use check::check_format_names;
pub use commit_message::{CommitMessage, CompactIncrement, DataIncrement};
pub(crate) use data_file::saturating_sum;
pub use data_file::{DataFileMeta, FileSource};
pub(crate) use file_row::FILE_ROW_FIELDS;
pub(crate) use index_manifest::encode_index_manifest;
pub use index_manifest::{DeletionVectorRange, GlobalIndexMeta, IndexManifestEntry, decode_index_manifest};
pub(crate) use java_bytes::{JavaReader, JavaWriter};
pub(crate) use manifest_entry::ManifestWriter;
pub use manifest_entry::{EntryKind, FileIdentity, ManifestEntry, decode_manifest};
pub(crate) use manifest_list::encode_manifest_list;
pub use manifest_list::{ManifestFileMeta, decode_manifest_list};
pub(crate) use manifest_summary::ManifestSummary;
pub use schema::{Schema, SchemaBuilder};
pub use schema_change::{ColumnMove, SchemaChange};
pub use snapshot::{CommitKind, Snapshot};
pub use stats::SimpleStats;
pub use support::{check_compactable, check_file_readable, check_readable, check_writable};
pub use table_options::*;
pub use table_schema::TableSchema;
