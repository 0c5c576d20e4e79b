//! Options: text by key, typed keys, and the parsers of their values.
//!
//! Invariants: values are kept as the text that was given; a typed look-up tries the key, then its
//! older names, then the default; printing never shows a secret. Source: option sheet of the
//! specification; `options/Options.java`, `utils/TimeUtils.java`, `options/MemorySize.java`.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Error, Result};

/// Names of the options of a catalog.
#[derive(Debug, Clone, Copy)]
pub struct CatalogOptions;

impl CatalogOptions {
    /// Root path of a filesystem catalog.
    pub const WAREHOUSE: &'static str = "warehouse";
    /// Kind of the catalog: `filesystem` (default).
    pub const METASTORE: &'static str = "metastore";
    /// Address of a REST server.
    pub const URI: &'static str = "uri";
    /// Prefix of options that every created table gets unless it sets them.
    pub const TABLE_DEFAULT_PREFIX: &'static str = "table-default.";
    /// Whether blocks of remote files are cached on the local disk.
    pub const LOCAL_CACHE_ENABLED: &'static str = "local-cache.enabled";
    /// Directory of the local disk cache.
    pub const LOCAL_CACHE_DIR: &'static str = "local-cache.dir";
    /// Size limit of the local disk cache.
    pub const LOCAL_CACHE_MAX_SIZE: &'static str = "local-cache.max-size";
    /// Block size of the local disk cache.
    pub const LOCAL_CACHE_BLOCK_SIZE: &'static str = "local-cache.block-size";
    /// Kinds of files that the local disk cache holds.
    pub const LOCAL_CACHE_WHITELIST: &'static str = "local-cache.whitelist";
}

/// Options by key. Ordered by key; `Debug` hides secrets.
#[derive(Clone, Default)]
pub struct Options {
    values: BTreeMap<String, String>,
    /// The file that holds options, for errors about those that still have the value they have there.
    stored: Option<Arc<Stored>>,
}

struct Stored {
    file: String,
    values: BTreeMap<String, String>,
}

impl Options {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// The options that `file` holds, which errors about them name.
    pub(crate) fn stored_in(file: String, values: &BTreeMap<String, String>) -> Self {
        let stored = Arc::new(Stored { file, values: values.clone() });
        Self { values: values.clone(), stored: Some(stored) }
    }

    /// Other values of the same origin.
    pub(crate) fn with_values(&self, values: BTreeMap<String, String>) -> Self {
        Self { values, stored: self.stored.clone() }
    }

    /// Sets `key` to `value`, replacing what was set.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.values.insert(key.into(), value.into());
        self
    }

    /// Removes `key`.
    pub fn remove(&mut self, key: &str) -> Option<String> {
        self.values.remove(key)
    }

    /// The text of exactly this key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }

    /// Whether exactly this key is set.
    pub fn contains(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Keys and values, ordered by key.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of keys.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// The options as a map.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.values.clone()
    }

    /// The text of a typed key: the key, then its older names.
    pub fn text<T>(&self, key: &OptionKey<T>) -> Option<&str> {
        self.get(key.key).or_else(|| key.fallbacks.iter().find_map(|k| self.get(k)))
    }

    /// The value of a typed key, or its default; `None` if there is neither.
    ///
    /// # Errors
    /// `InvalidConfig` naming the key if the text does not parse.
    pub fn find<T>(&self, key: &OptionKey<T>) -> Result<Option<T>> {
        let Some(text) = self.text(key).or(key.default) else { return Ok(None) };
        (key.parse)(text).map(Some).map_err(|e| self.unreadable(text, key.key, key.fallbacks, &e))
    }

    fn unreadable(&self, text: &str, key: &str, older: &[&str], reason: &Error) -> Error {
        let message = format!("could not parse value '{text}' for option '{key}': {}", reason.message());
        let error = Error::invalid_config(message);
        let is_of =
            |stored: &Stored| [&[key], older].concat().iter().any(|k| stored.values.get(*k).is_some_and(|t| t == text));
        match &self.stored {
            Some(stored) if is_of(stored) => error.with_context("file", &stored.file),
            _ => error,
        }
    }

    /// Checks the values of those of these keys that are set.
    ///
    /// # Errors
    /// `InvalidConfig` naming the first key whose value fails the check.
    pub(crate) fn check_each(&self, keys: &[&str], check: impl Fn(&str) -> Result<()>) -> Result<()> {
        keys.iter()
            .filter_map(|key| Some((key, self.get(key)?)))
            .try_for_each(|(key, text)| check(text).map_err(|e| self.unreadable(text, key, &[], &e)))
    }

    /// The value of a typed key that has a default.
    ///
    /// # Errors
    /// `InvalidConfig` naming the key if the text does not parse or there is neither value nor default.
    pub fn value<T>(&self, key: &OptionKey<T>) -> Result<T> {
        self.find(key)?.ok_or_else(|| Error::invalid_config(format!("option '{}' is not set", key.key)))
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(k, v)| (k, if is_secret(k) { "******" } else { v }))).finish()
    }
}

