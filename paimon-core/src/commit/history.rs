//! Whether a published snapshot is part of the history of its table.
//!
//! A writer that is slow may create a snapshot under an id that others have used and expired since it looked, or whose
//! predecessor a rollback has taken away: the file is there, but nobody builds on it, and its rows are nowhere.
//!
//! Invariants: while its predecessor exists a snapshot is part of the history, for snapshots expire in the order of their
//! ids; only otherwise is more looked at. One that a rollback took away was part of it before. What cannot be told is said to
//! be unknown, never guessed. Source: layout sheet sections 6 and 10.

use std::collections::{HashMap, HashSet};

use super::changes::Changes;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::spec::{EntryKind, ManifestEntry, Snapshot};
use crate::storage::unless_gone;
use crate::table::Table;

/// How often the successor of a snapshot is looked for while snapshots expire.
const RETRIES: usize = 8;

/// Where a published snapshot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the last one, or others are built on it.
    Within,
    /// The history goes on without it.
    Beside,
    /// Too much has expired to tell.
    Unknown,
    /// In the directory of another table: that of the writer was dropped or renamed as it wrote.
    Astray,
}

/// Where a snapshot of these changes stands that was published just now, made on top of `base`.
///
/// # Errors
/// Those of the storage; `Corrupt`.
pub(super) async fn place(
    table: &Table,
    snapshot: &Snapshot,
    base: Option<&Snapshot>,
    changes: &Changes,
) -> Result<Place> {
    let snapshots = table.snapshots();
    if let Some(base) = base {
        match snapshots.find(base.id).await? {
            Some(found) if found == *base => return Ok(Place::Within),
            // A rollback took it, and others have used its id since.
            Some(_) => {
                let is_there = is_there(table, snapshot).await?;
                return Ok(if is_there { Place::Beside } else { Place::Within });
            }
            None => {}
        }
    }
    // Without its base nothing says that the directory still is that of the table.
    if table.gone().await?.is_some() {
        return Ok(Place::Astray);
    }
    for _ in 0..RETRIES {
        let ids = snapshots.ids().await?;
        let Some(next) = ids.iter().copied().find(|id| *id > snapshot.id) else {
            // Expiry would have taken the older ones before the predecessor: that was a rollback.
            let rolled_back = ids.first().is_some_and(|first| *first < snapshot.id) && ids.contains(&snapshot.id);
            return Ok(if rolled_back { Place::Beside } else { Place::Within });
        };
        if next > snapshot.id + 1 && ids.contains(&snapshot.id) {
            return Ok(Place::Beside);
        }
        let Some(next) = snapshots.find(next).await? else { continue };
        match built_on(table, snapshot, changes, &next).await {
            Err(error) if error.kind() == ErrorKind::NotFound(Entity::File) => {}
            found => return found,
        }
    }
    Ok(Place::Unknown)
}

/// Whether the file of its id holds this snapshot.
async fn is_there(table: &Table, snapshot: &Snapshot) -> Result<bool> {
    Ok(table.snapshots().find(snapshot.id).await?.is_some_and(|found| found.uuid == snapshot.uuid))
}

/// Whether `next`, the first snapshot after it that exists, builds on `snapshot`.
async fn built_on(table: &Table, snapshot: &Snapshot, changes: &Changes, next: &Snapshot) -> Result<Place> {
    let manifests = table.manifests();
    let base = manifests.read_list(&next.base_manifest_list).await?;
    // The list may have expired with the snapshot.
    let own = unless_gone(manifests.read_list(&snapshot.delta_manifest_list).await)?;
    let names: HashSet<&str> = base.iter().map(|manifest| manifest.file_name.as_str()).collect();
    if own.iter().any(|manifest| names.contains(manifest.file_name.as_str())) {
        return Ok(Place::Within);
    }
    // Its manifests were merged into others, or are none of theirs: the files tell.
    let changed = net(changes.delta.iter());
    if changed.is_empty() {
        return Ok(Place::Within);
    }
    let added: Vec<&FileAt> = changed.iter().filter(|(_, n)| **n > 0).map(|(file, _)| file).collect();
    let live = manifests.read_all(base).await?;
    let live = net(live.iter().flat_map(|manifest| manifest.iter()));
    let is_live = |file: &FileAt| live.get(file).is_some_and(|n| *n > 0);
    if added.iter().any(|file| is_live(file)) {
        return Ok(Place::Within);
    }
    if next.id == snapshot.id + 1 {
        // The base of the very next one is the state that it left.
        let undone = changed.iter().any(|(file, n)| *n < 0 && is_live(file));
        return Ok(if added.is_empty() && !undone { Place::Within } else { Place::Beside });
    }
    for id in table.snapshots().ids().await?.into_iter().filter(|id| *id >= next.id) {
        let Some(later) = table.snapshots().find(id).await? else { continue };
        let delta = manifests.read_list(&later.delta_manifest_list).await?;
        let delta = manifests.read_all(delta).await?;
        let changed_later = net(delta.iter().flat_map(|manifest| manifest.iter()));
        if added.iter().any(|file| changed_later.get(*file).is_some_and(|n| *n < 0)) {
            return Ok(Place::Within);
        }
    }
    Ok(Place::Unknown)
}

/// A file by its name, and its level, which an upgrade changes.
type FileAt = (String, i32);

/// How often entries add each file, less how often they delete it.
fn net<'a>(entries: impl Iterator<Item = &'a ManifestEntry>) -> HashMap<FileAt, i64> {
    let mut net = HashMap::new();
    for entry in entries {
        let file = (entry.file.file_name.clone(), entry.file.level);
        *net.entry(file).or_default() += if entry.kind == EntryKind::Add { 1 } else { -1 };
    }
    net
}

/// Takes back a snapshot that stands beside the history; `false` if it is gone already.
///
/// # Errors
/// Those of the storage.
pub(super) async fn take_back(table: &Table, snapshot: &Snapshot) -> Result<bool> {
    let found = table.snapshots().find(snapshot.id).await?;
    match found {
        Some(found) if found.uuid == snapshot.uuid => {
            table.io().delete(&table.paths().snapshot(snapshot.id)).await?;
            Ok(true)
        }
        Some(_) => Err(Error::internal(format!("snapshot {} was replaced", snapshot.id))),
        None => Ok(false),
    }
}
