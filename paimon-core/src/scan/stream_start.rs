//! Where a stream starts.
//!
//! Source: time-travel sheet section 2 (column "Streaming") and section 7; `table/source/snapshot/Continuous*Scanner.java`.

use super::startup;
use crate::error::{Error, Result};
use crate::meta::{Changelogs, Selector, Travel};
use crate::spec::{SCAN_MODE, ScanMode, Snapshot};
use crate::table::Table;

/// What the first plan of a stream is.
#[derive(Debug)]
pub(super) enum StreamStart {
    /// Nothing can be said yet: there is no snapshot, or not the one that is asked for.
    NotYet,
    /// No rows; changes from this snapshot on.
    From(i64),
    /// The whole of a snapshot, then changes.
    Full(Box<Snapshot>),
    /// The files of a snapshot that were created from this time on, then changes.
    FilesSince(i64, Box<Snapshot>),
}

/// Checks that a stream can start with these options, without looking at storage.
///
/// # Errors
/// `InvalidConfig` naming a selector or mode that only batch reads have.
pub(super) fn check(table: &Table) -> Result<()> {
    let batch_only =
        |what: &str| Err(Error::invalid_config(format!("{what} is for batch reads only, not for streams")));
    match Travel::from_options(table.options())? {
        Travel::Changes(_) => Err(Error::invalid_config("Cannot read incremental in streaming mode.")),
        Travel::LatestDelta => batch_only("scan.mode = latest-delta"),
        Travel::Snapshot(Selector::Tag(name)) => batch_only(&format!("scan.tag-name = {name}")),
        Travel::Snapshot(Selector::Watermark(watermark)) => batch_only(&format!("scan.watermark = {watermark}")),
        Travel::Snapshot(Selector::Version(version)) if version.parse::<i64>().is_err() => {
            batch_only(&format!("scan.version = {version}"))
        }
        Travel::Snapshot(Selector::Version(_) | Selector::SnapshotId(_) | Selector::TimestampMillis(_))
        | Travel::Latest
        | Travel::CompactedFull
        | Travel::CreatedSince(_)
        | Travel::FilesSince(_) => Ok(()),
    }
}

/// Where the options of the table let a stream start now. `next` is what a consumer has to read next: it wins over
/// every option.
///
/// # Errors
/// As [`check`]; `Storage` or `Corrupt`.
pub(super) async fn find(table: &Table, next: Option<i64>) -> Result<StreamStart> {
    if let Some(next) = next {
        return from_id(table, next).await;
    }
    check(table)?;
    let mode = table.options().value(&SCAN_MODE)?;
    match Travel::from_options(table.options())? {
        Travel::Latest if mode == ScanMode::Latest => {
            let latest = table.snapshots().latest_id().await?;
            Ok(StreamStart::From(latest.map_or(1, |id| id + 1)))
        }
        Travel::Latest => Ok(full(table.snapshots().latest().await?)),
        Travel::CompactedFull => Ok(full(startup::compacted(table).await?)),
        Travel::FilesSince(time) => files_since(table, time).await,
        Travel::CreatedSince(time) => match startup::created_since(time, &table.snapshots()).await? {
            Some(snapshot) => Ok(StreamStart::From(snapshot.id)),
            None => files_since(table, time).await,
        },
        Travel::Snapshot(Selector::TimestampMillis(time)) => from_time(table, time).await,
        Travel::Snapshot(Selector::SnapshotId(id)) if mode == ScanMode::FromSnapshotFull => {
            let Some(earliest) = table.snapshots().earliest_id().await? else { return Ok(StreamStart::NotYet) };
            Ok(full(table.snapshots().find(id.max(earliest)).await?))
        }
        Travel::Snapshot(Selector::SnapshotId(id)) => from_id(table, id).await,
        Travel::Snapshot(Selector::Version(version)) => {
            if table.tags().get(&version).await?.is_some() {
                return Err(Error::invalid_config(format!(
                    "scan.version = {version} is a tag, which is for batch reads only, not for streams"
                )));
            }
            match version.parse() {
                Ok(id) => from_id(table, id).await,
                Err(_) => Err(Error::internal("a version that is no number was let through")),
            }
        }
        Travel::Snapshot(Selector::Tag(_) | Selector::Watermark(_)) | Travel::LatestDelta | Travel::Changes(_) => {
            Err(Error::internal("a selector for batch reads was let through"))
        }
    }
}

fn full(snapshot: Option<Snapshot>) -> StreamStart {
    snapshot.map_or(StreamStart::NotYet, |snapshot| StreamStart::Full(Box::new(snapshot)))
}

async fn files_since(table: &Table, time: i64) -> Result<StreamStart> {
    let latest = table.snapshots().latest().await?;
    Ok(latest.map_or(StreamStart::NotYet, |snapshot| StreamStart::FilesSince(time, Box::new(snapshot))))
}

async fn from_id(table: &Table, id: i64) -> Result<StreamStart> {
    Ok(earliest_change(table).await?.map_or(StreamStart::NotYet, |earliest| StreamStart::From(id.max(earliest))))
}

/// The first snapshot, or changelog that outlived it, from this time on; the next commit if all are older.
async fn from_time(table: &Table, time: i64) -> Result<StreamStart> {
    let snapshots = table.snapshots();
    let Some(latest) = snapshots.latest_id().await? else { return Ok(StreamStart::NotYet) };
    if Changelogs::outlive_snapshots(table.options())? {
        let (changelogs, earliest) = (table.changelogs(), snapshots.earliest_id().await?);
        for id in changelogs.ids().await?.into_iter().filter(|id| earliest.is_none_or(|earliest| *id < earliest)) {
            if changelogs.find(id).await?.is_some_and(|changelog| changelog.time_millis >= time) {
                return Ok(StreamStart::From(id));
            }
        }
    }
    let first = startup::first_since(time, &snapshots).await?;
    Ok(StreamStart::From(first.map_or(latest + 1, |snapshot| snapshot.id)))
}

/// The earliest snapshot whose changes can be read; `None` if there is no snapshot.
///
/// # Errors
/// `InvalidConfig` for a bad option; `Storage`.
pub(super) async fn earliest_change(table: &Table) -> Result<Option<i64>> {
    let earliest = table.snapshots().earliest_id().await?;
    if !Changelogs::outlive_snapshots(table.options())? {
        return Ok(earliest);
    }
    let changelog = table.changelogs().ids().await?.first().copied();
    Ok(match (earliest, changelog) {
        (Some(snapshot), Some(changelog)) => Some(snapshot.min(changelog)),
        (snapshot, changelog) => snapshot.or(changelog),
    })
}
