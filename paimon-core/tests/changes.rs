//! Reads of changes: ranges, streams, selected rows, stored selectors, splits that travel as bytes.

use std::collections::BTreeMap;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::Int32Type;
use futures::TryStreamExt;
use paimon_core::commit::Overwrite;
use paimon_core::error::ErrorKind;
use paimon_core::scan::{RowPositions, Split, StreamScan};
use paimon_core::spec::ChangesMode;
use paimon_core::{Result, Table};

use crate::common::{Warehouse, batch, read, rows, warehouse, write};

/// A keyed table: `1a 2b`, `1A`, a compaction, `3c`, an overwrite with `7z`.
async fn history(w: &Warehouse, keyed: bool) -> Result<Table> {
    let table = w.table(if keyed { "k" } else { "a" }, keyed, &[("compaction.min.file-num", "2")]).await?;
    write(&table, &[(1, "a"), (2, "b")]).await?;
    write(&table, &[(1, "A")]).await?;
    assert_eq!(table.new_compact_builder().execute().await?.tasks, 1);
    write(&table, &[(3, "c")]).await?;
    let all = Overwrite::Static(BTreeMap::new());
    let builder = table.new_batch_write_builder().with_overwrite(Some(all.clone()));
    let mut writer = builder.new_write()?;
    writer.write(&batch(&table, &[(7, "z")])).await?;
    builder.new_commit().overwrite(writer.prepare_commit().await?, all).await?;
    Ok(table)
}

/// The rows of splits in the order in which they are read, with their kinds.
async fn events(table: &Table, splits: &[Split]) -> Result<Vec<String>> {
    events_with(table, splits, false).await
}

async fn events_with(table: &Table, splits: &[Split], keep_deletes: bool) -> Result<Vec<String>> {
    let read = table.new_read_builder().with_row_kind(true).with_keep_deletes(keep_deletes).new_read()?;
    let mut shown = Vec::new();
    for split in splits {
        // As if they came from another process.
        let split = Split::deserialize(&split.serialize()?)?;
        let batches: Vec<RecordBatch> = read.read_split(&split)?.try_collect().await?;
        for batch in &batches {
            let (kinds, ids) = (batch.column(0).as_string::<i32>(), batch.column(1).as_primitive::<Int32Type>());
            let values = batch.column(2).as_string::<i32>();
            shown.extend((0..ids.len()).map(|i| format!("{}{}{}", kinds.value(i), ids.value(i), values.value(i))));
        }
    }
    Ok(shown)
}

async fn range(table: &Table, start: i64, end: i64, mode: ChangesMode) -> Result<Vec<String>> {
    let plan = table.new_read_builder().new_scan().with_changes(start, end, mode)?.plan().await?;
    assert_eq!(plan.snapshot_id(), Some(end));
    assert!(plan.splits().iter().all(|split| split.streaming && split.merged_row_count().is_none()));
    events(table, plan.splits()).await
}

async fn with(table: &Table, options: &[(&str, &str)]) -> Result<Table> {
    let options = options.iter().map(|(k, v)| ((*k).to_owned(), Some((*v).to_owned()))).collect();
    table.with_options(&options).await
}

#[tokio::test]
async fn ranges_hold_what_was_appended() -> Result<()> {
    let w = warehouse().await?;
    for keyed in [true, false] {
        let table = history(&w, keyed).await?;
        for mode in [ChangesMode::Delta, ChangesMode::Auto] {
            assert_eq!(range(&table, 0, 5, mode).await?, ["+I1a", "+I2b", "+I1A", "+I3c"]);
            assert_eq!(range(&table, 1, 3, mode).await?, ["+I1A"]);
            assert_eq!(range(&table, 2, 3, mode).await?, [""; 0]);
            assert_eq!(range(&table, 4, 5, mode).await?, [""; 0]);
            assert_eq!(range(&table, 3, 3, mode).await?, [""; 0]);
        }
        assert_eq!(range(&table, 0, 5, ChangesMode::Changelog).await?, [""; 0]);
    }
    Ok(())
}

