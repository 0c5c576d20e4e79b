//! INSERT INTO and INSERT OVERWRITE.
//!
//! Invariants: the rows reach the writer in table order with the table's types; a value that does not fit is an error; a
//! column that is left out gets its default. Source: SQL sheet SQL-130 to SQL-144.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session as EngineSession, TableProvider};
use datafusion::common::{Column, DataFusionError, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{DmlStatement, Expr, LogicalPlan, LogicalPlanBuilder, TableType, WriteOp};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::DataFrame;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use paimon_core::error::Entity;
use paimon_core::meta::Travel;
use paimon_core::types::{DataField, DataType, arrow_type, to_arrow_schema};
use paimon_core::{Error, Table};

use super::partition::partition_column;
use crate::catalog::PaimonCatalogProvider;
use crate::error::{to_datafusion, unsupported};
use crate::expr::to_scalar;
use crate::sql::assign::assign_where_needed;
use crate::sql::constant::cast;
use crate::sql::exact::kept_decimal;
use crate::sql::parse::cursor::Cursor;
use crate::sql::session::{ObjectPath, Session};
use crate::sql::statement::Insert;
use crate::sql::tokens::Fragment;
use crate::write::{WriteMode, insert_plan};

impl Session<'_> {
    pub(super) async fn insert(&self, insert: &Insert, original: &Fragment) -> Result<DataFrame> {
        let path = self.resolve(&insert.target);
        let provider = self.require_paimon(&path.catalog)?;
        if provider.temporary().contains(&path.database, &path.object) {
            return self.run_in_engine(original).await;
        }
        let plan = self.plan_insert(insert).await?;
        self.run_plan(plan).await
    }

    /// The plan that writes the rows of an INSERT when it runs.
    ///
    /// # Errors
    /// Those of planning: names, types, columns that must be given.
    pub(super) async fn plan_insert(&self, insert: &Insert) -> Result<LogicalPlan> {
        let what = if insert.overwrite { "INSERT OVERWRITE" } else { "INSERT" };
        let (provider, path) = self.target(&insert.target, what)?;
        self.refuse_selectors(&provider, &path, what)?;
        let table = self.insert_table(&provider, &path, insert).await?;
        let (fixed, mode) = self.insert_partition(&table, insert)?;
        let given = self.given_columns(&table, insert, &fixed).await?;
        let input = match &insert.source {
            Some(source) => self.source_plan(&table, &given, insert.by_name, source).await?,
            None => Source { plan: LogicalPlanBuilder::empty(true).build()?, by_name: true },
        };
        let given = if insert.source.is_some() { given } else { Vec::new() };
        let input = rows(&table, input, &given, &fixed, self.zone())?;
        Ok(self.write_plan(&path, table, mode, input))
    }

    /// A plan that writes the rows of `input` when it runs.
    pub(super) fn write_plan(
        &self,
        path: &ObjectPath,
        table: Table,
        mode: WriteMode,
        input: LogicalPlan,
    ) -> LogicalPlan {
        let target = provider_as_source(Arc::new(InsertTarget::new(table, mode)));
        let op = WriteOp::Insert(InsertOp::Append);
        LogicalPlan::Dml(DmlStatement::new(path.reference(), target, op, Arc::new(input)))
    }

    async fn insert_table(
        &self,
        provider: &PaimonCatalogProvider,
        path: &ObjectPath,
        insert: &Insert,
    ) -> Result<Table> {
        let hint: BTreeMap<String, Option<String>> =
            insert.hint.iter().map(|(key, value)| (key.clone(), Some(value.clone()))).collect();
        if let Some(key) = hint.keys().find(|key| selects(key)) {
            return Err(to_datafusion(Error::invalid_input(format!(
                "the option '{key}' chooses what is read and cannot be given for the target of INSERT"
            ))));
        }
        self.look_up(provider, path).await?;
        provider.table_with(&path.identifier(), &hint).await.map_err(to_datafusion)
    }

    /// Refuses a change of a table while a selector is set for it: it would change another snapshot than the one shown.
    pub(super) fn refuse_selectors(
        &self,
        provider: &PaimonCatalogProvider,
        path: &ObjectPath,
        what: &str,
    ) -> Result<()> {
        let options = provider.dynamic_options().for_table(provider.name(), &path.identifier());
        match options.keys().find(|key| selects(key)) {
            Some(key) => Err(to_datafusion(Error::invalid_input(format!(
                "Cannot execute {what} while '{key}' is set; RESET 'paimon.{key}' first"
            )))),
            None => Ok(()),
        }
    }

    /// Values of PARTITION, cast, and what is replaced.
    fn insert_partition(&self, table: &Table, insert: &Insert) -> Result<(BTreeMap<String, ScalarValue>, WriteMode)> {
        let spec = insert.partition.as_deref().unwrap_or_default();
        let values = self.partition_spec(table, spec)?;
        let mut fixed = BTreeMap::new();
        for (name, value) in &values {
            let field = partition_column(table, name)?;
            let scalar = to_scalar(value.as_ref(), &arrow_type(&field.data_type)).map_err(to_datafusion)?;
            fixed.insert(name.clone(), scalar);
        }
        let mode = match (insert.overwrite, values.is_empty()) {
            (false, _) => WriteMode::Append,
            (true, true) => WriteMode::overwrite(table)?,
            (true, false) => WriteMode::OverwriteStatic(values),
        };
        Ok((fixed, mode))
    }

    /// The columns that the source gives, in its order.
    async fn given_columns(
        &self,
        table: &Table,
        insert: &Insert,
        fixed: &BTreeMap<String, ScalarValue>,
    ) -> Result<Vec<String>> {
        let all = table.schema().fields.iter().map(|f| f.name.clone());
        let columns = match (&insert.columns, insert.by_name, &insert.source) {
            (Some(columns), ..) => columns.clone(),
            (None, true, Some(source)) => {
                let plan = self.plan_query(source).await?;
                plan.schema().fields().iter().map(|f| f.name().clone()).collect()
            }
            _ => return Ok(all.filter(|name| !fixed.contains_key(name)).collect()),
        };
        for (i, name) in columns.iter().enumerate() {
            if !table.schema().fields.iter().any(|f| f.name == *name) {
                return Err(to_datafusion(Error::not_found(
                    Entity::Column,
                    format!("Column {name} does not exist in the {} table.", table.identifier()),
                )));
            }
            if columns[..i].contains(name) || fixed.contains_key(name) {
                return Err(to_datafusion(Error::invalid_input(format!("column {name} is given twice"))));
            }
        }
        Ok(columns)
    }

    /// The rows of the source.
    async fn source_plan(&self, table: &Table, given: &[String], by_name: bool, source: &Fragment) -> Result<Source> {
        let is_values = Cursor::new(source.0.clone(), true).is("VALUES");
        if is_values && !given.is_empty() {
            let fields = given.iter().filter_map(|name| table.schema().fields.iter().find(|f| f.name == *name));
            let fields: Vec<&DataField> = fields.collect();
            let tokens = with_defaults(source, table, given)?;
            if let Some(plan) = self.plan_values(&fields, &Fragment(tokens))? {
                return Ok(Source { plan, by_name: false });
            }
        }
        let plan = if by_name { self.plan_query(source).await? } else { self.plan_positional(source).await? };
        if plan.schema().fields().len() != given.len() {
            return Err(to_datafusion(Error::invalid_input(format!(
                "{} columns are to be filled ({}), but the query has {}",
                given.len(),
                given.join(", "),
                plan.schema().fields().len()
            ))));
        }
        let fields = given.iter().map(|name| table.schema().fields.iter().find(|f| f.name == *name));
        Ok(Source { plan: with_exact_numbers(plan, &fields.collect::<Vec<_>>())?, by_name: false })
    }
}

