//! The rules of the read-path sheet on its worked examples.

use proptest::prelude::*;

use super::TableScan;
use super::testing::*;
use crate::error::{Entity, ErrorKind};
use crate::predicate::Predicate;
use crate::row::{BinaryRow, NullLayout};
use crate::spec::{BucketFunction, DataFileMeta, ManifestEntry, bucket_of};
use crate::types::testing::*;
use crate::types::{DataField, DataType, Datum};

const SMALL_SPLITS: (&str, &str) = ("source.split.target-size", "1 b");
const NO_COST: (&str, &str) = ("source.split.open-file-cost", "1 b");

fn keyed_table(options: &[(&str, &str)]) -> TestTable {
    let mut all = vec![("bucket", "1"), NO_COST];
    all.extend_from_slice(options);
    TestTable::new(&[("k", int()), ("v", string())], "", "k", &all)
}

fn append_table(options: &[(&str, &str)]) -> TestTable {
    TestTable::new(&[("k", int()), ("v", string())], "", "", options)
}

/// The file with bounds of its columns `k INT, v STRING`.
fn with_values(file: DataFileMeta, k: (i32, i32), v: &str) -> DataFileMeta {
    let value_stats = stats(
        &[int(), string()],
        &[(Some(Datum::Int(k.0)), Some(Datum::Int(k.1)), Some(0)), (Some(text(v)), Some(text(v)), Some(0))],
    );
    DataFileMeta { value_stats, ..file }
}

#[test]
fn sections_are_packed_whole() {
    let mut with_delete = keyed("f", 0, 210, 700);
    with_delete.delete_row_count = Some(1);
    let files = [
        keyed("a", 0, 1, 2),
        keyed("b", 0, 3, 4),
        keyed("c", 0, 5, 180),
        keyed("d", 0, 5, 190),
        keyed("e", 0, 200, 600),
        with_delete,
    ];
    let entries = files.map(add);
    assert_eq!(show(&keyed_table(&[SMALL_SPLITS]).plan(&entries, None, None)), ["a*", "b*", "c d", "e f"]);
    assert_eq!(show(&keyed_table(&[]).plan(&entries, None, None)), ["a b c d e f"]);
    // Known rows are 1 + 1.
    let small = keyed_table(&[SMALL_SPLITS]);
    assert_eq!(show(&small.plan(&entries, None, Some(1))), ["a*"]);
    assert_eq!(show(&small.plan(&entries, None, Some(2))), ["a*", "b*"]);
    assert_eq!(show(&small.plan(&entries, None, Some(5))).len(), 4);
}

#[test]
fn compacted_files_of_one_level_are_raw() {
    let table = keyed_table(&[SMALL_SPLITS]);
    let same = [add(keyed("b", 5, 3, 4)), add(keyed("a", 5, 1, 2))];
    // In the order of the manifests.
    assert_eq!(show(&table.plan(&same, None, None)), ["b*", "a*"]);
    let two_levels = [add(keyed("b", 5, 1, 4)), add(keyed("a", 4, 2, 3))];
    assert_eq!(show(&table.plan(&two_levels, None, None)), ["b a"]);
    let vectors = keyed_table(&[SMALL_SPLITS, ("deletion-vectors.enabled", "true")]);
    assert_eq!(show(&vectors.plan(&two_levels, None, None)), ["b*", "a*"]);
    let first_row = keyed_table(&[SMALL_SPLITS, ("merge-engine", "first-row")]);
    assert_eq!(show(&first_row.plan(&two_levels, None, None)), ["b*", "a*"]);
    // A retract, or a file of which nobody knows: planned raw, but not with a retract.
    let mut unknown = keyed("c", 5, 7, 8);
    unknown.delete_row_count = None;
    assert_eq!(show(&table.plan(&[same[0].clone(), add(unknown.clone())], None, None)), ["b*", "c*"]);
    unknown.delete_row_count = Some(2);
    assert_eq!(show(&table.plan(&[same[0].clone(), add(unknown)], None, None)), ["b*", "c"]);
}

