//! The options of a table: key, type, default. One line each.
//!
//! Source: option sheet section 3; `CoreOptions.java`.

use std::time::Duration;

use crate::error::{Error, Result};
use crate::options::{OptionKey, parse_bool, parse_count, parse_duration, parse_number, parse_size, parse_text};

macro_rules! option_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// The text in options.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// Reads the text, in any case.
            ///
            /// # Errors
            /// `InvalidConfig` listing the values for anything else.
            pub fn parse(text: &str) -> Result<Self> {
                $(if text.eq_ignore_ascii_case($text) { return Ok(Self::$variant); })+
                Err(Error::invalid_config(format!("expected one of {:?}, found '{text}'", [$($text),+])))
            }
        }
    };
}

option_enum! {
    /// How rows of one key become one row.
    MergeEngine {
        /// The last row wins.
        Deduplicate = "deduplicate",
        /// Later non-null columns replace.
        PartialUpdate = "partial-update",
        /// Columns are aggregated.
        Aggregation = "aggregation",
        /// The first row wins.
        FirstRow = "first-row",
    }
}

option_enum! {
    /// Where changelog files come from.
    ChangelogProducer {
        /// There are none.
        None = "none",
        /// The input as it is.
        Input = "input",
        /// Full compactions.
        FullCompaction = "full-compaction",
        /// Look-ups of old values.
        Lookup = "lookup",
    }
}

option_enum! {
    /// From bucket key to bucket.
    BucketFunction {
        /// Hash of the binary row.
        Default = "default",
        /// Remainder of one integer.
        Mod = "mod",
        /// Hive's hash.
        Hive = "hive",
    }
}

option_enum! {
    /// Order of sequence fields.
    SortOrder {
        /// The greatest wins.
        Ascending = "ascending",
        /// The least wins.
        Descending = "descending",
    }
}

option_enum! {
    /// How often a tag is made automatically.
    TagPeriod {
        /// Each day.
        Daily = "daily",
        /// Each hour.
        Hourly = "hourly",
        /// Every second hour.
        TwoHours = "two-hours",
    }
}

option_enum! {
    /// How the names of automatic tags are spelled.
    TagPeriodFormatter {
        /// `2026-12-01`, `2026-12-01 05`.
        WithDashes = "with_dashes",
        /// `20261201`, `20261201 05`.
        WithoutDashes = "without_dashes",
        /// `20261201`, `2026120105`.
        WithoutDashesAndSpaces = "without_dashes_and_spaces",
    }
}

option_enum! {
    /// Start-up mode of a scan.
    ScanMode {
        /// By the selector that is set, else latest.
        Default = "default",
        /// The latest snapshot.
        LatestFull = "latest-full",
        /// The latest snapshot.
        Full = "full",
        /// The latest snapshot; streams start after it.
        Latest = "latest",
        /// The changes of the latest snapshot.
        LatestDelta = "latest-delta",
        /// The latest compacted snapshot.
        CompactedFull = "compacted-full",
        /// By commit time.
        FromTimestamp = "from-timestamp",
        /// By creation time of snapshots or files.
        FromCreationTimestamp = "from-creation-timestamp",
        /// By creation time of files.
        FromFileCreationTime = "from-file-creation-time",
        /// By snapshot, tag or watermark.
        FromSnapshot = "from-snapshot",
        /// By snapshot; streams read it first.
        FromSnapshotFull = "from-snapshot-full",
        /// A range of snapshots.
        Incremental = "incremental",
    }
}

option_enum! {
    /// What an incremental read counts as a change.
    ChangesMode {
        /// By the changelog producer.
        Auto = "auto",
        /// The rows that snapshots append.
        Delta = "delta",
        /// Changelog files.
        Changelog = "changelog",
        /// The difference between two snapshots.
        Diff = "diff",
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident: $t:ty = $key:literal $([$($old:literal),+])?, $default:expr, $parse:expr;)*) => {
        $(
            $(#[$doc])*
            pub const $name: OptionKey<$t> =
                OptionKey { key: $key, fallbacks: &[$($($old),+)?], default: $default, parse: $parse };
        )*

        /// Checks the text of every option of the table that is set.
        ///
        /// # Errors
        /// `InvalidConfig` naming the key whose value does not parse.
        pub fn check_values(options: &crate::options::Options) -> Result<()> {
            $(options.find(&$name)?;)*
            super::other_options::check(options)
        }
    };
}

