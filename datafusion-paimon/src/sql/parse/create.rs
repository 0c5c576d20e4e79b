//! CREATE DATABASE, TABLE and TEMPORARY VIEW, and REPLACE TABLE.
//!
//! Invariants: the clauses of CREATE TABLE stand in any order, each at most once; a clause that we do not act on is
//! refused by name. Source: SQL sheet section 4, SQL-300, SQL-303.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::types::DataField;
use paimon_core::{Error, Result};

use super::Grammar;
use super::cursor::Cursor;
use crate::sql::statement::{Column, Columns, CreateFunction, CreateTable, CreateView, Like, Statement};

/// Attributes of a column that are refused, by their first word.
const REFUSED_ATTRIBUTES: [&str; 14] = [
    "UNIQUE",
    "CHECK",
    "FOREIGN",
    "REFERENCES",
    "GENERATED",
    "AUTO_INCREMENT",
    "AUTOINCREMENT",
    "IDENTITY",
    "COLLATE",
    "METADATA",
    "AS",
    "CHARACTER",
    "ON",
    "STORAGE",
];
/// Elements of a column list that are refused, by their first two words.
const REFUSED_ELEMENTS: [[&str; 2]; 5] =
    [["UNIQUE", "KEY"], ["FOREIGN", "KEY"], ["WATERMARK", "FOR"], ["PERIOD", "FOR"], ["EXCLUDE", "USING"]];
/// Clauses behind the column list that are refused, by their first word.
const REFUSED_CLAUSES: [&str; 22] = [
    "STORED",
    "ROW",
    "LOCATION",
    "CLUSTERED",
    "CLUSTER",
    "SORTED",
    "TABLESPACE",
    "ON",
    "ENGINE",
    "DISTRIBUTED",
    "DISTRIBUTE",
    "SKEWED",
    "INHERITS",
    "PARTITION",
    "COLLATE",
    "CHARSET",
    "DEFAULT",
    "AUTO_INCREMENT",
    "STRICT",
    "WATERMARK",
    "CLONE",
    "ORDER",
];
/// Words that end the expression of a DEFAULT.
const DEFAULT_ENDS: [&str; 18] = [
    "NOT",
    "NULL",
    "COMMENT",
    "PRIMARY",
    "CONSTRAINT",
    "UNIQUE",
    "CHECK",
    "REFERENCES",
    "GENERATED",
    "COLLATE",
    "METADATA",
    "AUTO_INCREMENT",
    "FIRST",
    "AFTER",
    "DEFAULT",
    "IDENTITY",
    "STORAGE",
    "ON",
];

