//! Indexes that Java wrote, against the values of the files that they are of.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow::compute::concat_batches;
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use futures::TryStreamExt;
use proptest::prelude::*;

use super::file_index::FileIndex;
use super::load;
use crate::catalog::Identifier;
use crate::clock::SystemClock;
use crate::commit::FileSystemCommit;
use crate::meta::{Schemas, TablePaths};
use crate::options::Options;
use crate::predicate::{Function, Leaf, Predicate, evaluate};
use crate::scan::Split;
use crate::spec::DataFileMeta;
use crate::storage::FileIO;
use crate::table::Table;
use crate::types::{DataField, Datum, datum_at};

/// A table, its columns that have an index, and what their index answers.
const TABLES: [(&str, &str, Answers); 6] = [
    ("index_types_bitmap", "c0,c1,c2,c3,c8,c9,c10,c11,c12,c13,c14,c15", Answers::Equality),
    ("index_types_bsi", "c0,c1,c2,c3,c6,c7,c10,c11,c12,c13,c14", Answers::Order),
    ("index_types_range_bitmap", "c0,c1,c2,c3,c4,c5,c6,c7,c8,c9,c10,c11,c12,c13,c14,c15", Answers::Order),
    ("index_versions_v1", "s,n", Answers::Equality),
    ("index_versions_v2", "s,n", Answers::Equality),
    ("index_versions_chunks", "s,n", Answers::Order),
];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Answers {
    Equality,
    Order,
}

const FUNCTIONS: [(Function, usize, Answers); 12] = [
    (Function::Equal, 1, Answers::Equality),
    (Function::NotEqual, 1, Answers::Equality),
    (Function::In, 3, Answers::Equality),
    (Function::NotIn, 3, Answers::Equality),
    (Function::IsNull, 0, Answers::Equality),
    (Function::IsNotNull, 0, Answers::Equality),
    (Function::LessThan, 1, Answers::Order),
    (Function::LessOrEqual, 1, Answers::Order),
    (Function::GreaterThan, 1, Answers::Order),
    (Function::GreaterOrEqual, 1, Answers::Order),
    (Function::Between, 2, Answers::Order),
    (Function::NotBetween, 2, Answers::Order),
];

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(future)
}

async fn open(name: &str) -> Table {
    let location = format!("{}/tests/golden/tables/{name}", env!("CARGO_MANIFEST_DIR"));
    assert!(Path::new(&location).is_dir(), "{location}");
    let io = FileIO::from_location(&location, &Options::new()).unwrap();
    let schema = Schemas::new(io.clone(), TablePaths::new(location.clone(), "main")).latest().await.unwrap().unwrap();
    Table::new(Identifier::new("ora", name), io, &location, schema, Arc::new(FileSystemCommit), SystemClock::shared())
}

/// Each file of a table: its metadata, its rows and its indexes as bytes.
async fn files(table: &Table) -> Vec<(Arc<DataFileMeta>, RecordBatch, Bytes)> {
    let builder = table.new_read_builder();
    let read = builder.clone().new_read().unwrap();
    let mut files = Vec::new();
    for split in builder.new_scan().plan().await.unwrap().splits() {
        for file in &split.files {
            let one = Split { files: vec![Arc::clone(file)], deletion_files: None, ..split.clone() };
            let batches: Vec<_> = read.to_arrow(&[one]).unwrap().try_collect().await.unwrap();
            let index = match (&file.embedded_index, file.extra_files.first()) {
                (Some(bytes), _) => Bytes::from(bytes.clone()),
                (None, Some(name)) => table.io().read(&format!("{}/{name}", split.bucket_path)).await.unwrap(),
                (None, None) => panic!("{} has no index", file.file_name),
            };
            files.push((Arc::clone(file), concat_batches(&read.schema(), &batches).unwrap(), index));
        }
    }
    files
}

