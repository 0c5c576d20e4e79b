//! Expiry keeps a table small and what is needed readable; rollback goes back.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use paimon_core::error::Entity;
use paimon_core::maintain::{ExpireConfig, delete_tag, expire_snapshots, expire_tags, rollback_to};
use paimon_core::{ErrorKind, Identifier, Result, Table};
use tokio::task::JoinSet;

use crate::common::{read, rows, warehouse, write};

fn files(directory: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(directory) else { return 0 };
    entries.map(|e| e.unwrap().path()).map(|p| if p.is_dir() { files(&p) } else { 1 }).sum()
}

async fn at(table: &Table, key: &str, value: &str) -> Result<Vec<(i32, String)>> {
    let options = BTreeMap::from([(key.to_owned(), Some(value.to_owned()))]);
    read(&table.with_dynamic_options(&options).await?).await
}

#[tokio::test]
async fn a_table_that_is_written_often_stays_small() -> Result<()> {
    let w = warehouse().await?;
    let options =
        [("snapshot.num-retained.min", "3"), ("snapshot.num-retained.max", "5"), ("snapshot.time-retained", "1 ms")];
    let table = w.table("t", true, &options).await?;
    write(&table, &[(0, "tagged")]).await?;
    table.tags().create("first", &table.snapshots().get(1).await?, None, table.clock().now_ms(), false).await?;
    for i in 1..=100 {
        write(&table, &[(i % 7, &format!("v{i}"))]).await?;
        if i % 10 == 0 {
            table.new_compact_builder().execute().await?;
        }
    }
    let expected = [(0, "v98"), (1, "v99"), (2, "v100"), (3, "v94"), (4, "v95"), (5, "v96"), (6, "v97")];
    assert_eq!(read(&table).await?, rows(&expected));
    assert!(table.snapshots().list().await?.len() <= 5);
    assert_eq!(at(&table, "scan.tag-name", "first").await?, rows(&[(0, "tagged")]));
    assert!(files(Path::new(table.location())) < 80, "{} files", files(Path::new(table.location())));
    let first = table.snapshots().earliest_id().await?.unwrap();
    assert_eq!(at(&table, "scan.snapshot-id", &first.to_string()).await?.len(), 7);
    Ok(())
}

#[tokio::test]
async fn rollback_forgets_later_snapshots() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    for v in ["a", "b", "c"] {
        write(&table, &[(1, v)]).await?;
    }
    table.tags().create("late", &table.snapshots().get(3).await?, None, table.clock().now_ms(), false).await?;
    rollback_to(&table, &table.snapshots().get(1).await?).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a")]));
    assert_eq!(table.snapshots().latest_id().await?, Some(1));
    assert!(table.tags().list().await?.is_empty());
    write(&table, &[(2, "d")]).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a"), (2, "d")]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_rollback_beside_writers_leaves_a_whole_table() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", false, &[("commit.max-retries", "1000")]).await?;
    for i in 0..4 {
        write(&table, &[(i, "before")]).await?;
    }
    let stop = Arc::new(AtomicBool::new(false));
    let mut writers: JoinSet<Result<i32>> = JoinSet::new();
    for writer in 0..3 {
        let (table, stop) = (table.clone(), Arc::clone(&stop));
        writers.spawn(async move {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                write(&table, &[(writer, "during")]).await?;
                count += 1;
            }
            Ok(count)
        });
    }
    for _ in 0..12 {
        tokio::time::sleep(Duration::from_millis(40)).await;
        let ids = table.snapshots().ids().await?;
        let target = ids[ids.len().saturating_sub(3)];
        if let Some(target) = table.snapshots().find(target).await? {
            rollback_to(&table, &target).await?;
        }
    }
    stop.store(true, Ordering::Relaxed);
    for written in writers.join_all().await {
        assert!(written? > 0);
    }
    let ids = table.snapshots().ids().await?;
    let (first, last) = (ids[0], ids[ids.len() - 1]);
    assert_eq!(ids, (first..=last).collect::<Vec<_>>());
    for id in ids {
        assert!(!at(&table, "scan.snapshot-id", &id.to_string()).await?.is_empty());
    }
    let before = read(&table).await?.len();
    write(&table, &[(9, "after")]).await?;
    assert_eq!(read(&table).await?.len(), before + 1);
    assert_eq!(data_files(&table), live_files(&table).await?);
    Ok(())
}

