//! Files written and read again.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, Int8Array, Int32Array, Int64Array, ListArray, MapArray, StringArray, StructArray,
};
use arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer};
use arrow::compute::concat_batches;
use arrow::datatypes::{DataType as ArrowType, Int32Type};
use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;

use super::*;
use crate::clock::{Clock, SystemClock};
use crate::error::ErrorKind;
use crate::meta::{Schemas, TablePaths};
use crate::options::Options;
use crate::predicate::{Function, Leaf, Predicate};
use crate::row::{BinaryRow, NullLayout};
use crate::spec::{DataFileMeta, FileSource, TableSchema};
use crate::storage::FileIO;
use crate::types::testing::*;
use crate::types::*;

/// A directory in memory with the schemas of one table.
struct Room {
    io: FileIO,
    dir: String,
    schemas: Schemas,
}

impl Room {
    fn new() -> Self {
        let dir = format!("memory:/datafile-{}", SystemClock.fresh_id());
        let io = FileIO::from_location(&dir, &Options::new()).unwrap();
        let schemas = Schemas::new(io.clone(), TablePaths::new(dir.clone(), "main"));
        Self { io, dir, schemas }
    }

    fn config(&self, schema: &TableSchema, options: &[(&str, &str)], layout: FileLayout) -> WriterConfig {
        WriterConfig {
            io: self.io.clone(),
            bucket_dir: format!("{}/bucket-0", self.dir),
            schema: Arc::new(schema.clone()),
            options: options.iter().copied().collect(),
            layout,
            level: 0,
            source: FileSource::Append,
            clock: SystemClock::shared(),
        }
    }

    async fn write(
        &self,
        schema: &TableSchema,
        options: &[(&str, &str)],
        layout: FileLayout,
        batches: &[RecordBatch],
    ) -> Vec<DataFileMeta> {
        let mut writer = RollingWriter::try_new(self.config(schema, options, layout)).unwrap();
        for batch in batches {
            writer.write(batch).await.unwrap();
        }
        writer.close().await.unwrap()
    }

    fn request(&self, file: &DataFileMeta, fields: &[DataField]) -> FileRequest {
        FileRequest {
            path: format!("{}/bucket-0/{}", self.dir, file.file_name),
            file: Arc::new(file.clone()),
            partition: BinaryRow::empty(),
            fields: fields.to_vec(),
            filter: None,
            batch_rows: 1000,
        }
    }

    fn reader(&self, schema: &TableSchema) -> DataFileReader {
        DataFileReader::new(self.io.clone(), Arc::new(schema.clone()), self.schemas.clone(), Options::new())
    }

    async fn read(&self, schema: &TableSchema, file: &DataFileMeta, fields: &[DataField]) -> RecordBatch {
        let stream = self.reader(schema).read(self.request(file, fields)).await.unwrap();
        let batches: Vec<_> = stream.try_collect().await.unwrap();
        let arrow = to_arrow_schema(&RowType::new(fields.to_vec()));
        batches.iter().for_each(|b| assert_eq!(b.schema(), arrow));
        concat_batches(&arrow, &batches).unwrap()
    }

    async fn files(&self) -> usize {
        self.io.list(&format!("{}/bucket-0", self.dir)).await.unwrap().len()
    }
}

fn schema(columns: &[(&str, DataType)]) -> TableSchema {
    let fields = row_type(columns).fields().to_vec();
    TableSchema {
        version: 3,
        id: 0,
        highest_field_id: fields.len() as i32 - 1,
        fields,
        partition_keys: Vec::new(),
        primary_keys: Vec::new(),
        options: Default::default(),
        comment: None,
        time_millis: 0,
    }
}

fn batch(schema: &TableSchema, columns: Vec<ArrayRef>) -> RecordBatch {
    RecordBatch::try_new(to_arrow_schema(&schema.row_type()), columns).unwrap()
}

fn append() -> FileLayout {
    FileLayout::Append { first_sequence: 0 }
}