keys! {
    /// Kind of the table.
    TABLE_TYPE: String = "type", Some("table"), parse_text;
    /// Branch that a handle works on.
    BRANCH: String = "branch", Some("main"), parse_text;
    /// Buckets: -1 dynamic or unaware, -2 postponed, else the count.
    BUCKET: i32 = "bucket", Some("-1"), parse_number;
    /// From bucket key to bucket.
    BUCKET_FUNCTION: BucketFunction = "bucket-function.type", Some("default"), BucketFunction::parse;
    /// Whether fixed-bucket append tables keep the order of rows.
    BUCKET_APPEND_ORDERED: bool = "bucket-append-ordered", Some("true"), parse_bool;
    /// Directory text of null and blank partition values.
    PARTITION_DEFAULT_NAME: String = "partition.default-name", Some("__DEFAULT_PARTITION__"), parse_text;
    /// Whether partition directories show values in Java's text form.
    PARTITION_LEGACY_NAME: bool = "partition.legacy-name", Some("true"), parse_bool;
    /// Prefix of data files.
    DATA_FILE_PREFIX: String = "data-file.prefix", Some("data-"), parse_text;
    /// Directory before the partitions.
    DATA_FILE_PATH_DIRECTORY: Option<String> = "data-file.path-directory", None, |t| Ok(Some(t.to_owned()));
    /// Whether file names show the codec.
    FILE_SUFFIX_INCLUDE_COMPRESSION: bool = "file.suffix.include.compression", Some("false"), parse_bool;
    /// Format of data files.
    FILE_FORMAT: String = "file.format", Some("parquet"), parse_text;
    /// Codec of data files.
    FILE_COMPRESSION: String = "file.compression", Some("zstd"), parse_text;
    /// Level of zstd, for manifests too.
    ZSTD_LEVEL: i32 = "file.compression.zstd-level", Some("1"), parse_number;
    /// Size of row groups.
    FILE_BLOCK_SIZE: u64 = "file.block-size", None, parse_size;
    /// Statistics of value columns.
    STATS_MODE: StatsMode = "metadata.stats-mode", Some("truncate(16)"), StatsMode::parse;
    /// Whether statistics name the columns that they have.
    STATS_DENSE_STORE: bool = "metadata.stats-dense-store", Some("true"), parse_bool;
    /// How many columns have statistics; -1 all.
    STATS_KEEP_FIRST_N: i32 = "metadata.stats-keep-first-n-columns", Some("-1"), parse_number;
    /// Rows of a batch that is read.
    READ_BATCH_SIZE: usize = "read.batch-size", Some("8192"), parse_count;
    /// Manifests that a plan reads at once.
    SCAN_MANIFEST_PARALLELISM: usize = "scan.manifest.parallelism", Some("8"), parse_count;
    /// Codec of manifests.
    MANIFEST_COMPRESSION: String = "manifest.compression", Some("zstd"), parse_text;
    /// Size of a full manifest.
    MANIFEST_TARGET_SIZE: u64 = "manifest.target-file-size", Some("8 mb"), parse_size;
    /// Bytes of manifests to rewrite that trigger a full rewrite.
    MANIFEST_FULL_COMPACTION_SIZE: u64 = "manifest.full-compaction-threshold-size", Some("16 mb"), parse_size;
    /// Small manifests that trigger a merge.
    MANIFEST_MERGE_MIN_COUNT: usize = "manifest.merge-min-count", Some("30"), parse_number;
    /// How rows of one key become one row.
    MERGE_ENGINE: MergeEngine = "merge-engine", Some("deduplicate"), MergeEngine::parse;
    /// Whether deletes are dropped.
    IGNORE_DELETE: bool = "ignore-delete"
        ["first-row.ignore-delete", "deduplicate.ignore-delete", "partial-update.ignore-delete"], Some("false"), parse_bool;
    /// Whether `-U` rows are dropped.
    IGNORE_UPDATE_BEFORE: bool = "ignore-update-before", Some("false"), parse_bool;
    /// Column with the row kind.
    ROWKIND_FIELD: String = "rowkind.field", None, parse_text;
    /// Columns that decide which row is newest.
    SEQUENCE_FIELD: Vec<String> = "sequence.field", Some(""), parse_trimmed_list;
    /// Their order.
    SEQUENCE_SORT_ORDER: SortOrder = "sequence.field.sort-order", Some("ascending"), SortOrder::parse;
    /// Whether the commit's snapshot orders rows.
    SEQUENCE_SNAPSHOT_ORDERING: bool = "sequence.snapshot-ordering", Some("false"), parse_bool;
    /// Whether writers neither compact nor expire.
    WRITE_ONLY: bool = "write-only" ["write.compaction-skip"], Some("false"), parse_bool;
    /// Memory of the sort buffer.
    WRITE_BUFFER_SIZE: u64 = "write-buffer-size", Some("256 mb"), parse_size;
    /// Size of a full data file; 128 mb with primary key, else 256 mb.
    TARGET_FILE_SIZE: u64 = "target-file-size", None, parse_size;
    /// Rows of a full data file.
    TARGET_FILE_ROWS: u64 = "target-file-row-num", Some("9223372036854775807"), parse_number;
    /// Sorted runs that trigger a compaction.
    NUM_SORTED_RUNS_TRIGGER: usize = "num-sorted-run.compaction-trigger", Some("5"), parse_number;
    /// Levels; trigger + 1 if not set.
    NUM_LEVELS: usize = "num-levels", None, parse_number;
    /// Amplification in percent that triggers a full compaction.
    SIZE_AMPLIFICATION: u64 = "compaction.max-size-amplification-percent", Some("200"), parse_number;
    /// Percent by which the next run may be larger.
    SIZE_RATIO: u64 = "compaction.size-ratio", Some("1"), parse_number;
    /// Whether level 0 is always compacted.
    FORCE_UP_LEVEL_0: bool = "compaction.force-up-level-0", Some("false"), parse_bool;
    /// Part of the target size below which a file is small.
    SMALL_FILE_RATIO: f64 = "compaction.small-file-ratio", Some("0.7"), parse_number;
    /// Whether a full compaction rewrites every file.
    FORCE_REWRITE_ALL: bool = "compaction.force-rewrite-all-files", Some("false"), parse_bool;
    /// Hour of the local day from which the off-peak ratio counts; -1 never.
    OFFPEAK_START_HOUR: i32 = "compaction.offpeak.start.hour", Some("-1"), parse_number;
    /// Hour of the local day before which the off-peak ratio counts; -1 never.
    OFFPEAK_END_HOUR: i32 = "compaction.offpeak.end.hour", Some("-1"), parse_number;
    /// Percent added to the size ratio in off-peak hours.
    OFFPEAK_RATIO: u64 = "compaction.offpeak-ratio", Some("0"), parse_number;
    /// Time after which a full compaction is due.
    OPTIMIZATION_INTERVAL: Duration = "compaction.optimization-interval", None, parse_duration;
    /// Bytes of a bucket below which every compaction is a full one.
    TOTAL_SIZE_THRESHOLD: u64 = "compaction.total-size-threshold", None, parse_size;
    /// Bytes below the top level above which a full compaction is due.
    INCREMENTAL_SIZE_THRESHOLD: u64 = "compaction.incremental-size-threshold", None, parse_size;
    /// Files of an append table that one round of compaction looks at.
    COMPACTION_FILE_NUM_LIMIT: usize = "compaction.file-num-limit", Some("100000"), parse_number;
    /// Small files of an append table that make a task.
    COMPACTION_MIN_FILES: usize = "compaction.min.file-num", Some("5"), parse_number;
    /// Full compaction every so many commits.
    FULL_COMPACTION_DELTA_COMMITS: u64 = "full-compaction.delta-commits", None, parse_number;
    /// Where changelog files come from.
    CHANGELOG_PRODUCER: ChangelogProducer = "changelog-producer", Some("none"), ChangelogProducer::parse;
    /// Prefix of the generated commit user.
    COMMIT_USER_PREFIX: String = "commit.user-prefix", None, parse_text;
    /// How long a commit is tried.
    COMMIT_TIMEOUT: Duration = "commit.timeout", None, parse_duration;
    /// How often a commit is tried again. More than Java's 10: a lost race costs milliseconds here.
    COMMIT_MAX_RETRIES: u32 = "commit.max-retries", Some("1000"), parse_number;
    /// First wait between tries.
    COMMIT_MIN_RETRY_WAIT: Duration = "commit.min-retry-wait", Some("10 ms"), parse_duration;
    /// Longest wait between tries.
    COMMIT_MAX_RETRY_WAIT: Duration = "commit.max-retry-wait", Some("10 s"), parse_duration;
    /// Whether commits of nothing make no snapshot.
    IGNORE_EMPTY_COMMIT: bool = "snapshot.ignore-empty-commit", None, parse_bool;
    /// Whether an overwrite replaces only partitions that get rows.
    DYNAMIC_PARTITION_OVERWRITE: bool = "dynamic-partition-overwrite", Some("true"), parse_bool;
    /// Whether files of an overwrite go to the top level at once.
    OVERWRITE_UPGRADE: bool = "overwrite-upgrade", Some("true"), parse_bool;
    /// Whether rows have ids.
    ROW_TRACKING: bool = "row-tracking.enabled", Some("false"), parse_bool;
    /// Whether columns are updated by row id.
    DATA_EVOLUTION: bool = "data-evolution.enabled", Some("false"), parse_bool;
    /// Snapshots that are always kept.
    SNAPSHOT_RETAINED_MIN: u64 = "snapshot.num-retained.min", Some("10"), parse_number;
    /// Snapshots that are kept at most.
    SNAPSHOT_RETAINED_MAX: u64 = "snapshot.num-retained.max", Some("2147483647"), parse_number;
    /// Age up to which snapshots are kept.
    SNAPSHOT_TIME_RETAINED: Duration = "snapshot.time-retained", Some("1 h"), parse_duration;
    /// Snapshots that one run expires.
    SNAPSHOT_EXPIRE_LIMIT: u64 = "snapshot.expire.limit", Some("50"), parse_number;
    /// Retention of new tags.
    TAG_DEFAULT_RETAINED: Duration = "tag.default-time-retained", None, parse_duration;
    /// Size of a split.
    SPLIT_TARGET_SIZE: u64 = "source.split.target-size", Some("128 mb"), parse_size;
    /// Weight of a file.
    SPLIT_OPEN_COST: u64 = "source.split.open-file-cost", Some("4 mb"), parse_size;
    /// Whether deletion vectors are kept.
    DELETION_VECTORS: bool = "deletion-vectors.enabled", Some("false"), parse_bool;
    /// Start-up mode of a scan.
    SCAN_MODE: ScanMode = "scan.mode" ["log.scan"], Some("default"), ScanMode::parse;
    /// Snapshot to read.
    SCAN_SNAPSHOT_ID: i64 = "scan.snapshot-id", None, parse_number;
    /// Commit time to read, in milliseconds.
    SCAN_TIMESTAMP_MILLIS: i64 = "scan.timestamp-millis" ["log.scan.timestamp-millis"], None, parse_number;
    /// Commit time to read, as local time.
    SCAN_TIMESTAMP: String = "scan.timestamp", None, parse_text;
    /// Tag to read.
    SCAN_TAG_NAME: String = "scan.tag-name", None, parse_text;
    /// Tag, watermark or snapshot to read.
    SCAN_VERSION: String = "scan.version", None, parse_text;
    /// Watermark to read.
    SCAN_WATERMARK: i64 = "scan.watermark", None, parse_number;
    /// Range of snapshots or tags to read.
    INCREMENTAL_BETWEEN: String = "incremental-between", None, parse_text;
    /// Range of commit times to read.
    INCREMENTAL_BETWEEN_TIMESTAMP: String = "incremental-between-timestamp", None, parse_text;
    /// Automatic tag up to which changes are read.
    INCREMENTAL_TO_AUTO_TAG: String = "incremental-to-auto-tag", None, parse_text;
    /// How often a tag is made automatically.
    TAG_CREATION_PERIOD: TagPeriod = "tag.creation-period", Some("daily"), TagPeriod::parse;
    /// How often a tag is made automatically, if not by a named period.
    TAG_CREATION_PERIOD_DURATION: Duration = "tag.creation-period-duration", None, parse_duration;
    /// How the names of automatic tags are spelled.
    TAG_PERIOD_FORMATTER: TagPeriodFormatter = "tag.period-formatter", Some("with_dashes"), parse_tag_formatter;
    /// What an incremental read counts as a change.
    INCREMENTAL_BETWEEN_SCAN_MODE: ChangesMode = "incremental-between-scan-mode", Some("auto"), ChangesMode::parse;
    /// Whether two tags stand for the range of their snapshots.
    INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT: bool = "incremental-between-tag-to-snapshot", Some("false"), parse_bool;
    /// Creation time from which snapshots or files are read.
    SCAN_CREATION_TIME_MILLIS: i64 = "scan.creation-time-millis", None, parse_number;
    /// Creation time from which files are read.
    SCAN_FILE_CREATION_TIME_MILLIS: i64 = "scan.file-creation-time-millis", None, parse_number;
    /// The only bucket that is read.
    SCAN_BUCKET: i32 = "scan.bucket", None, parse_number;
    /// Watermark after which a stream ends.
    SCAN_BOUNDED_WATERMARK: i64 = "scan.bounded.watermark", None, parse_number;
    /// Name under which a stream keeps its progress.
    CONSUMER_ID: String = "consumer-id", None, parse_text;
    /// Whether a stream starts anew although its consumer has progress.
    CONSUMER_IGNORE_PROGRESS: bool = "consumer.ignore-progress", Some("false"), parse_bool;
    /// Whether streams of primary-key tables see overwrites.
    STREAMING_READ_OVERWRITE: bool = "streaming-read-overwrite", Some("false"), parse_bool;
    /// Whether streams of append tables see the files that overwrites add.
    STREAMING_READ_APPEND_OVERWRITE: bool = "streaming-read-append-overwrite", Some("false"), parse_bool;
    /// Age that a snapshot must have before a stream reads it.
    STREAMING_READ_SNAPSHOT_DELAY: Duration = "streaming.read.snapshot.delay", None, parse_duration;
    /// Changelogs that are kept at least.
    CHANGELOG_RETAINED_MIN: u64 = "changelog.num-retained.min", None, parse_number;
    /// Changelogs that are kept at most.
    CHANGELOG_RETAINED_MAX: u64 = "changelog.num-retained.max", None, parse_number;
    /// Age up to which changelogs are kept.
    CHANGELOG_TIME_RETAINED: Duration = "changelog.time-retained", None, parse_duration;
    /// Whether a column may not become NOT NULL.
    ALTER_NULL_TO_NOT_NULL_DISABLED: bool = "alter-column-null-to-not-null.disabled", Some("true"), parse_bool;
    /// Whether only implicit casts are allowed in type changes.
    DISABLE_EXPLICIT_CASTING: bool = "disable-explicit-type-casting", Some("false"), parse_bool;
    /// Whether new columns stand before the partition columns.
    ADD_COLUMN_BEFORE_PARTITION: bool = "add-column-before-partition", Some("false"), parse_bool;
}

