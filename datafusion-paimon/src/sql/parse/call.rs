//! CALL. Source: SQL sheet SQL-250, SQL-251.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Result;

use super::Grammar;
use super::cursor::Cursor;
use crate::sql::statement::Statement;
use crate::sql::tokens::Fragment;

impl Grammar<'_> {
    pub(super) fn call(&self, c: &mut Cursor) -> Result<Statement> {
        c.next();
        let name = c.name()?;
        c.expect_token(&Token::LParen)?;
        let mut arguments = Vec::new();
        if !c.eat_token(&Token::RParen) {
            loop {
                arguments.push(argument(c)?);
                if !c.eat_token(&Token::Comma) {
                    break;
                }
            }
            c.expect_token(&Token::RParen)?;
        }
        Ok(Statement::Call { name, arguments })
    }
}

fn argument(c: &mut Cursor) -> Result<(Option<String>, Fragment)> {
    let named = matches!(c.peek(), Token::Word(_)) && matches!(c.peek_at(1), Token::RArrow | Token::Eq);
    let name = match named {
        true => {
            // As it is written: some names are in camel case.
            let name = match c.peek() {
                Token::Word(word) => Some(word.value.clone()),
                _ => None,
            };
            c.identifier()?;
            c.next();
            name
        }
        false => None,
    };
    Ok((name, c.expression(&[])?))
}
