//! The tables of the database `sys`: what a catalog holds, as rows.
//!
//! Invariants: reading one changes nothing and reads no data file; a table that vanishes meanwhile is left out.
//! Source: system-tables sheet section 5; `table/system/AllTablesTable.java`, `AllPartitionsTable.java`,
//! `AllTableOptionsTable.java`, `CatalogOptionsTable.java`.

use std::sync::Arc;

use arrow::array::BooleanArray;
use arrow::datatypes::{DataType as ArrowType, SchemaRef};
use arrow::record_batch::RecordBatch;
use futures::{StreamExt, TryStreamExt, stream};

use super::{Catalog, Identifier};
use crate::error::{Entity, Error, ErrorKind, Result, ResultExt};
use crate::options::{Options, is_secret, parse_bool};
use crate::spec::TableSchema;
use crate::table::{PartitionCount, longs, partition_counts, schema, texts};

const TEXT: ArrowType = ArrowType::Utf8;
const LONG: ArrowType = ArrowType::Int64;
const BOOLEAN: ArrowType = ArrowType::Boolean;
/// Tables that are looked at at once.
const PARALLEL_LOOKS: usize = 8;

/// A table of the database `sys`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CatalogTable {
    /// `sys.tables`: every table of every database.
    Tables,
    /// `sys.partitions`: the partitions of all partitioned tables.
    Partitions,
    /// `sys.all_table_options`: the options of every table.
    AllTableOptions,
    /// `sys.catalog_options`: the options of the catalog, if it shows them.
    CatalogOptions,
}

impl CatalogTable {
    /// The database.
    pub const DATABASE: &str = "sys";

    const ALL: [Self; 4] = [Self::AllTableOptions, Self::CatalogOptions, Self::Partitions, Self::Tables];

    /// The name in the database.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tables => "tables",
            Self::Partitions => "partitions",
            Self::AllTableOptions => "all_table_options",
            Self::CatalogOptions => "catalog_options",
        }
    }

    /// The tables that a catalog with these options has, by name.
    ///
    /// # Errors
    /// `InvalidConfig` if `catalog-options-table.enabled` is no boolean.
    pub fn of_catalog(options: &Options) -> Result<Vec<Self>> {
        let shows_options = match options.get("catalog-options-table.enabled") {
            Some(text) => parse_bool(text).context("option", "catalog-options-table.enabled")?,
            None => false,
        };
        Ok(Self::ALL.into_iter().filter(|t| *t != Self::CatalogOptions || shows_options).collect())
    }

    /// The table of this name, in any case, in a catalog with these options.
    ///
    /// # Errors
    /// `NotFound(Table)`; `InvalidConfig` as [`CatalogTable::of_catalog`].
    pub fn by_name(name: &str, options: &Options) -> Result<Self> {
        let found = Self::of_catalog(options)?.into_iter().find(|t| t.name().eq_ignore_ascii_case(name));
        found.ok_or_else(|| Identifier::new(Self::DATABASE, name).not_found())
    }

    /// Its columns.
    pub fn schema(self) -> SchemaRef {
        match self {
            Self::Tables => tables_schema(),
            Self::Partitions => partitions_schema(),
            Self::AllTableOptions => schema(vec![
                ("database_name", TEXT, true),
                ("table_name", TEXT, true),
                ("key", TEXT, true),
                ("value", TEXT, true),
            ]),
            Self::CatalogOptions => schema(vec![("key", TEXT, false), ("value", TEXT, false)]),
        }
    }

    /// All its rows, in one batch. Secrets among options show as `******`.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`, naming the table and file.
    pub async fn read(self, catalog: &dyn Catalog) -> Result<RecordBatch> {
        match self {
            Self::Tables => tables(catalog).await,
            Self::Partitions => partitions(catalog).await,
            Self::AllTableOptions => all_table_options(catalog).await,
            Self::CatalogOptions => {
                let options: Vec<_> = catalog.options().iter().map(|(k, v)| (k, shown(k, v))).collect();
                let columns = vec![texts(options.iter().map(|o| Some(o.0))), texts(options.iter().map(|o| Some(o.1)))];
                Ok(RecordBatch::try_new(self.schema(), columns)?)
            }
        }
    }
}

fn shown<'a>(key: &str, value: &'a str) -> &'a str {
    if is_secret(key) { "******" } else { value }
}

/// `None` for what has vanished since it was listed.
fn existing<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound(Entity::Database | Entity::Table)) => Ok(None),
        Err(e) => Err(e),
    }
}

async fn identifiers(catalog: &dyn Catalog) -> Result<Vec<Identifier>> {
    let mut all = Vec::new();
    for database in catalog.list_databases().await? {
        let tables = existing(catalog.list_tables(&database).await)?.unwrap_or_default();
        all.extend(tables.into_iter().map(|table| Identifier::new(&database, table)));
    }
    Ok(all)
}

