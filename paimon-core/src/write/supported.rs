//! How a table is written, if it can be.
//!
//! Invariants: what cannot be written is refused before anything is; which options that are is said by
//! [`check_writable`] alone.

use crate::error::{Error, Result};
use crate::merge::MergeRule;
use crate::spec::{BUCKET, check_writable};
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
    check_writable(schema, options)?;
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
    let rule = MergeRule::try_new(schema, options)?;
    if buckets < 1 {
        return Err(refuse(BUCKET.key, &format!("{buckets} with a primary key")));
    }
    Ok((BucketMode::Fixed(buckets), Some(rule)))
}

fn refuse(key: &str, value: &str) -> Error {
    Error::unsupported(format!("writing to tables with option '{key}' = {value} is not supported yet"))
}
