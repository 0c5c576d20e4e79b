//! Which snapshot the options of a read select.
//!
//! Invariants: two selectors are refused, also where Java lets one win silently; a selector that is not built is refused
//! instead of being read as the latest snapshot; one that resolves to nothing is an error, never an empty read.
//! Source: time-travel sheet sections 1 and 2; `CoreOptions.java`, `table/source/snapshot/TimeTravelUtil.java`.

use super::{Snapshots, Tags, local_time};
use crate::error::{Entity, Error, Result};
use crate::options::Options;
use crate::spec::{
    SCAN_MODE, SCAN_SNAPSHOT_ID, SCAN_TAG_NAME, SCAN_TIMESTAMP, SCAN_TIMESTAMP_MILLIS, SCAN_VERSION, SCAN_WATERMARK,
    ScanMode, Snapshot,
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

/// Options that select what to read, but are not built.
const NOT_BUILT: [&str; 5] = [
    "scan.creation-time-millis",
    "scan.file-creation-time-millis",
    "incremental-between",
    "incremental-between-timestamp",
    "incremental-to-auto-tag",
];

impl Selector {
    /// The option keys that select a snapshot.
    pub const KEYS: [&str; 6] = [
        "scan.snapshot-id",
        "scan.tag-name",
        "scan.timestamp-millis",
        "scan.timestamp",
        "scan.version",
        "scan.watermark",
    ];

    /// The selector that is set; `None` for the latest snapshot.
    ///
    /// # Errors
    /// `InvalidConfig` naming both keys if there are two, or a `scan.mode` that does not fit; `Unsupported` for modes and
    /// selectors that are not built.
    pub fn from_options(options: &Options) -> Result<Option<Self>> {
        if let Some(key) = NOT_BUILT.into_iter().find(|key| options.contains(key)) {
            return Err(Error::unsupported(format!("the option '{key}' is not supported here yet")));
        }
        let selector = Self::only_one(options)?;
        fit(options.value(&SCAN_MODE)?, selector.as_ref())?;
        Ok(selector)
    }

    fn only_one(options: &Options) -> Result<Option<Self>> {
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
        let keys: Vec<_> = Self::KEYS.iter().zip(&set).filter(|(_, s)| s.is_some()).map(|(key, _)| *key).collect();
        if keys.len() > 1 {
            return Err(Error::invalid_config(format!(
                "Only one time-travel selector may be set, found: {}",
                keys.join(", ")
            )));
        }
        Ok(set.into_iter().flatten().next())
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

/// Checks that the start-up mode goes with the selector.
fn fit(mode: ScanMode, selector: Option<&Selector>) -> Result<()> {
    let word = mode.as_str();
    match (mode, selector) {
        (ScanMode::Default, _)
        | (ScanMode::LatestFull | ScanMode::Full | ScanMode::Latest, None)
        | (ScanMode::FromTimestamp, Some(Selector::TimestampMillis(_)))
        | (ScanMode::FromSnapshotFull, Some(Selector::SnapshotId(_)))
        | (
            ScanMode::FromSnapshot,
            Some(Selector::SnapshotId(_) | Selector::Tag(_) | Selector::Watermark(_) | Selector::Version(_)),
        ) => Ok(()),
        (
            ScanMode::LatestDelta
            | ScanMode::CompactedFull
            | ScanMode::FromCreationTimestamp
            | ScanMode::FromFileCreationTime
            | ScanMode::Incremental,
            _,
        ) => Err(Error::unsupported(format!("scan.mode = {word} is not supported here yet"))),
        (ScanMode::FromTimestamp, None) => Err(Error::invalid_config(format!(
            "must set only one key in [scan.timestamp-millis,scan.timestamp] when you use {word} for scan.mode"
        ))),
        (ScanMode::FromSnapshot, None) => Err(Error::invalid_config(format!(
            "must set only one key in [scan.snapshot-id,scan.tag-name,scan.watermark] when you use {word} for scan.mode"
        ))),
        (ScanMode::FromSnapshotFull, None) => {
            Err(Error::invalid_config(format!("scan.snapshot-id can not be null when you use {word} for scan.mode")))
        }
        (_, Some(selector)) => {
            let named = selector.named();
            let key = named.split(' ').next().unwrap_or_default();
            Err(Error::invalid_config(format!("{key} must be null when you use {word} for scan.mode")))
        }
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
