//! Deletes what only snapshots need that go.
//!
//! Invariants: what [`Kept`] names stays; a file that is gone already is no error, so that a run that was cut short can be
//! repeated.

use futures::stream::{self, StreamExt, TryStreamExt};

use super::kept::{Kept, entries_of, lists_of};
use crate::error::Result;
use crate::meta::TablePaths;
use crate::spec::{IndexManifestEntry, ManifestEntry, Snapshot};
use crate::storage::unless_gone;
use crate::table::Table;

/// Deletions that run at once.
const PARALLELISM: usize = 8;

/// Deletes data files with the files beside them.
pub(super) async fn delete_data(table: &Table, entries: &[ManifestEntry]) -> Result<()> {
    let mut paths = Vec::new();
    for entry in entries {
        data_paths(table, entry, &mut paths)?;
    }
    delete_paths(table, paths).await
}

fn data_paths(table: &Table, entry: &ManifestEntry, out: &mut Vec<String>) -> Result<()> {
    let (paths, schema, options) = (table.paths(), table.schema(), table.options());
    let directory = paths.bucket_dir(schema, options, &entry.partition, entry.bucket)?;
    let other = match entry.file.external_path {
        Some(_) => None,
        None => paths.old_python_bucket_dir(schema, options, &entry.partition, entry.bucket)?,
    };
    for directory in std::iter::once(directory).chain(other) {
        let path = TablePaths::data_file(&directory, &entry.file);
        let beside = path.rsplit_once('/').map_or(directory.as_str(), |(parent, _)| parent).to_owned();
        out.extend(entry.file.extra_files.iter().map(|name| format!("{beside}/{name}")));
        out.push(path);
    }
    Ok(())
}

/// Deletes the changelog files of a snapshot.
pub(super) async fn delete_changelog(table: &Table, snapshot: &Snapshot, kept: &Kept) -> Result<()> {
    match &snapshot.changelog_manifest_list {
        Some(list) if !kept.metadata.contains(list) => delete_data(table, &entries_of(table, list).await?).await,
        _ => Ok(()),
    }
}

/// Deletes the manifests, lists, index and statistics files of a snapshot that are not kept.
pub(super) async fn delete_metadata(table: &Table, snapshot: &Snapshot, kept: &Kept) -> Result<()> {
    let store = table.manifests();
    let mut names: Vec<String> = Vec::new();
    let mut paths: Vec<String> = Vec::new();
    for list in lists_of(snapshot) {
        if kept.metadata.contains(list) {
            continue;
        }
        for manifest in unless_gone(store.read_list(list).await)? {
            names.push(manifest.file_name);
            names.extend(manifest.extra_files.into_iter().flatten());
        }
    }
    if let Some(name) = snapshot.index_manifest.as_ref().filter(|name| !kept.metadata.contains(*name)) {
        for entry in unless_gone(store.read_index(name).await)? {
            if !kept.index.contains(&entry.file_name) {
                index_paths(table, entry, &mut paths)?;
            }
        }
        names.push(name.clone());
    }
    let statistics = snapshot.statistics.iter().filter(|name| !kept.statistics.contains(*name));
    paths.extend(statistics.map(|name| table.paths().statistics(name)));
    delete_paths(table, paths).await?;
    // Lists go after what they name, or a run that was cut short could not be repeated.
    delete_named(table, names, kept).await?;
    delete_named(table, lists_of(snapshot).map(str::to_owned).collect(), kept).await
}

async fn delete_named(table: &Table, mut names: Vec<String>, kept: &Kept) -> Result<()> {
    let store = table.manifests();
    names.retain(|name| !kept.metadata.contains(name));
    let deletions = stream::iter(names).map(|name| {
        let store = store.clone();
        async move { store.delete(&name).await }
    });
    deletions.buffer_unordered(PARALLELISM).try_collect::<Vec<()>>().await?;
    Ok(())
}

/// Index files stand in `index/` or beside the data.
fn index_paths(table: &Table, entry: IndexManifestEntry, out: &mut Vec<String>) -> Result<()> {
    if let Some(path) = entry.external_path {
        out.push(path);
        return Ok(());
    }
    let directory = table.paths().bucket_dir(table.schema(), table.options(), &entry.partition, entry.bucket)?;
    out.push(format!("{directory}/{}", entry.file_name));
    out.push(table.paths().index(&entry.file_name));
    Ok(())
}

async fn delete_paths(table: &Table, paths: Vec<String>) -> Result<()> {
    let io = table.io();
    let deletions = stream::iter(paths).map(|path| async move { io.delete(&path).await });
    deletions.buffer_unordered(PARALLELISM).try_collect::<Vec<()>>().await?;
    Ok(())
}
