//! CREATE TABLE and REPLACE TABLE, also AS and LIKE.
//!
//! Invariants: a query is planned before the table is created, and the table is dropped again if the query fails; with
//! IF NOT EXISTS nothing is planned or written for a table that exists. A table is replaced when all rows of the new one are
//! written. Source: SQL sheet SQL-070 to SQL-085.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::Column as PlanColumn;
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as EngineStatement;
use datafusion::sql::sqlparser::ast::{Query, Statement as Ast};
use futures::FutureExt;
use paimon_core::error::Entity;
use paimon_core::runtime::{finish_in_background, supervised};
use paimon_core::types::{DataField, field_from_arrow};
use paimon_core::{Catalog, Error, ErrorKind, Identifier, Schema};

use crate::catalog::PaimonCatalogProvider;
use crate::error::to_datafusion;
use crate::sql::assign::assign_where_needed;
use crate::sql::constant::{default_text, evaluate_constant};
use crate::sql::parse::cursor::Name;
use crate::sql::session::{ObjectPath, Session};
use crate::sql::statement::{Columns, CreateTable, Like};
use crate::sql::tokens::Fragment;
use crate::sql::unique_names::make_names_unique;
use crate::write::WriteMode;

/// Options that LIKE does not copy: they say where a table is, not what it is.
const NOT_COPIED: [&str; 7] = ["path", "provider", "location", "owner", "external", "is_managed_location", "branch"];

