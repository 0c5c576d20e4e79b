//! The form of the values of options that no room of this crate reads.
//!
//! They are kept as they are and checked like any other, so that a slip shows when it is made and not in another engine.
//! Source: option sheet section 3; `CoreOptions.java`.

use crate::error::{Error, Result};
use crate::options::{Options, parse_bool, parse_duration, parse_number, parse_size};

/// Options that are `true` or `false`.
const SWITCHES: [&str; 67] = [
    "aggregation.remove-record-on-delete",
    "async-file-write",
    "auto-create",
    "blob-as-descriptor",
    "blob-compaction.enabled",
    "blob-view.resolve.enabled",
    "blob-write-null-on-fetch-failure",
    "blob-write-null-on-missing-file",
    "blob.split-by-file-size",
    "chain-table.enabled",
    "chain-table.split.key-range-enabled",
    "chain-table.streaming.merge-snapshot",
    "changelog-producer.row-deduplicate",
    "clustering.incremental",
    "clustering.incremental.optimize-write",
    "commit.discard-duplicate-files",
    "commit.force-compact",
    "commit.force-create-snapshot",
    "compaction.skip-expired-partitions",
    "consumer.changelog-only",
    "data-evolution.compaction.rewrite-row-ids",
    "data-evolution.merge-into.file-pruning",
    "data-evolution.merge-into.source-persist",
    "data-evolution.row-sidecar.enabled",
    "data-file.thin-mode",
    "delete.force-produce-changelog",
    "deletion-vectors.bitmap64",
    "deletion-vectors.merge-on-read",
    "deletion-vectors.modifiable",
    "end-input.check-partition-expire",
    "file-index.read.enabled",
    "force-lookup",
    "format-table.partition-path-only-value",
    "global-index.enabled",
    "index-file-in-data-file-dir",
    "key-value.sequence_number.enabled",
    "lookup-wait",
    "lookup.blob-as-descriptor",
    "lookup.cache.bloom.filter.enabled",
    "lookup.remote-file.enabled",
    "manifest-sort.enabled",
    "manifest.delete-file-drop-stats",
    "manifest.merge-optimize.enabled",
    "metastore.partitioned-table",
    "partial-update.remove-record-on-delete",
    "partition.end-input-to-done",
    "partition.timestamp-format.strict",
    "pk-clustering-override",
    "postpone.batch-write-fixed-bucket",
    "postpone.merge-on-read",
    "primary-key.nullable",
    "query-auth.enabled",
    "row-tracking.partition-group-on-commit",
    "scan.fallback-branch.read-fail-fast",
    "scan.ignore-corrupt-files",
    "scan.ignore-lost-files",
    "scan.plan-sort-partition",
    "snapshot.clean-empty-directories",
    "table-read.sequence-number.enabled",
    "tag.automatic-completion",
    "tag.create-success-file",
    "tag.time-expire-enabled",
    "variant.inferShreddingSchema",
    "vector-search.distribute.enabled",
    "visibility-callback.enabled",
    "write-buffer-for-append",
    "write-buffer-spillable",
];

/// Options that are integers.
const INTEGERS: [&str; 40] = [
    "clustering.history-partition.limit",
    "commit.strict-mode.last-safe-snapshot",
    "cross-partition-upsert.bootstrap-parallelism",
    "data-evolution.reassign.skip-contiguous-row-count",
    "data-evolution.row-sidecar.max-selected-rows",
    "dynamic-bucket.assigner-parallelism",
    "dynamic-bucket.initial-buckets",
    "dynamic-bucket.max-buckets",
    "dynamic-bucket.target-row-num",
    "file-operation.thread-num",
    "format-table.scan.list-parallelism",
    "global-index.build.max-parallelism",
    "global-index.build.max-shard",
    "global-index.row-count-per-shard",
    "global-index.thread-num",
    "local-sort.max-num-file-handles",
    "lookup-compact.max-interval",
    "lookup.cache-rows",
    "lookup.merge-records-threshold",
    "lookup.remote-file.level-threshold",
    "num-sorted-run.stop-trigger",
    "partition.expiration-batch-size",
    "partition.expiration-max-num",
    "postpone.batch-write-fixed-bucket.max-parallelism",
    "postpone.batch-write-fixed-bucket.rescale-load-factor",
    "postpone.default-bucket-num",
    "postpone.target-row-num-per-bucket",
    "scan.max-splits-per-task",
    "sort-compaction.local-sample.magnification",
    "sort-spill-threshold",
    "spill-compression.zstd-level",
    "tag.num-retained-max",
    "variant.shredding.adaptive.maxInferBufferRow",
    "variant.shredding.maxInferBufferRow",
    "variant.shredding.maxSchemaDepth",
    "variant.shredding.maxSchemaWidth",
    "vector-search.lateral-join.batch-size",
    "write-max-writers-to-spill",
    "write.batch-size",
    "zorder.var-length-contribution",
];

