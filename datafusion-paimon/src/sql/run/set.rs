//! SET, RESET and SHOW of options.
//!
//! Invariants: an option is checked when it is set; nothing changes if it is refused. Source: SQL sheet SQL-212 to SQL-218.

use datafusion::common::config::ConfigOptions;
use datafusion::error::Result;
use datafusion::logical_expr::{LogicalPlan, ResetVariable, SetVariable, Statement as PlanStatement};
use datafusion::prelude::DataFrame;
use paimon_core::meta::Travel;
use paimon_core::options::Options;
use paimon_core::spec::{FIXED_FOR_USE, IMMUTABLE_OPTIONS, SCAN_MODE, check_format_names, check_values};
use paimon_core::{Error, ErrorKind};

use super::show::{Row, row};
use crate::config::DynamicOptions;
use crate::error::to_datafusion;
use crate::sql::context::session_defaults;
use crate::sql::engine::{check_zone, nearest};
use crate::sql::option_names::{OPTION_NAMES, is_known};
use crate::sql::parse::{TIME_ZONE, is_paimon_key};
use crate::sql::session::Session;

const PREFIX_LENGTH: usize = "paimon.".len();

impl Session<'_> {
    /// The options of the session that are laid over those of tables.
    fn dynamic_options(&self) -> Result<DynamicOptions> {
        self.state
            .config()
            .options()
            .extensions
            .get::<DynamicOptions>()
            .cloned()
            .ok_or_else(|| to_datafusion(Error::invalid_state("the Paimon extension is not installed in this session")))
    }

    pub(super) async fn set(&self, key: &str, value: &str) -> Result<DataFrame> {
        if !is_paimon_key(key) {
            if key == TIME_ZONE {
                check_zone(value).map_err(to_datafusion)?;
            }
            let plan = SetVariable { variable: key.to_owned(), value: value.to_owned() };
            return self.run_plan(LogicalPlan::Statement(PlanStatement::SetVariable(plan))).await;
        }
        let key = &key[PREFIX_LENGTH..];
        check_option(key, value).map_err(to_datafusion)?;
        self.dynamic_options()?.set(key, value);
        self.ok()
    }

    pub(super) async fn reset(&self, key: Option<&str>) -> Result<DataFrame> {
        match key {
            Some(key) if is_paimon_key(key) => {
                self.dynamic_options()?.remove(&key[PREFIX_LENGTH..]);
                self.ok()
            }
            Some(key) => self.reset_of_engine(key).await,
            None => {
                if let Ok(options) = self.dynamic_options() {
                    options.clear();
                }
                for key in self.changed_options() {
                    self.reset_of_engine(&key).await?;
                }
                self.ok()
            }
        }
    }

    async fn reset_of_engine(&self, key: &str) -> Result<DataFrame> {
        let plan = ResetVariable { variable: key.to_owned() };
        self.run_plan(LogicalPlan::Statement(PlanStatement::ResetVariable(plan))).await
    }

    /// Options of the engine that differ from those of a fresh session; where names are looked up is none of them.
    fn changed_options(&self) -> Vec<String> {
        let mut fresh = ConfigOptions::default();
        session_defaults(&mut fresh);
        let defaults = fresh.entries();
        let same = |key: &str, value: &Option<String>| defaults.iter().any(|d| d.key == key && d.value == *value);
        let entries = self.state.config().options().entries();
        let changed = entries.into_iter().filter(|e| {
            e.key.starts_with("datafusion.") && !e.key.starts_with("datafusion.catalog.") && !same(&e.key, &e.value)
        });
        // What a fresh session has by our own choice cannot be reset to the engine's default.
        let engine = ConfigOptions::default().entries();
        let ours = |key: &str| {
            let of = |entries: &[datafusion::common::config::ConfigEntry]| {
                entries.iter().find(|e| e.key == key).and_then(|e| e.value.clone())
            };
            of(&engine) != of(&defaults)
        };
        changed.map(|e| e.key).filter(|key| !ours(key)).collect()
    }

    pub(super) fn show_variable(&self, key: &str) -> Result<DataFrame> {
        let options = self.dynamic_options()?.to_map();
        match options.get(&key[PREFIX_LENGTH..]) {
            Some(value) => self.rows(&["name", "value"], vec![row([key, value])]),
            None => Err(to_datafusion(Error::new(ErrorKind::InvalidConfig, format!("option '{key}' is not set")))),
        }
    }

    pub(super) fn show_variables(&self) -> Result<DataFrame> {
        let entries = self.state.config().options().entries();
        let mut rows: Vec<Row> = entries.into_iter().map(|e| vec![Some(e.key), e.value]).collect();
        rows.sort();
        self.rows(&["name", "value"], rows)
    }
}

/// Checks an option that is set for tables; `key` is without `paimon.`, perhaps with catalog, database and table before it.
pub(crate) fn check_option(key: &str, value: &str) -> paimon_core::Result<()> {
    let scoped = || key.splitn(4, '.').nth(3).filter(|option| is_known(option));
    let Some(option) = is_known(key).then_some(key).or_else(scoped) else {
        let names: Vec<String> = OPTION_NAMES.iter().map(|n| (*n).to_owned()).collect();
        let hint = nearest(key, &names).map(|n| format!("; did you mean '{n}'?")).unwrap_or_default();
        return Err(Error::invalid_config(format!("unknown option '{key}'{hint}")));
    };
    let fixed = IMMUTABLE_OPTIONS.contains(&option) || FIXED_FOR_USE.contains(&option);
    if fixed || ["branch", "path"].contains(&option) || option.starts_with("fields.") {
        return Err(Error::invalid_config(format!("the option '{option}' is fixed for a table and cannot be SET")));
    }
    let options: Options = [(option, value)].into_iter().collect();
    check_values(&options)?;
    if (option.ends_with(".num-retained.min") || option.ends_with(".num-retained.max")) && value.trim() == "0" {
        return Err(Error::invalid_config(format!("the option '{option}' must be at least 1")));
    }
    check_format_names(&options)?;
    // A mode may wait for its selector.
    if option != SCAN_MODE.key {
        Travel::from_options(&options)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::check_option;

    #[test]
    fn options_are_checked_when_they_are_set() {
        let fine = [("scan.snapshot-id", "1"), ("read.batch-size", "4096"), ("*.d.t.scan.snapshot-id", "5")];
        for (key, value) in fine {
            assert!(check_option(key, value).is_ok(), "{key}");
        }
        let wrong = [
            ("scan.snapshot-idd", "1", "scan.snapshot-id"),
            ("no.such.option", "1", "unknown option"),
            ("scan.snapshot-id", "x", "scan.snapshot-id"),
            ("file.format", "nonsense", "file.format"),
            ("file.compression", "x", "file.compression"),
            ("scan.timestamp", "nope", "scan.timestamp"),
            ("incremental-between", "x", "incremental-between"),
            ("path", "/x", "fixed"),
            ("snapshot.num-retained.max", "0", "at least 1"),
            ("bucket", "2", "fixed"),
            ("merge-engine", "aggregation", "fixed"),
            ("c.d.t.primary-key", "a", "fixed"),
        ];
        for (key, value, expected) in wrong {
            let error = check_option(key, value).unwrap_err().to_string();
            assert!(error.contains(expected), "{key}: {error}");
        }
    }
}
