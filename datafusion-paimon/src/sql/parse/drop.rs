//! DROP and TRUNCATE. Source: SQL sheet SQL-062, SQL-084, SQL-155, SQL-301, SQL-303.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Result;

use super::Grammar;
use super::cursor::{Cursor, Name};
use crate::sql::statement::Statement;

impl Grammar<'_> {
    pub(super) fn drop(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        if c.eat(&["DATABASE"]) || c.eat(&["SCHEMA"]) {
            return self.drop_database(c);
        }
        if c.is("GLOBAL") {
            return Err(c.unsupported("DROP GLOBAL"));
        }
        let temporary = c.eat(&["TEMPORARY"]) || c.eat(&["TEMP"]);
        if c.eat(&["TABLE"]) {
            return self.drop_table(c, temporary);
        }
        if c.is("MATERIALIZED") {
            return Err(c.unsupported("DROP MATERIALIZED VIEW"));
        }
        if c.eat(&["VIEW"]) {
            return self.drop_view(c, temporary);
        }
        if c.eat(&["FUNCTION"]) {
            if !temporary {
                return Err(c.unsupported(
                    "DROP FUNCTION (filesystem catalogs hold no functions; DROP TEMPORARY FUNCTION drops a temporary one)",
                ));
            }
            let if_exists = c.eat(&["IF", "EXISTS"]);
            return Ok(Some(Statement::DropFunction { name: c.identifier()?, if_exists }));
        }
        if temporary {
            return Err(c.expected("TABLE, VIEW or FUNCTION"));
        }
        match c.is("CATALOG") {
            true => Err(c.unsupported("DROP CATALOG (a session keeps its catalogs)")),
            false => Ok(None),
        }
    }

    fn drop_database(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        let if_exists = c.eat(&["IF", "EXISTS"]);
        let name = c.name()?;
        let mut cascade = false;
        if !c.eat(&["RESTRICT"]) {
            cascade = c.eat(&["CASCADE"]);
        }
        Ok(Some(Statement::DropDatabase { name, if_exists, cascade }))
    }

    fn drop_table(&self, c: &mut Cursor, temporary: bool) -> Result<Option<Statement>> {
        let if_exists = c.eat(&["IF", "EXISTS"]);
        let names = names(c)?;
        if !temporary && !names.iter().any(|n| (self.is_ours)(n)) {
            return Ok(None);
        }
        for word in ["CASCADE", "RESTRICT"] {
            if c.is(word) {
                return Err(c.unsupported(&format!("{word} of DROP TABLE")));
            }
        }
        c.eat(&["PURGE"]);
        Ok(Some(Statement::DropTable { names, if_exists, temporary }))
    }

    fn drop_view(&self, c: &mut Cursor, temporary: bool) -> Result<Option<Statement>> {
        let if_exists = c.eat(&["IF", "EXISTS"]);
        let names = names(c)?;
        if temporary {
            return Ok(Some(Statement::DropView { names, if_exists }));
        }
        if names.iter().any(|n| (self.is_ours)(n)) {
            return Err(c.unsupported(
                "DROP VIEW (filesystem catalogs hold no views; DROP TEMPORARY VIEW drops a temporary one)",
            ));
        }
        Ok(None)
    }

    pub(super) fn truncate(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        c.eat(&["TABLE"]);
        let if_exists = c.eat(&["IF", "EXISTS"]);
        let name = c.name()?;
        if !(self.is_ours)(&name) {
            return Ok(None);
        }
        if *c.peek() == Token::Comma {
            return Err(c.unsupported("a list of tables in TRUNCATE"));
        }
        let partition = if c.eat(&["PARTITION"]) { c.partition_spec(false)? } else { Vec::new() };
        Ok(Some(Statement::Truncate { name, if_exists, partition }))
    }
}

fn names(c: &mut Cursor) -> Result<Vec<Name>> {
    let mut names = vec![c.name()?];
    while c.eat_token(&Token::Comma) {
        names.push(c.name()?);
    }
    Ok(names)
}
