//! How rows of one key become one row.
//!
//! Invariants: a rule that exists can be carried out; what is not built is refused here. Source: `CoreOptions.java`
//! (`MERGE_ENGINE`, `SEQUENCE_FIELD`), `mergetree/compact/DeduplicateMergeFunction.java`.

use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{
    IGNORE_DELETE, MERGE_ENGINE, MergeEngine, SEQUENCE_FIELD, SEQUENCE_SNAPSHOT_ORDERING, SEQUENCE_SORT_ORDER,
    SortOrder, TableSchema,
};
use crate::types::{DataField, DataType};

/// The merge engine of a table with its keys and sequence fields, resolved against its schema.
#[derive(Debug, Clone)]
pub struct MergeRule {
    key: Vec<DataField>,
    sequence: Vec<DataField>,
    descending: bool,
    ignore_delete: bool,
    required_ids: Vec<i32>,
}

impl MergeRule {
    /// The rule of a primary-key table.
    ///
    /// # Errors
    /// `Unsupported` naming the merge engine or option that is not built; `InvalidConfig` naming a sequence field that is
    /// no column; `InvalidInput` for a table without primary key.
    pub fn try_new(schema: &TableSchema, options: &Options) -> Result<Self> {
        match options.value(&MERGE_ENGINE)? {
            MergeEngine::Deduplicate => {}
            engine @ (MergeEngine::PartialUpdate | MergeEngine::Aggregation | MergeEngine::FirstRow) => {
                return Err(Error::unsupported(format!("merge-engine {} is not supported yet", engine.as_str())));
            }
        }
        if options.value(&SEQUENCE_SNAPSHOT_ORDERING)? {
            return Err(Error::unsupported(format!("{} is not supported yet", SEQUENCE_SNAPSHOT_ORDERING.key)));
        }
        let key = schema.key_type().fields().to_vec();
        if key.is_empty() {
            return Err(Error::invalid_input("only tables with a primary key can be merged"));
        }
        let sequence = sequence_fields(schema, options)?;
        let mut required_ids: Vec<i32> = Vec::new();
        for field in key.iter().chain(&sequence) {
            if !required_ids.contains(&field.id) {
                required_ids.push(field.id);
            }
        }
        Ok(Self {
            key,
            sequence,
            descending: options.value(&SEQUENCE_SORT_ORDER)? == SortOrder::Descending,
            ignore_delete: options.value(&IGNORE_DELETE)?,
            required_ids,
        })
    }

    /// Ids of the columns that merging needs besides `_SEQUENCE_NUMBER` and `_VALUE_KIND`: key, then sequence fields.
    pub fn required_ids(&self) -> &[i32] {
        &self.required_ids
    }

    /// The trimmed primary key, in key order.
    pub(crate) fn key(&self) -> &[DataField] {
        &self.key
    }

    /// The columns that order rows of one key before their sequence numbers.
    pub(crate) fn sequence(&self) -> &[DataField] {
        &self.sequence
    }

    /// Whether the row with the least sequence fields wins.
    pub(crate) fn descending(&self) -> bool {
        self.descending
    }

    /// Whether retracts count as if they were not there.
    pub(crate) fn ignore_delete(&self) -> bool {
        self.ignore_delete
    }
}

fn sequence_fields(schema: &TableSchema, options: &Options) -> Result<Vec<DataField>> {
    let mut fields: Vec<DataField> = Vec::new();
    for name in options.value(&SEQUENCE_FIELD)? {
        let Some(field) = schema.fields.iter().find(|f| f.name == name) else {
            let message = format!("Sequence field: '{name}' can not be found in table schema.");
            return Err(Error::invalid_config(message).with_context("option", SEQUENCE_FIELD.key));
        };
        if fields.iter().any(|f| f.id == field.id) {
            let message = format!("Sequence field '{name}' is defined repeatedly.");
            return Err(Error::invalid_config(message).with_context("option", SEQUENCE_FIELD.key));
        }
        if is_nested(&field.data_type) {
            let message = format!("sequence field '{name}' of a nested type is not supported yet");
            return Err(Error::unsupported(message).with_context("option", SEQUENCE_FIELD.key));
        }
        fields.push(field.clone());
    }
    Ok(fields)
}

fn is_nested(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Array(_)
            | DataType::Multiset(_)
            | DataType::Map(_)
            | DataType::Row(_)
            | DataType::Variant(_)
            | DataType::Blob(_)
            | DataType::Vector(_)
    )
}
