//! The mark of a snapshot that stands for the target of a rollback while the rollback runs.
//!
//! Such a snapshot is the latest one, holds what the target holds, and is deleted at the end. Invariants: no writer of ours
//! builds on it while the mark is young; of a rollback whose process died it stays, and is a snapshot like any other later.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::spec::{CommitKind, Snapshot};

const PROPERTY: &str = "rollback.target";
/// For how long a rollback is believed to run.
pub(crate) const YOUNG: Duration = Duration::from_secs(60);

/// The marked snapshot that comes after `latest`.
pub(crate) fn stand_in(target: &Snapshot, latest: i64, uuid: String, now_ms: i64) -> Snapshot {
    Snapshot {
        id: latest + 1,
        uuid: Some(uuid.clone()),
        commit_user: uuid,
        commit_identifier: i64::MAX,
        commit_kind: CommitKind::Overwrite,
        time_millis: now_ms,
        changelog_manifest_list: None,
        changelog_manifest_list_size: None,
        changelog_record_count: None,
        properties: Some(BTreeMap::from([(PROPERTY.to_owned(), target.id.to_string())])),
        ..target.clone()
    }
}

/// Whether a rollback stands behind this snapshot that still runs.
pub(crate) fn is_running(snapshot: &Snapshot, now_ms: i64) -> bool {
    let marked = snapshot.properties.as_ref().is_some_and(|properties| properties.contains_key(PROPERTY));
    marked && u128::from(now_ms.abs_diff(snapshot.time_millis)) < YOUNG.as_millis()
}
