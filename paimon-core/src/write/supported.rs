//! Refuses tables that cannot be written yet, before anything is.
//!
//! Invariants: an option that changes what a writer must do is either obeyed or named here.

use crate::error::{Error, Result};
use crate::merge::MergeRule;
use crate::spec::{
    BUCKET, CHANGELOG_PRODUCER, ChangelogProducer, DATA_EVOLUTION, DELETION_VECTORS, MERGE_ENGINE, MergeEngine,
    ROW_TRACKING, TABLE_TYPE,
};
use crate::table::Table;

/// How rows find their bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BucketMode {
    /// Every row is in bucket 0, which has no count.
    Unaware,
    /// By the bucket key, among this many.
    Fixed(i32),
}

impl BucketMode {
    /// What files and messages name as the bucket count.
    pub(super) fn total_buckets(self) -> i32 {
        match self {
            Self::Unaware => -1,
            Self::Fixed(count) => count,
        }
    }
}

/// Checks a table for writing and gives its bucket mode, and the rule of merging if it has a primary key.
///
/// # Errors
/// `Unsupported` naming the option; `InvalidInput` if the handle is pinned to a snapshot; `InvalidConfig` for a bad value.
pub(super) fn check(table: &Table) -> Result<(BucketMode, Option<MergeRule>)> {
    if let Some(snapshot) = table.pinned() {
        let name = table.identifier();
        return Err(Error::invalid_input(format!(
            "table {name} is pinned to snapshot {} by a selector of time travel and cannot be written",
            snapshot.id
        )));
    }
    let (schema, options) = (table.schema(), table.options());
    let kind = options.value(&TABLE_TYPE)?;
    if !kind.eq_ignore_ascii_case("table") {
        return Err(refuse(TABLE_TYPE.key, &kind));
    }
    for key in [&ROW_TRACKING, &DATA_EVOLUTION, &DELETION_VECTORS] {
        if options.value(key)? {
            return Err(refuse(key.key, "true"));
        }
    }
    for key in ["data-file.thin-mode", "primary-key.nullable", "pk-clustering-override"] {
        if let Some(value) = options.get(key)
            && !value.eq_ignore_ascii_case("false")
        {
            return Err(refuse(key, value));
        }
    }
    if let Some(strategy) = options.get("data-file.external-paths.strategy")
        && !strategy.eq_ignore_ascii_case("none")
    {
        return Err(refuse("data-file.external-paths.strategy", strategy));
    }
    let buckets = table.bucket_option()?;
    if !schema.has_primary_key() {
        return match buckets {
            -1 => Ok((BucketMode::Unaware, None)),
            count if count > 0 && !schema.bucket_key_positions().is_empty() => Ok((BucketMode::Fixed(count), None)),
            // Old tables of one bucket need no key.
            1 => Ok((BucketMode::Fixed(1), None)),
            other => Err(refuse(BUCKET.key, &other.to_string())),
        };
    }
    let producer = options.value(&CHANGELOG_PRODUCER)?;
    if producer != ChangelogProducer::None {
        return Err(refuse(CHANGELOG_PRODUCER.key, producer.as_str()));
    }
    let engine = options.value(&MERGE_ENGINE)?;
    if engine != MergeEngine::Deduplicate {
        let text = format!("writing to tables with {} {} is not supported yet", MERGE_ENGINE.key, engine.as_str());
        return Err(Error::unsupported(text));
    }
    let rule = MergeRule::try_new(schema, options)?;
    if buckets < 1 {
        return Err(refuse(BUCKET.key, &format!("{buckets} with a primary key")));
    }
    Ok((BucketMode::Fixed(buckets), Some(rule)))
}

fn refuse(key: &str, value: &str) -> Error {
    Error::unsupported(format!("writing to tables with option '{key}' = {value} is not supported yet"))
}
