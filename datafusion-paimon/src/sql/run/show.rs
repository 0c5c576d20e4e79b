//! SHOW. Source: SQL sheet section 9.

use std::collections::BTreeSet;

use datafusion::error::Result;
use datafusion::logical_expr::TableType;
use datafusion::prelude::DataFrame;
use paimon_core::options::is_secret;
use paimon_core::scan::live_entries;
use paimon_core::types::DataField;
use paimon_core::{Error, Table};

use crate::error::to_datafusion;
use crate::sql::parse::cursor::Name;
use crate::sql::printer::bare_type_text;
use crate::sql::session::{ObjectPath, Session};
use crate::sql::statement::{Column, Columns, CreateTable, PartitionValue, Show, Statement};
use crate::sql::tokens::{Fragment, quote_string, tokenize};

/// A row of text.
pub(super) type Row = Vec<Option<String>>;

pub(super) fn row<const N: usize>(values: [&str; N]) -> Row {
    values.iter().map(|v| Some((*v).to_owned())).collect()
}

impl Session<'_> {
    pub(super) async fn show(&self, show: &Show) -> Result<DataFrame> {
        match show {
            Show::Tables { database, like } => self.show_tables(database.as_ref(), like.as_deref(), false).await,
            Show::Views { database, like } => self.show_tables(database.as_ref(), like.as_deref(), true).await,
            Show::Databases { catalog, like } => {
                self.show_databases(catalog.as_deref().unwrap_or(self.current_catalog()), like.as_deref()).await
            }
            Show::Catalogs { like } => {
                let names = self.state.catalog_list().catalog_names();
                self.names("catalog_name", names, like.as_deref())
            }
            Show::CreateTable(name) => self.show_create_table(name).await,
            Show::Columns(name) => self.show_columns(name).await,
            Show::Partitions { table, partition } => self.show_partitions(table, partition).await,
            Show::Properties { table, key } => self.show_properties(table, key.as_deref()).await,
            Show::Tags(name) => {
                let (_, _, table) = self.table(name, "SHOW TAGS").await?;
                let tags = table.tags().list().await.map_err(to_datafusion)?;
                self.names("tag_name", tags.into_iter().map(|t| t.name).collect(), None)
            }
            Show::Snapshots(name) => self.show_system_table(name, "snapshots").await,
            Show::Branches(name) => self.show_system_table(name, "branches").await,
            Show::DescribeDatabase(name) => self.describe_database(name).await,
            Show::TableExtended { database, like } => self.show_table_extended(database.as_ref(), like).await,
            Show::Procedures => self.show_procedures(),
            Show::CurrentCatalog => self.rows(&["catalog"], vec![row([self.current_catalog()])]),
            Show::CurrentDatabase => {
                self.rows(&["catalog", "database"], vec![row([self.current_catalog(), self.current_database()])])
            }
            Show::Variable(key) => self.show_variable(key),
            Show::AllVariables => self.show_variables(),
            Show::Describe { table, column } => self.describe(table, column.as_deref()).await,
            Show::DescribeExtended(name) => self.describe_extended(name).await,
        }
    }

    /// Sorted names that match a pattern.
    fn names(&self, column: &str, names: Vec<String>, like: Option<&str>) -> Result<DataFrame> {
        let names: BTreeSet<String> = names.into_iter().filter(|n| like.is_none_or(|l| matches(n, l))).collect();
        self.rows(&[column], names.into_iter().map(|n| vec![Some(n)]).collect())
    }

    async fn show_tables(&self, database: Option<&Name>, like: Option<&str>, views: bool) -> Result<DataFrame> {
        let (catalog, database) = self.resolve_database(database)?;
        let schema = self.schema_provider(&catalog, &database)?;
        // A catalog that cannot be listed says why.
        if let Some(provider) = self.paimon(&catalog)
            && !provider.temporary().has_database(&database)
        {
            provider.catalog().list_tables(&database).await.map_err(to_datafusion)?;
        }
        let names: BTreeSet<String> = schema.table_names().into_iter().collect();
        let mut rows = Vec::new();
        let temporary = self.temporary_objects(&catalog);
        for name in names.into_iter().filter(|n| like.is_none_or(|l| matches(n, l))) {
            let kind = match temporary.get(&database, &name) {
                Some(object) => object.table_type(),
                None => schema.table_type(&name).await?.unwrap_or(TableType::Base),
            };
            if !views || kind == TableType::View {
                rows.push(vec![
                    Some(catalog.clone()),
                    Some(database.clone()),
                    Some(name),
                    Some(type_words(kind).to_owned()),
                ]);
            }
        }
        self.rows(&["table_catalog", "table_schema", "table_name", "table_type"], rows)
    }

    async fn show_databases(&self, catalog: &str, like: Option<&str>) -> Result<DataFrame> {
        let names = match self.paimon(catalog) {
            Some(provider) => provider.catalog().list_databases().await.map_err(to_datafusion)?,
            None => match self.state.catalog_list().catalog(catalog) {
                Some(provider) => provider.schema_names(),
                None => {
                    self.require_paimon(catalog)?;
                    Vec::new()
                }
            },
        };
        self.names("database_name", names, like)
    }

    async fn show_create_table(&self, name: &Name) -> Result<DataFrame> {
        let path = self.resolve(name);
        let provider = self.require_paimon(&path.catalog)?;
        let definition = match provider.temporary().get(&path.database, &path.object) {
            Some(object) => object.provider().await?.get_table_definition().map(str::to_owned),
            None => {
                let (_, path, table) = self.table(name, "SHOW CREATE TABLE").await?;
                Some(definition(&path, &table)?)
            }
        };
        let row = vec![Some(path.catalog), Some(path.database), Some(path.object), definition];
        self.rows(&["table_catalog", "table_schema", "table_name", "definition"], vec![row])
    }

    async fn show_columns(&self, name: &Name) -> Result<DataFrame> {
        let (_, path, table) = self.table(name, "SHOW COLUMNS").await?;
        let rows = table.schema().fields.iter().map(|f| {
            row([
                &path.catalog,
                &path.database,
                &path.object,
                &f.name,
                &bare_type_text(&f.data_type),
                yes_or_no(f.data_type.is_nullable()),
            ])
        });
        let columns = ["table_catalog", "table_schema", "table_name", "column_name", "data_type", "is_nullable"];
        self.rows(&columns, rows.collect())
    }

    async fn show_partitions(&self, name: &Name, partition: &[PartitionValue]) -> Result<DataFrame> {
        let (_, _, table) = self.table(name, "SHOW PARTITIONS").await?;
        if table.schema().partition_keys.is_empty() {
            return Err(to_datafusion(Error::invalid_input(format!(
                "table {} is not partitioned",
                table.identifier()
            ))));
        }
        let spec = self.partition_spec(&table, partition)?;
        let filter = super::partition::filter(&table, &spec)?;
        // Also partitions whose rows a read does not see yet.
        let entries = match table.current_snapshot().await.map_err(to_datafusion)? {
            Some(snapshot) => live_entries(&table, &snapshot, filter.as_ref()).await.map_err(to_datafusion)?,
            None => Vec::new(),
        };
        let (schema, options) = (table.schema(), table.options());
        let paths = entries
            .iter()
            .filter(|entry| entry.bucket >= 0)
            .map(|entry| table.paths().partition_shown(schema, options, &entry.partition))
            .collect::<paimon_core::Result<BTreeSet<_>>>()
            .map_err(to_datafusion)?;
        self.rows(&["partition"], paths.into_iter().map(|p| vec![Some(p)]).collect())
    }

    async fn show_properties(&self, name: &Name, key: Option<&str>) -> Result<DataFrame> {
        let (_, _, table) = self.table(name, "SHOW TBLPROPERTIES").await?;
        let options = &table.schema().options;
        let shown = |key: &str, value: &str| row([key, if is_secret(key) { "******" } else { value }]);
        let rows = match key {
            None => options.iter().map(|(k, v)| shown(k, v)).collect(),
            Some(key) => match options.get(key) {
                Some(value) => vec![shown(key, value)],
                None => {
                    return Err(to_datafusion(Error::invalid_config(format!(
                        "option '{key}' of {} is not set",
                        table.identifier()
                    ))));
                }
            },
        };
        self.rows(&["key", "value"], rows)
    }

    async fn show_system_table(&self, name: &Name, system: &str) -> Result<DataFrame> {
        let (_, path, _) = self.table(name, "SHOW").await?;
        let of = ObjectPath { object: format!("{}${system}", path.object), ..path };
        let query = format!("SELECT * FROM {}", of.text());
        self.run_in_engine(&Fragment(tokenize(&query).map_err(to_datafusion)?)).await
    }

    async fn show_table_extended(&self, database: Option<&Name>, like: &str) -> Result<DataFrame> {
        let (catalog, database) = self.resolve_database(database)?;
        let provider = self.require_paimon(&catalog)?;
        let names = provider.catalog().list_tables(&database).await.map_err(to_datafusion)?;
        let temporary = provider.temporary().of_database(&database).into_iter().map(|(name, _)| name);
        let names: BTreeSet<(bool, String)> =
            names.into_iter().map(|n| (false, n)).chain(temporary.map(|n| (true, n))).collect();
        let mut rows = Vec::new();
        for (is_temporary, name) in names.into_iter().filter(|(_, name)| matches(name, like)) {
            let information = match is_temporary {
                true => String::new(),
                false => {
                    let path = vec![catalog.clone(), database.clone(), name.clone()];
                    let (_, _, table) = self.table(&path, "SHOW TABLE EXTENDED").await?;
                    let schema = table.schema();
                    format!(
                        "Location: {}\nPrimary keys: {}\nPartition keys: {}\nComment: {}\nSchema id: {}",
                        table.location(),
                        schema.primary_keys.join(", "),
                        schema.partition_keys.join(", "),
                        schema.comment.as_deref().unwrap_or_default(),
                        schema.id
                    )
                }
            };
            rows.push(row([&database, &name, if is_temporary { "true" } else { "false" }, &information]));
        }
        self.rows(&["namespace", "tableName", "isTemporary", "information"], rows)
    }

    fn show_procedures(&self) -> Result<DataFrame> {
        let rows = crate::procedure::list().map(|procedure| {
            let parameters: Vec<String> = procedure
                .parameters
                .iter()
                .map(|p| if p.required { p.name.to_owned() } else { format!("[{}]", p.name) })
                .collect();
            let result: Vec<String> = (procedure.schema)().fields().iter().map(|f| f.name().clone()).collect();
            row([procedure.name, &parameters.join(", "), &result.join(", ")])
        });
        let mut rows: Vec<Row> = rows.collect();
        rows.sort();
        self.rows(&["procedure", "arguments", "result"], rows)
    }
}

