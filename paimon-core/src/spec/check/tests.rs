//! One line per rule.

use crate::error::{Error, ErrorKind};
use crate::spec::{Schema, TableSchema};
use crate::types::DataField;

/// `columns` as `name TYPE` separated by `;`, keys and options separated by `;` too.
fn create(columns: &str, primary: &str, partition: &str, options: &str) -> Result<TableSchema, Error> {
    let list = |text: &str| text.split(';').filter(|t| !t.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let mut schema = Schema { primary_keys: list(primary), partition_keys: list(partition), ..Schema::default() };
    for column in list(columns) {
        let (name, data_type) = column.split_once(' ').unwrap();
        let (data_type, default) = data_type.split_once(" DEFAULT ").unwrap_or((data_type, ""));
        let default_value = Some(default.to_owned()).filter(|d| !d.is_empty());
        let field = DataField::new(9, name, data_type.parse().unwrap());
        schema.fields.push(DataField { default_value, ..field });
    }
    for option in list(options) {
        let (key, value) = option.split_once('=').unwrap();
        schema.options.insert(key.to_owned(), value.to_owned());
    }
    TableSchema::create(&schema, 7)
}

const COLUMNS: &str = "k INT;p STRING;v INT;ts TIMESTAMP(3);m MAP<STRING, INT>;r ROW<x INT>;f FLOAT";

#[test]
fn ids_are_given_before_those_inside() {
    let columns = "a INT;r ROW<x INT, y ARRAY<ROW<z INT>>, w MAP<ROW<k INT>, ROW<v INT>>>;b INT NOT NULL";
    let schema = create(columns, "", "", "").unwrap();
    let ids: Vec<_> = schema.fields.iter().map(|f| f.id).collect();
    assert_eq!((ids, schema.highest_field_id), (vec![0, 1, 8], 8));
    let json = schema.fields_json();
    for (name, id) in [("x", 2), ("y", 3), ("z", 4), ("w", 5), ("k", 6), ("v", 7)] {
        assert!(json.contains(&format!(r#"{{"id":{id},"name":"{name}""#)), "{name} in {json}");
    }
    assert_eq!((schema.version, schema.id, schema.time_millis), (3, 0, 7));
    assert_eq!(create("", "", "", "").unwrap().highest_field_id, -1);
}

#[test]
fn keys_may_come_from_options_and_are_not_null() {
    let schema = create(COLUMNS, "", "", "primary-key=k, p;partition=p;bucket=1").unwrap();
    assert_eq!((schema.primary_keys.join(","), schema.partition_keys.join(",")), ("k,p".into(), "p".into()));
    assert_eq!(schema.options.keys().collect::<Vec<_>>(), ["bucket"]);
    let nullable: Vec<_> = schema.fields.iter().map(|f| f.data_type.is_nullable()).collect();
    assert_eq!(nullable[..3], [false, false, true]);
    let nullable = create(COLUMNS, "k", "", "primary-key.nullable=true;bucket=1").unwrap();
    assert!(nullable.fields[0].data_type.is_nullable());
}

#[test]
fn what_java_allows_is_allowed() {
    let cases = [
        ("", "", ""),
        ("k", "", ""),
        ("k", "", "bucket=-2"),
        ("k;p", "p", "bucket=4;bucket-key=k;merge-engine=aggregation;fields.v.aggregate-function=sum"),
        ("k", "p", "bucket=2"),
        ("", "p", "bucket=2;bucket-key=k,v"),
        ("k", "", "merge-engine=partial-update;fields.ts.sequence-group=v,p;fields.v.aggregate-function=sum"),
        ("k", "", "merge-engine=first-row;changelog-producer=lookup"),
        ("k", "", "bucket=1;deletion-vectors.enabled=true;changelog-producer=lookup"),
        ("k", "", "sequence.field=ts, v;sequence.field.sort-order=DESCENDING"),
        ("k", "", "sequence.snapshot-ordering=true;write-only=true"),
        ("", "", "row-tracking.enabled=true;data-evolution.enabled=true"),
        ("", "", "file.format=avro;file.format.per.level=0:avro, 5:orc"),
        ("", "", "file-index.bloom-filter.columns=k,m[a];unknown.key=anything"),
        ("", "", "scan.snapshot-id=3"),
        ("", "", "scan.mode=from-snapshot;scan.tag-name=t"),
        ("k", "", "fields.default-aggregate-function=sum;merge-engine=aggregation"),
        ("", "", "bucket=2147483647;bucket-key=k"),
    ];
    for (primary, partition, options) in cases {
        if let Err(error) = create(COLUMNS, primary, partition, options) {
            panic!("{primary} {partition} {options}: {error}");
        }
    }
    create("k INT;d DECIMAL(5, 2) DEFAULT 1.5;t STRING DEFAULT 'x'", "", "", "").unwrap();
}

#[test]
fn wrong_columns_are_refused() {
    let cases = [
        ("k INT;k INT", "", "", "Table column [k, k] must not contain duplicate fields. Found: [k]"),
        ("r ROW<x INT, x INT>", "", "", "must not contain duplicate fields. Found: [x] (column: r)"),
        ("k INT", "", "z", "Table column [k] should include all partition fields [z]"),
        ("k INT;p INT", "", "p;p", "Partition key constraint [p, p] must not contain duplicate columns. Found: [p]"),
        ("k INT", "k;k", "", "Primary key constraint [k, k] must not contain duplicate columns"),
        ("k INT", "z", "", "should include all primary key constraint [z]"),
        ("k INT;p INT", "p", "p", "Primary key constraint [p] should not be same with partition fields [p]"),
        ("k MAP<INT, INT>", "k", "", "The type MAP<INT, INT> in primary key field k is unsupported"),
        ("k INT;p ARRAY<INT>", "", "p", "The type ARRAY<INT> in partition field p is unsupported"),
        ("rowkind INT", "", "", "Field name[rowkind] in schema cannot be exist in ["),
        ("_KEY_a INT", "", "", "Field name[_KEY_a] in schema cannot start with [_KEY_]"),
        ("a INT DEFAULT abc", "", "", "Unsupported default value `abc` for type INT (column: a)"),
        ("a VARIANT DEFAULT abc", "", "", "Default value do not support the type of VARIANT"),
        ("b BLOB;a INT", "", "", "Data evolution config must enabled for table with BLOB type column."),
        ("r ROW<b BLOB>", "", "", "Field 'r' has unsupported nested BLOB type"),
    ];
    for (columns, primary, partition, message) in cases {
        let error = create(columns, primary, partition, "").unwrap_err();
        assert!(error.to_string().contains(message), "{columns}: {error}");
        assert!(matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidConfig | ErrorKind::Unsupported));
    }
}

#[test]
fn wrong_options_of_primary_key_tables_are_refused() {
    let cases = [
        ("primary-key=k", "Cannot define primary key on DDL and table options at the same time."),
        ("bucket=0", "The number of buckets needs to be greater than 0."),
        ("bucket=-3", "The number of buckets needs to be greater than 0."),
        ("bucket=abc", "could not parse value 'abc' for option 'bucket'"),
        ("bucket=2;bucket-key=v", "Primary keys [k] should contains all bucket keys [v]."),
        ("bucket=2;bucket-function.type=mod;bucket-key=k, k", "column ' k' does not exist"),
        ("fields.zz.aggregate-function=sum", "Field zz can not be found in table schema."),
        ("fields.r.x.aggregate-function=sum", "Nested-field path is not supported on ROW field r"),
        ("sequence.field=zz", "Sequence field: 'zz' can not be found in table schema."),
        ("sequence.field=v,v", "Sequence field 'v' is defined repeatedly."),
        ("sequence.field=v;fields.v.aggregate-function=sum", "Should not define aggregation on sequence field: 'v'."),
        ("sequence.field=v;merge-engine=first-row", "FIRST_ROW"),
        ("merge-engine=newest", "'merge-engine'"),
        ("merge-engine=aggregation;fields.v.aggregate-function=count", "identifier 'count'"),
        ("merge-engine=partial-update;fields.ts.sequence-group=zz", "Field zz can not be found"),
        ("merge-engine=partial-update;fields.ts.sequence-group=k", "contains primary key field 'k'"),
        (
            "merge-engine=partial-update;fields.ts.sequence-group=v;fields.f.sequence-group=v",
            "Field v is defined repeatedly",
        ),
        (
            "merge-engine=partial-update;fields.v.aggregate-function=sum",
            "Must use sequence group for aggregation functions but not found for field v.",
        ),
        (
            "merge-engine=partial-update;ignore-delete=true;partial-update.remove-record-on-delete=true",
            "conflicting behavior",
        ),
        (
            "merge-engine=partial-update;partial-update.remove-record-on-sequence-group=v",
            "must be part of sequence groups",
        ),
        (
            "changelog-producer=lookup;full-compaction.delta-commits=2",
            "'full-compaction.delta-commits' is incompatible",
        ),
        ("changelog-producer=lookup;streaming-read-overwrite=true", "Cannot set streaming-read-overwrite to true"),
        ("changelog-producer=input;merge-engine=first-row", "Only support 'none' and 'lookup' changelog-producer"),
        ("deletion-vectors.enabled=true;changelog-producer=full-compaction", "Deletion vectors mode is only supported"),
        ("deletion-vectors.enabled=true;merge-engine=first-row", "does not need deletion vectors"),
        ("rowkind.field=zz", "Rowkind field: 'zz' can not be found in table schema."),
        ("sequence.snapshot-ordering=true", "needs 'write-only' = true"),
        ("row-tracking.enabled=true", "Cannot define primary-key for row tracking table."),
        ("clustering.incremental=true", "Cannot define primary-key for incremental clustering table."),
        ("pk-clustering-override=true", "Cannot support tables without 'clustering.columns'"),
        ("pk-btree.index.columns=v", "Primary-key btree index requires a fixed or postponed bucket."),
        ("record-level.time-field=zz", "Can not find time field zz for record level expire."),
        ("record-level.time-field=p", "The record level time field type should be one of INT, BIGINT, or TIMESTAMP"),
    ];
    for (options, message) in cases {
        let error = create(COLUMNS, "k", "", options).unwrap_err();
        assert!(error.to_string().contains(message), "{options}: {error}");
    }
    let error = create(COLUMNS, "k", "p", "sequence.field=v").unwrap_err();
    assert!(error.message().contains("cross partition update"), "{error}");
}

#[test]
fn wrong_options_of_append_tables_are_refused() {
    let cases = [
        ("bucket=2", "You should define a 'bucket-key' for bucketed append mode."),
        ("bucket=-2", "The number of buckets needs to be greater than 0."),
        ("bucket-key=k", "Cannot define 'bucket-key' with bucket = -1"),
        ("bucket=2;bucket-key=p", "Bucket keys [p] should not in partition keys [p]."),
        ("bucket=2;bucket-key=m", "nested type can not in bucket-key, in your table these key are [m]"),
        ("bucket=2;bucket-key=v;bucket-function.type=mod", ""),
        ("bucket=2;bucket-key=f;bucket-function.type=mod", "'mod' needs exactly one bucket key of type INT or BIGINT"),
        ("full-compaction.delta-commits=2", "does not support 'full-compaction.delta-commits'"),
        ("changelog-producer=input", "Can not set changelog-producer on table without primary keys"),
        ("streaming-read-overwrite=true", "Doesn't support streaming read the changes from overwrite"),
        ("primary-key.nullable=true", "can only be enabled for a table with primary keys"),
        ("scan.mode=from-snapshot", "must set only one key in [scan.snapshot-id,scan.tag-name"),
        ("scan.mode=latest;scan.snapshot-id=1", "scan.snapshot-id must be null when you use latest for scan.mode"),
        (
            "scan.snapshot-id=1;scan.timestamp-millis=1",
            "scan.snapshot-id must be null when you use from-timestamp for scan.mode, as scan.timestamp-millis does",
        ),
        ("target-file-row-num=0", "target-file-row-num should be at least 1"),
        ("snapshot.num-retained.min=0", "snapshot.num-retained.min should be at least 1"),
        (
            "snapshot.num-retained.min=5;snapshot.num-retained.max=4",
            "should not be larger than snapshot.num-retained.max",
        ),
        ("file.compression=foo", "unknown codec 'foo'"),
        ("file.compression.per.level=0:zstd,5:bar", "unknown codec 'bar'"),
        ("file.format=foo", "Could not find any factory for identifier 'foo' that implements FileFormatFactory"),
        ("file.format.per.level=0", "missing ':'"),
        ("file-index.bitmap.columns=zz", "Column 'zz' specified in 'file-index.bitmap.columns' does not exist"),
        ("file-index.bitmap.columns=v[a]", "must be a MAP with text keys, but is INT"),
        ("data-evolution.enabled=true", "Data evolution config must enabled with row-tracking.enabled"),
        ("row-tracking.enabled=true;bucket=1;bucket-key=k", "Cannot define bucket for row tracking table"),
        ("table-read.sequence-number.enabled=true", "for non-primary-key table"),
        ("manifest-sort.enabled=true;manifest-sort.partition-field=v", "is not a partition key"),
        ("scan.fallback-branch=a;scan.primary-branch=b", "Cannot set both"),
        ("vector-field=v", "is configured as vector-field so the type must be vector"),
        ("fields.v.map.storage-layout=shared-shredding", "Column 'v' is configured with map.storage-layout"),
        ("row-tracking.enabled=maybe", "'row-tracking.enabled'"),
        ("chain-table.enabled=true", "chain tables"),
    ];
    for (options, message) in cases {
        match create(COLUMNS, "", "p", options) {
            Ok(_) => assert_eq!(message, "", "{options}"),
            Err(error) => assert!(!message.is_empty() && error.to_string().contains(message), "{options}: {error}"),
        }
    }
    let error = create("t TIMESTAMP(9)", "", "", "file.format.per.level=0:avro").unwrap_err();
    assert!(error.message().starts_with("Avro does not support TIMESTAMP type with precision: 9"), "{error}");
}
