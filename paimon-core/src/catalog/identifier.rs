//! The name of an object of a catalog.

use std::fmt;

use crate::error::{Entity, Error, Result};

/// What a branch is told apart from a system table by.
const BRANCH_PREFIX: &str = "branch_";

/// Database and object. The object carries a branch and a system table: `t$branch_b$snapshots`.
///
/// Names are compared exactly, only the system table in any case. Source: `catalog/Identifier.java`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identifier {
    database: String,
    object: String,
}

impl Identifier {
    /// The object `object` of `database`.
    pub fn new(database: impl Into<String>, object: impl Into<String>) -> Self {
        Self { database: database.into(), object: object.into() }
    }

    /// Splits `database.object` at the first dot.
    ///
    /// # Errors
    /// `InvalidInput` unless there are two parts that are not blank.
    pub fn parse(text: &str) -> Result<Self> {
        match text.split_once('.') {
            Some((database, object)) if !database.trim().is_empty() && !object.trim().is_empty() => {
                Ok(Self::new(database, object))
            }
            _ => Err(Error::invalid_input(format!("expected identifier in 'db.table' format, got '{text}'"))),
        }
    }

    /// The database.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// The whole object text.
    pub fn object(&self) -> &str {
        &self.object
    }

    /// The table without branch and system table.
    pub fn table(&self) -> &str {
        self.object.split('$').next().unwrap_or_default()
    }

    /// The branch; `None` for the main branch.
    pub fn branch(&self) -> Option<&str> {
        let branch = self.object.split('$').nth(1)?.strip_prefix(BRANCH_PREFIX)?;
        (!branch.eq_ignore_ascii_case("main")).then_some(branch)
    }

    /// The system table as written.
    pub fn system_table(&self) -> Option<&str> {
        let mut parts = self.object.split('$').skip(1);
        match (parts.next(), parts.next()) {
            (Some(first), second) if first.starts_with(BRANCH_PREFIX) => second,
            (first, _) => first,
        }
    }

    /// Checks the form: at most one branch and one system table, no empty part, no path in a name.
    ///
    /// # Errors
    /// `InvalidInput` naming the object.
    pub fn check(&self) -> Result<()> {
        check_name(&self.database)?;
        let object = &self.object;
        let invalid = || Error::invalid_input(format!("Invalid object name: {object}"));
        let parts: Vec<&str> = object.split('$').collect();
        match parts[..] {
            [_] => {}
            [_, second] if second != BRANCH_PREFIX => {}
            [_, second, _] if second.len() > BRANCH_PREFIX.len() && second.starts_with(BRANCH_PREFIX) => {}
            [_, _, _] => {
                return Err(Error::invalid_input(format!(
                    "System table can only contain one '$' separator, but this is: {object}"
                )));
            }
            _ => return Err(invalid()),
        }
        if parts.len() > 1 && parts.iter().any(|part| part.is_empty()) {
            return Err(invalid());
        }
        parts.into_iter().try_for_each(check_name)
    }

    /// The error for a table that does not exist.
    pub fn not_found(&self) -> Error {
        Error::not_found(Entity::Table, format!("Table {self} does not exist."))
    }
}

/// Checks the name of a database or object.
///
/// # Errors
/// `InvalidInput` for names that are blank, that a store would not keep as they are, or that would leave their directory.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let bad = name.is_empty()
        || name.ends_with(char::is_whitespace)
        || name == "."
        || name == ".."
        || name.chars().any(|c| matches!(c, '/' | '\\' | ':') || c.is_control());
    if bad {
        return Err(Error::invalid_input(format!(
            "'{name}' cannot be a name: it must not be blank, end in a blank, be '.' or '..', or hold '/', '\\', ':' or \
             control characters"
        )));
    }
    Ok(())
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_object() {
        let cases = [
            ("t", "t", None, None, true),
            ("t$snapshots", "t", None, Some("snapshots"), true),
            ("t$branch_b1", "t", Some("b1"), None, true),
            ("t$branch_main", "t", None, None, true),
            ("t$branch_b1$files", "t", Some("b1"), Some("files"), true),
            ("t$x$y", "t", None, Some("x"), false),
            ("a$b$c$d", "a", None, Some("b"), false),
            ("t$", "t", None, Some(""), false),
        ];
        for (object, table, branch, system, well_formed) in cases {
            let id = Identifier::new("d", object);
            assert_eq!(
                (id.table(), id.branch(), id.system_table(), id.check().is_ok()),
                (table, branch, system, well_formed),
                "{object}"
            );
        }
    }

    #[test]
    fn text_splits_at_the_first_dot() {
        assert_eq!(Identifier::parse("a.b.c").unwrap(), Identifier::new("a", "b.c"));
        assert!(Identifier::parse("x").is_err());
        let error = Identifier::parse("t").unwrap_err();
        assert_eq!(error.message(), "expected identifier in 'db.table' format, got 't'");
    }

    #[test]
    fn names_stay_in_their_directory() {
        for object in
            ["../x", "..", ".", "a/b", "a\\b", "a:b", " ", "a ", "..$branch_b", " $snapshots", "a\nb", "t$branch_a/b"]
        {
            assert!(Identifier::new("d", object).check().is_err(), "{object:?}");
            assert!(Identifier::new(object, "t").check().is_err() || object.contains('$'), "{object:?}");
        }
        for object in ["t", "ä b", "a.b", "t$branch_..", "t-1"] {
            assert!(Identifier::new("d", object).check().is_ok(), "{object:?}");
        }
    }

    #[test]
    fn javas_sentences() {
        let message = |object| Identifier::new("d", object).check().unwrap_err().message().to_owned();
        assert_eq!(message("t$x$y"), "System table can only contain one '$' separator, but this is: t$x$y");
        assert_eq!(message("a$b$c$d"), "Invalid object name: a$b$c$d");
    }
}
