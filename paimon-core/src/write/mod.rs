//! From batches to files: normalising, routing to buckets, buffering, and the messages for the committer.

mod table_write;

pub use table_write::TableWrite;
