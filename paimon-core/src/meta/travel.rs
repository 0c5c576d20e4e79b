//! What a read sees of a table's history, as its options say.
//!
//! Invariants: two selectors are refused, also where Java lets one win silently; a start-up mode goes with the selector
//! that it needs and with no other. Nothing here looks at storage. Source: time-travel sheet sections 1 to 3;
//! `CoreOptions.java` (`startupMode`), `table/source/AbstractDataTableScan.java`.

use super::{Selector, local_time};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{
    ChangesMode, INCREMENTAL_BETWEEN, INCREMENTAL_BETWEEN_SCAN_MODE, INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT,
    INCREMENTAL_BETWEEN_TIMESTAMP, INCREMENTAL_TO_AUTO_TAG, SCAN_CREATION_TIME_MILLIS, SCAN_FILE_CREATION_TIME_MILLIS,
    SCAN_MODE, ScanMode,
};

/// What a batch read sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Travel {
    /// The latest snapshot.
    Latest,
    /// The latest compacted snapshot.
    CompactedFull,
    /// The changes of the latest snapshot.
    LatestDelta,
    /// The snapshot that is selected.
    Snapshot(Selector),
    /// The first snapshot from this time on, or files created from it on.
    CreatedSince(i64),
    /// Files of the latest snapshot created from this time on.
    FilesSince(i64),
    /// Changes between two points of the history.
    Changes(ChangesRange),
}

/// The changes that a read asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesRange {
    /// From where (exclusive) to where.
    pub bounds: Bounds,
    /// What counts as a change.
    pub mode: ChangesMode,
    /// Whether two tags stand for the range of their snapshots instead of the difference between them.
    pub tags_are_snapshots: bool,
}

/// The ends of a range of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bounds {
    /// Two snapshot ids or two tags.
    Between(String, String),
    /// Two commit times in milliseconds.
    Timestamps(i64, i64),
    /// From the automatic tag before this one.
    ToAutoTag(String),
}

impl ChangesRange {
    /// The snapshots after `start` up to `end`.
    pub fn of_snapshots(start: i64, end: i64, mode: ChangesMode) -> Self {
        Self { bounds: Bounds::Between(start.to_string(), end.to_string()), mode, tags_are_snapshots: false }
    }
}

impl Travel {
    /// The option keys that select something else than the latest snapshot.
    pub const KEYS: [&str; 11] = [
        "scan.snapshot-id",
        "scan.tag-name",
        "scan.timestamp-millis",
        "scan.timestamp",
        "scan.version",
        "scan.watermark",
        "scan.creation-time-millis",
        "scan.file-creation-time-millis",
        "incremental-between",
        "incremental-between-timestamp",
        "incremental-to-auto-tag",
    ];

    /// What the options ask for.
    ///
    /// # Errors
    /// `InvalidConfig` naming the keys if there are two selectors, a `scan.mode` that does not fit, or a bad value.
    pub fn from_options(options: &Options) -> Result<Self> {
        let mut found: Vec<(&str, Self)> =
            Selector::all(options)?.into_iter().map(|(key, s)| (key, Self::Snapshot(s))).collect();
        if let Some(time) = options.find(&SCAN_CREATION_TIME_MILLIS)? {
            found.push((SCAN_CREATION_TIME_MILLIS.key, Self::CreatedSince(time)));
        }
        if let Some(time) = options.find(&SCAN_FILE_CREATION_TIME_MILLIS)? {
            found.push((SCAN_FILE_CREATION_TIME_MILLIS.key, Self::FilesSince(time)));
        }
        let (mode, tags_are_snapshots) =
            (options.value(&INCREMENTAL_BETWEEN_SCAN_MODE)?, options.value(&INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT)?);
        for (key, bounds) in bounds(options)? {
            found.push((key, Self::Changes(ChangesRange { bounds, mode, tags_are_snapshots })));
        }
        if found.len() > 1 {
            let keys: Vec<_> = found.iter().map(|(key, _)| *key).collect();
            return Err(Error::invalid_config(format!(
                "Only one time-travel selector may be set, found: {}",
                keys.join(", ")
            )));
        }
        fit(options.value(&SCAN_MODE)?, found.pop())
    }
}

fn bounds(options: &Options) -> Result<Vec<(&'static str, Bounds)>> {
    let mut found = Vec::new();
    if let Some(text) = options.find(&INCREMENTAL_BETWEEN)? {
        let (start, end) = halves(INCREMENTAL_BETWEEN.key, &text)?;
        found.push((INCREMENTAL_BETWEEN.key, Bounds::Between(start.to_owned(), end.to_owned())));
    }
    if let Some(text) = options.find(&INCREMENTAL_BETWEEN_TIMESTAMP)? {
        let key = INCREMENTAL_BETWEEN_TIMESTAMP.key;
        let (start, end) = halves(key, &text)?;
        let times = match (start.parse(), end.parse()) {
            (Ok(start), Ok(end)) => (start, end),
            _ => {
                let time = |text| local_time::parse(text).map_err(|e| e.with_context("option", key));
                (time(start)?, time(end)?)
            }
        };
        found.push((key, Bounds::Timestamps(times.0, times.1)));
    }
    if let Some(tag) = options.find(&INCREMENTAL_TO_AUTO_TAG)? {
        found.push((INCREMENTAL_TO_AUTO_TAG.key, Bounds::ToAutoTag(tag)));
    }
    Ok(found)
}

fn halves<'a>(key: &str, text: &'a str) -> Result<(&'a str, &'a str)> {
    match text.split_once(',') {
        Some((start, end)) if !end.contains(',') => Ok((start, end)),
        _ => Err(Error::invalid_config(format!(
            "The {key} must specific start(exclusive) and end snapshot, tag or time with one comma between, but is \
             '{text}'"
        ))),
    }
}

