//! Which operator serves a scheme.
//!
//! Invariants: nothing is contacted when an operator is made. Source: storage sheet section 1.

use opendal::Operator;

use super::location::Location;
use crate::error::{Error, Result};

/// Schemes and the feature that each needs.
const SCHEMES: [(&str, &str, bool); 2] = [
    ("file", "storage-fs", cfg!(feature = "storage-fs")),
    ("memory", "storage-memory", cfg!(feature = "storage-memory")),
];

/// The operator of a location, rooted at `/`.
///
/// # Errors
/// As [`check`].
pub(super) fn operator(location: &Location) -> Result<Operator> {
    check(location)?;
    if location.is_local() { disk() } else { memory() }
}

/// Checks that the scheme of a location is built in, and that it has no authority, which no built-in scheme takes.
///
/// # Errors
/// `Unsupported` naming the scheme; `InvalidInput` for an authority.
pub(super) fn check(location: &Location) -> Result<()> {
    let scheme = location.scheme.as_deref().unwrap_or("file").to_ascii_lowercase();
    let Some((_, feature, built_in)) = SCHEMES.iter().find(|(name, ..)| *name == scheme) else {
        let known = SCHEMES.map(|(name, ..)| name).join(" and ");
        return Err(Error::unsupported(format!(
            "the storage scheme '{scheme}' is not supported; the schemes that are built in are {known}"
        )));
    };
    if !built_in {
        return Err(Error::unsupported(format!("the storage scheme '{scheme}' needs the feature {feature}")));
    }
    if let Some(authority) = &location.authority {
        let path = &location.path;
        return Err(Error::invalid_input(format!(
            "Found local file path with authority '{authority}' in path '{location}'. Hint: Did you forget a slash? \
             (correct path would be '{scheme}:///{authority}{path}')"
        )));
    }
    Ok(())
}

#[cfg(feature = "storage-fs")]
fn disk() -> Result<Operator> {
    Operator::new(opendal::services::Fs::default().root("/"))
        .map_err(|e| Error::internal("the operator of the local disk cannot be made").with_source(e))
}

#[cfg(not(feature = "storage-fs"))]
fn disk() -> Result<Operator> {
    Err(Error::unsupported("the storage scheme 'file' needs the feature storage-fs"))
}

/// One store for the whole process, so that every catalog on `memory:/w` sees the same files.
#[cfg(feature = "storage-memory")]
fn memory() -> Result<Operator> {
    static MEMORY: std::sync::Mutex<Option<Operator>> = std::sync::Mutex::new(None);
    let mut memory = MEMORY.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some(operator) = &*memory {
        return Ok(operator.clone());
    }
    let operator = Operator::new(opendal::services::Memory::default())
        .map_err(|e| Error::internal("the operator of the memory cannot be made").with_source(e))?;
    *memory = Some(operator.clone());
    Ok(operator)
}

#[cfg(not(feature = "storage-memory"))]
fn memory() -> Result<Operator> {
    Err(Error::unsupported("the storage scheme 'memory' needs the feature storage-memory"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn refusals() {
        let cases = [
            (
                "s3://bucket/w",
                ErrorKind::Unsupported,
                "'s3' is not supported; the schemes that are built in are file and memory",
            ),
            ("HDFS:/w", ErrorKind::Unsupported, "'hdfs'"),
            ("file://host/x", ErrorKind::InvalidInput, "(correct path would be 'file:///host/x')"),
            ("memory://w/x", ErrorKind::InvalidInput, "authority 'w'"),
        ];
        for (location, kind, text) in cases {
            let error = operator(&Location::parse(location).unwrap()).unwrap_err();
            assert_eq!(error.kind(), kind, "{location}");
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
