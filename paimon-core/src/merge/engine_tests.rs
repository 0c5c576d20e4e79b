//! The engines against the examples of Java's merge classes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, AsArray, Int8Array, Int32Array, Int64Array, StringArray, UInt32Array};
use arrow::datatypes::{Int8Type, Int64Type};
use arrow::record_batch::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::{StreamExt, TryStreamExt, stream};

use super::{LEVEL, MergeRule, Run, merge_in_rounds, merge_runs, sort_merge};
use crate::error::{Error, ErrorKind, Result};
use crate::format::BatchStream;
use crate::options::Options;
use crate::runtime::{MemoryBudget, Resources, TempFile, Unlimited};
use crate::spec::TableSchema;
use crate::types::*;

/// A table of columns `name:type`, where the type is `i` or `s`, with key `k` of type INT.
struct Engine {
    fields: Vec<DataField>,
    rule: MergeRule,
}

impl Engine {
    fn try_new(columns: &str, options: &str) -> Result<Self> {
        let mut fields = vec![DataField::new(0, "k", DataType::Int(IntType::with_nullable(false)))];
        for (i, column) in columns.split(' ').enumerate() {
            let (name, kind) = column.split_once(':').unwrap_or((column, "i"));
            let data_type =
                if kind == "s" { DataType::VarChar(VarCharType::string_type()) } else { DataType::Int(IntType::new()) };
            fields.push(DataField::new(i as i32 + 1, name, data_type));
        }
        let schema = TableSchema {
            version: 3,
            id: 0,
            highest_field_id: fields.len() as i32,
            fields: fields.clone(),
            partition_keys: Vec::new(),
            primary_keys: vec!["k".to_owned()],
            options: BTreeMap::new(),
            comment: None,
            time_millis: 0,
        };
        let options = options.split(';').filter_map(|o| o.split_once('='));
        let options: Options = options.collect();
        Ok(Self { fields, rule: MergeRule::try_new(&schema, &options)? })
    }

    fn new(columns: &str, options: &str) -> Self {
        Self::try_new(columns, options).unwrap()
    }

    /// Rows as `+I 1 10 _`.
    fn batch(&self, rows: &[(&str, i64, i32)]) -> RecordBatch {
        let rows: Vec<(Vec<&str>, i64, i32)> =
            rows.iter().map(|(text, sequence, level)| (text.split(' ').collect(), *sequence, *level)).collect();
        let kind = |text: &str| RowKind::from_short_string(text).unwrap() as i8;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.1))),
            Arc::new(Int8Array::from_iter_values(rows.iter().map(|r| kind(r.0[0])))),
        ];
        for (i, field) in self.fields.iter().enumerate() {
            let texts = rows.iter().map(|r| Some(r.0[i + 1]).filter(|t| *t != "_"));
            columns.push(match field.data_type {
                DataType::Int(_) => Arc::new(Int32Array::from_iter(texts.map(|t| t.map(|t| t.parse().unwrap())))),
                _ => Arc::new(StringArray::from_iter(texts)),
            });
        }
        let mut fields = vec![sequence_number_field(), value_kind_field()];
        fields.extend(self.fields.iter().cloned());
        fields.push(DataField::new(999, LEVEL, DataType::Int(IntType::with_nullable(false))));
        columns.push(Arc::new(Int32Array::from_iter_values(rows.iter().map(|r| r.2))));
        RecordBatch::try_new(to_arrow_schema(&RowType::new(fields)), columns).unwrap()
    }

    fn shown(&self, batches: &[RecordBatch]) -> Vec<String> {
        let options = FormatOptions::new().with_null("_");
        let mut rows = Vec::new();
        for batch in batches {
            let kinds = batch.column_by_name(VALUE_KIND).unwrap().as_primitive::<Int8Type>();
            let columns = self.fields.iter().map(|f| batch.column_by_name(&f.name).unwrap());
            let columns: Vec<_> = columns.map(|c| ArrayFormatter::try_new(c, &options).unwrap()).collect();
            for i in 0..batch.num_rows() {
                let kind = RowKind::from_byte(kinds.value(i)).unwrap().short_string();
                let values: Vec<String> = columns.iter().map(|c| c.value(i).to_string()).collect();
                rows.push(format!("{kind} {}", values.join(" ")));
            }
        }
        rows
    }

    /// Merges rows `+I 1 10 _`, each in a run of its own and in one write buffer. Between them are keys of which there is
    /// one row, so that groups and lone rows take turns.
    fn state(&self, rows: &[&str]) -> Result<Vec<String>> {
        let rows: Vec<(&str, i64, i32)> = rows.iter().zip(1..).map(|(row, i)| (*row, i, 0)).collect();
        let merged = self.merged(rows.clone())?;
        let sorted = self.shown(&self.sorted(&rows)?);
        assert_eq!(merged, sorted);
        Ok(merged)
    }

    /// The rows of a write buffer, which have no level.
    fn sorted(&self, rows: &[(&str, i64, i32)]) -> Result<Vec<RecordBatch>> {
        let batch = self.batch(rows);
        let columns: Vec<usize> = (0..batch.num_columns() - 1).collect();
        sort_merge(&[batch.project(&columns).unwrap()], &self.rule, 3)
    }

    fn merged(&self, rows: Vec<(&str, i64, i32)>) -> Result<Vec<String>> {
        let schema = self.batch(&[]).schema();
        let columns: Vec<usize> = (0..schema.fields().len() - 1).collect();
        let schema = Arc::new(schema.project(&columns).unwrap());
        let runs = rows.iter().map(|row| stream::iter([Ok(self.batch(&[*row]))]).boxed()).collect::<Vec<BatchStream>>();
        let rule = Arc::new(self.rule.clone());
        let merged = merge_runs(schema, runs, rule, false, 2, &Resources::default())?;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let batches: Vec<RecordBatch> = runtime.block_on(merged.try_collect())?;
        Ok(self.shown(&batches))
    }
}

