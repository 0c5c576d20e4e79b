//! Raw Parquet splits as scans of the engine's own Parquet source: pruning by row groups, pages and filters that come at
//! run time, late materialisation and its metadata cache.
//!
//! Invariants: files whose columns are at the same places share a scan; partition columns take their values from the
//! manifest, never from the file. Source: engine sheet section 5.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{FieldRef, Fields, Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema as EngineSchema;
use datafusion::error::Result;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_datasource::compute_all_files_statistics;
use object_store::ObjectMeta;
use object_store::path::Path;
use paimon_core::meta::TablePaths;
use paimon_core::row::BinaryRow;
use paimon_core::scan::{DeletionFile, Split};
use paimon_core::spec::{DataFileMeta, TableSchema};
use paimon_core::types::{DataType, arrow_type, to_arrow_field};
use paimon_core::{Error, Table};

use super::adapter::ColumnsById;
use super::balance::balance;
use super::columns::{FileColumn, file_columns};
use super::explain::ScanInfo;
use super::faults::FullPath;
use super::living;
use super::rows::{ChosenBy, RowChoice};
use super::source::{PaimonParquetSource, parquet_source};
use super::statistics::{FileStatistics, of_partition_value, without_deleted};
use super::store;
use crate::error::to_datafusion;
use crate::expr::to_scalar;

/// Files whose columns are at the same places.
#[derive(Debug)]
struct Family {
    schema: Arc<TableSchema>,
    columns: Vec<FileColumn>,
    files: Vec<PartitionedFile>,
    /// Whether deleted rows may be marked.
    marks: bool,
}

/// Collects raw Parquet files and makes scans of them.
#[derive(Debug)]
pub(crate) struct NativeScan<'a> {
    table: &'a Table,
    layout: Layout,
    /// Positions of the columns whose statistics may be asked for.
    projection: &'a [usize],
    schemas: &'a FileSchemas,
    rows: &'a RowChoice,
    family_of: HashMap<i64, usize>,
    families: Vec<Family>,
}

/// The schemas of the files of a plan, by id.
pub(crate) type FileSchemas = HashMap<i64, Arc<TableSchema>>;

/// The columns as the engine's source lays them out: those of files, then partition columns.
#[derive(Debug)]
struct Layout {
    schema: EngineSchema,
    /// Position in the layout, by position in the table.
    place: Vec<usize>,
    /// Positions in the table of the columns of files.
    in_file: Vec<usize>,
    partition: Vec<(FieldRef, DataType)>,
}

impl Layout {
    fn new(schema: &TableSchema) -> Self {
        let partition_positions = schema.partition_positions();
        let in_file: Vec<usize> = (0..schema.fields.len()).filter(|p| !partition_positions.contains(p)).collect();
        let mut place = vec![0; schema.fields.len()];
        for (to, from) in in_file.iter().chain(&partition_positions).enumerate() {
            place[*from] = to;
        }
        let field = |p: &usize| to_arrow_field(&schema.fields[*p]);
        let file_fields: Vec<FieldRef> = in_file.iter().map(field).collect();
        let partition: Vec<(FieldRef, DataType)> =
            partition_positions.iter().map(|p| (field(p), schema.fields[*p].data_type.clone())).collect();
        let partition_fields: Fields = partition.iter().map(|(field, _)| Arc::clone(field)).collect();
        let schema = EngineSchema::builder(Arc::new(Schema::new(file_fields)))
            .with_table_partition_cols(partition_fields)
            .build();
        Self { schema, place, in_file, partition }
    }

    /// Whether a column of the table has the name of the one that marks rows.
    fn has_row_column(&self) -> bool {
        self.schema.table_schema().fields().find(living::ROW).is_some()
    }

    /// The same with the column that marks rows, as the last one.
    fn with_rows(&self) -> EngineSchema {
        EngineSchema::builder(Arc::clone(self.schema.file_schema()))
            .with_table_partition_cols(self.schema.table_partition_cols().clone())
            .with_virtual_columns(Fields::from(vec![Arc::clone(&living::ROW_FIELD)]))
            .build()
    }
}

/// Whether the engine's Parquet source can read a split: no merge, every file Parquet.
pub(crate) fn is_native(split: &Split, has_primary_key: bool) -> bool {
    let whole = split.rows.is_none() && split.before.is_none() && !split.fallback;
    whole
        && split.raw_convertible
        && !(split.streaming && has_primary_key)
        && split.files.iter().all(|file| {
            file.format() == "parquet"
                && file.write_cols.is_none()
                // Files of old writers may hold deletes that they do not count.
                && (!has_primary_key || file.delete_row_count.is_some())
        })
}