/// Columns of every atomic type with two values, their opposites and null.
fn atomic_columns() -> Vec<(&'static str, DataType, Vec<Option<Datum>>)> {
    let at = |millis, nanos| Timestamp { millis, nanos };
    let old = -62_135_596_800_000i64;
    let column = |name, t: DataType, a: Datum, b: Datum| (name, t, vec![Some(a), None, Some(b)]);
    vec![
        column("bool", boolean(), Datum::Boolean(true), Datum::Boolean(false)),
        column("i8", tiny_int(), Datum::TinyInt(i8::MIN), Datum::TinyInt(i8::MAX)),
        column("i16", small_int(), Datum::SmallInt(i16::MIN), Datum::SmallInt(i16::MAX)),
        column("i32", int(), Datum::Int(i32::MIN), Datum::Int(i32::MAX)),
        column("i64", big_int(), Datum::BigInt(i64::MIN), Datum::BigInt(i64::MAX)),
        column("f32", float(), Datum::Float(-0.0), Datum::Float(f32::NAN)),
        column("f64", double(), Datum::Double(f64::MIN), Datum::Double(f64::NAN)),
        column("d9", decimal(9, 2), Datum::Decimal(-999_999_999, 2), Datum::Decimal(1, 2)),
        column("d18", decimal(18, 0), Datum::Decimal(-999_999_999_999_999_999, 0), Datum::Decimal(256, 0)),
        column("d38", decimal(38, 10), Datum::Decimal(1 - 10i128.pow(38), 10), Datum::Decimal(10i128.pow(38) - 1, 10)),
        column("char", char_of(4), text("ab"), text("\u{1f600}")),
        column("text", string(), text(""), text("a text that is longer than any prefix")),
        column("bytes", bytes(), Datum::Bytes(vec![]), Datum::Bytes(vec![0xff; 20])),
        column("date", date(), Datum::Date(-719_162), Datum::Date(2_932_896)),
        column("time", time(6), Datum::Time(0), Datum::Time(86_399_999)),
        column("t0", timestamp(0), Datum::Timestamp(at(-1_000, 0)), Datum::Timestamp(at(1_700_000_000_000, 0))),
        column("t3", timestamp(3), Datum::Timestamp(at(old, 0)), Datum::Timestamp(at(1_700_000_000_123, 0))),
        column("t6", timestamp(6), Datum::Timestamp(at(-1, 999_000)), Datum::Timestamp(at(old, 1_000))),
        column("t9", timestamp(9), Datum::Timestamp(at(-1, 999_999)), Datum::Timestamp(at(1_700_000_000_123, 1))),
        column("z3", zoned(3), Datum::LocalZonedTimestamp(at(-1, 0)), Datum::LocalZonedTimestamp(at(1, 0))),
        column("z9", zoned(9), Datum::LocalZonedTimestamp(at(-1, 1)), Datum::LocalZonedTimestamp(at(1, 1))),
    ]
}

#[tokio::test]
async fn every_atomic_type_survives() {
    let columns = atomic_columns();
    let types: Vec<_> = columns.iter().map(|(n, t, _)| (*n, t.clone())).collect();
    let schema = schema(&types);
    let arrays: Vec<_> = columns.iter().map(|(_, t, values)| array_from_datums(values, t).unwrap()).collect();
    let written = batch(&schema, arrays);
    for codec in ["zstd", "none", "snappy", "gzip", "lz4", "brotli"] {
        let room = Room::new();
        let options = [("file.compression", codec)];
        let files = room.write(&schema, &options, append(), std::slice::from_ref(&written)).await;
        let [file] = files.as_slice() else { panic!("{files:?}") };
        assert_eq!(room.read(&schema, file, &schema.fields).await, written, "{codec}");
        let size = room.io.status(&format!("{}/bucket-0/{}", room.dir, file.file_name)).await.unwrap().unwrap().size;
        assert_eq!((file.row_count, file.file_size), (3, size as i64));
        let found = stats::by_name(&file.value_stats, &schema.fields, None);
        for (name, data_type, values) in &columns {
            let mut values: Vec<_> = values.iter().flatten().cloned().collect();
            values.sort();
            let unknown = matches!(*name, "bytes" | "t9" | "z9");
            let expected = match data_type {
                _ if unknown => (None, None),
                _ if *name == "text" => (Some(text("")), Some(text("a text that is m"))),
                _ => (values.first().cloned(), values.last().cloned()),
            };
            assert_eq!(found[*name], (expected.0, expected.1, Some(1)), "{name}");
        }
    }
}