/// Checks the state after each row: `row` or `row => state`.
fn check(columns: &str, options: &str, steps: &[&str]) {
    let engine = Engine::new(columns, options);
    let mut rows: Vec<&str> = Vec::new();
    for step in steps {
        let (row, state) = step.split_once(" => ").unwrap_or((step, ""));
        rows.push(row);
        if !state.is_empty() {
            let expected = if state == "none" { vec![] } else { vec![state.to_owned()] };
            assert_eq!(engine.state(&rows).unwrap(), expected, "{options}: {rows:?}");
        }
    }
}

fn error_of(columns: &str, options: &str, rows: &[&str]) -> Error {
    Engine::new(columns, options).state(rows).unwrap_err()
}

const PARTIAL: &str = "merge-engine=partial-update";

#[test]
fn first_row() {
    const FIRST: &str = "merge-engine=first-row";
    check("a b", FIRST, &["+I 1 1 1", "+U 1 2 2 => +I 1 1 1"]);
    let error = error_of("a b", FIRST, &["+I 1 1 1", "-D 1 2 2"]);
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().starts_with("By default, First row merge engine can not accept DELETE"), "{error}");
    let ignore = format!("{FIRST};ignore-delete=true");
    check("a b", &ignore, &["-D 1 9 9", "+I 1 1 1 => +I 1 1 1", "+U 1 2 2 => +I 1 1 1"]);
    check("a b", &ignore, &["-D 1 9 9 => -D 1 9 9", "-U 1 1 1 => none"]);
}

#[test]
fn deduplicate_over_levels() {
    let lookup = "changelog-producer=lookup";
    check("a b", lookup, &["+I 1 10 _", "+U 1 _ 20 => +U 1 _ 20", "-D 1 3 3 => -D 1 3 3", "+I 1 5 5 => +I 1 5 5"]);
    let engine = Engine::new("a", "merge-engine=aggregation;changelog-producer=lookup;fields.a.aggregate-function=sum");
    // The row of level 4 holds that of level 5 already.
    let rows = vec![("+I 1 11", 2, 4), ("+I 1 10", 1, 5), ("+I 1 1", 3, 0)];
    assert_eq!(engine.merged(rows).unwrap(), ["+I 1 12"]);
    let engine = Engine::new("a", "merge-engine=aggregation;fields.a.aggregate-function=sum");
    assert_eq!(engine.merged(vec![("+I 1 11", 2, 4), ("+I 1 10", 1, 5), ("+I 1 1", 3, 0)]).unwrap(), ["+I 1 22"]);
}

#[test]
fn partial_update_without_groups() {
    check("a b", PARTIAL, &["+I 1 10 _ => +I 1 10 _", "+I 1 _ 20 => +I 1 10 20", "+U 1 11 _ => +I 1 11 20"]);
    check("a b", PARTIAL, &["-D 1 10 _ => -D 1 10 _"]);
    let error = error_of("a b", PARTIAL, &["+I 1 10 _", "-D 1 10 _"]);
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().starts_with("By default, Partial update can not accept delete records"), "{error}");

    let remove = format!("{PARTIAL};partial-update.remove-record-on-delete=true");
    check("a b", &remove, &["+I 1 10 20", "-D 1 10 20 => -D 1 10 20", "+I 1 _ 30 => +I 1 10 30"]);
    check("a b", &remove, &["+I 1 10 20", "-U 1 10 20 => +I 1 10 20"]);

    let ignore = format!("{PARTIAL};ignore-delete=true");
    check("a b", &ignore, &["-D 1 10 20", "-D 1 11 21 => -D 1 10 20", "+I 1 _ 30 => +I 1 10 30"]);
}