impl<'a> NativeScan<'a> {
    pub(crate) fn new(
        table: &'a Table,
        schemas: &'a FileSchemas,
        projection: &'a [usize],
        rows: &'a RowChoice,
    ) -> Self {
        let layout = Layout::new(table.schema());
        Self { table, layout, projection, schemas, rows, family_of: HashMap::new(), families: Vec::new() }
    }

    /// Takes the files of a native split; gives `false` and takes nothing if a column needs the core.
    ///
    /// # Errors
    /// `Corrupt` if metadata of a file cannot be decoded.
    pub(crate) fn add(&mut self, split: &Split, needed: &[usize]) -> paimon_core::Result<bool> {
        let mut families = Vec::with_capacity(split.files.len());
        for file in &split.files {
            let family = self.family(file.schema_id)?;
            if needed
                .iter()
                .any(|p| self.layout.in_file.contains(p) && self.families[family].columns[*p] == FileColumn::Core)
            {
                return Ok(false);
            }
            families.push(family);
        }
        let partition = self.partition_values(&split.partition)?;
        for (i, (file, family)) in split.files.iter().zip(families).enumerate() {
            let deletion = split.deletion_files.as_ref().and_then(|files| files.get(i)?.clone());
            let location = TablePaths::data_file(&split.bucket_path, file);
            let path = store::object_path(self.table.io(), &location)?;
            let statistics = self.statistics(file, deletion.as_ref(), &partition, &self.families[family])?;
            let marks = deletion.as_ref().is_some_and(|d| living::may_be_short(d, file.row_count));
            // Counting alone goes by statistics, which a filter would spoil.
            self.families[family].marks |= marks && !self.projection.is_empty() && !self.layout.has_row_column();
            let chosen_by = (deletion.is_some() || self.rows.filters(file)).then(|| ChosenBy {
                bucket_dir: split.bucket_path.clone(),
                file: Arc::clone(file),
                deletion,
            });
            let file = partitioned_file(file, (location, path), partition.clone(), statistics, chosen_by);
            self.families[family].files.push(file);
        }
        Ok(true)
    }

    fn family(&mut self, schema_id: i64) -> paimon_core::Result<usize> {
        if let Some(family) = self.family_of.get(&schema_id) {
            return Ok(*family);
        }
        let Some(schema) = self.schemas.get(&schema_id) else {
            return Err(Error::internal(format!("schema {schema_id} was not loaded")));
        };
        let columns = file_columns(self.table.schema(), schema);
        // Schemas that differ in options only have the same columns.
        let same = self.families.iter().position(|f| f.columns == columns && f.schema.fields == schema.fields);
        let family = same.unwrap_or_else(|| {
            self.families.push(Family { schema: Arc::clone(schema), columns, files: Vec::new(), marks: false });
            self.families.len() - 1
        });
        self.family_of.insert(schema_id, family);
        Ok(family)
    }

    fn partition_values(&self, partition: &BinaryRow) -> paimon_core::Result<Vec<ScalarValue>> {
        let types: Vec<DataType> = self.layout.partition.iter().map(|(_, t)| t.clone()).collect();
        let values = partition.decode(&types)?;
        values.iter().zip(&types).map(|(value, t)| to_scalar(value.as_ref(), &arrow_type(t))).collect()
    }

    fn statistics(
        &self,
        file: &DataFileMeta,
        deletion: Option<&DeletionFile>,
        partition: &[ScalarValue],
        family: &Family,
    ) -> paimon_core::Result<Statistics> {
        let wanted = self.layout.in_file.iter().map(|p| {
            let asked = self.projection.contains(p);
            asked.then(|| (self.table.schema().fields[*p].data_type.clone(), family.columns[*p].clone()))
        });
        let mut statistics = FileStatistics::new(&family.schema, wanted.collect()).of(file)?;
        let rows = usize::try_from(file.row_count).unwrap_or(0);
        statistics.column_statistics.extend(partition.iter().map(|value| of_partition_value(value, rows)));
        if let Some(vector) = deletion {
            statistics = without_deleted(statistics, vector.cardinality, partition);
        }
        Ok(if self.rows.filters(file) { statistics.to_inexact() } else { statistics })
    }

