//! Commits of messages: what a snapshot says, races, faults, conflicts, overwrites.

use std::collections::BTreeMap;

use super::testing::*;
use super::*;
use crate::error::{ConflictKind, Entity, ErrorKind};
use crate::spec::{CommitKind, CommitMessage, EntryKind, IndexManifestEntry, Snapshot};
use crate::table::Table;
use crate::types::Datum;

fn committed(id: i64) -> CommitOutcome {
    CommitOutcome::Committed { snapshot_id: id }
}

fn spec(p: &str) -> BTreeMap<String, Option<Datum>> {
    BTreeMap::from([("p".to_owned(), Some(Datum::String(p.to_owned())))])
}

#[tokio::test]
async fn a_snapshot_says_what_javas_does() {
    let table = table(false, false, &[]).await;
    append(&table, "a").await;
    let user = commit(&table);
    let outcome = user.commit(vec![adds(None, &[file("b", 0, 1, 3)])]).await.unwrap();
    assert_eq!(outcome, committed(2));
    let found = latest(&table).await;
    let expected = Snapshot {
        version: Some(3),
        uuid: found.uuid.clone(),
        id: 2,
        schema_id: 0,
        base_manifest_list: found.base_manifest_list.clone(),
        base_manifest_list_size: found.base_manifest_list_size,
        delta_manifest_list: found.delta_manifest_list.clone(),
        delta_manifest_list_size: found.delta_manifest_list_size,
        changelog_manifest_list: None,
        changelog_manifest_list_size: None,
        index_manifest: None,
        commit_user: user.user().to_owned(),
        writer_version: None,
        commit_identifier: i64::MAX,
        commit_kind: CommitKind::Append,
        time_millis: found.time_millis,
        total_record_count: Some(4),
        delta_record_count: Some(3),
        changelog_record_count: None,
        watermark: None,
        statistics: None,
        properties: None,
        next_row_id: Some(0),
        operation: None,
    };
    assert_eq!(found, expected);
    for (list, size) in [
        (&found.base_manifest_list, found.base_manifest_list_size),
        (&found.delta_manifest_list, found.delta_manifest_list_size),
    ] {
        let status = table.io().status(&table.paths().manifest(list)).await.unwrap().unwrap();
        assert_eq!(size, i64::try_from(status.size).ok());
    }
    assert_eq!(live(&table).await, ["a@0", "b@0"]);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_lost_race_is_run_again() {
    let table = table(false, false, &[]).await;
    let rival = |name: &str| Fault::Rival(vec![adds(None, &[file(name, 0, 1, 1)])]);
    let slow = Faulty::on(&table, [rival("r1"), rival("r2")]);
    assert_eq!(commit(&slow).commit(vec![adds(None, &[file("a", 0, 1, 2)])]).await.unwrap(), committed(3));
    assert_eq!(live(&table).await, ["a@0", "r1@0", "r2@0"]);
    assert_eq!(latest(&table).await.total_record_count, Some(4));
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn manifests_that_a_lost_attempt_merged_are_used_again() {
    let table = table(false, false, &[("manifest.merge-min-count", "3")]).await;
    for name in ["a", "b", "c"] {
        append(&table, name).await;
    }
    let slow = Faulty::on(&table, [Fault::Rival(vec![adds(None, &[file("r", 0, 1, 1)])])]);
    append(&slow, "d").await;
    assert_eq!(live(&table).await, ["a@0", "b@0", "c@0", "d@0", "r@0"]);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
    // The rival merged the same manifests first: ours did not stand in its base any more.
    let base = table.manifests().read_list(&latest(&table).await.base_manifest_list).await.unwrap();
    assert_eq!(base.iter().map(|m| m.num_added_files).collect::<Vec<_>>(), [3, 1]);
}

#[tokio::test]
async fn many_commits_keep_few_manifests() {
    let table = table(false, false, &[("snapshot.num-retained.min", "1000")]).await;
    for i in 0..65 {
        append(&table, &format!("{i:02}")).await;
        let found = latest(&table).await;
        assert!(table.manifests().of_snapshot(&found).await.unwrap().len() <= 31);
    }
    let expected: Vec<_> = (0..65).map(|i| format!("{i:02}@0")).collect();
    assert_eq!(live(&table).await, expected);
    assert_eq!(latest(&table).await.total_record_count, Some(65));
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_lost_answer_makes_one_snapshot() {
    let table = table(false, false, &[]).await;
    for (faults, id) in [(vec![Fault::AnswerLost], 1), (vec![Fault::Unknown, Fault::Unknown, Fault::AnswerLost], 2)] {
        let shaky = Faulty::on(&table, faults);
        let outcome = commit(&shaky).commit(vec![adds(None, &[file(&format!("f{id}"), 0, 1, 1)])]).await.unwrap();
        assert_eq!(outcome, committed(id));
    }
    assert_eq!(live(&table).await, ["f1@0", "f2@0"]);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_unknown_outcome_deletes_nothing_and_is_not_repeated() {
    let table = table(false, false, &[]).await;
    let shaky = Faulty::on(&table, (0..10).map(|_| Fault::Unknown));
    let (user, messages) = (commit(&shaky), vec![adds(None, &[file("a", 0, 1, 1)])]);
    write_files(&table, &messages).await;
    let error = user.commit(messages.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::CommitUnknown, "{error}");
    assert!(error.to_string().contains("snapshot 1"), "{error}");
    assert_eq!(orphans(&table).await.len(), 3);
    assert_eq!(user.commit(messages.clone()).await.unwrap_err().kind(), ErrorKind::InvalidState);
    assert_eq!(user.abort(messages.clone()).await.unwrap_err().kind(), ErrorKind::InvalidState);
    commit(&table).check_unused(&messages).await.unwrap();
}

#[tokio::test]
async fn a_failure_leaves_nothing_behind() {
    let table = table(false, false, &[]).await;
    append(&table, "a").await;
    let full = Faulty::on(&table, [Fault::Fails(ErrorKind::DiskFull)]);
    let (user, messages) = (commit(&full), vec![adds(None, &[file("b", 0, 1, 1)])]);
    assert_eq!(user.commit(messages.clone()).await.unwrap_err().kind(), ErrorKind::DiskFull);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
    assert_eq!(latest(&table).await.id, 1);
    assert_eq!(user.commit(messages).await.unwrap(), committed(2));
}

#[tokio::test]
async fn retries_end() {
    let table = table(false, false, &[]).await;
    let options = BTreeMap::from([("commit.max-retries".to_owned(), Some("2".to_owned()))]);
    let rivals = (0..3).map(|i| Fault::Rival(vec![adds(None, &[file(&format!("r{i}"), 0, 1, 1)])]));
    let slow = Faulty::on(&table, rivals);
    let slow = slow.with_dynamic_options(&options).await.unwrap();
    let error = commit(&slow).commit(vec![adds(None, &[file("a", 0, 1, 1)])]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::RetriesExhausted));
    assert!(error.to_string().contains("with 2 retries"), "{error}");
    assert_eq!(live(&table).await, ["r0@0", "r1@0", "r2@0"]);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn only_one_compaction_of_a_file_is_committed() {
    let table = table(false, false, &[]).await;
    let (a, b) = (file("a", 0, 1, 1), file("b", 0, 2, 2));
    commit(&table).commit(vec![adds(None, &[a.clone(), b.clone()])]).await.unwrap();
    let first = compacts(None, &[a.clone(), b.clone()], &[file("ab", 0, 1, 2)]);
    let slow = Faulty::on(&table, [Fault::Rival(vec![first])]);
    let second = compacts(None, &[b, a], &[file("ba", 0, 1, 2)]);
    let error = commit(&slow).commit(vec![second]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::Files), "{error}");
    assert!(error.to_string().contains("data-b-0.parquet"), "{error}");
    assert_eq!(live(&table).await, ["ab@0"]);
    let found = latest(&table).await;
    assert_eq!(
        (found.commit_kind, found.total_record_count, found.delta_record_count),
        (CommitKind::Compact, Some(2), Some(0))
    );
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn an_upgrade_keeps_the_file() {
    let table = table(false, true, &[("bucket", "1")]).await;
    let low = file("a", 0, 1, 5);
    commit(&table).commit(vec![adds(None, std::slice::from_ref(&low))]).await.unwrap();
    let message = compacts(None, std::slice::from_ref(&low), &[low.upgraded(5)]);
    commit(&table).commit(vec![message.clone()]).await.unwrap();
    assert_eq!(live(&table).await, ["a@5"]);
    write_files(&table, std::slice::from_ref(&message)).await;
    // The upgraded file is not the message's to delete.
    commit(&table).abort(vec![message.clone()]).await.unwrap();
    let path = format!("{}/bucket-0/data-a-0.parquet", table.location());
    assert!(table.io().exists(&path).await.unwrap());
}

#[tokio::test]
async fn files_of_a_level_do_not_overlap() {
    let table = table(false, true, &[("bucket", "1")]).await;
    let user = commit(&table);
    let low = [file("a", 0, 1, 5), file("b", 0, 4, 9)];
    user.commit(vec![adds(None, &low)]).await.unwrap();
    user.commit(vec![compacts(None, &low[..1], &[low[0].upgraded(5)])]).await.unwrap();
    let error = user.commit(vec![compacts(None, &low[1..], &[low[1].upgraded(5)])]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::KeyRange), "{error}");
    // Another level is free; an append is checked too if it goes to a level.
    user.commit(vec![compacts(None, &low[1..], &[low[1].upgraded(4)])]).await.unwrap();
    let error = user.commit(vec![adds(None, &[file("c", 4, 9, 9)])]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::KeyRange), "{error}");
    user.commit(vec![adds(None, &[file("d", 4, 10, 10)])]).await.unwrap();
    assert_eq!(live(&table).await, ["a@5", "b@4", "d@4"]);
}

#[tokio::test]
async fn a_writer_of_an_older_bucket_count_is_refused() {
    let old = table(true, true, &[("bucket", "2")]).await;
    let with_total =
        |name: &str, total| CommitMessage { total_buckets: Some(total), ..adds(Some("x"), &[file(name, 0, 1, 1)]) };
    commit(&old).commit(vec![with_total("a", 2)]).await.unwrap();
    let new = altered(&old, &[("bucket", "4")]).await;
    // The partition is still as it was.
    commit(&old).commit(vec![with_total("b", 2)]).await.unwrap();
    let error = commit(&new).commit(vec![compacts(Some("x"), &[], &[file("z", 1, 0, 0)])]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::BucketCount), "{error}");
    commit(&new).overwrite(vec![with_total("c", 4)], Overwrite::Dynamic).await.unwrap();
    let error = commit(&old).commit(vec![with_total("d", 2)]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::BucketCount), "{error}");
    assert!(error.to_string().contains("{p=x} changed from 4 to 2"), "{error}");
    assert_eq!(latest(&new).await.schema_id, 1);
}

