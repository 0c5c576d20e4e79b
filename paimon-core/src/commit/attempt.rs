//! One attempt: the files and the document of the next snapshot.
//!
//! Invariants: nothing here is visible; every file is named in [`Shared`] or in the list of the attempt before an error is
//! given. Source: layout sheet section 7; `operation/FileStoreCommitImpl.java` (`tryCommitOnce`).

use std::sync::Arc;

use super::base_files::live_files;
use super::changes::{Changes, combine_index};
use super::committer::{Committer, delete_all};
use super::conflict;
use super::manifest_merge::{Merged, Merger};
use crate::error::{Error, Result};
use crate::meta::Manifests;
use crate::options::Options;
use crate::spec::{BUCKET, CommitKind, EntryKind, ManifestEntry, ManifestFileMeta, Snapshot, TableSchema};

/// A manifest list that was written, with its manifests.
#[derive(Debug, Clone)]
struct Listed {
    name: String,
    size: i64,
    manifests: Vec<String>,
}

impl Listed {
    fn names(self) -> impl Iterator<Item = String> {
        self.manifests.into_iter().chain([self.name])
    }
}

/// What the attempts of one commit have in common: files that a lost attempt has written and the next one names again.
#[derive(Debug, Default)]
pub(super) struct Shared {
    delta: Option<Listed>,
    changelog: Option<Listed>,
    merged: Option<Merged>,
    /// Manifests that the merge has written.
    merged_files: Vec<String>,
    /// Files of a merge that could not be done again.
    superseded: Vec<String>,
}

impl Shared {
    /// Deletes everything.
    pub(super) async fn delete(mut self, store: &Manifests) {
        let lists = [self.delta.take(), self.changelog.take()];
        delete_all(store, lists.into_iter().flatten().flat_map(Listed::names)).await;
        delete_all(store, self.merged_files).await;
        delete_all(store, self.superseded).await;
    }

    /// Deletes what the published attempt does not name.
    pub(super) async fn delete_superseded(self, store: &Manifests) {
        delete_all(store, self.superseded).await;
    }
}

/// One attempt.
pub(super) struct Attempt<'a> {
    pub(super) committer: &'a Committer<'a>,
    pub(super) store: &'a Manifests,
    pub(super) latest: Option<Snapshot>,
    pub(super) schema: Arc<TableSchema>,
    pub(super) changes: &'a Changes,
    pub(super) kind: CommitKind,
    /// Whether the changes are the same in each attempt.
    pub(super) fixed: bool,
}