impl Session<'_> {
    pub(super) async fn create_table(&self, table: &CreateTable) -> Result<DataFrame> {
        let (provider, path) = self.creation_target(&table.name)?;
        let catalog = provider.catalog();
        let identifier = path.identifier();
        if table.replace || table.or_replace && exists(&provider, &path).await? {
            return self.replace_table(&provider, &path, table).await;
        }
        if let Some(query) = &table.query {
            return self.create_table_as(&provider, &path, table, query).await;
        }
        if table.if_not_exists && exists(&provider, &path).await? {
            return self.ok();
        }
        let schema = self.schema_without_query(table).await?;
        catalog.create_table(&identifier, schema, table.if_not_exists).await.map_err(to_datafusion)?;
        self.ok()
    }

    async fn replace_table(
        &self,
        provider: &PaimonCatalogProvider,
        path: &ObjectPath,
        table: &CreateTable,
    ) -> Result<DataFrame> {
        self.refuse_selectors(provider, path, if table.replace { "REPLACE TABLE" } else { "CREATE OR REPLACE TABLE" })?;
        let (catalog, identifier) = (Arc::clone(provider.catalog()), path.identifier());
        let Some(query) = &table.query else {
            let schema = self.schema_without_query(table).await?;
            // Once begun it does not stop when the statement is given up.
            let work = async move { catalog.replace_table(&identifier, schema).await };
            supervised(Arc::default(), work).await.map_err(to_datafusion)?;
            return self.ok();
        };
        let (schema, input) = self.schema_and_rows(table, query).await?;
        let staged = catalog.stage_replacement(&identifier, schema).await.map_err(to_datafusion)?;
        let everything = WriteMode::OverwriteStatic(BTreeMap::new());
        self.run_plan(self.write_plan(path, staged, everything, input)).await
    }

    /// The table of a statement without AS.
    async fn schema_without_query(&self, table: &CreateTable) -> Result<Schema> {
        let (schema, from_like) = match &table.like {
            Some(like) => (self.schema_like(like).await?, true),
            None => (Schema { fields: self.fields(table)?, ..Schema::default() }, false),
        };
        complete(schema, table, from_like)
    }

    /// The table of a statement with AS, and the plan of its rows.
    async fn schema_and_rows(&self, table: &CreateTable, query: &Fragment) -> Result<(Schema, LogicalPlan)> {
        let plan = match table.columns {
            Columns::Absent => self.plan_query(query).await?,
            _ => self.plan_positional(query).await?,
        };
        let fields = self.fields_of_query(table, &plan)?;
        let schema = complete(Schema { fields: fields.clone(), ..Schema::default() }, table, false)?;
        Ok((schema, positional(plan, &fields, self.zone())?))
    }

    /// Where an object is created: no branch, no system table.
    pub(super) fn creation_target(&self, name: &Name) -> Result<(PaimonCatalogProvider, ObjectPath)> {
        let path = self.resolve(name);
        if path.object.contains('$') {
            return Err(to_datafusion(Error::invalid_input(format!(
                "{}: '$' separates branch and system names, so a new name cannot hold it",
                path.object
            ))));
        }
        Ok((self.require_paimon(&path.catalog)?, path))
    }

    /// The typed columns with their defaults evaluated.
    pub(super) fn fields(&self, table: &CreateTable) -> Result<Vec<DataField>> {
        let Columns::Typed(columns) = &table.columns else { return Ok(Vec::new()) };
        columns
            .iter()
            .map(|column| {
                let mut field = column.field.clone();
                if let Some(default) = &column.default {
                    let value = evaluate_constant(&self.state, default)?;
                    field.default_value = default_text(&value, &field.name, &field.data_type)?;
                }
                Ok(field)
            })
            .collect()
    }

    /// What LIKE copies.
    async fn schema_like(&self, like: &Like) -> Result<Schema> {
        let path = self.resolve(&like.source);
        if let Some(provider) = self.paimon(&path.catalog)
            && !provider.temporary().contains(&path.database, &path.object)
            && path.identifier().system_table().is_none()
        {
            let table = provider.catalog().get_table(&path.identifier()).await.map_err(to_datafusion)?;
            let source = table.schema();
            let copied = |key: &str| {
                !NOT_COPIED.contains(&key) && !key.starts_with("scan.") && !key.starts_with("incremental-between")
            };
            let options = source.options.iter().filter(|(key, _)| like.options && copied(key));
            return Ok(Schema {
                fields: source.fields.clone(),
                partition_keys: source.partition_keys.clone(),
                primary_keys: source.primary_keys.clone(),
                options: options.map(|(k, v)| (k.clone(), v.clone())).collect(),
                comment: source.comment.clone(),
            });
        }
        let schema = self.schema_provider(&path.catalog, &path.database)?;
        let Some(source) = schema.table(&path.object).await? else {
            return Err(to_datafusion(Error::not_found(
                Entity::Table,
                format!("Table {}.{} does not exist.", path.database, path.object),
            )));
        };
        let mut next = 0;
        let fields = source.schema().fields().iter().map(|f| field_from_arrow(f, &mut next)).collect::<Result<_, _>>();
        Ok(Schema { fields: fields.map_err(to_datafusion)?, ..Schema::default() })
    }

    async fn create_table_as(
        &self,
        provider: &PaimonCatalogProvider,
        path: &ObjectPath,
        table: &CreateTable,
        query: &Fragment,
    ) -> Result<DataFrame> {
        let identifier = path.identifier();
        if exists(provider, path).await? {
            return match table.if_not_exists {
                true => self.count(0),
                false => Err(to_datafusion(Error::already_exists(
                    Entity::Table,
                    format!("Table {identifier} already exists."),
                ))),
            };
        }
        let (schema, input) = self.schema_and_rows(table, query).await?;
        let (catalog, created) = (Arc::clone(provider.catalog()), identifier.clone());
        // Creating does not stop when the statement is given up: then the table is handed over in the background.
        let work = async move {
            catalog.create_table(&created, schema, false).await?;
            Ok(Unfilled(Some((catalog, created))))
        };
        let unfilled = match supervised(Arc::default(), work).await {
            // Another one was faster.
            Err(error) if table.if_not_exists && error.kind() == ErrorKind::AlreadyExists(Entity::Table) => {
                return self.count(0);
            }
            other => other.map_err(to_datafusion)?,
        };
        let filled = async {
            let created = provider.catalog().get_table(&identifier).await.map_err(to_datafusion)?;
            let plan = self.write_plan(path, created, WriteMode::Append, input);
            self.run_plan(plan).await
        };
        // Boxed, so that it is gone before the table is dropped.
        let outcome = filled.boxed().await;
        match outcome {
            Ok(count) => {
                unfilled.keep();
                Ok(count)
            }
            Err(error) => {
                unfilled.remove().await;
                Err(error)
            }
        }
    }

    /// Plans a query of a statement of ours.
    ///
    /// # Errors
    /// Those of the engine; `InvalidInput` if it is no query.
    pub(super) async fn plan_query(&self, query: &Fragment) -> Result<LogicalPlan> {
        let query = self.parse_query(query)?;
        self.plan_parsed(query).await
    }

    /// As [`Session::plan_query`], for a query whose columns are taken by position: two of them may have one name.
    ///
    /// # Errors
    /// As [`Session::plan_query`].
    pub(super) async fn plan_positional(&self, query: &Fragment) -> Result<LogicalPlan> {
        let mut query = self.parse_query(query)?;
        make_names_unique(&mut query);
        self.plan_parsed(query).await
    }

    /// Parses a query of a statement of ours.
    ///
    /// # Errors
    /// Those of the engine; `InvalidInput` if it is no query.
    pub(super) fn parse_query(&self, query: &Fragment) -> Result<Box<Query>> {
        if let EngineStatement::Statement(statement) = self.parse_for_engine(query)?
            && let Ast::Query(query) = *statement
        {
            return Ok(query);
        }
        Err(to_datafusion(Error::invalid_input(format!("expected a query, found {query}"))))
    }

    /// Plans a query.
    ///
    /// # Errors
    /// Those of the engine.
    pub(super) async fn plan_parsed(&self, query: Box<Query>) -> Result<LogicalPlan> {
        self.plan_for_engine(EngineStatement::Statement(Box::new(Ast::Query(query)))).await
    }

    /// The columns of CREATE TABLE AS: those given, else those of the query, all of them nullable.
    fn fields_of_query(&self, table: &CreateTable, plan: &LogicalPlan) -> Result<Vec<DataField>> {
        let columns = plan.schema().fields();
        let count = |given: usize| {
            if given == columns.len() {
                return Ok(());
            }
            Err(to_datafusion(Error::invalid_input(format!(
                "the table has {given} columns, but the query has {}",
                columns.len()
            ))))
        };
        if let Columns::Typed(given) = &table.columns {
            count(given.len())?;
            return self.fields(table);
        }
        let names: Vec<String> = match &table.columns {
            Columns::Named(names) => names.clone(),
            _ => columns.iter().map(|f| f.name().clone()).collect(),
        };
        count(names.len())?;
        if let Some(twice) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
            return Err(to_datafusion(Error::invalid_input(format!(
                "the query has two columns called {}; give one another name with AS",
                twice.1
            ))));
        }
        let mut next = 0;
        columns
            .iter()
            .zip(names)
            .map(|(column, name)| {
                let field = column.as_ref().clone().with_name(name).with_nullable(true);
                field_from_arrow(&field, &mut next).map_err(to_datafusion)
            })
            .collect()
    }
}