#[test]
fn ignored_retracts_leave_no_sequence_number() {
    let engine = Engine::new("a b", &format!("{PARTIAL};ignore-delete=true"));
    let sequence = |rows: &[(&str, i64, i32)]| {
        let merged = engine.sorted(rows).unwrap();
        merged[0].column_by_name(SEQUENCE_NUMBER).unwrap().as_primitive::<Int64Type>().value(0)
    };
    assert_eq!(sequence(&[("-D 1 10 20", 1, 0), ("-D 1 11 21", 2, 0)]), 0);
    assert_eq!(sequence(&[("-D 1 10 20", 1, 0), ("+I 1 11 21", 2, 0), ("-D 1 11 21", 3, 0)]), 2);
}

#[test]
fn partial_update_with_groups() {
    let columns = "a b g c h";
    let groups = format!("{PARTIAL};fields.g.sequence-group=a,b;fields.h.sequence-group=c");
    check(
        columns,
        &groups,
        &[
            "+I 1 1 1 1 1 1",
            "+I 1 2 _ 2 9 _ => +I 1 2 _ 2 1 1",
            "+I 1 3 3 1 3 3 => +I 1 2 _ 2 3 3",
            "+I 1 4 4 2 _ 3 => +I 1 4 4 2 _ 3",
        ],
    );
    check(
        columns,
        &groups,
        &[
            "+I 1 1 1 5 1 5",
            "-D 1 7 7 5 7 _ => +I 1 _ _ 5 1 5",
            "-D 1 7 7 4 7 6 => +I 1 _ _ 5 _ 6",
            "-U 1 8 8 9 8 9 => +I 1 _ _ 9 _ 9",
            "+I 1 2 2 9 2 8 => +I 1 2 2 9 _ 9",
        ],
    );
    check(columns, &groups, &["-D 1 1 1 5 1 5", "-D 1 1 1 6 1 6 => -D 1 _ _ 6 _ 6"]);
    check(columns, &groups, &["-D 1 1 1 5 1 5", "+I 1 2 2 4 2 4 => +I 1 _ _ 5 _ 5"]);
    let remove = format!("{groups};partial-update.remove-record-on-sequence-group=g");
    check(
        columns,
        &remove,
        &[
            "+I 1 1 1 5 1 5",
            "-D 1 1 1 4 1 _ => +I 1 1 1 5 1 5",
            "-D 1 1 1 6 _ _ => -D 1 1 1 6 _ _",
            "+I 1 2 2 7 _ _ => +I 1 2 2 7 _ _",
        ],
    );
    check(columns, &remove, &["+I 1 1 1 5 1 5", "-U 1 1 1 6 1 _ => +I 1 _ _ 6 1 5"]);
    check(
        "a g1 g2",
        &format!("{PARTIAL};fields.g1,g2.sequence-group=a"),
        &[
            "+I 1 1 1 _",
            "+I 1 2 1 0 => +I 1 2 1 0",
            "+I 1 3 1 _ => +I 1 2 1 0",
            "+I 1 4 _ 9 => +I 1 2 1 0",
            "+I 1 5 _ _ => +I 1 2 1 0",
            "+I 1 6 2 _ => +I 1 6 2 _",
        ],
    );
}

#[test]
fn aggregates_inside_groups() {
    let sum = format!("{PARTIAL};fields.g.sequence-group=a,b;fields.a.aggregate-function=sum");
    check(
        "a b g",
        &format!("{sum};fields.b.aggregate-function=first_non_null_value"),
        &[
            "+I 1 1 1 5",
            "+I 1 2 _ 6 => +I 1 3 1 6",
            "+I 1 4 7 3 => +I 1 7 7 6",
            "+I 1 8 _ 2 => +I 1 15 _ 6",
            "+I 1 16 9 _ => +I 1 15 _ 6",
        ],
    );
    let last = format!("{PARTIAL};fields.g.sequence-group=a,b;fields.a.aggregate-function=last_non_null_value");
    check(
        "a b:s g",
        &format!("{last};fields.b.aggregate-function=listagg"),
        &["+I 1 1 x 5", "+I 1 _ y 6 => +I 1 1 x,y 6", "+I 1 4 z 3 => +I 1 1 z,x,y 6"],
    );
    let sum = format!("{PARTIAL};fields.g.sequence-group=a;fields.a.aggregate-function=sum");
    check("a g", &sum, &["-D 1 5 1 => -D 1 5 1", "+I 1 7 2 => +I 1 7 2"]);
}

