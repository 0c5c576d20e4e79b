//! Tests of what failures and damage do to whole tables.

mod damage;
mod drops;
mod faults;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow::array::{AsArray, Int32Array, RecordBatch, StringArray};
use arrow::datatypes::Int32Type;
use bytes::Bytes;
use futures::TryStreamExt;

use crate::catalog::Identifier;
use crate::clock::{Clock, SystemClock};
use crate::commit::{CommitOutcome, FileSystemCommit, Overwrite};
use crate::error::{ErrorKind, Result};
use crate::maintain::{ExpireConfig, expire_snapshots};
use crate::meta::{Schemas, TablePaths};
use crate::scan::live_entries;
use crate::spec::{Schema, TableSchema};
use crate::storage::faults::{Faults, files, store};
use crate::storage::{FileIO, unless_gone};
use crate::table::Table;
use crate::types::testing::{int, string};
use crate::types::to_arrow_schema;

/// The files of a table by their path below it.
type Image = Vec<(String, Bytes)>;

/// A table in a store of its own. The place is fresh, so that no cache of the process knows its files.
struct World {
    io: FileIO,
    faults: Faults,
    location: String,
}

impl World {
    async fn of(image: &Image) -> Self {
        let place = format!("{}/db.db/t", SystemClock.fresh_id());
        let files: Image = image.iter().map(|(path, content)| (format!("{place}/{path}"), content.clone())).collect();
        let (io, faults) = store(&files).await;
        Self { io, faults, location: format!("memory:/{place}") }
    }

    async fn table(&self) -> Result<Table> {
        let schemas = Schemas::new(self.io.clone(), TablePaths::new(self.location.as_str(), "main"));
        let identifier = Identifier::new("db", "t");
        let schema = schemas.latest().await?.ok_or_else(|| identifier.not_found())?;
        let publisher = Arc::new(FileSystemCommit);
        Ok(Table::new(identifier, self.io.clone(), &self.location, schema, publisher, SystemClock::shared()))
    }

    async fn image(&self) -> Image {
        let prefix = format!("{}/", self.location.trim_start_matches("memory:/"));
        let all = files(&self.io).await.into_iter();
        all.filter_map(|(path, content)| Some((path.strip_prefix(&prefix)?.to_owned(), content))).collect()
    }
}

/// A table `p STRING, k INT, v STRING`, keyed by `p, k` and partitioned by `p`.
async fn empty(keyed: bool, options: &[(&str, &str)]) -> Image {
    let world = World::of(&Vec::new()).await;
    let mut schema = Schema::builder().column("p", string()).column("k", int()).column("v", string());
    schema = schema.partition_keys(["p"]);
    if keyed {
        schema = schema.primary_key(["p", "k"]).option("bucket", "1");
    }
    for (key, value) in options {
        schema = schema.option(*key, *value);
    }
    let schema = TableSchema::create(&schema.build().unwrap(), 0).unwrap();
    let paths = TablePaths::new(world.location.as_str(), "main");
    assert!(Schemas::new(world.io.clone(), paths).create(&schema).await.unwrap());
    world.image().await
}

/// A row: partition, key, value.
type Row = (String, i32, String);

fn batch(table: &Table, rows: &[(&str, i32, &str)]) -> RecordBatch {
    let schema = to_arrow_schema(&table.schema().row_type());
    let partitions = StringArray::from_iter_values(rows.iter().map(|r| r.0));
    let keys = Int32Array::from_iter_values(rows.iter().map(|r| r.1));
    let values = StringArray::from_iter_values(rows.iter().map(|r| r.2));
    RecordBatch::try_new(schema, vec![Arc::new(partitions), Arc::new(keys), Arc::new(values)]).unwrap()
}