/// Rows of nested types, with nulls at every depth.
fn nested_batch() -> (TableSchema, RecordBatch) {
    let inner = RowType::new(vec![DataField::new(5, "x", int()), DataField::new(6, "t", timestamp(0))]);
    let columns = [
        ("l", DataType::Array(ArrayType::new(int()))),
        ("m", DataType::Map(MapType::new(string().with_nullable(false), big_int()))),
        ("s", DataType::Multiset(MultisetType::new(string().with_nullable(false)))),
        ("r", DataType::Row(inner.clone())),
        ("lr", DataType::Array(ArrayType::new(DataType::Row(inner)))),
    ];
    let schema = schema(&columns);
    let arrow = to_arrow_schema(&schema.row_type());
    let type_of = |i: usize| arrow.field(i).data_type().clone();
    let nulls = || Some(NullBuffer::from(vec![true, false, true]));
    let offsets = || OffsetBuffer::new(vec![0, 2, 2, 3].into());
    let list = |data_type: &ArrowType, values: ArrayRef| -> ArrayRef {
        let ArrowType::List(element) = data_type else { panic!() };
        Arc::new(ListArray::new(element.clone(), offsets(), values, nulls()))
    };
    let map = |data_type: &ArrowType, values: ArrayRef| -> ArrayRef {
        let ArrowType::Map(entries, _) = data_type else { panic!() };
        let ArrowType::Struct(parts) = entries.data_type() else { panic!() };
        let keys: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
        let structs = StructArray::new(parts.clone(), vec![keys, values], None);
        Arc::new(MapArray::new(entries.clone(), offsets(), structs, nulls(), false))
    };
    let row = |data_type: &ArrowType, nulls| -> ArrayRef {
        let ArrowType::Struct(parts) = data_type else { panic!() };
        let times = [None, None, Some(Datum::Timestamp(Timestamp::from_millis(-5_000)))];
        let times = array_from_datums(&times, &timestamp(0)).unwrap();
        let x: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]));
        Arc::new(StructArray::new(parts.clone(), vec![x, times], nulls))
    };
    let ArrowType::List(element) = type_of(4) else { panic!() };
    let arrays = vec![
        list(&type_of(0), Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]))),
        map(&type_of(1), Arc::new(Int64Array::from(vec![Some(1), None, Some(3)]))),
        map(&type_of(2), Arc::new(Int32Array::from(vec![1, 2, 3]))),
        row(&type_of(3), nulls()),
        list(&type_of(4), row(element.data_type(), None)),
    ];
    let written = batch(&schema, arrays);
    (schema, written)
}

#[tokio::test]
async fn nested_types_survive() {
    let (schema, written) = nested_batch();
    let room = Room::new();
    let files = room.write(&schema, &[], append(), std::slice::from_ref(&written)).await;
    assert_eq!(room.read(&schema, &files[0], &schema.fields).await, written);
    assert_eq!(files[0].value_stats_cols, Some(Vec::new()));

    let part = DataType::Row(RowType::new(vec![DataField::new(6, "t", timestamp(0))]));
    let found = room.read(&schema, &files[0], &[DataField::new(3, "r", part)]).await;
    assert_eq!(found.column(0).as_struct().column(0), written.column(3).as_struct().column(1));

    let lacking = DataType::Row(RowType::new(vec![DataField::new(9, "new", int())]));
    let found = room.read(&schema, &files[0], &[DataField::new(3, "r", lacking)]).await;
    assert_eq!((found.num_rows(), found.column(0).null_count()), (3, 3));
}