/// The schema of every table, of whatever kind, by database and name.
async fn schemas(catalog: &dyn Catalog) -> Result<Vec<(Identifier, Arc<TableSchema>)>> {
    let looks = stream::iter(identifiers(catalog).await?).map(async |identifier| {
        let found = existing(catalog.load_schema(&identifier).await).context("table", &identifier)?;
        Ok::<_, Error>(found.map(|schema| (identifier, schema)))
    });
    looks.buffered(PARALLEL_LOOKS).try_filter_map(|found| async { Ok(found) }).try_collect().await
}

fn tables_schema() -> SchemaRef {
    schema(vec![
        ("database_name", TEXT, true),
        ("table_name", TEXT, true),
        ("table_type", TEXT, true),
        ("partitioned", BOOLEAN, true),
        ("primary_key", BOOLEAN, true),
        ("owner", TEXT, true),
        ("created_at", LONG, true),
        ("created_by", TEXT, true),
        ("updated_at", LONG, true),
        ("updated_by", TEXT, true),
        ("record_count", LONG, true),
        ("file_size_in_bytes", LONG, true),
        ("file_count", LONG, true),
        ("last_file_creation_time", LONG, true),
    ])
}

/// Counts come from catalogs that manage versions: those of a file system do not.
async fn tables(catalog: &dyn Catalog) -> Result<RecordBatch> {
    let found = schemas(catalog).await?;
    let option = |key: &'static str| texts(found.iter().map(|(_, s)| s.options.get(key)));
    let time = |key: &'static str| longs(found.iter().map(|(_, s)| s.options.get(key)?.trim().parse().ok()));
    let flag =
        |get: fn(&TableSchema) -> bool| Arc::new(BooleanArray::from_iter(found.iter().map(|(_, s)| Some(get(s)))));
    let unknown = || longs(found.iter().map(|_| None));
    let columns = vec![
        texts(found.iter().map(|(i, _)| Some(i.database()))),
        texts(found.iter().map(|(i, _)| Some(i.object()))),
        texts(found.iter().map(|(_, s)| Some(s.options.get("type").map_or("table", String::as_str)))),
        flag(|s| !s.partition_keys.is_empty()),
        flag(|s| !s.primary_keys.is_empty()),
        option("owner"),
        time("createdAt"),
        option("createdBy"),
        time("updatedAt"),
        option("updatedBy"),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
    ];
    Ok(RecordBatch::try_new(tables_schema(), columns)?)
}

fn partitions_schema() -> SchemaRef {
    schema(vec![
        ("database_name", TEXT, true),
        ("table_name", TEXT, true),
        ("partition_name", TEXT, true),
        ("record_count", LONG, true),
        ("file_size_in_bytes", LONG, true),
        ("file_count", LONG, true),
        ("last_file_creation_time", LONG, true),
        ("done", BOOLEAN, true),
    ])
}

async fn partitions(catalog: &dyn Catalog) -> Result<RecordBatch> {
    let found = schemas(catalog).await?;
    let partitioned = found.into_iter().filter(|(_, s)| !s.partition_keys.is_empty()).map(|(identifier, _)| identifier);
    let counted = stream::iter(partitioned).map(async |identifier| {
        let counts = match existing(catalog.get_table(&identifier).await).context("table", &identifier)? {
            Some(table) => partition_counts(&table).await.context("table", &identifier)?,
            None => Vec::new(),
        };
        Ok::<_, Error>((identifier, counts))
    });
    let counted: Vec<(Identifier, Vec<PartitionCount>)> = counted.buffered(PARALLEL_LOOKS).try_collect().await?;
    let rows: Vec<(&Identifier, &PartitionCount)> =
        counted.iter().flat_map(|(identifier, counts)| counts.iter().map(move |c| (identifier, c))).collect();
    let columns = vec![
        texts(rows.iter().map(|(i, _)| Some(i.database()))),
        texts(rows.iter().map(|(i, _)| Some(i.object()))),
        texts(rows.iter().map(|(_, c)| Some(&c.name))),
        longs(rows.iter().map(|(_, c)| Some(c.records))),
        longs(rows.iter().map(|(_, c)| Some(c.bytes))),
        longs(rows.iter().map(|(_, c)| Some(c.files))),
        longs(rows.iter().map(|(_, c)| c.last_file_ms)),
        Arc::new(BooleanArray::from_iter(rows.iter().map(|_| Some(false)))),
    ];
    Ok(RecordBatch::try_new(partitions_schema(), columns)?)
}

async fn all_table_options(catalog: &dyn Catalog) -> Result<RecordBatch> {
    let mut rows = Vec::new();
    for (identifier, schema) in schemas(catalog).await? {
        let mut options = schema.options.clone();
        options.insert("path".to_owned(), catalog.table_location(&identifier));
        rows.extend(options.into_iter().map(|(key, value)| (identifier.clone(), key, value)));
    }
    let columns = vec![
        texts(rows.iter().map(|r| Some(r.0.database()))),
        texts(rows.iter().map(|r| Some(r.0.object()))),
        texts(rows.iter().map(|r| Some(&r.1))),
        texts(rows.iter().map(|r| Some(shown(&r.1, &r.2)))),
    ];
    Ok(RecordBatch::try_new(CatalogTable::AllTableOptions.schema(), columns)?)
}
