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
use crate::scan::{Section, sections};
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
        for section in sections(&unit.files, &schema.key_type().types())? {
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

fn alone(file: &Arc<DataFileMeta>) -> Section {
    vec![vec![Arc::clone(file)]]
}

struct Planner {
    output_level: i32,
    to_top: bool,
    force_rewrite: bool,
    small: u64,
    /// Sections that are rewritten together as soon as something follows that is not.
    pending: Vec<Section>,
    steps: Vec<MergeStep>,
}

impl Planner {
    fn add(&mut self, section: Section) {
        let [run] = section.as_slice() else { return self.pending.push(section) };
        for file in run {
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
            [section] if section.len() == 1 => section.iter().flatten().for_each(|file| self.upgrade(file)),
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
