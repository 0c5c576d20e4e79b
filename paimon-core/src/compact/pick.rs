//! Which runs of a bucket are compacted together, and into which level.
//!
//! Invariants: a unit is a first part of the list of runs; a unit that would change nothing is none. Pure: time comes as
//! an argument. Source: compaction sheet sections 2 to 5; `mergetree/compact/UniversalCompaction.java`,
//! `EarlyFullCompaction.java`, `ForceUpLevel0Compaction.java`, `CompactStrategy.java`.

use std::sync::Arc;
use std::time::Duration;

use super::levels::{LevelRun, Levels};
use crate::error::Result;
use crate::options::Options;
use crate::spec::{
    DataFileMeta, FORCE_REWRITE_ALL, FORCE_UP_LEVEL_0, INCREMENTAL_SIZE_THRESHOLD, NUM_SORTED_RUNS_TRIGGER,
    OFFPEAK_END_HOUR, OFFPEAK_RATIO, OFFPEAK_START_HOUR, OPTIMIZATION_INTERVAL, SIZE_AMPLIFICATION, SIZE_RATIO,
    TOTAL_SIZE_THRESHOLD,
};

/// Files that are compacted together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactUnit {
    /// The files.
    pub files: Vec<Arc<DataFileMeta>>,
    /// The level of the result.
    pub output_level: i32,
    /// Whether each file is rewritten by itself, without merging.
    pub file_by_file: bool,
}

/// When a decision is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// Local time in milliseconds, its zone taken for UTC, as creation times of files are.
    pub local_ms: i64,
}

impl Moment {
    fn hour(self) -> i32 {
        const MS_PER_HOUR: i64 = 3_600_000;
        i32::try_from(self.local_ms.div_euclid(MS_PER_HOUR).rem_euclid(24)).unwrap_or_default()
    }
}

/// The options that decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PickOptions {
    /// Runs that make a compaction worth while.
    pub trigger: usize,
    /// Percent of the size of the last run that the others may have in all.
    pub size_amplification: u64,
    /// Percent by which the next run may be larger.
    pub size_ratio: u64,
    /// Whether level 0 is compacted even if nothing else asks for it.
    pub force_up_level0: bool,
    /// Whether a full compaction rewrites every file.
    pub force_rewrite_all: bool,
    offpeak: (i32, i32, u64),
    optimization_interval: Option<Duration>,
    total_size_threshold: Option<u64>,
    incremental_size_threshold: Option<u64>,
}

impl PickOptions {
    /// Those of a table.
    ///
    /// # Errors
    /// `InvalidConfig` naming a key whose value does not parse.
    pub fn try_new(options: &Options) -> Result<Self> {
        Ok(Self {
            trigger: options.value(&NUM_SORTED_RUNS_TRIGGER)?,
            size_amplification: options.value(&SIZE_AMPLIFICATION)?,
            size_ratio: options.value(&SIZE_RATIO)?,
            force_up_level0: options.value(&FORCE_UP_LEVEL_0)?,
            force_rewrite_all: options.value(&FORCE_REWRITE_ALL)?,
            offpeak: (
                options.value(&OFFPEAK_START_HOUR)?,
                options.value(&OFFPEAK_END_HOUR)?,
                options.value(&OFFPEAK_RATIO)?,
            ),
            optimization_interval: options.find(&OPTIMIZATION_INTERVAL)?,
            total_size_threshold: options.find(&TOTAL_SIZE_THRESHOLD)?,
            incremental_size_threshold: options.find(&INCREMENTAL_SIZE_THRESHOLD)?,
        })
    }

    /// The size ratio and what off-peak hours add.
    fn ratio(&self, moment: Moment) -> u64 {
        let (start, end, extra) = self.offpeak;
        let hour = moment.hour();
        let offpeak = if start == end || start == -1 || end == -1 {
            false
        } else if start < end {
            (start..end).contains(&hour)
        } else {
            hour >= start || hour < end
        };
        self.size_ratio + if offpeak { extra } else { 0 }
    }
}

/// The unit that the rules choose; `None` if the bucket is fine as it is.
pub fn pick(levels: &Levels, options: &PickOptions, moment: Moment) -> Option<CompactUnit> {
    let picker = Picker { levels, runs: levels.runs(), options, ratio: options.ratio(moment) };
    let unit = match picker.universal(moment) {
        None if options.force_up_level0 => picker.force_level0(),
        unit => unit,
    };
    unit.filter(|unit| match unit.files.as_slice() {
        [] => false,
        [only] => only.level != unit.output_level,
        _ => true,
    })
}

