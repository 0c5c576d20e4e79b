//! Reads one data file as rows of the schema that is read.

use std::sync::Arc;

use arrow::array::{ArrayRef, new_null_array};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::{RecordBatch, RecordBatchOptions};
use futures::stream::{self, StreamExt};

use super::column_map::{Adapt, map_column};
use super::file_filter::devolve;
use crate::error::{Entity, Error, ErrorKind, Result, ResultExt};
use crate::format::{BatchStream, FooterCache, InputFile, ReadRequest, file_format};
use crate::meta::Schemas;
use crate::options::Options;
use crate::predicate::Predicate;
use crate::row::BinaryRow;
use crate::runtime::MemoryBudget;
use crate::spec::{DataFileMeta, TableSchema};
use crate::storage::FileIO;
use crate::table::Table;
use crate::types::{DataField, Datum, RowType, SEQUENCE_NUMBER_ID, VALUE_KIND_ID, constant_array, to_arrow_schema};

/// What to read of a file.
#[derive(Debug, Clone)]
pub struct FileRequest {
    /// Full path.
    pub path: String,
    /// The file.
    pub file: Arc<DataFileMeta>,
    /// Partition of the file: partition columns take their values from here, never from the file.
    pub partition: BinaryRow,
    /// Columns in the order of the result, by id of the schema that is read; may hold
    /// [`sequence_number_field`](crate::types::sequence_number_field) and
    /// [`value_kind_field`](crate::types::value_kind_field). Parts of a ROW may be left out.
    pub fields: Vec<DataField>,
    /// May be used to skip row groups and pages; rows that pass it are all returned, others may be.
    pub filter: Option<Predicate>,
    /// Rows of a batch.
    pub batch_rows: usize,
}

/// Reads data files of one table.
#[derive(Debug, Clone)]
pub struct DataFileReader {
    io: FileIO,
    schema: Arc<TableSchema>,
    schemas: Schemas,
    options: Arc<Options>,
    footers: FooterCache,
    tasks: usize,
}

impl DataFileReader {
    /// A reader that gives rows of `schema`; the schemas of files come from `schemas`.
    pub fn new(io: FileIO, schema: Arc<TableSchema>, schemas: Schemas, options: Options) -> Self {
        Self { io, schema, schemas, options: Arc::new(options), footers: FooterCache::default(), tasks: 1 }
    }

    /// A reader of a table's files that gives rows of the schema of this handle and shares its cache of footers.
    pub fn for_table(table: &Table) -> Self {
        let (io, schema, schemas) = (table.io().clone(), Arc::clone(table.schema()), table.schemas().clone());
        Self::new(io, schema, schemas, table.options().clone()).with_footers(table.footers().clone())
    }

    /// The same reader with footers kept in this cache.
    #[must_use]
    pub fn with_footers(mut self, footers: FooterCache) -> Self {
        self.footers = footers;
        self
    }

    /// The same reader, which may decode columns of a file in so many tasks side by side.
    #[must_use]
    pub fn with_tasks(mut self, tasks: usize) -> Self {
        self.tasks = tasks.max(1);
        self
    }

    /// The same reader, which takes memory for the bytes that it holds.
    #[must_use]
    pub fn with_memory(mut self, memory: Arc<dyn MemoryBudget>) -> Self {
        self.io = self.io.with_memory(memory);
        self
    }

    /// Reads a file: columns found by the names of the file's schema, mapped by id, cast to the types that are read;
    /// columns that the file lacks are null. The batches have the Arrow schema of the fields that were asked for.
    ///
    /// # Errors
    /// `Unsupported` naming format, codec or column type; `Corrupt`, `NotFound(File)` or `Storage` naming the file.
    pub async fn read(&self, request: FileRequest) -> Result<BatchStream> {
        self.read_rows(request, None).await
    }

    /// As [`DataFileReader::read`], but only rows whose bit is set; one bit per physical row of the file.
    ///
    /// # Errors
    /// As [`DataFileReader::read`].
    pub async fn read_rows(&self, request: FileRequest, rows: Option<BooleanBuffer>) -> Result<BatchStream> {
        let path = request.path.clone();
        match self.start(request, rows).await {
            Err(error) if error.kind() == ErrorKind::NotFound(Entity::File) => {
                Err(missing_data_file(&path).with_source(error))
            }
            result => result.context("file", path),
        }
    }

    async fn start(&self, request: FileRequest, rows: Option<BooleanBuffer>) -> Result<BatchStream> {
        let format = file_format(request.file.format())?;
        let file_schema = if request.file.schema_id == self.schema.id {
            Arc::clone(&self.schema)
        } else {
            self.schemas.get(request.file.schema_id).await?
        };
        let plan = Plan::new(&request, &file_schema, &self.schema)?;
        let size = u64::try_from(request.file.file_size)
            .map_err(|_| Error::corrupt(format!("the size of a file is {}", request.file.file_size)))?;
        let input = InputFile { io: self.io.clone(), path: request.path, size, footers: self.footers.clone() };
        let filter = request.filter.as_ref().filter(|_| format.uses_predicates());
        let ask = ReadRequest {
            columns: plan.asked.clone(),
            predicate: filter.and_then(|p| devolve(p, &file_schema)),
            rows,
            batch_rows: request.batch_rows,
            options: Arc::clone(&self.options),
            tasks: self.tasks,
        };
        let reads_all = ask.predicate.is_none() && ask.rows.is_none();
        let mut batches = format.read(input.clone(), ask).await?;
        if reads_all {
            batches = counted(batches, request.file.row_count, input.path.clone());
        }
        if plan.is_identity() {
            return Ok(batches);
        }
        let path = input.path;
        Ok(batches.map(move |b| b.and_then(|b| plan.apply(&b)).context("file", &path)).boxed())
    }
}

