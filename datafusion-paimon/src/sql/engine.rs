//! Statements that the engine plans: parsed with our dialect, checked for parts that it would ignore, planned, run.
//!
//! Invariants: a clause that the engine parses and drops is refused by name; errors of the core keep their kind.
//! Source: SQL sheet SQL-001, SQL-002, SQL-006, SQL-209.

use std::convert::Infallible;
use std::ops::ControlFlow;

use datafusion::arrow::array::timezone::Tz;
use datafusion::common::DataFusionError;
use datafusion::error::Result;
use datafusion::logical_expr::{LogicalPlan, Statement as PlanStatement};
use datafusion::prelude::DataFrame;
use datafusion::sql::parser::{CopyToSource, DFParserBuilder, Statement as EngineStatement};
use datafusion::sql::sqlparser::ast::{
    Expr as SqlExpr, FunctionArguments, GroupByExpr, ObjectName, ObjectNamePart, Query, Select, SelectItem, Set,
    Statement, TableFactor, TableWithJoins, Visit, VisitMut, Visitor, VisitorMut,
};
use datafusion::sql::sqlparser::parser::ParserError;
use paimon_core::Error;
use paimon_core::error::Entity;

use super::balance::balance;
use super::dialect::PaimonDialect;
use super::literals::keep_literals;
use super::rewrite::rewrite;
use super::session::Session;
use super::tokens::{Fragment, hint_text};
use crate::error::{core_error, to_datafusion};

/// The database that describes all others.
pub(crate) const INFORMATION_SCHEMA: &str = "information_schema";
const ZONE_KEY: &str = "datafusion.execution.time_zone";
const DIALECT_KEY: &str = "datafusion.sql_parser.dialect";

