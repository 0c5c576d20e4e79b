//! A warehouse in a temporary directory, and sessions over it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::record_batch::RecordBatch;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_paimon::{Extension, PaimonCatalogProvider, install};
use paimon_core::types::{BigIntType, DataType, DateType, DoubleType, IntType, VarCharType};
use paimon_core::{Catalog, CatalogFactory, CatalogOptions, Identifier, Options, Schema};
use tempfile::TempDir;
use tokio::runtime::Handle;

pub(crate) fn int() -> DataType {
    DataType::Int(IntType::new())
}

pub(crate) fn key() -> DataType {
    DataType::Int(IntType::with_nullable(false))
}

pub(crate) fn bigint() -> DataType {
    DataType::BigInt(BigIntType::new())
}

pub(crate) fn double() -> DataType {
    DataType::Double(DoubleType::new())
}

pub(crate) fn date() -> DataType {
    DataType::Date(DateType::new())
}

pub(crate) fn string() -> DataType {
    DataType::VarChar(VarCharType::string_type())
}

/// A warehouse with the database `d`, and a plain session in which its catalog is `paimon`.
pub(crate) struct World {
    dir: TempDir,
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) session: SessionContext,
}

impl World {
    pub(crate) async fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let catalog = open(dir.path()).await;
        catalog.create_database("d", true, HashMap::new()).await.unwrap();
        let session = session(&catalog);
        Self { dir, catalog, session }
    }

    /// The same warehouse in a session with the extension.
    pub(crate) fn with_extension(mut self) -> Self {
        let extension = Extension::new(Handle::current());
        extension.add_catalog("paimon", Arc::clone(&self.catalog));
        let builder = SessionStateBuilder::new().with_default_features().with_config(config());
        self.session = SessionContext::new_with_state(install(builder, &extension).unwrap().build());
        self
    }

    /// A table in `d`.
    pub(crate) async fn create(&self, name: &str, schema: Schema) {
        self.catalog.create_table(&Identifier::new("d", name), schema, false).await.unwrap();
    }

    pub(crate) async fn table(&self, name: &str) -> paimon_core::Table {
        self.catalog.get_table(&Identifier::new("d", name)).await.unwrap()
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) async fn run(&self, sql: &str) -> Result<Vec<RecordBatch>> {
        self.session.sql(sql).await?.collect().await
    }

    /// Runs a statement that must work.
    pub(crate) async fn ok(&self, sql: &str) -> Vec<RecordBatch> {
        self.run(sql).await.unwrap_or_else(|e| panic!("{sql}: {e}"))
    }

    /// The rows, sorted, columns separated by blanks.
    pub(crate) async fn rows(&self, sql: &str) -> Vec<String> {
        let mut rows = lines(&self.ok(sql).await);
        rows.sort();
        rows
    }

    /// What a statement is refused with.
    pub(crate) async fn refused(&self, sql: &str) -> String {
        match self.run(sql).await {
            Ok(batches) => panic!("{sql} gave {:?}", lines(&batches)),
            Err(error) => error.to_string(),
        }
    }

    /// The physical plan as text.
    pub(crate) async fn plan(&self, sql: &str) -> String {
        let batches = self.ok(&format!("EXPLAIN {sql}")).await;
        lines(&batches).into_iter().filter(|l| l.starts_with("physical_plan")).collect()
    }

    /// All data files below the warehouse.
    pub(crate) fn data_files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(self.dir.path(), &mut found);
        found.sort();
        found
    }
}

pub(crate) async fn open(warehouse: &Path) -> Arc<dyn Catalog> {
    let mut options = Options::new();
    options.set(CatalogOptions::WAREHOUSE, warehouse.to_str().unwrap());
    CatalogFactory::create(options).await.unwrap()
}

pub(crate) fn config() -> SessionConfig {
    SessionConfig::new().with_information_schema(true).with_target_partitions(4)
}

pub(crate) fn session(catalog: &Arc<dyn Catalog>) -> SessionContext {
    let session = SessionContext::new_with_config(config());
    let provider = PaimonCatalogProvider::new(Arc::clone(catalog), Handle::current());
    session.register_catalog("paimon", Arc::new(provider));
    session
}

fn collect(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            collect(&path, found);
        } else if name.starts_with("data-") {
            found.push(path);
        }
    }
}

/// Rows as text: values separated by blanks, null as `_`.
pub(crate) fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::default().with_null("_");
    let mut lines = Vec::new();
    for batch in batches {
        let formatters: Vec<ArrayFormatter<'_>> =
            batch.columns().iter().map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
        for row in 0..batch.num_rows() {
            lines.push(formatters.iter().map(|f| f.value(row).to_string()).collect::<Vec<_>>().join(" "));
        }
    }
    lines
}
