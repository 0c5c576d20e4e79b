//! Which entries a plan is made of, and how they become splits.
//!
//! Source: read-path sheet sections 4 and 5, time-travel sheet sections 3 and 6; `table/source/ScanMode.java`,
//! `table/source/DataTableStreamScan.java`.

use super::prune::ReadMode;
use crate::error::Result;
use crate::meta::local_time::from_wall_clock;
use crate::spec::{CHANGELOG_PRODUCER, ChangelogProducer, DataFileMeta, NUM_LEVELS, NUM_SORTED_RUNS_TRIGGER};
use crate::table::Table;

/// Where the entries of a plan come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// The live files of a snapshot.
    Live,
    /// What snapshots added.
    Delta,
    /// Changelog files.
    Changelog,
}

/// Levels that are planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Levels {
    All,
    /// All but level 0.
    AboveZero,
    /// This one.
    Only(i32),
}

/// What is planned.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    pub(super) source: Source,
    pub(super) levels: Levels,
    /// Files that were created before this time are left out.
    pub(super) created_since: Option<i64>,
    /// Whether splits are packed for a stream, bucket by bucket.
    pub(super) stream_packing: bool,
    /// Whether what snapshots deleted is passed over; otherwise a delete among changes is an error.
    pub(super) only_added: bool,
    /// Whether value statistics may give up single files of primary-key tables.
    pub(super) prunes_values_by_file: bool,
}

impl Scope {
    /// The live files of a snapshot, as batch reads see them.
    pub(super) fn live(mode: &ReadMode) -> Self {
        Self {
            source: Source::Live,
            levels: match mode.only_level {
                Some(level) => Levels::Only(level),
                None if mode.skip_level_0 => Levels::AboveZero,
                None => Levels::All,
            },
            created_since: None,
            stream_packing: false,
            only_added: false,
            // One level holds one version of a key.
            prunes_values_by_file: mode.skip_level_0 || mode.only_level.is_some(),
        }
    }

    /// Changes, as batch reads see them.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad option.
    pub(super) fn changes(table: &Table, mode: &ReadMode, source: Source) -> Result<Self> {
        let producer = table.options().value(&CHANGELOG_PRODUCER)?;
        // The changelog of an input producer holds what writers said, not what was there before.
        let complete = matches!(producer, ChangelogProducer::Lookup | ChangelogProducer::FullCompaction);
        Ok(Self { source, prunes_values_by_file: source == Source::Changelog && complete, ..Self::live(mode) })
    }

    /// The live files of a snapshot, as a stream starts with them: rows of higher levels come later as changelog.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad option.
    pub(super) fn stream_start(table: &Table) -> Result<Self> {
        let levels = match table.options().value(&CHANGELOG_PRODUCER)? {
            ChangelogProducer::None | ChangelogProducer::Input => Levels::All,
            ChangelogProducer::Lookup => Levels::AboveZero,
            ChangelogProducer::FullCompaction => Levels::Only(top_level(table)?),
        };
        Ok(Self {
            source: Source::Live,
            levels,
            created_since: None,
            stream_packing: false,
            only_added: false,
            prunes_values_by_file: levels != Levels::All,
        })
    }

    /// Changes, as streams see them.
    ///
    /// # Errors
    /// `InvalidConfig` for a bad option.
    pub(super) fn stream_changes(table: &Table, mode: &ReadMode, source: Source) -> Result<Self> {
        Ok(Self { levels: Levels::All, stream_packing: true, ..Self::changes(table, mode, source)? })
    }

    /// Whether the files are events.
    pub(super) fn is_events(&self) -> bool {
        self.source != Source::Live
    }

    /// Whether a file is planned.
    pub(super) fn holds(&self, file: &DataFileMeta) -> bool {
        let level = match self.levels {
            Levels::All => true,
            Levels::AboveZero => file.level > 0,
            Levels::Only(level) => file.level == level,
        };
        let is_young = |since: i64| file.creation_time_ms.is_none_or(|shown| from_wall_clock(shown) >= since);
        level && self.created_since.is_none_or(is_young)
    }
}

/// `num-levels` less one; without it the compaction trigger.
fn top_level(table: &Table) -> Result<i32> {
    let options = table.options();
    let levels = match options.find(&NUM_LEVELS)? {
        Some(levels) => levels,
        None => options.value(&NUM_SORTED_RUNS_TRIGGER)?.saturating_add(1),
    };
    Ok(i32::try_from(levels).unwrap_or(i32::MAX).saturating_sub(1))
}
