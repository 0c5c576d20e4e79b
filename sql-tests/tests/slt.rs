//! Runs every suite below `cases/`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failing test says where it failed")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sql_tests::Engine;
use sqllogictest::Runner;

fn suites(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() {
            suites(&path, found);
        } else if path.extension().is_some_and(|e| e == "slt") {
            found.push(path);
        }
    }
}

/// `# catalog-option KEY=VALUE` lines; `$TMP` is a scratch folder.
fn catalog_options(text: &str, scratch: &Path) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|l| l.strip_prefix("# catalog-option ")?.split_once('='));
    lines.map(|(k, v)| (k.trim().to_owned(), v.trim().replace("$TMP", &scratch.to_string_lossy()))).collect()
}

async fn run(path: PathBuf) -> Result<(), String> {
    let text = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let warehouse = Arc::new(folder.path().join("warehouse"));
    let options = Arc::new(catalog_options(&text, folder.path()));
    let mut runner = Runner::new(move || {
        let (warehouse, options) = (warehouse.clone(), options.clone());
        async move { Engine::new(&warehouse, &options).await }
    });
    // As sqllogictest runners do by default, runs of blanks count as one.
    runner.run_file_async(&path).await.map_err(|e| e.to_string())
}

#[test]
fn all_suites_pass() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(8 << 20).build().unwrap();
    let mut files = Vec::new();
    suites(&Path::new(env!("CARGO_MANIFEST_DIR")).join("cases"), &mut files);
    files.sort();
    assert!(!files.is_empty(), "no suites found");
    let mut failures = Vec::new();
    for file in files {
        if let Err(error) = runtime.block_on(run(file.clone())) {
            failures.push(format!("{}:\n{error}", file.display()));
        }
    }
    assert!(failures.is_empty(), "{} suites failed\n\n{}", failures.len(), failures.join("\n\n"));
}
