use super::*;
use crate::options::Options;
use crate::spec::CommitKind;

const ROOT: &str = "/w/d.db/t";

fn snapshots() -> Snapshots {
    let root = format!("memory:/{}{ROOT}", uuid::Uuid::new_v4());
    let io = FileIO::from_location(&root, &Options::new()).unwrap();
    Snapshots::new(io, TablePaths::new(root, "main"))
}

/// A snapshot whose time is its id times 100.
pub(in crate::meta) fn snapshot(id: i64) -> Snapshot {
    Snapshot {
        version: Some(3),
        uuid: Some(uuid::Uuid::new_v4().to_string()),
        id,
        schema_id: 0,
        base_manifest_list: "base".to_owned(),
        base_manifest_list_size: Some(1),
        delta_manifest_list: "delta".to_owned(),
        delta_manifest_list_size: Some(2),
        changelog_manifest_list: None,
        changelog_manifest_list_size: None,
        index_manifest: None,
        commit_user: "user".to_owned(),
        writer_version: None,
        commit_identifier: id,
        commit_kind: CommitKind::Append,
        time_millis: id * 100,
        total_record_count: Some(0),
        delta_record_count: Some(0),
        changelog_record_count: None,
        watermark: None,
        statistics: None,
        properties: None,
        next_row_id: None,
        operation: None,
    }
}

async fn with(ids: impl IntoIterator<Item = i64>) -> Snapshots {
    let snapshots = snapshots();
    for id in ids {
        assert!(snapshots.publish(&snapshot(id)).await.unwrap());
    }
    snapshots
}

async fn put(snapshots: &Snapshots, name: &str, content: &'static str) {
    let file = format!("{}/{name}", snapshots.paths.snapshot_dir());
    snapshots.io.write(&file, Bytes::from_static(content.as_bytes())).await.unwrap();
}

#[tokio::test]
async fn hints_are_checked() {
    let hints = ["", "3", "5", "4", "99", "-1", "x", "5\n", "9223372036854775807", "1", "2"];
    for hint in hints {
        let snapshots = with(2..=5).await;
        put(&snapshots, "LATEST", hint).await;
        put(&snapshots, "EARLIEST", hint).await;
        assert_eq!(snapshots.latest_id().await.unwrap(), Some(5), "{hint}");
        let earliest = match hint.trim() {
            // A hint that names a snapshot is believed.
            "3" | "4" | "5" => hint.trim().parse().unwrap(),
            _ => 2,
        };
        assert_eq!(snapshots.earliest_id().await.unwrap(), Some(earliest), "{hint}");
    }
}

#[tokio::test]
async fn no_snapshots() {
    let snapshots = snapshots();
    assert_eq!(snapshots.latest().await.unwrap(), None);
    assert_eq!(snapshots.at_or_before(i64::MAX).await.unwrap(), None);
    assert_eq!(snapshots.at_or_after(0).await.unwrap(), None);
    put(&snapshots, "LATEST", "7").await;
    assert_eq!(snapshots.latest_id().await.unwrap(), None);
    assert_eq!(snapshots.earliest_id().await.unwrap(), None);
    assert_eq!(snapshots.get(7).await.unwrap_err().kind(), ErrorKind::NotFound(Entity::Snapshot));
}

#[tokio::test]
async fn names_without_number_are_no_snapshots() {
    let snapshots = with([1]).await;
    for name in ["snapshot-2f8c.tmp", ".snapshot-3.x.tmp", "snapshot-", "snapshot--4", "snapshot-05", "snapshot-+6"] {
        put(&snapshots, name, "{}").await;
    }
    put(&snapshots, "snapshot-7/x", "{}").await;
    put(&snapshots, "LATEST", "9").await;
    assert_eq!(snapshots.ids().await.unwrap(), [1]);
    assert_eq!(snapshots.latest_id().await.unwrap(), Some(1));
}

#[tokio::test]
async fn time_is_found_by_halving_and_expired_ones_are_passed_over() {
    let snapshots = with(3..=40).await;
    // Expiry has deleted these, but the hint still names one that is gone.
    for id in 3..=9 {
        snapshots.io.delete(&snapshots.paths.snapshot(id)).await.unwrap();
    }
    put(&snapshots, "EARLIEST", "3").await;
    let at = async |time| snapshots.at_or_before(time).await.unwrap().map(|s| s.id);
    for (time, expected) in [(999, None), (1000, Some(10)), (1099, Some(10)), (2550, Some(25)), (99_999, Some(40))] {
        assert_eq!(at(time).await, expected, "{time}");
    }
    let after = async |time| snapshots.at_or_after(time).await.unwrap().map(|s| s.id);
    for (time, expected) in
        [(0, Some(10)), (1000, Some(10)), (1001, Some(11)), (2550, Some(26)), (4000, Some(40)), (4001, None)]
    {
        assert_eq!(after(time).await, expected, "{time}");
    }
}

