//! The live files that a commit is checked against.
//!
//! Source: write-path sheet section 8; `operation/commit/CommitScanner.java`.

use crate::error::Result;
use crate::predicate::{Function, Leaf, Predicate};
use crate::row::BinaryRow;
use crate::scan::live_entries;
use crate::spec::{ManifestEntry, Snapshot};
use crate::table::Table;
use crate::types::{DataField, Datum, RowType};

/// More partitions than this are not told apart while manifests are chosen: evaluating the filter would cost more than it
/// saves.
const MAX_FILTERED_PARTITIONS: usize = 64;

/// The live files of these partitions, and maybe of others.
///
/// # Errors
/// `Storage` or `Corrupt`, naming the file.
pub(super) async fn live_files(
    table: &Table,
    snapshot: &Snapshot,
    partitions: &[BinaryRow],
) -> Result<Vec<ManifestEntry>> {
    let filter = filter_of(&table.schema().partition_type(), partitions)?;
    live_entries(table, snapshot, filter.as_ref()).await
}

fn filter_of(row: &RowType, partitions: &[BinaryRow]) -> Result<Option<Predicate>> {
    if row.fields().is_empty() || partitions.len() > MAX_FILTERED_PARTITIONS {
        return Ok(None);
    }
    let types = row.types();
    let mut any = Vec::with_capacity(partitions.len());
    for partition in partitions {
        let values = partition.decode(&types)?;
        any.push(Predicate::and(row.fields().iter().zip(values).map(|(field, value)| equals(field, value))));
    }
    Ok(Some(Predicate::or(any)))
}

/// The test that a column has this value, null being one.
pub(super) fn equals(field: &DataField, value: Option<Datum>) -> Predicate {
    Predicate::Leaf(Leaf {
        field_id: field.id,
        name: field.name.clone(),
        data_type: field.data_type.clone(),
        function: if value.is_some() { Function::Equal } else { Function::IsNull },
        literals: value.into_iter().collect(),
    })
}
