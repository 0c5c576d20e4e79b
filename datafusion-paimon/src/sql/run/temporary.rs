//! Temporary tables and views. Source: SQL sheet SQL-082, SQL-300 to SQL-302.

use std::ops::ControlFlow;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::catalog::view::ViewTable;
use datafusion::common::DataFusionError;
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::Statement as EngineStatement;
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, Query, Statement as Ast, VisitMut, VisitorMut};
use paimon_core::Error;
use paimon_core::catalog::CatalogTable;
use paimon_core::error::Entity;
use paimon_core::types::{RowType, to_arrow_schema};

use crate::catalog::{ExpandedView, TemporaryObject, TemporaryView};
use crate::error::{invalid_input, to_datafusion};
use crate::sql::engine::INFORMATION_SCHEMA;
use crate::sql::parse::cursor::{Cursor, Name};
use crate::sql::session::{ObjectPath, Session};
use crate::sql::statement::{Columns, CreateTable, CreateView};
use crate::sql::tokens::tokenize;

impl Session<'_> {
    pub(super) async fn create_temporary_table(&self, table: &CreateTable) -> Result<DataFrame> {
        let refused = [
            (table.primary_key.is_some(), "PRIMARY KEY"),
            (table.partitioned_by.is_some(), "PARTITIONED BY"),
            (!table.options.is_empty(), "options"),
            (table.comment.is_some(), "COMMENT"),
            (table.like.is_some(), "LIKE"),
        ];
        if let Some((_, what)) = refused.iter().find(|(given, _)| *given) {
            return Err(to_datafusion(Error::unsupported(format!("{what} of a temporary table is not supported"))));
        }
        let path = self.temporary_target(&table.name)?;
        if self.temporary(&path).is_some() {
            return if table.if_not_exists { self.ok() } else { Err(already_exists(&path)) };
        }
        let memory = match &table.query {
            Some(query) => {
                let frame = DataFrame::new(self.state.clone(), self.plan_query(query).await?);
                let schema = self.temporary_schema(table, frame.schema().as_arrow())?;
                let batches = frame.collect().await?;
                let batches = batches
                    .into_iter()
                    .map(|b| {
                        let columns = b
                            .columns()
                            .iter()
                            .zip(schema.fields())
                            .map(|(c, f)| cast(c, f.data_type()))
                            .collect::<Result<Vec<_>, _>>()?;
                        RecordBatch::try_new(Arc::clone(&schema), columns)
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                MemTable::try_new(schema, vec![batches])?
            }
            None => {
                if let Columns::Typed(columns) = &table.columns
                    && let Some(column) = columns.iter().find(|c| c.default.is_some())
                {
                    return Err(to_datafusion(Error::unsupported(format!(
                        "DEFAULT of column {} of a temporary table is not supported",
                        column.field.name
                    ))));
                }
                let schema = strip(&to_arrow_schema(&RowType::new(self.fields(table)?)));
                MemTable::try_new(schema, vec![vec![]])?
            }
        };
        self.place(&path, TemporaryObject::Table(Arc::new(memory)))?;
        self.ok()
    }

    /// Where a temporary object is made: in any catalog; its database need not exist, but in the engine's catalogs.
    fn temporary_target(&self, name: &Name) -> Result<ObjectPath> {
        let path = self.resolve(name);
        if path.object.contains('$') {
            return invalid_input(format!(
                "{}: '$' separates branch and system names, so a new name cannot hold it",
                path.object
            ));
        }
        if [CatalogTable::DATABASE, INFORMATION_SCHEMA].contains(&path.database.as_str()) {
            return invalid_input(format!("{} is read only; a temporary name cannot be in it", path.database));
        }
        if !self.has_catalog(&path.catalog) {
            self.require_paimon(&path.catalog)?;
        }
        if self.paimon(&path.catalog).is_none() {
            self.schema_provider(&path.catalog, &path.database)?;
        }
        Ok(path)
    }

    /// Makes a temporary object, in place of one of its name.
    fn place(&self, path: &ObjectPath, object: TemporaryObject) -> Result<()> {
        if self.paimon(&path.catalog).is_none() {
            let schema = self.schema_provider(&path.catalog, &path.database)?;
            if self.temporary(path).is_some() {
                schema.deregister_table(&path.object)?;
            } else if schema.table_exist(&path.object) {
                return Err(already_exists(path));
            }
            let provider: Arc<dyn TableProvider> = match &object {
                TemporaryObject::Table(table) => Arc::clone(table),
                TemporaryObject::View(view) => Arc::new(ExpandedView::new(Arc::clone(view))),
            };
            schema.register_table(path.object.clone(), provider)?;
        }
        self.temporary_objects(&path.catalog).insert(&path.database, &path.object, object);
        Ok(())
    }

    /// The parts of a name that is given as text.
    fn name_of(&self, name: &str) -> Result<Name> {
        let mut cursor = Cursor::new(tokenize(name).map_err(to_datafusion)?, self.folds());
        let parts = cursor.name().map_err(to_datafusion)?;
        if !cursor.at_end() {
            return invalid_input(format!("'{name}' is no name of a table"));
        }
        Ok(parts)
    }

    /// Drops a temporary table or view under a name of one to three parts.
    pub(in crate::sql) fn deregister(&self, name: &str) -> Result<()> {
        let parts = self.name_of(name)?;
        let views = matches!(self.temporary(&self.resolve(&parts)), Some(TemporaryObject::View(_)));
        self.drop_temporary(&[parts], false, views).map(|_| ())
    }

    /// Keeps batches as a temporary table under a name of one to three parts.
    pub(in crate::sql) fn register_batches(
        &self,
        name: &str,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<()> {
        let parts = self.name_of(name)?;
        let path = self.temporary_target(&parts)?;
        if self.temporary(&path).is_some() {
            return Err(already_exists(&path));
        }
        let memory = MemTable::try_new(schema, vec![batches])?;
        self.place(&path, TemporaryObject::Table(Arc::new(memory)))
    }

    /// The columns of a temporary table AS query: those given, else those of the query.
    fn temporary_schema(&self, table: &CreateTable, query: &Schema) -> Result<SchemaRef> {
        let fields: Vec<Field> = match &table.columns {
            Columns::Absent => query.fields().iter().map(|f| f.as_ref().clone()).collect(),
            Columns::Named(names) if names.len() == query.fields().len() => {
                query.fields().iter().zip(names).map(|(f, name)| f.as_ref().clone().with_name(name)).collect()
            }
            Columns::Typed(columns) if columns.len() == query.fields().len() => {
                return Ok(strip(&to_arrow_schema(&RowType::new(self.fields(table)?))));
            }
            _ => {
                return Err(to_datafusion(Error::invalid_input(format!(
                    "the query has {} columns, another number than the table",
                    query.fields().len()
                ))));
            }
        };
        let nullable = fields.into_iter().map(|f| f.with_nullable(true)).collect::<Vec<_>>();
        Ok(Arc::new(Schema::new(nullable)))
    }

    /// Drops temporary views, or temporary tables; none if one of the names is wrong.
    pub(super) fn drop_temporary(&self, names: &[Name], if_exists: bool, views: bool) -> Result<DataFrame> {
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let path = self.resolve(name);
            if !self.has_catalog(&path.catalog) {
                self.require_paimon(&path.catalog)?;
            }
            let fits = match self.temporary(&path) {
                Some(TemporaryObject::View(_)) => views,
                Some(TemporaryObject::Table(_)) => !views,
                None => false,
            };
            if fits {
                found.push(path);
            } else if !if_exists {
                let kind = if views { "view" } else { "table" };
                return Err(to_datafusion(Error::not_found(
                    Entity::Table,
                    format!("Temporary {kind} {} does not exist.", path.text()),
                )));
            }
        }
        for path in found {
            if self.paimon(&path.catalog).is_none() {
                self.schema_provider(&path.catalog, &path.database)?.deregister_table(&path.object)?;
            }
            self.temporary_objects(&path.catalog).remove(&path.database, &path.object);
        }
        self.ok()
    }

    pub(super) async fn create_view(&self, view: &CreateView) -> Result<DataFrame> {
        let path = self.temporary_target(&view.name)?;
        if self.temporary(&path).is_some() {
            if view.if_not_exists {
                return self.ok();
            }
            if !view.or_replace {
                return Err(already_exists(&path));
            }
        }
        let EngineStatement::Statement(mut statement) = self.parse_for_engine(&view.query)? else {
            return Err(to_datafusion(Error::invalid_input("a view needs a query")));
        };
        if !matches!(statement.as_ref(), Ast::Query(_)) {
            return Err(to_datafusion(Error::invalid_input("a view needs a query")));
        }
        self.qualify(&mut statement);
        self.refuse_recursion(&path, &statement)?;
        let definition = crate::sql::statement::Statement::CreateView(Box::new(view.clone())).to_string();
        let mut planned = View {
            schema: Arc::new(Schema::empty()),
            statement: *statement,
            columns: view.columns.clone(),
            state: {
                let state = self.context.state_weak_ref();
                Box::new(move || state.upgrade().map(|state| state.read().clone()))
            },
            definition,
        };
        // Mistakes are told now, not at the first use.
        planned.schema = Arc::new(planned.plan(&self.state).await?.schema().as_arrow().clone());
        self.place(&path, TemporaryObject::View(Arc::new(planned)))?;
        self.ok()
    }

    /// Gives every table of a query its full name, so that USE does not change what a view means.
    fn qualify(&self, statement: &mut Ast) {
        let mut qualifier = Qualifier { session: self, ctes: Vec::new() };
        let ControlFlow::Continue(()) = statement.visit(&mut qualifier);
    }

    /// A view may not read itself, also through others.
    fn refuse_recursion(&self, path: &ObjectPath, statement: &Ast) -> Result<()> {
        let statement = EngineStatement::Statement(Box::new(statement.clone()));
        let reads = self.state.resolve_table_references(&statement)?;
        let target = path.reference();
        let target_text = target.to_string();
        let mut open: Vec<String> = reads.iter().map(ToString::to_string).collect();
        let mut seen = Vec::new();
        while let Some(name) = open.pop() {
            if name == target_text {
                return Err(to_datafusion(Error::invalid_input(format!("view {} would read itself", path.text()))));
            }
            if seen.contains(&name) {
                continue;
            }
            if let Some(view) = self.view_named(&name) {
                open.extend(view);
            }
            seen.push(name);
        }
        Ok(())
    }

    /// Names of the tables that a temporary view reads.
    fn view_named(&self, reference: &str) -> Option<Vec<String>> {
        let reference = datafusion::common::TableReference::parse_str_normalized(reference, true);
        match self.temporary_objects(reference.catalog()?).get(reference.schema()?, reference.table())? {
            TemporaryObject::View(view) => Some(view.reads()),
            TemporaryObject::Table(_) => None,
        }
    }
}

fn already_exists(path: &ObjectPath) -> DataFusionError {
    to_datafusion(Error::already_exists(Entity::Table, format!("Temporary object {} already exists.", path.text())))
}

/// A schema without the metadata of the format.
fn strip(schema: &Schema) -> SchemaRef {
    let fields = schema.fields().iter().map(|f| f.as_ref().clone().with_metadata(Default::default()));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Completes names of tables.
struct Qualifier<'s, 'c> {
    session: &'s Session<'c>,
    ctes: Vec<Vec<String>>,
}

impl VisitorMut for Qualifier<'_, '_> {
    type Break = std::convert::Infallible;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Self::Break> {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        self.ctes.push(ctes.map(|cte| self.normal(&cte.alias.name)).collect());
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Self::Break> {
        self.ctes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(
        &mut self,
        factor: &mut datafusion::sql::sqlparser::ast::TableFactor,
    ) -> ControlFlow<Self::Break> {
        use datafusion::sql::sqlparser::ast::TableFactor;
        if let TableFactor::Table { name, alias, args: None, .. } = factor {
            let parts: Option<Name> = name.0.iter().map(|p| p.as_ident().map(|i| self.normal(i))).collect();
            if let Some(parts) = parts
                && parts.len() <= 3
                && !(parts.len() == 1 && self.ctes.iter().flatten().any(|cte| *cte == parts[0]))
            {
                let path = self.session.resolve(&parts);
                let object = Ident::with_quote('"', path.object);
                // Columns may be qualified with the bare name.
                if alias.is_none() {
                    *alias = Some(datafusion::sql::sqlparser::ast::TableAlias {
                        explicit: true,
                        name: object.clone(),
                        columns: Vec::new(),
                        at: None,
                    });
                }
                let quoted = [path.catalog, path.database].map(|part| Ident::with_quote('"', part));
                *name = ObjectName::from(quoted.into_iter().chain([object]).collect::<Vec<_>>());
            }
        }
        ControlFlow::Continue(())
    }
}

impl Qualifier<'_, '_> {
    fn normal(&self, ident: &Ident) -> String {
        match ident.quote_style {
            None if self.session.folds() => ident.value.to_ascii_lowercase(),
            _ => ident.value.clone(),
        }
    }
}

/// A temporary view.
struct View {
    /// The columns when it was created.
    schema: SchemaRef,
    statement: Ast,
    columns: Option<Vec<String>>,
    /// The session as it is now, while it lives.
    state: Box<dyn Fn() -> Option<SessionState> + Send + Sync>,
    definition: String,
}

impl std::fmt::Debug for View {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.definition)
    }
}

impl View {
    async fn plan(&self, state: &SessionState) -> Result<LogicalPlan> {
        let plan = state.statement_to_plan(EngineStatement::Statement(Box::new(self.statement.clone()))).await?;
        let Some(columns) = &self.columns else { return Ok(plan) };
        let schema = Arc::clone(plan.schema());
        if columns.len() != schema.fields().len() {
            return Err(to_datafusion(Error::invalid_input(format!(
                "the view has {} columns, but its query has {}",
                columns.len(),
                schema.fields().len()
            ))));
        }
        let rename = |(i, name): (usize, &String)| {
            Expr::Column(datafusion::common::Column::from(schema.qualified_field(i))).alias(name)
        };
        LogicalPlanBuilder::from(plan).project(columns.iter().enumerate().map(rename).collect::<Vec<_>>())?.build()
    }
}

#[async_trait]
impl TemporaryView for View {
    async fn expand(&self) -> Result<Arc<dyn TableProvider>> {
        let Some(state) = (self.state)() else {
            return Err(to_datafusion(Error::invalid_state("the session of a temporary view has ended")));
        };
        let plan = self.plan(&state).await?;
        Ok(Arc::new(ViewTable::new(plan, Some(self.definition.clone()))))
    }

    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn reads(&self) -> Vec<String> {
        let statement = EngineStatement::Statement(Box::new(self.statement.clone()));
        match datafusion::sql::resolve::resolve_table_references(&statement, true) {
            Ok((tables, _)) => tables.iter().map(ToString::to_string).collect(),
            Err(_) => Vec::new(),
        }
    }
}
