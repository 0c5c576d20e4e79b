//! Processes that are killed while they write, compact and expire, and a disk that is full.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use paimon_core::maintain::{ExpireConfig, expire_snapshots};
use paimon_core::{Identifier, Result, Table};

use crate::common::{Warehouse, catalog_at, read, warehouse, write};

/// Tells a child process what to do: warehouse, table, first number.
const CHILD: &str = "PAIMON_TEST_KILLED";
/// How long all kills may take together.
const BUDGET: Duration = Duration::from_secs(20);
const KILLS: u64 = 60;
/// Keys that are written again and again.
const KEYS: i32 = 7;
/// Snapshots that never expire.
const KEPT: usize = 3;

/// Writes numbers without end, says each that is committed, and compacts and expires in between.
#[tokio::test]
async fn child() -> Result<()> {
    let Ok(what) = std::env::var(CHILD) else { return Ok(()) };
    let parts: Vec<&str> = what.split('|').collect();
    let table = catalog_at(parts[0]).await?.get_table(&Identifier::new("db", parts[1])).await?;
    for number in parts[2].parse::<i32>().unwrap().. {
        write(&table, &[(number % KEYS, &number.to_string()), (1_000 + number, "")]).await?;
        println!("committed {number}");
        if number % 3 == 0 {
            table.new_compact_builder().execute().await?;
            println!("compacted {number}");
        }
        if number % 4 == 0 {
            let kept = u64::try_from(KEPT).unwrap();
            let config =
                ExpireConfig { retain_max: kept, retain_min: kept, ..ExpireConfig::from_options(table.options())? };
            expire_snapshots(&table, &config).await?;
        }
    }
    Ok(())
}

fn start(w: &Warehouse, table: &str, first: i32) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "kill::child", "--nocapture"]);
    command.env(CHILD, format!("{}|{table}|{first}", w.directory.path().display()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Checks a table that holds all numbers below `first` and maybe further ones; gives the next number to write.
async fn check(table: &Table, keyed: bool, first: i32) -> i32 {
    let rows = read(table).await.unwrap();
    let mut numbers: Vec<i32> = rows.iter().filter(|r| r.0 >= 1_000).map(|r| r.0 - 1_000).collect();
    numbers.sort_unstable();
    let next = i32::try_from(numbers.len()).unwrap();
    assert_eq!(numbers, (0..next).collect::<Vec<_>>(), "a commit is lost or there twice");
    assert!(next >= first, "numbers up to {first} were committed, but those from {next} on are not there");
    let marks: Vec<(i32, String)> = rows.into_iter().filter(|r| r.0 < KEYS).collect();
    if keyed {
        let newest: BTreeMap<i32, String> = (0..next).map(|n| (n % KEYS, n.to_string())).collect();
        assert_eq!(marks, newest.into_iter().collect::<Vec<_>>());
    } else {
        assert_eq!(marks.len(), numbers.len());
    }
    // Of those before, some may have been about to expire: their files go before they do.
    for snapshot in table.snapshots().list().await.unwrap().into_iter().rev().take(KEPT) {
        read(&table.pinned_to(snapshot)).await.unwrap();
    }
    next
}

#[tokio::test]
async fn tables_survive_processes_that_are_killed() {
    let w = warehouse().await.unwrap();
    let end = Instant::now() + BUDGET;
    let options = [("manifest.merge-min-count", "3"), ("snapshot.num-retained.min", "3")];
    let mut tables = Vec::new();
    for keyed in [false, true] {
        let name = if keyed { "k" } else { "a" };
        tables.push((name, keyed, w.table(name, keyed, &options).await.unwrap(), 0));
    }
    let mut kills = 0;
    for round in 0..KILLS {
        if Instant::now() > end {
            break;
        }
        for (name, keyed, table, next) in &mut tables {
            let mut child = start(&w, name, *next).spawn().unwrap();
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            // The child is killed some time after its first, second or third commit, which differs from round to round.
            let mut committed = *next;
            for _ in 0..=round % 5 {
                let line = lines.find(|l| l.as_ref().unwrap().contains("committed ")).unwrap().unwrap();
                committed = line.rsplit(' ').next().unwrap().parse::<i32>().unwrap() + 1;
            }
            tokio::time::sleep(Duration::from_micros(round * 7_919 % 30_000)).await;
            child.kill().unwrap();
            child.wait().unwrap();
            *next = check(table, *keyed, committed).await;
            kills += 1;
        }
    }
    assert!(kills > 4, "only {kills} processes were killed");
    // Nothing that was left behind is in the way.
    for (_, keyed, table, next) in &tables {
        write(table, &[(next % KEYS, &next.to_string()), (1_000 + next, "")]).await.unwrap();
        table.new_compact_builder().execute().await.unwrap();
        assert_eq!(check(table, *keyed, next + 1).await, next + 1);
    }
}

/// All files below a directory by path, with their sizes.
fn files(directory: &Path, out: &mut BTreeMap<String, u64>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.insert(path.display().to_string(), path.metadata().unwrap().len());
        }
    }
}

/// What a child does whose files may not grow beyond a limit: commits once, and says how that ended.
#[tokio::test]
async fn limited_child() -> Result<()> {
    const BIG: usize = 200_000;
    let Ok(what) = std::env::var("PAIMON_TEST_LIMITED") else { return Ok(()) };
    let (warehouse, name) = what.split_once('|').unwrap();
    let table = catalog_at(warehouse).await?.get_table(&Identifier::new("db", name)).await?;
    // Text that cannot be compressed to nothing, so that the data file is larger than the limit.
    let text: String = (0..BIG).map(|i| char::from(b'a' + u8::try_from((i * i / 7 + i) % 26).unwrap())).collect();
    let builder = table.new_batch_write_builder();
    let mut writer = builder.new_write()?;
    let outcome = match writer.write(&crate::common::batch(&table, &[(1, &text)])).await {
        Ok(()) => writer.prepare_commit().await,
        Err(error) => Err(error),
    };
    match outcome {
        Ok(messages) => println!("ended {:?}", builder.new_commit().commit(messages).await),
        Err(error) => {
            writer.abort().await;
            println!("ended {:?} {error}", error.kind());
        }
    }
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn a_full_disk_leaves_nothing_behind() {
    let w = warehouse().await.unwrap();
    for keyed in [false, true] {
        let name = if keyed { "k" } else { "a" };
        let table = w.table(name, keyed, &[("file.compression", "none"), ("parquet.enable.dictionary", "false")]).await;
        let table = table.unwrap();
        write(&table, &[(1, "there")]).await.unwrap();
        let mut before = BTreeMap::new();
        files(w.directory.path(), &mut before);
        // Writes beyond the limit fail as on a full disk, after as much as fits was written.
        let program = std::env::current_exe().unwrap();
        let script = "trap '' XFSZ; ulimit -f 60; exec \"$0\" --exact kill::limited_child --nocapture";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(program);
        command.env("PAIMON_TEST_LIMITED", format!("{}|{name}", w.directory.path().display()));
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("ended DiskFull") && text.contains(".parquet"), "{text}");
        let mut after = BTreeMap::new();
        files(w.directory.path(), &mut after);
        assert_eq!(after, before);
        assert_eq!(read(&table).await.unwrap(), crate::common::rows(&[(1, "there")]));
    }
}