impl Grammar<'_> {
    pub(super) fn create(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        if c.eat(&["DATABASE"]) || c.eat(&["SCHEMA"]) {
            return self.create_database(c);
        }
        let or_replace = c.eat(&["OR", "REPLACE"]);
        for word in ["GLOBAL", "UNLOGGED", "TRANSIENT", "MATERIALIZED", "VOLATILE", "LOCAL"] {
            if c.is(word) {
                return Err(c.unsupported(&format!("CREATE {word}")));
            }
        }
        if c.are(&["EXTERNAL", "TABLE"]) {
            return self.create_external(c);
        }
        let temporary = c.eat(&["TEMPORARY"]) || c.eat(&["TEMP"]);
        if c.eat(&["TABLE"]) {
            return self.create_table(c, or_replace, temporary);
        }
        if c.eat(&["VIEW"]) {
            return self.create_view(c, or_replace, temporary);
        }
        if c.eat(&["FUNCTION"]) {
            return match temporary {
                true => create_function(c, or_replace).map(Some),
                false => Err(c.unsupported(
                    "CREATE FUNCTION (filesystem catalogs hold no functions; use CREATE TEMPORARY FUNCTION)",
                )),
            };
        }
        if temporary {
            return Err(c.expected("TABLE, VIEW or FUNCTION"));
        }
        if c.eat(&["CATALOG"]) {
            let if_not_exists = c.eat(&["IF", "NOT", "EXISTS"]);
            let name = c.identifier()?;
            c.expect("WITH")?;
            return Ok(Some(Statement::CreateCatalog { name, if_not_exists, options: c.options()? }));
        }
        Ok(None)
    }

    fn create_database(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        let if_not_exists = c.eat(&["IF", "NOT", "EXISTS"]);
        let name = c.name()?;
        // A filesystem catalog has no place for what these say.
        for word in ["COMMENT", "WITH", "LOCATION", "DBPROPERTIES", "AUTHORIZATION", "DEFAULT", "OPTIONS", "CLONE"] {
            if c.is(word) {
                return Err(c.unsupported(&format!("{word} of CREATE DATABASE in a filesystem catalog")));
            }
        }
        Ok(Some(Statement::CreateDatabase { name, if_not_exists }))
    }

    fn create_external(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        let mut at = c.clone();
        at.next();
        at.next();
        at.eat(&["IF", "NOT", "EXISTS"]);
        if (self.is_ours)(&at.name()?) {
            return Err(c.unsupported(
                "CREATE EXTERNAL TABLE in a Paimon catalog (name it datafusion.public.x, or use a temporary table)",
            ));
        }
        Ok(None)
    }

    fn create_table(&self, c: &mut Cursor, or_replace: bool, temporary: bool) -> Result<Option<Statement>> {
        let if_not_exists = c.eat(&["IF", "NOT", "EXISTS"]);
        let name = c.name()?;
        if !temporary && !(self.is_ours)(&name) {
            return Ok(None);
        }
        if or_replace && if_not_exists {
            return Err(Error::invalid_input("OR REPLACE and IF NOT EXISTS exclude each other"));
        }
        if or_replace && temporary {
            return Err(c.unsupported("OR REPLACE of CREATE TEMPORARY TABLE"));
        }
        let table = CreateTable { name, temporary, if_not_exists, or_replace, ..CreateTable::default() };
        definition(c, table).map(Some)
    }

    pub(super) fn replace_table(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        c.next();
        c.next();
        let name = c.name()?;
        if !(self.is_ours)(&name) {
            return Ok(None);
        }
        definition(c, CreateTable { name, replace: true, ..CreateTable::default() }).map(Some)
    }

    fn create_view(&self, c: &mut Cursor, or_replace: bool, temporary: bool) -> Result<Option<Statement>> {
        let if_not_exists = c.eat(&["IF", "NOT", "EXISTS"]);
        let name = c.name()?;
        if !temporary {
            return match (self.is_ours)(&name) {
                true => {
                    Err(c.unsupported("CREATE VIEW (filesystem catalogs hold no views; use CREATE TEMPORARY VIEW)"))
                }
                false => Ok(None),
            };
        }
        if or_replace && if_not_exists {
            return Err(Error::invalid_input("OR REPLACE and IF NOT EXISTS exclude each other"));
        }
        let columns = (*c.peek() == Token::LParen).then(|| c.list(Cursor::identifier)).transpose()?;
        for word in ["COMMENT", "WITH", "OPTIONS", "TBLPROPERTIES", "USING"] {
            if c.is(word) {
                return Err(c.unsupported(&format!("{word} of CREATE TEMPORARY VIEW")));
            }
        }
        c.expect("AS")?;
        let view = CreateView { name, or_replace, if_not_exists, columns, query: query(c)? };
        Ok(Some(Statement::CreateView(Box::new(view))))
    }
}

/// What follows the name of a table that is created or replaced.
fn definition(c: &mut Cursor, mut table: CreateTable) -> Result<Statement> {
    if *c.peek() == Token::LParen && !opens_query(c) {
        column_list(c, &mut table)?;
    }
    clauses(c, &mut table)?;
    if let Columns::Named(_) = table.columns
        && table.query.is_none()
    {
        return Err(c.expected("AS and a query, because the columns have no types"));
    }
    if matches!(table.columns, Columns::Absent) && table.query.is_none() && table.like.is_none() {
        return Err(c.expected("a list of columns, LIKE or AS"));
    }
    Ok(Statement::CreateTable(Box::new(table)))
}

