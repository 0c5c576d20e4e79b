//! Rewriting manifests at commit, so that their number stays small.
//!
//! Invariants: the live files before and after are the same; a manifest that is kept is kept as it is. Source: manifest
//! sheet section 6; `operation/ManifestFileMerger.java`.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::meta::Manifests;
use crate::options::Options;
use crate::spec::{
    EntryKind, FileIdentity, MANIFEST_FULL_COMPACTION_SIZE, MANIFEST_MERGE_MIN_COUNT, MANIFEST_TARGET_SIZE,
    ManifestEntry, ManifestFileMeta, TableSchema,
};

/// The base manifests of the next snapshot, and those among them that were written now.
#[derive(Debug, Default, Clone)]
pub(crate) struct Merged {
    /// All manifests.
    pub(crate) manifests: Vec<ManifestFileMeta>,
    /// Names of the new ones.
    pub(crate) written: Vec<String>,
}

/// Merges where the rules say so.
///
/// # Errors
/// `Storage` or `Corrupt`.
pub(crate) async fn merge(
    store: &Manifests,
    manifests: Vec<ManifestFileMeta>,
    schema: &TableSchema,
    options: &Options,
) -> Result<Merged> {
    match full(store, &manifests, schema, options).await? {
        Some(merged) => Ok(merged),
        None => minor(store, manifests, schema, options).await,
    }
}

fn is_small(manifest: &ManifestFileMeta, target: u64) -> bool {
    u64::try_from(manifest.file_size).unwrap_or(0) < target
}

/// Rewrites every manifest that is small or holds deletes, once they weigh enough together.
async fn full(
    store: &Manifests,
    manifests: &[ManifestFileMeta],
    schema: &TableSchema,
    options: &Options,
) -> Result<Option<Merged>> {
    let target = options.value(&MANIFEST_TARGET_SIZE)?;
    let threshold = options.value(&MANIFEST_FULL_COMPACTION_SIZE)?;
    let stale = |m: &&ManifestFileMeta| m.num_deleted_files > 0 || is_small(m, target);
    let weight: u64 = manifests.iter().filter(stale).map(|m| u64::try_from(m.file_size).unwrap_or(0)).sum();
    if weight < threshold || manifests.iter().filter(stale).count() <= 1 {
        return Ok(None);
    }
    let mut deleted: HashSet<FileIdentity> = HashSet::new();
    for manifest in manifests.iter().filter(|m| m.num_deleted_files > 0) {
        let entries = store.read(manifest).await?;
        deleted.extend(entries.iter().filter(|e| e.kind == EntryKind::Delete).map(ManifestEntry::identity));
    }
    let mut merged = Merged::default();
    let mut rewritten = Vec::new();
    for manifest in manifests {
        let entries = store.read(manifest).await?;
        let touched = entries.iter().any(|e| e.kind == EntryKind::Delete || deleted.contains(&e.identity()));
        if !touched && !is_small(manifest, target) {
            merged.manifests.push(manifest.clone());
            continue;
        }
        let live = entries.iter().filter(|e| e.kind == EntryKind::Add && !deleted.contains(&e.identity()));
        rewritten.extend(live.cloned());
    }
    write(store, &mut merged, &rewritten, schema, options).await?;
    Ok(Some(merged))
}

/// Merges neighbours that are small together: groups that fill a manifest, and the tail once it has many.
async fn minor(
    store: &Manifests,
    manifests: Vec<ManifestFileMeta>,
    schema: &TableSchema,
    options: &Options,
) -> Result<Merged> {
    let target = options.value(&MANIFEST_TARGET_SIZE)?;
    let min_count = options.value(&MANIFEST_MERGE_MIN_COUNT)?;
    let mut merged = Merged::default();
    let (mut group, mut size) = (Vec::new(), 0u64);
    for manifest in manifests {
        size = size.saturating_add(u64::try_from(manifest.file_size).unwrap_or(0));
        group.push(manifest);
        if size >= target {
            merge_group(store, &mut merged, std::mem::take(&mut group), schema, options).await?;
            size = 0;
        }
    }
    if group.len() >= min_count {
        merge_group(store, &mut merged, group, schema, options).await?;
    } else {
        merged.manifests.extend(group);
    }
    Ok(merged)
}

async fn merge_group(
    store: &Manifests,
    merged: &mut Merged,
    group: Vec<ManifestFileMeta>,
    schema: &TableSchema,
    options: &Options,
) -> Result<()> {
    if group.len() <= 1 {
        merged.manifests.extend(group);
        return Ok(());
    }
    let mut entries: Vec<Option<ManifestEntry>> = Vec::new();
    let mut added: std::collections::HashMap<FileIdentity, usize> = std::collections::HashMap::new();
    for manifest in &group {
        for entry in store.read(manifest).await?.iter() {
            let identity = entry.identity();
            match entry.kind {
                EntryKind::Add => {
                    if added.insert(identity, entries.len()).is_some() {
                        return Err(Error::corrupt("a data file is added twice")
                            .with_context("file", &manifest.file_name)
                            .with_context("data file", &entry.file.file_name));
                    }
                    entries.push(Some(entry.clone()));
                }
                // A pair cancels; a delete of an older manifest's file stays.
                EntryKind::Delete => match added.remove(&identity) {
                    Some(position) => entries[position] = None,
                    None => entries.push(Some(entry.clone())),
                },
            }
        }
    }
    let entries: Vec<ManifestEntry> = entries.into_iter().flatten().collect();
    write(store, merged, &entries, schema, options).await
}

async fn write(
    store: &Manifests,
    merged: &mut Merged,
    entries: &[ManifestEntry],
    schema: &TableSchema,
    options: &Options,
) -> Result<()> {
    let written = store.write(entries, schema, options).await?;
    merged.written.extend(written.iter().map(|m| m.file_name.clone()));
    merged.manifests.extend(written);
    Ok(())
}
