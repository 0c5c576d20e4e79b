use std::time::Duration;

use super::*;
use crate::meta::snapshots::tests::snapshot;
use crate::options::Options;

pub(in crate::meta) fn tags() -> Tags {
    let root = format!("memory:/{}/t", uuid::Uuid::new_v4());
    let io = FileIO::from_location(&root, &Options::new()).unwrap();
    Tags::new(io, TablePaths::new(root, "main"))
}

#[tokio::test]
async fn without_retention_a_tag_is_the_snapshot_document() {
    let (tags, first) = (tags(), snapshot(1));
    tags.create("first", &first, None, 0, false).await.unwrap();
    assert_eq!(tags.io.read(&tags.paths.tag("first")).await.unwrap(), first.to_json());
    let tag = tags.get("first").await.unwrap().unwrap();
    assert_eq!(tag, Tag { name: "first".to_owned(), snapshot: first, create_time_ms: None, time_retained: None });
}

#[tokio::test]
async fn with_retention_it_has_two_keys_more() {
    let (tags, first) = (tags(), snapshot(1));
    let retained = Some(Duration::from_millis(86_400_500));
    tags.create("kept", &first, retained, 1_796_177_927_764, false).await.unwrap();
    let tag = tags.get("kept").await.unwrap().unwrap();
    assert_eq!((&tag.snapshot, tag.time_retained), (&first, retained));
    let offset = tag.create_time_ms.unwrap() - 1_796_177_927_764;
    assert_eq!(offset % 900_000, 0, "a wall clock is a whole number of quarters of an hour away");
    let text = tags.io.read(&tags.paths.tag("kept")).await.unwrap();
    let text = std::str::from_utf8(&text).unwrap();
    assert!(text.contains("\"tagTimeRetained\" : 86400.500000000\n}"), "{text}");
}

#[tokio::test]
async fn names() {
    let tags = tags();
    for bad in ["", "  ", "a/b", "a\\b", "a\nb"] {
        let error = tags.create(bad, &snapshot(1), None, 0, false).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{bad:?}");
        assert_eq!(tags.get(bad).await.unwrap(), None);
        assert_eq!(tags.delete(bad).await.unwrap_err().kind(), ErrorKind::NotFound(Entity::Tag));
    }
    for name in ["2", "b", "ä :x"] {
        tags.create(name, &snapshot(1), None, 0, false).await.unwrap();
    }
    assert_eq!(tags.names().await.unwrap(), ["2", "b", "ä :x"]);
    assert_eq!(tags.list().await.unwrap().len(), 3);
}

#[tokio::test]
async fn creating_twice() {
    let (tags, first) = (tags(), snapshot(1));
    tags.create("t", &first, None, 0, false).await.unwrap();
    let error = tags.create("t", &first, None, 0, false).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::AlreadyExists(Entity::Tag), "Tag 't' already exists."));
    tags.create("t", &first, None, 0, true).await.unwrap();
    assert!(tags.create("t", &snapshot(2), None, 0, true).await.is_err());
    tags.replace("t", &snapshot(2), None, 0).await.unwrap();
    assert_eq!(tags.get("t").await.unwrap().unwrap().snapshot.id, 2);
}

#[tokio::test]
async fn deleting_and_renaming() {
    let tags = tags();
    tags.create("a", &snapshot(1), None, 0, false).await.unwrap();
    tags.create("b", &snapshot(2), None, 0, false).await.unwrap();
    assert_eq!(tags.rename("a", "b").await.unwrap_err().kind(), ErrorKind::AlreadyExists(Entity::Tag));
    tags.rename("a", "c").await.unwrap();
    tags.delete("b").await.unwrap();
    assert_eq!(tags.names().await.unwrap(), ["c"]);
    let error = tags.delete("b").await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::NotFound(Entity::Tag), "Tag 'b' doesn't exist."));
}

/// A tag that Java 0.9 wrote with a retention of a day.
#[test]
fn javas_document() {
    let document = snapshot(1).to_json();
    let open = document.trim_end().strip_suffix('}').unwrap();
    let document = format!(
        "{open}, \"tagCreateTime\" : [ 2026, 12, 1, 5, 41, 40, 801758044 ], \"tagTimeRetained\" : 86400.000000000}}"
    );
    let tag = decode("t", document.as_bytes()).unwrap();
    assert_eq!(tag.create_time_ms, Some(1_796_103_700_801));
    assert_eq!(tag.time_retained, Some(Duration::from_secs(86_400)));
    let bad = format!("{open}, \"tagTimeRetained\" : \"soon\"}}");
    assert!(decode("t", bad.as_bytes()).unwrap_err().to_string().contains("tagTimeRetained"));
}
