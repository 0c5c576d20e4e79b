//! Lists of buckets: `0-3,7`, both ends of a range included. Source: compaction sheet section 13.

use std::collections::BTreeSet;

use paimon_core::{Error, Result};

/// More than any table has: a list does not make us hold more numbers than this.
const MOST: i32 = 100_000;

/// The buckets of a list.
///
/// # Errors
/// `InvalidInput` naming the part that is no number or range.
pub(super) fn parse(text: &str) -> Result<BTreeSet<i32>> {
    let mut buckets = BTreeSet::new();
    for part in text.split(',').map(str::trim) {
        if part.is_empty() {
            return Err(Error::invalid_input("integer ranges must not contain an empty item"));
        }
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<i32>().ok().filter(|n| (0..MOST).contains(n));
        match (number(first), number(last)) {
            (Some(first), Some(last)) if first <= last => buckets.extend(first..=last),
            _ => return Err(Error::invalid_input(format!("invalid integer or range: '{part}'"))),
        }
    }
    Ok(buckets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges() {
        assert_eq!(parse("0-2, 7,7").unwrap(), BTreeSet::from([0, 1, 2, 7]));
        for (text, part) in [("", "empty"), ("1,,2", "empty"), ("x", "'x'"), ("3-1", "'3-1'"), ("-1", "'-1'")] {
            assert!(parse(text).unwrap_err().to_string().contains(part), "{text}");
        }
    }
}
