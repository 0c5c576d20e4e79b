//! The files of one bucket of a primary-key table as sorted runs.
//!
//! Invariants: newer data has the lower position in the list of runs: runs of level 0, newest first, then the levels
//! that are not empty. So what may be compacted together is always a first part of the list. Source: compaction sheet
//! section 1; `mergetree/Levels.java`.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{DataFileMeta, NUM_LEVELS, NUM_SORTED_RUNS_TRIGGER};

/// Files whose keys do not overlap: one file of level 0, or all files of a higher level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelRun {
    /// The level.
    pub level: i32,
    /// The files.
    pub files: Vec<Arc<DataFileMeta>>,
}

impl LevelRun {
    /// Bytes of the files.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|f| u64::try_from(f.file_size).unwrap_or_default()).fold(0, u64::saturating_add)
    }
}

/// The levels of a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Levels {
    runs: Vec<LevelRun>,
    max_level: i32,
}

impl Levels {
    /// The levels that live files of one bucket form.
    ///
    /// # Errors
    /// `InvalidConfig` if the options allow fewer than two levels; `Corrupt` for a negative level.
    pub fn try_new(files: impl IntoIterator<Item = Arc<DataFileMeta>>, options: &Options) -> Result<Self> {
        let mut level0 = Vec::new();
        let mut higher: BTreeMap<i32, Vec<Arc<DataFileMeta>>> = BTreeMap::new();
        for file in files {
            match file.level {
                0 => level0.push(file),
                level @ 1.. => higher.entry(level).or_default().push(file),
                level => {
                    let message = format!("the level of a file must not be negative, but is {level}");
                    return Err(Error::corrupt(message).with_context("file", &file.file_name));
                }
            }
        }
        level0.sort_by(|a, b| {
            let age = |f: &DataFileMeta| (Reverse(f.max_sequence_number), f.min_sequence_number, f.creation_time_ms);
            age(a).cmp(&age(b)).then_with(|| a.file_name.cmp(&b.file_name))
        });
        let max_level = max_level(options, higher.keys().next_back().copied())?;
        let runs = level0.into_iter().map(|file| LevelRun { level: 0, files: vec![file] });
        let runs = runs.chain(higher.into_iter().map(|(level, files)| LevelRun { level, files })).collect();
        Ok(Self { runs, max_level })
    }

    /// The runs, newest first.
    pub fn runs(&self) -> &[LevelRun] {
        &self.runs
    }

    /// The top level.
    pub fn max_level(&self) -> i32 {
        self.max_level
    }

    /// The highest level that has files; 0 if there are none.
    pub fn non_empty_highest_level(&self) -> i32 {
        self.runs.last().map_or(0, |run| run.level)
    }

    /// Whether results of a compaction into this level need no deletes: no older row can stand above it.
    pub fn drops_deletes_at(&self, output_level: i32) -> bool {
        output_level != 0 && output_level >= self.non_empty_highest_level()
    }
}

/// `num-levels`, else the compaction trigger plus one, but enough for the levels that exist.
fn max_level(options: &Options, highest: Option<i32>) -> Result<i32> {
    let levels = match options.find(&NUM_LEVELS)? {
        Some(levels) => levels,
        None => options.value(&NUM_SORTED_RUNS_TRIGGER)?.saturating_add(1),
    };
    let levels = i32::try_from(levels).unwrap_or(i32::MAX).max(highest.unwrap_or(0).saturating_add(1));
    if levels < 2 {
        return Err(
            Error::invalid_config("Number of levels must be at least 2.").with_context("option", NUM_LEVELS.key)
        );
    }
    Ok(levels - 1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::row::BinaryRow;
    use crate::spec::{FileSource, SimpleStats};

    /// A file of this level and size.
    pub(in crate::compact) fn file(name: &str, level: i32, size: i64) -> DataFileMeta {
        DataFileMeta {
            file_name: name.to_owned(),
            file_size: size,
            row_count: 1,
            min_key: BinaryRow::empty(),
            max_key: BinaryRow::empty(),
            key_stats: SimpleStats::empty(),
            value_stats: SimpleStats::empty(),
            min_sequence_number: 0,
            max_sequence_number: 0,
            schema_id: 0,
            level,
            extra_files: Vec::new(),
            creation_time_ms: None,
            delete_row_count: Some(0),
            embedded_index: None,
            file_source: Some(FileSource::Append),
            value_stats_cols: None,
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        }
    }

    #[test]
    fn level_0_is_ordered_newest_first_and_levels_follow() {
        let mut files = vec![file("old", 0, 1), file("new", 0, 1), file("top", 5, 1), file("b", 2, 1), file("a", 2, 1)];
        (files[0].max_sequence_number, files[1].max_sequence_number) = (3, 9);
        let levels = Levels::try_new(files.into_iter().map(Arc::new), &Options::new()).unwrap();
        let names: Vec<Vec<&str>> =
            levels.runs().iter().map(|r| r.files.iter().map(|f| f.file_name.as_str()).collect()).collect();
        assert_eq!(names, [vec!["new"], vec!["old"], vec!["b", "a"], vec!["top"]]);
        assert_eq!((levels.max_level(), levels.non_empty_highest_level()), (5, 5));
        assert!(!levels.drops_deletes_at(4) && levels.drops_deletes_at(5) && !levels.drops_deletes_at(0));
    }

    #[test]
    fn there_are_enough_levels_for_the_files() {
        let max = |options: &[(&str, &str)], level| {
            let options: Options = options.iter().copied().collect();
            Levels::try_new([Arc::new(file("f", level, 1))], &options).map(|l| l.max_level())
        };
        assert_eq!(max(&[], 0).unwrap(), 5);
        assert_eq!(max(&[("num-sorted-run.compaction-trigger", "2")], 0).unwrap(), 2);
        assert_eq!(max(&[("num-levels", "3")], 7).unwrap(), 7);
        assert!(max(&[("num-levels", "1")], 0).is_err());
    }
}
