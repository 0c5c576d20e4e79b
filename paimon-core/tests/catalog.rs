//! Databases and tables, as the getting-started guide makes them. PY-264: like all tests of this crate they need no service.

use std::collections::HashMap;

use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use paimon::spec::Schema;
use paimon::types::{DataType, IntType, VarCharType};
use paimon::{CatalogFactory, CatalogOptions, Identifier, Options, Result};

/// With the crate under the name of the guide: `paimon = { package = "paimon-core", ... }`.
extern crate paimon_core as paimon;

/// PY-260, PY-261, PY-262 and PY-263.
#[tokio::test]
async fn getting_started() -> Result<()> {
    let directory = tempfile::tempdir().unwrap();
    let warehouse = directory.path().to_str().unwrap();

    let mut options = Options::new();
    options.set(CatalogOptions::WAREHOUSE, warehouse);
    options.set(CatalogOptions::METASTORE, "filesystem");
    let others = [
        CatalogOptions::URI,
        CatalogOptions::LOCAL_CACHE_ENABLED,
        CatalogOptions::LOCAL_CACHE_DIR,
        CatalogOptions::LOCAL_CACHE_MAX_SIZE,
        CatalogOptions::LOCAL_CACHE_BLOCK_SIZE,
        CatalogOptions::LOCAL_CACHE_WHITELIST,
    ];
    assert!(others.iter().all(|key| options.get(key).is_none()));
    let catalog = CatalogFactory::create(options).await?;

    catalog.create_database("my_db", false, HashMap::new()).await?;
    assert_eq!(catalog.list_databases().await?, ["my_db"]);

    let schema = Schema::builder()
        .column("id", DataType::Int(IntType::new()))
        .column("name", DataType::VarChar(VarCharType::string_type()))
        .build()?;
    let identifier = Identifier::new("my_db", "my_table");
    catalog.create_table(&identifier, schema, false).await?;
    assert_eq!(catalog.list_tables("my_db").await?, ["my_table"]);

    let table = catalog.get_table(&identifier).await?;
    let names: Vec<_> = table.schema().fields.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["id", "name"]);
    assert_eq!(table.location(), format!("{warehouse}/my_db.db/my_table"));

    let rb = table.new_read_builder();
    let plan = rb.new_scan().plan().await?;
    let batches: Vec<RecordBatch> = rb.new_read()?.to_arrow(plan.splits())?.try_collect().await?;
    assert!(batches.is_empty());

    catalog.drop_database("my_db", false, true).await?;
    assert!(catalog.list_databases().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn two_catalogs_on_memory_see_the_same_files() -> Result<()> {
    let make = || CatalogFactory::create([("warehouse", "memory:/two_catalogs")].into_iter().collect());
    let (one, other) = (make().await?, make().await?);
    one.create_database("d", false, HashMap::new()).await?;
    let schema = Schema::builder().column("id", DataType::Int(IntType::new())).build()?;
    one.create_table(&Identifier::new("d", "t"), schema, false).await?;
    assert_eq!(other.list_tables("d").await?, ["t"]);
    Ok(())
}
