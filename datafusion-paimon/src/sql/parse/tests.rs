use paimon_core::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::sql::printer::type_text;
use crate::sql::statement::*;

fn ours(sql: &str) -> Result<Statement> {
    parse(tokenize(sql)?, true, &|name| name[0] != "other")
}

use super::type_of_text as type_of;

#[test]
fn types() {
    let cases = [
        ("bool", "BOOLEAN"),
        ("INT2", "SMALLINT"),
        ("Integer NOT NULL", "INT NOT NULL"),
        ("INT8", "BIGINT"),
        ("FLOAT(24)", "FLOAT"),
        ("FLOAT(25)", "DOUBLE"),
        ("DOUBLE PRECISION", "DOUBLE"),
        ("DEC", "DECIMAL(10, 0)"),
        ("NUMERIC(38,10)", "DECIMAL(38, 10)"),
        ("DECIMAL(5)", "DECIMAL(5, 0)"),
        ("CHARACTER", "CHAR(1)"),
        ("CHARACTER VARYING(7)", "VARCHAR(7)"),
        ("VARCHAR", "STRING"),
        ("VARCHAR(2147483647)", "STRING"),
        ("CLOB", "STRING"),
        ("BINARY", "BINARY(1)"),
        ("BINARY VARYING(3)", "VARBINARY(3)"),
        ("VARBINARY", "BYTES"),
        ("BYTEA", "BYTES"),
        ("TIME", "TIME(0)"),
        ("TIME(9) WITHOUT TIME ZONE", "TIME(9)"),
        ("TIMESTAMP", "TIMESTAMP(6)"),
        ("DATETIME(4)", "TIMESTAMP(4)"),
        ("TIMESTAMP_NTZ(0)", "TIMESTAMP(0)"),
        ("TIMESTAMP WITH LOCAL TIME ZONE", "TIMESTAMP(6) WITH LOCAL TIME ZONE"),
        ("TIMESTAMP(3) WITH TIME ZONE", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
        ("TIMESTAMPTZ(9)", "TIMESTAMP(9) WITH LOCAL TIME ZONE"),
        ("INT[][]", "ARRAY<ARRAY<INT>>"),
        ("ARRAY(INT)", "ARRAY<INT>"),
        ("ARRAY<ARRAY<ARRAY<INT NOT NULL>>>", "ARRAY<ARRAY<ARRAY<INT NOT NULL>>>"),
        ("MAP(STRING, INT)", "MAP<STRING, INT>"),
        ("MAP<STRING NOT NULL, INT NOT NULL> NOT NULL", "MAP<STRING, INT NOT NULL> NOT NULL"),
        ("MULTISET<STRING>", "MULTISET<STRING>"),
        ("STRUCT<a INT, b: STRING>", "ROW<a INT, b STRING>"),
        (
            "ROW(A INT NOT NULL COMMENT 'it''s', \"B c\" ROW<x INT>)",
            "ROW<a INT NOT NULL COMMENT 'it''s', \"B c\" ROW<x INT>>",
        ),
        ("VARIANT", "VARIANT"),
        ("VECTOR<FLOAT, 3>", "VECTOR<FLOAT, 3>"),
    ];
    for (text, expected) in cases {
        let parsed = type_of(text).unwrap();
        assert_eq!(type_text(&parsed), expected, "{text}");
        assert_eq!(type_of(expected).unwrap(), parsed, "{expected}");
    }
}

#[test]
fn refused_types() {
    let cases = [
        ("INT UNSIGNED", "BIGINT"),
        ("BIGINT UNSIGNED", "DECIMAL(20,0)"),
        ("UUID", "STRING"),
        ("JSON", "STRING"),
        ("INTERVAL", "Unsupported type INTERVAL"),
        ("HUGEINT", "DECIMAL"),
        ("MyType", "Unsupported type MYTYPE"),
        ("TIME WITH TIME ZONE", "TIME WITH TIME ZONE"),
        ("VARCHAR(0)", "between 1"),
        ("DECIMAL(39,0)", "between 1 and 38"),
        ("DECIMAL(5,6)", "scale"),
        ("TIMESTAMP(10)", "between 0 and 9"),
        ("FLOAT(54)", "between 1 and 53"),
        ("ARRAY<INT", "expected >"),
        ("ROW<a INT, a INT>", "twice"),
    ];
    for (text, expected) in cases {
        let error = type_of(text).unwrap_err();
        assert!(error.message().contains(expected), "{text}: {error}");
    }
    assert_eq!(type_of("UUID").unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(type_of(&format!("{}INT{}", "ARRAY<".repeat(500), ">".repeat(500))).is_err());
}

/// Statements whose printed form is a fixed point.
#[test]
fn statements_are_read_and_printed() {
    let cases = [
        ("create schema if not exists Paimon.Db", "CREATE DATABASE IF NOT EXISTS paimon.db"),
        ("DROP SCHEMA IF EXISTS d RESTRICT;", "DROP DATABASE IF EXISTS d"),
        ("DROP DATABASE d CASCADE", "DROP DATABASE d CASCADE"),
        (
            "CREATE TABLE d.t (ID INT PRIMARY KEY, v STRING DEFAULT -1 COMMENT 'x') WITH (bucket = -1, file.format = orc, 'a-b' 'c') PARTITIONED BY (v) COMMENT = 'c' USING paimon",
            "CREATE TABLE d.t (\n  id INT,\n  v STRING DEFAULT - 1 COMMENT 'x',\n  PRIMARY KEY (id) NOT ENFORCED\n)\nCOMMENT 'c'\nPARTITIONED BY (v)\nWITH (\n  'bucket' = '-1',\n  'file.format' = 'orc',\n  'a-b' = 'c'\n)",
        ),
        (
            "CREATE TABLE t (a INT NOT NULL DEFAULT NULL, CONSTRAINT pk PRIMARY KEY (a) NOT ENFORCED) OPTIONS (changelog-producer = input, snapshot.num-retained.max '3')",
            "CREATE TABLE t (\n  a INT NOT NULL DEFAULT NULL,\n  PRIMARY KEY (a) NOT ENFORCED\n)\nWITH (\n  'changelog-producer' = 'input',\n  'snapshot.num-retained.max' = '3'\n)",
        ),
        ("CREATE TABLE t (a, b) AS SELECT 1, 2", "CREATE TABLE t (\n  a,\n  b\n)\nAS SELECT 1, 2"),
        (
            "CREATE TABLE IF NOT EXISTS t (PRIMARY KEY (a)) AS WITH q AS (SELECT 1 a) SELECT * FROM q",
            "CREATE TABLE IF NOT EXISTS t (\n  PRIMARY KEY (a) NOT ENFORCED\n)\nAS WITH q AS (SELECT 1 a) SELECT * FROM q",
        ),
        ("CREATE TABLE t (LIKE s) WITH (k = TRUE)", "CREATE TABLE t LIKE s\nWITH (\n  'k' = 'TRUE'\n)"),
        ("CREATE TABLE t LIKE d.s EXCLUDING OPTIONS", "CREATE TABLE t LIKE d.s (EXCLUDING OPTIONS)"),
        ("CREATE TEMP TABLE t AS (SELECT 1 a)", "CREATE TEMPORARY TABLE t\nAS (SELECT 1 a)"),
        ("CREATE OR REPLACE TEMP VIEW v (a) AS SELECT 1", "CREATE OR REPLACE TEMPORARY VIEW v (a) AS SELECT 1"),
        ("DROP TABLE IF EXISTS a, d.b PURGE", "DROP TABLE IF EXISTS a, d.b"),
        ("DROP TEMPORARY TABLE x", "DROP TEMPORARY TABLE x"),
        ("DROP TEMP VIEW IF EXISTS v", "DROP TEMPORARY VIEW IF EXISTS v"),
        ("TRUNCATE t PARTITION (dt = 'a', h = 1)", "TRUNCATE TABLE t PARTITION (dt = 'a', h = 1)"),
        ("ALTER TABLE t ADD c INT COMMENT 'x' FIRST", "ALTER TABLE t ADD COLUMN c INT COMMENT 'x' FIRST"),
        (
            "ALTER TABLE IF EXISTS t ADD COLUMNS (a INT, r.f ROW<x INT> AFTER b), DROP (a, r.f)",
            "ALTER TABLE IF EXISTS t ADD COLUMN a INT, ADD COLUMN r.f ROW<x INT> AFTER b, DROP COLUMN a, DROP COLUMN r.f",
        ),
        (
            "ALTER TABLE t MODIFY c BIGINT NOT NULL COMMENT 'x' AFTER d",
            "ALTER TABLE t ALTER COLUMN c TYPE BIGINT, ALTER COLUMN c SET NOT NULL, ALTER COLUMN c COMMENT 'x', ALTER COLUMN c AFTER d",
        ),
        ("ALTER TABLE t CHANGE COLUMN a b INT", "ALTER TABLE t RENAME COLUMN a TO b, ALTER COLUMN b TYPE INT"),
        ("ALTER TABLE t CHANGE a a BIGINT", "ALTER TABLE t ALTER COLUMN a TYPE BIGINT"),
        ("ALTER TABLE t RENAME a TO b", "ALTER TABLE t RENAME COLUMN a TO b"),
        ("ALTER TABLE t RENAME TO paimon.d.u", "ALTER TABLE t RENAME TO paimon.d.u"),
        (
            "ALTER TABLE t ALTER c SET DATA TYPE INT, ALTER c DROP DEFAULT",
            "ALTER TABLE t ALTER COLUMN c TYPE INT, ALTER COLUMN c DROP DEFAULT",
        ),
        (
            "ALTER TABLE t ALTER c SET DEFAULT CAST('1' AS INT)",
            "ALTER TABLE t ALTER COLUMN c SET DEFAULT CAST (\'1\' AS INT)",
        ),
        (
            "ALTER TABLE t SET (a.b = 1, 'comment' = 'hi')",
            "ALTER TABLE t SET TBLPROPERTIES ('a.b' = '1'), COMMENT 'hi'",
        ),
        ("ALTER TABLE t UNSET TBLPROPERTIES IF EXISTS ('a')", "ALTER TABLE t RESET ('a')"),
        (
            "ALTER TABLE t DROP PARTITION (dt = 'a'), PARTITION (dt = NULL)",
            "ALTER TABLE t DROP PARTITION (dt = 'a'), PARTITION (dt = NULL)",
        ),
        ("COMMENT ON TABLE d.t IS NULL", "ALTER TABLE d.t COMMENT NULL"),
        ("COMMENT ON COLUMN d.t.c IS 'x'", "ALTER TABLE d.t ALTER COLUMN c COMMENT 'x'"),
        ("INSERT INTO TABLE t VALUES (1, 'a')", "INSERT INTO t VALUES (1, 'a')"),
        ("INSERT OVERWRITE t PARTITION (dt) SELECT 22, 'd2'", "INSERT OVERWRITE t PARTITION (dt) SELECT 22, 'd2'"),
        (
            "INSERT INTO t (a, B) PARTITION (d = DATE '2024-01-01', h) (SELECT 1, 2)",
            "INSERT INTO t PARTITION (d = DATE '2024-01-01', h) (a, b) (SELECT 1, 2)",
        ),
        ("INSERT INTO t (values) VALUES (1)", "INSERT INTO t (\"values\") VALUES (1)"),
        ("WITH q AS (SELECT 1) INSERT INTO t SELECT * FROM q", "INSERT INTO t WITH q AS (SELECT 1) SELECT * FROM q"),
        (
            "INSERT INTO t /*+ OPTIONS('a' = 'b') */ BY NAME SELECT 1 AS a",
            "INSERT INTO t /*+ OPTIONS('a' = 'b') */ BY NAME SELECT 1 AS a",
        ),
        ("INSERT INTO t DEFAULT VALUES", "INSERT INTO t DEFAULT VALUES"),
        ("CALL sys.compact(table => 'db.t', 1 + 1)", "CALL sys.compact(\"table\" => 'db.t', 1 + 1)"),
        ("CALL c.sys.rollback('t', tag = 'x')", "CALL c.sys.\"rollback\"('t', \"tag\" => 'x')"),
        ("SET paimon.*.d.t.scan.snapshot-id = 5", "SET 'paimon.*.d.t.scan.snapshot-id' = '5'"),
        ("SET \"paimon.read.batch-size\" = 4096", "SET 'paimon.read.batch-size' = '4096'"),
        ("RESET 'paimon.scan.snapshot-id'", "RESET 'paimon.scan.snapshot-id'"),
        ("RESET ALL", "RESET ALL"),
        ("SET TIME ZONE '+08:00'", "SET TIME ZONE '+08:00'"),
        ("SET timezone = 'UTC'", "SET TIME ZONE 'UTC'"),
        ("USE c.d", "USE DATABASE c.d"),
        ("USE CATALOG c", "USE CATALOG c"),
        ("CREATE CATALOG c WITH (type = paimon)", "CREATE CATALOG c WITH ('type' = 'paimon')"),
        (
            "CREATE OR REPLACE TEMP FUNCTION F(a int, b string) RETURNS int RETURN a + length(b)",
            "CREATE OR REPLACE TEMPORARY FUNCTION f(a INT, b STRING) RETURNS INT RETURN a + length (b)",
        ),
        ("DROP TEMPORARY FUNCTION IF EXISTS f", "DROP TEMPORARY FUNCTION IF EXISTS f"),
        (
            "ALTER TABLE t CREATE TAG IF NOT EXISTS X AS OF VERSION 3 RETAIN 7 DAYS",
            "ALTER TABLE t CREATE TAG IF NOT EXISTS 'x' AS OF VERSION 3 RETAIN 7 DAYS",
        ),
        ("ALTER TABLE t REPLACE TAG 'X'", "ALTER TABLE t REPLACE TAG 'X'"),
        ("ALTER TABLE t DELETE TAG IF EXISTS 'a,b'", "ALTER TABLE t DELETE TAG IF EXISTS 'a,b'"),
        ("ALTER TABLE t RENAME TAG a TO 'B'", "ALTER TABLE t RENAME TAG 'a' TO 'B'"),
        ("SHOW BRANCHES t", "SHOW BRANCHES t"),
        ("SHOW TABLE EXTENDED IN d LIKE 'x*'", "SHOW TABLE EXTENDED IN d LIKE 'x*'"),
        ("DESCRIBE DATABASE d", "DESCRIBE DATABASE d"),
        ("SHOW TABLES FROM c.d LIKE 'a%'", "SHOW TABLES IN c.d LIKE 'a%'"),
        ("SHOW SCHEMAS IN c", "SHOW DATABASES IN c"),
        ("SHOW CREATE TABLE t$branch_b", "SHOW CREATE TABLE t$branch_b"),
        ("SHOW PARTITIONS t PARTITION (a = 1)", "SHOW PARTITIONS t PARTITION (a = 1)"),
        ("SHOW TBLPROPERTIES t ('bucket')", "SHOW TBLPROPERTIES t ('bucket')"),
        ("SHOW 'paimon.a'", "SHOW 'paimon.a'"),
        ("DESC TABLE t", "DESCRIBE t"),
        ("DESCRIBE FORMATTED d.t", "DESCRIBE EXTENDED d.t"),
        ("EXPLAIN INSERT INTO t VALUES (1)", "EXPLAIN INSERT INTO t VALUES (1)"),
        ("EXPLAIN VERBOSE DROP TABLE t", "EXPLAIN VERBOSE DROP TABLE t"),
    ];
    for (sql, expected) in cases {
        let statement = ours(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(statement.to_string(), expected, "{sql}");
        assert_eq!(ours(expected).unwrap_or_else(|e| panic!("{expected}: {e}")), statement, "{expected}");
    }
}

#[test]
fn the_engine_keeps_its_statements() {
    for sql in [
        "SELECT 1",
        "(SELECT 1)",
        "VALUES (1)",
        "WITH q AS (SELECT 1) SELECT * FROM q",
        "CREATE TABLE other.s.t (a INT UNSIGNED CHECK (a > 1))",
        "CREATE OR REPLACE VIEW other.s.v AS SELECT 1",
        "DROP TABLE other.s.t CASCADE",
        "INSERT INTO other.s.t VALUES (1) RETURNING a",
        "DELETE FROM other.s.t WHERE a = 1",
        "SET datafusion.execution.batch_size = 1",
        "SHOW datafusion.execution.batch_size",
        "SHOW CREATE TABLE other.s.t",
        "DESCRIBE SELECT 1",
        "EXPLAIN SELECT 1",
        "EXPLAIN (FORMAT tree) SELECT 1",
        "COPY other.s.t TO 'x.csv'",
        "CREATE EXTERNAL TABLE other.s.t STORED AS CSV LOCATION 'x'",
    ] {
        assert!(matches!(ours(sql), Ok(Statement::Engine(_))), "{sql}: {:?}", ours(sql));
    }
}

#[test]
fn refusals_name_the_clause() {
    let cases = [
        ("CREATE TABLE t (a INT UNIQUE)", "UNIQUE of column a"),
        ("CREATE TABLE t (a INT CHECK (a > 1))", "CHECK of column a"),
        ("CREATE TABLE t (a INT REFERENCES b)", "REFERENCES"),
        ("CREATE TABLE t (a INT GENERATED ALWAYS AS IDENTITY)", "GENERATED"),
        ("CREATE TABLE t (a INT AUTO_INCREMENT)", "AUTO_INCREMENT"),
        ("CREATE TABLE t (a STRING COLLATE \"de\")", "COLLATE"),
        ("CREATE TABLE t (a INT, FOREIGN KEY (a) REFERENCES b)", "FOREIGN"),
        ("CREATE TABLE t (a INT, CHECK (a > 1))", "constraint other than PRIMARY KEY"),
        ("CREATE TABLE t (a INT, WATERMARK FOR a AS a)", "WATERMARK"),
        ("CREATE TABLE t (a INT PRIMARY KEY ENFORCED)", "ENFORCED"),
        ("CREATE TABLE t (a INT) STORED AS parquet", "STORED"),
        ("CREATE TABLE t (a INT) LOCATION 'x'", "LOCATION"),
        ("CREATE TABLE t (a INT) CLUSTERED BY (a) INTO 2 BUCKETS", "CLUSTERED"),
        ("CREATE TABLE t (a INT) USING delta", "USING delta"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (days(a))", "transform days"),
        ("CREATE TABLE t (a INT) PARTITIONED BY (b INT)", "type in PARTITIONED BY"),
        ("CREATE UNLOGGED TABLE t (a INT)", "UNLOGGED"),
        ("CREATE OR REPLACE TEMPORARY TABLE t (a INT)", "OR REPLACE"),
        ("CREATE EXTERNAL TABLE t STORED AS PAIMON LOCATION 'x'", "EXTERNAL"),
        ("CREATE VIEW v AS SELECT 1", "CREATE TEMPORARY VIEW"),
        ("CREATE DATABASE d COMMENT 'x'", "COMMENT of CREATE DATABASE"),
        ("CREATE DATABASE d WITH (a = 1)", "WITH of CREATE DATABASE"),
        ("ALTER DATABASE d SET (a = 1)", "Alter database is not supported"),
        ("DROP TABLE t CASCADE", "CASCADE"),
        ("DROP VIEW v", "DROP TEMPORARY VIEW"),
        ("TRUNCATE TABLE a, b", "list of tables"),
        ("ALTER TABLE t ADD c INT DEFAULT 1", "DEFAULT"),
        ("ALTER TABLE t ADD CONSTRAINT x PRIMARY KEY (a)", "ADD CONSTRAINT"),
        ("ALTER TABLE t ADD PARTITION (dt = 1)", "ADD PARTITION"),
        ("ALTER TABLE t RENAME PARTITION (a = 1) TO PARTITION (a = 2)", "RENAME PARTITION"),
        ("ALTER TABLE t SWAP WITH u", "SWAP"),
        ("ALTER TABLE t REPLACE COLUMNS (a INT)", "REPLACE COLUMNS"),
        ("ALTER TABLE t DROP COLUMN a CASCADE", "CASCADE"),
        ("ALTER TABLE t CREATE BRANCH x", "a change of branches"),
        ("CREATE FUNCTION f(a INT) RETURNS INT RETURN a", "filesystem catalogs hold no functions"),
        ("DROP CATALOG c", "DROP CATALOG"),
        ("INSERT OR REPLACE INTO t VALUES (1)", "INSERT OR"),
        ("REPLACE INTO t VALUES (1)", "REPLACE INTO"),
        ("INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING", "ON CONFLICT"),
        ("INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1", "ON DUPLICATE KEY"),
        ("INSERT INTO t SELECT 1 RETURNING a", "RETURNING"),
        ("INSERT INTO t SET a = 1", "SET"),
        ("DELETE FROM t WHERE a = 1", "DELETE"),
        ("UPDATE t SET a = 1", "UPDATE"),
        ("MERGE INTO t USING s ON a = b WHEN MATCHED THEN DELETE", "MERGE"),
        ("BEGIN", "transaction"),
        ("COMMIT", "transaction"),
        ("MSCK REPAIR TABLE t", "MSCK"),
        ("ANALYZE TABLE t COMPUTE STATISTICS", "ANALYZE"),
    ];
    for (sql, expected) in cases {
        let error = ours(sql).unwrap_err();
        assert!(error.message().contains(expected), "{sql}: {error}");
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{sql}: {error}");
    }
}

#[test]
fn mistakes_have_a_position() {
    let cases = [
        ("CREATE TABLE t (\n  a INT,\n  a INT)", "column a occurs twice"),
        ("CREATE TABLE t (a INT) WITH ('a' = '1', 'a' = '2')", "option 'a' is given twice at line 1, column 41"),
        ("CREATE TABLE t (a INT) COMMENT 'x' COMMENT 'y'", "COMMENT is given twice"),
        ("CREATE TABLE t (a INT PRIMARY KEY, PRIMARY KEY (a))", "primary key is given twice"),
        ("CREATE TABLE t ()", "expected a name, found ) at line 1, column 17"),
        ("CREATE TABLE t", "expected a list of columns"),
        ("CREATE TABLE t (a, b)", "expected AS and a query"),
        ("CREATE TABLE t (a, b INT)", "column a has no type"),
        ("CREATE TABLE a.b.c.d (x INT)", "has 4 parts"),
        ("CREATE TABLE t (a INT) foo", "expected the end of the statement, found foo at line 1, column 24"),
        ("ALTER TABLE t ADD c INT NOT NULL", "cannot be added as NOT NULL"),
        ("ALTER TABLE t DROP PARTITION (dt > 1)", "takes nothing else"),
        ("INSERT INTO t PARTITION (a = 1, a = 2) SELECT 1", "given twice"),
        ("INSERT INTO t", "expected VALUES or a query"),
        ("INSERT INTO t /*+ OPTIONS('a') */ VALUES (1)", "in the hint at line 1, column 15"),
        ("CALL sys.compact('t'", "expected )"),
        ("SHOW TABLES IN a.b.c", "[catalog.]database"),
    ];
    for (sql, expected) in cases {
        let error = ours(sql).unwrap_err();
        assert!(error.message().contains(expected), "{sql}: {error}");
    }
}

#[test]
fn folding_can_be_switched_off() {
    let statement = parse(tokenize("DROP TABLE A.\"b\"").unwrap(), false, &|_| true).unwrap();
    assert!(matches!(statement, Statement::DropTable { ref names, .. } if names[0] == ["A", "b"]));
    let folded = parse(tokenize("DROP TABLE A.\"B\"").unwrap(), true, &|_| true).unwrap();
    assert!(matches!(folded, Statement::DropTable { ref names, .. } if names[0] == ["a", "B"]));
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_][a-z0-9_$]{0,6}", "[ -~]{1,6}", Just("select".to_owned()), Just("Äö☃".to_owned())]
        .prop_filter("a name is not empty", |s| !s.is_empty())
}

fn any_type() -> impl Strategy<Value = DataType> {
    let leaf = prop_oneof![
        Just("BOOLEAN"),
        Just("TINYINT"),
        Just("SMALLINT"),
        Just("INT"),
        Just("BIGINT"),
        Just("FLOAT"),
        Just("DOUBLE"),
        Just("DECIMAL(20,3)"),
        Just("CHAR(4)"),
        Just("VARCHAR(9)"),
        Just("STRING"),
        Just("BINARY(2)"),
        Just("VARBINARY(5)"),
        Just("BYTES"),
        Just("DATE"),
        Just("TIME(3)"),
        Just("TIMESTAMP(9)"),
        Just("TIMESTAMP(0) WITH LOCAL TIME ZONE"),
        Just("VARIANT"),
    ]
    .prop_map(|text| type_of(text).unwrap());
    (leaf, any::<bool>()).prop_map(|(t, nullable)| t.with_nullable(nullable)).prop_recursive(4, 24, 4, |inner| {
        let field = (any_name(), inner.clone(), proptest::option::of(".{0,5}"));
        let row = proptest::collection::vec(field, 1..4).prop_filter_map("names are unique", |fields| {
            use paimon_core::types::{DataField, RowType};
            let mut names: Vec<_> = fields.iter().map(|(name, ..)| name.clone()).collect();
            names.sort();
            names.dedup();
            (names.len() == fields.len()).then(|| {
                DataType::Row(RowType::new(
                    fields
                        .into_iter()
                        .map(|(name, data_type, description)| DataField {
                            description,
                            ..DataField::new(0, name, data_type)
                        })
                        .collect(),
                ))
            })
        });
        use paimon_core::types::{ArrayType, MapType, MultisetType};
        prop_oneof![
            inner.clone().prop_map(|t| DataType::Array(ArrayType::new(t))),
            inner.clone().prop_map(|t| DataType::Multiset(MultisetType::new(t))),
            (inner.clone(), inner).prop_map(|(k, v)| DataType::Map(MapType::new(k.with_nullable(false), v))),
            row,
        ]
        .prop_flat_map(|t| any::<bool>().prop_map(move |nullable| t.with_nullable(nullable)))
    })
}

fn any_table() -> impl Strategy<Value = CreateTable> {
    let default =
        proptest::option::of(prop_oneof![Just("1"), Just("'it''s'"), Just("CAST('1' AS INT)"), Just("- 2.5")]);
    let column = (any_name(), any_type(), default, proptest::option::of(".{0,6}"));
    let options = proptest::collection::btree_map("[a-z.-]{1,8}", ".{0,8}", 0..4);
    (
        proptest::collection::vec(any_name(), 1..=3),
        proptest::collection::vec(column, 1..5),
        options,
        proptest::option::of(".{0,8}"),
        any::<(bool, bool)>(),
        prop_oneof![Just((false, false)), Just((true, false)), Just((false, true))],
    )
        .prop_filter_map(
            "columns are unique",
            |(name, columns, options, comment, (key, partitioned), replaces)| {
                use paimon_core::types::DataField;
                let names: Vec<_> = columns.iter().map(|(name, ..)| name.clone()).collect();
                let unique = names.iter().collect::<std::collections::BTreeSet<_>>().len() == names.len();
                let columns = columns
                    .into_iter()
                    .map(|(name, data_type, default, description)| Column {
                        field: DataField { description, ..DataField::new(0, name, data_type) },
                        default: default.map(|d| crate::sql::tokens::Fragment::parse(d).unwrap()),
                    })
                    .collect();
                unique.then(|| CreateTable {
                    name,
                    or_replace: replaces.0,
                    replace: replaces.1,
                    columns: Columns::Typed(columns),
                    primary_key: key.then(|| names.clone()),
                    partitioned_by: partitioned.then(|| vec![names[0].clone()]),
                    comment,
                    options: options.into_iter().collect(),
                    ..CreateTable::default()
                })
            },
        )
}

proptest! {
    /// SQL-341.
    #[test]
    fn printed_table_definitions_read_back(table in any_table()) {
        let statement = Statement::CreateTable(Box::new(table));
        let text = statement.to_string();
        let parsed = parse(tokenize(&text).unwrap(), true, &|_| true);
        prop_assert_eq!(parsed.map_err(|e| format!("{text}: {e}")), Ok(statement));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,60}") {
        let _ = tokenize(&text).and_then(|tokens| parse(tokens, true, &|_| true));
    }

    #[test]
    fn no_words_make_the_parser_panic(words in proptest::collection::vec(
        prop_oneof![
            Just("CREATE"), Just("TABLE"), Just("t"), Just("("), Just(")"), Just(","), Just("INT"), Just("ARRAY"), Just("<"),
            Just(">>"), Just("ALTER"), Just("ADD"), Just("DROP"), Just("PARTITION"), Just("="), Just("1"), Just("'x'"),
            Just("INSERT"), Just("INTO"), Just("VALUES"), Just("WITH"), Just("SHOW"), Just("CALL"), Just("."), Just("NOT"),
            Just("NULL"), Just("SET"), Just("AS"), Just("SELECT"), Just("EXPLAIN"), Just("["), Just("DEFAULT"), Just("KEY"),
            Just("PRIMARY"), Just("COMMENT"), Just("/*+ OPTIONS('a'='b') */"),
        ], 0..14)) {
        let text = words.join(" ");
        let _ = tokenize(&text).and_then(|tokens| parse(tokens, true, &|_| true));
    }
}
