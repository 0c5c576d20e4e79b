//! One commit from changes to a snapshot: try, lose, check again, retry.
//!
//! Invariants: at most one snapshot comes of it. An attempt ends with a known outcome before the next one begins: the same
//! snapshot is offered again under the same id until it is known who has that id. What a lost or failed commit wrote is
//! deleted, unless the outcome is unknown: then nothing is. Source: layout sheet sections 6, 7 and 10;
//! `operation/FileStoreCommitImpl.java`.
//!
//! # Cost
//! An attempt reads the latest snapshot and its two manifest lists, and no manifest unless manifests are merged or conflicts
//! are checked; both lists and the manifests of the delta are written at once.

use std::borrow::Cow;
use std::time::Duration;

use super::attempt::{Attempt, Shared};
use super::changes::Changes;
use super::history::{self, Place};
use super::overwrite::{self, Replaced};
use super::replacement;
use super::replay;
use super::retry::Retry;
use super::supported;
use crate::error::{Entity, Error, ErrorKind, Result};
use crate::meta::{Manifests, rollback_mark};
use crate::spec::{CommitKind, Snapshot};
use crate::table::Table;

/// The identifier of batch commits.
pub(super) const BATCH_IDENTIFIER: i64 = i64::MAX;
/// How often a snapshot is offered again while it is not known who has its id.
const UNKNOWN_RETRIES: u32 = 3;
/// The wait before that, growing with each time.
const UNKNOWN_WAIT: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 100 });

/// Where the changes of a snapshot come from.
#[derive(Debug)]
pub(super) enum Source {
    /// They stand.
    Fixed {
        /// The changes.
        changes: Changes,
        /// What the snapshot does.
        kind: CommitKind,
        /// Whether they are checked against the live files. Plain appends cannot conflict.
        check: bool,
    },
    /// They replace what is live when the commit is tried. If nothing is, and nothing is new, there is no snapshot, unless
    /// the table itself is replaced.
    Overwrite {
        /// New files.
        changes: Changes,
        /// What is replaced.
        replaced: Replaced,
    },
}

impl Source {
    fn changes(&self) -> &Changes {
        match self {
            Self::Fixed { changes, .. } | Self::Overwrite { changes, .. } => changes,
        }
    }
}

/// Commits the changes of one user under one identifier.
#[derive(Debug)]
pub(super) struct Committer<'a> {
    pub(super) table: &'a Table,
    pub(super) user: &'a str,
    pub(super) identifier: i64,
    pub(super) operation: Option<&'static str>,
    /// Whether an identifier that the user has committed already is refused.
    pub(super) refuses_replay: bool,
}

enum Outcome {
    Published(Box<Snapshot>),
    Nothing,
    Lost,
}

