//! Starts a read: projection, filter, limit.

use super::Table;
use crate::error::{Entity, Error, Result};
use crate::predicate::Predicate;
use crate::read::TableRead;
use crate::runtime::Resources;
use crate::scan::{StreamScan, TableScan};

/// Settings of a read. Scans and reads that were made keep the settings they were made with.
#[derive(Debug, Clone)]
pub struct ReadBuilder {
    table: Table,
    projection: Option<Vec<usize>>,
    filter: Option<Predicate>,
    limit: Option<usize>,
    row_kind: bool,
    keep_deletes: bool,
    resources: Resources,
}

impl ReadBuilder {
    /// A read of all columns and rows.
    pub fn new(table: Table) -> Self {
        Self {
            table,
            projection: None,
            filter: None,
            limit: None,
            row_kind: false,
            keep_deletes: false,
            resources: Resources::default(),
        }
    }

    /// The table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Columns of the result, in this order.
    ///
    /// # Errors
    /// `NotFound(Column)` naming an unknown column, `InvalidInput` naming one that occurs twice.
    pub fn with_projection<S: AsRef<str>>(mut self, columns: &[S]) -> Result<Self> {
        let row = self.table.schema().row_type();
        let mut positions = Vec::with_capacity(columns.len());
        for column in columns {
            let column = column.as_ref();
            let position = row.index_of(column).ok_or_else(|| {
                let name = self.table.identifier().to_string();
                Error::not_found(Entity::Column, format!("column {column} does not exist in the {name} table"))
            })?;
            if positions.contains(&position) {
                return Err(Error::invalid_input(format!("column {column} occurs twice in the projection")));
            }
            positions.push(position);
        }
        self.projection = Some(positions);
        Ok(self)
    }

    /// Columns of the result by their positions in the table's schema.
    ///
    /// # Errors
    /// `InvalidInput` for a position out of range.
    pub fn with_projected_positions(mut self, positions: Vec<usize>) -> Result<Self> {
        let columns = self.table.schema().fields.len();
        if let Some(position) = positions.iter().find(|&&p| p >= columns) {
            return Err(Error::invalid_input(format!("column position {position} must be below {columns}")));
        }
        self.projection = Some(positions);
        Ok(self)
    }

    /// Rows of the result pass this predicate over the table's columns; replaces an earlier one.
    #[must_use]
    pub fn with_filter(mut self, filter: Predicate) -> Self {
        self.filter = Some(filter);
        self
    }

    /// A hint: planning may stop once this many rows are certain.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Adds a first column `rowkind`.
    #[must_use]
    pub fn with_row_kind(mut self, row_kind: bool) -> Self {
        self.row_kind = row_kind;
        self
    }

    /// Keeps rows of kind `-U` and `-D` that no newer row hides, and shows the kinds that are stored: an audit log.
    #[must_use]
    pub fn with_keep_deletes(mut self, keep_deletes: bool) -> Self {
        self.keep_deletes = keep_deletes;
        self
    }

    /// Memory and parallelism that reads may use.
    #[must_use]
    pub fn with_resources(mut self, resources: Resources) -> Self {
        self.resources = resources;
        self
    }

    /// A scan with these settings.
    pub fn new_scan(&self) -> TableScan {
        TableScan::new(self.table.clone(), self.filter.clone(), self.limit)
    }

    /// A continuous scan with these settings; the limit does not count.
    ///
    /// # Errors
    /// As [`StreamScan::try_new`].
    pub fn new_stream_scan(&self) -> Result<StreamScan> {
        StreamScan::try_new(self.table.clone(), self.filter.clone())
    }

    /// A read with these settings; needs no scan.
    ///
    /// # Errors
    /// `Unsupported` if the table cannot be read yet.
    pub fn new_read(&self) -> Result<TableRead> {
        let projection = self.projection.clone().unwrap_or_else(|| (0..self.table.schema().fields.len()).collect());
        let (table, filter, resources) = (self.table.clone(), self.filter.clone(), self.resources.clone());
        let read = TableRead::new(table, projection, filter, self.row_kind, resources);
        Ok(read.with_keep_deletes(self.keep_deletes))
    }
}