#[test]
fn append_files_are_packed_in_order_of_writing() {
    let table = append_table(&[("source.split.target-size", "4 kb"), ("source.split.open-file-cost", "1 kb")]);
    let entries: Vec<_> = (0..6)
        .map(|i| add(DataFileMeta { file_size: 900, min_sequence_number: 5 - i, ..file(&format!("f{i}")) }))
        .collect();
    assert_eq!(show(&table.plan(&entries, None, None)), ["f5 f4 f3 f2*", "f1 f0*"]);
    assert_eq!(show(&table.plan(&entries, None, Some(3))), ["f2 f1 f0*"]);
    assert_eq!(table.plan(&entries, None, None).splits()[0].merged_row_count(), Some(4));
}

#[test]
fn level_0_is_hidden_where_it_is_not_merged_yet() {
    let entries = [add(keyed("old", 5, 1, 9)), add(keyed("new", 0, 1, 1))];
    assert_eq!(show(&keyed_table(&[]).plan(&entries, None, None)), ["new old"]);
    for options in [("deletion-vectors.enabled", "true"), ("merge-engine", "first-row")] {
        assert_eq!(show(&keyed_table(&[options]).plan(&entries, None, None)), ["old*"]);
    }
    let merged = [("deletion-vectors.enabled", "true"), ("deletion-vectors.merge-on-read", "true")];
    assert_eq!(show(&keyed_table(&merged).plan(&entries, None, None)), ["new old"]);
    // An append table with vectors reads level 0.
    let append = append_table(&[("deletion-vectors.enabled", "true")]);
    assert_eq!(show(&append.plan(&[add(file("a"))], None, None)), ["a*"]);
}

#[test]
fn postponed_files_are_hidden() {
    let table = keyed_table(&[("bucket", "-2")]);
    let entries = [
        add_to(BinaryRow::empty(), -2, -2, keyed("waits", 0, 1, 9)),
        add_to(BinaryRow::empty(), 1, 4, keyed("real", 5, 1, 9)),
    ];
    let plan = table.plan(&entries, None, None);
    assert_eq!(show(&plan), ["real*"]);
    assert_eq!((plan.splits()[0].bucket, plan.splits()[0].total_buckets), (1, Some(4)));
}

#[test]
fn deletion_vectors_are_attached_by_file() {
    let table = append_table(&[("deletion-vectors.enabled", "true"), NO_COST]);
    let (a, b) = (DataFileMeta { row_count: 10, ..file("a") }, file("b"));
    let entries = [add(a.clone()), add(b)];
    let plan = |cardinality| {
        let index = [vector(BinaryRow::empty(), &a, cardinality)];
        table.try_plan(&entries, &index, None, Some(1)).unwrap()
    };
    let known = plan(Some(3));
    let split = &known.splits()[0];
    let files = split.deletion_files.as_ref().unwrap();
    assert_eq!(files[1], None);
    let found = files[0].as_ref().unwrap();
    assert_eq!((found.offset, found.length, found.cardinality), (1, 22, Some(3)));
    assert!(found.path.ends_with("/index/index-a.parquet"), "{}", found.path);
    assert_eq!((split.merged_row_count(), split.raw_convertible), (Some(8), true));
    // The limit counts no physical rows, and no split whose rows are unknown.
    assert_eq!(show(&known), ["a b*"]);
    assert_eq!(show(&plan(None)), ["a b*"]);
}

#[test]
fn levels_belong_to_the_identity() {
    let table = keyed_table(&[]);
    let old = add(keyed("a", 0, 1, 9));
    let upgraded = add(keyed("a", 5, 1, 9));
    for entries in [[old.clone(), delete(&old), upgraded.clone()], [upgraded, delete(&old), old.clone()]] {
        let plan = table.plan(&entries, None, None);
        assert_eq!(show(&plan), ["a*"]);
        assert_eq!(plan.splits()[0].files[0].level, 5);
    }
    let twice = table.try_plan(&[old.clone(), old.clone()], &[], None, None).unwrap_err();
    assert_eq!((twice.kind(), twice.context_value("file")), (ErrorKind::Corrupt, Some("a.parquet")));
    assert!(table.plan(&[delete(&old)], None, None).splits().is_empty());
}

