//! Which partitions a call is about: `partitions => 'dt=a,h=1;dt=b'` or `where => 'dt >= ...'`.
//!
//! Invariants: only partition columns are named; a filter that the partition alone does not decide is refused.
//! Source: SQL sheet SQL-254, compaction sheet section 13.

use std::collections::BTreeMap;

use datafusion::common::{DFSchema, ScalarValue};
use paimon_core::predicate::Predicate;
use paimon_core::spec::PARTITION_DEFAULT_NAME;
use paimon_core::types::{DataField, to_arrow_schema};
use paimon_core::{Error, Result, Table};

use super::Arguments;
use crate::error::to_core;
use crate::expr::to_predicate;
use crate::sql::{condition, partition_column, partition_filter, partition_value};

/// The partitions that the arguments `partitions` and `where` choose; `None` if neither is given.
///
/// # Errors
/// `InvalidInput` naming the argument and the column or text; `Unsupported` for a filter that needs more than the partition.
pub(super) fn selected(table: &Table, arguments: &Arguments) -> Result<Option<Predicate>> {
    match (arguments.optional_text("partitions"), arguments.optional_text("where")) {
        (Some(_), Some(_)) => Err(Error::invalid_input("partitions and where cannot be used together.")),
        (Some(text), None) => listed(table, text).map(Some),
        (None, Some(text)) => matching(table, text).map(Some),
        (None, None) => Ok(None),
    }
}

fn listed(table: &Table, text: &str) -> Result<Predicate> {
    let specs = text.split(';').map(str::trim).filter(|spec| !spec.is_empty());
    let specs = specs.map(|spec| one(table, spec)).collect::<Result<Vec<_>>>()?;
    match specs.is_empty() {
        true => Err(Error::invalid_input("argument partitions: expected column=value, found nothing")),
        false => Ok(Predicate::or(specs)),
    }
}

fn one(table: &Table, spec: &str) -> Result<Predicate> {
    let default_name = table.options().value(&PARTITION_DEFAULT_NAME)?;
    let parts = spec.split(',').map(|part| {
        let Some((name, value)) = part.split_once('=') else {
            let message = format!("argument partitions: expected column=value, found '{}'", part.trim());
            return Err(Error::invalid_input(message));
        };
        let field = column(table, "partitions", name.trim())?;
        let value = ScalarValue::from(unquoted(value.trim()));
        let value = partition_value(&value, field, &default_name).map_err(to_core)?;
        let filter = partition_filter(table, &BTreeMap::from([(field.name.clone(), value)])).map_err(to_core)?;
        Ok(filter.unwrap_or(Predicate::AlwaysTrue))
    });
    Ok(Predicate::and(parts.collect::<Result<Vec<_>>>()?))
}

fn unquoted(text: &str) -> &str {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'));
    quote.and_then(|c| text.strip_prefix(c)?.strip_suffix(c)).unwrap_or(text)
}

fn matching(table: &Table, text: &str) -> Result<Predicate> {
    let schema = DFSchema::try_from(to_arrow_schema(&table.schema().row_type()).as_ref().clone()).map_err(to_core)?;
    let expr = condition(text, &schema).map_err(|e| {
        let error = to_core(e);
        Error::new(error.kind(), format!("argument where: {error}"))
    })?;
    for found in expr.column_refs() {
        column(table, "where", &found.name)?;
    }
    match to_predicate(&expr, table.schema()) {
        Some(translated) if translated.exact => Ok(translated.predicate),
        _ => Err(Error::unsupported(format!(
            "argument where: the condition {text} is not supported; supported are comparisons of partition columns with \
             constants, IN, BETWEEN, IS NULL, AND, OR and NOT"
        ))),
    }
}

fn column<'t>(table: &'t Table, argument: &str, name: &str) -> Result<&'t DataField> {
    partition_column(table, name).map_err(|e| {
        let error = to_core(e);
        Error::new(error.kind(), format!("argument {argument}: {}", error.message()))
    })
}