fn leaf(field: &DataField, function: Function, literals: Vec<Datum>) -> Predicate {
    let (field_id, name, data_type) = (field.id, field.name.clone(), field.data_type.clone());
    Predicate::Leaf(Leaf { field_id, name, data_type, function, literals })
}

fn is_float(datum: &Datum) -> bool {
    matches!(datum, Datum::Float(_) | Datum::Double(_))
}

#[test]
fn answers_are_the_rows_of_the_file() {
    block_on(async {
        for (name, columns, answers) in TABLES {
            let table = open(name).await;
            let all = files(&table).await;
            assert!(!all.is_empty());
            for column in columns.split(',') {
                let field = table.schema().fields.iter().find(|f| f.name == column).unwrap();
                // Values of every file, so that most are not in the one that is asked.
                let mut values = BTreeSet::new();
                for (_, batch, _) in &all {
                    let array = batch.column_by_name(column).unwrap();
                    values.extend((0..array.len()).filter_map(|i| datum_at(array, i, &field.data_type).unwrap()));
                }
                let values: Vec<Datum> = values.into_iter().collect();
                assert!(values.len() > 1, "{name} {column}");
                for (file, batch, bytes) in &all {
                    let index = FileIndex::decode(bytes, &BTreeSet::from([column])).unwrap();
                    assert!(!index.is_empty(), "{name} {column}");
                    for (function, arity, needs) in FUNCTIONS {
                        for i in 0..values.len() {
                            let literals = (0..arity).map(|k| values[(i + k * 7) % values.len()].clone());
                            let mut literals: Vec<Datum> = literals.collect();
                            literals.sort();
                            let predicate = leaf(field, function, literals.clone());
                            let found = index.rows(&predicate, file.row_count as u32);
                            let mask = evaluate(&predicate, batch).unwrap();
                            let expected: roaring::RoaringBitmap = mask.values().set_indices_u32().collect();
                            let what = format!("{name} {predicate:?}");
                            match found {
                                None if literals.iter().any(is_float) => {}
                                None => assert!(answers == Answers::Equality && needs == Answers::Order, "{what}"),
                                // Zeros are taken for each other.
                                Some(rows) if literals.iter().any(is_float) => {
                                    assert!(expected.is_subset(&rows), "{what}")
                                }
                                Some(rows) => assert_eq!(rows, expected, "{what}"),
                            }
                        }
                    }
                }
            }
        }
    });
}

#[test]
fn parts_of_a_predicate_combine() {
    block_on(async {
        let table = open("index_versions_v2").await;
        let (file, batch, bytes) = files(&table).await.swap_remove(0);
        let rows = file.row_count as u32;
        let field = |name: &str| table.schema().fields.iter().find(|f| f.name == name).unwrap();
        let value = |name: &str, i| datum_at(batch.column_by_name(name).unwrap(), i, &field(name).data_type).unwrap();
        let index = FileIndex::decode(&bytes, &BTreeSet::from(["s", "n"])).unwrap();
        let at = (0..batch.num_rows()).find(|i| value("s", *i).is_some() && value("n", *i).is_some()).unwrap();
        let s = leaf(field("s"), Function::Equal, vec![value("s", at).unwrap()]);
        let n = leaf(field("n"), Function::Equal, vec![value("n", at).unwrap()]);
        let unknown = leaf(field("id"), Function::Equal, vec![value("id", at).unwrap()]);
        let of = |p: &Predicate| index.rows(p, rows);
        let (of_s, of_n) = (of(&s).unwrap(), of(&n).unwrap());
        assert_eq!(of(&Predicate::And(vec![s.clone(), n.clone()])), Some(&of_s & &of_n));
        assert_eq!(of(&Predicate::Or(vec![s.clone(), n])), Some(&of_s | &of_n));
        assert_eq!(of(&Predicate::And(vec![s.clone(), unknown.clone()])), Some(of_s));
        assert_eq!(of(&Predicate::Or(vec![s, unknown])), None);
        assert_eq!(of(&Predicate::AlwaysTrue), None);
        assert!(of(&Predicate::AlwaysFalse).unwrap().is_empty());
        assert!(FileIndex::decode(&bytes, &BTreeSet::from(["id"])).unwrap().is_empty());
    });
}

