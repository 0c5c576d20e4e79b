//! Create, write, upsert, read, overwrite, compact, travel.

use std::collections::BTreeMap;

use paimon_core::commit::{CommitOutcome, Overwrite};
use paimon_core::error::{ConflictKind, ErrorKind};
use paimon_core::spec::CommitKind;
use paimon_core::{Identifier, Result};

use crate::common::{batch, read, rows, warehouse, write};

#[tokio::test]
async fn rows_of_an_append_table_come_back() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", false, &[]).await?;
    assert_eq!(read(&table).await?, vec![]);
    write(&table, &[(1, "a"), (2, "b")]).await?;
    write(&table, &[(3, "c")]).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a"), (2, "b"), (3, "c")]));
    let latest = table.snapshots().latest().await?.unwrap();
    assert_eq!((latest.id, latest.total_record_count, latest.delta_record_count), (2, Some(3), Some(1)));
    assert_eq!(latest.commit_kind, CommitKind::Append);
    Ok(())
}

#[tokio::test]
async fn the_last_row_of_a_key_wins_before_and_after_compaction() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    write(&table, &[(2, "b"), (1, "a"), (1, "a2")]).await?;
    write(&table, &[(1, "a3"), (3, "c")]).await?;
    write(&table, &[(3, "c2")]).await?;
    let expected = rows(&[(1, "a3"), (2, "b"), (3, "c2")]);
    assert_eq!(read(&table).await?, expected);
    let metrics = table.new_compact_builder().execute().await?;
    assert_eq!((metrics.tasks, metrics.files_removed, metrics.files_added, metrics.rows_written), (1, 3, 1, 3));
    let latest = table.snapshots().latest().await?.unwrap();
    assert_eq!((latest.commit_kind, latest.total_record_count), (CommitKind::Compact, Some(3)));
    assert_eq!(read(&table).await?, expected);
    assert_eq!(table.new_compact_builder().execute().await?.tasks, 0);
    assert_eq!(table.snapshots().latest_id().await?, Some(latest.id));
    write(&table, &[(2, "late")]).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a3"), (2, "late"), (3, "c2")]));
    Ok(())
}

#[tokio::test]
async fn a_compaction_leaves_rows_that_tie_as_they_are() -> Result<()> {
    let w = warehouse().await?;
    for minor in [false, true] {
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let name = format!("t{minor}{}{}", order[0], order[1]);
            let table = w.table(&name, true, &[("num-sorted-run.compaction-trigger", "2")]).await?;
            let builder = table.new_batch_write_builder();
            let mut prepared = Vec::new();
            for i in 0..3 {
                let mut writer = builder.new_write()?;
                writer.write(&batch(&table, &[(1, ["x", "y", "z"][i])])).await?;
                prepared.push(writer.prepare_commit().await?);
            }
            for i in order {
                builder.new_commit().commit(prepared[i].clone()).await?;
            }
            let before = read(&table).await?;
            let metrics = table.new_compact_builder().with_minor(minor).execute().await?;
            assert_eq!(metrics.files_removed, 3);
            assert_eq!(read(&table).await?, before, "{name}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn an_earlier_snapshot_shows_its_rows() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    write(&table, &[(1, "old")]).await?;
    write(&table, &[(1, "new")]).await?;
    let option = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), Some(value.to_owned()))]);
    let first = table.with_dynamic_options(&option("scan.snapshot-id", "1")).await?;
    assert_eq!(read(&first).await?, rows(&[(1, "old")]));
    let missing = table.with_dynamic_options(&option("scan.snapshot-id", "9")).await.unwrap_err();
    assert!(missing.to_string().contains('9'), "{missing}");
    let now = table.clock().now_ms();
    table.tags().create("keep", &table.snapshots().get(1).await?, None, now, false).await?;
    assert_eq!(read(&table.with_dynamic_options(&option("scan.version", "keep")).await?).await?, rows(&[(1, "old")]));
    Ok(())
}

