//! On-disk metadata: the structs, their bytes both ways, and the rules between them. No I/O.
//!
//! Source: specification chapters "Snapshot", "Manifest", "Table Schema".

mod bucket;
mod commit_message;
mod data_file;
mod index_manifest;
mod manifest_entry;
mod manifest_list;
mod schema;
mod snapshot;
mod stats;
mod table_options;
mod table_schema;

pub use bucket::{assign_buckets, bucket_of};
pub use commit_message::{CommitMessage, CompactIncrement, DataIncrement};
pub use data_file::{DataFileMeta, FileSource};
pub use index_manifest::{DeletionVectorRange, GlobalIndexMeta, IndexManifestEntry};
pub use manifest_entry::{EntryKind, FileIdentity, ManifestEntry};
pub use manifest_list::ManifestFileMeta;
pub use schema::{Schema, SchemaBuilder};
pub use snapshot::{CommitKind, Snapshot};
pub use stats::SimpleStats;
pub use table_options::*;
pub use table_schema::TableSchema;