/// `f(a T, ..) RETURNS T RETURN expression`.
fn create_function(c: &mut Cursor, or_replace: bool) -> Result<Statement> {
    if c.is("IF") {
        return Err(c.unsupported("IF NOT EXISTS of CREATE TEMPORARY FUNCTION"));
    }
    let name = c.identifier()?;
    let parameter = |c: &mut Cursor| Ok(DataField::new(0, c.identifier()?, c.bare_type()?));
    let parameters = match (c.peek(), c.peek_at(1)) {
        (Token::LParen, Token::RParen) => {
            c.skip_group()?;
            Vec::new()
        }
        _ => c.list(parameter)?,
    };
    if let Some((i, twice)) =
        parameters.iter().enumerate().find(|(i, p)| parameters[..*i].iter().any(|other| other.name == p.name))
    {
        return Err(Error::invalid_input(format!("parameter {} ({}) occurs twice", i + 1, twice.name)));
    }
    c.expect("RETURNS")?;
    let returns = c.bare_type()?;
    c.expect("RETURN")?;
    if c.at_end() {
        return Err(c.expected("an expression"));
    }
    Ok(Statement::CreateFunction(Box::new(CreateFunction { name, or_replace, parameters, returns, body: c.rest() })))
}

/// Whether the parenthesis at the cursor opens a query.
pub(super) fn opens_query(c: &Cursor) -> bool {
    let mut n = 0;
    while *c.peek_at(n) == Token::LParen {
        n += 1;
    }
    // A column may be called `values` or `from`; a query goes on differently.
    let follows_name = |n: usize| matches!(c.peek_at(n), Token::Comma | Token::RParen);
    n > 0 && ["SELECT", "WITH", "VALUES", "FROM", "TABLE"].iter().any(|word| c.is_at(n, word)) && !follows_name(n + 1)
}

/// What is left, as a query.
pub(super) fn query(c: &mut Cursor) -> Result<crate::sql::tokens::Fragment> {
    if c.at_end() {
        return Err(c.expected("a query"));
    }
    Ok(c.rest())
}

/// The list of columns and constraints.
fn column_list(c: &mut Cursor, table: &mut CreateTable) -> Result<()> {
    let mut typed: Vec<Column> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    c.expect_token(&Token::LParen)?;
    if c.is("LIKE") && !matches!(c.peek_at(1), Token::Comma | Token::RParen) {
        table.like = Some(like(c)?);
        return c.expect_token(&Token::RParen);
    }
    loop {
        if !constraint(c, table)? {
            element(c, table, &mut typed, &mut named)?;
        }
        if !c.eat_token(&Token::Comma) {
            break;
        }
    }
    c.expect_token(&Token::RParen)?;
    table.columns = match (typed.is_empty(), named.is_empty()) {
        (false, true) => Columns::Typed(typed),
        (true, false) => Columns::Named(named),
        (true, true) => Columns::Absent,
        (false, false) => {
            return Err(Error::invalid_input(format!("column {} has no type, but others have one", named[0])));
        }
    };
    Ok(())
}

/// A column, into one of the two lists.
fn element(c: &mut Cursor, table: &mut CreateTable, typed: &mut Vec<Column>, named: &mut Vec<String>) -> Result<()> {
    let name = c.identifier()?;
    if typed.iter().any(|column| column.field.name == name) || named.contains(&name) {
        return Err(Error::invalid_input(format!("column {name} occurs twice")));
    }
    match c.peek() {
        Token::Comma | Token::RParen => named.push(name),
        _ => typed.push(column(c, table, name)?),
    }
    Ok(())
}