const AGGREGATION: &str = "merge-engine=aggregation;fields.s.aggregate-function=sum";

#[test]
fn aggregation_with_retracts() {
    let numbers = format!("{AGGREGATION};fields.p.aggregate-function=product;fields.v.aggregate-function=last_value");
    check(
        "s p v n",
        &numbers,
        &[
            "+I 1 10 12 1 1",
            "-U 1 3 5 9 9 => +I 1 7 2 _ _",
            "-U 1 _ _ _ _ => +I 1 7 2 _ _",
            "+U 1 4 2 _ 7 => +I 1 11 4 _ 7",
        ],
    );
    check(
        "s p v n",
        &numbers,
        &["-D 1 3 5 9 9 => -D 1 3 5 9 9", "-D 1 4 5 9 9 => +I 1 -7 _ _ _", "+I 1 10 3 1 1 => +I 1 3 3 1 1"],
    );
    check("s n", &format!("{AGGREGATION};fields.s.ignore-retract=true"), &["+I 1 10 1", "-U 1 3 1 => +I 1 10 _"]);
    check(
        "s n",
        &format!("{AGGREGATION};aggregation.remove-record-on-delete=true"),
        &["+I 1 10 1", "-U 1 3 _ => +I 1 7 1", "-D 1 3 _ => -D 1 3 _", "+I 1 100 _ => +I 1 103 _"],
    );
    let error = error_of("m", "merge-engine=aggregation;fields.m.aggregate-function=max", &["+I 1 5", "-U 1 3"]);
    assert!(error.message().contains("'max' does not support retraction"), "{error}");
}

#[test]
fn first_and_last_values() {
    let options = "merge-engine=aggregation;fields.a.aggregate-function=first_value;\
                   fields.b.aggregate-function=first_non_null_value;fields.c.aggregate-function=last_value;\
                   fields.d.aggregate-function=last_non_null_value";
    check("a b c d", options, &["+I 1 _ _ 1 1", "+I 1 2 2 _ _ => +I 1 _ 2 _ 1", "+I 1 3 3 3 3 => +I 1 _ 2 3 3"]);
}

#[test]
fn sequence_fields_of_aggregations() {
    let options = format!(
        "{AGGREGATION};sequence.field=x;fields.m.aggregate-function=max;fields.l.aggregate-function=listagg;\
         fields.m.ignore-retract=true;fields.l.ignore-retract=true"
    );
    check(
        "s m l:s x",
        &options,
        &[
            "+I 1 1 5 a 1",
            "+U 1 2 3 _ 2 => +I 1 3 5 a 2",
            "+I 1 4 9 b 0 => +I 1 7 9 b,a 2",
            "-U 1 1 1 a 9 => +I 1 6 9 b,a _",
        ],
    );
}

#[test]
fn lists_of_text() {
    let options = "merge-engine=aggregation;fields.l.aggregate-function=listagg";
    check("l:s", options, &["+I 1 a", "+I 1 _ => +I 1 a", "+I 1 b => +I 1 a,b"]);
    let distinct = format!("{options};fields.l.distinct=true;fields.l.list-agg-delimiter=--");
    check("l:s", &distinct, &["+I 1 a--a", "+I 1 a--b----b => +I 1 a--a--b", "+I 1 a-b => +I 1 a--a--b--a-b"]);
    let error = Engine::try_new("l", options).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    assert!(error.message().contains("must be STRING"), "{error}");
}

#[test]
fn columns_of_functions_that_are_not_built_are_refused_by_name() {
    let engine = Engine::new("s", "merge-engine=aggregation");
    engine.rule.check_columns(&engine.fields).unwrap();
    let error = Engine::try_new("s", "merge-engine=aggregation;fields.s.aggregate-function=hll_sketch").err().unwrap();
    assert!(error.message().contains("must be VARBINARY"), "{error}");
    let error = Engine::try_new("s", "merge-engine=aggregation;fields.s.aggregate-function=count").err().unwrap();
    assert!(error.message().contains("identifier 'count'"), "{error}");
}

/// A budget of so many bytes that counts its temporary files.
#[derive(Debug, Default)]
struct Limit {
    limit: usize,
    used: Mutex<(usize, usize)>,
    files: AtomicUsize,
}

