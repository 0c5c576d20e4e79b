//! Relations with a version, a time or a hint: scans of the table at the snapshot that they select.
//!
//! Invariants: a version on a relation that is not a table of ours is refused, because the engine would ignore it; so are
//! the other clauses behind a relation that the engine parses and drops. What selects nothing is an error at planning.
//! Source: SQL sheet SQL-200 to SQL-211.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::TableReference;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::error::Result;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{
    Expr as Ast, Function, FunctionArg, FunctionArgExpr, FunctionArguments, TableFactor, TableVersion, Value,
};
use paimon_core::clock::{Clock, SystemClock};
use paimon_core::meta::Travel;
use paimon_core::{Error, Identifier};

use super::constant::simplify_with;
use super::option_names::{OPTION_NAMES, is_known};
use super::rewrite::{HINT_CALL, TIME_CALL, VERSION_CALL};
use super::zone::epoch_millis;
use crate::blocking;
use crate::error::{invalid_input, to_datafusion, unsupported};
use crate::extension::Extension;

type Options = BTreeMap<String, Option<String>>;

/// Plans relations with versions.
#[derive(Debug)]
pub(crate) struct VersionPlanner {
    extension: Extension,
}

impl VersionPlanner {
    /// A planner for the catalogs of the extension.
    pub(crate) fn new(extension: Extension) -> Self {
        Self { extension }
    }
}

impl RelationPlanner for VersionPlanner {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        refuse_ignored(&relation)?;
        let TableFactor::Table { name, alias, args, version: Some(version), .. } = &relation else {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        };
        if args.is_some() {
            return unsupported(format!("a version or hint behind the table function {name}"));
        }
        let options = options_of(version, context)?;
        let reference = context.object_name_to_table_reference(name.clone())?;
        let plan = self.scan(&reference, options, context)?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation::new(plan, alias.clone()))))
    }
}

impl VersionPlanner {
    fn scan(
        &self,
        reference: &TableReference,
        options: Options,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<datafusion::logical_expr::LogicalPlan> {
        let defaults = &context.context_provider().options().catalog;
        let catalog = reference.catalog().unwrap_or(&defaults.default_catalog);
        let database = reference.schema().unwrap_or(&defaults.default_schema);
        let Some(provider) = self.extension.catalog(catalog) else {
            return invalid_input(format!(
                "{reference} is not a table of a Paimon catalog, so it has no versions and takes no options"
            ));
        };
        if provider.temporary().contains(database, reference.table()) {
            return invalid_input(format!(
                "{reference} is a temporary table or view here, which has no versions and takes no options"
            ));
        }
        let identifier = Identifier::new(database, reference.table());
        let handle = provider.handle().clone();
        let found = async move { provider.table_provider_with(&identifier, &options).await };
        let table = blocking::run(&handle, found)?.map_err(to_datafusion)?;
        LogicalPlanBuilder::scan(reference.clone(), provider_as_source(table), None)?.build()
    }
}

/// Refuses clauses that the engine would ignore.
fn refuse_ignored(relation: &TableFactor) -> Result<()> {
    let refused = match relation {
        TableFactor::Table {
            with_hints, version, with_ordinality, partitions, json_path, sample, index_hints, ..
        } => [
            (sample.is_some(), "TABLESAMPLE"),
            (!with_hints.is_empty(), "WITH (..) behind a table"),
            (!partitions.is_empty(), "PARTITION (..) behind a table"),
            (*with_ordinality, "WITH ORDINALITY"),
            (json_path.is_some(), "a path behind a table"),
            (!index_hints.is_empty(), "an index hint"),
            (matches!(version, Some(TableVersion::Function(_))), "AT (..) and BEFORE (..) behind a table"),
            (matches!(version, Some(TableVersion::Changes { .. })), "CHANGES (..) behind a table"),
        ]
        .into_iter()
        .find(|(given, _)| *given),
        TableFactor::Derived { sample, .. } => sample.is_some().then_some((true, "TABLESAMPLE")),
        _ => None,
    };
    match refused {
        Some((_, what)) => unsupported(format!("{what} is not supported")),
        None => Ok(()),
    }
}

/// The options that a version clause or a hint sets.
fn options_of(version: &TableVersion, context: &mut dyn RelationPlannerContext) -> Result<Options> {
    match version {
        TableVersion::VersionAsOf(value) => Ok(one("scan.version", version_text(value)?)),
        TableVersion::TimestampAsOf(value) | TableVersion::ForSystemTimeAsOf(value) => match value {
            Ast::Function(function) if is_call(function, VERSION_CALL) => of_call(function, context),
            Ast::Function(function) if is_call(function, HINT_CALL) => of_hint(function, context),
            value => time(value.clone(), context),
        },
        TableVersion::Function(_) | TableVersion::Changes { .. } => unsupported("this form of a table version"),
    }
}

fn one(key: &str, value: String) -> Options {
    BTreeMap::from([(key.to_owned(), Some(value))])
}

fn is_call(function: &Function, name: &str) -> bool {
    function.name.to_string() == name
}

fn arguments(function: &Function) -> Vec<Ast> {
    let FunctionArguments::List(list) = &function.args else { return Vec::new() };
    list.args
        .iter()
        .filter_map(|argument| match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value.clone()),
            _ => None,
        })
        .collect()
}

