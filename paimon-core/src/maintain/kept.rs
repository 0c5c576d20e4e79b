//! The files that snapshots need which stay.
//!
//! Invariants: a snapshot, tag or branch that cannot be read is an error, never "needs nothing".

use std::collections::HashSet;

use crate::error::{ErrorKind, Result};
use crate::meta::{Snapshots, TablePaths, Tags};
use crate::scan::live_entries;
use crate::spec::Snapshot;
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
        let manifests = table.manifests();
        for list in lists_of(snapshot) {
            for manifest in manifests.read_list(list).await? {
                self.metadata.insert(manifest.file_name);
                self.metadata.extend(manifest.extra_files.into_iter().flatten());
            }
            self.metadata.insert(list.to_owned());
        }
        if let Some(name) = &snapshot.index_manifest {
            self.index.extend(manifests.read_index(name).await?.into_iter().map(|e| e.file_name));
            self.metadata.insert(name.clone());
        }
        self.statistics.extend(snapshot.statistics.clone());
        Ok(())
    }

    /// Adds the metadata and data files that a snapshot needs.
    pub(super) async fn keep_all(&mut self, table: &Table, snapshot: &Snapshot) -> Result<()> {
        self.keep_metadata(table, snapshot).await?;
        let live = live_entries(table, snapshot, None).await?;
        self.data.extend(live.into_iter().map(|e| e.file.file_name));
        Ok(())
    }
}

/// The manifest lists of a snapshot.
pub(super) fn lists_of(snapshot: &Snapshot) -> impl Iterator<Item = &str> {
    let always = [snapshot.base_manifest_list.as_str(), snapshot.delta_manifest_list.as_str()];
    always.into_iter().chain(snapshot.changelog_manifest_list.as_deref())
}

/// The snapshots that tags of the table's branch and everything of its other branches hold, each id of a place once.
pub(super) async fn held_elsewhere(table: &Table) -> Result<Vec<Snapshot>> {
    let mut held: Vec<Snapshot> = table.tags().list().await?.into_iter().map(|t| t.snapshot).collect();
    let (io, location) = (table.io(), table.location());
    let mut branches = vec!["main".to_owned()];
    for entry in io.list(&table.paths().branches_dir()).await? {
        branches.extend(entry.name.strip_prefix("branch-").filter(|_| entry.is_dir).map(str::to_owned));
    }
    for branch in branches.into_iter().filter(|b| b != table.branch()) {
        let paths = TablePaths::new(location, branch);
        held.extend(Snapshots::new(io.clone(), paths.clone()).list().await?);
        held.extend(Tags::new(io.clone(), paths).list().await?.into_iter().map(|t| t.snapshot));
    }
    held.dedup_by(|a, b| a == b);
    Ok(held)
}

/// The value, or nothing if the file is gone: a run that was cut short has deleted it.
pub(super) fn unless_gone<T: Default>(result: Result<T>) -> Result<T> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound(_)) => Ok(T::default()),
        other => other,
    }
}
