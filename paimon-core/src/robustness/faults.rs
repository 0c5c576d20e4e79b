//! Every operation of the store fails once or from then on, in each way it can, while a table is changed.
//!
//! After each failure the table is read from a copy of its files: nothing that was committed is lost, the change is visible
//! as a whole or not at all, as the outcome said, and every snapshot still has its rows. What the failure left behind is
//! named by nothing, and nothing is left by a failure that happened once.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use super::*;
use crate::storage::faults::{Mode, Plan};

/// What takes long is checked after one failure of so many.
const SAMPLE: usize = 4;

type Change = for<'a> fn(&'a Table) -> Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A table before a change, and what the change does to it.
struct Case {
    before: Image,
    change: Change,
    rows_before: Vec<Row>,
    rows_after: Vec<Row>,
    history: BTreeMap<i64, Vec<Row>>,
    /// Whether trying again removes what any failure leaves behind.
    cleans_up: bool,
}

impl Case {
    async fn new(before: Image, change: Change) -> Self {
        let world = World::of(&before).await;
        let table = world.table().await.unwrap();
        let (rows_before, history) = (rows(&table).await.unwrap(), history(&table, usize::MAX).await.unwrap());
        assert_eq!(orphans(&before).await.unwrap(), Vec::<String>::new());
        change(&table).await.unwrap();
        let after = world.image().await;
        let rows_after = rows(&table).await.unwrap();
        assert_eq!(orphans(&after).await.unwrap(), Vec::<String>::new());
        Self { before, change, rows_before, rows_after, history, cleans_up: false }
    }

    /// Lets every operation fail in turn.
    async fn run(&self, mode: Mode, forever: bool) {
        for at in 0.. {
            if !self.fails(Plan { at, forever, mode }).await {
                assert!(at > 1, "the change has only {at} operations");
                return;
            }
        }
    }

    /// Lets one operation fail; `false` if the change did not have so many.
    async fn fails(&self, plan: Plan) -> bool {
        let world = World::of(&self.before).await;
        let table = world.table().await.unwrap();
        world.faults.arm(plan);
        let outcome = (self.change)(&table).await;
        let hits = world.faults.disarm();
        let what = format!("{plan:?}, failed: {hits:?}, outcome: {outcome:?}");
        let image = world.image().await;
        let is_visible = self.check_rows(&image, &outcome, &what).await;
        if let Err(error) = &outcome {
            assert!(error.to_string().contains(&world.location), "no file is named: {what}");
            assert_ne!(error.kind(), ErrorKind::Internal, "{what}");
        }
        self.check_leftovers(&image, &outcome, plan, &hits, &what).await;
        if self.cleans_up || (!is_visible && plan.at.is_multiple_of(SAMPLE)) {
            // The way is free for the next try, by the same handle.
            (self.change)(&table).await.unwrap_or_else(|e| panic!("{e}, after {what}"));
            let image = world.image().await;
            let again = World::of(&image).await.table().await.unwrap();
            assert_eq!(rows(&again).await.unwrap(), self.rows_after, "{what}");
            if self.cleans_up {
                assert_eq!(orphans(&image).await.unwrap(), Vec::<String>::new(), "{what}");
            }
        }
        !hits.is_empty()
    }

    /// Checks that all rows are there; gives whether the change is visible.
    async fn check_rows(&self, image: &Image, outcome: &Result<()>, what: &str) -> bool {
        let table = World::of(image).await.table().await.unwrap();
        let found = rows(&table).await.unwrap_or_else(|e| panic!("{e}, after {what}"));
        match outcome {
            Ok(()) => assert_eq!(found, self.rows_after, "{what}"),
            Err(error) if error.kind() == ErrorKind::CommitUnknown => {
                assert!(found == self.rows_before || found == self.rows_after, "{what}");
            }
            Err(_) => assert_eq!(found, self.rows_before, "{what}"),
        }
        for (id, found) in history(&table, 2).await.unwrap_or_else(|e| panic!("{e}, after {what}")) {
            let expected = self.history.get(&id).unwrap_or(&self.rows_after);
            assert_eq!(&found, expected, "snapshot {id}, {what}");
        }
        outcome.is_ok() || found != self.rows_before
    }

    async fn check_leftovers(&self, image: &Image, outcome: &Result<()>, plan: Plan, hits: &[String], what: &str) {
        let orphans = orphans(image).await.unwrap();
        let unknown = matches!(outcome, Err(e) if e.kind() == ErrorKind::CommitUnknown);
        let kept_from_deleting = plan.forever && plan.mode != Mode::DiskFull;
        if !unknown && !kept_from_deleting && !hits.iter().any(|hit| hit.starts_with("Delete")) {
            assert_eq!(orphans, Vec::<String>::new(), "{what}");
        }
        if orphans.is_empty() || !plan.at.is_multiple_of(SAMPLE) {
            return;
        }
        let mut rest = image.clone();
        rest.retain(|(path, _)| !orphans.contains(path));
        let table = World::of(&rest).await.table().await.unwrap();
        let (found, expected) = (rows(&table).await, rows(&World::of(image).await.table().await.unwrap()).await);
        assert_eq!(found.unwrap(), expected.unwrap(), "{what}");
    }

