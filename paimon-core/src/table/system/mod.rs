//! System tables: what metadata says about a table, as rows.
//!
//! Invariants: reading one changes nothing and reads no data file; times are local to the process, as Java shows them.
//! Source: system-tables sheet; `table/system/`.

mod file_indexes;
mod files;
mod index_files;
mod marks;
mod metadata;
mod places;
mod rows;
mod statistics;

pub(crate) use places::{PartitionCount, partition_counts};
pub(crate) use rows::{longs, schema, texts};

use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;

use super::Table;
use crate::error::Result;

/// A system table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SystemTable {
    /// `$snapshots`: the snapshots that exist.
    Snapshots,
    /// `$schemas`: the schema versions.
    Schemas,
    /// `$options`: the options of the latest schema.
    Options,
    /// `$tags`: the tags.
    Tags,
    /// `$aggregation_fields`: the columns of the latest schema with their aggregates.
    AggregationFields,
    /// `$files`: the live data files of the snapshot that is read.
    Files,
    /// `$file_key_ranges`: the live data files with their key ranges, of the snapshot that is read.
    FileKeyRanges,
    /// `$file_indexes`: the indexes of the live data files of the snapshot that is read.
    FileIndexes,
    /// `$manifests`: the manifests of the snapshot that is read.
    Manifests,
    /// `$partitions`: the partitions that have files in the snapshot that is read.
    Partitions,
    /// `$buckets`: the buckets that have files now.
    Buckets,
    /// `$table_indexes`: the index files of the snapshot that is read.
    TableIndexes,
    /// `$statistics`: the statistics that the snapshot that is read names.
    Statistics,
    /// `$branches`: the branches beside main.
    Branches,
    /// `$consumers`: how far streams have read.
    Consumers,
}

impl SystemTable {
    /// All system tables.
    pub const ALL: [Self; 15] = [
        Self::AggregationFields,
        Self::Branches,
        Self::Buckets,
        Self::Consumers,
        Self::FileIndexes,
        Self::FileKeyRanges,
        Self::Files,
        Self::Manifests,
        Self::Options,
        Self::Partitions,
        Self::Schemas,
        Self::Snapshots,
        Self::Statistics,
        Self::TableIndexes,
        Self::Tags,
    ];

    /// The name behind the `$`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Snapshots => "snapshots",
            Self::Schemas => "schemas",
            Self::Options => "options",
            Self::Tags => "tags",
            Self::AggregationFields => "aggregation_fields",
            Self::Files => "files",
            Self::FileIndexes => "file_indexes",
            Self::FileKeyRanges => "file_key_ranges",
            Self::Manifests => "manifests",
            Self::Partitions => "partitions",
            Self::Buckets => "buckets",
            Self::TableIndexes => "table_indexes",
            Self::Statistics => "statistics",
            Self::Branches => "branches",
            Self::Consumers => "consumers",
        }
    }

    /// The system table of this name, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name().eq_ignore_ascii_case(name))
    }

    /// Whether it shows the snapshot that a read selects; others always show what is there now.
    pub fn travels(self) -> bool {
        match self {
            Self::Files | Self::FileIndexes | Self::FileKeyRanges | Self::Manifests => true,
            Self::Partitions | Self::TableIndexes | Self::Statistics => true,
            // Java always shows the buckets of the latest snapshot.
            Self::Snapshots | Self::Schemas | Self::Options | Self::Tags | Self::AggregationFields => false,
            Self::Buckets | Self::Branches | Self::Consumers => false,
        }
    }

    /// Its columns.
    pub fn schema(self) -> SchemaRef {
        match self {
            Self::Snapshots => metadata::snapshots_schema(),
            Self::Schemas => metadata::schemas_schema(),
            Self::Options => metadata::options_schema(),
            Self::Tags => metadata::tags_schema(),
            Self::AggregationFields => metadata::aggregation_fields_schema(),
            Self::Files => files::files_schema(),
            Self::FileIndexes => file_indexes::file_indexes_schema(),
            Self::FileKeyRanges => files::key_ranges_schema(),
            Self::Manifests => files::manifests_schema(),
            Self::Partitions => places::partitions_schema(),
            Self::Buckets => places::buckets_schema(),
            Self::TableIndexes => index_files::table_indexes_schema(),
            Self::Statistics => statistics::statistics_schema(),
            Self::Branches => marks::branches_schema(),
            Self::Consumers => marks::consumers_schema(),
        }
    }

    /// All its rows, in one batch.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`, naming the file.
    pub async fn read(self, table: &Table) -> Result<RecordBatch> {
        match self {
            Self::Snapshots => metadata::snapshots(table).await,
            Self::Schemas => metadata::schemas(table).await,
            Self::Options => metadata::options(table).await,
            Self::Tags => metadata::tags(table).await,
            Self::AggregationFields => metadata::aggregation_fields(table).await,
            Self::Files => files::files(table).await,
            Self::FileIndexes => file_indexes::file_indexes(table).await,
            Self::FileKeyRanges => files::key_ranges(table).await,
            Self::Manifests => files::manifests(table).await,
            Self::Partitions => places::partitions(table).await,
            Self::Buckets => places::buckets(table).await,
            Self::TableIndexes => index_files::table_indexes(table).await,
            Self::Statistics => statistics::statistics(table).await,
            Self::Branches => marks::branches(table).await,
            Self::Consumers => marks::consumers(table).await,
        }
    }
}

#[cfg(test)]
mod tests;
