//! Files of a bucket by key range: sections that share no key, and the sorted runs inside each.
//!
//! Invariants: two sections share no key, so each can be read on its own; the files of a run do not overlap and stand in
//! key order, so a section of one run needs no merge. Source: read-path sheet section 5;
//! `mergetree/compact/IntervalPartition.java`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::error::{Result, ResultExt};
use crate::spec::{DataFileMeta, saturating_sum};
use crate::types::{DataType, Datum};

/// Files in key order that do not overlap.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SortedRun {
    /// The files, by key ascending.
    pub files: Vec<Arc<DataFileMeta>>,
}

impl SortedRun {
    /// Bytes of the files.
    pub fn size_bytes(&self) -> i64 {
        saturating_sum(self.files.iter().map(|f| f.file_size))
    }
}

type Key = Vec<Option<Datum>>;

struct KeyedFile {
    min: Key,
    max: Key,
    file: Arc<DataFileMeta>,
}

/// Sections in key order, each of at least one run. `key_types` are the types of the trimmed primary key.
///
/// # Errors
/// `Corrupt` naming a file whose key bounds do not decode.
pub fn sections(files: Vec<Arc<DataFileMeta>>, key_types: &[DataType]) -> Result<Vec<Vec<SortedRun>>> {
    let mut keyed = files
        .into_iter()
        .map(|file| {
            let decode =
                || -> Result<(Key, Key)> { Ok((file.min_key.decode(key_types)?, file.max_key.decode(key_types)?)) };
            let (min, max) = decode().context("file", &file.file_name)?;
            Ok(KeyedFile { min, max, file })
        })
        .collect::<Result<Vec<_>>>()?;
    keyed.sort_by(|a, b| (&a.min, &a.max).cmp(&(&b.min, &b.max)));
    let mut sections = Vec::new();
    let mut section: Vec<KeyedFile> = Vec::new();
    let mut greatest: Option<Key> = None;
    for file in keyed {
        if greatest.as_ref().is_some_and(|max| file.min > *max) {
            sections.push(runs(std::mem::take(&mut section)));
            greatest = None;
        }
        if greatest.as_ref().is_none_or(|max| file.max > *max) {
            greatest = Some(file.max.clone());
        }
        section.push(file);
    }
    if !section.is_empty() {
        sections.push(runs(section));
    }
    Ok(sections)
}

/// Greedy runs of files in order of their least key: a file joins the run that ends first, if it begins after that end.
fn runs(files: Vec<KeyedFile>) -> Vec<SortedRun> {
    let mut runs: Vec<SortedRun> = Vec::new();
    let mut ends: BinaryHeap<Reverse<(Key, usize)>> = BinaryHeap::new();
    for file in files {
        let free = match ends.peek() {
            Some(Reverse((end, _))) if file.min > *end => ends.pop(),
            _ => None,
        };
        let run = match free {
            Some(Reverse((_, run))) => run,
            None => {
                runs.push(SortedRun { files: Vec::new() });
                runs.len() - 1
            }
        };
        runs[run].files.push(file.file);
        ends.push(Reverse((file.max, run)));
    }
    runs
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
        let run = |run: &SortedRun| run.files.iter().map(|f| f.file_name.clone()).collect::<Vec<_>>().join(" ");
        let section = |s: &Vec<SortedRun>| format!("{{{}}}", s.iter().map(run).collect::<Vec<_>>().join(" | "));
        let all = sections(files, &[DataType::Int(IntType::new())]).unwrap();
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
        let error = sections(vec![Arc::new(bad)], &[DataType::Int(IntType::new())]).unwrap_err();
        assert_eq!(error.context_value("file"), Some("1-2"));
    }
}
