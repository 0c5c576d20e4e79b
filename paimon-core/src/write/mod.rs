//! From batches to files: normalising, routing to buckets, buffering, and the messages for the committer.

mod bucket_writer;
mod kinds;
mod lengths;
mod normalize;
mod ranges;
mod restore;
mod route;
mod supported;
mod table_write;

pub use table_write::TableWrite;

#[cfg(test)]
mod tests;
