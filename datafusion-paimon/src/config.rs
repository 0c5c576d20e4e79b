//! Options of a session that are laid over the stored options of tables: the namespace `paimon`.
//!
//! Invariants: shared by a session and its catalogs, so that `SET` is seen by the next statement; the most specific key
//! wins: `paimon.<catalog|*>.<database|*>.<table|*>.<option>` before `paimon.<option>`.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use datafusion::common::config::{ConfigEntry, ConfigExtension, ExtensionOptions};
use datafusion::error::Result;
use paimon_core::Identifier;
use paimon_core::meta::Travel;
use paimon_core::spec::SCAN_MODE;

use crate::error::to_datafusion;
use crate::sql::check_option;

/// Dynamic options by key, without the prefix `paimon.`. Clones share their content.
#[derive(Debug, Clone, Default)]
pub struct DynamicOptions(Arc<RwLock<BTreeMap<String, String>>>);

impl DynamicOptions {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a key, given without the prefix `paimon.`.
    pub fn set(&self, key: impl Into<String>, value: impl Into<String>) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key.into(), value.into());
    }

    /// Removes a key; gives the value it had.
    pub fn remove(&self, key: &str) -> Option<String> {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(key)
    }

    /// Removes all keys.
    pub fn clear(&self) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// All keys and values.
    pub fn to_map(&self) -> BTreeMap<String, String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The options that apply to a table, as `Table::with_dynamic_options` takes them.
    pub fn for_table(&self, catalog: &str, table: &Identifier) -> BTreeMap<String, Option<String>> {
        let mut ranked: Vec<(usize, String, String)> = self
            .to_map()
            .into_iter()
            .filter_map(|(key, value)| scope(&key, catalog, table).map(|(rank, option)| (rank, option, value)))
            .collect();
        ranked.sort_by_key(|(rank, ..)| *rank);
        let mut all = BTreeMap::new();
        for rank in ranked.chunk_by(|a, b| a.0 == b.0) {
            lay_over(&mut all, rank.iter().map(|(_, option, value)| (option.clone(), Some(value.clone()))).collect());
        }
        all
    }
}

/// Lays more specific options over others. A selector among them replaces every selector that was there.
pub(crate) fn lay_over(all: &mut BTreeMap<String, Option<String>>, specific: BTreeMap<String, Option<String>>) {
    if Travel::KEYS.iter().any(|key| specific.contains_key(*key)) {
        all.retain(|key, _| key != SCAN_MODE.key && !Travel::KEYS.contains(&key.as_str()));
    }
    all.extend(specific);
}

/// First words of options that may have four words or more.
const OPTION_FAMILIES: [&str; 4] = ["fields", "file-index", "aggregation", "metadata"];

/// How specific a key is for this table, and its option; `None` if it is for another table.
fn scope(key: &str, catalog: &str, table: &Identifier) -> Option<(usize, String)> {
    let parts: Vec<&str> = key.splitn(4, '.').collect();
    let [c, d, t, option] = parts[..] else { return Some((0, key.to_owned())) };
    let names = [(c, catalog), (d, table.database()), (t, table.table())];
    if names.iter().all(|(pattern, name)| *pattern == "*" || pattern == name) {
        // The table says more than the database, which says more than the catalog.
        let rank: usize = names.iter().enumerate().map(|(i, (p, _))| if *p == "*" { 0 } else { 1 << i }).sum();
        return Some((rank + 1, option.to_owned()));
    }
    OPTION_FAMILIES.contains(&c).then(|| (0, key.to_owned()))
}

impl ConfigExtension for DynamicOptions {
    const PREFIX: &'static str = "paimon";
}

impl ExtensionOptions for DynamicOptions {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    // The content is shared on purpose: catalogs, which see no session, must read what the session sets.
    fn cloned(&self) -> Box<dyn ExtensionOptions> {
        Box::new(self.clone())
    }

    // The engine knows no RESET for extensions: an empty value removes the key.
    fn set(&mut self, key: &str, value: &str) -> Result<()> {
        if value.is_empty() {
            self.remove(key);
        } else {
            check_option(key, value).map_err(to_datafusion)?;
            DynamicOptions::set(self, key, value);
        }
        Ok(())
    }

    fn entries(&self) -> Vec<ConfigEntry> {
        let entry = |(key, value)| ConfigEntry {
            key: format!("paimon.{key}"),
            value: Some(value),
            description: "option laid over the stored options of Paimon tables",
        };
        self.to_map().into_iter().map(entry).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_key_wins() {
        let options = DynamicOptions::new();
        options.set("read.batch-size", "1");
        options.set("*.d.t.read.batch-size", "2");
        options.set("*.*.u.read.batch-size", "3");
        options.set("c.d.t.scan.snapshot-id", "4");
        let of = |name: &str| options.for_table("c", &Identifier::new("d", name));
        assert_eq!(of("t")["read.batch-size"].as_deref(), Some("2"));
        assert_eq!(of("t")["scan.snapshot-id"].as_deref(), Some("4"));
        assert_eq!(of("u")["read.batch-size"].as_deref(), Some("3"));
        assert_eq!(of("v").len(), 1);
        // A selector replaces those of wider keys.
        options.set("scan.tag-name", "5");
        options.set("scan.mode", "from-snapshot");
        assert_eq!(of("t").keys().collect::<Vec<_>>(), ["read.batch-size", "scan.snapshot-id"]);
        assert_eq!(of("v").keys().collect::<Vec<_>>(), ["read.batch-size", "scan.mode", "scan.tag-name"]);
    }
}