#[tokio::test]
async fn a_compaction_that_meets_a_conflict_does_not_undo_the_rows() {
    let table = table(false, true, &[("bucket", "1")]).await;
    let mut message = adds(None, &[file("a", 0, 1, 1)]);
    message.compact = compacts(None, &[file("gone", 0, 1, 1)], &[file("c", 5, 1, 1)]).compact;
    write_files(&table, std::slice::from_ref(&message)).await;
    let user = commit(&table);
    assert_eq!(user.commit(vec![message.clone()]).await.unwrap(), committed(1));
    assert_eq!(live(&table).await, ["a@0"]);
    let path = |name: &str| format!("{}/bucket-0/data-{name}-0.parquet", table.location());
    assert!(table.io().exists(&path("a")).await.unwrap());
    assert!(!table.io().exists(&path("c")).await.unwrap());
    assert_eq!(user.abort(vec![message]).await.unwrap_err().kind(), ErrorKind::InvalidState);
}

#[tokio::test]
async fn both_parts_of_a_message_are_committed() {
    let table = table(false, true, &[("bucket", "1")]).await;
    let new = file("a", 0, 1, 3);
    let mut message = adds(None, std::slice::from_ref(&new));
    message.compact = compacts(None, std::slice::from_ref(&new), &[file("c", 5, 1, 3)]).compact;
    assert_eq!(commit(&table).commit_with_identifier(7, vec![message]).await.unwrap(), committed(2));
    assert_eq!(live(&table).await, ["c@5"]);
    let kinds: Vec<_> =
        table.snapshots().list().await.unwrap().iter().map(|s| (s.commit_kind, s.commit_identifier)).collect();
    assert_eq!(kinds, [(CommitKind::Append, 7), (CommitKind::Compact, 7)]);
}

