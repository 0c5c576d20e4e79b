//! Every decoder with known files and what is made of them by damage, in a process with little memory.

use std::process::Command;
use std::time::{Duration, Instant};

use super::TARGETS;
use super::mutations::Mutations;

/// Tells the child process where it leaves the input that it works on.
const INPUT: &str = "PAIMON_TEST_FUZZING";
/// How often inputs of each decoder are damaged, unless `FUZZING_ROUNDS` says otherwise.
const ROUNDS: usize = 800;
/// Whole data files take longer.
const DATA_FILE_ROUNDS: usize = 100;
/// What a decoder may take for any input.
const MAX_MEMORY_KIB: u64 = 512 << 10;
/// What the process takes besides: its code and the stacks of its threads.
const OWN_MEMORY_KIB: u64 = 256 << 10;
const MAX_TIME: Duration = Duration::from_secs(10);

fn rounds(target: &str) -> usize {
    let given = std::env::var("FUZZING_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    given.unwrap_or(if matches!(target, "parquet" | "orc" | "avro") { DATA_FILE_ROUNDS } else { ROUNDS })
}

/// Runs in a process of its own.
#[test]
fn child() {
    let Ok(input) = std::env::var(INPUT) else { return };
    for target in TARGETS {
        let seeds = target.seeds();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        let mut mutations = Mutations::new();
        let damaged: Vec<_> = (0..rounds(target.name)).map(|_| mutations.next(&seeds)).collect();
        let start = Instant::now();
        for bytes in seeds.iter().chain(&damaged) {
            std::fs::write(&input, bytes).unwrap();
            let start = Instant::now();
            target.run(bytes);
            assert!(start.elapsed() < MAX_TIME, "{:?} for {} bytes", start.elapsed(), bytes.len());
        }
        println!("{}: {} seeds, {:?}", target.name, seeds.len(), start.elapsed());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn damaged_bytes_take_neither_panics_nor_memory_nor_time() {
    let exe = std::env::current_exe().unwrap();
    let code = std::fs::metadata(&exe).unwrap().len() >> 10;
    let limit = MAX_MEMORY_KIB + OWN_MEMORY_KIB + code;
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("input");
    let output = Command::new("sh")
        .args(["-c", &format!("ulimit -v {limit}; exec \"$0\" \"$@\"")])
        .arg(exe)
        .args(["--exact", "fuzzing::tests::child", "--nocapture", "--test-threads=1"])
        // An arena of the allocator reserves address space that counts.
        .envs([("MALLOC_ARENA_MAX", "1"), (INPUT, input.to_str().unwrap())])
        .output()
        .unwrap();
    if !output.status.success() {
        let kept = std::env::temp_dir().join("fuzzing-input");
        let bytes = std::fs::copy(&input, &kept).unwrap_or_default();
        let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        panic!("{}, the input of {bytes} bytes is at {}\n{stdout}\n{stderr}", output.status, kept.display());
    }
}
