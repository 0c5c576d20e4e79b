//! INSERT INTO and INSERT OVERWRITE. Source: SQL sheet section 6.

use datafusion::sql::sqlparser::tokenizer::Token;
use paimon_core::Result;

use super::Grammar;
use super::create::{opens_query, query};
use super::cursor::Cursor;
use super::options::hint_options;
use crate::sql::statement::{Insert, Statement};
use crate::sql::tokens::{Fragment, hint_text};

/// What may follow the source and is refused, by its first words.
const REFUSED_ENDS: [&[&str]; 4] = [&["ON", "CONFLICT"], &["ON", "DUPLICATE", "KEY"], &["RETURNING"], &["OVERRIDING"]];

impl Grammar<'_> {
    /// INSERT, also with a WITH before it; `None` for a query or a target of the engine.
    pub(super) fn insert(&self, c: &mut Cursor) -> Result<Option<Statement>> {
        let start = c.position();
        let with = match c.is("WITH") {
            true => match skip_with(c)? {
                true => Some(c.since(start)),
                false => return Ok(None),
            },
            false => None,
        };
        c.next();
        for word in ["OR", "IGNORE", "LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY"] {
            if c.is(word) {
                return Err(c.unsupported(&format!("INSERT {word}")));
            }
        }
        let overwrite = c.eat(&["OVERWRITE"]);
        if !overwrite || c.is("INTO") {
            c.expect("INTO")?;
        }
        c.eat(&["TABLE"]);
        let target = c.name()?;
        if !(self.is_ours)(&target) {
            return Ok(None);
        }
        let mut insert =
            Insert { target, hint: hint(c)?, overwrite, by_name: false, partition: None, columns: None, source: None };
        self.insert_clauses(c, &mut insert)?;
        if c.eat(&["DEFAULT", "VALUES"]) {
            if with.is_some() {
                return Err(c.unsupported("WITH before INSERT .. DEFAULT VALUES"));
            }
            return Ok(Some(Statement::Insert(Box::new(insert))));
        }
        if c.is("SET") {
            return Err(c.unsupported("INSERT .. SET (write a column list and VALUES)"));
        }
        if !c.is_any(&["SELECT", "VALUES", "WITH", "FROM", "TABLE"]) && *c.peek() != Token::LParen {
            return Err(c.expected("VALUES or a query"));
        }
        let source = source(c)?;
        insert.source = Some(match with {
            Some(mut with) if !source_has_with(&source) => {
                with.0.extend(source.0);
                with
            }
            Some(_) => return Err(c.unsupported("WITH both before INSERT and in its query")),
            None => source,
        });
        Ok(Some(Statement::Insert(Box::new(insert))))
    }

    /// PARTITION, the column list and BY NAME, in any order.
    fn insert_clauses(&self, c: &mut Cursor, insert: &mut Insert) -> Result<()> {
        loop {
            if insert.partition.is_none() && c.eat(&["PARTITION"]) {
                insert.partition = Some(c.partition_spec(true)?);
                if c.are(&["IF", "NOT", "EXISTS"]) {
                    return Err(c.unsupported("IF NOT EXISTS of INSERT"));
                }
            } else if insert.columns.is_none() && *c.peek() == Token::LParen && !opens_query(c) {
                insert.columns = Some(c.list(Cursor::identifier)?);
            } else if !insert.by_name && c.eat(&["BY", "NAME"]) {
                insert.by_name = true;
            } else {
                break;
            }
        }
        if insert.by_name && insert.columns.is_some() {
            return Err(c.unsupported("BY NAME together with a column list"));
        }
        if c.are(&["REPLACE", "WHERE"]) || c.are(&["REPLACE", "USING"]) || c.is_any(&["OVERRIDING", "AS"]) {
            return Err(c.unsupported("REPLACE WHERE, OVERRIDING and an alias of INSERT"));
        }
        Ok(())
    }
}

/// A hint at the cursor.
fn hint(c: &mut Cursor) -> Result<Vec<(String, String)>> {
    if hint_text(c.peek()).is_none() {
        return Ok(Vec::new());
    }
    let start = c.position();
    c.next();
    c.since(start).0.first().map_or_else(|| Ok(Vec::new()), hint_options)
}

/// Goes from WITH to the INSERT that follows its last query; `false` if another word follows.
fn skip_with(c: &mut Cursor) -> Result<bool> {
    loop {
        match c.peek() {
            Token::EOF => return Ok(false),
            _ if c.is("INSERT") => return Ok(true),
            _ if c.is_any(&["SELECT", "VALUES", "UPDATE", "DELETE", "MERGE", "FROM"]) => return Ok(false),
            _ => c.skip_group()?,
        }
    }
}

fn source_has_with(source: &Fragment) -> bool {
    Cursor::new(source.0.clone(), true).is("WITH")
}

/// The source up to the end, without clauses that change what is stored.
fn source(c: &mut Cursor) -> Result<Fragment> {
    let mut at = c.clone();
    while !at.at_end() {
        if let Some(words) = REFUSED_ENDS.iter().find(|words| at.are(words)) {
            return Err(at.unsupported(&format!("{} of INSERT", words.join(" "))));
        }
        at.skip_group()?;
    }
    query(c)
}