/// The text of a version: a whole number or a string.
fn version_text(value: &Ast) -> Result<String> {
    if let Ast::Value(value) = value {
        match &value.value {
            Value::Number(number, _) if number.bytes().all(|b| b.is_ascii_digit()) => return Ok(number.clone()),
            Value::SingleQuotedString(text) if !text.is_empty() => return Ok(text.clone()),
            _ => {}
        }
    }
    invalid_input(format!("expected a snapshot id or the name of a tag in quotes behind VERSION AS OF, found {value}"))
}

/// What one of our functions stands for.
fn of_call(function: &Function, context: &mut dyn RelationPlannerContext) -> Result<Options> {
    let [value] = &arguments(function)[..] else { return invalid_input("a table version takes one value") };
    match is_call(function, VERSION_CALL) {
        true => Ok(one("scan.version", version_text(value)?)),
        false => time(value.clone(), context),
    }
}

/// The options of a hint, and of the version before it.
fn of_hint(function: &Function, context: &mut dyn RelationPlannerContext) -> Result<Options> {
    let arguments = arguments(function);
    let (mut options, pairs) = match arguments.split_first() {
        Some((Ast::Function(first), rest)) if is_call(first, VERSION_CALL) || is_call(first, TIME_CALL) => {
            (of_call(first, context)?, rest)
        }
        _ => (Options::new(), &arguments[..]),
    };
    let versioned = !options.is_empty();
    for pair in pairs.chunks(2) {
        let [key, value] = pair else { return invalid_input("a hint takes keys with values") };
        let text = |value: &Ast| match value {
            Ast::Value(value) => value.value.clone().into_string(),
            _ => None,
        };
        let (Some(key), Some(value)) = (text(key), text(value)) else {
            return invalid_input("a hint takes keys with values");
        };
        if !is_known(&key) {
            let names: Vec<String> = OPTION_NAMES.iter().map(|n| (*n).to_owned()).collect();
            let near =
                super::engine::nearest(&key, &names).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
            return Err(to_datafusion(Error::invalid_config(format!("unknown option '{key}' in a hint{near}"))));
        }
        if versioned && Travel::KEYS.contains(&key.as_str()) {
            return Err(to_datafusion(Error::invalid_config(format!(
                "a version clause and the option '{key}' of a hint both select a snapshot"
            ))));
        }
        options.insert(key, Some(value));
    }
    Ok(options)
}

/// The option that a time behind TIMESTAMP AS OF sets.
fn time(value: Ast, context: &mut dyn RelationPlannerContext) -> Result<Options> {
    let text = value.to_string();
    let expr = context.sql_to_expr(value, &DFSchema::empty())?;
    let config = context.context_provider().options().clone();
    let zone = config.execution.time_zone.clone();
    let now = SystemClock.now_ms();
    let expr = expr.transform(|e| Ok(zoned_now(e, now)))?.data;
    let simplify = SimplifyContext::builder().with_config_options(Arc::new(config)).build();
    let value = simplify_with(expr, simplify)?;
    let wrong = || {
        to_datafusion(Error::invalid_input(format!(
            "expected a time behind TIMESTAMP AS OF: text as '2026-12-31 23:59:59', a timestamp, a date, or seconds since \
             the epoch, found {text}"
        )))
    };
    let seconds = match value {
        ScalarValue::Int8(_) | ScalarValue::Int16(_) | ScalarValue::Int32(_) | ScalarValue::Int64(_) => {
            value.cast_to(&DataType::Int64)?
        }
        _ => ScalarValue::Null,
    };
    let millis = match seconds {
        ScalarValue::Int64(Some(seconds)) => seconds.checked_mul(1_000),
        _ => epoch_millis(&value, zone.as_deref()),
    };
    Ok(one("scan.timestamp-millis", millis.ok_or_else(wrong)?.to_string()))
}

/// `now()` as an instant: without a zone of the session the engine gives it no zone, though it holds UTC.
fn zoned_now(expr: Expr, now_ms: i64) -> Transformed<Expr> {
    match &expr {
        Expr::ScalarFunction(call) if matches!(call.func.name(), "now" | "current_timestamp") => {
            let value = ScalarValue::TimestampNanosecond(now_ms.checked_mul(1_000_000), Some("+00:00".into()));
            Transformed::yes(Expr::Literal(value, None))
        }
        _ => Transformed::no(expr),
    }
}
