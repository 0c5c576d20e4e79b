//! Directories as databases and tables. Source: catalog sheet section 6; `catalog/FileSystemCatalog.java`.

use std::collections::HashMap;

use async_trait::async_trait;

use super::{Catalog, Identifier, SchemaChange};
use crate::error::{Error, Result};
use crate::options::{CatalogOptions, Options};
use crate::spec::Schema;
use crate::storage::FileIO;
use crate::table::Table;

/// A catalog whose databases are the directories `*.db` below a warehouse.
#[derive(Debug, Clone)]
pub struct FileSystemCatalog {
    options: Options,
    warehouse: String,
    io: FileIO,
}

impl FileSystemCatalog {
    /// The catalog of the option `warehouse`.
    ///
    /// # Errors
    /// `InvalidConfig` if the option is missing.
    pub fn new(options: Options) -> Result<Self> {
        let warehouse = options
            .get(CatalogOptions::WAREHOUSE)
            .ok_or_else(|| Error::invalid_config("the catalog option 'warehouse' must be set"))?;
        let warehouse = FileIO::normalize(warehouse)?;
        let io = FileIO::from_location(&warehouse, &options)?;
        Ok(Self { options, warehouse, io })
    }

    /// The root path.
    pub fn warehouse(&self) -> &str {
        &self.warehouse
    }
}

#[async_trait]
impl Catalog for FileSystemCatalog {
    fn options(&self) -> &Options {
        &self.options
    }

    async fn list_databases(&self) -> Result<Vec<String>> {
        let _ = &self.io;
        Err(Error::unsupported("catalogs"))
    }

    async fn database_exists(&self, _name: &str) -> Result<bool> {
        Err(Error::unsupported("catalogs"))
    }

    async fn create_database(
        &self,
        _name: &str,
        _ignore_if_exists: bool,
        _properties: HashMap<String, String>,
    ) -> Result<()> {
        Err(Error::unsupported("catalogs"))
    }

    async fn drop_database(&self, _name: &str, _ignore_if_not_exists: bool, _cascade: bool) -> Result<()> {
        Err(Error::unsupported("catalogs"))
    }

    async fn list_tables(&self, _database: &str) -> Result<Vec<String>> {
        Err(Error::unsupported("catalogs"))
    }

    async fn get_table(&self, _identifier: &Identifier) -> Result<Table> {
        Err(Error::unsupported("catalogs"))
    }

    async fn create_table(&self, _identifier: &Identifier, _schema: Schema, _ignore_if_exists: bool) -> Result<()> {
        Err(Error::unsupported("catalogs"))
    }

    async fn drop_table(&self, _identifier: &Identifier, _ignore_if_not_exists: bool) -> Result<()> {
        Err(Error::unsupported("catalogs"))
    }

    async fn rename_table(&self, _from: &Identifier, _to: &Identifier, _ignore_if_not_exists: bool) -> Result<()> {
        Err(Error::unsupported("catalogs"))
    }

    async fn alter_table(
        &self,
        _identifier: &Identifier,
        _changes: Vec<SchemaChange>,
        _ignore_if_not_exists: bool,
    ) -> Result<()> {
        Err(Error::unsupported("catalogs"))
    }
}