#[tokio::test]
async fn watermarks() {
    let snapshots = snapshots();
    let marks = [None, Some(i64::MIN), Some(10), None, Some(20), Some(20), Some(30)];
    for (id, watermark) in (1..).zip(marks) {
        assert!(snapshots.publish(&Snapshot { watermark, ..snapshot(id) }).await.unwrap());
    }
    let at = async |mark| snapshots.at_or_after_watermark(mark).await.unwrap().map(|s| s.id);
    for (mark, expected) in [(-5, Some(3)), (10, Some(3)), (11, Some(5)), (20, Some(5)), (30, Some(7)), (31, None)] {
        assert_eq!(at(mark).await, expected, "{mark}");
    }
}

#[tokio::test]
async fn publishing_wins_once_and_knows_its_own_snapshot() {
    let snapshots = snapshots();
    let ours = snapshot(1);
    assert!(snapshots.publish(&ours).await.unwrap());
    assert!(snapshots.publish(&ours).await.unwrap(), "a repeated call finds its own snapshot");
    assert!(!snapshots.publish(&snapshot(1)).await.unwrap(), "another uuid is another snapshot");
    assert_eq!(snapshots.get(1).await.unwrap(), ours);
    assert_eq!(snapshots.io.read(&format!("{}/LATEST", snapshots.paths.snapshot_dir())).await.unwrap(), "1");
}

#[tokio::test]
async fn a_foreign_or_half_file_means_lost() {
    let snapshots = snapshots();
    put(&snapshots, "snapshot-1", "{\"ver").await;
    assert!(!snapshots.publish(&snapshot(1)).await.unwrap());
    let error = snapshots.latest().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.context_value("file").unwrap().ends_with("snapshot-1"));
}

#[tokio::test]
async fn a_snapshot_that_is_written_while_it_is_read() {
    let snapshots = snapshots();
    put(&snapshots, "snapshot-1", "{\"ver").await;
    let whole = snapshot(1);
    let finish = async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        snapshots.io.write(&snapshots.paths.snapshot(1), Bytes::from(whole.to_json())).await.unwrap();
    };
    let (latest, ()) = tokio::join!(snapshots.latest(), finish);
    assert_eq!(latest.unwrap(), Some(whole));
}

#[tokio::test]
async fn a_document_with_another_id_is_corrupt() {
    let snapshots = snapshots();
    let content = Bytes::from(snapshot(2).to_json());
    snapshots.io.write(&snapshots.paths.snapshot(1), content).await.unwrap();
    assert_eq!(snapshots.get(1).await.unwrap_err().kind(), ErrorKind::Corrupt);
}

#[cfg(unix)]
#[tokio::test]
async fn failures_that_write_nothing_are_no_unknown_outcome() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("file");
    std::fs::write(&root, "not a directory").unwrap();
    let root = root.to_str().unwrap();
    let io = FileIO::from_location(root, &Options::new()).unwrap();
    let error = Snapshots::new(io, TablePaths::new(root, "main")).publish(&snapshot(1)).await.unwrap_err();
    assert_ne!(error.kind(), ErrorKind::CommitUnknown, "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn eight_writers_lose_nothing_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_str().unwrap().to_owned();
    let mut writers = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let root = root.clone();
        writers.spawn(async move {
            let io = FileIO::from_location(&root, &Options::new()).unwrap();
            let snapshots = Snapshots::new(io, TablePaths::new(root, "main"));
            let mut own = Vec::new();
            while own.len() < 25 {
                let next = snapshot(snapshots.latest_id().await.unwrap().unwrap_or(0) + 1);
                if snapshots.publish(&next).await.unwrap() {
                    own.push(next);
                }
            }
            own
        });
    }
    let mut published: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    published.sort_by_key(|s| s.id);
    let io = FileIO::from_location(&root, &Options::new()).unwrap();
    let snapshots = Snapshots::new(io, TablePaths::new(root, "main"));
    assert_eq!(published.iter().map(|s| s.id).collect::<Vec<_>>(), (1..=200).collect::<Vec<_>>());
    assert_eq!(snapshots.list().await.unwrap(), published);
}
