//! One commit from changes to a snapshot: try, lose, check again, retry.
//!
//! Invariants: at most one snapshot comes of it, found again by its UUID after an unknown outcome; what a lost or failed
//! attempt wrote is deleted, unless the outcome is unknown: then nothing is. Source: layout sheet sections 6, 7 and 10;
//! `operation/FileStoreCommitImpl.java`.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use super::changes::{Changes, combine_index};
use super::conflict;
use super::manifest_merge::{self, Merged};
use super::overwrite::{self, Replaced};
use crate::error::{ConflictKind, Error, ErrorKind, Result};
use crate::meta::Manifests;
use crate::predicate::{Function, Leaf, Predicate};
use crate::row::BinaryRow;
use crate::scan::live_entries;
use crate::spec::{
    COMMIT_MAX_RETRIES, COMMIT_MAX_RETRY_WAIT, COMMIT_MIN_RETRY_WAIT, COMMIT_TIMEOUT, CommitKind, ManifestEntry,
    ManifestFileMeta, Snapshot, TableSchema,
};
use crate::table::Table;
use crate::types::DataType;

/// Doublings of the wait between attempts: a lost race on a local disk costs milliseconds, so waiting does not grow further.
const MAX_DOUBLINGS: u32 = 6;
/// Partitions that a scan of the live files is restricted to; more are scanned whole.
const MAX_FILTERED_PARTITIONS: usize = 64;

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
    /// They replace what is live when the commit is tried.
    Overwrite {
        /// New files.
        changes: Changes,
        /// What is replaced.
        replaced: Replaced,
    },
}

/// Commits the changes of one user under one identifier.
#[derive(Debug)]
pub(super) struct Committer<'a> {
    pub(super) table: &'a Table,
    pub(super) user: &'a str,
    pub(super) identifier: i64,
    pub(super) operation: Option<&'static str>,
}

/// Files of an attempt that nothing names if it is lost.
#[derive(Debug, Default)]
struct Written(Vec<String>);

impl Written {
    async fn delete(self, store: &Manifests) {
        for name in self.0 {
            // Best effort: what stays is an orphan that harms nobody.
            let _ = store.delete(&name).await;
        }
    }
}

