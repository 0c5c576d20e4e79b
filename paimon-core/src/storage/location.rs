//! The text of a location: scheme, authority and path.
//!
//! Invariants: a parsed path is absolute, has no empty, `.` or `..` segment and no slash at the end but for the root;
//! nothing is percent-decoded; scheme and authority stay as written. Source: catalog sheet section 4; `fs/Path.java`.

use std::fmt;

use crate::error::{Error, Result};

/// A location cut into its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// Scheme as written, without the colon; `None` for bare paths.
    pub(crate) scheme: Option<String>,
    /// Authority; `None` if empty.
    pub(crate) authority: Option<String>,
    /// Absolute path.
    pub(crate) path: String,
}

impl Location {
    /// Cuts a location; bare relative paths are below the working directory.
    ///
    /// # Errors
    /// `InvalidInput` for text that is no location.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        if text.trim().is_empty() {
            return Err(Error::invalid_input("a location must not be blank"));
        }
        if text.contains('\0') {
            return Err(Error::invalid_input(format!("the location '{}' holds a zero character", text.escape_debug())));
        }
        let Some((scheme, rest)) = cut_scheme(text) else {
            let path = if text.starts_with('/') { resolve(text) } else { resolve(&below_working_directory(text)?) };
            return Ok(Self { scheme: None, authority: None, path });
        };
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None if rest.starts_with('/') => ("", rest),
            None => {
                return Err(Error::invalid_input(format!(
                    "the location '{text}' has the scheme '{scheme}' but a relative path, expected '{scheme}:/…'"
                )));
            }
        };
        let authority = (!authority.is_empty()).then(|| authority.to_owned());
        Ok(Self { scheme: Some(scheme.to_owned()), authority, path: resolve(path) })
    }

    /// Whether the location is on the local disk: bare, or of the scheme `file`.
    pub(crate) fn is_local(&self) -> bool {
        self.scheme.as_deref().is_none_or(|s| s.eq_ignore_ascii_case("file"))
    }

    /// Whether the other one is below this one, or the same.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        let same_store =
            self.is_local() && other.is_local() || (&self.scheme, &self.authority) == (&other.scheme, &other.authority);
        let below = other.path.strip_prefix(self.path.trim_end_matches('/'));
        same_store && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The path without the slash in front, as operators rooted at `/` want it.
    pub(crate) fn relative_path(&self) -> &str {
        self.path.trim_start_matches('/')
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}:")?;
        }
        if let Some(authority) = &self.authority {
            write!(f, "//{authority}")?;
        }
        f.write_str(&self.path)
    }
}

fn cut_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut letters = scheme.chars();
    let named = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    named.then_some((scheme, rest))
}

fn below_working_directory(relative: &str) -> Result<String> {
    let directory = std::env::current_dir().map_err(|e| {
        Error::invalid_input(format!("the relative path '{relative}' needs a working directory")).with_source(e)
    })?;
    match directory.to_str() {
        Some(directory) => Ok(format!("{directory}/{relative}")),
        None => Err(Error::invalid_input(format!(
            "the relative path '{relative}' cannot be used: the name of the working directory is not UTF-8"
        ))),
    }
}

/// Collapses slashes and resolves `.` and `..` in the text alone, as Java does; `..` of the root is the root.
fn resolve(path: &str) -> String {
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    format!("/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn canonical_text() {
        let cases = [
            ("/w//a/", "/w/a"),
            ("/", "/"),
            ("/a/./b/../c", "/a/c"),
            ("/../a", "/a"),
            ("file:/w", "file:/w"),
            ("file:///w/", "file:/w"),
            ("file://", "file:/"),
            ("memory:/w//x", "memory:/w/x"),
            ("s3://Bucket_1/w/", "s3://Bucket_1/w"),
            ("s3://b", "s3://b/"),
            ("/w/dt=a%3Ab/ x ", "/w/dt=a%3Ab/ x "),
            ("/w/a:b", "/w/a:b"),
        ];
        for (text, expected) in cases {
            assert_eq!(Location::parse(text).unwrap().to_string(), expected, "{text}");
        }
    }

    #[test]
    fn what_a_location_holds() {
        let cases = [
            ("/w/t", "/w/t/bucket-0", true),
            ("/w/t", "/w/t", true),
            ("/", "/w", true),
            ("/w/t", "file:///w/t/p=1/bucket-0", true),
            ("file:/w/t", "/w/t/../t/bucket-0", true),
            ("/w/t", "/w/t2/bucket-0", false),
            ("/w/t", "/w", false),
            ("/w/t", "/w/t/../u/bucket-0", false),
            ("/w/t", "memory:/w/t/bucket-0", false),
            ("s3://a/w", "s3://b/w/bucket-0", false),
            ("s3://a/w", "s3://a/w/bucket-0", true),
        ];
        for (outer, inner, expected) in cases {
            let [outer, inner] = [outer, inner].map(|text| Location::parse(text).unwrap());
            assert_eq!(outer.holds(&inner), expected, "{outer} {inner}");
        }
    }

    #[test]
    fn relative_paths_are_below_the_working_directory() {
        let here = std::env::current_dir().unwrap();
        assert_eq!(Location::parse("w/../x=1:2").unwrap().path, format!("{}/x=1:2", here.display()));
    }

    #[test]
    fn what_is_no_location() {
        for text in ["", "  ", "file:w", "memory:w", "/a\0b"] {
            assert!(Location::parse(text).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn parsing_is_idempotent(text in "(file:/|memory:/|s3://b/|/)[a-z./% ]{0,20}") {
            let once = Location::parse(&text).unwrap().to_string();
            prop_assert_eq!(Location::parse(&once).unwrap().to_string(), once);
        }
    }
}
