//! The name of an object of a catalog.

use std::fmt;

use crate::error::{Entity, Error, Result};

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
            _ => Err(Error::invalid_input(format!("expected database.table, found '{text}'"))),
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
        let branch = self.object.split('$').nth(1)?.strip_prefix("branch_")?;
        (!branch.eq_ignore_ascii_case("main")).then_some(branch)
    }

    /// The system table as written.
    pub fn system_table(&self) -> Option<&str> {
        let mut parts = self.object.split('$').skip(1);
        match (parts.next(), parts.next()) {
            (Some(first), second) if first.starts_with("branch_") => second,
            (first, _) => first,
        }
    }

    /// Checks the form: at most one branch and one system table, no empty part, no path in a name.
    ///
    /// # Errors
    /// `InvalidInput` naming the object.
    pub fn check(&self) -> Result<()> {
        for name in [&self.database, &self.object] {
            check_name(name)?;
        }
        let parts: Vec<&str> = self.object.split('$').collect();
        let well_formed = match parts[..] {
            [_] => true,
            [_, second] => second != "branch_",
            [_, second, _] => second.len() > "branch_".len() && second.starts_with("branch_"),
            _ => false,
        };
        if !well_formed || parts.iter().any(|p| p.is_empty()) {
            return Err(Error::invalid_input(format!(
                "an object name is table, table$branch_name, table$system or table$branch_name$system, but this is: {}",
                self.object
            )));
        }
        Ok(())
    }

    /// The error for a table that does not exist.
    pub fn not_found(&self) -> Error {
        Error::not_found(Entity::Table, format!("Table {self} does not exist."))
    }
}

/// Checks the name of a database or object.
///
/// # Errors
/// `InvalidInput` for names that are blank or would leave their directory.
pub(crate) fn check_name(name: &str) -> Result<()> {
    let bad = name.trim().is_empty()
        || name == "."
        || name == ".."
        || name.chars().any(|c| matches!(c, '/' | '\\' | ':') || c.is_control());
    if bad {
        return Err(Error::invalid_input(format!(
            "'{name}' cannot be a name: it must not be blank, '.', '..' or hold '/', '\\', ':' or control characters"
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
        assert!(Identifier::new("d", "../x").check().is_err());
    }
}