/// Writes and commits rows, and aborts what could not be committed, as an engine does.
async fn write(table: &Table, rows: &[(&str, i32, &str)], overwrite: Option<Overwrite>) -> Result<()> {
    let builder = table.new_batch_write_builder().with_overwrite(overwrite.clone());
    let mut writer = builder.new_write()?;
    let messages = match writer.write(&batch(table, rows)).await {
        Ok(()) => writer.prepare_commit().await,
        Err(error) => Err(error),
    };
    let messages = match messages {
        Ok(messages) => messages,
        Err(error) => {
            writer.abort().await;
            return Err(error);
        }
    };
    let commit = builder.new_commit();
    let outcome: Result<CommitOutcome> = match overwrite {
        Some(overwrite) => commit.overwrite(messages.clone(), overwrite).await,
        None => commit.commit(messages.clone()).await,
    };
    if let Err(error) = &outcome
        && error.kind() != ErrorKind::CommitUnknown
    {
        // The first error counts.
        let _ = commit.abort(messages).await;
    }
    outcome.map(drop)
}

async fn expire(table: &Table, keep: u64) -> Result<()> {
    let options = table.options();
    let config = ExpireConfig { retain_min: keep, retain_max: keep, ..ExpireConfig::from_options(options)? };
    expire_snapshots(table, &config).await.map(drop)
}

async fn rows(table: &Table) -> Result<Vec<Row>> {
    let builder = table.new_read_builder();
    let plan = builder.new_scan().plan().await?;
    let batches: Vec<RecordBatch> = builder.new_read()?.to_arrow(plan.splits())?.try_collect().await?;
    let mut out = Vec::new();
    for batch in &batches {
        let (p, k, v) = (batch.column(0).as_string::<i32>(), batch.column(1), batch.column(2).as_string::<i32>());
        let k = k.as_primitive::<Int32Type>();
        out.extend((0..batch.num_rows()).map(|i| (p.value(i).to_owned(), k.value(i), v.value(i).to_owned())));
    }
    out.sort();
    Ok(out)
}

/// The rows of the newest snapshots, so many of them.
async fn history(table: &Table, count: usize) -> Result<BTreeMap<i64, Vec<Row>>> {
    let mut out = BTreeMap::new();
    for snapshot in table.snapshots().list().await?.into_iter().rev().take(count) {
        let id = snapshot.id;
        out.insert(id, rows(&table.pinned_to(snapshot)).await?);
    }
    Ok(out)
}

/// The files that no snapshot, tag or schema needs. What a snapshot names that was about to expire may be gone.
async fn orphans(image: &Image) -> Result<Vec<String>> {
    let table = World::of(image).await.table().await?;
    let mut needed = BTreeSet::new();
    let below = format!("{}/", table.location());
    let relative = |path: &str| path.strip_prefix(&below).unwrap_or(path).to_owned();
    let mut snapshots = table.snapshots().list().await?;
    snapshots.extend(table.tags().list().await?.into_iter().map(|t| t.snapshot));
    for snapshot in &snapshots {
        needed.insert(relative(&table.paths().snapshot(snapshot.id)));
        let lists = [Some(&snapshot.base_manifest_list), Some(&snapshot.delta_manifest_list)];
        for list in lists.into_iter().chain([snapshot.changelog_manifest_list.as_ref()]).flatten() {
            needed.insert(format!("manifest/{list}"));
            let manifests = unless_gone(table.manifests().read_list(list).await)?;
            needed.extend(manifests.into_iter().map(|m| format!("manifest/{}", m.file_name)));
        }
        for entry in unless_gone(live_entries(&table, snapshot, None).await)? {
            let dir = table.paths().bucket_dir(table.schema(), table.options(), &entry.partition, entry.bucket)?;
            needed.insert(relative(&TablePaths::data_file(&dir, &entry.file)));
        }
    }
    let is_mark = |path: &str| {
        let by_design = ["snapshot/LATEST", "snapshot/EARLIEST"];
        by_design.contains(&path) || path.starts_with("schema/") || path.starts_with("tag/")
    };
    Ok(image.iter().map(|(path, _)| path.clone()).filter(|p| !needed.contains(p) && !is_mark(p)).collect())
}
