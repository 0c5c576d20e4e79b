//! What every store must do, run against each of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;

use super::{FileIO, NewFile};
use crate::error::{Entity, ErrorKind};
use crate::options::Options;

/// A fresh place on each store.
fn places() -> (tempfile::TempDir, Vec<(FileIO, String)>) {
    let directory = tempfile::tempdir().unwrap();
    let bare = directory.path().to_str().unwrap().to_owned();
    let roots = [bare.clone(), format!("file://{bare}/x"), format!("memory:/{}", uuid::Uuid::new_v4())];
    let places = roots.map(|root| (FileIO::from_location(&root, &Options::new()).unwrap(), root));
    (directory, places.into())
}

fn names(statuses: &[super::FileStatus]) -> Vec<&str> {
    statuses.iter().map(|s| s.name.as_str()).collect()
}

#[tokio::test]
async fn reading_and_writing() {
    let (_guard, places) = places();
    for (io, root) in places {
        let file = format!("{root}/a/b=%3A ä/f");
        let missing = io.read(&file).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound(Entity::File));
        assert!(missing.context_value("file").unwrap().ends_with("/f"), "{missing}");
        assert_eq!(io.status(&file).await.unwrap(), None);
        io.write(&file, Bytes::from_static(b"hello")).await.unwrap();
        io.write(&file, Bytes::from_static(b"hello world")).await.unwrap();
        assert_eq!(io.read(&file).await.unwrap(), "hello world");
        assert_eq!(io.read_range(&file, 6..11).await.unwrap(), "world");
        assert_eq!(io.read_range(&file, 6..6).await.unwrap(), "");
        assert_eq!(io.read_range(&file, 6..12).await.unwrap_err().kind(), ErrorKind::Corrupt);
        assert_eq!(io.read_range(&file, 60..62).await.unwrap_err().kind(), ErrorKind::Corrupt);
        let status = io.status(&file).await.unwrap().unwrap();
        assert_eq!((status.name.as_str(), status.is_dir, status.size), ("f", false, 11));
        io.write_advisory(&file, Bytes::new()).await.unwrap();
        assert_eq!(io.read(&file).await.unwrap(), "");
        io.delete(&file).await.unwrap();
        io.delete(&file).await.unwrap();
        assert!(!io.exists(&file).await.unwrap());
    }
}

#[tokio::test]
async fn listing_and_directories() {
    let (_guard, places) = places();
    for (io, root) in places {
        assert!(io.list(&format!("{root}/none")).await.unwrap().is_empty());
        for name in ["d/b", "d/a", "d/c/x", "d/c/y/z", "e"] {
            io.write(&format!("{root}/{name}"), Bytes::from_static(b"xy")).await.unwrap();
        }
        io.create_dir(&format!("{root}/d/empty")).await.unwrap();
        let listed = io.list(&format!("{root}//d/")).await.unwrap();
        assert_eq!(names(&listed), ["a", "b", "c", "empty"]);
        let sizes: Vec<_> = listed.iter().map(|s| (s.is_dir, s.size)).collect();
        assert_eq!(sizes, [(false, 2), (false, 2), (true, 0), (true, 0)]);
        assert_eq!(io.read(&listed[0].path).await.unwrap(), "xy");
        let named = io.list_names(&format!("{root}/d")).await.unwrap();
        assert_eq!(
            named.iter().map(|(n, d)| (n.as_str(), *d)).collect::<Vec<_>>(),
            [("a", false), ("b", false), ("c", true), ("empty", true)]
        );
        assert!(io.list(&format!("{root}/e")).await.unwrap().is_empty());
        assert!(io.status(&format!("{root}/d/c")).await.unwrap().unwrap().is_dir);
        assert!(io.exists(&format!("{root}/d/empty")).await.unwrap());
        io.delete_dir(&format!("{root}/d")).await.unwrap();
        io.delete_dir(&format!("{root}/d")).await.unwrap();
        assert!(!io.exists(&format!("{root}/d/c/y")).await.unwrap());
        assert!(io.exists(&format!("{root}/e")).await.unwrap());
    }
}

#[tokio::test]
async fn renaming() {
    let (_guard, places) = places();
    for (io, root) in places {
        let at = |name: &str| format!("{root}/{name}");
        io.write(&at("a/x"), Bytes::from_static(b"1")).await.unwrap();
        io.write(&at("a/y/z"), Bytes::from_static(b"2")).await.unwrap();
        io.write(&at("b/x"), Bytes::from_static(b"3")).await.unwrap();
        let taken = io.rename(&at("a"), &at("b")).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists(Entity::File));
        let taken = io.rename(&at("a/x"), &at("b/x")).await.unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AlreadyExists(Entity::File));
        let missing = io.rename(&at("none"), &at("c")).await.unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::NotFound(Entity::File));
        io.rename(&at("a"), &at("new/c")).await.unwrap();
        assert!(!io.exists(&at("a")).await.unwrap());
        assert_eq!(io.read(&at("new/c/y/z")).await.unwrap(), "2");
        assert_eq!(io.read(&at("b/x")).await.unwrap(), "3");
    }
}

