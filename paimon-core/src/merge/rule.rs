//! How rows of one key become one row.

use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::TableSchema;

/// The merge engine of a table with its keys and sequence fields, resolved against its schema.
#[derive(Debug, Clone)]
pub struct MergeRule {
    key_ids: Vec<i32>,
}

impl MergeRule {
    /// The rule of a primary-key table.
    ///
    /// # Errors
    /// `Unsupported` naming the merge engine or option that is not built.
    pub fn try_new(schema: &TableSchema, options: &Options) -> Result<Self> {
        let _ = (schema, options);
        Err(Error::unsupported("merging"))
    }

    /// Ids of the columns that merging needs besides `_SEQUENCE_NUMBER` and `_VALUE_KIND`: key, then sequence fields.
    pub fn required_ids(&self) -> &[i32] {
        &self.key_ids
    }
}