/// Names of data files of a table.
fn data_files(table: &Table) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(Path::new(table.location()).join("bucket-0"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Names of data files that are live in the latest snapshot.
async fn live_files(table: &Table) -> Result<Vec<String>> {
    let latest = table.snapshots().latest().await?.unwrap();
    let live = paimon_core::scan::live_entries(table, &latest, None).await?;
    let mut names: Vec<String> = live.into_iter().map(|e| e.file.file_name).collect();
    names.sort();
    Ok(names)
}

const SHORT: [(&str, &str); 3] =
    [("snapshot.num-retained.min", "1"), ("snapshot.num-retained.max", "1"), ("snapshot.time-retained", "1 ms")];

#[tokio::test]
async fn only_live_files_stay_without_tags() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &SHORT).await?;
    for round in 0..4 {
        for i in 0..3 {
            write(&table, &[(round * 10 + i, "v")]).await?;
        }
        // Files are upgraded and rewritten, so that one name is added and deleted several times.
        table.new_compact_builder().execute().await?;
        assert_eq!(data_files(&table), live_files(&table).await?, "round {round}");
    }
    table.new_batch_write_builder().new_commit().truncate_table().await?;
    assert_eq!(data_files(&table), Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn consumers_hold_what_they_have_not_read() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", false, &SHORT).await?;
    let consumer = Path::new(table.location()).join("consumer");
    std::fs::create_dir(&consumer).unwrap();
    std::fs::write(consumer.join("consumer-c"), r#"{"nextSnapshot": 3}"#).unwrap();
    for i in 1..=5 {
        write(&table, &[(i, "v")]).await?;
    }
    assert_eq!(table.snapshots().ids().await?, [3, 4, 5]);
    std::fs::write(consumer.join("consumer-c"), "").unwrap();
    // What a consumer needs cannot be told, so nothing goes; the commit stands.
    write(&table, &[(6, "v")]).await?;
    assert_eq!(table.snapshots().ids().await?, [3, 4, 5, 6]);
    std::fs::remove_file(consumer.join("consumer-c")).unwrap();
    write(&table, &[(7, "v")]).await?;
    assert_eq!(table.snapshots().ids().await?, [7]);
    assert_eq!(read(&table).await?.len(), 7);
    Ok(())
}

#[tokio::test]
async fn a_tag_that_cannot_be_read_stops_the_deletion() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &SHORT).await?;
    write(&table, &[(1, "a")]).await?;
    let tags = Path::new(table.location()).join("tag");
    std::fs::create_dir(&tags).unwrap();
    std::fs::write(tags.join("tag-broken"), "{").unwrap();
    write(&table, &[(1, "b")]).await?;
    table.new_compact_builder().execute().await?;
    assert_eq!(table.snapshots().ids().await?, [1, 2, 3]);
    assert_eq!(data_files(&table).len(), 3);
    let error = expire_snapshots(&table, &ExpireConfig::from_options(table.options())?).await.unwrap_err();
    assert!(error.to_string().contains("tag-broken"), "{error}");
    Ok(())
}

#[tokio::test]
async fn branches_hold_their_files() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    write(&table, &[(1, "branched")]).await?;
    let (main, branch) = (Path::new(table.location()), Path::new(table.location()).join("branch/branch-b"));
    for part in ["schema/schema-0", "snapshot/snapshot-1"] {
        std::fs::create_dir_all(branch.join(part).parent().unwrap()).unwrap();
        std::fs::copy(main.join(part), branch.join(part)).unwrap();
    }
    write(&table, &[(1, "main")]).await?;
    table.new_compact_builder().execute().await?;
    let config = ExpireConfig { retain_min: 1, retain_max: 1, time_retained: Duration::ZERO, max_deletes: 10 };
    assert_eq!(expire_snapshots(&table, &config).await?, 2);
    assert_eq!(data_files(&table).len(), 2);
    let branched = w.catalog.get_table(&Identifier::new("db", "t$branch_b")).await?;
    assert_eq!(read(&branched).await?, rows(&[(1, "branched")]));
    assert_eq!(read(&table).await?, rows(&[(1, "main")]));
    Ok(())
}

#[tokio::test]
async fn an_expired_snapshot_lives_on_in_its_tag_until_a_rollback() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &SHORT).await?;
    write(&table, &[(1, "a")]).await?;
    table.tags().create("kept", &table.snapshots().get(1).await?, None, table.clock().now_ms(), false).await?;
    for v in ["b", "c", "d"] {
        write(&table, &[(1, v)]).await?;
        let latest = table.snapshots().latest().await?.unwrap();
        table.tags().create(v, &latest, None, table.clock().now_ms(), false).await?;
        table.new_compact_builder().execute().await?;
    }
    assert_eq!(table.snapshots().ids().await?, [7]);
    let kept = table.tags().get("kept").await?.unwrap();
    rollback_to(&table, &kept.snapshot).await?;
    assert_eq!(table.snapshots().ids().await?, [1]);
    assert_eq!(read(&table).await?, rows(&[(1, "a")]));
    assert_eq!(data_files(&table), live_files(&table).await?);
    // The lists of its one snapshot and their manifest.
    assert_eq!(files(&Path::new(table.location()).join("manifest")), 3);
    assert_eq!(table.tags().list().await?.len(), 1);
    write(&table, &[(2, "d")]).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a"), (2, "d")]));
    Ok(())
}