/// A table constraint; `false` if there is a column instead.
fn constraint(c: &mut Cursor, table: &mut CreateTable) -> Result<bool> {
    let start = c.position();
    let named = c.is("CONSTRAINT") && matches!(c.peek_at(1), Token::Word(_)) && matches!(c.peek_at(2), Token::Word(_));
    if named {
        c.next();
        c.identifier()?;
    }
    if c.are(&["PRIMARY", "KEY"]) && *c.peek_at(2) == Token::LParen {
        c.next();
        c.next();
        let columns = c.list(Cursor::identifier)?;
        enforcement(c)?;
        return set_primary_key(table, columns).map(|()| true);
    }
    for words in REFUSED_ELEMENTS {
        if c.are(&words) {
            return Err(c.unsupported(&format!("{} of a table", words[0])));
        }
    }
    let refused = ["UNIQUE", "CHECK", "FOREIGN", "INDEX", "KEY"].into_iter().find(|word| c.is(word));
    if let Some(word) = refused.filter(|_| *c.peek_at(1) == Token::LParen) {
        return Err(c.unsupported(&format!("{word} (..), a constraint other than PRIMARY KEY,")));
    }
    let refused = ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN"].into_iter().find(|word| c.is(word));
    if let Some(word) = refused.filter(|_| named) {
        return Err(c.unsupported(&format!("{word}, a constraint other than PRIMARY KEY (..),")));
    }
    // `constraint` may be the name of a column.
    c.rewind(start);
    Ok(false)
}

fn set_primary_key(table: &mut CreateTable, columns: Vec<String>) -> Result<()> {
    if table.primary_key.is_some() {
        return Err(Error::invalid_input("the primary key is given twice"));
    }
    table.primary_key = Some(columns);
    Ok(())
}

/// `NOT ENFORCED`, which may be left out.
fn enforcement(c: &mut Cursor) -> Result<()> {
    if c.is("ENFORCED") {
        return Err(c.unsupported("PRIMARY KEY ENFORCED (write NOT ENFORCED)"));
    }
    c.eat(&["NOT", "ENFORCED"]);
    Ok(())
}

/// Type and attributes of a column.
fn column(c: &mut Cursor, table: &mut CreateTable, name: String) -> Result<Column> {
    let context = |e: Error| {
        let message = format!("{} for column {name}", e.message());
        Error::new(e.kind(), message)
    };
    let data_type = c.bare_type().map_err(context)?;
    let mut column = Column { field: DataField::new(0, name.clone(), data_type), default: None };
    let mut nullable: Option<bool> = None;
    loop {
        if c.is("NOT") || c.is("NULL") {
            let given = c.nullability()?;
            if nullable.is_some() {
                return Err(Error::invalid_input(format!("column {name}: nullability is given twice")));
            }
            nullable = given;
        } else if c.eat(&["DEFAULT"]) {
            if column.default.is_some() {
                return Err(Error::invalid_input(format!("column {name}: DEFAULT is given twice")));
            }
            column.default = Some(c.expression(&DEFAULT_ENDS)?);
        } else if c.eat(&["COMMENT"]) {
            if column.field.description.is_some() {
                return Err(Error::invalid_input(format!("column {name}: COMMENT is given twice")));
            }
            column.field.description = Some(c.string()?);
        } else if c.are(&["PRIMARY", "KEY"]) || c.is("CONSTRAINT") && c.are_after_name(&["PRIMARY", "KEY"]) {
            if c.eat(&["CONSTRAINT"]) {
                c.identifier()?;
            }
            c.next();
            c.next();
            enforcement(c)?;
            set_primary_key(table, vec![name.clone()])?;
        } else {
            break;
        }
    }
    for word in REFUSED_ATTRIBUTES {
        if c.is(word) {
            return Err(c.unsupported(&format!("{word} of column {name}")));
        }
    }
    if !matches!(c.peek(), Token::Comma | Token::RParen | Token::EOF) {
        return Err(c.expected("NOT NULL, DEFAULT, COMMENT, PRIMARY KEY, a comma or )"));
    }
    let nullable = nullable.unwrap_or(true);
    column.field.data_type = column.field.data_type.with_nullable(nullable);
    Ok(column)
}