/// The plan of a query with its literals for DECIMAL columns at their exact value.
fn with_exact_numbers(plan: LogicalPlan, fields: &[Option<&DataField>]) -> Result<LogicalPlan> {
    let LogicalPlan::Projection(projection) = &plan else { return Ok(plan) };
    let exact = |(expr, field): (&Expr, &Option<&DataField>)| {
        let decimal = field.is_some_and(|f| matches!(f.data_type, DataType::Decimal(_)));
        let value = kept_decimal(&expr.clone().unalias()).filter(|_| decimal)?;
        Some(Expr::Literal(value, None).alias(expr.schema_name().to_string()))
    };
    let exprs: Vec<Option<Expr>> = projection.expr.iter().zip(fields).map(exact).collect();
    if exprs.iter().all(Option::is_none) {
        return Ok(plan);
    }
    let exprs = exprs.into_iter().zip(&projection.expr).map(|(exact, expr)| exact.unwrap_or_else(|| expr.clone()));
    LogicalPlanBuilder::from(projection.input.as_ref().clone()).project(exprs.collect::<Vec<_>>())?.build()
}

/// Whether an option chooses what is read.
fn selects(key: &str) -> bool {
    Travel::KEYS.contains(&key) || key.starts_with("incremental-") || key == "scan.mode"
}

