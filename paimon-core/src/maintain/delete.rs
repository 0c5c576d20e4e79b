//! Deletes what only snapshots need that go.
//!
//! Invariants: what [`Kept`] names stays; a file that is gone already is no error, so that a run that was cut short can be
//! repeated. The snapshot document goes last.

use std::collections::HashSet;

use futures::stream::{self, StreamExt, TryStreamExt};

use super::kept::{Kept, lists_of, unless_gone};
use crate::error::Result;
use crate::meta::TablePaths;
use crate::spec::{EntryKind, ManifestEntry, Snapshot};
use crate::table::Table;

/// Deletions that run at once.
const PARALLELISM: usize = 8;

/// Paths of a data file and the files beside it.
pub(super) fn data_paths(table: &Table, entry: &ManifestEntry) -> Result<Vec<String>> {
    let directory = table.paths().bucket_dir(table.schema(), table.options(), &entry.partition, entry.bucket)?;
    let path = TablePaths::data_file(&directory, &entry.file);
    let beside = path.rsplit_once('/').map_or(directory.as_str(), |(parent, _)| parent).to_owned();
    let mut all: Vec<String> = entry.file.extra_files.iter().map(|name| format!("{beside}/{name}")).collect();
    all.push(path);
    Ok(all)
}

/// Deletes files, a bounded number at a time.
pub(super) async fn delete_paths(table: &Table, paths: Vec<String>) -> Result<()> {
    let io = table.io();
    let deletions = stream::iter(paths).map(|path| async move { io.delete(&path).await });
    deletions.buffer_unordered(PARALLELISM).try_collect::<Vec<()>>().await?;
    Ok(())
}

/// The entries of one manifest list; none if it is gone.
pub(super) async fn entries_of(table: &Table, list: &str) -> Result<Vec<ManifestEntry>> {
    let manifests = table.manifests();
    let mut out = Vec::new();
    for manifest in unless_gone(manifests.read_list(list).await)? {
        match manifests.read(&manifest).await {
            Ok(entries) => out.extend(entries.iter().cloned()),
            Err(error) => unless_gone(Err(error))?,
        }
    }
    Ok(out)
}

/// Deletes data files that these entries deleted, unless they are kept or added by `added`.
pub(super) async fn delete_data(
    table: &Table,
    entries: &[ManifestEntry],
    added: &HashSet<String>,
    kept: &Kept,
) -> Result<()> {
    let mut paths = Vec::new();
    for entry in entries.iter().filter(|e| e.kind == EntryKind::Delete) {
        let name = &entry.file.file_name;
        if !added.contains(name) && !kept.data.contains(name) {
            paths.extend(data_paths(table, entry)?);
        }
    }
    delete_paths(table, paths).await
}

/// Deletes the changelog files of a snapshot.
pub(super) async fn delete_changelog(table: &Table, snapshot: &Snapshot) -> Result<()> {
    let Some(list) = &snapshot.changelog_manifest_list else { return Ok(()) };
    let mut paths = Vec::new();
    for entry in entries_of(table, list).await? {
        paths.extend(data_paths(table, &entry)?);
    }
    delete_paths(table, paths).await
}

/// Deletes the manifests, lists, index and statistics files of a snapshot that are not kept.
pub(super) async fn delete_metadata(table: &Table, snapshot: &Snapshot, kept: &Kept) -> Result<()> {
    let (store, paths) = (table.manifests(), table.paths());
    let mut names: Vec<String> = Vec::new();
    let mut gone: Vec<String> = Vec::new();
    for list in lists_of(snapshot) {
        for manifest in unless_gone(store.read_list(list).await)? {
            names.push(manifest.file_name);
            names.extend(manifest.extra_files.into_iter().flatten());
        }
    }
    if let Some(name) = &snapshot.index_manifest {
        let entries = unless_gone(store.read_index(name).await)?;
        let unused = entries.into_iter().map(|e| e.file_name).filter(|n| !kept.index.contains(n));
        gone.extend(unused.map(|n| paths.index(&n)));
    }
    names.extend(lists_of(snapshot).map(str::to_owned));
    names.extend(snapshot.index_manifest.clone());
    gone.extend(names.into_iter().filter(|n| !kept.metadata.contains(n)).map(|n| paths.manifest(&n)));
    let statistics = snapshot.statistics.iter().filter(|n| !kept.statistics.contains(*n));
    gone.extend(statistics.map(|n| paths.statistics(n)));
    delete_paths(table, gone).await
}
