//! What is done to each file of a unit: merged, rewritten with its neighbours, or upgraded as it is.
//!
//! Invariants: a file with retracts is never upgraded to the top level, where nothing would drop them any more; steps are
//! in key order and do not overlap, so their results do not either. Pure. Source: compaction sheet section 6;
//! `mergetree/compact/MergeTreeCompactTask.java`.

use std::sync::Arc;

use super::levels::Levels;
use super::pick::CompactUnit;
use super::task::{CompactWork, MergeStep};
use crate::error::Result;
use crate::options::Options;
use crate::scan::{SortedRun, sections};
use crate::spec::{DataFileMeta, FORCE_REWRITE_ALL, SMALL_FILE_RATIO, TARGET_FILE_SIZE, TableSchema};

/// Bytes of a full data file: `target-file-size`, else 128 MiB with primary key and 256 MiB without.
///
/// # Errors
/// `InvalidConfig` for a value that is no size.
pub(super) fn target_file_size(schema: &TableSchema, options: &Options) -> Result<u64> {
    const MIB: u64 = 1024 * 1024;
    let default = if schema.has_primary_key() { 128 * MIB } else { 256 * MIB };
    Ok(options.find(&TARGET_FILE_SIZE)?.unwrap_or(default))
}

/// Bytes below which a file is small.
pub(super) fn small_file_size(schema: &TableSchema, options: &Options) -> Result<u64> {
    Ok((target_file_size(schema, options)? as f64 * options.value(&SMALL_FILE_RATIO)?) as u64)
}

/// The work for a unit; `None` if it would change nothing.
///
/// # Errors
/// `InvalidConfig` for an option that does not parse; `Corrupt` for keys that cannot be decoded.
pub fn plan_merge(
    unit: &CompactUnit,
    levels: &Levels,
    schema: &TableSchema,
    options: &Options,
) -> Result<Option<CompactWork>> {
    let mut planner = Planner {
        output_level: unit.output_level,
        to_top: unit.output_level == levels.max_level(),
        force_rewrite: options.value(&FORCE_REWRITE_ALL)?,
        small: small_file_size(schema, options)?,
        pending: Vec::new(),
        steps: Vec::new(),
    };
    if unit.file_by_file {
        planner.steps = unit.files.iter().map(|file| MergeStep::Rewrite(vec![alone(file)])).collect();
    } else {
        for section in sections(unit.files.clone(), &schema.key_type().types())? {
            planner.add(section);
        }
        planner.rewrite_pending();
    }
    let drop_deletes = levels.drops_deletes_at(unit.output_level);
    Ok((!planner.steps.is_empty()).then_some(CompactWork::Merge {
        steps: planner.steps,
        output_level: unit.output_level,
        drop_deletes,
    }))
}

fn alone(file: &Arc<DataFileMeta>) -> Vec<SortedRun> {
    vec![SortedRun { files: vec![Arc::clone(file)] }]
}

struct Planner {
    output_level: i32,
    to_top: bool,
    force_rewrite: bool,
    small: u64,
    /// Sections that are rewritten together as soon as something follows that is not.
    pending: Vec<Vec<SortedRun>>,
    steps: Vec<MergeStep>,
}

impl Planner {
    fn add(&mut self, section: Vec<SortedRun>) {
        let [run] = section.as_slice() else { return self.pending.push(section) };
        for file in &run.files {
            if u64::try_from(file.file_size).unwrap_or_default() < self.small {
                self.pending.push(alone(file));
            } else {
                self.rewrite_pending();
                self.upgrade(file);
            }
        }
    }

