//! From tokens to statements.
//!
//! Invariants: parsing looks at nothing but the tokens; every clause is either in the statement or refused by name.

mod alter;
mod call;
mod create;
pub(crate) mod cursor;
mod drop;
mod explain;
mod insert;
mod options;
mod partition;
mod prepared;
mod set;
mod show;
mod types;

#[cfg(test)]
mod tests;

use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use paimon_core::types::DataType;
use paimon_core::{Error, Result};

use self::cursor::{Cursor, Name};
use super::statement::Statement;
use super::tokens::tokenize;

pub(crate) use options::hint_options;
pub(crate) use set::{TIME_ZONE, is_paimon_key};

/// Parses a statement. Statements whose target `is_ours` denies, and those that only the engine knows, come back as
/// [`Statement::Engine`].
///
/// # Errors
/// `InvalidInput` with line and column for a syntax error; `Unsupported` naming a clause that is refused.
pub(crate) fn parse(tokens: Vec<TokenWithSpan>, fold: bool, is_ours: &dyn Fn(&Name) -> bool) -> Result<Statement> {
    let mut cursor = Cursor::new(tokens, fold);
    let statement = Grammar { is_ours }.statement(&mut cursor)?;
    cursor.expect_end()?;
    Ok(statement)
}

/// The type that a text names.
///
/// # Errors
/// As [`Cursor::data_type`].
pub(crate) fn type_of_text(text: &str) -> Result<DataType> {
    let mut cursor = Cursor::new(tokenize(text)?, true);
    let data_type = cursor.data_type()?;
    cursor.expect_end()?;
    Ok(data_type)
}

/// The rules, with what they must know of the session.
struct Grammar<'a> {
    /// Whether a table or view of this name is one of a Paimon catalog.
    is_ours: &'a dyn Fn(&Name) -> bool,
}

impl Grammar<'_> {
    fn statement(&self, c: &mut Cursor) -> Result<Statement> {
        let start = c.position();
        let parsed = self.own_statement(c)?;
        match parsed {
            Some(statement) => Ok(statement),
            None => {
                c.rewind(start);
                Ok(Statement::Engine(c.rest()))
            }
        }
    }

    /// A statement of ours; `None` if it is the engine's.
    fn own_statement(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        const WORDS: [&str; 27] = [
            "CREATE",
            "DROP",
            "ALTER",
            "COMMENT",
            "INSERT",
            "REPLACE",
            "WITH",
            "TRUNCATE",
            "CALL",
            "SET",
            "RESET",
            "USE",
            "SHOW",
            "DESC",
            "DESCRIBE",
            "REFRESH",
            "EXPLAIN",
            "DELETE",
            "UPDATE",
            "MERGE",
            "ANALYZE",
            "MSCK",
            "CACHE",
            "UNCACHE",
            "PREPARE",
            "EXECUTE",
            "DEALLOCATE",
        ];
        let Some(word) = WORDS.into_iter().find(|word| c.is(word)) else {
            return self.refused_words(c).map(|()| None);
        };
        match word {
            "CREATE" => self.create(c),
            "REPLACE" if c.is_at(1, "TABLE") => self.replace_table(c),
            "REPLACE" if c.is_at(1, "INTO") => {
                self.refuse_if_ours(c, 2, "REPLACE INTO; INSERT INTO a primary-key table upserts")?;
                Ok(None)
            }
            "DROP" => self.drop(c),
            "ALTER" => self.alter(c),
            "COMMENT" => self.comment_on(c),
            "INSERT" | "WITH" => self.insert(c),
            "TRUNCATE" => self.truncate(c),
            "CALL" => self.call(c).map(Some),
            "SET" => self.set(c),
            "RESET" => self.reset(c),
            "USE" => self.use_target(c).map(Some),
            "SHOW" => self.show(c),
            "DESC" | "DESCRIBE" => self.describe(c),
            "REFRESH" => {
                c.next();
                c.expect("TABLE")?;
                Ok(Some(Statement::Refresh(c.name()?)))
            }
            "EXPLAIN" => self.explain(c),
            "PREPARE" => self.prepare(c).map(Some),
            "EXECUTE" => self.execute(c).map(Some),
            "DEALLOCATE" => self.deallocate(c).map(Some),
            "DELETE" | "UPDATE" | "MERGE" => self.row_level(c, word),
            "ANALYZE" if c.is_at(1, "TABLE") => Err(c.unsupported("ANALYZE TABLE")),
            "MSCK" | "CACHE" | "UNCACHE" => Err(c.unsupported(word)),
            _ => Ok(None),
        }
    }

    /// Statements that the engine would plan and then not do.
    fn refused_words(&self, c: &Cursor) -> Result<()> {
        const TRANSACTIONS: [&str; 6] = ["BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "LOCK", "RELEASE"];
        if c.is_any(&TRANSACTIONS) || c.are(&["START", "TRANSACTION"]) {
            return Err(c.unsupported("a transaction statement (every statement is its own transaction)"));
        }
        Ok(())
    }

    /// DELETE, UPDATE and MERGE: the engine hands a provider a whole-table delete for some conditions, so they are
    /// refused until they are planned from the statement itself.
    fn row_level(&self, c: &mut Cursor, word: &str) -> Result<Option<Statement>> {
        let mut at = c.clone();
        at.next();
        let name = match word {
            "DELETE" => at.eat(&["FROM"]).then(|| at.name()).transpose()?,
            "MERGE" => at.eat(&["INTO"]).then(|| at.name()).transpose()?,
            _ => at.name().ok(),
        };
        match name {
            Some(name) if !(self.is_ours)(&name) => Ok(None),
            Some(name) => {
                Err(Error::unsupported(format!("{word} on a Paimon table is not supported yet: {}", name.join("."))))
            }
            None => Err(Error::unsupported(format!("{word} on a Paimon table is not supported yet"))),
        }
    }

    /// Refuses a statement if the name `n` tokens ahead is ours.
    fn refuse_if_ours(&self, c: &Cursor, n: usize, what: &str) -> Result<()> {
        let mut at = c.clone();
        for _ in 0..n {
            at.next();
        }
        if (self.is_ours)(&at.name()?) { Err(c.unsupported(what)) } else { Ok(()) }
    }
}
