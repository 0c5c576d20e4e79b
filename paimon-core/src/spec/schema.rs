//! What a user says about a table to be created.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::types::{DataField, DataType};

/// Columns, keys and options of a table to be created. Field ids are given by
/// [`TableSchema::create`](super::TableSchema::create).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    /// Columns in order; ids are ignored.
    pub fields: Vec<DataField>,
    /// Partition columns.
    pub partition_keys: Vec<String>,
    /// Primary-key columns.
    pub primary_keys: Vec<String>,
    /// Options.
    pub options: BTreeMap<String, String>,
    /// Comment.
    pub comment: Option<String>,
}

impl Schema {
    /// Starts a schema.
    pub fn builder() -> SchemaBuilder {
        SchemaBuilder::default()
    }
}

/// Builds a [`Schema`].
#[derive(Debug, Clone, Default)]
pub struct SchemaBuilder {
    schema: Schema,
}

impl SchemaBuilder {
    /// Adds a column.
    #[must_use]
    pub fn column(self, name: impl Into<String>, data_type: DataType) -> Self {
        self.field(DataField::new(0, name, data_type))
    }

    /// Adds a column with comment and default.
    #[must_use]
    pub fn field(mut self, field: DataField) -> Self {
        self.schema.fields.push(field);
        self
    }

    /// Sets the partition columns.
    #[must_use]
    pub fn partition_keys<S: Into<String>>(mut self, keys: impl IntoIterator<Item = S>) -> Self {
        self.schema.partition_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the primary key.
    #[must_use]
    pub fn primary_key<S: Into<String>>(mut self, keys: impl IntoIterator<Item = S>) -> Self {
        self.schema.primary_keys = keys.into_iter().map(Into::into).collect();
        self
    }

    /// Sets an option.
    #[must_use]
    pub fn option(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.schema.options.insert(key.into(), value.into());
        self
    }

    /// Sets the comment.
    #[must_use]
    pub fn comment(mut self, comment: impl Into<String>) -> Self {
        self.schema.comment = Some(comment.into());
        self
    }

    /// Checks and ends the schema.
    ///
    /// # Errors
    /// `InvalidInput`, `InvalidConfig` or `Unsupported` by the rules of the schema sheet section 7.
    pub fn build(self) -> Result<Schema> {
        super::TableSchema::create(&self.schema, 0)?;
        Ok(self.schema)
    }
}
