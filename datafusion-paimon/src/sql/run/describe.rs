//! DESCRIBE. Source: SQL sheet SQL-277, SQL-278.

use datafusion::arrow::datatypes::Field;
use datafusion::error::Result;
use datafusion::prelude::DataFrame;
use paimon_core::error::Entity;
use paimon_core::options::is_secret;
use paimon_core::types::DataType;
use paimon_core::{Error, Table};

use super::show::{Row, row};
use crate::error::to_datafusion;
use crate::sql::parse::cursor::Name;
use crate::sql::printer::bare_type_text;
use crate::sql::session::Session;

const COLUMNS: [&str; 3] = ["column_name", "data_type", "is_nullable"];

impl Session<'_> {
    pub(super) async fn describe(&self, name: &Name, column: Option<&str>) -> Result<DataFrame> {
        let path = self.resolve(name);
        let provider = self.require_paimon(&path.catalog)?;
        let data_table =
            path.identifier().system_table().is_none() && !provider.temporary().contains(&path.database, &path.object);
        let yes_or_no = |yes: bool| if yes { "YES" } else { "NO" };
        let rows: Vec<Row> = if data_table {
            let (_, _, table) = self.table(name, "DESCRIBE").await?;
            let fields = &table.schema().fields;
            fields
                .iter()
                .map(|f| row([&f.name, &bare_type_text(&f.data_type), yes_or_no(f.data_type.is_nullable())]))
                .collect()
        } else {
            // Temporary objects and system tables have the engine's types only.
            let schema = self.schema_provider(&path.catalog, &path.database)?;
            let Some(table) = schema.table(&path.object).await? else {
                return Err(to_datafusion(path.identifier().not_found()));
            };
            let fields = table.schema();
            let text = |f: &Field| match paimon_core::types::field_from_arrow(f, &mut 0) {
                Ok(field) => bare_type_text(&field.data_type),
                Err(_) => f.data_type().to_string(),
            };
            fields.fields().iter().map(|f| row([f.name(), &text(f), yes_or_no(f.is_nullable())])).collect()
        };
        let Some(column) = column else { return self.rows(&COLUMNS, rows) };
        let found: Vec<Row> = rows.into_iter().filter(|row| row[0].as_deref() == Some(column)).collect();
        if found.is_empty() {
            return Err(to_datafusion(Error::not_found(
                Entity::Column,
                format!("Column {column} does not exist in the {} table.", path.identifier()),
            )));
        }
        self.rows(&COLUMNS, found)
    }

    pub(super) async fn describe_database(&self, name: &Name) -> Result<DataFrame> {
        let (catalog, database) = self.resolve_database(Some(name))?;
        let provider = self.require_paimon(&catalog)?;
        if !provider.catalog().database_exists(&database).await.map_err(to_datafusion)? {
            return Err(to_datafusion(Error::not_found(
                Entity::Database,
                format!("Database {database} does not exist."),
            )));
        }
        let rows = vec![row(["Catalog Name", &catalog]), row(["Namespace Name", &database])];
        self.rows(&["info_name", "info_value"], rows)
    }

    pub(super) async fn describe_extended(&self, name: &Name) -> Result<DataFrame> {
        let (_, path, table) = self.table(name, "DESCRIBE EXTENDED").await?;
        let schema = table.schema();
        let column = |name: &str, data_type: &DataType, comment: Option<&String>| {
            vec![Some(name.to_owned()), Some(bare_type_text(data_type)), comment.cloned()]
        };
        let mut rows: Vec<Row> = Vec::new();
        rows.extend(schema.fields.iter().map(|f| column(&f.name, &f.data_type, f.description.as_ref())));
        if !schema.partition_keys.is_empty() {
            rows.push(row(["# Partition Information", "", ""]));
            let keys = schema.partition_keys.iter().filter_map(|key| schema.fields.iter().find(|f| f.name == *key));
            rows.extend(keys.map(|f| column(&f.name, &f.data_type, f.description.as_ref())));
        }
        rows.push(row(["# Detailed Table Information", "", ""]));
        let mut detail = |key: &str, value: String| rows.push(row([key, &value, ""]));
        detail("Catalog", path.catalog.clone());
        detail("Database", path.database.clone());
        detail("Table", path.object.clone());
        detail("Primary keys", schema.primary_keys.join(", "));
        detail("Partition keys", schema.partition_keys.join(", "));
        detail("Comment", schema.comment.clone().unwrap_or_default());
        detail("Location", table.location().to_owned());
        detail("Schema id", schema.id.to_string());
        let (snapshot, files, records) = self.contents(&table).await?;
        detail("Latest snapshot", snapshot);
        detail("Files", files);
        detail("Rows", records);
        for (key, value) in &schema.options {
            detail(&format!("Option {key}"), if is_secret(key) { "******".to_owned() } else { value.clone() });
        }
        self.rows(&["col_name", "data_type", "comment"], rows)
    }

    /// Latest snapshot, files and rows as text; rows are counted in files, before merging.
    async fn contents(&self, table: &Table) -> Result<(String, String, String)> {
        let plan = table.new_read_builder().new_scan().plan().await.map_err(to_datafusion)?;
        let snapshot = plan.snapshot_id().map(|id| id.to_string()).unwrap_or_default();
        let files: usize = plan.splits().iter().map(|s| s.files.len()).sum();
        let rows: i64 = plan.splits().iter().map(|s| s.row_count()).sum();
        Ok((snapshot, files.to_string(), rows.to_string()))
    }
}
