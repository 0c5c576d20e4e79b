//! Deletes the files of messages that were not committed, and finds out whether messages were.
//!
//! Source: layout sheet section 10; `operation/FileStoreCommitImpl.java` (`abort`).

use std::collections::HashSet;

use super::ledger::{appended, compacted};
use crate::error::Result;
use crate::meta::TablePaths;
use crate::spec::{CommitMessage, DataFileMeta};
use crate::storage::unless_gone;
use crate::table::Table;

/// One of the new files that the metadata of the table names: it is live, or was in a snapshot that exists. `None` if
/// there is none.
///
/// Reads the manifests of the latest snapshot and what each older one added; a file that came and went before the oldest
/// snapshot is not found.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub(super) async fn named_by_metadata(table: &Table, messages: &[CommitMessage]) -> Result<Option<String>> {
    let names: HashSet<&str> = appended(messages).into_iter().chain(compacted(messages)).collect();
    let manifests = table.manifests();
    let mut snapshots = table.snapshots().list().await?;
    let Some(latest) = snapshots.pop() else { return Ok(None) };
    let mut lists = vec![latest.base_manifest_list.as_str()];
    for snapshot in snapshots.iter().chain([&latest]) {
        lists.push(&snapshot.delta_manifest_list);
        lists.extend(snapshot.changelog_manifest_list.as_deref());
    }
    let mut seen = HashSet::new();
    for list in lists {
        for manifest in unless_gone(manifests.read_list(list).await)? {
            if !seen.insert(manifest.file_name.clone()) {
                continue;
            }
            let entries = unless_gone(manifests.read(&manifest).await)?;
            if let Some(entry) = entries.iter().find(|e| names.contains(e.file.file_name.as_str())) {
                return Ok(Some(entry.file.file_name.clone()));
            }
        }
    }
    Ok(None)
}

/// A new file that is not there; `None` if all are.
///
/// # Errors
/// `Storage`.
pub(super) async fn missing(table: &Table, messages: &[CommitMessage]) -> Result<Option<String>> {
    for (path, _) in written(table, messages)? {
        if !table.io().exists(&path).await? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

/// Deletes the new files of messages, best effort.
///
/// # Errors
/// `Corrupt` if a partition does not fit the table; then nothing is deleted.
pub(super) async fn delete(table: &Table, messages: &[CommitMessage]) -> Result<()> {
    for path in all_written(table, messages)? {
        // What stays is an orphan that harms nobody.
        let _ = table.io().delete(&path).await;
    }
    Ok(())
}

/// The paths of all new files, with the files beside data files and the index files.
fn all_written(table: &Table, messages: &[CommitMessage]) -> Result<Vec<String>> {
    let mut paths = Vec::new();
    for (path, file) in written(table, messages)? {
        if let Some((parent, _)) = path.rsplit_once('/') {
            paths.extend(file.extra_files.iter().map(|extra| format!("{parent}/{extra}")));
        }
        paths.push(path);
    }
    for message in messages {
        for index in message.append.new_index_files.iter().chain(&message.compact.new_index_files) {
            paths.push(index.external_path.clone().unwrap_or_else(|| table.paths().index(&index.file_name)));
        }
    }
    Ok(paths)
}

/// The new data and changelog files with their paths. An upgraded file is not new: it is live under the same name.
fn written<'a>(table: &Table, messages: &'a [CommitMessage]) -> Result<Vec<(String, &'a DataFileMeta)>> {
    let mut out = Vec::new();
    for message in messages {
        let directory =
            table.paths().bucket_dir(table.schema(), table.options(), &message.partition, message.bucket)?;
        let new: HashSet<&str> = compacted(std::slice::from_ref(message)).into_iter().collect();
        let append = message.append.new_files.iter().chain(&message.append.changelog_files);
        let compact = message.compact.compact_after.iter().chain(&message.compact.changelog_files);
        let files = append.chain(compact.filter(|f| new.contains(f.file_name.as_str())));
        out.extend(files.map(|f| (TablePaths::data_file(&directory, f), f)));
    }
    Ok(out)
}