/// The rows of a source, and whether its columns are those of the table by name.
struct Source {
    plan: LogicalPlan,
    by_name: bool,
}

/// The source with DEFAULT in VALUES replaced by the column's default, or by NULL.
fn with_defaults(source: &Fragment, table: &Table, given: &[String]) -> Result<Vec<TokenWithSpan>> {
    let mut tokens = source.0.clone();
    let mut depth = 0_usize;
    let mut column = 0;
    for i in 0..tokens.len() {
        match tokens[i].token {
            Token::LParen => {
                depth += 1;
                if depth == 1 {
                    column = 0;
                }
            }
            Token::RParen => depth = depth.saturating_sub(1),
            Token::Comma if depth == 1 => column += 1,
            _ => {}
        }
        let alone = i > 0
            && matches!(tokens[i - 1].token, Token::LParen | Token::Comma)
            && matches!(tokens.get(i + 1).map(|t| &t.token), Some(Token::RParen | Token::Comma));
        let word = matches!(&tokens[i].token, Token::Word(w) if w.quote_style.is_none() && w.value.eq_ignore_ascii_case("DEFAULT"));
        if depth == 1 && alone && word {
            let field = given.get(column).and_then(|name| table.schema().fields.iter().find(|f| f.name == *name));
            tokens[i].token = match field {
                Some(DataField { default_value: Some(text), .. }) => Token::SingleQuotedString(text.clone()),
                Some(field) if !field.data_type.is_nullable() => return Err(must_be_given(table, field)),
                _ => Token::make_keyword("NULL"),
            };
        }
    }
    Ok(tokens)
}

fn must_be_given(table: &Table, field: &DataField) -> DataFusionError {
    to_datafusion(Error::schema_mismatch(format!(
        "column {} of {} does not allow null and has no default, so it must be given",
        field.name,
        table.identifier()
    )))
}

/// The source with all columns of the table, in its order and with its types.
fn rows(
    table: &Table,
    source: Source,
    given: &[String],
    fixed: &BTreeMap<String, ScalarValue>,
    zone: Option<&str>,
) -> Result<LogicalPlan> {
    let schema = Arc::clone(source.plan.schema());
    let mut exprs = Vec::with_capacity(table.schema().fields.len());
    for field in &table.schema().fields {
        let data_type = arrow_type(&field.data_type);
        let expr = match (fixed.get(&field.name), given.iter().position(|name| *name == field.name)) {
            (Some(value), _) => Expr::Literal(value.clone(), None),
            (None, Some(_)) if source.by_name => Expr::Column(Column::from_name(&field.name)),
            (None, Some(i)) => Expr::Column(Column::from(schema.qualified_field(i))),
            (None, None) => match &field.default_value {
                Some(text) => {
                    let text = ScalarValue::Utf8(Some(text.clone()));
                    Expr::Literal(cast(&text, &field.name, &field.data_type, None)?, None)
                }
                None if !field.data_type.is_nullable() => return Err(must_be_given(table, field)),
                None => Expr::Literal(ScalarValue::try_from(&data_type)?, None),
            },
        };
        exprs.push(assign_where_needed(expr, field, &schema, zone)?.alias(&field.name));
    }
    LogicalPlanBuilder::from(source.plan).project(exprs)?.build()
}

/// The table of an INSERT, with what the INSERT does to rows that are there.
#[derive(Debug)]
struct InsertTarget {
    table: Table,
    mode: WriteMode,
}

impl InsertTarget {
    fn new(table: Table, mode: WriteMode) -> Self {
        Self { table, mode }
    }
}

#[async_trait::async_trait]
impl TableProvider for InsertTarget {
    fn schema(&self) -> SchemaRef {
        to_arrow_schema(&self.table.schema().row_type())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        _: &dyn EngineSession,
        _: Option<&Vec<usize>>,
        _: &[Expr],
        _: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        unsupported("reading the target of an INSERT")
    }

    async fn insert_into(
        &self,
        _: &dyn EngineSession,
        input: Arc<dyn ExecutionPlan>,
        _: InsertOp,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        insert_plan(self.table.clone(), input, self.mode.clone())
    }
}