    async fn run_all(&self) {
        for mode in [Mode::Before, Mode::AnswerLost, Mode::Short] {
            self.run(mode, false).await;
        }
        // As if the process were killed, and a disk that stays full.
        for mode in [Mode::Before, Mode::DiskFull] {
            self.run(mode, true).await;
        }
    }
}

/// Three commits in two partitions, of which the next one merges the manifests.
async fn filled(keyed: bool, options: &[(&str, &str)]) -> Image {
    let mut all = vec![("manifest.merge-min-count", "3"), ("snapshot.num-retained.min", "20")];
    all.extend(options);
    let world = World::of(&empty(keyed, &all).await).await;
    let table = world.table().await.unwrap();
    for i in 0..3 {
        write(&table, &[("a", i, "old"), ("b", 7, "old")], None).await.unwrap();
    }
    world.image().await
}

fn append(table: &Table) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
    Box::pin(write(table, &[("a", 1, "new"), ("c", 9, "new")], None))
}

fn overwrite(table: &Table) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
    Box::pin(write(table, &[("a", 1, "new"), ("c", 9, "new")], Some(Overwrite::Dynamic)))
}

fn compact(table: &Table) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
    Box::pin(async { table.new_compact_builder().execute().await.map(drop) })
}

fn append_and_expire(table: &Table) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
    Box::pin(async {
        let keep = ["snapshot.num-retained.min", "snapshot.num-retained.max"];
        let options = keep.map(|key| (key.to_owned(), Some("2".to_owned()))).into();
        append(&table.with_dynamic_options(&options).await?).await
    })
}

fn tag(table: &Table) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
    Box::pin(async {
        let latest = table.snapshots().get(3).await?;
        table.tags().create("new", &latest, None, 0, true).await
    })
}

fn expire_most(table: &Table) -> Pin<Box<dyn Future<Output = Result<()>> + Send + '_>> {
    Box::pin(expire(table, 2))
}

#[tokio::test]
async fn appending_survives_every_failure() {
    Case::new(filled(false, &[]).await, append).await.run_all().await;
}

#[tokio::test]
async fn upserting_survives_every_failure() {
    Case::new(filled(true, &[]).await, append).await.run_all().await;
}

#[tokio::test]
async fn overwriting_survives_every_failure() {
    Case::new(filled(true, &[]).await, overwrite).await.run_all().await;
}

#[tokio::test]
async fn compacting_an_append_table_survives_every_failure() {
    Case::new(filled(false, &[]).await, compact).await.run_all().await;
}

#[tokio::test]
async fn compacting_a_keyed_table_survives_every_failure() {
    Case::new(filled(true, &[]).await, compact).await.run_all().await;
}

/// Compacted, so that data files go with their snapshots, and tagged, so that some stay.
#[tokio::test]
async fn expiring_survives_every_failure() {
    let world = World::of(&filled(true, &[]).await).await;
    let table = world.table().await.unwrap();
    let second = table.snapshots().get(2).await.unwrap();
    table.tags().create("kept", &second, None, 0, false).await.unwrap();
    compact(&table).await.unwrap();
    append(&table).await.unwrap();
    let case = Case::new(world.image().await, expire_most).await;
    Case { cleans_up: true, ..case }.run_all().await;
}

/// A commit that expires snapshots after it.
#[tokio::test]
async fn committing_and_expiring_survives_every_failure() {
    let short = [("snapshot.num-retained.max", "20"), ("snapshot.time-retained", "1 d")];
    let world = World::of(&filled(true, &short).await).await;
    compact(&world.table().await.unwrap()).await.unwrap();
    Case::new(world.image().await, append_and_expire).await.run_all().await;
}

#[tokio::test]
async fn reading_names_the_file_that_fails() {
    let image = filled(true, &[]).await;
    let expected = rows(&World::of(&image).await.table().await.unwrap()).await.unwrap();
    for mode in [Mode::Before, Mode::AnswerLost] {
        for at in 0.. {
            let world = World::of(&image).await;
            let table = world.table().await.unwrap();
            world.faults.arm(Plan { at, forever: false, mode });
            let found = rows(&table).await;
            let hits = world.faults.disarm();
            match found {
                Ok(found) => assert_eq!(found, expected),
                Err(error) => assert!(error.to_string().contains(&world.location), "{error}, {hits:?}"),
            }
            if hits.is_empty() {
                assert!(at > 10, "only {at} operations");
                break;
            }
            assert_eq!(rows(&table).await.unwrap(), expected, "{hits:?}");
        }
    }
}

#[tokio::test]
async fn tags_survive_every_failure() {
    Case::new(filled(false, &[]).await, tag).await.run_all().await;
}
