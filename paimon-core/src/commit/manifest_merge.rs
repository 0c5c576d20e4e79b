//! Rewriting manifests at commit, so that their number stays small.
//!
//! Invariants: the live files before and after are the same; a manifest that is kept is kept as it is. What was written is
//! named before an error is given, so that the caller can delete it. Source: manifest sheet section 6;
//! `operation/ManifestFileMerger.java`.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::meta::Manifests;
use crate::options::Options;
use crate::row::BinaryRow;
use crate::spec::{
    EntryKind, FileIdentity, MANIFEST_FULL_COMPACTION_SIZE, MANIFEST_MERGE_MIN_COUNT, MANIFEST_TARGET_SIZE,
    ManifestEntry, ManifestFileMeta, TableSchema,
};
use crate::types::{DataType, Datum};

/// A merge that was done: these manifests in sequence became those.
#[derive(Debug, Default, Clone)]
pub(crate) struct Merged {
    inputs: Vec<String>,
    /// Whether deletes were dropped, which is right only if nothing came before the inputs.
    is_full: bool,
    outputs: Vec<ManifestFileMeta>,
}

impl Merged {
    /// The manifests that replace the inputs.
    pub(crate) fn outputs(&self) -> &[ManifestFileMeta] {
        &self.outputs
    }

    /// The same merge done to another list, which later snapshots have made longer; `None` if the inputs do not stand in it
    /// in sequence any more, or a full merge would not begin at its first.
    pub(crate) fn again(&self, manifests: &[ManifestFileMeta]) -> Option<Vec<ManifestFileMeta>> {
        let first = self.inputs.first()?;
        let start = manifests.iter().position(|m| m.file_name == *first)?;
        if self.is_full && start > 0 {
            return None;
        }
        let end = start + self.inputs.len();
        let found = manifests.get(start..end)?;
        if !found.iter().map(|m| &m.file_name).eq(&self.inputs) {
            return None;
        }
        Some([&manifests[..start], &self.outputs, &manifests[end..]].concat())
    }
}

/// Merges manifests of a table.
pub(crate) struct Merger<'a> {
    store: &'a Manifests,
    schema: &'a TableSchema,
    options: &'a Options,
    partition_types: Vec<DataType>,
    target: u64,
    written: &'a mut Vec<String>,
}

impl<'a> Merger<'a> {
    /// A merger that adds the names of new manifests to `written`.
    ///
    /// # Errors
    /// `InvalidConfig` naming the option.
    pub(crate) fn try_new(
        store: &'a Manifests,
        schema: &'a TableSchema,
        options: &'a Options,
        written: &'a mut Vec<String>,
    ) -> Result<Self> {
        let target = options.value(&MANIFEST_TARGET_SIZE)?;
        Ok(Self { store, schema, options, partition_types: schema.partition_type().types(), target, written })
    }

