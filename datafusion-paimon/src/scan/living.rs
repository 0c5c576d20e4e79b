//! Rows that deletion vectors delete, marked instead of skipped.
//!
//! Where few rows in a row are left or deleted, a row selection costs more than it saves. Then a scan has one more column, the
//! position of the row in its file, which is null for deleted rows, and a filter above takes those out; the engine merges
//! that filter with those of the query, so that rows are copied once.
//!
//! Invariants: the filter stands above every scan that has the column; only a scan of ours marks. Source: engine sheet section 5.

use std::fmt;
use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use datafusion::arrow::buffer::{BooleanBuffer, NullBuffer};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Int64Type};
use datafusion::common::internal_datafusion_err;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::{Column, IsNotNullExpr};
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::filter::{FilterExec, FilterExecBuilder};
use datafusion_datasource::morsel::{Morsel, MorselPlan, MorselPlanner};
use futures::StreamExt;
use futures::stream::BoxStream;
use paimon_core::row_selection::RowSelection;
use paimon_core::scan::DeletionFile;
use parquet::arrow::RowNumber;

/// The name of the column.
pub(super) const ROW: &str = "__paimon_row_in_file";
/// Runs of fewer rows than this, on average, are marked.
const SHORT_RUN: usize = 64;

/// The column, as the engine's Parquet source makes it.
pub(super) static ROW_FIELD: LazyLock<FieldRef> =
    LazyLock::new(|| Arc::new(Field::new(ROW, DataType::Int64, true).with_extension_type(RowNumber)));

/// Whether the rows of a file that a vector leaves may come in short runs.
pub(super) fn may_be_short(deletion: &DeletionFile, rows: i64) -> bool {
    // A deleted row makes up to two runs.
    let shortest = i64::try_from(2 * SHORT_RUN).unwrap_or(i64::MAX);
    deletion.cardinality.is_none_or(|deleted| deleted.saturating_mul(shortest) > rows)
}

/// Whether rows come in short runs.
pub(super) fn is_short(rows: &RowSelection) -> bool {
    rows.run_count() > rows.len() / SHORT_RUN
}

/// Takes marked rows out, and the column that marks them, the last one.
///
/// # Errors
/// Those of the engine.
pub(super) fn without_marked(scan: Arc<dyn ExecutionPlan>, batch_rows: usize) -> Result<Arc<dyn ExecutionPlan>> {
    let row = scan.schema().index_of(ROW)?;
    let predicate = Arc::new(IsNotNullExpr::new(Arc::new(Column::new(ROW, row))));
    let filter: FilterExec = FilterExecBuilder::new(predicate, scan)
        .with_default_selectivity(100)
        .with_batch_size(batch_rows)
        .apply_projection(Some((0..row).collect()))?
        .build()?;
    Ok(Arc::new(filter))
}

/// Where the column is among what a scan gives; `None` if the source does not make it. A table may have a column of its name.
pub(super) fn place(projection: Option<&ProjectionExprs>, schema: &TableSchema) -> Option<usize> {
    if schema.virtual_columns().is_empty() {
        return None;
    }
    match projection {
        None => schema.table_schema().index_of(ROW).ok(),
        Some(projection) => projection
            .as_ref()
            .iter()
            .position(|projected| projected.expr.downcast_ref::<Column>().is_some_and(|column| column.name() == ROW)),
    }
}

/// The rows of one file that are left, and where they are marked.
#[derive(Debug, Clone)]
pub(super) struct Living {
    pub(super) mask: BooleanBuffer,
    pub(super) column: usize,
}

impl Living {
    /// Marks what is read of the file.
    pub(super) fn wrap(self, inner: Box<dyn MorselPlanner>) -> Box<dyn MorselPlanner> {
        Box::new(MarkingPlanner { inner, living: self })
    }

    fn mark(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.column(self.column).as_primitive_opt::<Int64Type>();
        let rows = rows.ok_or_else(|| internal_datafusion_err!("the position of a row in its file is no BIGINT"))?;
        let living = self.of(rows.values())?;
        let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
        columns[self.column] = Arc::new(Int64Array::try_new(rows.values().clone(), Some(NullBuffer::new(living)))?);
        Ok(RecordBatch::try_new(batch.schema(), columns)?)
    }

    /// One bit for each of these positions.
    fn of(&self, rows: &[i64]) -> Result<BooleanBuffer> {
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(BooleanBuffer::new_unset(0)) };
        let within = |row: i64| usize::try_from(row).ok().filter(|row| *row < self.mask.len());
        let (Some(start), Some(end)) = (within(*first), within(*last)) else {
            return Err(internal_datafusion_err!("a file has more than the {} rows of its metadata", self.mask.len()));
        };
        // Positions ascend; without a gap the bits are there already.
        if end + 1 - start == rows.len() {
            return Ok(self.mask.slice(start, rows.len()));
        }
        Ok(rows.iter().map(|row| within(*row).is_some_and(|row| self.mask.value(row))).collect())
    }
}

#[derive(Debug)]
struct MarkingPlanner {
    inner: Box<dyn MorselPlanner>,
    living: Living,
}

impl MorselPlanner for MarkingPlanner {
    fn plan(self: Box<Self>) -> Result<Option<MorselPlan>> {
        let Self { inner, living } = *self;
        let Some(mut plan) = inner.plan()? else { return Ok(None) };
        let morsels = plan.take_morsels().into_iter();
        let morsels = morsels.map(|inner| Box::new(MarkingMorsel { inner, living: living.clone() }) as Box<dyn Morsel>);
        let planners = plan.take_ready_planners().into_iter().map(|inner| living.clone().wrap(inner));
        let mut marking = MorselPlan::new().with_morsels(morsels.collect()).with_planners(planners.collect());
        if let Some(pending) = plan.take_pending_planner() {
            marking.set_pending_planner(async move { Ok(living.wrap(pending.await?)) });
        }
        Ok(Some(marking))
    }
}

struct MarkingMorsel {
    inner: Box<dyn Morsel>,
    living: Living,
}

impl fmt::Debug for MarkingMorsel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MarkingMorsel").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl Morsel for MarkingMorsel {
    fn into_stream(self: Box<Self>) -> BoxStream<'static, Result<RecordBatch>> {
        let Self { inner, living } = *self;
        inner.into_stream().map(move |batch| living.mark(&batch?)).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_find_their_bits() {
        let mask: BooleanBuffer = [true, false, true, true, false].into_iter().collect();
        let living = Living { mask, column: 0 };
        let of = |rows: &[i64]| living.of(rows).unwrap().iter().collect::<Vec<_>>();
        assert_eq!(of(&[]), Vec::<bool>::new());
        assert_eq!(of(&[1, 2, 3]), [false, true, true]);
        assert_eq!(of(&[0, 2, 4]), [true, true, false]);
        assert!(living.of(&[4, 5]).is_err());
    }

    #[test]
    fn short_runs() {
        let deletion = |cardinality| DeletionFile { path: String::new(), offset: 0, length: 0, cardinality };
        assert!(may_be_short(&deletion(None), 1_000));
        assert!(may_be_short(&deletion(Some(50)), 1_000));
        assert!(!may_be_short(&deletion(Some(5)), 1_000));
        let every = |step: u32| RowSelection::except(10_000, &(0..10_000 / step).map(|i| i * step).collect());
        assert!(is_short(&every(20)));
        assert!(!is_short(&every(1_000)));
        assert!(!is_short(&RowSelection::except(10_000, &(1_000..2_000).collect())));
    }
}
