//! Creates, writes, upserts, reads, compacts and travels through a Paimon table in a temporary local warehouse.

use datafusion::error::Result;
use datafusion_paimon::SqlContext;
use paimon_core::{CatalogOptions, Options};

#[tokio::main]
async fn main() -> Result<()> {
    let warehouse = tempfile::tempdir()?;
    let mut options = Options::new();
    options.set(CatalogOptions::WAREHOUSE, warehouse.path().to_string_lossy());
    let ctx = SqlContext::new()?;
    ctx.register_catalog("paimon", options, None).await?;
    for statement in [
        "CREATE SCHEMA paimon.shop",
        "CREATE TABLE paimon.shop.users (id INT NOT NULL, name STRING, PRIMARY KEY (id)) WITH ('bucket' = '1')",
        "INSERT INTO paimon.shop.users VALUES (1, 'alice'), (2, 'bob')",
        "INSERT INTO paimon.shop.users VALUES (2, 'bobby'), (3, 'carol')",
        "SELECT * FROM paimon.shop.users ORDER BY id",
        "CALL sys.compact(table => 'shop.users')",
        "SELECT * FROM paimon.shop.users VERSION AS OF 1 ORDER BY id",
        "SELECT snapshot_id, commit_kind, total_record_count FROM paimon.shop.users$snapshots",
    ] {
        // Each statement runs when it is awaited; a query runs when its rows are asked for.
        ctx.sql(statement).await?.show().await?;
    }
    Ok(())
}