fn numbers(range: std::ops::Range<i32>) -> (TableSchema, RecordBatch) {
    let schema = schema(&[("id", int().with_nullable(false)), ("name", string())]);
    let ids: ArrayRef = Arc::new(Int32Array::from_iter_values(range.clone()));
    let names: ArrayRef = Arc::new(StringArray::from_iter_values(range.map(|i| format!("name {i}"))));
    let rows = batch(&schema, vec![ids, names]);
    (schema, rows)
}

#[tokio::test]
async fn files_roll_by_rows_exactly_and_by_size_after_a_thousand_rows() {
    let (schema, rows) = numbers(0..2_500);
    let room = Room::new();
    let layout = FileLayout::Append { first_sequence: 100 };
    let files = room.write(&schema, &[("target-file-row-num", "1000")], layout, std::slice::from_ref(&rows)).await;
    let found: Vec<_> = files.iter().map(|f| (f.row_count, f.min_sequence_number, f.max_sequence_number)).collect();
    assert_eq!(found, [(1000, 100, 1099), (1000, 1100, 2099), (500, 2100, 2599)]);
    let names: Vec<_> = files.iter().map(|f| f.file_name.rsplit_once('-').unwrap()).collect();
    assert!(names.iter().all(|(stem, _)| *stem == names[0].0 && stem.starts_with("data-")));
    assert_eq!(names.iter().map(|(_, n)| *n).collect::<Vec<_>>(), ["0.parquet", "1.parquet", "2.parquet"]);

    let slices: Vec<_> = (0..5).map(|i| rows.slice(i * 500, 500)).collect();
    let files = room.write(&schema, &[("target-file-size", "1 b")], append(), &slices).await;
    assert_eq!(files.iter().map(|f| f.row_count).collect::<Vec<_>>(), [1000, 1000, 500]);
}

#[tokio::test]
async fn nothing_is_left_of_an_aborted_or_empty_write() {
    let (schema, rows) = numbers(0..2_500);
    let room = Room::new();
    let options = [("target-file-row-num", "1000")];
    assert!(room.write(&schema, &options, append(), &[rows.slice(0, 0)]).await.is_empty());
    let mut writer = RollingWriter::try_new(room.config(&schema, &options, append())).unwrap();
    writer.write(&rows).await.unwrap();
    assert_eq!(room.files().await, 2);
    writer.abort().await;
    assert_eq!(room.files().await, 0);
}

#[tokio::test]
async fn large_row_groups_are_encoded_side_by_side() {
    let (schema, rows) = numbers(0..200_000);
    let room = Room::new();
    let mut writer = RollingWriter::try_new(room.config(&schema, &[("file.block-size", "256 kb")], append())).unwrap();
    let mut most = 0;
    for start in (0..200_000).step_by(5_000) {
        writer.write(&rows.slice(start, 5_000)).await.unwrap();
        most = most.max(writer.buffered_bytes());
    }
    let files = writer.close().await.unwrap();
    assert!(most > 0 && most < 4 << 20, "{most}");
    assert_eq!(room.read(&schema, &files[0], &schema.fields).await, rows);
    let found = stats::by_name(&files[0].value_stats, &schema.fields, None);
    assert_eq!(found["id"], (Some(Datum::Int(0)), Some(Datum::Int(199_999)), Some(0)));
}

