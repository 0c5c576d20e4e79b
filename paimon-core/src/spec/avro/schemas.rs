//! The record schemas that are written, with Java's names, order, nullability and defaults.
//!
//! They have the fields of the newest release; older readers resolve by name and skip what they do not know.
//! Source: manifest sheet sections 1 to 3.

macro_rules! stats {
    ($record:literal) => {
        concat!(
            r#"{"type":"record","name":""#,
            $record,
            r#"","fields":[{"name":"_MIN_VALUES","type":"bytes"},{"name":"_MAX_VALUES","type":"bytes"},"#,
            r#"{"name":"_NULL_COUNTS","type":["null",{"type":"array","items":["null","long"]}],"default":null}]}"#
        )
    };
}

macro_rules! nullable {
    ($name:literal, $type:expr) => {
        concat!(r#"{"name":""#, $name, r#"","type":["null","#, $type, r#"],"default":null}"#)
    };
}

macro_rules! plain {
    ($name:literal, $type:expr) => {
        concat!(r#"{"name":""#, $name, r#"","type":"#, $type, "}")
    };
}

macro_rules! record {
    ($name:literal, $first:expr $(, $field:expr)* $(,)?) => {
        concat!(r#"{"type":"record","#, $name, r#","fields":["#, $first $(, ",", $field)*, "]}")
    };
}

macro_rules! top {
    ($($field:expr),+ $(,)?) => {
        record!(r#""name":"record","namespace":"org.apache.paimon.avro.generated""#, $($field),+)
    };
}

macro_rules! data_file {
    () => {
        record!(
            r#""name":"record__FILE""#,
            plain!("_FILE_NAME", r#""string""#),
            plain!("_FILE_SIZE", r#""long""#),
            plain!("_ROW_COUNT", r#""long""#),
            plain!("_MIN_KEY", r#""bytes""#),
            plain!("_MAX_KEY", r#""bytes""#),
            plain!("_KEY_STATS", stats!("record__FILE__KEY_STATS")),
            plain!("_VALUE_STATS", stats!("record__FILE__VALUE_STATS")),
            plain!("_MIN_SEQUENCE_NUMBER", r#""long""#),
            plain!("_MAX_SEQUENCE_NUMBER", r#""long""#),
            plain!("_SCHEMA_ID", r#""long""#),
            plain!("_LEVEL", r#""int""#),
            plain!("_EXTRA_FILES", r#"{"type":"array","items":"string"}"#),
            nullable!("_CREATION_TIME", r#"{"type":"long","logicalType":"timestamp-millis"}"#),
            nullable!("_DELETE_ROW_COUNT", r#""long""#),
            nullable!("_EMBEDDED_FILE_INDEX", r#""bytes""#),
            nullable!("_FILE_SOURCE", r#""int""#),
            nullable!("_VALUE_STATS_COLS", r#"{"type":"array","items":"string"}"#),
            nullable!("_EXTERNAL_PATH", r#""string""#),
            nullable!("_FIRST_ROW_ID", r#""long""#),
            nullable!("_WRITE_COLS", r#"{"type":"array","items":"string"}"#),
            nullable!("_WRITE_COLS_SEQUENCES", r#"{"type":"array","items":"long"}"#),
        )
    };
}

/// Entries of manifest lists.
pub(crate) const MANIFEST_LIST_SCHEMA: &str = top!(
    plain!("_VERSION", r#""int""#),
    plain!("_FILE_NAME", r#""string""#),
    plain!("_FILE_SIZE", r#""long""#),
    plain!("_NUM_ADDED_FILES", r#""long""#),
    plain!("_NUM_DELETED_FILES", r#""long""#),
    plain!("_PARTITION_STATS", stats!("record__PARTITION_STATS")),
    plain!("_SCHEMA_ID", r#""long""#),
    nullable!("_MIN_BUCKET", r#""int""#),
    nullable!("_MAX_BUCKET", r#""int""#),
    nullable!("_MIN_LEVEL", r#""int""#),
    nullable!("_MAX_LEVEL", r#""int""#),
    nullable!("_MIN_ROW_ID", r#""long""#),
    nullable!("_MAX_ROW_ID", r#""long""#),
    nullable!("_TOTAL_BUCKETS", r#""int""#),
    nullable!("_EXTRA_FILES", r#"{"type":"array","items":"string"}"#),
);

/// Entries of manifests.
pub(crate) const MANIFEST_SCHEMA: &str = top!(
    plain!("_VERSION", r#""int""#),
    plain!("_KIND", r#""int""#),
    plain!("_PARTITION", r#""bytes""#),
    plain!("_BUCKET", r#""int""#),
    plain!("_TOTAL_BUCKETS", r#""int""#),
    plain!("_FILE", data_file!()),
);

/// Entries of index manifests.
pub(crate) const INDEX_MANIFEST_SCHEMA: &str = top!(
    plain!("_VERSION", r#""int""#),
    plain!("_KIND", r#""int""#),
    plain!("_PARTITION", r#""bytes""#),
    plain!("_BUCKET", r#""int""#),
    plain!("_INDEX_TYPE", r#""string""#),
    plain!("_FILE_NAME", r#""string""#),
    plain!("_FILE_SIZE", r#""long""#),
    plain!("_ROW_COUNT", r#""long""#),
    nullable!(
        "_DELETIONS_VECTORS_RANGES",
        concat!(
            r#"{"type":"array","items":["null","#,
            record!(
                r#""name":"record__DELETIONS_VECTORS_RANGES""#,
                plain!("f0", r#""string""#),
                plain!("f1", r#""int""#),
                plain!("f2", r#""int""#),
                nullable!("_CARDINALITY", r#""long""#),
            ),
            "]}"
        )
    ),
    nullable!("_EXTERNAL_PATH", r#""string""#),
    nullable!(
        "_GLOBAL_INDEX",
        record!(
            r#""name":"record__GLOBAL_INDEX""#,
            plain!("_ROW_RANGE_START", r#""long""#),
            plain!("_ROW_RANGE_END", r#""long""#),
            plain!("_INDEX_FIELD_ID", r#""int""#),
            nullable!("_EXTRA_FIELD_IDS", r#"{"type":"array","items":"int"}"#),
            nullable!("_INDEX_META", r#""bytes""#),
            nullable!("_SOURCE_META", r#""bytes""#),
        )
    ),
);
