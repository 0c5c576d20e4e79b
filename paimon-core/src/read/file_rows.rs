//! Which rows of a file are read: those that its deletion vector leaves and its indexes do not rule out.
//!
//! Invariants: a deletion vector that cannot be read is an error; an index that cannot be read says nothing.
//! Source: read-path sheet section 7, deletion-vector sheet section 3; `io/FileIndexEvaluator.java`.

use crate::deletion;
use crate::error::Result;
use crate::index;
use crate::meta::TablePaths;
use crate::predicate::Predicate;
use crate::row_selection::RowSelection;
use crate::scan::DeletionFile;
use crate::spec::DataFileMeta;
use crate::table::Table;

/// Chooses rows of the files of one table.
#[derive(Debug, Clone)]
pub struct FileRows {
    table: Table,
    use_index: bool,
}

impl FileRows {
    /// For the files of this table.
    pub fn new(table: &Table) -> Self {
        Self { table: table.clone(), use_index: index::is_enabled(table.options()) }
    }

    /// Whether rows of a file that do not pass a filter may be left out.
    pub fn has_index(&self, file: &DataFileMeta) -> bool {
        self.use_index && index::has_index(file)
    }

    /// The rows of a file of this bucket that are to be read, `None` for all of them. With a filter, over the columns of
    /// the table, rows that do not pass it may be left out.
    ///
    /// # Errors
    /// `Corrupt`, `NotFound(File)` or `Storage` naming the file of the deletion vector.
    pub async fn of(
        &self,
        bucket_dir: &str,
        file: &DataFileMeta,
        deletion: Option<&DeletionFile>,
        filter: Option<&Predicate>,
    ) -> Result<Option<RowSelection>> {
        let matching = match filter {
            Some(filter) if self.has_index(file) => self.matching(bucket_dir, file, filter).await?,
            _ => None,
        };
        if matching.as_ref().is_some_and(RowSelection::is_empty) {
            return Ok(matching);
        }
        let Some(vector) = deletion else { return Ok(matching) };
        let live = deletion::load(self.table.io(), self.table.paths(), vector, file.row_count).await?;
        match matching {
            Some(matching) => live.and(&matching).map(Some),
            None => Ok(Some(live)),
        }
    }

    async fn matching(&self, dir: &str, file: &DataFileMeta, filter: &Predicate) -> Result<Option<RowSelection>> {
        let path = TablePaths::data_file(dir, file);
        let schema = match self.table.schema() {
            schema if schema.id == file.schema_id => schema.clone(),
            _ => self.table.schemas().get(file.schema_id).await?,
        };
        Ok(index::rows(self.table.io(), &path, file, &schema, filter).await)
    }
}