impl Session<'_> {
    /// Parses a statement for the engine.
    ///
    /// # Errors
    /// `InvalidInput` with line and column; `Unsupported` naming a clause that the engine would ignore.
    pub(crate) fn parse_for_engine(&self, fragment: &Fragment) -> Result<EngineStatement> {
        let hints = fragment.0.iter().any(|t| hint_text(&t.token).is_some());
        let tokens = rewrite(fragment.0.clone()).map_err(to_datafusion)?;
        let limit = self.state.config().options().sql_parser.recursion_limit.get();
        let parsed = DFParserBuilder::new(tokens)
            .with_dialect(&PaimonDialect)
            .with_recursion_limit(limit)
            .build()
            .and_then(|mut parser| parser.parse_statements());
        let mut statements = parsed.map_err(|e| syntax_error(e, hints))?;
        let mut statement = match (statements.pop_front(), statements.is_empty()) {
            (Some(statement), true) => statement,
            _ => return Err(to_datafusion(Error::invalid_input("expected one statement"))),
        };
        prepare(&mut statement);
        self.check(&statement)?;
        Ok(statement)
    }

    /// Plans a statement of the engine.
    ///
    /// # Errors
    /// Those of the engine; `NotFound` naming a database or table of a Paimon catalog that does not exist.
    pub(crate) async fn plan_for_engine(&self, statement: EngineStatement) -> Result<LogicalPlan> {
        let references = self.state.resolve_table_references(&statement)?;
        match self.state.statement_to_plan(statement).await {
            Ok(plan) => Ok(plan),
            Err(error) if core_error(&error).is_some() => Err(error),
            Err(error) => {
                for reference in references {
                    if reference.schema() == Some(INFORMATION_SCHEMA) {
                        continue;
                    }
                    if reference.schema().is_none() && self.state.table_functions().contains_key(reference.table()) {
                        continue;
                    }
                    let catalog = reference.catalog().unwrap_or(self.current_catalog());
                    let database = reference.schema().unwrap_or(self.current_database());
                    if let Some(missing) = self.missing(catalog, database, reference.table()).await? {
                        return Err(to_datafusion(missing));
                    }
                }
                Err(plain_words(error))
            }
        }
    }

    /// The error for a table that does not exist in a Paimon catalog, or in no catalog at all.
    async fn missing(&self, catalog: &str, database: &str, object: &str) -> Result<Option<Error>> {
        let Some(provider) = self.paimon(catalog) else {
            return Ok((!self.has_catalog(catalog))
                .then(|| Error::not_found(Entity::Database, format!("Catalog {catalog} does not exist."))));
        };
        let database_provider = provider.database(database);
        if datafusion::catalog::SchemaProvider::table(&database_provider, object).await?.is_some() {
            return Ok(None);
        }
        let core = provider.catalog();
        if !core.database_exists(database).await.map_err(to_datafusion)? {
            return Ok(Some(Error::not_found(Entity::Database, format!("Database {database} does not exist."))));
        }
        let mut names = core.list_tables(database).await.map_err(to_datafusion)?;
        // It may have been made again just now.
        names.retain(|name| name != object);
        let hint = match nearest(object, &names) {
            Some(name) if name.eq_ignore_ascii_case(object) => format!(" Did you mean \"{name}\", in quotes?"),
            Some(name) => format!(" Did you mean {name}?"),
            None => String::new(),
        };
        Ok(Some(Error::not_found(Entity::Table, format!("Table {database}.{object} does not exist.{hint}"))))
    }

    /// Runs a statement of the engine. Queries run when the result is collected, everything else now.
    ///
    /// # Errors
    /// Those of the engine.
    pub(crate) async fn run_in_engine(&self, fragment: &Fragment) -> Result<DataFrame> {
        let statement = self.parse_for_engine(fragment)?;
        self.check_setting(&statement)?;
        let plan = self.plan_for_engine(statement).await?;
        self.run_plan(plan).await
    }

    /// Runs a plan: queries when the result is collected, everything else now.
    ///
    /// # Errors
    /// Those of the plan.
    pub(crate) async fn run_plan(&self, plan: LogicalPlan) -> Result<DataFrame> {
        let utility = matches!(
            plan,
            LogicalPlan::Ddl(_)
                | LogicalPlan::Statement(
                    PlanStatement::SetVariable(_)
                        | PlanStatement::ResetVariable(_)
                        | PlanStatement::Prepare(_)
                        | PlanStatement::Deallocate(_)
                )
        );
        let frame = self.context.execute_logical_plan(plan).await?;
        if utility {
            frame.collect().await?;
            return self.ok();
        }
        let changes = |plan: &LogicalPlan| matches!(plan, LogicalPlan::Dml(_) | LogicalPlan::Copy(_));
        let now = match frame.logical_plan() {
            LogicalPlan::Analyze(analyze) => changes(&analyze.input),
            plan => changes(plan),
        };
        if now { self.run_now(frame).await } else { Ok(frame) }
    }

    /// Refuses what the engine parses and ignores.
    fn check(&self, statement: &EngineStatement) -> Result<()> {
        let mut checker = Checker { session: self, ctes: Vec::new(), statements: 0, changes_rows: false };
        let broken = match statement {
            EngineStatement::Statement(statement) => statement.visit(&mut checker),
            EngineStatement::Explain(explain) => return self.check(&explain.statement),
            EngineStatement::CopyTo(copy) => match &copy.source {
                CopyToSource::Query(query) => query.visit(&mut checker),
                CopyToSource::Relation(_) => ControlFlow::Continue(()),
            },
            EngineStatement::CreateExternalTable(_) | EngineStatement::Reset(_) => ControlFlow::Continue(()),
        };
        match broken {
            ControlFlow::Break(error) => Err(to_datafusion(error)),
            ControlFlow::Continue(()) => Ok(()),
        }
    }

    /// Our statements have one dialect.
    fn check_setting(&self, statement: &EngineStatement) -> Result<()> {
        let EngineStatement::Statement(statement) = statement else { return Ok(()) };
        let Statement::Set(set) = statement.as_ref() else { return Ok(()) };
        let text = set.to_string().to_ascii_lowercase();
        if text.contains(DIALECT_KEY) && !text.contains("generic") {
            return Err(to_datafusion(Error::unsupported(
                "datafusion.sql_parser.dialect can only be generic here; use the engine's own SessionContext::sql",
            )));
        }
        if let Set::SingleAssignment { variable, values, .. } = set
            && variable.to_string().eq_ignore_ascii_case(ZONE_KEY)
            && let [value] = &values[..]
        {
            check_zone(value.to_string().trim_matches('\'')).map_err(to_datafusion)?;
        }
        Ok(())
    }
}

