//! The files that snapshots need which stay.
//!
//! Invariants: a snapshot, tag or branch that cannot be read is an error, never "needs nothing".

use std::collections::{BTreeSet, HashSet};

use futures::future::{BoxFuture, FutureExt};

use crate::error::Result;
use crate::meta::{Snapshots, TablePaths, Tags};
use crate::scan::live_entries;
use crate::spec::{EntryKind, ManifestEntry, Snapshot};
use crate::storage::unless_gone;
use crate::table::Table;

/// Names of files below `manifest/`, `index/` and `statistics/`, and of data files.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Manifests, lists and index manifests.
    pub(super) metadata: HashSet<String>,
    /// Index files.
    pub(super) index: HashSet<String>,
    /// Statistics files.
    pub(super) statistics: HashSet<String>,
    /// Data files.
    pub(super) data: HashSet<String>,
}

impl Kept {
    /// Adds the metadata that a snapshot needs.
    pub(super) async fn keep_metadata(&mut self, table: &Table, snapshot: &Snapshot) -> Result<()> {
        for list in lists_of(snapshot) {
            for manifest in table.manifests().read_list(list).await? {
                self.metadata.insert(manifest.file_name);
                self.metadata.extend(manifest.extra_files.into_iter().flatten());
            }
            self.metadata.insert(list.to_owned());
        }
        self.keep_named(table, snapshot).await
    }

    /// Adds the index and statistics files that a snapshot names.
    pub(super) async fn keep_named(&mut self, table: &Table, snapshot: &Snapshot) -> Result<()> {
        if let Some(name) = &snapshot.index_manifest
            && !self.metadata.contains(name)
        {
            self.index.extend(table.manifests().read_index(name).await?.into_iter().map(|e| e.file_name));
            self.metadata.insert(name.clone());
        }
        self.statistics.extend(snapshot.statistics.clone());
        Ok(())
    }

    /// Adds the data files that a snapshot needs.
    pub(super) async fn keep_data(&mut self, table: &Table, snapshot: &Snapshot) -> Result<()> {
        let live = live_entries(table, snapshot, None).await?;
        self.data.extend(live.into_iter().map(|e| e.file.file_name));
        Ok(())
    }

    /// Adds the data files that snapshots need which follow one another: those of the first, and what the others added.
    pub(super) async fn keep_data_of_all(&mut self, table: &Table, snapshots: &[Snapshot]) -> Result<()> {
        let Some((first, others)) = snapshots.split_first() else { return Ok(()) };
        self.keep_data(table, first).await?;
        for snapshot in others {
            let entries = entries_of(table, &snapshot.delta_manifest_list).await?;
            let adds = entries.into_iter().filter(|e| e.kind == EntryKind::Add);
            self.data.extend(adds.map(|e| e.file.file_name));
        }
        Ok(())
    }
}

/// The manifest lists of a snapshot.
pub(super) fn lists_of(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let always = [snapshot.base_manifest_list.as_str(), snapshot.delta_manifest_list.as_str()];
    always.into_iter().chain(snapshot.changelog_manifest_list.as_deref())
}

/// The entries of one manifest list; none if it is gone.
pub(super) async fn entries_of(table: &Table, list: &str) -> Result<Vec<ManifestEntry>> {
    let manifests = table.manifests();
    let mut out = Vec::new();
    for manifest in unless_gone(manifests.read_list(list).await)? {
        out.extend(unless_gone(manifests.read(&manifest).await)?.iter().cloned());
    }
    Ok(out)
}

/// What holds files beside the snapshots of a table's branch.
#[derive(Debug)]
pub(super) struct Holders {
    /// Snapshots that tags of the branch keep, by id, each once.
    tags: Vec<Snapshot>,
    /// Snapshots of the other branches, each by id, and those that their tags keep.
    branches: Vec<(Vec<Snapshot>, Vec<Snapshot>)>,
}

impl Holders {
    /// Reads all of them.
    pub(super) async fn read(table: &Table) -> Result<Self> {
        let mut tags: Vec<Snapshot> = table.tags().list().await?.into_iter().map(|t| t.snapshot).collect();
        tags.sort_by_key(|s| s.id);
        tags.dedup();
        let (io, location) = (table.io(), table.location());
        let mut names = BTreeSet::from(["main".to_owned()]);
        for (name, is_dir) in io.list_names(&table.paths().branches_dir()).await? {
            names.extend(name.strip_prefix("branch-").filter(|_| is_dir).map(str::to_owned));
        }
        names.remove(table.branch());
        let mut branches = Vec::new();
        for branch in names {
            let paths = TablePaths::new(location, branch);
            let snapshots = Snapshots::new(io.clone(), paths.clone()).list().await?;
            let tags = Tags::new(io.clone(), paths).list().await?.into_iter().map(|t| t.snapshot).collect();
            branches.push((snapshots, tags));
        }
        Ok(Self { tags, branches })
    }

    /// The tags that may hold a file which a snapshot from `first` to `last` dropped. A file is live in snapshots that
    /// follow one another, so that of the tags before `first` only the last one matters.
    pub(super) fn tags_between(&self, first: i64, last: i64) -> &[Snapshot] {
        let end = self.tags.partition_point(|s| s.id <= last);
        let within = self.tags.partition_point(|s| s.id < first);
        // Tags of one id may differ after a rollback: all of them count.
        let before = within.checked_sub(1).map_or(0, |at| {
            let id = self.tags.get(at).map_or(0, |s| s.id);
            self.tags.partition_point(|s| s.id < id)
        });
        self.tags.get(before..end).unwrap_or_default()
    }

    /// Adds the metadata that these tags and all other branches need, and their data files if `data`.
    // Boxed: the compiler cannot tell that the future of an `async fn` with these references can be sent.
    pub(super) fn keep<'a>(
        &'a self,
        table: &'a Table,
        tags: &'a [Snapshot],
        data: bool,
        kept: &'a mut Kept,
    ) -> BoxFuture<'a, Result<()>> {
        let tagged = self.branches.iter().flat_map(|(_, tags)| tags);
        let single: Vec<&Snapshot> = tags.iter().chain(tagged).collect();
        async move {
            for tag in single {
                kept.keep_metadata(table, tag).await?;
                if data {
                    kept.keep_data(table, tag).await?;
                }
            }
            for (snapshots, _) in &self.branches {
                for snapshot in snapshots {
                    kept.keep_metadata(table, snapshot).await?;
                }
                if data {
                    kept.keep_data_of_all(table, snapshots).await?;
                }
            }
            Ok(())
        }
        .boxed()
    }
}
