//! Which files of append tables are joined.
//!
//! Invariants: in tables with fixed buckets only neighbours by sequence number are joined, so the order of rows stays.
//! Pure. Source: compaction sheet section 10; `append/AppendCompactCoordinator.java`,
//! `append/BucketedAppendCompactManager.java`.

use std::sync::Arc;

use super::merge_plan::{small_file_size, target_file_size};
use super::task::CompactWork;
use crate::error::Result;
use crate::options::Options;
use crate::spec::{COMPACTION_MIN_FILES, DataFileMeta, FORCE_REWRITE_ALL, SPLIT_OPEN_COST, TableSchema};

/// Fewer files of a bucket with an order are not worth a full compaction. Java's constant is called
/// `FULL_COMPACT_MIN_FILE`.
const LEAST_ORDERED_FILES: usize = 3;

type Files = Vec<Arc<DataFileMeta>>;

/// Plans compactions of the files of one bucket of an append table.
#[derive(Debug, Clone, Copy)]
pub struct AppendPlanner {
    target: u64,
    small: u64,
    open_cost: u64,
    min_files: usize,
    force: bool,
}

impl AppendPlanner {
    /// A planner with the options of a table.
    ///
    /// # Errors
    /// `InvalidConfig` naming a key whose value does not parse.
    pub fn try_new(schema: &TableSchema, options: &Options) -> Result<Self> {
        Ok(Self {
            target: target_file_size(schema, options)?,
            small: small_file_size(schema, options)?,
            open_cost: options.value(&SPLIT_OPEN_COST)?,
            min_files: options.value(&COMPACTION_MIN_FILES)?,
            force: options.value(&FORCE_REWRITE_ALL)?,
        })
    }

    /// The works for a bucket without order between its files. A full compaction joins all small files into files of about
    /// the target size; a minor one waits until there are enough of them.
    pub fn plan_unordered(&self, files: Files, full: bool) -> Vec<CompactWork> {
        let small = files.into_iter().filter(|f| (full && self.force) || size(f) < self.small).collect();
        let groups = if full { self.pack_all(small) } else { self.pack_enough(small) };
        groups.into_iter().map(|files| CompactWork::Join { files, one_file: full }).collect()
    }

    fn pack_all(&self, mut files: Files) -> Vec<Files> {
        sort_by_sequence(&mut files);
        let mut groups = Vec::new();
        let (mut group, mut weight): (Files, u64) = (Vec::new(), 0);
        for file in files {
            weight += size(&file);
            group.push(file);
            if weight >= self.target {
                groups.push(std::mem::take(&mut group));
                weight = 0;
            }
        }
        groups.push(group);
        groups.retain(|group| group.len() > 1 || (self.force && !group.is_empty()));
        groups
    }

    /// Java's packing: smallest files first, a file weighs its size and the cost of opening it.
    fn pack_enough(&self, mut files: Files) -> Vec<Files> {
        files.sort_by_key(|f| size(f));
        let mut groups = Vec::new();
        let (mut group, mut weight): (Files, u64) = (Vec::new(), 0);
        for file in files {
            weight += size(&file) + self.open_cost;
            group.push(file);
            if group.len() > 1 && weight >= 2 * self.target {
                groups.push(std::mem::take(&mut group));
                weight = 0;
            }
        }
        if group.len() > 1 && group.len() >= self.min_files {
            groups.push(group);
        }
        groups
    }

    /// The work for a bucket whose rows have an order; `None` if there is nothing to do.
    pub fn plan_ordered(&self, mut files: Files, full: bool) -> Option<CompactWork> {
        sort_by_sequence(&mut files);
        let files = if full { self.ordered_full(files) } else { self.ordered_window(files) };
        let worth_it = files.len() > 1 || (full && self.force && !files.is_empty());
        worth_it.then_some(CompactWork::Join { files, one_file: false })
    }

    /// All files after the first great ones, if they are enough and small ones prevail.
    fn ordered_full(&self, files: Files) -> Files {
        if self.force {
            return files;
        }
        let rest: Files = files.into_iter().skip_while(|f| size(f) >= self.small).collect();
        let small = rest.iter().filter(|f| size(f) < self.small).count();
        if rest.len() >= LEAST_ORDERED_FILES && small > rest.len() - small { rest } else { Vec::new() }
    }

