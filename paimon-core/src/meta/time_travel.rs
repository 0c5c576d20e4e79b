//! Which snapshot the options of a read select.
//!
//! Invariants: a selector that resolves to nothing is an error, never an empty read.
//! Source: time-travel sheet sections 1 and 2; `CoreOptions.java`, `table/source/snapshot/TimeTravelUtil.java`.

use super::{Snapshots, Tags, local_time};
use crate::error::{Entity, Error, Result};
use crate::options::Options;
use crate::spec::{
    SCAN_SNAPSHOT_ID, SCAN_TAG_NAME, SCAN_TIMESTAMP, SCAN_TIMESTAMP_MILLIS, SCAN_VERSION, SCAN_WATERMARK, Snapshot,
};

/// A selector of one snapshot. Source: time-travel sheet section 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `scan.snapshot-id`.
    SnapshotId(i64),
    /// `scan.tag-name`.
    Tag(String),
    /// `scan.timestamp-millis`, or `scan.timestamp` in the process's zone.
    TimestampMillis(i64),
    /// `scan.version`: a tag, `watermark-<ms>` or a snapshot id, in this order.
    Version(String),
    /// `scan.watermark`.
    Watermark(i64),
}

impl Selector {
    /// The option keys that select a snapshot.
    const KEYS: [&str; 6] = [
        "scan.snapshot-id",
        "scan.tag-name",
        "scan.timestamp-millis",
        "scan.timestamp",
        "scan.version",
        "scan.watermark",
    ];

    /// The selectors of a snapshot that are set, with their keys.
    ///
    /// # Errors
    /// `InvalidConfig` naming the option of a bad value.
    pub(super) fn all(options: &Options) -> Result<Vec<(&'static str, Self)>> {
        let timestamp = match options.find(&SCAN_TIMESTAMP)? {
            Some(text) => Some(local_time::parse(&text).map_err(|e| e.with_context("option", SCAN_TIMESTAMP.key))?),
            None => None,
        };
        let set = [
            options.find(&SCAN_SNAPSHOT_ID)?.map(Self::SnapshotId),
            options.find(&SCAN_TAG_NAME)?.map(Self::Tag),
            options.find(&SCAN_TIMESTAMP_MILLIS)?.map(Self::TimestampMillis),
            timestamp.map(Self::TimestampMillis),
            options.find(&SCAN_VERSION)?.map(Self::Version),
            options.find(&SCAN_WATERMARK)?.map(Self::Watermark),
        ];
        Ok(Self::KEYS.into_iter().zip(set).filter_map(|(key, selector)| Some((key, selector?))).collect())
    }

    /// The key and the value, for messages.
    fn named(&self) -> String {
        match self {
            Self::SnapshotId(id) => format!("scan.snapshot-id = {id}"),
            Self::Tag(name) => format!("scan.tag-name = {name}"),
            Self::TimestampMillis(time) => format!("scan.timestamp-millis = {time}"),
            Self::Version(version) => format!("scan.version = {version}"),
            Self::Watermark(watermark) => format!("scan.watermark = {watermark}"),
        }
    }

    /// The snapshot it selects.
    ///
    /// # Errors
    /// `NotFound(Snapshot)` or `NotFound(Tag)` naming selector and value; `InvalidConfig` for a version that is neither a
    /// tag, a watermark nor a number; `PermissionDenied`, `Storage` or `Corrupt`.
    pub async fn resolve(&self, snapshots: &Snapshots, tags: &Tags) -> Result<Snapshot> {
        let found = match self {
            Self::SnapshotId(id) => by_id(*id, snapshots).await,
            Self::Tag(name) => match tags.get(name).await {
                Ok(tag) => tag.map(|t| t.snapshot).ok_or_else(|| Tags::not_found(name)),
                Err(error) => Err(error),
            },
            Self::TimestampMillis(time) => by_time(*time, snapshots).await,
            Self::Version(version) => by_version(version, snapshots, tags).await,
            Self::Watermark(watermark) => by_watermark(*watermark, snapshots).await,
        };
        found.map_err(|e| e.with_context("selector", self.named()))
    }
}

fn nothing(message: String) -> Error {
    Error::not_found(Entity::Snapshot, message)
}

async fn by_id(id: i64, snapshots: &Snapshots) -> Result<Snapshot> {
    if id > 0
        && let Some(snapshot) = snapshots.find(id).await?
    {
        return Ok(snapshot);
    }
    match (snapshots.earliest_id().await?, snapshots.latest_id().await?) {
        (Some(earliest), Some(latest)) => Err(nothing(format!(
            "The specified scan snapshotId {id} is out of available snapshotId range [{earliest}, {latest}]."
        ))),
        _ => Err(nothing("There is currently no snapshot.".to_owned())),
    }
}

async fn by_time(time: i64, snapshots: &Snapshots) -> Result<Snapshot> {
    if let Some(snapshot) = snapshots.at_or_before(time).await? {
        return Ok(snapshot);
    }
    let message = format!("There is currently no snapshot earlier than or equal to timestamp [{time}]");
    Err(nothing(match snapshots.earliest().await? {
        Some(earliest) => {
            format!("{message}, the earliest snapshot's timestamp is [{}]", earliest.time_millis)
        }
        None => message,
    }))
}

async fn by_watermark(watermark: i64, snapshots: &Snapshots) -> Result<Snapshot> {
    snapshots
        .at_or_after_watermark(watermark)
        .await?
        .ok_or_else(|| nothing(format!("There is currently no snapshot later than or equal to watermark[{watermark}]")))
}

/// A tag of this name wins over the other forms.
async fn by_version(version: &str, snapshots: &Snapshots, tags: &Tags) -> Result<Snapshot> {
    if let Some(tag) = tags.get(version).await? {
        return Ok(tag.snapshot);
    }
    if let Some(text) = version.strip_prefix("watermark-") {
        // Java reads the latest snapshot if this is no number.
        let watermark = text.parse().map_err(|_| {
            Error::invalid_config(format!("expected watermark-<number> or the name of a tag, found '{version}'"))
        })?;
        return by_watermark(watermark, snapshots).await;
    }
    match version.parse() {
        Ok(id) if version.chars().all(|c| c.is_ascii_digit()) => by_id(id, snapshots).await,
        _ => Err(Error::not_found(
            Entity::Tag,
            format!("Tag '{version}' doesn't exist, and it is no snapshot id and no watermark-<number> either."),
        )),
    }
}

#[cfg(test)]
mod tests;