    fn rewrite_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        match pending.as_slice() {
            [] => {}
            [section] if section.len() == 1 => {
                section.iter().flat_map(|run| &run.files).for_each(|file| self.upgrade(file))
            }
            _ => self.steps.push(MergeStep::Rewrite(pending)),
        }
    }

    fn upgrade(&mut self, file: &Arc<DataFileMeta>) {
        let may_hold_retracts = file.delete_row_count != Some(0);
        if self.force_rewrite || (self.to_top && may_hold_retracts) {
            self.steps.push(MergeStep::Rewrite(vec![alone(file)]));
        } else if file.level != self.output_level {
            self.steps.push(MergeStep::Upgrade(Arc::clone(file)));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::levels::tests::file;
    use super::*;
    use crate::row::{BinaryRow, NullLayout};
    use crate::types::{DataField, DataType, Datum, IntType};

    fn schema() -> TableSchema {
        TableSchema {
            version: 3,
            id: 0,
            fields: vec![DataField::new(0, "k", DataType::Int(IntType::with_nullable(false)))],
            highest_field_id: 0,
            partition_keys: Vec::new(),
            primary_keys: vec!["k".to_owned()],
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        }
    }

    /// A file written as `level:min-max:size`, and `:n` deletes or `:?` for unknown.
    fn keyed(text: &str) -> Arc<DataFileMeta> {
        let parts: Vec<&str> = text.split(':').collect();
        let (min, max) = parts[1].split_once('-').unwrap();
        let key = |v: &str| {
            let types = schema().key_type().types();
            BinaryRow::encode(&[Some(Datum::Int(v.parse().unwrap()))], &types, NullLayout::Reserved).unwrap()
        };
        let mut file = file(text, parts[0].parse().unwrap(), parts[2].parse().unwrap());
        (file.min_key, file.max_key) = (key(min), key(max));
        file.delete_row_count = match parts.get(3) {
            Some(&"?") => None,
            Some(count) => Some(count.parse().unwrap()),
            None => Some(0),
        };
        Arc::new(file)
    }

    /// What is done to the files when they are compacted into a level: `up(..)` and `merge(sections; runs | files)`.
    fn planned(files: &str, output_level: i32, pairs: &[(&str, &str)]) -> String {
        let mut options: Options = [("target-file-size", "100 b")].into_iter().collect();
        for (key, value) in pairs {
            options.set(*key, *value);
        }
        let files: Vec<_> = files.split_whitespace().map(keyed).collect();
        let levels = Levels::try_new(files.clone(), &options).unwrap();
        let unit = CompactUnit { files, output_level, file_by_file: false };
        let work = plan_merge(&unit, &levels, &schema(), &options).unwrap();
        let Some(CompactWork::Merge { steps, drop_deletes, .. }) = work else { return "nothing".to_owned() };
        let names = |run: &SortedRun| run.files.iter().map(|f| f.file_name.as_str()).collect::<Vec<_>>().join(" ");
        let section = |s: &Vec<SortedRun>| s.iter().map(names).collect::<Vec<_>>().join(" | ");
        let step = |step: &MergeStep| match step {
            MergeStep::Upgrade(file) => format!("up({})", file.file_name),
            MergeStep::Rewrite(all) => format!("merge({})", all.iter().map(section).collect::<Vec<_>>().join("; ")),
        };
        let steps: Vec<String> = steps.iter().map(step).collect();
        format!("{}{}", steps.join(" "), if drop_deletes { ", drop" } else { "" })
    }

    #[test]
    fn overlapping_files_are_merged() {
        assert_eq!(planned("0:1-9:5 0:5-20:5", 5, &[]), "merge(0:1-9:5 | 0:5-20:5), drop");
        assert_eq!(planned("0:1-9:500 5:5-20:500", 5, &[]), "merge(0:1-9:500 | 5:5-20:500), drop");
    }

    #[test]
    fn large_files_alone_are_upgraded_and_small_ones_joined() {
        assert_eq!(planned("0:1-9:70 0:10-20:70", 5, &[]), "up(0:1-9:70) up(0:10-20:70), drop");
        assert_eq!(planned("0:1-9:69 0:10-20:69", 5, &[]), "merge(0:1-9:69; 0:10-20:69), drop");
        assert_eq!(planned("0:1-9:1", 5, &[]), "up(0:1-9:1), drop");
        assert_eq!(
            planned("0:1-2:1 0:3-4:1 5:5-6:90 0:7-8:1 4:9-10:90", 5, &[]),
            "merge(0:1-2:1; 0:3-4:1) up(0:7-8:1) up(4:9-10:90), drop"
        );
        assert_eq!(planned("0:1-2:1 0:2-4:1 0:5-6:1", 5, &[]), "merge(0:1-2:1 | 0:2-4:1; 0:5-6:1), drop");
        assert_eq!(planned("5:1-2:90", 5, &[]), "nothing");
    }

    #[test]
    fn retracts_are_not_upgraded_to_the_top() {
        assert_eq!(planned("0:1-9:90:1", 5, &[]), "merge(0:1-9:90:1), drop");
        assert_eq!(planned("0:1-9:90:?", 5, &[]), "merge(0:1-9:90:?), drop");
        assert_eq!(planned("0:1-9:90:1", 4, &[]), "up(0:1-9:90:1), drop");
        assert_eq!(planned("0:1-9:90", 5, &[("compaction.force-rewrite-all-files", "true")]), "merge(0:1-9:90), drop");
    }

    #[test]
    fn deletes_stay_while_a_higher_level_has_files() {
        let options: Options = [("target-file-size", "100 b")].into_iter().collect();
        let files: Vec<_> = ["0:1-1:1:1", "0:1-1:2", "5:1-1:9"].into_iter().map(keyed).collect();
        let levels = Levels::try_new(files.clone(), &options).unwrap();
        for (count, output_level, dropped) in [(2, 4, false), (3, 5, true)] {
            let unit = CompactUnit { files: files[..count].to_vec(), output_level, file_by_file: false };
            let work = plan_merge(&unit, &levels, &schema(), &options).unwrap();
            let Some(CompactWork::Merge { drop_deletes, .. }) = work else { panic!("{work:?}") };
            assert_eq!(drop_deletes, dropped);
        }
    }
}
