//! What merging costs beside decoding the same Parquet bytes; run with `cargo test --release -- --ignored timing`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, Float64Array, Int8Array, Int32Array, Int64Array, StringArray};
use arrow::datatypes::{Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::{MergeRule, merge_runs, sort_merge};
use crate::format::BatchStream;
use crate::options::Options;
use crate::runtime::Resources;
use crate::spec::TableSchema;
use crate::types::*;

const KEYS: i64 = 2_000_000;
const RUNS: i64 = 9;

fn schema(key: &[&str], fields: Vec<DataField>) -> TableSchema {
    TableSchema {
        version: 3,
        id: 0,
        fields,
        highest_field_id: 100,
        partition_keys: Vec::new(),
        primary_keys: key.iter().map(|&k| k.to_owned()).collect(),
        options: BTreeMap::new(),
        comment: None,
        time_millis: 0,
    }
}

fn fields() -> Vec<DataField> {
    let int = || DataType::Int(IntType::with_nullable(false));
    let text = || DataType::VarChar(VarCharType::string_type());
    vec![
        DataField::new(0, "k", DataType::BigInt(BigIntType::with_nullable(false))),
        DataField::new(1, "line", int()),
        DataField::new(2, "quantity", DataType::Double(DoubleType::new())),
        DataField::new(3, "price", DataType::Double(DoubleType::new())),
        DataField::new(4, "flag", text()),
        DataField::new(5, "mode", text()),
        DataField::new(6, "comment", text()),
        DataField::new(7, "name", text().with_nullable(false)),
    ]
}

fn mix(x: i64) -> i64 {
    let x = (x as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((x ^ (x >> 29)) >> 1) as i64
}

fn batch(schema: &SchemaRef, keys: &[i64], sequence: i64) -> RecordBatch {
    let mode = ["AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB", "REG AIR"];
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(keys.iter().map(|k| sequence + k))),
        Arc::new(Int8Array::from(vec![0; keys.len()])),
        Arc::new(Int64Array::from_iter_values(keys.iter().map(|k| k / 4))),
        Arc::new(Int32Array::from_iter_values(keys.iter().map(|k| (k % 4) as i32))),
        Arc::new(Float64Array::from_iter_values(keys.iter().map(|&k| (mix(k) % 50) as f64))),
        Arc::new(Float64Array::from_iter_values(keys.iter().map(|&k| mix(k + sequence) as f64 / 100.0))),
        Arc::new(StringArray::from_iter_values(keys.iter().map(|&k| if mix(k) % 3 == 0 { "R" } else { "N" }))),
        Arc::new(StringArray::from_iter_values(keys.iter().map(|&k| mode[mix(k) as usize % 7]))),
        Arc::new(StringArray::from_iter_values(keys.iter().map(|&k| format!("carefully {} final", mix(k) % 100_000)))),
        Arc::new(StringArray::from_iter_values(keys.iter().map(|k| format!("customer#{k:010}")))),
    ];
    RecordBatch::try_new(Arc::clone(schema), columns).unwrap()
}

fn file(schema: &SchemaRef, keys: &[i64], sequence: i64) -> Bytes {
    let compression = Compression::ZSTD(ZstdLevel::try_new(1).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), Arc::clone(schema), Some(properties)).unwrap();
    for keys in keys.chunks(65_536) {
        writer.write(&batch(schema, keys, sequence)).unwrap();
    }
    writer.into_inner().unwrap().into()
}

fn open(file: &Bytes) -> BatchStream {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file.clone()).unwrap().with_batch_size(8192).build().unwrap();
    stream::iter(reader.map(|b| b.map_err(Into::into))).boxed()
}

/// The least of three times.
async fn best<F: Future<Output = usize>>(work: impl Fn() -> F) -> (Duration, usize) {
    let mut best = (Duration::MAX, 0);
    for _ in 0..3 {
        let start = Instant::now();
        let rows = work().await;
        best = best.min((start.elapsed(), rows));
    }
    best
}

async fn rows_of(stream: BatchStream) -> usize {
    stream.try_fold(0, |rows, batch| async move { Ok(rows + batch.num_rows()) }).await.unwrap()
}

