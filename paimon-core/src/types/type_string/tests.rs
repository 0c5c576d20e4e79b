//! Tests of the textual form of types.

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Result<DataType> {
    text.parse()
}

#[test]
fn atomic_types_print_as_java_writes_them() {
    let cases = [
        ("boolean", "BOOLEAN"),
        ("TINYINT NOT NULL", "TINYINT NOT NULL"),
        ("INTEGER", "INT"),
        ("double precision not null", "DOUBLE NOT NULL"),
        ("CHAR", "CHAR(1)"),
        ("VARCHAR", "VARCHAR(1)"),
        ("VARCHAR(2147483647)", "STRING"),
        ("string", "STRING"),
        ("BINARY", "BINARY(1)"),
        ("VARBINARY(2147483647) NOT NULL", "BYTES NOT NULL"),
        ("DECIMAL", "DECIMAL(10, 0)"),
        ("DEC(5)", "DECIMAL(5, 0)"),
        ("NUMERIC(38,38)", "DECIMAL(38, 38)"),
        ("TIME", "TIME(0)"),
        ("TIME(3) WITHOUT TIME ZONE", "TIME(3)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("TIMESTAMP(0) WITHOUT TIME ZONE NULL", "TIMESTAMP(0)"),
        ("TIMESTAMP(9) WITH LOCAL TIME ZONE NOT NULL", "TIMESTAMP(9) WITH LOCAL TIME ZONE NOT NULL"),
        ("TIMESTAMP_LTZ", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("INT NOT NULL ARRAY", "ARRAY<INT NOT NULL>"),
        ("INT MULTISET NOT NULL", "MULTISET<INT> NOT NULL"),
        ("map<string, array<int>>", "MAP<STRING, ARRAY<INT>>"),
        ("ROW(a INT 'x''y', `b ``c` ROW<>)", "ROW<`a` INT COMMENT 'x''y', `b ``c` ROW<>>"),
        ("VECTOR<FLOAT, 3>", "VECTOR<FLOAT, 3>"),
    ];
    for (text, expected) in cases {
        let data_type = parse(text).unwrap();
        assert_eq!(data_type.to_string(), expected);
        assert_eq!(parse(expected).unwrap(), data_type);
    }
}

#[test]
fn sql_text_leaves_out_only_the_own_nullability() {
    assert_eq!(parse("ARRAY<INT NOT NULL> NOT NULL").unwrap().sql_text(), "ARRAY<INT NOT NULL>");
    assert_eq!(parse("ROW<x INT NOT NULL>").unwrap().sql_text(), "ROW<`x` INT NOT NULL>");
    assert_eq!(parse("BIGINT NOT NULL").unwrap().sql_text(), "BIGINT");
}

#[test]
fn wrong_text_is_refused() {
    let cases = [
        "",
        "IN T",
        "CHAR(0)",
        "CHAR(2147483648)",
        "DECIMAL(39, 2)",
        "DECIMAL(5, 6)",
        "DECIMAL(300, 0)",
        "TIME(10)",
        "TIMESTAMP(-1)",
        "ARRAY<INT",
        "MAP<INT>",
        "ROW<`x INT>",
        "ROW<x INT,>",
        "VECTOR<STRING, 3>",
        "VECTOR<FLOAT, 0>",
        "INT NOT",
        "'x'",
    ];
    for text in cases {
        assert_eq!(parse(text).unwrap_err().kind(), ErrorKind::InvalidInput, "{text}");
    }
    let error = parse("GEOMETRY(OGC:CRS84)").unwrap_err();
    assert!(error.kind() == ErrorKind::Unsupported && error.message().contains("GEOMETRY"), "{error}");
    let deep = "ARRAY<".repeat(5_000);
    assert!(parse(&deep).unwrap_err().message().contains("nest deeper"));
    assert!(parse(&format!("INT{}", " ARRAY".repeat(99))).is_ok());
    for words in [100, 100_000] {
        let suffixes = format!("INT{}", " ARRAY".repeat(words));
        assert!(parse(&suffixes).unwrap_err().message().contains("nest deeper"));
    }
}

#[test]
fn nested_types_are_objects_in_json() {
    let json = r#"{"type":"ROW NOT NULL","fields":[{"id":3,"name":"a","type":{"type":"MAP","key":"STRING NOT NULL","value":{"type":"ARRAY NOT NULL","element":"INT"}},"description":"c","defaultValue":"d"},{"id":5,"name":"b","type":{"type":"VECTOR","element":"FLOAT","length":4}}]}"#;
    let data_type = DataType::from_json_text(json).unwrap();
    assert_eq!(data_type.to_json_text(), json);
    assert_eq!(
        data_type.to_string(),
        "ROW<`a` MAP<STRING NOT NULL, ARRAY<INT> NOT NULL> COMMENT 'c', `b` VECTOR<FLOAT, 4>> NOT NULL"
    );
}

#[test]
fn json_fields_without_ids_are_numbered() {
    let json = r#"{"type":"ROW","fields":[{"name":"a","type":{"type":"ROW","fields":[{"name":"x","type":"INT"}]}},{"name":"b","type":"INT","description":null}]}"#;
    let DataType::Row(row) = DataType::from_json_text(json).unwrap() else { panic!("a row") };
    assert_eq!((row.fields()[0].id, row.fields()[1].id), (0, 2));
    assert_eq!(row.fields()[1].description, None);
    let mixed = r#"{"type":"ROW","fields":[{"id":0,"name":"a","type":"INT"},{"name":"b","type":"INT"}]}"#;
    let error = DataType::from_json_text(mixed).unwrap_err();
    assert_eq!(error.to_string(), "key 'id' is missing in the field (field: b)");
}

#[test]
fn wrong_json_is_corrupt() {
    let cases = [
        r#""INTT""#,
        r#"{"type":"SET","element":"INT"}"#,
        r#"{"type":"ARRAY"}"#,
        r#"{"element":"INT"}"#,
        "7",
        r#"{"type":"VECTOR","element":"INT","length":-1}"#,
        r#"{"type":"ROW","fields":{}}"#,
    ];
    for json in cases {
        assert_eq!(DataType::from_json_text(json).unwrap_err().kind(), ErrorKind::Corrupt, "{json}");
    }
}

fn atomic() -> impl Strategy<Value = DataType> {
    prop_oneof![
        Just(DataType::Boolean(BooleanType::new())),
        Just(DataType::BigInt(BigIntType::new())),
        (1..=38u8)
            .prop_flat_map(|p| (Just(p), 0..=p))
            .prop_map(|(p, s)| DataType::Decimal(DecimalType::new(p, s).unwrap())),
        (1..=MAX_LENGTH).prop_map(|n| DataType::Char(CharType::new(n).unwrap())),
        (1..=MAX_LENGTH).prop_map(|n| DataType::VarChar(VarCharType::new(n).unwrap())),
        Just(DataType::VarBinary(VarBinaryType::bytes_type())),
        (0..=9u32).prop_map(|p| DataType::LocalZonedTimestamp(LocalZonedTimestampType::new(p).unwrap())),
        Just(DataType::Variant(VariantType::new())),
        Just(DataType::Blob(BlobType::new())),
        (1..100u32).prop_map(|n| DataType::Vector(VectorType::with_nullable(
            true,
            DataType::Float(FloatType::new()),
            n
        ))),
    ]
}

fn any_type() -> impl Strategy<Value = DataType> {
    let leaf = (atomic(), any::<bool>()).prop_map(|(t, n)| t.with_nullable(n));
    leaf.prop_recursive(4, 24, 4, |inner| {
        let field = (any::<String>(), inner.clone(), proptest::option::of("[^\u{0}]{1,8}"));
        prop_oneof![
            (any::<bool>(), inner.clone()).prop_map(|(n, t)| DataType::Array(ArrayType::with_nullable(n, t))),
            (any::<bool>(), inner.clone()).prop_map(|(n, t)| DataType::Multiset(MultisetType::with_nullable(n, t))),
            (any::<bool>(), inner.clone(), inner).prop_map(|(n, k, v)| DataType::Map(MapType::with_nullable(n, k, v))),
            (any::<bool>(), proptest::collection::vec(field, 0..4)).prop_map(|(n, parts)| {
                let field = |(name, t, description): (String, DataType, Option<String>)| DataField {
                    description,
                    ..DataField::new(0, name, t)
                };
                DataType::Row(RowType::with_nullable(n, parts.into_iter().map(field).collect()))
            }),
        ]
    })
}

fn numbered(data_type: &DataType) -> DataType {
    let json = crate::json::parse(data_type.to_json_text().as_bytes(), "type").unwrap();
    type_from_json(&json, &mut FieldIds::counted_from(0)).unwrap()
}

proptest! {
    #[test]
    fn text_and_json_round_trip(data_type in any_type()) {
        let data_type = numbered(&data_type);
        prop_assert_eq!(&data_type.to_string().parse::<DataType>().unwrap(), &data_type);
        prop_assert_eq!(&DataType::from_json_text(&data_type.to_json_text()).unwrap(), &data_type);
    }

    #[test]
    fn no_text_panics(text in "[A-Z<>(),`' 0-9é]{0,40}") {
        let _ = text.parse::<DataType>();
        let _ = DataType::from_json_text(&text);
    }
}
