//! The schema document of a table.

use std::collections::BTreeMap;

use super::schema::Schema;
use crate::error::{Error, Result};
use crate::types::{DataField, RowType};

/// A version of a table's schema. Source: specification chapter "Table Schema"; `schema/TableSchema.java`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// Version of the document; 3 for new ones.
    pub version: i32,
    /// Id, from 0.
    pub id: i64,
    /// Columns in order.
    pub fields: Vec<DataField>,
    /// Greatest field id ever given, nested and dropped fields included.
    pub highest_field_id: i32,
    /// Partition columns.
    pub partition_keys: Vec<String>,
    /// Primary-key columns as declared, partition columns included.
    pub primary_keys: Vec<String>,
    /// Options as stored, with the defaults that the document's version implies.
    pub options: BTreeMap<String, String>,
    /// Comment.
    pub comment: Option<String>,
    /// Creation time in milliseconds.
    pub time_millis: i64,
}

impl TableSchema {
    /// The first schema of a new table; gives ids to all fields.
    ///
    /// # Errors
    /// `InvalidInput`, `InvalidConfig` or `Unsupported` by the rules of the schema sheet section 7.
    pub fn create(schema: &Schema, time_millis: i64) -> Result<Self> {
        let _ = (schema, time_millis);
        Err(Error::unsupported("creating schemas"))
    }

    /// The JSON document with Java's keys in Java's order.
    pub fn to_json(&self) -> String {
        String::new()
    }

    /// Reads a document of any version; unknown keys are ignored.
    ///
    /// # Errors
    /// `Corrupt` naming the key or type that is wrong.
    pub fn from_json(text: &[u8]) -> Result<Self> {
        let _ = text;
        Err(Error::unsupported("reading schemas"))
    }

    /// The columns as a row.
    pub fn row_type(&self) -> RowType {
        RowType::with_nullable(false, self.fields.clone())
    }

    /// Positions of the partition columns, in partition-key order.
    pub fn partition_positions(&self) -> Vec<usize> {
        self.positions(&self.partition_keys)
    }

    /// The partition columns as a row.
    pub fn partition_type(&self) -> RowType {
        self.row_type().project(&self.partition_positions())
    }

    /// Primary-key columns without the partition columns, in primary-key order.
    pub fn trimmed_primary_keys(&self) -> Vec<String> {
        self.primary_keys.iter().filter(|k| !self.partition_keys.contains(k)).cloned().collect()
    }

    /// Positions of the trimmed primary-key columns, in primary-key order.
    pub fn key_positions(&self) -> Vec<usize> {
        self.positions(&self.trimmed_primary_keys())
    }

    /// The trimmed primary-key columns as a row.
    pub fn key_type(&self) -> RowType {
        self.row_type().project(&self.key_positions())
    }

    /// Columns that assign buckets: the option `bucket-key`, else the trimmed primary key.
    pub fn bucket_keys(&self) -> Vec<String> {
        match self.options.get("bucket-key") {
            Some(keys) => keys.split(',').map(str::to_owned).collect(),
            None => self.trimmed_primary_keys(),
        }
    }

    /// Positions of the columns that assign buckets.
    pub fn bucket_key_positions(&self) -> Vec<usize> {
        self.positions(&self.bucket_keys())
    }

    /// Whether the table has a primary key.
    pub fn has_primary_key(&self) -> bool {
        !self.primary_keys.is_empty()
    }

    fn positions(&self, names: &[String]) -> Vec<usize> {
        names.iter().filter_map(|name| self.fields.iter().position(|f| f.name == *name)).collect()
    }
}
