//! Compactions of real files: the visible rows never change, the levels stay sound, failures leave nothing behind.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::*;
use crate::error::{ErrorKind, Result};
use crate::read::testing::{TestBucket, TestRow, arbitrary_flushes, block_on};
use crate::runtime::Resources;
use crate::scan::sections;
use crate::spec::{DataFileMeta, EntryKind, ManifestEntry};

type Files = Vec<Arc<DataFileMeta>>;

fn plan(bucket: &TestBucket, files: &Files, strategy: CompactStrategy) -> Vec<CompactTask> {
    let entry = |file: &Arc<DataFileMeta>| ManifestEntry {
        kind: EntryKind::Add,
        partition: bucket.partition.clone(),
        bucket: 0,
        total_buckets: 1,
        file: file.as_ref().clone(),
    };
    let entries = files.iter().map(entry).collect();
    plan_tasks(entries, bucket.table.schema(), bucket.table.options(), strategy).unwrap()
}

fn rewriter(bucket: &TestBucket) -> Rewriter {
    Rewriter::try_new(bucket.table.clone(), Resources::default(), Arc::default()).unwrap()
}

/// Runs the tasks and gives the live files afterwards.
async fn compact(bucket: &TestBucket, mut files: Files, strategy: CompactStrategy) -> Result<Files> {
    for task in plan(bucket, &files, strategy) {
        let message = rewriter(bucket).run(&task).await?.into_message(&task);
        assert!(message.append.is_empty());
        let same = |a: &DataFileMeta, b: &DataFileMeta| (&a.file_name, a.level) == (&b.file_name, b.level);
        for before in &message.compact.compact_before {
            let count = files.len();
            files.retain(|f| !same(f, before));
            assert_eq!(files.len(), count - 1, "{} was not live", before.file_name);
        }
        files.extend(message.compact.compact_after.into_iter().map(Arc::new));
    }
    Ok(files)
}

/// Files of one level above 0 never overlap, and the top level holds no retracts.
fn assert_levels_are_sound(bucket: &TestBucket, files: &Files) {
    let top = Levels::try_new(files.clone(), bucket.table.options()).unwrap().max_level();
    for level in 1..=top {
        let of_level: Files = files.iter().filter(|f| f.level == level).cloned().collect();
        let sections = sections(of_level.clone(), &bucket.table.schema().key_type().types()).unwrap();
        assert!(sections.iter().all(|s| s.len() == 1), "level {level} overlaps");
        assert!(level < top || of_level.iter().all(|f| f.delete_row_count == Some(0)), "retracts at the top");
    }
}

#[derive(Debug, Clone, Copy)]
enum Then {
    Nothing,
    Minor,
    Full,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn compactions_never_change_the_visible_rows(
        flushes in arbitrary_flushes(),
        then in prop::collection::vec(prop_oneof![Just(Then::Nothing), Just(Then::Minor), Just(Then::Full)], 6),
        target in prop::sample::select(vec!["1 b", "3 kb", "128 mb"]),
        force_level0 in any::<bool>(),
        force_rewrite in prop::bool::weighted(0.2),
        user_sequence in any::<bool>(),
    ) {
        let mut options = vec![("num-sorted-run.compaction-trigger", "2"), ("num-levels", "4"), ("target-file-size", target)];
        for (key, set) in [
            ("compaction.force-up-level-0", force_level0),
            ("compaction.force-rewrite-all-files", force_rewrite),
        ] {
            options.extend(set.then_some((key, "true")));
        }
        options.extend(user_sequence.then_some(("sequence.field", "u")));
        let bucket = TestBucket::new(&options);
        block_on(async {
            let (mut files, mut written): (Files, Vec<TestRow>) = (Vec::new(), Vec::new());
            for (rows, then) in flushes.iter().zip(then) {
                // A delete that a full compaction has dropped is gone: a late row below its sequence field shows, as in Java.
                let retracts = |r: &&TestRow| r.kind == 1 || r.kind == 3;
                let rows: &Vec<TestRow> = &rows.iter().filter(|r| !(user_sequence && retracts(r))).copied().collect();
                files.extend(bucket.flush(rows, 0).await);
                written.extend(rows);
                let text = |r: &TestRow| format!("{}/{}", r.key, r.sequence);
                let expected: Vec<String> = bucket.model(&written).iter().map(text).collect();
                assert_eq!(bucket.visible(&files).await, expected, "before {then:?}");
                let strategy = match then {
                    Then::Nothing => continue,
                    Then::Minor => CompactStrategy::Minor(Moment { local_ms: 0 }),
                    Then::Full => CompactStrategy::Full,
                };
                files = compact(&bucket, files, strategy).await.unwrap();
                assert_eq!(bucket.visible(&files).await, expected, "after {then:?}");
                assert_levels_are_sound(&bucket, &files);
                if matches!(then, Then::Full) {
                    assert!(files.iter().all(|f| f.level == 3), "{files:?}");
                    assert!(force_rewrite || plan(&bucket, &files, CompactStrategy::Full).is_empty());
                    assert_eq!(files.iter().map(|f| f.row_count).sum::<i64>(), expected.len() as i64);
                }
            }
        });
    }
}

