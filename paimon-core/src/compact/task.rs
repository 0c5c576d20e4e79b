//! A compaction of one bucket, and what came of it: plain data.

use std::sync::Arc;

use crate::row::BinaryRow;
use crate::scan::SortedRun;
use crate::spec::{CommitMessage, CompactIncrement, DataFileMeta, DataIncrement};

/// What is done to the files of a primary-key table, in key order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MergeStep {
    /// The file is taken to the output level as it is.
    Upgrade(Arc<DataFileMeta>),
    /// The sections are merged one after another into new files.
    Rewrite(Vec<Vec<SortedRun>>),
}

/// The work of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompactWork {
    /// Files of a primary-key table are merged.
    Merge {
        /// What is done, in key order.
        steps: Vec<MergeStep>,
        /// The level of the result.
        output_level: i32,
        /// Whether rows of kind `-U` and `-D` are dropped after merging.
        drop_deletes: bool,
    },
    /// Files of an append table are joined in this order.
    Join {
        /// The files.
        files: Vec<Arc<DataFileMeta>>,
        /// Whether all rows go to one file, whatever its size; else files are rolled at the target size.
        one_file: bool,
    },
}

/// A compaction of files of one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactTask {
    /// Values of the partition columns.
    pub partition: BinaryRow,
    /// Bucket.
    pub bucket: i32,
    /// Bucket count of the partition, as its files have it.
    pub total_buckets: i32,
    /// What is done.
    pub work: CompactWork,
}

/// What a task did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompactResult {
    /// Files that are replaced: they were read.
    pub rewritten: Vec<DataFileMeta>,
    /// Files that were written.
    pub written: Vec<DataFileMeta>,
    /// Files as they were and as they are at their new level.
    pub upgraded: Vec<(DataFileMeta, DataFileMeta)>,
}

impl CompactResult {
    /// The message for the committer.
    pub fn into_message(self, task: &CompactTask) -> CommitMessage {
        let (before, after): (Vec<_>, Vec<_>) = self.upgraded.into_iter().unzip();
        let compact = CompactIncrement {
            compact_before: before.into_iter().chain(self.rewritten).collect(),
            compact_after: after.into_iter().chain(self.written).collect(),
            ..CompactIncrement::default()
        };
        CommitMessage {
            partition: task.partition.clone(),
            bucket: task.bucket,
            total_buckets: Some(task.total_buckets),
            append: DataIncrement::default(),
            compact,
        }
    }
}