#[tokio::test]
async fn key_value_files_hold_keys_and_count_deletes() {
    let mut schema = schema(&[("v", string()), ("k", int().with_nullable(false))]);
    schema.primary_keys = vec!["k".to_owned()];
    let arrow = to_arrow_schema(&RowType::new(key_value_fields(&schema.fields)));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![7, 5, 9])),
        Arc::new(Int8Array::from(vec![0, 3, 1])),
        Arc::new(StringArray::from(vec![Some("a"), None, Some("c")])),
        Arc::new(Int32Array::from(vec![-1, 0, 256])),
    ];
    let rows = RecordBatch::try_new(arrow, columns).unwrap();
    let room = Room::new();
    let files = room.write(&schema, &[], FileLayout::KeyValue, std::slice::from_ref(&rows)).await;
    let [file] = files.as_slice() else { panic!("{files:?}") };
    assert_eq!((file.min_sequence_number, file.max_sequence_number, file.delete_row_count), (5, 9, Some(2)));
    let key = |k| BinaryRow::encode(&[Some(Datum::Int(k))], &[int()], NullLayout::Reserved).unwrap();
    assert_eq!((&file.min_key, &file.max_key), (&key(-1), &key(256)));
    let bounds = (&file.key_stats.min_values, &file.key_stats.max_values, file.key_stats.null_counts.as_slice());
    assert_eq!(bounds, (&key(-1), &key(256), [Some(0)].as_slice()));
    assert_eq!(room.read(&schema, file, &key_value_fields(&schema.fields)).await, rows);
    assert_eq!(room.read(&schema, file, &[schema.fields[1].clone()]).await.num_columns(), 1);

    let files = room.write(&schema, &[("metadata.stats-mode", "none")], FileLayout::KeyValue, &[rows]).await;
    let null = BinaryRow::encode(&[None], &[int()], NullLayout::Reserved).unwrap();
    assert_eq!((&files[0].key_stats.min_values, &files[0].value_stats_cols), (&null, &Some(Vec::new())));
}

#[tokio::test]
async fn columns_follow_their_ids_through_schemas() {
    let (old, rows) = numbers(0..10);
    let room = Room::new();
    room.schemas.create(&old).await.unwrap();
    let files = room.write(&old, &[], append(), std::slice::from_ref(&rows)).await;
    // `name` is renamed, `id` is dropped and added again, `p` is a partition column that the file lacks.
    let mut new = schema(&[("id", int()), ("title", string()), ("p", int())]);
    new.id = 1;
    new.fields[0].id = 7;
    new.fields[2].id = 8;
    new.fields[1].id = 1;
    new.partition_keys = vec!["p".to_owned()];
    let mut request = room.request(&files[0], &new.fields);
    request.partition = BinaryRow::encode(&[Some(Datum::Int(42))], &[int()], NullLayout::Reserved).unwrap();
    let stream = room.reader(&new).read(request).await.unwrap();
    let found: Vec<RecordBatch> = stream.try_collect().await.unwrap();
    assert_eq!(found[0].schema(), to_arrow_schema(&new.row_type()));
    assert_eq!(found[0].column(0).null_count(), 10);
    assert_eq!(found[0].column(1), rows.column(1));
    assert!(found[0].column(2).as_primitive::<Int32Type>().iter().all(|v| v == Some(42)));
}

#[tokio::test]
async fn filters_skip_pages_and_selections_skip_rows() {
    let (schema, rows) = numbers(0..100_000);
    let room = Room::new();
    let files = room.write(&schema, &[("file.block-size", "200 kb")], append(), &[rows]).await;
    let filter = |function, literals| {
        let (name, data_type) = ("id".to_owned(), int());
        Predicate::Leaf(Leaf { field_id: 0, name, data_type, function, literals })
    };
    let read = async |predicate: Option<Predicate>, selection: Option<BooleanBuffer>| -> Vec<i32> {
        let mut request = room.request(&files[0], &schema.fields[..1]);
        request.filter = predicate;
        let stream = room.reader(&schema).read_rows(request, selection).await.unwrap();
        let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
        batches.iter().flat_map(|b| b.column(0).as_primitive::<Int32Type>().values().to_vec()).collect()
    };
    let found = read(Some(filter(Function::Equal, vec![Datum::Int(70_123)])), None).await;
    assert!(found.contains(&70_123) && found.len() <= 20_000, "{}", found.len());
    assert!(read(Some(filter(Function::GreaterThan, vec![Datum::Int(100_000)])), None).await.is_empty());
    let every_third = BooleanBuffer::from_iter((0..100_000).map(|i| i % 3 == 0));
    assert_eq!(read(None, Some(every_third.clone())).await, (0..100_000).step_by(3).collect::<Vec<_>>());
    let both = read(Some(filter(Function::Equal, vec![Datum::Int(69_999)])), Some(every_third)).await;
    assert!(both.contains(&69_999) && both.len() <= 7_000 && both.iter().all(|i| i % 3 == 0), "{}", both.len());
    assert!(read(None, Some(BooleanBuffer::new_unset(100_000))).await.is_empty());
}

