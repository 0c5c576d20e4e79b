//! What an overwrite deletes, decided anew at each attempt to commit.
//!
//! Source: write-path sheet section 9; `operation/commit/OverwriteChangesProvider.java`.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::base_files::{equals, live_files};
use super::changes::Changes;
use crate::error::{Error, Result};
use crate::options::Options;
use crate::predicate::Predicate;
use crate::row::BinaryRow;
use crate::scan::live_entries;
use crate::spec::{EntryKind, ManifestEntry, NUM_LEVELS, NUM_SORTED_RUNS_TRIGGER, OVERWRITE_UPGRADE, Snapshot};
use crate::table::Table;
use crate::types::{DataType, Datum, RowType};

/// Values of partition columns that a partition must have; `None` is null.
pub(crate) type PartitionSpec = BTreeMap<String, Option<Datum>>;

/// Which partitions are replaced.
#[derive(Debug, Clone)]
pub(crate) enum Replaced {
    /// Exactly these.
    Partitions(Vec<BinaryRow>),
    /// Those that match one of these specifications; an empty one matches all.
    Matching(Vec<PartitionSpec>),
}

/// Positions of partition columns with the values that they must have.
type Positions = Vec<(usize, Option<Datum>)>;

/// Tells which partitions are replaced.
pub(crate) struct Matcher {
    row: RowType,
    types: Vec<DataType>,
    exact: HashSet<Vec<Option<Datum>>>,
    specs: Option<Vec<Positions>>,
    decided: HashMap<BinaryRow, bool>,
}

impl Matcher {
    /// A matcher for partitions of `row`.
    ///
    /// # Errors
    /// `InvalidInput` naming a column that is no partition column.
    pub(crate) fn try_new(row: RowType, replaced: &Replaced) -> Result<Self> {
        let types = row.types();
        let mut matcher = Self { row, types, exact: HashSet::new(), specs: None, decided: HashMap::new() };
        match replaced {
            Replaced::Partitions(partitions) => {
                for partition in partitions {
                    matcher.exact.insert(partition.decode(&matcher.types)?);
                }
            }
            Replaced::Matching(specs) => {
                matcher.specs = Some(specs.iter().map(|s| matcher.positions(s)).collect::<Result<_>>()?);
            }
        }
        Ok(matcher)
    }

    fn positions(&self, spec: &PartitionSpec) -> Result<Positions> {
        let find = |(name, value): (&String, &Option<Datum>)| match self.row.index_of(name) {
            Some(position) => Ok((position, value.clone())),
            None => Err(Error::invalid_input(format!("column {name} is no partition column"))),
        };
        spec.iter().map(find).collect()
    }

    /// The live files of the partitions that may be replaced, and maybe others.
    async fn candidates(&self, table: &Table, latest: &Snapshot, replaced: &Replaced) -> Result<Vec<ManifestEntry>> {
        match replaced {
            Replaced::Partitions(partitions) => live_files(table, latest, partitions).await,
            Replaced::Matching(_) => live_entries(table, latest, Some(&self.filter())).await,
        }
    }

    /// Whatever matches one of the specifications.
    fn filter(&self) -> Predicate {
        Predicate::or(self.specs.iter().flatten().map(|spec| {
            let tests = spec.iter().filter_map(|(i, value)| Some(equals(self.row.fields().get(*i)?, value.clone())));
            Predicate::and(tests)
        }))
    }

    /// Whether the partition is replaced.
    ///
    /// # Errors
    /// `Corrupt` if the row does not fit the partition columns.
    pub(crate) fn matches(&mut self, partition: &BinaryRow) -> Result<bool> {
        if let Some(decided) = self.decided.get(partition) {
            return Ok(*decided);
        }
        let values = partition.decode(&self.types)?;
        let decided = match &self.specs {
            None => self.exact.contains(&values),
            Some(specs) => specs.iter().any(|s| s.iter().all(|(i, value)| values.get(*i) == Some(value))),
        };
        self.decided.insert(partition.clone(), decided);
        Ok(decided)
    }
}

/// Adds to `changes` the deletes of everything live that is replaced: data files, and index files of their partitions.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub(crate) async fn replace(
    table: &Table,
    latest: Option<&Snapshot>,
    replaced: &Replaced,
    changes: &Changes,
) -> Result<Changes> {
    let mut matcher = Matcher::try_new(table.schema().partition_type(), replaced)?;
    let mut out = Changes { delta: Vec::new(), changelog: Vec::new(), ..changes.clone() };
    let any_bucket = table.bucket_option()? == -2 || table.replaces().is_some();
    if let Some(latest) = latest {
        for live in matcher.candidates(table, latest, replaced).await? {
            if (live.bucket >= 0 || any_bucket) && matcher.matches(&live.partition)? {
                out.delta.push(ManifestEntry { kind: EntryKind::Delete, ..live });
            }
        }
        if let Some(name) = &latest.index_manifest {
            for index in table.manifests().read_index(name).await? {
                if matcher.matches(&index.partition)? {
                    out.deleted_index.push(index);
                }
            }
        }
    }
    out.delta.extend(changes.delta.iter().cloned());
    Ok(out)
}

/// Checks that new files lie within a static specification.
///
/// # Errors
/// `InvalidInput` naming the partition.
pub(crate) fn check_within(table: &Table, replaced: &Replaced, changes: &Changes) -> Result<()> {
    let mut matcher = Matcher::try_new(table.schema().partition_type(), replaced)?;
    for entry in &changes.delta {
        if !matcher.matches(&entry.partition)? {
            let path = table.paths().partition_path(table.schema(), table.options(), &entry.partition)?;
            return Err(Error::invalid_input(format!(
                "The changes in partition {{{path}}} do not belong to the partition that is overwritten"
            )));
        }
    }
    Ok(())
}

/// Puts new files of a primary-key table straight to the top level where the key ranges of a bucket are disjoint, since
/// nothing is left that they could have to be merged with.
///
/// # Errors
/// `InvalidConfig` or `Corrupt`.
pub(crate) fn upgrade(key_types: &[DataType], options: &Options, changes: &mut Changes) -> Result<()> {
    let all_new = changes.delta.iter().all(|e| e.kind == EntryKind::Add && e.file.level == 0 && e.bucket >= 0);
    if key_types.is_empty() || !all_new || !options.value(&OVERWRITE_UPGRADE)? {
        return Ok(());
    }
    let top = match options.find(&NUM_LEVELS)? {
        Some(levels) => levels,
        None => options.value(&NUM_SORTED_RUNS_TRIGGER)? + 1,
    };
    let top = i32::try_from(top.saturating_sub(1)).unwrap_or(i32::MAX);
    let mut buckets: HashMap<(BinaryRow, i32), Vec<usize>> = HashMap::new();
    for (i, entry) in changes.delta.iter().enumerate() {
        buckets.entry((entry.partition.clone(), entry.bucket)).or_default().push(i);
    }
    for positions in buckets.into_values() {
        let mut ranges = Vec::with_capacity(positions.len());
        for &i in &positions {
            let file = &changes.delta[i].file;
            ranges.push((file.min_key.decode(key_types)?, file.max_key.decode(key_types)?));
        }
        ranges.sort();
        let disjoint = ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
        // A delete must not stay at the top level, where nothing below would ever drop it.
        let free_of_deletes = positions.iter().all(|&i| changes.delta[i].file.delete_row_count == Some(0));
        if disjoint && free_of_deletes {
            for i in positions {
                changes.delta[i].file.level = top;
            }
        }
    }
    Ok(())
}