#[test]
fn both_layouts_of_null_are_one_partition() {
    let columns = [("p", timestamp(6)), ("k", int())];
    let table = TestTable::new(&columns, "p", "", &[]);
    let null = |layout| BinaryRow::encode(&[None], &[timestamp(6)], layout).unwrap();
    let (plain, reserved) = (null(NullLayout::Plain), null(NullLayout::Reserved));
    assert_ne!(plain, reserved);
    let first = add_to(plain, 0, -1, file("a"));
    let entries = [first.clone(), add_to(reserved.clone(), 0, -1, file("b"))];
    assert_eq!(show(&table.plan(&entries, None, None)), ["a b*"]);
    let removed = ManifestEntry { partition: reserved, ..delete(&first) };
    assert_eq!(show(&table.plan(&[first, removed], None, None)), Vec::<String>::new());
}

#[test]
fn partitions_and_buckets_keep_the_order_of_first_appearance() {
    let table = TestTable::new(&[("p", string()), ("k", int())], "p", "p,k", &[("bucket", "2")]);
    let entry =
        |p: &str, bucket, name: &str| add_to(row(&[Some(text(p))], &[string()]), bucket, 2, keyed(name, 5, 1, 2));
    let entries = [entry("b", 1, "b1"), entry("a", 1, "a1"), entry("b", 0, "b0"), entry("a", 0, "a0")];
    assert_eq!(show(&table.plan(&entries, None, None)), ["b1*", "b0*", "a1*", "a0*"]);
    let sorted = TestTable::new(
        &[("p", string()), ("k", int())],
        "p",
        "p,k",
        &[("bucket", "2"), ("scan.plan-sort-partition", "true")],
    );
    assert_eq!(show(&sorted.plan(&entries, None, None)), ["a1*", "a0*", "b1*", "b0*"]);
}

#[test]
fn partitions_are_tested_by_value() {
    let table = TestTable::new(&[("dt", string()), ("id", int())], "dt", "", &[]);
    let entry = |name: &str, value: Option<Datum>| add_to(row(&[value], &[string()]), 0, -1, file(name));
    let entries =
        [entry("x", Some(text("x"))), entry("y", Some(text("y"))), entry("blank", Some(text(""))), entry("null", None)];
    let b = table.builder();
    let dt = |v: &str| b.equal("dt", text(v)).unwrap();
    let id = || b.equal("id", Datum::Int(2)).unwrap();
    let cases = [
        (Predicate::or([dt("x"), id()]), vec!["x*", "y*", "blank*", "null*"]),
        (Predicate::or([Predicate::and([dt("x"), id()]), dt("y")]), vec!["x*", "y*"]),
        (b.is_null("dt").unwrap(), vec!["null*"]),
        (b.not_equal("dt", text("x")).unwrap(), vec!["y*", "blank*"]),
        (dt("x").negate().unwrap(), vec!["y*", "blank*"]),
        (dt("__DEFAULT_PARTITION__"), vec![]),
        // All conjuncts, not just the equalities.
        (
            Predicate::and([
                b.is_in("dt", vec![text("x"), text("y")]).unwrap(),
                b.greater_than("dt", text("x")).unwrap(),
            ]),
            vec!["y*"],
        ),
    ];
    for (filter, expected) in cases {
        let plan = table.plan(&entries, Some(filter.clone()), None);
        assert_eq!(show(&plan), expected, "{filter}");
    }
    // A filter on partitions alone leaves the limit on, any other turns it off.
    let limited = |filter| show(&table.plan(&entries, Some(filter), Some(1)));
    assert_eq!(limited(b.not_equal("dt", text("x")).unwrap()), ["y*"]);
    assert_eq!(limited(Predicate::and([b.not_equal("dt", text("x")).unwrap(), id()])), ["y*", "blank*"]);
}