#[tokio::test]
async fn a_rollback_takes_the_files_of_expired_snapshots() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", false, &SHORT).await?;
    write(&table, &[(1, "a")]).await?;
    table.tags().create("kept", &table.snapshots().get(1).await?, None, table.clock().now_ms(), false).await?;
    for v in ["b", "c"] {
        write(&table, &[(2, v)]).await?;
    }
    assert_eq!(table.snapshots().ids().await?, [3]);
    rollback_to(&table, &table.tags().get("kept").await?.unwrap().snapshot).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a")]));
    assert_eq!(data_files(&table), live_files(&table).await?);
    assert_eq!(files(&Path::new(table.location()).join("manifest")), 3);
    Ok(())
}

#[tokio::test]
async fn a_tag_that_goes_takes_the_files_that_only_it_held() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &SHORT).await?;
    for (i, name) in ["first", "second", "third"].into_iter().enumerate() {
        write(&table, &[(1, name), (2, "same")]).await?;
        let latest = table.snapshots().latest().await?.unwrap();
        table.tags().create(name, &latest, None, table.clock().now_ms(), false).await?;
        assert_eq!(latest.id, 2 * i64::try_from(i).unwrap() + 1);
        table.new_compact_builder().execute().await?;
    }
    assert_eq!(table.snapshots().ids().await?, [6]);
    delete_tag(&table, "second").await?;
    for tag in ["first", "third"] {
        assert_eq!(at(&table, "scan.tag-name", tag).await?, rows(&[(1, tag), (2, "same")]));
    }
    delete_tag(&table, "first").await?;
    assert_eq!(at(&table, "scan.tag-name", "third").await?, rows(&[(1, "third"), (2, "same")]));
    delete_tag(&table, "third").await?;
    assert_eq!(delete_tag(&table, "third").await.unwrap_err().kind(), ErrorKind::NotFound(Entity::Tag));
    assert_eq!(read(&table).await?, rows(&[(1, "third"), (2, "same")]));
    assert_eq!(data_files(&table), live_files(&table).await?);
    let manifests = std::fs::read_dir(Path::new(table.location()).join("manifest")).unwrap().count();
    // Two lists, which name a manifest of each of six commits.
    assert_eq!(manifests, 8);
    Ok(())
}

#[tokio::test]
async fn tags_expire_by_their_retention_or_their_age() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &SHORT).await?;
    let now = table.clock().now_ms();
    let (hour, minute) = (Duration::from_secs(3_600), 60_000);
    for (name, made, retained) in
        [("ended", now - 120 * minute, Some(hour)), ("young", now, Some(hour)), ("for_ever", now - 120 * minute, None)]
    {
        write(&table, &[(1, name)]).await?;
        let latest = table.snapshots().latest().await?.unwrap();
        table.tags().create(name, &latest, retained, made, false).await?;
        table.new_compact_builder().execute().await?;
    }
    assert_eq!(expire_tags(&table, None).await?, ["ended"]);
    assert_eq!(expire_tags(&table, None).await?, Vec::<String>::new());
    // The tag without retention is as old as its file.
    assert_eq!(expire_tags(&table, Some(now - minute)).await?, Vec::<String>::new());
    assert_eq!(at(&table, "scan.tag-name", "for_ever").await?, rows(&[(1, "for_ever")]));
    assert_eq!(expire_tags(&table, Some(now + minute)).await?, ["for_ever", "young"]);
    assert_eq!(data_files(&table), live_files(&table).await?);
    Ok(())
}

#[tokio::test]
async fn changelogs_that_are_kept_longer_are_not_lost() -> Result<()> {
    let w = warehouse().await?;
    let options = [SHORT.as_slice(), &[("changelog.num-retained.max", "100")]].concat();
    let table = w.table("t", false, &options).await?;
    for i in 1..=3 {
        write(&table, &[(i, "v")]).await?;
    }
    assert_eq!(table.snapshots().ids().await?, [1, 2, 3]);
    let error = expire_snapshots(&table, &ExpireConfig::from_options(table.options())?).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("changelog.num-retained.max"), "{error}");
    Ok(())
}

#[tokio::test]
async fn runs_at_once_do_no_harm() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    for i in 0..30 {
        write(&table, &[(i % 3, "v")]).await?;
        if i % 5 == 4 {
            table.new_compact_builder().execute().await?;
        }
    }
    let config = ExpireConfig { retain_min: 2, retain_max: 2, time_retained: Duration::ZERO, max_deletes: 7 };
    let mut runs = JoinSet::new();
    for _ in 0..6 {
        let table = table.clone();
        runs.spawn(async move {
            for _ in 0..6 {
                // One that is overtaken may fail; the next goes on.
                let _ = expire_snapshots(&table, &config).await;
            }
        });
    }
    while let Some(done) = runs.join_next().await {
        done.unwrap();
    }
    while expire_snapshots(&table, &config).await? > 0 {}
    let kept = table.snapshots().list().await?;
    assert_eq!(kept.len(), 2);
    assert_eq!(read(&table).await?, rows(&[(0, "v"), (1, "v"), (2, "v")]));
    let mut needed = live_files(&table).await?;
    for entry in paimon_core::scan::live_entries(&table, &kept[0], None).await? {
        needed.push(entry.file.file_name);
    }
    needed.sort();
    needed.dedup();
    assert_eq!(data_files(&table), needed);
    Ok(())
}