/// The default is written with a dash, the values with underscores.
fn parse_tag_formatter(text: &str) -> Result<TagPeriodFormatter> {
    TagPeriodFormatter::parse(&text.replace('-', "_"))
}

fn parse_trimmed_list(text: &str) -> Result<Vec<String>> {
    Ok(text.split(',').map(str::trim).filter(|s| !s.is_empty()).map(str::to_owned).collect())
}

/// Which statistics a column gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatsMode {
    /// None.
    None,
    /// Null count.
    Counts,
    /// Null count and bounds cut to so many characters or bytes.
    Truncate(usize),
    /// Null count and whole bounds.
    Full,
}

impl StatsMode {
    /// Reads `none`, `counts`, `truncate(n)` or `full`.
    ///
    /// # Errors
    /// `InvalidConfig` for anything else.
    pub fn parse(text: &str) -> Result<Self> {
        let lower = text.trim().to_ascii_lowercase();
        match lower.as_str() {
            "none" => return Ok(Self::None),
            "counts" => return Ok(Self::Counts),
            "full" => return Ok(Self::Full),
            _ => {}
        }
        let length =
            lower.strip_prefix("truncate(").and_then(|s| s.strip_suffix(')')).and_then(|n| n.trim().parse().ok());
        match length {
            Some(n) if n > 0 => Ok(Self::Truncate(n)),
            _ => Err(Error::invalid_config(format!("expected none, counts, truncate(n) or full, found '{text}'"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;

    #[test]
    fn bad_values_name_their_key() {
        let options: Options = [("merge-engine", "newest")].into_iter().collect();
        let error = check_values(&options).unwrap_err().to_string();
        assert!(error.contains("merge-engine") && error.contains("deduplicate"), "{error}");
    }

    #[test]
    fn old_names_count_as_set() {
        let options: Options = [("write.compaction-skip", "true")].into_iter().collect();
        assert!(options.value(&WRITE_ONLY).unwrap());
        assert_eq!(Options::new().value(&STATS_MODE).unwrap(), StatsMode::Truncate(16));
    }
}