#[tokio::test]
async fn ranges_that_do_not_exist_are_refused() -> Result<()> {
    let w = warehouse().await?;
    let empty = w.table("empty", true, &[]).await?;
    let table = history(&w, true).await?;
    let cases = [
        (&table, 3, 2, "Ending snapshotId 2 should >= starting snapshotId 3."),
        (&table, 1, 9, "range [1, 9] is out of available snapshotId range [1, 5]"),
        (&table, -1, 2, "range [-1, 2] is out of available snapshotId range [1, 5]"),
        (&table, 9, 9, "range [9, 9] is out of"),
        (&empty, 0, 1, "has no snapshot"),
    ];
    for (table, start, end, part) in cases {
        let scan = table.new_read_builder().new_scan().with_changes(start, end, ChangesMode::Delta)?;
        let error = scan.plan().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(part), "{error}");
    }
    let scan = table.new_read_builder().new_scan().with_changes(1, 2, ChangesMode::Diff);
    assert_eq!(scan.unwrap_err().kind(), ErrorKind::InvalidInput);
    // An option may ask a table without snapshots.
    let plan = with(&empty, &[("incremental-between", "0,1")]).await?.new_read_builder().new_scan().plan().await?;
    assert_eq!((plan.splits().len(), plan.snapshot_id()), (0, None));
    Ok(())
}

#[tokio::test]
async fn differences_are_what_is_new_or_changed() -> Result<()> {
    let w = warehouse().await?;
    let now = 0;
    for keyed in [true, false] {
        let table = history(&w, keyed).await?;
        for (tag, id) in [("one", 1), ("four", 4)] {
            table.tags().create(tag, &table.snapshots().get(id).await?, None, now, false).await?;
        }
        let diff = async |between: &str| -> Result<Vec<String>> {
            let options = [("incremental-between", between), ("incremental-between-scan-mode", "diff")];
            let table = with(&table, &options).await?;
            let plan = table.new_read_builder().new_scan().plan().await?;
            let mut shown = events(&table, plan.splits()).await?;
            shown.sort();
            Ok(shown)
        };
        // Rows of append tables that a compaction rewrote show again.
        let to_four: &[&str] = if keyed { &["+I1A", "+I3c"] } else { &["+I1A", "+I1a", "+I2b", "+I3c"] };
        assert_eq!(diff("1,4").await?, to_four);
        assert_eq!(diff("one,four").await?, to_four);
        assert_eq!(diff("2,3").await?, if keyed { &[][..] } else { &["+I1A", "+I1a", "+I2b"] });
        assert_eq!(diff("4,5").await?, ["+I7z"]);
        if keyed {
            // Where deletes are kept, keys that are gone have a row.
            let options = [("incremental-between", "4,5"), ("incremental-between-scan-mode", "diff")];
            let plan = with(&table, &options).await?.new_read_builder().new_scan().plan().await?;
            let mut shown = events_with(&table, plan.splits(), true).await?;
            shown.sort();
            assert_eq!(shown, ["+I7z", "-D1A", "-D2b", "-D3c"]);
        }
        assert!(diff("0,5").await.unwrap_err().to_string().contains("Snapshot 0 does not exist"));
        assert!(diff("one,5").await.unwrap_err().to_string().contains("Didn't find two tags"));
        assert!(diff("four,one").await.unwrap_err().to_string().contains("should be >= tag start four"));
        let as_range = [("incremental-between", "one,four"), ("incremental-between-tag-to-snapshot", "true")];
        let plan = with(&table, &as_range).await?.new_read_builder().new_scan().plan().await?;
        assert_eq!(events(&table, plan.splits()).await?, ["+I1A", "+I3c"]);
    }
    Ok(())
}

/// The events of all plans until the stream has nothing more, with the snapshot that each plan is of.
async fn drain(table: &Table, scan: &mut StreamScan) -> Result<Vec<String>> {
    let mut shown = Vec::new();
    while let Some(plan) = scan.plan().await? {
        let events = events(table, plan.splits()).await?;
        let kind = if plan.splits().iter().all(|s| s.streaming) { "" } else { "full " };
        shown.push(format!("{}: {kind}{}", plan.snapshot_id().unwrap(), events.join(" ")));
    }
    Ok(shown)
}

