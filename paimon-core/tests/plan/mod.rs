//! Plans of tables that Java wrote, against the plans of Java. The fixtures hold metadata only: planning opens no data file.

pub(crate) mod filter;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use paimon_core::scan::{Plan, Split};
use paimon_core::{CatalogFactory, Identifier, Options, Table};
use serde_json::{Value, json};

/// The table of a warehouse with dynamic options.
pub(crate) async fn open(warehouse: &Path, table: &str, options: &Value) -> paimon_core::Result<Table> {
    let catalog: Options = [("warehouse", warehouse.to_str().unwrap())].into_iter().collect();
    let catalog = CatalogFactory::create(catalog).await?;
    let table = catalog.get_table(&Identifier::new("ora", table)).await?;
    let dynamic: BTreeMap<String, Option<String>> = options
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().map(str::to_owned)))
        .collect();
    if dynamic.is_empty() { Ok(table) } else { table.with_dynamic_options(&dynamic).await }
}

/// The lines of a plan as the fixtures have them, in the order of their text.
pub(crate) fn lines(table: &Table, plan: &Plan) -> Vec<String> {
    let mut lines: Vec<String> = plan.splits().iter().map(|split| line(table, split).to_string()).collect();
    lines.sort();
    lines
}

fn line(table: &Table, split: &Split) -> Value {
    let partition = table.paths().partition_path(table.schema(), table.options(), &split.partition).unwrap();
    let vectors = split.deletion_files.iter().flatten().map(|file| match file {
        Some(f) => json!([f.path.rsplit('/').next(), f.offset, f.length, f.cardinality]),
        None => Value::Null,
    });
    let slash = if partition.is_empty() { "" } else { "/" };
    in_any_order(json!({
        "_partition": partition + slash,
        "_bucket": split.bucket,
        "total_buckets": split.total_buckets,
        "snapshot": split.snapshot_id,
        "raw_convertible": split.raw_convertible,
        "rows": split.row_count(),
        "files": split.files.iter().map(|f| f.file_name.as_str()).collect::<Vec<_>>(),
        "deletion_files": vectors.collect::<Vec<_>>(),
    }))
}

/// The order of the runs of a section, which are merged anyway, depends on the inside of Java's queue.
fn in_any_order(mut line: Value) -> Value {
    if line["raw_convertible"] == json!(false) {
        let files = line["files"].as_array_mut().unwrap();
        files.sort_by_key(Value::to_string);
    }
    line
}

/// Java's lines in the same form: a list of deletion files that are all absent counts as none.
pub(crate) fn expected(lines: &str) -> Vec<String> {
    let mut lines: Vec<String> = lines
        .lines()
        .map(|text| {
            let mut line: Value = serde_json::from_str(text).unwrap();
            if line["deletion_files"].as_array().unwrap().iter().all(Value::is_null) {
                line["deletion_files"] = json!([]);
            }
            in_any_order(line).to_string()
        })
        .collect();
    lines.sort();
    lines
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/plans").join(name)
}

async fn check(name: &str) {
    let folder = golden(name);
    let views: Value = serde_json::from_str(&std::fs::read_to_string(folder.join("views.json")).unwrap()).unwrap();
    for view in views.as_array().unwrap() {
        let table = open(&folder, view["table"].as_str().unwrap(), &view["options"]).await.unwrap();
        let mut builder = table.new_read_builder();
        if let Some(text) = view["filter"].as_str() {
            builder = builder.with_filter(filter::parse(text, &table.schema().row_type()));
        }
        let plan = builder.new_scan().plan().await.unwrap();
        let java = view["plan"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        assert_eq!(lines(&table, &plan), expected(&java), "{name} {}", view["label"]);
    }
}

#[tokio::test]
async fn sections_of_a_keyed_table() {
    check("pk_sections").await;
}

#[tokio::test]
async fn splits_of_all_sizes() {
    check("splits").await;
}

#[tokio::test]
async fn two_hundred_partitions() {
    check("part_200").await;
}

#[tokio::test]
async fn dense_and_full_statistics() {
    check("stats_columns").await;
}

async fn plan(name: &str, table: &str, filter: &str, limit: Option<usize>) -> Plan {
    let table = open(&golden(name), table, &json!({})).await.unwrap();
    let mut builder = table.new_read_builder();
    if !filter.is_empty() {
        builder = builder.with_filter(filter::parse(filter, &table.schema().row_type()));
    }
    if let Some(limit) = limit {
        builder = builder.with_limit(limit);
    }
    builder.new_scan().plan().await.unwrap()
}

#[tokio::test]
async fn partitions_are_pruned_by_manifest_and_by_entry() {
    let all = plan("part_200", "t", "", None).await;
    assert_eq!(all.splits().len(), 200);
    for (filter, partitions) in [
        ("region = \"r3\" and day = 20240111", 1),
        ("day >= 20240110 and day < 20240112", 16),
        ("region in [\"r0\", \"r7\"] and day = 20240100", 2),
        ("region = \"r1\" and day = 20240101 || region = \"r2\" and day = 20240102", 2),
        ("region = \"r99\"", 0),
        // The column of the value does not hold back the partition part.
        ("region = \"r3\" and day = 20240111 and n >= 0", 1),
    ] {
        let plan = plan("part_200", "t", filter, None).await;
        assert!(plan.trace().files_after_partition <= 4 * partitions, "{filter}");
        assert_eq!(plan.splits().len(), partitions, "{filter}");
        assert_eq!(plan.snapshot_id(), all.snapshot_id());
    }
    assert_eq!(plan("part_200", "t", "region = \"r99\"", None).await.trace().manifests_read, 0);
}

#[tokio::test]
async fn buckets_are_chosen_by_the_count_of_each_file() {
    // One partition was rewritten with five buckets, the other still has two; the option says five.
    for (filter, most) in [("p = \"old\" and id = 7", 2), ("p = \"new\" and id = 8", 5)] {
        let plan = plan("bucket_rescale", "p", filter, None).await;
        let splits = plan.splits();
        assert_eq!(splits.len(), 1, "{filter}: {splits:?}");
        assert_eq!(splits[0].total_buckets, Some(most), "{filter}");
        assert!(plan.trace().files_after_bucket < plan.trace().files_after_partition, "{filter}");
    }
    assert_eq!(plan("bucket_rescale", "p", "p = \"old\" and id = 7 and v = \"absent\"", None).await.splits().len(), 0);
}

#[tokio::test]
async fn a_limit_leaves_enough_rows() {
    let none = plan("splits", "a", "", Some(0)).await;
    assert!(none.splits().is_empty() && none.snapshot().is_some());
    let all = plan("splits", "a", "", None).await;
    let total: i64 = all.splits().iter().map(Split::row_count).sum();
    let few = plan("splits", "a", "", Some(1)).await;
    assert_eq!(few.splits().iter().map(|s| s.files.len()).sum::<usize>(), 1);
    let many = plan("splits", "a", "", Some(usize::MAX)).await;
    assert_eq!(many.splits().iter().map(Split::row_count).sum::<i64>(), total);
    // A test of a value keeps everything.
    let filtered = plan("splits", "a", "id >= 0", Some(1)).await;
    assert_eq!(filtered.splits().iter().map(Split::row_count).sum::<i64>(), total);
}