impl PartialEq for Options {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl Eq for Options {}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Options {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(iter: I) -> Self {
        iter.into_iter().map(|(k, v)| (k.into(), v.into())).collect::<BTreeMap<_, _>>().into()
    }
}

impl From<HashMap<String, String>> for Options {
    fn from(map: HashMap<String, String>) -> Self {
        map.into_iter().collect()
    }
}

impl From<BTreeMap<String, String>> for Options {
    fn from(map: BTreeMap<String, String>) -> Self {
        Self { values: map, stored: None }
    }
}

/// Whether the value of this key must not be shown.
pub fn is_secret(key: &str) -> bool {
    const WORDS: [&str; 10] = [
        "password",
        "secret",
        "token",
        "credential",
        "accesskey",
        "accountkey",
        "encryptionkey",
        "authorization",
        "privatekey",
        "apikey",
    ];
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    WORDS.iter().any(|w| plain.contains(w)) || plain.contains("sas")
}

/// One option: its key, older names, default and parser.
#[derive(Debug, Clone, Copy)]
pub struct OptionKey<T> {
    /// The key as users write it.
    pub key: &'static str,
    /// Older names, tried in order.
    pub fallbacks: &'static [&'static str],
    /// Text of the default.
    pub default: Option<&'static str>,
    /// Text to value.
    pub parse: fn(&str) -> Result<T>,
}

/// `true` or `false` in any case.
///
/// # Errors
/// `InvalidConfig` for anything else.
pub fn parse_bool(text: &str) -> Result<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Error::invalid_config(format!("unrecognized option for boolean: {text}, expected true or false"))),
    }
}

/// A number in decimal digits with an optional sign.
///
/// # Errors
/// `InvalidConfig` if the text is not such a number or does not fit.
pub fn parse_number<T: std::str::FromStr>(text: &str) -> Result<T> {
    text.parse().map_err(|_| Error::invalid_config(format!("expected a number, found '{text}'")))
}

/// A number of things of which there must be one at least.
///
/// # Errors
/// `InvalidConfig` for anything else.
pub fn parse_count(text: &str) -> Result<usize> {
    match parse_number(text)? {
        0 => Err(Error::invalid_config("expected 1 or more, found '0'")),
        count => Ok(count),
    }
}

/// Text as it is.
///
/// # Errors
/// Never.
pub fn parse_text(text: &str) -> Result<String> {
    Ok(text.to_owned())
}

/// A size in bytes: digits and an optional unit, `b` to `tb` in steps of 1024. `kib`, `mib`, `gib`, `tib` are
/// accepted too.
///
/// # Errors
/// `InvalidConfig` for an unknown unit, a fraction, a sign or an overflow.
pub fn parse_size(text: &str) -> Result<u64> {
    let (number, unit) = number_and_unit(text)?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" | "bytes" => 1,
        "k" | "kb" | "kib" | "kibibytes" => 1 << 10,
        "m" | "mb" | "mib" | "mebibytes" => 1 << 20,
        "g" | "gb" | "gib" | "gibibytes" => 1 << 30,
        "t" | "tb" | "tib" | "tebibytes" => 1 << 40,
        other => {
            return Err(Error::invalid_config(format!("unknown unit of size '{other}', expected b, kb, mb, gb or tb")));
        }
    };
    number.checked_mul(factor).ok_or_else(|| Error::invalid_config(format!("size '{text}' is too large")))
}

/// A duration: digits and an optional unit in lower case; without unit milliseconds.
///
/// # Errors
/// `InvalidConfig` for an unknown unit, a fraction or a sign.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let (number, unit) = number_and_unit(text)?;
    let seconds = |factor: u64| {
        let total = number.checked_mul(factor);
        total.map(Duration::from_secs).ok_or_else(|| Error::invalid_config(format!("duration '{text}' is too long")))
    };
    match unit {
        "d" | "day" | "days" => seconds(86_400),
        "h" | "hour" | "hours" => seconds(3_600),
        "min" | "m" | "minute" | "minutes" => seconds(60),
        "s" | "sec" | "secs" | "second" | "seconds" => seconds(1),
        "" | "ms" | "milli" | "millis" | "millisecond" | "milliseconds" => Ok(Duration::from_millis(number)),
        "µs" | "micro" | "micros" | "microsecond" | "microseconds" => Ok(Duration::from_micros(number)),
        "ns" | "nano" | "nanos" | "nanosecond" | "nanoseconds" => Ok(Duration::from_nanos(number)),
        other => Err(Error::invalid_config(format!("unknown unit of time '{other}', expected d, h, min, s or ms"))),
    }
}

fn number_and_unit(text: &str) -> Result<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number =
        digits.parse().map_err(|_| Error::invalid_config(format!("expected a number with a unit, found '{text}'")))?;
    Ok((number, unit.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        let cases = [
            ("128 mb", Some(128 << 20)),
            ("1b", Some(1)),
            ("20 GiB", Some(20 << 30)),
            ("7", Some(7)),
            ("1.5 gb", None),
            ("-1", None),
            ("9999999999 tb", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_size(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn durations() {
        let cases =
            [("10", Some(10)), ("10 ms", Some(10)), ("1h", Some(3_600_000)), ("1 h 30 min", None), ("2 D", None)];
        for (text, expected) in cases {
            assert_eq!(parse_duration(text).ok(), expected.map(Duration::from_millis), "{text}");
        }
    }

    #[test]
    fn debug_hides_secrets() {
        let options: Options = [("s3.secret-access-key", "abc"), ("warehouse", "/w")].into_iter().collect();
        assert_eq!(format!("{options:?}"), r#"{"s3.secret-access-key": "******", "warehouse": "/w"}"#);
    }
}