/// What is said of a data file that a plan names but the store does not have.
pub fn missing_data_file(path: &str) -> Error {
    let message = "the data file does not exist: the snapshot that was planned may have expired since, then plan again";
    Error::not_found(Entity::File, message).with_context("file", path)
}

/// The same batches; an error if they do not have as many rows as metadata says, for some formats do not notice that a
/// file was cut.
fn counted(batches: BatchStream, expected: i64, path: String) -> BatchStream {
    let wrong = move |what: &str| {
        Error::corrupt(format!("the file has {what} rows than the {expected} of its metadata"))
            .with_context("file", &path)
    };
    let left = usize::try_from(expected).unwrap_or_default();
    stream::try_unfold((batches, left, wrong), |(mut batches, left, wrong)| async move {
        let Some(batch) = batches.next().await.transpose()? else {
            return if left == 0 { Ok(None) } else { Err(wrong("fewer")) };
        };
        let left = left.checked_sub(batch.num_rows()).ok_or_else(|| wrong("more"))?;
        Ok(Some((batch, (batches, left, wrong))))
    })
    .boxed()
}

/// Where the values of a column come from.
enum Source {
    /// Nothing has them.
    Null,
    /// The partition.
    Constant(Option<Datum>),
    /// A column that is read, at this position.
    File(usize, Adapt),
}

struct Plan {
    asked: Vec<DataField>,
    fields: Vec<DataField>,
    sources: Vec<Source>,
    schema: SchemaRef,
}

impl Plan {
    fn new(request: &FileRequest, file: &TableSchema, read: &TableSchema) -> Result<Self> {
        let mut asked = Vec::with_capacity(request.fields.len());
        let mut sources = Vec::with_capacity(request.fields.len());
        for field in &request.fields {
            let source = match partition_position(field, read) {
                Some(position) => Source::Constant(partition_value(&request.partition, position, field)?),
                None => match file_column(field, file)? {
                    None => Source::Null,
                    Some((column, adapt)) => {
                        asked.push(column);
                        Source::File(asked.len() - 1, adapt)
                    }
                },
            };
            if matches!(source, Source::Null | Source::Constant(None)) && !field.data_type.is_nullable() {
                return Err(Error::corrupt(format!("column {} is NOT NULL, but the file lacks it", field.name)));
            }
            sources.push(source);
        }
        let schema = to_arrow_schema(&RowType::new(request.fields.clone()));
        Ok(Self { asked, fields: request.fields.clone(), sources, schema })
    }

    fn is_identity(&self) -> bool {
        let same = |(source, (i, field)): (&Source, (usize, &DataField))| {
            let asked = self.asked.get(i);
            matches!(source, Source::File(position, Adapt::Same) if *position == i)
                && asked.is_some_and(|a| a.name == field.name && a.id == field.id)
        };
        self.asked.len() == self.fields.len() && self.sources.iter().zip(self.fields.iter().enumerate()).all(same)
    }

    fn apply(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let columns = self.sources.iter().zip(&self.fields).zip(self.schema.fields());
        let columns = columns.map(|((source, field), arrow)| -> Result<ArrayRef> {
            let array = match source {
                Source::Null => new_null_array(arrow.data_type(), rows),
                Source::Constant(value) => constant_array(value.as_ref(), &field.data_type, rows)?,
                Source::File(i, adapt) => adapt.apply(batch.column(*i), &field.name, &field.data_type)?,
            };
            if !arrow.is_nullable() && array.null_count() > 0 {
                return Err(Error::corrupt(format!("column {} is NOT NULL, but holds nulls", field.name)));
            }
            Ok(array)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &options)?)
    }
}

fn is_system(field: &DataField) -> bool {
    field.id == SEQUENCE_NUMBER_ID || field.id == VALUE_KIND_ID
}

fn partition_position(field: &DataField, read: &TableSchema) -> Option<usize> {
    let column = read.fields.iter().find(|f| f.id == field.id)?;
    read.partition_keys.iter().position(|k| *k == column.name)
}

fn partition_value(partition: &BinaryRow, position: usize, field: &DataField) -> Result<Option<Datum>> {
    if position >= partition.arity() {
        let arity = partition.arity();
        return Err(Error::corrupt(format!("the partition of a file has {arity} values, column {} none", field.name)));
    }
    partition.field(position, &field.data_type)
}

fn file_column(field: &DataField, file: &TableSchema) -> Result<Option<(DataField, Adapt)>> {
    if is_system(field) {
        return Ok(Some((field.clone(), Adapt::Same)));
    }
    match file.fields.iter().find(|f| f.id == field.id) {
        Some(column) => map_column(&field.name, column, field),
        None => Ok(None),
    }
}

/// The columns of a key-value batch that holds these columns of the table.
pub fn key_value_fields(columns: &[DataField]) -> Vec<DataField> {
    let mut fields = vec![crate::types::sequence_number_field(), crate::types::value_kind_field()];
    fields.extend_from_slice(columns);
    fields
}
