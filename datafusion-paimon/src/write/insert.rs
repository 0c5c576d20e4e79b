//! The plan of an INSERT: writes all rows of its input and commits once.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;
use paimon_core::Table;
use paimon_core::spec::DYNAMIC_PARTITION_OVERWRITE;
use paimon_core::types::Datum;

use crate::error::{to_datafusion, unsupported};

/// What an INSERT does with rows that are there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteMode {
    /// They stay; in a primary-key table a new row replaces the one with its key.
    Append,
    /// Those in partitions that get new rows go.
    OverwriteDynamic,
    /// Those whose partition columns have these values go; all for no values.
    OverwriteStatic(BTreeMap<String, Option<Datum>>),
}

impl WriteMode {
    /// What INSERT OVERWRITE without PARTITION does: dynamic for partitioned tables unless
    /// `dynamic-partition-overwrite` is false, else everything goes.
    ///
    /// # Errors
    /// `InvalidConfig` if the option is no boolean.
    pub fn overwrite(table: &Table) -> Result<Self> {
        let dynamic = !table.schema().partition_keys.is_empty()
            && table.options().value(&DYNAMIC_PARTITION_OVERWRITE).map_err(to_datafusion)?;
        Ok(if dynamic { Self::OverwriteDynamic } else { Self::OverwriteStatic(BTreeMap::new()) })
    }
}

/// A plan that writes the rows of `input`, whose columns are those of the table in order, commits when all are written,
/// and gives one row `count`. Nothing happens before it is executed; a failed or dropped execution leaves nothing.
///
/// # Errors
/// `SchemaMismatch` if the columns are not those of the table.
pub fn insert_plan(table: Table, input: Arc<dyn ExecutionPlan>, mode: WriteMode) -> Result<Arc<dyn ExecutionPlan>> {
    let _ = (table, input, mode);
    unsupported("INSERT")
}