impl Committer<'_> {
    /// Commits; `None` if there is nothing to do.
    ///
    /// # Errors
    /// `Unsupported` before anything is written. `CommitUnknown`: nothing was deleted. After any other error nothing is
    /// visible and what was written is deleted.
    pub(super) async fn run(&self, source: &Source) -> Result<Option<Snapshot>> {
        supported::check(self.table, source.changes())?;
        let store = self.table.manifests();
        let mut shared = Shared::default();
        let outcome = replacement::with_schema(self.table, self.attempts(&store, source, &mut shared)).await;
        match &outcome {
            Ok(Some(_)) => shared.delete_superseded(&store).await,
            Err(error) if error.kind() == ErrorKind::CommitUnknown => {}
            Ok(None) | Err(_) => shared.delete(&store).await,
        }
        outcome.map_err(|e| e.with_context("table", self.table.identifier()))
    }

    async fn attempts(&self, store: &Manifests, source: &Source, shared: &mut Shared) -> Result<Option<Snapshot>> {
        let mut retry = Retry::try_new(self.table)?;
        let mut checked = 0;
        loop {
            let mut base = None;
            match self.attempt(store, source, shared, &mut checked, &mut base).await {
                Ok(Outcome::Published(snapshot)) => return Ok(Some(*snapshot)),
                Ok(Outcome::Nothing) => return Ok(None),
                Ok(Outcome::Lost) => retry.wait().await?,
                Err(error) if self.is_overtaken(&error, base).await => retry.wait().await?,
                Err(error) => return Err(self.table.explain_failure(error).await),
            }
        }
    }

    /// Whether an attempt failed because others have committed meanwhile, and the snapshot that it was based on expires: its
    /// files go before it does.
    async fn is_overtaken(&self, error: &Error, base: Option<i64>) -> bool {
        let Some(base) = base.filter(|_| error.kind() == ErrorKind::NotFound(Entity::File)) else { return false };
        self.table.snapshots().latest_id().await.is_ok_and(|latest| latest != Some(base))
    }

    /// One attempt; `base` becomes the snapshot that it is based on. `checked` is the last snapshot in which an earlier commit
    /// under the same identifier was looked for.
    async fn attempt(
        &self,
        store: &Manifests,
        source: &Source,
        shared: &mut Shared,
        checked: &mut i64,
        base: &mut Option<i64>,
    ) -> Result<Outcome> {
        let table = self.table;
        let (latest, schema, ()) = {
            let alive = table.check_alive();
            futures::future::try_join3(table.latest_snapshot(), table.schemas().latest(), alive).await?
        };
        *base = latest.as_ref().map(|snapshot| snapshot.id);
        if latest.as_ref().is_some_and(|latest| rollback_mark::is_running(latest, table.clock().now_ms())) {
            return Ok(Outcome::Lost);
        }
        let schema = schema.ok_or_else(|| table.identifier().not_found())?;
        table.check_not_replaced(schema.id).await?;
        replacement::check_base(table, latest.as_ref()).await?;
        if !table.schemas().is_new_enough(&schema, latest.as_ref()).await? {
            return Ok(Outcome::Lost);
        }
        if self.refuses_replay
            && let Some(latest) = &latest
        {
            replay::refuse(table, self.user, self.identifier, latest, *checked).await?;
            *checked = latest.id;
        }
        let (changes, kind, check, fixed) = match source {
            Source::Fixed { changes, kind, check } => (Cow::Borrowed(changes), *kind, *check, true),
            Source::Overwrite { changes, replaced } => {
                let all = overwrite::replace(table, latest.as_ref(), replaced, changes).await?;
                if all.is_empty() && table.replaces().is_none() {
                    return Ok(Outcome::Nothing);
                }
                (Cow::Owned(all), CommitKind::Overwrite, false, false)
            }
        };
        let based_on = latest.clone();
        let attempt = Attempt { committer: self, store, latest, schema, changes: &changes, kind, fixed };
        attempt.check(check).await?;
        let mut own = Vec::new();
        let outcome = match attempt.prepare(shared, &mut own).await {
            Ok(snapshot) => self.publish(snapshot, based_on.as_ref(), &changes).await,
            Err(error) => Err(error),
        };
        match &outcome {
            Ok(Outcome::Published(_)) => {}
            Err(error) if error.kind() == ErrorKind::CommitUnknown => {}
            _ => delete_all(store, own).await,
        }
        outcome
    }

    /// Offers a snapshot until it is known who has its id. As a file of that name is written once, the same offer cannot
    /// succeed twice.
    async fn publish(&self, snapshot: Snapshot, base: Option<&Snapshot>, changes: &Changes) -> Result<Outcome> {
        let mut unknown = 0;
        loop {
            match self.table.publisher().publish(self.table, &snapshot, base).await {
                Ok(true) => return self.settled(snapshot, base, changes).await,
                Ok(false) if unknown == 0 => return Ok(Outcome::Lost),
                // An offer before may have been taken although its answer got lost.
                Ok(false) => {
                    return match self.is_visible(&snapshot).await? {
                        true => self.settled(snapshot, base, changes).await,
                        false => Ok(Outcome::Lost),
                    };
                }
                Err(error) if error.kind() == ErrorKind::CommitUnknown && unknown < UNKNOWN_RETRIES => {
                    unknown += 1;
                    tokio::time::sleep(UNKNOWN_WAIT * unknown).await;
                }
                Err(error) if unknown > 0 || error.kind() == ErrorKind::CommitUnknown => {
                    return Err(undecided(&snapshot, error));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// What comes of a snapshot whose file exists. One that stands beside the history is taken back: its id was used before.
    async fn settled(&self, snapshot: Snapshot, base: Option<&Snapshot>, changes: &Changes) -> Result<Outcome> {
        let unknown = |e| undecided(&snapshot, e);
        match history::place(self.table, &snapshot, base, changes).await.map_err(unknown)? {
            Place::Within => Ok(Outcome::Published(Box::new(snapshot))),
            Place::Beside => {
                history::take_back(self.table, &snapshot).await.map_err(unknown)?;
                Ok(Outcome::Lost)
            }
            // If it is not where it was published, it may have gone with its table to another name.
            Place::Astray => match history::take_back(self.table, &snapshot).await.map_err(unknown)? {
                true => Ok(Outcome::Lost),
                false => Err(unknown(self.table.identifier().not_found())),
            },
            Place::Unknown => Err(unknown(expired(&snapshot))),
        }
    }

    /// Whether a snapshot that was offered is visible.
    ///
    /// # Errors
    /// `CommitUnknown` if its id has expired.
    async fn is_visible(&self, snapshot: &Snapshot) -> Result<bool> {
        let found = self.table.snapshots().find(snapshot.id).await.map_err(|e| undecided(snapshot, e))?;
        let found = found.ok_or_else(|| undecided(snapshot, expired(snapshot)))?;
        Ok(found.uuid == snapshot.uuid)
    }
}

fn expired(snapshot: &Snapshot) -> Error {
    let message = format!("snapshots expire faster than it can be told what came of snapshot {}", snapshot.id);
    Error::not_found(Entity::Snapshot, message)
}

fn undecided(snapshot: &Snapshot, error: Error) -> Error {
    Error::new(
        ErrorKind::CommitUnknown,
        format!(
            "it is not known whether snapshot {} of commit user {} was published; nothing was deleted",
            snapshot.id, snapshot.commit_user
        ),
    )
    .with_source(error)
}

/// Deletes files below `manifest/`, best effort: what stays is an orphan that harms nobody.
pub(super) async fn delete_all(store: &Manifests, names: impl IntoIterator<Item = String>) {
    for name in names {
        let _ = store.delete(&name).await;
    }
}
