//! Every type through the engine's Parquet source, beside the core's reader.

use datafusion::arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use paimon_core::Schema;
use paimon_core::types::*;

use crate::support::{World, bigint, int, lines, string};

fn every_type() -> Schema {
    let decimal = |p, s| DataType::Decimal(DecimalType::new(p, s).unwrap());
    let timestamp = |p| DataType::Timestamp(TimestampType::new(p).unwrap());
    let zoned = |p| DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(p).unwrap());
    let row = RowType::new(vec![DataField::new(0, "x", int()), DataField::new(0, "y", string())]);
    Schema::builder()
        .column("id", int())
        .column("b", DataType::Boolean(BooleanType::new()))
        .column("i1", DataType::TinyInt(TinyIntType::new()))
        .column("i2", DataType::SmallInt(SmallIntType::new()))
        .column("i8", bigint())
        .column("f4", DataType::Float(FloatType::new()))
        .column("f8", DataType::Double(DoubleType::new()))
        .column("d9", decimal(9, 2))
        .column("d18", decimal(18, 3))
        .column("d38", decimal(38, 10))
        .column("c", DataType::Char(CharType::new(3).unwrap()))
        .column("v", DataType::VarChar(VarCharType::new(10).unwrap()))
        .column("bin", DataType::VarBinary(VarBinaryType::bytes_type()))
        .column("dt", DataType::Date(DateType::new()))
        .column("tm", DataType::Time(TimeType::new(3).unwrap()))
        .column("t0", timestamp(0))
        .column("t3", timestamp(3))
        .column("t6", timestamp(6))
        .column("t9", timestamp(9))
        .column("z3", zoned(3))
        .column("z6", zoned(6))
        .column("a", DataType::Array(ArrayType::new(int())))
        .column("m", DataType::Map(MapType::new(string().with_nullable(false), bigint())))
        .column("r", DataType::Row(row))
        .build()
        .unwrap()
}

const VALUES: &str = "VALUES (1, true, -1, -2, -3, -1.5, -0.0, -1.25, 2.5, -0.0000000001, 'abc', 'é', X'00FF', \
    DATE '1969-12-31', TIME '12:34:56.789', TIMESTAMP '1969-12-31 23:59:59', TIMESTAMP '2024-02-29 01:02:03.004', \
    TIMESTAMP '2024-02-29 01:02:03.000004', TIMESTAMP '2024-02-29 01:02:03.000000004', \
    TIMESTAMP '2024-02-29 01:02:03.004', TIMESTAMP '1969-12-31 23:59:59.999999', \
    make_array(1, NULL, 3), MAP {'k': 7}, named_struct('x', 5, 'y', 's'))";

async fn of_core(world: &World, table: &str) -> Vec<RecordBatch> {
    let builder = world.table(table).await.new_read_builder();
    let plan = builder.new_scan().plan().await.unwrap();
    builder.new_read().unwrap().to_arrow(plan.splits()).unwrap().try_collect().await.unwrap()
}

#[tokio::test]
async fn the_engine_reads_what_the_core_reads() {
    let world = World::new().await;
    world.create("t", every_type()).await;
    world.ok(&format!("INSERT INTO paimon.d.t {VALUES}")).await;
    world.ok("INSERT INTO paimon.d.t (id) VALUES (2)").await;
    let plan = world.plan("SELECT * FROM paimon.d.t").await;
    assert!(plan.contains("DataSourceExec") && !plan.contains("PaimonSplitsExec"), "{plan}");
    let mut expected = lines(&of_core(&world, "t").await);
    expected.sort();
    assert_eq!(world.rows("SELECT * FROM paimon.d.t").await, expected);
    assert!(expected[0].contains("-1.25") && expected[0].contains("abc é 00ff"), "{expected:?}");
}

#[tokio::test]
async fn filters_of_every_type_find_their_rows() {
    let world = World::new().await;
    world.create("t", every_type()).await;
    world.ok(&format!("INSERT INTO paimon.d.t {VALUES}")).await;
    world.ok("INSERT INTO paimon.d.t (id) VALUES (2)").await;
    let filters = [
        "b",
        "i1 = -1",
        "i2 < 0",
        "i8 IN (-3, 4)",
        "f4 = -1.5",
        "f8 = 0.0",
        "f8 >= 0.0",
        "NOT f8 < 0.0",
        "d9 = -1.25",
        "d18 > 2.4",
        "d38 < 0",
        "c = 'abc'",
        "v LIKE 'é%'",
        "bin = X'00FF'",
        "dt < DATE '1970-01-01'",
        "tm = arrow_cast('12:34:56.789', 'Time32(Millisecond)')",
        "t0 = TIMESTAMP '1969-12-31 23:59:59'",
        "t3 BETWEEN TIMESTAMP '2024-02-29 01:02:03' AND TIMESTAMP '2024-02-29 01:02:04'",
        "t6 > TIMESTAMP '2024-02-29 01:02:03.000003'",
        "t9 = TIMESTAMP '2024-02-29 01:02:03.000000004'",
        "z3 > TIMESTAMP '2024-02-29 01:02:03'",
        "z6 < TIMESTAMP '1970-01-01 00:00:00'",
        "r.x = 5",
        "a[3] = 3",
        "a IS NOT NULL",
    ];
    for filter in filters {
        assert_eq!(world.rows(&format!("SELECT id FROM paimon.d.t WHERE {filter}")).await, ["1"], "{filter}");
        let negated = world.rows(&format!("SELECT id FROM paimon.d.t WHERE ({filter}) IS NOT TRUE")).await;
        assert_eq!(negated, ["2"], "{filter}");
    }
}

#[tokio::test]
async fn partition_values_of_every_type_come_from_the_manifest() {
    let world = World::new().await;
    let all = every_type();
    let names = ["b", "i1", "i2", "i8", "d9", "d38", "v", "dt", "t3", "t6"];
    let mut schema = Schema::builder().column("id", int());
    for field in all.fields.iter().filter(|f| names.contains(&f.name.as_str())) {
        schema = schema.column(&field.name, field.data_type.clone());
    }
    world.create("p", schema.partition_keys(names).build().unwrap()).await;
    let values = "true, -1, -2, -3, -1.25, -0.0000000001, 'a/b=%c', DATE '1969-12-31', TIMESTAMP '2024-02-29 01:02:03.004', \
                  TIMESTAMP '2024-02-29 01:02:03.000004'";
    world.ok(&format!("INSERT INTO paimon.d.p VALUES (1, {values})")).await;
    world.ok("INSERT INTO paimon.d.p (id) VALUES (2)").await;
    let rows = world.rows("SELECT * FROM paimon.d.p").await;
    let mut expected = lines(&of_core(&world, "p").await);
    expected.sort();
    assert_eq!(rows, expected);
    for filter in
        ["b", "i1 = -1", "d9 < 0", "v LIKE 'a/%'", "dt = DATE '1969-12-31'", "t6 > TIMESTAMP '2024-01-01 00:00:00'"]
    {
        let sql = format!("SELECT id FROM paimon.d.p WHERE {filter}");
        assert_eq!(world.rows(&sql).await, ["1"], "{filter}");
        assert!(world.plan(&sql).await.contains("files=1"), "{filter}");
    }
}