/// Checks that the engine knows a zone, which it asks for only when it needs one.
///
/// # Errors
/// `InvalidInput` with forms of zones.
pub(crate) fn check_zone(zone: &str) -> paimon_core::Result<()> {
    match zone.parse::<Tz>() {
        Ok(_) => Ok(()),
        Err(_) => Err(Error::invalid_input(format!(
            "'{zone}' is no time zone: expected a name such as Europe/Berlin or an offset such as +01:00"
        ))),
    }
}

/// Rewrites expressions that the engine would walk too deep or read as another value.
fn prepare(statement: &mut EngineStatement) {
    match statement {
        EngineStatement::Statement(statement) => {
            balance(statement.as_mut());
            keep_literals(statement.as_mut());
            fold_functions(statement.as_mut());
        }
        EngineStatement::Explain(explain) => prepare(&mut explain.statement),
        EngineStatement::CopyTo(copy) => {
            if let CopyToSource::Query(query) = &mut copy.source {
                balance(query.as_mut());
                keep_literals(query.as_mut());
                fold_functions(query.as_mut());
            }
        }
        EngineStatement::CreateExternalTable(_) | EngineStatement::Reset(_) => {}
    }
}

/// Unquoted names of table functions in lower case, as all other names: the engine looks them up as they are written.
fn fold_functions(statement: &mut impl VisitMut) {
    struct Folder;
    impl VisitorMut for Folder {
        type Break = Infallible;

        fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Infallible> {
            if let TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } = factor {
                for part in &mut name.0 {
                    if let ObjectNamePart::Identifier(identifier) = part
                        && identifier.quote_style.is_none()
                    {
                        identifier.value.make_ascii_lowercase();
                    }
                }
            }
            ControlFlow::Continue(())
        }
    }
    let ControlFlow::Continue(()) = statement.visit(&mut Folder);
}

/// An error of planning with its kind, and without debug forms.
fn plain_words(error: DataFusionError) -> DataFusionError {
    match error.find_root() {
        DataFusionError::NotImplemented(message) => match message.find(" {").or_else(|| message.find("(On(")) {
            Some(end) => to_datafusion(Error::unsupported(message[..end].trim_end().to_owned())),
            None => error,
        },
        // It existed a moment before or after.
        DataFusionError::Plan(message) if message.starts_with("table '") && message.ends_with("' not found") => {
            to_datafusion(Error::not_found(Entity::Table, message.clone()))
        }
        _ => error,
    }
}

/// A syntax error without the engine's debug form.
fn syntax_error(error: DataFusionError, hints: bool) -> DataFusionError {
    let DataFusionError::SQL(parser, _) = error.find_root() else { return error };
    let message = match parser.as_ref() {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => message.clone(),
        ParserError::RecursionLimitExceeded => "the statement nests too deep".to_owned(),
    };
    let hint = if hints { " (a hint /*+ OPTIONS(..) */ stands directly behind a table name)" } else { "" };
    to_datafusion(Error::invalid_input(format!("syntax error: {message}{hint}")))
}

/// The name that is like another one but for case, or by at most two letters.
pub(crate) fn nearest<'a>(name: &str, names: &'a [String]) -> Option<&'a str> {
    let same = names.iter().find(|other| other.eq_ignore_ascii_case(name));
    same.or_else(|| {
        let distance =
            |other: &&String| datafusion::common::utils::datafusion_strsim::levenshtein(other.as_str(), name);
        names.iter().min_by_key(distance).filter(|other| distance(other) <= 2 && name.len() > 3)
    })
    .map(String::as_str)
}

fn has_modifiers(group_by: &GroupByExpr) -> bool {
    match group_by {
        GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers) => !modifiers.is_empty(),
    }
}

fn has_pattern(item: &SelectItem) -> bool {
    match item {
        SelectItem::Wildcard(options) | SelectItem::QualifiedWildcard(_, options) => options.opt_ilike.is_some(),
        _ => false,
    }
}

fn has_global(table: &TableWithJoins) -> bool {
    table.joins.iter().any(|join| join.global)
        || std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)).any(|relation| {
            matches!(relation, TableFactor::NestedJoin { table_with_joins, .. } if has_global(table_with_joins))
        })
}

