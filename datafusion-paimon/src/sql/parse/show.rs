//! SHOW and DESCRIBE.
//!
//! Invariants: sqlparser reads an unknown SHOW as the look-up of a variable, so our words are taken first.
//! Source: SQL sheet section 9.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Result;

use super::Grammar;
use super::cursor::{Cursor, Name};
use super::set::is_paimon_key;
use crate::sql::statement::{Show, Statement};

impl Grammar<'_> {
    pub(super) fn show(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        let show = if c.eat(&["TABLES"]) {
            Show::Tables { database: in_name(c)?, like: like(c)? }
        } else if c.eat(&["DATABASES"]) || c.eat(&["SCHEMAS"]) {
            let catalog = in_word(c).then(|| c.identifier()).transpose()?;
            Show::Databases { catalog, like: like(c)? }
        } else if c.eat(&["CATALOGS"]) {
            Show::Catalogs { like: like(c)? }
        } else if c.eat(&["VIEWS"]) {
            Show::Views { database: in_name(c)?, like: like(c)? }
        } else if c.eat(&["CREATE", "TABLE"]) {
            let name = c.name()?;
            if !(self.is_ours)(&name) {
                return Ok(None);
            }
            Show::CreateTable(name)
        } else if c.eat(&["COLUMNS"]) {
            return self.show_columns(c);
        } else if c.eat(&["PARTITIONS"]) {
            let table = c.name()?;
            let partition = if c.eat(&["PARTITION"]) { c.partition_spec(false)? } else { Vec::new() };
            Show::Partitions { table, partition }
        } else if c.eat(&["TBLPROPERTIES"]) {
            let table = c.name()?;
            let key = if *c.peek() == Token::LParen { c.list(Cursor::option_key)?.pop() } else { None };
            Show::Properties { table, key }
        } else if c.eat(&["TAGS"]) {
            Show::Tags(c.name()?)
        } else if c.eat(&["SNAPSHOTS"]) {
            Show::Snapshots(c.name()?)
        } else if c.eat(&["BRANCHES"]) {
            Show::Branches(c.name()?)
        } else if c.eat(&["TABLE", "EXTENDED"]) {
            let database = in_name(c)?;
            c.expect("LIKE")?;
            Show::TableExtended { database, like: c.string()? }
        } else if c.eat(&["PROCEDURES"]) {
            Show::Procedures
        } else if c.eat(&["CURRENT", "CATALOG"]) {
            Show::CurrentCatalog
        } else if c.eat(&["CURRENT", "DATABASE"]) || c.eat(&["CURRENT", "SCHEMA"]) {
            Show::CurrentDatabase
        } else if c.eat(&["ALL"]) && c.at_end() {
            Show::AllVariables
        } else if c.are(&["CREATE", "VIEW"]) {
            return Err(c.unsupported("this form of SHOW"));
        } else {
            return self.show_variable(c);
        };
        Ok(Some(Statement::Show(show)))
    }

    fn show_columns(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        if !in_word(c) {
            return Err(c.expected("IN or FROM"));
        }
        let name = c.name()?;
        if !(self.is_ours)(&name) {
            return Ok(None);
        }
        if !c.at_end() {
            return Err(c.unsupported("more than SHOW COLUMNS IN table"));
        }
        Ok(Some(Statement::Show(Show::Columns(name))))
    }

    fn show_variable(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        match c.option_key() {
            Ok(key) if is_paimon_key(&key) => Ok(Some(Statement::Show(Show::Variable(key)))),
            _ => Ok(None),
        }
    }

    pub(super) fn describe(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        if c.is_any(&["DATABASE", "SCHEMA"]) && matches!(c.peek_at(1), Token::Word(_)) {
            c.next();
            c.eat(&["EXTENDED"]);
            let name = c.name()?;
            if name.len() > 2 {
                return Err(c.expected("[catalog.]database"));
            }
            return Ok(Some(Statement::Show(Show::DescribeDatabase(name))));
        }
        if c.is("FUNCTION") && matches!(c.peek_at(1), Token::Word(_)) {
            return Err(c.unsupported("DESCRIBE of anything but a table or a query"));
        }
        let extended = (c.is("EXTENDED") || c.is("FORMATTED")) && matches!(c.peek_at(1), Token::Word(_));
        if extended {
            c.next();
        }
        if c.is("TABLE") && matches!(c.peek_at(1), Token::Word(_)) {
            c.next();
        }
        let extended = extended || c.is("EXTENDED") && matches!(c.peek_at(1), Token::Word(_)) && c.eat(&["EXTENDED"]);
        if c.is_any(&["SELECT", "WITH", "VALUES", "INSERT"]) || !matches!(c.peek(), Token::Word(_)) {
            return Ok(None);
        }
        let table = c.name()?;
        if !(self.is_ours)(&table) {
            return Ok(None);
        }
        if extended {
            return Ok(Some(Statement::Show(Show::DescribeExtended(table))));
        }
        let column = (!c.at_end()).then(|| c.identifier()).transpose()?;
        Ok(Some(Statement::Show(Show::Describe { table, column })))
    }
}

fn in_word(c: &mut Cursor) -> bool {
    c.eat(&["IN"]) || c.eat(&["FROM"])
}

fn in_name(c: &mut Cursor) -> Result<Option<Name>> {
    let name = in_word(c).then(|| c.name()).transpose()?;
    match &name {
        Some(name) if name.len() > 2 => Err(c.expected("[catalog.]database")),
        _ => Ok(name),
    }
}

fn like(c: &mut Cursor) -> Result<Option<String>> {
    match c.eat(&["LIKE"]) || matches!(c.peek(), Token::SingleQuotedString(_)) {
        true => c.string().map(Some),
        false => Ok(None),
    }
}
