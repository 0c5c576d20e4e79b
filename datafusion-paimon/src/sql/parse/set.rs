//! SET, RESET and USE.
//!
//! Invariants: the key keeps its case and its dashes; everything that is not `paimon.*` or the time zone is the engine's.
//! Source: SQL sheet SQL-032, SQL-212 to SQL-218.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Result;

use super::Grammar;
use super::cursor::Cursor;
use crate::sql::statement::{Show, Statement, UseTarget};

pub(crate) const TIME_ZONE: &str = "datafusion.execution.time_zone";

/// Whether a key is in the namespace of our options.
pub(crate) fn is_paimon_key(key: &str) -> bool {
    key.get(..7).is_some_and(|prefix| prefix.eq_ignore_ascii_case("paimon."))
}

impl Grammar<'_> {
    pub(super) fn set(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        if c.at_end() {
            return Ok(Some(Statement::Show(Show::AllVariables)));
        }
        if c.eat(&["TIME", "ZONE"]) || c.eat(&["TIMEZONE"]) {
            if !c.eat_token(&Token::Eq) {
                c.eat(&["TO"]);
            }
            return Ok(Some(Statement::Set { key: TIME_ZONE.to_owned(), value: c.option_value()? }));
        }
        let Ok(key) = c.option_key() else { return Ok(None) };
        if !is_paimon_key(&key) {
            return Ok(None);
        }
        if !c.eat_token(&Token::Eq) {
            c.expect("TO")?;
        }
        Ok(Some(Statement::Set { key, value: c.option_value()? }))
    }

    pub(super) fn reset(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        if c.eat(&["ALL"]) {
            return Ok(Some(Statement::Reset(None)));
        }
        if c.eat(&["TIME", "ZONE"]) || c.eat(&["TIMEZONE"]) {
            return Ok(Some(Statement::Reset(Some(TIME_ZONE.to_owned()))));
        }
        match c.option_key() {
            Ok(key) if is_paimon_key(&key) => Ok(Some(Statement::Reset(Some(key)))),
            _ => Ok(None),
        }
    }

    pub(super) fn use_target(&self, c: &mut Cursor) -> Result<Statement> {
        c.next();
        if c.is("CATALOG") && !matches!(c.peek_at(1), Token::EOF | Token::Period) {
            c.next();
            return Ok(Statement::Use(UseTarget::Catalog(c.identifier()?)));
        }
        if c.is_any(&["DATABASE", "SCHEMA"]) && !matches!(c.peek_at(1), Token::EOF | Token::Period) {
            c.next();
        }
        let name = c.name()?;
        if name.len() > 2 {
            return Err(c.expected("USE [catalog.]database"));
        }
        Ok(Statement::Use(UseTarget::Database(name)))
    }
}
