//! Gives the decoder that `FUZZ_TARGET` names what the fuzzer makes up; leaves its seeds in the folder `FUZZ_SEEDS` first.
//! With an empty `FUZZ_TARGET` it prints the names of all.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use paimon_core::fuzzing::{TARGETS, Target};

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    TARGETS.into_iter().find(|t| t.name == name).unwrap_or_else(|| panic!("FUZZ_TARGET must be one of {}", names()))
});

fn names() -> String {
    TARGETS.map(|target| target.name).join(" ")
}

fn prepare() {
    if std::env::var_os("FUZZ_TARGET").is_some_and(|name| name.is_empty()) {
        println!("{}", names());
        std::process::exit(0);
    }
    if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
        for (i, seed) in TARGET.seeds().iter().enumerate() {
            std::fs::write(Path::new(&folder).join(format!("seed-{i}")), seed).expect("a folder for seeds");
        }
    }
    if TARGET.name == "parquet" {
        // The library panics on damage, which the reader makes an error.
        std::panic::set_hook(Box::new(|_| {}));
    }
}

fuzz_target!(init: prepare(), |bytes: &[u8]| TARGET.run(bytes));
