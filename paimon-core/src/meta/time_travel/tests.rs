use super::*;
use crate::error::ErrorKind;
use crate::meta::snapshots::tests::snapshot;
use crate::meta::{TablePaths, Travel};
use crate::storage::FileIO;

fn options(text: &str) -> Options {
    text.split(';').filter(|s| !s.is_empty()).map(|s| s.split_once('=').unwrap()).collect()
}

/// The selector that the options ask for.
fn selected(text: &str) -> Result<Option<Selector>> {
    match Travel::from_options(&options(text))? {
        Travel::Latest => Ok(None),
        Travel::Snapshot(selector) => Ok(Some(selector)),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn selectors_of_options() {
    let cases = [
        ("", None),
        ("scan.mode=latest-full", None),
        ("scan.snapshot-id=3", Some(Selector::SnapshotId(3))),
        ("scan.snapshot-id=3;scan.mode=FROM-SNAPSHOT", Some(Selector::SnapshotId(3))),
        ("scan.snapshot-id=3;scan.mode=from-snapshot-full", Some(Selector::SnapshotId(3))),
        ("scan.tag-name=3", Some(Selector::Tag("3".to_owned()))),
        ("log.scan.timestamp-millis=5;log.scan=from-timestamp", Some(Selector::TimestampMillis(5))),
        ("scan.version=watermark-7", Some(Selector::Version("watermark-7".to_owned()))),
        ("scan.watermark=-1", Some(Selector::Watermark(-1))),
    ];
    for (text, expected) in cases {
        assert_eq!(selected(text).unwrap(), expected, "{text}");
    }
    let day = selected("scan.timestamp=2026-01-01").unwrap();
    assert!(matches!(day, Some(Selector::TimestampMillis(ms)) if ms % 900_000 == 0));
}

#[test]
fn refused_options() {
    use ErrorKind::InvalidConfig;
    let cases = [
        (
            "scan.snapshot-id=1;scan.tag-name=x",
            InvalidConfig,
            "Only one time-travel selector may be set, found: scan.snapshot-id, scan.tag-name",
        ),
        (
            "scan.timestamp-millis=1;scan.timestamp=2026-01-01",
            InvalidConfig,
            "Only one time-travel selector may be set, found: scan.timestamp-millis, scan.timestamp",
        ),
        (
            "scan.snapshot-id=1;scan.mode=latest",
            InvalidConfig,
            "scan.snapshot-id must be null when you use latest for scan.mode",
        ),
        (
            "scan.tag-name=a b;scan.mode=from-timestamp",
            InvalidConfig,
            "scan.tag-name must be null when you use from-timestamp for scan.mode",
        ),
        (
            "scan.mode=from-timestamp",
            InvalidConfig,
            "must set only one key in [scan.timestamp-millis,scan.timestamp] when you use from-timestamp for scan.mode",
        ),
        (
            "scan.mode=from-snapshot-full",
            InvalidConfig,
            "scan.snapshot-id can not be null when you use from-snapshot-full for scan.mode",
        ),
    ];
    for (text, kind, message) in cases {
        let error = selected(text).unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, message), "{text}");
    }
    for (text, part) in [
        ("scan.snapshot-id=x", "scan.snapshot-id"),
        ("scan.mode=LATEST_FULL", "scan.mode"),
        ("scan.timestamp=2099-01-01 00:00", "scan.timestamp"),
    ] {
        let error = selected(text).unwrap_err();
        assert_eq!(error.kind(), InvalidConfig);
        assert!(error.to_string().contains(part), "{error}");
    }
}

