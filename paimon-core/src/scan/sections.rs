//! Sections: groups of files whose key ranges overlap.
//!
//! Invariants: no key is in two sections; sections are in key order; within a section files form as few sorted runs as
//! the greedy rule of Java finds, each in key order. Source: read-path sheet section 5;
//! `mergetree/compact/IntervalPartition.java`.

use std::sync::Arc;

use crate::error::{Result, ResultExt};
use crate::spec::DataFileMeta;
use crate::types::{DataType, Datum};

/// The runs of a section; the files of a run do not overlap and are in key order.
pub type Section = Vec<Vec<Arc<DataFileMeta>>>;

type Key = Vec<Option<Datum>>;

/// Cuts the files of one bucket into sections. `key_types` are the types of the trimmed primary key.
///
/// # Errors
/// `Corrupt` naming the file whose least or greatest key cannot be decoded.
pub fn sections(files: &[Arc<DataFileMeta>], key_types: &[DataType]) -> Result<Vec<Section>> {
    let mut keyed = Vec::with_capacity(files.len());
    for file in files {
        let min: Key = file.min_key.decode(key_types).context("file", &file.file_name)?;
        let max: Key = file.max_key.decode(key_types).context("file", &file.file_name)?;
        keyed.push((min, max, Arc::clone(file)));
    }
    keyed.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));

    let mut sections: Vec<Section> = Vec::new();
    // The greatest key of each run of the last section, and of the section.
    let mut run_ends: Vec<Key> = Vec::new();
    let mut section_end: Option<Key> = None;
    for (min, max, file) in keyed {
        if section_end.as_ref().is_none_or(|end| min > *end) {
            sections.push(Vec::new());
            run_ends.clear();
            section_end = None;
        }
        if section_end.as_ref().is_none_or(|end| max > *end) {
            section_end = Some(max.clone());
        }
        let Some(section) = sections.last_mut() else { continue };
        let shortest = run_ends.iter().enumerate().min_by(|a, b| a.1.cmp(b.1));
        match shortest.filter(|(_, end)| min > **end).map(|(run, _)| run) {
            Some(run) => {
                section[run].push(file);
                run_ends[run] = max;
            }
            None => {
                section.push(vec![file]);
                run_ends.push(max);
            }
        }
    }
    Ok(sections)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{BinaryRow, NullLayout};
    use crate::spec::SimpleStats;
    use crate::types::IntType;

    fn file(min: i32, max: i32) -> Arc<DataFileMeta> {
        let types = [DataType::Int(IntType::new())];
        let key = |v| BinaryRow::encode(&[Some(Datum::Int(v))], &types, NullLayout::Reserved).unwrap();
        Arc::new(DataFileMeta {
            file_name: format!("{min}-{max}"),
            file_size: 1,
            row_count: 1,
            min_key: key(min),
            max_key: key(max),
            key_stats: SimpleStats::empty(),
            value_stats: SimpleStats::empty(),
            min_sequence_number: 0,
            max_sequence_number: 0,
            schema_id: 0,
            level: 0,
            extra_files: Vec::new(),
            creation_time_ms: None,
            delete_row_count: Some(0),
            embedded_index: None,
            file_source: None,
            value_stats_cols: None,
            external_path: None,
            first_row_id: None,
            write_cols: None,
            write_cols_sequences: None,
        })
    }

    /// Sections in braces, runs separated by bars.
    fn show(files: &[(i32, i32)]) -> String {
        let files: Vec<_> = files.iter().map(|&(min, max)| file(min, max)).collect();
        let run = |run: &Vec<Arc<DataFileMeta>>| run.iter().map(|f| f.file_name.clone()).collect::<Vec<_>>().join(" ");
        let section = |s: &Section| format!("{{{}}}", s.iter().map(run).collect::<Vec<_>>().join(" | "));
        let all = sections(&files, &[DataType::Int(IntType::new())]).unwrap();
        all.iter().map(section).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn overlapping_files_form_a_section_with_few_runs() {
        assert_eq!(show(&[]), "");
        let files = [(210, 700), (5, 190), (1, 2), (200, 600), (3, 4), (5, 180)];
        assert_eq!(show(&files), "{1-2} {3-4} {5-180 | 5-190} {200-600 | 210-700}");
        assert_eq!(show(&[(1, 5), (5, 9)]), "{1-5 | 5-9}");
        assert_eq!(show(&[(1, 10), (2, 3), (4, 5), (6, 7), (8, 20), (11, 30)]), "{1-10 11-30 | 2-3 4-5 6-7 8-20}");
        assert_eq!(show(&[(-5, -4), (0, 1)]), "{-5--4} {0-1}");
    }

    #[test]
    fn a_key_that_cannot_be_decoded_names_the_file() {
        let mut bad = file(1, 2).as_ref().clone();
        bad.max_key = BinaryRow::empty();
        let error = sections(&[Arc::new(bad)], &[DataType::Int(IntType::new())]).unwrap_err();
        assert_eq!(error.context_value("file"), Some("1-2"));
    }
}