#[test]
#[ignore = "slow: writes and merges millions of rows to measure time"]
fn timing_of_merging_nine_runs() {
    let mut all = vec![sequence_number_field(), value_kind_field()];
    all.extend(fields());
    let arrow = to_arrow_schema(&RowType::new(all));
    // One great run of all keys and eight of every eighth key; and nine that share the keys between them.
    let base: Vec<i64> = (0..KEYS).collect();
    let updates = |run: i64| -> Vec<i64> { base.iter().copied().filter(|k| mix(*k) % 8 == run).collect() };
    let shared = |run: i64| -> Vec<i64> { base.iter().copied().filter(|k| mix(*k) % RUNS == run).collect() };
    let layered: Vec<Bytes> = std::iter::once(file(&arrow, &base, 0))
        .chain((0..8).map(|run| file(&arrow, &updates(run), (run + 1) * KEYS)))
        .collect();
    let disjoint: Vec<Bytes> = (0..RUNS).map(|run| file(&arrow, &shared(run), run * KEYS)).collect();
    let ranges: Vec<Bytes> = base.chunks(base.len() / 9 + 1).map(|keys| file(&arrow, keys, 0)).collect();

    for workers in [1, 2] {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build().unwrap();
        for (layout, files) in [("layered", &layered), ("disjoint", &disjoint), ("ranges", &ranges)] {
            let files = files.clone();
            let arrow = Arc::clone(&arrow);
            runtime
                .block_on(runtime.spawn(async move {
                    let decode = best(|| async {
                        let mut rows = 0;
                        for file in &files {
                            rows += rows_of(open(file)).await;
                        }
                        rows
                    });
                    let (decode, rows) = decode.await;
                    eprintln!("{workers} threads, {layout}: decoding {rows} rows takes {decode:?}");
                    for key in [&["k", "line"][..], &["name"], &["name", "line"]] {
                        let rule = MergeRule::try_new(&schema(key, fields()), &Options::new()).unwrap();
                        for width in [10, 6, 1] {
                            let result: Vec<usize> = (10 - width..10).collect();
                            let result: SchemaRef = Arc::new(Schema::clone(&arrow).project(&result).unwrap());
                            let merged = best(|| async {
                                let runs = files.iter().map(open).collect();
                                let rule = Arc::new(rule.clone());
                                let resources = Resources::default();
                                rows_of(merge_runs(Arc::clone(&result), runs, rule, true, 8192, &resources).unwrap())
                                    .await
                            });
                            let (time, rows) = merged.await;
                            let ratio = time.as_secs_f64() / decode.as_secs_f64();
                            eprintln!(
                                "  key {key:?}, {width} columns: {rows} rows in {time:?}, {ratio:.2} times decoding"
                            );
                        }
                    }
                }))
                .unwrap();
        }
    }

    let shuffled: Vec<i64> = (0..KEYS).map(|k| mix(k) % KEYS).collect();
    for (name, keys) in [("sorted", &base), ("shuffled", &shuffled)] {
        let batches: Vec<RecordBatch> = keys.chunks(8192).map(|keys| batch(&arrow, keys, 0)).collect();
        for key in [&["k", "line"][..], &["name"]] {
            let rule = MergeRule::try_new(&schema(key, fields()), &Options::new()).unwrap();
            let start = Instant::now();
            let rows: usize = sort_merge(&batches, &rule, 8192).unwrap().iter().map(RecordBatch::num_rows).sum();
            eprintln!("sort_merge of {name} rows, key {key:?}: {rows} rows in {:?}", start.elapsed());
        }
    }
}

#[test]
#[ignore = "slow: writes and merges millions of rows to measure time"]
fn timing_of_engines() {
    let mut all = vec![sequence_number_field(), value_kind_field()];
    all.extend(fields());
    let arrow = to_arrow_schema(&RowType::new(all));
    let base: Vec<i64> = (0..KEYS).collect();
    let updates = |run: i64| -> Vec<i64> { base.iter().copied().filter(|k| mix(*k) % 8 == run).collect() };
    let layered: Vec<Bytes> = std::iter::once(file(&arrow, &base, 0))
        .chain((0..8).map(|run| file(&arrow, &updates(run), (run + 1) * KEYS)))
        .collect();
    let quarter = &base[..base.len() / 4];
    let repeated: Vec<Bytes> = (0..5).map(|run| file(&arrow, quarter, run * KEYS)).collect();
    let engines = [
        ("deduplicate", ""),
        ("aggregation", "fields.quantity.aggregate-function=sum;fields.price.aggregate-function=max"),
        ("partial-update", ""),
        ("partial-update", "fields.price.sequence-group=quantity,comment;fields.quantity.aggregate-function=sum"),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    for (layout, files) in [("layered", &layered), ("repeated", &repeated)] {
        let mut deduplicate = 0.0;
        for (engine, more) in engines {
            let pairs = more.split(';').filter_map(|o| o.split_once('='));
            let options: Options = pairs.chain([("merge-engine", engine)]).collect();
            let rule = MergeRule::try_new(&schema(&["k", "line"], fields()), &options).unwrap();
            let (files, arrow) = (files.clone(), Arc::clone(&arrow));
            let (time, rows) = runtime
                .block_on(runtime.spawn(async move {
                    best(|| async {
                        let runs = files.iter().map(open).collect();
                        let (rule, resources) = (Arc::new(rule.clone()), Resources::default());
                        rows_of(merge_runs(Arc::clone(&arrow), runs, rule, true, 8192, &resources).unwrap()).await
                    })
                    .await
                }))
                .unwrap();
            if engine == "deduplicate" {
                deduplicate = time.as_secs_f64();
            }
            let ratio = time.as_secs_f64() / deduplicate;
            eprintln!("{layout}, {engine} {more}: {rows} rows in {time:?}, {ratio:.2} times deduplicate");
        }
    }
}