impl Cursor {
    /// Whether these words follow the word at the cursor and a name.
    fn are_after_name(&self, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(n, word)| self.is_at(n + 2, word))
    }
}

fn like(c: &mut Cursor) -> Result<Like> {
    c.expect("LIKE")?;
    let mut like = Like { source: c.name()?, options: true };
    let parenthesis = c.are_in_parenthesis(&["INCLUDING", "EXCLUDING"]) && c.eat_token(&Token::LParen);
    while c.is("INCLUDING") || c.is("EXCLUDING") {
        if c.eat(&["INCLUDING", "ALL"]) || c.eat(&["INCLUDING", "OPTIONS"]) {
            like.options = true;
        } else if c.eat(&["EXCLUDING", "OPTIONS"]) {
            like.options = false;
        } else {
            return Err(c.unsupported("this part of LIKE (known are INCLUDING ALL and EXCLUDING OPTIONS)"));
        }
    }
    if parenthesis {
        c.expect_token(&Token::RParen)?;
    }
    Ok(like)
}

impl Cursor {
    /// Whether a parenthesis with one of these words is at the cursor.
    fn are_in_parenthesis(&self, words: &[&str]) -> bool {
        *self.peek() == Token::LParen && words.iter().any(|word| self.is_at(1, word))
    }
}

/// The clauses behind the column list.
fn clauses(c: &mut Cursor, table: &mut CreateTable) -> Result<()> {
    let mut options_given = false;
    let mut using = false;
    loop {
        let twice = |what: &str| Error::invalid_input(format!("{what} is given twice"));
        if c.eat(&["USING"]) {
            let format = c.identifier()?;
            if !format.eq_ignore_ascii_case("paimon") {
                return Err(Error::unsupported(format!("USING {format} is not supported, only USING paimon")));
            }
            if std::mem::replace(&mut using, true) {
                return Err(twice("USING"));
            }
        } else if c.eat(&["PARTITIONED", "BY"]) {
            let columns = c.list(partition_column)?;
            if table.partitioned_by.replace(columns).is_some() {
                return Err(twice("PARTITIONED BY"));
            }
        } else if c.eat(&["COMMENT"]) {
            c.eat_token(&Token::Eq);
            if table.comment.replace(c.string()?).is_some() {
                return Err(twice("COMMENT"));
            }
        } else if c.eat(&["WITH"]) || c.eat(&["TBLPROPERTIES"]) || c.eat(&["OPTIONS"]) {
            if std::mem::replace(&mut options_given, true) {
                return Err(twice("the list of options"));
            }
            table.options = c.options()?;
        } else if c.is("LIKE") {
            let like = like(c)?;
            if table.like.replace(like).is_some() || !matches!(table.columns, Columns::Absent) {
                return Err(Error::invalid_input("LIKE must stand alone, in place of the columns"));
            }
        } else if c.is("AS") || c.is("SELECT") || *c.peek() == Token::LParen && opens_query(c) {
            c.eat(&["AS"]);
            table.query = Some(query(c)?);
        } else {
            break;
        }
    }
    for word in REFUSED_CLAUSES {
        if c.is(word) {
            return Err(c.unsupported(&format!("{word} of CREATE TABLE")));
        }
    }
    Ok(())
}

/// A column of PARTITIONED BY: a name and nothing else.
fn partition_column(c: &mut Cursor) -> Result<String> {
    let name = c.identifier()?;
    match c.peek() {
        Token::Comma | Token::RParen => Ok(name),
        Token::LParen => Err(c.unsupported(&format!("the transform {name}(..) in PARTITIONED BY"))),
        _ => Err(c.unsupported("a type in PARTITIONED BY (name a column of the list)")),
    }
}