impl Committer<'_> {
    /// Commits.
    ///
    /// # Errors
    /// `Conflict`: nothing is visible. `CommitUnknown`: nothing was deleted.
    pub(super) async fn run(&self, source: Source) -> Result<Snapshot> {
        let options = self.table.options();
        let retries = options.value(&COMMIT_MAX_RETRIES)?;
        let timeout = options.find(&COMMIT_TIMEOUT)?;
        let (min_wait, max_wait) = (options.value(&COMMIT_MIN_RETRY_WAIT)?, options.value(&COMMIT_MAX_RETRY_WAIT)?);
        let uuid = self.table.clock().fresh_id();
        let start = self.table.clock().now_ms();
        let store = self.table.manifests();
        // Entries that stand are written once, whatever the number of attempts.
        let mut delta: Option<Vec<ManifestFileMeta>> = None;
        let mut attempt = 0;
        loop {
            let outcome = self.attempt(&store, &source, &uuid, &mut delta).await;
            match outcome {
                Ok(Some(snapshot)) => return Ok(snapshot),
                Ok(None) => {}
                Err(error) => {
                    if error.kind() != ErrorKind::CommitUnknown {
                        let names = delta.into_iter().flatten().map(|m| m.file_name);
                        Written(names.collect()).delete(&store).await;
                    }
                    return Err(error);
                }
            }
            let elapsed = Duration::from_millis(self.table.clock().now_ms().saturating_sub(start).unsigned_abs());
            if attempt >= retries || timeout.is_some_and(|t| elapsed > t) {
                let names = delta.into_iter().flatten().map(|m| m.file_name);
                Written(names.collect()).delete(&store).await;
                return Err(Error::conflict(
                    ConflictKind::RetriesExhausted,
                    format!(
                        "Commit failed after {} millis with {attempt} retries, there maybe exist commit conflicts between \
                         multiple jobs.",
                        elapsed.as_millis()
                    ),
                )
                .with_context("table", self.table.identifier()));
            }
            let wait = min_wait.saturating_mul(1 << attempt.min(MAX_DOUBLINGS)).min(max_wait);
            tokio::time::sleep(jittered(wait)).await;
            attempt += 1;
        }
    }

    /// One attempt; `None` if another snapshot got the id.
    async fn attempt(
        &self,
        store: &Manifests,
        source: &Source,
        uuid: &str,
        delta: &mut Option<Vec<ManifestFileMeta>>,
    ) -> Result<Option<Snapshot>> {
        let mut written = Written::default();
        let outcome = match self.prepare(store, source, uuid, delta, &mut written).await {
            Ok(snapshot) => self.publish(snapshot).await,
            Err(error) => Err(error),
        };
        match &outcome {
            Ok(Some(_)) => {}
            Err(error) if error.kind() == ErrorKind::CommitUnknown => {}
            _ => written.delete(store).await,
        }
        outcome
    }

    async fn publish(&self, snapshot: Snapshot) -> Result<Option<Snapshot>> {
        let snapshots = self.table.snapshots();
        match self.table.publisher().publish(&snapshots, &snapshot).await {
            Ok(true) => Ok(Some(snapshot)),
            Ok(false) => Ok(None),
            Err(error) => match snapshots.get(snapshot.id).await {
                Ok(found) if found.uuid == snapshot.uuid => Ok(Some(snapshot)),
                Ok(_) => Ok(None),
                Err(_) => Err(Error::new(
                    ErrorKind::CommitUnknown,
                    format!("it is not known whether snapshot {} was published; nothing was deleted", snapshot.id),
                )
                .with_context("table", self.table.identifier())
                .with_source(error)),
            },
        }
    }

    async fn prepare(
        &self,
        store: &Manifests,
        source: &Source,
        uuid: &str,
        delta: &mut Option<Vec<ManifestFileMeta>>,
        written: &mut Written,
    ) -> Result<Snapshot> {
        let (table, options) = (self.table, self.table.options());
        let latest = table.snapshots().latest().await?;
        let schema = table.schemas().latest().await?.ok_or_else(|| table.identifier().not_found())?;
        let replaced;
        let (changes, kind, check) = match source {
            Source::Fixed { changes, kind, check } => (changes, *kind, *check),
            Source::Overwrite { changes, replaced: what } => {
                replaced = overwrite::replace(table, latest.as_ref(), what, changes).await?;
                (&replaced, CommitKind::Overwrite, false)
            }
        };
        self.check(latest.as_ref(), changes, kind, check).await?;

        let base = match &latest {
            Some(latest) => {
                let merged = manifest_merge::merge(store, store.of_snapshot(latest).await?, &schema, options).await?;
                written.0.extend(merged.written.iter().cloned());
                merged
            }
            None => Merged::default(),
        };
        let base_list = store.write_list(&base.manifests, options).await?;
        written.0.push(base_list.0.clone());
        let delta_list = match (source, &*delta) {
            (Source::Fixed { .. }, Some(manifests)) => store.write_list(manifests, options).await?,
            _ => {
                let manifests = store.write(&changes.delta, &schema, options).await?;
                let list = store.write_list(&manifests, options).await?;
                match source {
                    Source::Fixed { .. } => *delta = Some(manifests),
                    Source::Overwrite { .. } => written.0.extend(manifests.into_iter().map(|m| m.file_name)),
                }
                list
            }
        };
        written.0.push(delta_list.0.clone());
        let changelog_list = self.write_changelog(store, changes, &schema, written).await?;
        let index_manifest = self.write_index(store, latest.as_ref(), changes, written).await?;
        let statistics = self.statistics(latest.as_ref(), &schema).await;
        let total = match latest.as_ref() {
            Some(latest) => latest.total_record_count,
            None => Some(0),
        };
        Ok(Snapshot {
            version: Some(3),
            uuid: Some(uuid.to_owned()),
            id: latest.as_ref().map_or(1, |s| s.id + 1),
            schema_id: schema.id,
            base_manifest_list: base_list.0,
            base_manifest_list_size: Some(base_list.1),
            delta_manifest_list: delta_list.0,
            delta_manifest_list_size: Some(delta_list.1),
            changelog_manifest_list: changelog_list.as_ref().map(|l| l.0.clone()),
            changelog_manifest_list_size: changelog_list.map(|l| l.1),
            index_manifest,
            commit_user: self.user.to_owned(),
            writer_version: None,
            commit_identifier: self.identifier,
            commit_kind: kind,
            time_millis: table.clock().now_ms(),
            total_record_count: total.map(|t| t + changes.delta_rows()),
            delta_record_count: Some(changes.delta_rows()),
            changelog_record_count: changes.changelog_rows(),
            watermark: latest.as_ref().and_then(|s| s.watermark),
            statistics,
            properties: None,
            next_row_id: Some(latest.as_ref().and_then(|s| s.next_row_id).unwrap_or(0)),
            operation: self.operation.map(str::to_owned),
        })
    }

    async fn check(&self, latest: Option<&Snapshot>, changes: &Changes, kind: CommitKind, check: bool) -> Result<()> {
        let (keys, partitions) = (self.table.schema().key_type().types(), self.table.schema().partition_type().types());
        match latest {
            Some(latest) if check => {
                let base = self.live_of(latest, &changes.partitions(), &partitions).await?;
                conflict::check(&base, &changes.delta, kind, &keys, &partitions)
            }
            None if check => conflict::check(&[], &changes.delta, kind, &keys, &partitions),
            _ => conflict::check_delta(&changes.delta),
        }
    }

    /// The live files of these partitions.
    async fn live_of(
        &self,
        snapshot: &Snapshot,
        partitions: &[BinaryRow],
        types: &[DataType],
    ) -> Result<Vec<ManifestEntry>> {
        let filter = if types.is_empty() || partitions.len() > MAX_FILTERED_PARTITIONS {
            None
        } else {
            let fields = self.table.schema().partition_type();
            let one = |partition: &BinaryRow| -> Result<Predicate> {
                let values = partition.decode(types)?;
                let leaf = |(field, value): (&crate::types::DataField, Option<crate::types::Datum>)| {
                    let function = if value.is_some() { Function::Equal } else { Function::IsNull };
                    Predicate::Leaf(Leaf {
                        field_id: field.id,
                        name: field.name.clone(),
                        data_type: field.data_type.clone(),
                        function,
                        literals: value.into_iter().collect(),
                    })
                };
                Ok(Predicate::And(fields.fields().iter().zip(values).map(leaf).collect()))
            };
            Some(Predicate::Or(partitions.iter().map(one).collect::<Result<_>>()?))
        };
        live_entries(self.table, snapshot, filter.as_ref()).await
    }

    async fn write_changelog(
        &self,
        store: &Manifests,
        changes: &Changes,
        schema: &Arc<TableSchema>,
        written: &mut Written,
    ) -> Result<Option<(String, i64)>> {
        if changes.changelog.is_empty() {
            return Ok(None);
        }
        let options = self.table.options();
        let manifests = store.write(&changes.changelog, schema, options).await?;
        written.0.extend(manifests.iter().map(|m| m.file_name.clone()));
        let list = store.write_list(&manifests, options).await?;
        written.0.push(list.0.clone());
        Ok(Some(list))
    }

    async fn write_index(
        &self,
        store: &Manifests,
        latest: Option<&Snapshot>,
        changes: &Changes,
        written: &mut Written,
    ) -> Result<Option<String>> {
        let previous = latest.and_then(|s| s.index_manifest.clone());
        if !changes.changes_index() {
            return Ok(previous);
        }
        let entries = match &previous {
            Some(name) => store.read_index(name).await?,
            None => Vec::new(),
        };
        let unaware = !self.table.schema().has_primary_key() && self.table.bucket_option()? < 0;
        let entries = combine_index(entries, changes, unaware);
        let name = store.write_index(&entries, self.table.options()).await?;
        written.0.push(name.clone());
        Ok(Some(name))
    }

    /// Statistics stay only while the schema that they speak of is the latest.
    async fn statistics(&self, latest: Option<&Snapshot>, schema: &TableSchema) -> Option<String> {
        let name = latest?.statistics.clone()?;
        let content = self.table.io().read(&self.table.paths().statistics(&name)).await.ok()?;
        let document: serde_json::Value = serde_json::from_slice(&content).ok()?;
        (document.get("schemaId")?.as_i64()? == schema.id).then_some(name)
    }
}

/// The wait, 20 percent more or less.
fn jittered(wait: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish() % 401;
    let per_mille = u32::try_from(random).unwrap_or(0) + 800;
    wait.saturating_mul(per_mille) / 1_000
}
