//! Reads one data file as rows of the schema that is read.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::format::BatchStream;
use crate::meta::Schemas;
use crate::options::Options;
use crate::predicate::Predicate;
use crate::row::BinaryRow;
use crate::spec::{DataFileMeta, TableSchema};
use crate::storage::FileIO;
use crate::types::DataField;

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
    /// [`value_kind_field`](crate::types::value_kind_field).
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
    options: Options,
}

impl DataFileReader {
    /// A reader that gives rows of `schema`; the schemas of files come from `schemas`.
    pub fn new(io: FileIO, schema: Arc<TableSchema>, schemas: Schemas, options: Options) -> Self {
        Self { io, schema, schemas, options }
    }

    /// Reads a file: columns found by the names of the file's schema, mapped by id, cast to the types that are read;
    /// columns that the file lacks are null.
    ///
    /// # Errors
    /// `Unsupported` naming format, codec or column type; `Corrupt`, `NotFound(File)` or `Storage` naming the file.
    pub async fn read(&self, request: FileRequest) -> Result<BatchStream> {
        let _ = (&self.io, &self.schema, &self.schemas, &self.options, request);
        Err(Error::unsupported("reading data files"))
    }
}
