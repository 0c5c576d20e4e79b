//! Which columns a read needs, and which parts of its filter may be used where.
//!
//! Invariants: tests of partition columns never reach files, which may lack these columns. Source: read-path sheet
//! section 7; merge-engine sheet section 8.

use std::sync::Arc;

use arrow::datatypes::{DataType as ArrowType, Field, Schema, SchemaRef};

use crate::error::{Entity, Error, Result};
use crate::predicate::Predicate;
use crate::spec::TableSchema;
use crate::types::{DataField, ROW_KIND, RowType, to_arrow_schema};

/// The columns and the filter of a read.
#[derive(Debug)]
pub(super) struct Columns {
    /// Columns of the result.
    pub(super) output: Vec<DataField>,
    /// Columns that only the filter needs.
    pub(super) filter_only: Vec<DataField>,
    /// The filter, exact.
    pub(super) filter: Option<Predicate>,
    /// What the filter says without partition columns: files whose rows are not merged may skip by it.
    pub(super) file_filter: Option<Predicate>,
    /// What it says about trimmed key columns alone: any file may skip by it.
    pub(super) key_filter: Option<Predicate>,
    /// The result, `rowkind` included if it is asked for.
    pub(super) schema: SchemaRef,
    /// Whether the result has the column `rowkind`.
    pub(super) row_kind: bool,
}

impl Columns {
    /// Resolves projection and filter against the schema that is read.
    ///
    /// # Errors
    /// `NotFound(Column)` if the filter names a column that the schema lacks.
    pub(super) fn try_new(
        schema: &TableSchema,
        projection: &[usize],
        filter: Option<&Predicate>,
        row_kind: bool,
    ) -> Result<Self> {
        let output: Vec<DataField> = projection.iter().filter_map(|&i| schema.fields.get(i).cloned()).collect();
        let mut filter_only: Vec<DataField> = Vec::new();
        for id in filter.map(Predicate::field_ids).unwrap_or_default() {
            let Some(field) = schema.fields.iter().find(|f| f.id == id) else {
                return Err(Error::not_found(
                    Entity::Column,
                    format!("the filter names a column with id {id}, which the table lacks"),
                ));
            };
            if !output.iter().chain(&filter_only).any(|f| f.id == id) {
                filter_only.push(field.clone());
            }
        }
        let partition = ids(schema, &schema.partition_keys);
        let key = ids(schema, &schema.trimmed_primary_keys());
        // A projection is weaker than the filter, so it may skip rows but never loses one that passes.
        let weaker = |keep: &dyn Fn(i32) -> bool| {
            filter.map(|f| f.project(keep)).filter(|f| !matches!(f, Predicate::AlwaysTrue))
        };
        Ok(Self {
            file_filter: weaker(&|id| !partition.contains(&id)),
            key_filter: weaker(&|id| key.contains(&id)),
            schema: result_schema(&output, row_kind),
            filter: filter.cloned(),
            output,
            filter_only,
            row_kind,
        })
    }

    /// Columns of the result, then those that only the filter needs.
    pub(super) fn needed(&self) -> Vec<DataField> {
        self.output.iter().chain(&self.filter_only).cloned().collect()
    }
}

fn ids(schema: &TableSchema, names: &[String]) -> Vec<i32> {
    schema.fields.iter().filter(|f| names.contains(&f.name)).map(|f| f.id).collect()
}

/// The schema of the columns, after `rowkind` if it is asked for.
pub(super) fn result_schema(output: &[DataField], row_kind: bool) -> SchemaRef {
    let columns = to_arrow_schema(&RowType::new(output.to_vec()));
    if !row_kind {
        return columns;
    }
    let kind = Arc::new(Field::new(ROW_KIND, ArrowType::Utf8, false));
    Arc::new(Schema::new(std::iter::once(kind).chain(columns.fields().iter().cloned()).collect::<Vec<_>>()))
}