/// What a start-up mode makes of the selector that is set.
fn fit(mode: ScanMode, selected: Option<(&str, Travel)>) -> Result<Travel> {
    use ScanMode as Mode;
    let word = mode.as_str();
    let one_of = |keys: &str| format!("must set only one key in [{keys}] when you use {word} for scan.mode");
    let missing = match (mode, selected) {
        (Mode::Default, Some((_, travel)))
        | (Mode::FromTimestamp, Some((_, travel @ Travel::Snapshot(Selector::TimestampMillis(_)))))
        | (Mode::FromSnapshotFull, Some((_, travel @ Travel::Snapshot(Selector::SnapshotId(_)))))
        | (
            Mode::FromSnapshot,
            Some((
                _,
                travel @ Travel::Snapshot(
                    Selector::SnapshotId(_) | Selector::Tag(_) | Selector::Watermark(_) | Selector::Version(_),
                ),
            )),
        )
        | (Mode::FromCreationTimestamp, Some((_, travel @ Travel::CreatedSince(_))))
        | (Mode::FromFileCreationTime, Some((_, travel @ Travel::FilesSince(_))))
        | (Mode::Incremental, Some((_, travel @ Travel::Changes(_)))) => return Ok(travel),
        (Mode::Default | Mode::LatestFull | Mode::Full | Mode::Latest, None) => return Ok(Travel::Latest),
        (Mode::CompactedFull, None) => return Ok(Travel::CompactedFull),
        (Mode::LatestDelta, None) => return Ok(Travel::LatestDelta),
        (Mode::FromTimestamp, None) => one_of("scan.timestamp-millis,scan.timestamp"),
        (Mode::FromSnapshot, None) => one_of("scan.snapshot-id,scan.tag-name,scan.watermark"),
        (Mode::Incremental, None) => {
            one_of("incremental-between,incremental-between-timestamp,incremental-to-auto-tag")
        }
        (Mode::FromSnapshotFull, None) => format!("scan.snapshot-id can not be null when you use {word} for scan.mode"),
        (Mode::FromCreationTimestamp, None) => {
            format!("scan.creation-time-millis can not be null when you use {word} for scan.mode")
        }
        (Mode::FromFileCreationTime, None) => {
            format!("scan.file-creation-time-millis can not be null when you use {word} for scan.mode")
        }
        (_, Some((key, _))) => format!("{key} must be null when you use {word} for scan.mode"),
    };
    Err(Error::invalid_config(missing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn options(text: &str) -> Options {
        text.split(';').filter(|s| !s.is_empty()).map(|s| s.split_once('=').unwrap()).collect()
    }

    fn between(start: &str, end: &str, mode: ChangesMode) -> Travel {
        let bounds = Bounds::Between(start.to_owned(), end.to_owned());
        Travel::Changes(ChangesRange { bounds, mode, tags_are_snapshots: false })
    }

    #[test]
    fn what_options_ask_for() {
        let times =
            ChangesRange { bounds: Bounds::Timestamps(5, 7), mode: ChangesMode::Auto, tags_are_snapshots: true };
        let cases = [
            ("", Travel::Latest),
            ("scan.mode=latest", Travel::Latest),
            ("scan.mode=FULL", Travel::Latest),
            ("scan.mode=compacted-full", Travel::CompactedFull),
            ("scan.mode=latest-delta", Travel::LatestDelta),
            ("scan.snapshot-id=3", Travel::Snapshot(Selector::SnapshotId(3))),
            ("scan.mode=from-snapshot-full;scan.snapshot-id=3", Travel::Snapshot(Selector::SnapshotId(3))),
            ("scan.creation-time-millis=3", Travel::CreatedSince(3)),
            ("scan.mode=from-file-creation-time;scan.file-creation-time-millis=3", Travel::FilesSince(3)),
            ("incremental-between=1,3", between("1", "3", ChangesMode::Auto)),
            ("incremental-between=1, 3", between("1", " 3", ChangesMode::Auto)),
            (
                "incremental-between=a,b;incremental-between-scan-mode=DIFF;scan.mode=incremental",
                between("a", "b", ChangesMode::Diff),
            ),
            ("incremental-between-timestamp=5,7;incremental-between-tag-to-snapshot=true", Travel::Changes(times)),
        ];
        for (text, expected) in cases {
            assert_eq!(Travel::from_options(&options(text)).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_does_not_go_together() {
        let cases = [
            ("incremental-between=1", "must specific start(exclusive) and end"),
            ("incremental-between=1,2,3", "must specific start(exclusive) and end"),
            ("incremental-between=1,2;scan.snapshot-id=1", "found: scan.snapshot-id, incremental-between"),
            ("scan.creation-time-millis=1;scan.snapshot-id=1", "found: scan.snapshot-id, scan.creation-time-millis"),
            ("scan.mode=incremental", "must set only one key in [incremental-between,"),
            ("scan.mode=latest-delta;scan.tag-name=x", "scan.tag-name must be null when you use latest-delta"),
            ("scan.mode=from-snapshot-full;scan.tag-name=x", "scan.tag-name must be null when you use"),
            ("scan.mode=from-file-creation-time", "scan.file-creation-time-millis can not be null"),
            ("incremental-between=1,2;incremental-between-scan-mode=all", "incremental-between-scan-mode"),
            ("incremental-between-timestamp=1,tomorrow", "incremental-between-timestamp"),
        ];
        for (text, part) in cases {
            let error = Travel::from_options(&options(text)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidConfig, "{text}");
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