fn row(key: i32, sequence: i64, kind: i8) -> TestRow {
    TestRow { key, value: None, user: None, sequence, kind }
}

#[test]
fn a_compaction_may_leave_no_file_at_all() {
    let bucket = TestBucket::new(&[]);
    block_on(async {
        let mut files = bucket.flush(&[row(1, 1, 0)], 0).await;
        files.extend(bucket.flush(&[row(1, 2, 3)], 0).await);
        assert!(compact(&bucket, files, CompactStrategy::Full).await.unwrap().is_empty());
    });
}

#[test]
fn a_large_file_is_upgraded_without_being_read() {
    let bucket = TestBucket::new(&[("target-file-size", "1 b")]);
    block_on(async {
        let files = bucket.flush(&[row(1, 1, 0)], 0).await;
        let path = format!("{}/{}", bucket.split(&files).bucket_path, files[0].file_name);
        bucket.table.io().delete(&path).await.unwrap();
        let upgraded = compact(&bucket, files.clone(), CompactStrategy::Full).await.unwrap();
        assert_eq!(upgraded.iter().map(|f| f.as_ref().clone()).collect::<Vec<_>>(), [files[0].upgraded(5)]);
    });
}

#[test]
fn a_failing_task_deletes_what_it_wrote() {
    let bucket = TestBucket::new(&[("target-file-size", "3 kb"), ("compaction.small-file-ratio", "0.1")]);
    block_on(async {
        // Two overlaps with a file between them that is rewritten alone: three pieces of work, of which the last fails.
        let mut files = Vec::new();
        for (keys, kind) in [([1, 2], 0), ([2, 3], 0), ([10, 11], 3), ([20, 21], 0), ([21, 22], 0)] {
            files.extend(bucket.flush(&keys.map(|k| row(k, files.len() as i64, kind)), 0).await);
        }
        let before = bucket.file_names().await;
        let path = format!("{}/{}", bucket.split(&files).bucket_path, files[4].file_name);
        let lost = bucket.table.io().read(&path).await.unwrap();
        bucket.table.io().delete(&path).await.unwrap();
        let error = compact(&bucket, files.clone(), CompactStrategy::Full).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotFound(_)), "{error}");
        bucket.table.io().write(&path, lost).await.unwrap();
        assert_eq!(bucket.file_names().await, before);

        let cancelled = Arc::new(AtomicBool::new(true));
        let rewriter = Rewriter::try_new(bucket.table.clone(), Resources::default(), cancelled).unwrap();
        let [task] = plan(&bucket, &files, CompactStrategy::Full).try_into().unwrap();
        assert_eq!(rewriter.run(&task).await.unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(bucket.file_names().await, before);
        assert_eq!(bucket.visible(&files).await.len(), 6);
    });
}