/// The engine's words for a type of table.
fn type_words(kind: TableType) -> &'static str {
    match kind {
        TableType::Base => "BASE TABLE",
        TableType::View => "VIEW",
        TableType::Temporary => "LOCAL TEMPORARY",
    }
}

fn yes_or_no(yes: bool) -> &'static str {
    if yes { "YES" } else { "NO" }
}

/// The statement that creates an equal table.
///
/// # Errors
/// `InvalidInput` if a default cannot be written.
pub(super) fn definition(path: &ObjectPath, table: &Table) -> Result<String> {
    let schema = table.schema();
    let column = |field: &DataField| {
        // Defaults are stored as text, which a string literal gives back.
        let default = field.default_value.as_ref().map(|text| tokenize(&quote_string(text)).map(Fragment)).transpose();
        Ok(Column { field: field.clone(), default: default.map_err(to_datafusion)? })
    };
    let columns = schema.fields.iter().map(column).collect::<Result<Vec<_>>>()?;
    let some = |keys: &Vec<String>| (!keys.is_empty()).then(|| keys.clone());
    let shown = schema.options.iter().filter(|(key, _)| *key != "path");
    let create = CreateTable {
        name: vec![path.catalog.clone(), path.database.clone(), path.object.clone()],
        columns: Columns::Typed(columns),
        primary_key: some(&schema.primary_keys),
        partitioned_by: some(&schema.partition_keys),
        comment: schema.comment.clone().filter(|c| !c.is_empty()),
        options: shown
            .map(|(key, value)| (key.clone(), if is_secret(key) { "******".to_owned() } else { value.clone() }))
            .collect(),
        ..CreateTable::default()
    };
    Ok(Statement::CreateTable(Box::new(create)).to_string())
}

