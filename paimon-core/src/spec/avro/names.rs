//! The field names that manifests have.

macro_rules! names {
    ($($variant:ident = $text:literal),+ $(,)?) => {
        /// A known field name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum FieldName { $(#[doc = $text] $variant),+ }

        impl FieldName {
            /// The name with this text; `None` for fields that no reader here needs.
            pub(crate) fn of(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }

            /// The text.
            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }
        }
    };
}

names! {
    Version = "_VERSION",
    Kind = "_KIND",
    Partition = "_PARTITION",
    Bucket = "_BUCKET",
    TotalBuckets = "_TOTAL_BUCKETS",
    File = "_FILE",
    FileName = "_FILE_NAME",
    FileSize = "_FILE_SIZE",
    RowCount = "_ROW_COUNT",
    MinKey = "_MIN_KEY",
    MaxKey = "_MAX_KEY",
    KeyStats = "_KEY_STATS",
    ValueStats = "_VALUE_STATS",
    MinSequenceNumber = "_MIN_SEQUENCE_NUMBER",
    MaxSequenceNumber = "_MAX_SEQUENCE_NUMBER",
    SchemaId = "_SCHEMA_ID",
    Level = "_LEVEL",
    ExtraFiles = "_EXTRA_FILES",
    CreationTime = "_CREATION_TIME",
    DeleteRowCount = "_DELETE_ROW_COUNT",
    EmbeddedFileIndex = "_EMBEDDED_FILE_INDEX",
    FileSource = "_FILE_SOURCE",
    ValueStatsCols = "_VALUE_STATS_COLS",
    ExternalPath = "_EXTERNAL_PATH",
    FirstRowId = "_FIRST_ROW_ID",
    WriteCols = "_WRITE_COLS",
    WriteColsSequences = "_WRITE_COLS_SEQUENCES",
    MinValues = "_MIN_VALUES",
    MaxValues = "_MAX_VALUES",
    NullCounts = "_NULL_COUNTS",
    NumAddedFiles = "_NUM_ADDED_FILES",
    NumDeletedFiles = "_NUM_DELETED_FILES",
    PartitionStats = "_PARTITION_STATS",
    MinBucket = "_MIN_BUCKET",
    MaxBucket = "_MAX_BUCKET",
    MinLevel = "_MIN_LEVEL",
    MaxLevel = "_MAX_LEVEL",
    MinRowId = "_MIN_ROW_ID",
    MaxRowId = "_MAX_ROW_ID",
    IndexType = "_INDEX_TYPE",
    DeletionVectorsRanges = "_DELETIONS_VECTORS_RANGES",
    GlobalIndex = "_GLOBAL_INDEX",
    RangeFile = "f0",
    RangeOffset = "f1",
    RangeLength = "f2",
    Cardinality = "_CARDINALITY",
    RowRangeStart = "_ROW_RANGE_START",
    RowRangeEnd = "_ROW_RANGE_END",
    IndexFieldId = "_INDEX_FIELD_ID",
    ExtraFieldIds = "_EXTRA_FIELD_IDS",
    IndexMeta = "_INDEX_META",
    SourceMeta = "_SOURCE_META",
}