/// Snapshots 2 to 4, and tags `first` on the expired snapshot 1 and `3` on snapshot 2.
async fn table() -> (Snapshots, Tags) {
    let root = format!("memory:/{}/t", uuid::Uuid::new_v4());
    let io = FileIO::from_location(&root, &Options::new()).unwrap();
    let paths = TablePaths::new(root, "main");
    let (snapshots, tags) = (Snapshots::new(io.clone(), paths.clone()), Tags::new(io, paths));
    for id in 2..=4 {
        let marked = Snapshot { watermark: Some(id * 10), ..snapshot(id) };
        assert!(snapshots.publish(&marked).await.unwrap());
    }
    tags.create("first", &snapshot(1), None, 0, false).await.unwrap();
    tags.create("3", &snapshots.get(2).await.unwrap(), None, 0, false).await.unwrap();
    (snapshots, tags)
}

#[tokio::test]
async fn what_selectors_find() {
    let (snapshots, tags) = table().await;
    let version = |v: &str| Selector::Version(v.to_owned());
    let cases = [
        (Selector::SnapshotId(3), 3),
        (Selector::Tag("first".to_owned()), 1),
        (Selector::Tag("3".to_owned()), 2),
        (Selector::TimestampMillis(399), 3),
        (Selector::TimestampMillis(400), 4),
        (Selector::Watermark(21), 3),
        (version("3"), 2),
        (version("4"), 4),
        (version("first"), 1),
        (version("watermark-31"), 4),
    ];
    for (selector, id) in cases {
        assert_eq!(selector.resolve(&snapshots, &tags).await.unwrap().id, id, "{selector:?}");
    }
}

#[tokio::test]
async fn what_selectors_do_not_find() {
    use ErrorKind::{InvalidConfig, NotFound};
    let (snapshots, tags) = table().await;
    let version = |v: &str| Selector::Version(v.to_owned());
    let range = "is out of available snapshotId range [2, 4].";
    let cases = [
        (Selector::SnapshotId(1), NotFound(Entity::Snapshot), format!("The specified scan snapshotId 1 {range}")),
        (Selector::SnapshotId(-7), NotFound(Entity::Snapshot), format!("The specified scan snapshotId -7 {range}")),
        (Selector::Tag("nope".to_owned()), NotFound(Entity::Tag), "Tag 'nope' doesn't exist.".to_owned()),
        (
            Selector::TimestampMillis(199),
            NotFound(Entity::Snapshot),
            "There is currently no snapshot earlier than or equal to timestamp [199], the earliest snapshot's timestamp \
             is [200]"
                .to_owned(),
        ),
        (
            Selector::Watermark(41),
            NotFound(Entity::Snapshot),
            "There is currently no snapshot later than or equal to watermark[41]".to_owned(),
        ),
        (version("9"), NotFound(Entity::Snapshot), format!("The specified scan snapshotId 9 {range}")),
        (
            version("watermark-x"),
            InvalidConfig,
            "expected watermark-<number> or the name of a tag, found 'watermark-x'".to_owned(),
        ),
        (
            version("x"),
            NotFound(Entity::Tag),
            "Tag 'x' doesn't exist, and it is no snapshot id and no watermark-<number> either.".to_owned(),
        ),
    ];
    for (selector, kind, message) in cases {
        let error = selector.resolve(&snapshots, &tags).await.unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, message.as_str()), "{selector:?}");
        assert!(error.context_value("selector").unwrap().contains(" = "), "{error}");
    }
}

#[tokio::test]
async fn a_table_without_snapshots() {
    let root = format!("memory:/{}/t", uuid::Uuid::new_v4());
    let io = FileIO::from_location(&root, &Options::new()).unwrap();
    let paths = TablePaths::new(root, "main");
    let (snapshots, tags) = (Snapshots::new(io.clone(), paths.clone()), Tags::new(io, paths));
    let error = Selector::SnapshotId(1).resolve(&snapshots, &tags).await.unwrap_err();
    assert_eq!(error.message(), "There is currently no snapshot.");
    let error = Selector::TimestampMillis(1).resolve(&snapshots, &tags).await.unwrap_err();
    assert_eq!(error.message(), "There is currently no snapshot earlier than or equal to timestamp [1]");
}