impl MemoryBudget for Limit {
    fn try_grow(&self, bytes: usize) -> Result<()> {
        let mut used = self.used.lock().unwrap();
        if used.0 + bytes > self.limit {
            return Err(Error::new(ErrorKind::MemoryExhausted, "full"));
        }
        used.0 += bytes;
        used.1 = used.1.max(used.0);
        Ok(())
    }

    fn shrink(&self, bytes: usize) {
        self.used.lock().unwrap().0 -= bytes;
    }

    fn temp_file(&self) -> Result<Box<dyn TempFile>> {
        self.files.fetch_add(1, Ordering::Relaxed);
        Unlimited.temp_file()
    }
}

/// A batch with buffers of its own.
fn copied(batch: RecordBatch) -> RecordBatch {
    let all = UInt32Array::from_iter_values(0..batch.num_rows() as u32);
    arrow::compute::take_record_batch(&batch, &all).unwrap()
}

#[test]
fn rounds_through_files_change_nothing() {
    const RUNS: i64 = 12;
    let engines = [
        ("s m", "ignore-delete=true"),
        ("s m", "changelog-producer=lookup;sequence.field=m"),
        ("s m l:s", "merge-engine=aggregation;fields.s.aggregate-function=sum;fields.l.aggregate-function=listagg"),
        ("s m l:s", "merge-engine=aggregation;changelog-producer=lookup;fields.s.aggregate-function=sum"),
        ("s m l:s", "merge-engine=partial-update;fields.m.sequence-group=s,l;fields.s.aggregate-function=sum"),
    ];
    for (columns, options) in engines {
        let engine = Engine::new(columns, options);
        let run = |run: i64| {
            let texts: Vec<(String, i64, i32)> = (0..60)
                .filter(|k| (k * 7 + run * 5) % 4 != 0)
                .map(|k| {
                    // What joins texts cannot take one back.
                    let last = if columns.contains('l') { "+U" } else { "-D" };
                    let kind = ["+I", "+U", "+I", last][((k + run) % 4) as usize];
                    let text = if columns.contains('l') { format!(" t{run}") } else { String::new() };
                    (format!("{kind} {k} {} {}{text}", k + run, (k * run) % 5), run * 100 + k, (run % 5) as i32)
                })
                .collect();
            let rows: Vec<(&str, i64, i32)> = texts.iter().map(|(t, s, l)| (t.as_str(), *s, *l)).collect();
            engine.batch(&rows)
        };
        let batches: Vec<RecordBatch> = (0..RUNS).map(run).collect();
        let run_schema = batches[0].schema();
        let schema: Vec<usize> = (0..run_schema.fields().len() - 1).collect();
        let schema = Arc::new(run_schema.project(&schema).unwrap());
        // The second batch of a run is the greater one: memory runs out after rows were given out.
        let merge = |limit: usize, first: usize| {
            let pieces = |b: &RecordBatch| {
                let first = first.min(b.num_rows());
                [b.slice(0, first), b.slice(first, b.num_rows() - first)].map(copied)
            };
            let memory = Arc::new(Limit { limit, ..Limit::default() });
            let runs =
                batches.iter().map(pieces).map(|b| Run::new(move || stream::iter(b.clone().map(Ok)).boxed())).collect();
            let budget = Arc::clone(&memory) as Arc<dyn MemoryBudget>;
            let resources = Resources { memory: budget, parallelism: 1, ..Resources::default() };
            let rule = Arc::new(engine.rule.clone());
            let merged = merge_in_rounds(Arc::clone(&schema), Arc::clone(&run_schema), runs, rule, true, 5, &resources);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let rows = runtime.block_on(merged.unwrap().try_collect::<Vec<_>>()).map(|batches| engine.shown(&batches));
            drop(runtime);
            let (left, most) = *memory.used.lock().unwrap();
            assert_eq!(left, 0);
            (rows, memory.files.load(Ordering::Relaxed), most)
        };
        for first in [usize::MAX, 4] {
            let (expected, files, most) = merge(usize::MAX, first);
            let expected = expected.unwrap();
            assert!(files == 0 && expected.len() > 20, "{options}");
            for part in [2, 4] {
                let (rows, files, _) = merge(most / part, first);
                assert!(files > 1, "{options}");
                assert_eq!(rows.unwrap(), expected, "{options} with a {part}th of the memory");
            }
            assert_eq!(merge(most / 100, first).0.unwrap_err().kind(), ErrorKind::MemoryExhausted);
        }
    }
}
