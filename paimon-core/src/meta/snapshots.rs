//! Snapshots of a table: hints, by id, ranges, by time.
//!
//! Invariants: hints are advisory: a missing, stale or garbled one never fails and never decides. A snapshot is visible
//! from the moment its file exists, and [`Snapshots::publish`] is the only way to make one. Names in the directory whose
//! suffix is no number are no snapshots. Snapshots that expire while they are looked at are passed over.
//! Source: layout sheet sections 2 and 6; `utils/SnapshotManager.java`, `utils/HintFileUtils.java`,
//! `catalog/RenamingSnapshotCommit.java`.

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};

use super::paths::TablePaths;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::spec::Snapshot;
use crate::storage::FileIO;

/// Documents that are read at once.
const PARALLEL_READS: usize = 16;
/// How far behind the last snapshot a hint may be before the directory is listed.
const HINT_LAG: i64 = 4;
/// Greater numbers are no ids: arithmetic on them could overflow.
const GREATEST_ID: i64 = i64::MAX / 4;
/// How often a snapshot is looked for that expired just now, or is not whole yet.
const RETRIES: usize = 4;
/// How long a snapshot that is not whole is left alone.
const REWRITE_WAIT: Duration = Duration::from_millis(10);

/// The snapshots of one branch of a table.
#[derive(Debug, Clone)]
pub struct Snapshots {
    io: FileIO,
    paths: TablePaths,
}

impl Snapshots {
    /// The snapshots below these paths.
    pub fn new(io: FileIO, paths: TablePaths) -> Self {
        Self { io, paths }
    }

