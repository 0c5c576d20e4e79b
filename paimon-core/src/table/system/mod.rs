//! System tables: what metadata says about a table, as rows.
//!
//! Invariants: reading one changes nothing and reads no data file; times are local to the process, as Java shows them.
//! Source: system-tables sheet; `table/system/`.

mod files;
mod metadata;
mod rows;

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
    /// `$manifests`: the manifests of the snapshot that is read.
    Manifests,
}

impl SystemTable {
    /// All system tables.
    pub const ALL: [Self; 7] = [
        Self::AggregationFields,
        Self::Files,
        Self::Manifests,
        Self::Options,
        Self::Schemas,
        Self::Snapshots,
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
            Self::Manifests => "manifests",
        }
    }

    /// The system table of this name, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|table| table.name().eq_ignore_ascii_case(name))
    }

    /// Whether it shows the snapshot that a read selects; others always show what is there now.
    pub fn travels(self) -> bool {
        matches!(self, Self::Files | Self::Manifests)
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
            Self::Manifests => files::manifests_schema(),
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
            Self::Manifests => files::manifests(table).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_any_case() {
        assert_eq!(SystemTable::by_name("Snapshots"), Some(SystemTable::Snapshots));
        assert_eq!(SystemTable::by_name("bogus"), None);
        for table in SystemTable::ALL {
            assert_eq!(SystemTable::by_name(table.name()), Some(table));
        }
    }
}