impl Attempt<'_> {
    fn options(&self) -> &Options {
        self.committer.table.options()
    }

    /// Checks the changes, against the live files if `full`.
    ///
    /// # Errors
    /// `Conflict` naming file or partition.
    pub(super) async fn check(&self, full: bool) -> Result<()> {
        let (table, delta) = (self.committer.table, &self.changes.delta);
        conflict::check_delta(delta)?;
        let Some(latest) = &self.latest else {
            return conflict::check(table, &[], delta, self.kind);
        };
        let places_in_levels = delta.iter().any(|e| e.kind == EntryKind::Add && e.file.level > 0);
        let full = full || (self.kind == CommitKind::Append && places_in_levels);
        let counts = self.kind == CommitKind::Append && self.may_differ_in_buckets()?;
        if !full && !counts {
            return Ok(());
        }
        let partitions = self.changes.partitions();
        let base = live_files(table, latest, &partitions).await?;
        match full {
            true => conflict::check(table, &base, delta, self.kind),
            false => conflict::check_bucket_counts(table, &base, delta),
        }
    }

    /// Whether the live files of a partition may have another bucket count than the new ones. The writer has compared them
    /// with those that it found; another writer can only have changed the count since by way of a new schema.
    fn may_differ_in_buckets(&self) -> Result<bool> {
        let current = Options::from(self.schema.options.clone()).value(&BUCKET)?;
        Ok(self.changes.delta.iter().any(|e| e.total_buckets > 0 && e.total_buckets != current))
    }

    /// Writes the files of the snapshot, those that no other attempt can use named in `own`.
    ///
    /// # Errors
    /// `Storage` or `Corrupt`.
    pub(super) async fn prepare(&self, shared: &mut Shared, own: &mut Vec<String>) -> Result<Snapshot> {
        let base = self.base(shared).await?;
        let (options, changes) = (self.options(), self.changes);
        let (earlier_delta, earlier_changelog) = (shared.delta.take(), shared.changelog.take());
        // All are done to their end, so that it is known what was written.
        let (base_list, delta, changelog, index) = futures::join!(
            self.store.write_list(&base, options),
            self.list(earlier_delta, Some(&changes.delta)),
            self.list(earlier_changelog, (!changes.changelog.is_empty()).then_some(&changes.changelog)),
            self.index_manifest(),
        );
        let base_list = base_list.inspect(|(name, _)| own.push(name.clone()));
        let index = index.inspect(|(name, is_new)| own.extend(name.clone().filter(|_| *is_new)));
        let delta = delta.inspect(|list| self.note(list.clone(), &mut shared.delta, own));
        let changelog = changelog.inspect(|list| self.note(list.clone(), &mut shared.changelog, own));
        let (base_list, (index, _)) = (base_list?, index?);
        let delta = delta?.ok_or_else(|| Error::internal("the delta has no list"))?;
        self.snapshot(base_list, delta, changelog?, index).await
    }

    /// Fixed changes have the same list in each attempt.
    fn note(&self, list: Option<Listed>, shared: &mut Option<Listed>, own: &mut Vec<String>) {
        match list {
            Some(list) if self.fixed => *shared = Some(list),
            Some(list) => own.extend(list.names()),
            None => {}
        }
    }

    /// The manifests of the base: those of the latest snapshot, merged. A merge of an earlier attempt is done again if it
    /// still applies; if not, this attempt merges nothing.
    async fn base(&self, shared: &mut Shared) -> Result<Vec<ManifestFileMeta>> {
        let Some(latest) = &self.latest else { return Ok(Vec::new()) };
        let manifests = self.store.of_snapshot(latest).await?;
        if let Some(merged) = shared.merged.take().filter(|_| !shared.merged_files.is_empty()) {
            if let Some(base) = merged.again(&manifests) {
                shared.merged = Some(merged);
                return Ok(base);
            }
            shared.superseded.append(&mut shared.merged_files);
            return Ok(manifests);
        }
        let mut merger = Merger::try_new(self.store, &self.schema, self.options(), &mut shared.merged_files)?;
        let merged = merger.merge(manifests).await?;
        let base = merged.outputs().to_vec();
        shared.merged = Some(merged);
        Ok(base)
    }

    /// The list of an earlier attempt, or a new one; none for no entries.
    async fn list(&self, earlier: Option<Listed>, entries: Option<&Vec<ManifestEntry>>) -> Result<Option<Listed>> {
        let Some(entries) = entries else { return Ok(None) };
        if earlier.is_some() {
            return Ok(earlier);
        }
        let metas = self.store.write(entries, &self.schema, self.options()).await?;
        let manifests: Vec<String> = metas.iter().map(|m| m.file_name.clone()).collect();
        match self.store.write_list(&metas, self.options()).await {
            Ok((name, size)) => Ok(Some(Listed { name, size, manifests })),
            Err(error) => {
                delete_all(self.store, manifests).await;
                Err(error)
            }
        }
    }

    /// The index manifest of the snapshot, and whether it is new.
    async fn index_manifest(&self) -> Result<(Option<String>, bool)> {
        let previous = self.latest.as_ref().and_then(|s| s.index_manifest.clone());
        if !self.changes.changes_index() {
            return Ok((previous, false));
        }
        let entries = match &previous {
            Some(name) => self.store.read_index(name).await?,
            None => Vec::new(),
        };
        let table = self.committer.table;
        let unaware = !table.schema().has_primary_key() && table.bucket_option()? < 0;
        let entries = combine_index(entries, self.changes, unaware);
        Ok((Some(self.store.write_index(&entries, self.options()).await?), true))
    }

    async fn snapshot(
        &self,
        base: (String, i64),
        delta: Listed,
        changelog: Option<Listed>,
        index_manifest: Option<String>,
    ) -> Result<Snapshot> {
        let (table, latest) = (self.committer.table, self.latest.as_ref());
        let delta_rows = self.changes.delta_rows();
        Ok(Snapshot {
            version: Some(3),
            uuid: Some(table.clock().fresh_id()),
            id: latest.map_or(1, |s| s.id + 1),
            schema_id: self.schema.id,
            base_manifest_list: base.0,
            base_manifest_list_size: Some(base.1),
            delta_manifest_list: delta.name,
            delta_manifest_list_size: Some(delta.size),
            changelog_manifest_list: changelog.as_ref().map(|l| l.name.clone()),
            changelog_manifest_list_size: changelog.map(|l| l.size),
            index_manifest,
            commit_user: self.committer.user.to_owned(),
            writer_version: None,
            commit_identifier: self.committer.identifier,
            commit_kind: self.kind,
            time_millis: table.clock().now_ms(),
            total_record_count: Some(self.previous_rows().await?.saturating_add(delta_rows)),
            delta_record_count: Some(delta_rows),
            changelog_record_count: self.changes.changelog_rows(),
            watermark: latest.and_then(|s| s.watermark),
            statistics: self.statistics().await,
            properties: None,
            next_row_id: Some(latest.and_then(|s| s.next_row_id).unwrap_or(0)),
            operation: self.committer.operation.map(str::to_owned),
        })
    }

    /// The physical rows before this snapshot. The oldest snapshots do not count them.
    async fn previous_rows(&self) -> Result<i64> {
        let Some(latest) = &self.latest else { return Ok(0) };
        if let Some(total) = latest.total_record_count {
            return Ok(total);
        }
        let mut rows = 0i64;
        for manifest in self.store.of_snapshot(latest).await? {
            for entry in self.store.read(&manifest).await?.iter() {
                let count = entry.file.row_count;
                rows = rows.saturating_add(if entry.kind == EntryKind::Add { count } else { -count });
            }
        }
        Ok(rows)
    }

    /// Statistics stay only while the schema that they speak of is the latest.
    async fn statistics(&self) -> Option<String> {
        let name = self.latest.as_ref()?.statistics.clone()?;
        let table = self.committer.table;
        let content = table.io().read(&table.paths().statistics(&name)).await.ok()?;
        let document: serde_json::Value = serde_json::from_slice(&content).ok()?;
        (document.get("schemaId")?.as_i64()? == self.schema.id).then_some(name)
    }
}