#[test]
fn an_index_of_another_file_says_nothing() {
    block_on(async {
        for (name, _, _) in TABLES {
            let table = open(name).await;
            for (file, _, bytes) in files(&table).await {
                for field in &table.schema().fields {
                    let index = FileIndex::decode(&bytes, &BTreeSet::from([field.name.as_str()])).unwrap();
                    let predicate = leaf(field, Function::IsNotNull, vec![]);
                    assert_eq!(index.rows(&predicate, file.row_count as u32 + 1), None, "{name} {}", field.name);
                }
            }
        }
    });
}

#[test]
fn large_index_files_are_read_in_parts() {
    block_on(async {
        let table = open("index_types_bsi").await;
        let (file, _, bytes) = files(&table).await.swap_remove(0);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f.index");
        let mut padded = bytes.to_vec();
        padded.resize(3 << 20, 0);
        std::fs::write(&path, padded).unwrap();
        let columns = BTreeSet::from(["c2", "c10"]);
        let loaded = load(table.io(), path.to_str().unwrap(), &columns).await.unwrap();
        let decoded = FileIndex::decode(&bytes, &columns).unwrap();
        for name in ["c2", "c10", "c3"] {
            let field = table.schema().fields.iter().find(|f| f.name == name).unwrap();
            let predicate = leaf(field, Function::IsNotNull, vec![]);
            let rows = loaded.rows(&predicate, file.row_count as u32);
            assert_eq!(rows, decoded.rows(&predicate, file.row_count as u32));
            assert_eq!(rows.is_some(), name != "c3");
        }
        std::fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
        // What is cut off says nothing, or the file as a whole.
        let _ = load(table.io(), path.to_str().unwrap(), &columns).await;
        assert!(load(table.io(), "/nowhere/f.index", &columns).await.is_err());
    });
}

/// Every question to an index, whatever its bytes.
fn ask_everything(bytes: &Bytes, fields: &[DataField], values: &[Vec<Datum>], rows: u32) {
    for (field, values) in fields.iter().zip(values) {
        let Ok(index) = FileIndex::decode(bytes, &BTreeSet::from([field.name.as_str()])) else { continue };
        for (function, arity, _) in FUNCTIONS {
            let literals: Vec<Datum> = values.iter().cycle().take(arity).cloned().collect();
            if literals.len() == arity
                && let Some(found) = index.rows(&leaf(field, function, literals), rows)
            {
                assert!(found.max().is_none_or(|last| last < rows));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Bytes of Java with some of them changed: no panic, no hang, no row that the file does not have.
    #[test]
    fn damage_is_harmless(
        table in 0..TABLES.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        block_on(async {
            let table = open(TABLES[table].0).await;
            let (file, batch, bytes) = files(&table).await.swap_remove(0);
            let fields = &table.schema().fields;
            let values: Vec<Vec<Datum>> = fields.iter().zip(batch.columns()).map(|(field, array)| {
                (0..array.len()).filter_map(|i| datum_at(array, i, &field.data_type).unwrap()).take(3).collect()
            }).collect();
            // Each change alone at many places, then all together.
            let mut together = bytes.to_vec();
            for (at, byte) in &changes {
                together[at.index(bytes.len())] ^= byte;
                let mut damaged = bytes.to_vec();
                damaged[at.index(bytes.len())] = *byte;
                ask_everything(&damaged.into(), fields, &values, file.row_count as u32);
            }
            if let Some(cut) = cut {
                together.truncate(cut.index(bytes.len()));
            }
            ask_everything(&together.into(), fields, &values, file.row_count as u32);
        });
    }
}
