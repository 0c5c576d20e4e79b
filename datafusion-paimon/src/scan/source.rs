//! The engine's Parquet source with rows that the core chooses, and what EXPLAIN shows of our planning.
//!
//! Invariants: everything else is the engine's own. No filter over floating point columns reaches it: bounds in Parquet files
//! leave NaN out, which is above every number for the engine, so pruning by them loses rows. No filter over nested columns
//! does: the engine takes one on and then drops it in files that lack another of its columns, which gives rows that do not pass.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, Schema, SchemaRef};
use datafusion::common::config::{ConfigOptions, TableParquetOptions};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileOpener, FileScanConfig, FileSource, ParquetSource};
use datafusion::datasource::table_schema::TableSchema;
use datafusion::error::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{EquivalenceProperties, LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::filter_pushdown::{FilterPushdownPropagation, PushedDown};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{DisplayFormatType, SortOrderPushdownResult};
use datafusion_datasource::morsel::Morselizer;
use object_store::ObjectStore;

use super::explain::ScanInfo;
use super::living;
use super::rows::RowChoice;

/// A Parquet source of files that need no merge.
#[derive(Clone)]
pub(crate) struct PaimonParquetSource {
    inner: Arc<dyn FileSource>,
    info: Arc<ScanInfo>,
    rows: RowChoice,
}

impl PaimonParquetSource {
    pub(crate) fn new(inner: ParquetSource, info: Arc<ScanInfo>, rows: RowChoice) -> Self {
        info.report(FileSource::metrics(&inner));
        Self { inner: Arc::new(inner), info, rows }
    }

    /// The same source with these columns of its projection, which are text, as views; `None` if they are used otherwise too
    /// or do not come from files.
    ///
    /// # Errors
    /// Those of the engine.
    pub(super) fn with_views(&self, columns: &[usize]) -> Result<Option<Self>> {
        let (Some(inner), Some(projection)) = (self.inner.downcast_ref::<ParquetSource>(), self.inner.projection())
        else {
            return Ok(None);
        };
        let old = inner.table_schema();
        let mut fields = old.file_schema().fields().to_vec();
        for column in columns {
            let mut others = projection.as_ref().iter().enumerate().filter(|(i, _)| i != column).map(|(_, p)| &p.expr);
            let Some(found) = projection.as_ref().get(*column).and_then(|p| p.expr.downcast_ref::<Column>()) else {
                return Ok(None);
            };
            let reads = |expr: &Arc<dyn PhysicalExpr>| collect_columns(expr).iter().any(|c| c.name() == found.name());
            if others.any(reads) || inner.filter().is_some_and(|filter| reads(&filter)) {
                return Ok(None);
            }
            let Some(field) = fields.get_mut(found.index()).filter(|field| field.data_type() == &DataType::Utf8) else {
                return Ok(None);
            };
            *field = Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View));
        }
        let file_schema = Schema::new_with_metadata(fields, old.file_schema().metadata().clone());
        let schema = TableSchema::builder(Arc::new(file_schema))
            .with_table_partition_cols(old.table_partition_cols().clone())
            .with_virtual_columns(old.virtual_columns().clone())
            .build();
        let changed =
            parquet_source(schema, inner.table_parquet_options(), inner.parquet_file_reader_factory().cloned());
        let changed = match inner.filter() {
            Some(filter) => changed.with_predicate(filter),
            None => changed,
        };
        let Some(changed) = changed.try_pushdown_projection(projection)? else { return Ok(None) };
        self.info.report(changed.metrics());
        Ok(Some(Self { inner: changed, info: Arc::clone(&self.info), rows: self.rows.clone() }))
    }

    fn wrap(&self, inner: Arc<dyn FileSource>) -> Arc<dyn FileSource> {
        Arc::new(Self { inner, info: Arc::clone(&self.info), rows: self.rows.clone() })
    }
}

/// The engine's source with the options of a session.
pub(super) fn parquet_source(
    schema: TableSchema,
    options: &TableParquetOptions,
    readers: Option<Arc<dyn ParquetFileReaderFactory>>,
) -> ParquetSource {
    let mut source = ParquetSource::new(schema).with_table_parquet_options(options.clone());
    if let Some(readers) = readers {
        source = source.with_parquet_file_reader_factory(readers);
    }
    match options.global.metadata_size_hint {
        Some(hint) => source.with_metadata_size_hint(hint),
        None => source,
    }
}