#[test]
fn value_tests_drop_a_merged_bucket_only_as_a_whole() {
    let entries =
        [add(with_values(keyed("old", 0, 5, 5), (5, 5), "e")), add(with_values(keyed("new", 0, 5, 5), (5, 5), "g"))];
    let find = |options: &[(&str, &str)], entries: &[ManifestEntry], v: &str| {
        let table = keyed_table(options);
        show(&table.plan(entries, Some(table.builder().equal("v", text(v)).unwrap()), None))
    };
    assert_eq!(find(&[], &entries, "e"), ["old new"]);
    assert!(find(&[], &entries, "zzz").is_empty());
    for engine in ["aggregation", "partial-update"] {
        assert_eq!(find(&[("merge-engine", engine)], &entries, "zzz"), ["old new"]);
    }
    // On one level from 1 on, or alone, each file stands for itself.
    let compacted =
        [add(with_values(keyed("a", 5, 1, 5), (1, 5), "e")), add(with_values(keyed("b", 5, 6, 9), (6, 9), "g"))];
    assert_eq!(find(&[], &compacted, "e"), ["a*"]);
    assert_eq!(find(&[("merge-engine", "aggregation")], &compacted, "g"), ["b*"]);
    assert!(find(&[("merge-engine", "aggregation")], &entries[..1], "g").is_empty());
    // Where level 0 is hidden, the files that are left are read as they are.
    let levels =
        [add(with_values(keyed("a", 5, 1, 5), (1, 5), "e")), add(with_values(keyed("b", 4, 1, 9), (1, 9), "g"))];
    assert_eq!(find(&[("deletion-vectors.enabled", "true")], &levels, "e"), ["a*"]);
    assert_eq!(find(&[], &levels, "e"), ["a b"]);
}

#[test]
fn key_tests_prune_every_file() {
    let entries = [add(keyed("low", 0, 1, 5)), add(keyed("high", 0, 4, 9)), add(keyed("top", 5, 20, 30))];
    let table = keyed_table(&[("merge-engine", "aggregation")]);
    let b = table.builder();
    let k = |v| b.equal("k", Datum::Int(v)).unwrap();
    assert_eq!(show(&table.plan(&entries, Some(k(2)), None)), ["low*"]);
    assert_eq!(show(&table.plan(&entries, Some(k(4)), None)), ["low high"]);
    assert!(table.plan(&entries, Some(k(10)), None).splits().is_empty());
    // The key part of a conjunction counts; an OR with a value does not.
    let value = || b.equal("v", text("x")).unwrap();
    assert_eq!(show(&table.plan(&entries, Some(Predicate::and([k(2), value()])), None)), ["low*"]);
    assert_eq!(show(&table.plan(&entries, Some(Predicate::or([k(2), value()])), None)).len(), 1);
}

fn bucket_table(columns: &[(&str, DataType)], options: &[(&str, &str)]) -> TestTable {
    TestTable::new(columns, "", "", options)
}

fn in_all_buckets(total: i32) -> Vec<ManifestEntry> {
    (0..total).map(|b| add_to(BinaryRow::empty(), b, total, file(&format!("{b}of{total}")))).collect()
}

#[test]
fn equalities_on_the_bucket_key_select_buckets() {
    let table = bucket_table(&[("k", int()), ("v", string())], &[("bucket", "4"), ("bucket-key", "k")]);
    let b = table.builder();
    let k = |v| b.equal("k", Datum::Int(v)).unwrap();
    let bucket = |v, total| bucket_of(&[Some(Datum::Int(v))], &[int()], BucketFunction::Default, total).unwrap();
    let find = |filter: Predicate, entries: &[ManifestEntry]| {
        let buckets = table.plan(entries, Some(filter), None);
        buckets.splits().iter().map(|s| (s.bucket, s.total_buckets.unwrap())).collect::<Vec<_>>()
    };
    let four = in_all_buckets(4);
    // k = 1 lives in bucket 2, k = 2 in bucket 0.
    assert_eq!((bucket(1, 4), bucket(2, 4)), (2, 0));
    assert_eq!(find(k(1), &four), [(2, 4)]);
    let both = b.is_in("k", vec![Datum::Int(1), Datum::Int(2)]).unwrap();
    assert_eq!(find(both.clone(), &four), [(0, 4), (2, 4)]);
    assert_eq!(find(Predicate::or([k(1), k(2)]), &four), [(0, 4), (2, 4)]);
    assert_eq!(find(Predicate::and([both, k(2)]), &four), [(0, 4)]);
    let x = || b.equal("v", text("x")).unwrap();
    assert_eq!(find(Predicate::and([k(1), x()]), &four), [(2, 4)]);
    for all in [
        Predicate::or([k(1), x()]),
        Predicate::and([k(1), k(2)]),
        b.greater_than("k", Datum::Int(1)).unwrap(),
        b.is_in("k", (0..1_001).map(Datum::Int).collect()).unwrap(),
    ] {
        assert_eq!(find(all.clone(), &four).len(), 4, "{all}");
    }
    // Each entry counts its buckets for itself; those without a count stay.
    let mut mixed = in_all_buckets(4);
    mixed.extend(in_all_buckets(7).into_iter().map(|mut e| {
        e.partition = BinaryRow::empty();
        e
    }));
    mixed.push(add_to(BinaryRow::empty(), 9, -1, file("uncounted")));
    let plan = table.plan(&mixed, Some(k(1)), None);
    let mut files: Vec<_> = plan.splits().iter().flat_map(|s| s.files.iter().map(|f| f.file_name.clone())).collect();
    files.sort();
    assert_eq!(files, ["2of4.parquet".into(), format!("{}of7.parquet", bucket(1, 7)), "uncounted.parquet".into()]);
}

