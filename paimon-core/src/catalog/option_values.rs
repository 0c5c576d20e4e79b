//! The form of the values of catalog options, also of those that no room reads.
//!
//! A slip shows when the catalog is made. The local cache is for remote stores: on the store at hand its options are only
//! checked. Source: catalog sheet section 2, local-cache sheet section 1; `options/CatalogOptions.java`.

use crate::error::{Error, Result};
use crate::options::{CatalogOptions, Options, parse_bool, parse_duration, parse_number, parse_size};

const SWITCHES: [&str; 11] = [
    "allow-upper-case",
    "cache-enabled",
    "cache.manifest.soft-values",
    "case-sensitive",
    "catalog-options-table.enabled",
    "file-io.allow-cache",
    "format-table.enabled",
    CatalogOptions::LOCAL_CACHE_ENABLED,
    "lock.enabled",
    "resolving-file-io.enabled",
    "sync-all-properties",
];
const INTEGERS: [&str; 4] = [
    "cache.deletion-vectors.max-num",
    "cache.partition.max-num",
    "cache.snapshot.max-num-per-table",
    "client-pool-size",
];
const DURATIONS: [&str; 5] = [
    "cache.expiration-interval",
    "cache.expire-after-access",
    "cache.expire-after-write",
    "lock-acquire-timeout",
    "lock-check-max-sleep",
];
const SIZES: [&str; 5] = [
    "cache.blob-index.max-size",
    "cache.manifest.max-memory",
    "cache.manifest.small-file-memory",
    "cache.manifest.small-file-threshold",
    "file-format.metadata-cache.max-size",
];

/// Checks all values.
///
/// # Errors
/// `InvalidConfig` naming the option.
pub(super) fn check(options: &Options) -> Result<()> {
    options.check_each(&SWITCHES, |text| parse_bool(text.trim()).map(drop))?;
    options.check_each(&INTEGERS, |text| parse_number::<i64>(text).map(drop))?;
    options.check_each(&DURATIONS, |text| parse_duration(text).map(drop))?;
    options.check_each(&SIZES, |text| parse_size(text).map(drop))?;
    check_local_cache(options)
}

fn check_local_cache(options: &Options) -> Result<()> {
    let enabled = options.get(CatalogOptions::LOCAL_CACHE_ENABLED).unwrap_or("false");
    if !enabled.trim().eq_ignore_ascii_case("true") {
        return Ok(());
    }
    if options.get(CatalogOptions::LOCAL_CACHE_DIR).is_none_or(|dir| dir.trim().is_empty()) {
        return Err(Error::invalid_config(format!(
            "option '{}' is required when '{}' is true",
            CatalogOptions::LOCAL_CACHE_DIR,
            CatalogOptions::LOCAL_CACHE_ENABLED
        )));
    }
    options.check_each(&[CatalogOptions::LOCAL_CACHE_MAX_SIZE], |text| parse_size(text).map(drop))?;
    options.check_each(&[CatalogOptions::LOCAL_CACHE_BLOCK_SIZE], |text| match parse_size(text)? {
        0 => Err(Error::invalid_config("it must be greater than zero")),
        _ => Ok(()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_values_name_their_option() {
        let cases: [(&[(&str, &str)], &str); 8] = [
            (&[("cache-enabled", "yes")], "'cache-enabled'"),
            (&[("client-pool-size", "two")], "'client-pool-size'"),
            (&[("lock-acquire-timeout", "8 mins")], "'lock-acquire-timeout'"),
            (&[("cache.manifest.small-file-memory", "1.5 gb")], "'cache.manifest.small-file-memory'"),
            (&[("local-cache.enabled", "yes")], "'local-cache.enabled'"),
            (&[("local-cache.enabled", "true")], "'local-cache.dir' is required"),
            (
                &[("local-cache.enabled", "true"), ("local-cache.dir", "/c"), ("local-cache.block-size", "0")],
                "'local-cache.block-size': it must be greater than zero",
            ),
            (
                &[("local-cache.enabled", "TRUE "), ("local-cache.dir", "/c"), ("local-cache.max-size", "-1")],
                "'local-cache.max-size'",
            ),
        ];
        for (options, text) in cases {
            let error = check(&options.iter().copied().collect()).unwrap_err().to_string();
            assert!(error.contains(text), "{error}");
        }
    }

    #[test]
    fn right_values_pass() {
        let good = [
            ("cache-enabled", "False"),
            ("cache.expire-after-access", "10 min"),
            ("local-cache.enabled", "true"),
            ("local-cache.dir", "/c"),
            ("local-cache.block-size", "1 MiB"),
            ("local-cache.max-size", "20 GiB"),
        ];
        check(&good.into_iter().collect()).unwrap();
        // Of a cache that is off nothing else is looked at.
        check(&[("local-cache.block-size", "zz")].into_iter().collect()).unwrap();
    }
}