/// The unit of a full compaction; `None` if only the top level has files and none of them must be rewritten.
pub fn pick_full(levels: &Levels, options: &PickOptions) -> Option<CompactUnit> {
    match levels.runs() {
        [] => None,
        [only] if only.level == levels.max_level() => options.force_rewrite_all.then(|| CompactUnit {
            files: only.files.clone(),
            output_level: only.level,
            file_by_file: true,
        }),
        runs => Some(unit_of(runs, levels.max_level())),
    }
}

fn unit_of(runs: &[LevelRun], output_level: i32) -> CompactUnit {
    let files = runs.iter().flat_map(|run| run.files.iter().cloned()).collect();
    CompactUnit { files, output_level, file_by_file: false }
}

struct Picker<'a> {
    levels: &'a Levels,
    runs: &'a [LevelRun],
    options: &'a PickOptions,
    /// Percent by which the next run may be larger.
    ratio: u64,
}

impl Picker<'_> {
    fn universal(&self, moment: Moment) -> Option<CompactUnit> {
        let trigger = self.options.trigger;
        if self.wants_early_full(moment) || (self.runs.len() >= trigger && self.is_amplified()) {
            return Some(self.all());
        }
        if self.runs.len() >= trigger
            && let Some(unit) = self.grow(1, false)
        {
            return Some(unit);
        }
        if self.runs.len() > trigger {
            return self.grow(self.runs.len() - trigger + 1, true);
        }
        None
    }

    fn all(&self) -> CompactUnit {
        unit_of(self.runs, self.levels.max_level())
    }

    fn wants_early_full(&self, moment: Moment) -> bool {
        if self.runs.len() <= 1 {
            return false;
        }
        if let Some(interval) = self.options.optimization_interval {
            let interval = i64::try_from(interval.as_millis()).unwrap_or(i64::MAX);
            if self.last_full_ms().is_none_or(|last| moment.local_ms.saturating_sub(last) > interval) {
                return true;
            }
        }
        let size = |runs: &[LevelRun]| runs.iter().map(LevelRun::size).sum::<u64>();
        if self.options.total_size_threshold.is_some_and(|threshold| size(self.runs) < threshold) {
            return true;
        }
        let top = self.runs.last().filter(|run| run.level == self.levels.max_level());
        let below_top = size(self.runs) - top.map_or(0, LevelRun::size);
        self.options.incremental_size_threshold.is_some_and(|threshold| below_top > threshold)
    }

    /// When the top level was written last.
    fn last_full_ms(&self) -> Option<i64> {
        let top = self.runs.last().filter(|run| run.level == self.levels.max_level())?;
        top.files.iter().filter_map(|f| f.creation_time_ms).max()
    }

    /// Whether all runs but the last are together much larger than the last.
    fn is_amplified(&self) -> bool {
        let Some((last, others)) = self.runs.split_last() else { return false };
        let others: u128 = others.iter().map(|run| u128::from(run.size())).sum();
        100 * others > u128::from(self.options.size_amplification) * u128::from(last.size())
    }

    /// All runs of level 0, and what grows from them.
    fn force_level0(&self) -> Option<CompactUnit> {
        match self.runs.iter().take_while(|run| run.level == 0).count() {
            0 => None,
            count => self.grow(count, true),
        }
    }

    /// The first `count` runs and those after them that are not much larger. Once something is `picked`, runs of level 0
    /// and 1 join whatever their size.
    fn grow(&self, count: usize, picked: bool) -> Option<CompactUnit> {
        let (mut count, mut picked) = (count, picked);
        let mut size: u64 = self.runs[..count].iter().map(LevelRun::size).fold(0, u64::saturating_add);
        for next in &self.runs[count..] {
            let limit = size as f64 * (100 + self.ratio) as f64 / 100.0;
            if limit < next.size() as f64 && (!picked || next.level > 1) {
                break;
            }
            size = size.saturating_add(next.size());
            count += 1;
            picked = true;
        }
        picked.then(|| self.unit(count))
    }

    /// The first `count` runs with the level that their result goes to.
    fn unit(&self, mut count: usize) -> CompactUnit {
        let Some(next) = self.runs.get(count) else { return self.all() };
        let mut output_level = (next.level - 1).max(0);
        if output_level == 0 {
            // Results never go to level 0: take runs until one says which level.
            match self.runs[count..].iter().position(|run| run.level != 0) {
                Some(position) => {
                    count += position + 1;
                    output_level = self.runs[count - 1].level;
                }
                None => return self.all(),
            }
        }
        if count == self.runs.len() {
            return self.all();
        }
        unit_of(&self.runs[..count], output_level)
    }
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::file;
    use super::*;

    fn options(pairs: &[(&str, &str)]) -> Options {
        pairs.iter().copied().collect()
    }

    /// Runs written as `level:size`, newest first.
    fn levels(runs: &str, options: &Options) -> Levels {
        let files = runs.split_whitespace().enumerate().map(|(i, run)| {
            let (level, size) = run.split_once(':').unwrap();
            let mut file = file(run, level.parse().unwrap(), size.parse().unwrap());
            file.max_sequence_number = 1000 - i as i64;
            Arc::new(file)
        });
        Levels::try_new(files, options).unwrap()
    }

    fn show(unit: Option<CompactUnit>) -> String {
        unit.map_or("none".to_owned(), |unit| {
            let files: Vec<&str> = unit.files.iter().map(|f| f.file_name.as_str()).collect();
            format!("{} -> L{}", files.join(" "), unit.output_level)
        })
    }

    fn picked(runs: &str, pairs: &[(&str, &str)], local_ms: i64) -> String {
        let options = options(pairs);
        show(pick(&levels(runs, &options), &PickOptions::try_new(&options).unwrap(), Moment { local_ms }))
    }

    /// Trigger, levels, runs, what is picked, what is picked with level 0 forced ("same" if equal).
    const EXAMPLES: [(&str, &str, &str, &str, &str); 17] = [
        ("5", "6", "0:1 0:1 0:4 0:1000", "none", "0:1 0:1 0:4 0:1000 -> L5"),
        ("5", "6", "0:1 0:1 0:1 0:1 0:1", "0:1 0:1 0:1 0:1 0:1 -> L5", "same"),
        ("5", "6", "0:10 0:10 0:10 0:10 5:100", "0:10 0:10 0:10 0:10 -> L4", "same"),
        ("5", "6", "0:10 0:10 0:10 0:10 5:10", "0:10 0:10 0:10 0:10 5:10 -> L5", "same"),
        ("5", "6", "0:1 0:5 0:25 0:125 5:1000", "none", "0:1 0:5 0:25 0:125 -> L4"),
        ("5", "6", "0:10 0:10 0:100 0:1000 5:10000", "0:10 0:10 0:100 0:1000 -> L4", "same"),
        ("5", "6", "0:1 0:1 0:1 0:1 0:1 5:1000", "0:1 0:1 0:1 0:1 0:1 -> L4", "same"),
        ("5", "6", "0:1 0:10 0:100 3:1000 4:10000 5:100000", "0:1 0:10 0:100 -> L2", "same"),
        ("5", "6", "0:1 0:1 0:50 1:60 4:1000 5:100000", "0:1 0:1 0:50 1:60 -> L3", "same"),
        ("5", "6", "0:1 0:1 0:50 2:60 4:1000 5:100000", "0:1 0:1 0:50 -> L1", "same"),
        ("5", "6", "0:1 0:2 0:3 0:4 0:5 0:6 5:10", "0:1 0:2 0:3 0:4 0:5 0:6 5:10 -> L5", "same"),
        ("5", "6", "0:5 1:6 2:7 3:8 4:9 5:1000", "0:5 1:6 2:7 3:8 4:9 -> L4", "same"),
        ("3", "4", "0:1 0:1 1:50 2:10 3:1000", "0:1 0:1 1:50 2:10 -> L2", "same"),
        ("3", "4", "0:10 1:10 3:1000", "0:10 1:10 -> L2", "same"),
        ("3", "4", "0:1 2:10 3:1000", "none", "0:1 -> L1"),
        ("3", "4", "0:1 0:2 3:100", "none", "0:1 0:2 -> L2"),
        ("2", "3", "0:1 0:1 2:10", "0:1 0:1 -> L1", "same"),
    ];

    #[test]
    fn examples_of_the_master_pickers() {
        for (trigger, num_levels, runs, expected, forced) in EXAMPLES {
            let mut pairs = vec![("num-sorted-run.compaction-trigger", trigger), ("num-levels", num_levels)];
            assert_eq!(picked(runs, &pairs, 0), expected, "{runs}");
            pairs.push(("compaction.force-up-level-0", "true"));
            let forced = if forced == "same" { expected } else { forced };
            assert_eq!(picked(runs, &pairs, 0), forced, "forced: {runs}");
        }
    }

    #[test]
    fn a_unit_that_changes_nothing_is_none() {
        assert_eq!(picked("5:10", &[("compaction.total-size-threshold", "1 kb")], 0), "none");
        assert_eq!(picked("1:10 2:10", &[("compaction.force-up-level-0", "true")], 0), "none");
        assert_eq!(picked("", &[], 0), "none");
    }

    #[test]
    fn early_full_compactions() {
        let total = [("compaction.total-size-threshold", "100 b")];
        assert_eq!(picked("0:1 5:98", &total, 0), "0:1 5:98 -> L5");
        assert_eq!(picked("0:1 5:99", &total, 0), "none");
        let incremental = [("compaction.incremental-size-threshold", "10 b")];
        assert_eq!(picked("0:11 5:1000", &incremental, 0), "0:11 5:1000 -> L5");
        assert_eq!(picked("0:10 5:1000", &incremental, 0), "none");
        assert_eq!(picked("0:6 4:6", &incremental, 0), "0:6 4:6 -> L5");
    }

    #[test]
    fn the_optimization_interval_counts_from_the_newest_top_file() {
        let options = options(&[("compaction.optimization-interval", "1 h")]);
        let pick_at = |created: Option<i64>, now: i64| {
            let mut top = file("top", 5, 1000);
            top.creation_time_ms = created;
            let levels = Levels::try_new([Arc::new(file("new", 0, 1)), Arc::new(top)], &options).unwrap();
            show(pick(&levels, &PickOptions::try_new(&options).unwrap(), Moment { local_ms: now }))
        };
        assert_eq!(pick_at(Some(1_000), 3_601_000), "none");
        assert_eq!(pick_at(Some(1_000), 3_601_001), "new top -> L5");
        assert_eq!(pick_at(None, 0), "new top -> L5");
    }

    #[test]
    fn off_peak_hours_add_to_the_ratio() {
        let pairs = |start: &'static str, end: &'static str| {
            vec![
                ("compaction.offpeak.start.hour", start),
                ("compaction.offpeak.end.hour", end),
                ("compaction.offpeak-ratio", "100"),
            ]
        };
        let runs = "0:10 0:15 0:1000 0:1000 5:1000000";
        let hour = |h: i64| h * 3_600_000 + 5;
        assert_eq!(picked(runs, &pairs("22", "6"), hour(12)), "none");
        for at in [22, 23, 0, 5] {
            assert_eq!(picked(runs, &pairs("22", "6"), hour(at)), "0:10 0:15 0:1000 0:1000 -> L4", "{at}");
        }
        assert_eq!(picked(runs, &pairs("22", "6"), hour(6)), "none");
        assert_eq!(picked(runs, &pairs("3", "4"), hour(3)), "0:10 0:15 0:1000 0:1000 -> L4");
        assert_eq!(picked(runs, &pairs("3", "3"), hour(3)), "none");
        assert_eq!(picked(runs, &pairs("-1", "4"), hour(3)), "none");
    }

    #[test]
    fn full_compactions_take_all_but_a_clean_top_level() {
        let full = |runs: &str, pairs: &[(&str, &str)]| {
            let options = options(pairs);
            let unit = pick_full(&levels(runs, &options), &PickOptions::try_new(&options).unwrap());
            let alone = unit.as_ref().is_some_and(|u| u.file_by_file);
            format!("{}{}", show(unit), if alone { ", alone" } else { "" })
        };
        assert_eq!(full("", &[]), "none");
        assert_eq!(full("5:10", &[]), "none");
        assert_eq!(full("5:10", &[("compaction.force-rewrite-all-files", "true")]), "5:10 -> L5, alone");
        assert_eq!(full("4:10", &[]), "4:10 -> L5");
        assert_eq!(full("0:10", &[]), "0:10 -> L5");
        assert_eq!(full("0:1 0:1 5:1000", &[]), "0:1 0:1 5:1000 -> L5");
    }
}