    /// Merges where the rules say so.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub(crate) async fn merge(&mut self, manifests: Vec<ManifestFileMeta>) -> Result<Merged> {
        let inputs = manifests.iter().map(|m| m.file_name.clone()).collect();
        Ok(match self.full(&manifests).await? {
            Some(outputs) => Merged { inputs, is_full: true, outputs },
            None => Merged { inputs, is_full: false, outputs: self.minor(manifests).await? },
        })
    }

    fn is_small(&self, manifest: &ManifestFileMeta) -> bool {
        size_of(manifest) < self.target
    }

    /// Rewrites every manifest that is small, or holds deletes or what they delete, once the small ones and those with
    /// deletes weigh enough.
    async fn full(&mut self, manifests: &[ManifestFileMeta]) -> Result<Option<Vec<ManifestFileMeta>>> {
        let threshold = self.options.value(&MANIFEST_FULL_COMPACTION_SIZE)?;
        let stale = manifests.iter().filter(|m| m.num_deleted_files > 0 || self.is_small(m));
        let (count, weight) = stale.fold((0, 0u64), |(n, sum), m| (n + 1, sum.saturating_add(size_of(m))));
        if weight < threshold || count <= 1 {
            return Ok(None);
        }
        let deleted = self.deleted(manifests).await?;
        let partitions = Deleted::new(&deleted, &self.partition_types)?;
        let mut outputs = Vec::new();
        let mut live = Vec::new();
        for manifest in manifests {
            let is_large = !self.is_small(manifest) && manifest.num_deleted_files == 0;
            if is_large && !partitions.may_stand_in(manifest) {
                outputs.push(manifest.clone());
                continue;
            }
            let entries = self.store.read(manifest).await?;
            if is_large && !entries.iter().any(|e| deleted.contains(&e.identity())) {
                outputs.push(manifest.clone());
                continue;
            }
            let added = entries.iter().filter(|e| e.kind == EntryKind::Add && !deleted.contains(&e.identity()));
            live.extend(added.cloned());
        }
        self.write(&live, &mut outputs).await?;
        Ok(Some(outputs))
    }

    async fn deleted(&self, manifests: &[ManifestFileMeta]) -> Result<HashSet<FileIdentity>> {
        let with_deletes = manifests.iter().filter(|m| m.num_deleted_files > 0).cloned().collect();
        let mut all = HashSet::new();
        for entries in self.store.read_all(with_deletes).await? {
            all.extend(entries.iter().filter(|e| e.kind == EntryKind::Delete).map(ManifestEntry::identity));
        }
        Ok(all)
    }

    /// Merges neighbours that are small together: groups that fill a manifest, and the tail once it has many.
    async fn minor(&mut self, manifests: Vec<ManifestFileMeta>) -> Result<Vec<ManifestFileMeta>> {
        let min_count = self.options.value(&MANIFEST_MERGE_MIN_COUNT)?;
        let mut outputs = Vec::new();
        let (mut group, mut size) = (Vec::new(), 0u64);
        for manifest in manifests {
            size = size.saturating_add(size_of(&manifest));
            group.push(manifest);
            if size >= self.target {
                self.merge_group(std::mem::take(&mut group), &mut outputs).await?;
                size = 0;
            }
        }
        if group.len() >= min_count {
            self.merge_group(group, &mut outputs).await?;
        } else {
            outputs.extend(group);
        }
        Ok(outputs)
    }

    async fn merge_group(&mut self, group: Vec<ManifestFileMeta>, outputs: &mut Vec<ManifestFileMeta>) -> Result<()> {
        if group.len() <= 1 {
            outputs.extend(group);
            return Ok(());
        }
        let read = self.store.read_all(group.clone()).await?;
        let mut entries: Vec<Option<&ManifestEntry>> = Vec::new();
        let mut added: HashMap<FileIdentity, usize> = HashMap::new();
        for (manifest, read) in group.iter().zip(&read) {
            for entry in read.iter() {
                if entry.kind == EntryKind::Add {
                    if added.insert(entry.identity(), entries.len()).is_some() {
                        return Err(Error::corrupt(format!("data file {} is added twice", entry.file.file_name))
                            .with_context("file", &manifest.file_name));
                    }
                    entries.push(Some(entry));
                } else if let Some(position) = added.remove(&entry.identity()) {
                    entries[position] = None;
                } else {
                    // The file was added by an older manifest.
                    entries.push(Some(entry));
                }
            }
        }
        let entries: Vec<ManifestEntry> = entries.into_iter().flatten().cloned().collect();
        self.write(&entries, outputs).await
    }

    async fn write(&mut self, entries: &[ManifestEntry], outputs: &mut Vec<ManifestFileMeta>) -> Result<()> {
        let written = self.store.write(entries, self.schema, self.options).await?;
        self.written.extend(written.iter().map(|m| m.file_name.clone()));
        outputs.extend(written);
        Ok(())
    }
}

fn size_of(manifest: &ManifestFileMeta) -> u64 {
    u64::try_from(manifest.file_size).unwrap_or(0)
}

/// The partitions of deleted files.
struct Deleted<'a> {
    types: &'a [DataType],
    partitions: Vec<Vec<Option<Datum>>>,
}

impl<'a> Deleted<'a> {
    fn new(deleted: &HashSet<FileIdentity>, types: &'a [DataType]) -> Result<Self> {
        let distinct: HashSet<&BinaryRow> = deleted.iter().map(FileIdentity::partition).collect();
        let partitions = distinct.into_iter().map(|p| p.decode(types)).collect::<Result<_>>()?;
        Ok(Self { types, partitions })
    }

    /// Whether one of them is within the bounds of the manifest. Unknown bounds hold everything.
    fn may_stand_in(&self, manifest: &ManifestFileMeta) -> bool {
        if self.partitions.is_empty() {
            return false;
        }
        let stats = &manifest.partition_stats;
        let (Ok(min), Ok(max)) = (stats.min_values.decode(self.types), stats.max_values.decode(self.types)) else {
            return true;
        };
        self.partitions.iter().any(|partition| {
            partition.iter().enumerate().all(|(i, value)| match (value, &min[i], &max[i]) {
                (None, _, _) => stats.null_counts.get(i).copied().flatten() != Some(0),
                (Some(value), Some(min), Some(max)) => min <= value && value <= max,
                // No bound: all are null, or unknown.
                (Some(_), _, _) => true,
            })
        })
    }
}

#[cfg(test)]
mod tests;