    /// The scans of what was taken: one per family of files.
    ///
    /// # Errors
    /// Those of the engine.
    pub(crate) fn build(
        self,
        state: &dyn Session,
        request: &NativeRequest<'_>,
        info: &Arc<ScanInfo>,
    ) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        let fields = &self.table.schema().fields;
        let store = store::object_store(self.table.io(), self.table.location()).map_err(to_datafusion)?;
        let cache = state.runtime_env().cache_manager.get_file_metadata_cache();
        let readers = Arc::new(CachedParquetFileReaderFactory::new(store, cache));
        let options = state.default_table_options().parquet;
        let projection: Vec<usize> = self.projection.iter().map(|p| self.layout.place[*p]).collect();
        let mut plans = Vec::with_capacity(self.families.len());
        for family in self.families.into_iter().filter(|f| !f.files.is_empty()) {
            let (mut schema, mut projection, mut files) =
                (self.layout.schema.clone(), projection.clone(), family.files);
            if family.marks {
                schema = self.layout.with_rows();
                projection.push(schema.table_schema().fields().len() - 1);
                files.iter_mut().for_each(with_marked_rows);
            }
            let mut source = parquet_source(schema.clone(), &options, Some(Arc::clone(&readers) as _));
            if let Some(predicate) = &request.predicate {
                source = source.with_predicate(predicate(schema.table_schema())?);
            }
            let (groups, statistics) = groups(files, request.partitions, schema.table_schema())?;
            let adapter = Arc::new(ColumnsById::new(fields, &family.columns));
            // The store is in the reader factory: this URL is one that every engine has.
            let config = FileScanConfigBuilder::new(
                ObjectStoreUrl::local_filesystem(),
                Arc::new(PaimonParquetSource::new(source, Arc::clone(info), request.rows.clone())),
            )
            .with_file_groups(groups)
            .with_statistics(statistics)
            .with_projection_indices(Some(projection))?
            // Marked rows do not count.
            .with_limit(request.limit.filter(|_| !family.marks))
            .with_expr_adapter(Some(adapter))
            .build();
            let scan = DataSourceExec::from_data_source(config) as Arc<dyn ExecutionPlan>;
            plans.push(if family.marks { living::without_marked(scan, state.config().batch_size())? } else { scan });
        }
        Ok(plans)
    }
}

/// A predicate over the columns in the order of the source.
pub(crate) type PredicateOver<'a> = dyn Fn(&SchemaRef) -> Result<Arc<dyn PhysicalExpr>> + Send + Sync + 'a;

/// What the scans are asked for.
pub(crate) struct NativeRequest<'a> {
    pub(crate) partitions: usize,
    pub(crate) limit: Option<usize>,
    /// Chooses rows of files that are not read whole.
    pub(crate) rows: RowChoice,
    /// What to prune by, where the engine does not push its filters down itself.
    pub(crate) predicate: Option<Box<PredicateOver<'a>>>,
}

fn partitioned_file(
    file: &DataFileMeta,
    (location, path): (String, Path),
    partition: Vec<ScalarValue>,
    statistics: Statistics,
    chosen_by: Option<ChosenBy>,
) -> PartitionedFile {
    let object = ObjectMeta {
        location: path,
        last_modified: Default::default(),
        size: u64::try_from(file.file_size).unwrap_or(0),
        e_tag: None,
        version: None,
    };
    let mut result = PartitionedFile::new_from_meta(object).with_partition_values(partition);
    // Not through the setter: it counts no nulls for a partition that is null.
    result.statistics = Some(Arc::new(statistics));
    let result = result.with_extension(FullPath(location));
    match chosen_by {
        Some(chosen_by) => result.with_extension(chosen_by),
        None => result,
    }
}

/// The statistics of a file that is read with marked rows in it.
fn with_marked_rows(file: &mut PartitionedFile) {
    if let Some(statistics) = file.statistics.take() {
        let mut statistics = Arc::unwrap_or_clone(statistics).to_inexact();
        statistics.column_statistics.push(ColumnStatistics::new_unknown());
        file.statistics = Some(Arc::new(statistics));
    }
}

/// Files in groups of about equal bytes, with the statistics of each group and of all.
fn groups(files: Vec<PartitionedFile>, partitions: usize, schema: &SchemaRef) -> Result<(Vec<FileGroup>, Statistics)> {
    let groups = balance(files, partitions, |file| file.object_meta.size).into_iter().map(FileGroup::new).collect();
    let (groups, mut statistics) = compute_all_files_statistics(groups, Arc::clone(schema), true, false)?;
    statistics.total_byte_size = match statistics.total_byte_size {
        Precision::Exact(bytes) => Precision::Inexact(bytes),
        other => other,
    };
    Ok((groups, statistics))
}