    /// The latest id; `None` if there is no snapshot. A hint that points past the last snapshot is ignored.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn latest_id(&self) -> Result<Option<i64>> {
        if let Some(id) = self.hint("LATEST").await
            && let Some(id) = self.last_from(id).await?
        {
            return Ok(Some(id));
        }
        Ok(self.ids().await?.last().copied())
    }

    /// The earliest id; `None` if there is no snapshot.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn earliest_id(&self) -> Result<Option<i64>> {
        if let Some(id) = self.hint("EARLIEST").await
            && self.exists(id).await?
        {
            return Ok(Some(id));
        }
        Ok(self.ids().await?.first().copied())
    }

    /// The latest snapshot.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn latest(&self) -> Result<Option<Snapshot>> {
        self.resolved(|| self.latest_id()).await
    }

    /// The earliest snapshot.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn earliest(&self) -> Result<Option<Snapshot>> {
        self.resolved(|| self.earliest_id()).await
    }

    async fn resolved<F: Future<Output = Result<Option<i64>>>>(
        &self,
        find: impl Fn() -> F,
    ) -> Result<Option<Snapshot>> {
        for attempt in 1..=RETRIES {
            let Some(id) = find().await? else { return Ok(None) };
            match self.find(id).await {
                Ok(Some(snapshot)) => return Ok(Some(snapshot)),
                Ok(None) => {}
                // Other writers than ours show a snapshot while they write it.
                Err(e) if e.kind() == ErrorKind::Corrupt && attempt < RETRIES => tokio::time::sleep(REWRITE_WAIT).await,
                Err(e) => return Err(e),
            }
        }
        Err(Error::not_found(Entity::Snapshot, "snapshots expire faster than they can be read")
            .with_context("directory", self.paths.snapshot_dir()))
    }

    /// The snapshot with this id.
    ///
    /// # Errors
    /// `NotFound(Snapshot)`, `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn get(&self, id: i64) -> Result<Snapshot> {
        self.find(id).await?.ok_or_else(|| {
            Error::not_found(Entity::Snapshot, format!("snapshot {id} does not exist"))
                .with_context("file", self.paths.snapshot(id))
        })
    }

    /// The snapshot with this id; `None` if there is none.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn find(&self, id: i64) -> Result<Option<Snapshot>> {
        let file = self.paths.snapshot(id);
        let content = match self.io.read(&file).await {
            Ok(content) => content,
            Err(e) if e.kind() == ErrorKind::NotFound(Entity::File) => return Ok(None),
            Err(e) => return Err(e),
        };
        let snapshot = Snapshot::from_json(&content).map_err(|e| e.with_context("file", &file))?;
        if snapshot.id != id {
            return Err(Error::corrupt(format!("expected the snapshot with id {id}, found id {}", snapshot.id))
                .with_context("file", file));
        }
        Ok(Some(snapshot))
    }

    /// The ids of all snapshots that exist, ascending.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn ids(&self) -> Result<Vec<i64>> {
        Ok(numbered(&self.io.list_names(&self.paths.snapshot_dir()).await?, "snapshot-", 1))
    }

    /// All snapshots that exist, by id ascending; one that expires meanwhile is left out.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn list(&self) -> Result<Vec<Snapshot>> {
        self.read_all(self.ids().await?).try_filter_map(|s| async { Ok(s) }).try_collect().await
    }

    fn read_all(&self, ids: Vec<i64>) -> impl futures::Stream<Item = Result<Option<Snapshot>>> + '_ {
        stream::iter(ids).map(|id| self.find(id)).buffered(PARALLEL_READS)
    }

    /// The last snapshot committed at or before this time.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn at_or_before(&self, time_ms: i64) -> Result<Option<Snapshot>> {
        Ok(self.around(|snapshot| snapshot.time_millis <= time_ms).await?.0)
    }

    /// The first snapshot committed at or after this time.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn at_or_after(&self, time_ms: i64) -> Result<Option<Snapshot>> {
        Ok(self.around(|snapshot| snapshot.time_millis < time_ms).await?.1)
    }

    /// The last snapshot that is early, and the first that is not, found by halving.
    async fn around(&self, is_early: impl Fn(&Snapshot) -> bool) -> Result<(Option<Snapshot>, Option<Snapshot>)> {
        let (mut early, mut late) = (None, None);
        let (Some(mut low), Some(mut high)) = (self.earliest_id().await?, self.latest_id().await?) else {
            return Ok((early, late));
        };
        while low <= high {
            let middle = low + (high - low) / 2;
            match self.find(middle).await? {
                Some(snapshot) if !is_early(&snapshot) => {
                    high = middle - 1;
                    late = Some(snapshot);
                }
                Some(snapshot) => {
                    low = middle + 1;
                    early = Some(snapshot);
                }
                // It expired meanwhile, and with it everything before it.
                None => low = middle + 1,
            }
        }
        Ok((early, late))
    }

    /// The first snapshot with at least this watermark. A snapshot without watermark stands where the one before it does,
    /// so it is never the first.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn at_or_after_watermark(&self, watermark: i64) -> Result<Option<Snapshot>> {
        let mut snapshots = std::pin::pin!(self.read_all(self.ids().await?));
        while let Some(snapshot) = snapshots.try_next().await? {
            let own = snapshot.as_ref().and_then(|s| s.watermark).filter(|w| *w != i64::MIN);
            if own.is_some_and(|own| own >= watermark) {
                return Ok(snapshot);
            }
        }
        Ok(None)
    }

    /// Publishes a snapshot under its id if that is free; `false` if another snapshot has it. Sets the `LATEST` hint.
    ///
    /// An id that is free may have been used before and have expired: whoever publishes looks at the predecessor before and
    /// after, for it expires first.
    ///
    /// # Errors
    /// `CommitUnknown` if storage failed and it cannot be told whether the snapshot is visible; any other kind means that
    /// it is not visible.
    pub async fn publish(&self, snapshot: &Snapshot) -> Result<bool> {
        self.publish_while(snapshot, async { Ok(()) }).await
    }

    /// As [`Snapshots::publish`], if `check` passes: see [`FileIO::create_if_absent_while`].
    ///
    /// # Errors
    /// As [`Snapshots::publish`]; those of the check.
    pub(crate) async fn publish_while(
        &self,
        snapshot: &Snapshot,
        check: impl Future<Output = Result<()>> + Send,
    ) -> Result<bool> {
        let (file, content) = (self.paths.snapshot(snapshot.id), Bytes::from(snapshot.to_json()));
        let published = match self.io.create_if_absent_while(&file, content.clone(), check).await {
            Ok(true) => true,
            // A retry below us may have lost against our own first try.
            Ok(false) => self.content_is(snapshot, &content).await.map_err(unknown)? == Some(true),
            Err(error) => match self.content_is(snapshot, &content).await {
                Ok(Some(ours)) => ours,
                Ok(None) if writes_nothing(error.kind()) => return Err(error),
                Ok(None) | Err(_) => return Err(unknown(error)),
            },
        };
        // A hint that points to a snapshot beside the history would be believed.
        if published && self.is_last(snapshot).await.is_ok_and(|is_last| is_last) {
            // Whoever reads the hint checks it, so a failure is no failure of the commit.
            let _ = self.set_hint("LATEST", snapshot.id).await;
        }
        Ok(published)
    }

    /// Whether the file of this snapshot's id holds this snapshot.
    ///
    /// # Errors
    /// `CommitUnknown` if that cannot be told.
    pub(crate) async fn is_published(&self, snapshot: &Snapshot) -> Result<bool> {
        let content = Bytes::from(snapshot.to_json());
        Ok(self.content_is(snapshot, &content).await.map_err(unknown)? == Some(true))
    }

    /// Whether this snapshot is still that of its id.
    ///
    /// # Errors
    /// `PermissionDenied`, `Storage` or `Corrupt`.
    pub(crate) async fn holds(&self, snapshot: &Snapshot) -> Result<bool> {
        Ok(self.find(snapshot.id).await?.as_ref() == Some(snapshot))
    }

    /// Whether no snapshot comes after this one. Snapshots expire in the order of their ids.
    async fn is_last(&self, snapshot: &Snapshot) -> Result<bool> {
        Ok(self.exists(snapshot.id - 1).await? || self.ids().await?.last().is_none_or(|last| *last <= snapshot.id))
    }

    /// As [`Snapshots::is_published`]; `None` if there is no such file.
    async fn content_is(&self, snapshot: &Snapshot, content: &Bytes) -> Result<Option<bool>> {
        match self.io.read(&self.paths.snapshot(snapshot.id)).await {
            Ok(found) => Ok(Some(found == content || Snapshot::from_json(&found).is_ok_and(|s| s == *snapshot))),
            Err(e) if e.kind() == ErrorKind::NotFound(Entity::File) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Sets the `EARLIEST` hint.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`.
    pub async fn set_earliest_hint(&self, id: i64) -> Result<()> {
        self.set_hint("EARLIEST", id).await
    }

    /// Sets the `LATEST` hint, as rollback does.
    ///
    /// # Errors
    /// `DiskFull`, `PermissionDenied` or `Storage`.
    pub async fn set_latest_hint(&self, id: i64) -> Result<()> {
        self.set_hint("LATEST", id).await
    }

    /// Whether the `EARLIEST` hint names a snapshot that exists.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub async fn has_earliest_hint(&self) -> Result<bool> {
        match self.hint("EARLIEST").await {
            Some(id) => self.exists(id).await,
            None => Ok(false),
        }
    }

    async fn set_hint(&self, name: &str, id: i64) -> Result<()> {
        let file = format!("{}/{name}", self.paths.snapshot_dir());
        self.io.write_advisory(&file, Bytes::from(id.to_string())).await
    }

    async fn hint(&self, name: &str) -> Option<i64> {
        let content = self.io.read(&format!("{}/{name}", self.paths.snapshot_dir())).await.ok()?;
        std::str::from_utf8(&content).ok()?.trim().parse().ok().filter(|id| (1..=GREATEST_ID).contains(id))
    }

    /// Whether there is a snapshot with this id.
    ///
    /// # Errors
    /// `PermissionDenied` or `Storage`.
    pub(crate) async fn exists(&self, id: i64) -> Result<bool> {
        Ok(self.io.status(&self.paths.snapshot(id)).await?.is_some())
    }

    /// The last snapshot, found from the id of a hint: the first that exists while the next does not. `None` if there
    /// is none close by.
    async fn last_from(&self, hint: i64) -> Result<Option<i64>> {
        let (mut exists, mut next) = futures::try_join!(self.exists(hint), self.exists(hint + 1))?;
        for id in hint..hint + HINT_LAG {
            if exists && !next {
                return Ok(Some(id));
            }
            if !exists {
                return Ok(None);
            }
            (exists, next) = (next, self.exists(id + 2).await?);
        }
        Ok(None)
    }
}

/// The numbers behind `prefix` in the names of files, ascending. Only numbers in their plain form count.
pub(super) fn numbered(names: &[(String, bool)], prefix: &str, least: i64) -> Vec<i64> {
    let number = |name: &str| {
        let text = name.strip_prefix(prefix)?;
        text.parse().ok().filter(|id: &i64| (least..=GREATEST_ID).contains(id) && id.to_string() == text)
    };
    let mut ids: Vec<i64> = names.iter().filter(|(_, dir)| !dir).filter_map(|(name, _)| number(name)).collect();
    ids.sort_unstable();
    ids
}

fn unknown(error: Error) -> Error {
    Error::new(
        ErrorKind::CommitUnknown,
        "storage failed while the snapshot was published; it may or may not be visible",
    )
    .with_source(error)
}

/// Whether an error of this kind comes before anything is written.
fn writes_nothing(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unsupported
            | ErrorKind::PermissionDenied
            | ErrorKind::DiskFull
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidState
            | ErrorKind::NotFound(_)
    )
}

#[cfg(test)]
pub(super) mod tests;