#[tokio::test]
async fn streams_start_as_they_are_asked() -> Result<()> {
    let w = warehouse().await?;
    let table = history(&w, true).await?;
    let time = |id: i64| {
        let table = table.clone();
        async move { table.snapshots().get(id).await.map(|s| s.time_millis.to_string()) }
    };
    let (fourth, late) = (time(4).await?, "99999999999999".to_owned());
    let from_time =
        |time: &str| vec![("scan.mode", "from-timestamp".to_owned()), ("scan.timestamp-millis", time.to_owned())];
    let mode = |mode: &str| vec![("scan.mode", mode.to_owned())];
    let snapshot = |mode: &str, id: &str| vec![("scan.mode", mode.to_owned()), ("scan.snapshot-id", id.to_owned())];
    type Case<'a> = (Vec<(&'a str, String)>, &'a [&'a str], i64);
    let cases: Vec<Case<'_>> = vec![
        (vec![], &["5: full +I7z", "6: +I8y"], 7),
        (mode("latest"), &["6: +I8y"], 7),
        (mode("compacted-full"), &["3: full +I1A +I2b", "4: +I3c", "6: +I8y"], 7),
        (snapshot("from-snapshot", "2"), &["2: +I1A", "4: +I3c", "6: +I8y"], 7),
        (snapshot("from-snapshot", "6"), &["6: +I8y"], 7),
        (snapshot("from-snapshot-full", "2"), &["2: full +I1A +I2b", "4: +I3c", "6: +I8y"], 7),
        (from_time(&fourth), &["4: +I3c", "6: +I8y"], 7),
        (from_time(&late), &["6: +I8y"], 7),
        (
            vec![("streaming-read-overwrite", "true".to_owned()), ("scan.snapshot-id", "5".to_owned())],
            &["5: -D1A -D2b -D3c +I7z", "6: +I8y"],
            7,
        ),
    ];
    let mut streams = Vec::new();
    for (options, expected, next) in &cases {
        let options: Vec<(&str, &str)> = options.iter().map(|(k, v)| (*k, v.as_str())).collect();
        let mut scan = with(&table, &options).await?.new_read_builder().new_stream_scan()?;
        assert_eq!(scan.checkpoint(), None);
        let shown = drain(&table, &mut scan).await?;
        streams.push((scan, shown, *expected, *next, options.join_text()));
    }
    write(&table, &[(8, "y")]).await?;
    for (mut scan, mut shown, expected, next, options) in streams {
        shown.extend(drain(&table, &mut scan).await?);
        assert_eq!(shown, expected, "{options}");
        assert_eq!(scan.checkpoint(), Some(next), "{options}");
    }
    Ok(())
}

trait JoinText {
    fn join_text(&self) -> String;
}

impl JoinText for Vec<(&str, &str)> {
    fn join_text(&self) -> String {
        self.iter().map(|(k, v)| format!("{k}={v}")).collect::<Vec<_>>().join(";")
    }
}

#[tokio::test]
async fn streams_of_other_kinds_of_reads_are_refused() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    let cases = [
        (vec![("scan.mode", "latest-delta")], "batch reads only"),
        (vec![("scan.tag-name", "x")], "batch reads only"),
        (vec![("scan.watermark", "7")], "batch reads only"),
        (vec![("scan.version", "x")], "batch reads only"),
        (vec![("incremental-between", "1,2")], "Cannot read incremental in streaming mode."),
        (vec![("consumer-id", "../x")], "the id of a consumer"),
    ];
    for (options, part) in cases {
        let error = with(&table, &options).await?.new_read_builder().new_stream_scan().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::InvalidConfig | ErrorKind::InvalidInput), "{error}");
        assert!(error.to_string().contains(part), "{error}");
    }
    Ok(())
}

#[tokio::test]
async fn progress_is_the_caller_s_and_the_consumer_s() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    let options = [("consumer-id", "me")];
    let consumed = with(&table, &options).await?;
    let mut scan = consumed.new_read_builder().new_stream_scan()?;
    assert!(scan.plan().await?.is_none());
    assert_eq!(scan.checkpoint(), None);
    scan.notify_checkpoint_complete(scan.checkpoint()).await?;
    assert_eq!(table.consumers().next_snapshot("me").await?, None);
    for (id, value) in [(1, "a"), (2, "b"), (3, "c")] {
        write(&table, &[(id, value)]).await?;
    }
    assert_eq!(drain(&table, &mut scan).await?, ["3: full +I1a +I2b +I3c"]);
    write(&table, &[(4, "d")]).await?;
    write(&table, &[(5, "e")]).await?;
    let before = scan.checkpoint();
    assert_eq!(drain(&table, &mut scan).await?, ["4: +I4d", "5: +I5e"]);
    scan.restore(before)?;
    assert_eq!(drain(&table, &mut scan).await?, ["4: +I4d", "5: +I5e"]);
    scan.notify_checkpoint_complete(Some(5)).await?;
    // Whatever the options say.
    let started = with(&table, &[("consumer-id", "me"), ("scan.snapshot-id", "1")]).await?;
    assert_eq!(drain(&table, &mut started.new_read_builder().new_stream_scan()?).await?, ["5: +I5e"]);
    let anew = with(&table, &[("consumer-id", "me"), ("consumer.ignore-progress", "true")]).await?;
    let mut anew = anew.new_read_builder().new_stream_scan()?;
    assert_eq!(drain(&table, &mut anew).await?, ["5: full +I1a +I2b +I3c +I4d +I5e"]);
    anew.restore_full(2)?;
    assert_eq!(drain(&table, &mut anew).await?, ["2: full +I1a +I2b", "3: +I3c", "4: +I4d", "5: +I5e"]);
    assert_eq!(anew.restore(Some(0)).unwrap_err().kind(), ErrorKind::InvalidInput);
    Ok(())
}

