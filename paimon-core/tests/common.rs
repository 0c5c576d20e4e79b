//! A warehouse in a temporary directory, and batches of two columns.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{AsArray, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Int32Type, Schema as ArrowSchema};
use futures::TryStreamExt;
use paimon_core::types::{DataType as PaimonType, IntType, VarCharType};
use paimon_core::{Catalog, CatalogFactory, CatalogOptions, Identifier, Options, Result, Schema, Table};

/// A catalog over a fresh directory.
pub(crate) struct Warehouse {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) catalog: Arc<dyn Catalog>,
}

pub(crate) async fn catalog_at(path: &str) -> Result<Arc<dyn Catalog>> {
    let mut options = Options::new();
    options.set(CatalogOptions::WAREHOUSE, path);
    CatalogFactory::create(options).await
}

pub(crate) async fn warehouse() -> Result<Warehouse> {
    let directory = tempfile::tempdir().unwrap();
    let catalog = catalog_at(directory.path().to_str().unwrap()).await?;
    catalog.create_database("db", false, HashMap::new()).await?;
    Ok(Warehouse { directory, catalog })
}

impl Warehouse {
    /// Creates `db.<name>` with the columns `id INT`, `v STRING` and gives its handle.
    pub(crate) async fn table(&self, name: &str, keyed: bool, options: &[(&str, &str)]) -> Result<Table> {
        let id = PaimonType::Int(IntType::with_nullable(!keyed));
        let mut schema =
            Schema::builder().column("id", id).column("v", PaimonType::VarChar(VarCharType::string_type()));
        if keyed {
            schema = schema.primary_key(["id"]).option("bucket", "1");
        }
        for (key, value) in options {
            schema = schema.option(*key, *value);
        }
        let identifier = Identifier::new("db", name);
        self.catalog.create_table(&identifier, schema.build()?, false).await?;
        self.catalog.get_table(&identifier).await
    }
}

pub(crate) fn batch(table: &Table, rows: &[(i32, &str)]) -> RecordBatch {
    let nullable = table.schema().fields[0].data_type.is_nullable();
    let schema =
        ArrowSchema::new(vec![Field::new("id", DataType::Int32, nullable), Field::new("v", DataType::Utf8, true)]);
    let ids = Int32Array::from_iter_values(rows.iter().map(|r| r.0));
    let values = StringArray::from_iter_values(rows.iter().map(|r| r.1));
    RecordBatch::try_new(Arc::new(schema), vec![Arc::new(ids), Arc::new(values)]).unwrap()
}

pub(crate) async fn write(table: &Table, rows: &[(i32, &str)]) -> Result<()> {
    let builder = table.new_batch_write_builder();
    let mut writer = builder.new_write()?;
    writer.write(&batch(table, rows)).await?;
    builder.new_commit().commit(writer.prepare_commit().await?).await?;
    Ok(())
}

pub(crate) async fn read(table: &Table) -> Result<Vec<(i32, String)>> {
    let builder = table.new_read_builder();
    let plan = builder.new_scan().plan().await?;
    let batches: Vec<RecordBatch> = builder.new_read()?.to_arrow(plan.splits())?.try_collect().await?;
    let mut rows = Vec::new();
    for batch in &batches {
        let (ids, values) = (batch.column(0).as_primitive::<Int32Type>(), batch.column(1).as_string::<i32>());
        rows.extend((0..ids.len()).map(|i| (ids.value(i), values.value(i).to_owned())));
    }
    rows.sort();
    Ok(rows)
}

pub(crate) fn rows(expected: &[(i32, &str)]) -> Vec<(i32, String)> {
    expected.iter().map(|(id, v)| (*id, (*v).to_owned())).collect()
}
