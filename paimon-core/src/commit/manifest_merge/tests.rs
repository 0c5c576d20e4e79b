//! Merging never changes what is live.

use proptest::prelude::*;

use super::super::testing::{file, partition, table};
use super::*;
use crate::table::Table;

fn entry(kind: EntryKind, number: u32) -> ManifestEntry {
    let of = ["x", "y", "z"][number as usize % 3];
    let file = file(&number.to_string(), 0, 0, 0);
    ManifestEntry { kind, partition: partition(of), bucket: 0, total_buckets: -1, file }
}

async fn manifests_of(table: &Table, groups: &[Vec<ManifestEntry>]) -> Vec<ManifestFileMeta> {
    let options = Options::new();
    let mut out = Vec::new();
    for group in groups.iter().filter(|g| !g.is_empty()) {
        out.extend(table.manifests().write(group, table.schema(), &options).await.unwrap());
    }
    out
}

async fn live_of(table: &Table, manifests: &[ManifestFileMeta]) -> Vec<String> {
    let read = table.manifests().read_all(manifests.to_vec()).await.unwrap();
    let entries = || read.iter().flat_map(|m| m.iter());
    let deleted: HashSet<_> = entries().filter(|e| e.kind == EntryKind::Delete).map(ManifestEntry::identity).collect();
    let added = entries().filter(|e| e.kind == EntryKind::Add && !deleted.contains(&e.identity()));
    let mut names: Vec<_> = added.map(|e| e.file.file_name.clone()).collect();
    names.sort();
    names
}

async fn merged(table: &Table, manifests: &[ManifestFileMeta], options: &[(&str, &str)]) -> (Merged, Vec<String>) {
    let (options, mut written): (Options, _) = (options.iter().copied().collect(), Vec::new());
    let store = table.manifests();
    let mut merger = Merger::try_new(&store, table.schema(), &options, &mut written).unwrap();
    let merged = merger.merge(manifests.to_vec()).await.unwrap();
    (merged, written)
}

/// Adds numbered from 0 on, in groups; some files are deleted in a later group.
fn histories() -> impl Strategy<Value = Vec<Vec<(bool, u32)>>> {
    proptest::collection::vec(proptest::collection::vec((any::<bool>(), any::<u32>()), 0..6), 1..12).prop_map(
        |groups| {
            let (mut next, mut live) = (0, Vec::new());
            groups
                .into_iter()
                .map(|group| {
                    let mut out: Vec<(bool, u32)> = Vec::new();
                    for (deletes, pick) in group {
                        if deletes && !live.is_empty() {
                            let at = pick as usize % live.len();
                            out.push((false, live.swap_remove(at)));
                        } else {
                            out.push((true, next));
                            next += 1;
                        }
                    }
                    live.extend(out.iter().filter(|(add, _)| *add).map(|(_, n)| *n));
                    out
                })
                .collect()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn what_is_live_stays(history in histories(), start in 0usize..4, target in 1u64..8_000, threshold in 1u64..40_000, count in 2usize..6) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let table = table(true, false, &[]).await;
            let kind = |add| if add { EntryKind::Add } else { EntryKind::Delete };
            let groups: Vec<Vec<_>> = history.iter().map(|g| g.iter().map(|(add, n)| entry(kind(*add), *n)).collect()).collect();
            let manifests = manifests_of(&table, &groups).await;
            let text = [target.to_string(), threshold.to_string(), count.to_string()];
            let options = [
                ("manifest.target-file-size", text[0].as_str()),
                ("manifest.full-compaction-threshold-size", text[1].as_str()),
                ("manifest.merge-min-count", text[2].as_str()),
            ];
            let (done, written) = merged(&table, &manifests, &options).await;
            assert_eq!(live_of(&table, done.outputs()).await, live_of(&table, &manifests).await);
            let new: Vec<_> = done.outputs().iter().filter(|m| !manifests.contains(m)).map(|m| m.file_name.clone()).collect();
            assert_eq!(new, written);
            // A part that was merged before the rest came stays right within the whole.
            let part = manifests.get(start.min(manifests.len())..).unwrap();
            let (done, _) = merged(&table, part, &options).await;
            if let Some(whole) = done.again(&manifests) {
                assert_eq!(live_of(&table, &whole).await, live_of(&table, &manifests).await);
            }
        });
    }
}

#[tokio::test]
async fn small_tails_are_merged_once_they_are_many() {
    let table = table(true, false, &[]).await;
    let groups: Vec<Vec<_>> = (0..4).map(|n| vec![entry(EntryKind::Add, n)]).collect();
    let manifests = manifests_of(&table, &groups).await;
    let (few, written) = merged(&table, &manifests, &[("manifest.merge-min-count", "5")]).await;
    assert_eq!((few.outputs(), written.len()), (manifests.as_slice(), 0));
    let (many, written) = merged(&table, &manifests, &[("manifest.merge-min-count", "4")]).await;
    assert_eq!((many.outputs().len(), written.len()), (1, 1));
    assert_eq!(many.outputs()[0].num_added_files, 4);
}

#[tokio::test]
async fn a_full_merge_leaves_large_manifests_of_other_partitions() {
    let table = table(true, false, &[]).await;
    // Partition x is number 0, y is 1, z is 2.
    let large: Vec<_> = (0..300).map(|n| entry(EntryKind::Add, n * 3)).collect();
    let groups = [large, vec![entry(EntryKind::Add, 1), entry(EntryKind::Add, 4)], vec![entry(EntryKind::Delete, 1)]];
    let manifests = manifests_of(&table, &groups).await;
    let target = manifests[0].file_size.to_string();
    let options = [("manifest.target-file-size", target.as_str()), ("manifest.full-compaction-threshold-size", "1 b")];
    let (done, written) = merged(&table, &manifests, &options).await;
    assert_eq!(done.outputs()[0], manifests[0]);
    assert_eq!((done.outputs().len(), written.len()), (2, 1));
    assert_eq!((done.outputs()[1].num_added_files, done.outputs()[1].num_deleted_files), (1, 0));
}

#[tokio::test]
async fn a_merge_is_done_again_only_where_its_inputs_stand_in_sequence() {
    let table = table(true, false, &[]).await;
    let groups: Vec<Vec<_>> = (0..5).map(|n| vec![entry(EntryKind::Add, n)]).collect();
    let manifests = manifests_of(&table, &groups).await;
    let (done, _) = merged(&table, &manifests[..3], &[("manifest.merge-min-count", "3")]).await;
    let whole = done.again(&manifests).unwrap();
    assert_eq!(whole.iter().map(|m| m.num_added_files).collect::<Vec<_>>(), [3, 1, 1]);
    assert!(done.again(&manifests[1..]).is_none());
    let apart = [&manifests[..2], &manifests[3..], &manifests[2..3]].concat();
    assert!(done.again(&apart).is_none());
}
