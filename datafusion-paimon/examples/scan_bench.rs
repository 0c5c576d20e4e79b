//! Compares scans, merges, look-ups and writes with the engine's own Parquet tables over the very same files, in one run.
//!
//! usage: scan_bench LINEITEM.parquet [ROUNDS]
//!
//! Prints medians of milliseconds and their ratio. Seconds of a shared machine mean little: watch the ratios.
#![expect(clippy::print_stdout, reason = "a program that prints")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use datafusion_paimon::{PaimonCatalogProvider, to_datafusion};
use paimon_core::types::{BigIntType, DataType, DoubleType, IntType, VarCharType, row_type_from_arrow};
use paimon_core::{Catalog, CatalogFactory, CatalogOptions, Identifier, Options, Schema};
use tokio::runtime::Handle;

const Q1: &str = "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice), \
    sum(l_extendedprice * (1 - l_discount)), avg(l_quantity), count(*) FROM {t} \
    WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus ORDER BY 1, 2";
const Q6: &str = "SELECT sum(l_extendedprice * l_discount) FROM {t} WHERE l_shipdate >= DATE '1994-01-01' \
    AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07 AND l_quantity < 24";
const SCANS: [(&str, &str); 8] = [
    ("q1", Q1),
    ("q6", Q6),
    ("string", "SELECT count(*) FROM {t} WHERE l_comment LIKE '%special%requests%'"),
    ("top-k", "SELECT l_orderkey, l_linenumber FROM {t} ORDER BY l_orderkey DESC, l_linenumber LIMIT 10"),
    ("point", "SELECT count(*) FROM {t} WHERE l_orderkey = 300000"),
    ("count", "SELECT count(*) FROM {t}"),
    ("min-max", "SELECT min(l_orderkey), max(l_orderkey) FROM {t}"),
    ("all columns", "SELECT count(l_orderkey), max(l_comment), max(l_shipmode), sum(l_tax), max(l_shipdate) FROM {t}"),
];
const MERGES: [(&str, &str); 4] = [
    ("merge, sums", "SELECT count(*), sum(ver), sum(amt) FROM {t}"),
    ("merge, all", "SELECT count(DISTINCT name), sum(id), sum(ver) FROM {t}"),
    ("point", "SELECT * FROM {t} WHERE id = 1234567"),
    ("range", "SELECT count(*), sum(amt) FROM {t} WHERE id BETWEEN 1000000 AND 1010000"),
];
const KEYS: i64 = 2_000_000;

struct Bench {
    warehouse: PathBuf,
    catalog: Arc<dyn Catalog>,
    ours: SessionContext,
    stock: SessionContext,
    rounds: usize,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, lineitem, rest @ ..] = &arguments[..] else {
        return Err(DataFusionError::Plan("usage: scan_bench LINEITEM.parquet [ROUNDS]".to_owned()));
    };
    let rounds = rest.first().and_then(|r| r.parse().ok()).unwrap_or(5);
    let warehouse = std::env::temp_dir().join(format!("paimon-scan-bench-{}", std::process::id()));
    let bench = Bench::new(warehouse, rounds).await?;
    let result = bench.run(lineitem).await;
    std::fs::remove_dir_all(&bench.warehouse)?;
    result
}

impl Bench {
    async fn new(warehouse: PathBuf, rounds: usize) -> Result<Self> {
        std::fs::create_dir_all(&warehouse)?;
        let mut options = Options::new();
        options.set(CatalogOptions::WAREHOUSE, warehouse.display().to_string());
        let catalog = CatalogFactory::create(options).await.map_err(to_datafusion)?;
        catalog.create_database("b", true, HashMap::new()).await.map_err(to_datafusion)?;
        let ours = SessionContext::new();
        let provider = PaimonCatalogProvider::new(Arc::clone(&catalog), Handle::current());
        ours.register_catalog("paimon", Arc::new(provider));
        Ok(Self { warehouse, catalog, ours, stock: SessionContext::new(), rounds })
    }

    async fn run(&self, lineitem: &str) -> Result<()> {
        println!("{:<24}{:>12}{:>12}{:>8}", "workload", "paimon ms", "stock ms", "ratio");
        self.write(lineitem).await?;
        self.register("li").await?;
        for (name, query) in SCANS {
            self.compare(
                &format!("lineitem {name}"),
                &query.replace("{t}", "paimon.b.li"),
                &query.replace("{t}", "li"),
            )
            .await?;
        }
        self.merge_runs().await?;
        self.register("pk").await?;
        for (name, query) in MERGES {
            self.compare(&format!("9 runs {name}"), &query.replace("{t}", "paimon.b.pk"), &query.replace("{t}", "pk"))
                .await?;
        }
        self.small_commits().await
    }

