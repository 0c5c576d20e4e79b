//! Schema versions of a table.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::paths::TablePaths;
use crate::error::{Error, Result};
use crate::spec::TableSchema;
use crate::storage::FileIO;

/// The schema versions of one branch of a table; those that were read stay for the life of this value.
#[derive(Debug, Clone)]
pub struct Schemas {
    io: FileIO,
    paths: TablePaths,
    read: Arc<Mutex<HashMap<i64, Arc<TableSchema>>>>,
}

impl Schemas {
    /// The schemas below these paths.
    pub fn new(io: FileIO, paths: TablePaths) -> Self {
        Self { io, paths, read: Arc::default() }
    }

    /// The schema with this id.
    ///
    /// # Errors
    /// `NotFound(Schema)`, `Storage` or `Corrupt`.
    pub async fn get(&self, id: i64) -> Result<Arc<TableSchema>> {
        let _ = (&self.io, &self.paths, &self.read, id);
        Err(Error::unsupported("schemas"))
    }

    /// The newest schema, found by listing; `None` if there is none.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn latest(&self) -> Result<Option<Arc<TableSchema>>> {
        Err(Error::unsupported("schemas"))
    }

    /// All schemas that exist, by id ascending.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub async fn list(&self) -> Result<Vec<Arc<TableSchema>>> {
        Err(Error::unsupported("schemas"))
    }

    /// Creates a schema file if its id is free; `false` if it is taken.
    ///
    /// # Errors
    /// `Storage`.
    pub async fn create(&self, schema: &TableSchema) -> Result<bool> {
        let _ = schema;
        Err(Error::unsupported("schemas"))
    }
}
