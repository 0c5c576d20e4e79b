//! A table and the builders that start every piece of work on it.

mod compact_builder;
mod inspect;
mod read_builder;
mod system;
mod table;
mod write_builder;

pub use compact_builder::{CompactBuilder, CompactMetrics};
pub use inspect::PartitionStat;
pub use read_builder::ReadBuilder;
pub use system::SystemTable;
pub(crate) use system::{PartitionCount, longs, partition_counts, schema, texts};
pub use table::Table;
pub use write_builder::WriteBuilder;