/// The statement that creates a table, for SHOW CREATE TABLE of the engine.
///
/// # Errors
/// As [`definition`].
pub(crate) fn table_definition(catalog: &str, table: &Table) -> Result<String> {
    let identifier = table.identifier();
    let path = ObjectPath {
        catalog: catalog.to_owned(),
        database: identifier.database().to_owned(),
        object: identifier.object().to_owned(),
    };
    definition(&path, table)
}

/// Whether a name matches a pattern of LIKE, in which `*` is `%` too.
fn matches(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) = (name.chars().collect(), pattern.chars().collect());
    // Greedy with one point to go back to: linear for the patterns that occur, never exponential.
    let (mut n, mut p, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('%' | '*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == '_' || *c == name[n] => {
                n += 1;
                p += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    p = at + 1;
                    n = from + 1;
                    star = Some((at, n));
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| matches!(c, '%' | '*'))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        let cases = [
            ("orders", "%", true),
            ("orders", "ord%", true),
            ("orders", "*ers", true),
            ("orders", "o_ders", true),
            ("orders", "o_ers", false),
            ("orders", "", false),
            ("", "%", true),
            ("aXbXc", "a%b%c", true),
            ("aab", "%a%a%a%", false),
        ];
        for (name, pattern, expected) in cases {
            assert_eq!(matches(name, pattern), expected, "{name} LIKE {pattern}");
        }
    }
}