#[test]
fn a_bucket_key_needs_a_value_for_each_column() {
    let columns = [("a", int()), ("b", string()), ("f", double())];
    let table = bucket_table(&columns, &[("bucket", "8"), ("bucket-key", "b,a")]);
    let b = table.builder();
    let one = b.equal("a", Datum::Int(1)).unwrap();
    let eight = in_all_buckets(8);
    assert_eq!(table.plan(&eight, Some(one.clone()), None).splits().len(), 8);
    let both = Predicate::and([one, b.is_in("b", vec![text("x"), text("y")]).unwrap()]);
    let mut expected: Vec<i32> = ["x", "y"]
        .map(|v| bucket_of(&[Some(text(v)), Some(Datum::Int(1))], &[string(), int()], BucketFunction::Default, 8))
        .into_iter()
        .map(Result::unwrap)
        .collect();
    expected.sort_unstable();
    let found: Vec<i32> = table.plan(&eight, Some(both), None).splits().iter().map(|s| s.bucket).collect();
    assert_eq!(found, expected);
    // Both zeros, and every NaN.
    let floats = bucket_table(&columns, &[("bucket", "8"), ("bucket-key", "f")]);
    let zero = floats.builder().equal("f", Datum::Double(0.0)).unwrap();
    let mut zeros: Vec<i32> = [0.0, -0.0]
        .map(|v| bucket_of(&[Some(Datum::Double(v))], &[double()], BucketFunction::Default, 8).unwrap())
        .to_vec();
    zeros.sort_unstable();
    zeros.dedup();
    let found: Vec<i32> = floats.plan(&eight, Some(zero), None).splits().iter().map(|s| s.bucket).collect();
    assert_eq!(found, zeros);
    let nan = floats.builder().equal("f", Datum::Double(f64::NAN)).unwrap();
    assert_eq!(floats.plan(&eight, Some(nan), None).splits().len(), 8);
}

#[test]
fn buckets_of_dynamic_tables_are_not_computed() {
    let table = TestTable::new(&[("k", int())], "", "k", &[("bucket", "-1")]);
    let entries: Vec<_> = (0..4).map(|b| add_to(BinaryRow::empty(), b, -1, keyed(&format!("b{b}"), 5, 1, 9))).collect();
    let filter = table.builder().equal("k", Datum::Int(1)).unwrap();
    assert_eq!(table.plan(&entries, Some(filter), None).splits().len(), 4);
}

/// Field 0 is an INT today, once a SMALLINT; field 2 is new; field 3 was text and is a BIGINT.
fn evolved() -> TestTable {
    let field = |id, name: &str, data_type| DataField::new(id, name, data_type);
    let now = vec![field(0, "a", int()), field(2, "new", string()), field(3, "was_text", big_int())];
    let old = vec![field(0, "old_a", small_int()), field(1, "dropped", int()), field(3, "was_text", string())];
    let mut table = TestTable::with_fields(now, "", "", &[]);
    table = table.with_schema(7, old);
    table
}

