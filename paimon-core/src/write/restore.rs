//! What writers continue from: the sequence numbers and bucket counts of the latest snapshot.
//!
//! Invariants: one snapshot serves a whole write; nothing is read before a row needs it. The first partitions that are
//! touched are read alone, any further one makes all known. Source: write-path sheet sections 2, 3 and 4;
//! `operation/AbstractFileStoreWrite.java`.

use std::collections::{HashMap, HashSet};

use super::route::BucketKey;
use crate::error::{Error, Result};
use crate::predicate::{Function, Leaf, Predicate};
use crate::row::{BinaryRow, NullLayout};
use crate::scan::live_entries;
use crate::spec::Snapshot;
use crate::table::Table;

/// Partitions that are worth a filter.
const FILTERED_PARTITIONS: usize = 64;

/// What the latest snapshot says about buckets.
#[derive(Debug, Default)]
pub(super) struct Restored {
    snapshot: Option<Option<Snapshot>>,
    known: HashSet<BinaryRow>,
    all_known: bool,
    sequences: HashMap<BucketKey, i64>,
    bucket_counts: HashMap<BinaryRow, i32>,
}

impl Restored {
    /// Makes these partitions known.
    ///
    /// # Errors
    /// `Storage` or `Corrupt` of the metadata.
    pub(super) async fn load(&mut self, table: &Table, partitions: &[&BinaryRow]) -> Result<()> {
        if self.all_known || partitions.iter().all(|p| self.known.contains(*p)) {
            return Ok(());
        }
        let snapshot = match &self.snapshot {
            Some(snapshot) => snapshot.clone(),
            None => {
                let latest = table.snapshots().latest().await?;
                self.snapshot = Some(latest.clone());
                latest
            }
        };
        let Some(snapshot) = snapshot else {
            self.all_known = true;
            return Ok(());
        };
        let first = self.known.is_empty() && partitions.len() <= FILTERED_PARTITIONS;
        let filter = if first { any_of(table, partitions)? } else { None };
        self.all_known = filter.is_none();
        self.known.extend(partitions.iter().map(|p| (*p).clone()));
        let types = table.schema().partition_type().types();
        for entry in live_entries(table, &snapshot, filter.as_ref()).await? {
            // Other writers lay out nulls of wide types differently.
            let values = entry.partition.decode(&types)?;
            let partition = if types.is_empty() {
                BinaryRow::empty()
            } else {
                BinaryRow::encode(&values, &types, NullLayout::Reserved)?
            };
            if entry.total_buckets > 0 {
                self.bucket_counts.insert(partition.clone(), entry.total_buckets);
            }
            let sequence = self.sequences.entry(BucketKey { partition, bucket: entry.bucket }).or_insert(-1);
            *sequence = (*sequence).max(entry.file.max_sequence_number);
        }
        Ok(())
    }

    /// The sequence number of the next row of a bucket whose partition is known.
    pub(super) fn next_sequence(&self, key: &BucketKey) -> i64 {
        self.sequences.get(key).map_or(0, |greatest| greatest.saturating_add(1).max(0))
    }

    /// Checks the bucket count against that of existing files of a partition that is known.
    ///
    /// # Errors
    /// `InvalidInput` if they differ.
    pub(super) fn check_bucket_count(&self, table: &Table, partition: &BinaryRow, buckets: i32) -> Result<()> {
        match self.bucket_counts.get(partition) {
            Some(previous) if *previous != buckets => {
                let place = if partition.arity() == 0 {
                    "table".to_owned()
                } else {
                    format!("partition {}", partition_text(table, partition)?)
                };
                Err(Error::invalid_input(format!(
                    "Try to write {place} with a new bucket num {buckets}, but the previous bucket num is {previous}. \
                     Please switch to batch mode, and perform INSERT OVERWRITE to rescale current data layout first."
                )))
            }
            _ => Ok(()),
        }
    }
}

fn partition_text(table: &Table, partition: &BinaryRow) -> Result<String> {
    let values = table.paths().partition_values(table.schema(), table.options(), partition)?;
    let parts = table.schema().partition_keys.iter().zip(values).map(|(key, value)| format!("{key}={value}"));
    Ok(format!("{{{}}}", parts.collect::<Vec<_>>().join(", ")))
}

/// A filter on these partitions; `None` for unpartitioned tables.
fn any_of(table: &Table, partitions: &[&BinaryRow]) -> Result<Option<Predicate>> {
    let row = table.schema().partition_type();
    if row.fields().is_empty() {
        return Ok(None);
    }
    let types = row.types();
    let one = |partition: &&BinaryRow| -> Result<Predicate> {
        let values = partition.decode(&types)?;
        let leaves = row.fields().iter().zip(values).map(|(field, value)| {
            Predicate::Leaf(Leaf {
                field_id: field.id,
                name: field.name.clone(),
                data_type: field.data_type.clone(),
                function: if value.is_some() { Function::Equal } else { Function::IsNull },
                literals: value.into_iter().collect(),
            })
        });
        Ok(Predicate::And(leaves.collect()))
    };
    Ok(Some(Predicate::Or(partitions.iter().map(one).collect::<Result<_>>()?)))
}
