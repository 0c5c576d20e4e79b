//! Options that give each level its own value, as `0:avro,5:parquet`.

use crate::error::{Error, Result};
use crate::options::Options;

/// The value of a level; `None` if the option does not name it.
///
/// # Errors
/// `InvalidConfig` naming the option.
pub(super) fn at_level(options: &Options, key: &str, level: i32) -> Result<Option<String>> {
    let Some(text) = options.get(key) else { return Ok(None) };
    let mut found = None;
    for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
        let parsed = part.split_once(':').and_then(|(l, v)| Some((l.trim().parse::<i32>().ok()?, v.trim())));
        let Some((at, value)) = parsed else {
            return Err(Error::invalid_config(format!("option '{key}': expected level:value, found '{part}'")));
        };
        if at == level {
            found = Some(value.to_owned());
        }
    }
    Ok(found)
}

/// The options with those of the level in place of those of the table.
///
/// # Errors
/// As [`at_level`].
pub(super) fn of_level(options: &Options, level: i32) -> Result<Options> {
    let mut own = options.clone();
    for key in ["file.format", "file.compression"] {
        if let Some(value) = at_level(options, &format!("{key}.per.level"), level)? {
            own.set(key, value);
        }
    }
    Ok(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_their_own_values() {
        let options: Options =
            [("file.format.per.level", "0:avro, 5:parquet"), ("file.format", "orc")].into_iter().collect();
        let format = |level| of_level(&options, level).unwrap().get("file.format").map(str::to_owned);
        assert_eq!(format(0).as_deref(), Some("avro"));
        assert_eq!(format(5).as_deref(), Some("parquet"));
        assert_eq!(format(1).as_deref(), Some("orc"));
        let bad: Options = [("file.format.per.level", "top")].into_iter().collect();
        assert!(of_level(&bad, 0).unwrap_err().to_string().contains("file.format.per.level"));
    }
}
