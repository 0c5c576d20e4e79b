//! Partition specs of statements as values of a table's partition columns. Source: SQL sheet SQL-113, SQL-143.

use std::collections::BTreeMap;

use datafusion::common::ScalarValue;
use datafusion::error::Result;
use paimon_core::meta::named_value;
use paimon_core::predicate::{Predicate, PredicateBuilder};
use paimon_core::spec::PARTITION_DEFAULT_NAME;
use paimon_core::types::{DataField, Datum};
use paimon_core::{Error, Table};

use crate::error::to_datafusion;
use crate::sql::constant::{datum, evaluate};
use crate::sql::session::Session;
use crate::sql::statement::PartitionValue;

/// The partition column of this name.
///
/// # Errors
/// `InvalidInput` naming the partition columns.
pub(crate) fn partition_column<'t>(table: &'t Table, name: &str) -> Result<&'t DataField> {
    let schema = table.schema();
    let known = schema.partition_keys.iter().any(|key| key == name);
    schema.fields.iter().find(|f| known && f.name == name).ok_or_else(|| {
        let columns = match schema.partition_keys.is_empty() {
            true => "the table has none".to_owned(),
            false => format!("known are {}", schema.partition_keys.join(", ")),
        };
        to_datafusion(Error::invalid_input(format!(
            "{name} is no partition column of {}; {columns}",
            table.identifier()
        )))
    })
}

/// The value of a partition column in a spec; `None` is null, which the default name of the table means too. What
/// `list_partitions` of Python gives is taken.
///
/// # Errors
/// `SchemaMismatch` for a value of another type.
pub(crate) fn partition_value(value: &ScalarValue, field: &DataField, default_name: &str) -> Result<Option<Datum>> {
    let text = value.try_as_str().flatten();
    match text.and_then(|text| named_value(text, &field.data_type)) {
        Some(named) => Ok(Some(named)),
        None if text == Some(default_name) => Ok(None),
        None => datum(value, &field.name, &field.data_type),
    }
}

impl Session<'_> {
    /// The values of a spec.
    ///
    /// # Errors
    /// `InvalidInput` for a column that is no partition column; `SchemaMismatch` for a value of another type.
    pub(super) fn partition_spec(
        &self,
        table: &Table,
        spec: &[PartitionValue],
    ) -> Result<BTreeMap<String, Option<Datum>>> {
        let default_name = table.options().value(&PARTITION_DEFAULT_NAME).map_err(to_datafusion)?;
        let mut values = BTreeMap::new();
        for (name, expression) in spec {
            let field = partition_column(table, name)?;
            let Some(expression) = expression else { continue };
            let value = evaluate(&self.state, expression)?;
            values.insert(name.clone(), partition_value(&value, field, &default_name)?);
        }
        Ok(values)
    }

    /// Whether a partition below a spec has rows.
    ///
    /// # Errors
    /// Those of planning a scan.
    pub(super) async fn has_partition(&self, table: &Table, spec: &BTreeMap<String, Option<Datum>>) -> Result<bool> {
        let mut builder = table.new_read_builder();
        if let Some(filter) = filter(table, spec)? {
            builder = builder.with_filter(filter);
        }
        Ok(!builder.new_scan().plan().await.map_err(to_datafusion)?.splits().is_empty())
    }
}

/// The predicate that a spec means; `None` for an empty one.
///
/// # Errors
/// Those of building predicates.
pub(crate) fn filter(table: &Table, spec: &BTreeMap<String, Option<Datum>>) -> Result<Option<Predicate>> {
    if spec.is_empty() {
        return Ok(None);
    }
    let builder = PredicateBuilder::new(&table.schema().row_type(), true);
    let leaves = spec.iter().map(|(name, value)| match value {
        Some(value) => builder.equal(name, value.clone()),
        None => builder.is_null(name),
    });
    let leaves = leaves.collect::<paimon_core::Result<Vec<_>>>().map_err(to_datafusion)?;
    Ok(Some(Predicate::And(leaves)))
}