/// Whether the engine's source may see a filter that reads these columns.
pub(super) fn is_safe<'a>(mut columns: impl Iterator<Item = &'a str>, schema: &SchemaRef) -> bool {
    let is_unsafe = |data_type: &DataType| data_type.is_floating() || data_type.is_nested();
    !columns.any(|name| schema.field_with_name(name).is_ok_and(|field| is_unsafe(field.data_type())))
}

impl FileSource for PaimonParquetSource {
    fn create_file_opener(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Arc<dyn FileOpener>> {
        self.inner.create_file_opener(store, config, partition)
    }

    fn create_morselizer(
        &self,
        store: Arc<dyn ObjectStore>,
        config: &FileScanConfig,
        partition: usize,
    ) -> Result<Box<dyn Morselizer>> {
        let marks_in = living::place(self.inner.projection(), self.table_schema());
        Ok(self.rows.wrap(self.inner.create_morselizer(store, config, partition)?, marks_in))
    }

    fn table_schema(&self) -> &TableSchema {
        self.inner.table_schema()
    }

    fn with_batch_size(&self, batch_size: usize) -> Arc<dyn FileSource> {
        self.wrap(self.inner.with_batch_size(batch_size))
    }

    fn filter(&self) -> Option<Arc<dyn PhysicalExpr>> {
        self.inner.filter()
    }

    fn projection(&self) -> Option<&ProjectionExprs> {
        self.inner.projection()
    }

    fn metrics(&self) -> &ExecutionPlanMetricsSet {
        self.inner.metrics()
    }

    fn file_type(&self) -> &str {
        self.inner.file_type()
    }

    fn fmt_extra(&self, format: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match format {
            DisplayFormatType::Default | DisplayFormatType::Verbose => write!(f, ", {}", self.info)?,
            DisplayFormatType::TreeRender => writeln!(f, "{}", self.info)?,
        }
        self.inner.fmt_extra(format, f)
    }

    fn supports_repartitioning(&self) -> bool {
        self.inner.supports_repartitioning()
    }

    fn repartitioned(
        &self,
        target_partitions: usize,
        min_size: usize,
        ordering: Option<LexOrdering>,
        config: &FileScanConfig,
    ) -> Result<Option<FileScanConfig>> {
        self.inner.repartitioned(target_partitions, min_size, ordering, config)
    }

    fn try_pushdown_filters(
        &self,
        filters: Vec<Arc<dyn PhysicalExpr>>,
        config: &ConfigOptions,
    ) -> Result<FilterPushdownPropagation<Arc<dyn FileSource>>> {
        let schema = self.table_schema().table_schema();
        let is_safe = |filter| is_safe(collect_columns(filter).iter().map(Column::name), schema);
        let safe: Vec<bool> = filters.iter().map(is_safe).collect();
        let kept = filters.into_iter().zip(&safe).filter(|(_, safe)| **safe).map(|(filter, _)| filter).collect();
        let mut pushed = self.inner.try_pushdown_filters(kept, config)?;
        let mut answers = pushed.filters.into_iter();
        let answer = |safe| if safe { answers.next().unwrap_or(PushedDown::No) } else { PushedDown::No };
        pushed.filters = safe.into_iter().map(answer).collect();
        pushed.updated_node = pushed.updated_node.map(|inner| self.wrap(inner));
        Ok(pushed)
    }

    fn try_pushdown_sort(
        &self,
        order: &[PhysicalSortExpr],
        equivalences: &EquivalenceProperties,
    ) -> Result<SortOrderPushdownResult<Arc<dyn FileSource>>> {
        Ok(match self.inner.try_pushdown_sort(order, equivalences)? {
            SortOrderPushdownResult::Exact { inner } => SortOrderPushdownResult::Exact { inner: self.wrap(inner) },
            SortOrderPushdownResult::Inexact { inner } => SortOrderPushdownResult::Inexact { inner: self.wrap(inner) },
            SortOrderPushdownResult::Unsupported => SortOrderPushdownResult::Unsupported,
        })
    }

    fn reorder_files(&self, files: Vec<PartitionedFile>) -> Vec<PartitionedFile> {
        self.inner.reorder_files(files)
    }

    fn try_pushdown_projection(&self, projection: &ProjectionExprs) -> Result<Option<Arc<dyn FileSource>>> {
        Ok(self.inner.try_pushdown_projection(projection)?.map(|inner| self.wrap(inner)))
    }

    fn apply_expressions(
        &self,
        visit: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.inner.apply_expressions(visit)
    }
}
