//! Reads splits of a table.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;

use super::columns::{Columns, result_schema};
use super::parallel::read_all;
use super::split_read::SplitRead;
use crate::error::Result;
use crate::format::BatchStream;
use crate::predicate::Predicate;
use crate::runtime::Resources;
use crate::scan::{DeletionFile, SortedRun, Split, sections};
use crate::spec::{DataFileMeta, READ_BATCH_SIZE};
use crate::table::Table;
use crate::types::DataField;

/// More tasks per file than this mostly wait for each other.
const MOST_TASKS: usize = 4;

/// Reads splits as batches of the projected columns.
#[derive(Debug, Clone)]
pub struct TableRead {
    table: Table,
    projection: Vec<usize>,
    filter: Option<Predicate>,
    row_kind: bool,
    keep_deletes: bool,
    batch_rows: Option<usize>,
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
        Self { table, projection, filter, row_kind, keep_deletes: false, batch_rows: None, resources }
    }

    /// Whether rows of kind `-U` and `-D` that no newer row hides stay in the result, and rows of every split show the kinds
    /// that are stored.
    #[must_use]
    pub fn with_keep_deletes(mut self, keep_deletes: bool) -> Self {
        self.keep_deletes = keep_deletes;
        self
    }

    /// Batches of at most this many rows, instead of the table's option `read.batch-size`.
    #[must_use]
    pub fn with_batch_rows(mut self, rows: usize) -> Self {
        self.batch_rows = Some(rows.max(1));
        self
    }

    /// The schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        let fields = &self.table.schema().fields;
        let output: Vec<DataField> = self.projection.iter().filter_map(|&i| fields.get(i).cloned()).collect();
        result_schema(&output, self.row_kind)
    }

    /// Reads splits concurrently, a bounded number at a time; order within a split is file order, or key order if merged;
    /// batches of different splits come as they are ready. Needs a Tokio runtime. Dropping the stream ends the work.
    ///
    /// # Errors
    /// `InvalidInput` for a split of another table and `Unsupported`, before any byte is read; later `Corrupt`,
    /// `NotFound(File)`, `Storage` or `MemoryExhausted` from the stream.
    pub fn to_arrow(&self, splits: &[Split]) -> Result<BatchStream> {
        // Few splits leave room for more than one task each, and the last of many alone.
        let parallelism = self.resources.parallelism.max(1);
        let tasks = (2 * parallelism / splits.len().max(1)).min(parallelism).min(MOST_TASKS);
        let read = self.split_read(tasks.max(1))?;
        let streams = splits.iter().map(|split| read.read(split)).collect::<Result<Vec<_>>>()?;
        Ok(read_all(streams, self.resources.parallelism))
    }

    /// Reads one split. Needs a Tokio runtime if the split is merged.
    ///
    /// # Errors
    /// As [`TableRead::to_arrow`].
    pub fn read_split(&self, split: &Split) -> Result<BatchStream> {
        self.split_read(1)?.read(split)
    }

    /// The same work in as many pieces as there are sections of overlapping keys, in key order; a split that is not merged
    /// stays whole. The pieces may be read at the same time, each with as much memory as its own runs need.
    ///
    /// # Errors
    /// `Corrupt` for keys that cannot be decoded.
    pub fn cut(&self, split: &Split) -> Result<Vec<Split>> {
        let whole = split.rows.is_none() && split.before.is_none() && !split.fallback;
        if !whole || split.streaming || split.raw_convertible || split.files.len() < 2 {
            return Ok(vec![split.clone()]);
        }
        let sections = sections(split.files.clone(), &self.table.schema().key_type().types())?;
        let piece = |section: Vec<SortedRun>| {
            let files: Vec<Arc<DataFileMeta>> = section.into_iter().flat_map(|run| run.files).collect();
            // Raw splits show all rows as +I, but the split that is cut shows the kinds that are stored.
            let one_file = matches!(files.as_slice(), [only] if only.delete_row_count == Some(0));
            let raw_convertible = one_file && !self.row_kind;
            let deletion_files = deletion_files_of(split, &files);
            Split { files, deletion_files, raw_convertible, ..split.clone() }
        };
        Ok(sections.into_iter().map(piece).collect())
    }

    fn split_read(&self, tasks: usize) -> Result<Arc<SplitRead>> {
        let columns = Columns::try_new(self.table.schema(), &self.projection, self.filter.as_ref(), self.row_kind)?;
        let batch_rows = match self.batch_rows {
            Some(rows) => rows,
            None => self.table.options().value(&READ_BATCH_SIZE)?.max(1),
        };
        let (table, resources) = (self.table.clone(), self.resources.clone());
        Ok(Arc::new(SplitRead { table, columns, keep_deletes: self.keep_deletes, batch_rows, tasks, resources }))
    }
}

/// The deletion files of a split for some of its files.
fn deletion_files_of(split: &Split, files: &[Arc<DataFileMeta>]) -> Option<Vec<Option<DeletionFile>>> {
    let all = split.deletion_files.as_ref()?;
    let by_name: HashMap<&str, &Option<DeletionFile>> =
        split.files.iter().map(|f| f.file_name.as_str()).zip(all).collect();
    let vectors: Vec<_> = files.iter().map(|f| by_name.get(f.file_name.as_str()).copied().cloned().flatten()).collect();
    vectors.iter().any(Option::is_some).then_some(vectors)
}