    /// The first neighbours that are enough files and not too large together.
    fn ordered_window(&self, files: Files) -> Files {
        let (mut start, mut weight) = (0, 0);
        for end in 0..files.len() {
            weight += size(&files[end]);
            if end + 1 - start >= self.min_files {
                return files[start..=end].to_vec();
            }
            if weight >= 2 * self.target {
                weight -= size(&files[start]);
                start += 1;
            }
        }
        Vec::new()
    }
}

fn size(file: &DataFileMeta) -> u64 {
    u64::try_from(file.file_size).unwrap_or_default()
}

fn sort_by_sequence(files: &mut Files) {
    files.sort_by_key(|f| f.min_sequence_number);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::levels::tests::file;
    use super::*;

    fn planner(options: &[(&str, &str)]) -> AppendPlanner {
        let schema = TableSchema {
            version: 3,
            id: 0,
            fields: Vec::new(),
            highest_field_id: -1,
            partition_keys: Vec::new(),
            primary_keys: Vec::new(),
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        };
        let mut all: Options =
            [("target-file-size", "100 b"), ("source.split.open-file-cost", "1 b")].into_iter().collect();
        for (key, value) in options {
            all.set(*key, *value);
        }
        AppendPlanner::try_new(&schema, &all).unwrap()
    }

    /// Files of these sizes, in the order of their sequence numbers.
    fn files(sizes: &[i64]) -> Files {
        let one = |(i, &size): (usize, &i64)| {
            let mut file = file(&format!("{i}"), 0, size);
            file.min_sequence_number = i as i64;
            Arc::new(file)
        };
        sizes.iter().enumerate().map(one).collect()
    }

    fn show(works: impl IntoIterator<Item = CompactWork>) -> Vec<String> {
        let one = |work| match work {
            CompactWork::Join { files, .. } => files.iter().map(|f| f.file_name.as_str()).collect::<Vec<_>>().join(" "),
            other @ CompactWork::Merge { .. } => format!("{other:?}"),
        };
        works.into_iter().map(one).collect()
    }

    #[test]
    fn a_full_compaction_joins_all_small_files() {
        let full = |sizes: &[i64]| show(planner(&[]).plan_unordered(files(sizes), true));
        assert_eq!(full(&[1, 1]), ["0 1"]);
        assert_eq!(full(&[1]), [""; 0]);
        assert_eq!(full(&[]), [""; 0]);
        assert_eq!(full(&[70, 1, 200, 69]), ["1 3"]);
        assert_eq!(full(&[60, 60, 60, 60, 60]), ["0 1", "2 3"]);
        let forced = planner(&[("compaction.force-rewrite-all-files", "true")]);
        assert_eq!(show(forced.plan_unordered(files(&[200, 1]), true)), ["0", "1"]);
    }

    #[test]
    fn a_minor_compaction_waits_for_enough_files() {
        let minor = |sizes: &[i64]| show(planner(&[]).plan_unordered(files(sizes), false));
        assert_eq!(minor(&[1, 1, 1, 1]), [""; 0]);
        assert_eq!(minor(&[3, 1, 1, 1, 2]), ["1 2 3 4 0"]);
        assert_eq!(minor(&[60, 60, 70]), [""; 0]);
        assert_eq!(minor(&[60, 60, 60, 69, 70]), ["0 1 2 3"]);
        assert_eq!(minor(&[69, 69, 69]), ["0 1 2"]);
    }

    #[test]
    fn ordered_buckets_join_neighbours_only() {
        let full = |sizes: &[i64]| show(planner(&[]).plan_ordered(files(sizes), true));
        assert_eq!(full(&[200, 1, 200, 1]), ["1 2 3"]);
        assert_eq!(full(&[200, 1]), [""; 0]);
        assert_eq!(full(&[1, 200]), [""; 0]);
        assert_eq!(full(&[1, 1]), [""; 0]);
        assert_eq!(full(&[200, 1, 1]), [""; 0]);
        assert_eq!(full(&[1, 1, 1]), ["0 1 2"]);
        let minor = |sizes: &[i64]| show(planner(&[]).plan_ordered(files(sizes), false));
        assert_eq!(minor(&[1, 1, 1, 1]), [""; 0]);
        assert_eq!(minor(&[1, 1, 1, 1, 1, 1]), ["0 1 2 3 4"]);
        assert_eq!(minor(&[250, 1, 1, 1, 1, 1]), ["1 2 3 4 5"]);
        assert_eq!(minor(&[250, 250, 1, 1]), [""; 0]);
    }
}