#[tokio::test]
async fn a_stream_that_waits_looks_at_the_range_now_and_then() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[]).await?;
    write(&table, &[(1, "a")]).await?;
    let mut scan = table.new_read_builder().new_stream_scan()?;
    scan.restore(Some(9))?;
    for round in 0..2 {
        for poll in 1..16 {
            assert!(scan.plan().await?.is_none(), "{round} {poll}");
        }
        let error = scan.plan().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.message().contains("too big: it is 9, but the snapshots are 1 to 1"), "{error}");
        assert_eq!(scan.checkpoint(), Some(9));
    }
    scan.restore(Some(2))?;
    for _ in 0..40 {
        assert!(scan.plan().await?.is_none());
    }
    write(&table, &[(2, "b")]).await?;
    assert_eq!(drain(&table, &mut scan).await?, ["2: +I2b"]);
    Ok(())
}

#[tokio::test]
async fn positions_select_rows_across_files() -> Result<()> {
    let w = warehouse().await?;
    let small = [("source.split.target-size", "1 b")];
    for options in [&[][..], &small] {
        let table = w.table(&format!("t{}", options.len()), false, options).await?;
        for first in [0, 2, 4, 6] {
            write(&table, &[(first, "x"), (first + 1, "y")]).await?;
        }
        let scan = table.new_read_builder().new_scan();
        let select = async |positions: RowPositions| -> Result<Vec<i32>> {
            let plan = scan.clone().with_row_positions(positions)?.plan().await?;
            let counted: i64 = plan.splits().iter().map(Split::row_count).sum();
            let ids: Vec<i32> = events(&table, plan.splits())
                .await?
                .iter()
                .map(|event| event[2..event.len() - 1].parse().unwrap())
                .collect();
            assert_eq!(ids.len() as i64, counted);
            assert!(plan.splits().iter().flat_map(|s| &s.files).count() <= counted as usize, "no file without a row");
            Ok(ids)
        };
        assert_eq!(select(RowPositions::slice(1, 5)?).await?, [1, 2, 3, 4]);
        assert_eq!(select(RowPositions::slice(7, 99)?).await?, [7]);
        assert_eq!(select(RowPositions::slice(8, 9)?).await?, [0; 0]);
        let shards = [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7]];
        for (index, expected) in (0..).zip(shards) {
            assert_eq!(select(RowPositions::shard(index, 3)?).await?, expected);
        }
        let both = scan.clone().with_row_positions(RowPositions::slice(0, 1)?)?;
        let error = both.with_row_positions(RowPositions::shard(0, 1)?).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    assert!(
        RowPositions::slice(3, 3).is_err() && RowPositions::shard(3, 3).is_err() && RowPositions::shard(0, 0).is_err()
    );
    let keyed = w.table("k", true, &[]).await?.new_read_builder().new_scan();
    let error = keyed.with_row_positions(RowPositions::slice(0, 1)?).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    Ok(())
}

#[tokio::test]
async fn selectors_that_a_table_stores_apply() -> Result<()> {
    let w = warehouse().await?;
    let table = w.table("t", true, &[("scan.snapshot-id", "1")]).await?;
    assert_eq!(
        table.for_reading().await.unwrap_err().kind(),
        ErrorKind::NotFound(paimon_core::error::Entity::Snapshot)
    );
    write(&table, &[(1, "a")]).await?;
    write(&table, &[(2, "b")]).await?;
    assert_eq!(read(&table).await?, rows(&[(1, "a")]));
    assert_eq!(table.for_reading().await?.pinned().map(|s| s.id), Some(1));
    let second = with(&table, &[("scan.tag-name", "x")]).await.unwrap_err();
    assert!(second.to_string().contains("must set only one key in [scan.snapshot-id,scan.tag-name"), "{second}");

    let changes = w.table("c", true, &[("scan.mode", "latest-delta")]).await?;
    write(&changes, &[(1, "a")]).await?;
    write(&changes, &[(2, "b")]).await?;
    assert_eq!(read(&changes).await?, rows(&[(2, "b")]));
    Ok(())
}