/// Options that are numbers with a fraction.
const FRACTIONS: [&str; 7] = [
    "compaction.delete-ratio-threshold",
    "data-evolution.row-sidecar.max-selection-ratio",
    "lookup.cache.bloom.filter.fpp",
    "lookup.cache.high-priority-pool-ratio",
    "lookup.hash-load-factor",
    "variant.shredding.adaptive.retentionRatio",
    "variant.shredding.minFieldCardinalityRatio",
];

/// Options that are durations.
const DURATIONS: [&str; 15] = [
    "clustering.history-partition.idle-to-full-sort",
    "consumer.expiration-time",
    "continuous.discovery-interval",
    "cross-partition-upsert.index-ttl",
    "lookup.cache-file-retention",
    "lookup.continuous.discovery-interval",
    "partition.expiration-check-interval",
    "partition.expiration-time",
    "partition.idle-time-to-report-statistic",
    "record-level.expire-time",
    "scan.plan-auto-tag-for-read.time-retained",
    "snapshot.watermark-idle-timeout",
    "tag.creation-delay",
    "visibility-callback.check-interval",
    "visibility-callback.timeout",
];

/// Options that are sizes.
const SIZES: [&str; 19] = [
    "blob.copy-buffer-size",
    "blob.target-file-size",
    "cache-page-size",
    "data-evolution.row-id-conflict-rewrite.max-size",
    "deletion-vector.index-file.target-size",
    "file-index.in-manifest-threshold",
    "file-reader-async-threshold",
    "local-kv-db.block-size",
    "local-merge-buffer-size",
    "lookup.cache-max-disk-size",
    "lookup.cache-max-memory-size",
    "lookup.merge-buffer-size",
    "manifest-sort.max-rewrite-size",
    "page-size",
    "postpone.target-size-per-bucket",
    "sort-spill-buffer-size",
    "vector.target-file-size",
    "write-buffer-spill.max-disk-size",
    "write.batch-memory",
];

/// Options that are one of some words, in any case.
const WORDS: [(&str, &[&str]); 17] = [
    ("clustering.incremental.mode", &["global-sort", "local-sort"]),
    ("consumer.mode", &["exactly-once", "at-least-once"]),
    ("data-file.external-paths.strategy", &["none", "specific-fs", "round-robin", "entropy-inject", "weight-robin"]),
    ("format-table.implementation", &["paimon", "engine"]),
    ("full-text-index.search-mode", &["fast", "full", "detail"]),
    ("global-index.column-update-action", &["throw_error", "drop_partition_index", "ignore"]),
    ("global-index.search-mode", &["fast", "full", "detail"]),
    ("lookup-compact", &["radical", "gentle"]),
    ("partition.sink-strategy", &["none", "hash", "partition_dynamic"]),
    ("scalar-index.search-mode", &["fast", "full", "detail"]),
    ("snapshot.expire.execution-mode", &["sync", "async"]),
    ("sort-compaction.range-strategy", &["size", "quantity"]),
    ("sort-engine", &["min-heap", "loser-tree"]),
    ("tag.automatic-creation", &["none", "process-time", "watermark", "batch"]),
    ("variant.shredding.inferenceMode", &["per-file", "adaptive"]),
    ("vector-index.search-mode", &["fast", "full", "detail"]),
    ("write.sequence-number-init-mode", &["scan", "snapshot"]),
];

/// Checks the values of these options.
///
/// # Errors
/// `InvalidConfig` naming the key whose value does not parse.
pub(super) fn check(options: &Options) -> Result<()> {
    options.check_each(&SWITCHES, |text| parse_bool(text).map(drop))?;
    options.check_each(&INTEGERS, |text| parse_number::<i64>(text).map(drop))?;
    options.check_each(&FRACTIONS, |text| parse_number::<f64>(text).map(drop))?;
    options.check_each(&DURATIONS, |text| parse_duration(text).map(drop))?;
    options.check_each(&SIZES, |text| parse_size(text).map(drop))?;
    WORDS.iter().try_for_each(|(key, words)| options.check_each(&[key], |text| one_of(text, words)))
}

fn one_of(text: &str, words: &[&str]) -> Result<()> {
    if words.iter().any(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(());
    }
    Err(Error::invalid_config(format!("expected one of {words:?}, found '{text}'")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_values_name_their_key() {
        let cases = [
            ("force-lookup", "yes"),
            ("tag.num-retained-max", "1.5"),
            ("lookup.hash-load-factor", "x"),
            ("partition.expiration-time", "7 dd"),
            ("sort-spill-buffer-size", "-1"),
            ("tag.automatic-creation", "weekly"),
        ];
        for (key, value) in cases {
            let error = check(&[(key, value)].into_iter().collect()).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains(value), "{error}");
        }
        let good =
            [("force-lookup", "TRUE"), ("tag.automatic-creation", "BATCH"), ("unknown", "x"), ("page-size", "64 kb")];
        check(&good.into_iter().collect()).unwrap();
    }
}
