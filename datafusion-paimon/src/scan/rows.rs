//! Rows of a file that the engine's Parquet source reads: chosen by the core when the file is opened, handed over as a
//! row selection, or marked (`living.rs`).
//!
//! Invariants: planning reads no deletion vector, so its cost does not grow with them; a file of which rows must be chosen
//! is never opened without the choice. Source: engine sheet section 5.

use std::sync::Arc;

use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetRowSelection;
use datafusion::error::Result;
use datafusion_datasource::morsel::{MorselPlan, MorselPlanner, Morselizer};
use paimon_core::Table;
use paimon_core::predicate::Predicate;
use paimon_core::read::FileRows;
use paimon_core::row_selection::RowSelection;
use paimon_core::scan::DeletionFile;
use paimon_core::spec::DataFileMeta;
use paimon_core::storage::FileIO;
use parquet::arrow::arrow_reader::RowSelector;
use tokio::runtime::Handle;

use super::faults::NamingMorselizer;
use super::living::{Living, is_short};
use crate::blocking;
use crate::error::to_datafusion;

/// What rows of a file are chosen by; an extension of the file.
#[derive(Debug)]
pub(crate) struct ChosenBy {
    pub(crate) bucket_dir: String,
    pub(crate) file: Arc<DataFileMeta>,
    pub(crate) deletion: Option<DeletionFile>,
}

/// Chooses rows of the files of one scan.
#[derive(Debug, Clone)]
pub(crate) struct RowChoice {
    rows: FileRows,
    filter: Option<Predicate>,
    io: FileIO,
    handle: Handle,
}

impl RowChoice {
    /// For files of this table, and a filter that rows may be left out by.
    pub(crate) fn new(table: &Table, filter: Option<Predicate>, handle: Handle) -> Self {
        Self { rows: FileRows::new(table), filter, io: table.io().clone(), handle }
    }

    /// Whether rows of a file that do not pass the filter may be left out.
    pub(crate) fn filters(&self, file: &DataFileMeta) -> bool {
        self.filter.is_some() && self.rows.has_index(file)
    }

    /// Opens files with their rows chosen, and names what is wrong with them.
    ///
    /// Rows that are not chosen are skipped, or may be marked in this column.
    pub(crate) fn wrap(&self, inner: Box<dyn Morselizer>, marks_in: Option<usize>) -> Box<dyn Morselizer> {
        let inner = Box::new(ChoosingMorselizer { inner: Arc::from(inner), choice: self.clone(), marks_in });
        Box::new(NamingMorselizer { inner, io: self.io.clone(), handle: self.handle.clone() })
    }

    async fn of(&self, by: Arc<ChosenBy>) -> Result<Option<RowSelection>> {
        let (rows, filter) = (self.rows.clone(), self.filter.clone());
        let work = async move { rows.of(&by.bucket_dir, &by.file, by.deletion.as_ref(), filter.as_ref()).await };
        blocking::on(&self.handle, work).await?.map_err(to_datafusion)
    }
}

#[derive(Debug)]
struct ChoosingMorselizer {
    inner: Arc<dyn Morselizer>,
    choice: RowChoice,
    marks_in: Option<usize>,
}

impl Morselizer for ChoosingMorselizer {
    fn plan_file(&self, file: PartitionedFile) -> Result<Box<dyn MorselPlanner>> {
        match file.extensions.get_arc::<ChosenBy>() {
            None => self.inner.plan_file(file),
            Some(by) => {
                let (inner, choice) = (Arc::clone(&self.inner), self.choice.clone());
                // What an index leaves out may be whole pages.
                let marks_in = self.marks_in.filter(|_| !choice.filters(&by.file));
                Ok(Box::new(ChoosingPlanner { inner, choice, file, by, marks_in }))
            }
        }
    }
}

/// A file whose rows are to be chosen.
#[derive(Debug)]
struct ChoosingPlanner {
    inner: Arc<dyn Morselizer>,
    choice: RowChoice,
    file: PartitionedFile,
    by: Arc<ChosenBy>,
    marks_in: Option<usize>,
}

impl MorselPlanner for ChoosingPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let Self { inner, choice, file, by, marks_in } = *self;
        let open = async move {
            match (choice.of(by).await?, marks_in) {
                (None, _) => inner.plan_file(file),
                (Some(rows), _) if rows.is_empty() => Ok(Box::new(NoRows) as Box<dyn MorselPlanner>),
                (Some(rows), Some(column)) if is_short(&rows) => {
                    Ok(Living { mask: rows.into_mask(), column }.wrap(inner.plan_file(file)?))
                }
                (Some(rows), _) => inner.plan_file(file.with_extension(engine_selection(&rows))),
            }
        };
        Ok(Some(MorselPlan::new().with_pending_planner(open)))
    }
}

/// A file of which nothing is read.
#[derive(Debug)]
struct NoRows;

impl MorselPlanner for NoRows {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        Ok(None)
    }
}

fn engine_selection(rows: &RowSelection) -> ParquetRowSelection {
    let selector = |(count, chosen)| if chosen { RowSelector::select(count) } else { RowSelector::skip(count) };
    ParquetRowSelection::new(rows.runs().map(selector).collect::<Vec<_>>().into())
}