/// A table that is dropped again unless it was filled, also if the statement is given up: after whatever the insert still
/// has to end.
struct Unfilled(Option<(Arc<dyn Catalog>, Identifier)>);

impl Unfilled {
    fn keep(mut self) {
        self.0 = None;
    }

    async fn remove(mut self) {
        if let Some((catalog, identifier)) = self.0.take() {
            // The error of the insert says why; one of the clean-up would only hide it.
            let _ = catalog.drop_table(&identifier, true).await;
        }
    }
}

impl Drop for Unfilled {
    fn drop(&mut self) {
        if let Some((catalog, identifier)) = self.0.take() {
            finish_in_background(async move { drop(catalog.drop_table(&identifier, true).await) });
        }
    }
}

/// Whether the table is there.
async fn exists(provider: &PaimonCatalogProvider, path: &ObjectPath) -> Result<bool> {
    match provider.catalog().get_table(&path.identifier()).await {
        Ok(_) => Ok(true),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound(Entity::Table | Entity::Database)) => Ok(false),
        Err(e) => Err(to_datafusion(e)),
    }
}

/// The columns of a plan by position, under the names of a table.
fn positional(plan: LogicalPlan, fields: &[DataField], zone: Option<&str>) -> Result<LogicalPlan> {
    let schema = plan.schema().clone();
    let exprs = fields
        .iter()
        .enumerate()
        .map(|(i, field)| {
            let column = Expr::Column(PlanColumn::from(schema.qualified_field(i)));
            Ok(assign_where_needed(column, field, &schema, zone)?.alias(&field.name))
        })
        .collect::<Result<Vec<_>>>()?;
    LogicalPlanBuilder::from(plan).project(exprs)?.build()
}

/// Adds keys, comment and options of the statement.
fn complete(mut schema: Schema, table: &CreateTable, from_like: bool) -> Result<Schema> {
    let mut options: BTreeMap<String, String> = table.options.iter().cloned().collect();
    let list = |text: String| text.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>();
    let one = |ddl: Option<Vec<String>>, option: Option<String>, what: &str| match (ddl, option) {
        (Some(_), Some(_)) => Err(to_datafusion(Error::invalid_input(format!(
            "Cannot define {what} on DDL and table options at the same time."
        )))),
        (ddl, option) => Ok(ddl.or(option.map(list))),
    };
    let copied = |keys: &Vec<String>| (from_like && !keys.is_empty()).then(|| keys.clone());
    let primary_key = table.primary_key.clone().or_else(|| copied(&schema.primary_keys));
    if let Some(keys) = one(primary_key, options.remove("primary-key"), "primary key")? {
        schema.primary_keys = keys;
    }
    let partition = table.partitioned_by.clone().or_else(|| copied(&schema.partition_keys));
    if let Some(keys) = one(partition, options.remove("partition"), "partition")? {
        schema.partition_keys = keys;
    }
    if let Some(comment) = options.remove("comment").or_else(|| table.comment.clone()) {
        schema.comment = Some(comment);
    }
    schema.options.extend(options);
    Ok(schema)
}