#[tokio::test]
async fn rows_are_counted_without_columns() {
    let (schema, rows) = numbers(0..2_500);
    let room = Room::new();
    let files = room.write(&schema, &[], append(), &[rows]).await;
    let stream = room.reader(&schema).read(room.request(&files[0], &[])).await.unwrap();
    let batches: Vec<RecordBatch> = stream.try_collect().await.unwrap();
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 2_500);
}

#[tokio::test]
async fn damage_names_the_file() {
    let (schema, rows) = numbers(0..2_500);
    let room = Room::new();
    let files = room.write(&schema, &[], append(), &[rows]).await;
    let path = format!("{}/bucket-0/{}", room.dir, files[0].file_name);
    let whole = room.io.read(&path).await.unwrap();
    let outcome = async |content: bytes::Bytes, size: usize| {
        room.io.write(&path, content).await.unwrap();
        let file = DataFileMeta { file_size: size as i64, ..files[0].clone() };
        let request = room.request(&file, &schema.fields);
        match room.reader(&schema).read(request).await {
            Ok(stream) => stream.try_collect::<Vec<_>>().await,
            Err(error) => Err(error),
        }
    };
    for size in [0, 5, 11, whole.len() / 2, whole.len() - 1] {
        let error = outcome(whole.slice(..size), size).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Corrupt), "{error:?}");
        assert_eq!(error.context_value("file"), Some(path.as_str()));
        let error = outcome(whole.slice(..size), whole.len()).await.unwrap_err();
        assert_eq!(error.context_value("file"), Some(path.as_str()), "{error:?}");
    }
    // Whatever bit is wrong, the answer is rows or an error.
    for position in (0..whole.len()).step_by(37) {
        let mut bytes = whole.to_vec();
        bytes[position] ^= 0x5a;
        let _ = outcome(bytes.into(), whole.len()).await;
    }
}