/// Walks a statement for what the engine parses and ignores.
struct Checker<'s, 'c> {
    session: &'s Session<'c>,
    /// Names of the common table expressions in sight, per query.
    ctes: Vec<Vec<String>>,
    /// Statements around the place, outermost first.
    statements: usize,
    /// Whether one of them, within another, changes rows.
    changes_rows: bool,
}

fn refuse_if<const N: usize>(parts: [(bool, &str); N]) -> ControlFlow<Error> {
    match parts.into_iter().find(|(given, _)| *given) {
        Some((_, what)) => ControlFlow::Break(Error::unsupported(format!("{what} is not supported"))),
        None => ControlFlow::Continue(()),
    }
}

impl Visitor for Checker<'_, '_> {
    type Break = Error;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<Error> {
        self.statements += 1;
        let row_level = matches!(statement, Statement::Delete(_) | Statement::Update(_) | Statement::Merge(_));
        self.changes_rows |= row_level && self.statements > 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<Error> {
        if !self.changes_rows {
            return ControlFlow::Continue(());
        }
        let parts: Option<Vec<String>> = relation.0.iter().map(|p| p.as_ident().map(|i| i.value.clone())).collect();
        match parts {
            Some(parts) if self.session.is_ours(&parts) => ControlFlow::Break(Error::unsupported(
                "DELETE, UPDATE and MERGE with Paimon tables are not supported yet",
            )),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        let ctes = query.with.iter().flat_map(|with| &with.cte_tables);
        self.ctes.push(ctes.map(|cte| cte.alias.name.value.to_ascii_lowercase()).collect());
        refuse_if([
            (!query.locks.is_empty(), "FOR UPDATE and FOR SHARE"),
            (query.for_clause.is_some(), "FOR XML, FOR JSON and FOR BROWSE"),
            (query.settings.is_some(), "SETTINGS"),
            (query.format_clause.is_some(), "FORMAT behind a query"),
        ])
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<Error> {
        self.ctes.pop();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        refuse_if([
            (select.into.is_some(), "SELECT INTO (use CREATE TABLE .. AS)"),
            (select.prewhere.is_some(), "PREWHERE"),
            (!select.connect_by.is_empty(), "CONNECT BY"),
            (!select.distribute_by.is_empty(), "DISTRIBUTE BY"),
            (select.value_table_mode.is_some(), "SELECT AS VALUE and SELECT AS STRUCT"),
            (select.select_modifiers.is_some(), "a modifier of SELECT"),
            (select.exclude.is_some(), "EXCLUDE behind the columns"),
            (has_modifiers(&select.group_by), "WITH ROLLUP, WITH CUBE and WITH TOTALS (write GROUP BY ROLLUP (..))"),
            (select.projection.iter().any(has_pattern), "ILIKE behind *"),
            (select.from.iter().any(has_global), "GLOBAL JOIN"),
        ])
    }

    fn pre_visit_expr(&mut self, expr: &SqlExpr) -> ControlFlow<Error> {
        let SqlExpr::Function(function) = expr else { return ControlFlow::Continue(()) };
        let name = function.name.to_string().to_ascii_lowercase();
        let state = &self.session.state;
        let is_row_by_row = state.scalar_functions().contains_key(&name)
            && !state.aggregate_functions().contains_key(&name)
            && !state.window_functions().contains_key(&name);
        if !is_row_by_row {
            return ControlFlow::Continue(());
        }
        let (distinct, clauses) = match &function.args {
            FunctionArguments::List(list) => (list.duplicate_treatment.is_some(), !list.clauses.is_empty()),
            _ => (false, false),
        };
        let given = function.filter.is_some()
            || function.over.is_some()
            || function.null_treatment.is_some()
            || !function.within_group.is_empty()
            || distinct
            || clauses;
        let what = format!(
            "FILTER, OVER, DISTINCT, ORDER BY or a treatment of nulls with {name}, which is no aggregate function,"
        );
        refuse_if([(given, what.as_str())])
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Error> {
        let TableFactor::Table { name, version: Some(_), .. } = factor else { return ControlFlow::Continue(()) };
        let word = name.to_string().to_ascii_lowercase();
        if self.ctes.iter().flatten().any(|cte| *cte == word) {
            return ControlFlow::Break(Error::invalid_input(format!(
                "{name} is a common table expression, which has no versions and takes no options"
            )));
        }
        ControlFlow::Continue(())
    }
}
