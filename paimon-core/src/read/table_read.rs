//! Reads splits.

use arrow::datatypes::SchemaRef;

use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::predicate::Predicate;
use crate::runtime::Resources;
use crate::scan::Split;
use crate::table::Table;
use crate::types::to_arrow_schema;

/// Reads splits as batches of the projected columns.
#[derive(Debug, Clone)]
pub struct TableRead {
    table: Table,
    projection: Vec<usize>,
    filter: Option<Predicate>,
    row_kind: bool,
    resources: Resources,
}

impl TableRead {
    /// A read of the columns at these positions of the table's schema, in this order. Rows that are returned pass `filter`
    /// exactly. With `row_kind` a first column `rowkind` (Utf8, NOT NULL) carries the kind.
    pub fn new(
        table: Table,
        projection: Vec<usize>,
        filter: Option<Predicate>,
        row_kind: bool,
        resources: Resources,
    ) -> Self {
        Self { table, projection, filter, row_kind, resources }
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        let _ = self.row_kind;
        to_arrow_schema(&self.table.schema().row_type().project(&self.projection))
    }

    /// Reads splits concurrently, a bounded number at a time; order within a split is file order, or key order if merged.
    ///
    /// # Errors
    /// `Unsupported` before any byte is read; later `Corrupt`, `NotFound(File)`, `Storage` or `MemoryExhausted` from the stream.
    pub fn to_arrow(&self, splits: &[Split]) -> Result<BatchStream> {
        let _ = (splits, &self.filter, &self.resources);
        Err(Error::unsupported("reading"))
    }

    /// Reads one split.
    ///
    /// # Errors
    /// As [`TableRead::to_arrow`].
    pub fn read_split(&self, split: &Split) -> Result<BatchStream> {
        let _ = split;
        Err(Error::unsupported("reading"))
    }
}
