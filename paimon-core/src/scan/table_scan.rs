//! The steps of planning, in order.

use super::plan::Plan;
use crate::error::{Error, Result};
use crate::predicate::Predicate;
use crate::table::Table;

/// Plans reads of a table. The table handle says which snapshot: the latest when [`TableScan::plan`] is called, or the
/// one that it is pinned to.
#[derive(Debug, Clone)]
pub struct TableScan {
    table: Table,
    filter: Option<Predicate>,
    limit: Option<usize>,
}

impl TableScan {
    /// A scan with this filter, over the columns of the table, and limit.
    pub fn new(table: Table, filter: Option<Predicate>, limit: Option<usize>) -> Self {
        Self { table, filter, limit }
    }

    /// Plans anew.
    ///
    /// # Errors
    /// `Unsupported` naming feature and option before any data file is read; `Corrupt`, `NotFound` or `Storage` naming the
    /// file.
    pub async fn plan(&self) -> Result<Plan> {
        let _ = (&self.table, &self.filter, &self.limit);
        Err(Error::unsupported("planning"))
    }
}