#[test]
fn statistics_of_older_schemas_are_translated() {
    let table = evolved();
    let types = [small_int(), int(), string()];
    let old = DataFileMeta {
        schema_id: 7,
        row_count: 10,
        value_stats: stats(
            &types,
            &[
                (Some(Datum::SmallInt(-5)), Some(Datum::SmallInt(8)), Some(1)),
                (Some(Datum::Int(1)), Some(Datum::Int(1)), Some(0)),
                (Some(text("10")), Some(text("9")), Some(0)),
            ],
        ),
        ..file("old")
    };
    let b = table.builder();
    let keeps = |file: &DataFileMeta, filter: crate::Result<Predicate>| {
        !table.plan(&[add(file.clone())], Some(filter.unwrap()), None).splits().is_empty()
    };
    assert!(keeps(&old, b.equal("a", Datum::Int(-5))));
    assert!(!keeps(&old, b.equal("a", Datum::Int(70_000))));
    assert!(!keeps(&old, b.less_than("a", Datum::Int(-5))));
    // A column that the file lacks is null in every row.
    assert!(!keeps(&old, b.equal("new", text("x"))));
    assert!(!keeps(&old, b.is_not_null("new")));
    assert!(keeps(&old, b.is_null("new")));
    // Text that became a number: unknown, and so are its null counts only if they must be.
    assert!(keeps(&old, b.greater_than("was_text", Datum::BigInt(500))));
    // Dense statistics name the columns of the file's schema.
    let dense = DataFileMeta {
        value_stats_cols: Some(vec!["old_a".into()]),
        value_stats: stats(&types[..1], &[(Some(Datum::SmallInt(1)), Some(Datum::SmallInt(2)), Some(0))]),
        ..old.clone()
    };
    assert!(!keeps(&dense, b.equal("a", Datum::Int(3))));
    assert!(keeps(&dense, b.equal("was_text", Datum::BigInt(1))));
    // None at all; an empty list with whole rows; counts that are too few.
    let none =
        DataFileMeta { value_stats_cols: Some(vec![]), value_stats: crate::spec::SimpleStats::empty(), ..old.clone() };
    assert!(keeps(&none, b.equal("a", Datum::Int(70_000))));
    let mismatched = DataFileMeta { value_stats_cols: Some(vec![]), ..old.clone() };
    assert!(keeps(&mismatched, b.equal("a", Datum::Int(70_000))));
    let mut short = old;
    short.value_stats.null_counts.pop();
    assert!(keeps(&short, b.equal("a", Datum::Int(70_000))));
}

#[test]
fn files_that_cannot_be_read_are_refused_unless_they_are_pruned() {
    let table = append_table(&[]);
    let text = DataFileMeta { file_name: "a.csv".into(), ..with_values(file("a"), (1, 2), "x") };
    let entries = [add(text)];
    let error = table.try_plan(&entries, &[], None, None).unwrap_err();
    assert_eq!((error.kind(), error.context_value("file")), (ErrorKind::Unsupported, Some("a.csv")));
    let elsewhere = table.builder().equal("k", Datum::Int(9)).unwrap();
    assert!(table.plan(&entries, Some(elsewhere), None).splits().is_empty());
}

#[tokio::test]
async fn a_snapshot_whose_files_stay_missing_is_an_error() {
    let table = append_table(&[]).table;
    let scan = |t: &crate::Table| TableScan::new(t.clone(), None, None);
    let dropped = scan(&table).plan().await.unwrap_err();
    assert_eq!(dropped.kind(), ErrorKind::NotFound(Entity::Table));
    assert!(table.schemas().create(table.schema()).await.unwrap());
    let empty = scan(&table).plan().await.unwrap();
    assert_eq!((empty.snapshot_id(), empty.splits().len()), (None, 0));
    let gone = crate::spec::Snapshot { base_manifest_list: "manifest-list-gone".into(), ..snapshot(1) };
    table.snapshots().publish(&gone).await.unwrap();
    for handle in [table.clone(), table.pinned_to(gone)] {
        let error = scan(&handle).plan().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound(Entity::File), "{error}");
        assert!(error.to_string().contains("manifest-list-gone"), "{error}");
    }
}

#[tokio::test]
async fn tables_that_cannot_be_read_are_refused_first() {
    let table = keyed_table(&[("query-auth.enabled", "true")]).table;
    let error = TableScan::new(table, None, None).plan().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("query-auth.enabled"), "{error}");
}