#[tokio::test]
async fn streaming() {
    let (_guard, places) = places();
    for (io, root) in places {
        let file = format!("{root}/p=1/bucket-0/data");
        let mut new = NewFile::new(io.clone(), file.clone());
        for _ in 0..5 {
            new.write(Bytes::from(vec![7u8; 700_000])).await.unwrap();
        }
        new.close().await.unwrap();
        assert_eq!(new.bytes(), 3_500_000);
        assert_eq!(io.status(&file).await.unwrap().unwrap().size, 3_500_000);
        assert_eq!(io.read_range(&file, 3_499_999..3_500_000).await.unwrap(), vec![7u8]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn one_of_many_racers_creates_a_file() {
    let (_guard, places) = places();
    for (io, root) in places {
        let io = Arc::new(io);
        for round in 0..50 {
            let file = format!("{root}/snapshot/snapshot-{round}");
            let mut racers = tokio::task::JoinSet::new();
            for racer in 0..8u8 {
                let (io, file) = (io.clone(), file.clone());
                racers.spawn(async move {
                    let won = io.create_if_absent(&file, Bytes::from(vec![racer; 10_000])).await.unwrap();
                    // Whoever won: everyone sees a whole file from here on.
                    let seen = io.read(&file).await.unwrap();
                    assert_eq!(seen.len(), 10_000);
                    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 1);
                    (won, seen[0], racer)
                });
            }
            let results = racers.join_all().await;
            let winners: Vec<_> = results.iter().filter(|r| r.0).collect();
            assert_eq!(winners.len(), 1, "{results:?}");
            assert!(results.iter().all(|r| r.1 == winners[0].2), "{results:?}");
        }
        assert_eq!(io.list(&format!("{root}/snapshot")).await.unwrap().len(), 50, "temporary files are gone");
    }
}

const RACE_DIRECTORY: &str = "STORAGE_CONTRACT_RACE_DIRECTORY";

/// What each process of the next test does; alone it does nothing.
#[tokio::test]
async fn racing_process() {
    let Ok(directory) = std::env::var(RACE_DIRECTORY) else { return };
    let io = FileIO::from_location(&directory, &Options::new()).unwrap();
    let own = std::process::id().to_string();
    for round in 0..50 {
        let content = Bytes::from(own.repeat(1_000));
        if io.create_if_absent(&format!("{directory}/s/snapshot-{round}"), content).await.unwrap() {
            io.write(&format!("{directory}/won/{round}-{own}"), Bytes::new()).await.unwrap();
        }
    }
}

#[tokio::test]
async fn one_of_many_processes_creates_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_str().unwrap();
    let start = || {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["storage::contract::racing_process", "--exact"])
            .env(RACE_DIRECTORY, root)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..8).map(|_| start()).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    let io = FileIO::from_location(root, &Options::new()).unwrap();
    let winners = io.list_names(&format!("{root}/won")).await.unwrap();
    assert_eq!(winners.len(), 50, "{winners:?}");
    assert_eq!(io.list_names(&format!("{root}/s")).await.unwrap().len(), 50);
    for (name, _) in winners {
        let (round, winner) = name.split_once('-').unwrap();
        assert_eq!(io.read(&format!("{root}/s/snapshot-{round}")).await.unwrap(), winner.repeat(1_000));
    }
}

#[tokio::test]
async fn a_second_create_changes_nothing() {
    let (_guard, places) = places();
    for (io, root) in places {
        let file = format!("{root}/s");
        assert!(io.create_if_absent(&file, Bytes::from_static(b"1")).await.unwrap());
        assert!(!io.create_if_absent(&file, Bytes::from_static(b"2")).await.unwrap());
        assert_eq!(io.read(&file).await.unwrap(), "1");
    }
}

#[tokio::test]
async fn stores_do_not_mix() {
    let disk = FileIO::from_location("/tmp", &Options::new()).unwrap();
    let memory = FileIO::from_location("memory:/", &Options::new()).unwrap();
    assert_eq!(disk.read("memory:/x").await.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(memory.read("/x").await.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(disk.read("s3://b/x").await.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(disk.delete_dir("/..").await.unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn memory_is_shared_in_the_process() {
    let file = format!("memory:/{}/x", uuid::Uuid::new_v4());
    let write = FileIO::from_location("memory:/a", &Options::new()).unwrap();
    write.write(&file, Bytes::from_static(b"x")).await.unwrap();
    let read = FileIO::from_location("memory:/b", &Options::new()).unwrap();
    assert_eq!(read.read(&file).await.unwrap(), "x");
}

#[tokio::test]
async fn a_leftover_of_a_killed_writer_is_no_hindrance() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_str().unwrap();
    std::fs::write(directory.path().join(".snapshot-1.0000.tmp"), "half").unwrap();
    let io = FileIO::from_location(root, &Options::new()).unwrap();
    let file = format!("{root}/snapshot-1");
    assert!(!io.exists(&file).await.unwrap());
    assert!(io.create_if_absent(&file, Bytes::from_static(b"whole")).await.unwrap());
    assert_eq!(io.read(&file).await.unwrap(), "whole");
}

#[cfg(unix)]
#[tokio::test]
async fn names_that_end_in_a_blank_stay_apart_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().to_str().unwrap();
    let io = FileIO::from_location(root, &Options::new()).unwrap();
    io.write(&format!("{root}/t "), Bytes::from_static(b"blank")).await.unwrap();
    assert!(!io.exists(&format!("{root}/t")).await.unwrap());
    assert_eq!(names(&io.list(root).await.unwrap()), ["t "]);
    assert_eq!(io.writer(&format!("{root}/u ")).await.err().map(|e| e.kind()), Some(ErrorKind::Unsupported));
}