#[tokio::test]
async fn timestamps_beyond_nanoseconds_are_refused() {
    use ::parquet::data_type::{Int96, Int96Type};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;

    let schema = schema(&[("t", timestamp(9))]);
    for (day, nanos, expected) in [(2_440_588 - 1, -1i64, Some(-86_400_000_000_001)), (5_373_484, 0, None)] {
        let message = parse_message_type("message m { optional int96 t; }").unwrap();
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(message), Default::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let mut value = Int96::new();
        value.set_data(nanos as u32, (nanos >> 32) as u32, day);
        column.typed::<Int96Type>().write_batch(&[value], Some(&[0, 1]), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        let room = Room::new();
        let (size, written) = (bytes.len() as i64, numbers(0..2));
        let file = room.write(&written.0, &[], append(), &[written.1]).await.remove(0);
        let path = format!("{}/bucket-0/{}", room.dir, file.file_name);
        room.io.write(&path, bytes.into()).await.unwrap();
        let request = room.request(&DataFileMeta { file_size: size, ..file }, &schema.fields);
        let stream = room.reader(&schema).read(request).await.unwrap();
        let found: Result<Vec<RecordBatch>, _> = stream.try_collect().await;
        match (found, expected) {
            (Ok(found), Some(expected)) => {
                let times = found[0].column(0).as_primitive::<arrow::datatypes::TimestampNanosecondType>();
                assert_eq!(times.iter().collect::<Vec<_>>(), [None, Some(expected)]);
            }
            (Err(error), None) => assert_eq!(error.kind(), ErrorKind::Unsupported),
            (found, expected) => panic!("{found:?} {expected:?}"),
        }
    }
}

mod pruning {
    use arrow::array::Float64Array;
    use arrow::compute::filter_record_batch;
    use proptest::prelude::*;

    use super::*;
    use crate::predicate::evaluate;

    /// Few different values, so that row groups and pages differ and equal each other.
    fn doubles() -> impl Strategy<Value = f64> {
        prop_oneof![Just(-0.0), Just(0.0), Just(f64::NAN), Just(f64::INFINITY), (-3i32..4).prop_map(f64::from)]
    }

    fn texts() -> impl Strategy<Value = String> {
        "[ab]{0,2}".prop_map(|s| {
            format!("{}{s}", "long common beginning of every text, beyond what an index keeps ".repeat(2))
        })
    }

    fn leaf() -> impl Strategy<Value = Predicate> {
        use Function::*;
        let functions = prop::sample::select(vec![
            Equal,
            NotEqual,
            LessThan,
            LessOrEqual,
            GreaterThan,
            GreaterOrEqual,
            IsNull,
            IsNotNull,
            In,
            NotIn,
            Between,
            NotBetween,
        ]);
        let literals = prop_oneof![
            (Just(0), prop::collection::vec((-3i32..4).prop_map(Datum::Int), 2)),
            (Just(1), prop::collection::vec(doubles().prop_map(Datum::Double), 2)),
            (Just(2), prop::collection::vec(texts().prop_map(Datum::String), 2)),
        ];
        (functions, literals).prop_map(|(function, (column, mut literals))| {
            literals.truncate(function.arity().unwrap_or(2));
            let (name, data_type) = [("i", int()), ("d", double()), ("s", string())][column].clone();
            let name = name.to_owned();
            Predicate::Leaf(Leaf { field_id: column as i32, name, data_type, function, literals })
        })
    }

    fn predicate() -> impl Strategy<Value = Predicate> {
        leaf().prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..3).prop_map(Predicate::And),
                prop::collection::vec(inner, 1..3).prop_map(Predicate::Or),
            ]
        })
    }

    /// Runs of equal rows, each the length of a page at least.
    type Runs = Vec<(Option<i32>, Option<f64>, Option<String>)>;

    fn runs() -> impl Strategy<Value = Runs> {
        let run = (prop::option::of(-3i32..4), prop::option::of(doubles()), prop::option::of(texts()));
        prop::collection::vec(run, 1..5)
    }

    const RUN: usize = 1_100;

    fn rows(schema: &TableSchema, runs: &Runs) -> RecordBatch {
        let repeated = || runs.iter().flat_map(|run| std::iter::repeat_n(run, RUN));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int32Array::from_iter(repeated().map(|r| r.0))),
            Arc::new(Float64Array::from_iter(repeated().map(|r| r.1))),
            Arc::new(StringArray::from_iter(repeated().map(|r| r.2.as_deref()))),
        ];
        batch(schema, columns)
    }

    async fn check(groups: &[Runs], predicate: Predicate) {
        let schema = schema(&[("i", int()), ("d", double()), ("s", string())]);
        let room = Room::new();
        let options = [("parquet.page.size", "1 b"), ("parquet.enable.dictionary", "false")];
        let mut writer = RollingWriter::try_new(room.config(&schema, &options, append())).unwrap();
        let mut all = Vec::new();
        for runs in groups {
            all.push(rows(&schema, runs));
            writer.write(all.last().unwrap()).await.unwrap();
            writer.flush().await.unwrap();
        }
        let files = writer.close().await.unwrap();
        let mut request = room.request(&files[0], &schema.fields);
        request.filter = Some(predicate.clone());
        let stream = room.reader(&schema).read(request).await.unwrap();
        let read: Vec<RecordBatch> = stream.try_collect().await.unwrap();
        let passing = |batches: &[RecordBatch]| {
            let all = concat_batches(&to_arrow_schema(&schema.row_type()), batches).unwrap();
            filter_record_batch(&all, &evaluate(&predicate, &all).unwrap()).unwrap()
        };
        // Compared as text: NaN is equal to itself here.
        assert_eq!(format!("{:?}", passing(&read)), format!("{:?}", passing(&all)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn no_row_that_passes_is_skipped(groups in prop::collection::vec(runs(), 1..3), predicate in predicate()) {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(check(&groups, predicate));
        }
    }
}