/// A bucket of files with one value per key, some of which compaction moved down, and what merging makes of it.
fn any_bucket() -> impl Strategy<Value = Vec<(i32, Vec<(i32, u8)>)>> {
    let rows = proptest::collection::btree_map(0..12i32, 0..4u8, 1..5);
    proptest::collection::vec((prop_oneof![3 => Just(0), 1 => Just(1), 1 => Just(5)], rows), 1..6).prop_map(|files| {
        let mut taken: Vec<(i32, i32, i32)> = Vec::new();
        let mut bucket = Vec::new();
        for (level, rows) in files {
            let rows: Vec<(i32, u8)> = rows.into_iter().collect();
            let (min, max) = (rows[0].0, rows[rows.len() - 1].0);
            // Files of one level from 1 on do not overlap.
            let free = level == 0 || !taken.iter().any(|t| t.0 == level && min <= t.2 && t.1 <= max);
            if free {
                taken.push((level, min, max));
                bucket.push((level, rows));
            }
        }
        bucket
    })
}

/// Position among the files, level, and rows.
type ModelFile = (usize, i32, Vec<(i32, u8)>);

/// The rows of the newest version of each key: lower levels are newer, on level 0 later files are.
fn merged(files: &[ModelFile]) -> std::collections::BTreeMap<i32, u8> {
    let mut order: Vec<_> = files.iter().collect();
    order.sort_by_key(|(position, level, _)| (std::cmp::Reverse(*level), *position));
    order.into_iter().flat_map(|(_, _, rows)| rows.iter().copied()).collect()
}

proptest! {
    #[test]
    fn pruning_never_changes_what_a_merge_returns(
        bucket in any_bucket(), key in 0..12i32, value in 0..5u8, kind in 0..5u8, small in any::<bool>(),
    ) {
        let table = keyed_table(if small { &[SMALL_SPLITS] } else { &[] });
        let b = table.builder();
        let name = |v: u8| text(&format!("v{v}"));
        let (k, v) = (b.equal("k", Datum::Int(key)).unwrap(), b.equal("v", name(value)).unwrap());
        let filter = match kind {
            0 => k,
            1 => v,
            2 => Predicate::and([k, v]),
            3 => Predicate::or([k, v]),
            _ => Predicate::and([b.less_or_equal("k", Datum::Int(key)).unwrap(), v]),
        };
        let passes = |row: (&i32, &u8)| match kind {
            0 => *row.0 == key,
            1 => *row.1 == value,
            2 => *row.0 == key && *row.1 == value,
            3 => *row.0 == key || *row.1 == value,
            _ => *row.0 <= key && *row.1 == value,
        };
        let all: Vec<ModelFile> =
            bucket.into_iter().enumerate().map(|(i, (level, rows))| (i, level, rows)).collect();
        let entries: Vec<ManifestEntry> = all
            .iter()
            .map(|(i, level, rows)| {
                let (min, max) = (rows[0].0, rows[rows.len() - 1].0);
                let mut values: Vec<u8> = rows.iter().map(|r| r.1).collect();
                values.sort_unstable();
                let value_stats = stats(
                    &[int(), string()],
                    &[
                        (Some(Datum::Int(min)), Some(Datum::Int(max)), Some(0)),
                        (Some(name(values[0])), Some(name(values[values.len() - 1])), Some(0)),
                    ],
                );
                add(DataFileMeta { value_stats, ..keyed(&i.to_string(), *level, min, max) })
            })
            .collect();
        let expected: Vec<(i32, u8)> =
            merged(&all).iter().filter(|r| passes(*r)).map(|(k, v)| (*k, *v)).collect();
        let plan = table.plan(&entries, Some(filter.clone()), None);
        let mut found = Vec::new();
        for split in plan.splits() {
            let files: Vec<_> = split
                .files
                .iter()
                .map(|f| all[f.file_name.trim_end_matches(".parquet").parse::<usize>().unwrap()].clone())
                .collect();
            if split.raw_convertible {
                found.extend(files.iter().flat_map(|f| f.2.iter()).copied());
            } else {
                found.extend(merged(&files));
            }
        }
        found.retain(|(k, v)| passes((k, v)));
        found.sort_unstable();
        prop_assert_eq!(found, expected, "{} {:?}", filter, show(&plan));
    }
}