#[tokio::test]
async fn overwrites_replace_partitions() {
    let table = table(true, false, &[]).await;
    let fill = async |suffix: &str| {
        let messages = ["x", "y"].map(|p| adds(Some(p), &[file(&format!("{p}{suffix}"), 0, 1, 1)]));
        commit(&table).commit(messages.to_vec()).await.unwrap();
    };
    fill("1").await;
    fill("2").await;
    let user = commit(&table);
    // Dynamic: the partitions of the new files, whichever they are; nothing for no files.
    user.overwrite(vec![adds(Some("x"), &[file("x3", 0, 1, 5)])], Overwrite::Dynamic).await.unwrap();
    assert_eq!(live(&table).await, ["x3@0", "y1@0", "y2@0"]);
    let found = latest(&table).await;
    assert_eq!(
        (found.commit_kind, found.total_record_count, found.delta_record_count),
        (CommitKind::Overwrite, Some(7), Some(3))
    );
    assert_eq!(user.overwrite(vec![], Overwrite::Dynamic).await.unwrap(), CommitOutcome::Nothing);
    // Static: what the specification says, and no file may lie outside.
    let outside = user.overwrite(vec![adds(Some("x"), &[file("x4", 0, 1, 1)])], Overwrite::Static(spec("y"))).await;
    let outside = outside.unwrap_err();
    assert_eq!(outside.kind(), ErrorKind::InvalidInput);
    assert!(outside.to_string().contains("{p=x}"), "{outside}");
    user.overwrite(vec![adds(Some("y"), &[file("y3", 0, 1, 1)])], Overwrite::Static(spec("y"))).await.unwrap();
    assert_eq!(live(&table).await, ["x3@0", "y3@0"]);
    user.overwrite(vec![], Overwrite::Static(spec("x"))).await.unwrap();
    assert_eq!(live(&table).await, ["y3@0"]);
    assert_eq!(user.overwrite(vec![], Overwrite::Static(spec("x"))).await.unwrap(), CommitOutcome::Nothing);
    fill("4").await;
    user.overwrite(vec![adds(Some("z"), &[file("z", 0, 1, 1)])], Overwrite::Static(BTreeMap::new())).await.unwrap();
    assert_eq!(live(&table).await, ["z@0"]);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn partitions_are_truncated() {
    let table = table(true, false, &[]).await;
    assert_eq!(commit(&table).truncate_table().await.unwrap(), CommitOutcome::Nothing);
    let messages = ["x", "y", "z"].map(|p| adds(Some(p), &[file(p, 0, 1, 1)]));
    commit(&table).commit(messages.to_vec()).await.unwrap();
    let user = commit(&table);
    user.truncate_partitions(vec![spec("x"), spec("z"), spec("none")]).await.unwrap();
    assert_eq!(live(&table).await, ["y@0"]);
    let found = latest(&table).await;
    assert_eq!((found.commit_kind, found.operation.as_deref()), (CommitKind::Overwrite, Some("TRUNCATE")));
    assert_eq!(user.truncate_partitions(vec![spec("x")]).await.unwrap(), CommitOutcome::Nothing);
    assert_eq!(user.truncate_partitions(vec![]).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    let unknown = BTreeMap::from([("k".to_owned(), Some(Datum::Int(1)))]);
    assert_eq!(user.truncate_partitions(vec![unknown]).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    user.truncate_table().await.unwrap();
    assert_eq!(live(&table).await, Vec::<String>::new());
    assert_eq!(latest(&table).await.total_record_count, Some(0));
}

#[tokio::test]
async fn an_overwrite_replaces_what_is_live_when_it_is_published() {
    let table = table(false, false, &[]).await;
    append(&table, "a").await;
    let slow = Faulty::on(&table, [Fault::Rival(vec![adds(None, &[file("late", 0, 1, 1)])])]);
    let all = Overwrite::Static(BTreeMap::new());
    commit(&slow).overwrite(vec![adds(None, &[file("new", 0, 1, 1)])], all).await.unwrap();
    assert_eq!(live(&table).await, ["new@0"]);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn disjoint_files_of_an_overwrite_go_to_the_top_level() {
    let levels = async |files: &[_], options: &[(&str, &str)]| {
        let table = table(false, true, &[&[("bucket", "1")], options].concat()).await;
        commit(&table).overwrite(vec![adds(None, files)], Overwrite::Static(BTreeMap::new())).await.unwrap();
        live(&table).await
    };
    assert_eq!(levels(&[file("a", 0, 1, 3), file("b", 0, 4, 6)], &[]).await, ["a@5", "b@5"]);
    assert_eq!(levels(&[file("a", 0, 1, 3)], &[("num-levels", "3")]).await, ["a@2"]);
    assert_eq!(levels(&[file("a", 0, 1, 3), file("b", 0, 3, 6)], &[]).await, ["a@0", "b@0"]);
    assert_eq!(levels(&[file("a", 0, 1, 3)], &[("overwrite-upgrade", "false")]).await, ["a@0"]);
    let mut deletes = file("a", 0, 1, 3);
    deletes.delete_row_count = Some(1);
    assert_eq!(levels(&[deletes], &[]).await, ["a@0"]);
}

fn index(of: &str, bucket: i32, name: &str) -> IndexManifestEntry {
    IndexManifestEntry {
        partition: partition(of),
        bucket,
        index_type: "HASH".to_owned(),
        file_name: name.to_owned(),
        file_size: 4,
        row_count: 1,
        dv_ranges: None,
        external_path: None,
        global_index: None,
    }
}

#[tokio::test]
async fn index_files_follow_their_partitions() {
    let table = table(true, true, &[("bucket", "1")]).await;
    let names = async || -> Option<Vec<String>> {
        let name = latest(&table).await.index_manifest?;
        Some(table.manifests().read_index(&name).await.unwrap().into_iter().map(|e| e.file_name).collect())
    };
    let with_index = |p: &str, name: &str, index_name: &str| {
        let mut message = adds(Some(p), &[file(name, 0, 1, 1)]);
        message.append.new_index_files = vec![index(p, 0, index_name)];
        message
    };
    commit(&table).commit(vec![with_index("x", "x1", "ix1"), with_index("y", "y1", "iy1")]).await.unwrap();
    assert_eq!(names().await.unwrap(), ["ix1", "iy1"]);
    let first = latest(&table).await.index_manifest;
    // One file for each bucket; a commit without index files repeats the name of the manifest.
    commit(&table).commit(vec![adds(Some("x"), &[file("x2", 0, 1, 1)])]).await.unwrap();
    assert_eq!(latest(&table).await.index_manifest, first);
    commit(&table).commit(vec![with_index("x", "x3", "ix2")]).await.unwrap();
    assert_eq!(names().await.unwrap(), ["ix2", "iy1"]);
    commit(&table).truncate_partitions(vec![spec("x")]).await.unwrap();
    assert_eq!(names().await.unwrap(), ["iy1"]);
    assert_eq!(orphans(&table).await, Vec::<String>::new());
}

#[tokio::test]
async fn messages_are_used_once() {
    let table = table(false, false, &[]).await;
    let builder = table.new_batch_write_builder();
    let messages = vec![adds(None, &[file("a", 0, 1, 1)])];
    write_files(&table, &messages).await;
    builder.new_commit().commit(messages.clone()).await.unwrap();
    let again = builder.new_commit().commit(messages.clone()).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict(ConflictKind::Files));
    // Another process finds the names in the metadata, also once they are not live any more.
    let other = commit(&table);
    assert_eq!(other.check_unused(&messages).await.unwrap_err().kind(), ErrorKind::Conflict(ConflictKind::Files));
    assert_eq!(other.abort(messages.clone()).await.unwrap_err().kind(), ErrorKind::InvalidState);
    commit(&table).truncate_table().await.unwrap();
    append(&table, "b").await;
    assert_eq!(other.check_unused(&messages).await.unwrap_err().kind(), ErrorKind::Conflict(ConflictKind::Files));
    assert_eq!(other.abort(messages.clone()).await.unwrap_err().kind(), ErrorKind::InvalidState);
    let path = format!("{}/bucket-0/data-a-0.parquet", table.location());
    assert!(table.io().exists(&path).await.unwrap());

    let messages = vec![adds(None, &[file("c", 0, 1, 1)])];
    write_files(&table, &messages).await;
    builder.new_commit().abort(messages.clone()).await.unwrap();
    assert_eq!(builder.new_commit().commit(messages.clone()).await.unwrap_err().kind(), ErrorKind::InvalidState);
    assert_eq!(other.check_unused(&messages).await.unwrap_err().kind(), ErrorKind::NotFound(Entity::File));
    assert_eq!(live(&table).await, ["b@0"]);
}

#[tokio::test]
async fn a_file_is_not_added_twice_by_one_commit() {
    let table = table(false, false, &[]).await;
    let message = adds(None, &[file("a", 0, 1, 1)]);
    let error = commit(&table).commit(vec![message.clone(), message]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::Files));
    assert!(table.snapshots().latest().await.unwrap().is_none());
}

#[tokio::test]
async fn empty_commits() {
    let table = table(false, false, &[]).await;
    assert_eq!(commit(&table).commit(vec![]).await.unwrap(), CommitOutcome::Nothing);
    assert_eq!(commit(&table).commit(vec![adds(None, &[])]).await.unwrap(), CommitOutcome::Nothing);
    assert_eq!(commit(&table).commit_with_identifier(1, vec![]).await.unwrap(), committed(1));
    let found = latest(&table).await;
    assert_eq!(
        (found.commit_kind, found.total_record_count, found.delta_record_count),
        (CommitKind::Append, Some(0), Some(0))
    );
    assert_eq!(table.manifests().read_list(&found.delta_manifest_list).await.unwrap(), vec![]);
    let keeping = altered(&table, &[("snapshot.ignore-empty-commit", "false")]).await;
    assert_eq!(commit(&keeping).commit(vec![]).await.unwrap(), committed(2));
    let ignoring = altered(&table, &[("snapshot.ignore-empty-commit", "true")]).await;
    assert_eq!(commit(&ignoring).commit_with_identifier(2, vec![]).await.unwrap(), CommitOutcome::Nothing);
}

#[tokio::test]
async fn identifiers_are_committed_once() {
    let table = table(false, false, &[]).await;
    let message = |name: &str| vec![adds(None, &[file(name, 0, 1, 1)])];
    let user = TableCommit::new(table.clone(), "stream");
    user.commit_with_identifier(1, message("a")).await.unwrap();
    append(&table, "other").await;
    let error = user.commit_with_identifier(1, message("b")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidState, "{error}");
    assert!(error.to_string().contains("identifier 1 in snapshot 1"), "{error}");
    let restarted = TableCommit::new(table.clone(), "stream");
    assert_eq!(restarted.filter_committed(&[1, 2, 3]).await.unwrap(), [2, 3]);
    assert_eq!(restarted.filter_committed(&[2, 2]).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    let commits = BTreeMap::from([(1, message("a")), (2, message("b"))]);
    let gone = restarted.filter_and_commit(commits.clone()).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::NotFound(Entity::File), "{gone}");
    write_files(&table, &message("b")).await;
    assert_eq!(restarted.filter_and_commit(commits.clone()).await.unwrap(), 1);
    assert_eq!(restarted.filter_and_commit(commits).await.unwrap(), 0);
    assert_eq!(live(&table).await, ["a@0", "b@0", "other@0"]);
    let user = latest(&table).await;
    assert_eq!((user.commit_user.as_str(), user.commit_identifier), ("stream", 2));
}

#[tokio::test]
async fn rows_that_an_old_snapshot_did_not_count_are_counted() {
    let table = table(false, false, &[]).await;
    append(&table, "a").await;
    commit(&table).truncate_table().await.unwrap();
    commit(&table).commit(vec![adds(None, &[file("b", 0, 1, 4)])]).await.unwrap();
    let old = Snapshot { id: 4, total_record_count: None, watermark: Some(5), ..latest(&table).await };
    assert!(table.snapshots().publish(&old).await.unwrap());
    commit(&table).commit(vec![adds(None, &[file("c", 0, 1, 2)])]).await.unwrap();
    let found = latest(&table).await;
    assert_eq!((found.total_record_count, found.watermark), (Some(6), Some(5)));
}

#[tokio::test]
async fn statistics_are_inherited_until_the_schema_changes() {
    let table = table(false, false, &[]).await;
    append(&table, "a").await;
    let path = table.paths().statistics("stat-1");
    table.io().write(&path, bytes::Bytes::from_static(br#"{"snapshotId": 1, "schemaId": 0}"#)).await.unwrap();
    let analyzed = Snapshot {
        id: 2,
        statistics: Some("stat-1".to_owned()),
        commit_kind: CommitKind::Analyze,
        ..latest(&table).await
    };
    assert!(table.snapshots().publish(&analyzed).await.unwrap());
    append(&table, "b").await;
    assert_eq!(latest(&table).await.statistics.as_deref(), Some("stat-1"));
    append(&altered(&table, &[("x", "y")]).await, "c").await;
    assert_eq!(latest(&table).await.statistics, None);
}

#[tokio::test]
async fn what_is_not_built_is_refused() {
    let refused = async |options: &[(&str, &str)], message: CommitMessage| {
        let table = table(false, false, options).await;
        let error = commit(&table).commit(vec![message]).await.unwrap_err();
        assert!(table.io().list_names(&table.paths().manifest_dir()).await.unwrap().is_empty());
        (error.kind(), error.to_string())
    };
    let one = adds(None, &[file("a", 0, 1, 1)]);
    for option in ["row-tracking.enabled", "commit.discard-duplicate-files"] {
        let (kind, text) = refused(&[(option, "true")], one.clone()).await;
        assert_eq!(kind, ErrorKind::Unsupported);
        assert!(text.contains(option), "{text}");
    }
    let (kind, _) = refused(&[("commit.strict-mode.last-safe-snapshot", "3")], one).await;
    assert_eq!(kind, ErrorKind::Unsupported);
    let (kind, text) = refused(&[], adds(Some("x"), &[file("a", 0, 1, 1)])).await;
    assert_eq!(kind, ErrorKind::InvalidInput, "{text}");
    let table = table(false, false, &[]).await;
    append(&table, "a").await;
    let pinned = table.at(latest(&table).await).await.unwrap();
    assert_eq!(commit(&pinned).truncate_table().await.unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[tokio::test]
async fn a_dropped_table_is_not_made_again() {
    let table = table(false, false, &[]).await;
    append(&table, "a").await;
    table.io().delete_dir(table.location()).await.unwrap();
    let error = commit(&table).commit(vec![adds(None, &[file("b", 0, 1, 1)])]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound(Entity::Table), "{error}");
}

#[tokio::test]
async fn broken_metadata_is_named() {
    for (what, rest) in [("snapshot", "snapshot/snapshot-2"), ("list", "")] {
        let table = table(false, false, &[]).await;
        append(&table, "a").await;
        append(&table, "b").await;
        let path = match what {
            "snapshot" => format!("{}/{rest}", table.location()),
            _ => table.paths().manifest(&latest(&table).await.delta_manifest_list),
        };
        let content = table.io().read(&path).await.unwrap();
        table.manifests().delete(path.rsplit('/').next().unwrap()).await.unwrap();
        table.io().write(&path, content.slice(..content.len() / 2)).await.unwrap();
        let error = commit(&table).commit(vec![adds(None, &[file("c", 0, 1, 1)])]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!(error.to_string().contains(path.rsplit('/').next().unwrap()), "{error}");
    }
}

#[tokio::test]
async fn deletes_make_an_overwrite() {
    let table = table(false, false, &[]).await;
    let (a, b) = (file("a", 0, 1, 4), file("b", 0, 1, 3));
    commit(&table).commit(vec![adds(None, std::slice::from_ref(&a))]).await.unwrap();
    let mut rewrite = adds(None, &[b]);
    rewrite.append.deleted_files = vec![a];
    commit(&table).commit(vec![rewrite.clone()]).await.unwrap();
    assert_eq!(live(&table).await, ["b@0"]);
    let found = latest(&table).await;
    assert_eq!((found.commit_kind, found.delta_record_count), (CommitKind::Overwrite, Some(-1)));
    let entries = table.manifests().read_list(&found.delta_manifest_list).await.unwrap();
    let entries = table.manifests().read(&entries[0]).await.unwrap();
    assert_eq!(entries.iter().map(|e| e.kind).collect::<Vec<_>>(), [EntryKind::Delete, EntryKind::Add]);
    rewrite.append.new_files.clear();
    let error = commit(&table).commit(vec![rewrite]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::Files));
}

/// A table with two snapshots that expires nothing by itself.
async fn with_history(options: &[(&str, &str)]) -> Table {
    let table = table(false, false, &[&[("write-only", "true")], options].concat()).await;
    for name in ["a", "b"] {
        commit(&table).commit(vec![adds(None, &[file(name, 0, 1, 1)])]).await.unwrap();
    }
    table
}

#[tokio::test]
async fn an_id_that_others_used_and_expired_is_not_used_again() {
    for (rivals, retained) in [(2, 1), (3, 1), (3, 2), (5, 1)] {
        let table = with_history(&[]).await;
        let slow = Faulty::on(&table, [Fault::Overtaken { rivals, retained }]);
        let outcome = commit(&slow).commit(vec![adds(None, &[file("own", 0, 1, 1)])]).await.unwrap();
        let last = 3 + i64::try_from(rivals).unwrap();
        assert_eq!(outcome, committed(last), "{rivals} {retained}");
        assert_eq!(live(&table).await.len(), 3 + rivals, "{rivals} {retained}");
        let ids = table.snapshots().ids().await.unwrap();
        assert_eq!(ids, (last - i64::try_from(retained).unwrap()..=last).collect::<Vec<_>>());
        assert!(orphans(&table).await.is_empty());
    }
}

#[tokio::test]
async fn a_snapshot_that_others_build_on_is_found_although_much_has_expired() {
    for merged in ["1", "30"] {
        for (rivals, retained) in [(0, 1), (1, 1), (1, 2), (3, 1), (3, 3)] {
            let table = with_history(&[("manifest.merge-min-count", merged)]).await;
            let followed = Fault::Followed { rivals, truncate: false, retained };
            let outcome = commit(&Faulty::on(&table, [followed]))
                .commit(vec![adds(None, &[file("own", 0, 1, 1)])])
                .await
                .unwrap();
            assert_eq!(outcome, committed(3), "{rivals} {retained}");
            assert_eq!(live(&table).await.len(), 3 + rivals, "{rivals} {retained}");
            assert_eq!(table.snapshots().latest_id().await.unwrap(), Some(3 + i64::try_from(rivals).unwrap()));
        }
    }
}

#[tokio::test]
async fn what_cannot_be_told_is_unknown() {
    let table = with_history(&[("manifest.merge-min-count", "1")]).await;
    let followed = Fault::Followed { rivals: 1, truncate: true, retained: 1 };
    let outcome = commit(&Faulty::on(&table, [followed])).commit(vec![adds(None, &[file("own", 0, 1, 1)])]).await;
    // Somebody deleted all rows: whether these too has expired, or stands in the last snapshot.
    match outcome {
        Ok(outcome) => assert_eq!(outcome, committed(3)),
        Err(error) => assert_eq!(error.kind(), ErrorKind::CommitUnknown),
    }
    assert!(live(&table).await.is_empty());
}