    async fn compare(&self, name: &str, ours: &str, stock: &str) -> Result<()> {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            a.push(time(&self.ours, ours).await?);
            b.push(time(&self.stock, stock).await?);
        }
        report(name, a, Some(b));
        Ok(())
    }

    /// INSERT beside COPY of the same rows with the same compression.
    async fn write(&self, lineitem: &str) -> Result<()> {
        for session in [&self.ours, &self.stock] {
            session.register_parquet("source", lineitem, ParquetReadOptions::default()).await?;
        }
        let arrow = self.ours.table("source").await?.schema().as_arrow().clone();
        let row = row_type_from_arrow(&arrow).map_err(to_datafusion)?;
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for round in 0..self.rounds.min(3) {
            let mut schema = Schema::builder();
            for field in row.fields() {
                schema = schema.column(&field.name, field.data_type.clone());
            }
            let name = if round == 0 { "li".to_owned() } else { format!("li{round}") };
            self.create(&name, schema.build().map_err(to_datafusion)?).await?;
            a.push(time(&self.ours, &format!("INSERT INTO paimon.b.{name} SELECT * FROM source")).await?);
            let copy = self.warehouse.join(format!("copy{round}.parquet"));
            let options = "OPTIONS ('format.compression' 'zstd(1)')";
            b.push(
                time(&self.stock, &format!("COPY source TO '{}' STORED AS PARQUET {options}", copy.display())).await?,
            );
        }
        report("write lineitem", a, Some(b));
        Ok(())
    }

    async fn create(&self, name: &str, schema: Schema) -> Result<()> {
        self.catalog.create_table(&Identifier::new("b", name), schema, false).await.map_err(to_datafusion)
    }

    fn keyed(bucket: &str) -> Result<Schema> {
        Schema::builder()
            .column("id", DataType::BigInt(BigIntType::with_nullable(false)))
            .column("ver", DataType::Int(IntType::new()))
            .column("amt", DataType::Double(DoubleType::new()))
            .column("name", DataType::VarChar(VarCharType::string_type()))
            .primary_key(["id"])
            .option("bucket", bucket)
            .option("write-only", "true")
            .build()
            .map_err(to_datafusion)
    }

    /// One run of all keys and eight that overlap it.
    async fn merge_runs(&self) -> Result<()> {
        self.create("pk", Self::keyed("2")?).await?;
        let mut times = Vec::new();
        for run in 0..9 {
            let keys = if run == 0 { format!("0, {}", KEYS - 1) } else { format!("{run}, {}, 10", KEYS - 1) };
            let rows = format!(
                "SELECT value AS id, CAST({run} AS INT) AS ver, CAST(value * 7919 % 100003 AS DOUBLE) + {run} AS amt, \
                 'name-' || CAST(value % 100000 AS VARCHAR) AS name FROM generate_series({keys})"
            );
            times.push(time(&self.ours, &format!("INSERT INTO paimon.b.pk {rows}")).await?);
        }
        report("write a run of keys", times, None);
        Ok(())
    }

    async fn small_commits(&self) -> Result<()> {
        self.create("small", Self::keyed("1")?).await?;
        let start = Instant::now();
        for commit in 0..100 {
            let insert = format!(
                "INSERT INTO paimon.b.small SELECT value, 0, 0.0, 'x' FROM generate_series({commit}, {})",
                commit + 99
            );
            self.ours.sql(&insert).await?.collect().await?;
        }
        report("100 small commits", vec![start.elapsed().as_secs_f64() * 1e3], None);
        Ok(())
    }

    /// The data files of a table as a table of the engine.
    async fn register(&self, name: &str) -> Result<()> {
        let mut files = Vec::new();
        collect(&self.warehouse.join("b.db").join(name), &mut files)?;
        let urls = files.iter().map(|f| ListingTableUrl::parse(f.display().to_string())).collect::<Result<Vec<_>>>()?;
        let options = ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension("parquet");
        let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options);
        let config = config.infer_schema(&self.stock.state()).await?;
        self.stock.register_table(name, Arc::new(ListingTable::try_new(config)?))?;
        Ok(())
    }
}

async fn time(session: &SessionContext, sql: &str) -> Result<f64> {
    let start = Instant::now();
    session.sql(sql).await?.collect().await?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn report(name: &str, ours: Vec<f64>, stock: Option<Vec<f64>>) {
    let ours = median(ours);
    match stock.map(median) {
        Some(stock) => println!("{name:<24}{ours:>12.1}{stock:>12.1}{:>8.2}", ours / stock),
        None => println!("{name:<24}{ours:>12.1}"),
    }
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("data-")) {
            files.push(path);
        }
    }
    Ok(())
}