#[tokio::test]
async fn an_overwrite_replaces_everything_of_an_unpartitioned_table() -> Result<()> {
    let w = warehouse().await?;
    for keyed in [false, true] {
        let table = w.table(if keyed { "k" } else { "a" }, keyed, &[]).await?;
        write(&table, &[(1, "a"), (2, "b")]).await?;
        let all = Overwrite::Static(BTreeMap::new());
        let builder = table.new_batch_write_builder().with_overwrite(Some(all.clone()));
        let mut writer = builder.new_write()?;
        writer.write(&batch(&table, &[(9, "z")])).await?;
        builder.new_commit().overwrite(writer.prepare_commit().await?, all.clone()).await?;
        assert_eq!(read(&table).await?, rows(&[(9, "z")]));
        let latest = table.snapshots().latest().await?.unwrap();
        assert_eq!((latest.commit_kind, latest.total_record_count), (CommitKind::Overwrite, Some(1)));
        let empty = table.new_batch_write_builder().new_commit().overwrite(Vec::new(), all).await?;
        assert_eq!(empty, CommitOutcome::Committed { snapshot_id: 3 });
        assert_eq!(read(&table).await?, vec![]);
        let again = table.new_batch_write_builder().new_commit().truncate_table().await?;
        assert_eq!(again, CommitOutcome::Nothing);
    }
    Ok(())
}

#[tokio::test]
async fn messages_commit_once() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", false, &[]).await?;
    let builder = table.new_batch_write_builder();
    let mut writer = builder.new_write()?;
    writer.write(&batch(&table, &[(1, "a")])).await?;
    let messages = writer.prepare_commit().await?;
    builder.new_commit().commit(messages.clone()).await?;
    let again = builder.new_commit().commit(messages.clone()).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict(ConflictKind::Files));
    assert_eq!(builder.new_commit().abort(messages).await.unwrap_err().kind(), ErrorKind::InvalidState);
    assert_eq!(read(&table).await?, rows(&[(1, "a")]));

    let builder = table.new_batch_write_builder();
    let mut writer = builder.new_write()?;
    writer.write(&batch(&table, &[(2, "b")])).await?;
    let messages = writer.prepare_commit().await?;
    builder.new_commit().abort(messages.clone()).await?;
    assert_eq!(builder.new_commit().commit(messages).await.unwrap_err().kind(), ErrorKind::InvalidState);
    assert_eq!(read(&table).await?, rows(&[(1, "a")]));
    Ok(())
}

#[tokio::test]
async fn a_table_that_is_dropped_while_it_is_read_is_an_error() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", false, &[]).await?;
    write(&table, &[(1, "a")]).await?;
    let builder = table.new_read_builder();
    let plan = builder.new_scan().plan().await?;
    w.catalog.drop_table(&Identifier::new("db", "t"), false).await?;
    let error = futures::TryStreamExt::try_collect::<Vec<_>>(builder.new_read()?.to_arrow(plan.splits())?).await;
    let error = error.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NotFound(_)), "{error}");
    assert!(error.to_string().contains(".parquet"), "{error}");
    Ok(())
}

fn data_files(directory: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(directory).into_iter().flatten().map(|e| e.unwrap().path());
    entries
        .map(|p| if p.is_dir() { data_files(&p) } else { usize::from(p.extension().is_some_and(|e| e == "parquet")) })
        .sum()
}

#[tokio::test]
async fn an_aborted_write_leaves_no_file_wherever_it_was_interrupted() -> Result<()> {
    let w = warehouse().await?;
    for keyed in [false, true] {
        // Each batch ends row groups and files, so that a write waits at every kind of place.
        let small = [("target-file-size", "1 b"), ("write-buffer-size", "1 b"), ("file.block-size", "1 b")];
        let table = w.table(if keyed { "k" } else { "a" }, keyed, &small).await?;
        let many: Vec<(i32, &str)> = (0..3_000).map(|i| (i, "value")).collect();
        let rows = batch(&table, &many);
        let mut interrupted = 0;
        for polls in 0..40 {
            let mut writer = table.new_batch_write_builder().new_write()?;
            writer.write(&rows).await?;
            {
                let mut write = std::pin::pin!(writer.write(&rows));
                let mut left = polls;
                let unfinished = std::future::poll_fn(|context| match write.as_mut().poll(context) {
                    std::task::Poll::Ready(outcome) => std::task::Poll::Ready(outcome.is_err()),
                    std::task::Poll::Pending if left == 0 => std::task::Poll::Ready(true),
                    std::task::Poll::Pending => {
                        left -= 1;
                        std::task::Poll::Pending
                    }
                });
                interrupted += usize::from(unfinished.await);
            }
            writer.abort().await;
            assert_eq!(data_files(std::path::Path::new(table.location())), 0, "keyed {keyed}, polls {polls}");
        }
        assert!(interrupted > 0);
    }
    Ok(())
}
