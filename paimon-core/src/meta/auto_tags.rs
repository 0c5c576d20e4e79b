//! The names of tags that are made automatically: each stands for a time.
//!
//! Source: time-travel sheet sections 3 and 9; `tag/TagPeriodHandler.java`.

use chrono::{NaiveDate, NaiveDateTime};

use super::tags::{Tag, Tags};
use crate::error::{Error, Result};
use crate::options::Options;
use crate::spec::{
    TAG_CREATION_PERIOD, TAG_CREATION_PERIOD_DURATION, TAG_PERIOD_FORMATTER, TagPeriod, TagPeriodFormatter,
};

/// How a table spells the names of its automatic tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AutoTagNames {
    pattern: &'static str,
}

impl AutoTagNames {
    /// As these options say.
    ///
    /// # Errors
    /// `InvalidConfig` naming the option whose value does not parse.
    pub fn from_options(options: &Options) -> Result<Self> {
        let (period, formatter) = (options.value(&TAG_CREATION_PERIOD)?, options.value(&TAG_PERIOD_FORMATTER)?);
        if options.find(&TAG_CREATION_PERIOD_DURATION)?.is_some() {
            return Ok(Self { pattern: "%Y%m%d%H%M" });
        }
        let pattern = match (period, formatter) {
            (TagPeriod::Daily, TagPeriodFormatter::WithDashes) => "%Y-%m-%d",
            (TagPeriod::Daily, _) => "%Y%m%d",
            (_, TagPeriodFormatter::WithDashes) => "%Y-%m-%d %H",
            (_, TagPeriodFormatter::WithoutDashes) => "%Y%m%d %H",
            (_, TagPeriodFormatter::WithoutDashesAndSpaces) => "%Y%m%d%H",
        };
        Ok(Self { pattern })
    }

    /// The time that a name stands for; `None` for the name of another tag.
    pub fn time(self, name: &str) -> Option<NaiveDateTime> {
        // A day without hours is no time to the parser, and digits without blanks between them must be kept apart.
        let digits: String = name.chars().filter(char::is_ascii_digit).collect();
        let part = |from: usize, to: usize| digits.get(from..to).map_or(Some(0), |text| text.parse::<u32>().ok());
        let date = NaiveDate::from_ymd_opt(digits.get(..4)?.parse().ok()?, part(4, 6)?, part(6, 8)?)?;
        let time = date.and_hms_opt(part(8, 10)?, part(10, 12)?, 0)?;
        (time.format(self.pattern).to_string() == name).then_some(time)
    }

    /// The automatic tag of this name, and the one before it.
    ///
    /// # Errors
    /// `InvalidInput` if the name is none of an automatic tag; `Storage` or `Corrupt` naming the file.
    pub async fn pair(self, name: &str, tags: &Tags) -> Result<Option<(Tag, Tag)>> {
        let Some(time) = self.time(name) else {
            return Err(Error::invalid_input(format!("Specified tag '{name}' is not an auto-created tag.")));
        };
        let earlier = tags.names().await?.into_iter().filter_map(|name| Some((self.time(&name)?, name)));
        let Some((_, before)) = earlier.filter(|(earlier, _)| *earlier < time).max() else { return Ok(None) };
        Ok(tags.get(&before).await?.zip(tags.get(name).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: &[(&str, &str)]) -> AutoTagNames {
        AutoTagNames::from_options(&options.iter().copied().collect()).unwrap()
    }

    #[test]
    fn names_stand_for_times() {
        let (hourly, formatter) = (("tag.creation-period", "hourly"), "tag.period-formatter");
        let cases = [
            (names(&[]), "2026-12-01", "2026-12-01T00:00:00"),
            (names(&[(formatter, "with-dashes")]), "2026-12-01", "2026-12-01T00:00:00"),
            (names(&[(formatter, "without_dashes")]), "20261201", "2026-12-01T00:00:00"),
            (names(&[(formatter, "without_dashes_and_spaces")]), "20261201", "2026-12-01T00:00:00"),
            (names(&[hourly]), "2026-12-01 05", "2026-12-01T05:00:00"),
            (names(&[("tag.creation-period", "two-hours")]), "2026-12-01 04", "2026-12-01T04:00:00"),
            (names(&[hourly, (formatter, "without_dashes")]), "20261201 05", "2026-12-01T05:00:00"),
            (names(&[hourly, (formatter, "without_dashes_and_spaces")]), "2026120105", "2026-12-01T05:00:00"),
            (names(&[hourly, ("tag.creation-period-duration", "5 min")]), "202612010505", "2026-12-01T05:05:00"),
        ];
        for (names, name, time) in cases {
            assert_eq!(names.time(name), Some(time.parse().unwrap()), "{name}");
        }
    }

    #[test]
    fn other_names_stand_for_none() {
        for name in ["", "x", "2026-12-1", "2026-13-01", "2026-12-01 05", "20261201", "2026-12-01x", "\u{663}026-12-01"]
        {
            assert_eq!(names(&[]).time(name), None, "{name}");
        }
        assert_eq!(names(&[("tag.creation-period", "hourly")]).time("2026-12-01 25"), None);
    }
}
