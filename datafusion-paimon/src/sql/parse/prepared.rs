//! PREPARE, EXECUTE and DEALLOCATE. Source: SQL sheet SQL-008.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Result;

use super::Grammar;
use super::cursor::Cursor;
use crate::sql::statement::{Prepared, Statement};

impl Grammar<'_> {
    pub(super) fn prepare(&self, c: &mut Cursor) -> Result<Statement> {
        c.next();
        let name = c.identifier()?;
        let types = if *c.peek() == Token::LParen { c.list(|c| c.expression(&[]))? } else { Vec::new() };
        c.expect("AS")?;
        Ok(Statement::Prepare { name, prepared: Prepared { types, body: c.rest() } })
    }

    pub(super) fn execute(&self, c: &mut Cursor) -> Result<Statement> {
        c.next();
        let name = c.identifier()?;
        let is_empty = *c.peek() == Token::LParen && *c.peek_at(1) == Token::RParen;
        let parameters = match *c.peek() {
            Token::LParen if is_empty => {
                c.skip_group()?;
                Vec::new()
            }
            Token::LParen => c.list(|c| c.expression(&[]))?,
            _ => Vec::new(),
        };
        Ok(Statement::Execute { name, parameters })
    }

    pub(super) fn deallocate(&self, c: &mut Cursor) -> Result<Statement> {
        c.next();
        c.eat(&["PREPARE"]);
        Ok(Statement::Deallocate(c.identifier()?))
    }
}
