use std::collections::BTreeMap;

use super::*;
use crate::commit::Overwrite;
use crate::commit::testing::{
    Fault, Faulty, adds, altered, append, commit, file, latest, live, orphans, table, with_publisher,
};
use crate::error::Entity;
use crate::maintain::rollback_to;
use crate::spec::{CommitKind, Schema, SchemaChange};
use crate::types::testing::{int, string};

fn schema() -> Schema {
    Schema::builder().column("name", string()).column("n", int()).primary_key(["name"]).build().unwrap()
}

/// The handle of the table that will replace this one.
fn staged(table: &Table) -> Table {
    table.replaced_by(table.schema().replace(&schema(), 7).unwrap())
}

async fn planned(table: &Table) -> Result<usize> {
    let plan = table.new_read_builder().new_scan().plan().await?;
    Ok(plan.splits().len())
}

fn refused(error: &Error, part: &str) {
    assert_eq!(error.kind(), ErrorKind::InvalidState, "{error}");
    assert!(error.to_string().contains(part), "{error}");
}

#[tokio::test]
async fn rows_and_schema_are_replaced_in_one_snapshot() {
    let old = table(false, false, &[]).await;
    append(&old, "a").await;
    let before = latest(&old).await;
    let new = staged(&old);
    assert_eq!(old.schemas().ids().await.unwrap(), [0]);
    commit(&new).overwrite(vec![adds(None, &[file("b", 0, 1, 1)])], Overwrite::Static(BTreeMap::new())).await.unwrap();
    let after = latest(&old).await;
    assert_eq!((after.id, after.schema_id, after.commit_kind), (2, 1, CommitKind::Overwrite));
    assert_eq!(live(&new).await.iter().map(|f| &f[..1]).collect::<Vec<_>>(), ["b"]);
    let new = old.refresh().await.unwrap();
    let ids: Vec<i32> = new.schema().fields.iter().map(|f| f.id).collect();
    assert_eq!((ids, new.schema().highest_field_id), (vec![4, 5], 5));
    assert_eq!(planned(&new).await.unwrap(), 1);
    // What was written before is found by time travel only.
    assert_eq!(planned(&new.at(before.clone()).await.unwrap()).await.unwrap(), 1);
    refused(&rollback_to(&new, &before).await.unwrap_err(), "was replaced by that of schema 1");
    refused(&planned(&old).await.unwrap_err(), "get it again");
    refused(&commit(&old).commit(vec![adds(None, &[file("c", 0, 1, 1)])]).await.unwrap_err(), "get it again");
    assert_eq!((latest(&old).await.id, orphans(&old).await), (2, vec![]));
}

#[tokio::test]
async fn an_empty_table_is_replaced_by_a_snapshot() {
    let old = table(false, false, &[]).await;
    commit(&staged(&old)).truncate_table().await.unwrap();
    let snapshot = latest(&old).await;
    assert_eq!((snapshot.id, snapshot.schema_id, snapshot.total_record_count), (1, 1, Some(0)));
}

#[tokio::test]
async fn a_writer_of_before_loses_the_race() {
    for snapshots in 0..2 {
        let old = table(false, false, &[]).await;
        if snapshots > 0 {
            append(&old, "a").await;
        }
        let slow = with_publisher(&old, Faulty::of(&staged(&old), [Fault::Replaced]));
        let error = commit(&slow).commit(vec![adds(None, &[file("late", 0, 1, 1)])]).await.unwrap_err();
        refused(&error, "get it again");
        assert_eq!((live(&old.refresh().await.unwrap()).await, orphans(&old).await), (vec![], vec![]));
    }
}

#[tokio::test]
async fn a_table_that_was_altered_meanwhile_stays() {
    let old = table(false, false, &[]).await;
    append(&old, "a").await;
    let new = staged(&old);
    altered(&old, &[("snapshot.num-retained.max", "100")]).await;
    let error = commit(&new).truncate_table().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict(ConflictKind::Schema), "{error}");
    assert_eq!((live(&old).await, old.schemas().ids().await.unwrap()), (vec!["a@0".to_owned()], vec![0, 1]));
}

#[tokio::test]
async fn a_commit_that_fails_takes_the_schema_back() {
    let old = table(false, false, &[]).await;
    append(&old, "a").await;
    let full = staged(&Faulty::on(&old, [Fault::Fails(ErrorKind::DiskFull)]));
    assert_eq!(commit(&full).truncate_table().await.unwrap_err().kind(), ErrorKind::DiskFull);
    assert_eq!((old.schemas().ids().await.unwrap(), live(&old).await), (vec![0], vec!["a@0".to_owned()]));
    commit(&full).truncate_table().await.unwrap();
    assert_eq!(old.schemas().ids().await.unwrap(), [0, 1]);
}

#[tokio::test]
async fn an_interrupted_replacement_is_noticed_and_done_again() {
    let old = table(false, false, &[]).await;
    append(&old, "a").await;
    assert!(old.schemas().create(&old.schema().replace(&schema(), 7).unwrap()).await.unwrap());
    let new = old.refresh().await.unwrap();
    refused(&planned(&new).await.unwrap_err(), "is to be done again");
    let error = commit(&new).commit(vec![adds(None, &[file("b", 0, 1, 1)])]).await.unwrap_err();
    refused(&error, "is to be done again");
    assert_eq!(latest(&old).await.id, 1);
    commit(&staged(&new)).truncate_table().await.unwrap();
    let again = old.refresh().await.unwrap();
    assert_eq!((again.schema().id, planned(&again).await.unwrap()), (2, 0));
}

#[tokio::test]
async fn a_dropped_table_is_not_replaced() {
    let old = table(false, false, &[]).await;
    let new = staged(&old);
    old.io().delete_dir(old.location()).await.unwrap();
    let error = commit(&new).truncate_table().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound(Entity::Table), "{error}");
    assert!(!old.io().exists(old.location()).await.unwrap());
}

#[tokio::test]
async fn columns_that_were_all_exchanged_are_those_of_the_same_table() {
    let old = table(false, false, &[]).await;
    append(&old, "a").await;
    let mut schema = old.schema().as_ref().clone();
    let path = |name: &str| vec![name.to_owned()];
    let new = SchemaChange::AddColumn { path: path("new"), data_type: int(), comment: None, position: None };
    for change in [new].into_iter().chain(["p", "k", "v"].map(|name| SchemaChange::DropColumn { path: path(name) })) {
        schema = schema.change(&[change], true, 7).unwrap();
        assert!(old.schemas().create(&schema).await.unwrap());
    }
    assert_eq!(planned(&old.refresh().await.unwrap()).await.unwrap(), 1);
    assert_eq!(planned(&old).await.unwrap(), 1);
    append(&old, "b").await;
    assert_eq!(live(&old).await, ["a@0", "b@0"]);
}

#[tokio::test]
async fn partition_columns_stay() {
    let old = table(true, false, &[]).await;
    commit(&old).commit(vec![adds(Some("x"), &[file("a", 0, 1, 1)])]).await.unwrap();
    let error = old.schema().replace(&schema(), 7).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert!(error.to_string().contains("old [p STRING], new []"), "{error}");
    let other = |data_type| Schema::builder().column("q", int()).column("p", data_type).partition_keys(["p"]).build();
    assert!(old.schema().replace(&other(int()).unwrap(), 7).is_err());
    let new = old.replaced_by(old.schema().replace(&other(string()).unwrap(), 7).unwrap());
    commit(&new).truncate_table().await.unwrap();
    assert_eq!(planned(&old.refresh().await.unwrap()).await.unwrap(), 0);
}
